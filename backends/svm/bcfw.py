r"""Block-coordinate methods on the duals of support vector machines for several classes: one sample at a time.

Problem, dual and gap: `multiclass`. A step on row i of the multipliers, with its gradient q = z_i - e_{y_i}, its curvature
A_i = c^2 |x_i|^2 / mu + 1 / nu, and W kept up to date at the cost of a row:

* `exact`: a_i = argmin <q, v> + A_i/2 |v - a_i|^2 over the row's set (`loops.rows`: Newton's method on a threshold, O(k)). A row that
  does not change is left alone for 1, 2, 4, ... 64 sweeps. Of Crammer and Singer's loss a row looks only at its own class, at those with a
  multiplier, and at those near to having one; the evaluation of the gap looks at all, and says which these are. Where few multipliers are between
  their bounds, Newton's method on these (`face`) finishes what sweeps only come near to.
* `optimal`: a_i += g d with d = s - a_i for the best vertex s, g = min(1, -<d, q> / (A_i |d|^2)) (Lacoste-Julien et al. 2013).
* `oblivious`: the same with g = 2 n / (t + 2 n), t counting rows.

`variant` of the optimal step: `away` goes away from the worst vertex where that slopes more, `pairwise` from the worst to the best.
Crammer and Singer's rows are simplices, whose weights are unique; Weston and Watkins's are boxes, where the worst vertex is that of the
smallest face with a, and no weights are kept (Garber, Meshulam 2016; Bashiri, Zhang 2017). A sample of zeros moves to its best vertex.

A row's solution costs a product of the row with W and, where it changes, an outer product: n of them are two data passes. The gap takes
one more and is evaluated when the work has grown by an eighth. Iterations count evaluations, each after one sweep or more.

Complexity: Frank-Wolfe steps for Crammer-Singer have E phi - phi* <= max(2 (n - 1) (phi_0 - phi*), 4 n sum_i A_i C_i^2) / (t + 2 n - 2) after
t rows; `exact` converges linearly.

Source: Kang, Cao, Liu 2025, Algorithm 3 and Theorem 1; Lacoste-Julien, Jaggi, Schmidt, Pletscher 2013; Keerthi et al. 2008 for exact rows.
Corrected: the paper's block constant |K[:, i]| is K_ii, its bound lacks the maximum; and it calls the gain of optimal steps trivial, which
it is not.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from fwdsl.atoms.base import Array
from fwdsl.backends.finite_sum import draws
from fwdsl.backends.kernels.compile import Function, kernel
from fwdsl.backends.kernels.pool import serial_blas
from fwdsl.backends.method import Report, Run
from fwdsl.backends.problem import PreparedProblem
from fwdsl.backends.svm.bcfw_method import BCFW, VARIANTS, BCFWState
from fwdsl.backends.svm.face import MOST, Face, move
from fwdsl.backends.svm.loops import rows, sweeps
from fwdsl.backends.svm.multiclass import MulticlassMachine

GROWTH = 8
"""The gap is evaluated when the work has grown by this part of it."""

MARGIN = 0.1
"""Classes without a multiplier whose gradient is farther below a row's largest, in margins of the loss, wait for the next evaluation."""

MOST_SWEEPS = 32
"""Sweeps' worth of rows between two evaluations, at most: a limit of time is then not far exceeded."""

WORTH = 2.0
"""The time of the sweeps to the next evaluation that Newton's method may take, and again for going on from bounds."""

NS_PER_VISIT, NS_PER_NUMBER = 450.0, 0.5
"""Nanoseconds of a visit of a row, and of each of its numbers and the classes that it looks at."""

MOST_PATIENCE = 8
"""Evaluations until Newton's method is tried again, at most."""

REFRESH = 64
"""Passes' worth of rows after which W is computed from the multipliers afresh: it is kept by adding up."""


