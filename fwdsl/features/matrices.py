"""Operations on a data matrix in any form: dense, memory-mapped, `csr_array`, or `RankOneUpdated`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from .base import Array
from .rank_one import RankOneUpdated

if TYPE_CHECKING:
    from ..atoms.base import MatrixLike

BLOCK = 1 << 18
"""The number of entries of a block."""


def is_sparse(X: Any) -> bool:
    """True if X is a SciPy sparse array."""
    return hasattr(X, "tocsr")


def blocks(rows: int, width: int, numbers: int = BLOCK) -> Iterator[slice]:
    """Slices of rows with about `numbers` numbers each."""
    step = max(1, numbers // max(1, width))
    return (slice(start, min(rows, start + step)) for start in range(0, rows, step))


def dense_rows(X: MatrixLike, rows: slice) -> Array:
    """A block of rows as a dense float64 array."""
    part = X[rows]
    return np.asarray(part.toarray() if not isinstance(part, np.ndarray) else part, dtype=np.float64)


def stored_rows(X: Any) -> Array:
    """The row of each stored number of a `csr_array`."""
    return np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))


def scale_columns(X: Any, factors: Array) -> Any:
    """X diag(factors) in the form and precision of X."""
    if isinstance(X, RankOneUpdated):
        return RankOneUpdated(scale_columns(X.A, factors), X.u, X.v * factors)
    if is_sparse(X):
        return _with_data(X, X.data * factors[X.indices])
    out = np.empty(X.shape, dtype=X.dtype)
    for rows in blocks(*X.shape):
        out[rows] = X[rows] * factors
    return out


def scale_rows(X: Any, factors: Array) -> Any:
    """diag(factors) X in the form and precision of X."""
    if isinstance(X, RankOneUpdated):
        return RankOneUpdated(scale_rows(X.A, factors), X.u * factors, X.v)
    if is_sparse(X):
        return _with_data(X, X.data * np.repeat(factors, np.diff(X.indptr)))
    out = np.empty(X.shape, dtype=X.dtype)
    for rows in blocks(*X.shape):
        out[rows] = X[rows] * factors[rows, None]
    return out


def inner(X: Any, Y: Any) -> Array:
    """X Y' of two blocks of rows, in any form, as a dense float64 array."""
    if isinstance(X, RankOneUpdated):
        return inner(X.A, Y) - np.outer(X.u, Y @ X.v)
    if isinstance(Y, RankOneUpdated):
        return inner(Y, X).T
    if is_sparse(X):
        product = _double(X) @ _double(Y).T
        return np.asarray(product.toarray() if is_sparse(product) else product)
    if is_sparse(Y):
        return inner(Y, X).T
    return np.asarray(_double(X) @ _double(Y).T)


def squared_norms(X: MatrixLike) -> Array:
    """The squared Euclidean norms of the rows, in float64."""
    n, p = X.shape
    if is_sparse(X):
        squares = np.square(X.data, dtype=np.float64)
        return np.bincount(stored_rows(X), weights=squares, minlength=n)
    if isinstance(X, RankOneUpdated) and is_sparse(X.A):
        return _updated_norms(X)
    out = np.empty(n)
    for rows in blocks(n, p):
        block = dense_rows(X, rows)
        out[rows] = np.einsum("ij,ij->i", block, block)
    return out


def _updated_norms(X: RankOneUpdated) -> Array:
    """The squared norms of the rows of A - u v', without cancellation of large numbers.

    Stored places are computed one by one, the others as u_i times the norm of the rest of v.
    """
    A = X.A
    at = stored_rows(A)
    there = X.v[A.indices]
    difference = A.data - X.u[at] * there
    covered = np.bincount(at, weights=np.square(there), minlength=A.shape[0])
    rest = np.maximum(float(X.v @ X.v) - covered, 0.0)
    rest[np.diff(A.indptr) == A.shape[1]] = 0.0
    own = np.bincount(at, weights=np.square(difference), minlength=A.shape[0])
    return np.asarray(own + np.square(X.u) * rest)


def _with_data(X: Any, data: Array) -> Any:
    from scipy.sparse import csr_array

    out = csr_array((data.astype(X.dtype, copy=False), X.indices, X.indptr), shape=X.shape, copy=False)
    out.has_canonical_format = X.has_canonical_format
    return out


def _double(X: MatrixLike) -> Any:
    return X.astype(np.float64, copy=False) if is_sparse(X) else np.asarray(X, dtype=np.float64)
