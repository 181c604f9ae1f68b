"""Stochastic Frank-Wolfe with growing batches."""

from __future__ import annotations

from collections.abc import Sequence
from types import MappingProxyType

import numpy as np

from fwdsl.atoms.base import Array
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


class SFWState(ConditionalState):
    """The state of a run of `sfw`."""


class SFW(Conditional):
    r"""Stochastic Frank-Wolfe with growing batches.

    Problem: min F(x) = sum_j w_j l(a_j x) + <q, x> + (mu / 2) |x|^2 over x in C, l smooth, C bounded with a linear minimisation oracle; x a vector
    or a matrix.

        g_k = the estimate of grad F(x_{k-1}) by m_k random rows,   v_k = argmin over C of <g_k, v>,   x_k = x_{k-1} + gamma_k (v_k - x_{k-1})

    gamma_k = 2 / (k + 1), m_k = factor k^2, at most `cap` n (Table 2 of Lu and Freund: k^2, n / 2; the theory asks for (G (k + 1) / (L D))^2). With
    the cap the noise does not vanish below that of a batch of `cap` n.

    Complexity: O(1 / eps^3) sample gradients, O(1 / eps) vertices.

    Source: Hazan, Luo 2016 (algorithm SFW there).

    `state.iteration` counts steps of about an epoch; `state.k` is k.

    Options `factor`, `cap` of the batches.
    """

    name = "sfw"
    title = "stochastic Frank-Wolfe with growing batches"
    source = "Hazan, Luo 2016"
    options = MappingProxyType({"factor": factor("what the batch k^2 is multiplied by"), "cap": CAP})


class SFWRun(ConditionalRun[SFWState], of=SFW):
    """Steps by growing batches on a problem."""

    phase = "stochastic Frank-Wolfe"

    def __init__(self, problem: PreparedProblem, factor: float, cap: float) -> None:
        super().__init__(problem)
        self.factor, self.cap = factor, cap

    def begin(self, x: Array, ys: Sequence[Array] | None) -> SFWState:
        s = self.started(SFWState, x, ys)
        self.certify(s, s.x)
        return s

    def advance(self, rng: np.random.Generator) -> int:
        s, of = self.state, self.samples
        s.k += 1
        rows = draw(rng, of.n, grown(self.factor * s.k**2, self.cap, of.n))
        towards(self.problem, s, of.estimate(s.x, rows), 2.0 / (s.k + 1.0))
        return rows.size
