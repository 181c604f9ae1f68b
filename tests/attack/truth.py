"""The truth about a program in its natural units: its optimal value by cvxpy, the sizes of its terms, and whether a point is feasible."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

import fwdsl as fw
from fwdsl.oracle import solve_oracle
from fwdsl.oracle.blocks import FamilyExpression
from fwdsl.oracle.refusals import quiet
from fwdsl.oracle.translate import Translator

from .generator import Program

MET = 1e-8
"""Misses of constraints, relative to the point's size where that is above one, that do not make a better point of a worse one."""

AGREES = 1e-6
"""The difference of two solvers' values, relative to the sizes of the terms, that confirms them."""

_OTHERS: tuple[dict[str, Any], ...] = (
    {"solver": "HIGHS", "time_limit": 20.0},
    {"solver": "SCS", "eps_abs": 1e-9, "eps_rel": 1e-9, "max_iters": 200_000, "time_limit_secs": 20.0},
    {"solver": "CLARABEL", "equilibrate_enable": False, "max_iter": 1000, "time_limit": 20.0},
)


@dataclass(frozen=True)
class Truth:
    """`value` is right to `error`; `size` is the sum of the sizes of the terms at zero and at the answer, the language's S but for its dual part."""

    status: str
    value: float
    error: float
    size: float
    sense: int


def truth_of(program: Program) -> Truth:
    """The truth by cvxpy, as accurately as its solvers can."""
    text, data = (program.reference, program.reference_data) if program.reference else (program.text, program.data)
    instance = fw.parse(text).bind(**data).instance
    oracle = solve_oracle(instance, seconds=20.0)
    sense = 1 if instance.model.sense == "minimize" else -1
    if oracle.status != "optimal" or not math.isfinite(oracle.value):
        return Truth(
            "no value" if oracle.status == "optimal" else oracle.status, oracle.value, math.inf, math.nan, sense
        )
    translator = Translator(instance)
    terms = [translator.total([term]) for term in instance.model.terms]
    size = 0.0
    for point in (None, oracle.variables):
        _move_to(translator, point)
        sizes = [abs(float(np.sum(t.value))) if t.value is not None else math.inf for t in map(_expression, terms)]
        size += sum(s for s in sizes if math.isfinite(s))
    error = 10.0 * max(oracle.residual, 1e-11) * max(1.0, abs(oracle.value), size)
    return Truth("optimal", oracle.value, error, size, sense)


def violation(program: Program, variables: Mapping[str, Any]) -> float:
    """The amount by which a point in natural units misses the constraints, relative to its own size where that is above one."""
    instance = fw.parse(program.text).bind(**program.data).instance
    translator = Translator(instance)
    constraints = translator.problem().constraints
    _move_to(translator, variables)
    own = [c for c in constraints if all(v.value is not None for v in c.variables())]
    size = max([1.0, *(float(np.max(np.abs(v), initial=0.0)) for v in variables.values())])
    return max((float(np.max(c.violation(), initial=0.0)) for c in own), default=0.0) / size


def value_at(program: Program, variables: Mapping[str, Any]) -> float | None:
    """The objective at a point in natural units, by cvxpy's formulas; None where the point misses a constraint by more than rounding."""
    if violation(program, variables) > MET:
        return None
    translator = Translator(fw.parse(program.text).bind(**program.data).instance)
    _move_to(translator, variables)
    value = translator.problem().objective.value
    return None if value is None else float(value)


def is_confirmed(program: Program, truth: Truth) -> bool:
    """True if another solver, or other settings, finds the same optimal value."""
    import cvxpy as cp

    text, data = (program.reference, program.reference_data) if program.reference else (program.text, program.data)
    problem = Translator(fw.parse(text).bind(**data).instance).problem()
    for options in _OTHERS:
        try:
            with quiet():
                problem.solve(**options)
        except (cp.error.SolverError, ValueError, ArithmeticError):
            continue
        if problem.status == "optimal" and math.isfinite(problem.value):
            least = max(truth.error, AGREES * max(abs(truth.value), truth.size))
            if abs(problem.value - truth.value) <= least:
                return True
    return False


class _Constant:
    def __init__(self, value: float) -> None:
        self.value = value


def _expression(term: Any) -> Any:
    return term if hasattr(term, "value") else _Constant(float(term))


def _move_to(translator: Translator, point: Mapping[str, Any] | None) -> None:
    for name, variable in translator.variables.items():
        if isinstance(variable, FamilyExpression):
            variable.value = np.zeros(variable.shape) if point is None else np.asarray(point[name])
            continue
        value = np.zeros(variable.shape) if point is None else np.asarray(point[name], dtype=float)
        if point is not None and value.shape != variable.shape:
            value = translator.coordinates(name, value)
        variable.value = 0.5 * (value + value.T) if variable.is_symmetric() and value.ndim == 2 else value


def balance(program: Program) -> float:
    """The sum of multiplier times size of terms, |y|'|K||x|, over the constraints: what an optimum of 0 may hang in balance between."""
    import cvxpy as cp

    translator = Translator(fw.parse(program.text).bind(**program.data).instance)
    problem = translator.problem()
    problem.solve(solver=cp.CLARABEL)
    found = {v: np.array(v.value, dtype=float) for v in problem.variables() if v.value is not None}
    total = 0.0
    for constraint in problem.constraints:
        duals = [np.abs(d).max(initial=0.0) for d in (v.value for v in constraint.dual_variables) if d is not None]
        sizes = [_size(argument, found) for argument in constraint.args]
        total += max(duals, default=0.0) * sum(sizes)
    return total


def _size(expression: Any, found: Mapping[Any, np.ndarray]) -> float:
    """The sum of the sizes of an affine expression's terms at a point."""
    if not expression.is_affine():
        return 0.0
    for v in found:
        v.value = np.zeros(v.shape)
    zero = np.array(expression.value, dtype=float)
    total = float(np.abs(zero).sum())
    for v, value in found.items():
        for at in np.ndindex(value.shape):
            moved = np.zeros(value.shape)
            moved[at] = value[at]
            if len(at) == 2 and v.is_symmetric():
                moved[at[::-1]] = value[at]
            v.save_value(moved)
            total += float(np.abs(expression.value - zero).sum())
        v.save_value(np.zeros(value.shape))
    return total
