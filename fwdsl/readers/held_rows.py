"""Matrices whose rows others hold: workers, each some of the leaves (`fwdsl.sums`), who take the products with their own rows.

A `HeldDense` or a `HeldSparse` stands where a matrix on a disk may. What works by products asks its `hands`; whatever else reads rows has them from
`source`, the matrix as this process has it: in memory, or in files. So everything that serves a matrix on a disk serves these, and products alone are
as fast as the workers are.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from ..sums import Node, Rows, finish
from .row_blocks import DenseRows, RowBlocks, SparseRows, Stored, is_on_disk

Array = NDArray[Any]


class Hands(Protocol):
    """The workers that hold one matrix."""

    #: The name of the matrix among its holders.
    key: str

    @property
    def lost(self) -> str:
        """The reason why nobody can be asked any more; "" while they can."""

    def rows(self, what: str, common: Sequence[Any] = ()) -> list[Array] | None:
        """The numbers of each range of rows, in their order, that `what` of `Holder` gives; None where nobody can be asked any more."""

    def nodes(
        self, what: str, of_rows: Sequence[Array], common: Sequence[Any] = (), level: int = 0
    ) -> list[tuple[Node, Any]] | None:
        """The values of the nodes that `what` of `Holder` gives from vectors of rows; None also where a node of this level has several holders."""

    def term(self, term: Any, each: int) -> Any:
        """The holders of the rows of a term (`fwdsl.backends.row_vectors.Holders`), which has `each` predictions a row of the matrix; None where
        nobody can be asked. Raises `TypeError` where the term has no parts."""


class OfRows(NamedTuple):
    """An array with a row for each row of the data, in what a holder is asked: it is sent its own rows alone."""

    array: Array

    def cut(self, rows: slice) -> OfRows:
        """Some of the rows."""
        return OfRows(self.array[rows])


def own_rows(args: Sequence[Any], rows: slice) -> tuple[Any, ...]:
    """The arguments of a question with those rows of arrays that have a row for each row of the data."""
    return tuple(a.array[rows] if isinstance(a, OfRows) else a for a in args)


class InHands:
    """The part that all kinds of data in the hands of workers have in common."""

    hands: Hands


class Elsewhere(RowBlocks):
    """Rows of a matrix that their holder knows by its key: what stands in a map that is sent to the holder."""

    dtype = np.dtype(np.float64)

    def __init__(self, key: str, start: int, n: int, d: int) -> None:
        super().__init__()
        self.key, self.start, self.shape = key, start, (n, d)

    @property
    def size(self) -> int:
        return 0

    def between(self, start: int, stop: int) -> Elsewhere:
        return Elsewhere(self.key, self.start + start, stop - start, self.shape[1])


class Held(InHands):
    """The part that both kinds of matrices have in common."""

    source: Any
    leaves: tuple[Rows, ...]
    shape: tuple[int, int]

    def _hold(self, source: Any, leaves: tuple[Rows, ...]) -> None:
        self.source, self.leaves = source, leaves

    def times(self, X: Array, change: Callable[[Any], Any] | None) -> Array | None:
        """A X by the reference of the verifier, of the entries that `change` makes; None where nobody can be asked."""
        found = self.hands.rows("times", (X, change))
        return None if found is None else np.concatenate(found)

    def turned_times(self, Y: Array, change: Callable[[Any], Any] | None) -> Array | None:
        """A'Y, the same way."""
        found = self.hands.nodes("turned_times", (Y,), (change,))
        return None if found is None else np.asarray(finish(found))


