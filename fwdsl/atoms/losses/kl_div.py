"""The Kullback-Leibler divergence of a number from a constant, l(z; b) = z log(z / b) - z + b for z >= 0 and b >= 0; of b = 0 only z = 0 is finite.

l' = log(z / b). Conjugate: b (exp(u) - 1), everywhere. Infimum 0 at z = b. Prox: z + t log(z / b) = v, so z = t omega(v / t + log(b / t)) with the
Wright omega function, omega + log omega = x.
"""

import math

import numpy as np

from ..base import Array
from ..conic import Conic, ConicRow, ConicTriple, by_entries
from ..elementary import omega, wright
from ..loss import Loss


class KullbackLeibler(Loss):
    """z log(z / b) - z + b."""

    name = "kl_div"
    smoothness = None
    has_domain = True
    nanoseconds = 9.0

    @staticmethod
    def domain_naive(b: Array, p: Array) -> tuple[Array, Array]:
        """[0, inf), or 0 alone."""
        return np.zeros_like(b), np.where(b > 0.0, np.inf, 0.0)

    @staticmethod
    def tangent(z, b, p):
        if z < 0.0 or (b == 0.0 and z > 0.0):
            return math.inf, math.copysign(math.inf, z)
        if z == 0.0:
            return b, -math.inf if b > 0.0 else 0.0
        s = math.log(z / b)
        return z * s - z + b, s

    @staticmethod
    def prox(v, t, b, p):
        if b == 0.0:
            return 0.0
        return t * wright(v / t + math.log(b / t)) if t > 0.0 else max(v, 0.0)

    @staticmethod
    def conjugate(u, b, w, p):
        return w * b * math.expm1(u / w) if b > 0.0 else 0.0

    @staticmethod
    def value_naive(z: Array, b: Array, p: Array) -> Array:
        """z log(z / b) - z + b, inf outside of the domain; b at 0."""
        with np.errstate(divide="ignore", invalid="ignore"):
            inside = np.where(z > 0.0, z * np.log(z / b) - z + b, b)
        return np.where((z < 0.0) | ((b == 0.0) & (z > 0.0)), np.inf, inside)

    @staticmethod
    def gradient_naive(z: Array, b: Array, p: Array) -> Array:
        """log(z / b), infinite outside of the domain."""
        with np.errstate(divide="ignore", invalid="ignore"):
            inside = np.log(np.maximum(z, 0.0) / b)
        return np.where(b == 0.0, np.where(z > 0.0, np.inf, np.where(z < 0.0, -np.inf, 0.0)), inside)

    @staticmethod
    def conjugate_naive(u: Array, b: Array, p: Array) -> Array:
        """b (exp(u) - 1)."""
        with np.errstate(over="ignore", invalid="ignore"):
            return np.where(b > 0.0, b * np.expm1(u), 0.0)

    @staticmethod
    def prox_naive(v: Array, t: Array, b: Array, p: Array) -> Array:
        """t omega(v / t + log(b / t))."""
        with np.errstate(divide="ignore", invalid="ignore"):
            live = (t > 0.0) & (b > 0.0)
            x = np.where(live, v / t + np.log(b) - np.log(t), 0.0)
        return np.where(b == 0.0, 0.0, np.where(live, t * omega(x), np.maximum(v, 0.0)))

    @staticmethod
    def dual_bounds_naive(b: Array, p: Array) -> tuple[Array, Array]:
        return np.full_like(b, -np.inf), np.full_like(b, np.inf)

    @staticmethod
    def conic(b: Array, w: Array, p: Array) -> Conic | None:
        """z exp(-u / z) <= b at the price u, less z; None where b = 0 leaves one point, and the cone no inside."""
        if np.any((b == 0.0) & (w > 0.0)):
            return None
        rows = (ConicRow(0.0, (-1.0,), 0.0), ConicRow(1.0, (0.0,), 0.0), ConicRow(0.0, (0.0,), b))
        return by_entries(b.size, (), ((0.0, 1.0),), slope=-1.0, constant=b, weights=w, triples=(ConicTriple(rows),))
