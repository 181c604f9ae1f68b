"""Norms in one pass, against the obvious formula."""

from __future__ import annotations

import pickle
import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from fwdsl.bind.measure import measure

RNG = np.random.default_rng(1)
FORMS = [np.asarray, np.asfortranarray, sp.csr_array, lambda a: np.repeat(a, 2, axis=1)[:, ::2]]


@pytest.mark.parametrize("form", FORMS, ids=["C", "F", "csr", "strided"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("shape", [(1, 1), (3, 5), (1000, 300), (5, 200_000)])
def test_norms_of_rows_and_columns(form, dtype, shape):
    dense = RNG.standard_normal(shape).astype(dtype)
    dense[RNG.random(shape) < 0.5] = 0.0
    measured = measure(form(dense))
    exact = dense.astype(np.float64)
    assert measured.finite
    assert measured.smallest == dense.min()
    assert measured.stats.largest_row_norm == pytest.approx(np.linalg.norm(exact, axis=1).max(), rel=1e-12)
    np.testing.assert_allclose(measured.stats.column_norms, np.linalg.norm(exact, axis=0), rtol=1e-12)
    assert (measured.stats.shape, measured.stats.dtype) == (shape, str(np.dtype(dtype)))


@pytest.mark.parametrize("form", FORMS[:3], ids=["C", "F", "csr"])
@pytest.mark.parametrize("scale", [1e-250, 1e200])
def test_squares_neither_overflow_nor_vanish(form, scale):
    stats = measure(form(np.array([[3.0, 0.0], [4.0, 5.0]]) * scale)).stats
    np.testing.assert_allclose(stats.column_norms, [5 * scale, 5 * scale], rtol=1e-14)
    assert stats.largest_row_norm == pytest.approx(np.hypot(4, 5) * scale, rel=1e-14)


@pytest.mark.parametrize("form", FORMS[:3], ids=["C", "F", "csr"])
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_a_number_that_is_not_finite_is_noticed_wherever_it_stands(form, bad):
    for at in ((0, 0), (999, 299), (500, 7)):
        dense = np.ones((1000, 300))
        dense[at] = bad
        assert not measure(form(dense)).finite


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_vectors_are_measured_by_their_extremes(dtype):
    found = measure(np.array([2.0, -3.0, 0.5], dtype=dtype))
    assert found.finite and found.smallest == -3.0
    assert all(not measure(np.array([1.0, bad, 2.0], dtype=dtype)).finite for bad in (np.nan, np.inf, -np.inf))
    assert measure(np.zeros(0, dtype=dtype)).finite
    # their squares are no matter
    assert measure(np.array([1e-30, 1e30], dtype=dtype)).finite


def test_storage_and_sizes():
    dense, sparse = np.ones((3, 2)), sp.csr_array(np.eye(3))
    assert (measure(dense).stats.storage, measure(dense).stats.nnz, measure(dense).stats.nbytes) == ("dense", 6, 48)
    assert (measure(sparse).stats.storage, measure(sparse).stats.nnz) == ("csr", 3)
    assert measure(sparse).stats.nbytes == 3 * 8 + 3 * 4 + 4 * 4
    vector = measure(np.arange(3.0)).stats
    assert (vector.storage, vector.largest_row_norm, vector.column_norms) == ("vector", 0.0, None)
    tensor = measure(np.full((2, 3, 4), 2.0)).stats
    assert tensor.column_norms is None and tensor.largest_row_norm == pytest.approx(2 * np.sqrt(12))


def test_an_implicit_zero_counts_as_an_entry():
    assert measure(sp.csr_array([[0.0, 2.0]])).smallest == 0.0
    assert measure(sp.csr_array((2, 3))).stats.largest_row_norm == 0.0


@pytest.mark.parametrize("form", FORMS[:3], ids=["C", "F", "csr"])
def test_no_temporary_of_the_size_of_the_data(form):
    data = form(RNG.standard_normal((4000, 500)))
    tracemalloc.start()
    measure(data)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 0.3 * 4000 * 500 * 8


@given(st.lists(st.lists(st.sampled_from([0.0, 1.0, -2.0]), min_size=3, max_size=3), min_size=1, max_size=6))
def test_rows_without_entries_do_not_matter(rows):
    dense = np.array(rows)
    stats = measure(sp.csr_array(dense)).stats
    assert stats.largest_row_norm == pytest.approx(np.linalg.norm(dense, axis=1).max())
    np.testing.assert_allclose(stats.column_norms, np.linalg.norm(dense, axis=0))


@pytest.mark.parametrize("scale", [1.0, 0.0, 1e-150, 1e-170, 1e150, 1e200, np.nan, np.inf])
@pytest.mark.parametrize("where", ["all", "one"])
def test_without_the_smallest_entry_all_else_is_the_same(scale: float, where: str):
    array = np.random.default_rng(0).normal(size=(50, 7))
    if where == "all":
        array = scale * array
    else:
        array[3, 2] = scale
    fast, whole = measure(array, least=False), measure(array)
    assert fast.finite == whole.finite
    np.testing.assert_array_equal(fast.stats.column_norms, whole.stats.column_norms)
    np.testing.assert_array_equal(fast.stats.largest_row_norm, whole.stats.largest_row_norm)


def test_rows_that_are_measured_later_are_sent_as_numbers():
    array = np.random.default_rng(0).normal(size=(300, 40))
    stats = measure(array, least=False).stats
    assert "largest_row_norm" not in vars(stats)
    sent = pickle.dumps(stats)
    assert len(sent) < array.nbytes / 10
    for one in (pickle.loads(sent), stats):  # noqa: S301
        assert one.largest_row_norm == pytest.approx(np.linalg.norm(array, axis=1).max(), rel=1e-12)
