"""The deviance of Tweedie's distributions with the logarithm as link: a loss from outside, without kernels and without a closed conjugate."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from fwdsl.extend import Array, Loss, Parameter, loss_word


class Tweedie(Loss):
    """b exp(-a z) / a + exp((1 - a) z) / (1 - a) for b >= 0, where 1 + a is the power of the variance, 0 < a < 1."""

    word = loss_word(
        "tweedie",
        "b exp(-a z)/a + exp((1 - a) z)/(1 - a), b >= 0.",
        Parameter("a", "unit", 0.5),
        elsewhere=("compound_poisson",),
    )
    smoothness = np.inf

    @staticmethod
    def value_naive(z: Array, b: Array, p: Array) -> Array:
        with np.errstate(over="ignore", invalid="ignore"):
            return np.where(b > 0.0, b * np.exp(-p[0] * z), 0.0) / p[0] + np.exp((1.0 - p[0]) * z) / (1.0 - p[0])

    @staticmethod
    def gradient_naive(z: Array, b: Array, p: Array) -> Array:
        with np.errstate(over="ignore", invalid="ignore"):
            return np.exp((1.0 - p[0]) * z) - np.where(b > 0.0, b * np.exp(-p[0] * z), 0.0)

    @staticmethod
    def curvature_naive(z: Array, b: Array, p: Array) -> Array:
        with np.errstate(over="ignore"):
            return (1.0 - p[0]) * np.exp((1.0 - p[0]) * z) + p[0] * b * np.exp(-p[0] * z)

    @staticmethod
    def conjugate_naive(u: Array, b: Array, p: Array) -> Array:
        """u z - l(z) at the z with l'(z) = u; for b = 0 it is s log s with s = u, up to a factor and a shift."""
        a = p[0]
        with np.errstate(divide="ignore", invalid="ignore"):
            hi = np.log(np.maximum(u + b, 1.0)) / (1.0 - a)
            lo = np.where(b > 0.0, -np.log(np.maximum((1.0 - u) / b, 1.0)) / a, np.log(u) / (1.0 - a))
        lo = np.where(np.isfinite(lo), lo, 0.0)
        z = np.where(b > 0.0, _root(lambda z: Tweedie.gradient_naive(z, b, p) - u, lo, np.maximum(lo, hi)), lo)
        found = u * z - np.where((b == 0.0) & (u <= 0.0), 0.0, Tweedie.value_naive(z, b, p))
        return np.where((b == 0.0) & (u < 0.0), np.inf, found)

    @staticmethod
    def prox_naive(v: Array, t: Array, b: Array, p: Array) -> Array:
        """The root of z - v + t l'(z), which lies between v and the minimiser log b of the loss, or left of v for b = 0."""
        with np.errstate(divide="ignore", over="ignore"):
            end = np.where(b > 0.0, np.log(b), v - t * np.exp(np.minimum((1.0 - p[0]) * v, 700.0)))
        return _root(lambda z: z - v + t * Tweedie.gradient_naive(z, b, p), np.minimum(v, end), np.maximum(v, end))

    @staticmethod
    def dual_bounds_naive(b: Array, p: Array) -> tuple[Array, Array]:
        return np.where(b > 0.0, -np.inf, 0.0), np.full_like(b, np.inf)

    @staticmethod
    def infimum_naive(b: Array, p: Array) -> Array:
        """The closed form, which keeps more digits than the conjugate at 0."""
        return b ** (1.0 - p[0]) / (p[0] * (1.0 - p[0]))

    @staticmethod
    def cvxpy(z: object, b: Array, p: Array) -> object:
        import cvxpy as cp

        return cp.multiply(b / p[0], cp.exp(-p[0] * z)) + cp.exp((1.0 - p[0]) * z) / (1.0 - p[0])


def _root(f: Callable[[Array], Array], lo: Array, hi: Array) -> Array:
    """The root of an increasing function, by halving [lo, hi] until nothing is between."""
    for _ in range(200):
        z = 0.5 * (lo + hi)
        high = f(z) > 0.0
        lo, hi = np.where(high, lo, z), np.where(high, z, hi)
    return 0.5 * (lo + hi)
