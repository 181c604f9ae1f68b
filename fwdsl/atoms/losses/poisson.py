"""The Poisson loss, l(z; c) = exp(z) - c z for counts c >= 0.

l' = exp(z) - c, l'' = exp(z), which no constant bounds. Conjugate: with s = u + c >= 0, l*(u) = s log s - s (0 log 0 = 0), inf elsewhere.
Infimum c - c log c, at z = log c (0, not attained, for c = 0).
Prox: z + t exp(z) = a with a = v + t c, so omega = t exp(z) solves omega + log omega = x with x = a + log t: the Wright omega
function, by the iteration of Fritsch, Shafer and Crowley (1973), of fourth order; then z = a - omega = log omega - log t.
"""

import math

import numpy as np

from ..base import Array
from ..elementary import wright
from ..loss import Loss


class Poisson(Loss):
    """exp(z) - c z."""

    name = "poisson"
    smoothness = math.inf
    nanoseconds = 9.0

    @staticmethod
    def value(z, b, w, p):
        total = 0.0
        for j in range(z.size):
            total += w[j] * (math.exp(z[j]) - b[j] * z[j])
        return total

    @staticmethod
    def value_gradient(z, b, w, p, out):
        total = 0.0
        for j in range(z.size):
            e = math.exp(z[j])
            total += w[j] * (e - b[j] * z[j])
            out[j] = w[j] * (e - b[j])
        return total

    @staticmethod
    def curvature(z, b, w, p, out):
        for j in range(z.size):
            out[j] = w[j] * math.exp(z[j])

    @staticmethod
    def prox(v, t, b, w, p, out):
        for j in range(v.size):
            step = t * w[j]
            a = v[j] + step * b[j]
            if step == 0.0:
                out[j] = v[j]
                continue
            omega = wright(a + math.log(step))
            # the form without cancellation
            out[j] = math.log(omega) - math.log(step) if omega > 1.0 else a - omega

    @staticmethod
    def conjugate(y, b, w, p):
        total = 0.0
        for j in range(y.size):
            s = y[j] + w[j] * b[j]
            if s < 0.0 or (w[j] == 0.0 and s > 0.0):
                return math.inf
            if s > 0.0:
                total += s * (math.log(s / w[j]) - 1.0)
        return total

    @staticmethod
    def value_naive(z: Array, b: Array, p: Array) -> Array:
        """exp(z) - b z."""
        with np.errstate(over="ignore"):
            return np.exp(z) - b * z

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
        """Bisection on z - v + t (exp(z) - b) = 0, whose root lies between v and the minimiser log b of the loss, or left of v for b = 0."""
        with np.errstate(divide="ignore", over="ignore"):
            target = np.where(b > 0.0, np.log(b), v - t * np.exp(np.minimum(v, 700.0)))
        lo, hi = np.minimum(v, target), np.maximum(v, target)
        for _ in range(1100):
            z = 0.5 * (lo + hi)
            with np.errstate(over="ignore"):
                high = (z - v) + t * (np.exp(z) - b) > 0.0
            lo, hi = np.where(high, lo, z), np.where(high, z, hi)
        return 0.5 * (lo + hi)

    @staticmethod
    def dual_bounds_naive(b: Array, p: Array) -> tuple[Array, Array]:
        """[-b, inf)."""
        return -b, np.full_like(b, np.inf)
