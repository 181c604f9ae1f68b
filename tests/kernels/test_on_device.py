"""Storages of matrices on a device: the products of NumPy, over a stand-in here and over CUDA where there is a device."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from fwdsl.backends.kernels import Operator, Pool
from fwdsl.backends.kernels import arrays as of_arrays
from fwdsl.backends.kernels.arrays import SIZES, SQUARES, Arrays
from fwdsl.backends.kernels.on_device import DeviceDense, DeviceSparse
from fwdsl.backends.kernels.pool import Stopped
from fwdsl.backends.kernels.storage import Dense, stored
from tests.kernels.devices import StandIn, real
from tests.kernels.test_operators import LAYOUTS, matrix

SHAPES = [(1, 1), (7, 5), (2600, 120), (40, 900), (3000, 1), (1, 900)]


@pytest.fixture(params=["stand-in", "cuda"])
def arrays(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Arrays:
    # several pieces of each sum, and of each long row
    monkeypatch.setattr(of_arrays, "BLOCK", 1 << 12)
    if request.param == "stand-in":
        return StandIn()
    found = real().arrays
    from fwdsl.backends.kernels import cuda

    monkeypatch.setattr(cuda, "LONGEST", 16)
    return found


def on_device(A: Any, arrays: Arrays) -> DeviceDense | DeviceSparse:
    host = stored(A)
    return DeviceDense(host, arrays) if isinstance(host, Dense) else DeviceSparse(host, arrays)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: "x".join(map(str, shape)))
def test_products_match_numpy(layout: str, shape: tuple[int, int], arrays: Arrays) -> None:
    n, d = shape
    rng = np.random.default_rng(1)
    A = LAYOUTS[layout](matrix(shape))
    M = (A.toarray() if sp.issparse(A) else A).astype(np.float64)
    storage = on_device(A, arrays)
    operator = Operator.of_storage(storage, Pool(1))
    x, y, w = rng.normal(size=d), rng.normal(size=n), rng.exponential(size=n)
    for size in {0, min(2, d), d // 9}:
        support = np.sort(rng.choice(d, size, replace=False))
        rows = np.sort(rng.choice(n, min(size, n), replace=False))
        few_x, few_y = np.zeros(d), np.zeros(n)
        few_x[support], few_y[rows] = x[support], y[rows]
        S = M[:, support]
        found = [
            operator.matvec(x),
            operator.rmatvec(y),
            operator.matvec_columns(few_x, support),
            operator.rmatvec_rows(few_y, rows),
            operator.gram(support, w),
        ]
        expected = [M @ x, M.T @ y, M @ few_x, M.T @ few_y, (S.T * w) @ S]
        if size == 0:
            found += [operator.gram(None, w), operator.gram(None, np.ones(n), single=True)]
            expected += [(M.T * w) @ M, M.T @ M]
        for one, other in zip(found, expected, strict=True):
            scale = max(1.0, float(np.abs(other).max(initial=0.0)))
            np.testing.assert_allclose(one, other, rtol=0.0, atol=1e-12 * scale * max(1, n + d))
    X, Y = rng.normal(size=(d, 3)), rng.normal(size=(n, 3))
    for argument, turned, exact in ((X, False, M @ X), (Y, True, M.T @ Y)):
        out = np.empty(exact.shape)
        assert storage.times(argument, turned, out)
        np.testing.assert_allclose(out, exact, rtol=0.0, atol=1e-12 * max(1.0, float(np.abs(exact).max())) * (n + d))
    for of, changed in ((SIZES, np.abs(M)), (SQUARES, M * M)):
        for argument, turned, exact in ((x, False, changed @ x), (y, True, changed.T @ y)):
            out = np.empty(exact.shape)
            assert storage.sizes(argument, turned, of, out)
            np.testing.assert_allclose(
                out, exact, rtol=0.0, atol=1e-12 * max(1.0, float(np.abs(exact).max())) * (n + d)
            )
    assert storage.products >= 2 and not storage.lost


@pytest.mark.parametrize("layout", ["C", "F", "C float32", "csr", "csr float32"])
def test_the_same_bits_each_time(layout: str, arrays: Arrays) -> None:
    A = LAYOUTS[layout](matrix((900, 70)))
    rng = np.random.default_rng(2)
    x, y, w = rng.normal(size=70), rng.normal(size=900), rng.exponential(size=900)
    runs = []
    for _ in range(2):
        operator = Operator.of_storage(on_device(A, arrays), Pool(1))
        runs.append([operator.matvec(x), operator.rmatvec(y), operator.gram(None, w)])
    for one, other in zip(*runs, strict=True):
        assert np.array_equal(one, other)


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_float32_is_summed_in_float64(kind: Any, arrays: Arrays) -> None:
    # ones beside 2^26 are lost in sums of single precision
    A = np.ones((4000, 3), dtype=kind)
    A[0] = 2.0**26
    for data in (A, np.asfortranarray(A), sp.csr_array(A), sp.csc_array(A)):
        operator = Operator.of_storage(on_device(data, arrays), Pool(1))
        assert np.array_equal(operator.rmatvec(np.ones(4000)), np.full(3, 2.0**26 + 3999.0))


@pytest.mark.parametrize("layout", ["C", "csr", "csc"])
def test_the_host_keeps_what_it_had(layout: str, arrays: Arrays) -> None:
    A = LAYOUTS[layout](matrix((300, 40)))
    host, there = stored(A), on_device(A, arrays)
    assert there.leaves == host.leaves
    support = np.array([0, 3, 8])
    assert there.cost_of_columns(support) == host.cost_of_columns(support)
    if not isinstance(host, Dense):
        for name in ("rows", "by_columns"):
            for one, other in zip(getattr(there, name), getattr(host, name), strict=True):
                assert one.dtype == other.dtype and np.array_equal(one, other) and not one.flags.writeable


@pytest.mark.parametrize("layout", ["C", "F", "csr", "csc"])
def test_the_host_takes_over_where_the_device_fails(layout: str) -> None:
    A = LAYOUTS[layout](matrix((300, 40)))
    M = A.toarray() if sp.issparse(A) else A
    rng = np.random.default_rng(3)
    x, y = rng.normal(size=40), rng.normal(size=300)
    for after in range(3):
        storage = on_device(A, StandIn(fails_after=after))
        operator = Operator.of_storage(storage, Pool(1))
        found = [operator.matvec(x), operator.rmatvec(y), operator.matvec(x), operator.gram(None, np.ones(300))]
        for one, other in zip(found, [M @ x, M.T @ y, M @ x, M.T @ M], strict=True):
            np.testing.assert_allclose(one, other, atol=1e-9)
        assert storage.products == after and storage.lost == "the memory of the device ran out"


def test_a_gram_matrix_on_a_device_may_be_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(of_arrays, "BLOCK", 1 << 12)
    pool = Pool(1)
    operator = Operator.of_storage(on_device(matrix((2000, 50)), StandIn()), pool)
    pool.must_stop = lambda: True
    with pytest.raises(Stopped):
        operator.gram(None, np.ones(2000))
    pool.must_stop = lambda: False
    assert operator.gram(None, np.ones(2000)).shape == (50, 50)
