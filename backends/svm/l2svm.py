r"""Accelerated projected gradient on the dual of the support vector machine with squared hinge loss.

Problem: minimise over w in R^d and, perhaps, an intercept b that nothing penalises

    mu/2 |w|^2 + <q, w> + sum_i C_i max(0, 1 - y_i z_i)^2,    z = K w + b c + o,    y_i = 1 or -1   (c = 1 as a rule)

Any linear K will do, an implicit feature map (in coordinates of the span of the samples' features) and several variables included. The
multipliers a_i >= 0 of the margins are kept as t_i = a_i / s_i with s_i = sqrt(2 C_i), in which unequal weights do no harm:

    minimise  phi(t) = |t|^2 / 2 - sum_i s_i t_i (1 - y_i o_i) + mu/2 |w(t)|^2,    w(t) = (K'(y s t) - q) / mu,
    over t >= 0 with sum_i c_i y_i s_i t_i = 0   (without an intercept: over t >= 0)

    v   = p - (p - s (1 - y z(p))) / L,     p = t + beta (t - t_old)
    t+  = max(0, v - m c y s)   with m such that the equality holds (safeguarded Newton; `loops.project`)

A step takes one product with K' and one with K; nothing of the size n x n is formed. z and w of p come from those of t by linearity.

Momentum: `none` is Algorithm 1 of the paper, `nesterov` (Beck, Teboulle 2009) its remark, `constant` beta = (sqrt(L) - 1) / (sqrt(L) + 1) (phi is
1-strongly convex), `restart` begins nesterov anew where the step turns against the last one (O'Donoghue, Candes 2015). Steps:
`adaptive` makes L at least the curvature along t+ - p, which takes one product, and lets it fall by a tenth a step; `fixed` is
L = 1 + |S K|^2 / mu by the power method.
Linear convergence: about 5 to 10 sqrt(kappa) steps to a relative gap of 1e-6, kappa = 1 + 2 C sigma_1(K K') / mu.

Bounds: D = -phi at t, P at w(t) with the best intercept, the minimum of a piecewise quadratic (Newton again).

Source: Kang, Cao, Liu 2025, equations (3) to (7), Algorithm 1. The paper has C/2 for our C. Changed: its bisection is Newton's method (ten times
faster), and the intercept is the best one for w(t) rather than L m, which is it in the limit only, for a good gap along the way.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import field
from types import MappingProxyType

import numpy as np

from fwdsl.atoms.base import Array
from fwdsl.atoms.loss import LossFunction
from fwdsl.atoms.losses.squared_hinge import SquaredHinge
from fwdsl.backends import costs
from fwdsl.backends.kernels.compile import kernel
from fwdsl.backends.method import Estimate, Method, Report, Run, State
from fwdsl.backends.option import Option
from fwdsl.backends.problem import PreparedProblem
from fwdsl.backends.requirements import one_loss, ridges_alone
from fwdsl.backends.svm.loops import binary as loops
from fwdsl.canon.arrange import Arrangement
from fwdsl.canon.form import Canonical
from fwdsl.canon.parts import Block
from fwdsl.light_dataclass import light_dataclass, light_state

GAP_EVERY = 4
"""Steps between two bounds, which take about as long as the vector operations of a step."""


@light_state
class L2SVMState(State):
    """The state of a run of `l2svm_dual`."""

    t: Array  # (n,), the multipliers, one for each sample
    t_old: Array  # (n,), the multipliers one step before
    x: Array  # (d,), w(t), the intercept left out
    x_old: Array  # (d,), w(t_old)
    z: Array  # (n,), the predictions z(t), the intercept left out
    z_old: Array  # (n,), z(t_old)
    momentum: float  # the number of FISTA's sequence: 1 at first, and after a restart
    lipschitz: float  # L, the estimated curvature of D along the steps
    multiplier: float  # that of the projection's equality, where the next one starts
    intercept: float  # the best one at x
    value: float  # P at the last point whose intercept was worked out
    best_value: float  # the least P so far
    best_bound: float  # the best D so far
    best_x: Array = field(default_factory=lambda: np.zeros(0))  # the point of the least P
    best_t: Array = field(default_factory=lambda: np.zeros(0))  # the multipliers of the best D


@light_dataclass
class _View:
    """The problem in the notation above: `mu` has one number a coordinate of x, `free` is the intercept's place (-1: none), e = c y s."""

    y: Array
    C: Array
    s: Array
    c: Array
    e: Array
    offset: Array
    mu: Array
    q: Array
    free: int

    @staticmethod
    def of(problem: PreparedProblem) -> _View:
        canonical = problem.canonical
        (term,) = canonical.terms
        assert isinstance(term.f, LossFunction)
        mu, free = np.ones(canonical.size), -1
        for block in canonical.blocks:
            mu[block.slice] = block.g.curvature
            if block.g.curvature == 0.0:
                free, mu[block.slice] = block.start, 1.0
        c = np.zeros(term.f.size)
        for block, m in term.map.parts:
            if block.g.curvature == 0.0:
                c = m.apply(np.ones(1))
        s = np.sqrt(2.0 * term.f.w)
        y = np.where(term.f.b > 0.0, 1.0, -1.0)
        return _View(y, term.f.w, s, c, c * y * s, term.map.offset, mu, canonical.q, free)


