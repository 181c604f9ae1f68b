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

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from fwdsl.atoms.base import Array
from fwdsl.backends.dcd.rows import RowsOf
from fwdsl.light_dataclass import light_dataclass

ITERATIONS = 60
"""Iterations at most."""

MET = 1e-10
"""The relative miss of rho x = r + Z'u that is small enough, where no larger one is told."""

BACK = 0.995
"""The share of the way to the nearest end that a step takes."""

REFINEMENTS = 2
"""Refinements of a direction: the weights end many orders of magnitude apart."""

REFINED = 1e-11
"""The relative residual at which a direction is good enough."""

JITTER = 1e-14
"""The share of the diagonal that is added to the system, ten thousand times as much each time it cannot be factored."""


@light_dataclass
class Part:
    """The problem that this module's docstring states, for a part of the samples."""

    Z: RowsOf
    r: Array
    rho: Array
    s: Array
    t: Array
    lo: Array
    hi: Array


@dataclass
class _Iterate:
    """Distances to the lower and upper ends, their multipliers, and x."""

    low: Array
    up: Array
    S: Array
    T: Array
    x: Array

    @property
    def complementarity(self) -> float:
        return float(self.low @ self.S + self.up @ self.T)


@light_dataclass
class _Newton:
    """The Newton system at an iterate: what it misses of its two equations, and the solver of the reduced system."""

    at: _Iterate
    Z: RowsOf
    W: Array
    dual: Array
    slope: Array
    solver: Callable[[Array], Array]

    def direction(self, to_low: Array | float, to_up: Array | float) -> tuple[Array, Array, Array, Array]:
        """(dx, du, dS, dT) towards products low S and up T of these sizes."""
        i = self.at
        k = -self.slope + to_low / i.low - i.S - to_up / i.up + i.T
        dx = self.solver(self.Z.adjoint(self.W * k) - self.dual)
        du = self.W * (k - self.Z.times(dx))
        return dx, du, (to_low - i.S * du) / i.low - i.S, (to_up + i.T * du) / i.up - i.T


def solve(
    part: Part, u: Array, x: Array, near: float, tol: float, met: float, look: Callable[[], None]
) -> tuple[Array, Array]:
    """(u, x) with complementarity of at most `tol` in all, or as far as `ITERATIONS` lead. It starts from there, moved the share `near` of each
    interval away from its ends.

    Once it is that small, the first iterate that misses rho x = r + Z'u by `met` of its size is the answer, or the one that misses it least: soon
    after that one the weights leave nothing but rounding.
    """
    Z = part.Z
    i = _start(part, u, x, near)
    scale = float(np.linalg.norm(Z.adjoint(part.lo + i.low))) + float(np.linalg.norm(part.r)) + 1e-300
    least, best = math.inf, None
    for _ in range(ITERATIONS):
        look()
        u = part.lo + i.low
        dual = part.rho * i.x - part.r - Z.adjoint(u)
        if i.complementarity <= tol:
            missed = float(np.linalg.norm(dual))
            if missed >= least:
                break
            least, best = missed, (u, i.x)
            if missed <= met * scale:
                break
        slope = Z.times(i.x) + part.s * u - part.t - i.S + i.T
        W = 1.0 / (part.s + i.S / i.low + i.T / i.up)
        solver = _factor(Z, W, part.rho)
        if solver is None:
            break
        _step(i, _Newton(i, Z, W, dual, slope, solver), bool(np.any(part.s)))
        if not (np.all(np.isfinite(i.low)) and np.all(np.isfinite(i.S))):
            break
    u, x = best or (part.lo + i.low, i.x)
    return np.clip(u, part.lo, part.hi), x


def _start(part: Part, u: Array, x: Array, near: float) -> _Iterate:
    """u inside its interval, with multipliers that meet the slopes at x."""
    span = part.hi - part.lo
    low = np.clip(u - part.lo, near * span, (1.0 - near) * span)
    g = part.Z.times(x) + part.s * (part.lo + low) - part.t
    S = np.maximum(g, 0.0) + near * (float(np.mean(np.abs(part.t))) + 1e-300)
    return _Iterate(low, span - low, S, S - g, x)


def _step(i: _Iterate, newton: _Newton, together: bool) -> None:
    """Mehrotra's predictor and corrector, in place; u and the multipliers take the same step where they meet in one equation."""
    mu = i.complementarity / (2.0 * i.low.size)
    _, du, dS, dT = newton.direction(0.0, 0.0)
    a, b = _length(i, du), min(_room(i.S, dS), _room(i.T, dT))
    after = float((i.low + a * du) @ (i.S + b * dS) + (i.up - a * du) @ (i.T + b * dT)) / (2.0 * i.low.size)
    centre = mu * (max(after, 0.0) / mu) ** 3
    dx, du, dS, dT = newton.direction(centre - du * dS, centre + du * dT)
    a, b = min(1.0, BACK * _length(i, du)), min(1.0, BACK * min(_room(i.S, dS), _room(i.T, dT)))
    if together:
        a = b = min(a, b)
    i.low, i.up = i.low + a * du, i.up - a * du
    i.x, i.S, i.T = i.x + b * dx, i.S + b * dS, i.T + b * dT


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


def _length(i: _Iterate, du: Array) -> float:
    """The longest step of u, at most 1, to the nearest end."""
    return min(_room(i.low, du), _room(i.up, -du))
