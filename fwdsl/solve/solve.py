"""From a plan to a solution in the user's words."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import replace
from typing import Any

import numpy as np

from ..atoms.base import Array
from ..backends.kernels.compile import compile_seconds
from ..backends.kernels.pool import serial_blas
from ..backends.problem import Problem
from ..backends.registry import METHODS
from ..canon.factored import Factored
from ..canon.form import Canonical
from ..certify import verify
from ..options import Options
from ..plan import Plan
from ..solution import Progress, Solution
from .assemble import solution_of
from .contradiction import contradicted
from .driver import Outcome, drive
from .duals import constraint_duals
from .interrupt import Control, interruptible
from .journal import FEASIBLE, Best
from .low_rank import solve_factored
from .realign import realigned
from .start import flaw, refused, values_of
from .terms import term_values
from .warn import warnings_of
from .watch import Watch


def solve(
    canonical: Canonical | Factored,
    plan: Plan,
    options: Options,
    on_progress: Callable[[Progress], bool | None] | None = None,
    start: Solution | Mapping[str, Any] | None = None,
    control: Control | None = None,
    resume: Any = None,
    on_state: Callable[[Any], None] | None = None,
    watch: Watch | None = None,
) -> Solution:
    """Run the plan's method until the tolerance is certified or a limit is reached; always returns the best point with its certificate.

    `start` is a solution (its duals are used too) or values by name; `resume` a state saved by `fwdsl.solve.state`. `on_progress` is
    called about ten times a second and may return False to stop; `on_state` after every step; a `watch` sees what is certified on the way.
    Ctrl-C ends it too (`interruptible`), wherever it stands.
    """
    if isinstance(canonical, Canonical) and canonical.contradiction is not None:
        x, _, origin = _starting_point(canonical, start)
        return contradicted(canonical, plan, x, origin, watch)
    control = control or Control()
    with interruptible(control):
        return _solve(canonical, plan, options, on_progress, start, control, resume, on_state, watch)


def _solve(
    canonical: Canonical | Factored,
    plan: Plan,
    options: Options,
    on_progress: Callable[[Progress], bool | None] | None,
    start: Solution | Mapping[str, Any] | None,
    control: Control,
    resume: Any,
    on_state: Callable[[Any], None] | None,
    watch: Watch | None,
) -> Solution:
    if METHODS[plan.method].factored:
        factored = canonical if isinstance(canonical, Factored) else canonical.factored
        assert factored is not None, "the planner chose a method that has no form of the problem"
        threads = options.threads or default_threads()
        return solve_factored(factored, plan, options, threads, on_progress, start, control, resume, on_state, watch)
    assert isinstance(canonical, Canonical), "the planner chose a method that has no form of the problem"
    began, compiling = time.perf_counter(), compile_seconds()
    problem = Problem(canonical, options.threads or default_threads(), options.seed)
    # numbers that overflow are seen by the driver, which says so; a warning from inside a kernel's caller helps nobody
    with serial_blas(), np.errstate(all="ignore"), closing(problem):
        method = METHODS[plan.method].with_options(plan.method_options)
        x, ys, origin = _starting_point(canonical, start)
        if resume is not None:
            origin = f"a saved state at iteration {resume.iteration}"

        def begin() -> Any:
            state = resume if resume is not None else method.init(problem, x, ys)
            # saved with it: a state is that of its method with these options
            state.options = dict(plan.method_options)
            return state

        outcome = drive(canonical, problem, method, begin, x, options, on_progress, control, on_state, watch=watch)
        if not math.isfinite(outcome.verified.primal):
            outcome = _or_start(canonical, _starting_point(canonical, start)[0], outcome)
    duals = constraint_duals(canonical, outcome.x, outcome.verified.y)
    seconds, kernels = time.perf_counter() - began, compile_seconds() - compiling
    terms, warnings = term_values(canonical, outcome.x), warnings_of(canonical, outcome.x)
    return solution_of(canonical, plan, outcome, origin, seconds, kernels, duals, terms, warnings)


def _or_start(canonical: Canonical, x: Array, outcome: Outcome) -> Outcome:
    """The outcome with the point the run started from, where that is feasible and the run found none of finite value: its numbers overflowed."""
    if outcome.status not in ("tolerance_not_reached", "interrupted"):
        return outcome
    best, bound = Best(), outcome.verified
    best.add(x, verify(canonical, x, None))
    assert best.primal is not None
    if not (math.isfinite(best.primal.primal) and best.primal.infeasibility <= FEASIBLE):
        return outcome
    if math.isfinite(bound.dual):
        best.add(outcome.x, bound)
    return replace(outcome, x=x, verified=best.merged())


def default_threads() -> int:
    """The cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _starting_point(
    canonical: Canonical, start: Solution | Mapping[str, Any] | None
) -> tuple[Array, list[Array] | None, str]:
    """x, the dual point if there is one that fits, and where they come from; `DataError` FW0203 for values that do not fit."""
    if start is None:
        return np.zeros(canonical.size), None, "zero"
    if not isinstance(start, Solution):
        values = values_of(start)
        _check_start(canonical, values, known_only=True)
        return canonical.join(values), None, f"given values of {', '.join(values)}"
    variables = realigned(start, canonical.instance)
    _check_start(canonical, variables, known_only=False)
    ys = start.record.get("dual_point") if variables is start.variables else None
    fits = ys is not None and [y.size for y in ys] == [t.map.rows for t in canonical.terms]
    origin = f"a solution by {start.method} with objective {start.objective:.6g}"
    sizes = {b.name: b.user_shape for b in canonical.blocks if b.auxiliary}
    weights = {n: w for n, w in start.record.get("weights", {}).items() if sizes.get(n) == np.shape(w)}
    return canonical.join({**variables, **weights}), list(ys) if fits and ys is not None else None, origin


def _check_start(canonical: Canonical, values: Mapping[str, Any], known_only: bool) -> None:
    """Names that are variables (of a solution: at least one), shapes that fit, numbers that are finite."""
    shapes = {b.name: b.user_shape for b in canonical.blocks if not b.auxiliary}
    wrong = []
    for name, value in values.items():
        if name not in shapes:
            if known_only or not any(n in shapes for n in values):
                wrong.append(f"there is no variable `{name}`; the program has {', '.join(f'`{n}`' for n in shapes)}")
        elif found := flaw(name, value, shapes[name]):
            wrong.append(found)
    if wrong:
        raise refused(wrong)
