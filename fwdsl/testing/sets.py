"""The checks of every set: linear minimisation, membership, and the facts of class and record."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from ..atoms.base import Array
from ..atoms.vectors import ConvexSet
from .compare import close, require
from .forms import least, least_linear, translated_projection
from .functions import FunctionCase


def lmo_attains_the_support_function(case: FunctionCase) -> None:
    """`lmo` is a point of the set at which <c, x> is -g*(-c), where the set is bounded; a vertex has one name."""
    g, allowed = case.g, case.tolerances
    feasible = case.feasible(11)
    costs = [*case.points(9)]
    for c in costs:
        told = case.at(c=c)
        x = g.lmo(c)
        bounded = math.isfinite(g.radius())
        require(
            (x is not None) == bounded,
            f"`lmo` finds a point where the set is bounded (`radius` = {g.radius():g})",
            told,
        )
        if x is None:
            continue
        missed = g.violation(x)
        require(missed <= allowed.inside, f"`lmo` is in the set but for {missed:.1e}", told)
        best, size = float(c @ x), 1 + float(np.abs(c).sum())
        atol = 1e-12 * allowed.slack * (1 + np.abs(c).sum() * np.abs(x).max(initial=0.0))
        close(best, -g.conjugate(-c), "<c, lmo(c)> is minus the support function at -c", told, atol=atol)
        least = all(best <= float(c @ y) + 1e-11 * allowed.slack * size for y in feasible)
        require(least, "no point of the set has a lower <c, x> than `lmo`", told)
        named = g.vertex_id(c)
        if named is not None:
            hash(named)
            same = [g.lmo(other) for other in case.points(10) if g.vertex_id(other) == named]
            require(
                [np.array_equal(x, y) for y in same if y is not None], "one name of a vertex is of one vertex", told
            )


def lmo_solves_its_program(case: FunctionCase) -> None:
    """`lmo` against a linear program where the conic form is one, and against the projection: x is best for c where x - s c projects on x."""
    g = case.g
    form = g.conic()
    for c in case.points(22):
        x = g.lmo(c)
        if x is None:
            return
        told = case.at(c=c)
        found = None if form is None else least_linear(form, c)
        if found is not None:
            size = float(np.abs(c).sum()) * max(float(np.abs(x).max(initial=0.0)), g.radius())
            close(float(c @ x), found, "`lmo` solves the linear program of `conic`", told, atol=1e-6 * size)
        # as long as the set is wide, and longer
        length = float(np.linalg.norm(c)) or 1.0
        for s in (0.1, 10.0) if g.proximable else ():
            step = s * (g.radius() or 1.0) / length
            size = float(np.abs(x).max(initial=0.0)) + step * float(np.abs(c).max(initial=0.0))
            what = "x - s c projects on x = lmo(c), as it does where no point has a lower <c, x>"
            close(g.prox(x - step * c, 1.0), x, what, told, atol=1e-9 * case.tolerances.slack * size)


def members_are_told(case: FunctionCase) -> None:
    """Points of the set have no violation; `diameter` is no less than a distance."""
    g = case.g
    if not isinstance(g, ConvexSet):
        return
    feasible = case.feasible(11)
    for x in feasible:
        missed = g.violation(x)
        inside = missed <= case.tolerances.inside
        require(inside, f"a point of the set has no violation, not {missed:.1e}", case.at(x=x))
    reached = max((float(np.linalg.norm(x - y)) for x in feasible for y in feasible), default=0.0)
    most = g.diameter()
    require(
        reached <= most * (1 + 1e-12) + 1e-14, f"`diameter` = {most:.17g} is no less than {reached:.17g}, a distance"
    )


LEAST = 0.01
"""The share of its distance from the set, over its size and those of its projection and of the set, that a point's violation has at least.

