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
    def tangent(z, b, p):
        r = z - b
        s = max(-p[0], min(p[0], r))
        return s * (r - 0.5 * s), s

    @staticmethod
    def curvature(z, b, p):
        return 1.0 if abs(z - b) <= p[0] else 0.0

    @staticmethod
    def prox(v, t, b, p):
        r = v - b
        return b + r / (1.0 + t) if abs(r) <= p[0] * (1.0 + t) else v - math.copysign(t * p[0], r)

    @staticmethod
    def conjugate(u, b, w, p):
        return u * (0.5 * u / w + b) if abs(u) <= p[0] * w else math.inf

    @staticmethod
    def value_naive(z: Array, b: Array, p: Array) -> Array:
        """r^2 / 2 up to delta, then delta (|r| - delta / 2)."""
        r = np.abs(z - b)
        return np.where(r <= p[0], 0.5 * r * r, p[0] * (r - 0.5 * p[0]))

    @staticmethod
    def gradient_naive(z: Array, b: Array, p: Array) -> Array:
        return np.clip(z - b, -p[0], p[0])

    @staticmethod
    def conjugate_naive(u: Array, b: Array, p: Array) -> Array:
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
