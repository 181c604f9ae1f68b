"""-c (x_1 ... x_n)^(1/n) on x >= 0, the negative of the concave geometric mean, with no infimum.

Conjugate: the indicator of {v <= 0 : geometric mean of -v at least c / n}, which does not hold 0. Prox: where v / t is in that set 0, else
x_i = (v_i + (v_i^2 + 4 s m)^(1/2)) / 2 with s = t c / n, at the m that is the geometric mean of these x: log m less the mean of their logarithms
rises in log m.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ..base import Array, VectorFunction
from ..conic import Conic, geo_mean_form
from .common import checked_coefficient, largest_share
from .nonnegative import Nonnegative

MOST_STEPS = 200
LEAST = -700.0
"""The logarithm of a mean that is as good as 0."""


def geo_mean(x: Array) -> float:
    """(x_1 ... x_n)^(1/n) of the positive parts; 0 for no entries."""
    if not x.size or float(x.min()) <= 0.0:
        return 0.0
    return float(math.exp(float(np.log(x).mean())))


@dataclass(frozen=True)
class GeoMean(VectorFunction):
    """`-c * geo_mean`, whose domain is x >= 0."""

    size: int
    c: float

    pair = ("geo_mean", None)
    polyhedral = False
    entrywise = True
    permutable = True
    compiled = False
    prox_kernel = None  # type: ignore[assignment]

    def __post_init__(self) -> None:
        object.__setattr__(self, "c", checked_coefficient(self.c))

    def radius(self) -> float:
        return math.inf if self.size else 0.0

    def describe(self) -> str:
        return f"-{self.c:g} * geo_mean"

    @property
    def slope(self) -> float:
        return self.c

    def value(self, x: Array) -> float:
        """-c times the mean, that of the positive parts."""
        return 0.0 - self.c * geo_mean(x)

    def set_beneath(self) -> VectorFunction:
        return Nonnegative(self.size)

    def violation(self, x: Array, sizes: Array | None = None) -> float:
        return largest_share(-x, self.own_sizes(x) if sizes is None else sizes)

    @property
    def has_faces(self) -> bool:
        """False: it is curved."""
        return False

    def coercive(self) -> tuple[float, str] | None:
        """None: it falls without end."""
        return None

    def prox(self, v: Array, t: float) -> Array:
        """Halving for log m."""
        s = t * self.c / max(1, self.size)
        if not self.size or s == 0.0 or self._mean_of_negative(v) >= s:
            return np.maximum(v, 0.0)
        peak = float(np.abs(v).max()) + s
        v, s = v / peak, s / peak

        def entries(log_m: float) -> Array:
            root = np.hypot(v, 2.0 * math.sqrt(s) * math.exp(0.5 * log_m))
            away = np.where(v < 0.0, root - v, 1.0)
            return np.where(v >= 0.0, 0.5 * (v + root), 2.0 * s * math.exp(log_m) / away)

        # each x_i is at most max(v_i, 0) + (s m)^(1/2), with v and s at most 1 in all
        low, high = LEAST, 1.0
        for _ in range(MOST_STEPS):
            middle = 0.5 * (low + high)
            if not low < middle < high:
                break
            with np.errstate(divide="ignore"):
                over = float(np.log(entries(middle)).mean()) > middle
            low, high = (middle, high) if over else (low, middle)
        return peak * entries(high) if high > 0.5 * LEAST else np.maximum(peak * v, 0.0)

    @staticmethod
    def _mean_of_negative(v: Array) -> float:
        """The geometric mean of -v; 0 where an entry is not negative."""
        return geo_mean(-v)

    def _inside(self, v: Array) -> bool:
        return not self.size or (float(v.max()) < 0.0 and self._mean_of_negative(v) >= self.c / self.size)

    def conjugate(self, v: Array) -> float:
        return 0.0 if self._inside(v) else math.inf

    def dual_scale(self, v: Array) -> float:
        """1 inside, else 0: what is outside is too small."""
        return 1.0 if self._inside(v) else 0.0

    def dual_project(self, v: Array) -> Array:
        """The part of v that the prox for t = 1 takes away, made larger by what rounding lacks."""
        if self._inside(v):
            return v.copy()
        u = v - self.prox(v, 1.0)
        # entries that are rounding of 0 have no logarithm
        u = np.minimum(u, -np.finfo(np.float64).tiny)
        step = float(np.finfo(np.float64).eps)
        while not self._inside(u) and step < 1e300:
            u = u * (1.0 + step)
            step *= 2.0
        return u

    def conic(self) -> Conic:
        return geo_mean_form(self.size, self.c)
