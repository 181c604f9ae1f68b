r"""Least squares with more rows than unknowns, on the Gram matrix.

Problem: minimise over x   sum_i f_i(K_i x + b_i) + <q, x> + sum_j R_j x_j^2 / 2   with quadratic f_i and ridges R_j >= 0, where every x_j is in an
interval, or x is in a simplex, a solid simplex or an l1 ball.

H = K'diag(f'') K + R is formed once. A step takes the gradient g at x from the data, and finds the minimum of the quadratic with this gradient and H
by block principal pivoting (`pivot`): the first step finds the optimum, a second one what the squared condition number of H took. Where that was too
much, further steps take the triangle of the data in place of H (`root`), whose condition is that of the data, and on intervals an active set that
falls from the point before. That active set also goes on where pivoting on intervals does not settle.

Bounds: y = f'(z). Where an interval has no end, -(q + K'y) must not point there: y moves by f'' K t, with H_FF t_F = the misses of the free
coordinates and a hair more; coordinates that this leads outside join them.

Complexity: O(n d^2) for H, and 1 to 20 factors of blocks of it.

Source: Kim, Park 2011; Judice, Pires 1994; the multiplier of a sum by Newton's method is our own.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np

from fwdsl.atoms.base import Array
from fwdsl.backends.active_set import Pivoted, Places, Quadratic, descended
from fwdsl.backends.dual import FITTED, dual_value, least_bound
from fwdsl.backends.functions import without_ridge
from fwdsl.backends.method import Report, Run
from fwdsl.backends.pivoting.approach import approached, lacks
from fwdsl.backends.pivoting.method import Pivoting, PivotingState
from fwdsl.backends.pivoting.pivot import Shortest, bounded, penalised, with_sum
from fwdsl.backends.problem import PreparedProblem

HAIR = 16.0
"""Rounding errors by which a dual point is moved inside."""

STILL = 3
"""Steps without any gain, after which rounding is all that is left."""

ON_GRAM = 2
"""Steps on the Gram matrix, after which the triangle of the data takes its place."""

MOST_PIVOTS = 50
"""Exchanges of block pivoting on intervals, after which an active set that falls takes its place."""

NUMBERS = 1 << 22
"""Numbers of dense data of which the triangle is made."""

JOINED = 5  # how often coordinates may join those that a dual point is moved inside along

EPS = float(np.finfo(np.float64).eps)


class PivotingRun(Run[PreparedProblem, PivotingState], of=Pivoting):
    """Block principal pivoting on a problem."""

    def __init__(self, problem: PreparedProblem) -> None:
        super().__init__(problem)
        blocks = problem.canonical.blocks
        self.ridge = np.concatenate([np.full(b.size, b.g.curvature) for b in blocks])
        self.budget = without_ridge(blocks[0].g).budget()
        self.lo, self.hi = np.zeros(problem.size), np.full(problem.size, math.inf)
        if self.budget is None:
            for block in blocks:
                entries = block.g.entries()
                assert entries is not None
                self.lo[block.slice], self.hi[block.slice] = entries.lo, entries.hi
        self.open = self.budget is None and bool(np.any((np.isinf(self.lo) | np.isinf(self.hi)) & (self.ridge == 0.0)))

    @property
    def _signed(self) -> bool:
        """True if the sum of sizes is bounded."""
        return self.budget is not None and self.budget.signed

    @cached_property
    def bends(self) -> list[Array]:
        """f'', which is constant."""
        return self.problem.curvatures([np.zeros(t.map.rows) for t in self.problem.terms])

    @cached_property
    def gram(self) -> Array:
        """H."""
        H = self.problem.gram(np.arange(self.ridge.size), self.bends)
        np.einsum("ii->i", H)[:] += self.ridge
        return H

    @cached_property
    def rows(self) -> Array | None:
        """M with H = M'M + R, dense; None where it would be too large."""
        d = self.ridge.size
        if d * (d + sum(t.map.rows for t in self.problem.terms)) > NUMBERS:
            return None
        roots = np.concatenate([np.sqrt(h) for h in self.bends])
        return np.array([np.concatenate(self.problem.linear(e)) * roots for e in np.eye(d)]).T

    @cached_property
    def root(self) -> Array | None:
        """The triangle T with H = T'T, of M and the ridges."""
        if self.rows is None:
            return None
        self.problem.look()
        return np.asarray(np.linalg.qr(np.vstack([self.rows, np.diag(np.sqrt(self.ridge))]), mode="r"))

    @cached_property
    def least(self) -> tuple[float, float]:
        """D(0), and what x = 0 has beyond it."""
        return least_bound(self.problem)

    # --- the start ----------------------------------------------------------------------------------------------------

    def begin(self, x: Array, ys: Sequence[Array] | None) -> PivotingState:
        """The projection of x on the set."""
        x = self.problem.prox_g(x, 0.0)
        state = PivotingState(0, x, [], [], np.zeros(0), self._places(x), 0.0, 0.0, -math.inf, [], 0, False)
        self._arrive(state, None)
        if self.budget is not None and x.any():
            state.nu = -float(np.abs(x) @ (np.sign(x) * state.grad)) / float(np.abs(x).sum())
        elif self._signed:
            # from x = 0: where the first coordinates are in, and far from all
            state.nu = 0.5 * float(np.abs(state.grad).max(initial=0.0))
        return state

    def _arrive(self, s: PivotingState, found: Pivoted | None) -> None:
        """Predictions, value, gradient and bound at x."""
        problem = self.problem
        s.z = problem.forward(s.x)
        _, s.ys = problem.losses_gradient(s.z)
        kty = problem.adjoint(s.ys)
        s.grad = kty + problem.q + self.ridge * s.x
        s.value = problem.objective(s.x, s.z)
        ys = s.ys
        if found is not None and found.factor is not None and self.budget is None:
            ys, kty = self._moved_inside(s, found, kty)
        bound = dual_value(problem, ys, kty)
        if self.open:
            # what v misses, the verifier may repair: the bound lacks at least that much, and of several points the latest is the one to repair
            bound = (
                bound - lacks(self.lo, self.hi, self.ridge, s.x, -(problem.q + kty)) if found is not None else -math.inf
            )
        if bound > s.best_bound or self.open:
            s.best_bound, s.dual = bound, ys
        if self.open and self.least[0] >= s.best_bound and s.value - self.least[0] <= FITTED * self.least[1]:
            # of a perfect fit y is rounding, and y = 0 needs no repair
            s.best_bound, s.dual = self.least[0], [np.zeros_like(y) for y in ys]

    def _moved_inside(self, s: PivotingState, found: Pivoted, kty: Array) -> tuple[list[Array], Array]:
        """y + f'' K t and its K'y, which the ends that intervals lack allow."""
        assert found.factor is not None
        problem, free = self.problem, found.free
        v = -(problem.q + kty)
        up, down = np.isinf(self.hi), np.isinf(self.lo)
        hair = HAIR * self._rounding(s.ys)
        if s.precise:
            return self._projected(s, found, kty, hair)
        change = np.where(
            up & down, v, np.where(up, np.maximum(v + hair, 0.0), np.where(down, np.minimum(v - hair, 0.0), 0.0))
        )
        change[self.ridge > 0.0] = 0.0
        if not change[free].any():
            return s.ys, kty
        t = np.zeros_like(s.x)
        t[free] = found.factor.solve(change[free])
        ys = [y + step for y, step in zip(s.ys, problem.bent(self.bends, problem.linear(t)), strict=True)]
        return ys, problem.adjoint(ys)

    def _projected(self, s: PivotingState, found: Pivoted, kty: Array, hair: Array) -> tuple[list[Array], Array]:
        """y with q + K_F'y = 0 but for a hair, by the shortest step in sqrt(f'').

        No t is formed, whose size the condition squares. Coordinates that this leads outside join the free ones in F.
        """
        assert self.rows is not None
        plain, up, down = self.ridge == 0.0, np.isinf(self.hi), np.isinf(self.lo)
        inward = hair * np.where(up == down, 0.0, np.where(up, 1.0, -1.0))
        joined = np.isin(np.arange(s.x.size), found.free) & plain
        roots, ys = [np.sqrt(h) for h in self.bends], s.ys
        ends = np.cumsum([r.size for r in roots])[:-1]
        shortest: Shortest | None = None
        for _ in range(JOINED):
            v = -(self.problem.q + kty)
            outside = ((up & (v > 0.0)) | (down & (v < 0.0))) & plain
            if not (joined | outside).any() or (shortest is not None and not outside.any()):
                break
            if shortest is None or (outside & ~joined).any():
                joined |= outside
                self.problem.look()
                shortest = Shortest.of(self.rows[:, joined])
            step = None if shortest is None else shortest.step((v + inward)[joined])
            if step is None or not np.all(np.isfinite(step)):
                break
            ys = [y + r * part for y, r, part in zip(ys, roots, np.split(step, ends), strict=True)]
            kty = self.problem.adjoint(ys)
        return ys, kty

    def _rounding(self, ys: list[Array]) -> Array:
        """A bound on the rounding of the entries of K'y."""
        size = sum(float(np.square(y) @ (1.0 / np.where(h > 0.0, h, 1.0))) for y, h in zip(ys, self.bends, strict=True))
        return np.asarray(EPS * math.sqrt(size) * np.sqrt(np.maximum(np.einsum("ii->i", self.gram), 0.0)))

    def _quadratic(self, s: PivotingState) -> Quadratic:
        """The quadratic of a step from x, with the root where the Gram matrix did not do; on intervals it is one of d, x + d being the next point."""
        look, gram = self.problem.look, self.gram
        if not s.precise or self.root is None:
            return Quadratic(gram, gram @ s.x - s.grad, look)
        if self.budget is None:
            return Quadratic(gram, -s.grad, look, self.root, self._rounding(s.ys))
        return Quadratic(gram, self.root.T @ (self.root @ s.x) - s.grad, look, self.root)

    # --- a step -------------------------------------------------------------------------------------------------------

    def step(self) -> None:
        """The minimum of the quadratic with H and the gradient at x."""
        s, problem = replace(self.state), self.problem
        s.iteration += 1
        before = s.value, s.best_bound
        s.precise = s.precise or (s.iteration > ON_GRAM and self.root is not None)
        plain = s.places, s.nu
        if s.iteration == 1 and self.budget is not None:
            x, s.nu = approached(self.gram, s.x, s.grad, s.nu, lambda v: problem.prox_g(v, 0.0), problem.look)
            s.places = self._places(x)
        found = self._minimum(self._quadratic(s), s)
        if found is None and s.places is not plain[0]:
            s.places, s.nu = plain
            found = self._minimum(self._quadratic(s), s)
        if found is None and not s.precise and self.root is not None:
            s.precise = True
            found = self._minimum(self._quadratic(s), s)
        if found is None or not np.all(np.isfinite(found.x)):
            s.lost = True
        else:
            s.x, s.places = problem.prox_g(found.x, 0.0), found.places
            self._arrive(s, found)
        gained = s.value < before[0] or s.best_bound > before[1]
        s.still = 0 if gained else s.still + 1
        vars(self.state).update(vars(s))

    def _places(self, x: Array) -> Places:
        if self._signed:
            return np.sign(x).astype(np.int8)
        return np.where(x <= self.lo, -1, np.where(x >= self.hi, 1, 0)).astype(np.int8)

    def _minimum(self, quadratic: Quadratic, s: PivotingState) -> Pivoted | None:
        """The minimum of the quadratic on the set; None where pivoting does not end."""
        if self.budget is None and quadratic.root is not None:
            return self._descended(quadratic, s)
        if self.budget is None:
            found = bounded(quadratic, self.lo, self.hi, s.places, most=MOST_PIVOTS)
            near = Quadratic(quadratic.H, -s.grad, quadratic.look, noise=self._rounding(s.ys))
            return found or self._descended(near, s)

        def inner(nu: float, places: Places, most: int) -> Pivoted | None:
            if self._signed:
                return penalised(quadratic, nu, places, most)
            return bounded(quadratic, self.lo, self.hi, places, nu, most)

        least = -math.inf if self.budget.exact else 0.0
        last = with_sum(quadratic, self.budget.r, inner, s.nu, s.places, least)
        if last is None:
            return None
        s.nu = last[1]
        return last[0]

    def _descended(self, quadratic: Quadratic, s: PivotingState) -> Pivoted | None:
        """The minimum of a quadratic of the step from x, by an active set that falls."""
        found = descended(quadratic, self.lo - s.x, self.hi - s.x, s.places)
        if found is None:
            return None
        x = np.where(found.places < 0, self.lo, np.where(found.places > 0, self.hi, s.x + found.x))
        return replace(found, x=x)

    # --- what it says -------------------------------------------------------------------------------------------------

    def ray(self) -> tuple[Array, list[Array]] | None:
        """The way of x since zero: far out, that is the direction in which it leaves."""
        return self.state.x, [np.zeros_like(z) for z in self.state.z]

    def report(self) -> Report:
        """P at x and the best bound so far."""
        s = self.state
        failure = ""
        if s.lost:
            failure = "the active set does not settle"
        elif s.still >= STILL:
            failure = "no further progress: the numbers have reached the limits of rounding"
        return Report(s.value, s.best_bound, s.phase, failure=failure)

    def candidate(self) -> tuple[Array, list[Array] | None]:
        """x and the best dual point, which there is none of where numbers overflow."""
        return self.state.x, self.state.dual or None
