"""The way from a plan to a solution in the user's words."""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import replace
from typing import Any

import numpy as np

from ..backends.kernels.compile import compile_seconds
from ..backends.kernels.pool import serial_blas
from ..backends.registry import METHODS
from ..canon.forms import Form
from ..canon.kinds import FormKind
from ..canon.rewrites import Rewritten
from ..model.options import Options
from ..plan import Plan
from ..results.solution import Change, Progress, Solution
from .assemble import contradicted, solution_of
from .canonical import SolvableCanonical
from .driver import OnState, Outcome, drive
from .elsewhere import by_device, told_of_device
from .factored import SolvableFactored
from .forms import Solvable, Start
from .interrupt import Control, interruptible
from .journal import FEASIBLE, Best
from .rewritten import SolvableRewritten
from .state import Checkpoint
from .turns import in_turns
from .watch import Watch

log = logging.getLogger("fwdsl.solve")


@np.errstate(all="ignore")  # numbers that overflow are seen by the driver, which says so
def solve(
    form: Form,
    plan: Plan,
    options: Options,
    on_progress: Callable[[Progress], bool | None] | None = None,
    start: Solution | Mapping[str, Any] | Start | None = None,
    control: Control | None = None,
    resume: Checkpoint | None = None,
    on_state: OnState | None = None,
    watch: Watch | None = None,
) -> Solution:
    """Run the plan's method until the tolerance is certified or a limit is reached; always returns the best point with its certificate.

    `start` is a solution (its duals are used too) or values by name; `resume` is where a run stood (`Solution.state`, or what
    `fwdsl.solve.state` loaded). `on_progress` is called about ten times a second and may return False to stop; `on_state` after every
    step; a `watch` sees what is certified on the way. Ctrl-C ends it too (`interruptible`), wherever it stands, and is told by the status
    `interrupted` also where it came as the run ended of itself.
    """
    if isinstance(form, Rewritten) and plan.as_written:
        form = form.outer
    if form.contradiction is not None:
        return contradicted(solvable(form, "dense", options), plan, start, watch)
    task = solvable(form, METHODS[plan.method].works_on, options)
    log.info("%s to %g: %s", plan.method, options.tol, plan.why)
    control = control or Control()
    with interruptible(control), by_device(form, plan, options) as table:
        began, compiling = time.perf_counter(), compile_seconds()
        alone = options.method != "auto" or options.max_iter is not None or resume is not None or watch is not None
        if alone:
            outcome, origin = _run(task, plan, options, on_progress, start, control, resume, on_state, watch)
            changes: tuple[Change, ...] = ()
        else:
            at = task.start(start)
            plan, outcome, changes = in_turns(task, plan, options, at, on_progress, control, on_state)
            outcome, origin = _or_start(task, at.x, outcome), at.origin
        duals = task.duals(outcome.x, outcome.verified.bound)
        seconds, kernels = time.perf_counter() - began, compile_seconds() - compiling
        solution = solution_of(task, plan, outcome, origin, seconds, kernels, duals, changes)
        solution = told_of_device(solution, table, options)
    # after the context: from here on Ctrl-C is as usual
    if control.stop:
        solution = _told_of_stop(solution)
    gap, count = solution.relative_gap, solution.iterations
    log.info("%s: %s, relative gap %.1e, %d iterations, %.3g s", plan.method, solution.status, gap, count, seconds)
    return solution


def _told_of_stop(solution: Solution) -> Solution:
    """The solution with the status `interrupted`, where its run was to stop and had ended of itself: nothing else tells a script that its loop of
    solves is to end. A proof that there is no solution stays one."""
    if solution.status not in ("optimal", "tolerance_not_reached"):
        return solution
    return replace(solution, status="interrupted", reason=f"as it ended: {solution.reason}")


def solvable(form: Form, kind: FormKind, options: Options) -> Solvable:
    """The form that a method works on, with everything that a run needs."""
    if isinstance(form, Rewritten):
        return SolvableRewritten(form, SolvableCanonical(form.inner, options), options)
    if kind == "factored" and form.factored is not None:
        return SolvableFactored(form.factored, options)
    if kind == "expansion" and form.expansion is not None:
        # other programs load no kernel machine
        from .expansion import SolvableExpansion

        return SolvableExpansion(form.expansion, options)
    assert kind == "dense" and form.dense is not None, "the planner chose a method that has no form of the problem"
    return SolvableCanonical(form.dense, options)


def _run(
    task: Solvable,
    plan: Plan,
    options: Options,
    on_progress: Callable[[Progress], bool | None] | None,
    start: Solution | Mapping[str, Any] | Start | None,
    control: Control,
    resume: Checkpoint | None,
    on_state: OnState | None,
    watch: Watch | None,
) -> tuple[Outcome, str]:
    """The outcome of one method alone, and its starting point in words."""
    METHODS[plan.method].load()
    problem = task.prepare()
    # numbers that overflow are seen by the driver, which says so; a warning from inside a kernel's caller helps nobody
    with serial_blas(), np.errstate(all="ignore"), closing(problem):
        at = task.start(start)
        origin = at.origin if resume is None else f"a saved state at iteration {resume.iteration}"
        outcome = drive(
            task,
            problem,
            plan,
            at,
            options,
            resume=resume,
            on_progress=on_progress,
            control=control,
            on_state=on_state,
            watch=watch,
        )
        return _or_start(task, at.x, outcome), origin


def _or_start(task: Solvable, x: Any, outcome: Outcome) -> Outcome:
    """The outcome with the point the run started from, where that is feasible and the run found none of finite value: its numbers overflowed."""
    if math.isfinite(outcome.verified.primal) or outcome.status not in ("tolerance_not_reached", "interrupted"):
        return outcome
    best, bound = Best(), outcome.verified
    point, found = task.measure(x)
    best.add(point, found)
    assert best.primal is not None
    if not (math.isfinite(best.primal.primal) and best.primal.infeasibility <= FEASIBLE):
        return outcome
    if math.isfinite(bound.dual):
        best.add(outcome.x, bound)
    return replace(outcome, x=point, verified=best.merged())
