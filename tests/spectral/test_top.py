"""The largest triplets by every method, against dense decompositions."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from fwdsl.spectral.operators import as_operator
from fwdsl.spectral.top import top_singular

from .matrices import MATRICES, with_singular_values

METHODS = ("lanczos", "subspace", "lobpcg", "dense", "auto")


@pytest.mark.parametrize("name", MATRICES)
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("k", [1, 5])
def test_triplets(name: str, method: str, k: int) -> None:
    A = MATRICES[name]
    reference = np.linalg.svd(A, compute_uv=False)
    k = min(k, reference.size)
    if (name, method) == ("slowly falling", "subspace"):
        # it cannot converge there, and says so
        slow = top_singular(A, k, 1e-7, method=method, max_products=500)
        assert slow.products < 520 and slow.residuals.max() > 1e-7
        return
    found = top_singular(A, k, 1e-7, method=method)
    assert np.allclose(found.s, reference[:k], rtol=0, atol=1e-7 * reference[0])
    assert np.all(found.s <= reference[:k] + 1e-12 * reference[0])
    if reference[0] > 0:
        live = found.s > 1e-6 * reference[0]
        U, s, V = found.U[:, live], found.s[live], found.V[:, live]
        assert np.allclose(V.T @ V, np.eye(s.size), atol=1e-8)
        assert np.linalg.norm(A @ V - U * s) <= 1e-6 * reference[0]


@pytest.mark.parametrize("method", ["lanczos", "subspace", "lobpcg"])
def test_residuals_are_those_of_the_vectors(method: str) -> None:
    A = MATRICES["tall"]
    found = top_singular(A, 3, 1e-5, method=method)
    left = np.linalg.norm(A.T @ found.U - found.V * found.s, axis=0)
    right = np.linalg.norm(A @ found.V - found.U * found.s, axis=0)
    assert np.all(np.maximum(left, right) <= np.maximum(2 * found.residuals, 1e-10 * found.s[0]))
    assert np.all(found.residuals <= 1e-4 * found.s[0])


def test_lanczos_finds_all_copies_of_a_multiple_value() -> None:
    A = with_singular_values(150, 120, [2.0] * 6 + [1.0] * 30)
    assert np.allclose(top_singular(A, 8, 1e-9, method="lanczos").s, [2.0] * 6 + [1.0] * 2)


@pytest.mark.parametrize("method", ["subspace", "lobpcg"])
def test_warm_vectors_save_products(method: str) -> None:
    A = np.random.default_rng(0).standard_normal((200, 150))
    cold = top_singular(A, 4, 1e-6, method=method)
    changed = A + 1e-6 * np.random.default_rng(1).standard_normal(A.shape)
    extra = np.random.default_rng(2).standard_normal((150, 4)) / 150
    warm = top_singular(changed, 4, 1e-5, np.hstack([cold.V, extra]), method=method)
    assert warm.products < 0.5 * cold.products
    assert np.allclose(warm.s, np.linalg.svd(changed, compute_uv=False)[:4], rtol=1e-9)


def test_sparse_products_are_those_of_the_dense_matrix() -> None:
    A = sp.random_array((40, 30), density=0.2, rng=np.random.default_rng(0), format="coo")
    op, dense = as_operator(A), A.toarray()
    rng = np.random.default_rng(1)
    for shape in ((30,), (30, 3)):
        X = rng.standard_normal(shape)
        assert np.allclose(op.matvec(X), dense @ X)
    for shape in ((40,), (40, 3)):
        Y = rng.standard_normal(shape)
        assert np.allclose(op.rmatvec(Y), dense.T @ Y)


def test_deterministic_and_refusals() -> None:
    A = MATRICES["wide"]
    first, second = (top_singular(A, 3, seed=5, method="lanczos") for _ in range(2))
    assert np.array_equal(first.s, second.s) and np.array_equal(first.V, second.V)
    with pytest.raises(ValueError, match="no method"):
        top_singular(A, 1, method="power")
    with pytest.raises(TypeError, match="matvec"):
        as_operator("A")
