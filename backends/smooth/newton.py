r"""Newton's method for smooth losses of free variables.

Problem: minimise over x   P(x) = sum_i f_i(K_i x + b_i) + <q, x> + sum_j R_j x_j^2 / 2   with R_j >= 0 the ridges, f_i smooth

A step solves H d = -grad P, H = K'diag(f'') K + R (for a loss of rows f'' is a block a row), by a Cholesky factor of H, of a system over the rows
where these are fewer, or by conjugate gradients (`systems`), whose preconditioner knows of classes (`classes`). It moves along d to where the
slope of P is less than a tenth of what it was and P no larger: 1 as a rule, else by a secant on the slope, which costs no product with the data.

Where a coordinate has no ridge, f'' of losses with linear pieces has a floor: a share of the largest f'', which grows while steps are shorter than
1. On flat pieces, where f' is 0 too, it stays beneath the ridges of the others, if few coordinates have none: their samples hold nobody back, and a
floor that counts beside a weak ridge would.

Where a Gram matrix costs more than a product with H it is taken in single precision: the d of its factor is made good by what it leaves, which
is known in double precision. A factor serves again, with the f'' that it was made of, as long as its decrements fall to a hundredth each time.
Where all losses have quadratic pieces, f'' changes for the samples that come to another piece, and the Gram matrix is brought up to date by these
where they are few.

Bounds: y = f'(z) at the new point, and y = f'(z) + f''(z) K d of the model, whose K'y is known: with r = grad P + H d what the solve has left,
-(q + K'y) = R (x + d) - r. Where the model is good it is nearly the best dual point, and meets the equalities of coordinates without a ridge.

Complexity: a step is one product each way and one Gram matrix, or none where a factor serves again, or so many products as conjugate gradients
take. The last one has no gradient.

Source: truncated steps as in Dembo, Steihaug 1983 and Lin, Weng, Keerthi 2008; steps of quadratic pieces as in Keerthi, DeCoste 2005.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from functools import cached_property

import numpy as np

from fwdsl.atoms.base import Array, VectorFunction
from fwdsl.backends.costs import is_quadratic
from fwdsl.backends.functions import FastLoss, FastRows
from fwdsl.backends.method import Report, Run
from fwdsl.backends.problem import PreparedProblem
from fwdsl.backends.smooth import costs
from fwdsl.backends.smooth.classes import ClassBlocks
from fwdsl.backends.smooth.columns import parts_of_predictions
from fwdsl.backends.smooth.method import Newton, NewtonState
from fwdsl.backends.smooth.rows import ByRows
from fwdsl.backends.smooth.systems import FEW, Dual, Metric, Primal, Solve, conjugate_gradients
from fwdsl.canon.maps import LinearMap

LARGEST_SHARE, LEAST_SHARE = 0.3, 0.1
"""The share of the gradient that conjugate gradients may leave, at first and near the optimum."""

QUADRATIC_SHARE = 0.1
"""The same on a quadratic, where they go on from step to step: a step then only looks at where they are."""

MOST_PRODUCTS = 500
"""Products with the Hessian in a step."""

UNEVEN = 1e5
"""The ratio of the largest curvature of a variable's coordinates to the median one from which conjugate gradients are scaled by each."""

STEEP, STEEP_AT_ONE = 0.01, 0.1
"""The share of the slope that a step may leave along its direction, and where its length is 1. Trials cost vectors of predictions, a further step a
Gram matrix: with 0.5 the logistic loss takes half as many steps again where the classes can nearly be told apart."""

CHORD = 1e-2
"""The share of a step's decrement, -<grad P, d>, that the next one by the same factor has where that factor is used again: its error then
falls ten times a step without a Gram matrix."""

LIKE = 1.25
"""The largest length of a step, or its inverse, after which its Hessian may be used again: another length is that of a Hessian of another size."""

NEAR = 0.25
"""The share of the slope that a trial leaves from which the secant leads nearly to the end."""

AT_END = 0.01
"""The share of a bracket within which of its ends the root of a parabola is no trial."""

ONE_SIDED = 3
"""Trials that may leave more than half of a bracket before it is halved."""

FARTHEST = 4.0
"""The multiple of the length of the last trial that a secant beyond all trials may lead to."""

