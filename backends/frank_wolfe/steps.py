r"""The step rules along a direction d, on predictions that are linear in the step.

phi(gamma) = P(x + gamma d), 0 <= gamma <= longest, needs K d once; then each phi' costs a look at the losses and no product with the data.

* `open`: gamma = 2 / (k + 2), whatever the direction (Jaggi 2013), halved where P is not finite there.
* `short`: the minimiser of phi(0) + gamma phi'(0) + (gamma^2 / 2) (sum_j w_j sup l'' (K d)_j^2 + mu |d|^2), an upper bound of phi: never shorter than
  with a constant L of the whole gradient, as sum_j w_j sup l'' (K d)_j^2 <= L |d|^2.
* `adaptive`: gamma = min(-phi'(0) / (M |d|^2), longest), M cut by a tenth at each step and doubled until phi'(gamma) <= 0, that is
  <grad P(x + gamma d), d> <= 0 (Pedregosa et al. 2020 with the test on gradients of Pokutta 2023, which rounding does not upset as it does one on
  values).
* `secant`: false position with Illinois' halving on phi', and bisection where that is slow, until |phi'(gamma)| <= |phi'(0)| / 10.
* `line_search`: the same until 1e-10 of it; on squared losses the first secant is exact.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from fwdsl.atoms.base import Array
from fwdsl.atoms.loss import LossFunction
from fwdsl.backends.functions import FastLoss, FastRows
from fwdsl.backends.problem import PreparedProblem
from fwdsl.spectral.operators import nothing

RULES = ("open", "short", "adaptive", "secant", "line_search")

EXACT, LOOSE = 1e-10, 0.1
"""The shares of the first slope at which `line_search` and `secant` end."""

SHRINK, GROW = 0.9, 2.0
"""The factors by which M falls and grows in the rule `adaptive` (eta and tau of the paper)."""

LEVEL = 1e-8
"""The share of the first slope that is taken for 0: on a parabola M is exact, and rounding is not to double it."""

MOST_LOOKS = 100


class Segment:
    """phi, and its last evaluation.

    The losses take the predictions z + gamma dz; y are their slopes at z. `linear` is the slope along d of the rest of P, ridges with
    their slopes at x and `curvature`, which is mu |d|^2; `square` is |d|^2.
    """

    def __init__(
        self,
        losses: Sequence[FastLoss | FastRows],
        z: Sequence[Array],
        dz: Sequence[Array],
        ys: Sequence[Array],
        square: float,
        linear: float,
        curvature: float,
        longest: float,
        look: Callable[[], None] = nothing,
    ) -> None:
        self.losses, self.z, self.dz, self.look = losses, z, dz, look
        self.square, self.linear, self.curvature, self.longest = square, linear, curvature, longest
        self.first = self._along(ys)
        self._last: tuple[float, float, list[Array], list[Array]] | None = None

    def _along(self, ys: Sequence[Array]) -> float:
        return self.linear + sum(f.dot(y, d) for f, y, d in zip(self.losses, ys, self.dz, strict=True))

    def slope(self, gamma: float) -> float:
        """phi'(gamma); +inf where the losses are no longer finite."""
        self.look()
        z = [a + gamma * b for a, b in zip(self.z, self.dz, strict=True)]
        value, ys = gradients(self.losses, z)
        self._last = gamma, value, ys, z
        found = self._along(ys) + gamma * self.curvature
        return found if math.isfinite(value) and not math.isnan(found) else math.inf

    def predictions(self, gamma: float) -> list[Array]:
        """K (x + gamma d) + b."""
        if self._last is not None and self._last[0] == gamma:
            return self._last[3]
        return [a + gamma * b for a, b in zip(self.z, self.dz, strict=True)]

    def evaluated(self, gamma: float) -> tuple[float, list[Array]] | None:
        """(f, y) at gamma, where that is the last point that `slope` evaluated."""
        return (self._last[1], self._last[2]) if self._last is not None and self._last[0] == gamma else None

    def largest_curvature(self) -> float:
        """An upper bound of phi''; inf where a loss has none."""
        total = self.curvature
        for f, d in zip(self.losses, self.dz, strict=True):
            if isinstance(f.f, LossFunction):
                total += (f.f.loss.smoothness or 0.0) * f.dot(f.f.w, np.square(d))
            else:
                total += f.f.lipschitz * f.dot(d, d)
        return total

    @property
    def is_quadratic(self) -> bool:
        return all(isinstance(f, FastLoss) and f.f.loss.quadratic for f in self.losses)


