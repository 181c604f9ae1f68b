"""Rays that prove that there is no solution, made of the direction in which a method's iterates leave for infinity.

The raw direction is near the ray that it tends to. Entries on their way to zero are dropped: those that are small beside the largest in the scaled
unknowns, and the rest takes the least-squares step (in the metric of the scales) that meets the ray's equalities, a few times over. Of rays of
infeasibility the equalities are K'y = 0 where variables are free, or where a cone's side is overstepped; of rays of unboundedness K d = 0 in equality
constraints, in the rows of a loss that grows both ways, and in constraints that are overstepped.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from fwdsl.atoms.base import Array, VectorFunction
from fwdsl.atoms.loss import LossFunction
from fwdsl.backends.dual import move
from fwdsl.backends.dual_step import INDEPENDENT, MOST_WORK, DiagonalMetric
from fwdsl.backends.factors import cholesky
from fwdsl.backends.nearby import least_step
from fwdsl.backends.problem import PreparedProblem
from fwdsl.canon.parts import SumTerm

THRESHOLDS = (1e-1, 1e-2, 1e-3, 1e-5, 0.0)
"""Shares of the largest entry below which entries are dropped, one after the other."""

ROUNDS = 3


def dual_rays(
    problem: PreparedProblem, direction: Sequence[Array], scales: Sequence[Array] | None, stop: Callable[[], bool]
) -> Iterator[list[Array]]:
    """Multipliers of constraints and domains alone, to try as proofs of infeasibility; `scales` are those of the rows (None: all alike).

    Once `stop()` is true they are only roughly polished. There are none where 0 alone meets their equalities.
    """
    ones = [np.ones_like(y) for y in direction]
    rows = [np.broadcast_to(s, y.shape) for s, y in zip(scales or ones, direction, strict=True)]
    ys = [y / r if t.domain else np.zeros_like(y) for y, r, t in zip(direction, rows, problem.terms, strict=True)]
    peak = max((float(np.abs(y).max(initial=0.0)) for y in ys), default=0.0)
    if not 0.0 < peak < math.inf or _only_zero(problem):
        return
    kept = -1
    for share in THRESHOLDS:
        held = [np.abs(y) > share * peak for y in ys]
        count = sum(int(h.sum()) for h in held)
        if count == kept:
            continue
        kept = count
        yield _balanced(
            problem, stop, [np.where(h, y / peak, 0.0) * r for h, y, r in zip(held, ys, rows, strict=True)], rows
        )


def _only_zero(problem: PreparedProblem) -> bool:
    """True if the rows of constraints and domains, in the unknowns that no set holds, are far from dependent: K'y = 0 there has no solution but 0.

    Rows that see none of these unknowns, nor any other, are left out where they are met: they contradict nothing.
    """
    known = _zeros.get(problem)
    if known is None:
        known = _zeros[problem] = _has_independent_rows(problem)
    return known


#: What is asked of a problem each time that directions are tried.
_zeros: WeakKeyDictionary[PreparedProblem, bool] = WeakKeyDictionary()


def _has_independent_rows(problem: PreparedProblem) -> bool:
    free = [np.arange(b.start, b.start + b.size) for b in problem.canonical.blocks if b.g.set_beneath() is None]
    at = np.concatenate([np.zeros(0, dtype=np.intp), *free])
    live = [np.arange(t.map.rows if t.domain else 0) for t in problem.terms]
    count = sum(rows.size for rows in live)
    if not 0 < count <= at.size or count**2 * at.size > MOST_WORK or not problem.can_form(at.size):
        return False
    K = problem.columns(at, live)
    problem.decomposed += count**2 * at.size
    sizes = np.sqrt(np.einsum("ij,ij->i", K, K))
    empty = np.split(sizes == 0.0, np.cumsum([rows.size for rows in live])[:-1])
    if at.size < problem.size and np.any(sizes == 0.0):
        return False
    if not np.all(np.isfinite(sizes)) or not all(map(_is_met, problem.terms, empty)):
        return False
    seen = sizes > 0.0
    K = K[seen] / sizes[seen, None]
    lower = cholesky(K @ K.T)
    return lower is not None and float(lower.diagonal().min(initial=math.inf)) > INDEPENDENT


def _is_met(term: SumTerm, rows: NDArray[np.bool_]) -> bool:
    """True if these rows of a term, of which no unknown is seen, are within its bounds."""
    if not rows.any():
        return True
    found = term.f.entries() if isinstance(term.f, VectorFunction) else None
    if found is None:
        return False
    o = term.map.offset
    return bool(np.all(((found.lo <= o) & (o <= found.hi))[rows]))


def _balanced(
    problem: PreparedProblem, stop: Callable[[], bool], ys: list[Array], rows: Sequence[Array]
) -> list[Array]:
    """y moved, within its support, so that K'y vanishes where it must."""
    wanted = np.zeros(problem.size, dtype=np.bool_)
    for block in problem.canonical.blocks:
        wanted[block.slice] = block.g.set_beneath() is None
    metrics = [DiagonalMetric(np.where(y != 0.0, np.square(r), 0.0)) for y, r in zip(ys, rows, strict=True)]
    for _ in range(ROUNDS):
        v = -problem.adjoint(ys)
        for block in problem.canonical.blocks:
            on = block.g.set_beneath()
            if on is not None and on.entrywise and not math.isfinite(on.radius()):
                wanted[block.slice] |= v[block.slice] != on.dual_project(v[block.slice])
        at = np.flatnonzero(wanted)
        if not v[at].any() or not move(problem, ys, metrics, at, v[at], stop):
            break
        for y, term in zip(ys, problem.terms, strict=True):
            if not term.domain:
                # the slopes of a norm or a largest entry need not have 0 among them
                y[:] = 0.0
    return ys


