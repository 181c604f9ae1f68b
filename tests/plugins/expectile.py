"""Squares that weigh more on one side: a loss from outside whose second derivative has two values, with all facts and formulas."""

from __future__ import annotations

import numpy as np

from fwdsl.extend import Array, Conic, ConicRow, Loss, Parameter, by_entries, loss_word


class Expectile(Loss):
    """tau r^2 where r > 0, else (1 - tau) r^2, with r = z - b: its minimiser over a sample is the expectile of 1 - tau."""

    word = loss_word(
        "expectile",
        "tau r^2 where r > 0, else (1 - tau) r^2, with r = z - b.",
        Parameter("tau", "unit", 0.3),
        residual=True,
    )
    smoothness = 2.0
    piecewise_quadratic = True

    @staticmethod
    def tangent(z, b, p):  # type: ignore[no-untyped-def]
        r = z - b
        share = p[0] if r > 0.0 else 1.0 - p[0]
        return share * r * r, 2.0 * share * r

    @staticmethod
    def curvature(z, b, p):  # type: ignore[no-untyped-def]
        return 2.0 * (p[0] if z > b else 1.0 - p[0])

    @staticmethod
    def prox(v, t, b, p):  # type: ignore[no-untyped-def]
        r = v - b
        return b + r / (1.0 + 2.0 * t * (p[0] if r > 0.0 else 1.0 - p[0]))

    @staticmethod
    def conjugate(u, b, w, p):  # type: ignore[no-untyped-def]
        return u * (0.25 * u / (w * (p[0] if u > 0.0 else 1.0 - p[0])) + b)

    @staticmethod
    def _share(r: Array, p: Array) -> Array:
        return np.where(r > 0.0, p[0], 1.0 - p[0])

    @staticmethod
    def value_naive(z: Array, b: Array, p: Array) -> Array:
        return Expectile._share(z - b, p) * np.square(z - b)

    @staticmethod
    def gradient_naive(z: Array, b: Array, p: Array) -> Array:
        return 2.0 * Expectile._share(z - b, p) * (z - b)

    @staticmethod
    def conjugate_naive(u: Array, b: Array, p: Array) -> Array:
        return 0.25 * u * u / Expectile._share(u, p) + b * u

    @staticmethod
    def prox_naive(v: Array, t: Array, b: Array, p: Array) -> Array:
        return b + (v - b) / (1.0 + 2.0 * t * Expectile._share(v - b, p))

    @staticmethod
    def dual_bounds_naive(b: Array, p: Array) -> tuple[Array, Array]:
        return np.full_like(b, -np.inf), np.full_like(b, np.inf)

    @staticmethod
    def conic(b: Array, w: Array, p: Array) -> Conic:
        """u >= z - b and v >= b - z, both at least 0, at the price tau u^2 + (1 - tau) v^2."""
        rows = (
            ConicRow(-1.0, (1.0, 0.0), b),
            ConicRow(1.0, (0.0, 1.0), -b),
            ConicRow(0.0, (1.0, 0.0), 0.0),
            ConicRow(0.0, (0.0, 1.0), 0.0),
        )
        return by_entries(b.size, rows, ((2.0 * p[0], 0.0), (2.0 * (1.0 - p[0]), 0.0)), weights=w)

    @staticmethod
    def cvxpy(z: object, b: Array, p: Array) -> object:
        import cvxpy as cp

        return p[0] * cp.square(cp.pos(z - b)) + (1.0 - p[0]) * cp.square(cp.neg(z - b))
