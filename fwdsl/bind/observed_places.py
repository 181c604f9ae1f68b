"""The places of observed entries in their order by rows, in which sums over them are taken: leaves are ranges of rows (`fwdsl.sums`)."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np

from ..readers.row_blocks import NotInMemory, Stored
from ..sums import Rows, entry_leaves, pieces, sum_of_pieces

HELD = 40
"""Bytes that a holder takes for each entry: its place by rows and by columns, its target and weight, and its number in a gradient."""

PIECE = 1 << 17
"""Entries that are looked at together, at most: those of a leaf are read piece by piece."""


class Places:
    """The places (i, j) of observed entries of a matrix of `shape` by rows, a place possibly more than once.

    Those of row i are i and columns[indptr[i]], ..., columns[indptr[i + 1] - 1].
    """

    def __init__(self, indptr: Any, columns: Any, shape: tuple[int, int]) -> None:
        self.indptr, self.columns, self.shape = indptr, columns, shape

    @classmethod
    def by_rows(cls, shape: tuple[int, int], rows: Any, columns: Any) -> tuple[Places, Any]:
        """The places, and the order that takes vectors over the entries to theirs: v_by_rows = v[order]."""
        order = np.lexsort((columns, rows))
        return cls(pointers(rows, shape[0]), columns[order].astype(np.uint32), shape), order

    @property
    def size(self) -> int:
        """The number of entries."""
        return int(self.indptr[-1])

    @property
    def nbytes(self) -> int:
        """Bytes that a holder of them takes in memory."""
        return HELD * self.size + 8 * (self.shape[0] + self.shape[1])

    @cached_property
    def leaves(self) -> tuple[Rows, ...]:
        """The leaves, as ranges of rows."""
        return entry_leaves(self.indptr, self.shape[1])

    @cached_property
    def entry_leaves(self) -> tuple[Rows, ...]:
        """The leaves, as ranges of entries."""
        return tuple(self.within(leaf) for leaf in self.leaves)

    def within(self, rows: Rows) -> Rows:
        """The entries of some rows, as a range."""
        return int(self.indptr[rows[0]]), int(self.indptr[rows[1]])

    def between(self, start: int, stop: int) -> Places:
        """The places of the rows from start up to stop, which count from 0."""
        first, last = self.within((start, stop))
        return Places(
            self.indptr[start : stop + 1] - self.indptr[start],
            self.columns[first:last],
            (stop - start, self.shape[1]),
        )

    def columns_of(self, start: int, stop: int) -> Any:
        """The columns of the entries from start up to stop."""
        return self.columns[start:stop]

    def ends_of(self, start: int, stop: int) -> tuple[int, Any]:
        """The first row that has one of the entries from start up to stop, and where those of it and of the following rows begin and end."""
        first = int(np.searchsorted(self.indptr, np.uint64(start), side="right")) - 1
        last = int(np.searchsorted(self.indptr, np.uint64(stop), side="left"))
        ends = self.indptr[first : last + 1].clip(np.uint64(start), np.uint64(stop)) - np.uint64(start)
        return first, ends

    def rows_of(self, start: int, stop: int) -> Any:
        """The rows of the entries from start up to stop."""
        first, ends = self.ends_of(start, stop)
        counts = np.diff(ends.astype(np.intp))
        return np.repeat(np.arange(first, first + counts.size), counts)

    def in_memory(self) -> Places:
        """The same places, all of them in memory."""
        return self

    def sum(self, fn: Callable[[slice], Any]) -> Any:
        """The sum over all entries of fn of pieces of them, by the tree; None where there are none."""
        return sum_of_pieces([fn(slice(*at)) for at in of_leaf] for of_leaf in pieces(self.entry_leaves, PIECE))

    def most_frequent(self) -> int:
        """The count of observations of the most frequent place: those of one place stand together."""
        most, run, before = 0, 0, -1
        for start in range(0, self.size, PIECE):
            stop = min(start + PIECE, self.size)
            flat = self.rows_of(start, stop) * self.shape[1] + self.columns_of(start, stop)
            begins = np.flatnonzero(np.diff(flat, prepend=before))
            ends = np.append(begins, flat.size)
            most = max(most, run + int(ends[0]), int(np.diff(ends).max(initial=0)))
            run, before = (run if not begins.size else 0) + int(ends[-1] - (ends[-2] if begins.size else 0)), flat[-1]
        return most


class StoredPlaces(Places):
    """Places whose columns stay in a file, as codes of `positions`, or as positions where that is None."""

    def __init__(self, indptr: Any, stored: Stored, shape: tuple[int, int], positions: Any = None) -> None:
        self.indptr, self.stored, self.shape, self.positions = indptr, stored, shape, positions

    def between(self, start: int, stop: int) -> StoredPlaces:
        indptr = self.indptr[start : stop + 1] - self.indptr[start]
        found = self.stored.cut(*self.within((start, stop)))
        return StoredPlaces(indptr, found, (stop - start, self.shape[1]), self.positions)

    def columns_of(self, start: int, stop: int) -> Any:
        found = self.stored.read(start, stop, ahead=min(stop - start, self.size - stop))
        return found if self.positions is None else self.positions[found]

    def in_memory(self) -> Places:
        return Places(self.indptr, self.columns_of(0, self.size), self.shape)


class StoredVector:
    """A vector over observed entries, in their order by rows, that stays in a file; `stored` is None of what is nowhere, as their rows."""

    ndim = 1
    dtype = np.dtype(np.float64)

    def __init__(self, size: int, stored: Stored | None = None) -> None:
        self.size, self.stored = size, stored

    @property
    def shape(self) -> tuple[int]:
        return (self.size,)

    @property
    def nbytes(self) -> int:
        """Bytes in the file."""
        return 0 if self.stored is None else self.stored.count * self.stored.dtype.itemsize

    def __len__(self) -> int:
        return self.size

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise entries_on_disk("what is to be done needs all of them at once")

    def __getitem__(self, _: Any) -> Any:
        raise entries_on_disk("what is to be done picks some of them")


def entries_on_disk(why: str) -> NotInMemory:
    """The error of what cannot be done with observed entries that stay in files."""
    rule = "Observed entries that stay on their disk stand in one smooth loss of a matrix with a trace norm, as its targets, with one weight for all."
    return NotInMemory(f"observed entries are read in ranges under `--memory`, and {why}", rule)


def pointers(at: Any, length: int) -> Any:
    """The places where the entries of each row, or column, begin among those sorted by it."""
    return np.concatenate([[0], np.cumsum(np.bincount(at, minlength=length))]).astype(np.uint64)
