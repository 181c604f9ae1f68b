"""Stochastic (composite) subgradient method."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import Any

import numpy as np

from fwdsl.atoms.base import Array
from fwdsl.atoms.loss import LossFunction
from fwdsl.atoms.vector_loss import VectorLossFunction
from fwdsl.backends import finite_sum
from fwdsl.backends.baselines import samples
from fwdsl.backends.baselines.common import (
    MOST_NUMBERS,
    Baseline,
    BaselineRun,
    SampledState,
    between_looks,
    epochs_a_step,
    most_calls,
)
from fwdsl.backends.baselines.loops import (
    csr_outer,
    csr_times,
    dense_outer,
    dense_times,
    subgradient_matrix_steps,
    subgradient_steps,
)
from fwdsl.backends.baselines.samples import (
    MatrixSamples,
    SampleSum,
    VectorSamples,
    batch_size,
    batches,
    linked,
    loss_name,
)
from fwdsl.backends.kernels.compile import kernel
from fwdsl.backends.kernels.operators import Operator
from fwdsl.backends.kernels.rows import row_kernels, rows_of
from fwdsl.backends.kernels.storage import Sparse
from fwdsl.backends.option import Option
from fwdsl.backends.problem import PreparedProblem
from fwdsl.canon.arrange import Arrangement
from fwdsl.canon.form import Canonical


@dataclass
class SubgradientState(SampledState):
    """The state of a run of `subgradient`; x is x_t."""

    average: Array = field(default_factory=lambda: np.zeros(0))  # the weighted mean of the points
    total: float = 0.0  # its weight
    k: int = 0  # t
    slope: float = 1.0  # G
    radius: float = 1.0  # R
    batch: int = 1  # rows of a batch
    at: int = 0  # iterations made of a step that was broken off
    mean_y: Array = field(default_factory=lambda: np.zeros(0))  # the mean of the subgradients of all certificates
    mean_kty: Array = field(default_factory=lambda: np.zeros(0))  # K'y of it
    weight: float = 0.0  # its weight


class Subgradient(Baseline):
    r"""Stochastic (composite) subgradient method.

    Problem: min sum_i f_i(a_i x) + <q, x> + g(x), f_i with bounded slopes (hinge, absolute, multiclass hinge, logistic, ...) or x in a bounded set;
    g a set, a norm or a pair with a prox, and ridges; x a vector or a matrix.

        x_t = prox_{eta_t g}(x_{t-1} - eta_t xi_t),   xi_t = q + (n / b) sum_{i in B} y_i a_i,   y_i a subgradient of f_i at a_i x_{t-1}

        without a ridge:  eta_t = step R / (G sqrt(t)), or step R / (G sqrt(T)) where `horizon` T is given (the constant step of the paper);
                          the answer is the mean of the points by eta_t
        with a ridge mu:  eta_t = 2 step / (mu (t + 1)), the mean by t (Lacoste-Julien, Schmidt, Bach 2012)

    G^2 bounds E |xi|^2: n sum_i (w_i l |a_i|)^2, l the largest slope of the loss (of a row of predictions: sqrt(2) for the multiclass hinge), and R
    the distance to the optimum (`radius`): where it is not given the diameter of the set, or P(x_0) / c for c norm, or P(x_0) / |grad|.

    The bound is D at the mean of the subgradients of all certificates, each weighted by the epochs before it, or at the last, whichever is better:
    subgradients at one point jump from step to step.

    Complexity: O((G R / eps)^2) samples, O(G^2 / (mu eps)) with a ridge; a step costs its row times the columns of X and O(d k) for the prox and
    the mean, with which the sublinear method is compared.

    Source: Shalev-Shwartz, Singer, Srebro, Cotter 2011; Babichev, Ostrovskii, Bach 2019, section 5 (SSM).

    `state.iteration` counts steps of up to an epoch; `state.k` is t.

    Options `step`, `batch`, `radius`, `horizon`.
    """

    name = "subgradient"
    title = "stochastic subgradient method"
    source = "Shalev-Shwartz et al. 2011; Babichev, Ostrovskii, Bach 2019"
    options = MappingProxyType(
        {
            "step": Option(1.0, "what the step is multiplied by", lower=0.0, open_lower=True, upper=1e6),
            "batch": Option(
                1.0, "rows of a batch: a share of the samples below 1, else a count", lower=0.0, open_lower=True
            ),
            "radius": Option(None, "the distance to the optimum", kind=float, lower=0.0, open_lower=True),
            "horizon": Option(None, "the iterations a constant step is for", kind=int, lower=1),
        }
    )

    @classmethod
    def requires(cls, arrangement: Arrangement) -> tuple[str, ...]:
        return finite_sum.reasons(arrangement, smooth=False)

    @classmethod
    def requires_values(cls, canonical: Canonical) -> tuple[str, ...]:
        """Rows of one data matrix; slopes or a set with a bound."""
        found = samples.value_reasons(canonical)
        if found:
            return found
        (term,), (block,) = canonical.terms, canonical.blocks
        if math.isfinite(largest_slope(term.f)) or math.isfinite(block.g.radius()):
            return ()
        return (f"the slopes of {loss_name(term.f)} have no bound, and {block.name} is not confined to a bounded set",)


class SubgradientRun(BaselineRun[SubgradientState], of=Subgradient):
    """Subgradient steps on a problem."""

    phase = "stochastic subgradient"

    def __init__(
        self, problem: PreparedProblem, step: float, batch: float, radius: float | None, horizon: int | None
    ) -> None:
        super().__init__(problem)
        self.step_size, self.batch, self.radius, self.horizon = step, batch, radius, horizon
        self.samples = SampleSum.of(problem)

    def begin(self, x: Array, ys: Sequence[Array] | None) -> SubgradientState:
        """G and R of the data, and the start."""
        problem, of = self.problem, self.samples
        s = self.started(SubgradientState, x, ys, batch=batch_size(self.batch, of.n, 1.0))
        s.average = s.x.copy()
        found, kty = self.certify(s, s.x)
        s.mean_y, s.mean_kty = np.zeros_like(found[0]), np.zeros_like(kty)
        squares = of.row_squares()
        slope = largest_slope(of.f)
        if math.isfinite(slope):
            s.slope = slope * math.sqrt(of.n * float((of.weights**2) @ squares))
        else:
            # at the start, for sets only: beyond it the set bounds how far slopes grow
            s.slope = math.sqrt(of.n * float((found[0].reshape(of.n, -1) ** 2).sum(axis=1) @ squares))
        s.slope = s.slope + float(np.linalg.norm(problem.q)) or 1.0
        s.radius = self.radius if self.radius is not None else _radius(problem, s.value, kty)
        return s

    def _steps(self, count: int) -> tuple[Array, Array]:
        """eta_t and the weight of x_t for the next iterations."""
        s, of = self.state, self.samples
        t = np.arange(s.k + 1, s.k + 1 + count, dtype=np.float64)
        if of.mu > 0.0:
            return 2.0 * self.step_size / (of.mu * (t + 1.0)), t
        whole = self.step_size * s.radius / s.slope
        eta = np.full(count, whole / math.sqrt(self.horizon)) if self.horizon is not None else whole / np.sqrt(t)
        return eta, eta

    def step(self) -> None:
        """Iterations of up to an epoch, and a certificate of the mean where one is due."""
        problem, s, of = self.problem, self.state, self.samples
        epoch = math.ceil(epochs_a_step(problem.canonical.nnz) * of.n / s.batch)
        compiled = problem.g[0].f.compiled
        count = max(1, min(epoch, MOST_NUMBERS // of.size if compiled else most_calls(problem.canonical.blocks[0])))
        many = between_looks(problem.canonical.nnz / of.n, s.batch, of.size) if compiled else 1
        rng = s.draws(problem.seed, s.iteration)
        while s.at < count:
            index = batches(rng, of.n, s.batch, min(many, count - s.at))
            eta, weights = self._steps(len(index))
            self._run(index, eta, weights)
            s.k += len(index)
            # in the order in which the loops add up
            s.total = float(np.add.accumulate(np.concatenate([[s.total], weights]))[-1])
            s.at += len(index)
            if s.at < count and problem.must_stop():
                s.break_off(rng)
                return
        s.at = 0
        s.iteration += 1
        s.epochs += count * s.batch / of.n
        if s.due():
            self._certify()

    def _run(self, index: samples.Rows, eta: Array, weights: Array) -> None:
        problem, s, of = self.problem, self.state, self.samples
        (g,) = problem.g
        if g.f.compiled and (isinstance(of, VectorSamples) or isinstance(of.f, VectorLossFunction)):
            changes = [g.f.prox_change(float(e)) for e in eta]
            shares, proxes = (np.array(v) for v in zip(*changes, strict=True))
            after = (problem.q, eta, shares, proxes, weights, s.total, s.x, s.average, g.args)
            if isinstance(of, VectorSamples):
                view, f = of.sum, of.sum.loss
                loop = linked(
                    subgradient_steps, view.row_kernels, derivative=f.loss.value_gradient_loop, prox=g.f.prox_kernel
                )
                view.count(loop(view.data, index, *after))
            else:
                self._run_matrix(index, after)
            return
        total = s.total
        for rows, e, weight in zip(index, eta, weights, strict=True):
            v = problem.q.copy()
            of.add(rows, of.slopes(s.x, rows), of.n / rows.size, v)
            s.x = problem.prox_g(s.x - e * v, float(e))
            total += weight
            s.average = s.average + (weight / total) * (s.x - s.average)

    @cached_property
    def _operator(self) -> Operator:
        """The data of a matrix by rows, where the compiled loop takes them."""
        assert isinstance(self.samples, MatrixSamples)
        return Operator(self.samples.left.A, self.problem.pool)

    def _run_matrix(self, index: samples.Rows, after: tuple[object, ...]) -> None:
        of, operator = self.samples, self._operator
        assert isinstance(of, MatrixSamples) and isinstance(of.f, VectorLossFunction)
        f = of.f
        sparse = isinstance(operator.storage, Sparse)
        loop = kernel(
            subgradient_matrix_steps,
            derivative=f.loss.value_gradient_loop,
            prox=self.problem.g[0].f.prox_kernel,
            times=csr_times if sparse else dense_times,
            outer=csr_outer if sparse else dense_outer,
            row_size=row_kernels(operator)["row_size"],
        )
        of.counted.touched += loop(rows_of(operator), index, of.c, of.offset, f.y, f.w, *after)

    def _certify(self) -> None:
        """P at the mean, D at its subgradient and at the mean of those so far."""
        problem, s = self.problem, self.state
        passed = s.epochs - s.checked
        # the mean of points of the domain is in it but for rounding
        ys, kty = self.certify(s, problem.prox_g(s.average, 0.0))
        s.weight += passed
        share = passed / s.weight
        s.mean_y += share * (ys[0] - s.mean_y)
        s.mean_kty += share * (kty - s.mean_kty)
        y = s.mean_y.copy()
        problem.functions[0].into_domain(y)
        self.keep_bound(s, [y], s.mean_kty.copy())


def largest_slope(f: Any) -> float:
    """The largest size of a subgradient of one sample's loss in its predictions, inf where there is none."""
    if isinstance(f, LossFunction):
        lo, hi = f.loss.dual_bounds_naive(f.b, f.p)
        return float(np.maximum(np.abs(lo), np.abs(hi)).max(initial=0.0))
    assert isinstance(f, VectorLossFunction)
    return f.loss.largest_slope(f.k)


def _radius(problem: PreparedProblem, value: float, kty: Array) -> float:
    """A bound of |x - x*|, or a guess where there is none."""
    (g,) = problem.g
    if math.isfinite(g.f.radius()):
        return 2.0 * g.f.radius()
    lowest = problem.functions[0].f.infimum()
    above = max(value - problem.canonical.constant - lowest, 0.0)
    coercive = g.f.coercive()
    if coercive is not None and above > 0.0:
        # of the norms l2 is the smallest but linf, which is at least |x|_2 over sqrt(d)
        return above / coercive[0] * (math.sqrt(problem.size) if coercive[1] == "l1" else 1.0)
    size = float(np.linalg.norm(kty + problem.q))
    return above / size if above > 0.0 and size > 0.0 else 1.0