class L2SVMDual(Method):
    """Accelerated projected gradient on the dual of the squared-hinge machine; options `momentum` and `step` as the module says."""

    name = "l2svm_dual"
    title = "accelerated projected gradient on the dual of the squared-hinge support vector machine"
    source = "Kang, Cao, Liu 2025, Algorithm 1; Beck, Teboulle 2009; O'Donoghue, Candes 2015"
    by_name_only = "a dual method of a paper: `apg` with Newton steps on the primal is faster wherever C is not small"
    most_iterations = 200_000
    options = MappingProxyType(
        {
            "momentum": Option(
                "restart", "how steps are extrapolated", choices=("restart", "constant", "nesterov", "none")
            ),
            "step": Option(
                "adaptive",
                "1 / L, the length of a step: L as the curvature shows, or by the power method",
                choices=("adaptive", "fixed"),
            ),
        }
    )

    @classmethod
    def requires(cls, arrangement: Arrangement) -> tuple[str, ...]:
        """One squared hinge loss, a `sum_squares` on every variable but one scalar, and nothing else."""
        # the method is the dual of this one loss, by its formula
        loss = "`squared_hinge` loss"
        reasons = one_loss(arrangement, lambda t: t.kind == "loss" and t.atom == SquaredHinge.name, loss, loss)
        free = [b for b in arrangement.blocks if b.set is None and b.norm is None and not b.ridges and b.type.is_scalar]
        reasons += ridges_alone(b for b in arrangement.blocks if b not in free)
        if len(free) > 1:
            names = ", ".join(b.name for b in free)
            reasons.append(f"it takes one intercept without a penalty, and the program has {names}")
        return tuple(reasons)

    @classmethod
    def requires_values(cls, canonical: Canonical) -> tuple[str, ...]:
        """No weight of 0 on a `sum_squares`, no linear term in the intercept."""
        reasons = []
        for block in canonical.blocks:
            if block.g.curvature == 0.0 and not _is_intercept(block):
                reasons.append(f"the weight of `sum_squares({block.name})` is 0")
            elif block.g.curvature == 0.0 and canonical.q[block.slice].any():
                reasons.append(f"the intercept {block.name} has a linear term")
        if sum(b.g.curvature == 0.0 for b in canonical.blocks) > 1:
            reasons.append("it takes one intercept without a penalty")
        return tuple(reasons)

    @classmethod
    def estimate(cls, canonical: Canonical, tol: float) -> Estimate:
        """(1 + log10(1/tol)) sqrt(kappa) steps of two passes, kappa from the row norms that bind measured."""
        steps = min(1e5, (1.0 - math.log10(tol)) * math.sqrt(costs.condition(canonical)))
        passes = 2.0 * steps
        why = f"about {steps:.0f} steps of one A'y and one A x: it needs sqrt(1 + 2 C sigma_1) of them a digit"
        seconds = costs.seconds(canonical, passes, steps)
        return Estimate(passes, seconds, costs.memory(canonical, 4, 10), why)


