"""The nonsmooth part of a problem by groups of coordinates: c_g |x_g|_2 + sum_j (ridge_j x_j^2 / 2 + q_j x_j) on lo_j <= x_j <= hi_j.

Most groups are one coordinate; larger ones have no bounds, and may have sizes of their entries beside, thin_g |x_g|_1. There may be a ball
too, h(x) = sum_g ball_g |x_g|_2 <= radius. With its multiplier m it is the penalty m (h(x) - radius), so that c becomes c + m ball.
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fwdsl.atoms.base import Array, VectorFunction
from fwdsl.atoms.groups import Partition, even
from fwdsl.atoms.vectors.common import ConvexSet, Joint, Norm
from fwdsl.backends.coordinate import loops
from fwdsl.backends.functions import without_ridge
from fwdsl.backends.kernels.compile import kernel
from fwdsl.backends.problem import PreparedProblem
from fwdsl.canon.arrange import BlockPlan
from fwdsl.light_dataclass import light_dataclass
from fwdsl.words import CONVEX, SETS, SetWord
from fwdsl.words.functions import ConvexWord

Indices = NDArray[np.intp]

NEWTON_STEPS = 50
"""Most steps to the multiplier of a gradient, each of which settles some groups: from 0 there are a few."""


def fits(block: BlockPlan) -> bool:
    """True if g is a sum over entries or groups, or the ball of one, told from the records of its words."""
    word = CONVEX[block.norm] if block.norm is not None else None
    on = SETS.get(block.set) if block.set is not None else None
    if (block.set is not None and on is None) or (word is not None and not _adds_up(word)):
        return False
    if on is None or (word is not None and _is_own_ball(word, on)):
        return True
    if on.bounds:
        return word is None or word.additive
    return word is None and (
        (on.threshold and on.total in ("most", "sizes")) or (bool(on.norm) and _adds_up(CONVEX[on.norm]))
    )


def _is_own_ball(norm: ConvexWord, on: SetWord) -> bool:
    return on.name == norm.ball or (norm.adds_sizes and on.total == "sizes")


def _adds_up(norm: ConvexWord) -> bool:
    """True if a norm is a sum over entries, groups or, of Euclidean lengths, rows."""
    lengths = norm.grouped or (bool(norm.rows) and CONVEX[norm.rows].euclidean)
    return norm.is_norm and (norm.additive or lengths)


@light_dataclass
class _GroupedBlock:
    """The nonsmooth part of a block: the groups that are no single entries, c of each group, the ball with its radius, bounds."""

    groups: Partition | None
    c: Array | float
    ball: Array | float = 0.0
    radius: float = math.inf
    lo: Array | float = -np.inf
    hi: Array | float = np.inf
    thin: float = 0.0


def _part(f: VectorFunction) -> _GroupedBlock | None:
    """The function of a block; None where it is no sum over entries or groups."""
    entries, g = f.entries(), without_ridge(f)
    if entries is not None:
        return _GroupedBlock(None, entries.c, lo=entries.lo, hi=entries.hi)
    groups, c = g.groups_of(), g.slope
    on = g.on if isinstance(g, Joint) else g if isinstance(g, ConvexSet) else None
    if groups is not None:
        of_groups = c * groups.weights if c else 0.0
        return (
            _GroupedBlock(groups, of_groups, thin=g.sizes_beside if isinstance(g, Norm) else 0.0)
            if on is None
            else _GroupedBlock(groups, of_groups, groups.weights, on.scale)
        )
    budget = None if on is None else on.budget()
    if budget is not None and not budget.exact and (on is g or budget.signed):
        return _GroupedBlock(None, c, 1.0, budget.r, lo=-np.inf if budget.signed else 0.0)
    # most programs have no rows: their module is loaded when it is asked for
    return _rows(g)


def _rows(g: VectorFunction) -> _GroupedBlock | None:
    from fwdsl.atoms.matrices.lines import Lines

    # frames of functions, with a norm of lengths in each line
    if isinstance(g, Lines) and g.axis == 0 and isinstance(g.inner, Norm) and g.inner.dual_name == "l2":
        return _GroupedBlock(even(*g.shape), g.inner.c)
    return None


def is_grouped(g: VectorFunction) -> bool:
    """True if a block's function is a sum over entries, or over groups of them, or the ball of one."""
    return _part(g) is not None


def is_ball(g: VectorFunction) -> bool:
    """True if there is a ball among them."""
    found = _part(g)
    return found is not None and found.radius < math.inf


