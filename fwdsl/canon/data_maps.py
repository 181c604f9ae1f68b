"""Matrices of data as maps: by reference, sparse ones sparse, float32 ones summed in float64."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..atoms.base import Array, MatrixLike
from ..bind import row_chunks
from ..bind.observed_places import Places
from ..light_dataclass import light_dataclass
from ..readers.row_blocks import NotInMemory, is_on_disk
from ..sums import Rows, dense_leaves, sparse_leaves, tree_sum
from .maps import LinearMap, NonnegativeMap, as_sparse, bracket

if TYPE_CHECKING:
    from scipy.sparse import csr_array

COUNTED = 20_000
"""Numbers of an array up to which its zeros are counted, in some microseconds."""

ZEROS, FARTHEST = 4, 8
"""The numbers of an array of few diagonals for each one that is not 0, at least, and the farthest diagonal."""


@light_dataclass
class Matrix(LinearMap):
    """x -> A x, or A' x where `transposed`: A a dense array, a memory map or a `scipy.sparse.csr_array`, never copied.

    `given` are the leaves of its rows where A is a part of the data, which does not tell them.
    """

    A: Any
    transposed: bool = False
    name: str = "A"
    given: tuple[Rows, ...] | None = None

    @property
    def shape(self) -> tuple[int, int]:
        return shape_of(self.A, self.transposed)

    @property
    def nnz(self) -> int:
        return stored(self.A)

    @cached_property
    def entries(self) -> int:
        return entries_of(self.A, 1, self.rows)

    @cached_property
    def leaves(self) -> tuple[Rows, ...] | None:
        return None if self.transposed else self.given or leaves_of(self.A)

    def part(self, start: int, stop: int, leaves: tuple[Rows, ...]) -> LinearMap:
        if self.leaves is None:
            return super().part(start, stop, leaves)
        return Matrix(held(self.A, start, stop), False, self.name, leaves)

    @cached_property
    def _parts(self) -> list[tuple[slice, Any]]:
        """The leaves of A by columns; none where it is taken as a whole."""
        return parts_by_leaves(self.A, self.leaves)

    def apply(self, x: Array) -> Array:
        return self._product(x, self.transposed)

    def adjoint(self, y: Array) -> Array:
        return self._product(y, not self.transposed)

    def _product(self, x: Array, turned: bool) -> Array:
        """A x, or A'x where `turned`."""
        if row_chunks.by_chunks(self.A):
            return (row_chunks.turned_times if turned else row_chunks.times)(self.A, x, leaves=self.leaves)
        if not self._parts:
            return _times(self.A.T if turned else self.A, x)
        if turned:
            return np.asarray(tree_sum(_times(part.T, x[at]) for at, part in self._parts))
        return np.concatenate([_times(part, x) for _, part in self._parts])

    def absolute(self) -> LinearMap:
        """|A|, taken by blocks of rows as it is applied."""
        return self._absolute if is_written(self.A) else Matrix(abs(self.A), self.transposed, f"|{self.name}|")

    @cached_property
    def _absolute(self) -> AbsoluteMatrix:
        return AbsoluteMatrix(self.A, self.transposed, given=self.given)

    def squared(self) -> LinearMap:
        """A entry by entry squared, taken by blocks of rows."""
        return AbsoluteMatrix(self.A, self.transposed, True, self.given) if is_written(self.A) else self.absolute()

    def sparse(self) -> csr_array:
        if is_on_disk(self.A):
            raise NotInMemory
        return as_sparse(self.A.T if self.transposed else self.A) if is_written(self.A) else super().sparse()

    def describe(self, x: str) -> str:
        return f"{self.name}{'.T' if self.transposed else ''} @ {bracket(x)}"


BLOCK = 1 << 17
"""Numbers of a matrix whose sizes are taken at a time."""


def squares(block: Any) -> Any:
    """The squares of the entries."""
    return block * block


