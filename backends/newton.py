"""Newton steps on the face of g that a first-order method has identified.

On the face, g is affine plus its ridge, so P is smooth there. With I the free coordinates, N the normals of the face, H = K_I' diag(f'') K_I + R:

    [H  N'] [d ]   [-(grad F(x)_I + slope)]
    [N  0 ] [mu] = [          0           ]

The full step is made feasible by the prox with t = 0 (the projection on the set); where P does not fall, entries that reach zero are held
there one after the other, the step solved again for the rest each time, and the result stops at the boundary of the set. A step is
taken only if P falls.

The system is scaled to a unit diagonal, so that its damping means the same however the columns are scaled. Where steps have failed again and
again, f'' is a poor model (losses with linear pieces have none there): `stubborn` steps put at least FLOOR times the largest f'' in its
place, and are cut until P falls. That is a gradient step in the metric of the data, which bad scaling does not slow as it does APG's.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fwdsl.atoms.base import Array
from fwdsl.backends.factors import block_of
from fwdsl.backends.functions import FastLoss
from fwdsl.backends.problem import PreparedProblem
from fwdsl.light_dataclass import light_dataclass

MAX_DENSE = 1_500
"""Free coordinates up to which H is formed and factored; beyond, projected conjugate gradients apply it."""

MOST_ROUNDS = 40
ROUNDS_WORK = 5e9
"""Most solves along one path, and the most cubes of sizes that they may cost together."""

DAMPING = 1e-11
"""Added to the unit diagonal. Where columns repeat, the rounding of the right side is divided by it: with less, the last bit decides the step."""

CG_STEPS = 60
FLOOR = 0.05
CUTS = 8
SEARCH = 30
EPS = float(np.finfo(np.float64).eps)


@light_dataclass
class NewtonFace:
    """The face of the whole x: free coordinates, normals, slope and curvature of g along them, and which must keep their sign."""

    free: NDArray[np.intp]
    normals: Array
    slope: Array
    curvature: Array
    signed: NDArray[np.bool_]

    @staticmethod
    def at(problem: PreparedProblem, x: Array) -> NewtonFace | None:
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


def face_signature(problem: PreparedProblem, x: Array) -> Array | None:
    """A number for each coordinate, by which faces differ: 0 where held, the sign where it must be kept, 2 where free to cross zero."""
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
    problem: PreparedProblem,
    face: NewtonFace,
    x: Array,
    z: list[Array],
    value: float,
    grad: Array,
    stubborn: bool = False,
) -> tuple[Array, list[Array], float] | None:
    """(x, z, P) after a step, or None where P would not fall enough; `stubborn` after many that did not."""
    weights = problem.curvatures(z)
    if stubborn:
        weights = [np.maximum(w, floor) for w, floor in zip(weights, _floors(problem), strict=True)]
    rhs = -(grad[face.free] + face.slope)
    system = _System.of(problem, face, weights, rhs)
    d = system.solve() if system is not None else _conjugate_gradients(problem, face, weights, rhs)
    if d is None or not np.all(np.isfinite(d)):
        return None
    slope = float(rhs @ d)
    if slope <= EPS * abs(value):
        # P would fall by half of it at most, which rounding hides
        return None
    cuts = [(0.25**k, True) for k in range(2, CUTS)] if stubborn else []
    for step, stop in [(1.0, False), (1.0, True), (0.25, True), *cuts]:
        problem.look()
        if stop and step == 1.0 and system is not None:
            bent = _along_signs(face, system, x[face.free], d)
            if float(rhs @ bent) > 0.0:
                d, slope = bent, float(rhs @ bent)
        length, new = _taken(problem, face, x, step * d, stop)
        if length <= EPS:
            # an entry at its bound to rounding is in the way: the prox step of APG puts it there and leaves it out
            break
        z_new = problem.forward(new)
        value_new = problem.objective(new, z_new)
        if value - value_new > 1e-4 * step * length * slope:
            return new, z_new, value_new
        if stop and length == 1.0 and not stubborn:
            # nothing was in the way: it is the model that is poor, as where the loss has pieces
            return _searched(problem, face, x, z, value, rhs, d)
    return None


def _searched(
    problem: PreparedProblem, face: NewtonFace, x: Array, z: list[Array], value: float, rhs: Array, d: Array
) -> tuple[Array, list[Array], float] | None:
    """The step to the minimum of P along d: by a safeguarded secant on the slope, which needs one product with the data for all its trials.

    On losses with quadratic pieces steps of length 1 can go back and forth between two sets of active samples; those of an exact search end after
    finitely many (Keerthi, DeCoste 2005).
    """
    slope = float(rhs @ d)
    _, start = problem.losses_gradient(z)
    along = np.zeros_like(x)
    along[face.free] = d
    dz = problem.linear(along)
    bend = float(face.curvature @ np.square(d))

    def falls(t: float) -> float:
        """-dP/dt at x + t d."""
        _, ys = problem.losses_gradient([a + t * b for a, b in zip(z, dz, strict=True)])
        return slope - t * bend - sum(problem.dots([y - y0 for y, y0 in zip(ys, start, strict=True)], dz))

    lo, hi, left, right = 0.0, 1.0, slope, falls(1.0)
    if not right < 0.0:
        return None
    t = left / (left - right)
    for _ in range(SEARCH):
        problem.look()
        here = falls(t)
        if abs(here) <= 1e-3 * slope:
            break
        if here > 0.0:
            lo, left = t, here
        else:
            hi, right = t, here
        secant = lo + (hi - lo) * left / (left - right)
        # an end that stays makes the secant creep
        t = secant if lo + 0.1 * (hi - lo) < secant < hi - 0.1 * (hi - lo) else 0.5 * (lo + hi)
    length, new = _taken(problem, face, x, t * d, True)
    z_new = problem.forward(new)
    value_new = problem.objective(new, z_new)
    return (new, z_new, value_new) if value - value_new > 1e-4 * t * length * slope else None


def _floors(problem: PreparedProblem) -> list[Array]:
    """FLOOR times the largest curvature of each sample's loss; 0 where there is none."""
    out = []
    for f in problem.functions:
        assert isinstance(f, FastLoss)
        out.append(FLOOR * (f.f.loss.smoothness or 0.0) * f.f.w)
    return out