class L2SVMRun(Run[PreparedProblem, L2SVMState], of=L2SVMDual):
    """Projected gradient on the dual of a problem, of which `view` is the notation above."""

    def __init__(self, problem: PreparedProblem, momentum: str, step: str) -> None:
        super().__init__(problem)
        self.momentum, self.adaptive = momentum, step == "adaptive"
        self.view = _View.of(problem)

    def begin(self, x: Array, ys: Sequence[Array] | None) -> L2SVMState:
        """t = 0 as in the paper; from a dual point or a given x, the multipliers that belong to it, moved into the domain."""
        problem, v = self.problem, self.view
        live = np.where(v.s > 0.0, v.s, 1.0)
        if ys is not None:
            t = np.where(v.s > 0.0, np.maximum(-v.y * ys[0] / live, 0.0), 0.0)
        elif x.any():
            t = v.s * np.maximum(0.0, 1.0 - v.y * problem.forward(x)[0])
        else:
            t = np.zeros(v.y.size)
        feasible = np.empty_like(t)
        kernel(loops.project, reorder=True, ends=loops.ends)(t, v.e, 0.0, feasible)
        state = L2SVMState(
            0, feasible, feasible.copy(), *(np.zeros(0),) * 4, 1.0, 2.0, 0.0, 0.0, math.inf, math.inf, -math.inf
        )  # fmt: skip
        state.x = self._primal(-v.y * v.s * state.t)
        state.z = self._predict(state.x)
        state.t_old, state.x_old, state.z_old = state.t.copy(), state.x.copy(), state.z.copy()
        state.intercept = float(x[v.free]) if v.free >= 0 else 0.0
        self._bounds(state)
        state.lipschitz = self._first_lipschitz()
        return state

    def _primal(self, u: Array) -> Array:
        """w = -(K'u + q) / mu, and 0 for the intercept."""
        v = self.view
        x = -(self.problem.adjoint([u]) + v.q) / v.mu
        if v.free >= 0:
            x[v.free] = 0.0
        return x

    def _predict(self, x: Array) -> Array:
        z = self.problem.linear(x)[0]
        z += self.view.offset
        return z

    def _first_lipschitz(self) -> float:
        """The power method on S K K' S / mu where the step is fixed, else one step of it: an estimate from below."""
        problem, v = self.problem, self.view
        d = v.y * v.s
        size, found = float(np.linalg.norm(d)), 0.0
        for _ in range(1 if self.adaptive else 40):
            problem.look()
            if size == 0.0:
                break
            d = d / size
            x = self._primal(-v.y * v.s * d) + v.q / v.mu
            if v.free >= 0:
                x[v.free] = 0.0
            before, found = found, float(v.mu * x @ x)
            if self.adaptive or found - before <= 1e-4 * found:
                break
            d = v.y * v.s * problem.linear(x)[0]
            size = float(np.linalg.norm(d))
        return 1.0 + found * (1.0 if self.adaptive else 1.001)

    def step(self) -> None:
        """One projected gradient step from the extrapolated point; a step that L does not bound is taken again with a larger L."""
        s, v = self.state, self.view
        before = s.lipschitz
        if self.adaptive:
            s.lipschitz = max(1.0, 0.9 * s.lipschitz)
        beta = self._beta()
        at, gradient, target = np.empty_like(s.t), np.empty_like(s.t), np.empty_like(s.t)
        new, u = np.empty_like(s.t), np.empty_like(s.t)
        kernel(loops.gradient_step)(s.t, s.t_old, s.z, s.z_old, v.y, v.s, beta, s.lipschitz, at, gradient, target)
        x_at = s.x + beta * (s.x - s.x_old)
        project = kernel(loops.project, reorder=True, ends=loops.ends)
        for _ in range(60):
            s.multiplier = float(project(target, v.e, s.multiplier, new))
            square, turn = kernel(loops.step_products, reorder=True)(new, at, s.t, v.y, v.s, u)
            x = self._primal(u)
            dx = x - x_at
            needed = 1.0 + float(v.mu * dx @ dx) / square if square > 0.0 else 1.0
            if needed <= s.lipschitz * (1.0 + 1e-9) or not math.isfinite(needed):
                break
            self.problem.look()
            s.multiplier *= s.lipschitz
            s.lipschitz = max(1.02 * needed, 1.1 * s.lipschitz)
            s.multiplier /= s.lipschitz
            target = at - gradient / s.lipschitz
        z = self._predict(x)
        restart = self.momentum == "restart" and turn > 0.0
        if self.momentum in ("restart", "nesterov"):
            ratio = s.lipschitz / before
            s.momentum = 1.0 if restart else 0.5 * (1.0 + math.sqrt(1.0 + 4.0 * s.momentum**2 * ratio))
        s.t_old, s.x_old, s.z_old = (new, x, z) if restart else (s.t, s.x, s.z)
        s.t, s.x, s.z = new, x, z
        s.iteration += 1
        if s.iteration % GAP_EVERY == 0 or s.iteration < GAP_EVERY:
            self._bounds(s)

    def _beta(self) -> float:
        s = self.state
        if self.momentum == "none":
            return 0.0
        if self.momentum == "constant":
            root = math.sqrt(s.lipschitz)
            return (root - 1.0) / (root + 1.0)
        return (s.momentum - 1.0) / (0.5 * (1.0 + math.sqrt(1.0 + 4.0 * s.momentum**2)))

    def _bounds(self, s: L2SVMState) -> None:
        """D at t, and P at w(t) with the best intercept; the best of each is kept."""
        v = self.view
        ridge = 0.5 * float(v.mu * s.x @ s.x)
        constant = self.problem.canonical.constant
        bound = constant + float(kernel(loops.dual_value, reorder=True)(s.t, v.s, v.y, v.offset)) - ridge
        if v.free >= 0:
            s.intercept = float(kernel(loops.intercept, reorder=True)(s.z, v.y, v.C, v.c, s.intercept))
        loss = float(kernel(loops.squared_hinges, reorder=True)(s.z, v.y, v.C, v.c, s.intercept))
        value = s.value = constant + ridge + float(v.q @ s.x) + loss
        if bound > s.best_bound:
            s.best_bound, s.best_t = bound, s.t
        if value < s.best_value:
            s.best_value, s.best_x = value, s.x.copy()
            if v.free >= 0:
                s.best_x[v.free] = s.intercept

    def report(self) -> Report:
        """P at the last point whose intercept was worked out, and the best D so far."""
        return Report(self.state.value, self.state.best_bound, "projected gradient")

    def candidate(self) -> tuple[Array, list[Array] | None]:
        """x with the best P, and the multipliers with the best D."""
        v = self.view
        return self.state.best_x, [-v.y * v.s * self.state.best_t]


def _is_intercept(block: Block) -> bool:
    return not block.shape
