"""-c prod x_i^(a_i) on x >= 0, the negative of the concave geometric mean with shares a_i >= 0 of sum 1, all 1/n without weights; no infimum.

Conjugate: the indicator of {v <= 0 : the product of (-v_i / (c a_i))^(a_i) is at least 1}, which does not hold 0. Prox: where v / t is in that set 0,
else x_i = (v_i + (v_i^2 + 4 t c a_i m)^(1/2)) / 2 at the m that is the geometric mean of these x: log m less the mean of their logarithms rises
in log m. Entries without a share see x >= 0 alone.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..base import Array, VectorFunction
from ..conic import Conic, geo_mean_form
from .common import checked_coefficient, largest_share
from .nonnegative import Nonnegative

MOST_STEPS = 200
LEAST = -700.0
"""The logarithm of a mean that is as good as 0."""


def geo_mean(x: Array, shares: Array) -> float:
    """prod x_i^(a_i) over the entries with a share; 0 where one of them is not positive, and for no entries."""
    live = shares > 0.0
    if not live.any() or float(x[live].min()) <= 0.0:
        return 0.0
    return float(math.exp(float(shares[live] @ np.log(x[live]))))


def shares_of(weights: Any, size: int) -> Array:
    """Weights over their sum. Raises `ValueError` where one is negative or not finite, or all are 0."""
    if weights is None:
        return np.full(size, 1.0 / max(1, size))
    w = np.asarray(weights, dtype=np.float64).reshape(-1)
    if w.size != size:
        raise ValueError(f"there are {w.size} weights for {size} entries of a geometric mean")
    if not np.isfinite(w).all() or w.min(initial=0.0) < 0.0 or (size and not w.max() > 0.0):
        raise ValueError("the weights of a geometric mean are finite, not negative, and not all 0")
    found: Array = w / w.max() if size else w
    return found / found.sum() if size else found


@dataclass(frozen=True, eq=False)
class GeoMean(VectorFunction):
    """`-c * geo_mean`, whose domain is x >= 0."""

    size: int
    c: float
    weights: Any = None
    shares: Array = field(init=False)

    pair = ("geo_mean", None)
    polyhedral = False
    entrywise = True
    compiled = False
    prox_kernel = None  # type: ignore[assignment]

    def __post_init__(self) -> None:
        object.__setattr__(self, "c", checked_coefficient(self.c))
        object.__setattr__(self, "shares", shares_of(self.weights, self.size))

    @property
    def permutable(self) -> bool:  # type: ignore[override]
        """True where all shares are equal."""
        return self.weights is None

    def radius(self) -> float:
        return math.inf if self.size else 0.0

    def describe(self) -> str:
        return f"-{self.c:g} * geo_mean"

    @property
    def slope(self) -> float:
        return self.c

    def value(self, x: Array) -> float:
        """-c times the mean, that of the positive parts."""
        return 0.0 - self.c * geo_mean(x, self.shares)

    def set_beneath(self) -> VectorFunction:
        return Nonnegative(self.size)

    def violation(self, x: Array, sizes: Array | None = None) -> float:
        return largest_share(-x, self.own_sizes(x) if sizes is None else sizes)

    def sinks(self, d: Array) -> bool:
        """True if some entries with a share grow and none of all falls: the mean of positive entries grows as a power of s below 1."""
        live = self.shares > 0.0
        return bool(self.c > 0.0 and d.size and d.min() >= 0.0 and d[live].any())

    @property
    def has_faces(self) -> bool:
        """False: it is curved."""
        return False

    def coercive(self) -> tuple[float, str] | None:
        """None: it falls without end."""
        return None

    def prox(self, v: Array, t: float) -> Array:
        """Halving for log m."""
        s = t * self.c
        if not self.size or s == 0.0 or self._dual_mean(v, s) >= 1.0:
            return np.maximum(v, 0.0)
        live = self.shares > 0.0
        if not live.all():
            inner = GeoMean(int(live.sum()), self.c, self.shares[live]).prox(v[live], t)
            out = np.maximum(v, 0.0)
            out[live] = inner
            return out
        a = self.shares
        peak = float(np.abs(v).max()) + s
        v, sizes = v / peak, a * (s / peak)

        def entries(log_m: float) -> Array:
            root = np.hypot(v, 2.0 * np.sqrt(sizes) * math.exp(0.5 * log_m))
            away = np.where(v < 0.0, root - v, 1.0)
            return np.where(v >= 0.0, 0.5 * (v + root), 2.0 * sizes * math.exp(log_m) / away)

        # each x_i is at most max(v_i, 0) + (s a_i m)^(1/2), with v and s at most 1 in all
        low, high = LEAST, 1.0
        for _ in range(MOST_STEPS):
            middle = 0.5 * (low + high)
            if not low < middle < high:
                break
            with np.errstate(divide="ignore"):
                over = float(a @ np.log(entries(middle))) > middle
            low, high = (middle, high) if over else (low, middle)
        return peak * entries(high) if high > 0.5 * LEAST else np.maximum(peak * v, 0.0)

    def _dual_mean(self, v: Array, c: float) -> float:
        """The product of (-v_i / (c a_i))^(a_i); 0 where an entry with a share is not negative."""
        live = self.shares > 0.0
        return geo_mean(-v[live] / (c * self.shares[live]), self.shares[live])

    def _inside(self, v: Array) -> bool:
        return not self.size or (float(v.max()) <= 0.0 and self._dual_mean(v, self.c) >= 1.0)

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
        u = np.minimum(u, np.where(self.shares > 0.0, -np.finfo(np.float64).tiny, 0.0))
        step = float(np.finfo(np.float64).eps)
        while not self._inside(u) and step < 1e300:
            u = u * (1.0 + step)
            step *= 2.0
        return u

    def conic(self) -> Conic:
        return geo_mean_form(self.shares, self.c)
