"""Factors of Gram matrices of large rank, by LAPACK."""

from __future__ import annotations

import numpy as np
import pytest

from fwdsl.features.factor import pivoted_cholesky


@pytest.mark.parametrize("rank", [30, 170, 200])
@pytest.mark.parametrize("unit", [1e-9, 1.0, 1e9])
def test_the_whole_matrix_has_the_factor_of_its_rows(rank: int, unit: float) -> None:
    rng = np.random.default_rng(rank)
    B = rng.standard_normal((200, rank)) * rng.uniform(0.1, 10.0, 200)[:, None]
    K = unit * (B @ B.T)
    asked: list[int] = []

    def whole() -> np.ndarray:
        asked.append(1)
        return K.copy()

    by_rows = pivoted_cholesky(lambda at: K[at], K.diagonal(), 1 << 30)
    found = pivoted_cholesky(lambda at: K[at], K.diagonal(), 1 << 30, whole)
    assert found is not None and by_rows is not None
    # a small rank is found before the matrix is asked for
    assert len(asked) == (rank > 64)
    assert abs(found.rank - by_rows.rank) <= 1 and found.rank >= rank
    size = float(K.diagonal().max())
    assert np.abs(found.L @ found.L.T - K).max() <= 1e-12 * size
    own = found.L[found.pivots]
    assert np.array_equal(own, np.tril(own)) and np.unique(found.pivots).size == found.rank
    assert np.linalg.norm(K - found.L @ found.L.T, 2) <= found.error <= 1e-9 * K.trace()
    w = rng.standard_normal(found.rank)
    a = found.coefficients(w)
    assert np.allclose(K @ a, found.L @ w, atol=1e-6 * np.sqrt(size) * np.abs(w).max() * found.rank)
