r"""Proximal (projected) stochastic variance reduced gradient.

Problem: min sum_j w_j l(a_j x) + <q, x> + g(x), l smooth, g with a prox (a set, a norm, a pair, with ridges; matrices too).

An epoch starts at a snapshot s with slopes y_j = w_j l'(a_j s) and the full gradient G = K'y + q, and takes steps over random batches B of b rows:

    v = G + (n / b) sum_{j in B} (w_j l'(a_j x) - y_j) a_j,    x <- prox_{eta g}(x - eta v)

Step: eta = step / L_b, L_b = [n (b - 1) / (b (n - 1))] L + [(n - b) / (b (n - 1))] max_j L_j the expected smoothness of a batch
(Sebbouh et al. 2019), L_j that of n w_j l(a_j x), L that of the sum by the power method. With b = 1 it is the step of the paper,
a multiple of 1 / max L_j; the paper proves step < 1/4 and runs 0.1, and 0.5 is the default here. The next snapshot is the last point of
the epoch (`snapshot="last"`, as practice has it) or their mean (`"average"`, which the theory has). An epoch visits
`epoch` n samples (2 n as in the paper) and touches 2 + 2 `epoch` passes of data, the slopes of the snapshot being kept.

Complexity: O((n + kappa) log(1 / eps)) sample gradients for a strongly convex sum, kappa = max L_j / mu. Each step costs O(d) beside its rows.

Johnson, Zhang 2013; Xiao, Zhang 2014 (Prox-SVRG); Sebbouh, Gazagnadou, Jelassi, Bach, Gower 2019.

`state.iteration` counts epochs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import numpy as np

from ...atoms.base import Array
from ...canon.arrange import Arrangement
from ...canon.form import Canonical
from ..finite_sum import draws
from ..option import Option
from ..problem import Problem
from . import samples
from .common import Baseline, BaselineState, certify, start
from .loops import svrg_steps
from .samples import Samples, VectorSamples, batch_misfit, batch_size, batches, draw, linked


@dataclass
class SVRGState(BaselineState):
    """x is the snapshot; `slopes` and `kty` are y and K'y there; `eta` the step, `batch` and `count` what an epoch is made of."""

    slopes: Array = field(default_factory=lambda: np.zeros(0))
    kty: Array = field(default_factory=lambda: np.zeros(0))
    eta: float = 0.0
    batch: int = 1
    count: int = 1


def expected_smoothness(of: Samples, b: int) -> float:
    """L_b, as above."""
    largest = float(of.row_smoothness().max(initial=0.0))
    n = of.n
    if b == 1 or n == 1:
        return largest
    whole = of.smoothness()
    return n * (b - 1) / (b * (n - 1)) * whole + (n - b) / (b * (n - 1)) * largest


class SVRG(Baseline):
    """Prox-SVRG with mini-batches; options `step` (times 1 / L_b), `batch` (a share of n, or a count), `epoch` (over n), `snapshot`."""

    name = "svrg"
    title = "proximal stochastic variance reduced gradient"
    source = "Johnson, Zhang 2013; Xiao, Zhang 2014"
    phase = "variance reduced gradient"
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

    def __init__(self, step: float, batch: float, epoch: float, snapshot: str) -> None:
        self.step_size = step
        self.batch = batch
        self.epoch = epoch
        self.snapshot = snapshot

    @classmethod
    def requires(cls, arrangement: Arrangement) -> tuple[str, ...]:
        """One smooth loss over samples of one variable."""
        return samples.reasons(arrangement)

    @classmethod
    def requires_values(cls, canonical: Canonical) -> tuple[str, ...]:
        """Predictions that are rows of data times the variable, a curvature of the loss that is bounded."""
        return samples.value_reasons(canonical) or samples.unbounded_curvature(canonical)

    @classmethod
    def requires_options(cls, canonical: Canonical, options: Mapping[str, Any]) -> tuple[str, ...]:
        """A batch of at most n."""
        return batch_misfit(options.get("batch"), canonical)

    def init(self, problem: Problem, x: Array, ys: Sequence[Array] | None) -> SVRGState:
        """The step of the data, and the first snapshot."""
        of = self.samples(problem)
        b = batch_size(self.batch, of.n, 0.01)
        bound = expected_smoothness(of, b)
        eta = self.step_size / bound if bound > 0.0 else 1.0
        count = max(1, round(self.epoch * of.n / b))
        state = start(problem, SVRGState, x, ys, eta=eta, batch=b, count=count)
        self._take_snapshot(problem, state)
        return state

    @staticmethod
    def _take_snapshot(problem: Problem, s: SVRGState) -> None:
        ys, s.kty = certify(problem, s, s.x)
        s.slopes = ys[0]

    def step(self, problem: Problem, state: SVRGState) -> None:
        """One epoch and the next snapshot."""
        s, of = state, self.samples(problem)
        rng = draws(problem.seed, s.iteration)
        base = s.kty + problem.q
        (g,) = problem.g
        x, average = s.x.copy(), np.zeros_like(s.x)
        if isinstance(of, VectorSamples) and g.f.compiled:
            index = batches(rng, of.n, s.batch, s.count)
            loop = linked(
                svrg_steps, of.sum.row_kernels, derivative=of.sum.loss.loss.value_gradient, prox=g.f.prox_kernel
            )
            share, prox_step = g.f.prox_change(s.eta)
            f, view = of.sum.loss, of.sum
            args = (view.rows, index, view.c, view.offset, f.b, f.w, f.p, s.slopes, base)
            view.count(loop(*args, s.eta, share, prox_step, x, average, g.args))
        else:
            for _ in range(s.count):
                rows = draw(rng, of.n, s.batch)
                v = base.copy()
                of.add(rows, of.slopes(x, rows) - of.at(s.slopes, rows), of.n / rows.size, v)
                x = problem.prox_g(x - s.eta * v, s.eta)
                average += x / s.count
        # the mean of points in the domain is in it but for rounding
        s.x = x if self.snapshot == "last" else problem.prox_g(average, 0.0)
        s.iteration += 1
        s.epochs += s.count * s.batch / of.n
        self._take_snapshot(problem, s)
