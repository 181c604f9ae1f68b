"""The Poisson loss, l(z; c) = exp(z) - c z for counts c >= 0.

l' = exp(z) - c, l'' = exp(z), which no constant bounds. Conjugate: with s = u + c >= 0, l*(u) = s log s - s (0 log 0 = 0), inf elsewhere.
Infimum c - c log c, at z = log c (0, not attained, for c = 0).
Prox: z + t exp(z) = a with a = v + t c, so omega = t exp(z) solves omega + log omega = x with x = a + log t: the Wright omega
function, by the iteration of Fritsch, Shafer and Crowley (1973), of fourth order; then z = a - omega = log omega - log t.
"""

import math

import numpy as np

from ..arrays import ROUNDING
from ..base import Array
from ..conic import Conic, ConicRow, ConicTriple, by_entries
from ..elementary import omega, wright
from ..loss import Loss


class Poisson(Loss):
    """exp(z) - c z."""

    name = "poisson"
    smoothness = math.inf
    nanoseconds = 9.0

    @staticmethod
    def with_cost(b, c):
        counts = b - c
        return np.where(counts >= -ROUNDING * (b + np.abs(c)), np.maximum(counts, 0.0), np.nan)

    @staticmethod
    def tangent(z, b, p):
        e = math.exp(z)
        return e - b * z, e - b

    @staticmethod
    def curvature(z, b, p):
        return math.exp(z)

    @staticmethod
    def prox(v, t, b, p):
        if t == 0.0:
            return v
        a = v + t * b
        omega = wright(a + math.log(t))
        # the form without cancellation
        return math.log(omega) - math.log(t) if omega > 1.0 else a - omega

    @staticmethod
    def conjugate(u, b, w, p):
        s = u + w * b
        return s * (math.log(s / w) - 1.0) if s > 0.0 else 0.0 if s == 0.0 else math.inf

    @staticmethod
    def value_naive(z: Array, b: Array, p: Array) -> Array:
        """exp(z) - b z."""
        with np.errstate(over="ignore"):
            return np.exp(z) - b * z

    @staticmethod
    def target_naive(z: Array) -> Array:
        """exp(z), the mean of the counts."""
        with np.errstate(over="ignore"):
            return np.exp(z)

    @staticmethod
    def gradient_naive(z: Array, b: Array, p: Array) -> Array:
        """exp(z) - b."""
        with np.errstate(over="ignore"):
            return np.exp(z) - b

    @staticmethod
    def conjugate_naive(u: Array, b: Array, p: Array) -> Array:
        """s log s - s with s = u + b >= 0."""
        s = u + b
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(s > 0.0, s * np.log(s) - s, np.where(s == 0.0, 0.0, np.inf))

    @staticmethod
    def prox_naive(v: Array, t: Array, b: Array, p: Array) -> Array:
        """a - omega(a + log t) with a = v + t b, in the form without cancellation; v where t = 0."""
        a, live = v + t * b, t > 0.0
        log_t = np.log(np.where(live, t, 1.0))
        found = omega(a + log_t)
        with np.errstate(divide="ignore"):
            z = np.where(found > 1.0, np.log(found) - log_t, a - found)
        return np.where(live, z, v)

    @staticmethod
    def dual_bounds_naive(b: Array, p: Array) -> tuple[Array, Array]:
        """[-b, inf)."""
        return -b, np.full_like(b, np.inf)

    @staticmethod
    def conic(b: Array, w: Array, p: Array) -> Conic:
        """exp(z) <= u at the price u, less b z."""
        rows = (ConicRow(1.0, (0.0,), 0.0), ConicRow(0.0, (0.0,), 1.0), ConicRow(0.0, (1.0,), 0.0))
        return by_entries(b.size, (), ((0.0, 1.0),), slope=-b, weights=w, triples=(ConicTriple(rows),))