HOPELESS = 0.1
"""The share of P that the decrement of a first step is from which the bound of its model is not worth looking at."""

TOO_EARLY = 2.0
"""The multiple of the root of the tolerance above which the decrement of a second step, beside P, says the same."""

SHARP = 1e-6
"""The share of a step's decrement, <-grad P, d>, that its residual may cost the bound where the Hessian is one of single precision."""

ALONG = 1e-3
"""The share by which the curvature along a direction may differ from that by a Hessian in single precision, of which nothing else is looked at."""

CORRECTIONS = 3
"""Solutions by such a factor in a step, each for what the one before has left."""

TRIALS = 40
"""Trials of a search along a direction."""

FIRST_FLOOR, LEAST_FLOOR = 1e-4, 1e-12
"""The first and the least share of the largest f'' that losses with linear pieces have at least."""

FLAT = 0.1
"""The mean curvature that floors of flat pieces may bring to coordinates with a ridge, over the mean of their ridges. With 1 squared hinges on 300
samples of 400 unknowns and a weak ridge take 3 times as many steps, without a bound 15 times; with 0.01 starts far out may take as many again."""

SURE = 0.5
"""The share of the gap that is asked for down to which the bound of a model ends a run: a gradient at the end would be for nothing."""

STILL = 5
"""Steps that neither lower P nor raise the bound, after which rounding is all that is left."""

EPS = float(np.finfo(np.float64).eps)


