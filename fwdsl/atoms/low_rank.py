"""A matrix that is kept as a product of two thin factors."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin
from numpy.typing import NDArray

from ..light_dataclass import light_dataclass

Array = NDArray[np.float64]

LARGEST_WRITTEN = 100_000_000
"""Numbers up to which a matrix that is kept as factors may be written out."""

_CHUNK = 1 << 21


@light_dataclass
class LowRank(NDArrayOperatorsMixin):
    """X = U V' of shape (n, p), U (n, k) and V (p, k) with orthogonal columns of equal lengths: X's singular values are their squares.

    `X @ v`, `v @ X` and `X.at(rows, columns)` work on the factors; `X.dense()`, `np.asarray(X)` and other arithmetic write X out, and are a
    `ValueError` beyond `LARGEST_WRITTEN` numbers.
    """

    U: Array
    V: Array

    ndim = 2
    dtype = np.dtype(np.float64)

    @classmethod
    def of(cls, X: Array) -> LowRank:
        """The factors of an array, singular values below rounding left out."""
        P, s, Qt = np.linalg.svd(X, full_matrices=False)
        keep = s > max(X.shape) * np.finfo(np.float64).eps * s.max(initial=0.0)
        root = np.sqrt(s[keep])
        return cls(P[:, keep] * root, Qt[keep].T * root)

    @property
    def shape(self) -> tuple[int, int]:
        return self.U.shape[0], self.V.shape[0]

    @property
    def size(self) -> int:
        return int(self.U.shape[0] * self.V.shape[0])

    @property
    def rank(self) -> int:
        """The number of singular values that are not zero."""
        return int(self.U.shape[1])

    @property
    def singular_values(self) -> Array:
        """The singular values that are not zero, in the order of the factors' columns."""
        return np.asarray(np.einsum("ik,ik->k", self.U, self.U))

    @property
    def T(self) -> LowRank:
        return LowRank(self.V, self.U)

    def copy(self) -> LowRank:
        return LowRank(self.U.copy(), self.V.copy())

    def at(self, rows: Any, columns: Any) -> Array:
        """(X_ij) for places (i, j) given by two vectors of one length."""
        i, j = np.asarray(rows), np.asarray(columns)
        if i.ndim != 1 or i.shape != j.shape:
            raise ValueError("rows and columns are two vectors of one length")
        out = np.empty(i.size)
        stride = max(1, _CHUNK // max(1, self.rank))
        for a in range(0, i.size, stride):
            part = slice(a, a + stride)
            out[part] = np.einsum("ek,ek->e", self.U[i[part]], self.V[j[part]])
        return out

    def dense(self) -> Array:
        """X, written out; `ValueError` where it has more than `LARGEST_WRITTEN` numbers."""
        if self.size > LARGEST_WRITTEN:
            n, p = self.shape
            raise ValueError(
                f"a matrix of {n:,} x {p:,} is not written out: take entries by `.at(rows, columns)`, products by `@`, "
                "or the factors `.U` and `.V`, of which it is U @ V.T"
            )
        return np.asarray(self.U @ self.V.T)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        if copy is False:
            raise ValueError("a matrix kept as factors has no array to share")
        return self.dense() if dtype is None else self.dense().astype(dtype, copy=False)

    def __getitem__(self, key: Any) -> Any:
        return self.dense()[key]

    def __len__(self) -> int:
        return int(self.U.shape[0])

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: object) -> Any:
        if ufunc is np.matmul and method == "__call__" and not options:
            left, right = inputs
            if isinstance(left, LowRank):
                return left.U @ (left.V.T @ np.asarray(right))
            return (np.asarray(left) @ right.U) @ right.V.T
        dense = [x.dense() if isinstance(x, LowRank) else x for x in inputs]
        return getattr(ufunc, method)(*dense, **options)

    def __repr__(self) -> str:
        n, p = self.shape
        return f"<LowRank {n} x {p} of rank {self.rank}>"


def squared_norm(X: LowRank) -> float:
    """|X|_F^2 by the factors' Gram matrices."""
    return float(np.vdot(X.U.T @ X.U, X.V.T @ X.V))


def singular_values(X: LowRank) -> Array:
    """The singular values that may differ from zero, by the triangles of the factors' QR."""
    if X.rank == 0:
        return np.zeros(0)
    R, T = (np.asarray(np.linalg.qr(factor, mode="r")) for factor in (X.U, X.V))
    return np.asarray(np.linalg.svd(R @ T.T, compute_uv=False))


def trace_norm(X: LowRank) -> float:
    """|X|_*."""
    return float(singular_values(X).sum())
