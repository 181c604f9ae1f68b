"""The epsilon-insensitive loss, l(z; b) = max(0, |z - b| - eps), eps >= 0.

Subgradient sign(z - b) outside the tube, 0 in it. Conjugate: l*(u) = eps |u| + b u for |u| <= 1, inf elsewhere.
Prox: v in the tube stays, else it moves towards it by t at most.
"""

import math

import numpy as np

from ..base import Array
from ..conic import Conic, ConicRow, by_entries
from ..loss import Loss, first_parameter


class EpsilonInsensitive(Loss):
    """max(0, |z - b| - eps)."""

    name = "epsilon_insensitive"
    smoothness = None
    piecewise_linear = True
    piecewise_quadratic = True
    dual_kink = staticmethod(first_parameter)

    @staticmethod
    def tangent(z, b, p):
        r = z - b
        e = abs(r) - p[0]
        return max(0.0, e), math.copysign(1.0, r) if e > 0.0 else 0.0

    @staticmethod
    def prox(v, t, b, p):
        r = v - b
        a = abs(r)
        return v if a <= p[0] else b + math.copysign(max(p[0], a - t), r)

    @staticmethod
    def conjugate(u, b, w, p):
        return p[0] * abs(u) + b * u if abs(u) <= w else math.inf

    @staticmethod
    def value_naive(z: Array, b: Array, p: Array) -> Array:
        """max(0, |z - b| - eps)."""
        value: Array = np.maximum(0.0, np.abs(z - b) - p[0])
        return value

    @staticmethod
    def gradient_naive(z: Array, b: Array, p: Array) -> Array:
        return np.where(np.abs(z - b) > p[0], np.sign(z - b), 0.0)

    @staticmethod
    def conjugate_naive(u: Array, b: Array, p: Array) -> Array:
        return np.where(np.abs(u) <= 1.0, p[0] * np.abs(u) + b * u, np.inf)

    @staticmethod
    def prox_naive(v: Array, t: Array, b: Array, p: Array) -> Array:
        """v in the tube, else nearer to it by t at most."""
        r = v - b
        return np.where(np.abs(r) <= p[0], v, b + np.copysign(np.maximum(p[0], np.abs(r) - t), r))

    @staticmethod
    def dual_bounds_naive(b: Array, p: Array) -> tuple[Array, Array]:
        """[-1, 1]."""
        return np.full_like(b, -1.0), np.full_like(b, 1.0)

    @staticmethod
    def conic(b: Array, w: Array, p: Array) -> Conic:
        """u >= |z - b| - eps, u >= 0 at the price u."""
        eps = float(p[0])
        tube = ConicRow(-1.0, (1.0,), b + eps), ConicRow(1.0, (1.0,), eps - b)
        return by_entries(b.size, (*tube, ConicRow(0.0, (1.0,), 0.0)), ((0.0, 1.0),), weights=w)
