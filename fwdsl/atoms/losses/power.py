"""Powers of nonnegative numbers: l(z) = z^p for p >= 1 and for p < 0, and -z^p for 0 < p < 1, where the function `power` is concave.

It is finite for z >= 0, for p < 0 for z > 0. With q = p / (p - 1) and s = |u| / |p| the conjugate is (p - 1) s^q for p > 1 and u > 0 (0 for u <= 0),
-(1 - p) s^q for p < 0 and u <= 0, (1 - p) s^q for 0 < p < 1 and u < 0, and inf elsewhere.

Prox: the root of z + a z^(p - 1) = v with a = t p for p > 1, by Newton's method from the right on this function of z (p >= 2) or of
z^(p - 1), both convex; for p < 1 that of z - v = c z^(-m) with c = t |p|, m = 1 - p: by Newton's method from the left for v >= 0, where
it is concave in z, and from the right for v < 0 on the logarithms of its sides, where log(z + |v|) + m log z is convex in log z.
"""

import math

import numpy as np

from ..arrays import bisected
from ..base import Array
from ..conic import Conic, ConicRow, ConicTriple, by_entries
from ..elementary import positive_root, root_of_power
from ..loss import Loss


class Power(Loss):
    """z^p, or -z^p where that is convex."""

    name = "power"
    smoothness = None
    has_domain = True
    nanoseconds = 20.0

    @staticmethod
    def ends_open(p):
        """The conjugate of -z^p is infinite at 0."""
        return False, 0.0 < p[0] < 1.0

    @staticmethod
    def tangent(z, b, p):
        e = p[0]
        if z < 0.0 or (z == 0.0 and e < 0.0):
            return math.inf, -math.inf
        sign = -1.0 if 0.0 < e < 1.0 else 1.0
        if z == 0.0:
            return 0.0, 0.0 if e > 1.0 else 1.0 if e == 1.0 else -math.inf
        y = math.exp(e * math.log(z))
        return sign * y, sign * e * (y / z)

    @staticmethod
    def prox(v, t, b, p):
        e = p[0]
        if t == 0.0:
            return max(v, 0.0)
        if e == 1.0:
            return max(v - t, 0.0)
        if e > 1.0:
            return root_of_power(v, t * e, e) if v > 0.0 else 0.0
        return positive_root(v, t * abs(e), 1.0 - e)

    @staticmethod
    def conjugate(u, b, w, p):
        e = p[0]
        if e == 1.0:
            return 0.0 if u <= w else math.inf
        if e > 1.0:
            return (e - 1.0) * w * math.exp(e / (e - 1.0) * math.log(u / (w * e))) if u > 0.0 else 0.0
        if u >= 0.0:
            return 0.0 if u == 0.0 and e < 0.0 else math.inf
        y = (1.0 - e) * w * math.exp(e / (e - 1.0) * math.log(-u / (w * abs(e))))
        return y if e > 0.0 else -y

    @staticmethod
    def value_naive(z: Array, b: Array, p: Array) -> Array:
        """z^p or -z^p, inf outside of the domain."""
        sign = -1.0 if 0.0 < p[0] < 1.0 else 1.0
        with np.errstate(divide="ignore", over="ignore"):
            return np.where(z >= 0.0, sign * np.power(np.maximum(z, 0.0), p[0]), np.inf)

    @staticmethod
    def gradient_naive(z: Array, b: Array, p: Array) -> Array:
        """p z^(p - 1) or its negative, -inf outside of the domain."""
        sign = -1.0 if 0.0 < p[0] < 1.0 else 1.0
        with np.errstate(divide="ignore", over="ignore"):
            return np.where(z >= 0.0, sign * p[0] * np.power(np.maximum(z, 0.0), p[0] - 1.0), -np.inf)

    @staticmethod
    def conjugate_naive(u: Array, b: Array, p: Array) -> Array:
        """The formula of each range of p."""
        e = float(p[0])
        if e == 1.0:
            return np.where(u <= 1.0, 0.0, np.inf)
        q = e / (e - 1.0)
        with np.errstate(divide="ignore", over="ignore"):
            if e > 1.0:
                return (e - 1.0) * np.power(np.maximum(u, 0.0) / e, q)
            y = (1.0 - e) * np.power(np.maximum(-u, 0.0) / abs(e), q)
        return np.where(u <= 0.0, y if e > 0.0 else -y, np.inf)

    @staticmethod
    def prox_naive(v: Array, t: Array, b: Array, p: Array) -> Array:
        """The root of z - v + t l'(z), by bisection on log z; 0 where l' at 0 is above (v - z) / t."""
        e = float(p[0])
        sign = -1.0 if 0.0 < e < 1.0 else 1.0
        lo, hi = np.full_like(v, -800.0), np.full_like(v, 800.0)
        step = np.where(t > 0.0, t, 1.0)
        with np.errstate(over="ignore", invalid="ignore"):
            s = bisected(lambda s: np.exp(s) - v + step * sign * e * np.exp((e - 1.0) * s) > 0.0, lo, hi)
        z = np.exp(np.minimum(s, 709.0))
        ends = v - t <= 0.0 if e == 1.0 else v <= 0.0 if e > 1.0 else np.zeros(v.shape, dtype=bool)
        return np.where(t > 0.0, np.where(ends, 0.0, z), np.maximum(v, 0.0))

    @staticmethod
    def dual_bounds_naive(b: Array, p: Array) -> tuple[Array, Array]:
        """Every number for p > 1, (-inf, 1] for p = 1, (-inf, 0] for p < 1, open at 0 where p > 0."""
        most = math.inf if p[0] > 1.0 else 1.0 if p[0] == 1.0 else 0.0
        return np.full_like(b, -np.inf), np.full_like(b, most)

    @staticmethod
    def conic(b: Array, w: Array, p: Array) -> Conic:
        """z <= u^(1 / p), z >= 0 at the price u for p > 1; 1 <= u^s z^(1 - s), s = 1 / (1 - p), for p < 0; u <= z^p at the price -u for 0 < p < 1."""
        e = float(p[0])
        inside = ConicRow(1.0, (0.0,), 0.0)
        if e == 1.0:
            return by_entries(b.size, (ConicRow(1.0, (), 0.0),), slope=1.0, weights=w)
        pieces: tuple[ConicRow, ...] = ()
        own, whole, z = ConicRow(0.0, (1.0,), 0.0), ConicRow(0.0, (0.0,), 1.0), inside
        if e > 1.0:
            rows, share, pieces = (own, whole, z), 1.0 / e, (inside,)
        elif e < 0.0:
            rows, share = (own, z, whole), 1.0 / (1.0 - e)
        else:
            rows, share = (z, whole, own), e
        price = -1.0 if 0.0 < e < 1.0 else 1.0
        return by_entries(b.size, pieces, ((0.0, price),), weights=w, triples=(ConicTriple(rows, "power", share),))
