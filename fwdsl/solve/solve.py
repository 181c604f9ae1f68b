"""From a plan to a solution in the user's words."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Mapping
from contextlib import closing
from typing import Any

import numpy as np

from ..atoms.base import Array
from ..backends.kernels.pool import serial_blas
from ..backends.problem import Problem
from ..backends.registry import METHODS
from ..canon.form import Canonical
from ..certify import Verified
from ..errors import DataError
from ..grammar.diagnostic import Diagnostic
from ..options import Options
from ..plan import Plan
from ..solution import Certificate, Progress, Solution, Times
from .driver import Control, Outcome, drive
from .duals import constraint_duals
from .terms import term_values


def solve(
    canonical: Canonical,
    plan: Plan,
    options: Options,
    on_progress: Callable[[Progress], bool | None] | None = None,
    start: Solution | Mapping[str, Any] | None = None,
    control: Control | None = None,
    resume: Any = None,
    on_state: Callable[[Any], None] | None = None,
) -> Solution:
    """Run the plan's method until the tolerance is certified or a limit is reached; always returns the best point with its certificate.

    `start` is a solution (its duals are used too) or values by name; `resume` a state saved by `fwdsl.solve.state`. `on_progress` is
    called about ten times a second and may return False to stop; `on_state` after every step.
    """
    began = time.perf_counter()
    problem = Problem(canonical, options.threads or default_threads())
    # numbers that overflow are seen by the driver, which says so; a warning from inside a kernel's caller helps nobody
    with serial_blas(), np.errstate(all="ignore"), closing(problem):
        method = METHODS[plan.method](**plan.method_options)
        x, ys, origin = _starting_point(canonical, start)
        state = resume if resume is not None else method.init(problem, x, ys)
        if resume is not None:
            origin = f"a saved state at iteration {state.iteration}"
        outcome = drive(canonical, problem, method, state, options, on_progress, control, on_state)
        return _solution(canonical, plan, outcome, origin, time.perf_counter() - began)


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
        _check_start(canonical, start, known_only=True)
        return canonical.join(start), None, f"given values of {', '.join(start)}"
    _check_start(canonical, start.variables, known_only=False)
    ys = start.record.get("dual_point")
    fits = ys is not None and [y.size for y in ys] == [t.map.rows for t in canonical.terms]
    origin = f"a solution by {start.method} with objective {start.objective:.6g}"
    return canonical.join(start.variables), list(ys) if fits and ys is not None else None, origin


def _check_start(canonical: Canonical, values: Mapping[str, Any], known_only: bool) -> None:
    """Names that are variables (of a solution: at least one), shapes that fit, numbers that are finite."""
    shapes = {b.name: b.shape for b in canonical.blocks}
    wrong = []
    for name, value in values.items():
        if name not in shapes:
            if known_only or not any(n in shapes for n in values):
                wrong.append(f"there is no variable `{name}`; the program has {', '.join(f'`{n}`' for n in shapes)}")
            continue
        array = np.asarray(value)
        if array.shape != shapes[name]:
            wrong.append(f"`{name}` has shape {shapes[name]}, and the value to start from {array.shape}")
        elif array.dtype.kind not in "fiub" or not np.all(np.isfinite(array)):
            wrong.append(f"the value of `{name}` to start from is not made of finite numbers")
    if wrong:
        rule = "a start gives values of the program's variables, in their shapes"
        hint = "start from a solution of the same variables, or leave `start` out"
        raise DataError([Diagnostic("FW0203", message, rule=rule, hint=hint) for message in wrong])


def _solution(canonical: Canonical, plan: Plan, outcome: Outcome, origin: str, seconds: float) -> Solution:
    verified = outcome.verified
    return Solution(
        status=outcome.status,
        certificate=_certificate(canonical, verified),
        variables=canonical.split(outcome.x),
        dual=constraint_duals(canonical, outcome.x, verified.y),
        terms=term_values(canonical, outcome.x),
        method=plan.method,
        iterations=outcome.iterations,
        passes=outcome.passes,
        verify_passes=outcome.verify_passes,
        reason=outcome.reason,
        times=Times(solve=seconds, verify=outcome.verify_seconds),
        history=outcome.history,
        plan=plan,
        start=origin,
        record={"dual_point": verified.y},
        state=outcome.state,
    )


def _certificate(canonical: Canonical, v: Verified) -> Certificate:
    sense = canonical.sense
    gap = abs(v.primal - v.dual) if math.isfinite(v.dual) else math.inf
    return Certificate(
        v.kind,
        sense * v.primal,
        sense * v.dual,
        gap,
        v.relative_gap(canonical.scale),
        v.infeasibility,
        canonical.scale,
        v.statement,
        v.radius,
    )
