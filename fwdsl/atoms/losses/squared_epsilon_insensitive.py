"""The squared epsilon-insensitive loss, l(z; b) = max(0, |z - b| - eps)^2, eps >= 0.

l' = 2 sign(r) max(0, |r| - eps) with r = z - b, l'' = 2 outside the tube, 0 in it. Conjugate: l*(u) = u^2 / 4 + eps |u| + b u.
Prox: v in the tube stays, else its distance from the tube shrinks by 1 + 2 t.
"""

import math

import numpy as np

from ..base import Array
from ..conic import Conic, ConicRow, by_entries
from ..loss import Loss, first_parameter


class SquaredEpsilonInsensitive(Loss):
    """max(0, |z - b| - eps)^2."""

    name = "squared_epsilon_insensitive"
    smoothness = 2.0
    piecewise_quadratic = True
    dual_kink = staticmethod(first_parameter)

    @staticmethod
    def tangent(z, b, p):
        r = z - b
        e = max(0.0, abs(r) - p[0])
        return e * e, math.copysign(2.0 * e, r)

    @staticmethod
    def curvature(z, b, p):
        return 2.0 if abs(z - b) > p[0] else 0.0

    @staticmethod
    def prox(v, t, b, p):
        r = v - b
        a = abs(r)
        return v if a <= p[0] else b + math.copysign(p[0] + (a - p[0]) / (1.0 + 2.0 * t), r)

    @staticmethod
    def conjugate(u, b, w, p):
        return 0.25 * u * u / w + p[0] * abs(u) + b * u

    @staticmethod
    def value_naive(z: Array, b: Array, p: Array) -> Array:
        """max(0, |z - b| - eps)^2."""
        value: Array = np.square(np.maximum(0.0, np.abs(z - b) - p[0]))
        return value

    @staticmethod
    def gradient_naive(z: Array, b: Array, p: Array) -> Array:
        """2 sign(z - b) max(0, |z - b| - eps)."""
        slope: Array = 2.0 * np.copysign(np.maximum(0.0, np.abs(z - b) - p[0]), z - b)
        return slope

    @staticmethod
    def conjugate_naive(u: Array, b: Array, p: Array) -> Array:
        """u^2 / 4 + eps |u| + b u."""
        value: Array = u * (0.25 * u + b) + p[0] * np.abs(u)
        return value

    @staticmethod
    def prox_naive(v: Array, t: Array, b: Array, p: Array) -> Array:
        """v in the tube, else its distance from it shrunk by 1 + 2 t."""
        r = v - b
        return np.where(np.abs(r) <= p[0], v, b + np.copysign(p[0] + (np.abs(r) - p[0]) / (1.0 + 2.0 * t), r))

    @staticmethod
    def dual_bounds_naive(b: Array, p: Array) -> tuple[Array, Array]:
        return np.full_like(b, -np.inf), np.full_like(b, np.inf)

    @staticmethod
    def conic(b: Array, w: Array, p: Array) -> Conic:
        """u >= |z - b| - eps, u >= 0 at the price u^2."""
        eps = float(p[0])
        tube = ConicRow(-1.0, (1.0,), b + eps), ConicRow(1.0, (1.0,), eps - b)
        return by_entries(b.size, (*tube, ConicRow(0.0, (1.0,), 0.0)), ((2.0, 0.0),), weights=w)
