"""Repairs of a method's dual point, so that the verifier can use it.

Weak duality needs v = -(q + K'y) in the domain of each block's g_B^*. Two repairs, each staying in the domain of the f_i^*:

* *equalities* (free variables, active signs): y moves along W E' lambda with E W E' lambda = miss, where E are the rows of K' whose
  equality is missed and W the distance of y to the ends of its interval, so entries at an end stay (one Newton step on the equality
  in the affine-scaling metric). Losses of rows have no intervals: where y_i + w_i e_{label} = w_i p with p in the simplex, W is
  w_i (diag(p) - p p'), which keeps the sum; where the entries but the label's own are in intervals, W is theirs, and the label's
  entry makes up for their sum;
* *coordinates that a dual entry of their own makes up for* (`PreparedProblem.absorbing`) need no system: that entry is what the others leave;
* *scaling* (penalties): the f_i^* are finite at 0, so s y with the largest s in [0, 1] that fits is dual feasible.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from fwdsl.atoms.base import Array, LossFunction, VectorFunction
from fwdsl.atoms.vector_loss import VectorLossFunction
from fwdsl.backends.kernels.pool import Stopped
from fwdsl.backends.problem import PreparedProblem

DENSE_LIMIT = 1_500
"""Equalities up to which E W E' is formed and factored; beyond, conjugate gradients apply it."""

FEW = 64
"""Equalities up to which E W E' is formed column by column where a loss of rows stands in the sum."""

INDEPENDENT = 1e-5
"""The least pivot of a Cholesky factor of a matrix with ones on its diagonal whose columns are far from dependent."""

ROUNDING = 8.0 * float(np.finfo(np.float64).eps)
"""The share of the sizes of its terms by which an equality may be missed, as `fwdsl.certify.verify` has it."""

ROUNDS = 4
"""Corrections of a dual point, each for what the one before left."""

CG_STEPS = 1_000
LOST = 1e8
"""A squared residual so many times the least one so far shows that the system has no solution."""


def dual_value(problem: PreparedProblem, ys: Sequence[Array], kty: Array) -> float:
    """D(y), with each block's v taken to the nearest point of its domain: a bound only where v is in it, else optimistic."""
    v = -(problem.q + kty)
    total = problem.canonical.constant - problem.conjugates(ys)
    for block, g in zip(problem.canonical.blocks, problem.g, strict=True):
        vb = v[block.slice]
        value = g.conjugate(vb)
        total -= value if math.isfinite(value) else g.conjugate(g.f.dual_project(vb))
    return total


def feasible_scale(problem: PreparedProblem, kty: Array) -> float:
    """The largest s in [0, 1] with -(q + s K'y) in the domain of every block that scaling can bring there."""
    s = 1.0
    for block, g in zip(problem.canonical.blocks, problem.g, strict=True):
        qb, kb = problem.q[block.slice], kty[block.slice]
        # a ridge makes the domain everything
        if g.f.curvature > 0.0 or math.isfinite(g.conjugate(-(qb + s * kb))):
            continue
        if not qb.any():
            s = min(s, g.f.dual_scale(-kb))
            continue
        lo, hi = 0.0, s
        if not math.isfinite(g.conjugate(-qb)):
            return 0.0
        for _ in range(60):
            mid = 0.5 * (lo + hi)
            lo, hi = (mid, hi) if math.isfinite(g.conjugate(-(qb + mid * kb))) else (lo, mid)
        s = lo
    return s