@light_dataclass
class AbsoluteMatrix(NonnegativeMap):
    """x -> |A| x, or |A|' x where `transposed`, with squared entries where `square`: a block of rows at a time, so that A is never copied."""

    A: Any
    transposed: bool = False
    square: bool = False
    given: tuple[Rows, ...] | None = None

    @property
    def shape(self) -> tuple[int, int]:
        return shape_of(self.A, self.transposed)

    def apply(self, x: Array) -> Array:
        return self._gather(x) if self.transposed else self._by_rows(x)

    def adjoint(self, y: Array) -> Array:
        return self._by_rows(y) if self.transposed else self._gather(y)

    @property
    def _sizes(self) -> row_chunks.Change:
        return squares if self.square else abs

    def _by_rows(self, x: Array) -> Array:
        if row_chunks.by_chunks(self.A):
            return row_chunks.times(self.A, x, self._sizes, self._leaves)
        out = np.empty(self.A.shape[0])
        for start, stop in self._leaves:
            for at, block in self._blocks(start, stop):
                out[at] = block @ x
        return out

    def _gather(self, y: Array) -> Array:
        if row_chunks.by_chunks(self.A):
            return row_chunks.turned_times(self.A, y, self._sizes, self._leaves)

        def of_leaf(start: int, stop: int) -> Array:
            out = np.zeros(self.A.shape[1])
            for at, block in self._blocks(start, stop):
                out += block.T @ y[at]
            return out

        found = tree_sum(of_leaf(*leaf) for leaf in self._leaves)
        return np.zeros(self.A.shape[1]) if found is None else np.asarray(found)

    def _blocks(self, start: int, stop: int) -> Iterator[tuple[slice, Any]]:
        n = stop - start
        step = max(1, BLOCK * n // max(1, stored(self.A) * n // self.A.shape[0]))
        for i in range(start, stop, step):
            at = slice(i, min(i + step, stop))
            rows = self.A[at]
            numbers = np.asarray(rows, dtype=np.float64) if isinstance(rows, np.ndarray) else rows.astype(np.float64)
            yield at, self._sizes(numbers)

    @cached_property
    def _leaves(self) -> tuple[Rows, ...]:
        found = self.given or leaves_of(self.A)
        return ((0, int(self.A.shape[0])),) if found is None else found

    @property
    def leaves(self) -> tuple[Rows, ...] | None:
        return None if self.transposed else self._leaves

    def describe(self, x: str) -> str:
        return f"abs(A) @ {x}"


def leaves_of(A: MatrixLike) -> tuple[Rows, ...] | None:
    """The leaves (`fwdsl.sums`) of the rows of A; None where its rows do not lie together."""
    if is_on_disk(A):
        return row_chunks.leaves_of(A)
    if isinstance(A, np.ndarray):
        return dense_leaves(A.shape[0], A.shape[1], bool(A.flags.f_contiguous and not A.flags.c_contiguous))
    return sparse_leaves(A.indptr, int(A.shape[1])) if getattr(A, "format", "") == "csr" else None


def parts_by_leaves(A: MatrixLike, leaves: tuple[Rows, ...] | None) -> list[tuple[slice, Any]]:
    """The rows of each leaf, where there are several, by reference."""
    if leaves is None or len(leaves) < 2:
        return []
    return [(slice(*leaf), rows_between(A, *leaf)) for leaf in leaves]


def rows_between(A: Any, start: int, stop: int) -> Any:
    """Some rows of a dense matrix or of a sparse one by rows, by reference: SciPy's own slices are copies."""
    if isinstance(A, np.ndarray):
        return A[start:stop]
    ends = A.indptr[start : stop + 1]
    at = slice(int(ends[0]), int(ends[-1]))
    return type(A)((A.data[at], A.indices[at], ends - ends[0]), shape=(stop - start, A.shape[1]), copy=False)


def held(A: Any, start: int, stop: int) -> Any:
    """Some rows as their holder has them, stored in the order of the whole: kernels and sums are those of the order."""
    if is_on_disk(A) or isinstance(A, Places):
        return A.between(start, stop)
    part = rows_between(A, start, stop)
    by_columns = isinstance(A, np.ndarray) and A.flags.f_contiguous and not A.flags.c_contiguous
    return np.asfortranarray(part) if by_columns else part


def is_written(A: MatrixLike) -> bool:
    """True if all entries of A lie in memory or on a disk, so that blocks of rows can be taken: not for a sparse matrix less its means."""
    return isinstance(A, np.ndarray) or hasattr(A, "indptr") or is_on_disk(A)


def stored(A: MatrixLike) -> int:
    """The numbers that A stores."""
    return int(A.nnz) if hasattr(A, "nnz") else int(A.size)


def entries_of(A: Any, repeats: int, rows: int) -> int:
    """The entries of a map to so many rows that has each number of A several times. The zeros of a small array of few diagonals are left out, as of
    differences and blurs that are written as arrays."""
    few = _diagonals(A) if isinstance(A, np.ndarray) and A.size <= COUNTED else None
    return max((stored(A) if few is None else few) * repeats, rows)


def _diagonals(A: NDArray[Any]) -> int | None:
    """The numbers of a matrix other than 0, where all of them are near the diagonal; else None."""
    numbers = int(np.count_nonzero(A))
    if ZEROS * numbers > A.size:
        return None
    i, j = np.nonzero(A)
    return numbers if np.abs(i - j).max(initial=0) <= FARTHEST else None


def shape_of(A: MatrixLike, transposed: bool) -> tuple[int, int]:
    """The shape of A, or of A'."""
    n, d = int(A.shape[0]), int(A.shape[1])
    return (d, n) if transposed else (n, d)


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
