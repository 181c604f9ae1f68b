"""A - u v' against the dense matrix."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from fwdsl.features import RankOneUpdated

RNG = np.random.default_rng(4)
A = RNG.standard_normal((8, 5)) * (RNG.random((8, 5)) < 0.5)
U, V = RNG.standard_normal(8), RNG.standard_normal(5)
ONE = RankOneUpdated(sp.csr_array(A), U, V)
D = A - np.outer(U, V)
S, T = RNG.standard_normal(8), RNG.standard_normal(5)
#: A rank-one term less another, as sums and maps of maps make them.
TWO = RankOneUpdated(ONE, S, T)
BOTH = pytest.mark.parametrize(("M", "D"), [(ONE, D), (TWO, D - np.outer(S, T))], ids=["one", "two"])


@BOTH
def test_it_is_the_matrix(M, D):
    np.testing.assert_allclose(M.toarray(), D, atol=1e-14)
    assert M.shape == D.shape and M.ndim == 2 and M.dtype == np.float64
    assert M.nnz >= np.count_nonzero(A) + 13 and M.nbytes > 8 * M.nnz
    np.testing.assert_allclose(M.diagonal(), D.diagonal(), atol=1e-14)
    assert M.sum() == pytest.approx(D.sum())


@BOTH
def test_products_with_vectors_and_matrices(M, D):
    x, y, B, C = (
        RNG.standard_normal(5),
        RNG.standard_normal(8),
        RNG.standard_normal((5, 3)),
        RNG.standard_normal((3, 8)),
    )
    for ours, exact in [
        (M @ x, D @ x),
        (M @ B, D @ B),
        (M.matvec(x), D @ x),
        (M.rmatvec(y), D.T @ y),
        (y @ M, y @ D),
        (C @ M, C @ D),
        (M.T @ y, D.T @ y),
        ((M @ sp.csr_array(B)).toarray(), D @ B),
        ((M @ M.T).toarray(), D @ D.T),
        ((-2.0 * M / 4.0).toarray(), -D / 2),
        ((M * 3).toarray(), 3 * D),
    ]:
        np.testing.assert_allclose(ours, exact, atol=1e-13)
    assert float(y @ (M @ x)) == pytest.approx(float((M.T @ y) @ x))


@BOTH
def test_blocks(M, D):
    rows, columns = np.array([5, 0]), np.array([4, 1, 1])
    for item in (slice(2, 6), (slice(2, 6), slice(1, 3)), (slice(None), slice(0, 2)), rows, (slice(None), columns)):
        np.testing.assert_allclose(M[item].toarray(), D[item], atol=1e-14)
    np.testing.assert_allclose(M.T.tocsr_rows()[1:3].toarray(), D.T[1:3], atol=1e-14)


@BOTH
def test_absolute_values_are_bounded_from_above(M, D):
    assert np.all(abs(M).toarray() >= np.abs(D) - 1e-14)
    assert np.all(
        abs(M).toarray() <= np.abs(A) + np.outer(np.abs(U), np.abs(V)) + np.outer(np.abs(S), np.abs(T)) + 1e-14
    )


def test_it_is_never_made_dense_by_itself():
    with pytest.raises(TypeError, match="toarray"):
        np.asarray(ONE)
    with pytest.raises(TypeError):
        np.exp(ONE)