class NewtonRun(Run[PreparedProblem, NewtonState], of=Newton):
    """Newton's method on a problem."""

    def __init__(self, problem: PreparedProblem, system: str | None) -> None:
        super().__init__(problem)
        canonical = problem.canonical
        self.ridge = np.concatenate([np.full(b.size, b.g.curvature) for b in canonical.blocks])
        self.quadratic = is_quadratic(canonical)
        kind = system or costs.choose(canonical).kind
        self.system = self._system(kind) if kind in ("primal", "dual") else None
        # conjugate gradients that take long give way to a factor, unless they were asked for
        self.factored_after = costs.factored_after(canonical) if self.system is None and system is None else None
        squares = costs.column_squares(canonical)
        # a coordinate that nothing sees stays where it is
        self.squares = np.where((squares > 0.0) & np.isfinite(squares), squares, 1.0)
        self.weight = 0.5 / np.where(self.ridge > 0.0, self.ridge, self.squares)
        self.free = self.ridge == 0.0
        self._free_at, self._ridged = np.flatnonzero(self.free), np.flatnonzero(~self.free)
        self._half_inverse = 0.5 / self.ridge[self._ridged]
        self._any_free = bool(self._free_at.size)
        self.floors = [
            (f.f.loss.smoothness or 0.0) * f.f.w
            if isinstance(f, FastLoss) and f.f.loss.piecewise_quadratic and not f.f.loss.quadratic and self.free.any()
            else None
            for f in problem.functions
        ]
        self.flat_floor = self._flat_floor()
        self.weights = sum(float(t.f.w.sum()) for t in canonical.terms if not isinstance(t.f, VectorFunction)) or 1.0
        #: The weight of all samples, where they have one: products are taken of what it multiplies, which other weights of the same data ask for too.
        self.unit = _common([t.f.w for t in canonical.terms if not isinstance(t.f, VectorFunction)])
        self._factor: Solve | None = None
        self._factored_at: list[Array] | None = None
        # where the curvatures of losses jump, an earlier Hessian is none of here
        self.smooth = all(
            isinstance(f, FastLoss | FastRows) and not f.f.loss.piecewise_quadratic for f in problem.functions
        )
        self.reuses = self.smooth and costs.is_worth_keeping(canonical)
        #: The Gram matrix of a step is brought up to date for the next one.
        self.keeps = costs.keeps_gram(canonical)
        few = isinstance(self.system, Primal) and np.count_nonzero(self.free) <= FEW < self.free.size
        self.single = self.reuses and few and not self.quadratic
        parts = None if self.system is not None else parts_of_predictions(canonical)
        #: Dense rows of several columns of predictions, along which products with the Hessian go.
        self.rows = ByRows.of(problem, parts)
        parts = parts if system != "cg" and parts is not None and parts.are_few else None
        self.blocks = None if parts is None else ClassBlocks(problem, parts, self.ridge, self.rows)
        self.block_products = 0.0 if parts is None or system == "blocks" else costs.block_products(canonical, parts)
        self._formed: Metric | None = None
        self._formed_of: Array | None = None
        #: The greatest length of a step.
        self.longest = math.inf

    def _system(self, kind: str) -> Primal | Dual:
        return (Primal if kind == "primal" else Dual)(self.problem, self.ridge)

    def _flat_floor(self) -> float:
        """The largest share of the largest f'' that samples on flat pieces of their losses have."""
        ridged = ~self.free
        if np.count_nonzero(self.free) > FEW or not ridged.any():
            return 1.0
        steep = max(
            (f.f.loss.smoothness or 0.0 for f in self.problem.functions if isinstance(f, FastLoss)), default=0.0
        )
        seen = steep * float(self.squares[ridged].sum())
        return min(1.0, FLAT * float(self.ridge[ridged].sum()) / seen) if seen > 0.0 else 1.0

    # --- the start ----------------------------------------------------------------------------------------------------

    def begin(self, x: Array, ys: Sequence[Array] | None) -> NewtonState:
        """The state at x: there is nothing to move it into."""
        x, problem = x.copy(), self.problem
        zs = problem.forward(x)
        losses, ys = problem.losses_gradient(zs)
        state = NewtonState(
            iteration=0,
            x=x,
            zs=zs,
            ys=ys,
            grad=np.zeros(0),
            value=0.0,
            best_bound=-math.inf,
            dual=ys,
            guessed=True,
            late=False,
            first=math.inf,
            bend=1.0,
            hs=[],
            gram=np.zeros((0, 0)),
            gram_of=[],
            factored=False,
            single=self.single,
            decrement=math.inf,
            length=1.0,
            direction=np.zeros(0),
            floor=FIRST_FLOOR,
            still=0,
            products=0,
            blocks_of=np.zeros(0),
            fresh=0,
            spent=0,
        )
        self._arrive(state, losses)
        state.first = self._measure(state.grad)
        return state

    def _arrive(self, s: NewtonState, losses: float) -> None:
        """The value at x, and the gradient with its bound where the bound of the last model does not say already that this is the end."""
        problem = self.problem
        rx = self.ridge * s.x
        s.value = problem.canonical.constant + losses + float(problem.q @ s.x) + 0.5 * float(rx @ s.x)
        gap = s.value - s.best_bound
        # of a quadratic the gradient tells what rounding has left of the one step
        asked = None if self.quadratic else problem.tol
        s.late = asked is not None and math.isfinite(gap) and gap <= SURE * asked * abs(s.value)
        if not s.late:
            self._look_around(s, losses, rx)

    def _look_around(self, s: NewtonState, losses: float, rx: Array) -> None:
        """The gradient and its bound at x."""
        kty = self.unit * self.problem.adjoint([y / self.unit for y in s.ys])
        s.grad = kty + self.problem.q + rx
        # f*(y) = <z, y> - f(z) at y = f'(z)
        self._bound(s, losses - float(kty @ s.x), s.grad, rx - s.grad, s.ys, s.x)

    def _measure(self, r: Array) -> float:
        """The cost of a residual in the bound, about |r|^2 / 2 over the ridges."""
        return float(self.weight @ np.square(r))

    def _bound(self, s: NewtonState, minus_conjugates: float, left: Array, v: Array, ys: list[Array], x: Array) -> None:
        """Keep a dual point if its bound is the best: -sum_i (f_i*(y_i) - <b_i, y_i>) - sum_j v_j^2 / (2 R_j).

        `left` has by how much coordinates without a ridge miss their equalities at x.
        """
        bound = self.problem.canonical.constant + minus_conjugates
        bound -= float(np.square(v[self._ridged]) @ self._half_inverse)
        if self._any_free:
            # missed equalities: what they lack at x, and about what they would at the optimum
            at = self._free_at
            miss = np.abs(left[at])
            bound -= float(miss @ np.abs(x[at]) + np.square(miss) @ (2.0 / s.bend / self.squares[at]))
        if bound > s.best_bound:
            s.best_bound, s.dual, s.guessed = bound, ys, ys is s.ys

    # --- a step -------------------------------------------------------------------------------------------------------

    def step(self) -> None:
        """A direction, the bound of its model, and a move along it."""
        problem, s = self.problem, self.state.copied()
        s.iteration += 1
        if s.late:
            # what looked like the end was none
            s.late = False
            self._look_around(s, problem.losses_gradient(s.zs)[0], self.ridge * s.x)
        before = s.value, s.best_bound
        found = self._again(s)
        if found is None:
            s.hs = self._floored(s, problem.curvatures(s.zs))
            s.bend = max(sum(float(h.sum()) for h in s.hs) / self.weights, 1e-12)
            found = self._direction(s, s.hs)
        d, r, dzs = found
        s.decrement = -float(s.grad @ d)
        if self._any_free:
            # bounds of points that miss equalities are guesses: the latest is the one to repair
            s.best_bound = -math.inf
        if not self._is_far(s, s.decrement):
            self._model_bound(s, s.hs, d, r, dzs)
        losses = self._move(s, d, dzs, float(d @ r) + s.decrement)
        self._arrive(s, losses)
        gained = s.value < before[0] or s.best_bound > before[1] + 4.0 * EPS * abs(s.best_bound)
        s.still = 0 if gained else s.still + 1
        vars(self.state).update(vars(s))

    def _floored(self, s: NewtonState, hs: list[Array]) -> list[Array]:
        """f'' with its floors."""
        flat = min(s.floor, self.flat_floor)
        return [
            h if f is None else np.maximum(h, np.where(y == 0.0, flat, s.floor) * f)
            for h, f, y in zip(hs, self.floors, s.ys, strict=True)
        ]

    def _again(self, s: NewtonState) -> tuple[Array, Array, list[Array]] | None:
        """The direction by the Hessian that an earlier step factored, where what is left to gain has fallen to CHORD since: that Hessian is then
        nearly the one here. Its model, of the same f'', meets all equalities. None where a step needs a Hessian of its own."""
        if not (s.factored and self.reuses and 1.0 / LIKE <= s.length <= LIKE):
            return None
        if self._factored_at is not s.hs:
            # of a run that is resumed
            self._factored(s, s.hs)
        d = self._of_factor(s)
        if d is None or not -float(s.grad @ d) <= CHORD * s.decrement:
            return None
        s.phase = "Newton with a Cholesky factor of an earlier step"
        return self._made_good(s, d)

    def _direction(self, s: NewtonState, hs: list[Array]) -> tuple[Array, Array, list[Array]]:
        """(d, grad + H d, the changes K d of the predictions)."""
        s.factored = False
        if self.factored_after is not None and s.products >= self.factored_after[1]:
            self.system, self.factored_after = self._system(self.factored_after[0]), None
        if self.system is not None:
            if not self.quadratic or self._factor is None:
                self._factored(s, hs)
            found = self._solved(s)
            if found is None and s.single:
                s.single = False
                return self._direction(s, hs)
            if found is not None:
                s.phase, s.factored = "Newton with a Cholesky factor", True
                return found
        here = self._measure(s.grad)
        share = QUADRATIC_SHARE
        if not self.quadratic:
            share = min(max((here / s.first) ** 0.25 if s.first > 0.0 else 0.0, LEAST_SHARE), LARGEST_SHARE)
        d, r, dzs = self._iterated(s, hs, share**2 * here)
        s.phase = "Newton with conjugate gradients"
        return d, -r, dzs

    def _iterated(self, s: NewtonState, hs: list[Array], enough: float) -> tuple[Array, Array, list[Array]]:
        """(d, -(grad + H d), K d) by conjugate gradients, until the measure of what is left is `enough`.

        Where blocks of columns can be formed, they are as soon as the products without them, or those that old ones have cost beyond what they cost
        when they were new, would have paid for it: together both cost at most twice what the better one does.
        """
        problem = self.problem
        dzs = [np.zeros_like(z) for z in s.zs] if self.rows is None else []
        kp: list[Array] = []

        def apply(p: Array) -> Array:
            problem.look()
            s.products += 1
            if self.rows is not None:
                return self.rows.bent(hs[0], p) + self.ridge * p
            kp[:] = problem.linear(p)
            return problem.adjoint(problem.bent(hs, kp)) + self.ridge * p

        def moved(length: float) -> None:
            for dz, k in zip(dzs, kp, strict=True):
                dz += length * k

        d, r, used = np.zeros_like(s.x), -s.grad, 0
        direction = s.direction if self.quadratic and s.direction.size > 0 else None
        while used < MOST_PRODUCTS:
            metric, allowed = self._metric(s), MOST_PRODUCTS - used
            old = self.blocks is not None and s.blocks_of is not hs[0] and not (self.quadratic and s.blocks_of.size)
            if old:
                allowed = min(allowed, self._allowed(s, hs))
            before = s.products
            if allowed:
                part, r, direction = conjugate_gradients(
                    apply, r, metric, self._measure, enough, allowed, direction, moved if self.rows is None else None
                )
                d += part
            taken = s.products - before
            used += taken
            if not old or (allowed and (taken < allowed or self._measure(r) <= enough)):
                break
            s.blocks_of, s.spent, s.fresh, direction = hs[0], 0, 0, None
        if s.blocks_of is hs[0]:
            s.fresh = taken
        else:
            s.spent += max(0, taken - s.fresh)
        s.direction = direction if self.quadratic and direction is not None else s.direction
        return d, r, dzs if self.rows is None else problem.linear(d)

    def _allowed(self, s: NewtonState, hs: list[Array]) -> int:
        """The products that a step may take before blocks of columns are formed: at once where they cost no more than a step's products do."""
        assert self.blocks is not None
        worth = math.ceil(self.block_products * self.blocks.count(hs[0]))
        first = worth <= costs.BLOCK_PRODUCTS and not s.blocks_of.size
        return 0 if first or not worth else max(0, worth - s.spent) + s.fresh

    def _metric(self, s: NewtonState) -> Metric:
        """The preconditioner: the blocks of columns where they have been formed, else a diagonal."""
        if self.blocks is not None and s.blocks_of.size:
            if self._formed_of is not s.blocks_of:
                at, floor = s.blocks_of, self.floors[0]
                at = at if floor is None else np.maximum(at, FIRST_FLOOR * floor)
                self._formed = self.blocks.metric(at, 1.0 / (self.squares + self.ridge))
                self._formed_of = s.blocks_of
            if self._formed is not None:
                return self._formed
            self.blocks = None
        plain = 1.0 / self._preconditioner(s.bend)
        return lambda r: plain * r

    def _preconditioner(self, bend: float) -> Array:
        """The mean curvature of each variable; of one whose coordinates' differ UNEVEN times, those.

        The diagonal itself is a poor metric where its small entries are many, as those of rare words are.
        """
        diagonal = bend * self.squares + self.ridge
        for block in self.problem.canonical.blocks:
            own = diagonal[block.slice]
            if own.size and float(own.max()) <= UNEVEN * float(np.median(own)):
                own[:] = own.mean()
        return np.asarray(diagonal)

    def _factored(self, s: NewtonState, hs: list[Array]) -> None:
        """Factor the Hessian with these f''."""
        assert self.system is not None
        self._factored_at = hs
        if not isinstance(self.system, Primal):
            self._factor = self.system.factored(hs)
        elif not self.keeps:
            self._factor = self.system.factored(hs, s.single, self.unit)
        else:
            known = self.system.updated(s.gram, s.gram_of, hs, self.unit) if s.gram.size else None
            s.gram, s.gram_of = self.system.gram(hs, unit=self.unit) if known is None else known, hs
            self._factor = self.system.factored(hs, gram=s.gram)
            if self._factor is None and known is not None:
                # what large weights have left of rounding, where they are gone
                s.gram = self.system.gram(hs, unit=self.unit)
                self._factor = self.system.factored(hs, gram=s.gram)

    def _solved(self, s: NewtonState) -> tuple[Array, Array, list[Array]] | None:
        """(d, grad + H d, K d) by the factor that there is; None where it leads nowhere."""
        d = self._of_factor(s)
        return None if d is None else self._made_good(s, d)

    def _made_good(self, s: NewtonState, d: Array) -> tuple[Array, Array, list[Array]] | None:
        """The same for the d of a factor: of one in single precision with what d leaves, which is solved for again until it costs the bound next to
        nothing, and the coordinates without a ridge by themselves, so that the model meets their equalities. None where that is not to be had."""
        problem, dzs = self.problem, self.problem.linear(d)
        if not (s.single and isinstance(self.system, Primal)):
            return d, np.zeros_like(d), dzs
        assert self._factor is not None
        if self._is_far(s, -float(s.grad @ d)):
            # nobody asks what it leaves, if the Hessian is right along d
            bend = float(self.ridge @ np.square(d)) + self._products(dzs, problem.bent(s.hs, dzs))
            if abs(bend + float(s.grad @ d)) <= ALONG * bend:
                return d, np.zeros_like(d), dzs
        allowed, free = -SHARP * float(s.grad @ d), self.system.free
        for _ in range(CORRECTIONS):
            r = s.grad + problem.adjoint(problem.bent(s.hs, dzs)) + self.ridge * d
            if free.size:
                t = self.system.levelled(r)
                d, r = d + t, r + self.system.of_free @ t[free]
                dzs = [dz + more for dz, more in zip(dzs, problem.linear(t), strict=True)]
            if self._measure(r) <= allowed:
                return d, r, dzs
            t = self._factor(r, s.x, s.zs[0], s.ys[0])
            d, dzs = d + t, [dz + more for dz, more in zip(dzs, problem.linear(t), strict=True)]
        return None

    @staticmethod
    def _products(us: Iterable[Array], vs: Iterable[Array]) -> float:
        """sum_i <u_i, v_i>."""
        return sum(float(u @ v) for u, v in zip(us, vs, strict=True))

    def _is_far(self, s: NewtonState, decrement: float) -> bool:
        """True if the bound of the model of a first or second step is not worth looking at."""
        if self.quadratic or s.iteration > 2:
            return False
        if s.iteration == 1:
            return decrement > HOPELESS * abs(s.value)
        # where f'' is continuous it misses about half the square of the decrement, each beside the value
        tol = self.problem.tol
        return self.smooth and tol is not None and decrement > TOO_EARLY * math.sqrt(tol) * abs(s.value)

    def _of_factor(self, s: NewtonState) -> Array | None:
        """The direction by the factor that there is; None where it leads nowhere."""
        if self._factor is None:
            return None
        d = self._factor(s.grad, s.x, s.zs[0] - self.problem.terms[0].map.offset, s.ys[0])
        return d if np.all(np.isfinite(d)) and float(s.grad @ d) < 0.0 else None

    def _model_bound(self, s: NewtonState, hs: list[Array], d: Array, r: Array, dzs: list[Array]) -> None:
        """The bound of y + t H_f K d with the largest t <= 1 that stays in the domain."""
        problem = self.problem
        steps = problem.bent(hs, dzs)
        t = 1.0
        for f, y, step in zip(problem.functions, s.ys, steps, strict=True):
            if isinstance(f, FastLoss):
                t = min(t, _longest(y, step, *f.dual_bounds))
        ys = [np.add(y, step if t == 1.0 else t * step, out=step) for y, step in zip(s.ys, steps, strict=True)]
        conjugates = problem.conjugates(ys)
        if not math.isfinite(conjugates):
            return
        # K'y + q at t = 0 and t = 1
        first, last = s.grad - self.ridge * s.x, r - self.ridge * (s.x + d)
        slope = first + t * (last - first)
        self._bound(s, -conjugates, slope, -slope, ys, s.x + d)

    def _move(self, s: NewtonState, d: Array, dzs: list[Array], bend: float) -> float:
        """Go along d, along which the model has the curvature `bend`, to where the slope is small, in x, predictions and gradients; the losses
        there."""
        problem = self.problem
        a = float((problem.q + self.ridge * s.x) @ d)
        c = float(self.ridge @ np.square(d))
        slope = float(s.grad @ d)
        noise = 8.0 * EPS * (self._products(map(np.abs, s.ys), map(np.abs, dzs)) + abs(a))
        of_x = problem.canonical.constant + float(problem.q @ s.x) + 0.5 * float(self.ridge @ np.square(s.x))
        lo, hi, left, right = 0.0, math.inf, slope, math.inf
        # the slopes at the last three points: as the first one stands the curvature there
        known, t = [(0.0, slope), (0.0, slope)], 1.0
        wide, since = math.inf, 0
        zs = [np.empty_like(z) for z in s.zs]
        for trials in range(TRIALS + 1):
            problem.look()
            if trials == TRIALS:
                # the last trial is at the farthest point that is known to lead down
                t = lo
            for z, into, dz in zip(s.zs, zs, dzs, strict=True):
                np.multiply(dz, t, out=into)
                into += z
            losses, ys = problem.losses_gradient(zs)
            if trials == TRIALS:
                break
            here = a + t * c + self._products(ys, dzs)
            steep = STEEP_AT_ONE if t == 1.0 else STEEP
            if abs(here) <= steep * abs(slope) + noise and math.isfinite(losses):
                # beyond the minimum of losses that bend at few places a small slope may lie higher than the start
                higher = of_x + losses + t * (a + 0.5 * t * c) - s.value
                if here <= noise or higher <= 8.0 * EPS * (abs(s.value) + abs(of_x)):
                    break
            if here < 0.0 and t >= self.longest and math.isfinite(losses):
                break
            before = lo, left
            if here < 0.0 and math.isfinite(losses):
                lo, left = t, here
            else:
                hi, right = t, here
            known = [*known[-2:], (t, here)]
            trial = _root_of_parabola(known, bend)
            if hi == math.inf:
                # the slope of losses that bend less and less ends beyond the secant: far from there twice as far is the better guess
                near = before[1] < 0.0 and left > NEAR * before[1]
                secant = lo - left * (lo - before[0]) / (left - before[1]) if near else 2.0 * t
                t = min(trial if trial > lo else secant, FARTHEST * t, self.longest)
                continue
            width, secant = hi - lo, lo + (hi - lo) * left / (left - right) if math.isfinite(right) else math.nan
            wide, since = (width, 0) if width <= 0.5 * wide else (wide, since + 1)
            if since >= ONE_SIDED:
                # slopes that hardly change along most of the bracket: secants come nearer from one side alone
                t = 0.5 * (lo + hi)
            elif lo + AT_END * width < trial < hi - AT_END * width:
                t = trial
            else:
                t = secant if lo + 0.1 * width < secant < hi - 0.1 * width else 0.5 * (lo + hi)
        s.x, s.zs, s.ys, s.length = s.x + t * d, zs, ys, t
        s.floor = min(1.0, 10.0 * s.floor) if t < 1.0 else max(LEAST_FLOOR, 0.1 * s.floor)
        return losses

    # --- what it says -------------------------------------------------------------------------------------------------

    def ray(self) -> tuple[Array, list[Array]] | None:
        """The way of x since zero: far out, that is the direction in which it leaves."""
        return self.state.x, [np.zeros_like(z) for z in self.state.zs]

    def report(self) -> Report:
        """P at x and the best bound so far."""
        s = self.state
        failure = "no further progress: the numbers have reached the limits of rounding" if s.still >= STILL else ""
        return Report(s.value, s.best_bound, s.phase, failure=failure)

    def candidate(self) -> tuple[Array, list[Array] | None]:
        """x and the best dual point, which meets the equalities of a few coordinates without a ridge where it missed them."""
        s = self.state
        if self._apart is not None:
            return s.x, self._levelled(s, s.ys if s.guessed else s.dual)
        return s.x, self._mended(s) if s.guessed else s.dual

    @cached_property
    def _apart(self) -> LinearMap | None:
        """The map of the coordinates without a ridge where these are many, one variable of one loss of entries, and each prediction sees one of them
        at most: the intercepts of many columns of targets. Else None."""
        blocks = [b for b in self.problem.canonical.blocks if b.size and self.free[b.start]]
        if self._free_at.size <= FEW or len(blocks) != 1 or len(self.problem.terms) != 1:
            return None
        maps = [m for b, m in self.problem.terms[0].map.parts if b is blocks[0]]
        is_apart = isinstance(self.problem.functions[0], FastLoss) and all(m.entries <= m.rows for m in maps)
        return maps[0] if len(maps) == 1 and is_apart else None

    def _levelled(self, s: NewtonState, ys: list[Array]) -> list[Array]:
        """y + f'' E t with E'(y + f'' E t) = -q for such coordinates, of which E'f'' E is a diagonal; y itself where that leaves the domain."""
        E, (h,), (y,) = self._apart, self.problem.curvatures(s.zs), ys
        assert E is not None
        bend = E.squared().adjoint(h)
        missed = E.adjoint(y) + self.problem.q[self._free_at]
        t = np.divide(missed, bend, out=np.zeros_like(missed), where=bend > 0.0)
        y = y - h * E.apply(t)
        (f,) = self.problem.functions
        assert isinstance(f, FastLoss)
        lo, hi = f.dual_bounds
        return [y] if np.all((y >= lo) & (y <= hi)) else ys

    def _mended(self, s: NewtonState) -> list[Array]:
        """y + f'' E t with E'(y + f'' E t) = -q, E the columns of the coordinates without a ridge; y itself where these are many, or where
        that leaves the domain of a conjugate. A repair of any dual point takes some ten times as long."""
        free, problem = self._free_at, self.problem
        if not 0 < free.size <= FEW:
            return s.ys
        hs = problem.curvatures(s.zs)
        bent = [problem.bent(hs, column) for column in self._few_columns]
        system = np.stack([self._on_free(of) for of in bent], axis=1)
        if not np.all(np.isfinite(system)):
            return s.ys
        # losses of classes do not change where all of them rise alike
        lengths = np.linalg.lstsq(system, -s.grad[free], rcond=1e-12)[0]
        ys = [y + sum(t * b[k] for t, b in zip(lengths, bent, strict=True)) for k, y in enumerate(s.ys)]
        for f, y in zip(problem.functions, ys, strict=True):
            if isinstance(f, FastLoss):
                lo, hi = f.dual_bounds
                inside = bool(np.all((y >= lo) & (y <= hi)))
            else:
                inside = isinstance(f, FastRows) and math.isfinite(f.conjugate(y))
            if not inside:
                return s.ys
        return ys

    @cached_property
    def _few_columns(self) -> list[list[Array]]:
        """E, the columns of the coordinates without a ridge, each as a vector for every term: no product with other columns."""
        columns = []
        for block in self.problem.canonical.blocks:
            for unit in np.eye(block.size) if block.size and self.free[block.start] else ():
                own = [[m.apply(unit) for b, m in t.map.parts if b is block] for t in self.problem.terms]
                columns.append([sum(of, np.zeros(t.map.rows)) for of, t in zip(own, self.problem.terms, strict=True)])
        return columns

    def _on_free(self, ys: Sequence[Array]) -> Array:
        """E'y."""
        out = np.zeros(self.free.size)
        for term, y in zip(self.problem.terms, ys, strict=True):
            for b, m in term.map.parts:
                if b.size and self.free[b.start]:
                    out[b.slice] += m.adjoint(y)
        return out[self._free_at]


