"""Predictions by one matrix variable: entries of it, or a product with data, times numbers, with constants added.

This is told from names alone; `factored` fills in the numbers.
"""

from __future__ import annotations

from dataclasses import replace

from ..light_dataclass import light_dataclass
from ..model import Expr

Multipliers = tuple[tuple[str, Expr | None], ...]
"""The multipliers around an expression, from the outside in: ("neg", None), ("mul", k) or ("div", k), k a constant scalar."""


@light_dataclass
class MatrixPrediction:
    """k K X + d b + constants: `kind` is "entries" or "product", `data` the observed entries or the matrix to the left.

    `path` leads to k, `intercept` is a free variable b with the path to d, `constants` are the others with theirs.
    """

    kind: str
    variable: str
    data: Expr
    path: Multipliers
    constants: tuple[tuple[Expr, Multipliers], ...] = ()
    intercept: tuple[Expr, Multipliers] | None = None

    @property
    def is_of_entries(self) -> bool:
        """True if it is of observed entries."""
        return self.kind == "entries"


def matrix_prediction(expr: Expr, path: Multipliers = ()) -> MatrixPrediction | None:
    """The parts of a prediction by one matrix variable; None for other expressions."""
    if expr.op == "add":
        return _sum(expr, path)
    within = _within(expr)
    if within is not None:
        inner, step = within
        return matrix_prediction(inner, (*path, step))
    more: Multipliers = ()
    if expr.op == "observe":
        kind, data, inside = "entries", expr.args[1], expr.args[0]
    elif expr.op == "matmul" and expr.args[0].is_constant:
        kind, inside = "product", expr.args[1]
        data, more = _bare(expr.args[0])
        matrix = data.args[0] if data.op == "transpose" else data
        if matrix.op not in ("data", "literal") or len(matrix.type.array_shape) != 2:
            return None
    else:
        return None
    variable, steps = _bare(inside)
    if variable.op != "var" or not variable.type.is_matrix:
        return None
    return MatrixPrediction(kind, variable.name, data, (*path, *more, *steps))


def _sum(expr: Expr, path: Multipliers) -> MatrixPrediction | None:
    live = [a for a in expr.args if not a.is_constant]
    constants = tuple((a, path) for a in expr.args if a.is_constant)
    intercept = None
    if len(live) == 2:
        free = [(a, *_bare(a)) for a in live]
        free = [(a, b, steps) for a, b, steps in free if b.op == "var" and (b.type.is_scalar or b.type.is_vector)]
        if len(free) != 1:
            return None
        term, b, steps = free[0]
        intercept = (b, (*path, *steps))
        live.remove(term)
    if len(live) != 1:
        return None
    found = matrix_prediction(live[0], path)
    if found is None or (intercept is not None and found.intercept is not None):
        return None
    return replace(found, constants=(*found.constants, *constants), intercept=intercept or found.intercept)


def _within(expr: Expr) -> tuple[Expr, tuple[str, Expr | None]] | None:
    """The expression that a number multiplies or divides, or a sign stands before."""
    if expr.op == "neg":
        return expr.args[0], ("neg", None)
    if expr.op == "mul":
        for number, inner in (expr.args, expr.args[::-1]):
            if number.is_constant and not number.type.array_shape and (inner.type.array_shape or not inner.is_constant):
                return inner, ("mul", number)
    if expr.op == "div" and expr.args[1].is_constant and not expr.args[1].type.array_shape:
        return expr.args[0], ("div", expr.args[1])
    return None


def _bare(expr: Expr) -> tuple[Expr, Multipliers]:
    path: Multipliers = ()
    within = _within(expr)
    while within is not None:
        expr, path = within[0], (*path, within[1])
        within = _within(expr)
    return expr, path
