"""The solution in the user's words, from how a run ended."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..backends.method import State
from ..canon.factored import Factored
from ..canon.form import Canonical
from ..certify import Verified
from ..plan import Plan
from ..solution import Certificate, Solution, Times
from .driver import Outcome


def solution_of(
    form: Canonical | Factored,
    plan: Plan,
    outcome: Outcome,
    origin: str,
    seconds: float,
    kernels: float,
    duals: Mapping[str, Any],
    terms: Mapping[str, float],
    warnings: tuple[str, ...] = (),
) -> Solution:
    """The best point with its certificate in the user's sense, duals and values of terms beside it."""
    verified = outcome.verified
    return Solution(
        status=outcome.status,
        certificate=_certificate(form, verified),
        variables=form.split(outcome.x),
        dual=duals,
        terms=terms,
        method=plan.method,
        iterations=outcome.iterations,
        passes=outcome.passes,
        verify_passes=outcome.verify_passes,
        reason=outcome.reason,
        times=Times(solve=seconds, verify=outcome.verify_seconds, kernels=kernels),
        history=outcome.history,
        plan=plan,
        start=origin,
        warnings=warnings,
        record={"dual_point": verified.y, "weights": _weights(form, outcome.x), "counts": _counts(outcome.state)},
        state=outcome.state,
    )


def _counts(state: Any) -> dict[str, int]:
    """What the method counted (eigendecompositions)."""
    return state.counts() if isinstance(state, State) else {}


def _weights(form: Canonical | Factored, x: Any) -> dict[str, Any]:
    """What is solved for besides the variables (the weights of a polytope's vertices), for a warm start."""
    if isinstance(form, Factored):
        return {}
    return {b.name: b.decoded(x) for b in form.blocks if b.auxiliary}


def _certificate(form: Canonical | Factored, v: Verified) -> Certificate:
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