def _common(weights: Sequence[Array]) -> float:
    """The number that all weights are; 1 where they differ."""
    (first, *others) = [(float(w.min(initial=math.inf)), float(w.max(initial=0.0))) for w in weights] or [(1.0, 1.0)]
    return first[0] if first[0] == first[1] > 0.0 and all(other == first for other in others) else 1.0


def _root_of_parabola(known: Sequence[tuple[float, float]], bend: float) -> float:
    """The t at which the parabola through three points (t, slope) rises through 0; where the first two are one, it has the slope `bend` there. NaN
    where there is none."""
    (t0, f0), (t1, f1), (t2, f2) = known
    if t2 in (t0, t1):
        return math.nan
    first = (f1 - f0) / (t1 - t0) if t1 != t0 else bend
    last = (f2 - f1) / (t2 - t1)
    curved = (last - first) / (t2 - t0)
    rise = last + (t2 - t1) * curved
    under = rise * rise - 4.0 * curved * f2
    return t2 - 2.0 * f2 / (rise + math.sqrt(under)) if under >= 0.0 and rise > 0.0 else math.nan


def _longest(y: Array, step: Array, lo: Array, hi: Array) -> float:
    """The largest t <= 1 with y + t step between the ends, a hair inside where it is less than 1."""
    ahead = y + step
    if np.all((ahead >= lo) & (ahead <= hi)):
        return 1.0
    with np.errstate(divide="ignore", invalid="ignore"):
        room = np.where(step > 0.0, (hi - y) / step, np.where(step < 0.0, (lo - y) / step, math.inf))
    t = float(np.nanmin(room, initial=math.inf))
    return 1.0 if t >= 1.0 else max(0.0, 0.999 * t)
