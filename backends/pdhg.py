r"""Restarted primal-dual hybrid gradient, for any sum of proximable terms under linear maps.

Problem: min_x max_y g(x) + <q, x> + <K x + b, y> - F*(y), F* separable over the terms. With K x^ and K' y^ at hand,

    x^ = prox_{tau g}(x - tau (K'y + q)),    y^ = prox_{sigma F*}(y + sigma (K (2 x^ - x) + b))        (Chambolle, Pock 2011)
    z+ = (k + 1)/(k + 2) (2 (x^, y^) - z) + 1/(k + 2) z_0                                              (reflected Halpern step)

anchored at the last restart point z_0 (Lu, Yang 2024, r2HPDHG). It restarts at (x^, y^) when the fixed-point residual
r = |z - (x^, y^)|_M has fallen to a fifth, or to four fifths and grows again, or after 36 % of all iterations. tau = eta t_B^2 / omega and
sigma = eta omega s_i^2 with one scale a block and a term that balance the norms of the parts of K; omega follows |dy| / |dx| between restarts
(Applegate et al. 2021). eta starts from a power iteration and is cut whenever M loses positivity along a step, so an
underestimated norm does no harm. By linearity K x and K' y of the Halpern point need no product of their own: an iteration is one
K x and one K' y; they are computed afresh at every restart.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from ..atoms.base import Array
from ..canon.arrange import Arrangement
from ..canon.form import Canonical
from . import costs
from .dual import dual_value, feasible_scale
from .functions import prox_conjugate
from .method import Estimate, Method, Report, State
from .problem import Problem

SUFFICIENT, NECESSARY, ARTIFICIAL = 0.2, 0.8, 0.36
POWER_STEPS = 12
REPORT_EVERY = 10
HUGE = 1e120
"""A squared step beyond which the iterates have left for infinity: the program has no solution, or no finite one."""


@dataclass
class PDHGState(State):
    """The Halpern point (x, y) with K x and K' y, its anchor, the last T(z) = (x_hat, y_hat), and the step rule's numbers."""

    x: Array
    ys: list[Array]
    kx: list[Array]
    kty: Array
    x_anchor: Array
    ys_anchor: list[Array]
    kx_anchor: list[Array]
    kty_anchor: Array
    x_hat: Array
    ys_hat: list[Array]
    kx_hat: list[Array]
    kty_hat: Array
    block_scale: Array
    term_scale: Array
    eta: float
    omega: float
    inner: int = 0
    residual_start: float = math.inf
    residual_last: float = math.inf
    restarts: int = 0
    objective: float = math.inf
    bound: float = -math.inf
    infeasibility: float = math.inf
    diverged: bool = False


class PDHG(Method):
    """Restarted primal-dual hybrid gradient; applies to every program this version accepts."""

    name = "pdhg"
    title = "restarted primal-dual hybrid gradient"
    source = "Chambolle, Pock 2011; Applegate et al. 2021; Lu, Yang 2024"
    options = MappingProxyType({"restart": True})

    def __init__(self, restart: bool = True) -> None:
        self.restart = restart

    @classmethod
    def requires(cls, arrangement: Arrangement) -> tuple[str, ...]:
        """Nothing: every canonical function has a prox."""
        return ()

    @classmethod
    def estimate(cls, canonical: Canonical, tol: float) -> Estimate:
        """Hundreds to thousands of iterations."""
        return costs.pdhg(canonical, tol)

    def init(self, problem: Problem, x: Array, ys: Sequence[Array] | None) -> PDHGState:
        """x in the domain of g, y = 0 or the given dual point, scales and the step from power iterations."""
        x = problem.prox_g(x, 0.0)
        given = ys is not None and len(ys) == len(problem.terms)
        dual = [y.copy() for y in ys] if given and ys is not None else [np.zeros(t.map.rows) for t in problem.terms]
        block_scale, term_scale, norm = _balance(problem)
        kx, kty = problem.linear(x), problem.adjoint(dual)
        state = PDHGState(
            iteration=0,
            x=x,
            ys=dual,
            kx=kx,
            kty=kty,
            x_anchor=x,
            ys_anchor=dual,
            kx_anchor=kx,
            kty_anchor=kty,
            x_hat=x,
            ys_hat=dual,
            kx_hat=kx,
            kty_hat=kty,
            block_scale=block_scale,
            term_scale=term_scale,
            eta=0.99 / norm if norm > 0.0 else 1.0,
            omega=1.0,
        )
        self._measure(problem, state)
        return state

    def step(self, problem: Problem, state: PDHGState) -> None:
        """One application of T, then a restart or a Halpern step."""
        s = state
        s.iteration += 1
        residual = self._apply(problem, s)
        if s.diverged:
            return
        s.inner += 1
        if s.inner == 1:
            s.residual_start = residual
        if self.restart and self._should_restart(s, residual):
            self._restart(problem, s)
        else:
            a = (s.inner) / (s.inner + 1.0)
            s.x = a * (2.0 * s.x_hat - s.x) + (1.0 - a) * s.x_anchor
            s.kty = a * (2.0 * s.kty_hat - s.kty) + (1.0 - a) * s.kty_anchor
            s.ys = [a * (2.0 * h - y) + (1.0 - a) * o for h, y, o in zip(s.ys_hat, s.ys, s.ys_anchor, strict=True)]
            s.kx = [a * (2.0 * h - k) + (1.0 - a) * o for h, k, o in zip(s.kx_hat, s.kx, s.kx_anchor, strict=True)]
            s.residual_last = residual
        if s.iteration % REPORT_EVERY == 0:
            self._measure(problem, s)

    def _apply(self, problem: Problem, s: PDHGState) -> float:
        """(x^, y^) = T(x, y) and the fixed-point residual in the metric of the step. What is no longer finite leaves the state as it was."""
        for _ in range(200):
            x_hat = np.empty_like(s.x)
            v = s.kty + problem.q
            primal = 0.0
            for block, g, scale in zip(problem.canonical.blocks, problem.g, s.block_scale, strict=True):
                tau = s.eta * scale**2 / s.omega
                at = block.slice
                g.prox(s.x[at] - tau * v[at], tau, x_hat[at])
                dx = x_hat[at] - s.x[at]
                primal += float(dx @ dx) / tau
            kx_hat = problem.linear(x_hat)
            ys_hat, dual, cross = [], 0.0, 0.0
            for k, (f, term) in enumerate(zip(problem.functions, problem.terms, strict=True)):
                sigma = s.eta * s.omega * s.term_scale[k] ** 2
                out = np.empty(term.map.rows)
                w = s.ys[k] + sigma * (2.0 * kx_hat[k] - s.kx[k] + term.map.offset)
                prox_conjugate(f, w, sigma, out)
                dy = out - s.ys[k]
                dual += float(dy @ dy) / sigma
                cross += float(dy @ (kx_hat[k] - s.kx[k]))
                ys_hat.append(out)
            square = primal + dual - 2.0 * cross
            if not math.isfinite(square) or primal + dual > HUGE:
                s.diverged = True
                return math.inf
            if square >= 0.0 or 2.0 * abs(cross) <= (1.0 + 1e-9) * (primal + dual):
                break
            s.eta *= 0.8
        s.x_hat, s.ys_hat, s.kx_hat = x_hat, ys_hat, kx_hat
        s.kty_hat = problem.adjoint(ys_hat)
        return math.sqrt(max(0.0, square))

    def _should_restart(self, s: PDHGState, residual: float) -> bool:
        if s.inner < 2:
            return False
        fell = residual <= SUFFICIENT * s.residual_start
        turned = residual <= NECESSARY * s.residual_start and residual > s.residual_last
        return fell or turned or s.inner >= ARTIFICIAL * max(s.iteration, 30)

    def _restart(self, problem: Problem, s: PDHGState) -> None:
        dx = math.sqrt(
            sum(
                float(np.sum((s.x_hat[b.slice] - s.x_anchor[b.slice]) ** 2)) / scale**2
                for b, scale in zip(problem.canonical.blocks, s.block_scale, strict=True)
            )
        )
        dy = math.sqrt(
            sum(
                float(np.sum((h - o) ** 2)) / scale**2
                for h, o, scale in zip(s.ys_hat, s.ys_anchor, s.term_scale, strict=True)
            )
        )
        if dx > 1e-14 and dy > 1e-14:
            s.omega = math.exp(0.5 * math.log(dy / dx) + 0.5 * math.log(s.omega))
        s.x, s.ys = s.x_hat, s.ys_hat
        # afresh: rounding of the maintained products must not outlive a restart
        s.kx, s.kty = problem.linear(s.x), s.kty_hat
        s.x_anchor, s.ys_anchor, s.kx_anchor, s.kty_anchor = s.x, s.ys, s.kx, s.kty
        s.inner = 0
        s.restarts += 1

    def _measure(self, problem: Problem, s: PDHGState) -> None:
        """P and D at (x^, y^) from the products at hand."""
        zs = [k + t.map.offset for k, t in zip(s.kx_hat, problem.terms, strict=True)]
        s.infeasibility = 0.0
        value = problem.canonical.constant + float(problem.q @ s.x_hat) + problem.g_value(s.x_hat)
        for f, term, z in zip(problem.functions, problem.terms, zs, strict=True):
            if term.is_indicator:
                s.infeasibility = max(s.infeasibility, term.f.violation(z))  # type: ignore[union-attr]
            else:
                value += f.value(z)
        s.objective = value
        scale = feasible_scale(problem, s.kty_hat)
        if scale in (0.0, 1.0):
            s.bound = dual_value(problem, s.ys_hat, s.kty_hat)
        else:
            s.bound = dual_value(problem, [scale * y for y in s.ys_hat], scale * s.kty_hat)

    def report(self, problem: Problem, state: PDHGState) -> Report:
        """The last measurement."""
        failure = (
            "the iterates grew without bound: the program may be infeasible or unbounded" if state.diverged else ""
        )
        phase = f"primal-dual, {state.restarts} restarts"
        return Report(state.objective, state.bound, phase, state.infeasibility, failure)

    def candidate(self, problem: Problem, state: PDHGState) -> tuple[Array, list[Array] | None]:
        """T(z): x^ in the domain of g, y^ in the domain of F*."""
        return state.x_hat, state.ys_hat


def _balance(problem: Problem) -> tuple[Array, Array, float]:
    """Scales t_B and s_i that bring the norms of the parts s_i K_iB t_B to one, and the norm of the scaled K."""
    blocks, terms = problem.canonical.blocks, problem.terms
    if not terms:
        return np.ones(len(blocks)), np.ones(0), 0.0
    place = {id(b): k for k, b in enumerate(blocks)}
    norms = np.zeros((len(terms), len(blocks)))
    for i, term in enumerate(terms):
        for block, m in term.map.parts:
            norms[i, place[id(block)]] = _power(m.apply, m.adjoint, block.size)
    t, s = np.ones(len(blocks)), np.ones(len(terms))
    for _ in range(8):
        scaled = s[:, None] * norms * t
        rows, columns = scaled.max(axis=1, initial=0.0), scaled.max(axis=0, initial=0.0)
        s /= np.sqrt(np.where(rows > 0.0, rows, 1.0))
        t /= np.sqrt(np.where(columns > 0.0, columns, 1.0))

    spread = np.concatenate([np.full(b.size, t[k]) for k, b in enumerate(blocks)])

    def apply(x: Array) -> Array:
        parts = problem.linear(spread * x)
        return np.concatenate([s[i] * z for i, z in enumerate(parts)])

    def adjoint(y: Array) -> Array:
        cuts = np.cumsum([term.map.rows for term in terms])[:-1]
        return np.asarray(spread * problem.adjoint([s[i] * part for i, part in enumerate(np.split(y, cuts))]))

    single = len(terms) == 1 and len(terms[0].map.parts) == 1
    norm = float((s[0] * norms * t).max()) if single else _power(apply, adjoint, problem.size)
    return t, s, norm


def _power(apply, adjoint, size: int) -> float:  # type: ignore[no-untyped-def]
    """|K| from below, by power iteration from a fixed random start."""
    x = np.random.default_rng(0).standard_normal(size)
    norm = 0.0
    for _ in range(POWER_STEPS):
        length = float(np.linalg.norm(x))
        if length == 0.0:
            return 0.0
        y = apply(x / length)
        norm = float(np.linalg.norm(y))
        x = adjoint(y)
    return norm
