"""Stochastic conditional gradient with an averaged gradient (momentum)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

import numpy as np

from fwdsl.atoms.base import Array
from fwdsl.backends.baselines.conditional import Conditional, ConditionalRun, ConditionalState, towards
from fwdsl.backends.baselines.samples import batch_size, draw
from fwdsl.backends.option import Option
from fwdsl.backends.problem import PreparedProblem


@dataclass
class SCGMState(ConditionalState):
    """The state of a run of `scgm`."""

    d: Array = field(default_factory=lambda: np.zeros(0))  # the averaged gradient of the losses' sum


class SCGM(Conditional):
    r"""Stochastic conditional gradient with an averaged gradient (momentum).

    Problem: min F(x) = sum_j w_j l(a_j x) + <q, x> + (mu / 2) |x|^2 over x in C, l smooth, C bounded with a linear minimisation oracle; x a vector
    or a matrix.

        d_k = (1 - rho_k) d_{k-1} + rho_k g_k,   g_k the estimate of grad F(x_{k-1}) by a batch,   rho_k = 4 / (k + 8)^(2/3), at most 1
        v_k = argmin over C of <d_k, v>,   x_k = x_{k-1} + gamma_k (v_k - x_{k-1}),   gamma_k = a / (k + a)

    with d_0 = 0. The averaging replaces growing batches: a batch keeps its size (1 % of n, as in Lu and Freund), and the error of d falls like
    k^(-2/3) in mean square. a = 1 is 1 / (k + 1) of the theory; a larger a (`decay`) forgets the first vertices sooner.

    Complexity: O(1 / eps^3) batches and vertices.

    Source: Mokhtari, Hassani, Karbasi 2020 (algorithm 1, theorem 3).

    `state.iteration` counts steps of about an epoch; `state.k` is k.

    Options `batch`, `decay`.
    """

    name = "scgm"
    title = "stochastic conditional gradient with an averaged gradient"
    source = "Mokhtari, Hassani, Karbasi 2020"
    options = MappingProxyType(
        {
            "batch": Option(
                0.01, "rows of a batch: a share of the samples below 1, else a count", lower=0.0, open_lower=True
            ),
            "decay": Option(1.0, "a in the step a / (k + a)", lower=0.0, open_lower=True, upper=1e6),
        }
    )


class SCGMRun(ConditionalRun[SCGMState], of=SCGM):
    """Steps by an averaged gradient on a problem."""

    phase = "averaged conditional gradient"

    def __init__(self, problem: PreparedProblem, batch: float, decay: float) -> None:
        super().__init__(problem)
        self.batch, self.decay = batch, decay

    def begin(self, x: Array, ys: Sequence[Array] | None) -> SCGMState:
        """x moved into the set, d = 0."""
        s = self.started(SCGMState, x, ys, d=np.zeros_like(x))
        self.certify(s, s.x)
        return s

    def advance(self, rng: np.random.Generator) -> int:
        s, of = self.state, self.samples
        s.k += 1
        rows = draw(rng, of.n, batch_size(self.batch, of.n, 0.01))
        rho = min(1.0, 4.0 / (s.k + 8.0) ** (2.0 / 3.0))
        s.d = (1.0 - rho) * s.d + rho * of.estimate(s.x, rows)
        towards(self.problem, s, s.d, self.decay / (s.k + self.decay))
        return rows.size
