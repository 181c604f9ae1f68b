"""The gamma loss with the logarithm as link, l(z; b) = z + b exp(-z) for b >= 0: the likelihood of b with mean exp(z), but for the shape.

Of exponentially distributed b it is the likelihood itself. l' = 1 - b exp(-z), l'' = b exp(-z), which no constant bounds. With s = 1 - u >= 0 the
conjugate is s log(s / b) - s (0 log 0 = 0), inf elsewhere; of b = 0 it is 0 at u = 1. Infimum 1 + log b, at z = log b.
Prox: z = a + omega with a = v - t, where omega = t b exp(-z) solves omega + log omega = log(t b) - a: the Wright omega function.
"""

import math

import numpy as np

from ..base import Array
from ..conic import Conic, ConicRow, ConicTriple, by_entries
from ..elementary import omega, wright
from ..loss import Loss


class Gamma(Loss):
    """z + b exp(-z)."""

    name = "gamma_loss"
    smoothness = math.inf
    nanoseconds = 9.0

    @staticmethod
    def tangent(z, b, p):
        e = b * math.exp(-z)
        return z + e, 1.0 - e

    @staticmethod
    def curvature(z, b, p):
        return b * math.exp(-z)

    @staticmethod
    def prox(v, t, b, p):
        a = v - t
        if t * b == 0.0:
            return a
        shift = math.log(t * b)
        w = wright(shift - a)
        # the form without cancellation
        return shift - math.log(w) if w > 1.0 else a + w

    @staticmethod
    def conjugate(u, b, w, p):
        s = w - u
        if b == 0.0:
            return 0.0 if s == 0.0 else math.inf
        return s * (math.log(s / (w * b)) - 1.0) if s > 0.0 else 0.0 if s == 0.0 else math.inf

    @staticmethod
    def value_naive(z: Array, b: Array, p: Array) -> Array:
        """z + b exp(-z)."""
        with np.errstate(over="ignore", invalid="ignore"):
            return z + np.where(b > 0.0, b * np.exp(-z), 0.0)

    @staticmethod
    def target_naive(z: Array) -> Array:
        """exp(z), the mean of the targets."""
        with np.errstate(over="ignore"):
            return np.exp(z)

    @staticmethod
    def gradient_naive(z: Array, b: Array, p: Array) -> Array:
        """1 - b exp(-z)."""
        with np.errstate(over="ignore", invalid="ignore"):
            return 1.0 - np.where(b > 0.0, b * np.exp(-z), 0.0)

    @staticmethod
    def conjugate_naive(u: Array, b: Array, p: Array) -> Array:
        """s log(s / b) - s with s = 1 - u >= 0."""
        s = 1.0 - u
        with np.errstate(divide="ignore", invalid="ignore"):
            inside = np.where(s > 0.0, np.where(b > 0.0, s * (np.log(s / b) - 1.0), np.inf), 0.0)
        return np.where(s >= 0.0, inside, np.inf)

    @staticmethod
    def prox_naive(v: Array, t: Array, b: Array, p: Array) -> Array:
        """a + omega(log(t b) - a) with a = v - t."""
        a = v - t
        with np.errstate(divide="ignore"):
            shift = np.where(t * b > 0.0, np.log(t * b), 0.0)
        w = omega(shift - a)
        with np.errstate(divide="ignore"):
            return np.where(t * b > 0.0, np.where(w > 1.0, shift - np.log(w), a + w), a)

    @staticmethod
    def dual_bounds_naive(b: Array, p: Array) -> tuple[Array, Array]:
        """(-inf, 1], 1 alone for b = 0."""
        return np.where(b > 0.0, -np.inf, 1.0), np.ones_like(b)

    @staticmethod
    def conic(b: Array, w: Array, p: Array) -> Conic:
        """exp(-z) <= u at the price b u, and z."""
        rows = (ConicRow(-1.0, (0.0,), 0.0), ConicRow(0.0, (0.0,), 1.0), ConicRow(0.0, (1.0,), 0.0))
        live = np.where(b > 0.0, w, 0.0)
        exponentials = by_entries(b.size, (), ((0.0, b),), weights=live, triples=(ConicTriple(rows),))
        return exponentials + by_entries(b.size, slope=1.0, weights=w)