@light_dataclass
class Coordinates:
    """The numbers above. Group g has the coordinates order[start[g] : start[g + 1]]; `tasks` of them make a row of a matrix."""

    order: Indices
    start: Indices
    c: Array
    ridge: Array
    lo: Array
    hi: Array
    q: Array
    ball: Array
    thin: Array
    radius: float = math.inf
    tasks: int = 1

    @staticmethod
    def of(problem: PreparedProblem, tasks: int = 1) -> Coordinates:
        """The coordinates of a problem whose blocks are all sums over entries or groups."""
        ridge = np.zeros(problem.size)
        lo, hi = np.full(problem.size, -np.inf), np.full(problem.size, np.inf)
        order: list[Indices] = []
        lengths: list[Indices] = []
        c: list[Array] = []
        ball: list[Array] = []
        thin: list[Array] = []
        radius = math.inf
        for block in problem.canonical.blocks:
            part = _part(block.g)
            assert part is not None
            places = np.arange(block.start, block.stop)
            ridge[block.slice], lo[block.slice], hi[block.slice] = block.g.curvature, part.lo, part.hi
            groups = part.groups
            order.append(places if groups is None or not groups.order.size else places[groups.order])
            lengths.append(np.ones(block.size, dtype=np.intp) if groups is None else np.diff(groups.start))
            # of one coordinate both norms are its size
            alone = lengths[-1] == 1
            c.append(part.c + part.thin * alone)
            thin.append(part.thin * ~alone)
            ball.append(part.ball + np.zeros(alone.size))
            radius = min(radius, part.radius)
        every, at = np.concatenate(lengths), np.concatenate(order)
        start = np.zeros(every.size + 1, dtype=np.intp)
        np.cumsum(every, out=start[1:])
        of_groups = np.concatenate(c), ridge, lo, hi, problem.q, np.concatenate(ball), np.concatenate(thin)
        return Coordinates(at, start, *of_groups, radius, tasks)

    @cached_property
    def is_ball(self) -> bool:
        return self.radius < math.inf

    @cached_property
    def group(self) -> Indices:
        if self.alone and self.in_order:
            return self.order
        out = np.empty(self.order.size, dtype=np.intp)
        out[self.order] = np.repeat(np.arange(self.c.size), np.diff(self.start))
        return out

    @cached_property
    def alone(self) -> bool:
        return self.c.size == self.order.size

    @cached_property
    def together(self) -> bool:
        """True if every group has several coordinates."""
        return bool((np.diff(self.start) > 1).all())

    @cached_property
    def rest(self) -> Array:
        """The penalty of each coordinate's group, the ball's with the multiplier 1."""
        return (self.c + self.ball)[self.group]

    @cached_property
    def sparse(self) -> NDArray[np.bool_]:
        """The coordinates that a kink holds at 0, and no ridge spreads: a solution needs no more groups of these than there are samples."""
        return np.asarray((self.rest > 0.0) & (self.ridge == 0.0) & (self.lo <= 0.0) & (self.hi >= 0.0))

    @cached_property
    def in_order(self) -> bool:
        """True if groups stand together, one after the other."""
        return bool(np.array_equal(self.order, np.arange(self.order.size)))

    def at(self, work: Indices, multiplier: float) -> Coordinates:
        """The functions of some coordinates, in which groups stand together and in full, the ball put as a penalty."""
        known = self.last
        # the models of a step ask for the same ones, again and again where there is no ball
        if not known or known[0] is not work or known[1] != multiplier:
            known[:] = work, multiplier, self._at(work, multiplier)
        found: Coordinates = known[2]
        return found

    @cached_property
    def last(self) -> list[Any]:
        """The working set and the multiplier that were last asked for, and the functions there."""
        return []

    def _at(self, work: Indices, multiplier: float) -> Coordinates:
        of = self.group[work]
        every, start, groups = np.arange(work.size), np.arange(work.size + 1), of
        if not self.alone:
            first = np.flatnonzero(np.diff(of, prepend=-1))
            start, groups = np.append(first, work.size), of[first]
        c, numbers = self.weights(multiplier)[groups], (self.ridge[work], self.lo[work], self.hi[work], self.q[work])
        return Coordinates(every, start, c, *numbers, np.zeros(groups.size), self.thin[groups], tasks=self.tasks)

    def priced(self, c: Array) -> Coordinates:
        """The same coordinates with other penalties of the groups."""
        return replace(self, c=c)

    def weights(self, multiplier: float) -> Array:
        return self.c + multiplier * self.ball if multiplier else self.c

    def completed(self, chosen: NDArray[np.bool_]) -> Indices:
        """The chosen coordinates with all others of their groups or rows, group after group."""
        if self.alone:
            return np.flatnonzero(np.repeat(chosen.reshape(-1, self.tasks).any(axis=1), self.tasks))
        groups = np.zeros(self.c.size, dtype=np.bool_)
        groups[self.group[chosen]] = True
        return self.order[np.repeat(groups, np.diff(self.start))]

    def lengths(self, x: Array) -> Array:
        ordered = x if self.in_order else x[self.order]
        if self.alone:
            return np.abs(ordered)
        return np.asarray(np.sqrt(np.add.reduceat(np.square(ordered), self.start[:-1])))

    @cached_property
    def has_ridge(self) -> bool:
        return bool(self.ridge.any())

    @cached_property
    def has_ends(self) -> bool:
        """True if an interval has an end."""
        return bool((np.isfinite(self.lo) | np.isfinite(self.hi)).any())

    @cached_property
    def has_q(self) -> bool:
        return bool(self.q.any())

    @cached_property
    def is_thin(self) -> bool:
        """True if groups have sizes of their entries beside."""
        return bool(self.thin.any())

    @cached_property
    def kinks(self) -> Array:
        """The slope of each coordinate's own kink at 0: of one that is a group, or has its size beside the length of its group."""
        return np.where(self.thin[self.group] > 0.0, self.thin[self.group], self.rest) if self.is_thin else self.rest

    def norms(self, x: Array) -> float:
        """sum_g c_g |x_g| + thin_g |x_g|_1."""
        found = float(self.c @ self.lengths(x))
        return found + float(self.thin[self.group] @ np.abs(x)) if self.is_thin else found

    def penalty(self, x: Array) -> float:
        """sum_g c_g |x_g| + thin_g |x_g|_1 + sum_j ridge_j x_j^2 / 2 + q_j x_j."""
        found = self.norms(x)
        # asked several times a step, for all coordinates
        if self.has_q:
            found += float(self.q @ x)
        return found + 0.5 * float(self.ridge @ np.square(x)) if self.has_ridge else found

    def total(self, x: Array) -> float:
        return float(self.ball @ self.lengths(x))

    def inside(self, x: Array) -> tuple[Array, float]:
        """x with the coordinates of the ball scaled into it, and by how much."""
        total = self.total(x) if self.is_ball else 0.0
        if total <= self.radius:
            return x, 1.0
        share = self.radius / total
        return np.where(self.ball[self.group] > 0.0, share * x, x), share

    def multiplier(self, kty: Array) -> float:
        """The multiplier m of sup <v, x> - c |x| - ridge |x|^2 / 2 on the ball at v = -(kty + q): with it the penalised supremum is on the ball.

        Without a ridge it is max over the groups of (|v_g| - c_g) / ball_g, the least at which none leaves 0.
        """
        at = np.flatnonzero(self.ball > 0.0)
        v = -(kty + self.q)
        excess, b = (self.lengths(np.where(self.lo == 0.0, np.maximum(v, 0.0), v)) - self.c)[at], self.ball[at]
        ridge = float(self.ridge[self.order[self.start[at[0]]]]) if at.size else 0.0
        if ridge == 0.0:
            return max(float((excess / b).max(initial=0.0)), 0.0)
        m = 0.0
        # Newton's method from the left on a convex, piecewise linear function
        for _ in range(NEWTON_STEPS):
            out = excess - m * b
            over = out > 0.0
            beyond = float(b[over] @ out[over]) / ridge - self.radius
            if beyond <= 0.0:
                break
            m += beyond * ridge / float(b[over] @ b[over])
        return m

    def survey(self, x: Array, kty: Array, length: Array, multiplier: float) -> tuple[Array, float]:
        """The violations of optimality at x over the columns' lengths, and the largest share of the dual point that meets the penalties."""
        misses, c, share = np.empty(x.size), self.weights(multiplier), 1.0
        # a kernel takes a quarter of a second to compile, and most programs have groups of one kind
        if not self.together:
            share = kernel(loops.survey_entries)(
                x, kty, self.order, self.start, c, self.ridge, self.lo, self.hi, self.q, length, misses
            )
        if not self.alone:
            share = kernel(loops.survey_groups)(
                x, kty, self.order, self.start, c, self.thin, self.ridge, self.q, length, float(share), misses
            )
        return misses, float(share)

    def conjugate(self, kty: Array, share: float) -> float:
        """g* at -(q + share kty), the suprema left out that are infinite."""
        m = self.multiplier(share * kty) if self.is_ball else 0.0
        at, c = (self.order, self.start), self.weights(m)
        found = 0.0
        if not self.together:
            found = float(kernel(loops.conjugate_entries)(kty, share, *at, c, self.ridge, self.lo, self.hi, self.q))
        if not self.alone:
            found += float(kernel(loops.conjugate_groups)(kty, share, *at, c, self.thin, self.ridge, self.q))
        return m * self.radius + found if self.is_ball else found
