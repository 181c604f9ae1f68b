"""The Tweedie loss with the logarithm as link, l(z; b) = b exp(-a z) / a + exp((1 - a) z) / (1 - a) for b >= 0.

1 + a is the power of the variance, 0 < a < 1. It is the negative likelihood of b with mean exp(z), but for a factor and what b alone decides
(Dunn, Smyth 2005).
l' = exp((1 - a) z) - b exp(-a z), which rises from -inf (0 for b = 0) to inf. Infimum b^(1 - a) / (a (1 - a)) at z = log b. The conjugate is
u z - l(z) at the z with l'(z) = u, the prox the root of z - v + t l'(z): both by Newton's method in a bracket.
"""

import math

import numpy as np

from ..arrays import bisected
from ..base import Array
from ..conic import Conic, ConicRow, ConicTriple, by_entries
from ..elementary import rising_root
from ..loss import Loss


class Tweedie(Loss):
    """b exp(-a z) / a + exp((1 - a) z) / (1 - a) with a = power - 1."""

    name = "tweedie_loss"
    smoothness = math.inf
    nanoseconds = 20.0

    @staticmethod
    def tangent(z, b, p):
        a = p[0] - 1.0
        down = b * math.exp(-a * z) if b > 0.0 else 0.0
        up = math.exp((1.0 - a) * z)
        return down / a + up / (1.0 - a), up - down

    @staticmethod
    def curvature(z, b, p):
        a = p[0] - 1.0
        return (1.0 - a) * math.exp((1.0 - a) * z) + (a * b * math.exp(-a * z) if b > 0.0 else 0.0)

    @staticmethod
    def prox(v, t, b, p):
        return rising_root(v, t, b, p[0] - 1.0, 1.0) if t > 0.0 else v

    @staticmethod
    def conjugate(u, b, w, p):
        a, s = p[0] - 1.0, u / w
        if b == 0.0:
            if s <= 0.0:
                return 0.0 if s == 0.0 else math.inf
            return u * (math.log(s) - 1.0) / (1.0 - a)
        z = rising_root(s, 1.0, b, a, 0.0)
        return w * (s * z - b * math.exp(-a * z) / a - math.exp((1.0 - a) * z) / (1.0 - a))

    @staticmethod
    def value_naive(z: Array, b: Array, p: Array) -> Array:
        """b exp(-a z) / a + exp((1 - a) z) / (1 - a)."""
        a = p[0] - 1.0
        with np.errstate(over="ignore", invalid="ignore"):
            return np.asarray(np.where(b > 0.0, b * np.exp(-a * z), 0.0) / a + np.exp((1.0 - a) * z) / (1.0 - a))

    @staticmethod
    def target_naive(z: Array) -> Array:
        """exp(z), the mean of the targets."""
        with np.errstate(over="ignore"):
            return np.exp(z)

    @staticmethod
    def gradient_naive(z: Array, b: Array, p: Array) -> Array:
        """exp((1 - a) z) - b exp(-a z)."""
        a = p[0] - 1.0
        with np.errstate(over="ignore", invalid="ignore"):
            return np.asarray(np.exp((1.0 - a) * z) - np.where(b > 0.0, b * np.exp(-a * z), 0.0))

    @staticmethod
    def conjugate_naive(u: Array, b: Array, p: Array) -> Array:
        """u z - l(z) at the z with l'(z) = u; of b = 0 (u log u - u) / (1 - a)."""
        a = float(p[0] - 1.0)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            zero = np.where(u > 0.0, (u * np.log(u) - u) / (1.0 - a), np.where(u == 0.0, 0.0, np.inf))
            # exp((1 - a) z) is at least u at the root, and at most u + b where z <= 0; b exp(-a z) likewise
            hi = np.log(np.maximum(u + b, 1.0)) / (1.0 - a)
            lo = np.where(b > 0.0, -np.log(np.maximum((1.0 - u) / b, 1.0)) / a, 0.0)
            z = bisected(lambda z: Tweedie.gradient_naive(z, b, p) > u, np.minimum(lo, hi), np.maximum(lo, hi))
            return np.asarray(np.where(b > 0.0, u * z - Tweedie.value_naive(z, b, p), zero))

    @staticmethod
    def prox_naive(v: Array, t: Array, b: Array, p: Array) -> Array:
        """The root of z - v + t l'(z), which lies between v and the minimiser log b of the loss, or left of v for b = 0."""
        a = p[0] - 1.0
        with np.errstate(divide="ignore", over="ignore"):
            end = np.where(b > 0.0, np.log(b), v - t * np.exp(np.minimum((1.0 - a) * v, 700.0)))
        with np.errstate(over="ignore", invalid="ignore"):
            return bisected(
                lambda z: z - v + t * Tweedie.gradient_naive(z, b, p) > 0.0, np.minimum(v, end), np.maximum(v, end)
            )

    @staticmethod
    def infimum_naive(b: Array, p: Array) -> Array:
        """The closed form, which keeps more digits than the conjugate at 0."""
        a = p[0] - 1.0
        return np.asarray(b ** (1.0 - a) / (a * (1.0 - a)))

    @staticmethod
    def dual_bounds_naive(b: Array, p: Array) -> tuple[Array, Array]:
        """Every number, [0, inf) for b = 0."""
        return np.where(b > 0.0, -np.inf, 0.0), np.full_like(b, np.inf)

    @staticmethod
    def conic(b: Array, w: Array, p: Array) -> Conic:
        """exp(-a z) <= u at the price b u / a, and exp((1 - a) z) <= v at the price v / (1 - a)."""
        a = float(p[0] - 1.0)
        whole, above = ConicRow(0.0, (0.0,), 1.0), ConicRow(0.0, (1.0,), 0.0)
        falling = ConicTriple((ConicRow(-a, (0.0,), 0.0), whole, above))
        rising = ConicTriple((ConicRow(1.0 - a, (0.0,), 0.0), whole, above))
        live = np.where(b > 0.0, w, 0.0)
        return by_entries(b.size, (), ((0.0, b / a),), weights=live, triples=(falling,)) + by_entries(
            b.size, (), ((0.0, 1.0 / (1.0 - a)),), weights=w, triples=(rising,)
        )
