"""Powers of sizes, l(z) = |z|^p with p >= 1.

l' = p |z|^(p - 1) sign z. Conjugate: (p - 1) (|u| / p)^q with q = p / (p - 1) for p > 1; 0 for |u| <= 1, inf elsewhere, for p = 1.
Prox: the root of |z| + t p |z|^(p - 1) = |v|, with the sign of v.
"""

import math

import numpy as np

from ..arrays import bisected
from ..base import Array
from ..conic import Conic, ConicRow, ConicTriple, by_entries
from ..elementary import root_of_power
from ..loss import Loss


class AbsPower(Loss):
    """|z|^p."""

    name = "abs_power"
    smoothness = None
    nanoseconds = 20.0

    @staticmethod
    def tangent(z, b, p):
        r = abs(z)
        if r == 0.0:
            return 0.0, 0.0
        y = math.exp(p[0] * math.log(r))
        return y, math.copysign(p[0] * (y / r), z)

    @staticmethod
    def prox(v, t, b, p):
        if t == 0.0 or v == 0.0:
            return v
        if p[0] == 1.0:
            return math.copysign(max(abs(v) - t, 0.0), v)
        return math.copysign(root_of_power(abs(v), t * p[0], p[0]), v)

    @staticmethod
    def conjugate(u, b, w, p):
        e = p[0]
        if e == 1.0:
            return 0.0 if abs(u) <= w else math.inf
        return (e - 1.0) * w * math.exp(e / (e - 1.0) * math.log(abs(u) / (w * e))) if u != 0.0 else 0.0

    @staticmethod
    def value_naive(z: Array, b: Array, p: Array) -> Array:
        """|z|^p."""
        with np.errstate(over="ignore"):
            return np.asarray(np.power(np.abs(z), p[0]))

    @staticmethod
    def gradient_naive(z: Array, b: Array, p: Array) -> Array:
        """p |z|^(p - 1) sign z."""
        with np.errstate(over="ignore"):
            return np.asarray(p[0] * np.sign(z) * np.power(np.abs(z), p[0] - 1.0))

    @staticmethod
    def conjugate_naive(u: Array, b: Array, p: Array) -> Array:
        """(p - 1) (|u| / p)^q."""
        e = float(p[0])
        if e == 1.0:
            return np.where(np.abs(u) <= 1.0, 0.0, np.inf)
        with np.errstate(over="ignore"):
            return np.asarray((e - 1.0) * np.power(np.abs(u) / e, e / (e - 1.0)))

    @staticmethod
    def prox_naive(v: Array, t: Array, b: Array, p: Array) -> Array:
        """The root between 0 and |v| by bisection on its logarithm, with the sign of v."""
        e, size = float(p[0]), np.abs(v)
        lo, hi = np.full_like(v, -800.0), np.full_like(v, 800.0)
        step = np.where(t > 0.0, t, 1.0)
        with np.errstate(over="ignore", invalid="ignore"):
            s = bisected(lambda s: np.exp(s) - size + step * e * np.exp((e - 1.0) * s) > 0.0, lo, hi)
        z = np.where((e == 1.0) & (size <= t), 0.0, np.exp(np.minimum(s, 709.0)))
        return np.where((t > 0.0) & (size > 0.0), np.copysign(z, v), v)

    @staticmethod
    def dual_bounds_naive(b: Array, p: Array) -> tuple[Array, Array]:
        """Every number; [-1, 1] for p = 1."""
        most = math.inf if p[0] > 1.0 else 1.0
        return np.full_like(b, -most), np.full_like(b, most)

    @staticmethod
    def conic(b: Array, w: Array, p: Array) -> Conic:
        """|z| <= u^(1 / p) at the price u."""
        e = float(p[0])
        if e == 1.0:
            sides = (ConicRow(1.0, (1.0,), 0.0), ConicRow(-1.0, (1.0,), 0.0))
            return by_entries(b.size, sides, ((0.0, 1.0),), weights=w)
        rows = (ConicRow(0.0, (1.0,), 0.0), ConicRow(0.0, (0.0,), 1.0), ConicRow(1.0, (0.0,), 0.0))
        return by_entries(b.size, (), ((0.0, 1.0),), weights=w, triples=(ConicTriple(rows, "power", 1.0 / e),))
