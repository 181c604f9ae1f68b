"""The Poisson loss of a rate itself (identity link), l(z; b) = z - b + b log(b / z) for z > 0 and counts b >= 0.

It is the Kullback-Leibler divergence of b from z. Of b = 0 it is z for z >= 0. l' = 1 - b / z.
Conjugate: -b log(1 - u) for u < 1 (0 for u <= 1 where b = 0), inf elsewhere. Infimum 0 at z = b.
Prox: the positive root of z^2 - c z - t b with c = v - t, in the form without cancellation.
"""

import math

import numpy as np

from ..arrays import bisected
from ..base import Array
from ..conic import Conic, ConicRow, ConicTriple, by_entries
from ..loss import Loss


class PoissonRate(Loss):
    """z - b + b log(b / z)."""

    name = "poisson_rate"
    smoothness = None
    has_domain = True
    nanoseconds = 9.0

    @staticmethod
    def ends_open(p):
        """The conjugate is infinite at 1 where b > 0."""
        return False, True

    @staticmethod
    def size_naive(b: Array, p: Array) -> Array:
        """b, the size of its terms."""
        return b

    @staticmethod
    def tangent(z, b, p):
        if z > 0.0:
            return (z - b + b * math.log(b / z), 1.0 - b / z) if b > 0.0 else (z, 1.0)
        return (0.0, 1.0) if z == 0.0 and b == 0.0 else (math.inf, -math.inf)

    @staticmethod
    def prox(v, t, b, p):
        c = v - t
        if t == 0.0 or b == 0.0:
            return max(c, 0.0)
        r = math.hypot(c, 2.0 * math.sqrt(t * b))
        return 0.5 * (c + r) if c >= 0.0 else 2.0 * t * b / (r - c)

    @staticmethod
    def conjugate(u, b, w, p):
        if b == 0.0:
            return 0.0 if u <= w else math.inf
        return -w * b * math.log1p(-u / w) if u < w else math.inf

    @staticmethod
    def value_naive(z: Array, b: Array, p: Array) -> Array:
        """z - b + b log(b / z), inf outside of the domain."""
        with np.errstate(divide="ignore", invalid="ignore"):
            value = np.where(b > 0.0, z - b + b * np.log(b / z), z)
        return np.where((z > 0.0) | ((z == 0.0) & (b == 0.0)), value, np.inf)

    @staticmethod
    def gradient_naive(z: Array, b: Array, p: Array) -> Array:
        """1 - b / z, -inf outside of the domain."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where((z > 0.0) | ((z == 0.0) & (b == 0.0)), np.where(b > 0.0, 1.0 - b / z, 1.0), -np.inf)

    @staticmethod
    def conjugate_naive(u: Array, b: Array, p: Array) -> Array:
        """-b log(1 - u)."""
        with np.errstate(divide="ignore", invalid="ignore"):
            value = np.where(b > 0.0, -b * np.log1p(-u), 0.0)
        return np.where((u < 1.0) | ((b == 0.0) & (u <= 1.0)), value, np.inf)

    @staticmethod
    def prox_naive(v: Array, t: Array, b: Array, p: Array) -> Array:
        """The root of z - v + t (1 - b / z), by bisection on log z; where b = 0 the positive part of v - t."""
        lo, hi = np.full_like(v, -800.0), np.full_like(v, 800.0)
        step, count = np.where(t > 0.0, t, 1.0), np.where(b > 0.0, b, 1.0)
        with np.errstate(over="ignore", invalid="ignore"):
            s = bisected(lambda s: np.exp(s) - v + step * (1.0 - count * np.exp(-s)) > 0.0, lo, hi)
        return np.where((t > 0.0) & (b > 0.0), np.exp(np.minimum(s, 709.0)), np.maximum(v - t, 0.0))

    @staticmethod
    def dual_bounds_naive(b: Array, p: Array) -> tuple[Array, Array]:
        """(-inf, 1], open at 1 where b > 0."""
        return np.full_like(b, -np.inf), np.ones_like(b)

    @staticmethod
    def conic(b: Array, w: Array, p: Array) -> Conic:
        """b exp(-u) <= z at the price b u, and z - b; where b = 0, z >= 0 at the price z."""
        rows = (
            ConicRow(0.0, (-1.0,), 0.0),
            ConicRow(0.0, (0.0,), 1.0),
            ConicRow(1.0 / np.where(b > 0.0, b, 1.0), (0.0,), 0.0),
        )
        live, empty = np.where(b > 0.0, w, 0.0), np.where(b > 0.0, 0.0, w)
        logarithms = by_entries(
            b.size, (), ((0.0, b),), slope=1.0, constant=-b, weights=live, triples=(ConicTriple(rows),)
        )
        return logarithms + by_entries(b.size, (ConicRow(1.0, (), 0.0),), slope=1.0, weights=empty)
