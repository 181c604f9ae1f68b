"""Scales of charts: where a number lies along an axis, and which numbers are written beside it."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

MOST_TICKS = 6

SMALLEST_DRAWN = 1e-16
"""The gap that a gap of 0 is drawn as, on a scale by logarithms."""


@dataclass(frozen=True)
class Axis:
    """An axis before it has numbers: what it shows, whether by logarithms, and whether from 0 on."""

    label: str
    log: bool = False
    from_zero: bool = False


@dataclass(frozen=True)
class Scale:
    """A map from the numbers `[low, high]` to the places `[start, end]`. By logarithms, a number below `low` lies where `low` does."""

    low: float
    high: float
    start: float
    end: float
    log: bool

    def __call__(self, value: float) -> float:
        low, high, at = self.low, self.high, value
        if self.log:
            low, high, at = math.log10(low), math.log10(high), math.log10(max(value, self.low))
        return self.start + (self.end - self.start) * ((at - low) / (high - low))

    def ticks(self) -> list[float]:
        """Round numbers within the scale, `MOST_TICKS` at most."""
        return _powers(self.low, self.high) if self.log else _rounds(self.low, self.high)


def fitted(axis: Axis, values: Iterable[float], start: float, end: float) -> Scale:
    """The scale that shows all values, with some room where there is one value alone."""
    log = axis.log
    shown = [v for v in values if math.isfinite(v) and (v > 0.0 or not log)]
    low, high = (min(shown), max(shown)) if shown else (1.0, 10.0)
    low = 0.0 if axis.from_zero else low
    if log:
        low, high = 10.0 ** math.floor(math.log10(low) + 1e-9), 10.0 ** math.ceil(math.log10(high) - 1e-9)
        high = high if high > low else 10.0 * low
    elif high - low <= 1e-12 * max(abs(low), abs(high)):
        room = 0.5 * abs(low) or 1.0
        low, high = low - room, high + room
    return Scale(low, high, start, end, log)


def _powers(low: float, high: float) -> list[float]:
    first, last = round(math.log10(low)), round(math.log10(high))
    step = -(-(last - first) // (MOST_TICKS - 1)) or 1
    return [10.0**power for power in range(first, last + 1) if power % step == 0]


def _rounds(low: float, high: float) -> list[float]:
    raw = (high - low) / (MOST_TICKS - 1)
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(m * power for m in (1.0, 2.0, 2.5, 5.0, 10.0) if m * power >= raw * (1 - 1e-9))
    first = math.ceil(low / step - 1e-9)
    return [i * step for i in range(first, math.floor(high / step + 1e-9) + 1)]


def tick_text(value: float) -> str:
    """A number beside an axis: `0.01`, `20`, `1e-8`."""
    if value == 0.0:
        return "0"
    if 1e-3 <= abs(value) < 1e5:
        return f"{value:.6g}"
    mantissa, _, exponent = f"{value:.3e}".partition("e")
    return f"{float(mantissa):g}e{int(exponent)}"