def repair(
    problem: PreparedProblem,
    ys: Sequence[Array],
    x: Array,
    stop: Callable[[], bool] = lambda: False,
    interior: bool = False,
) -> list[Array]:
    """A dual point near `ys` that meets the equalities of free and cone blocks, then scaled where penalties need it.

    With `interior` those of bounded blocks too, in the coordinates of x that no bound holds: there an optimal v is 0. Once `stop()` is true it
    ends with what it has, which is no worse a dual point than the one given.
    """
    ys = [y.copy() for y in ys]
    kty = problem.adjoint(ys)
    for _ in range(ROUNDS):
        wanted, miss = _misses(problem, kty, x, interior)
        if not wanted.size or stop() or _is_rounding(problem, ys, wanted, miss):
            break
        others = ~problem.absorbed[wanted]
        if others.any() and not _correct(problem, ys, wanted[others], miss[others], stop):
            break
        if not others.all():
            if others.any():
                wanted, miss = _misses(problem, problem.adjoint(ys), x, interior)
            _absorb(problem, ys, wanted, miss)
        kty = problem.adjoint(ys)
    # where a step left a ball, all of y shrinks, which keeps the equalities as far as scaling does
    s = min((_shrinkage(t.f, y) for t, y in zip(problem.terms, ys, strict=True)), default=1.0)
    s *= feasible_scale(problem, s * kty)
    # scaling keeps an equality K'y = -q only where q = 0; q on a free block is therefore never scaled past
    if 0.0 < s < 1.0 and not any(
        problem.q[b.slice].any() for b in problem.canonical.blocks if b.g.pair == (None, None)
    ):
        ys = [s * y for y in ys]
    return ys


def _absorb(problem: PreparedProblem, ys: list[Array], wanted: NDArray[np.intp], miss: Array) -> None:
    """Move the entries of y that make up for what is missed, in place: v falls by what K'y grows."""
    missed = np.zeros(problem.size)
    missed[wanted] = miss
    for k, rows, columns, coefficients in problem.absorbing:
        ys[k][rows] += missed[columns] / coefficients


def _misses(problem: PreparedProblem, kty: Array, x: Array, interior: bool) -> tuple[NDArray[np.intp], Array]:
    """Coordinates whose dual equality is to hold, and by how much v misses it there.

    For a free block every coordinate; for a cone (nonnegative, half-infinite boxes) those outside and those in the support,
    whose multiplier must vanish. Domains that scaling reaches (balls of penalties) are left to it.
    """
    index, miss = [], []
    v = -(problem.q + kty)
    for block, g in zip(problem.canonical.blocks, problem.g, strict=True):
        vb = v[block.slice]
        if interior and g.f.entrywise and math.isfinite(g.f.radius()):
            face = g.f.face(x[block.slice])
            at = face.free if face is not None and not face.slope.any() else np.zeros(0, dtype=np.intp)
            index.append(block.start + at)
            miss.append(vb[at])
            continue
        if math.isfinite(g.conjugate(vb)) or g.f.coercive() is not None:
            continue
        target = g.f.dual_project(vb)
        outside = vb != target
        if g.f.pair != (None, None):
            face = g.f.face(x[block.slice])
            if face is not None and not face.normals.size:
                outside[face.free] = True
            if g.f.polyhedral and g.f.entrywise:
                target = np.where(outside, 0.0, target)
        at = np.flatnonzero(outside)
        index.append(block.start + at)
        miss.append(vb[at] - target[at])
    if not index:
        return np.zeros(0, dtype=np.intp), np.zeros(0)
    return np.concatenate(index), np.concatenate(miss)


def _is_rounding(problem: PreparedProblem, ys: list[Array], wanted: NDArray[np.intp], miss: Array) -> bool:
    """True if the verifier takes the equalities for met: y is in the domains, and nothing is missed by more than ROUNDING of its terms' sizes."""
    # all sizes together, which need no product
    total = float(np.abs(problem.q).sum())
    for y, rows in zip(ys, problem.row_sums, strict=True):
        total += sum(float(np.abs(y) @ row) for _, row in rows)
    if not float(np.abs(miss).max(initial=0.0)) <= ROUNDING * total or not math.isfinite(problem.conjugates(ys)):
        return False
    sizes = np.abs(problem.q)
    for term, y in zip(problem.terms, ys, strict=True):
        for block, m in term.map.parts:
            sizes[block.slice] += m.absolute().adjoint(np.abs(y))
    return bool(np.all(np.abs(miss) <= ROUNDING * sizes[wanted]))


def _correct(
    problem: PreparedProblem, ys: list[Array], wanted: NDArray[np.intp], miss: Array, stop: Callable[[], bool]
) -> bool:
    """One step of y towards v[wanted] -= miss, in place; False where there is nowhere to go."""
    return move(problem, ys, [_metric(t.f, y) for t, y in zip(problem.terms, ys, strict=True)], wanted, miss, stop)


