"""Points and dual points made of a method's candidate for the verifier, the likeliest to certify first."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..atoms.base import Array, VectorFunction
from ..backends.dual import has_hidden_penalties, may_hide_penalties, repair, step_inside
from ..backends.kernels.pool import Stopped
from ..backends.nearby import allowance, feasible_nearby, nearly_fits
from ..backends.problem import PreparedProblem
from ..canon.form import Canonical
from ..canon.parts import Block
from ..certify.point import ROUNDING, evaluate_point
from ..certify.verified import Point, Verified
from ..certify.verify import verify

Judged = tuple[Any, Verified]
"""A point, as the program that is verified has it, and the verifier's findings."""

Judge = Callable[[Array, Sequence[Array] | None, Point | None], Judged]
"""The verifier of a point and a dual point of the form that methods work on; the last argument are that form's findings for the point so far, if
any, which the judge of another program does without."""

SHARE = 0.2
"""The share of the data passes so far that moving a point into its constraints, or a second repair, may take."""

LARGE = 5_000
"""Unknowns from which on a step into cones that are all but met is tried before a repair."""

MET = 1e-12
"""The infeasibility that is rounding."""

HALVINGS = 40
"""The number of times that the segment to a dual point outside its domain is halved."""

NOTHING = 1e-12
"""The share of the other terms of a sum that is rounding beside them."""

NOISE = 1e-25
"""The share of a variable's largest entry that is nothing, in any sum."""


def attempts(
    problem: PreparedProblem,
    x: Array,
    ys: list[Array] | None,
    scale: Array | None,
    first: bool,
    stop: Callable[[], bool],
    judge: Judge | None = None,
) -> Iterator[Judged]:
    """Points with the findings of the judge, which is the verifier of the form itself where none is given. The caller stops when the tolerance is
    met, and keeps the best findings so far.

    Where products on a disk end because the run is to end, the points end, after the candidate as it is: the verifier's own products do not.
    """
    none = True
    judge = judge or _verifier(problem.canonical)
    try:
        for found in _attempts(problem, x, ys, scale, first, stop, judge):
            none = False
            yield found
    except Stopped:
        if none:
            yield judge(x, ys, None)


def _verifier(canonical: Canonical) -> Judge:
    """The verifier of a form, as the judge of its own points."""

    def judge(x: Array, ys: Sequence[Array] | None, point: Point | None) -> Judged:
        return x, verify(canonical, x, ys, point)

    return judge


def _attempts(
    problem: PreparedProblem,
    x: Array,
    ys: list[Array] | None,
    scale: Array | None,
    first: bool,
    stop: Callable[[], bool],
    judge: Judge,
) -> Iterator[Judged]:
    """Points and dual points in their order.

    The point is moved into the constraints that it misses; the dual point is repaired, where its bound as it is does not do; the infima of all
    terms are a bound whatever the program (`first`); where the optimum is a perfect fit the losses' y is rounding, and y = 0 takes its place;
    where all terms shrink with x, so may x; where x all but fits all targets, it is moved to fit them.
    """
    canonical = problem.canonical
    raw, mends, point = ys, needs_repair(canonical), None
    is_dear = allowance(problem, SHARE, stop)

    steps = mends and canonical.size > LARGE
    found: list[list[Array] | None] = []

    def inside() -> list[Array] | None:
        """Two products, where a repair solves a system with an equation for each unknown that is not 0; worked out once."""
        if raw is None or not steps:
            return None
        if not found:
            found.append(step_inside(problem, raw))
        return found[0]

    near = None
    if _has_rows_of_sets(problem):
        point = evaluate_point(canonical, x)
        # a step would bring no point nearer than rounding
        near = None if point.infeasibility <= ROUNDING else _into_constraints(problem, x, scale, stop)
    if near is not None:
        nearby = evaluate_point(canonical, near)
        if nearby.infeasibility <= MET:
            # it takes the place of x: what x seems to gain by its violation may be much where constraints nearly agree
            x, point = near, nearby
        else:
            if (stepped := inside()) is not None:
                yield judge(near, stepped, nearby)
            ys = repair(problem, ys, x, stop) if ys is not None and mends else ys
            yield judge(near, ys, nearby)
    as_given = judge(x, raw, point)
    is_met = as_given[1].bound.met
    again = _again(judge, x, as_given[1].point)
    if raw is None or not mends or is_met:
        yield as_given
    elif (stepped := inside()) is not None:
        yield again(stepped)
    if raw is not None and ys is not None and mends:
        ys = repair(problem, raw, x, stop) if ys is raw else ys
        repaired = again(ys)
        is_met = repaired[1].bound.met
        yield repaired
    if first:
        yield again([np.zeros(t.map.rows) for t in canonical.terms])
    if raw is not None and ys is not None:
        if mends and not as_given[1].bound.met:
            # what a repair moves to meet an equality may cost more than was missed
            yield as_given
        if mends:
            yield from _of_other_duals(problem, x, again, raw, ys, first, is_dear() and is_met, stop)
        if nearly_fits(problem, x):
            # the square of a residual is nothing only where the residual is rounding
            fit = feasible_nearby(problem, x, scale, allowance(problem, SHARE, stop), fitted=True)
            yield judge(fit, [np.zeros_like(y) for y in ys], None)
        for still in _stilled(problem, x):
            yield judge(still, repair(problem, ys, still, stop, interior=True) if mends else ys, None)
        if canonical.scale == 0.0 and (costless := _costless(canonical, ys)) is not None:
            yield judge(np.zeros_like(x), costless, None)


