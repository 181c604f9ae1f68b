r"""Stochastic conditional gradient sliding.

    z_k = (1 - gamma_k) y_{k-1} + gamma_k x_{k-1},   g_k the estimate of grad F(z_k) by B_k random rows
    x_k = CndG(g_k, x_{k-1}, beta_k, eta_k),   y_k = (1 - gamma_k) y_{k-1} + gamma_k x_k

CndG minimises <g, x> + (beta / 2) |x - u|^2 over C by Frank-Wolfe up to a gap of eta (`conditional.conditional_gradient`). With
gamma_k = 3 / (k + 2), beta_k = 4 L / (k + 2), eta_k = L D^2 / (k (k + 1)), D the diameter of C, and B_k = factor k^3, at most `cap` n (the
theory asks for
sigma^2 (k + 2)^3 / (L D)^2; Table 2 of Lu and Freund has k^3 and n / 2). L is that of F, by the power method (`smoothness="spectral"`) or from the
row norms (`"rows"`); `step` divides it. Nothing here uses strong convexity.

Complexity: O(1 / eps^2) sample gradients, O(1 / eps) vertices, O(1 / sqrt(eps)) outer iterations.

Lan, Zhou 2016 (algorithm 3, corollary 4).

`state.iteration` counts steps of about an epoch; `state.k` is k.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

import numpy as np

from ...atoms.base import Array
from ..option import Option
from ..problem import Problem
from .common import certify, start
from .conditional import (
    CAP,
    SMOOTHNESS,
    Conditional,
    ConditionalState,
    conditional_gradient,
    diameter,
    factor,
    grown,
    lipschitz,
)
from .samples import Samples, draw


@dataclass
class SCGSState(ConditionalState):
    """x is the paper's y; `center` its x. L and D."""

    center: Array = field(default_factory=lambda: np.zeros(0))
    lipschitz: float = 1.0
    diameter: float = 1.0


class SCGS(Conditional):
    """Conditional gradient sliding; options `factor`, `cap` of the batches, `smoothness`, `step`."""

    name = "scgs"
    title = "stochastic conditional gradient sliding"
    source = "Lan, Zhou 2016"
    phase = "conditional gradient sliding"
    options = MappingProxyType(
        {
            "factor": factor("what the batch k^3 is multiplied by"),
            "cap": CAP,
            "smoothness": SMOOTHNESS,
            "step": Option(1.0, "what L is divided by", lower=0.0, open_lower=True, upper=1000.0),
        }
    )

    def __init__(self, factor: float, cap: float, smoothness: str, step: float) -> None:
        self.factor = factor
        self.cap = cap
        self.smoothness = smoothness
        self.step_size = step

    def init(self, problem: Problem, x: Array, ys: Sequence[Array] | None) -> SCGSState:
        """x moved into the set; L and D of the data."""
        bound = lipschitz(self.samples(problem), self.smoothness, problem.seed) / self.step_size
        s = start(problem, SCGSState, x, ys, lipschitz=bound, diameter=diameter(problem))
        s.center = s.x.copy()
        certify(problem, s, s.x)
        return s

    def advance(self, problem: Problem, of: Samples, s: SCGSState, rng: np.random.Generator) -> int:
        """One estimate, one inner problem."""
        s.k += 1
        k, big, d = s.k, s.lipschitz, s.diameter
        gamma = 3.0 / (k + 2.0)
        rows = draw(rng, of.n, grown(self.factor * k**3, self.cap, of.n))
        slope = of.estimate((1.0 - gamma) * s.x + gamma * s.center, rows)
        s.center = conditional_gradient(
            problem, s, slope, s.center, 4.0 * big / (k + 2.0), big * d * d / (k * (k + 1.0)), d
        )
        s.x = (1.0 - gamma) * s.x + gamma * s.center
        return rows.size
