"""Conjugates of the losses and dual norms, written down a second time, independent of the atoms."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Parameters = Mapping[str, float]
Conjugate = Callable[[Array, Array, Parameters], Array]

SLACK = 1e-9
"""The distance from a domain, relative to its size, that counts as rounding; the value is that of the nearest end."""


def loss_conjugate(name: str, u: Array, b: Array, p: Parameters) -> Array:
    """l*(u_j; b_j) = sup_z u_j z - l(z; b_j) for each j; inf outside the domain by more than rounding."""
    return CONJUGATES[name](u, b, p)


def row_loss_conjugate(name: str, u: Array, y: NDArray[np.int64]) -> Array:
    """l*(u_i; y_i) for each row of `softmax`, `multiclass_hinge` or `weston_watkins`; inf outside the domain by more than rounding."""
    own = np.zeros(u.shape, dtype=bool)
    own[np.arange(y.size), y] = True
    balanced = np.abs(u.sum(axis=1)) <= SLACK
    if name == "weston_watkins":
        inside = (own | ((u >= -SLACK) & (u <= 1.0 + SLACK))).all(axis=1)
        return np.where(inside & balanced, u[own], math.inf)
    p = u + own
    inside = (p >= -SLACK).all(axis=1) & balanced
    return np.where(inside, _entropy(p).sum(axis=1) if name == "softmax" else u[own], math.inf)


def dual_norm(name: str, y: Array) -> float:
    """The dual norm of a norm of the language."""
    if name == "norm1":
        return float(np.abs(y).max(initial=0.0))
    if name == "norm_inf":
        return float(np.abs(y).sum())
    if name in ("norm_nuc", "norm_spec"):
        values = np.linalg.svd(y, compute_uv=False)
        return float(values.max(initial=0.0) if name == "norm_nuc" else values.sum())
    if name == "norm21":
        return float(np.linalg.norm(y, axis=1).max(initial=0.0))
    if name == "norm1_inf":
        return float(np.abs(y).sum(axis=1).max(initial=0.0))
    if name == "max_rownorm2":
        return float(np.linalg.norm(y, axis=1).sum())
    if name == "max_rownorm1":
        return float(np.abs(y).max(axis=1, initial=0.0).sum())
    return float(np.linalg.norm(y))


def _of_shares(y: Array, most: float, total: float) -> float:
    """0 where y is between 0 and `most` and has this sum, to rounding; else inf."""
    inside = np.all((y >= -SLACK * most) & (y <= most * (1.0 + SLACK))) and abs(y.sum() - total) <= SLACK * total
    return 0.0 if inside else math.inf


def _eigenvalues(y: Array) -> Array:
    """The eigenvalues of the symmetric part of a square matrix, flat or not."""
    n = math.isqrt(y.size)
    a = np.reshape(y, (n, n))
    return np.asarray(np.linalg.eigvalsh(0.5 * (a + a.T)))


def _of_negative(values: Array, conjugate: Callable[[Array], float]) -> float:
    """The conjugate at the sizes of negative numbers, those that rounding keeps from 0 among them; inf where one is positive."""
    most = np.abs(values).max(initial=0.0)
    if np.any(values > SLACK * most):
        return math.inf
    return conjugate(np.maximum(-values, 1e-300))


def _of_fraction(y: Array, c: float) -> float:
    """0 where V + v v' / (4 c) <= 0 of the matrix and the vector in y, to rounding; else inf."""
    n = (math.isqrt(4 * y.size + 1) - 1) // 2
    V, v = np.reshape(y[: n * n], (n, n)), y[n * n :]
    values = np.linalg.eigvalsh(0.5 * (V + V.T) + np.outer(v, v) / (4.0 * c))
    return 0.0 if values.max(initial=0.0) <= SLACK * np.abs(V).max(initial=0.0) else math.inf


def of_mean(y: Array, c: float, shares: Array) -> float:
    """0 where the product of (-y_i / (c a_i))^(a_i) is at least 1 and y is not positive, to rounding; else inf."""
    live = shares > 0.0
    a, inner = shares[live], -y[live] / (c * shares[live])
    inside = np.all(y <= 0.0) and np.all(inner > 0.0)
    return 0.0 if inside and float(np.exp(a @ np.log(inner))) >= 1.0 - SLACK else math.inf


def _dual_norm_p(y: Array, p: float) -> float:
    return float(np.linalg.norm(y.reshape(-1), np.inf if p == 1.0 else p / (p - 1.0)))


#: (c f)*(y) of functions by their options.
FUNCTION_CONJUGATES: dict[str, Callable[[Array, float, Parameters], float]] = {
    "entropy": lambda y, c, p: c * float(np.exp(y / c - 1.0).sum()),
    "norm_p": lambda y, c, p: 0.0 if _dual_norm_p(y, p["p"]) <= c * (1.0 + SLACK) else math.inf,
    "joint_kl_div": lambda y, c, p: 0.0 if np.all(y[1::2] <= SLACK * c - c * np.expm1(y[::2] / c)) else math.inf,
    "max": lambda y, c, p: _of_shares(y, c, c),
    "log_sum_exp": lambda y, c, p: _of_shares(y, c, c) + c * float(_entropy(y / c).sum()),
    "sum_largest": lambda y, c, p: _of_shares(y, c, c * p["k"]),
    "lambda_max": lambda y, c, p: _of_shares(_eigenvalues(y), c, c),
    "sum_largest_eigs": lambda y, c, p: _of_shares(_eigenvalues(y), c, c * p["k"]),
    "log_det": lambda y, c, p: _of_negative(
        _eigenvalues(y), lambda v: c * float((math.log(c) - 1.0 - np.log(v)).sum())
    ),
    "tr_inv": lambda y, c, p: _of_negative(_eigenvalues(y), lambda v: -2.0 * math.sqrt(c) * float(np.sqrt(v).sum())),
    "matrix_frac": lambda y, c, p: _of_fraction(y, c),
}