def move(
    problem: PreparedProblem,
    ys: list[Array],
    metrics: Sequence[_Metric],
    wanted: NDArray[np.intp],
    miss: Array,
    stop: Callable[[], bool],
) -> bool:
    """The step W E' lambda of y, in place, with E W E' lambda = miss, W the metrics; False where it leads nowhere."""
    lam = _solve(problem, metrics, wanted, miss, stop)
    if lam is None or not np.all(np.isfinite(lam)):
        return False
    direction = np.zeros(problem.size)
    direction[wanted] = lam
    changed = False
    for k, z in enumerate(problem.linear(direction)):
        new = ys[k] + metrics[k].apply(z)
        f = problem.terms[k].f
        interval = _interval(f)
        if isinstance(f, VectorLossFunction):
            new = f.into_domain(new)
        elif interval is not None:
            new = np.clip(new, *interval)
        elif isinstance(f, VectorFunction) and not _is_ball(f):
            new = f.dual_project(new)
        changed = changed or bool(np.any(new != ys[k]))
        ys[k] = new
    return changed


def _interval(f: LossFunction | VectorLossFunction | VectorFunction) -> tuple[Array, Array] | None:
    """The domain of f* where it is a box; None where it is another set."""
    if isinstance(f, LossFunction):
        return f.dual_bounds()
    if isinstance(f, VectorLossFunction):
        return None
    if math.isfinite(f.radius()):
        return np.full(f.size, -math.inf), np.full(f.size, math.inf)
    found = f.entries()
    return None if found is None else found.slopes(f.size)


def _is_ball(f: LossFunction | VectorLossFunction | VectorFunction) -> bool:
    """True if the domain of f* is a ball about 0 that is no box: of a norm, which scaling then leads back into it."""
    return isinstance(f, VectorFunction) and f.coercive() is not None and _interval(f) is None


def _shrinkage(f: LossFunction | VectorLossFunction | VectorFunction, y: Array) -> float:
    """The factor that brings y back into such a ball; 1 elsewhere."""
    return f.dual_scale(y) if isinstance(f, VectorFunction) and _is_ball(f) else 1.0


class _Metric(Protocol):
    """W of one term: symmetric, positive semidefinite, and small towards the boundary of its domain."""

    def apply(self, z: Array) -> Array:
        """W z."""


@dataclass(frozen=True)
class DiagonalMetric:
    """diag(slack)."""

    slack: Array

    def apply(self, z: Array) -> Array:
        """W z."""
        return self.slack * z


@dataclass(frozen=True)
class _Simplices:
    """w_i^2 (diag(p_i) - p_i p_i') for each row, `mass` being the rows w_i^2 p_i."""

    mass: Array

    def apply(self, z: Array) -> Array:
        """W z."""
        rows = z.reshape(self.mass.shape)
        total = self.mass.sum(axis=1, keepdims=True)
        mean = (self.mass * rows).sum(axis=1, keepdims=True) / np.where(total > 0.0, total, 1.0)
        return np.asarray(self.mass * (rows - mean)).reshape(-1)


@dataclass(frozen=True)
class _Balanced:
    """sum over l of s_l (e_l - e_own) (e_l - e_own)' for each row, `slack` being 0 at each row's own entry."""

    slack: Array
    own: NDArray[np.int64]

    def apply(self, z: Array) -> Array:
        """W z."""
        rows, at = z.reshape(self.slack.shape), np.arange(self.own.size)
        step = self.slack * (rows - rows[at, self.own][:, None])
        step[at, self.own] = -step.sum(axis=1)
        return np.asarray(step).reshape(-1)


def _metric(f: LossFunction | VectorLossFunction | VectorFunction, y: Array) -> _Metric:
    """Distance of y to the ends of its domain times the size of the domain; where it has none, the size of y.

    Squares of y's unit, so that terms in other units share a correction as they would in one.
    """
    if isinstance(f, VectorLossFunction):
        return _metric_of_rows(f, y)
    interval = _interval(f)
    unit = float(np.abs(y).max(initial=0.0)) or 1.0
    if interval is None:
        return DiagonalMetric(np.full(y.size, unit * unit))
    lo, hi = interval
    slack, width = np.minimum(y - lo, hi - y), hi - lo
    return DiagonalMetric(
        np.where(np.isfinite(slack), np.maximum(slack, 0.0), unit) * np.where(np.isfinite(width), width, unit)
    )


