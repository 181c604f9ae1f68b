"""Newton steps on the face of g that a first-order method has identified.

On the face, g is affine plus its ridge, so P is smooth there. With I the free coordinates, N the normals of the face, H = K_I' diag(f'') K_I + R:

    [H  N'] [d ]   [-(grad F(x)_I + slope)]
    [N  0 ] [mu] = [          0           ]

The full step is made feasible by the prox with t = 0 (the projection on the set); where P does not fall, the step is stopped at the first
entry that reaches zero, or at the boundary of the set. A step is taken only if P falls.

The system is scaled to a unit diagonal, so that its damping means the same however the columns are scaled. Where steps have failed again and
again, f'' is a poor model (losses with linear pieces have none there): `stubborn` steps put at least FLOOR times the largest f'' in its
place, and are cut until P falls. That is a gradient step in the metric of the data, which bad scaling does not slow as it does APG's.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..atoms.base import Array
from .functions import FastLoss
from .problem import Problem

MAX_DENSE = 1_500
"""Free coordinates up to which H is formed and factored; beyond, projected conjugate gradients apply it."""

CG_STEPS = 60
FLOOR = 0.05
CUTS = 8
EPS = float(np.finfo(np.float64).eps)


@dataclass(frozen=True)
class NewtonFace:
    """The face of the whole x: free coordinates, normals, slope and curvature of g along them, and which must keep their sign."""

    free: NDArray[np.intp]
    normals: Array
    slope: Array
    curvature: Array
    signed: NDArray[np.bool_]

    @staticmethod
    def at(problem: Problem, x: Array) -> NewtonFace | None:
        """The face of g at x; None where some block is curved there or nothing is free."""
        free, slope, curvature, normals = [], [], [], []
        for block, g in zip(problem.canonical.blocks, problem.g, strict=True):
            face = g.f.face(x[block.slice])
            if face is None:
                return None
            free.append(block.start + face.free)
            slope.append(face.slope)
            curvature.append(np.full(face.free.size, g.f.curvature))
            normals.append(face.normals)
        total = sum(f.size for f in free)
        if total == 0:
            return None
        stacked = np.zeros((sum(n.shape[0] for n in normals), total))
        row = column = 0
        for n, f in zip(normals, free, strict=True):
            stacked[row : row + n.shape[0], column : column + f.size] = n
            row, column = row + n.shape[0], column + f.size
        all_slope = np.concatenate(slope)
        ridge = np.concatenate(curvature)
        index = np.concatenate(free)
        kink = (all_slope - ridge * x[index]) != 0.0
        return NewtonFace(index, stacked, all_slope, ridge, kink | np.any(stacked != 0.0, axis=0))


def face_signature(problem: Problem, x: Array) -> Array | None:
    """One number a coordinate that tells faces apart: 0 where held, the sign where it must be kept, 2 where free to cross zero."""
    out = np.zeros(x.size)
    for block, g in zip(problem.canonical.blocks, problem.g, strict=True):
        xb = x[block.slice]
        face = g.f.face(xb)
        if face is None:
            return None
        at = face.free
        if face.normals.size or face.slope.any():
            signed = face.slope != g.f.curvature * xb[at]
            if face.normals.size:
                signed |= (face.normals != 0.0).any(axis=0)
            out[block.start + at] = np.where(signed, np.sign(xb[at]), 2.0)
        else:
            out[block.start + at] = 2.0
    return out


def newton_step(
    problem: Problem, face: NewtonFace, x: Array, z: list[Array], value: float, grad: Array, stubborn: bool = False
) -> tuple[Array, list[Array], float] | None:
    """(x, z, P) after a step, or None where P would not fall enough; `stubborn` after many that did not."""
    weights = problem.curvatures(z)
    if stubborn:
        weights = [np.maximum(w, floor) for w, floor in zip(weights, _floors(problem), strict=True)]
    rhs = -(grad[face.free] + face.slope)
    d = _direction(problem, face, weights, rhs)
    if d is None or not np.all(np.isfinite(d)):
        return None
    slope = float(rhs @ d)
    if slope <= 0.0:
        return None
    cuts = [(0.25**k, True) for k in range(2, CUTS)] if stubborn else []
    for step, stop in [(1.0, False), (1.0, True), (0.25, True), *cuts]:
        length, new = _moved(problem, face, x, step * d, stop)
        if length <= EPS:
            # an entry at its bound to rounding is in the way: the prox step of APG puts it there and leaves it out
            break
        z_new = problem.forward(new)
        value_new = problem.objective(new, z_new)
        if value - value_new > 1e-4 * step * length * slope:
            return new, z_new, value_new
        if stop and length == 1.0 and not stubborn:
            # nothing was in the way: a shorter step only helps where the model is poor, which APG mends as well
            break
    return None


def _floors(problem: Problem) -> list[Array]:
    """FLOOR times the largest curvature of each sample's loss; 0 where there is none."""
    out = []
    for f in problem.functions:
        assert isinstance(f, FastLoss)
        out.append(FLOOR * (f.f.loss.smoothness or 0.0) * f.f.w)
    return out


