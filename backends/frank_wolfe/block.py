"""Block-coordinate Frank-Wolfe over a product of compact sets."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import field
from types import MappingProxyType

import numpy as np

from fwdsl.atoms.base import Array
from fwdsl.backends.finite_sum import draws
from fwdsl.backends.frank_wolfe.oracle_method import REFRESH_EVERY, OracleMethod, OracleRun
from fwdsl.backends.frank_wolfe.plain import WARM_SHIFT
from fwdsl.backends.frank_wolfe.set_factors import set_factors
from fwdsl.backends.frank_wolfe.state import FWState
from fwdsl.backends.frank_wolfe.steps import RULES, Segment, gradients, step_length
from fwdsl.backends.method import Report
from fwdsl.backends.option import Option
from fwdsl.backends.problem import PreparedProblem
from fwdsl.light_dataclass import light_state

REST, LONGEST_REST = 0.2, 8
"""After a certificate, the share of all sweeps so far that pass before the next, and sweeps between certificates at most."""

MOST_VISITS = 256
"""The most blocks that an iteration visits: limits and Ctrl-C take effect between iterations."""


@light_state
class BlockFrankWolfeState(FWState):
    """The state of a run of `block_frank_wolfe`."""

    sweeps: int = 0  # sweeps that are over
    visits: int = 0  # blocks visited in the next
    checked: int = 0  # the sweep of the last full gradient
    curvatures: Array = field(
        default_factory=lambda: np.zeros(0)
    )  # the estimates M of the rule `adaptive`, one a factor


class BlockFrankWolfe(OracleMethod):
    r"""Block-coordinate Frank-Wolfe.

    Problem: min P(x_1, ..., x_m) = sum_i f_i(K_i x + b_i) + <q, x> + ridges, x_k in C_k compact, f_i smooth. The C_k are the sets of the
    variables, of the blocks of a family, and of the lines of rows(...) and columns(...).

        s = argmin over C_k of <grad_k P, s>,    x_k <- x_k + gamma (s - x_k)

    `order`: `cyclic` visits m blocks one after the other, each with the gradient at the current point; `random` draws m of them, uniformly and with
    replacement, from `seed`; `full` asks all oracles by one gradient and then goes along their directions one after the other, each step by
    the losses at the current point. An iteration is such a sweep, or the next 256 blocks of it where there are more.

    Step rules: `secant` (default), `line_search`, `adaptive`, `short` (see `steps`), and `open`: 2 / (t + 2) in sweep t, for `random`
    2m / (k + 2m) in the k-th block step (50 sweeps on at a given start).

    Certificate: as for `frank_wolfe`, by a full gradient now and then (`full`: each sweep).

    Complexity: O(curvature / eps) sweeps; a sweep touches the columns of each block twice, and the losses of the rows that depend on the block.
    Where a map is not data by columns, `A @ X` or a gather over a family, a block costs a product with the whole map.

    Source: Lacoste-Julien, Jaggi, Schmidt, Pletscher 2013 (random); Beck, Pauwels, Sabach 2015 (cyclic). Corrected: the steps of `full` are by the
    losses at the current point, as by those at the sweep's beginning they may ascend together; starts, overflow and the answer as in `frank_wolfe`.
    """

    name = "block_frank_wolfe"
    title = "block-coordinate Frank-Wolfe"
    source = "Lacoste-Julien, Jaggi, Schmidt, Pletscher 2013; Beck, Pauwels, Sabach 2015"
    by_name_only = "its bounds fall as slowly as those of vanilla Frank-Wolfe"
    most_iterations = 200_000
    options = MappingProxyType(
        {
            "order": Option("cyclic", "which blocks a sweep visits", choices=("cyclic", "random", "full")),
            "step": Option("secant", "the step rule", choices=RULES),
        }
    )


class BlockFrankWolfeRun(OracleRun[BlockFrankWolfeState], of=BlockFrankWolfe):
    """Frank-Wolfe steps on the blocks of a problem."""

    def __init__(self, problem: PreparedProblem, order: str, step: str) -> None:
        super().__init__(problem)
        self.order, self.rule = order, step
        self.factors = set_factors(self.reduced)

    def begin(self, x: Array, ys: Sequence[Array] | None) -> BlockFrankWolfeState:
        s = self.started(BlockFrankWolfeState, x, ys)
        s.shift = 0 if self.is_start(s.x) else WARM_SHIFT
        s.curvatures = np.zeros(len(self.factors))
        return s

    def step(self) -> None:
        """A sweep, or the next part of it."""
        problem, s, of = self.reduced, self.state, self.factors
        s.x, s.z = s.x.copy(), [z.copy() for z in s.z]
        # a sweep of `full` visits a block once, so that the slope at its places is still that of the sweep's beginning
        c = self.slope(s) if self.order == "full" else None
        until = min(s.visits + MOST_VISITS, len(of))
        for k in self._visited()[s.visits : until]:
            past = s.visits / len(of) if self.order == "random" else 0.0
            self._visit(k, s.sweeps + s.shift + past, None if c is None else c[of[k].places])
            s.visits += 1
            if problem.must_stop():
                break
        s.iteration += 1
        if s.visits < len(of):
            s.keep_point(problem.objective(s.x, s.z))
            return
        s.sweeps, s.visits = s.sweeps + 1, 0
        if s.sweeps % REFRESH_EVERY == 0:
            s.z = problem.forward(s.x)
        rest = min(max(1.0, math.floor(REST * s.sweeps)), LONGEST_REST)
        if self.order == "full" or s.sweeps - s.checked >= rest:
            s.checked = s.sweeps
            self.look(s)
        else:
            s.keep_point(problem.objective(s.x, s.z))

    def _visited(self) -> Sequence[int]:
        """The blocks of a sweep, in order."""
        count = len(self.factors)
        if self.order != "random":
            return range(count)
        return [int(k) for k in draws(self.problem.seed, self.state.sweeps).integers(0, count, count)]

    def _visit(self, k: int, time: float, c: Array | None) -> None:
        """One step on one block; `c` is the gradient to take where it is not that at the current point."""
        problem, s, factor = self.reduced, self.state, self.factors[k]
        losses = [v.loss for v in factor.views]
        z = [s.z[v.term] if v.rows is None else s.z[v.term][v.rows] for v in factor.views]
        ys = gradients(losses, z)[1]
        x, q = s.x[factor.places], problem.q[factor.places]
        if c is None:
            c = q + factor.mu * x
            for v, y in zip(factor.views, ys, strict=True):
                c = c + v.map.adjoint(y)
        s.vertices += 1
        vertex = factor.g.lmo(c)
        assert vertex is not None, "requires_values() asks for an oracle"
        d = vertex - x
        dz = [v.map.apply(d) for v in factor.views]
        square = float(d @ d)
        linear = float(q @ d) + factor.mu * float(x @ d)
        segment = Segment(losses, z, dz, ys, square, linear, factor.mu * square, 1.0)
        gamma, s.curvatures[k] = step_length(self.rule, segment, time, float(s.curvatures[k]))
        s.x[factor.places] = vertex if gamma == 1.0 else x + gamma * d
        for v, part in zip(factor.views, dz, strict=True):
            if v.rows is None:
                s.z[v.term] += gamma * part
            else:
                s.z[v.term][v.rows] += gamma * part

    def report(self) -> Report:
        return Report(self.state.value, self.state.best_bound, f"{len(self.factors)} blocks")
