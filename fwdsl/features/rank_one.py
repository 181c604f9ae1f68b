"""Sparse matrices minus a rank-one term, such as centred sparse data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .base import Array


@dataclass(frozen=True, eq=False)
class RankOneUpdated:
    """The n x p matrix A - u v', never formed.

    A is a `csr_array` (a `csc_array` behind `.T`), or another `RankOneUpdated`; u (n,) and v (p,) are float64. The matrix has
    `@` with vectors, matrices and sparse matrices from either side, `.T`, products with numbers, slices, and `abs()`, whose
    entries bound those of |A - u v'| from above. `toarray()` is for small matrices: NumPy never calls it by itself.
    """

    A: Any
    u: Array
    v: Array

    ndim = 2
    #: NumPy leaves `x @ M` and `2 * M` to this class.
    __array_ufunc__ = None

    @property
    def shape(self) -> tuple[int, int]:
        return int(self.A.shape[0]), int(self.A.shape[1])

    @property
    def dtype(self) -> np.dtype[Any]:
        dtype: np.dtype[Any] = self.A.dtype
        return dtype

    @property
    def nnz(self) -> int:
        """The stored numbers that a product reads."""
        return int(self.A.nnz) + self.u.size + self.v.size

    @property
    def nbytes(self) -> int:
        own = self.A.nbytes if isinstance(self.A, RankOneUpdated) else _bytes(self.A)
        return int(own) + self.u.nbytes + self.v.nbytes

    @property
    def T(self) -> RankOneUpdated:
        return RankOneUpdated(self.A.T, self.v, self.u)

    def matvec(self, x: Array) -> Array:
        """A x - u (v'x) for a vector x or the columns of a matrix."""
        inner = self.v @ x
        product = np.asarray(self.A @ x, dtype=np.float64)
        return product - (self.u * inner if product.ndim == 1 else np.outer(self.u, inner))

    def rmatvec(self, y: Array) -> Array:
        return self.T.matvec(y)

    def __matmul__(self, other: Any) -> Any:
        if hasattr(other, "tocsr"):
            from scipy.sparse import csr_array

            return RankOneUpdated(_sparse(self.A @ csr_array(other)), self.u, np.asarray(other.T @ self.v))
        if isinstance(other, RankOneUpdated):
            # (A - u v') (B - s t') = (A - u v') B - ((A - u v') s) t'
            return RankOneUpdated(self @ other.A, self.matvec(other.u), other.v)
        return self.matvec(np.asarray(other, dtype=np.float64))

    def __rmatmul__(self, other: Any) -> Any:
        product = self.T @ other.T
        return product.T if np.ndim(product) == 2 else product

    def __neg__(self) -> RankOneUpdated:
        return RankOneUpdated(-self.A, -self.u, self.v)

    def __mul__(self, factor: float) -> RankOneUpdated:
        return RankOneUpdated(self.A * float(factor), self.u * float(factor), self.v)

    __rmul__ = __mul__

    def __truediv__(self, divisor: float) -> RankOneUpdated:
        return self * (1.0 / float(divisor))

    def __abs__(self) -> RankOneUpdated:
        return RankOneUpdated(abs(self.A), -np.abs(self.u), np.abs(self.v))

    def __getitem__(self, item: Any) -> RankOneUpdated:
        """A block by slices or arrays of positions: `M[0:5]`, `M[0:5, rows]`; both axes are kept."""
        rows, columns = (*item, slice(None))[:2] if isinstance(item, tuple) else (item, slice(None))
        part = self.A if _whole(rows) else self.A[rows]
        return RankOneUpdated(part if _whole(columns) else part[:, columns], self.u[rows], self.v[columns])

    def __array__(self, *_: Any, **__: object) -> Array:
        raise TypeError("a sparse matrix less a rank-one term is not made dense by itself; use `toarray()`")

    def astype(self, dtype: Any, copy: bool = True) -> RankOneUpdated:
        return RankOneUpdated(self.A.astype(dtype, copy=copy), self.u, self.v)

    def toarray(self) -> Array:
        return np.asarray(np.subtract(self.A.toarray(), np.outer(self.u, self.v), dtype=np.float64))

    def diagonal(self) -> Array:
        size = min(self.shape)
        return np.asarray(np.subtract(self.A.diagonal(), self.u[:size] * self.v[:size], dtype=np.float64))

    def sum(self) -> float:
        own = self.A.sum() if isinstance(self.A, RankOneUpdated) else np.sum(self.A.data, dtype=np.float64)
        return float(own) - float(self.u.sum()) * float(self.v.sum())

    def tocsr_rows(self) -> RankOneUpdated:
        """The same matrix with A stored by rows, for slices of rows."""
        inner = self.A.tocsr_rows() if isinstance(self.A, RankOneUpdated) else self.A.tocsr()
        return RankOneUpdated(inner, self.u, self.v)


def _sparse(product: Any) -> Any:
    return product if isinstance(product, RankOneUpdated) else product.tocsr()


def _bytes(A: Any) -> int:
    return int(A.data.nbytes + A.indices.nbytes + A.indptr.nbytes)


def _whole(item: Any) -> bool:
    return isinstance(item, slice) and item == slice(None)
