"""The absolute loss, l(z; b) = |z - b|.

Subgradient sign(z - b). Conjugate: l*(u) = b u for |u| <= 1, inf elsewhere. Prox: b + the soft threshold of v - b at t.
"""

import math

import numpy as np

from ..base import Array
from ..conic import Conic, ConicRow, by_entries
from ..loss import Loss, no_kink


class Absolute(Loss):
    """abs(z - b)."""

    name = "absolute"
    smoothness = None
    piecewise_linear = True
    piecewise_quadratic = True
    dual_kink = staticmethod(no_kink)

    @staticmethod
    def tangent(z, b, p):
        r = z - b
        return abs(r), 0.0 if r == 0.0 else math.copysign(1.0, r)

    @staticmethod
    def prox(v, t, b, p):
        r = v - b
        return b + math.copysign(max(abs(r) - t, 0.0), r)

    @staticmethod
    def conjugate(u, b, w, p):
        return b * u if abs(u) <= w else math.inf

    @staticmethod
    def value_naive(z: Array, b: Array, p: Array) -> Array:
        return np.abs(z - b)

    @staticmethod
    def gradient_naive(z: Array, b: Array, p: Array) -> Array:
        return np.sign(z - b)

    @staticmethod
    def conjugate_naive(u: Array, b: Array, p: Array) -> Array:
        return np.where(np.abs(u) <= 1.0, b * u, np.inf)

    @staticmethod
    def prox_naive(v: Array, t: Array, b: Array, p: Array) -> Array:
        """b + the soft threshold of v - b."""
        r = v - b
        return b + np.copysign(np.maximum(np.abs(r) - t, 0.0), r)

    @staticmethod
    def dual_bounds_naive(b: Array, p: Array) -> tuple[Array, Array]:
        """[-1, 1]."""
        return np.full_like(b, -1.0), np.full_like(b, 1.0)

    @staticmethod
    def conic(b: Array, w: Array, p: Array) -> Conic:
        """u >= z - b, u >= b - z at the price u."""
        return by_entries(b.size, (ConicRow(-1.0, (1.0,), b), ConicRow(1.0, (1.0,), -b)), ((0.0, 1.0),), weights=w)
