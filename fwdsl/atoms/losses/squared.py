"""The squared loss, l(z; b) = (z - b)^2.

l' = 2 (z - b), l'' = 2. Conjugate: l*(u) = u^2 / 4 + b u. Prox: (v + 2 t b) / (1 + 2 t).
"""

import numpy as np

from ..base import Array
from ..conic import Conic, by_entries
from ..loss import Loss, no_kink


class Squared(Loss):
    """(z - b)^2."""

    name = "squared"
    smoothness = 2.0
    strong_convexity = 2.0
    piecewise_quadratic = True
    dual_kink = staticmethod(no_kink)
    quadratic = True

    @staticmethod
    def tangent(z, b, p):
        r = z - b
        return r * r, 2.0 * r

    @staticmethod
    def curvature(z, b, p):
        return 2.0

    @staticmethod
    def prox(v, t, b, p):
        return (v + 2.0 * t * b) / (1.0 + 2.0 * t)

    @staticmethod
    def conjugate(u, b, w, p):
        return u * (0.25 * u / w + b)

    @staticmethod
    def value_naive(z: Array, b: Array, p: Array) -> Array:
        return np.square(z - b)

    @staticmethod
    def gradient_naive(z: Array, b: Array, p: Array) -> Array:
        return 2.0 * (z - b)

    @staticmethod
    def conjugate_naive(u: Array, b: Array, p: Array) -> Array:
        return u * (0.25 * u + b)

    @staticmethod
    def prox_naive(v: Array, t: Array, b: Array, p: Array) -> Array:
        return (v + 2.0 * t * b) / (1.0 + 2.0 * t)

    @staticmethod
    def dual_bounds_naive(b: Array, p: Array) -> tuple[Array, Array]:
        return np.full_like(b, -np.inf), np.full_like(b, np.inf)

    @staticmethod
    def conic(b: Array, w: Array, p: Array) -> Conic:
        """z^2 - 2 b z + b^2."""
        return by_entries(b.size, curvature=2.0, slope=-2.0 * b, constant=b * b, weights=w)
