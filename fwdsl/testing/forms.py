"""Conic forms and translations to cvxpy, evaluated by other means than the solver's, for the checks of losses and sets."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import numpy as np
from scipy.optimize import linprog

from ..atoms.base import Array
from ..atoms.conic import Conic, MatrixEntries
from ..extras import require
from ..oracle.refusals import quiet

LINEAR = ("zero", "nonnegative")

MOST_ROWS = 10
"""A quadratic program is solved by trying all sets of active rows; with more rows it is not."""


def least(form: Conic, z: Array) -> float | None:
    """The value at z that a conic form says: the least over its own unknowns, inf where none fit; None where it takes a cone solver."""
    F, G, kinds = _matrices(form)
    rows = F @ z + form.offset
    size = max(float(np.abs(F) @ np.abs(z) @ np.ones(rows.size)), float(np.abs(form.offset).sum())) or 1.0
    a, c = (np.broadcast_to(np.asarray(v, dtype=float), (form.size,)) for v in (form.curvature, form.slope))
    fixed = form.constant + 0.5 * float(a @ z**2) + float(c @ z)
    if not form.extra:
        return fixed if _inside(form, rows, 1e-9 * size) else math.inf
    if set(kinds) - set(LINEAR):
        return None
    d, e = (
        np.broadcast_to(np.asarray(v, dtype=float), (form.extra,)) for v in (form.extra_curvature, form.extra_slope)
    )
    if d.any():
        found = _least_square(d, e, G, rows, kinds)
        return None if found is None else fixed + found
    # cones allow any unit, and the tolerances of the linear program are those of numbers of about 1
    equal = kinds == "zero"
    solved = linprog(e, -G[~equal], rows[~equal] / size, G[equal], -rows[equal] / size, (None, None))
    return fixed + size * float(solved.fun) if solved.status == 0 else math.inf


def least_linear(form: Conic, c: Array) -> float | None:
    """min <c, z> over the set that a conic form says, by a linear program; None where its cones are no half-lines, or the cost has no minimum."""
    F, G, kinds = _matrices(form)
    if set(kinds) - set(LINEAR):
        return None
    size, price = float(np.abs(form.offset).max(initial=0.0)) or 1.0, float(np.abs(c).max(initial=0.0)) or 1.0
    both, equal = np.hstack([F, G]), kinds == "zero"
    cost = np.concatenate([c / price, np.zeros(form.extra)])
    h = form.offset / size
    solved = linprog(cost, -both[~equal], h[~equal], both[equal], -h[equal], (None, None))
    return float(solved.fun) * size * price if solved.status == 0 else None


def _matrices(form: Conic) -> tuple[Array, Array, Any]:
    """The matrices of z and of the unknowns, and the kind of each row's cone."""
    m = form.offset.size
    kinds = np.concatenate([np.zeros(0, dtype="U12"), *(np.repeat(np.array([c.kind]), c.rows) for c in form.cones)])
    return _dense(form.of_z, (m, form.size)), _dense(form.of_u, (m, form.extra)), kinds


def _dense(entries: MatrixEntries, shape: tuple[int, int]) -> Array:
    out = np.zeros(shape)
    np.add.at(out, (entries.row, entries.column), entries.value)
    return out


def _inside(form: Conic, rows: Array, allowed: float) -> bool:
    """True if the rows are in their cones, but for `allowed`."""
    at = 0
    for cone in form.cones:
        kind, n = cone.kind, cone.rows
        part, at = rows[at : at + n], at + n
        if kind == "zero":
            missed = float(np.abs(part).max(initial=0.0))
        elif kind == "nonnegative":
            missed = -float(part.min(initial=0.0))
        elif kind == "second_order":
            missed = float(np.linalg.norm(part[1:])) - float(part[0])
        elif kind == "exponential":
            x, y, z = part.reshape(-1, 3).T
            # x <= y log(z / y) where both are positive, and x <= 0 at y = 0
            reach = np.where(
                (y > 0.0) & (z > 0.0), np.maximum(y, 0.0) * (_log(z) - _log(y)), np.where(y > 0.0, -math.inf, 0.0)
            )
            missed = float(np.maximum(np.maximum(-y, -z), x - reach).max(initial=0.0))
        elif kind == "power":
            x, y, z = part.reshape(-1, 3).T
            reach = np.maximum(x, 0.0) ** cone.power * np.maximum(y, 0.0) ** (1.0 - cone.power)
            missed = float(np.maximum(np.maximum(-x, -y), np.abs(z) - reach).max(initial=0.0))
        else:
            order = (math.isqrt(8 * n + 1) - 1) // 2
            i, j = np.triu_indices(order)
            M = np.zeros((order, order))
            M[i, j] = M[j, i] = part * np.where(i == j, 1.0, math.sqrt(0.5))
            missed = -float(np.linalg.eigvalsh(M).min(initial=0.0))
        if missed > allowed:
            return False
    return True


def _log(x: Array) -> Array:
    """log x, 0 of numbers that are not positive."""
    return np.log(np.where(x > 0.0, x, 1.0))


def _least_square(d: Array, e: Array, G: Array, g: Array, kinds: Any) -> float | None:
    """min <d, u^2> / 2 + <e, u> with G u + g at least 0, or equal to it: the point at which some rows are active with multipliers of their sign."""
    k, m = d.size, g.size
    if m > MOST_ROWS:
        return None
    free = np.flatnonzero(kinds != "zero")
    fixed = np.flatnonzero(kinds == "zero")
    size = max(float(np.abs(g).max(initial=0.0)), float(np.abs(e).max(initial=0.0))) or 1.0
    for count in range(free.size + 1):
        for chosen in itertools.combinations(free, count):
            rows = np.concatenate([fixed, np.array(chosen, dtype=np.intp)])
            system = np.block([[np.diag(d), -G[rows].T], [G[rows], np.zeros((rows.size, rows.size))]])
            right = np.concatenate([-e, -g[rows]])
            found = np.linalg.lstsq(system, right, rcond=None)[0]
            u, prices = found[:k], found[k + fixed.size :]
            holds = np.abs(system @ found - right).max(initial=0.0) <= 1e-9 * size
            if holds and (prices >= -1e-9 * size).all() and (G[free] @ u + g[free] >= -1e-9 * size).all():
                return float(0.5 * d @ u**2 + e @ u)
    return math.inf


def translated_loss(translate: Callable[..., Any], z: Array, b: Array, p: Array) -> tuple[Array, bool] | None:
    """The values of a loss in cvxpy's words, and whether cvxpy knows it to be convex; None where cvxpy is not installed."""
    if find_spec("cvxpy") is None:
        return None
    cp = require("oracle")
    variable = cp.Variable(z.shape)
    variable.value = z
    expression = translate(variable, b, p)
    return np.broadcast_to(np.asarray(expression.value, dtype=np.float64), z.shape), bool(expression.is_convex())


def translated_projection(translate: Callable[[Any], list[Any] | None], v: Array) -> Array | None:
    """The point nearest to v of a set in cvxpy's words; None where there are none, or cvxpy is not installed."""
    if find_spec("cvxpy") is None:
        return None
    cp = require("oracle")
    x = cp.Variable(v.size)
    constraints = translate(x)
    if constraints is None:
        return None
    with quiet():
        cp.Problem(cp.Minimize(cp.sum_squares(x - v)), constraints).solve(solver=cp.CLARABEL)
    return None if x.value is None else np.asarray(x.value, dtype=np.float64)