def _of_other_duals(
    problem: PreparedProblem,
    x: Array,
    again: Callable[[Sequence[Array]], Judged],
    raw: list[Array],
    ys: list[Array],
    first: bool,
    is_dear: bool,
    stop: Callable[[], bool],
) -> Iterator[Judged]:
    """The same point with dual points made of `raw` and of `ys`, its repair, that serve few programs; with `is_dear` no other repair."""
    canonical = problem.canonical
    if _is_scaled(canonical):
        if not first:
            yield again([np.zeros_like(y) for y in ys])
        # a method that scales its gradients has little left of them where rounding takes these out of the domain of a penalty
        gradients = problem.losses_gradient(problem.forward(x))[1] if may_hide_penalties(problem, ys) else None
        if gradients is not None and has_hidden_penalties(problem, gradients):
            yield again(repair(problem, gradients, x, stop))
        return
    if is_dear:
        return
    without = [
        np.zeros(y.size) if not isinstance(t.f, VectorFunction) else y for t, y in zip(canonical.terms, ys, strict=True)
    ]
    # it takes a share of the passes so far
    within = repair(problem, without, x, allowance(problem, SHARE, stop))
    yield again(within)
    # where the dual point meets the equalities, but not the domains, the segment to one that meets both has one near it that does
    yield again(_between(problem, within, raw, stop))
    # no repair of rounding can be told from noise: the multipliers of the constraints alone
    alone = [np.zeros(y.size) if not t.is_indicator else y for t, y in zip(canonical.terms, ys, strict=True)]
    yield again(alone)


def _costless(canonical: Canonical, ys: Sequence[Array]) -> list[Array] | None:
    """The multipliers without those of constraints that cost something: at 0, where nothing does, they are rounding. None where there are none."""
    costs = [
        t.is_indicator and y.any() and t.dot(t.map.offset, y) - t.conjugate(y) != 0.0
        for t, y in zip(canonical.terms, ys, strict=True)
    ]
    return [np.zeros_like(y) if cost else y for y, cost in zip(ys, costs, strict=True)] if any(costs) else None


def _between(
    problem: PreparedProblem, inner: Sequence[Array], outer: Sequence[Array], stop: Callable[[], bool]
) -> list[Array]:
    """The point nearest to `outer`, on the segment from `inner` to it, in the domains of those conjugates that are finite at `inner`.

    Where time is over, one that is farther away.
    """
    from_v, to_v = (-(problem.q + problem.adjoint(ys)) for ys in (inner, outer))
    blocks = [(b.slice, g) for b, g in zip(problem.canonical.blocks, problem.g, strict=True)]
    blocks = [(at, g) for at, g in blocks if math.isfinite(g.conjugate(from_v[at]))]

    def at(share: float) -> list[Array]:
        return [a + share * (b - a) for a, b in zip(inner, outer, strict=True)]

    def within(share: float) -> bool:
        v = from_v + share * (to_v - from_v)
        return math.isfinite(problem.conjugates(at(share))) and all(
            math.isfinite(g.conjugate(v[own])) for own, g in blocks
        )

    if within(1.0):
        return at(1.0)
    low, high = 0.0, 1.0
    for _ in range(HALVINGS):
        if stop():
            break
        middle = 0.5 * (low + high)
        low, high = (middle, high) if within(middle) else (low, middle)
    return at(low)


