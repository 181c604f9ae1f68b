"""The squared hinge loss, l(z; y) = max(0, 1 - y z)^2 for y in {-1, 1}.

l' = -2 y max(0, 1 - y z), l'' = 2 for y z < 1, else 0. Conjugate: with q = -y u >= 0, l*(u) = q^2 / 4 - q, inf elsewhere.
Prox: with m = y z, m = y v for y v >= 1, else (y v + 2 t) / (1 + 2 t).
"""

import math

import numpy as np

from ..base import Array
from ..conic import Conic, ConicRow, by_entries
from ..loss import Loss, no_kink


class SquaredHinge(Loss):
    """max(0, 1 - y z)^2."""

    name = "squared_hinge"
    smoothness = 2.0
    piecewise_quadratic = True
    dual_kink = staticmethod(no_kink)

    @staticmethod
    def tangent(z, b, p):
        e = max(0.0, 1.0 - b * z)
        return e * e, -2.0 * b * e

    @staticmethod
    def curvature(z, b, p):
        return 2.0 if b * z < 1.0 else 0.0

    @staticmethod
    def prox(v, t, b, p):
        m = b * v
        return v if m >= 1.0 else b * (m + 2.0 * t) / (1.0 + 2.0 * t)

    @staticmethod
    def conjugate(u, b, w, p):
        q = -b * u
        return q * (0.25 * q / w - 1.0) if q >= 0.0 else math.inf

    @staticmethod
    def value_naive(z: Array, b: Array, p: Array) -> Array:
        return np.square(np.maximum(0.0, 1.0 - b * z))

    @staticmethod
    def gradient_naive(z: Array, b: Array, p: Array) -> Array:
        return -2.0 * b * np.maximum(0.0, 1.0 - b * z)

    @staticmethod
    def conjugate_naive(u: Array, b: Array, p: Array) -> Array:
        """q^2 / 4 - q with q = -b u >= 0."""
        q = -b * u
        return np.where(q >= 0.0, q * (0.25 * q - 1.0), np.inf)

    @staticmethod
    def prox_naive(v: Array, t: Array, b: Array, p: Array) -> Array:
        """b v where that is at least 1, else (b v + 2 t) / (1 + 2 t); times b."""
        m = b * v
        return np.where(m >= 1.0, v, b * (m + 2.0 * t) / (1.0 + 2.0 * t))

    @staticmethod
    def dual_bounds_naive(b: Array, p: Array) -> tuple[Array, Array]:
        """-b u in [0, inf]."""
        return np.where(b > 0, -np.inf, 0.0), np.where(b > 0, 0.0, np.inf)

    @staticmethod
    def conic(b: Array, w: Array, p: Array) -> Conic:
        """u >= 1 - b z, u >= 0 at the price u^2."""
        return by_entries(b.size, (ConicRow(b, (1.0,), -1.0), ConicRow(0.0, (1.0,), 0.0)), ((2.0, 0.0),), weights=w)
