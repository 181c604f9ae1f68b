"""Stochastic variance-reduced conditional gradient sliding (STORC)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from fwdsl.atoms.base import Array
from fwdsl.backends.baselines.common import SnapshotState
from fwdsl.backends.baselines.conditional import factor
from fwdsl.backends.baselines.samples import Rows
from fwdsl.backends.baselines.scgs import SCGS, Constants, SCGSState, Sliding


@dataclass
class STORCState(SnapshotState, SCGSState):
    """The state of a run of `storc`."""

    t: int = 1  # the phase


class STORC(SCGS):
    r"""Stochastic variance-reduced conditional gradient sliding (STORC).

    Problem: min F(x) = sum_j w_j l(a_j x) + <q, x> + (mu / 2) |x|^2 over x in C, l smooth, C bounded with a linear minimisation oracle; x a vector
    or a matrix.

    Phases t = 1, 2, ...: from a snapshot w with slopes y_j = w_j l'(a_j w), y_0 = x_0 = w, take k = 1 .. N_t iterations

        z_k = (1 - gamma_k) y_{k-1} + gamma_k x_{k-1},   g_k the estimate of grad F(z_k) corrected by the snapshot, by m_t rows
        x_k = CndG(g_k, x_{k-1}, beta_k, eta_{t,k}),   y_k = (1 - gamma_k) y_{k-1} + gamma_k x_k

    gamma_k = 2 / (k + 1), beta_k = 3 L / k, eta_{t,k} = 2 L D_t^2 / (N_t k); the next snapshot is y_{N_t}. As in the paper

        with a ridge (kappa = L / mu):   N_t = ceil(sqrt(32 kappa)),   D_t^2 = min(1, kappa / 2^(t - 1)) D^2
        without:                         N_t = ceil(2^(t/2 + 2)),      D_t = D

    Corrected: the minimum with D, which bounds every distance, is ours. m_t = factor N_t, at most `cap` n: the theory asks for 900 N_t without a
    ridge and for 5600 N_t kappa with one, which is more than n wherever the method is run, and is then a full gradient; `factor` 900 is to be given
    for that. L is that of F, by the power method (`smoothness="spectral"`) or from the row norms (`"rows"`); `step` divides it.

    Complexity: with a ridge O((n + kappa^2) log(1 / eps)) sample gradients, O(1 / eps) vertices.

    Source: Hazan, Luo 2016 (algorithm 2, theorem 2).

    `state.iteration` counts steps of about an epoch; `state.t` and `state.k` are t and k.

    Options as those of `scgs`.
    """

    name = "storc"
    title = "stochastic variance-reduced conditional gradient sliding"
    source = "Hazan, Luo 2016"
    options = MappingProxyType(SCGS.options | {"factor": factor("what the batch N_t is multiplied by")})


class STORCRun(Sliding[STORCState], of=STORC):
    """Variance-reduced sliding on a problem."""

    phase = "variance-reduced sliding"

    def begin(self, x: Array, ys: Sequence[Array] | None) -> STORCState:
        """x moved into the set, which is the first snapshot."""
        s = self.at(STORCState, x, ys)
        self.take_snapshot(s)
        return s

    def advance(self, rng: np.random.Generator) -> int:
        """One estimate, one inner problem; a snapshot where the phase ends."""
        s, of = self.state, self.samples
        visited = super().advance(rng)
        if visited == 0 or s.k < phase_of(s.t, s.lipschitz, of.mu, s.diameter)[0]:
            return visited
        s.t, s.k = s.t + 1, 0
        self.take_snapshot(s)
        s.center = s.x.copy()
        return visited + of.n

    def constants(self) -> Constants:
        """gamma_k, beta_k, eta_{t,k} and N_t."""
        s, k, big = self.state, self.state.k, self.state.lipschitz
        count, square = phase_of(s.t, big, self.samples.mu, s.diameter)
        return Constants(2.0 / (k + 1.0), 3.0 * big / k, 2.0 * big * square / (count * k), count)

    def estimate(self, z: Array, rows: Rows) -> Array:
        return self.samples.corrected(z, rows, self.state.slopes, self.state.kty)


def phase_of(t: int, big: float, mu: float, d: float) -> tuple[int, float]:
    """N_t and D_t^2."""
    if mu > 0.0:
        kappa = big / mu
        return math.ceil(math.sqrt(32.0 * kappa)), min(1.0, kappa / 2.0 ** min(t - 1, 1000)) * d * d
    return math.ceil(2.0 ** (min(t, 60) / 2.0 + 2.0)), d * d
