r"""Dual coordinate descent with shrinking, and an interior point on the samples near their corners, for linear machines.

Problem: min over x and perhaps b   f(c A x + o + d b 1) + <q, x> + q_b b + mu/2 |x|^2 + mu_b/2 b^2, for every loss whose conjugate is a quadratic
with at most one kink (`backends.dcd.machine` has the dual, `backends.signed_dual` the losses): hinges, absolute, quantile, huber, squared, both
epsilon-insensitive ones.

*Coordinate descent.* Entries of the dual are visited in a random order, each moved to its minimiser: with g = z_j + s_j v_j - t_j and
h = |c a_j|^2 / mu + s_j

    v_j <- [S(v_j - g / h, e / h)] cut to [lo_j, hi_j],   x <- x + (c / mu) (change of v_j) a_j

S the soft threshold. An entry at an end whose slope holds it there by more than the largest violation of the last sweep is left out until the others
have converged (Hsieh et al. 2008).

*The interior point*, for losses with corners and up to 2,000 unknowns, after 10 sweeps or as many as take its time, unless sweeps close the gap as
fast: the tail of coordinate descent is long where C is not small. The samples between their ends, 6 d + 50 nearest to a corner, and at most 4 times
as many with the largest shares of the gap are solved for exactly by `backends.dcd.interior`, the others kept; then all are looked at again. Each
round is an ascent of the dual on a block.

An intercept that nothing penalises is an equality of the dual: in coordinate descent it is penalised as x is around a centre c, which at each
certificate moves by a secant step towards the root of b(c) - c, b(c) the best intercept there (c <- b(c) is the method of multipliers); for a bound
the side that weighs too much is scaled down; the interior point has the equality exactly.

Source: Hsieh et al. 2008 (liblinear); Mehrotra 1992; Ferris, Munson 2002; Rockafellar 1976 (multipliers as proximal steps).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fwdsl.atoms.base import Array
from fwdsl.backends.dcd import costs, loops
from fwdsl.backends.dcd.machine import LinearMachine
from fwdsl.backends.dcd.method import DCD, DCDState
from fwdsl.backends.kernels.compile import kernel
from fwdsl.backends.kernels.prefetch import prefetch_function
from fwdsl.backends.kernels.rows import ahead_kernels
from fwdsl.backends.method import Report, Run
from fwdsl.backends.problem import PreparedProblem

MOST_ENTRIES = 1 << 25
"""Numbers of the rows of an interior point: 256 MB."""

LOOK = 2_000_000
"""The work between two looks at the clock: numbers touched, and `costs.VISIT` for each entry visited."""

MOST = 0.5
"""The share of all entries that a sweep has to visit for its largest violation to be taken for that of all."""

ASKED = 0.5
"""The share of the gap that is asked for to which sweeps are to have led when bounds are looked at ahead of time."""

CONVERGED = 0.03
"""The share of the violation over all entries at which those that are left have converged, and the others come back: a sweep over all or two."""

LEAST_WORK, LEAST_SHARE = 300_000, 0.5
"""The work of a step at least, and its share of a sweep over all: a run that shows no change for long is taken for one that makes none."""

DIGITS = 4.0
"""Digits of the gap that a round of the interior point is taken to bring."""

NEAREST, LEAST_NEAR = 0.1, 0.003
"""The share of each interval by which a round starts from its ends: the root of the relative gap, between these."""

TIGHTEST, FINER = 1e-9, 1e-2
"""The relative gap to which a round solves its block at least, and the share of the one that is asked for."""

SETTLED = 0.1
"""The violation over the distance between an intercept and the centre of its penalty at which sweeps have found that distance."""

FURTHER = 10.0
"""Times the last step of the centre of an intercept's penalty that the next one is at most."""

ENDLESS = 1 << 62

SNAP = 1e-6
"""The share of an interval within which an entry is taken for its end, where its slope holds it there."""


