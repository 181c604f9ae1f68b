"""Accelerated proximal gradient for the planner: what it applies to and what it costs. `apg_run` has the steps."""

from __future__ import annotations

from dataclasses import field, replace
from types import MappingProxyType

import numpy as np

from fwdsl.atoms.base import Array
from fwdsl.atoms.losses import smoothness
from fwdsl.backends import costs
from fwdsl.backends.method import Estimate, Method, State
from fwdsl.backends.option import Option
from fwdsl.backends.smooth.costs import finishing_seconds
from fwdsl.canon.arrange import Arrangement
from fwdsl.canon.form import Canonical
from fwdsl.light_dataclass import light_state


@light_state
class APGState(State):
    """The state of a run of `apg`."""

    x: Array  # the iterate
    x_old: Array  # its predecessor
    metric: Array  # a number a block, for each entry: steps are metric / L long
    z: list[Array]  # predictions K x + b
    z_old: list[Array]  # predictions at the predecessor
    t: float  # momentum
    lipschitz: float  # L, in the metric
    value: float  # P(x)
    best_bound: float  # the best bound so far
    ys: list[Array] = field(default_factory=list)  # its dual point
    stands: bool = False  # the bound holds: the dual point meets its equalities
    face: Array = field(default_factory=lambda: np.zeros(0))  # the signature of the face of g at x
    stable: int = 0  # prox steps since the face changed
    wait: int = 0  # prox steps until the next Newton step
    next_wait: int = 2  # prox steps to wait after the next Newton step that fails
    phase: str = "accelerated gradient"  # of the last step


class APG(Method):
    """Accelerated proximal gradient, with semismooth Newton steps on the identified face (option `newton`)."""

    name = "apg"
    title = "accelerated proximal gradient with semismooth Newton on the identified support"
    source = "Beck, Teboulle 2009; O'Donoghue, Candes 2015; Scheinberg, Goldfarb, Bai 2014"
    most_iterations = 20_000
    runs_in = "fwdsl.backends.apg_run"
    streams = True
    on_host = ""
    keeps_rows = True
    least_seconds = costs.LEAST_STEPS * costs.OVERHEAD
    options = MappingProxyType({"newton": Option(True, "finish with Newton steps on the identified face")})

    @classmethod
    def requires(cls, arrangement: Arrangement) -> tuple[str, ...]:
        """Every term of the sum must be a smooth loss."""
        reasons = []
        for term in arrangement.sums:
            if term.kind == "loss":
                if smoothness(term.atom) is None:
                    reasons.append(f"`{term.text}` is not differentiable")
            elif term.bare is not None:
                reasons.append(f"`{term.text}` has no joint prox with what else holds for {term.bare}")
            else:
                reasons.append(f"`{term.text}` is not smooth and stands under a linear map")
        return tuple(reasons)

    @classmethod
    def least(cls, form: Canonical) -> float:
        """The seconds of the fewest steps, and of the Newton steps at the end: no product with the data."""
        steps = costs.LEAST_STEPS
        return costs.seconds(form, costs.PASSES_A_STEP * steps, steps) + finishing_seconds(form)

    @classmethod
    def estimate(cls, canonical: Canonical, tol: float) -> Estimate:
        """Iterations grow with the root of the condition number until the face is identified."""
        found = costs.apg(canonical, tol)
        return replace(found, seconds=found.seconds + finishing_seconds(canonical))