def _taken(problem: PreparedProblem, face: NewtonFace, x: Array, d: Array, stop: bool) -> tuple[float, Array]:
    """The share of d taken, and x + d on the face or, with `stop`, x + t d with the largest t <= 1 that stays on it.

    Without `stop`, entries that would change sign are put to zero and the rest is projected on the set: the better step where the
    problem is well scaled. With it, the first entry to cross zero, or the boundary of the set, ends the step, and P falls along it
    as the model says, however the columns are scaled; a step `_along_signs` crosses nothing.
    """
    at = x[face.free]
    t = 1.0
    if stop:
        crossing = face.signed & ((at + d) * at < 0.0)
        t = float((at[crossing] / -d[crossing]).min(initial=1.0))
        t = _longest_feasible(problem, face, x, d, t)
    at_new = at + t * d
    at_new[face.signed & (at_new * at <= np.abs(at) * EPS * np.abs(at))] = 0.0
    new = x.copy()
    new[face.free] = at_new
    for block in problem.canonical.blocks:
        if block.symmetric:
            # H is 0 on the antisymmetric part, so the solve leaves noise there
            square = new[block.slice].reshape(block.shape)
            new[block.slice] = (0.5 * (square + square.T)).reshape(-1)
    return t, problem.prox_g(new, 0.0)


def _longest_feasible(problem: PreparedProblem, face: NewtonFace, x: Array, d: Array, t: float) -> float:
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
        problem.look()
        mid = 0.5 * (lo + hi)
        lo, hi = (mid, hi) if inside(mid) else (lo, mid)
    return lo