def _within(u: Array, lo: Array | float, hi: Array | float, value: Callable[[Array], Array]) -> Array:
    inside = (u >= np.asarray(lo) - SLACK) & (u <= np.asarray(hi) + SLACK)
    return np.where(inside, value(np.clip(u, lo, hi)), math.inf)


def _entropy(t: Array) -> Array:
    return np.where(t > 0.0, t * np.log(np.where(t > 0.0, t, 1.0)), 0.0)


def _margin(value: Callable[[Array], Array], hi: float) -> Conjugate:
    """Losses of the margin m = y z, decreasing: with t = -y u in [0, hi], l*(u) = value(t)."""

    def conjugate(u: Array, b: Array, p: Parameters) -> Array:
        return _within(-b * u, 0.0, hi, value)

    return conjugate


def _residual(
    value: Callable[[Array, Parameters], Array], ends: Callable[[Parameters], tuple[float, float]]
) -> Conjugate:
    """Losses of the residual z - b: l*(u) = u b + value(u)."""

    def conjugate(u: Array, b: Array, p: Parameters) -> Array:
        lo, hi = ends(p)
        return _within(u, lo, hi, lambda t: t * b + value(t, p))

    return conjugate


def _poisson(u: Array, b: Array, p: Parameters) -> Array:
    # exp(z) - c z: with t = u + c >= 0, l*(u) = t log t - t.
    return _within(u + b, 0.0, math.inf, lambda t: _entropy(t) - t)


def _log(u: Array, b: Array, p: Parameters) -> Array:
    # -log z: -1 - log(-u) for u < 0
    return np.where(u < 0.0, -1.0 - np.log(np.where(u < 0.0, -u, 1.0)), math.inf)


def _power(u: Array, b: Array, p: Parameters) -> Array:
    # z^p (or -z^p) on z >= 0: u z - l(z) at the z with l'(z) = u
    e = p["p"]
    if e == 1.0:
        return np.where(u <= 1.0 + SLACK, 0.0, math.inf)
    inside = u > 0.0 if e > 1.0 else u < 0.0
    z = np.where(inside, np.abs(u) / abs(e), 1.0) ** (1.0 / (e - 1.0))
    value = u * z + (z**e if 0.0 < e < 1.0 else -(z**e))
    return np.where(inside, value, 0.0 if e > 1.0 else np.where((u == 0.0) & (e < 0.0), 0.0, math.inf))


def _abs_power(u: Array, b: Array, p: Parameters) -> Array:
    if p["p"] == 1.0:
        return np.where(np.abs(u) <= 1.0 + SLACK, 0.0, math.inf)
    z = (np.abs(u) / p["p"]) ** (1.0 / (p["p"] - 1.0))
    return np.abs(u) * z - z ** p["p"]


def _poisson_rate(u: Array, b: Array, p: Parameters) -> Array:
    # z - b + b log(b / z): -b log(1 - u) for u < 1, and 0 at 1 where b = 0
    inside = np.where(b > 0.0, u < 1.0, u <= 1.0 + SLACK)
    return np.where(inside, -b * np.log(np.where(inside & (b > 0.0), 1.0 - u, 1.0)), math.inf)


def _gamma(u: Array, b: Array, p: Parameters) -> Array:
    # z + b exp(-z): with s = 1 - u >= 0, s log(s / b) - s; of b = 0 it is z
    s = 1.0 - u
    value = _entropy(s) - s * np.log(np.where(b > 0.0, b, 1.0)) - s
    return np.where(b > 0.0, np.where(s >= -SLACK, value, math.inf), np.where(np.abs(s) <= SLACK, 0.0, math.inf))


def _everywhere(p: Parameters) -> tuple[float, float]:
    return -math.inf, math.inf


CONJUGATES: dict[str, Conjugate] = {
    "squared": _residual(lambda t, p: t * t / 4.0, _everywhere),
    "absolute": _residual(lambda t, p: np.zeros_like(t), lambda p: (-1.0, 1.0)),
    "quantile": _residual(lambda t, p: np.zeros_like(t), lambda p: (-p.get("tau", 0.5), 1.0 - p.get("tau", 0.5))),
    "huber": _residual(lambda t, p: t * t / 2.0, lambda p: (-p.get("delta", 1.0), p.get("delta", 1.0))),
    "epsilon_insensitive": _residual(lambda t, p: p.get("eps", 0.1) * np.abs(t), lambda p: (-1.0, 1.0)),
    "squared_epsilon_insensitive": _residual(lambda t, p: p.get("eps", 0.1) * np.abs(t) + t * t / 4.0, _everywhere),
    "logistic": _margin(lambda t: _entropy(t) + _entropy(1.0 - t), 1.0),
    "hinge": _margin(lambda t: -t, 1.0),
    "squared_hinge": _margin(lambda t: t * t / 4.0 - t, math.inf),
    "smooth_hinge": _margin(lambda t: t * t / 2.0 - t, 1.0),
    "poisson": _poisson,
    "log": _log,
    "power": _power,
    "abs_power": _abs_power,
    "kl_div": lambda u, b, p: b * np.expm1(u),
    "poisson_rate": _poisson_rate,
    "gamma_loss": _gamma,
}
