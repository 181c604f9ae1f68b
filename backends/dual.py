"""From the dual point that a method has to one that the verifier can use.

Weak duality needs v = -(q + K'y) in the domain of each block's g_B^*. Two repairs, each staying in the domain of the f_i^*:

* *equalities* (free variables, active signs): y moves along W E' lambda with E W E' lambda = miss, where E are the rows of K' whose
  equality is missed and W the distance of y to the ends of its interval, so entries at an end stay (one Newton step on the equality
  in the affine-scaling metric);
* *scaling* (penalties): the f_i^* are finite at 0, so s y with the largest s in [0, 1] that fits is dual feasible.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from ..atoms.base import Array, LossFunction, VectorFunction
from ..atoms.vectors.box import Box
from ..atoms.vectors.nonnegative import Nonnegative
from ..atoms.vectors.norm1 import Norm1
from .problem import Problem

DENSE_LIMIT = 1_500
"""Equalities up to which E W E' is formed and factored; beyond, conjugate gradients apply it."""

CG_STEPS = 1_000


def dual_value(problem: Problem, ys: Sequence[Array], kty: Array) -> float:
    """D(y), with each block's v taken to the nearest point of its domain: a bound only where v is in it, else optimistic."""
    v = -(problem.q + kty)
    total = problem.canonical.constant - problem.conjugates(ys)
    for block, g in zip(problem.canonical.blocks, problem.g, strict=True):
        vb = v[block.slice]
        value = g.conjugate(vb)
        total -= value if math.isfinite(value) else g.conjugate(g.f.dual_project(vb))
    return total


def feasible_scale(problem: Problem, kty: Array) -> float:
    """The largest s in [0, 1] with -(q + s K'y) in the domain of every block that scaling can bring there."""
    s = 1.0
    for block, g in zip(problem.canonical.blocks, problem.g, strict=True):
        qb, kb = problem.q[block.slice], kty[block.slice]
        if math.isfinite(g.conjugate(-(qb + s * kb))):
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
    problem: Problem, ys: Sequence[Array], x: Array, stop: Callable[[], bool] = lambda: False, rounds: int = 4
) -> list[Array]:
    """A dual point near `ys` that meets the equalities of free and cone blocks, then scaled where penalties need it.

    Once `stop()` is true it ends with what it has, which is no worse a dual point than the one given.
    """
    ys = [y.copy() for y in ys]
    kty = problem.adjoint(ys)
    for _ in range(rounds):
        wanted, miss = _misses(problem, kty, x)
        if not wanted.size or stop() or not _correct(problem, ys, wanted, miss, stop):
            break
        kty = problem.adjoint(ys)
    s = feasible_scale(problem, kty)
    # scaling keeps an equality K'y = -q only where q = 0; q on a free block is therefore never scaled past
    if 0.0 < s < 1.0 and not any(
        problem.q[b.slice].any() for b in problem.canonical.blocks if b.g.pair == (None, None)
    ):
        ys = [s * y for y in ys]
    return ys


def _misses(problem: Problem, kty: Array, x: Array) -> tuple[NDArray[np.intp], Array]:
    """Coordinates whose dual equality is to hold, and by how much v misses it there.

    For a free block every coordinate; for a cone (nonnegative, half-infinite boxes) those outside and those in the support,
    whose multiplier must vanish. Domains that scaling reaches (balls of penalties) are left to it.
    """
    index, miss = [], []
    v = -(problem.q + kty)
    for block, g in zip(problem.canonical.blocks, problem.g, strict=True):
        vb = v[block.slice]
        if math.isfinite(g.conjugate(vb)) or g.f.coercive() is not None:
            continue
        target = g.f.dual_project(vb)
        outside = vb != target
        if g.f.pair != (None, None):
            face = g.f.face(x[block.slice])
            if face is not None and not face.normals.size:
                outside[face.free] = True
            target = np.where(outside, 0.0, target)
        at = np.flatnonzero(outside)
        index.append(block.start + at)
        miss.append(vb[at] - target[at])
    if not index:
        return np.zeros(0, dtype=np.intp), np.zeros(0)
    return np.concatenate(index), np.concatenate(miss)


