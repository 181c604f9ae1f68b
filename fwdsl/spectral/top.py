"""The largest singular values with their vectors, by Lanczos, subspace iteration or LOBPCG.

The results are estimates from below (Ritz values) with residuals; `bounds` proves.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..atoms.base import Array, MatrixLike
from .block import lobpcg, subspace_iteration
from .lanczos import golub_kahan
from .operators import CountedOperator, as_operator, materialise, nothing


@dataclass(frozen=True)
class SingularTriplets:
    """A V ~ U diag(s), A'U ~ V diag(s), largest first: U (m, k), s (k,), V (n, k); the residual of each, and products with A or A' used."""

    U: Array
    s: Array
    V: Array
    residuals: Array
    products: int


def top_singular(
    A: MatrixLike,
    k: int = 1,
    tol: float = 1e-8,
    warm: Array | None = None,
    *,
    method: str = "auto",
    seed: int = 0,
    max_products: int = 20_000,
    look: Callable[[], None] = nothing,
) -> SingularTriplets:
    """The k largest singular triplets, to residuals of `tol` times the largest value.

    `warm` holds right vectors to start from, in columns (n, q); `method` is "lanczos", "subspace", "lobpcg", "dense" or "auto": dense where Lanczos
    would span the whole space, LOBPCG from at least k warm vectors, Lanczos otherwise. Deterministic from the seed. `look` is called before each
    product, and may raise.
    """
    op = CountedOperator(as_operator(A), look)
    m, n = op.shape
    k = _checked(k, min(m, n))
    basis = max(2 * k + 8, 20)
    if method == "auto":
        enough = warm is not None and warm.shape[1] >= k
        method = "dense" if min(m, n) <= basis + 1 else "lobpcg" if enough else "lanczos"
    rng = np.random.default_rng(seed)
    if method == "dense" or k == 0 or (method == "lanczos" and min(m, n) <= basis + 1):
        U, s, Vt = np.linalg.svd(materialise(op), full_matrices=False)
        return SingularTriplets(U[:, :k], s[:k], Vt[:k].T, np.zeros(k), op.products)
    if method == "lanczos":
        start = None if warm is None else warm.sum(axis=1)
        U, s, V, residuals = golub_kahan(op, k, tol, basis, max_products, start, rng)
        return SingularTriplets(U, s, V, residuals, op.products)
    block = _block(warm, n, k, rng)
    if method == "subspace":
        U, s, V, residuals = subspace_iteration(op, block, k, tol, max_products)
        return SingularTriplets(U[:, :k], s[:k], V[:, :k], residuals[:k], op.products)
    if method == "lobpcg":
        if m < n:
            # Gram matrices are formed on the shorter side, and the block is moved there
            block = op.matmat(block)
        _, X, _, _ = lobpcg(op.gram, block, k, tol, max(1, max_products // (2 * block.shape[1])))
        V = X if m >= n else op.rmatmat(X)
        U, s, V, residuals = subspace_iteration(op, V, k, tol, 0)
        return SingularTriplets(U[:, :k], s[:k], V[:, :k], residuals[:k], op.products)
    raise ValueError(f"no method {method!r}")


def _checked(k: int, most: int) -> int:
    if k < 0:
        raise ValueError(f"k must not be negative, and is {k}")
    return min(k, most)


def _block(warm: Array | None, n: int, k: int, rng: np.random.Generator) -> Array:
    """The warm vectors, with random ones up to a few more than k."""
    width = min(n, k + max(4, k // 2))
    if warm is None:
        return rng.standard_normal((n, width))
    missing = max(0, width - warm.shape[1])
    sizes = np.linalg.norm(warm, axis=0)
    extra = rng.standard_normal((n, missing)) * (float(sizes.max(initial=0.0)) or 1.0) / np.sqrt(n)
    return np.hstack([warm, extra])
