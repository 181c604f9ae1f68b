r"""Newton's method on the free entries of the dual: the quadratic is minimised over them, with entries that leave their interval set to its end.

K_FF d + nu 1 = -g_F,  sum(d) = 0 with an equality;  all entries that would leave go to the end they would pass, and the others are solved for again
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from fwdsl.atoms.base import Array
from fwdsl.backends.factors import block_of

ROUNDS = 5
"""Solves of a step, with fewer entries each."""

JITTER = 1e-12
"""The share of the diagonal that is added where entries depend on each other."""


def newton_step(
    Q: Array, g: Array, v: Array, lo: Array, hi: Array, has_equality: bool, look: Callable[[], None] = lambda: None
) -> Array | None:
    """A step of v that lowers g'd + d'Qd / 2 and stays in [lo, hi]; None where none was found."""
    if v.size == 0:
        return None
    step, first = np.zeros(v.size), None
    free = np.ones(v.size, dtype=bool)
    for _ in range(ROUNDS):
        look()
        at = np.flatnonzero(free)
        if not at.size:
            break
        fixed = np.flatnonzero(~free)
        slope = g[at] + block_of(Q, at, fixed) @ step[fixed]
        d = _solved(Q if at.size == v.size else block_of(Q, at), slope, -float(step[fixed].sum()), has_equality)
        if d is None:
            return None
        step[at] = d
        first = step.copy() if first is None else first
        ahead = v + step
        out = free & ((ahead < lo) | (ahead > hi))
        if not out.any():
            break
        step[out] = np.where(ahead < lo, lo, hi)[out] - v[out]
        free &= ~out
    inside = bool(np.all((v + step >= lo) & (v + step <= hi)))
    balanced = not has_equality or abs(float(step.sum())) <= 1e-12 * float(np.abs(step).sum())
    if inside and balanced and float(g @ step) + 0.5 * float(step @ (Q @ step)) < 0.0:
        return step
    return None if first is None else _shortened(Q, g, v, lo, hi, first)


def _solved(Q: Array, slope: Array, total: float, has_equality: bool) -> Array | None:
    """d with Q d + nu 1 = -slope and sum(d) = total (without an equality Q d = -slope)."""
    from scipy.linalg import LinAlgError, cho_factor, cho_solve

    # LAPACK takes columns, which the rows of a symmetric matrix are: it would copy rows once more
    matrix = Q.copy().T
    np.fill_diagonal(matrix, Q.diagonal() + JITTER * float(np.trace(Q)) / Q.shape[0])
    try:
        factor = cho_factor(matrix, lower=True, overwrite_a=True, check_finite=False)
    except LinAlgError:
        return None
    right = np.column_stack([-slope, np.ones(slope.size)]) if has_equality else -slope[:, None]
    found = cho_solve(factor, right, check_finite=False)
    d = found[:, 0]
    if has_equality:
        d = d + found[:, 1] * ((total - float(d.sum())) / float(found[:, 1].sum()))
        # where Q is nearly singular the sum is lost in the digits that cancel
        d += (total - float(d.sum())) / d.size
    return d if np.all(np.isfinite(d)) else None


def _shortened(Q: Array, g: Array, v: Array, lo: Array, hi: Array, d: Array) -> Array | None:
    """The first direction as far as the nearest bound; None where it does not descend."""
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = np.where(d > 0.0, (hi - v) / d, np.where(d < 0.0, (lo - v) / d, np.inf))
    length = min(1.0, float(ratios.min(initial=np.inf)))
    step = np.clip(v + length * d, lo, hi) - v
    return step if length > 0.0 and float(g @ step) + 0.5 * float(step @ (Q @ step)) < 0.0 else None
