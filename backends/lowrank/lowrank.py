r"""The methods on factors, as a method of the planner: for one matrix with a trace norm that is never written down.

Observed entries are solved by `Completion` (accelerated gradient on factors, its rank raised until the gap is closed), products with data by
`TraceRegression` (accelerated proximal gradient on factors, warm subspace iteration in its prox).
"""

from __future__ import annotations

from types import MappingProxyType
from typing import Any

from fwdsl.atoms.losses import LOSSES
from fwdsl.atoms.low_rank import LowRank
from fwdsl.backends.lowrank import costs
from fwdsl.backends.lowrank.completion import Completion, CompletionState
from fwdsl.backends.lowrank.problem import FactoredProblem
from fwdsl.backends.lowrank.trace_regression import RegressionState
from fwdsl.backends.method import Estimate, Method, Report, Run
from fwdsl.backends.option import Option
from fwdsl.canon.arrange import Arrangement
from fwdsl.canon.factored import unfactored
from fwdsl.canon.forms import Form

LARGE_SIDE = 50
"""The shorter side of a product's variable from which a full SVD an iteration costs more than thin products (at 100 three times as much)."""

LOOK_EVERY = 5
"""Iterations of the regression between two estimates of its gap."""


class LowRankMethod(Method):
    """Completion or trace regression on factors; `rank` is the one to start with."""

    name = "lowrank"
    title = (
        "accelerated gradient on the factors of a low-rank matrix, certified by the top singular value of the gradient"
    )
    source = "Burer, Monteiro 2003; Srebro, Rennie, Jaakkola 2005; Beck, Teboulle 2009"
    options = MappingProxyType({"rank": Option(8, "columns of the factors to start with", lower=1)})
    works_on = "factored"
    streams = True
    on_host = "works on factors of its matrix"
    most_iterations = 20_000

    @classmethod
    def requires(cls, arrangement: Arrangement) -> tuple[str, ...]:
        """One matrix variable with a trace norm, and one smooth loss of its entries or the squared one of a product with it."""
        reasons = unfactored(arrangement)
        if reasons:
            return reasons
        (loss,) = arrangement.sums
        if loss.over == "product" and not (loss.atom in LOSSES and LOSSES[loss.atom].quadratic):
            reasons += (f"of products with data only `squared` has factored steps, and `{loss.text}` is none",)
        free = next((b for b in arrangement.blocks if b.name == loss.intercept), None)
        if loss.over == "product" and free is not None and not free.type.array_shape:
            reasons += (
                f"{free.name} is one number for all columns of a product; a vector of one for each is factored",
            )
        return reasons

    @classmethod
    def settles(cls, arrangement: Arrangement, form: Form | None) -> str:
        """Always for observed entries; for products with data where the variable has many rows and columns."""
        if any(s.over == "entries" for s in arrangement.sums):
            return "the variable is only seen through some entries: its factors are all that is needed"
        factored = None if form is None else form.factored
        if factored is not None and min(factored.shape) >= LARGE_SIDE:
            return "thin products with the factors, where others decompose the whole matrix in every iteration"
        return ""

    @classmethod
    def estimate(cls, form: Form, tol: float) -> Estimate:
        """Linear, once the rank is found."""
        factored = form.factored
        assert factored is not None
        return costs.lowrank(factored, tol)


class LowRankRun(Run[FactoredProblem, CompletionState | RegressionState], of=LowRankMethod):
    """A run on the factors of a problem, whose steps are in its `core`."""

    def __init__(self, problem: FactoredProblem, rank: int) -> None:
        super().__init__(problem)
        self.rank, self.core = rank, problem.core

    def begin(self, x: LowRank, ys: Any) -> CompletionState | RegressionState:
        """The state at the top singular pairs of the gradient at zero, or at x."""
        state = self.core.start(*self.problem.factors(x)) if x.rank else self.core.init(self.rank)
        if isinstance(state, RegressionState):
            self.problem.data_map.touched = state.products
        return state

    def taken_up(self, state: CompletionState | RegressionState) -> CompletionState | RegressionState:
        """The state with its predictions where those of this run are."""
        if isinstance(state, CompletionState):
            state.z = self.problem.data_map.vector(state.z)
        return state

    def step(self) -> None:
        """One step of the core; now and then it looks at the gap."""
        problem, core, state = self.problem, self.core, self.state
        if isinstance(core, Completion):
            assert isinstance(state, CompletionState)
            core.step(state, 0.5 * problem.relative_aim(state.value))
            return
        assert isinstance(state, RegressionState)
        # passes of this run alone: the state holds also the passes before it was saved
        touched, before = problem.data_map.touched, state.products
        core.step(state)
        if state.iteration % LOOK_EVERY == 0:
            core.look(state, state.iteration)
        problem.data_map.touched = touched + state.products - before

    def report(self) -> Report:
        state, constant = self.state, self.problem.form.constant
        phase = state.phase if isinstance(state, CompletionState) else "accelerated gradient on factors"
        return Report(constant + state.value, constant + state.value - state.gap, phase)

    def candidate(self) -> tuple[LowRank, None]:
        """X by balanced factors; the verifier makes the dual point of it."""
        core: Any = self.core  # the state is of its kind
        return self.problem.answer(*core.factors(self.state)), None
