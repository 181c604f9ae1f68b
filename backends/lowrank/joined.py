r"""A correction of a low-rank point on the joined spectra of itself and of its gradient.

With X = P diag(s) Q', G the gradient of F at X and A, B its top left and right singular vectors, let L and R be orthonormal bases of [P, A] and
[Q, B]. The problem is solved again over X' = L S R',

    min over S of F(L S R') + lambda |S|_*   subject to   |S|_* <= radius,

by accelerated proximal gradient with backtracking and restart. Its dual is that of the whole problem with sigma_1(L'G R) for sigma_1(G): the
solution levels the top singular values of the gradient, on which the bound lags. With sigma_1 multiplied by the radius, an error of the point
costs the bound its square root; the corrected point has both. A spectral bundle step (Helmberg, Rendl 2000) with the primal point kept.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np

from fwdsl.atoms.base import Array
from fwdsl.backends.lowrank.directions import projected
from fwdsl.backends.lowrank.factors import balanced, thin_svd
from fwdsl.backends.lowrank.held import HeldObserved
from fwdsl.backends.lowrank.observed import ObservedEntries
from fwdsl.backends.lowrank.smooth import Smooth
from fwdsl.spectral.operators import LinearOperator
from fwdsl.spectral.top import top_singular

MORE = 4
"""Singular vectors of the gradient beyond the rank of the point."""

POWERS = 3
"""Applications of G'G to the right vectors of the point, by which those of the gradient are found."""

SHARE = 1e-3
"""The share of its own first gap to which the small problem is solved at most: what the spectra leave out is more."""

STEPS, LOOK_EVERY = 80, 5
"""Proximal steps at most, and steps between two looks at their own gap."""


class OnEntries(Protocol):
    """F(X) + penalty |X|_*, |X|_* <= radius, with F(X) = f(P_Omega(X)) + ridge |X|_F^2."""

    entries: ObservedEntries | HeldObserved
    f: Smooth
    radius: float
    penalty: float
    ridge: float
    look: Callable[[], None]

    def predict(self, W: Array) -> Array:
        """P_Omega(U V') for W = [U; V]."""
        ...


def corrected(
    core: OnEntries, G: LinearOperator, P: Array, sigma: Array, Q: Array, reach: float, aim: float
) -> tuple[Array, Array]:
    """(W, z): the balanced factors of the solution over the joined spectra, to a gap of `aim`, and its predictions; `reach` bounds |X|_*."""
    count = min(P.shape[1] + MORE, *core.entries.shape)
    width = count + max(4, count // 2)
    top = top_singular(G, count, 1e-3, Q, method="subspace", max_products=2 * POWERS * width, look=core.look)
    core.entries.touched += 2.0 * POWERS
    L = np.linalg.qr(np.hstack([P, top.U]))[0]
    R = np.linalg.qr(np.hstack([Q, top.V]))[0]
    S = _solve(core, L, R, (L.T @ P * sigma) @ (Q.T @ R), reach, aim)
    W = balanced(*_positive(*thin_svd(L @ S, R)))
    return W, core.predict(W)


def _positive(P: Array, sigma: Array, Q: Array) -> tuple[Array, Array, Array]:
    keep = sigma > 1e-10 * sigma.max(initial=0.0)
    return P[:, keep], sigma[keep], Q[:, keep]


def _solve(core: OnEntries, L: Array, R: Array, S: Array, reach: float, aim: float) -> Array:
    """Accelerated proximal gradient from S; predictions are linear in S, so those of a point between two others cost no product."""
    z = core.entries.predict(L @ S, R)
    S_old, z_old, t = S, z, 1.0
    lipschitz = 0.0
    for k in range(STEPS):
        core.look()
        t_next = 0.5 * (1.0 + np.sqrt(1.0 + 4.0 * t * t))
        beta = (t - 1.0) / t_next
        Y, zy = S + beta * (S - S_old), z + beta * (z - z_old)
        y = np.empty_like(zy)
        value = core.f.value_gradient(zy, y)
        gradient = L.T @ core.entries.left(y, R) + 2.0 * core.ridge * Y
        if k % LOOK_EVERY == 0:
            gap = _gap(core, gradient, Y, reach)
            aim = max(aim, SHARE * gap) if k == 0 else aim
            if gap <= aim:
                break
        if lipschitz == 0.0:
            lipschitz = _curvature(core, L, R, zy, gradient)
        lipschitz *= 0.9
        for _ in range(60):
            core.look()
            S_new, _ = projected(Y - gradient / lipschitz, core.penalty / lipschitz, core.radius)
            z_new = core.entries.predict(L @ S_new, R)
            step, dz = S_new - Y, z_new - zy
            square = float(np.vdot(step, step))
            if square == 0.0:
                return S_new
            if core.f.f.loss.quadratic:
                bend = core.f.bend(zy, dz)
            else:
                bend = 2.0 * (core.f.value(z_new) - value - core.f.dot(y, dz))
            # beside the value's rounding a step tells nothing
            if bend + 2.0 * core.ridge * square <= lipschitz * square * (1.0 + 1e-9) + 1e-14 * abs(value):
                break
            lipschitz = min(max(1.3 * lipschitz, 1.05 * bend / square + 2.0 * core.ridge), 8.0 * lipschitz)
        restart = float(np.vdot(-step, S_new - S)) > 0.0
        S_old, z_old, t = (S_new, z_new, 1.0) if restart else (S, z, t_next)
        S, z = S_new, z_new
    return S


def _curvature(core: OnEntries, L: Array, R: Array, z: Array, gradient: Array) -> float:
    """d'F''d / |d|^2 along the gradient; where F is not curved there, the largest curvature of the loss."""
    square = float(np.vdot(gradient, gradient))
    along = core.f.bend(z, core.entries.predict(L @ gradient, R)) / square if square > 0.0 else 0.0
    return (along or max(core.f.f.lipschitz, 1e-300)) + 2.0 * core.ridge


def _gap(core: OnEntries, gradient: Array, S: Array, reach: float) -> float:
    """<G, S> + lambda |S|_* + reach (sigma_1(G) - lambda)_+ in the small problem."""
    top = float(np.linalg.norm(gradient, 2))
    nuclear = float(np.linalg.norm(S, "nuc"))
    return float(np.vdot(gradient, S)) + core.penalty * nuclear + reach * max(0.0, top - core.penalty)