class DCDRun(Run[PreparedProblem, DCDState], of=DCD):
    """A run on a machine."""

    def __init__(self, problem: PreparedProblem) -> None:
        super().__init__(problem)
        self.machine = m = LinearMachine(problem)
        self.first = costs.sweeps_first(problem.canonical) if costs.has_interior(problem.canonical) else -1
        self.smooth = problem.canonical.terms[0].is_smooth
        self.round_work = 1e9 * costs.round_seconds(problem.canonical) / costs.NS_PER_TOUCH
        self.all = costs.sweep_work(problem.canonical)
        self.least = max(LEAST_WORK, LEAST_SHARE * self.all)
        # while the sweeps run, an intercept without a penalty has that of x, as if its column were as large as a stored number of the data
        typical = float(m.squares.sum()) / max(1, problem.canonical.nnz)
        self.mu_b = m.mu_b if m.mu_b > 0.0 else m.mu * (m.d**2 / typical if typical > 0.0 and m.d != 0.0 else 1.0)
        squares, dual = m.squares / m.mu + (m.d**2 / self.mu_b if m.place >= 0 else 0.0), m.dual
        self.parts = np.column_stack([dual.s, dual.t, dual.lo, dual.hi, squares + dual.s]).reshape(-1)
        # sums of dense rows go by vector registers
        links = {name: kernel(fn, reorder=True) for name, fn in m.sum.row_kernels.items()}
        of: dict[str, Any] = {**links, **ahead_kernels(m.sum.operator)}
        self.run_sweeps = kernel(loops.sweeps, prefetch=prefetch_function(), **of)

    def begin(self, x: Array, ys: Sequence[Array] | None) -> DCDState:
        """v of the dual point; else the slopes at a point that was given, and 0 at the origin."""
        m, problem = self.machine, self.problem
        if ys is not None and len(ys) == 1 and ys[0].size == m.n:
            v = -ys[0]
        elif x.any():
            out = np.empty(m.n)
            m.loss.value_gradient(problem.forward(x)[0], out)
            v = -out
        else:
            v = np.zeros(m.n)
        v = np.clip(v, m.dual.lo, m.dual.hi)
        none = np.zeros(0)
        centre = float(x[m.place]) if m.is_balanced else 0.0
        s = DCDState(
            0, v, none, np.zeros(1), np.arange(m.n), np.array([m.n, 0, 0, 0]), np.array([0.0, math.inf, math.inf]),
            0.0, costs.FIRST_CHECK * self.all, np.zeros((0, 2)), self.first, 0, math.inf, -math.inf, none, none,
            np.array([centre, centre, 0.0, -math.inf, math.inf]), 0.0,
        )  # fmt: skip
        kernel(loops.shuffle)(s.index, m.n, problem.seed, 0)
        self._refresh(s)
        self._certify(s)
        return s

    def _refresh(self, s: DCDState) -> None:
        """x and the intercept of v, computed anew."""
        m = self.machine
        s.x, _ = m.primal(s.v)
        over = (m.d * float(s.v.sum()) - m.q_b) / self.mu_b if m.place >= 0 else 0.0
        s.b = np.array([self._moved(s, over) + over if m.is_balanced else over])
        if m.is_balanced:
            # entries that the old centre held at their ends come back
            s.index[:], s.places[0], s.levels[:] = np.arange(m.n), m.n, (0.0, math.inf, math.inf)
            kernel(loops.shuffle)(s.index, m.n, self.problem.seed, s.sweeps)

    def _moved(self, s: DCDState, over: float) -> float:
        """The next centre c of the penalty of an intercept that nothing else penalises; `over` is how far from the last one the intercept stood.

        c + over never passes the root of over(c), whose slope is between -1 and 0. The secant through the last two centres leads further: at most
        `FURTHER` times as far as the last step, and not past a centre known to be too far.
        """
        c, last, over_last, low, high = s.centre
        low, high = (c, high) if over > 0.0 else (low, c)
        step, ahead = over, (high if over > 0.0 else low) - c
        if c != last:
            slope = (over_last - over) / (c - last)
            most = max(FURTHER * abs(c - last), abs(over))
            step = math.copysign(min(most, abs(over) / min(slope, 1.0)) if slope > 0.0 else most, over)
        if abs(over) > abs(ahead):
            # the sweeps had not converged where that centre was found to be too far
            low, high = (low, math.inf) if over > 0.0 else (-math.inf, high)
        elif abs(step) >= abs(ahead):
            step = 0.5 * (over + ahead)
        s.centre = np.array([c + step, c, over, low, high])
        return float(c + step)

    def _certify(self, s: DCDState) -> None:
        """P and D; where there is an equality, at a dual point moved onto it."""
        m = self.machine
        v, x, b = s.v, s.x, float(s.b[0])
        if m.is_balanced:
            v = m.feasible(v)
            x, _ = m.primal(v)
            b = float(s.best_x[m.place]) if s.best_x.size else 0.0
        bound = m.bound(v, x, b)
        if bound > s.bound or not s.best_v.size:
            s.bound, s.best_v = bound, v.copy()
        self._note(s, x, b)
        gap = max(s.value - s.bound, 0.0)
        s.trail = np.vstack([s.trail, [s.work, gap]])
        s.aim = 0.0 if m.is_balanced else self._aim(gap, s.value, self._violation(s))

    def _violation(self, s: DCDState) -> float:
        """The largest violation in the last sweep over all entries, or over most of them."""
        return float(
            s.levels[1] if s.places[0] >= MOST * self.machine.n and math.isfinite(s.levels[1]) else s.levels[2]
        )

    def _aim(self, gap: float, value: float, violation: float) -> float:
        """The violation at which the gap asked for is likely: it falls as the violation does, or its square with a smooth loss. 0 where none is."""
        tol = self.problem.tol
        if tol is None or not 0.0 < gap < math.inf or not math.isfinite(violation):
            return 0.0
        share = min(1.0, ASKED * tol * abs(value) / gap)
        return violation * (math.sqrt(share) if self.smooth else share)

    def _note(self, s: DCDState, x: Array, b: float) -> None:
        """Keep a point where it is better than those before."""
        value, b, _ = self.machine.value(x, b)
        if value < s.value or not s.best_x.size:
            s.value, s.best_x = value, self.machine.joined(x, b)

    # --- steps --------------------------------------------------------------------------------------------------------

    def step(self) -> None:
        """Some sweeps, or a round of the interior point."""
        s = self.state
        due = not s.within and 0 <= s.interior_at <= s.sweeps
        if due and not self._is_fast(s):
            if s.trail[-1, 0] < s.work:
                # a round takes as long as many certificates, and the last one may be old
                self._refresh(s)
                self._certify(s)
            else:
                self._round(s)
        elif not self._sweeps(s):
            return
        s.iteration += 1

    def _is_fast(self, s: DCDState) -> bool:
        """True if sweeps have closed the gap, since half their work, by as many digits as a round of the interior point would in its time."""
        before = s.trail[s.trail[:, 0] <= 0.5 * s.work]
        if not len(before) or not s.trail[-1, 1] > 0.0:
            return False
        digits = math.log10(before[-1, 1] / s.trail[-1, 1])
        return bool(digits * self.round_work >= DIGITS * (s.work - before[-1, 0]))

    def _sweeps(self, s: DCDState) -> bool:
        """Sweeps whose work is `least`, and bounds where they are due; False where the run is to end within one."""
        m = self.machine
        last = s.interior_at if s.sweeps < s.interior_at else ENDLESS
        until = min(s.work + self.least, s.check_at)
        while s.work < until and s.sweeps < last:
            self._some(s, last, min(until - s.work, LOOK))
            if s.within and self.problem.must_stop():
                return False
        while s.within:
            self._some(s, s.sweeps + 1, LOOK)
            if s.within and self.problem.must_stop():
                return False
        # more sweeps tell little before the centre of the intercept's penalty moves
        stands = m.is_balanced and float(s.levels[2]) <= SETTLED * abs(m.d * float(s.centre[2]))
        if s.work >= s.check_at or s.sweeps >= last or stands or self._violation(s) <= s.aim:
            self._refresh(s)
            self._certify(s)
            rest = min(max(costs.REST * s.work, costs.FIRST_CHECK * self.all), costs.MOST_REST * self.all)
            s.check_at = s.work + rest
        return True

    def _some(self, s: DCDState, last: int, enough: float) -> None:
        """Sweeps up to the one before `last`, until their work is so much; at most `LOOK`, then within one."""
        m, dual = self.machine, self.machine.dual
        of = m.sum
        touched, visits = self.run_sweeps(
            of.rows,
            (s.v, s.x, s.b),
            (s.index, s.places, s.levels),
            (of.c, m.d, of.c / m.mu, m.d / self.mu_b if m.place >= 0 else 0.0),
            (self.parts, dual.e),
            (self.problem.seed, last, CONVERGED, costs.VISIT, float(enough), float(LOOK)),
        )
        of.count(touched)
        s.work += touched + costs.VISIT * visits

    # --- the interior point -------------------------------------------------------------------------------------------

    def _round(self, s: DCDState) -> None:
        """The block of samples near their corners, solved exactly; bounds at what comes of it."""
        m, look = self.machine, self.problem.look
        before = s.value - s.bound
        v = m.feasible(s.v)
        x, b = m.primal(v)
        _, b, z = m.value(x, float(s.best_x[m.place]) if m.is_balanced else b)
        at = self._block(v, z)
        look()
        new, found = self._solved(v, np.append(x, b) if m.place >= 0 else x, at)
        s.v = m.feasible(new) if m.is_balanced else new
        s.rounds += 1
        if m.is_balanced:
            s.b = found[-1:].copy()
        self._refresh(s)
        self._certify(s)
        # what comes of the dual point has its rounding many times over where C is large
        self._note(s, found[: m.sum.d], float(found[-1]) if m.place >= 0 else 0.0)
        # what the round has brought is no work of sweeps
        s.trail = np.array([[s.work, max(s.value - s.bound, 0.0)]])
        if s.value - s.bound > 0.5 * before:
            # it brought little: sweeps go on for a while
            s.interior_at = s.sweeps + self.first

    def _block(self, v: Array, z: Array) -> NDArray[np.intp]:
        """Entries between their ends, those nearest to a corner, and those with the largest shares of the gap."""
        m, dual = self.machine, self.machine.dual
        near = costs.nearest(m.width)
        if costs.is_everything(m.n, m.width):
            return np.arange(m.n)
        slope = z - m.sum.offset + dual.s * v - dual.t
        far = np.abs(slope) if dual.e == 0.0 else np.minimum(np.abs(slope - dual.e), np.abs(slope + dual.e))
        far = np.where(dual.is_free(v), -1.0, far)
        share = m.shares(v, z)
        most = min(m.n, MOST_ENTRIES // m.width)
        nearest = min(most, max(near, int(np.count_nonzero(far < 0.0))))
        chosen = np.zeros(m.n, dtype=bool)
        chosen[np.argpartition(far, nearest - 1)[:nearest]] = True
        share[chosen] = 0.0
        count = min(4 * near, most - nearest, int(np.count_nonzero(share > 1e-9 * share.max(initial=0.0))))
        if count > 0:
            chosen[np.argpartition(-share, count - 1)[:count]] = True
        return np.flatnonzero(chosen)

    def _solved(self, v: Array, x: Array, at: NDArray[np.intp]) -> tuple[Array, Array]:
        """v with the entries of a block at their best, and x."""
        m, dual = self.machine, self.machine.dual
        q = np.append(m.q, m.q_b) if m.place >= 0 else m.q
        rho = np.append(np.full(m.sum.d, m.mu), m.mu_b) if m.place >= 0 else np.full(m.sum.d, m.mu)
        others = v.copy()
        others[at] = 0.0
        r = m.adjoint(others)
        r = (np.append(r, m.d * float(others.sum())) if m.place >= 0 else r) - q
        lo, hi, t, s = dual.lo[at], dual.hi[at], dual.t[at], dual.s[at]
        own, here = np.arange(at.size), v[at]
        split = dual.e > 0.0
        if split:
            here = np.concatenate([np.maximum(here, 0.0), np.minimum(here, 0.0)])
            own, t = np.concatenate([own, own]), np.concatenate([t - dual.e, t + dual.e])
            lo, hi = np.concatenate([np.maximum(lo, 0.0), lo]), np.concatenate([hi, np.minimum(hi, 0.0)])
            s = np.concatenate([s, s])
        live, found = hi > lo, lo.copy()
        if live.any():
            state = self.state
            size, asked = max(abs(state.value), abs(state.bound), 1e-300), FINER * (self.problem.tol or 0.0)
            # at the optimum rounding may make the gap negative
            near = min(NEAREST, max(LEAST_NEAR, math.sqrt(max(state.value - state.bound, 0.0) / size)))
            Z = m.rows(at[own[live]])
            from fwdsl.backends.dcd import interior  # not while planning

            part = interior.Part(Z, r, rho, s[live], t[live], lo[live], hi[live])
            tol, met = max(TIGHTEST, asked) * size, max(interior.MET, 0.1 * asked)
            u, x = interior.solve(part, here[live], x, near, tol, met, self.problem.look)
            slope, span = Z.times(x) + part.s * u - part.t, part.hi - part.lo
            u = np.where((u - part.lo < SNAP * span) & (slope > 0.0), part.lo, u)
            found[live] = np.where((part.hi - u < SNAP * span) & (slope < 0.0), part.hi, u)
        new = v.copy()
        new[at] = found[: at.size] + found[at.size :] if split else found
        return np.clip(new, dual.lo, dual.hi), x

    def report(self) -> Report:
        """P and D at the last certificate."""
        s = self.state
        return Report(s.value, s.bound, "interior point" if s.rounds else "dual coordinate descent")

    def candidate(self) -> tuple[Array, list[Array] | None]:
        """The best point, and the dual point of the best bound."""
        return self.state.best_x, [-self.state.best_v]
