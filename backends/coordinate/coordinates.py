"""The nonsmooth part of a problem by groups of coordinates: c_g |x_g|_2 + sum_j (ridge_j x_j^2 / 2 + q_j x_j) on lo_j <= x_j <= hi_j.

Most groups are one coordinate; larger ones have no bounds.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from fwdsl.atoms.base import Array, VectorFunction
from fwdsl.atoms.vectors.group_norm import GroupNorm
from fwdsl.backends.coordinate import loops
from fwdsl.backends.entrywise import entrywise
from fwdsl.backends.functions import without_ridge
from fwdsl.backends.kernels.compile import kernel
from fwdsl.backends.problem import PreparedProblem

Indices = NDArray[np.intp]


def is_grouped(g: VectorFunction) -> bool:
    """Whether a block's function is a sum over entries, or over groups of them."""
    return entrywise(g) is not None or isinstance(without_ridge(g), GroupNorm)


@dataclass(frozen=True, eq=False)
class Coordinates:
    """The numbers above. Group g has the coordinates order[start[g] : start[g + 1]]."""

    order: Indices
    start: Indices
    c: Array
    ridge: Array
    lo: Array
    hi: Array
    q: Array

    @staticmethod
    def of(problem: PreparedProblem) -> Coordinates:
        """Those of a problem whose blocks are all sums over entries or groups."""
        ridge = np.zeros(problem.size)
        lo, hi = np.full(problem.size, -np.inf), np.full(problem.size, np.inf)
        order: list[Indices] = []
        lengths: list[Indices] = []
        c: list[Array] = []
        for block in problem.canonical.blocks:
            entries, g = entrywise(block.g), without_ridge(block.g)
            places = np.arange(block.start, block.stop)
            if entries is None:
                assert isinstance(g, GroupNorm)
                ridge[block.slice] = block.g.curvature
                order.append(places[g.parts.order] if g.parts.order.size else places)
                lengths.append(np.diff(g.parts.start))
                c.append(g.c * g.parts.weights)
                continue
            ridge[block.slice], lo[block.slice], hi[block.slice] = 2.0 * entries.ridge, entries.lo, entries.hi
            order.append(places)
            lengths.append(np.ones(block.size, dtype=np.intp))
            c.append(np.full(block.size, entries.c))
        start = np.concatenate([[0], np.cumsum(np.concatenate(lengths))]).astype(np.intp)
        return Coordinates(np.concatenate(order).astype(np.intp), start, np.concatenate(c), ridge, lo, hi, problem.q)

    @cached_property
    def group(self) -> Indices:
        """The group of each coordinate."""
        out = np.empty(self.order.size, dtype=np.intp)
        out[self.order] = np.repeat(np.arange(self.c.size), np.diff(self.start))
        return out

    @cached_property
    def alone(self) -> bool:
        """Whether each group is one coordinate."""
        return self.c.size == self.order.size

    @cached_property
    def rest(self) -> Array:
        """The penalty of each coordinate's group."""
        return self.c[self.group]

    def at(self, work: Indices) -> Coordinates:
        """Those of some coordinates, in which groups stand together and in full."""
        of = self.group[work]
        first = np.flatnonzero(np.diff(of, prepend=-1))
        start = np.append(first, work.size)
        every = np.arange(work.size)
        return Coordinates(
            every, start, self.c[of[first]], self.ridge[work], self.lo[work], self.hi[work], self.q[work]
        )

    def completed(self, chosen: NDArray[np.bool_]) -> Indices:
        """The chosen coordinates with all others of their groups, group after group."""
        if self.alone:
            return np.flatnonzero(chosen)
        groups = np.zeros(self.c.size, dtype=np.bool_)
        groups[self.group[chosen]] = True
        return self.order[np.repeat(groups, np.diff(self.start))]

    def lengths(self, x: Array) -> Array:
        """|x_g| for each group."""
        if self.alone:
            return np.abs(x[self.order])
        return np.asarray(np.sqrt(np.add.reduceat(np.square(x[self.order]), self.start[:-1])))

    def penalty(self, x: Array) -> float:
        """sum_g c_g |x_g| + sum_j ridge_j x_j^2 / 2 + q_j x_j."""
        return float(self.c @ self.lengths(x) + 0.5 * (self.ridge @ np.square(x)) + self.q @ x)

    def survey(self, x: Array, kty: Array, length: Array) -> tuple[Array, float]:
        """The violations of optimality at x over the columns' lengths, and the largest share of the dual point that meets the penalties."""
        misses = np.empty(x.size)
        numbers = (self.order, self.start, self.c, self.ridge, self.lo, self.hi, self.q)
        share = kernel(loops.survey)(x, kty, *numbers, length, misses)
        return misses, float(share)

    def conjugate(self, kty: Array, share: float) -> float:
        """g* at -(q + share kty), the suprema left out that are infinite."""
        numbers = (self.order, self.start, self.c, self.ridge, self.lo, self.hi, self.q)
        return float(kernel(loops.conjugate)(kty, share, *numbers))
