r"""Stochastic variance-reduced conditional gradient sliding (STORC).

Phases t = 1, 2, ...: from a snapshot w with slopes y_j = w_j l'(a_j w), y_0 = x_0 = w, take k = 1 .. N_t iterations

    z_k = (1 - gamma_k) y_{k-1} + gamma_k x_{k-1},   g_k the estimate of grad F(z_k) with the snapshot's variance reduction, by a batch of m_t rows
    x_k = CndG(g_k, x_{k-1}, beta_k, eta_{t,k}),   y_k = (1 - gamma_k) y_{k-1} + gamma_k x_k

gamma_k = 2 / (k + 1), beta_k = 3 L / k, eta_{t,k} = 2 L D_t^2 / (N_t k); the next snapshot is y_{N_t}. As in the paper

    with a ridge (kappa = L / mu):   N_t = ceil(sqrt(32 kappa)),   D_t^2 = min(1, kappa / 2^(t - 1)) D^2
    without:                         N_t = ceil(2^(t/2 + 2)),      D_t = D

(the minimum with D, which bounds every distance, is ours). m_t = factor N_t, at most `cap` n: the theory asks for 900 N_t without a ridge
and for 5600 N_t kappa
with one, which is more than n wherever the method is run, and is then a full gradient; `factor` 900 is to be given for that. L is that of F,
by the power method (`smoothness="spectral"`) or from the row norms (`"rows"`); `step` divides it.

Complexity: with a ridge O((n + kappa^2) log(1 / eps)) sample gradients, O(1 / eps) vertices.

Hazan, Luo 2016 (algorithm 2, theorem 2).

`state.iteration` counts steps of about an epoch; `state.t` and `state.k` are t and k.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

import numpy as np

from ...atoms.base import Array
from ..problem import Problem
from .common import certify, start
from .conditional import conditional_gradient, diameter, factor, grown, lipschitz
from .samples import Samples, draw
from .scgs import SCGS, SCGSState


@dataclass
class STORCState(SCGSState):
    """The phase t, and the snapshot's slopes and K'y."""

    t: int = 1
    slopes: Array = field(default_factory=lambda: np.zeros(0))
    kty: Array = field(default_factory=lambda: np.zeros(0))


class STORC(SCGS):
    """Variance-reduced sliding; options as those of `scgs`."""

    name = "storc"
    title = "stochastic variance-reduced conditional gradient sliding"
    source = "Hazan, Luo 2016"
    phase = "variance-reduced sliding"
    options = MappingProxyType(SCGS.options | {"factor": factor("what the batch N_t is multiplied by")})

    def init(self, problem: Problem, x: Array, ys: Sequence[Array] | None) -> STORCState:
        """x moved into the set, which is the first snapshot."""
        bound = lipschitz(self.samples(problem), self.smoothness, problem.seed) / self.step_size
        s = start(problem, STORCState, x, ys, lipschitz=bound, diameter=diameter(problem))
        self._take_snapshot(problem, s)
        return s

    @staticmethod
    def _take_snapshot(problem: Problem, s: STORCState) -> None:
        ys, s.kty = certify(problem, s, s.x)
        s.slopes = ys[0]
        s.center = s.x.copy()

    def advance(self, problem: Problem, of: Samples, s: STORCState, rng: np.random.Generator) -> int:  # type: ignore[override]
        """One estimate, one inner problem; a snapshot where the phase ends."""
        s.k += 1
        k, big, d = s.k, s.lipschitz, s.diameter
        count, square = phase_of(s.t, big, of.mu, d)
        gamma = 2.0 / (k + 1.0)
        rows = draw(rng, of.n, grown(self.factor * count, self.cap, of.n))
        slope = of.corrected((1.0 - gamma) * s.x + gamma * s.center, rows, s.slopes, s.kty)
        s.center = conditional_gradient(problem, s, slope, s.center, 3.0 * big / k, 2.0 * big * square / (count * k), d)
        s.x = (1.0 - gamma) * s.x + gamma * s.center
        if k < count:
            return rows.size
        s.t, s.k = s.t + 1, 0
        self._take_snapshot(problem, s)
        return rows.size + of.n


def phase_of(t: int, big: float, mu: float, d: float) -> tuple[int, float]:
    """N_t and D_t^2."""
    if mu > 0.0:
        kappa = big / mu
        return math.ceil(math.sqrt(32.0 * kappa)), min(1.0, kappa / 2.0 ** min(t - 1, 1000)) * d * d
    return math.ceil(2.0 ** (min(t, 60) / 2.0 + 2.0)), d * d
