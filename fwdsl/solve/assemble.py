"""The solution in the user's words, from how a run ended."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..canon.forms import Form
from ..certify.certificate import Certificate
from ..certify.verified import Verified
from ..plan import Plan
from ..results.solution import Solution, Times
from .driver import Outcome
from .forms import Solvable


def solution_of(
    task: Solvable,
    plan: Plan,
    outcome: Outcome,
    origin: str,
    seconds: float,
    kernels: float,
    duals: Mapping[str, Any],
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
        plan=plan,
        start=origin,
        warnings=task.warnings(outcome.x),
        record={"dual_point": verified.y, "weights": form.auxiliary(outcome.x), "counts": counts},
        state=outcome.state,
    )


def _certificate(form: Form, v: Verified) -> Certificate:
    sense, bound = form.sense, v.bound
    return Certificate(
        bound.kind,
        sense * v.primal,
        sense * v.dual,
        v.gap,
        v.relative_gap,
        v.infeasibility,
        v.scale,
        bound.statement,
        bound.radius,
        v.hidden,
        bound.miss,
    )
