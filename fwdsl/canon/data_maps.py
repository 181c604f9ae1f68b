"""Matrices of data as maps: by reference, sparse ones sparse, float32 ones summed in float64."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from ..atoms.base import Array, MatrixLike
from ..bind import row_chunks
from ..light_dataclass import light_dataclass
from ..readers.row_blocks import NotInMemory, is_on_disk
from .maps import LinearMap, NonnegativeMap, as_sparse, bracket

if TYPE_CHECKING:
    from scipy.sparse import csr_array


@light_dataclass
class Matrix(LinearMap):
    """x -> A x, or A' x where `transposed`: A a dense array, a memory map or a `scipy.sparse.csr_array`, never copied."""

    A: Any
    transposed: bool = False
    name: str = "A"

    @property
    def shape(self) -> tuple[int, int]:
        return shape_of(self.A, self.transposed)

    @property
    def nnz(self) -> int:
        return stored(self.A)

    def apply(self, x: Array) -> Array:
        return _product(self.A, x, self.transposed)

    def adjoint(self, y: Array) -> Array:
        return _product(self.A, y, not self.transposed)

    def absolute(self) -> LinearMap:
        """|A|, taken by blocks of rows as it is applied."""
        if not is_written(self.A):
            return Matrix(abs(self.A), self.transposed, f"|{self.name}|")
        return AbsoluteMatrix(self.A, self.transposed)

    def squared(self) -> LinearMap:
        """A entry by entry squared, taken by blocks of rows."""
        return AbsoluteMatrix(self.A, self.transposed, square=True) if is_written(self.A) else self.absolute()

    def sparse(self) -> csr_array:
        if is_on_disk(self.A):
            raise NotInMemory
        return as_sparse(self.A.T if self.transposed else self.A) if is_written(self.A) else super().sparse()

    def describe(self, x: str) -> str:
        return f"{self.name}{'.T' if self.transposed else ''} @ {bracket(x)}"


BLOCK = 1 << 17
"""Numbers of a matrix whose sizes are taken at a time."""


@light_dataclass
class AbsoluteMatrix(NonnegativeMap):
    """x -> |A| x, or |A|' x where `transposed`, with squared entries where `square`: a block of rows at a time, so that A is never copied."""

    A: Any
    transposed: bool = False
    square: bool = False

    @property
    def shape(self) -> tuple[int, int]:
        return shape_of(self.A, self.transposed)

    def apply(self, x: Array) -> Array:
        return self._gather(x) if self.transposed else self._by_rows(x)

    def adjoint(self, y: Array) -> Array:
        return self._by_rows(y) if self.transposed else self._gather(y)

    def _blocks(self) -> Iterator[tuple[slice, Any]]:
        n = int(self.A.shape[0])
        step = max(1, BLOCK * n // max(1, stored(self.A)))
        for i in range(0, n, step):
            at = slice(i, i + step)
            rows = self.A[at]
            yield (
                at,
                self._sizes(
                    np.asarray(rows, dtype=np.float64) if isinstance(rows, np.ndarray) else rows.astype(np.float64)
                ),
            )

    def _sizes(self, block: Any) -> Any:
        block = abs(block)
        return block * block if self.square else block

    def _by_rows(self, x: Array) -> Array:
        if row_chunks.by_chunks(self.A):
            return row_chunks.times(self.A, x, self._sizes)
        out = np.empty(self.A.shape[0])
        for at, block in self._blocks():
            out[at] = block @ x
        return out

    def _gather(self, y: Array) -> Array:
        if row_chunks.by_chunks(self.A):
            return row_chunks.turned_times(self.A, y, self._sizes)
        out = np.zeros(self.A.shape[1])
        for at, block in self._blocks():
            out += block.T @ y[at]
        return out

    def describe(self, x: str) -> str:
        return f"abs(A) @ {x}"


def is_written(A: MatrixLike) -> bool:
    """True if all entries of A lie in memory or on a disk, so that blocks of rows can be taken: not for a sparse matrix less its means."""
    return isinstance(A, np.ndarray) or hasattr(A, "indptr") or is_on_disk(A)


def stored(A: MatrixLike) -> int:
    """The numbers that A stores."""
    return int(A.nnz) if hasattr(A, "nnz") else int(A.size)


def shape_of(A: MatrixLike, transposed: bool) -> tuple[int, int]:
    """The shape of A, or of A'."""
    n, d = int(A.shape[0]), int(A.shape[1])
    return (d, n) if transposed else (n, d)


def _product(A: MatrixLike, x: Array, turned: bool) -> Array:
    """A x, or A'x where `turned`."""
    if row_chunks.by_chunks(A):
        return (row_chunks.turned_times if turned else row_chunks.times)(A, x)
    return _times(A.T if turned else A, x)


def _times(A: MatrixLike, x: Array) -> Array:
    """A @ x accumulated in float64; float32 data go through blocks of rows (or columns) so that no whole copy is made."""
    if A.dtype == np.float64:
        return np.asarray(A @ x, dtype=np.float64)
    if hasattr(A, "nnz"):
        return np.asarray(A.astype(np.float64) @ x)
    step = max(1, 2**21 // max(1, min(A.shape)))
    if A.flags.c_contiguous:
        parts = [np.asarray(A[i : i + step], dtype=np.float64) @ x for i in range(0, A.shape[0], step)]
        return np.concatenate(parts) if parts else np.zeros(0)
    total = np.zeros(A.shape[0])
    for j in range(0, A.shape[1], step):
        total += np.asarray(A[:, j : j + step], dtype=np.float64) @ x[j : j + step]
    return total