One inequality <a, x> <= b that cuts the point off has all of it: |a|'|x| + |b| <= |a| (|x| + |Px|). Where several meet at a sharp angle, none is
missed by as much as the point is away.
"""


def violation_is_relative_to_sizes(case: FunctionCase) -> None:
    """The miss of an inequality over the sizes of its terms: 1 at most, less for larger sizes, and no less than the distance from the set tells."""
    g = case.g
    wide = g.radius() if math.isfinite(g.radius()) else 0.0
    for v in case.points(12) if g.proximable else ():
        x = g.prox(v, 1.0)
        for share in (1.0, 1e-3):
            y = x + share * (v - x)
            distance, size = float(np.linalg.norm(y - x)), float(np.linalg.norm(x) + np.linalg.norm(y)) + wide
            if distance <= 1e-6 * max(size, float(np.linalg.norm(v))):
                continue
            told = case.at(v=y)
            missed = g.violation(y)
            what = (
                f"a point that the projection moves has a violation, of the order of its distance over its size, "
                f"{distance / size:.1e}, not {missed:.1e}"
            )
            require(missed >= LEAST * distance / size, what, told)
            require(missed <= 1 + 1e-12, f"`violation` is relative to the sizes of its terms, not {missed:g}", told)
            sizes = g.own_sizes(y)
            once, twice = g.violation(y, sizes), g.violation(y, 2.0 * sizes)
            what = f"for terms of twice the size `violation` is less, and not less than half: {once:g} and {twice:g}"
            require(once * (0.5 - 1e-12) <= twice <= once * (1 + 1e-12), what, told)
            far = g.violation(y, np.full(g.size, 1e12 * float(np.abs(y).max())))
            require(
                far <= 1e-6 or not y.any(), f"beside terms that are far larger nothing is missed, not {far:g}", told
            )


def radius_is_reached(case: FunctionCase) -> None:
    """A point more than half as long as `radius` is found: the longest vertices, each the one farthest along the one before."""
    g = case.g
    radius, longest = g.radius(), 0.0
    if not (g.size and 0.0 < radius < math.inf):
        return
    for c in case.points(23):
        for _ in range(10):
            x = g.lmo(c)
            if x is None:
                return
            longest, c = max(longest, float(np.linalg.norm(x))), -x
    told = f"`radius` = {radius:g} is far above the length of any point found, {longest:.6g}"
    require(longest > 0.5 * radius, f"{told}, in {g.describe()}")


def conic_form_is_the_set(case: FunctionCase) -> None:
    """The conic form, where there is one, has the points of the set and no others."""
    g = case.g
    form = g.conic()
    if form is None or not g.proximable:
        return
    for v in case.points(24):
        x = g.prox(v, 1.0)
        at = least(form, x)
        if at is None:
            return
        require(at == 0.0, f"`conic` is 0 at a point of the set, not {at:g}", case.at(x=x))
        if g.violation(v) > 1e-3:
            require(least(form, v) == math.inf, "`conic` leaves out a point outside the set", case.at(v=v))


def translation_is_the_set(case: FunctionCase) -> None:
    """The constraints of `cvxpy` have the same projection."""
    g = case.g
    if not isinstance(g, ConvexSet) or not g.proximable:
        return
    for v in [*case.points(25)][2:6]:
        found = translated_projection(g.cvxpy, v)
        if found is None:
            return
        size = float(np.abs(v).max(initial=0.0)) + (g.radius() if math.isfinite(g.radius()) else 0.0)
        close(found, g.prox(v, 1.0), "`cvxpy` has the same projection", case.at(v=v), atol=1e-3 * size)


def bounds_its_sum(case: FunctionCase) -> None:
    """Check that the set of `budget` has the same support function."""
    budget = case.g.budget()
    if budget is None or not case.g.size:
        return
    for v in case.points(18):
        most = float(np.abs(v).max() if budget.signed else v.max())
        most = most if budget.exact else max(most, 0.0)
        what = "`total`: the support function is that of the sum that the record bounds"
        close(case.g.conjugate(v), budget.r * most, what, case.at(v=v), 1e-12)


SET_CHECKS: tuple[Callable[[FunctionCase], None], ...] = (
    lmo_attains_the_support_function,
    lmo_solves_its_program,
    members_are_told,
    violation_is_relative_to_sizes,
    radius_is_reached,
    bounds_its_sum,
    conic_form_is_the_set,
    translation_is_the_set,
)


# --- of records ------------------------------------------------------------------------------------------------------


def is_permutable(case: FunctionCase) -> None:
    """The support function is the same for every order of the entries."""
    rng = np.random.default_rng(15)
    for v in case.points(14):
        v = case.g.dual_project(v)
        a, b = case.g.conjugate(v), case.g.conjugate(case.g.dual_project(rng.permutation(v)))
        what = "`permutable`: the support function is the same for every order of the entries"
        close(b, a, what, case.at(v=v), 1e-9, 1e-9)


def is_polyhedral(case: FunctionCase) -> None:
    """A small change of the cost leaves the vertex of a polytope as it is, nearly everywhere."""
    rng = np.random.default_rng(16)
    costs: Sequence[Array] = [c for _ in range(20) if (c := rng.normal(size=case.g.size)).any()]
    if case.g.size < 2 or case.g.lmo(costs[0]) is None:
        return
    near = [(case.g.lmo(c), case.g.lmo(c + 1e-7 * rng.normal(size=c.size))) for c in costs]
    still = [np.allclose(a, b, rtol=1e-12, atol=1e-12) for a, b in near if a is not None and b is not None]
    require(sum(still) > len(still) // 2, "`polyhedral`: the vertex stays the same under small changes of the cost")