@light_dataclass
class _System:
    """The system of a step, scaled to a unit diagonal: `solve` takes entries out that are to reach zero."""

    matrix: Array
    rhs: Array
    scale: Array

    @staticmethod
    def of(problem: PreparedProblem, face: NewtonFace, weights: list[Array], rhs: Array) -> _System | None:
        """H with the normals below; None where it is too large to be formed, or f'' of rows of predictions is no diagonal."""
        if face.free.size > MAX_DENSE or not problem.can_form(face.free.size):
            return None
        if not all(isinstance(f, FastLoss) for f in problem.functions):
            return None
        hessian = problem.gram(face.free, weights)
        diagonal = np.einsum("ii->i", hessian)
        diagonal += face.curvature
        # entries without curvature take the largest scale
        largest = max(float(diagonal.max(initial=0.0)), 1e-300)
        scale = 1.0 / np.sqrt(np.where(diagonal > 1e-300, diagonal, largest))
        hessian *= scale[:, None]
        hessian *= scale
        diagonal += DAMPING
        free, k = face.free.size, face.normals.shape[0]
        matrix = np.zeros((free + k, free + k))
        matrix[:free, :free] = hessian
        # rows that set an entry to 0 may have any size: one that shows beside the unit diagonal
        normals = face.normals * scale
        lengths = np.abs(normals).max(axis=1, initial=0.0)
        matrix[free:, :free] = normals / np.where(lengths > 0.0, lengths, 1.0)[:, None]
        matrix[:free, free:] = matrix[free:, :free].T
        return _System(matrix, np.concatenate([scale * rhs, np.zeros(k)]), scale)

    def solve(self, held: NDArray[np.bool_] | None = None, at: Array | None = None) -> Array | None:
        """d; where `held`, d = -at."""
        free = self.scale.size
        try:
            if held is None or at is None:
                return np.asarray(self.scale * np.linalg.solve(self.matrix, self.rhs)[:free])
            d = np.zeros(self.rhs.size)
            d[:free][held] = -at[held] / self.scale[held]
            rest = np.concatenate([np.flatnonzero(~held), np.arange(free, self.rhs.size)])
            rhs = self.rhs - self.matrix @ d
            d[rest] = np.linalg.solve(block_of(self.matrix, rest), rhs[rest])
        except np.linalg.LinAlgError:
            return None
        out = np.asarray(self.scale * d[:free])
        out[held] = -at[held]
        return out


def _along_signs(face: NewtonFace, system: _System, at: Array, d: Array) -> Array:
    """The end of a path on which the model falls and no entry changes sign: where one reaches zero it is held there, and the step solved again."""
    rounds = min(MOST_ROUNDS, max(1, int(ROUNDS_WORK / max(1, at.size) ** 3)))
    held = np.zeros(at.size, dtype=np.bool_)
    gone = np.zeros(at.size)
    for _ in range(rounds):
        here, rest = at + gone, d - gone
        crossing = face.signed & ~held & ((at + d) * at < 0.0)
        if not crossing.any():
            return d
        lengths = np.full(at.size, np.inf)
        lengths[crossing] = here[crossing] / -rest[crossing]
        t = float(lengths.min())
        first = lengths <= t * (1.0 + 4.0 * EPS)
        gone = gone + t * rest
        held |= first
        gone[held] = -at[held]
        again = system.solve(held, at)
        if again is None or not np.all(np.isfinite(again)):
            return gone
        d = again
    return gone


def _conjugate_gradients(problem: PreparedProblem, face: NewtonFace, weights: list[Array], rhs: Array) -> Array:
    """CG on the null space of the normals, H applied as K_I' f'' K_I."""
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
        problem.look()
        full[face.free] = p
        hp = problem.adjoint(problem.bent(weights, problem.linear(full)))[face.free]
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