def gradients(losses: Sequence[FastLoss | FastRows], zs: Sequence[Array]) -> tuple[float, list[Array]]:
    """The sum of some losses and their slopes."""
    total, ys = 0.0, []
    for f, z in zip(losses, zs, strict=True):
        y = np.empty_like(z)
        total += f.value_gradient(z, y)
        ys.append(y)
    return total, ys


def whole(
    problem: PreparedProblem,
    x: Array,
    z: Sequence[Array],
    ys: Sequence[Array],
    d: Array,
    dz: Sequence[Array],
    longest: float,
) -> Segment:
    """The segment from x along a direction of all variables."""
    linear, curvature = float(problem.q @ d), 0.0
    for block in problem.canonical.blocks:
        if block.g.curvature:
            part = d[block.slice]
            curvature += block.g.curvature * float(part @ part)
            linear += block.g.curvature * float(x[block.slice] @ part)
    losses = [f for f in problem.functions if isinstance(f, FastLoss | FastRows)]
    assert len(losses) == len(problem.functions), "requires() asks for smooth losses"
    return Segment(losses, z, dz, ys, float(d @ d), linear, curvature, longest, problem.look)


def step_length(rule: str, segment: Segment, k: float, curvature: float) -> tuple[float, float]:
    """(gamma, M) by a rule; k counts the steps of the open loop, M is the estimate of `adaptive`, which the other rules leave as it is."""
    if rule == "open":
        return _finite(segment, min(2.0 / (k + 2.0), segment.longest)), curvature
    # a slope that is not finite says nothing
    if not -math.inf < segment.first < 0.0 or segment.longest <= 0.0:
        return 0.0, curvature
    if rule == "short":
        most = segment.largest_curvature()
        return (min(-segment.first / most, segment.longest) if most > 0.0 else segment.longest), curvature
    if rule == "adaptive":
        return _adaptive(segment, curvature)
    return _root(segment, LOOSE if rule == "secant" else EXACT), curvature


def _finite(segment: Segment, gamma: float) -> float:
    """gamma, halved until the losses are finite there."""
    for _ in range(MOST_LOOKS):
        if segment.slope(gamma) < math.inf:
            break
        gamma *= 0.5
    return gamma


def _adaptive(segment: Segment, curvature: float) -> tuple[float, float]:
    if segment.square == 0.0:
        return 0.0, curvature
    if curvature == 0.0:
        # the curvature along the beginning of the segment
        short = 1e-3 * min(segment.longest, 1.0)
        found = (segment.slope(short) - segment.first) / (short * segment.square)
        curvature = found if 0.0 < found < math.inf else -segment.first / segment.square
    else:
        curvature *= SHRINK
    gamma = 0.0
    for _ in range(MOST_LOOKS):
        gamma = min(-segment.first / (curvature * segment.square), segment.longest)
        if segment.slope(gamma) <= LEVEL * -segment.first:
            return gamma, curvature
        curvature *= GROW
    return gamma, curvature


def _root(segment: Segment, share: float) -> float:
    """A gamma with |phi'(gamma)| <= share |phi'(0)|, or the end of the segment where phi' <= 0.

    Where three looks have not halved the bracket (slopes of an exponential), every other one halves it. Where looks run out, phi falls all
    the way to gamma.
    """
    lo, hi = 0.0, segment.longest
    left, right = segment.first, segment.slope(hi)
    if right <= 0.0:
        return hi
    goal = share * abs(left)
    kept, slow, width = 0, False, hi
    for look in range(MOST_LOOKS):
        trial = lo + (hi - lo) * left / (left - right) if math.isfinite(right) else 0.5 * (lo + hi)
        if slow and look % 2:
            trial = 0.5 * (lo + hi)
        gamma = trial if lo < trial < hi else 0.5 * (lo + hi)
        if segment.is_quadratic and lo == 0.0 and hi == segment.longest:
            return gamma
        slope = segment.slope(gamma)
        if abs(slope) <= goal or hi - lo <= 1e-15 * hi:
            return gamma
        if slope > 0.0:
            hi, right = gamma, slope
            left = 0.5 * left if kept == 1 else left
            kept = 1
        else:
            lo, left = gamma, slope
            right = 0.5 * right if kept == -1 else right
            kept = -1
        if look % 3 == 2:
            slow, width = slow or hi - lo > 0.5 * width, hi - lo
    return lo