class BCFWRun(Run[PreparedProblem, BCFWState], of=BCFW):
    """Steps on the samples of a problem, of which `machine` is the view by samples."""

    def __init__(self, problem: PreparedProblem, step: str, variant: str, order: str | None) -> None:
        super().__init__(problem)
        self.rule, self.variant, self.uniform = step, VARIANTS.index(variant), order != "shuffled"
        self.machine = MulticlassMachine.of(problem)

    def _loop(self, fn: Function, **more: Function) -> Function:
        vertex = rows.weston_vertex if self.machine.weston else rows.singer_vertex
        uses = {"best_vertex": vertex, **self.machine.row_kernels, **more}
        return kernel(fn, reorder=False, fuse=False, parts=(), **uses)

    def begin(self, x: Array, ys: Sequence[Array] | None) -> BCFWState:
        """Multipliers of a dual point where one is given, else 0."""
        m = self.machine
        a = np.zeros((m.n, m.k))
        if ys is not None:
            a = -m.f.into_domain(ys[0]).reshape(m.n, m.k)
        W, b = m.weights(a)
        rows = (np.zeros(m.n, dtype=np.int64), np.ones(m.n, dtype=np.int64))
        state = BCFWState(0, a, W, b, *rows, np.zeros((m.n, m.k), dtype=np.int32), np.full(m.n, m.k))
        self._evaluate(state)
        return state

    def step(self) -> None:
        """Sweeps until the gap is worth another evaluation, and that."""
        s, m = self.state, self.machine
        if s.rows_done >= s.goal:
            more = 1 if s.on_face else min(max(m.n, s.rows_done // GROWTH), MOST_SWEEPS * m.n)
            s.goal, s.before = s.rows_done + more, s.changes
        while s.rows_done < s.goal:
            self._exact() if self.rule == "exact" else self._frank_wolfe()
            if s.rows_done < s.goal and self.problem.must_stop():
                return
        if self.rule == "exact":
            self._on_face(s)
        if s.rows_done - s.refreshed >= REFRESH * m.n:
            s.W, s.b = m.weights(s.a)
            s.refreshed = s.rows_done
        s.still = s.still + 1 if s.changes == s.before else 0
        s.iteration += 1
        self._evaluate(s)

    def _on_face(self, s: BCFWState) -> None:
        """Newton's method on the face of the multipliers, where it takes about as long as the sweeps to the next evaluation, or less. Where it ends
        on a face one sweep over all rows tells the next one."""
        s.on_face = False
        if s.wait > 0:
            s.wait -= 1
            return
        m, looked = self.machine, float(s.sizes.mean())
        visits = min(max(m.n, s.rows_done // GROWTH), MOST_SWEEPS * m.n)
        of_sweeps = 1e-9 * visits * (NS_PER_VISIT + NS_PER_NUMBER * m.mean_row * looked)
        if Face.least_seconds(m, s.a) > WORTH * of_sweeps:
            return
        face = Face.of(m, s.a)
        if not 0 < face.row.size <= MOST or face.seconds(m) > WORTH * of_sweeps:
            return
        most = int(face.bounds(m) + WORTH * of_sweeps / face.a_bound)
        with serial_blas():
            ended = move(m, face, s.a, s.W, s.b, most, self.problem.must_stop)
        m.count(2.0 * np.unique(face.row).size)
        s.on_face = ended
        if ended:
            s.patience = 1
            s.due[:] = s.sweep
        else:
            s.wait, s.patience = s.patience, min(2 * s.patience, MOST_PATIENCE)
            s.due[face.row], s.delay[face.row] = s.sweep, 1

    def _exact(self) -> None:
        s, m = self.state, self.machine
        due = np.flatnonzero(s.due <= s.sweep)
        if not due.size:
            # nothing changes any more: the row that waits shortest comes now
            s.sweep = int(s.due.min())
            due = np.flatnonzero(s.due <= s.sweep)
        order = draws(self.problem.seed, s.sweep).permutation(due)
        solve = rows.weston_row if m.weston else rows.singer_row
        loop = self._loop(sweeps.exact_sweep, solve_row=solve)
        scale = m.c / m.mu
        work = (np.empty(m.k), np.empty(m.k), np.empty(m.k))
        changed = loop(
            m.rows, order, m.y, m.C, m.curvature, m.offset, m.c, scale, m.inverse_nu, s.W, s.b, s.a,
            s.sweep, s.due, s.delay, s.kept, s.sizes, *work,
        )  # fmt: skip
        s.sweep += 1
        s.changes += int(changed)
        s.rows_done += order.size
        m.count(order.size + changed)

    def _frank_wolfe(self) -> None:
        s, m = self.state, self.machine
        rng = draws(self.problem.seed, s.sweep)
        order = rng.integers(0, m.n, m.n) if self.uniform else rng.permutation(m.n)
        away = rows.weston_away if m.weston else rows.singer_away
        loop = self._loop(sweeps.frank_wolfe_steps, worst_vertex=away, reach=rows.farthest)
        count = s.rows_done if self.rule == "oblivious" else -1
        work = (np.empty(m.k), np.empty(m.k), np.empty(m.k), np.empty(m.k))
        changed = loop(
            m.rows, order, m.y, m.C, m.curvature, m.offset, m.c, m.c / m.mu, m.inverse_nu, s.W, s.b, s.a,
            self.variant, count, *work, m.weston,
        )  # fmt: skip
        s.sweep += 1
        s.changes += int(changed)
        s.rows_done += order.size
        m.count(order.size + changed)

    def _evaluate(self, s: BCFWState) -> None:
        """The gap, D and P = D + gap."""
        m = self.machine
        work = (np.empty(m.k), np.empty(m.k))
        margin = math.inf if m.weston else MARGIN
        gap = float(
            self._loop(sweeps.gap)(m.rows, m.y, m.C, m.offset, m.c, s.W, s.b, s.a, margin, s.kept, s.sizes, *work)
        )
        m.count(m.n)
        bound = self.problem.canonical.constant - 0.5 * m.mu * float(np.vdot(s.W, s.W))
        bound += float(s.a[np.arange(m.n), m.y].sum()) - float(np.vdot(m.offset, s.a))
        if m.inverse_nu:
            bound -= 0.5 / m.inverse_nu * float(s.b @ s.b)
        s.value = bound + gap
        if bound > s.best_bound:
            s.best_bound, s.best_a = bound, s.a.copy()
        if s.value < s.best_value:
            s.best_value, s.best_x = s.value, m.flat(s.W, s.b)

    def report(self) -> Report:
        # rows wait at most 64 sweeps: within eight sweeps' worth of visits each has come up
        done = self.rule == "exact" and self.state.still >= 8
        failure = "no sample changes any more: the numbers have reached the limits of rounding" if done else ""
        return Report(self.state.value, self.state.best_bound, "one sample at a time", failure=failure)

    def candidate(self) -> tuple[Array, list[Array] | None]:
        m, state = self.machine, self.state
        u = -state.best_a.reshape(-1)
        if not math.isfinite(m.f.conjugate(u)):
            u = m.f.into_domain(u)
        return state.best_x, [u]
