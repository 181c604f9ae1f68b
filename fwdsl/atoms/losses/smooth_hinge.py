"""The smooth hinge loss: with m = y z, 0 for m >= 1, (1 - m)^2 / 2 on [0, 1], 1/2 - m below 0; y in {-1, 1}.

l' = -y (1 - m cut to [0, 1]), l'' = 1 on (0, 1), else 0. Conjugate: with q = -y u in [0, 1], l*(u) = q^2 / 2 - q, inf elsewhere.
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
    def value(z, b, w, p):
        total = 0.0
        for j in range(z.size):
            e = max(0.0, 1.0 - b[j] * z[j])
            s = min(1.0, e)
            total += w[j] * s * (e - 0.5 * s)
        return total

    @staticmethod
    def value_gradient(z, b, w, p, out):
        total = 0.0
        for j in range(z.size):
            e = max(0.0, 1.0 - b[j] * z[j])
            s = min(1.0, e)
            total += w[j] * s * (e - 0.5 * s)
            out[j] = -w[j] * b[j] * s
        return total

    @staticmethod
    def curvature(z, b, w, p, out):
        for j in range(z.size):
            m = b[j] * z[j]
            out[j] = w[j] if 0.0 < m < 1.0 else 0.0

    @staticmethod
    def prox(v, t, b, w, p, out):
        for j in range(v.size):
            m = b[j] * v[j]
            step = t * w[j]
            if m >= 1.0:
                out[j] = v[j]
            elif m >= -step:
                out[j] = b[j] * (m + step) / (1.0 + step)
            else:
                out[j] = b[j] * (m + step)

    @staticmethod
    def conjugate(y, b, w, p):
        total = 0.0
        for j in range(y.size):
            q = -b[j] * y[j]
            if q < 0.0 or q > w[j]:
                return math.inf
            if q > 0.0:
                total += q * (0.5 * q / w[j] - 1.0)
        return total

    @staticmethod
    def value_naive(z: Array, b: Array, p: Array) -> Array:
        """s (e - s / 2) with e = max(0, 1 - b z), s = min(1, e)."""
        e = np.maximum(0.0, 1.0 - b * z)
        s = np.minimum(1.0, e)
        return s * (e - 0.5 * s)

    @staticmethod
    def gradient_naive(z: Array, b: Array, p: Array) -> Array:
        """-b (1 - b z), the bracket cut to [0, 1]."""
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
