"""Vanilla Frank-Wolfe over a product of compact sets."""

from __future__ import annotations

from collections.abc import Sequence
from types import MappingProxyType

from fwdsl.atoms.base import Array
from fwdsl.backends.frank_wolfe.oracle_method import OracleMethod, OracleRun
from fwdsl.backends.frank_wolfe.state import FWState
from fwdsl.backends.frank_wolfe.steps import RULES, step_length, whole
from fwdsl.backends.method import Report
from fwdsl.backends.option import Option
from fwdsl.backends.problem import PreparedProblem

WARM_SHIFT = 50


class FrankWolfe(OracleMethod):
    r"""Vanilla Frank-Wolfe.

    Problem: min P(x) = sum_i f_i(K_i x + b_i) + <q, x> + a ridge over a product of compact sets, f_i smooth.

        s^k = argmin over the set of <grad P(x^k), s>   (the LMO),    x^{k+1} = x^k + gamma_k (s^k - x^k)

    Step rules (`steps`): `open` takes gamma_k = 2 / (k + 2); `short`, `adaptive`, `secant`, `line_search` look at the segment. Exact line search is
    often *slower* here than the open loop: it zig-zags (docs/papers/frank_wolfe.md).

    Certificate: P less the Frank-Wolfe gap <grad P(x), x - s> is the bound D at y = f'(K x + b), with a ridge D is above it; no further product
    is needed. Predictions are kept by linearity, z+ = (1 - gamma) z + gamma (K s + b), with K s by the columns of the vertex's support, and computed
    afresh every 64 steps. So a step costs one K'y, the columns of a vertex, and looks at the losses.

    Complexity: O(L diameter^2 / eps) steps.

    Source: Frank, Wolfe 1956; Jaggi 2013; Pokutta 2023 for `adaptive`. Corrected: the open loop counts k from 50 on at a given start, which
    gamma = 1 would throw away, and halves steps to where a loss overflows; as it does not descend, the best point is the answer, not the last.
    """

    streams = True
    on_host = ""
    keeps_rows = True

    name = "frank_wolfe"
    title = "Frank-Wolfe"
    source = "Frank, Wolfe 1956; Jaggi 2013"
    most_iterations = 200_000
    options = MappingProxyType({"step": Option("open", "the step rule", choices=RULES)})


class FrankWolfeRun(OracleRun[FWState], of=FrankWolfe):
    """Vanilla Frank-Wolfe on a problem."""

    def __init__(self, problem: PreparedProblem, step: str) -> None:
        super().__init__(problem)
        self.rule = step

    def begin(self, x: Array, ys: Sequence[Array] | None) -> FWState:
        s = self.started(FWState, x, ys)
        s.shift = 0 if self.is_start(s.x) else WARM_SHIFT
        return s

    def step(self) -> None:
        problem, s = self.reduced, self.state
        v = self.vertex(s, self.slope(s))
        direction = v - s.x
        dz = [a - b for a, b in zip(problem.linear(v), self.without_offset(s), strict=True)]
        segment = whole(problem, s.x, s.z, s.ys, direction, dz, 1.0)
        gamma, s.curvature = step_length(self.rule, segment, s.iteration + s.shift, s.curvature)
        self.advance(s, segment, gamma, v if gamma == 1.0 else s.x + gamma * direction)

    def report(self) -> Report:
        return Report(self.state.value, self.state.best_bound, "Frank-Wolfe")
