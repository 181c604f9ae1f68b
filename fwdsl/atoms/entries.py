"""Two forms that functions of a vector have: sums over entries, whose prox takes a step of its own for each, and bounds of the sum of all."""

from __future__ import annotations

import math

import numpy as np

from ..light_dataclass import light_dataclass
from .arrays import Array


@light_dataclass
class EntrySum:
    """x -> sum_j c |x_j| + ridge x_j^2 over lo_j <= x_j <= hi_j."""

    c: float
    ridge: float
    lo: Array | float
    hi: Array | float

    @property
    def is_unbounded(self) -> bool:
        """True if it is told by two numbers that there are no bounds."""
        return np.ndim(self.lo) == np.ndim(self.hi) == 0 and bool(self.lo == -np.inf and self.hi == np.inf)

    def prox(self, v: Array, t: Array | float) -> Array:
        """argmin_x sum_j t_j g_j(x_j) + (x_j - v_j)^2 / 2: shrink, soft threshold, cut."""
        grow = 1.0 + 2.0 * self.ridge * t
        x = v / grow
        if self.c:
            x = np.sign(x) * np.maximum(np.abs(x) - self.c * t / grow, 0.0)
        return np.clip(x, self.lo, self.hi)

    def bounds(self, size: int) -> tuple[Array, Array]:
        """lo and hi, each as a vector of `size` entries."""
        lo, hi = (np.broadcast_to(np.asarray(end, dtype=np.float64), (size,)) for end in (self.lo, self.hi))
        return lo, hi

    def into_recession(self, d: Array) -> Array:
        """The nearest direction along which no bound is ever met."""
        d = np.where(np.isfinite(self.lo), np.maximum(d, 0.0), d)
        return np.where(np.isfinite(self.hi), np.minimum(d, 0.0), d)

    def slopes(self, size: int) -> tuple[Array, Array] | None:
        """The ends of the closure of the domain of the conjugate, a box; None with a ridge, where the conjugate is finite everywhere.

        Upwards an entry is stopped by hi, or else has the slope c; downwards by lo, or else has the slope -c.
        """
        if self.ridge:
            return None
        lo, hi = self.bounds(size)
        return np.where(np.isinf(lo), 0.0 - self.c, -math.inf), np.where(np.isinf(hi), self.c, math.inf)


@light_dataclass
class Budget:
    """{x : sum_j |x_j| <= r} where it is `signed`, else {x >= 0 : sum_j x_j <= r}, or = r where it is `exact`."""

    r: float
    signed: bool
    exact: bool
