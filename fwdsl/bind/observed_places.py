"""The places of observed entries in their order by rows, in which sums over them are taken: leaves are ranges of rows (`fwdsl.sums`)."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from ..light_dataclass import light_dataclass
from ..sums import Rows, entry_leaves

HELD = 40
"""Bytes that a holder takes for each entry: its place by rows and by columns, its target and weight, and its number in a gradient."""


@light_dataclass
class Places:
    """The places (i, j) of observed entries of a matrix of `shape` by rows, a place possibly more than once.

    Those of row i are i and columns[indptr[i]], ..., columns[indptr[i + 1] - 1].
    """

    indptr: Any
    columns: Any
    shape: tuple[int, int]

    @classmethod
    def by_rows(cls, shape: tuple[int, int], rows: Any, columns: Any) -> tuple[Places, Any]:
        """The places, and the order that takes vectors over the entries to theirs: v_by_rows = v[order]."""
        order = np.lexsort((columns, rows))
        return cls(pointers(rows, shape[0]), columns[order].astype(np.uint32), shape), order

    @property
    def size(self) -> int:
        """The number of entries."""
        return int(self.columns.size)

    @property
    def nbytes(self) -> int:
        """Bytes that a holder of them takes."""
        return HELD * self.size + 8 * (self.shape[0] + self.shape[1])

    @cached_property
    def leaves(self) -> tuple[Rows, ...]:
        """The leaves, as ranges of rows."""
        return entry_leaves(self.indptr, self.shape[1])

    @cached_property
    def rows(self) -> Any:
        """The row of each entry."""
        return np.repeat(np.arange(self.shape[0], dtype=np.uint32), np.diff(self.indptr.astype(np.intp)))

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


def pointers(at: Any, length: int) -> Any:
    """Where the entries of each row, or column, begin among those sorted by it."""
    return np.concatenate([[0], np.cumsum(np.bincount(at, minlength=length))]).astype(np.uint64)
