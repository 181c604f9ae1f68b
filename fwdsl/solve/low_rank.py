"""Running a method on factors: its start, its verifier, and the solution with the variable kept as factors."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from contextlib import closing
from typing import Any

import numpy as np

from ..backends.kernels.compile import compile_seconds
from ..backends.kernels.pool import serial_blas
from ..backends.lowrank.problem import FactoredProblem
from ..backends.registry import METHODS
from ..canon.affine import AffineReader
from ..canon.factored import Factored
from ..canon.numbers import bare_factor
from ..certify.factored import radius_dual, squared_norm, trace_norm, verify_factored
from ..certify.verify import Verified
from ..low_rank import LARGEST_WRITTEN, LowRank
from ..options import Options
from ..plan import Plan
from ..solution import Progress, Solution
from ..words import CONVEX
from .assemble import solution_of
from .driver import Outcome, drive
from .interrupt import Control
from .realign import realigned
from .start import flaw, refused, values_of
from .watch import Watch


def solve_factored(
    form: Factored,
    plan: Plan,
    options: Options,
    threads: int,
    on_progress: Callable[[Progress], bool | None] | None = None,
    start: Solution | Mapping[str, Any] | None = None,
    control: Control | None = None,
    resume: Any = None,
    on_state: Callable[[Any], None] | None = None,
    watch: Watch | None = None,
) -> Solution:
    """As `fwdsl.solve.solve`, which it serves."""
    began, compiling = time.perf_counter(), compile_seconds()
    x, origin = _starting_point(form, start)
    problem = FactoredProblem(form, threads, options.tol, options.gap == "absolute", options.seed)
    attempts = 0

    def certify(x: LowRank, _ys: Any, stop: Callable[[], bool]) -> Verified:
        nonlocal attempts
        attempts += 1
        tol = options.tol if options.gap == "relative" else options.tol / max(form.scale, 1e-300)
        return verify_factored(form, x, tol, attempts - 1, options.seed, stop)

    with serial_blas(), np.errstate(all="ignore"), closing(problem):
        method = METHODS[plan.method].with_options(plan.method_options)
        if resume is not None:
            origin = f"a saved state at iteration {resume.iteration}"

        def begin() -> Any:
            state = resume if resume is not None else method.init(problem, x, None)
            state.options = dict(plan.method_options)
            return state

        first = x if x is not None else LowRank(*(np.zeros((size, 0)) for size in form.shape))
        outcome = drive(
            form, problem, method, begin, first, options, on_progress, control, on_state, certify, watch=watch
        )
    seconds, kernels = time.perf_counter() - began, compile_seconds() - compiling
    return solution_of(form, plan, outcome, origin, seconds, kernels, _duals(form, outcome), _terms(form, outcome.x))


def _starting_point(form: Factored, start: Solution | Mapping[str, Any] | None) -> tuple[LowRank | None, str]:
    """The factors to start from and where they come from; `DataError` FW0203 for a value that does not fit."""
    if start is None:
        return None, "zero"
    values = realigned(start, form.instance) if isinstance(start, Solution) else values_of(start)
    known = (form.name, *([form.intercept.name] if form.intercept is not None else []))
    wrong = [] if isinstance(start, Solution) else [n for n in values if n not in known]
    if wrong or form.name not in values:
        name = (wrong or list(values) or ["nothing"])[0]
        raise refused([f"there is no variable `{name}`; the program has `{form.name}`"])
    value = values[form.name]
    if isinstance(value, LowRank):
        fits = value.shape == form.shape
        found = "" if fits else f"`{form.name}` has shape {form.shape}, and the value to start from {value.shape}"
    elif form.size > LARGEST_WRITTEN:
        found = f"`{form.name}` is kept as factors, and the value to start from is none"
    else:
        found = flaw(form.name, value, form.shape)
    if found:
        raise refused([found])
    if not isinstance(value, LowRank):
        value = LowRank.of(np.asarray(value, dtype=np.float64))
    if isinstance(start, Solution):
        return value, f"a solution by {start.method} with objective {start.objective:.6g}"
    return value, f"given values of {', '.join(values)}"


def _duals(form: Factored, outcome: Outcome) -> dict[str, Any]:
    """The derivative in the bound of each ball as written; 0 for those that are not the smallest."""
    reader = AffineReader(form.instance, {})
    out: dict[str, Any] = {}
    value = form.sense * radius_dual(form, outcome.verified.y, outcome.x) if outcome.verified.y else 0.0
    for c in form.instance.model.constraints:
        assert c.set is not None
        binding = reader.scalar(dict(c.set.args)["r"]) <= form.radius
        factor = reader.scalar(c.factor) if c.factor is not None else 1.0
        out[c.name] = value / factor if binding else 0.0
    return out


def _terms(form: Factored, x: LowRank) -> dict[str, float]:
    """Values of the terms that a `let` names, coefficient included; terms of one name are added up."""
    model, reader = form.instance.model, AffineReader(form.instance, {})
    out: dict[str, float] = {}
    for i, term in enumerate(model.terms):
        if not term.name:
            continue
        if i == form.term.origin:
            value = form.sense * form.f.value(form.predictions(x))
        elif term.kind == "affine":
            value = reader.scalar(term.coefficient) * float(reader.constant(term.argument))
        else:
            word = CONVEX[term.atom]
            size = trace_norm(x) if word.trace_norm else squared_norm(x)
            value = reader.scalar(term.coefficient) * bare_factor(reader, term.argument) ** word.degree * size
        out[term.name] = out.get(term.name, 0.0) + value
    return out
