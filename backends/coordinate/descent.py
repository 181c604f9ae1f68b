r"""Coordinate descent on working sets.

Problem: minimise over x   f(K x + b) + <q, x> + sum_j ridge_j x_j^2 / 2 + sum_g c_g |x_g|_2   over lo <= x <= hi

with one smooth loss f, or the length of all predictions (`length`), K being the columns of a matrix of data and a few others (an intercept), and
groups g of coordinates, most of them of one. With a quadratic loss or a length x may be a matrix, whose rows are groups or whose entries are: its
columns share the working set and the Gram matrix.
A step takes the groups of the support and those that violate optimality most, at most as many again, and on them repeats

    u = argmin of the quadratic model of f at x with the curvature h = f''(z) of each sample (`model`),     x+ = x + t (u - x),

t cut in half until P falls as it should; one model is exact where f is quadratic. h has a floor, a share of the largest f'', that grows where
steps are cut, so that losses with linear pieces do no harm. Then one pass over all columns finds the gradient K'y, y = f'(K x + b), the next
violations, and a bound: D(s y) with the largest s <= 1 that meets the penalties, or for quadratic losses the best one. The best dual point is kept.

On a ball sum_g b_g |x_g| <= r models are solved under the penalty m b_g |x_g|, whose multiplier m a secant finds (`multiplier`), and x stays in the
ball. The bound is that of the ball, and takes no m.

The softmax loss of a matrix ties its classes together: the models' Gram matrices, with the whole Hessian, are in `classes`.

Intercepts and other free columns beside dense data are minimised out where the Hessian of the loss stays (`Columns.minimise_out`): models then are of
the data's columns alone, centred, and each step ends with the intercepts at their best.

On a box, and with sizes of entries on one side of 0 alone, a quadratic model on its Gram matrix is ended by an active set (`descended` of
`backends.active_set`), however close to each other columns are; that matrix then may have more columns than there are samples.

A model is solved on its Gram matrix where forming that costs less than the epochs over columns that it saves; of a quadratic loss it is formed once
for a set that only grows. Where all columns' Gram matrix is cheap, or nothing is sparse, the working set is everything.

Complexity: O(nnz(A)) a step, and O(nnz(A_W)) an epoch; 5 to 10 steps to a gap of 1e-6 as a rule.

Source: working sets as in Massias, Gramfort, Salmon 2018 and Bertrand et al. 2022, extrapolation as in Bertrand, Massias 2021; the Gram matrix with
Newton steps on the identified face is our own.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from fwdsl.atoms.base import Array
from fwdsl.atoms.vectors.common import Norm
from fwdsl.backends.coordinate import costs
from fwdsl.backends.coordinate.classes import ClassColumns
from fwdsl.backends.coordinate.columns import Columns
from fwdsl.backends.coordinate.coordinates import Coordinates, Indices
from fwdsl.backends.coordinate.length import Length
from fwdsl.backends.coordinate.method import CoordinateDescent
from fwdsl.backends.coordinate.model import Box, OnColumns, OnGram, Solved, missed
from fwdsl.backends.coordinate.multiplier import RAISED, first, in_ball
from fwdsl.backends.coordinate.state import CoordinateState
from fwdsl.backends.dual import FITTED, dual_value, least_bound, step_inside
from fwdsl.backends.factors import block_of
from fwdsl.backends.functions import FastLoss, FastRows, FastVector
from fwdsl.backends.method import Report, Run
from fwdsl.backends.problem import PreparedProblem

SHARE = 0.3
"""The share of the gap to which models are solved."""

HARDLY, HARDLY_DEAR = 0.1, 0.3
"""The multiple of it where hardly a coordinate was missing; and where an epoch costs much of a pass over all columns, which finds those that are."""

OF_MODEL = 0.5
"""The share of what a step asks for to which a model of a loss that is not quadratic is solved: the next one, if any, finds the rest."""

LAST, ASKED = 100.0, 0.5
"""The multiple of the gap that is asked for up to which models are solved to a share of that, and the share: epochs more cost less than another pass
over all columns, and epochs beyond serve nobody."""

FEW = 0.1
"""The share of a working set up to which new coordinates are hardly any."""

EXACT = 1e-9
"""The same where one model on its Gram matrix is the problem."""

STAYS = 4.0
"""The multiple of the epochs that it saves which a Gram matrix may cost to grow with its working set: on it models are solved to the end, and steps
are fewer."""

EPOCHS = 8.0
"""Epochs over columns that a model is taken to need before any was solved, and at least."""

FALL = 0.55
COMPLETE = 1e-3
"""The greatest fall of the multiplier of a ball in a step where coordinates are missing, and where hardly any are."""

TIGHTEST = 1e-6
"""The least share of that to which models are solved that do not lead down otherwise."""

LEAST_ADDED, ADDED_OF, MOST_LEAST = 20, 100, 100
"""Coordinates that a step adds at least, as far as there are violations; or one of so many, whose epochs cost little of the pass that finds them, up
to a most."""

CHEAP, DEEPER = 20_000, 0.1
"""Stored numbers that an epoch may go through and still take little time beside a step whose models have a curvature of their own: coordinates with
so many are added at least, and models on no more are solved to as small a share of what is enough."""

MOST_ALIKE = 500
"""Coordinates that a step adds at most where classes are bent alike: their model costs little."""

GROWTH, USED = 4, 0.9
"""A step adds so many times the support where this share of the working set is in it: then many more are missing. Else it adds as many."""

ROUGH, FINE = 0.1, 0.01
"""The share of its first violation to which a model of a loss that is not quadratic is solved: beyond, the next model is closer to the loss. `FINE`
where hardly a coordinate was missing: models are then close to the loss, and to begin one costs as much as ten epochs."""

MODELS = 8
"""Most models of a loss that is not quadratic in a step."""

FLOOR = 1e-4
LEAST_FLOOR = 1e-9
"""The first and the least share of the largest f'' that h has at least."""

NEAR = 1e-3
"""The gap, relative to P, from which on the starting point's bound may be the last word."""

