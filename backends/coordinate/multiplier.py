"""The multiplier m of a ball h(x) <= r: the penalty m (h(x) - r) under which the solution of a model is on the boundary, or 0.

h of the solution falls as m grows, and of a quadratic model it is linear in m while the face stays. So a secant, kept within the ends between which
the root is known to lie, ends in a few solutions, each started at the one before.
"""

from __future__ import annotations

import math

from fwdsl.atoms.base import Array
from fwdsl.backends.coordinate.coordinates import Coordinates, Indices
from fwdsl.backends.coordinate.model import OnColumns, OnGram, Solved

FIRST = 1.0 / 3.0
"""The first multiplier from x = 0, a share of the largest useful one."""

MOST = 5.0
"""How many times as large or small the multiplier becomes at most from one solution to the next."""

SHARE = 0.1
"""The share of m |h - r| to which a model is solved while the multiplier is still to move."""

NEAR = 1e-4
"""The share of what is enough that m |h - r| may be: scaling into the ball loses as much, and is no descent."""

BEYOND = 1e-4
"""The share of r by which h may be above it where m is so small that m (h - r) says little."""

RAISED = 1e-3
"""The least multiplier to start a search from, a share of that of the gradient: a smaller one has lost its size."""

SOLUTIONS = 30


def first(g: Coordinates, x: Array, kty: Array) -> float:
    """The multiplier to start from: 0 where there is no ball; where there is one, that of the gradient."""
    if not g.is_ball:
        return 0.0
    largest = g.multiplier(kty)
    return largest if g.total(x) > 0.0 else FIRST * largest


def in_ball(
    model: OnColumns | OnGram,
    g: Coordinates,
    work: Indices,
    multiplier: float,
    least: float,
    slope: float,
    enough: float,
) -> tuple[Solved, float, float]:
    """(the solution of a model on the ball to `enough`, the multiplier, how fast h falls as it grows); `slope` is a guess of the last.

    The multiplier does not fall below `least`: coordinates that a smaller one takes are not in the working set yet.
    """
    low, high = 0.0, math.inf
    last: tuple[float, float] | None = None
    weights = g.ball[g.group[work]] if g.alone else None
    epochs, begun = 0, 0.0
    m = multiplier
    for _ in range(SOLUTIONS):
        local = g.at(work, m)
        excess_before = _total(model.u, local, weights, g, work) - g.radius
        solved = model.solve(local, max(enough, SHARE * m * abs(excess_before)))
        begun, epochs = begun if epochs else solved.first, epochs + solved.epochs
        excess = _total(model.u, local, weights, g, work) - g.radius
        exact = solved.last <= max(enough, SHARE * m * abs(excess))
        met = m * abs(excess) <= NEAR * enough and excess <= BEYOND * g.radius
        if (met and solved.last <= enough) or (exact and m <= least and excess <= 0.0):
            break
        if not exact:
            continue
        low, high = (max(low, m), high) if excess > 0.0 else (low, min(high, m))
        if last is not None and last[0] != m and (excess - last[1]) / (m - last[0]) < 0.0:
            slope = (excess - last[1]) / (m - last[0])
        elif slope >= 0.0:
            # as if h were inverse to the multiplier
            slope = -max(excess + g.radius, 0.1 * g.radius) / max(m, 1e-300)
        last = m, excess
        there = m - excess / slope
        there = min(there, MOST * m) if m > 0.0 else there
        if there < m / MOST:
            there = m / MOST if m * g.radius > NEAR * enough else 0.0
        there = max(there, least)
        if not low < there < high and there > least:
            there = 0.5 * (low + high) if high < math.inf else MOST * max(low, m)
        if there == m:
            break
        m = there
    return Solved(model.u, epochs, begun, solved.last), m, slope


def _total(u: Array, local: Coordinates, weights: Array | None, g: Coordinates, work: Indices) -> float:
    """h of the coordinates of a working set, which all others of the ball are 0 beside."""
    if weights is not None:
        return float(weights @ abs(u))
    return float(g.ball[g.group[work[local.start[:-1]]]] @ local.lengths(u))
