"""The multiplier m of a ball h(x) <= r: the penalty m (h(x) - r) under which the solution of a model is on the boundary, or 0.

h of the solution falls as m grows, and of a quadratic model it is linear in m while the face stays. So a secant, kept within the ends between which
the root is known to lie, ends in a few solutions, each started at the one before. Where the model is flat, h jumps from above r to below it, and no m
leads to the boundary: then a mean of the solutions at both ends does, which is as good as the ends are near.

At a point u inside the ball, whether it solves a model or not, m is at most (F(u) - inf F) / (r - h(u)) by convexity, F being the model without m.
Where the data can be fitted in the ball, this tells that m is too large long before a model under its penalty is solved.
"""

from __future__ import annotations

import math

from fwdsl.atoms.base import Array
from fwdsl.backends.coordinate.coordinates import Coordinates, Indices
from fwdsl.backends.coordinate.model import OnColumns, OnGram, Solved

FIRST = 1.0 / 3.0
"""The first multiplier from x = 0, a share of the largest useful one."""

MOST = 5.0
"""The greatest factor between the multipliers of one solution and the next."""

SHARE = 0.1
"""The share of m |h - r| to which a model is solved while the multiplier is still to move."""

NEAR = 1e-4
"""The share of what is enough that m |h - r| may be: scaling into the ball loses as much, and is no descent."""

BEYOND = 1e-4
"""The share of r by which h may be above it where m is so small that m (h - r) says little."""

RAISED = 1e-3
"""The least multiplier to start a search from, a share of that of the gradient: a smaller one has lost its size."""

FAR = 10.0
"""The ratio of the ball's h to r where a model that is not solved yet need not have a minimum: its multiplier is too small."""

NEARER = 0.5
"""The share of |h - r| of the solution before down to which one on the same side has come hardly nearer."""

SOLUTIONS = 40


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
    ends = _Ends(g.radius)
    weights = g.ball[g.group[work]] if g.alone else None
    epochs, begun, m = 0, 0.0, multiplier
    local = g.at(work, m)
    groups = g.group[work[local.start[:-1]]]
    excess = _total(model.u, local, weights, g, work) - g.radius
    for _ in range(SOLUTIONS):
        local = local.priced(g.weights(m)[groups])
        solved = model.solve(local, max(enough, SHARE * m * abs(excess)))
        begun, epochs = begun if epochs else solved.first, epochs + solved.epochs
        excess = _total(model.u, local, weights, g, work) - g.radius
        exact = solved.last <= max(enough, SHARE * m * abs(excess))
        most = _most(model, g, work, excess)
        met = m * abs(excess) <= NEAR * enough and excess <= BEYOND * g.radius
        lowest = m <= least and excess <= 0.0
        if (met and solved.last <= enough) or (lowest and (exact or m > most)):
            # what two solutions tell of h is what the next model begins with
            slope = ends.take(m, excess, model.u, slope) if exact and ends.last is not None else slope
            return Solved(model.u, epochs, begun, solved.last, model.size), m, slope
        far = excess > FAR * g.radius
        if not (exact or far or m > most):
            continue
        slope = ends.take(m, excess, model.u, slope)
        if ends.near(NEAR * enough):
            break
        m = ends.between(m, excess, slope, least if m * g.radius > NEAR * enough else 0.0)
        m = min(m, max(most, least))
        if far and not exact:
            model.reset()
    return Solved(ends.mean(model.u), epochs, begun, enough, model.size), m, slope


def _most(model: OnColumns | OnGram, g: Coordinates, work: Indices, excess: float) -> float:
    """An upper bound on the multiplier of a model, by its point inside the ball; inf where that says nothing."""
    square = model.square()
    if square is None or not excess < 0.0 or g.q.any():
        return math.inf
    return (square + g.at(work, 0.0).penalty(model.u)) / -excess


class _Ends:
    """The multipliers between which the root is known to lie, h - r there, and the solutions."""

    def __init__(self, radius: float) -> None:
        self.radius = radius
        self.low: tuple[float, float, Array] | None = None
        self.high: tuple[float, float, Array] | None = None
        self.last: tuple[float, float] | None = None
        self.same = 0  # solutions on one side, one after the other, that came hardly nearer

    def take(self, m: float, excess: float, u: Array, slope: float) -> float:
        """Take a solution for the end on its side; how fast h falls."""
        before = self.last[1] if self.last is not None else 0.0
        # before the first one there is no side
        stays = before != 0.0 and (excess > 0.0) == (before > 0.0)
        self.same = self.same + 1 if stays and abs(excess) > NEARER * abs(before) else 0
        if excess > 0.0:
            self.low = m, excess, u.copy()
        else:
            self.high = m, excess, u.copy()
        if self.last is not None and self.last[0] != m and (excess - self.last[1]) / (m - self.last[0]) < 0.0:
            slope = (excess - self.last[1]) / (m - self.last[0])
        elif slope >= 0.0:
            # as if h were inverse to the multiplier
            slope = -max(excess + self.radius, 0.1 * self.radius) / max(m, 1e-300)
        self.last = m, excess
        return slope

    def between(self, m: float, excess: float, slope: float, least: float) -> float:
        """The multiplier to go on with."""
        there = min(max(m - excess / slope, m / MOST), MOST * m) if m > 0.0 else -excess / slope
        if self.same >= 2:
            # the slope leads to one side again and again
            there = m / MOST if excess < 0.0 else max(MOST * m, there)
        low = max(self.low[0] if self.low is not None else 0.0, least)
        if self.high is None:
            return max(there, low)
        if self.low is None:
            return min(max(there, low), self.high[0])
        high = self.high[0]
        return there if low < there < high and self.same < 2 else 0.5 * (low + high)

    def near(self, enough: float) -> bool:
        """True if a mean of the solutions at the ends is good enough: it loses at most the one distance times the other."""
        if self.low is None or self.high is None:
            return False
        distance = self.high[0] - self.low[0]
        return distance * (self.low[1] - self.high[1]) <= enough or distance <= 4e-16 * self.high[0]

    def mean(self, u: Array) -> Array:
        """The mean of the solutions at the ends with h = r, or u."""
        if self.low is None or self.high is None:
            return u
        share = -self.high[1] / (self.low[1] - self.high[1])
        return self.high[2] + share * (self.low[2] - self.high[2])


def _total(u: Array, local: Coordinates, weights: Array | None, g: Coordinates, work: Indices) -> float:
    """h of the coordinates of a working set, which all others of the ball are 0 beside."""
    if weights is not None:
        return float(weights @ abs(u))
    return float(g.ball[g.group[work[local.start[:-1]]]] @ local.lengths(u))
