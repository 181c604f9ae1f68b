r"""Runs of `dual_gradient`, for the program of `parts`:

    minimise  h(x) + sum_g r_g |(K x + b)_g|,   h strongly convex and a sum over entries

The dual is  maximise  -h*(-K'y) + <b, y>  over |y_g| <= r_g, and its gradient is K x + b at the one x(y) = argmin h(x) + <K'y, x>. A step is

    y+ = the projection of Y + S (K x(Y) + b),   Y+ = y+ + k / (k + 4) (y+ - y)

with steps S for which |S^(1/2) K diag(a)^(-1/2)| <= 1 (`parts`), so that D* - D(y) falls like |y*|^2 / k^2 in the metric of S. It begins anew where
<Y - y+, y+ - y> > 0: the momentum leads downhill then. At (x(y), y) the gap is that of the lengths alone, sum_g r_g |z_g| - <y, z>.

Compiled passes over the unknowns, the rows and the groups do a step: the products with K and K' are of few numbers beside the vectors.

Sources: Beck, Teboulle, "Fast gradient-based algorithms for constrained total variation image denoising and deblurring problems", 2009;
O'Donoghue, Candes, "Adaptive restart for accelerated gradient schemes", 2015.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from fwdsl.atoms.base import Array
from fwdsl.atoms.loss import LossFunction
from fwdsl.backends.dual_gradient.loops import lengths, minimisers, moved, moved_pairs
from fwdsl.backends.dual_gradient.method import DualGradient, DualGradientState
from fwdsl.backends.dual_gradient.parts import parts_of
from fwdsl.backends.kernels.compile import kernel
from fwdsl.backends.method import Report, Run
from fwdsl.backends.problem import PreparedProblem

REPORT_EVERY = 20
"""Iterations between measurements, which take as long as three of them."""

LEAST = 10
"""Iterations after a restart before the next one."""

BLOCK = 1 << 15
"""Rows, groups or unknowns that a call of a kernel works on: cut by their number alone, so that sums do not depend on threads."""


class DualGradientRun(Run[PreparedProblem, DualGradientState], of=DualGradient):
    """A run on a problem."""

    def __init__(self, problem: PreparedProblem) -> None:
        super().__init__(problem)
        found = parts_of(problem.canonical)
        assert not isinstance(found, str), "`requires_values` has found the parts"
        self.entries, self.rows = found
        rows = self.rows
        self.moved = moved_pairs if np.all(np.diff(rows.group) == 2) else moved
        self.of_groups, self.of_unknowns = (
            [(at, min(at + BLOCK, size)) for at in range(0, size, BLOCK)] for size in (rows.radius.size, problem.size)
        )
        self.constant = self._constant()

    def _constant(self) -> float:
        """The constant of P beside the parts: the losses at 0."""
        canonical = self.problem.canonical
        terms = (canonical.terms[k] for k, _, _ in self.entries.losses)
        return canonical.constant + sum(t.value(t.map.offset) for t in terms)

    def begin(self, x: Array, ys: Sequence[Array] | None) -> DualGradientState:
        """The given multipliers, shortened where they are too long, else 0; x follows from them."""
        rows = self.rows
        y = np.zeros(rows.offset.size)
        if ys is not None and len(ys) == len(self.problem.terms):
            for k, at, order in rows.terms:
                y[at] = ys[k][order]
        squares = np.add.reduceat(np.square(y), rows.group[:-1])
        too_long = squares > np.square(rows.radius)
        share = np.divide(rows.radius, np.sqrt(squares), out=np.ones_like(squares), where=too_long)
        y *= np.repeat(share, np.diff(rows.group))
        state = DualGradientState(0, y, y.copy())
        self._measure(state)
        return state

    def _minimiser(self, y: Array) -> Array:
        """x(y)."""
        e, T, x = self.entries, self.rows.adjoint, np.empty(self.problem.size)
        fn = kernel(minimisers)
        self.problem.pool.run(
            lambda at: fn(*T.arrays, y, e.curvature, e.slope, e.weight, e.lo, e.hi, x, *at), self.of_unknowns
        )
        return x

    def step(self) -> None:
        """A projected step with momentum, which begins anew where it leads downhill."""
        self.problem.look()
        s, rows, pool = self.state, self.rows, self.problem.pool
        x = self._minimiser(s.ahead)
        beta = s.since / (s.since + 4.0)
        move = kernel(self.moved)
        downhill = sum(
            pool.run(
                lambda at: move(
                    *rows.K.arrays, x, rows.offset, rows.group, rows.radius, rows.step, beta, s.y, s.ahead, *at
                ),
                self.of_groups,
            )
        )
        s.iteration += 1
        s.since += 1
        if downhill > 0.0 and s.since > LEAST:
            s.since, s.ahead = 0, s.y.copy()
            s.restarts += 1
        if s.iteration % REPORT_EVERY == 0:
            self._measure(s)

    def _measure(self, s: DualGradientState) -> None:
        """P and D at y, whose difference is that of the lengths."""
        rows, e = self.rows, self.entries
        x = self._minimiser(s.y)
        found, fn = np.empty((len(self.of_groups), 2)), kernel(lengths)
        self.problem.pool.run(
            lambda k: fn(*rows.K.arrays, x, rows.offset, rows.group, rows.radius, s.y, found[k], *self.of_groups[k]),
            range(len(self.of_groups)),
        )
        total, product = (float(v) for v in found.sum(axis=0))
        own = float((0.5 * e.curvature * x + e.slope) @ x) + float(e.weight @ np.abs(x)) + self.constant
        s.objective, s.bound = own + total, own + product

    def report(self) -> Report:
        """The report of the last measurement."""
        s = self.state
        return Report(s.objective, s.bound, f"dual, {s.restarts} restarts")

    def candidate(self) -> tuple[Array, list[Array]]:
        """x(y), and the multipliers of all terms: those of the losses make up for K'y exactly."""
        problem, s = self.problem, self.state
        x = self._minimiser(s.y)
        ys = [np.zeros(t.map.rows) for t in problem.terms]
        for k, at, order in self.rows.terms:
            ys[k][order] = s.y[at]
        self._meet(x, ys)
        return x, ys

    def _meet(self, x: Array, ys: list[Array]) -> None:
        """The slopes of the losses at x, moved by what rounding leaves between them and the domains of the blocks' conjugates."""
        canonical = self.problem.canonical
        for k, _, _ in self.entries.losses:
            term = canonical.terms[k]
            assert isinstance(term.f, LossFunction)
            ys[k] = term.f.gradient(term.map.apply(x))
        rest = -(canonical.q + self.problem.adjoint(ys))
        for block in canonical.blocks:
            own = rest[block.slice]
            own -= own if math.isfinite(block.g.conjugate(own)) else block.g.dual_project(own)
        shares = self.entries.shares
        move = np.divide(rest, shares, out=np.zeros_like(rest), where=shares > 0.0)
        for k, rows, at in self.entries.losses:
            ys[k] += canonical.terms[k].f.w * rows.rows(move[at])  # type: ignore[union-attr]