class HeldDense(Held, DenseRows):
    """A dense matrix in the hands of workers."""

    def __init__(self, source: Array | DenseRows, leaves: tuple[Rows, ...]) -> None:
        if isinstance(source, DenseRows):
            DenseRows.__init__(self, source.parts, source.shape[1])
        else:
            kept = source.dtype in (np.float64, np.float32) and source.dtype.isnative
            whole = Stored("", 0, source.dtype if kept else np.dtype(np.float64), source.size, 0, 0)
            DenseRows.__init__(self, (whole,), source.shape[1])
            self.shape = source.shape
        self._hold(source, leaves)

    @property
    def files(self) -> tuple[str, ...]:
        return self.source.files if isinstance(self.source, DenseRows) else ()

    def _into(self, out: Array, start: int, stop: int) -> Array:
        if isinstance(self.source, DenseRows):
            return super()._into(out, start, stop)
        out[:] = self.source[start:stop]
        self._count(out.size)
        return out

    def between(self, start: int, stop: int) -> DenseRows:
        if isinstance(self.source, DenseRows):
            return self.source.between(start, stop)
        return cast(DenseRows, self.source[start:stop])


class HeldSparse(Held, SparseRows):
    """A sparse matrix by rows in the hands of workers."""

    def __init__(self, source: Any, leaves: tuple[Rows, ...]) -> None:
        if isinstance(source, SparseRows):
            SparseRows.__init__(self, source.ends, source.parts, source.shape[1])
        else:
            index, data = source.indices, source.data
            columns, values = (Stored("", 0, a.dtype, int(source.indptr[-1]), 0, 0) for a in (index, data))
            SparseRows.__init__(self, source.indptr, [(columns, values)], int(source.shape[1]))
        self._hold(source, leaves)

    @property
    def files(self) -> tuple[str, ...]:
        return self.source.files if isinstance(self.source, SparseRows) else ()

    def compressed(self, start: int, stop: int) -> tuple[Array, Array, Array]:
        if isinstance(self.source, SparseRows):
            return super().compressed(start, stop)
        return self._of_source(start, stop)

    def piece(self, start: int, stop: int, slot: int = 0) -> tuple[Array, Array, Array]:
        return super().piece(start, stop, slot) if isinstance(self.source, SparseRows) else self._of_source(start, stop)

    def columns_of(self, start: int, stop: int) -> Array:
        if isinstance(self.source, SparseRows):
            return super().columns_of(start, stop)
        return cast(Array, self.source.indices[int(self.ends[start]) : int(self.ends[stop])])

    def _of_source(self, start: int, stop: int) -> tuple[Array, Array, Array]:
        """The rows of a matrix in memory."""
        signed = np.int32 if self.narrow else np.int64
        first, last = int(self.ends[start]), int(self.ends[stop])
        self._count(last - first)
        indptr = (self.ends[start : stop + 1] - first).astype(signed)
        data = self.source.data[first:last].astype(self.dtype, copy=False)
        return indptr, self.source.indices[first:last].astype(signed, copy=False), data

    def between(self, start: int, stop: int) -> SparseRows:
        if isinstance(self.source, SparseRows):
            return self.source.between(start, stop)
        return cast(SparseRows, self.source[start:stop])

    def in_columns(self) -> NDArray[np.intp]:
        if self._in_columns is None:
            found = self.hands.nodes("in_columns", ())
            if found is None:
                return super().in_columns()
            self._in_columns = np.asarray(finish(found))
        return self._in_columns


HeldRows = HeldDense | HeldSparse


def held_rows(source: Any, leaves: tuple[Rows, ...]) -> HeldRows:
    """The matrix, whose `hands` are to be given."""
    dense = isinstance(source, np.ndarray | DenseRows)
    return HeldDense(source, leaves) if dense else HeldSparse(source, leaves)


def is_held(A: object) -> bool:
    """True if workers hold the rows of a matrix."""
    return isinstance(A, Held)


def hands_of(values: Mapping[str, object]) -> tuple[Hands, ...]:
    """The hands of all data that workers hold."""
    return tuple(value.hands for value in values.values() if isinstance(value, InHands))


def where(A: RowBlocks) -> str:
    """The place where the rows are, in words."""
    return "are with the workers" if is_held(A) else "stay on their disk under `--memory`" if is_on_disk(A) else ""
