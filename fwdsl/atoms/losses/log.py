"""The negative logarithm, l(z) = -log z for z > 0: the function `log` is concave, and the loss its negative.

l' = -1/z, l'' = 1/z^2, which no constant bounds. Conjugate: l*(u) = -1 - log(-u) for u < 0, inf elsewhere; no infimum.
Prox: the positive root of z^2 - v z - t = 0, (v + r) / 2 or, where v < 0, 2 t / (r - v), with r = sqrt(v^2 + 4 t): without cancellation.
"""

import math

import numpy as np

from ..arrays import bisected
from ..base import Array
from ..conic import Conic, ConicRow, ConicTriple, by_entries
from ..loss import Loss


class Log(Loss):
    """-log(z)."""

    name = "log"
    smoothness = None
    has_domain = True
    nanoseconds = 9.0

    @staticmethod
    def ends_open(p):
        """The conjugate is infinite at 0."""
        return False, True

    @staticmethod
    def tangent(z, b, p):
        return (-math.log(z), -1.0 / z) if z > 0.0 else (math.inf, -math.inf)

    @staticmethod
    def prox(v, t, b, p):
        if t == 0.0:
            return max(v, 0.0)
        r = math.hypot(v, 2.0 * math.sqrt(t))
        return 0.5 * (v + r) if v >= 0.0 else 2.0 * t / (r - v)

    @staticmethod
    def conjugate(u, b, w, p):
        return -w * (1.0 + math.log(-u / w)) if u < 0.0 else math.inf

    @staticmethod
    def value_naive(z: Array, b: Array, p: Array) -> Array:
        """-log(z), inf for z <= 0."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(z > 0.0, -np.log(z), np.inf)

    @staticmethod
    def gradient_naive(z: Array, b: Array, p: Array) -> Array:
        """-1 / z, -inf for z <= 0."""
        with np.errstate(divide="ignore"):
            return np.where(z > 0.0, -1.0 / z, -np.inf)

    @staticmethod
    def conjugate_naive(u: Array, b: Array, p: Array) -> Array:
        """-1 - log(-u) for u < 0."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(u < 0.0, -1.0 - np.log(-u), np.inf)

    @staticmethod
    def prox_naive(v: Array, t: Array, b: Array, p: Array) -> Array:
        """The root of z - v - t / z, by bisection on log z."""
        lo, hi = np.full_like(v, -800.0), np.full_like(v, 800.0)
        step = np.where(t > 0.0, t, 1.0)
        with np.errstate(over="ignore", invalid="ignore"):
            s = bisected(lambda s: np.exp(s) - v - step * np.exp(-s) > 0.0, lo, hi)
        return np.where(t > 0.0, np.exp(np.minimum(s, 709.0)), np.maximum(v, 0.0))

    @staticmethod
    def dual_bounds_naive(b: Array, p: Array) -> tuple[Array, Array]:
        """(-inf, 0), open at 0."""
        return np.full_like(b, -np.inf), np.zeros_like(b)

    @staticmethod
    def conic(b: Array, w: Array, p: Array) -> Conic:
        """exp(-u) <= z at the price u."""
        rows = (ConicRow(0.0, (-1.0,), 0.0), ConicRow(0.0, (0.0,), 1.0), ConicRow(1.0, (0.0,), 0.0))
        return by_entries(b.size, (), ((0.0, 1.0),), weights=w, triples=(ConicTriple(rows),))
