"""Least-squares steps that take a point that nearly meets the constraints to one that meets them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from fwdsl.atoms.base import Array, VectorFunction
from fwdsl.atoms.loss import LossFunction
from fwdsl.backends.dual_step import conjugate_gradients
from fwdsl.backends.problem import PreparedProblem
from fwdsl.canon.parts import SumTerm

ROUNDS = 10
ANYWAY = 2e7
"""Numbers that may be touched however little the method has done, some hundredths of a second."""

NEARLY = 1e-6
"""Residuals at most this share of the sizes of their terms may be rounding of a perfect fit."""


def allowance(problem: PreparedProblem, share: float, stop: Callable[[], bool]) -> Callable[[], bool]:
    """A function that says when work beside the method must end: `stop()` is true, or a share of the passes so far is used up."""
    before = problem.passes
    most = before + max(share * before, ANYWAY / problem.canonical.nnz)
    return lambda: stop() or problem.passes > most


def feasible_nearby(
    problem: PreparedProblem,
    x: Array,
    scale: Array | None,
    stop: Callable[[], bool] = lambda: False,
    fitted: bool = False,
) -> Array:
    """A point near x with K x + b in the sets that are products of intervals, as far as a few least-squares steps in the metric of the scales lead.

    Rows that are missed are put on their nearest bound; after each step the point is moved into the domains of the blocks. Other sets are left as
    they are. With `fitted` the residuals of losses are to be 0 too.
    """
    metric = np.ones_like(x) if scale is None else np.square(scale)
    active = [np.zeros(t.map.rows, dtype=np.bool_) for t in problem.terms]
    best, least = x, math.inf
    for _ in range(ROUNDS + 1):
        misses = [_miss(t, x, fitted) for t in problem.terms]
        size = sum(problem.dots(misses, misses))
        # constraints that cannot hold together leave nothing to come nearer to
        if not size < least:
            break
        best, least = x, size
        if size == 0.0:
            break
        for at, miss in zip(active, misses, strict=True):
            at |= miss != 0.0
        step = least_step(problem, active, misses, metric, stop)
        if step is None or stop():
            break
        wanted = x - step
        x = problem.prox_g(wanted, 0.0)
        # entries held by a bound leave the rest of the way to the others
        metric = np.where(x == wanted, metric, 0.0)
    return best


def nearly_fits(problem: PreparedProblem, x: Array) -> bool:
    """True if x all but fits the targets of all losses, which are of residuals and least where these are 0, and there is nothing else to minimise."""
    losses = [t for t in problem.terms if isinstance(t.f, LossFunction)]
    others = [t.f for t in problem.terms if not isinstance(t.f, LossFunction)] + [b.g for b in problem.canonical.blocks]
    if (
        not losses
        or problem.q.any()
        or not all(isinstance(f, VectorFunction) and f.coercive() is None and f.curvature == 0.0 for f in others)
    ):
        return False
    for term in losses:
        f = term.f
        assert isinstance(f, LossFunction)
        if not f.loss.word.residual or f.value(f.b) != f.infimum():
            return False
        miss, sizes = _miss(term, x, True), np.abs(term.map.offset) + np.abs(f.b)
        for block, m in term.map.parts:
            sizes = sizes + m.absolute().apply(np.abs(x[block.slice]))
        if not float(np.abs(miss).max(initial=0.0)) <= NEARLY * float(sizes.max(initial=0.0)):
            return False
    return True


def _miss(term: SumTerm, x: Array, fitted: bool) -> Array:
    """z = K x + b less the nearest point of an entrywise set, or with `fitted` less the targets of a loss that weighs; 0 of all else."""
    if fitted and isinstance(term.f, LossFunction):
        return np.where(term.f.w > 0.0, term.map.apply(x) - term.f.b, 0.0)
    if not isinstance(term.f, VectorFunction) or not term.f.entrywise:
        return np.zeros(term.map.rows)
    z = term.map.apply(x)
    return np.asarray(z - term.f.prox(z, 0.0))


def least_step(
    problem: PreparedProblem,
    active: Sequence[NDArray[np.bool_]],
    misses: Sequence[Array],
    metric: Array,
    stop: Callable[[], bool] = lambda: False,
) -> Array | None:
    """The least d, in the metric's inverse, with K d = miss in the active rows; None where nothing is missed there."""
    if not active:
        return None
    rows, miss = np.concatenate(active), np.concatenate(misses)
    if not miss[rows].any() or not np.all(np.isfinite(miss[rows])):
        return None
    cuts = np.cumsum([t.map.rows for t in problem.terms])[:-1]
    K, at, full = problem.products_by_rows, np.flatnonzero(rows), np.zeros(rows.size)

    def adjoint(lam: Array) -> Array:
        full[at] = lam
        if K is None:
            return metric * problem.adjoint(np.split(full, cuts))
        out = np.zeros(problem.size)
        K.add_adjoint(full, out, at)
        return metric * out

    def apply(lam: Array) -> Array:
        d = adjoint(lam)
        return np.asarray((np.concatenate(problem.linear(d)) if K is None else K @ d)[at])

    return adjoint(conjugate_gradients(apply, miss[rows], stop))
