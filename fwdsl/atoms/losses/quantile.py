"""The quantile (pinball) loss, l(z; b) = tau max(0, b - z) + (1 - tau) max(0, z - b) for tau in [0, 1].

Subgradient 1 - tau above b, -tau below. Conjugate: l*(u) = b u for -tau <= u <= 1 - tau, inf elsewhere.
Prox: with r = v - b, z - b is r - t (1 - tau) where that is positive, r + t tau where that is negative, else 0.
"""

import math

import numpy as np

from ..base import Array
from ..conic import Conic, ConicRow, by_entries
from ..loss import Loss, no_kink


class Quantile(Loss):
    """tau max(0, b - z) + (1 - tau) max(0, z - b)."""

    name = "quantile"
    smoothness = None
    piecewise_linear = True
    piecewise_quadratic = True
    dual_kink = staticmethod(no_kink)

    @staticmethod
    def tangent(z, b, p):
        r, tau = z - b, p[0]
        above = 1.0 - tau
        slope = above if r > 0.0 else -tau
        return max(above * r, -tau * r), slope if r != 0.0 else 0.0

    @staticmethod
    def prox(v, t, b, p):
        r, tau = v - b, p[0]
        return b + max(r - t * (1.0 - tau), 0.0) + min(r + t * tau, 0.0)

    @staticmethod
    def conjugate(u, b, w, p):
        tau = p[0]
        return b * u if -tau * w <= u <= (1.0 - tau) * w else math.inf

    @staticmethod
    def value_naive(z: Array, b: Array, p: Array) -> Array:
        """tau max(0, b - z) + (1 - tau) max(0, z - b)."""
        tau = float(p[0])
        return tau * np.maximum(0.0, b - z) + (1.0 - tau) * np.maximum(0.0, z - b)

    @staticmethod
    def gradient_naive(z: Array, b: Array, p: Array) -> Array:
        return np.where(z > b, 1.0 - p[0], np.where(z < b, -p[0], 0.0))

    @staticmethod
    def conjugate_naive(u: Array, b: Array, p: Array) -> Array:
        return np.where((u >= -p[0]) & (u <= 1.0 - p[0]), b * u, np.inf)

    @staticmethod
    def prox_naive(v: Array, t: Array, b: Array, p: Array) -> Array:
        """v moved towards b at the slope of its side, not beyond b."""
        r = v - b
        z: Array = b + np.maximum(r - t * (1.0 - p[0]), 0.0) + np.minimum(r + t * p[0], 0.0)
        return z

    @staticmethod
    def dual_bounds_naive(b: Array, p: Array) -> tuple[Array, Array]:
        """[-tau, 1 - tau]."""
        return np.full_like(b, -p[0]), np.full_like(b, 1.0 - p[0])

    @staticmethod
    def conic(b: Array, w: Array, p: Array) -> Conic:
        """u >= (1 - tau) (z - b), u >= tau (b - z) at the price u."""
        tau = float(p[0])
        over, under = ConicRow(tau - 1.0, (1.0,), (1.0 - tau) * b), ConicRow(tau, (1.0,), -tau * b)
        return by_entries(b.size, (over, under), ((0.0, 1.0),), weights=w)
