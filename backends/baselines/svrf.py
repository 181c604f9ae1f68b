"""Stochastic variance-reduced Frank-Wolfe."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from fwdsl.atoms.base import Array
from fwdsl.backends.baselines.common import SnapshotState
from fwdsl.backends.baselines.conditional import (
    CAP,
    Conditional,
    ConditionalRun,
    ConditionalState,
    factor,
    grown,
    towards,
)
from fwdsl.backends.baselines.samples import draw
from fwdsl.backends.problem import PreparedProblem


@dataclass
class SVRFState(SnapshotState, ConditionalState):
    """The state of a run of `svrf`."""

    t: int = 0  # the phase


class SVRF(Conditional):
    r"""Stochastic variance-reduced Frank-Wolfe.

    Problem: min F(x) = sum_j w_j l(a_j x) + <q, x> + (mu / 2) |x|^2 over x in C, l smooth, C bounded with a linear minimisation oracle; x a vector
    or a matrix.

    Phases t = 0, 1, ...: from a snapshot w with slopes y_j = w_j l'(a_j w) and K'y, x_0 = w, take k = 1 .. N_t = 2^(t + 3) - 2 steps

        g_k = K'y + (n / m_k) sum_{j in B} (w_j l'(a_j x_{k-1}) - y_j) a_j + q + mu x_{k-1},   v_k = argmin over C of <g_k, v>
        x_k = x_{k-1} + gamma_k (v_k - x_{k-1}),   gamma_k = 2 / (k + 1)

    and the next snapshot is x_{N_t}. gamma_1 = 1: each phase starts afresh at a vertex, as the paper has it. m_k = factor k, at most `cap` n (Table
    2 of Lu and Freund has factor 1 and n / 2; the theory asks for 96 (k + 1)).

    Complexity: O(log(1 / eps)) full gradients, O(1 / eps^2) sample gradients, O(1 / eps) vertices.

    Source: Hazan, Luo 2016 (algorithm 1, theorem 1).

    `state.iteration` counts steps of about an epoch; `state.t` and `state.k` are t and k.

    Options `factor`, `cap` of the batches.
    """

    name = "svrf"
    title = "stochastic variance-reduced Frank-Wolfe"
    source = "Hazan, Luo 2016"
    options = MappingProxyType({"factor": factor("what the batch k is multiplied by"), "cap": CAP})


class SVRFRun(ConditionalRun[SVRFState], of=SVRF):
    """Steps by estimates of reduced variance on a problem."""

    phase = "variance-reduced Frank-Wolfe"

    def __init__(self, problem: PreparedProblem, factor: float, cap: float) -> None:
        super().__init__(problem)
        self.factor, self.cap = factor, cap

    def begin(self, x: Array, ys: Sequence[Array] | None) -> SVRFState:
        """x moved into the set, which is the first snapshot."""
        s = self.started(SVRFState, x, ys)
        self.take_snapshot(s)
        return s

    def advance(self, rng: np.random.Generator) -> int:
        """One estimate, one vertex, one step; a snapshot where the phase ends."""
        s, of = self.state, self.samples
        s.k += 1
        rows = draw(rng, of.n, grown(self.factor * s.k, self.cap, of.n))
        towards(self.problem, s, of.corrected(s.x, rows, s.slopes, s.kty), 2.0 / (s.k + 1.0))
        if s.k < 2 ** (s.t + 3) - 2:
            return rows.size
        s.t, s.k = s.t + 1, 0
        self.take_snapshot(s)
        return rows.size + of.n
