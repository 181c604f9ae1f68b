"""The hinge loss, l(z; y) = max(0, 1 - y z) for y in {-1, 1}.

Subgradient -y for y z < 1, else 0. Conjugate: with q = -y u in [0, 1], l*(u) = -q, inf elsewhere.
Prox: with m = y z, m = y v for y v >= 1, else y v + t, but not beyond 1.
"""

import math

import numpy as np

from ..base import Array
from ..conic import Conic, ConicRow, by_entries
from ..loss import Loss, no_kink


class Hinge(Loss):
    """max(0, 1 - y z)."""

    name = "hinge"
    smoothness = None
    piecewise_linear = True
    piecewise_quadratic = True
    dual_kink = staticmethod(no_kink)

    @staticmethod
    def tangent(z, b, p):
        m = b * z
        return max(0.0, 1.0 - m), -b if m < 1.0 else 0.0

    @staticmethod
    def prox(v, t, b, p):
        m = b * v
        return v if m >= 1.0 else b * min(1.0, m + t)

    @staticmethod
    def conjugate(u, b, w, p):
        return b * u if 0.0 <= -b * u <= w else math.inf

    @staticmethod
    def value_naive(z: Array, b: Array, p: Array) -> Array:
        return np.maximum(0.0, 1.0 - b * z)

    @staticmethod
    def gradient_naive(z: Array, b: Array, p: Array) -> Array:
        return np.where(b * z < 1.0, -b, 0.0)

    @staticmethod
    def conjugate_naive(u: Array, b: Array, p: Array) -> Array:
        return np.where((b * u <= 0.0) & (b * u >= -1.0), b * u, np.inf)

    @staticmethod
    def prox_naive(v: Array, t: Array, b: Array, p: Array) -> Array:
        """b v where that is at least 1, else b v + t up to 1; times b."""
        m = b * v
        return np.where(m >= 1.0, v, b * np.minimum(1.0, m + t))

    @staticmethod
    def dual_bounds_naive(b: Array, p: Array) -> tuple[Array, Array]:
        """-b u in [0, 1]."""
        return np.where(b > 0, -1.0, 0.0), np.where(b > 0, 0.0, 1.0)

    @staticmethod
    def conic(b: Array, w: Array, p: Array) -> Conic:
        """u >= 1 - b z, u >= 0 at the price u."""
        return by_entries(b.size, (ConicRow(b, (1.0,), -1.0), ConicRow(0.0, (1.0,), 0.0)), ((0.0, 1.0),), weights=w)
