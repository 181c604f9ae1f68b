"""The order of every sum over rows: which rows are added up one after the other, and the tree in which these partial results are added.

Rows are cut into *leaves*, by the data alone (`dense_leaves`, `sparse_leaves`). Within a leaf sums are taken as is fastest. Over leaves they are
taken by one fixed binary tree: the node (level, i) has the leaves from i 2^level to (i + 1) 2^level - 1; its value is that of its left half
plus that of its right half, and where the right half has no leaves it is that of the left one. So whoever holds some leaves adds up the nodes that
lie within them (`subtrees`, `Partials.nodes`), and the one who gets the nodes of all holders finishes (`finish`), to the same bits however the leaves
are shared out. Values are numbers, arrays (added in place), tuples of both, or None, which adds nothing.

A leaf is about 2^17 numbers (1 MB, which a core reads in a tenth of a millisecond), there are at most 16 of them, as each costs a partial result of
the size of the sum, and from 2^31 numbers on they are 2^27 each: many machines are to share them. Two kinds of storage are cut less finely, as their
sums are gathered by columns, and each cut costs some nanoseconds a column: dense data by columns into leaves of at least 1,024 rows, sparse data into
leaves of at least 1,024 numbers a column, or 128 where the data are 2^27 numbers a leaf. Observed entries have leaves of at least 128 a column: sums
over their columns are taken a block of columns at a time, whose partial results stay in cache.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

Rows = tuple[int, int]
"""[start, stop)."""

Node = tuple[int, int]
"""(level, index)."""

LEAF_NUMBERS = 1 << 17
"""The numbers of a leaf, while there are few."""

MOST_LEAVES = 16
"""Leaves of data of fewer than MOST_LEAVES LARGEST_LEAF numbers, at most."""

LARGEST_LEAF = 1 << 27
"""The numbers of a leaf of the largest data."""

TALL = 1 << 10
"""Least rows of a leaf of dense data by columns."""

PER_COLUMN = 1 << 10
"""Least numbers of a leaf of sparse data for each column: a cut costs 10 to 20 nanoseconds a column, a number one."""

FEW_PER_COLUMN = 1 << 7
"""The same of data that many machines are to share, and of observed entries."""


def dense_leaves(n: int, d: int, by_columns: bool = False) -> tuple[Rows, ...]:
    """The leaves of a dense matrix of that shape: of as many rows each."""
    return cut_evenly(n, _count(n * d, n // TALL if by_columns else n))


def sparse_leaves(indptr: NDArray[np.integer], d: int) -> tuple[Rows, ...]:
    """The leaves of a sparse matrix of d columns by rows: of about as many numbers each."""
    total, each = int(indptr[-1]), int(indptr[-1]) // max(1, d)
    most = max(each // PER_COLUMN, min(each // FEW_PER_COLUMN, -(-total // LARGEST_LEAF)))
    return cut_by_numbers(indptr, _count(total, min(indptr.size - 1, most)))


def entry_leaves(indptr: NDArray[np.integer], p: int) -> tuple[Rows, ...]:
    """The leaves of the observed entries of a matrix of p columns, as ranges of its rows: of about as many entries each."""
    total = int(indptr[-1])
    return cut_by_numbers(indptr, _count(total, min(indptr.size - 1, total // (FEW_PER_COLUMN * max(1, p)))))


def leaves_of_vectors(n: int) -> tuple[Rows, ...]:
    """The leaves of n rows that no data have."""
    return dense_leaves(n, 1)


def _count(total: int, most: int) -> int:
    wanted = max(min(MOST_LEAVES, -(-total // LEAF_NUMBERS)), -(-total // LARGEST_LEAF))
    return max(1, min(wanted, most))


@lru_cache(maxsize=256)
def cut_evenly(n: int, count: int) -> tuple[Rows, ...]:
    """n rows in at most `count` ranges of as many rows each; kept, for every product asks."""
    return _between(n, np.arange(1, count) * n // count)


def cut_by_numbers(indptr: NDArray[np.integer], count: int) -> tuple[Rows, ...]:
    """The rows of a sparse matrix in at most `count` ranges of about as many numbers each. No range is empty."""
    n, total = indptr.size - 1, int(indptr[-1])
    if total == 0:
        return cut_evenly(n, count)
    cuts = np.searchsorted(indptr, np.arange(1, count, dtype=indptr.dtype) * (total / count))
    return _between(n, cuts)


def _between(n: int, cuts: NDArray[np.integer]) -> tuple[Rows, ...]:
    return tuple(pairwise(sorted({0, n, *(int(cut) for cut in cuts)})))


def subtrees(start: int, stop: int, count: int | None = None) -> tuple[Node, ...]:
    """The largest nodes that make up the leaves start..stop-1, in their order; the last may reach beyond `count` leaves, where these are all."""
    found = []
    while start < stop:
        level = (start & -start).bit_length() - 1 if start else stop.bit_length()
        # a node that is cut off by the end is taken at its least level
        while (1 << level) > stop - start and (stop != count or (1 << level - 1) >= stop - start):
            level -= 1
        found.append((level, start >> level))
        start += 1 << level
    return tuple(found)


def add(left: Any, right: Any) -> Any:
    """left + right, where both are values of nodes; `left` may be written over."""
    if left is None or right is None:
        return right if left is None else left
    if isinstance(left, np.ndarray):
        return np.add(left, right, out=left)
    if isinstance(left, tuple):
        return tuple(add(a, b) for a, b in zip(left, right, strict=True))
    return left + right


class Partials:
    """Values that come in the order of their leaves, the first of which has the index `start`; each node is added up as soon as it is whole."""

    def __init__(self, start: int = 0) -> None:
        self._next = start
        self._stack: list[tuple[int, int, Any]] = []

    def add(self, value: Any, level: int = 0) -> None:
        """The value of the next node, which is of this level."""
        at = self._next >> level
        if at << level != self._next:
            raise ValueError(f"no node of level {level} begins at leaf {self._next}")
        self._next += 1 << level
        while at & 1 and self._stack and self._stack[-1][:2] == (level, at - 1):
            value = add(self._stack.pop()[2], value)
            level, at = level + 1, at >> 1
        self._stack.append((level, at, value))

    def nodes(self) -> list[tuple[Node, Any]]:
        """The values of `subtrees(start, stop)` for the leaves so far."""
        return [((level, at), value) for level, at, value in self._stack]

    def total(self) -> Any:
        """The value of the root, where all leaves have come and the first was 0; None where none came."""
        found = None
        for k in range(len(self._stack) - 1, -1, -1):
            found = self._stack[k][2] if found is None else add(self._stack[k][2], found)
        return found


def tree_sum(parts: Iterable[Any]) -> Any:
    """The sum of the values of all leaves, which come in their order; None where there are none. Arrays among them are written over."""
    # as `Partials` from the first leaf on, whose nodes are asked for dozens of times in a step
    nodes: list[Any] = []
    for at, value in enumerate(parts):
        while at & 1:
            value = add(nodes.pop(), value)
            at >>= 1
        nodes.append(value)
    found = None
    while nodes:
        value = nodes.pop()
        found = value if found is None else add(value, found)
    return found


def sum_of_numbers(values: list[float]) -> float:
    """The same of numbers, level by level: a step takes dozens of such sums. 0 where there are none."""
    while len(values) > 1:
        last = values[-1:] if len(values) % 2 else []
        values = [a + b for a, b in zip(values[::2], values[1::2], strict=False)] + last
    return values[0] if values else 0.0


def finish(nodes: Iterable[tuple[Node, Any]]) -> Any:
    """The same from the values of nodes that together have each leaf once, in any order."""
    found = Partials()
    for (level, _), value in sorted(nodes, key=lambda node: node[0][1] << node[0][0]):
        found.add(value, level)
    return found.total()


B = TypeVar("B")


def level_of(count: int, most: int) -> int:
    """The least level that has at most so many nodes over `count` leaves."""
    level = 0
    while -(-count // (1 << level)) > most:
        level += 1
    return level


def groups(leaves: Sequence[B], level: int) -> list[Sequence[B]]:
    """The leaves of each node of a level."""
    return [leaves[i : i + (1 << level)] for i in range(0, len(leaves), 1 << level)]


def merged(leaves: Sequence[Rows], level: int) -> tuple[Rows, ...]:
    """The rows of each node of a level: leaves of a coarser tree, whose nodes are among those of the finer one."""
    return tuple((group[0][0], group[-1][1]) for group in groups(leaves, level)) if level else tuple(leaves)


def by_samples(leaves: Sequence[Rows], k: int) -> tuple[Rows, ...]:
    """Leaves of the entries of rows of k numbers each, as leaves of the rows: an end within a row is moved to its beginning."""
    ends = sorted({0, *(stop // k for _, stop in leaves)})
    return tuple(pairwise(ends))


def pieces(leaves: Sequence[Rows], most: int) -> list[list[Rows]]:
    """The rows of each leaf in pieces of at most so many rows: sums over a leaf are taken by the tree of its own pieces."""
    return [[(a, min(a + most, stop)) for a in range(start, stop, most)] for start, stop in leaves]


def sum_of_pieces(parts: Iterable[Sequence[Any]]) -> Any:
    """The tree sum of the tree sums of the pieces of each leaf; None where there are none."""
    return tree_sum(tree_sum(part) for part in parts)


def tree_dot(a: NDArray[np.float64], b: NDArray[np.float64], leaves: Sequence[Rows]) -> float:
    """<a, b> for vectors of one number a row, or of as many each (of rows laid one after the other)."""
    if len(leaves) < 2:
        return float(a @ b) if a.size else 0.0
    each = a.size // leaves[-1][1]
    return sum_of_numbers([float(a[i * each : j * each] @ b[i * each : j * each]) for i, j in leaves])


def sum_over(leaves: Sequence[Rows], size: int, fn: Callable[[slice], Any]) -> Any:
    """The tree sum of fn over the leaves of vectors of that size; None where there are no leaves."""
    if len(leaves) < 2:
        return fn(slice(0, size)) if size else None
    each = size // leaves[-1][1]
    return tree_sum(fn(slice(a * each, b * each)) for a, b in leaves)
