r"""The dual of one loss of single predictions, signs turned, for methods that work on its entries.

For a loss whose conjugate is a quadratic with at most one kink (`Loss.dual_kink`), v = -y and t = b - o (targets less offsets of the predictions):

    f*(-v) + <o, v> = sum_j h_j(v_j),    h_j(v) = s_j v^2 / 2 - t_j v + e |v|    on lo_j <= v <= hi_j

s_j is 1 / (smoothness w_j), 0 for a loss with corners; e is the half-width of a tube.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from fwdsl.atoms.base import Array
from fwdsl.atoms.loss import LossFunction
from fwdsl.backends.functions import FastLoss
from fwdsl.light_dataclass import light_dataclass

LEAST_WIDTH = 1e-6
"""The share of the range of all corners that an interval has at least, in which the one that is a root is looked for."""

MOST_CORNERS = 10_000
"""Corners up to which the one that is a root is looked for: of more, compiled loops over the samples take no longer to halve an interval."""


@light_dataclass
class SignedDual:
    """The function h that this module's docstring states."""

    t: Array
    s: Array
    e: float
    lo: Array
    hi: Array

    @staticmethod
    def of(f: LossFunction, offset: Array) -> SignedDual:
        """The parameters of the conjugate of f, a loss with such a conjugate."""
        smoothness, kink = f.loss.smoothness, f.loss.dual_kink
        assert kink is not None
        live = f.w > 0.0
        s = np.zeros(f.size)
        if smoothness is not None:
            s[live] = 1.0 / (smoothness * f.w[live])
        low, high = f.dual_bounds()
        return SignedDual(f.b - offset, s, kink(f.p), -high, -low)

    def value(self, v: Array) -> float:
        return float(v @ (0.5 * self.s * v - self.t)) + self.e * float(np.abs(v).sum())

    def is_free(self, v: Array) -> NDArray[np.bool_]:
        """A mask of the entries that are neither at an end nor at the kink."""
        free = (v > self.lo) & (v < self.hi)
        found: NDArray[np.bool_] = free & (v != 0.0) if self.e > 0.0 else free
        return found

    def on_equality(self, v: Array, total: float) -> Array:
        """v in the box with sum(v) = total: what is missing goes to the first entries that have room, as much as they have."""
        v = np.clip(v, self.lo, self.hi)
        missing = total - float(v.sum())
        if abs(missing) <= 1e-12 * (float(np.abs(v).sum()) + abs(total)):
            return v
        room = self.hi - v if missing > 0.0 else v - self.lo
        endless = np.isinf(room)
        if endless.any():
            return np.asarray(v + np.where(endless, missing / np.count_nonzero(endless), 0.0))
        before = np.concatenate(([0.0], np.cumsum(room)[:-1]))
        step = np.clip(abs(missing) - before, 0.0, room)
        at_end = np.where(step == room, self.hi if missing > 0.0 else self.lo, v + np.copysign(step, missing))
        return np.asarray(np.where(step > 0.0, at_end, v))


def best_shift(loss: FastLoss, z: Array, total: float, guess: float, width: float) -> float:
    """argmin over t of f(z + t) + total t, by the slope's root in an interval that grows from guess +- width.

    Of a loss with corners one of these is the root. Where f is smooth, secants find it that close the interval at least as fast as bisection.
    """
    if loss.f.loss.smoothness is None and (corner := _best_corner(loss, z, total, guess, width)) is not None:
        return corner
    out = np.empty_like(z)

    def slope(t: float) -> float:
        loss.value_gradient(z + t, out)
        return float(out.sum()) + total

    smooth = loss.f.loss.smoothness is not None
    unit = max(float(np.abs(z).max(initial=0.0)), float(np.abs(loss.f.b).max(initial=0.0)), abs(guess), 1e-300)
    width = max(width, 1e-12 * unit)
    low, high = guess - width, guess + width
    at_low = slope(low)
    for _ in range(60):
        if at_low <= 0.0:
            break
        low, high, width = low - 4.0 * width, low, 4.0 * width
        at_low = slope(low)
    width = high - low
    at_high = slope(high)
    for _ in range(60):
        if at_high >= 0.0:
            break
        low, high, width = high, high + 4.0 * width, 4.0 * width
        at_low, at_high = at_high, slope(high)
    halve = not smooth
    while high - low > 1e-15 * unit:
        before = high - low
        middle = 0.5 * (low + high)
        if not halve and at_low < 0.0 < at_high:
            middle = low + before * (at_low / (at_low - at_high))
            # a hair beyond the secant's root, so that the root of a straight piece comes to lie between two points
            middle += (1.0 if middle - low < high - middle else -1.0) * max(1e-6 * before, 0.25e-15 * unit)
        if not low < middle < high:
            break
        at = slope(middle)
        low, at_low = (middle, at) if at <= 0.0 else (low, at_low)
        high, at_high = (middle, at) if at >= 0.0 else (high, at_high)
        halve = not smooth or (not halve and high - low > 0.5 * before)
    return min(low, high, key=lambda t: loss.value(z + t) + total * t)


def _best_corner(loss: FastLoss, z: Array, total: float, guess: float, width: float) -> float | None:
    """The same of a loss that is linear between its corners: the first one beyond which the sum does not fall. None where slopes have no bounds.

    None where there are many. Sample j has the slope lo_j for t < b_j - z_j - e and hi_j for t > b_j - z_j + e, 0 between.
    """
    f = loss.f
    if (kink := f.loss.dual_kink) is None or f.size > MOST_CORNERS:
        return None
    (low, high), at, e = loss.dual_bounds, f.b - z, kink(f.p)
    corners, rises = (np.concatenate([at - e, at + e]), np.concatenate([-low, high])) if e > 0.0 else (at, high - low)
    first = float(low.sum()) + total
    if not corners.size or not (math.isfinite(first) and np.isfinite(rises).all() and np.isfinite(corners).all()):
        return None
    least, most = float(corners.min()), float(corners.max())

    def before(t: float) -> float:
        """The slope just before t."""
        return first + float(np.where(corners < t, rises, 0.0).sum())

    # from a width that rounding does not lose beside the ends, growing intervals reach the outermost corners
    unit = max(abs(least), abs(most), abs(guess))
    width = max(width, LEAST_WIDTH * (most - least), 1e-12 * unit, 1e-300)
    start, stop = guess - width, guess + width
    slope = before(start)
    while slope >= 0.0 and start > least:
        start, stop, width = start - 4.0 * width, start, 4.0 * width
        slope = before(start)
    width = stop - start
    while before(stop) < 0.0 and stop <= most:
        start, stop, width = stop, stop + 4.0 * width, 4.0 * width
        slope = before(start)
    inside = (corners >= start) & (corners < stop)
    # a slope without a root, but for rounding, has its end
    if slope >= 0.0 or not inside.any():
        return least if slope >= 0.0 else most
    corners, rises = corners[inside], rises[inside]
    order = np.argsort(corners, kind="stable")
    at_root = int(np.searchsorted(slope + np.cumsum(rises[order]), 0.0))
    return float(corners[order[min(at_root, order.size - 1)]])
