"""Stochastic conditional gradient sliding."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TypeVar

import numpy as np

from fwdsl.atoms.base import Array
from fwdsl.backends.baselines.conditional import (
    CAP,
    SMOOTHNESS,
    Conditional,
    ConditionalRun,
    SlidingState,
    conditional_gradient,
    diameter,
    factor,
    grown,
    lipschitz,
)
from fwdsl.backends.baselines.samples import Rows, draw
from fwdsl.backends.option import Option
from fwdsl.backends.problem import PreparedProblem
from fwdsl.light_dataclass import light_dataclass


@dataclass
class SCGSState(SlidingState):
    """The state of a run of `scgs`; x is the paper's y."""

    center: Array = field(default_factory=lambda: np.zeros(0))  # the paper's x
    lipschitz: float = 1.0  # L
    diameter: float = 1.0  # D


@light_dataclass
class Constants:
    """gamma, beta and eta of an iteration, and the batch that `factor` multiplies."""

    gamma: float
    beta: float
    eta: float
    batch: float


S = TypeVar("S", bound=SCGSState)


class SCGS(Conditional):
    r"""Stochastic conditional gradient sliding.

    Problem: min F(x) = sum_j w_j l(a_j x) + <q, x> + (mu / 2) |x|^2 over x in C, l smooth, C bounded with a linear minimisation oracle; x a vector
    or a matrix.

        z_k = (1 - gamma_k) y_{k-1} + gamma_k x_{k-1},   g_k the estimate of grad F(z_k) by B_k random rows
        x_k = CndG(g_k, x_{k-1}, beta_k, eta_k),   y_k = (1 - gamma_k) y_{k-1} + gamma_k x_k

    CndG minimises <g, x> + (beta / 2) |x - u|^2 over C by Frank-Wolfe up to a gap of eta (`conditional.conditional_gradient`). With gamma_k = 3 /
    (k + 2), beta_k = 4 L / (k + 2), eta_k = L D^2 / (k (k + 1)), D the diameter of C, and B_k = factor k^3, at most `cap` n (the theory asks for
    sigma^2 (k + 2)^3 / (L D)^2; Table 2 of Lu and Freund has k^3 and n / 2). L is that of F, by the power method (`smoothness="spectral"`) or from
    the row norms (`"rows"`); `step` divides it. Nothing here uses strong convexity.

    Complexity: O(1 / eps^2) sample gradients, O(1 / eps) vertices, O(1 / sqrt(eps)) outer iterations.

    Source: Lan, Zhou 2016 (algorithm 3, corollary 4).

    `state.iteration` counts steps of about an epoch; `state.k` is k.

    Options `factor`, `cap` of the batches, `smoothness`, `step`.
    """

    name = "scgs"
    title = "stochastic conditional gradient sliding"
    source = "Lan, Zhou 2016"
    options = MappingProxyType(
        {
            "factor": factor("what the batch k^3 is multiplied by"),
            "cap": CAP,
            "smoothness": SMOOTHNESS,
            "step": Option(1.0, "what L is divided by", lower=0.0, open_lower=True, upper=1000.0),
        }
    )


class Sliding(ConditionalRun[S]):
    """A run that slides: an estimate of the gradient, then an inner problem of it."""

    def __init__(self, problem: PreparedProblem, factor: float, cap: float, smoothness: str, step: float) -> None:
        super().__init__(problem)
        self.factor, self.cap, self.smoothness, self.step_size = factor, cap, smoothness, step

    def at(self, cls: type[S], x: Array, ys: Sequence[Array] | None) -> S:
        """A state at x moved into the set; L and D of the data."""
        problem = self.problem
        bound = lipschitz(self.samples, self.smoothness, problem.seed) / self.step_size
        s = self.started(cls, x, ys, lipschitz=bound, diameter=diameter(problem))
        s.center = s.x.copy()
        return s

    def advance(self, rng: np.random.Generator) -> int:
        s, of = self.state, self.samples
        if s.inner.size == 0:
            s.k += 1
        now = self.constants()
        if s.inner.size == 0:
            rows = draw(rng, of.n, grown(self.factor * now.batch, self.cap, of.n))
            s.slope = self.estimate((1.0 - now.gamma) * s.x + now.gamma * s.center, rows)
            s.inner, s.turns, s.visited = s.center.copy(), 0, rows.size
        if not conditional_gradient(self.problem, s, s.center, now.beta, now.eta, s.diameter):
            return 0
        s.center, s.inner = s.inner, np.zeros(0)
        s.x = (1.0 - now.gamma) * s.x + now.gamma * s.center
        return s.visited

    @abstractmethod
    def constants(self) -> Constants:
        """The constants of the iteration."""

    @abstractmethod
    def estimate(self, z: Array, rows: Rows) -> Array:
        """The estimate of the gradient of F at z from the rows."""


class SCGSRun(Sliding[SCGSState], of=SCGS):
    """Conditional gradient sliding on a problem."""

    phase = "conditional gradient sliding"

    def begin(self, x: Array, ys: Sequence[Array] | None) -> SCGSState:
        """x moved into the set; L and D of the data."""
        s = self.at(SCGSState, x, ys)
        self.certify(s, s.x)
        return s

    def constants(self) -> Constants:
        k, big, d = self.state.k, self.state.lipschitz, self.state.diameter
        return Constants(3.0 / (k + 2.0), 4.0 * big / (k + 2.0), big * d * d / (k * (k + 1.0)), k**3)

    def estimate(self, z: Array, rows: Rows) -> Array:
        return self.samples.estimate(z, rows)
