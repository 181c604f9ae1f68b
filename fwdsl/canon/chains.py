"""Differences of neighbours: terms of the sum that act on the steps along the lines of one variable.

Such a term is a `norm1` of steps x_j - x_i (the total variation) or a bound of 0 on them (an order of the entries). It is written with slices, as
`norm1(x[1:] - x[:-1])` or `x[1:] >= x[:-1]`, or with a matrix that has one +c and one -c in each row. All pairs of a variable are the same number of
places apart: 1 for a vector and along the rows of a matrix, its number of columns down the columns.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..atoms.base import Array, MatrixLike, VectorFunction
from ..light_dataclass import light_dataclass
from ..readers.row_blocks import is_on_disk
from .combined_maps import Add, Compose, Scaled
from .data_maps import Matrix, is_written
from .maps import Diagonal, Identity, LinearMap, Select
from .matrix_maps import LeftMultiply, RightMultiply, Take
from .neighbour_maps import Differences

if TYPE_CHECKING:
    from .parts import Block, SumTerm

Places = NDArray[np.intp]
Found = tuple["Places | slice", "Array | float", tuple[int, ...], float, float]
"""(first, c, apart, lo, hi) of a term f(c (x_{first + apart} - x_first)) row by row: least and largest distance, and the ends of the domain of f*."""


@light_dataclass
class Steps:
    """One term of the sum, f(c (x_{e+1} - x_e)) row by row: the edge e of each row (a slice where they follow each other), its factor (a number where
    all have the same), and the ends of the domain of f*, where f* is 0."""

    term: int
    edge: Places | slice
    c: Array | float
    lo: float
    hi: float


@light_dataclass
class Chain:
    """The lines of one block: edge e leads from entry `order[e]` to `order[e + 1]` (None: entries as they are), and from one line to the next
    where no term acts on it.

    The terms together are sum_e h_e(x_{e+1} - x_e), h_e(d) = sup of u d over lo_e <= u <= hi_e.
    """

    block: int
    order: Places | None
    lo: Array
    hi: Array
    steps: tuple[Steps, ...]

    def in_order(self, x: Array) -> Array:
        """The entries of the block, line after line."""
        return x if self.order is None else x[self.order]

    def in_place(self, x: Array) -> Array:
        """The entries of the block where they are."""
        if self.order is None:
            return x
        out = np.empty_like(x)
        out[self.order] = x
        return out

    def multipliers(self, u: Array) -> dict[int, Array]:
        """The multipliers of the terms, whose shares in each edge add up to u."""
        rest, found = (u.copy() if len(self.steps) > 1 else u), {}
        for s in self.steps:
            ends = s.c * s.lo, s.c * s.hi
            share = np.clip(rest[s.edge], np.minimum(*ends), np.maximum(*ends))
            found[s.term] = share if np.ndim(s.c) == 0 and s.c == 1.0 else share / s.c
            if rest is not u:
                rest[s.edge] -= share
        return found

    @cached_property
    def ends(self) -> tuple[float, float] | None:
        """(lo, hi) where all edges have the same; None where they differ, or there are none."""
        if not self.lo.size:
            return None
        lo, hi = float(self.lo[0]), float(self.hi[0])
        return (lo, hi) if bool((self.lo == lo).all()) and bool((self.hi == hi).all()) else None

    @cached_property
    def direction(self) -> int:
        """1 where the entries of each line are to rise, -1 where they are to fall, 0 where the functions of their steps are others."""
        lo, hi = (self.lo, self.hi) if self.ends is None else (np.array([end]) for end in self.ends)
        none = (lo == 0.0) & (hi == 0.0)
        if none.all():
            return 0
        if np.all(none | ((hi == 0.0) & np.isinf(lo))):
            return 1
        return -1 if np.all(none | ((lo == 0.0) & np.isinf(hi))) else 0

    @cached_property
    def jumps(self) -> int:
        """The steps whose size is weighed: those of a total variation."""
        return int(
            np.count_nonzero(np.isfinite(self.lo) & np.isfinite(self.hi) & ((self.lo != 0.0) | (self.hi != 0.0)))
        )

    @cached_property
    def joined(self) -> int:
        """The steps that must be 0."""
        return int(np.count_nonzero(np.isinf(self.lo) & np.isinf(self.hi)))

    def describe(self, name: str) -> str:
        """The chain in words, for a variable of this name."""
        return f"{name}: {self._words}"

    @cached_property
    def _words(self) -> str:
        steps = self.lo.size
        # one edge stands for all where all are the same
        lo, hi = (self.lo, self.hi) if self.ends is None else (np.array([end]) for end in self.ends)
        both = np.isfinite(lo) & np.isfinite(hi)
        acts = (lo != 0.0) | (hi != 0.0)
        kinds = [
            word
            for word, at in (
                ("total variation", both & acts),
                ("an order of the entries", np.isinf(lo) != np.isinf(hi)),
                ("equal neighbours", np.isinf(lo) & np.isinf(hi)),
            )
            if at.any()
        ]
        lines = int(np.count_nonzero(np.diff(np.concatenate([[0], acts, [0]])) == 1))
        along = "a line" if lines == 1 else f"{lines:,} lines"
        acting = int(acts.sum()) * (steps // acts.size)
        return f"{' and '.join(kinds)} along {along}, {acting:,} steps in all, with one exact prox"


def chains_of(terms: Sequence[SumTerm], blocks: Sequence[Block]) -> tuple[tuple[Chain, ...], str]:
    """The chains of a problem whose other terms are smooth; none and why, where there is no exact prox along lines."""
    found: dict[int, list[tuple[int, Found]]] = {}
    for k, term in enumerate(terms):
        if term.is_smooth:
            continue
        pairs = _pairs(term)
        if pairs is None:
            return (), f"`{term.text}` is not of the differences of neighbours of one variable"
        (block, _) = term.map.parts[0]
        at = next(i for i, b in enumerate(blocks) if b is block)
        found.setdefault(at, []).append((k, pairs))
    chains = []
    for at, steps in sorted(found.items()):
        block = blocks[at]
        # the prox of a function that is the same for every order keeps the order of entries, ties among them, along which functions of steps
        # have all their subgradients: the prox of the sum is then this prox after that of the steps
        if not block.g.permutable:
            return (), f"what else holds for {block.name} ({block.g.describe()}) tells its entries apart"
        apart = {d for _, (_, _, distances, _, _) in steps for d in distances}
        if len(apart) != 1:
            return (), f"the differences of {block.name} are not along one direction"
        chains.append(_chain(at, block.size, apart.pop(), steps))
    return tuple(chains), "" if chains else "no term is of the differences of neighbours"


def _pairs(term: SumTerm) -> Found | None:
    """The steps that a term is of; None where it is of something else."""
    ends = _ends(term.f)
    if ends is None or len(term.map.parts) != 1 or term.map.offset.any() or not term.map.rows:
        return None
    m = term.map.parts[0][1]
    one = _neighbours(m)
    if one is not None:
        return (*one, (1,), *ends)
    rows = _differences(m)
    if rows is None:
        return None
    i, j, c = rows
    distances = np.abs(j - i)
    # c (x_j - x_i) is a step forwards where j comes after i
    return np.minimum(i, j), np.where(j > i, c, -c), (int(distances.min()), int(distances.max())), *ends


def _neighbours(m: LinearMap) -> tuple[slice, float] | None:
    """(first, c) of a map x -> c (x_{i+1} - x_i) for entries i that follow each other: no places are written down, which take long on long lines."""
    if isinstance(m, Scaled):
        inner = _neighbours(m.inner)
        return None if inner is None else (inner[0], m.c * inner[1])
    if isinstance(m, Differences) and (m.order, m.before, m.after, m.sizes) == (1, 1, 1, False):
        return slice(0, m.rows), 1.0
    if not isinstance(m, Add):
        return None
    left, right = _run(m.left), _run(m.right)
    if left is None or right is None:
        return None
    (a, _, c), (b, _, d) = left, right
    if abs(a - b) != 1 or c != -d or c == 0.0 or not math.isfinite(c):
        return None
    return slice(min(a, b), min(a, b) + m.rows), d if b > a else c


def _run(m: LinearMap) -> tuple[int, int, float] | None:
    """(start, stop, c) of a map x -> c x[start:stop]; None for any other map."""
    if isinstance(m, Identity):
        return 0, m.rows, 1.0
    if isinstance(m, Select):
        return m.start, m.stop, 1.0
    if isinstance(m, Scaled):
        inner = _run(m.inner)
        return None if inner is None else (inner[0], inner[1], m.c * inner[2])
    return None


def _ends(f: Any) -> tuple[float, float] | None:
    """The domain of f* where it is one interval for all entries, and f* is 0 on it: f is homogeneous, and entries have bounds of 0 or none."""
    found = f.entries() if isinstance(f, VectorFunction) else None
    if found is None or found.ridge or not f.size:
        return None
    lo, hi = (_one(end) for end in (found.lo, found.hi))
    if lo is None or hi is None or not (lo == 0.0 or math.isinf(lo)) or not (hi == 0.0 or math.isinf(hi)):
        return None
    slopes = replace(found, lo=lo, hi=hi).slopes(1)
    assert slopes is not None, "there is no ridge"
    return float(slopes[0][0]), float(slopes[1][0])


def _one(end: Array | float) -> float | None:
    """The one bound of all entries; None where they have others."""
    first = float(np.reshape(end, -1)[0])
    return first if np.all(end == first) else None


def _differences(m: LinearMap) -> tuple[Places, Places, Array] | None:
    """(i, j, c) of a map x -> c (x_j - x_i), row by row, with c > 0; None for any other map."""
    found = _two(m)
    if found is None:
        return None
    i, a, j, b = found
    if not (np.all(a == -b) and np.all(b != 0.0) and np.all(i != j) and np.all(np.isfinite(b))):
        return None
    up = b > 0.0
    return (i, j, b) if up.all() else (np.where(up, i, j), np.where(up, j, i), np.abs(b))


def _two(m: LinearMap) -> tuple[Places, Array, Places, Array] | None:
    """(i, a, j, b) of a map x -> a x_i + b x_j, row by row."""
    if isinstance(m, Scaled):
        found = _two(m.inner)
        return None if found is None else (found[0], m.c * found[1], found[2], m.c * found[3])
    if isinstance(m, Add):
        left, right = picked(m.left), picked(m.right)
        return None if left is None or right is None else (*left, *right)
    if isinstance(m, Compose):
        outer = picked(m.outer)
        if outer is not None:
            found, (at, c) = _two(m.inner), outer
            return None if found is None else (found[0][at], c * found[1][at], found[2][at], c * found[3][at])
        found, inner = _two(m.outer), picked(m.inner)
        if found is None or inner is None:
            return None
        at, c = inner
        return at[found[0]], c[found[0]] * found[1], at[found[2]], c[found[2]] * found[3]
    if isinstance(m, Differences):
        pairs = m.pairs()
        return None if pairs is None else (pairs[0], np.full(m.rows, -1.0), pairs[1], np.ones(m.rows))
    if isinstance(m, Matrix):
        return _two_of(m.A.T if m.transposed else m.A)
    if isinstance(m, LeftMultiply):
        found = _two_of(m.A.T if m.transposed else m.A)
        return None if found is None else _repeated(found, m.k, m.k)
    if isinstance(m, RightMultiply):
        found = _two_of(m.B.T)
        if found is None:
            return None
        i, a, j, b = found
        start = (np.arange(m.n) * m.B.shape[0])[:, None]
        return (start + i).reshape(-1), np.tile(a, m.n), (start + j).reshape(-1), np.tile(b, m.n)
    return None


def _repeated(
    found: tuple[Places, Array, Places, Array], count: int, width: int
) -> tuple[Places, Array, Places, Array]:
    """The rows of a matrix, each for every column of what it is multiplied with."""
    i, a, j, b = found
    columns = np.arange(count)
    return (
        (width * i[:, None] + columns).reshape(-1),
        np.repeat(a, count),
        (width * j[:, None] + columns).reshape(-1),
        np.repeat(b, count),
    )


def _two_of(A: MatrixLike) -> tuple[Places, Array, Places, Array] | None:
    """The places and values of a matrix with two numbers in each row."""
    if not is_written(A) or is_on_disk(A) or A.ndim != 2 or not A.shape[0]:
        return None
    if isinstance(A, np.ndarray):
        # most matrices show in their first row that they are others
        if np.count_nonzero(A[0]) != 2 or not np.all(np.count_nonzero(A, axis=1) == 2):
            return None
        at = np.nonzero(A)[1].reshape(-1, 2)
        values = np.take_along_axis(A, at, axis=1).astype(np.float64)
    else:
        rows = A.tocsr()
        if rows.nnz != 2 * rows.shape[0] or not np.all(np.diff(rows.indptr) == 2):
            return None
        at = rows.indices.reshape(-1, 2).astype(np.intp)
        values = rows.data.reshape(-1, 2).astype(np.float64)
    return at[:, 0], values[:, 0], at[:, 1], values[:, 1]


def picked(m: LinearMap) -> tuple[Places, Array] | None:
    """(i, c) of a map x -> c x_i, row by row; None for any other map."""
    if isinstance(m, Identity):
        return np.arange(m.rows), np.ones(m.rows)
    if isinstance(m, Select):
        return np.arange(m.start, m.stop), np.ones(m.rows)
    if isinstance(m, Take):
        return m.index, np.ones(m.rows)
    if isinstance(m, Diagonal):
        return np.arange(m.rows), m.v
    if isinstance(m, Scaled):
        found = picked(m.inner)
        return None if found is None else (found[0], m.c * found[1])
    if isinstance(m, Compose):
        outer, inner = picked(m.outer), picked(m.inner)
        return None if outer is None or inner is None else (inner[0][outer[0]], outer[1] * inner[1][outer[0]])
    return None


def _chain(block: int, size: int, apart: int, terms: Sequence[tuple[int, Found]]) -> Chain:
    """The chain of a block whose pairs are all so many places apart."""
    order, position = None, None
    if apart > 1:
        places = np.arange(-(-size // apart) * apart).reshape(-1, apart).T.reshape(-1)
        order = places[places < size]
        position = np.empty(size, dtype=np.intp)
        position[order] = np.arange(size)
    lo, hi = np.zeros(max(0, size - 1)), np.zeros(max(0, size - 1))
    steps = []
    for k, (first, c, _, least, most) in terms:
        edge = first if position is None else position[first]
        steps.append(Steps(k, edge, c, least, most))
        ends = c * least, c * most
        for total, share in ((lo, np.minimum(*ends)), (hi, np.maximum(*ends))):
            if isinstance(edge, slice):
                total[edge] += share
            else:
                total += np.bincount(edge, weights=share, minlength=total.size)
    return Chain(block, order, lo, hi, tuple(steps))