FAR = 1e-3
"""The gap, relative to P, down to which the Gram matrices of a model of classes are in single precision: the next model is another."""

CHORD = 0.2
"""The share of the last model's violation that the next one of the same coordinates has where the Gram matrix of classes serves again: the violation
then falls about as much in each model."""

LEVELLINGS = 4
"""Most points at which the slopes of coordinates that nothing weighs are looked at; they are halved from each to the next."""

CUTS = 40
EPS = float(np.finfo(np.float64).eps)


class CoordinateRun(Run[PreparedProblem, CoordinateState], of=CoordinateDescent):
    """Coordinate descent on a problem."""

    def __init__(self, problem: PreparedProblem, inner: str | None) -> None:
        super().__init__(problem)
        #: The problem without constraints: its one term is the loss.
        self.of_loss = problem = self._without_constraints(problem)
        (f,) = problem.functions
        norm = f.f if isinstance(f, FastVector) else None
        #: The length of all predictions, where that takes the place of a loss.
        self.as_length = Length(norm.c, problem.terms[0].map.offset) if isinstance(norm, Norm) else None
        smooth = self.as_length or f
        assert not isinstance(smooth, FastVector)
        self.f = smooth
        self.inner = inner
        self.columns = ClassColumns(problem) if isinstance(f, FastRows) else Columns(problem)
        self.g = Coordinates.of(problem, self.columns.tasks)
        self.quadratic = isinstance(f, FastLoss) and f.f.loss.quadratic
        self.rough = 0.0
        #: No model is the problem, as one of linear and quadratic pieces is once each sample has its own.
        self.curves = isinstance(f, FastLoss) and not f.f.loss.piecewise_quadratic
        self.bend = _largest_bend(f)
        self.offset = problem.terms[0].map.offset
        self.length = costs.column_lengths(problem.canonical)
        if self.columns.extra_at.size:
            extra = np.repeat(np.linalg.norm(self.columns.extra, axis=1), self.columns.tasks)
            self.length[self.columns.extra_at] = np.where(extra > 0.0, extra, 1.0)
        g = self.g
        # coordinates with a dual equality, or a cone, that scaling the dual point does not reach
        # of a linear cost as large as the norm no share is left for y
        above, below = ((g.rest == 0.0) | (g.rest + sign * problem.q <= 0.0) for sign in (1.0, -1.0))
        self.unscaled = (g.ridge == 0.0) & ((np.isinf(g.hi) & above) | (np.isinf(g.lo) & below))
        self.equal = np.zeros(g.rest.size, dtype=np.bool_)
        for block, own in zip(problem.canonical.blocks, problem.g, strict=True):
            self.equal[block.slice] = own.f.pair == (None, None)
        self.plain = not (g.ridge.any() or g.q.any())
        self.on_box = costs.is_on_box(problem.canonical)
        self.level_at, self.level_columns = self._levelled()
        self.gone_at = self._minimised_out()

    def _without_constraints(self, problem: PreparedProblem) -> PreparedProblem:
        """The problem of the loss alone, which this method takes no other than."""
        return problem

    def _levelled(self) -> tuple[Indices, Array]:
        """The coordinates beside the data that nothing bounds or weighs, such as intercepts, a row a column of K, and these columns."""
        g, columns = self.g, self.columns
        if not isinstance(columns, Columns) or not columns.extra_at.size:
            return np.zeros((0, 1), dtype=np.intp), np.zeros((0, 0))
        at = columns.extra_at.reshape(-1, columns.tasks)
        free = (g.rest[at] == 0.0) & (g.ridge[at] == 0.0) & np.isinf(g.lo[at]) & np.isinf(g.hi[at])
        whole = free.all(axis=1)
        return at[whole], columns.extra[whole]

    def _minimised_out(self) -> Indices:
        """The coordinates that are minimised out: all beside those of dense data, where nothing bounds or weighs them and the Hessian of the loss
        stays, but for a factor. Coordinate descent is slow along columns that are far from 0 on average beside an intercept."""
        columns, at = self.columns, self.level_at
        if not at.size or not isinstance(columns, Columns) or at.size < columns.extra_at.size:
            return np.zeros(0, dtype=np.intp)
        if (self.quadratic or self.as_length is not None) and not self.of_loss.q[at].any():
            h = np.empty_like(self.offset)
            self.f.curvature(self.offset, h)
            if self.as_length is not None:
                h[:] = 1.0
            columns.minimise_out(h[:: columns.tasks])
        return columns.gone_at

    # --- the start ----------------------------------------------------------------------------------------------------

    def begin(self, x: Array, ys: Sequence[Array] | None) -> CoordinateState:
        """The projection of x on the box. An x of more groups than there are samples begins with those at 0 that norms hold there: points that other
        methods have on their way are such, and models on all of these groups took up to five times as long as from nothing."""
        whole = isinstance(self.columns, Columns) and (
            self.inner == "gram" or (self.inner is None and costs.is_whole(self.of_loss.canonical))
        )
        x = self.g.inside(np.clip(x, self.g.lo, self.g.hi))[0]
        if not whole and np.count_nonzero(self.g.lengths(x)) > self.offset.size:
            x = np.where(self.g.sparse, 0.0, x)
        (z,) = self.of_loss.forward(x)
        none, nowhere = np.zeros(0), np.zeros(0, dtype=np.intp)
        empty = np.zeros((0, 0))
        state = CoordinateState(
            0, x, z, none, none, 0.0, 0.0, -math.inf, none, none, nowhere,
            math.inf, 0.0, 0.0, whole, whole, empty, nowhere, math.inf, 1.0, EPOCHS, 1.0, FLOOR, 0.0,
        )  # fmt: skip
        self._look_around(state, self._level(state) if self.gone_at.size else None)
        return state

    def _look_around(self, s: CoordinateState, known: tuple[float, Array] | None = None) -> None:
        """The value, the gradient, violations and a bound at x; f and f' at its predictions may be known."""
        problem = self.of_loss
        s.loss, s.y = known or self._loss(s.z)
        s.kty = problem.adjoint([s.y])
        if s.multiplier == math.inf:
            s.multiplier = first(self.g, s.x, s.kty)
        loss = s.loss if self.as_length is None else self.as_length.value(s.z)
        s.value = problem.canonical.constant + loss + self.g.penalty(s.x)
        s.misses, share = self.g.survey(s.x, s.kty + self._tilt(s), self.length, s.multiplier)
        self._bound(s, 1.0 if self.g.is_ball else share)

    def _tilt(self, s: CoordinateState) -> Array | float:
        """The slope that constraints add to that of the loss, by their multipliers; 0 without constraints."""
        return 0.0

    def _loss(self, z: Array) -> tuple[float, Array]:
        return self.f.value_gradient(z, y := np.empty_like(z)), y

    # --- a step -------------------------------------------------------------------------------------------------------

    def step(self) -> None:
        """A working set, models on it, and the gradient of all coordinates."""
        s = self.state.copied()
        gap = max(s.value - s.best_bound, 0.0) if math.isfinite(s.best_bound) else abs(s.value)
        self._sharpen(s, gap)
        added = self._enlarge(s)
        missing = s.whole or added > FEW * s.work.size
        self.rough = 0.0 if self.quadratic else ROUGH if missing else FINE
        share = (
            EXACT
            if s.whole and self.quadratic
            else SHARE
            if missing
            else (HARDLY if self._is_cheap(s) else HARDLY_DEAR) * SHARE
        )
        if self.g.is_ball:
            s.multiplier = max(s.multiplier, RAISED * self.g.multiplier(s.kty))
        s.least = 0.0 if s.whole else (FALL if missing else COMPLETE) * s.multiplier
        models = 1 if self.quadratic else self.columns.growing_models if missing else MODELS
        if s.work.size > MOST_LEAST and self._is_alike(s):
            models = 1
        enough = s.tight * share * (1.0 if missing else self._deeper(s)) * gap
        asked = 0.0 if self.of_loss.tol is None or missing else ASKED * self.of_loss.tol * abs(s.value)
        if enough <= LAST * asked:
            enough = s.tight * asked
        known = self._descend(s, max(enough, EPS * abs(s.value)), models)
        s.phase = f"coordinate descent on {s.work.size:,} of {s.x.size:,} coordinates"
        s.iteration += 1
        self._look_around(s, known)
        # where a model on the ball was too rough to lead down the next one is solved further
        s.tight = min(1.0, 10.0 * s.tight) if s.value < self.state.value else max(0.1 * s.tight, TIGHTEST)
        vars(self.state).update(vars(s))

    def _sharpen(self, s: CoordinateState, gap: float) -> None:
        """Lower the level of a length as far as the gap asks for, and bring what is known at x to it."""
        length = self.as_length
        if length is None:
            return
        before = float(np.abs(s.y).max(initial=0.0))
        s.level = length.level = min(s.level or math.inf, length.level_at(gap))
        s.loss, s.y = self._loss(s.z)
        grown = float(np.abs(s.y).max(initial=0.0)) / before if before > 0.0 else 1.0
        if grown != 1.0:
            s.kty = grown * s.kty
            s.misses, _ = self.g.survey(s.x, s.kty, self.length, s.multiplier)

    def _deeper(self, s: CoordinateState) -> float:
        """The factor by which models are solved further where an epoch costs little beside a step: as the violations that the working set leaves out
        are smaller than those in it."""
        columns = self.columns
        if (
            not self.curves
            or self.g.is_ball
            or not isinstance(columns, Columns)
            or columns.cost(columns.main(s.work)) > CHEAP
        ):
            return 1.0
        inside, total = s.misses[s.work], float(s.misses @ s.misses)
        return max(DEEPER, math.sqrt(max(1.0 - float(inside @ inside) / total, 0.0))) if total > 0.0 else 1.0

    def _is_cheap(self, s: CoordinateState) -> bool:
        """True if the epochs of a model cost no more than a pass over all columns."""
        columns = self.columns
        return not isinstance(columns, Columns) or EPOCHS * columns.cost(columns.main(s.work)) <= columns.operator.nnz

    def _is_alike(self, s: CoordinateState) -> bool:
        """True if classes are bent alike, as at 0, and the data have few columns: the Gram matrix of many coordinates is then had from that of these,
        and that of the next model is not."""
        columns = self.columns
        return isinstance(columns, ClassColumns) and columns.is_narrow and columns.are_alike(s.z)

    def _enlarge(self, s: CoordinateState) -> int:
        """Choose the coordinates to work on; how many of them are new."""
        g, columns = self.g, self.columns
        if s.whole:
            s.work = self._everything()
            return 0
        kept = s.x != 0.0
        if self._keeps(s):
            kept[s.work] = True
        kept[columns.extra_at] = True
        kept[g.completed(kept)] = True
        kept[self.gone_at] = True
        misses = np.where(kept, 0.0, s.misses)
        new = np.flatnonzero(misses > 0.0)
        support = int(np.count_nonzero(s.x))
        least = MOST_ALIKE if self._is_alike(s) else max(LEAST_ADDED, min(s.x.size // ADDED_OF, MOST_LEAST))
        most = max(least, (GROWTH if s.work.size and support >= USED * s.work.size else 1) * support)
        if new.size > most and self.curves:
            most = max(most, self._cheap(misses, new))
        if new.size > most:
            new = new[np.argpartition(-misses[new], most)[:most]]
        chosen = np.zeros_like(kept)
        chosen[new] = True
        if s.grams and self.on_box and s.work.size + new.size > costs.MOST_GRAM:
            # those that went to an end make room
            inside = s.x[s.work] != 0.0
            inside[: columns.extra_at.size] = True
            stays = np.flatnonzero(inside)
            s.work, s.gram = s.work[stays], block_of(s.gram, stays)
        if s.grams and isinstance(columns, Columns) and costs.is_wide(columns.operator, s.work.size + new.size):
            s.whole, s.gram, s.work = True, np.zeros((0, 0)), self._everything()
        elif s.grams:
            s.work = np.concatenate([s.work, g.completed(chosen)])
        else:
            s.work = self._with_extra(kept | chosen)
        return int(new.size)

    def _cheap(self, misses: Array, new: Indices) -> int:
        """The number of the new coordinates that violate optimality most have CHEAP numbers in their columns."""
        columns = self.columns
        assert isinstance(columns, Columns)
        count = CHEAP * self.length.size // max(1, columns.operator.nnz)
        if not 0 < count < new.size:
            return count
        worst = new[np.argpartition(-misses[new], count)[:count]]
        return count * CHEAP // max(CHEAP, columns.cost_of(worst))

    def _keeps(self, s: CoordinateState) -> bool:
        """True if the next working set has all of the last one."""
        return s.grams

    def _with_extra(self, chosen: NDArray[np.bool_]) -> Indices:
        """A working set of the chosen coordinates of the data and the others."""
        chosen[self.columns.extra_at] = False
        chosen[self.gone_at] = False
        return np.concatenate([self.columns.extra_at, self.g.completed(chosen)])

    def _everything(self) -> Indices:
        return self._with_extra(np.ones(self.length.size, dtype=np.bool_))

    def _descend(self, s: CoordinateState, enough: float, models: int) -> tuple[float, Array] | None:
        """So many models on the working set at most, each at the point that the one before led to; f and f' at the last one where they are known.
        Beside the working set all coordinates are 0."""
        problem, f, work = self.of_loss, self.f, s.work
        g = self.g.at(work, 0.0)
        x, q = s.x[work], g.q
        slope, before = s.kty[work] + q, g.penalty(x)
        y, value, h = s.y, s.loss, np.empty_like(s.z)
        for model in range(models):
            problem.look()
            f.curvature(s.z, h)
            if not self.quadratic:
                np.maximum(h, s.floor * self.bend, out=h)
            solved = self._solve(s, x, slope, y, h, enough if self.quadratic else OF_MODEL * enough)
            if self.gone_at.size:
                # models leave alone what has no column, as a constant one beside an intercept
                solved.u[(solved.size == 0.0)[g.group] & g.sparse & (q == 0.0)] = 0.0
            u = self._inside(solved.u, work)
            d = u - x
            if not d.any():
                s.floor = min(1.0, 10.0 * s.floor)
                break
            if self.quadratic:
                self._put(s, u)
                (s.z,) = problem.forward(s.x)
                return self._level(s)
            reached = g.penalty(u)
            promised = float(slope @ d) + reached - before - float(q @ d)
            s.length, x, before, value, y = self._search(s, g, (x, u, d), value, y, (before, reached), promised)
            s.floor = max(LEAST_FLOOR, 0.1 * s.floor) if s.length == 1.0 else min(1.0, 10.0 * s.floor)
            left = -promised if self.g.is_ball else solved.first
            if left <= enough or (s.length == 0.0 and s.floor == 1.0) or model + 1 == models:
                break
            slope = self.columns.dots(work, y) + q
            # as far as one step of each coordinate tells, the next model would find nothing
            tilt = self._tilt(s)
            tilted = slope + tilt[work] if isinstance(tilt, np.ndarray) else slope
            if s.length == 1.0 and missed(tilted, x, self.g.at(work, s.multiplier), solved.size) <= enough:
                break
        self._put(s, x)
        if self.gone_at.size:
            # those that are minimised out have moved with the predictions
            (s.z,) = problem.forward(s.x)
        return self._level(s) or (value, y)

    def _put(self, s: CoordinateState, x: Array) -> None:
        """Let the coordinates of the working set be x and all others 0, but for those that are minimised out."""
        gone = s.x[self.gone_at]
        s.x = np.zeros_like(s.x)
        s.x[s.work], s.x[self.gone_at] = x, gone

    def _inside(self, u: Array, work: Indices) -> Array:
        """The coordinates of a working set, scaled into the ball."""
        if not self.g.is_ball:
            return u
        whole = np.zeros(self.g.lo.size)
        whole[work] = u
        return self.g.inside(whole)[0][work]

    def _level(self, s: CoordinateState) -> tuple[float, Array] | None:
        """Move the coordinates that nothing bounds or weighs to where their slope is 0, so that y meets their equalities without a repair; f and f'
        there. None, and nothing moved, where there are none or Newton's steps do not lead there."""
        at, columns = self.level_at, self.level_columns
        if not at.size:
            return None
        tasks = at.shape[1]
        x, z, h, missed = s.x[at], s.z, np.empty_like(s.z), math.inf
        found = None
        for _ in range(LEVELLINGS):
            value, y = self._loss(z)
            slope = columns @ y.reshape(-1, tasks) + self.of_loss.q[at]
            before, missed = missed, float(np.abs(slope).max())
            if not missed < 0.5 * before:
                break
            found = x, z, value, y
            if missed <= EPS * float((np.abs(columns) @ np.abs(y).reshape(-1, tasks)).max()):
                # rounding, which another step makes no less
                break
            self.f.curvature(z, h)
            try:
                # what bends the predictions of one sample is the same for all tasks
                t = np.linalg.solve((columns * h[::tasks]) @ columns.T, -slope)
            except np.linalg.LinAlgError:
                return None
            x, z = x + t, z + (columns.T @ t).reshape(-1)
        if found is None:
            return None
        s.x = s.x.copy()
        s.x[at], s.z, value, y = found
        return value, y

    def _solve(self, s: CoordinateState, x: Array, slope: Array, y: Array, h: Array, enough: float) -> Solved:
        """The model's solution on the working set, by its Gram matrix where that pays. A quadratic loss's then serves on."""
        work, columns, look = s.work, self.columns, self.of_loss.look
        g, gram = self.g.at(work, s.multiplier), self._gram(s, x, h, slope)
        loose = self.curves and self.rough == ROUGH
        model: OnColumns | OnGram
        if gram is not None:
            ridged = gram + np.diag(g.ridge[:: columns.tasks]) if g.ridge.any() else gram
            model = OnGram(
                ridged, slope + g.ridge * x, x, g, look, self._box(s, y, gram, g), self.rough if loose else 0.0
            )
        else:
            assert isinstance(columns, Columns)
            model = OnColumns(columns, work, x, g, y, h, self.rough, look)
        if self.g.is_ball:
            solved, s.multiplier, s.slope = in_ball(model, self.g, work, s.multiplier, s.least, s.slope, enough)
        else:
            # a few epochs or a Newton step more are cheap on a Gram matrix, unless the next model is another one for sure
            solved = model.solve(g, enough if gram is None or loose else 1e-3 * enough)
        if gram is None:
            s.epochs = 0.5 * (s.epochs + solved.epochs)
        elif isinstance(columns, ClassColumns):
            s.gram_at = solved.first
        return solved

    def _box(self, s: CoordinateState, y: Array, gram: Array, g: Coordinates) -> Box | None:
        """The facts that an active set is told; None where the model is on no box."""
        if not self.on_box:
            return None
        size = float(np.linalg.norm(y)) + float(np.linalg.norm(s.z - self.offset))
        noise = EPS * size * np.sqrt(np.maximum(np.einsum("ii->i", gram), 0.0))
        return Box(noise, len(gram) if g.has_ridge else s.z.size)

    def _serves(self, s: CoordinateState, x: Array, slope: Array) -> bool:
        """True if the Gram matrix of an earlier model serves this one: that has all coordinates of the working set, and the violation has fallen to
        CHORD of what it was in the last one, so that f'' is nearly the same."""
        work = s.work
        if self.g.is_ball or not s.gram.size or not math.isfinite(s.gram_at) or s.length != 1.0:
            return False
        at = np.searchsorted(s.gram_of, work)
        if at.size and (at[-1] >= s.gram_of.size or not np.array_equal(s.gram_of[at], work)):
            return False
        size = np.einsum("ii->i", s.gram)[at]
        return missed(slope, x, self.g.at(work, s.multiplier), size) <= CHORD * s.gram_at

    def _gram(self, s: CoordinateState, x: Array, h: Array, slope: Array) -> Array | None:
        """The Gram matrix of the working set; None where epochs over its columns cost less. Where f'' is the same for all samples it serves on."""
        work, columns = s.work, self.columns
        if isinstance(columns, ClassColumns):
            if not self._serves(s, x, slope):
                s.gram = columns.gram(work, h, single=s.value - s.best_bound > FAR * abs(s.value))
                s.gram_of, s.gram_at = work, math.inf
            elif s.gram_of is not work:
                at = np.searchsorted(s.gram_of, work)
                s.gram, s.gram_of = block_of(s.gram, at), work
            return s.gram
        main = columns.main(work)
        width, most = (
            len(columns.extra) + main.size,
            costs.most_gram(columns.operator, self.on_box or self.as_length is not None),
        )
        grows = s.grams and not s.whole and width > len(s.gram)
        if grows and (width > most or not _pays(columns, main, STAYS * s.epochs, most, len(s.gram))):
            s.grams, s.gram = False, np.zeros((0, 0))
        if self.inner == "residual" or not (
            s.grams or s.whole or _pays(columns, main, s.epochs, most, newton=self.curves and not self.g.is_ball)
        ):
            return None
        length = self.as_length
        if not self.quadratic and length is None:
            return columns.gram(work, h, s.gram)
        if len(s.gram) != width:
            even = h if length is None else np.ones_like(h)
            s.gram = columns.whole(work, main, even[:: columns.tasks]) if s.whole else columns.gram(work, even, s.gram)
            s.grams = True
        if length is None:
            return s.gram
        # of a matrix the Hessian ties the tasks together
        floor = 1.0 if columns.tasks > 1 else s.floor
        return length.bent(s.gram, slope - self.of_loss.q[work], s.z, floor)

    def _search(
        self, s: CoordinateState, g: Coordinates, way: tuple[Array, Array, Array], value: float, y: Array,
        penalties: tuple[float, float], promised: float,
    ) -> tuple[float, Array, float, float, Array]:  # fmt: skip
        """Move z by t d, t the first of 1, 1/2, ... at which P falls by a share of what the model's slope promises: t, and the coordinates of the
        working set, their penalty, f and f' there.

        t is 0 where none does. `way` are x, the point at t = 1, and d; `penalties` those at the first two, and `value` and y are f and f' at x.
        """
        x, u, d = way
        before, reached = penalties
        dz = self.columns.times(s.work, d)
        t = 1.0
        noise = 16.0 * EPS * (abs(value) + abs(before))
        for _ in range(CUTS):
            self.of_loss.look()
            z = s.z + (dz if t == 1.0 else t * dz)
            found, slopes = self._loss(z)
            if found - value + reached - before <= 0.01 * t * promised + noise:
                s.z = z
                return t, u, reached, found, slopes
            t *= 0.5
            u = np.clip(x + t * d, g.lo, g.hi)
            reached = g.penalty(u)
        return 0.0, x, before, value, y

    # --- bounds -------------------------------------------------------------------------------------------------------

    def _bound(self, s: CoordinateState, most: float) -> None:
        """Keep the dual point of this gradient if its bound is the best; where equalities are left to be met the latest is the one to repair."""
        constant = self.of_loss.canonical.constant
        found, share = -math.inf, 1.0
        if most == 1.0 and self.as_length is None:
            # f*(y) = <z, y> - f(z) at y = f'(z)
            found = constant + s.loss - float(s.kty @ s.x) - self.g.conjugate(s.kty, 1.0)
        for trial in {most, self._best_share(s, most)} - ({1.0} if self.as_length is None else set()):
            bound = constant - self.of_loss.conjugates([trial * s.y]) - self.g.conjugate(s.kty, trial)
            if bound > found:
                found, share = bound, trial
        if self.unscaled.any():
            # what these miss times how far x is, and may yet go along a column, is about what the bound lacks
            missed, bend = s.misses[self.unscaled], self._largest_bend(s)
            lacks = float(missed @ (self.length * np.abs(s.x))[self.unscaled] + missed @ missed / bend)
            s.best_bound, s.dual = found - lacks, share * s.y
            least, beside = self.least
            if least >= s.best_bound and s.value - least <= FITTED * beside:
                # of a perfect fit y is rounding, and y = 0 needs no repair
                s.best_bound, s.dual = least, np.zeros_like(s.y)
                return
            near = s.value - s.best_bound <= NEAR * abs(s.value)
            # no step meets an equality
            steps = near and missed.any() and not s.misses[self.equal].any()
            inside = step_inside(self.of_loss, [s.dual]) if steps else None
            if inside is not None:
                s.best_bound, s.dual = dual_value(self.of_loss, inside, self.of_loss.adjoint(inside)), inside[0]
        elif found > s.best_bound:
            s.best_bound, s.dual = found, share * s.y

    @cached_property
    def least(self) -> tuple[float, float]:
        """D(0), and what x = 0 has beyond it."""
        return least_bound(self.of_loss)

    def _largest_bend(self, s: CoordinateState) -> float:
        """The largest f'', at z where it has no bound."""
        h = self.bend
        if not h.any():
            h = np.empty_like(s.z)
            self.f.curvature(s.z, h)
        return float(h.max(initial=0.0)) or math.inf

    def _best_share(self, s: CoordinateState, most: float) -> float:
        """The best s <= `most` for a quadratic loss without ridges or linear terms: -f*(s y) + s <b, y> is a parabola in s.

        A ball takes s r m of it, m being the multiplier of the gradient.
        """
        if not self.quadratic or s.loss <= 0.0 or not self.plain:
            return most
        assert isinstance(self.f, FastLoss)
        # f*(s y) = s^2 f(z) + s <b0, y> with the targets b0
        slope = float((self.offset - self.f.f.b) @ s.y)
        if self.g.is_ball:
            slope -= self.g.radius * self.g.multiplier(s.kty)
        return float(np.clip(0.5 * slope / s.loss, 0.0, most))

    def ray(self) -> tuple[Array, list[Array]] | None:
        """The way of x since zero: far out, that is the direction in which it leaves."""
        return self.state.x, [np.zeros_like(self.state.z)]

    def report(self) -> Report:
        return Report(self.state.value, self.state.best_bound, self.state.phase)

    def candidate(self) -> tuple[Array, list[Array] | None]:
        """x and the best dual point, at the start where that is near: a poor one is not worth its repair. None has a bound where numbers overflow."""
        s = self.state
        far = s.iteration == 0 and not s.value - s.best_bound <= NEAR * abs(s.value)
        return s.x, None if far or s.best_bound == -math.inf else [s.dual]


def _largest_bend(f: FastLoss | FastRows | FastVector) -> Array:
    """The largest f'' of each prediction, as far as there is one; else 0."""
    if isinstance(f, FastVector):
        return np.zeros(f.f.size)
    bend = f.f.loss.smoothness or 0.0
    weights = f.f.w if isinstance(f, FastLoss) else np.repeat(f.f.w, f.f.k)
    return bend * weights if math.isfinite(bend) else np.zeros(f.f.size)


def _pays(columns: Columns, main: Indices, epochs: float, most: int, known: int = 0, newton: bool = False) -> bool:
    """True if the Gram matrix of so many columns takes no longer than the epochs that it saves, that of `known` of them being there."""
    epoch, gram = costs.of_models(columns.operator, main.size, columns.cost(main), known)
    gram += costs.NS_OF_NEWTON if newton else 0.0
    return main.size <= most and gram <= max(EPOCHS, 2.0 * epochs) * epoch
