"""The smooth hinge loss: with m = y z, 0 for m >= 1, (1 - m)^2 / 2 on [0, 1], 1/2 - m below 0; y in {-1, 1}.

l' = -y (1 - m cut to [0, 1]), l'' = 1 on [0, 1), else 0: at 0, where fits begin, that of the side that is curved.
Conjugate: with q = -y u in [0, 1], l*(u) = q^2 / 2 - q, inf elsewhere.
Prox: with m0 = y v, m is m0 for m0 >= 1, (m0 + t) / (1 + t) for -t <= m0 <= 1, m0 + t below.
"""

import math

import numpy as np

from ..base import Array
from ..conic import Conic, ConicRow, by_entries
from ..loss import Loss, no_kink


class SmoothHinge(Loss):
    """0 for y z >= 1; (1 - y z)^2 / 2 on [0, 1]; 1/2 - y z below 0."""

    name = "smooth_hinge"
    smoothness = 1.0
    piecewise_quadratic = True
    dual_kink = staticmethod(no_kink)

    @staticmethod
    def tangent(z, b, p):
        e = max(0.0, 1.0 - b * z)
        s = min(1.0, e)
        return s * (e - 0.5 * s), -b * s

    @staticmethod
    def curvature(z, b, p):
        return 1.0 if 0.0 <= b * z < 1.0 else 0.0

    @staticmethod
    def prox(v, t, b, p):
        m = b * v
        return v if m >= 1.0 else b * (m + t) / (1.0 + t if m >= -t else 1.0)

    @staticmethod
    def conjugate(u, b, w, p):
        q = -b * u
        return q * (0.5 * q / w - 1.0) if 0.0 <= q <= w else math.inf

    @staticmethod
    def value_naive(z: Array, b: Array, p: Array) -> Array:
        """s (e - s / 2) with e = max(0, 1 - b z), s = min(1, e)."""
        e = np.maximum(0.0, 1.0 - b * z)
        s = np.minimum(1.0, e)
        return s * (e - 0.5 * s)

    @staticmethod
    def gradient_naive(z: Array, b: Array, p: Array) -> Array:
        return -b * np.clip(1.0 - b * z, 0.0, 1.0)

    @staticmethod
    def conjugate_naive(u: Array, b: Array, p: Array) -> Array:
        """q^2 / 2 - q with q = -b u in [0, 1]."""
        q = -b * u
        return np.where((q >= 0.0) & (q <= 1.0), q * (0.5 * q - 1.0), np.inf)

    @staticmethod
    def prox_naive(v: Array, t: Array, b: Array, p: Array) -> Array:
        """The piece whose range holds it."""
        m = b * v
        return np.where(m >= 1.0, v, b * np.where(m >= -t, (m + t) / (1.0 + t), m + t))

    @staticmethod
    def dual_bounds_naive(b: Array, p: Array) -> tuple[Array, Array]:
        """-b u in [0, 1]."""
        return np.where(b > 0, -1.0, 0.0), np.where(b > 0, 0.0, 1.0)

    @staticmethod
    def conic(b: Array, w: Array, p: Array) -> Conic:
        """u + v >= 1 - b z, u >= 0, v >= 0 at the price u^2 / 2 + v."""
        margin = ConicRow(b, (1.0, 1.0), -1.0)
        signs = ConicRow(0.0, (1.0, 0.0), 0.0), ConicRow(0.0, (0.0, 1.0), 0.0)
        return by_entries(b.size, (margin, *signs), ((1.0, 0.0), (0.0, 1.0)), weights=w)