def _moved(problem: Problem, face: NewtonFace, x: Array, d: Array, stop: bool) -> tuple[float, Array]:
    """The share of d taken, and x + d on the face or, with `stop`, x + t d with the largest t <= 1 that stays on it.

    Without `stop`, entries that would change sign are put to zero and the rest is projected on the set: the better step where the
    problem is well scaled. With it, the first entry to reach zero, or the boundary of the set, ends the step, and P falls along it
    as the model says, however the columns are scaled.
    """
    at = x[face.free]
    t = 1.0
    if stop:
        crossing = face.signed & ((at + d) * at < 0.0)
        t = float((at[crossing] / -d[crossing]).min(initial=1.0))
        t = _longest_feasible(problem, face, x, d, t)
    moved = at + t * d
    moved[face.signed & (moved * at <= np.abs(at) * EPS * np.abs(at))] = 0.0
    new = x.copy()
    new[face.free] = moved
    for block in problem.canonical.blocks:
        if block.symmetric:
            # H does not see the antisymmetric part, so what the solve left there is noise
            square = new[block.slice].reshape(block.shape)
            new[block.slice] = (0.5 * (square + square.T)).reshape(-1)
    return t, problem.prox_g(new, 0.0)


def _longest_feasible(problem: Problem, face: NewtonFace, x: Array, d: Array, t: float) -> float:
    """The largest step of at most t that stays in the set, to rounding."""

    def inside(step: float) -> bool:
        new = x.copy()
        new[face.free] += step * d
        return all(
            g.f.violation(new[b.slice]) <= 4.0 * EPS for b, g in zip(problem.canonical.blocks, problem.g, strict=True)
        )

    if inside(t):
        return t
    lo, hi = 0.0, t
    for _ in range(50):
        mid = 0.5 * (lo + hi)
        lo, hi = (mid, hi) if inside(mid) else (lo, mid)
    return lo


def _direction(problem: Problem, face: NewtonFace, weights: list[Array], rhs: Array) -> Array | None:
    if face.free.size > MAX_DENSE or not problem.can_form(face.free.size):
        return _conjugate_gradients(problem, face, weights, rhs)
    hessian = problem.gram(face.free, weights)
    diagonal = np.einsum("ii->i", hessian)
    diagonal += face.curvature
    # entries without curvature take the largest scale
    largest = max(float(diagonal.max(initial=0.0)), 1e-300)
    scale = 1.0 / np.sqrt(np.where(diagonal > 1e-300, diagonal, largest))
    hessian *= scale[:, None]
    hessian *= scale
    # a hair of damping where columns repeat: the step is only a trial
    diagonal += 1e-13
    free, k = face.free.size, face.normals.shape[0]
    system = np.zeros((free + k, free + k))
    system[:free, :free] = hessian
    system[free:, :free] = face.normals * scale
    system[:free, free:] = system[free:, :free].T
    try:
        step = np.linalg.solve(system, np.concatenate([scale * rhs, np.zeros(k)]))[:free]
    except np.linalg.LinAlgError:
        return None
    return np.asarray(scale * step)


def _conjugate_gradients(problem: Problem, face: NewtonFace, weights: list[Array], rhs: Array) -> Array:
    """CG on the null space of the normals, H applied as K_I' diag(f'') K_I."""
    basis, _ = np.linalg.qr(face.normals.T) if face.normals.size else (np.zeros((face.free.size, 0)), None)

    def project(v: Array) -> Array:
        return np.asarray(v - basis @ (basis.T @ v))

    full = np.zeros(problem.size)
    r = project(rhs)
    d = np.zeros_like(r)
    p = r.copy()
    rho = float(r @ r)
    target = 1e-4 * rho
    for _ in range(CG_STEPS):
        if rho <= target or rho == 0.0:
            break
        full[face.free] = p
        hp = problem.adjoint([w * v for w, v in zip(weights, problem.linear(full), strict=True)])[face.free]
        hp = project(hp + face.curvature * p)
        curvature = float(p @ hp)
        if curvature <= 0.0:
            break
        alpha = rho / curvature
        d += alpha * p
        r -= alpha * hp
        rho, old = float(r @ r), rho
        p = r + (rho / old) * p
    return d