def _stilled(problem: PreparedProblem, x: Array) -> list[Array]:
    """Points with variables of x at 0, in the domains of all variables.

    Where all terms shrink with x these are all variables, or those that the objective sees: the constraints may ask for others that are not 0. Else
    they are the variables that are nothing but rounding beside the other terms of the sums they enter, and all entries that are nothing beside
    their variable's.
    """
    canonical = problem.canonical
    candidates = []
    if canonical.scale == 0.0:
        seen = x.copy()
        for block in canonical.blocks:
            if _is_seen(canonical, block):
                seen[block.slice] = 0.0
        candidates = [np.zeros_like(x), *([seen] if seen.any() else [])]
    small = x.copy()
    for block in canonical.blocks:
        own = small[block.slice]
        own[np.abs(own) < NOISE * np.abs(own).max(initial=0.0)] = 0.0
        if _is_rounding(problem, block, x):
            own[:] = 0.0
    found: list[Array] = []
    for still in (*candidates, small):
        if not np.array_equal(still, x) and np.array_equal(problem.prox_g(still, 0.0), still):
            found.append(still)
    return found


def _is_seen(canonical: Canonical, block: Block) -> bool:
    """True if the objective is of this variable."""
    return (
        bool(canonical.q[block.slice].any())
        or block.g.curvature > 0.0
        or block.g.pair[0] is not None
        or any(b is block for t in canonical.terms if not t.is_indicator for b, _ in t.map.parts)
    )


def _is_rounding(problem: PreparedProblem, block: Block, x: Array) -> bool:
    """True if the largest entry of a variable is at most NOTHING of the other terms in the rows of K x + b, wherever there are others."""
    own = float(np.abs(x[block.slice]).max(initial=0.0))
    beside = False
    if not any(t.map.offset.any() or any(b is not block for b, _ in t.map.parts) for t in problem.terms):
        return False
    for term, parts in zip(problem.terms, problem.row_sums, strict=True):
        mine, others = np.zeros(term.map.rows), np.abs(term.map.offset)
        for b, row in parts:
            size = float(np.abs(x[b.slice]).max(initial=0.0)) * row
            mine, others = (mine + size, others) if b is block else (mine, others + size)
        at = others > 0.0
        if np.any(mine[at] > NOTHING * others[at]):
            return False
        beside = beside or bool(np.any(mine[at] > 0.0))
    return own > 0.0 and beside


def needs_repair(canonical: Canonical) -> bool:
    """True if some block has a dual equality to meet."""
    return any(not math.isfinite(b.g.radius()) and b.g.curvature == 0.0 for b in canonical.blocks)


def _is_scaled(canonical: Canonical) -> bool:
    """True if a repair does no more than scale the dual point: losses alone, and a norm or a ridge or a bounded set on every variable."""
    return all(not isinstance(t.f, VectorFunction) for t in canonical.terms) and not canonical.leaves_equalities


def _again(judge: Judge, x: Array, point: Point) -> Callable[[Sequence[Array]], Judged]:
    """The judge of other dual points of a point that was judged, with what was found for it."""

    def again(ys: Sequence[Array]) -> Judged:
        at, verified = judge(x, ys, point)
        return at, replace(verified, passes=2.0) if verified.point is point else verified

    return again


def _has_rows_of_sets(problem: PreparedProblem) -> bool:
    """True if a term is an entrywise function or set, whose constraints points are moved into."""
    return any(isinstance(t.f, VectorFunction) and t.f.entrywise for t in problem.terms)


def _into_constraints(
    problem: PreparedProblem, x: Array, scale: Array | None, stop: Callable[[], bool]
) -> Array | None:
    """x moved into the entrywise constraints of the sum; None where nothing was gained."""
    near = feasible_nearby(problem, x, scale, allowance(problem, SHARE, stop))
    return None if near is x or np.array_equal(near, x) else near
