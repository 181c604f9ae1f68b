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

if TYPE_CHECKING:
    from .parts import Block, SumTerm

Places = NDArray[np.intp]


@light_dataclass
class Steps:
    """One term of the sum, f(c (x_{e+1} - x_e)) row by row: the edge e of each row, its factor, and the ends of the domain of f*, where f* is 0."""

    term: int
    edge: Places
    c: Array
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
        rest, found = u.copy(), {}
        for s in self.steps:
            ends = s.c * s.lo, s.c * s.hi
            share = np.clip(rest[s.edge], np.minimum(*ends), np.maximum(*ends))
            found[s.term] = share / s.c
            rest[s.edge] -= share
        return found

    def describe(self, name: str) -> str:
        """The chain in words, for a variable of this name."""
        return f"{name}: {self._words}"

    @cached_property
    def _words(self) -> str:
        both = np.isfinite(self.lo) & np.isfinite(self.hi)
        acts = (self.lo != 0.0) | (self.hi != 0.0)
        kinds = [
            word
            for word, at in (
                ("total variation", both & acts),
                ("an order of the entries", np.isinf(self.lo) != np.isinf(self.hi)),
                ("equal neighbours", np.isinf(self.lo) & np.isinf(self.hi)),
            )
            if at.any()
        ]
        lines = int(np.count_nonzero(np.diff(np.concatenate([[0], acts, [0]])) == 1))
        along = "a line" if lines == 1 else f"{lines:,} lines"
        return f"{' and '.join(kinds)} along {along}, {int(acts.sum()):,} steps in all, with one exact prox"


def chains_of(terms: Sequence[SumTerm], blocks: Sequence[Block]) -> tuple[tuple[Chain, ...], str]:
    """The chains of a problem whose other terms are smooth; none and why, where there is no exact prox along lines."""
    found: dict[int, list[tuple[int, Places, Places, Array, float, float]]] = {}
    for k, term in enumerate(terms):
        if term.is_smooth:
            continue
        pairs = _pairs(term)
        if pairs is None:
            return (), f"`{term.text}` is not of the differences of neighbours of one variable"
        (block, _) = term.map.parts[0]
        at = next(i for i, b in enumerate(blocks) if b is block)
        found.setdefault(at, []).append((k, *pairs))
    chains = []
    for at, steps in sorted(found.items()):
        block = blocks[at]
        # the prox of a function that is the same for every order keeps the order of entries, ties among them, along which functions of steps
        # have all their subgradients: the prox of the sum is then this prox after that of the steps
        if not block.g.permutable:
            return (), f"what else holds for {block.name} ({block.g.describe()}) tells its entries apart"
        lengths = [np.abs(j - i) for _, i, j, *_ in steps]
        apart = {int(d) for each in lengths for d in (each.min(), each.max())}
        if len(apart) != 1:
            return (), f"the differences of {block.name} are not along one direction"
        chains.append(_chain(at, block.size, apart.pop(), steps))
    return tuple(chains), "" if chains else "no term is of the differences of neighbours"


def _pairs(term: SumTerm) -> tuple[Places, Places, Array, float, float] | None:
    """(i, j, c, lo, hi) of a term f(c (x_j - x_i)) row by row, the ends being those of the domain of f*."""
    ends = _ends(term.f)
    if ends is None or len(term.map.parts) != 1 or term.map.offset.any() or not term.map.rows:
        return None
    rows = _differences(term.map.parts[0][1])
    return None if rows is None else (*rows, *ends)


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


def _chain(
    block: int, size: int, apart: int, terms: Sequence[tuple[int, Places, Places, Array, float, float]]
) -> Chain:
    """The chain of a block whose pairs are all so many places apart."""
    order, position = None, None
    if apart > 1:
        places = np.arange(-(-size // apart) * apart).reshape(-1, apart).T.reshape(-1)
        order = places[places < size]
        position = np.empty(size, dtype=np.intp)
        position[order] = np.arange(size)
    lo, hi = np.zeros(max(0, size - 1)), np.zeros(max(0, size - 1))
    steps = []
    for k, i, j, c, least, most in terms:
        first = np.minimum(i, j)
        edge = first if position is None else position[first]
        # c (x_j - x_i) is a step forwards where j comes after i
        forwards = np.where(j > i, c, -c)
        steps.append(Steps(k, edge, forwards, least, most))
        ends = forwards * least, forwards * most
        lo += np.bincount(edge, weights=np.minimum(*ends), minlength=lo.size)
        hi += np.bincount(edge, weights=np.maximum(*ends), minlength=hi.size)
    return Chain(block, order, lo, hi, tuple(steps))
