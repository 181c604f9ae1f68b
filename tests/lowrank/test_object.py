"""`LowRank`: a matrix by its factors behaves like its array, and is never written out where it is too large."""

from __future__ import annotations

import numpy as np
import pytest

from fwdsl.atoms.low_rank import LowRank


def small(seed: int = 0) -> tuple[LowRank, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((7, 2)) @ rng.standard_normal((2, 5))
    return LowRank.of(X), X


def huge() -> LowRank:
    rng = np.random.default_rng(0)
    return LowRank(rng.standard_normal((20_000, 2)), rng.standard_normal((10_000, 2)))


def test_of_an_array_it_is_that_array() -> None:
    low, X = small()
    assert low.shape == (7, 5) and low.rank == 2 and low.size == 35 and len(low) == 7 and low.ndim == 2
    assert np.allclose(low.dense(), X) and np.allclose(np.asarray(low), X)
    assert np.allclose(low.singular_values, np.linalg.svd(X, compute_uv=False)[:2])
    assert np.allclose(low.T.dense(), X.T)
    assert LowRank.of(np.zeros((3, 2))).rank == 0


def test_products_go_by_the_factors_on_either_side() -> None:
    low, X = small()
    v, Y = np.arange(5.0), np.ones((3, 7))
    assert np.allclose(low @ v, X @ v) and np.allclose(Y @ low, Y @ X)
    big = huge()
    ones = np.ones(10_000)
    assert np.allclose(big @ ones, big.U @ big.V.sum(axis=0))
    assert (np.ones(20_000) @ big).shape == (10_000,)


def test_entries_and_arithmetic() -> None:
    low, X = small()
    rows, columns = np.array([0, 6, 6]), np.array([4, 0, 0])
    assert np.allclose(low.at(rows, columns), X[rows, columns])
    assert np.allclose(low - X, 0.0) and np.allclose(2.0 * low, 2.0 * X) and np.allclose(X + low, 2.0 * X)
    assert low[2, 3] == pytest.approx(X[2, 3])
    with pytest.raises(ValueError, match="one length"):
        low.at(rows, columns[:2])


def test_what_is_too_large_is_not_written_out() -> None:
    big = huge()
    for write in (np.asarray, lambda x: x.dense(), lambda x: x + 1.0):
        with pytest.raises(ValueError, match=r"20,000 x 10,000 is not written out"):
            write(big)
    assert big.at([19_999], [9_999])[0] == pytest.approx(float(big.U[-1] @ big.V[-1]))
    assert repr(big) == "<LowRank 20000 x 10000 of rank 2>"
