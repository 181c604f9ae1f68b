"""The Huber loss: with r = z - b, r^2 / 2 for |r| <= delta, else delta (|r| - delta / 2); delta > 0.

l' = r cut at +- delta, l'' = 1 inside and 0 outside. Conjugate: l*(u) = u^2 / 2 + b u for |u| <= delta, inf elsewhere.
Prox: z - b is r / (1 + t) for |r| <= delta (1 + t), else r - t delta sign(r), where r = v - b.
"""

import math

import numpy as np

from ..base import Array
from ..conic import Conic, ConicRow, by_entries
from ..loss import Loss, no_kink


class Huber(Loss):
    """r^2 / 2 up to delta, then delta (|r| - delta / 2), r = z - b."""

    name = "huber"
    smoothness = 1.0
    piecewise_quadratic = True
    dual_kink = staticmethod(no_kink)

    @staticmethod
    def value(z, b, w, p):
        delta = p[0]
        total = 0.0
        for j in range(z.size):
            r = abs(z[j] - b[j])
            s = min(r, delta)
            total += w[j] * s * (r - 0.5 * s)
        return total

    @staticmethod
    def value_gradient(z, b, w, p, out):
        delta = p[0]
        total = 0.0
        for j in range(z.size):
            r = z[j] - b[j]
            s = max(-delta, min(delta, r))
            total += w[j] * s * (r - 0.5 * s)
            out[j] = w[j] * s
        return total

    @staticmethod
    def curvature(z, b, w, p, out):
        delta = p[0]
        for j in range(z.size):
            out[j] = w[j] if abs(z[j] - b[j]) <= delta else 0.0

    @staticmethod
    def prox(v, t, b, w, p, out):
        delta = p[0]
        for j in range(v.size):
            r = v[j] - b[j]
            step = t * w[j]
            if abs(r) <= delta * (1.0 + step):
                out[j] = b[j] + r / (1.0 + step)
            else:
                out[j] = v[j] - math.copysign(step * delta, r)

    @staticmethod
    def conjugate(y, b, w, p):
        delta = p[0]
        total = 0.0
        for j in range(y.size):
            if abs(y[j]) > delta * w[j]:
                return math.inf
            if w[j] > 0.0:
                total += y[j] * (0.5 * y[j] / w[j] + b[j])
        return total

    @staticmethod
    def value_naive(z: Array, b: Array, p: Array) -> Array:
        """r^2 / 2 up to delta, then delta (|r| - delta / 2)."""
        r = np.abs(z - b)
        return np.where(r <= p[0], 0.5 * r * r, p[0] * (r - 0.5 * p[0]))

    @staticmethod
    def gradient_naive(z: Array, b: Array, p: Array) -> Array:
        """r cut at +- delta."""
        return np.clip(z - b, -p[0], p[0])

    @staticmethod
    def conjugate_naive(u: Array, b: Array, p: Array) -> Array:
        """u^2 / 2 + b u where |u| <= delta."""
        return np.where(np.abs(u) <= p[0], u * (0.5 * u + b), np.inf)

    @staticmethod
    def prox_naive(v: Array, t: Array, b: Array, p: Array) -> Array:
        """r / (1 + t) + b for |r| <= delta (1 + t), else v - t delta sign(r), with r = v - b."""
        r = v - b
        return np.where(np.abs(r) <= p[0] * (1.0 + t), b + r / (1.0 + t), v - t * p[0] * np.sign(r))

    @staticmethod
    def dual_bounds_naive(b: Array, p: Array) -> tuple[Array, Array]:
        """[-delta, delta]."""
        return np.full_like(b, -p[0]), np.full_like(b, p[0])

    @staticmethod
    def conic(b: Array, w: Array, p: Array) -> Conic:
        """t >= |z - b - v| at the price v^2 / 2 + delta t."""
        above, below = ConicRow(-1.0, (1.0, 1.0), b), ConicRow(1.0, (-1.0, 1.0), -b)
        return by_entries(b.size, (above, below), ((1.0, 0.0), (0.0, float(p[0]))), weights=w)