def primal_rays(
    problem: PreparedProblem, direction: Array, scale: Array | None, stop: Callable[[], bool]
) -> Iterator[Array]:
    """Directions to try as proofs that the objective has no bound; `scale` is that of the unknowns (None: all alike).

    Once `stop()` is true they are only roughly polished.
    """
    t = np.ones_like(direction) if scale is None else scale
    d = direction / t
    peak = float(np.abs(d).max(initial=0.0))
    if not 0.0 < peak < math.inf:
        return
    kept = -1
    for share in THRESHOLDS:
        held = np.abs(d) > share * peak
        count = int(held.sum())
        if count == kept:
            continue
        kept = count
        yield _along_constraints(problem, stop, np.where(held, d / peak, 0.0) * t, np.where(held, np.square(t), 0.0))


def is_bounded_below(problem: PreparedProblem) -> bool:
    """True if there is no linear cost and every function has a finite least value: then no direction lowers their sum without end."""
    if problem.q.any() or not math.isfinite(problem.conjugates([np.zeros(t.map.rows) for t in problem.terms])):
        return False
    blocks = zip(problem.canonical.blocks, problem.g, strict=True)
    return all(math.isfinite(g.conjugate(np.zeros(block.size))) for block, g in blocks)


def idle_direction(problem: PreparedProblem) -> Array:
    """-q at the unknowns that no term of the sum has: the objective falls along it unless their own sets stop it.

    The iterates show no such direction where its costs are small beside those of other unknowns.
    """
    d = -problem.q
    for term in problem.canonical.terms:
        for block, m in term.map.parts:
            if d[block.slice].any():
                d[block.slice][m.absolute().adjoint(np.ones(term.map.rows)) != 0.0] = 0.0
    return d


def _along_constraints(problem: PreparedProblem, stop: Callable[[], bool], d: Array, metric: Array) -> Array:
    """d moved, within its support, so that K d vanishes where it must."""
    active = [np.zeros(t.map.rows, dtype=np.bool_) for t in problem.terms]
    for _ in range(ROUNDS):
        zs = problem.linear(d)
        for at, term, z in zip(active, problem.terms, zs, strict=True):
            at |= _must_vanish(term.f, z)
        step = least_step(problem, active, zs, metric, stop)
        if step is None:
            break
        d = d - step
    return d


def _must_vanish(f: object, z: Array) -> NDArray[np.bool_]:
    """The entries of K d that must be zero, as f allows neither side, or not the one they are on."""
    if isinstance(f, LossFunction):
        lo, hi = f.dual_bounds()
        return np.asarray(np.isinf(np.where(z > 0.0, hi, lo)) & (z != 0.0))
    found = f.entries() if isinstance(f, VectorFunction) else None
    if found is not None and not found.ridge:
        return np.asarray((np.isfinite(found.lo) & (z < 0.0)) | (np.isfinite(found.hi) & (z > 0.0)))
    bounded = isinstance(f, VectorFunction) and (math.isfinite(f.radius()) or f.curvature > 0.0)
    return np.asarray(np.full(z.size, bounded) & (z != 0.0))