def _correct(
    problem: Problem, ys: list[Array], wanted: NDArray[np.intp], miss: Array, stop: Callable[[], bool]
) -> bool:
    """One step of y towards v[wanted] -= miss, in place; False where there is nowhere to go."""
    slack = [_slack(t.f, y) for t, y in zip(problem.terms, ys, strict=True)]
    lam = _solve(problem, slack, wanted, miss, stop)
    if lam is None or not np.all(np.isfinite(lam)):
        return False
    direction = np.zeros(problem.size)
    direction[wanted] = lam
    moved = False
    for k, z in enumerate(problem.linear(direction)):
        step = slack[k] * z
        interval = _interval(problem.terms[k].f)
        new = ys[k] + step if interval is None else np.clip(ys[k] + step, *interval)
        moved = moved or bool(np.any(new != ys[k]))
        ys[k] = new
    return moved


def _interval(f: LossFunction | VectorFunction) -> tuple[Array, Array] | None:
    """The domain of f* where it is a box; None where it is another set, in which y is left where it is."""
    if isinstance(f, LossFunction):
        return f.dual_bounds()
    if math.isfinite(f.radius()):
        return np.full(f.size, -math.inf), np.full(f.size, math.inf)
    if isinstance(f, Norm1):
        return np.full(f.size, -f.c), np.full(f.size, f.c)
    if isinstance(f, Box):
        return np.where(np.isinf(f.lo), 0.0, -math.inf), np.where(np.isinf(f.hi), 0.0, math.inf)
    if isinstance(f, Nonnegative):
        return np.full(f.size, -math.inf), np.zeros(f.size)
    return None


def _slack(f: LossFunction | VectorFunction, y: Array) -> Array:
    """Distance of y to the ends of its interval; where it has none, the size of y."""
    interval = _interval(f)
    if interval is None:
        return np.zeros_like(y)
    lo, hi = interval
    slack = np.minimum(y - lo, hi - y)
    unit = float(np.abs(y).max(initial=0.0)) or 1.0
    return np.where(np.isfinite(slack), np.maximum(slack, 0.0), unit)


def _solve(
    problem: Problem, slack: list[Array], wanted: NDArray[np.intp], miss: Array, stop: Callable[[], bool]
) -> Array | None:
    """lambda with E diag(slack) E' lambda = miss, E' = K restricted to the wanted coordinates; None where there is none."""
    if not any(s.any() for s in slack):
        return None
    if wanted.size > DENSE_LIMIT or not problem.can_form(wanted.size):
        return _conjugate_gradients(problem, slack, wanted, miss, stop)
    gram = problem.gram(wanted, slack)
    # equalities of very different sizes (an intercept beside small data) are brought to one before rank is judged
    root = np.sqrt(np.maximum(np.einsum("ii->i", gram), 0.0))
    inverse = np.where(root > 0.0, 1.0 / np.where(root > 0.0, root, 1.0), 0.0)
    gram *= inverse[:, None] * inverse
    if not np.all(np.isfinite(gram)):
        return None
    try:
        values, vectors = np.linalg.eigh(gram)
    except np.linalg.LinAlgError:
        return None
    # least norm: dependent columns (an intercept beside one-hot features) leave the system singular and consistent
    keep = values > max(float(values[-1]), 0.0) * 1e-13
    return np.asarray(inverse * (vectors[:, keep] @ ((vectors[:, keep].T @ (inverse * miss)) / values[keep])))


def _conjugate_gradients(
    problem: Problem, slack: list[Array], wanted: NDArray[np.intp], miss: Array, stop: Callable[[], bool]
) -> Array:
    lam = np.zeros(wanted.size)
    r = miss.copy()
    p = r.copy()
    rho = float(r @ r)
    target = rho * 1e-30
    full = np.zeros(problem.size)
    for _ in range(min(2 * wanted.size + 100, CG_STEPS)):
        if rho <= target or stop():
            break
        full[wanted] = p
        hp = problem.adjoint([s * z for s, z in zip(slack, problem.linear(full), strict=True)])[wanted]
        curvature = float(p @ hp)
        if not curvature > 0.0:
            break
        alpha = rho / curvature
        lam += alpha * p
        r -= alpha * hp
        rho, old = float(r @ r), rho
        p = r + (rho / old) * p
    return lam