def _metric_of_rows(f: VectorLossFunction, y: Array) -> _Metric:
    u, at = f.into_domain(y).reshape(f.shape), np.arange(f.y.size)
    if f.loss.boxed_dual:
        slack = np.maximum(np.minimum(u, f.w[:, None] - u), 0.0) * f.w[:, None]
        slack[at, f.y] = 0.0
        return _Balanced(slack, f.y)
    mass = u.copy()
    mass[at, f.y] += f.w
    return _Simplices(np.maximum(mass, 0.0) * f.w[:, None])


def _solve(
    problem: PreparedProblem,
    metrics: Sequence[_Metric],
    wanted: NDArray[np.intp],
    miss: Array,
    stop: Callable[[], bool],
) -> Array | None:
    """lambda with E W E' lambda = miss, E' = K restricted to the wanted coordinates; None where there is none."""
    slack = [m.slack for m in metrics if isinstance(m, DiagonalMetric)]
    if len(slack) == len(metrics):
        if not any(s.any() for s in slack):
            return None
        if wanted.size > DENSE_LIMIT or not problem.can_form(wanted.size):
            return conjugate_gradients(lambda lam: _apply(problem, metrics, wanted, lam), miss, stop)
        try:
            gram = problem.gram(wanted, slack)
        except Stopped:
            return None
    elif wanted.size > FEW:
        return conjugate_gradients(lambda lam: _apply(problem, metrics, wanted, lam), miss, stop)
    else:
        gram = np.stack([_apply(problem, metrics, wanted, e) for e in np.eye(wanted.size)])
        gram = 0.5 * (gram + gram.T)
    # equalities of very different sizes (an intercept beside small data) are brought to one before rank is judged
    root = np.sqrt(np.maximum(np.einsum("ii->i", gram), 0.0))
    inverse = np.where(root > 0.0, 1.0 / np.where(root > 0.0, root, 1.0), 0.0)
    gram *= inverse[:, None] * inverse
    if not np.all(np.isfinite(gram)):
        return None
    if wanted.size > FEW:
        # many equalities that are far from dependent need no eigenvalues
        found = _independent(gram, inverse * miss)
        if found is not None:
            return inverse * found
    try:
        values, vectors = np.linalg.eigh(gram)
    except np.linalg.LinAlgError:
        return None
    # least norm: dependent columns (an intercept beside one-hot features) leave the system singular and consistent
    keep = values > max(float(values[-1]), 0.0) * 1e-13
    return np.asarray(inverse * (vectors[:, keep] @ ((vectors[:, keep].T @ (inverse * miss)) / values[keep])))


def _independent(gram: Array, right: Array) -> Array | None:
    """The solution of a system with ones on its diagonal; None where it is singular, or nearly so."""
    try:
        lower = np.linalg.cholesky(gram)
    except np.linalg.LinAlgError:
        return None
    if not float(lower.diagonal().min()) > INDEPENDENT:
        return None
    return np.asarray(np.linalg.solve(gram, right))


def _apply(problem: PreparedProblem, metrics: Sequence[_Metric], wanted: NDArray[np.intp], lam: Array) -> Array:
    """E W E' lambda."""
    full = np.zeros(problem.size)
    full[wanted] = lam
    return problem.adjoint([m.apply(z) for m, z in zip(metrics, problem.linear(full), strict=True)])[wanted]


def conjugate_gradients(
    apply: Callable[[Array], Array], right: Array, stop: Callable[[], bool] = lambda: False
) -> Array:
    """The solution of a consistent positive semidefinite system, as far as CG_STEPS lead; of another, the point of least residual."""
    x, r = np.zeros_like(right), right.copy()
    p, rho = r.copy(), float(right @ right)
    best, least, target = x, rho, rho * 1e-30
    for _ in range(min(2 * right.size + 100, CG_STEPS)):
        if not target < rho <= LOST * least or stop():
            break
        h = apply(p)
        curvature = float(p @ h)
        if not curvature > 0.0:
            break
        x = x + (rho / curvature) * p
        r -= (rho / curvature) * h
        rho, old = float(r @ r), rho
        p = r + (rho / old) * p
        if rho < least:
            best, least = x, rho
    return best
