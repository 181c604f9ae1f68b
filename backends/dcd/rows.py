"""Some rows of a matrix of data for an interior point: dense, or sparse where pairs of stored numbers are few beside those of columns."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from fwdsl.atoms.base import Array
from fwdsl.backends.dcd import loops
from fwdsl.backends.kernels.compile import kernel
from fwdsl.light_dataclass import light_dataclass

PAIR = 8.0
"""The time of a pair of stored numbers over that of a multiplication in a dense product."""


class RowsOf(Protocol):
    """Z (m, d)."""

    @property
    def count(self) -> int:
        """m."""

    def times(self, x: Array) -> Array:
        """Z x."""

    def adjoint(self, u: Array) -> Array:
        """Z'u."""

    def gram(self, w: Array) -> Array:
        """Z' diag(w) Z for w >= 0, at least its lower triangle."""

    def taken(self, at: NDArray[np.intp]) -> RowsOf:
        """Some of the rows."""


@light_dataclass
class DenseRows:
    """Z as an array."""

    Z: Array

    @property
    def count(self) -> int:
        return int(self.Z.shape[0])

    def times(self, x: Array) -> Array:
        return np.asarray(self.Z @ x)

    def adjoint(self, u: Array) -> Array:
        return np.asarray(self.Z.T @ u)

    def gram(self, w: Array) -> Array:
        root = self.Z * np.sqrt(w)[:, None]
        return np.asarray(root.T @ root)

    def taken(self, at: NDArray[np.intp]) -> DenseRows:
        return DenseRows(self.Z[at])


@light_dataclass
class SparseRows:
    """Z by rows, `width` columns."""

    indptr: NDArray[np.int64]
    indices: NDArray[np.int64]
    data: Array
    width: int

    @property
    def count(self) -> int:
        return self.indptr.size - 1

    def times(self, x: Array) -> Array:
        out = np.empty(self.count)
        kernel(loops.rows_times)(self.indptr, self.indices, self.data, x, out)
        return out

    def adjoint(self, u: Array) -> Array:
        out = np.zeros(self.width)
        kernel(loops.rows_adjoint)(self.indptr, self.indices, self.data, u, out)
        return out

    def gram(self, w: Array) -> Array:
        out = np.zeros((self.width, self.width))
        kernel(loops.rows_gram)(self.indptr, self.indices, self.data, w, out)
        return out

    def taken(self, at: NDArray[np.intp]) -> SparseRows:
        indptr, places = chosen(self.indptr, at)
        return SparseRows(indptr, self.indices[places], self.data[places], self.width)

    def best(self) -> RowsOf:
        """These rows, or the dense ones where their Gram matrix takes less time."""
        counts = np.diff(self.indptr).astype(np.float64)
        if PAIR * float(np.square(counts).sum()) <= self.count * float(self.width) ** 2:
            return self
        Z = np.zeros((self.count, self.width))
        Z[np.repeat(np.arange(self.count), np.diff(self.indptr).astype(np.intp, copy=False)), self.indices] = self.data
        return DenseRows(Z)


def chosen(indptr: NDArray[np.integer], at: NDArray[np.intp]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The row pointers of some rows, and the places of their numbers."""
    first = indptr[at].astype(np.int64)
    counts = indptr[at + 1].astype(np.int64) - first
    out = np.concatenate(([0], np.cumsum(counts)))
    return out, np.repeat(first - out[:-1], counts.astype(np.intp, copy=False)) + np.arange(out[-1])
