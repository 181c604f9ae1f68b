"""Accelerated projected gradient with the textbook's fixed step: no backtracking, no restart."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import field
from types import MappingProxyType

import numpy as np

from fwdsl.atoms.base import Array
from fwdsl.atoms.loss import LossFunction
from fwdsl.atoms.vector_loss import VectorLossFunction
from fwdsl.backends.apg import APG
from fwdsl.backends.baselines.common import Baseline, BaselineRun, BaselineState, conditioning, linear_estimate
from fwdsl.backends.baselines.samples import loss_name
from fwdsl.backends.functions import FastVector, without_ridge
from fwdsl.backends.method import Estimate
from fwdsl.backends.option import Option
from fwdsl.backends.problem import PreparedProblem
from fwdsl.canon.arrange import Arrangement
from fwdsl.canon.combined_maps import Add, Compose, Scaled
from fwdsl.canon.form import Canonical
from fwdsl.canon.maps import LinearMap
from fwdsl.canon.matrix_maps import LeftMultiply
from fwdsl.canon.parts import SumTerm
from fwdsl.light_dataclass import light_state


@light_state
class APGFixedState(BaselineState):
    """The state of a run of `apg_fixed`."""

    z: list[Array] = field(default_factory=list)  # predictions K x + b
    x_old: Array = field(default_factory=lambda: np.zeros(0))  # the predecessor of x
    z_old: list[Array] = field(default_factory=list)  # its predictions
    t: float = 1.0  # momentum
    lipschitz: float = 1.0  # L over the option `step`
    mu: float = 0.0  # strong convexity


class APGFixed(Baseline):
    r"""Accelerated projected gradient with the textbook's fixed step: no backtracking, no restart.

    Problem: min F(x) + g(x), F = a sum of smooth losses, <q, x> and the ridge (mu / 2) |x|^2; g a set or a norm with a prox.

        x^{k+1} = prox_{g / L}(y^k - grad F(y^k) / L),   y^{k+1} = x^{k+1} + beta_k (x^{k+1} - x^k),   L = beta R + mu

    beta R is the sum over the losses of beta sum_j w_j max_j |a_j|^2, from the row norms alone (R = max |a_j|^2 for a mean;
    `smoothness="rows"`); `"spectral"` takes the largest singular value by the power method, with a tenth to spare. Momentum: (1 - s) / (1 + s), s =
    sqrt(mu / L), where mu > 0, else (t_k - 1) / t_{k+1} of Beck and Teboulle. `step` multiplies 1 / L; above 1 nothing guarantees convergence.

    Complexity: sqrt(L / mu) log(1 / eps), or sqrt(L / eps), iterations of one A x and one A'y. On sparse rows beta R is far above the curvature
    that is met: backtracking and restarts, which `apg` has, are 24 to 60 times faster there, as measured, and this gap is what a paper's
    comparison with "accelerated gradient" may measure.

    Source: Nesterov 2004 (2.2.11), Beck, Teboulle 2009.

    `state.iteration` counts iterations.

    Options `step`, `smoothness`.
    """

    name = "apg_fixed"
    title = "accelerated projected gradient with a fixed step"
    source = "Nesterov 2004; Beck, Teboulle 2009"
    options = MappingProxyType(
        {
            "step": Option(1.0, "the step, in units of 1 / L", lower=0.0, open_lower=True, upper=1000.0),
            "smoothness": Option("rows", "what L is taken from", choices=("rows", "spectral")),
        }
    )

    @classmethod
    def requires(cls, arrangement: Arrangement) -> tuple[str, ...]:
        return APG.requires(arrangement)

    @classmethod
    def requires_values(cls, canonical: Canonical) -> tuple[str, ...]:
        """Losses with a bounded second derivative."""
        return tuple(
            f"the second derivative of {loss_name(t.f)} has no bound, and so there is no fixed step"
            for t in canonical.terms
            if isinstance(t.f, LossFunction | VectorLossFunction) and not math.isfinite(t.f.lipschitz)
        )

    @classmethod
    def estimate(cls, canonical: Canonical, tol: float) -> Estimate:
        """sqrt(L / mu) / 2 iterations for each factor e of the gap; measured were up to three times as many."""
        why = "iterations: L from the row norms is far above what is met"
        return linear_estimate(canonical, tol, 0.5 * math.sqrt(conditioning(canonical)[1]), 2.0, 1.0, why)


class APGFixedRun(BaselineRun[APGFixedState], of=APGFixed):
    """Accelerated projected gradient on a problem."""

    phase = "accelerated gradient, fixed step"

    def __init__(self, problem: PreparedProblem, step: float, smoothness: str) -> None:
        super().__init__(problem)
        self.step_size, self.smoothness = step, smoothness

    def begin(self, x: Array, ys: Sequence[Array] | None) -> APGFixedState:
        """L of the data, and the start."""
        problem = self.problem
        s = self.started(APGFixedState, x, ys)
        s.z = problem.forward(s.x)
        s.x_old, s.z_old = s.x, s.z
        s.mu = min((g.f.curvature for g in problem.g), default=0.0)
        most = max((g.f.curvature for g in problem.g), default=0.0)
        of_losses = row_bound(problem) if self.smoothness == "rows" else spectral_bound(problem)
        total = of_losses + most
        # where all is linear there is no curvature: the step is 1 over the size of the gradient
        s.lipschitz = (total if total > 0.0 else max(float(np.linalg.norm(problem.q)), 1.0)) / self.step_size
        return s

    def step(self) -> None:
        """One gradient, one prox."""
        problem, s = self.problem, self.state
        if s.mu > 0.0:
            root = math.sqrt(min(1.0, s.mu / s.lipschitz))
            beta = (1.0 - root) / (1.0 + root)
        else:
            t = 0.5 * (1.0 + math.sqrt(1.0 + 4.0 * s.t * s.t))
            beta, s.t = (s.t - 1.0) / t, t
        y = s.x + beta * (s.x - s.x_old)
        zy = [a + beta * (a - b) for a, b in zip(s.z, s.z_old, strict=True)]
        value, ys = problem.losses_gradient(zy)
        kty = problem.adjoint(ys)
        self.keep_bound(s, ys, kty, value - float(kty @ y))
        v = y - (kty + problem.q) / s.lipschitz
        s.x_old, s.z_old = s.x, s.z
        s.x = np.empty_like(y)
        for block, g in zip(problem.canonical.blocks, problem.g, strict=True):
            at = block.slice
            FastVector(without_ridge(g.f)).prox(
                v[at] - (g.f.curvature / s.lipschitz) * y[at], 1.0 / s.lipschitz, s.x[at]
            )
        s.z = problem.forward(s.x)
        s.iteration += 1
        s.epochs += 1.0
        s.keep_point(s.x, problem.objective(s.x, s.z))


def row_bound(problem: PreparedProblem) -> float:
    """sum over the losses of beta sum_j w_j max_j |a_j|^2, at least the largest eigenvalue of the losses' Hessian; of products and sums of maps,
    whose rows are not at hand, the spectral bound."""
    terms = problem.canonical.terms
    if any(_made(m) for t in terms for _, m in t.map.parts):
        return spectral_bound(problem)
    return sum(_row_bound(t) for t in terms)


def _made(m: LinearMap) -> bool:
    """True if a map is made of others, so that `squared` only estimates its entries."""
    return _made(m.inner) if isinstance(m, Scaled) else isinstance(m, Compose | Add)


def _row_bound(term: SumTerm) -> float:
    squares, samples = np.zeros(term.map.rows), term.map.rows
    for _, m in term.map.parts:
        squares += m.squared().apply(np.ones(m.columns))
        inner = m.inner if isinstance(m, Scaled) else m
        # the columns of X meet predictions of their own: a row of A serves k of them
        samples = inner.rows // inner.k if isinstance(inner, LeftMultiply) else samples
    beta, w = curvature(term)
    return float(beta * w.reshape(samples, -1).max(axis=1).sum() * squares.max(initial=0.0))


def curvature(term: SumTerm) -> tuple[float, Array]:
    """The smoothness of a loss, and its weight at each prediction."""
    f = term.f
    assert isinstance(f, LossFunction | VectorLossFunction) and f.loss.smoothness is not None
    return f.loss.smoothness, f.w if isinstance(f, LossFunction) else np.repeat(f.w, f.k)


def spectral_bound(problem: PreparedProblem) -> float:
    """The largest eigenvalue of sum_i K_i' diag(beta w_i) K_i by the power method, with a tenth to spare."""
    x = np.random.default_rng(problem.seed).standard_normal(problem.size)
    top = 0.0
    for _ in range(30):
        problem.look()
        size = float(np.linalg.norm(x))
        if size == 0.0:
            break
        zs = problem.linear(x / size)
        ys = [beta * w * z for (beta, w), z in zip(map(curvature, problem.terms), zs, strict=True)]
        before, top = top, sum(float(z @ y) for z, y in zip(zs, ys, strict=True))
        x = problem.adjoint(ys)
        if top - before <= 0.01 * top:
            break
    return 1.1 * top
