"""The solution in the user's words: of a run, or of a program whose constraints contradict each other."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from ..canon.forms import Form
from ..certify.certificate import Certificate
from ..certify.verified import DualBound, Verified
from ..plan import Plan
from ..results.solution import Change, Solution, Times
from .driver import Outcome
from .forms import Solvable, Start
from .journal import FEASIBLE
from .watch import Moment, Watch


def solution_of(
    task: Solvable,
    plan: Plan,
    outcome: Outcome,
    origin: str,
    seconds: float,
    kernels: float,
    duals: Mapping[str, object],
    changes: tuple[Change, ...] = (),
) -> Solution:
    """The best point with its certificate in the user's sense, duals and values of terms beside it."""
    form, verified = task.form, outcome.verified
    counts = outcome.state.state.counts() if outcome.state is not None else {}
    return Solution(
        status=outcome.status,
        certificate=_certificate(form, verified),
        variables=form.split(outcome.x),
        dual=duals,
        terms=task.terms(outcome.x),
        method=plan.method,
        iterations=outcome.iterations,
        passes=outcome.passes,
        verify_passes=outcome.verify_passes,
        reason=outcome.reason,
        times=Times(solve=seconds, verify=outcome.verify_seconds, kernels=kernels),
        history=outcome.history,
        changes=changes,
        plan=plan,
        start=origin,
        warnings=task.warnings(outcome.x),
        record={"dual_point": verified.y, "weights": form.auxiliary(outcome.x), "counts": counts},
        state=outcome.state,
    )


def _certificate(form: Form, v: Verified) -> Certificate:
    """The certificate of a verified point. The objective of one that misses a constraint bounds nothing, and there is no gap to it."""
    sense, bound = form.sense, v.bound
    gap, relative_gap = (v.gap, v.relative_gap) if v.infeasibility <= FEASIBLE else (math.inf, math.inf)
    return Certificate(
        bound.kind,
        sense * v.primal,
        sense * v.dual,
        gap,
        relative_gap,
        v.infeasibility,
        v.scale,
        bound.statement,
        bound.radius,
        v.hidden,
        bound.miss,
    )


def contradicted(
    task: Solvable, plan: Plan, start: Solution | Mapping[str, object] | Start | None, watch: Watch | None
) -> Solution:
    """`infeasible`, with the contradiction for a proof; objective and violation are those of the point that a method would have started from."""
    assert task.form.contradiction is not None
    at = task.start(start)
    began, proof = time.perf_counter(), task.form.contradiction.message
    with np.errstate(all="ignore"):
        point, found = task.measure(at.x)
    verified = replace(found, bound=DualBound(math.inf, 0.0, "exact", proof))
    seconds = time.perf_counter() - began
    if watch is not None:
        sense = task.form.sense
        watch.see(Moment(0.0, 0.0, 0, sense * verified.primal, sense * verified.dual, math.inf))
    outcome = Outcome("infeasible", verified, point, 0, 0.0, found.passes, seconds, seconds, proof, ())
    return solution_of(task, plan, outcome, at.origin, seconds, 0.0, {})
