r"""Coordinate descent on working sets under a few linear constraints.

Problem: minimise over x   f(K x + b) + <q, x> + sum_j c_j |x_j| + ridge_j x_j^2 / 2   over lo <= x <= hi and l <= E x <= r

with one smooth loss f, as `descent` has it, and few rows of E. x meets the rows from the start (`constraint_rows.met`), and models on the working
set are solved under them (`constrained_model`), so that x stays there. Their multipliers nu are carried from model to model. Coordinates violate
optimality beside the slope K'y + E'nu, y = f'(K x + b), and the dual point (y, nu) is scaled into the penalties as a whole:

    D(s y, s nu) = -f*(s y) + s <b, y> - sup_(l <= v <= r) s <nu, v> - g*(-(q + s K'y + s E'nu)).

Complexity: O(nnz(A)) a step, and a few factors of the size of the support in each model; 4 to 8 steps to a gap of 1e-6 as a rule.

Source: as `descent` and `constrained_model`; the log-contrast regression as in Lin, Shi, Feng, Li 2014.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from fwdsl.atoms.base import Array
from fwdsl.backends.coordinate import constraint_rows as rows
from fwdsl.backends.coordinate import costs
from fwdsl.backends.coordinate.columns import Columns
from fwdsl.backends.coordinate.constrained_method import ConstrainedDescent, ConstrainedState
from fwdsl.backends.coordinate.constrained_model import UnderRows
from fwdsl.backends.coordinate.coordinates import Indices
from fwdsl.backends.coordinate.descent import EPOCHS, FLOOR, NEAR, CoordinateRun
from fwdsl.backends.coordinate.model import Solved
from fwdsl.backends.dual import FITTED
from fwdsl.backends.functions import FastLoss
from fwdsl.backends.method import Report
from fwdsl.backends.problem import PreparedProblem

TO = 1e-3
"""The share of what a step asks for to which a model is solved: on its Gram matrix that costs a few epochs more."""


FALL = 0.1
"""The share of the gap by which a step lowers P at least where the next one may forget its working set."""


class ConstrainedRun(CoordinateRun, of=ConstrainedDescent):
    """Coordinate descent on a problem with a few linear constraints."""

    state: ConstrainedState

    def __init__(self, problem: PreparedProblem) -> None:
        super().__init__(problem, "gram")
        (self.at,) = (k for k, t in enumerate(problem.terms) if not rows.is_constraint(t))
        self.all_rows = rows.Rows.of(problem, self.length)
        self.rows = self.all_rows.independent(self.length)

    def _without_constraints(self, problem: PreparedProblem) -> PreparedProblem:
        kept = [k for k, t in enumerate(problem.terms) if not rows.is_constraint(t)]
        return problem.of_terms(kept, rows.without_constraints(problem.canonical))

    def _minimised_out(self) -> Indices:
        """The coordinates that are minimised out: none, as constraints may see them all."""
        return np.zeros(0, dtype=np.intp)

    # --- the start ----------------------------------------------------------------------------------------------------

    def begin(self, x: Array, ys: Sequence[Array] | None) -> ConstrainedState:
        """The nearest point that meets the bounds and the rows, as far as few coordinates lead there."""
        g = self.g
        x = np.clip(x, g.lo, g.hi)
        if np.count_nonzero(x) > self.offset.size:
            x = np.where(g.sparse, 0.0, x)
        x, miss = rows.met(self.all_rows, x, g, self.length, self.problem)
        (z,) = self.of_loss.forward(x)
        whole = costs.is_whole(self.of_loss.canonical)
        none, nowhere, empty = np.zeros(0), np.zeros(0, dtype=np.intp), np.zeros((0, 0))
        nu = np.zeros(len(self.rows.size)) if ys is None else self.rows.read(list(ys))
        state = ConstrainedState(
            0, x, z, none, none, 0.0, 0.0, -math.inf, none, none, nowhere,
            0.0, 0.0, 0.0, whole, whole, empty, nowhere, math.inf, 1.0, EPOCHS, 1.0, FLOOR, 0.0,
            nu=nu, priced=np.zeros_like(nu),
        )  # fmt: skip
        if miss.any():
            state.missed, state.failure = miss, "no point was found that meets its constraints"
        self._look_around(state)
        return state

    # --- a step -------------------------------------------------------------------------------------------------------

    def step(self) -> None:
        """A step of `descent`; none where the Gram matrix of the working set would be too large."""
        s = self.state
        if s.failure:
            return
        value, gap = s.value, s.value - s.best_bound
        super().step()
        s.stalled = not value - s.value > FALL * gap

    def _enlarge(self, s: ConstrainedState) -> int:  # type: ignore[override]
        added = super()._enlarge(s)
        if s.work.size > costs.MOST_COLUMNS:
            s.failure = f"its models would have Gram matrices of over {costs.MOST_COLUMNS:,} columns"
        return added

    def _descend(self, s: ConstrainedState, enough: float, models: int) -> tuple[float, Array] | None:  # type: ignore[override]
        """Models on the working set; none where that is too large."""
        return None if s.failure else super()._descend(s, enough, models)

    def _keeps(self, s: ConstrainedState) -> bool:  # type: ignore[override]
        """The same, or the last one led nowhere: from a corner of the rows x moves along several coordinates at a time."""
        return s.grams or s.stalled

    def _tilt(self, s: ConstrainedState) -> Array:  # type: ignore[override]
        return self.rows.tilt(s.nu)

    def _solve(self, s: ConstrainedState, x: Array, slope: Array, y: Array, h: Array, enough: float) -> Solved:  # type: ignore[override]
        """The model's solution on the working set and under the rows."""
        work = s.work
        g, gram = self.g.at(work, 0.0), self._gram(s, x, h, slope)
        assert gram is not None
        ridged = gram + np.diag(g.ridge) if g.ridge.any() else gram
        E = self.rows.E
        beside = E @ s.x - E[:, work] @ s.x[work]
        model = UnderRows(
            ridged,
            slope + g.ridge * x,
            x,
            g,
            (E[:, work], self.rows.lo - beside, self.rows.hi - beside),
            s.nu,
            self.of_loss.look,
        )
        solved = model.solve(TO * enough)
        s.nu = self.rows.signed(model.multipliers)
        return solved

    def _gram(self, s: ConstrainedState, x: Array, h: Array, slope: Array) -> Array | None:  # type: ignore[override]
        """The Gram matrix of the working set, which serves on where f'' is the same for all samples."""
        work, columns = s.work, self.columns
        assert isinstance(columns, Columns)
        if not self.quadratic:
            return columns.gram(work, h, np.zeros((0, 0)))
        if len(s.gram) != work.size:
            s.gram = columns.whole(work, columns.main(work), h) if s.whole else columns.gram(work, h, s.gram)
            s.grams = True
        return s.gram

    def _level(self, s: ConstrainedState) -> None:  # type: ignore[override]
        return None

    # --- bounds -------------------------------------------------------------------------------------------------------

    def _bound(self, s: ConstrainedState, most: float) -> None:  # type: ignore[override]
        """Keep the dual point (s y, s nu) if its bound is the best; where equalities are left to be met the latest is the one to repair."""
        problem, constant = self.of_loss, self.of_loss.canonical.constant
        tilted, owed = s.kty + self.rows.tilt(s.nu), self.rows.support(s.nu)
        found, share = -math.inf, 1.0
        if most == 1.0:
            found = constant + s.loss - float(s.kty @ s.x) - owed - self.g.conjugate(tilted, 1.0)
        for trial in {most, self._best_share(s, most)} - {1.0}:
            bound = constant - problem.conjugates([trial * s.y]) - trial * owed - self.g.conjugate(tilted, trial)
            if bound > found:
                found, share = bound, trial
        lacks = 0.0
        if self.unscaled.any():
            missed, bend = s.misses[self.unscaled], self._largest_bend(s)
            lacks = float(missed @ (self.length * np.abs(s.x))[self.unscaled] + missed @ missed / bend)
            s.best_bound = -math.inf
        if found - lacks > s.best_bound:
            s.best_bound, s.dual, s.priced = found - lacks, share * s.y, share * s.nu
        least, beside = self.least
        if self.unscaled.any() and least >= s.best_bound and s.value - least <= FITTED * beside:
            s.best_bound, s.dual, s.priced = least, np.zeros_like(s.y), np.zeros_like(s.nu)

    def _best_share(self, s: ConstrainedState, most: float) -> float:  # type: ignore[override]
        if not self.quadratic or s.loss <= 0.0 or not self.plain:
            return most
        assert isinstance(self.f, FastLoss)
        slope = float((self.offset - self.f.f.b) @ s.y) - self.rows.support(s.nu)
        return float(np.clip(0.5 * slope / s.loss, 0.0, most))

    # --- the answer ---------------------------------------------------------------------------------------------------

    def ray(self) -> tuple[Array, list[Array]] | None:
        """The way of x since zero, and what is missed of rows that no point meets: the multipliers that prove it."""
        s = self.state
        missed = np.zeros(len(self.all_rows.size)) if not s.missed.size else s.missed
        return s.x, self._dual(np.zeros_like(s.z), self.all_rows, missed)

    def _dual(self, y: Array, of: rows.Rows, nu: Array) -> list[Array]:
        """The dual point of the form: y of the loss, and the multipliers of the constraints."""
        found = {self.at: y, **of.written(self.problem, nu)}
        return [found[k] for k in range(len(self.problem.terms))]

    def report(self) -> Report:
        s = self.state
        return Report(s.value, s.best_bound, s.phase, failure=s.failure, infeasibility=1.0 if s.failure else 0.0)

    def candidate(self) -> tuple[Array, list[Array] | None]:
        """x and the best dual point with its multipliers."""
        s = self.state
        far = s.iteration == 0 and not s.value - s.best_bound <= NEAR * abs(s.value)
        if far or s.best_bound == -math.inf:
            return s.x, None
        return s.x, self._dual(s.dual, self.rows, s.priced)
