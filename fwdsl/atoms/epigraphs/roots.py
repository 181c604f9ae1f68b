"""The multiplier at which a bound is met: the root of a function that falls at least as fast as its argument rises."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..arrays import Array

EPS = float(np.finfo(np.float64).eps)

STEPS = 200
"""Evaluations of a root at most: halving alone takes 60 once it is enclosed, and hundreds of doublings only where sizes differ absurdly."""


def multipliers(excess: Callable[[Array], Array], start: Array, size: Array) -> Array:
    """l >= 0 with excess(l) = 0, entry by entry, where excess(0) = `start` > 0 and excess falls with a slope of at most -1.

    So l is at most `start`; where that is infinite l is looked for from `size` on. Secants between the ends of the interval that encloses it
    (Illinois' rule), and its middle where three of them have not halved it. Ends at an interval of two ulps. Source: Dowell, Jarratt, BIT 11, 1971.
    """
    low, high = np.zeros_like(start), np.where(np.isfinite(start), start * (1.0 + 4.0 * EPS), np.maximum(size, 1e-300))
    at_low = start.copy()
    at_high = _told(excess(high))
    for _ in range(STEPS):
        short = at_high > 0.0
        if not short.any():
            break
        low, at_low = np.where(short, high, low), np.where(short, at_high, at_low)
        high = np.where(short, 4.0 * high, high)
        at_high = np.where(short, _told(excess(high)), at_high)
    before, moved = np.full_like(start, np.inf), np.zeros_like(start)
    for k in range(STEPS):
        wide = high - low > 2.0 * EPS * high
        open_ = wide & (at_low != 0.0) & (at_high != 0.0)
        if not open_.any():
            break
        with np.errstate(all="ignore"):
            secant = (low * at_high - high * at_low) / (at_high - at_low)
            far = (low > 0.0) & (high > 8.0 * low)
            middle = np.where(far, np.sqrt(low) * np.sqrt(high), 0.5 * (low + high))
            middle = np.where((low == 0.0) & ~np.isfinite(at_low), 1e-3 * high, middle)
        slow = (high - low > 0.5 * before) if k % 3 == 2 else np.zeros(start.size, dtype=bool)
        before = high - low if k % 3 == 2 else before
        fits = np.isfinite(secant) & (secant >= low) & (secant <= high) & ~slow
        # an ulp from its end at least: where that end is the root but for rounding, the next one encloses it
        secant = np.clip(secant, low + EPS * high, high - EPS * high)
        tried = np.where(open_, np.where(fits, secant, middle), high)
        found = _told(excess(tried))
        above = found > 0.0
        up, down = open_ & above, open_ & ~above
        # an end that stays twice counts half, so that the next secant crosses over
        side = np.where(above, 1.0, -1.0)
        stays, moved = side == moved, np.where(open_, side, moved)
        at_high = np.where(up, np.where(stays, 0.5 * at_high, at_high), np.where(down, found, at_high))
        at_low = np.where(down, np.where(stays, 0.5 * at_low, at_low), np.where(up, found, at_low))
        low, high = np.where(up, tried, low), np.where(down, tried, high)
    return np.where(at_low == 0.0, low, high)


def _told(values: Array) -> Array:
    """A value that is no number is as good as infinite: the argument is too small for the prox to come into the domain."""
    return np.where(np.isnan(values), np.inf, values)
