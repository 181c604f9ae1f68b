"""Least-squares steps that take a point that nearly meets the constraints to one that meets them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from fwdsl.atoms.base import Array, VectorFunction
from fwdsl.backends.dual_step import conjugate_gradients
from fwdsl.backends.problem import PreparedProblem
from fwdsl.canon.parts import SumTerm

ROUNDS = 5
ANYWAY = 2e7
"""Numbers that may be touched however little the method has done, some hundredths of a second."""


def allowance(problem: PreparedProblem, share: float, stop: Callable[[], bool]) -> Callable[[], bool]:
    """A function that says when work beside the method must end: `stop()` is true, or a share of the passes so far is used up."""
    before = problem.passes
    most = before + max(share * before, ANYWAY / problem.canonical.nnz)
    return lambda: stop() or problem.passes > most


def feasible_nearby(
    problem: PreparedProblem, x: Array, scale: Array | None, stop: Callable[[], bool] = lambda: False
) -> Array:
    """A point near x with K x + b in the sets that are products of intervals, as far as a few least-squares steps in the metric of the scales lead.

    Rows that are missed are put on their nearest bound; after each step the point is moved into the domains of the blocks. Other sets are left as
    they are.
    """
    metric = np.ones_like(x) if scale is None else np.square(scale)
    active = [np.zeros(t.map.rows, dtype=np.bool_) for t in problem.terms]
    best, least = x, math.inf
    for _ in range(ROUNDS + 1):
        misses = [_miss(t, x) for t in problem.terms]
        size = sum(float(miss @ miss) for miss in misses)
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


def _miss(term: SumTerm, x: Array) -> Array:
    """z = K x + b less the nearest point of an entrywise set; 0 of all else."""
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

    def adjoint(lam: Array) -> Array:
        full = np.zeros(rows.size)
        full[rows] = lam
        return metric * problem.adjoint(np.split(full, cuts))

    def apply(lam: Array) -> Array:
        return np.asarray(np.concatenate(problem.linear(adjoint(lam)))[rows])

    return adjoint(conjugate_gradients(apply, miss[rows], stop))
