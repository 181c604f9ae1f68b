"""Stochastic primal-dual coordinate method, with mini-batches."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

import numpy as np

from fwdsl.atoms.base import Array
from fwdsl.backends import finite_sum
from fwdsl.backends.baselines.common import (
    Baseline,
    BaselineRun,
    SampledState,
    between_looks,
    conditioning,
    epochs_a_step,
    linear_estimate,
)
from fwdsl.backends.baselines.loops import spdc_steps
from fwdsl.backends.baselines.samples import batch_size, batches, linked, unbounded_curvature
from fwdsl.backends.finite_sum import FiniteSum
from fwdsl.backends.method import Estimate
from fwdsl.backends.option import Option
from fwdsl.backends.problem import PreparedProblem
from fwdsl.canon.arrange import Arrangement
from fwdsl.canon.form import Canonical


@dataclass
class SPDCState(SampledState):
    """The state of a run of `spdc`."""

    bar: Array = field(default_factory=lambda: np.zeros(0))  # the extrapolated x
    y: Array = field(default_factory=lambda: np.zeros(0))  # the dual point
    u: Array = field(default_factory=lambda: np.zeros(0))  # K'y
    sigma: float = 0.0  # the dual step
    tau: float = 0.0  # the primal step
    theta: float = 0.0  # the extrapolation
    batch: int = 1  # rows of a batch
    epoch: int = 0  # where a step was broken off: epochs done of it
    at: int = 0  # and iterations made in the next


class SPDC(Baseline):
    r"""Stochastic primal-dual coordinate method, with mini-batches.

    Problem: min (1/n) sum_i phi_i(a_i x) + g(x), phi_i = n w_i l(.; b_i) (1 / gamma)-smooth, g mu-strongly convex: a set or a norm with a prox, and
    a ridge. Written as min over x, max over y of <A x, y> - sum_i f_i*(y_i) + g(x), y_i being 1/n of the paper's: for a random batch B of m rows

        y_i <- argmax_y  y (a_i xbar) - f_i*(y) - (n / (2 sigma)) (y - y_i)^2,   i in B
        x+   = argmin_x  g(x) + <u + (n / m) sum_{i in B} (y_i^+ - y_i) a_i, x> + |x - x_k|^2 / (2 tau)
        u   <- u + sum_{i in B} (y_i^+ - y_i) a_i,   xbar = x+ + theta (x+ - x_k),   u = A'y

        tau = (1 / 2R) sqrt(m gamma / (n mu)),   sigma = (1 / 2R) sqrt(n mu / (m gamma)),   theta = 1 - 1 / (n / m + R sqrt(n / (m mu gamma)))

    R = max |a_i| (Theorem 1 and section 3 of the paper). `step` divides R: above 1 the bound on the operator is no longer the worst case's, and
    `step` = 4 is often still stable on sparse rows.

    An iteration costs the rows of its batch and O(d) for x, u and xbar, so that on sparse data a batch of one row is costly: where `batch` is worked
    out it is about d over the numbers of a row, at most n / 10. (The paper's lazy updates need a separable g.)

    Complexity: O((n / m + R sqrt(n / (m mu gamma))) log(1 / eps)) iterations. The certificate is D(y), A'y being kept: one pass, for P.

    Source: Zhang, Xiao 2015, 2017.

    `state.iteration` counts steps of about an epoch, or as many as make 50,000 touches.

    Options `batch` (a share of n, or a count), `step`.
    """

    name = "spdc"
    title = "stochastic primal-dual coordinate method"
    source = "Zhang, Xiao 2015"
    options = MappingProxyType(
        {
            "batch": Option(
                None,
                "rows of a batch: a share of the samples below 1, else a count",
                kind=float,
                lower=0.0,
                open_lower=True,
            ),
            "step": Option(1.0, "what R is divided by", lower=0.0, open_lower=True, upper=1000.0),
        }
    )

    @classmethod
    def requires(cls, arrangement: Arrangement) -> tuple[str, ...]:
        return finite_sum.reasons(arrangement, ridge=True)

    @classmethod
    def requires_values(cls, canonical: Canonical) -> tuple[str, ...]:
        """Rows of one data matrix times a vector, a bounded second derivative."""
        found = finite_sum.value_reasons(canonical) or unbounded_curvature(canonical)
        uncompiled = [
            f"{b.text} has no compiled kernel, which its loop calls" for b in canonical.blocks if not b.g.compiled
        ]
        return (*found, *uncompiled)

    @classmethod
    def estimate(cls, canonical: Canonical, tol: float) -> Estimate:
        """1 + sqrt(kappa / n) epochs for each factor e of the gap, of three passes and iterations worth as many proxes as ten."""
        n, kappa = conditioning(canonical)
        return linear_estimate(canonical, tol, 1.0 + math.sqrt(kappa / n), 3.0, 10.0, "visits of each sample")


class SPDCRun(BaselineRun[SPDCState], of=SPDC):
    """Primal-dual coordinates on a problem."""

    phase = "primal-dual coordinates"

    def __init__(self, problem: PreparedProblem, batch: float | None, step: float) -> None:
        super().__init__(problem)
        self.batch, self.step_size = batch, step
        self.sum = FiniteSum.of(problem)

    def begin(self, x: Array, ys: Sequence[Array] | None) -> SPDCState:
        """Steps of the data; y of the start if there is one, else the slopes at x."""
        problem, of = self.problem, self.sum
        s = self.started(SPDCState, x, None)
        if ys is not None and len(ys) == 1 and ys[0].size == of.n:
            s.y = ys[0].copy()
        else:
            s.y = problem.losses_gradient([of.forward(s.x)])[1][0]
        of.f.into_domain(s.y)
        s.u = of.adjoint(s.y)
        s.bar = s.x.copy()
        self._steps(s)
        self._certify(s)
        return s

    def _steps(self, s: SPDCState) -> None:
        of, n = self.sum, self.sum.n
        balanced = min(max(1.0, of.d * n / max(1, of.operator.nnz)), max(1.0, n / 10))
        m = batch_size(self.batch if self.batch is not None else round(balanced), n, 1.0)
        beta = of.loss.loss.smoothness
        assert beta is not None
        radius = math.sqrt(float(of.row_squares().max(initial=0.0))) / self.step_size
        gamma = 1.0 / (beta * n * float(of.loss.w.max(initial=0.0))) if of.loss.w.any() else 1.0
        mu = of.mu
        s.batch = m
        if radius == 0.0:
            # no row has a number: y is settled by its offset and x by g alone
            s.sigma, s.tau, s.theta = 1.0 / gamma, 1.0 / mu, 0.0
            return
        s.tau = math.sqrt(m * gamma / (n * mu)) / (2.0 * radius)
        s.sigma = math.sqrt(n * mu / (m * gamma)) / (2.0 * radius)
        s.theta = 1.0 - 1.0 / (n / m + radius * math.sqrt(n / (m * mu * gamma)))

    def _certify(self, s: SPDCState) -> None:
        """P at x and D(y): one pass, u being kept."""
        s.keep_point(s.x, self.problem.objective(s.x, self.problem.forward(s.x)))
        self.keep_bound(s, [s.y.copy()], s.u.copy())

    def step(self) -> None:
        problem, s, of = self.problem, self.state, self.sum
        (g,) = problem.g
        f = of.loss
        loop = linked(spdc_steps, of.row_kernels, f.loss, prox=g.f.prox_kernel)
        share, prox_step = g.f.prox_change(s.tau)
        data, (lower, upper) = of.data, of.f.dual_bounds
        count = math.ceil(of.n / s.batch)
        steps = (s.sigma / of.n, s.tau, s.theta, share, prox_step)
        many = between_looks(of.operator.nnz / of.n, s.batch, of.d)
        epochs = epochs_a_step(of.operator.nnz)
        while s.epoch < epochs:
            rng = s.draws(problem.seed, (s.iteration << 8) + s.epoch)
            while s.at < count:
                index = batches(rng, of.n, s.batch, min(many, count - s.at))
                of.count(loop(data, index, lower, upper, steps, of.q, s.y, s.u, s.x, s.bar, g.args))
                s.at += len(index)
                if (s.at < count or s.epoch + 1 < epochs) and problem.must_stop():
                    s.break_off(rng)
                    return
            s.epoch, s.at = s.epoch + 1, 0
            s.epochs += count * s.batch / of.n
        s.epoch = 0
        s.iteration += 1
        if s.due():
            self._certify(s)
