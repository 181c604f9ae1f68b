r"""Restarted primal-dual hybrid gradient, for any sum of proximable terms under linear maps.

Problem: min_x max_y g(x) + <q, x> + <K x + b, y> - F*(y), F* separable over the terms. With K x^ and K' y^ at hand,

    x^ = prox_{tau g}(x - tau (K'y + q)),    y^ = prox_{sigma F*}(y + sigma (K (2 x^ - x) + b))        (Chambolle, Pock 2011)
    z+ = (k + 1)/(k + 2) (2 (x^, y^) - z) + 1/(k + 2) z_0                                              (reflected Halpern step)

anchored at the last restart point z_0 (Lu, Yang 2024, r2HPDHG). It restarts at (x^, y^) when the fixed-point residual
r = |z - (x^, y^)|_M has fallen to a fifth, or to four fifths and grows again, or after 36 % of all iterations. tau = eta t_j^2 / omega and
sigma = eta omega s_i^2 with scales of columns and rows that balance |K| (one a block or term whose function is no sum over entries); omega
follows |dy| / |dx| between restarts, from a first one made of the data's sizes, which has the units of the problem
(Applegate et al. 2021). eta starts from a power iteration and is cut whenever M loses positivity along a step, so an
underestimated norm does no harm. By linearity K x and K' y of the Halpern point need no product of their own: an iteration is one
K x and one K' y; they are computed afresh at every restart.

Where a dense system of the pieces' size costs little, large proximal steps by Newton's method (`proximal.py`) are tried between iterations, as often
as what they cost allows; one is kept where it brings the fixed-point residual down, and the method restarts there.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from fwdsl.atoms.base import Array
from fwdsl.atoms.vectors.common import norm2
from fwdsl.backends.dual import dual_value, feasible_scale
from fwdsl.backends.functions import FastLoss, FastRows, prox_conjugate
from fwdsl.backends.method import Report, Run
from fwdsl.backends.pdhg.balance import balance, first_weight
from fwdsl.backends.pdhg.method import LEAST_DELTA, MOST_DELTA, PDHG, PDHGState
from fwdsl.backends.pdhg.passes import Passes
from fwdsl.backends.pdhg.passes import applies as applies_passes
from fwdsl.backends.problem import PreparedProblem

SUFFICIENT, NECESSARY, ARTIFICIAL = 0.2, 0.8, 0.36
REPORT_EVERY = 10

LONGEST = 1e9
"""Numbers touched after which a leap ends at the next chance, about half a second: limits and Ctrl-C are honoured between iterations."""
LEAP_EVERY = 1.2
"""The growth of the iterations between tries."""

QUICK, SLOW = 12, 20
"""Newton steps up to which the next large step is made larger, and from which it is made smaller."""
KEPT, GOOD, SPLENDID, DONE = 0.9, 0.5, 0.1, 1e-5
"""Ratios of the residual after a large step to that before: at most which it is kept, is worth another one now, and after the
next iteration; and where it is time to verify."""
NEVER = 2**62
LARGEST_CHANGE = 10.0
"""The largest factor by which a restart changes the primal weight, either way."""
FARTHEST = 1e8
"""The largest ratio of the primal weight to the first one."""
HUGE = 1e300
"""A squared step beyond which the iterates have left for infinity: the program has no solution, or no finite one."""


class PDHGRun(Run[PreparedProblem, PDHGState], of=PDHG):
    """Primal-dual hybrid gradient on a problem."""

    def __init__(self, problem: PreparedProblem, restart: bool) -> None:
        super().__init__(problem)
        self.restart = restart
        self.passes = Passes(problem) if applies_passes(problem.canonical) and not problem.is_elsewhere else None

    def begin(self, x: Array, ys: Sequence[Array] | None) -> PDHGState:
        """x in the domain of g, y = 0 or the given dual point, scales and the step from power iterations."""
        problem = self.problem
        x = problem.prox_g(x, 0.0)
        has_dual = ys is not None and len(ys) == len(problem.terms)
        dual = [y.copy() for y in ys] if has_dual and ys is not None else [np.zeros(t.map.rows) for t in problem.terms]
        column_scale, row_scale, norm = balance(problem)
        omega = first_weight(problem, column_scale, row_scale)
        kx, kty = problem.linear(x), problem.adjoint(dual)
        # where the dual has equalities they rarely meet them, and a bound that overlooks this seems to be P
        shown = dual if has_dual or problem.canonical.leaves_equalities else self._slopes(kx)
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
            ys_hat=shown,
            kx_hat=kx,
            kty_hat=kty if shown is dual else problem.adjoint(shown),
            column_scale=column_scale,
            row_scale=row_scale,
            eta=0.99 / norm if norm > 0.0 else 1.0,
            omega=omega,
            omega_first=omega,
        )
        self._measure(state)
        return state

    def _slopes(self, kx: Sequence[Array]) -> list[Array]:
        """Gradients of the losses at a point, 0 of other terms: they prove a start that is optimal, as 0 is where weights are strong."""
        found = []
        for f, term, k in zip(self.problem.functions, self.problem.terms, kx, strict=True):
            y = np.zeros(term.map.rows)
            if isinstance(f, FastLoss | FastRows):
                f.value_gradient(k + term.map.offset, y)
            found.append(y if np.all(np.isfinite(y)) else np.zeros_like(y))
        return found

    def step(self) -> None:
        """One application of T, then a restart or a Halpern step."""
        s = self.state
        s.iteration += 1
        residual = self._apply(s)
        if s.diverged:
            return
        s.inner += 1
        if s.inner == 1:
            s.residual_start = residual
        if self.restart and self._should_restart(residual):
            self._restart()
        else:
            a = (s.inner) / (s.inner + 1.0)
            reflect = _reflected if self.passes is None else self.passes.reflect
            s.x = reflect(a, s.x_hat, s.x, s.x_anchor)
            s.kty = reflect(a, s.kty_hat, s.kty, s.kty_anchor)
            s.ys = [reflect(a, *of) for of in zip(s.ys_hat, s.ys, s.ys_anchor, strict=True)]
            s.kx = [reflect(a, *of) for of in zip(s.kx_hat, s.kx, s.kx_anchor, strict=True)]
            s.residual_last = residual
        leapt = self.restart and s.iteration >= s.next_leap and self._leap()
        if leapt or s.iteration % REPORT_EVERY == 0:
            self._measure(s)

    def _apply(self, s: PDHGState) -> float:
        """(x^, y^) = T(x, y) and the fixed-point residual in the metric of the step. The state stays as it was where a number is not finite."""
        problem = self.problem
        move = self._moved if self.passes is None else self._passed
        for _ in range(200):
            x_hat, kx_hat, ys_hat, steps, cross = move(s)
            square = steps - 2.0 * cross
            if not math.isfinite(square) or steps > HUGE:
                s.diverged = True
                return math.inf
            if square >= 0.0 or 2.0 * abs(cross) <= (1.0 + 1e-9) * steps:
                break
            problem.look()
            s.eta *= 0.8
        s.x_hat, s.ys_hat, s.kx_hat = x_hat, ys_hat, kx_hat
        s.kty_hat = problem.adjoint(ys_hat) if self.passes is None else self.passes.adjoint(ys_hat)
        return math.sqrt(max(0.0, square))

    def _moved(self, s: PDHGState) -> tuple[Array, list[Array], list[Array], float, float]:
        """x^, K x^, y^, the squared step in the metric without what couples x and y, and that."""
        problem = self.problem
        x_hat = np.empty_like(s.x)
        v = s.kty + problem.q
        total = cross = 0.0
        for block, g in zip(problem.canonical.blocks, problem.g, strict=True):
            at = block.slice
            tau = _steps(s.eta / s.omega, s.column_scale[at], g.is_entrywise)
            g.prox(s.x[at] - tau * v[at], tau, x_hat[at])
            dx = x_hat[at] - s.x[at]
            total += float(dx @ (dx / tau))
        kx_hat = problem.linear(x_hat)
        ys_hat = []
        for k, (f, term) in enumerate(zip(problem.functions, problem.terms, strict=True)):
            sigma = _steps(s.eta * s.omega, s.row_scale[k], f.is_entrywise)
            out = np.empty(term.map.rows)
            w = s.ys[k] + sigma * (2.0 * kx_hat[k] - s.kx[k] + term.map.offset)
            prox_conjugate(f, w, sigma, out)
            dy = out - s.ys[k]
            total += term.dot(dy, dy / sigma)
            cross += term.dot(dy, kx_hat[k] - s.kx[k])
            ys_hat.append(out)
        return x_hat, kx_hat, ys_hat, total, cross

    def _passed(self, s: PDHGState) -> tuple[Array, list[Array], list[Array], float, float]:
        """The same by compiled passes."""
        passes = self.passes
        assert passes is not None
        x_hat, total = passes.descend(s.x, s.kty, s.column_scale, s.eta / s.omega)
        kx_hat, ys_hat, cross = [], [], 0.0
        for k, (kx, y, scale) in enumerate(zip(s.kx, s.ys, s.row_scale, strict=True)):
            image, moved, square, product = passes.ascend(k, x_hat, kx, y, scale, s.eta * s.omega)
            kx_hat.append(image)
            ys_hat.append(moved)
            total, cross = total + square, cross + product
        return x_hat, kx_hat, ys_hat, total, cross

    def _should_restart(self, residual: float) -> bool:
        s = self.state
        if s.inner < 2:
            return False
        fell = residual <= SUFFICIENT * s.residual_start
        turned = residual <= NECESSARY * s.residual_start and residual > s.residual_last
        return fell or turned or s.inner >= ARTIFICIAL * max(s.iteration, 30)

    def _restart(self) -> None:
        s = self.state
        dx = norm2((s.x_hat - s.x_anchor) / s.column_scale)
        steps = zip(s.ys_hat, s.ys_anchor, s.row_scale, strict=True)
        dy = norm2(np.array([norm2((h - o) / scale) for h, o, scale in steps]))
        # an unknown that stands still in a corner waits for the other; a weight far from the first shows a point that leaves for infinity
        wanted = dy / (dx * s.omega) if dx > 0.0 else math.inf if dy > 0.0 else 1.0
        change = min(max(math.sqrt(wanted), 1.0 / LARGEST_CHANGE), LARGEST_CHANGE)
        s.omega = min(max(s.omega * change, s.omega_first / FARTHEST), FARTHEST * s.omega_first)
        s.x, s.ys = s.x_hat, s.ys_hat
        # afresh: rounding of the maintained products must not outlive a restart
        s.kx, s.kty = self.problem.linear(s.x), s.kty_hat
        self._anchor()

    def _anchor(self) -> None:
        """Restart at the point of the state."""
        s = self.state
        s.x_anchor, s.ys_anchor, s.kx_anchor, s.kty_anchor = s.x, s.ys, s.kx, s.kty
        s.inner = 0
        s.restarts += 1

    def _leap(self) -> bool:
        """Large proximal steps from T(z) while they pay, and a restart at the best point they found; whether there is one."""
        from fwdsl.backends.pdhg.proximal import Centre, Proximal, applies, overhead  # not while planning

        problem, s = self.problem, self.state
        if not applies(problem):
            s.next_leap = NEVER
            return False
        pairs = zip(problem.canonical.blocks, problem.g, strict=True)
        taus = [_steps(s.eta / s.omega, s.column_scale[b.slice], g.is_entrywise) for b, g in pairs]
        dual = zip(problem.functions, s.row_scale, strict=True)
        sigmas = [_steps(s.eta * s.omega, scale, f.is_entrywise) for f, scale in dual]
        one = overhead(problem, 20.0, 3e5) + 2 * sum(t.map.nnz for t in problem.terms)
        best = replace(s, x=s.x_hat, ys=s.ys_hat, kx=s.kx_hat, kty=s.kty_hat)
        before = last = least = self._apply(best)
        found = None
        centre = Centre(s.x_hat, s.ys_hat, -(problem.q + s.kty_hat), s.kx_hat)
        budget, spent = min(s.iteration * one, LONGEST), 0.0
        while budget > 0.0 and spent < LONGEST and least > DONE * before:
            problem.look()
            step = Proximal(problem, taus, sigmas, s.delta, centre).solve(budget)
            # a step that converges at once works no system, and is not free either
            spent += one + step.work
            budget -= one + step.work
            t = step.trial
            residual = math.inf
            if step.steps or step.converged:
                trial = replace(best, x=t.p, ys=t.ys, kx=problem.linear(t.p), kty=problem.adjoint(t.ys))
                residual = self._apply(trial)
                if residual < least:
                    least, found = residual, trial
            if not step.converged:
                s.delta = min(5.0 * s.delta, MOST_DELTA)
                break
            if step.steps <= QUICK:
                s.delta = max(0.2 * s.delta, LEAST_DELTA)
            elif step.steps > SLOW:
                s.delta = min(2.0 * s.delta, MOST_DELTA)
            if residual < GOOD * last:
                budget = max(budget, min(s.iteration * one, LONGEST))
            last = min(last, residual)
            centre = Centre(t.x, t.ys, t.s, t.kx)
        wait = max(int((LEAP_EVERY - 1.0) * s.iteration), math.ceil(spent / one))
        s.next_leap = s.iteration + (1 if least <= SPLENDID * before else wait)
        if found is None or least > KEPT * before:
            return False
        self._restart_at(found)
        return True

    def _restart_at(self, found: PDHGState) -> None:
        """A restart at T(z) of another state."""
        s = self.state
        s.x_hat, s.ys_hat, s.kx_hat, s.kty_hat = found.x_hat, found.ys_hat, found.kx_hat, found.kty_hat
        s.eta = found.eta
        s.x, s.ys, s.kx, s.kty = s.x_hat, s.ys_hat, s.kx_hat, s.kty_hat
        self._anchor()

    def _measure(self, s: PDHGState) -> None:
        """P and D at (x^, y^) from the products at hand."""
        problem = self.problem
        zs = [k + t.map.offset for k, t in zip(s.kx_hat, problem.terms, strict=True)]
        s.infeasibility, s.hidden = problem.missed(s.x_hat, zs, s.ys_hat)
        value = problem.canonical.constant + float(problem.q @ s.x_hat) + problem.g_value(s.x_hat)
        for f, term, z in zip(problem.functions, problem.terms, zs, strict=True):
            if not term.is_indicator:
                value += f.value(z)
        s.objective = value
        scale = feasible_scale(problem, s.kty_hat)
        if scale in (0.0, 1.0):
            s.bound = dual_value(problem, s.ys_hat, s.kty_hat)
        else:
            s.bound = dual_value(problem, [scale * y for y in s.ys_hat], scale * s.kty_hat)

    def report(self) -> Report:
        """The report of the last measurement: steps between measurements do not change it."""
        s = self.state
        failure = "the iterates grew without bound: the program may be infeasible or unbounded" if s.diverged else ""
        phase = f"primal-dual, {s.restarts} restarts"
        return Report(s.objective, s.bound, phase, s.infeasibility, failure, s.hidden)

    def ray(self) -> tuple[Array, list[Array]] | None:
        """T(z) - z, which tends to the smallest displacement of T: zero where there is a solution."""
        s = self.state
        return s.x_hat - s.x, [h - y for h, y in zip(s.ys_hat, s.ys, strict=True)]

    def scales(self) -> tuple[Array | None, list[Array] | None]:
        return self.state.column_scale, self.state.row_scale

    def candidate(self) -> tuple[Array, list[Array] | None]:
        return self.state.x_hat, self.state.ys_hat


def _reflected(share: float, hat: Array, now: Array, anchor: Array) -> Array:
    """share (2 hat - now) + (1 - share) anchor."""
    return share * (2.0 * hat - now) + (1.0 - share) * anchor


def _steps(step: float, scale: Array, entrywise: bool) -> Array | float:
    """step * scale^2: one for each entry where the function takes that, else the one they all share."""
    return step * scale**2 if entrywise else step * float(scale[0]) ** 2 if scale.size else step
