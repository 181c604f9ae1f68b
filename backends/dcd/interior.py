r"""A primal-dual interior point for the dual of a linear machine on some of its samples, the others kept where they are.

    min over u   |r + Z'u|^2_R / 2 + sum_k [s_k u_k^2 / 2 - t_k u_k]      lo <= u <= hi

Z has a row for each sample, the intercept's column among them, r what the other samples add to Z'u, less q, and R = diag(1 / rho) with rho the
ridges. rho is 0 for an intercept that nothing penalises, for which the equality Z'u + r = 0 stands. With x free of u, rho x = r + Z'u in the limit,
slack multipliers S of the lower ends and T of the upper ones (Mehrotra's predictor and corrector, centred start):

    (diag(rho) + Z' W Z) dx = Z' W k - (rho x - r - Z'u),    W = 1 / (s + S / (u - lo) + T / (hi - u)),    du = W (k - Z dx)

A sample whose dual has a kink at 0 inside its interval stands twice, once for each sign.

Source: Mehrotra 1992; Ferris, Munson 2002 (interior points for linear machines).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from fwdsl.atoms.base import Array
from fwdsl.backends.dcd.rows import RowsOf

ITERATIONS = 60
"""Iterations at most."""

BACK = 0.995
"""The share of the way to the nearest end that a step takes."""

REFINEMENTS = 2
"""Refinements of a direction: the weights end many orders of magnitude apart."""

REFINED = 1e-11
"""The relative residual at which a direction is good enough."""

JITTER = 1e-14
"""The share of the diagonal that is added to the system, ten thousand times as much each time it cannot be factored."""


@dataclass(frozen=True, eq=False)
class Part:
    """The problem above."""

    Z: RowsOf
    r: Array
    rho: Array
    s: Array
    t: Array
    lo: Array
    hi: Array


def solve(part: Part, x: Array, tol: float, look: Callable[[], None]) -> tuple[Array, Array]:
    """(u, x) with complementarity of at most `tol` in all, or as far as `ITERATIONS` lead."""
    Z, rho = part.Z, part.rho
    span = part.hi - part.lo
    low = 0.5 * span
    up = span - low
    g = Z.times(x) + part.s * (part.lo + low) - part.t
    unit = float(np.mean(np.abs(part.t))) + 1e-300
    S = np.maximum(g, 0.0) + 0.5 * unit
    T = S - g
    scale = float(np.linalg.norm(Z.adjoint(part.lo + low))) + float(np.linalg.norm(part.r)) + 1e-300
    for _ in range(ITERATIONS):
        look()
        u = part.lo + low
        dual = rho * x - part.r - Z.adjoint(u)
        slope = Z.times(x) + part.s * u - part.t - S + T
        mu = float(low @ S + up @ T) / (2.0 * u.size)
        if 2.0 * mu * u.size <= tol and float(np.linalg.norm(dual)) <= 1e-10 * scale:
            break
        W = 1.0 / (part.s + S / low + T / up)
        solver = _factor(Z, W, rho)
        if solver is None:
            break

        def direction(to_low: Array, to_up: Array) -> tuple[Array, Array, Array, Array]:
            k = -slope + to_low / low - S - to_up / up + T
            dx = solver(Z.adjoint(W * k) - dual)
            du = W * (k - Z.times(dx))
            return dx, du, (to_low - S * du) / low - S, (to_up + T * du) / up - T

        none = np.zeros(u.size)
        dx, du, dS, dT = direction(none, none)
        a, b = _length(low, up, du), min(_room(S, dS), _room(T, dT))
        after = float((low + a * du) @ (S + b * dS) + (up - a * du) @ (T + b * dT)) / (2.0 * u.size)
        centre = mu * (max(after, 0.0) / mu) ** 3
        dx, du, dS, dT = direction(centre - du * dS, centre + du * dT)
        a, b = min(1.0, BACK * _length(low, up, du)), min(1.0, BACK * min(_room(S, dS), _room(T, dT)))
        # the slopes of x and of u meet only where both take the same step, unless the dual is linear
        if np.any(part.s):
            a = b = min(a, b)
        low, up = low + a * du, up - a * du
        x, S, T = x + b * dx, S + b * dS, T + b * dT
        if not (np.all(np.isfinite(low)) and np.all(np.isfinite(S))):
            break
    return part.lo + np.clip(low, 0.0, span), x


def _factor(Z: RowsOf, W: Array, rho: Array) -> Callable[[Array], Array] | None:
    """The solver of (diag(rho) + Z' W Z) x = b, refined with the system itself; None where no jitter makes it positive definite."""
    from scipy.linalg import LinAlgError, cho_factor, cho_solve

    H, at = Z.gram(W), np.arange(rho.size)
    H[at, at] += rho
    own = H[at, at].copy()
    jitter = JITTER
    for _ in range(3):
        H[at, at] = own * (1.0 + jitter) + 1e-300
        try:
            factor = cho_factor(H, lower=True, check_finite=False)
        except LinAlgError:
            jitter *= 1e4
            continue

        def solved(b: Array, factor: tuple[Array, bool] = factor) -> Array:
            x = cho_solve(factor, b, check_finite=False)
            for _ in range(REFINEMENTS):
                missed = b - rho * x - Z.adjoint(W * Z.times(x))
                if float(np.linalg.norm(missed)) <= REFINED * float(np.linalg.norm(b)):
                    break
                x = x + cho_solve(factor, missed, check_finite=False)
            return np.asarray(x)

        return solved
    return None


def _room(z: Array, dz: Array) -> float:
    """The longest step, at most 1, that keeps z + a dz at least 0."""
    steepest = float((dz / z).min())
    return 1.0 if steepest >= -1.0 else -1.0 / steepest


def _length(low: Array, up: Array, du: Array) -> float:
    return min(_room(low, du), _room(up, -du))
