r"""Primal-dual block Frank-Wolfe, as a method of the planner."""

from __future__ import annotations

from collections.abc import Sequence

from fwdsl.atoms.base import Array
from fwdsl.backends.finite_sum import FiniteSum
from fwdsl.backends.functions import FastLoss
from fwdsl.backends.method import Report, Run
from fwdsl.backends.pdbfw.core import Core, Settings, Space
from fwdsl.backends.pdbfw.method import PDBFW, PDBFWState, is_in_trace_ball
from fwdsl.backends.pdbfw.vector import VectorSpace
from fwdsl.backends.problem import PreparedProblem


def _space(problem: PreparedProblem) -> Space:
    """The space of the variable's vectors or matrices."""
    if is_in_trace_ball(problem.canonical.blocks[0]):
        from fwdsl.backends.pdbfw.trace import TraceSpace  # it loads decompositions, which planning needs not

        return TraceSpace(problem)
    return VectorSpace(FiniteSum.of(problem))


class PDBFWRun(Run[PreparedProblem, PDBFWState], of=PDBFW):
    """Primal-dual block Frank-Wolfe on a problem, whose steps are in its `core`."""

    def __init__(
        self,
        problem: PreparedProblem,
        s: int | None,
        k: int | None,
        delta: float | None,
        eta: float | None,
        grow: bool,
        accelerate: bool | None,
        eps: float | None,
    ) -> None:
        super().__init__(problem)
        (f,) = problem.functions
        assert isinstance(f, FastLoss)
        settings = Settings(s, k, delta, eta, grow, accelerate, eps)
        self.core = Core(_space(problem), f, problem.canonical.constant, settings)

    def begin(self, x: Array, ys: Sequence[Array] | None) -> PDBFWState:
        return self.core.init(x)

    def step(self) -> None:
        self.core.step(self.state)

    def report(self) -> Report:
        """P and the best D so far; constant steps need not lower P, and the report shows it."""
        s = self.state
        if self.core.settings.paper:
            return Report(s.value, s.best_bound, "block Frank-Wolfe")
        phase = "accelerated" if self.core.has_momentum(s) else "adaptive"
        return Report(s.best_value, s.best_bound, f"{phase} block Frank-Wolfe")

    def candidate(self) -> tuple[Array, list[Array] | None]:
        return self.state.best_x, [self.state.best_y]
