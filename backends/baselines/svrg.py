"""Proximal (projected) stochastic variance reduced gradient."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

import numpy as np

from fwdsl.atoms.base import Array
from fwdsl.backends import finite_sum
from fwdsl.backends.baselines import samples
from fwdsl.backends.baselines.common import (
    Baseline,
    BaselineRun,
    SampledState,
    SnapshotState,
    between_looks,
    conditioning,
    linear_estimate,
)
from fwdsl.backends.baselines.loops import svrg_steps
from fwdsl.backends.baselines.samples import SampleSum, VectorSamples, batch_size, batches, draw, linked
from fwdsl.backends.method import Estimate
from fwdsl.backends.option import Option
from fwdsl.backends.problem import PreparedProblem
from fwdsl.canon.arrange import Arrangement
from fwdsl.canon.form import Canonical


@dataclass
class SVRGState(SnapshotState, SampledState):
    """The state of a run of `svrg`; x is the snapshot."""

    eta: float = 0.0  # the step
    batch: int = 1  # rows of a batch
    count: int = 1  # steps of an epoch
    at: int = 0  # steps made of an epoch that was broken off
    point: Array = field(default_factory=lambda: np.zeros(0))  # where they led
    mean: Array = field(default_factory=lambda: np.zeros(0))  # the sum of their points over `count`


def expected_smoothness(of: SampleSum, b: int) -> float:
    """L_b, as above."""
    largest = float(of.row_smoothness().max(initial=0.0))
    n = of.n
    if b == 1 or n == 1:
        return largest
    whole = of.smoothness()
    return n * (b - 1) / (b * (n - 1)) * whole + (n - b) / (b * (n - 1)) * largest


class SVRG(Baseline):
    r"""Proximal (projected) stochastic variance reduced gradient.

    Problem: min sum_j w_j l(a_j x) + <q, x> + g(x), l smooth, g with a prox (a set, a norm, a pair, with ridges; matrices too).

    An epoch starts at a snapshot s with slopes y_j = w_j l'(a_j s) and the full gradient G = K'y + q, and takes steps over random batches B of b
    rows:

        v = G + (n / b) sum_{j in B} (w_j l'(a_j x) - y_j) a_j,    x <- prox_{eta g}(x - eta v)

    Step: eta = step / L_b, L_b = [n (b - 1) / (b (n - 1))] L + [(n - b) / (b (n - 1))] max_j L_j the expected smoothness of a batch (Sebbouh et al.
    2019), L_j that of n w_j l(a_j x), L that of the sum by the power method. With b = 1 it is the step of the paper, a multiple of 1 / max L_j; the
    paper proves step < 1/4 and runs 0.1, and 0.5 is the default here. The next snapshot is the last point of the epoch (`snapshot="last"`, as
    practice has it) or their mean (`"average"`, which the theory has). An epoch visits `epoch` n samples (2 n as in the paper) and touches 2 + 2
    `epoch` passes of data, the slopes of the snapshot being kept.

    Complexity: O((n + kappa) log(1 / eps)) sample gradients for a strongly convex sum, kappa = max L_j / mu. Each step costs O(d) beside its rows.

    Source: Johnson, Zhang 2013; Xiao, Zhang 2014 (Prox-SVRG); Sebbouh, Gazagnadou, Jelassi, Bach, Gower 2019.

    `state.iteration` counts epochs.

    Options `step` (times 1 / L_b), `batch` (a share of n, or a count), `epoch` (over n), `snapshot`.
    """

    name = "svrg"
    title = "proximal stochastic variance reduced gradient"
    source = "Johnson, Zhang 2013; Xiao, Zhang 2014"
    options = MappingProxyType(
        {
            "step": Option(0.5, "the step, in units of 1 / L_b", lower=0.0, open_lower=True, upper=100.0),
            "batch": Option(
                0.01, "rows of a batch: a share of the samples below 1, else a count", lower=0.0, open_lower=True
            ),
            "epoch": Option(2.0, "samples that an epoch visits, over n", lower=0.0, open_lower=True, upper=1000.0),
            "snapshot": Option("last", "the point an epoch starts from", choices=("last", "average")),
        }
    )

    @classmethod
    def requires(cls, arrangement: Arrangement) -> tuple[str, ...]:
        return finite_sum.reasons(arrangement)

    @classmethod
    def requires_values(cls, canonical: Canonical) -> tuple[str, ...]:
        """Predictions that are rows of data times the variable, a curvature of the loss that is bounded."""
        return samples.value_reasons(canonical) or samples.unbounded_curvature(canonical)

    @classmethod
    def estimate(cls, canonical: Canonical, tol: float) -> Estimate:
        """1 + kappa / n epochs for each factor e of the gap, of six passes and 200 steps."""
        n, kappa = conditioning(canonical)
        why = "epochs of two samples each and a full gradient: its rate is that of batches of one"
        return linear_estimate(canonical, tol, 1.0 + kappa / n, 6.0, 200.0, why)


class SVRGRun(BaselineRun[SVRGState], of=SVRG):
    """Steps of reduced variance on a problem."""

    phase = "variance reduced gradient"

    def __init__(self, problem: PreparedProblem, step: float, batch: float, epoch: float, snapshot: str) -> None:
        super().__init__(problem)
        self.step_size, self.batch, self.epoch, self.snapshot = step, batch, epoch, snapshot
        self.samples = SampleSum.of(problem)

    def begin(self, x: Array, ys: Sequence[Array] | None) -> SVRGState:
        """The step of the data, and the first snapshot."""
        of = self.samples
        b = batch_size(self.batch, of.n, 0.01)
        bound = expected_smoothness(of, b)
        eta = self.step_size / bound if bound > 0.0 else 1.0
        count = max(1, round(self.epoch * of.n / b))
        state = self.started(SVRGState, x, ys, eta=eta, batch=b, count=count)
        self.take_snapshot(state)
        return state

    def step(self) -> None:
        """One epoch and the next snapshot."""
        problem, s, of = self.problem, self.state, self.samples
        rng = s.draws(problem.seed, s.iteration)
        base = s.kty + problem.q
        if s.at == 0:
            s.point, s.mean = s.x.copy(), np.zeros_like(s.x)
        compiled = isinstance(of, VectorSamples) and problem.g[0].f.compiled
        many = between_looks(problem.canonical.nnz / of.n, s.batch, of.size) if compiled else 1
        while s.at < s.count:
            count = min(many, s.count - s.at)
            if compiled:
                self._run(batches(rng, of.n, s.batch, count), base)
            else:
                rows = draw(rng, of.n, s.batch)
                v = base.copy()
                of.add(rows, of.slopes(s.point, rows) - of.at(s.slopes, rows), of.n / rows.size, v)
                s.point = problem.prox_g(s.point - s.eta * v, s.eta)
                s.mean += s.point / s.count
            s.at += count
            if s.at < s.count and problem.must_stop():
                s.break_off(rng)
                return
        # the mean of points in the domain is in it but for rounding
        s.x = s.point if self.snapshot == "last" else problem.prox_g(s.mean, 0.0)
        s.at, s.point, s.mean = 0, np.zeros(0), np.zeros(0)
        s.iteration += 1
        s.epochs += s.count * s.batch / of.n
        self.take_snapshot(s)

    def _run(self, index: samples.Rows, base: Array) -> None:
        """Steps over these batches."""
        problem, s, of = self.problem, self.state, self.samples
        assert isinstance(of, VectorSamples)
        (g,) = problem.g
        view, f = of.sum, of.sum.loss
        loop = linked(svrg_steps, view.row_kernels, derivative=f.loss.value_gradient_loop, prox=g.f.prox_kernel)
        share, prox_step = g.f.prox_change(s.eta)
        view.count(loop(view.data, index, s.slopes, base, s.eta, share, prox_step, s.count, s.point, s.mean, g.args))
