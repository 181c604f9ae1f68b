r"""A primal-dual interior-point method on the homogeneous embedding of the conic program (`program`):

    minimise  v'P v / 2 + <c, v>   subject to   A v + s = b,  s in K

    P v + A'z + tau c = 0,   A v + s - tau b = 0,   kappa + <c, v> + <b, z> + v'P v / tau = 0,   s in K, z in K*, tau, kappa >= 0

A point with tau > 0 gives the solution v / tau, z / tau; one with tau = 0 proves that the program is infeasible or unbounded. A step is that of
Mehrotra's predictor and corrector in the scaling of Nesterov and Todd, or Tuncel's where a cone is not symmetric. Both need one factorisation:

    S d1 = the residuals,   S d2 = (-c, b),   d = d1 + dtau d2,   S = [P A'; A -W'W], in the scaled multipliers W dz (`system`)

The program is scaled to entries of about one (`equilibrated`), so units do not count. The first point has slacks of least squares, or is the middle
of all cones where some are not symmetric (`nonsymmetric`). 10 to 20 steps.

Sources: Goulart, Chen, "Clarabel: an interior-point solver for conic programs with quadratic objectives", 2024 (embedding with P, sections 2 to
4); Vandenberghe, "The CVXOPT linear and quadratic cone program solvers", 2010 (cones); Andersen, Roos, Terlaky 2003 (second-order cones);
Dahl, Andersen 2022 (exponential cones).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from copy import copy
from dataclasses import replace
from functools import cache, cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.blas import idamax
from scipy.sparse import csr_array

from fwdsl.atoms.base import Array
from fwdsl.atoms.vector_loss import VectorLossFunction
from fwdsl.atoms.vectors.common import largest
from fwdsl.backends.interior.cones import KINDS, Cones, Scalings, Symmetric
from fwdsl.backends.interior.directions import Direction, Linearised, Missed, scalings_at
from fwdsl.backends.interior.faces import faced
from fwdsl.backends.interior.method import Interior
from fwdsl.backends.interior.presolve import ROUNDING, presolved
from fwdsl.backends.interior.program import ORDER, ConicProgram, equilibrated, levels, scaled
from fwdsl.backends.interior.quasidefinite import pattern_of
from fwdsl.backends.interior.separate import Separate
from fwdsl.backends.interior.sizes import size_of
from fwdsl.backends.interior.state import InteriorState
from fwdsl.backends.interior.step_loops import embed, measure, move
from fwdsl.backends.interior.system import HARMLESS, Systems, least_change
from fwdsl.backends.kernels.compile import Function, kernel
from fwdsl.backends.kernels.pool import Stopped
from fwdsl.backends.method import Report, Run
from fwdsl.backends.problem import PreparedProblem
from fwdsl.backends.sparse_rows import Rows
from fwdsl.canon.maps import by_rows

NEARLY = 0.99
"""The share of the way to the boundary of the cones that a step takes."""

SHORTEST, ENOUGH = 1e-6, 2
"""A step shorter than this, as a share of the whole one, does not move the point; so many in a row end the run."""

MEETS = 5.0
"""The size of what meets in a column at the first multipliers of a linear program, from which on they are taken for too small."""

LAME = 0.1
"""A step near the solution that is shorter than this share of the whole one has a direction of few digits, whatever its residual says: the system
that pivots takes over."""

GROWN, SEEN = 10.0, 1e-2
"""A step leaves a share of what the equations of the rows missed before it. Where steps near the solution make it so many times larger, to more than
that beside the slacks, their directions have few digits too: what they spoil lies where multipliers vanish, so no gap tells."""

PATIENCE, LONG_PATIENCE = 25, 60
"""Steps after which a run begins anew, in the units of the solution as far as it is known: the second where it would gain little by that, as these
are nearly its own units, or as its steps are long."""

SPAN, STEADY = 10, 0.1
"""Steps from one look to the next at whether such a run goes on, and the share of its gap that is then left at most where it does."""

ALIKE = 10.0
"""The ratio of units, either way, up to which they are nearly the same."""

WORN = 1e-16
"""Complementary products beside tau^2 down to which a long run goes on: below, rounding is what holds it up."""

LONG = 0.5
"""The share of the whole step from which on steps are long: each brings the gap down to half at least."""

ANEW = 2
"""The number of times that it does so."""

DEAR = 0.2
"""Seconds of a step's system beyond which it does not take over where a run begins anew: its digits are worth less than that."""

CORRECTIONS = 2
"""Corrections of a point near the solution."""

SHORT = 1e-3
"""The length of the step that sharpens a point, as a share of its size."""

CLOSE, ACTIVE = 1e-4, 500
"""Complementary products beside tau^2 from which on active rows are told, and how many of them a point is moved onto at most."""

ROUGH = 1e-3
"""The gap beside P down to which a report is of the embedding's point as it is, where the gap that the run is to end with is not known: a point
that is far from the end is worth no products."""

SHARE, NEAR = 1.0, 1e-8
"""The multiple of the gap that a sharpened point may cost, and the relative violation that it may have."""

CALLS, MIXED = {"whole": 1.5e-4, "condensed": 2.4e-4, "reduced": 4e-4, "sparse": 1e-3}, 7e-4
"""Seconds that the calls of a step's system take where it has no pattern of its own, by its kind, whatever its size; and those that reduced ones
take more where scalings mix rows."""

VANISHED = 1e-8
"""tau beside kappa from which on the embedding's point looks like a ray."""

NOTHING = 1e-26
"""Complementary products beside tau^2 from which on further steps say nothing."""


def _peak(v: Array) -> float:
    """The largest size of an entry, for numbers of which none is NaN: BLAS takes a quarter of NumPy's time for a few."""
    return abs(float(v[idamax(v)])) if v.size else 0.0


_Point = tuple[Array, Array, Array]
"""v, z and s."""


class _Loops(NamedTuple):
    """The compiled kernels of a step."""

    measure: Function
    embed: Function
    move: Function


@cache
def _loops() -> _Loops:
    return _Loops(*(kernel(f, reorder=True) for f in (measure, embed, move)))


def _largest_sum(A: csr_array, sizes: Array, first: int) -> float:
    """The largest entry of |A|'sizes, over the rows from the first one on."""
    rows = A.indptr[first:]
    sums = np.bincount(A.indices[rows[0] :], np.abs(A.data[rows[0] :]) * np.repeat(sizes[first:], np.diff(rows)), 1)
    return float(sums.max())


def _written_rows(A: csr_array, rows: NDArray[np.intp]) -> Array:
    """Some rows of a sparse matrix, written out: for a few SciPy takes ten times as long to find them."""
    first, counts = A.indptr[rows], np.diff(A.indptr)[rows]
    at = np.arange(int(counts.sum())) + np.repeat(first - (np.cumsum(counts) - counts), counts)
    out = np.zeros((rows.size, A.shape[1]))
    out[np.repeat(np.arange(rows.size), counts), A.indices[at]] = A.data[at]
    return out


class _MeasuredPoint(NamedTuple):
    """A point and a dual point of the problem, P, the largest relative violation, what it may hide, the bound, and the point before it was sharpened,
    where it was and misses constraints."""

    x: Array
    ys: list[Array]
    value: float
    infeasibility: float
    hidden: float
    bound: float
    plain: Array | None = None


class InteriorRun(Run[PreparedProblem, InteriorState], of=Interior):
    """One run of the interior-point method."""

    def __init__(self, problem: PreparedProblem) -> None:
        super().__init__(problem)
        self.start: tuple[Array, list[Array]] | None = None  # a start from a solution
        self.linear: tuple[InteriorState, int, Linearised] | None = None  # that of a state at an iteration
        self.known: tuple[InteriorState, int, _MeasuredPoint] | None = None  # the point of a state at an iteration
        self.alone: tuple[Array, list[Array]] | None = None  # what `feasibility` has found
        # what systems miss at a point (v, z) and tau
        self.measured: tuple[Systems, Array, Array, float, Missed] | None = None
        problem.writes_down = True
        program = self.program = presolved(faced(ConicProgram.of(problem.canonical, problem.look)), problem.look)
        self.d, self.e = equilibrated(program, problem.look)
        at = program.logarithms
        #: How far the units of arguments move logarithms, and v with them: v is that of the scaled program plus the offset.
        self.logs = np.log(self.e[at + 2] / self.e[at])
        self.offset, held = program.moved_by(at, self.logs * program.b[at + 1])
        #: What the offset adds to the objective.
        self.of_offset = float(program.c @ self.offset)
        c, b = self.d * program.c, self.e * (program.b + held)
        self.A = scaled(program.A, self.e, self.d)
        problem.look()
        P = program.P
        P = self.d[:, None] * P * self.d if isinstance(P, np.ndarray) else scaled(P, self.d, self.d)
        problem.look()
        self.levels = levels(P.diagonal(), c, b)
        self.unlevelled = P, c, b
        #: Whether there are no squares, and no cones but intervals.
        self.is_linear = program.is_linear and not (P.any() if isinstance(P, np.ndarray) else P.data.any())
        problem.look()
        size = size_of(problem.canonical)
        self.kind, self.seconds = size.kind, size.seconds
        chained = self.kind == "sparse" and not program.equations and any(p.form.owned for p in program.parts)
        self.separates = self.kind == "reduced" or chained
        # a chain's narrow band has kernels that are faster still
        mixes = self.kind == "reduced" and any(k.kind not in ORDER[:2] for k in program.batches)
        allowed = size.seconds + CALLS[self.kind] + (MIXED if mixes else 0.0)
        look = problem.look
        unordered = chained or size.fills
        self.pattern = None if unordered else pattern_of(P, self.A, program.batches, allowed, look)
        self._level(*self.levels)
        self.batches = program.batches
        self.cones = Cones.of(program.batches)
        self.degree = 1 + self.cones.degree

    def _level(self, of_c: float, of_b: float) -> None:
        """The program with c and b times these factors, in which v and z are as many times b's and c's as large."""
        P, c, b = self.unlevelled
        self.of_c, self.of_b = of_c, of_b
        share = of_c / of_b
        self.P = share * P if isinstance(P, np.ndarray) else by_rows(share * P.data, P.indices, P.indptr, P.shape)
        self.c, self.b = of_c * c, of_b * b
        look = self.problem.look
        self.systems = Systems(self.P, self.A, self.program.batches, self.kind, self._separate, look, self.pattern)

    def _separate(self) -> Separate | None:
        return Separate.of(self.program, self.A, self.d, self.e) if self.separates else None

    def begin(self, x: Any, ys: Sequence[Array] | None) -> InteriorState:
        """The middle of the cones: a method of this kind does not gain by a start. The given point is the first candidate nonetheless."""
        self.start = (np.asarray(x), list(ys)) if x is not None and ys is not None else None
        unit = self.cones.unit()
        return InteriorState(0, np.zeros(self.c.size), unit.copy(), unit, 1.0, 1.0, *self.levels)

    # --- a step -------------------------------------------------------------------------------------------------------

    def step(self) -> None:
        """One step, or the end where rounding leaves no direction."""
        self.problem.look()
        self._take_factors()
        now = self.state
        near, before = self._is_near(), self._gap()
        if near and self.pattern is not None:
            now.missed = min(now.missed, self._missed_rows()[0])
        length = 0.0
        try:
            length = self._step()
            # near the end each step is long and brings the gap down, unless the factor has lost more digits than its residuals tell
            loses = self.pattern is not None and near and (length < LAME or self._gap() > before or self._misses_more())
            now.filled = now.filled or loses
        except (np.linalg.LinAlgError, ZeroDivisionError):
            self.linear = None
            if self.pattern is not None:
                now.filled = True
            else:
                now.short = ENOUGH
                now.iteration += 1
        if now.levelled < ANEW and (self._is_slow(length) or self._ended()):
            self._begin_anew()
        elif (now.steps - PATIENCE) % SPAN == 0:
            now.lately = self._gap()

    def _misses_more(self) -> bool:
        """True if the equations of the rows miss many times the least that they missed near the solution, and more than rounding."""
        missed, size = self._missed_rows()
        return missed > GROWN * self.state.missed and missed > SEEN * size

    def _missed_rows(self) -> tuple[float, float]:
        """The most that an equation of the rows misses, and the largest term of these, both divided by tau."""
        _, _, _, _, _, _, _, missed, terms, slacks = self._missed().sizes
        return missed / self.state.tau, max(terms, slacks) / self.state.tau

    def _take_factors(self) -> None:
        """Scale the program by the factors of the state, and take the systems that it says, which a resumed one brings with it."""
        now = self.state
        given_up = now.filled and self.pattern is not None
        if given_up:
            self.pattern = None
        if given_up or (now.of_c, now.of_b) != (self.of_c, self.of_b):
            self._level(now.of_c, now.of_b)
            self.linear = None

    def _is_slow(self, length: float) -> bool:
        """True after so many steps, the last of this length, that other units would need fewer."""
        steps = self.state.steps
        if steps < PATIENCE:
            return False
        if steps >= LONG_PATIENCE or self._is_near(WORN):
            return True
        if (steps - PATIENCE) % SPAN or self._gap() <= STEADY * self.state.lately:
            return False
        return length < LONG and not all(1.0 / ALIKE <= share <= ALIKE for share in self._sizes())

    def _sizes(self) -> tuple[float, float]:
        """The factors that bring the largest unknown and the largest multiplier of the solution, as far as it is known, to one."""
        now = self.state
        return now.tau / max(_peak(now.v), 1e-300), now.tau / max(_peak(now.z), 1e-300)

    def _begin_anew(self) -> None:
        """Begin anew with factors that bring the solution, as far as it is known, to about one.

        Where it is far away tau is small, and so is what rounding leaves of it.
        """
        now = self.state
        of_v, of_z = self._sizes()
        of_b, of_c = now.of_b * of_v, now.of_c * of_z
        fresh = self.begin(None, None)
        filled = now.filled or self.seconds <= DEAR
        fresh = replace(fresh, iteration=now.iteration, of_c=of_c, of_b=of_b, levelled=now.levelled + 1, filled=filled)
        # the same object: a checkpoint has it
        vars(now).update(vars(fresh))
        self.known = None

    def _step(self) -> float:
        """Predictor, corrector, and the longest step that stays in the interior; its length, as a share of the whole one."""
        now = self.state
        if now.steps == 0:
            self._first_point()
        scalings, system, missed, right = self._linearised()
        self.linear = None
        tau, kappa, left, loop = now.tau, now.kappa, missed.left, _loops().embed
        curved, of_c, of_b, products, size = missed.sizes[:5]
        middle = kappa + of_c + of_b + curved / tau
        products += tau * kappa
        b = scalings.inverse_t(self.b)
        # what is missed by dv'P + .. adds to the gap by no more than its largest entry times |v|_1
        harmless = HARMLESS * products / max(size, 1e-300)
        along = system(-self.c, b, harmless)
        slope = 2.0 / tau * missed.Pv + self.c
        pivot = kappa / tau + curved / tau**2 - float(slope @ along[0]) - float(b @ along[1])

        def direction(share: float, turned: Array, product: float) -> Direction:
            """The direction of the residuals times `share`, with W^-T ds + W dz = -turned and kappa dtau + tau dkappa = -product."""
            v, u = system(-share * left, turned - share * right, harmless)
            s = np.empty(u.size)
            moved = loop(share, middle, product, pivot, tau, kappa, slope, b, *along, turned, v, u, s)
            return Direction(scalings, v, u, s, *moved)

        affine = direction(1.0, scalings.lam, tau * kappa)
        reach = min(1.0, affine.reach(tau, kappa))
        sigma = (1.0 - reach) ** 3
        mu = sigma * products / self.degree
        turned = scalings.corrected(affine, mu)
        found = direction(1.0 - sigma, turned, tau * kappa + affine.tau * affine.kappa - mu)
        if scalings.matrices and self._is_near():
            self._keep_rows(scalings, found.ds, found.v, found.tau * self.b - (1.0 - sigma) * missed.rows)
        length = min(1.0, NEARLY * found.reach(tau, kappa))
        return self._tried(found, length) if system.is_poor else self._move(found, length)

    def _tried(self, d: Direction, length: float) -> float:
        """Move as `_move` does where that brings the gap down and loses nothing else, and raise `LinAlgError` where it does not.

        A right-hand side that an answer misses by more than rounding tells of a poor factor, and may still be met well enough.
        """
        now = self.state
        before, gap, missed = now.copied(), self._gap(), self._missed().largest
        length = self._move(d, length)
        pairs = zip(self._missed().largest, missed, strict=True)
        kept = all(after * before.tau <= most * now.tau for after, most in pairs)
        if not (kept and self._gap() < (1.0 - LAME) * gap):
            vars(now).update(vars(before))
            raise np.linalg.LinAlgError("the factor has lost too many digits")
        return length

    def _linearised(self) -> Linearised:
        """The system at the state's point and what its equations miss; a candidate and the step after it ask for the same."""
        self._take_factors()
        now = self.state
        if self.linear is None or self.linear[0] is not now or self.linear[1] != now.iteration:
            scalings = scalings_at(self.cones, now.s, now.z)
            system = self.systems.at(self.batches, scalings)
            # a factorisation may be long, and the state has not changed yet
            self.problem.look()
            missed = self._missed()
            self.linear = now, now.iteration, Linearised(scalings, system, missed, scalings.inverse_t(missed.rows))
        return self.linear[2]

    def _missed(self) -> Missed:
        """The residuals of the equations at the state, which a report and the step after it ask for."""
        now, known = self.state, self.measured
        if (
            known is None
            or known[0] is not self.systems
            or known[1] is not now.v
            or known[2] is not now.z
            or known[3] != now.tau
        ):
            known = self.measured = self.systems, now.v, now.z, now.tau, self._measures(now.v, now.z, now.s)
        return known[4]

    def _measures(self, v: Array, z: Array, s: Array) -> Missed:
        """The same at a point with the state's tau."""
        systems = self.systems
        Pv, (Av, Az) = systems.of_P(v), systems.known(v, z)
        left, rows = np.empty(v.size), np.empty(z.size)
        sizes = _loops().measure(*systems.by_rows, v, z, s, self.state.tau, self.c, self.b, Pv, Av, Az, left, rows)
        return Missed(left, rows, Pv, Av, Az, sizes)

    def _corrected(self) -> tuple[Array, Array]:
        """v and z without what the equations miss, where the cones have room for that.

        Residuals and multipliers of rows that are not active shrink alike, so the signs of the slopes would be right at the very end alone. What the
        first correction leaves is next to rounding; the second one takes most of that.
        """
        now = self.state
        point = now.v, now.z, now.s
        try:
            for again in range(CORRECTIONS if now.steps else 0):
                missed = self._measures(*point) if again else self._missed()
                nearer = None if missed.is_exact else self._nearer(point, missed, again > 0)
                if nearer is None:
                    break
                point = nearer
        except (np.linalg.LinAlgError, ZeroDivisionError):
            pass
        return point[:2]

    def _nearer(self, point: _Point, missed: Missed, asks: bool) -> _Point | None:
        """A point (v, z, s) less what its equations miss; None where the cones have no room, or with `asks` where it misses no less."""
        at = self._linearised()
        dv, u = at.system(-missed.left, -at.scalings.inverse_t(missed.rows))
        # what is missed may be as small as rounding, which a step does not mind
        asks, at.system.is_poor = asks or at.system.is_poor, False
        dz, ds = at.scalings.inverse(u), -at.scalings.wt(u)
        if at.scalings.matrices:
            self._keep_rows(at.scalings, ds, dv, -missed.rows)
        # equations have no slack
        ds[: self.systems.equations] = 0.0
        v, z, s = point
        still, not_moved = np.zeros(dv.size), np.zeros(u.size)
        # without curvature neither side asks anything of the other
        ways = [(dv, dz, ds)] if self.systems.of_P(dv).any() else [(dv, not_moved, ds), (still, dz, not_moved)]
        taken = [way for way in ways if self._has_room(point, way, missed if asks else None)]
        for change_v, change_z, change_s in taken:
            v, z, s = v + change_v, z + change_z, s + change_s
        return (v, z, s) if taken else None

    @cached_property
    def _rows(self) -> Rows:
        return Rows(self.A)

    def _keep_rows(self, scalings: Scalings, ds: Array, dv: Array, right: Array) -> None:
        """Give ds of cones of matrices what the equations A dv + ds = right ask for: near the end W' of a scaled one has few digits of that."""
        left = right - self._rows @ dv
        for k in scalings.matrices:
            ds[k.place] = left[k.place]

    def _has_room(self, point: _Point, change: _Point, missed: Missed | None) -> bool:
        """True if a point may move by this change, and where `missed` is given, to one that misses its equations by no more."""
        v, z, s = (np.empty(a.size) for a in point)
        if not _loops().move(1.0, 1.0, *self.cones.symmetric[:2], *point, *change, v, z, s):
            return False
        if not self.cones.inside(s, z):
            return False
        if missed is None:
            return True
        pairs = zip(self._measures(v, z, s).largest, missed.largest, strict=True)
        return all(after <= most for after, most in pairs)

    def _first_point(self) -> None:
        """v with the least v'P v / 2 + <c, v> + |b - A v|^2 / 2, s = b - A v and z = -s, moved into the cones by a multiple of their units.

        The units of cones that are not symmetric are on no line into them: then the run begins in the middle.

        From multipliers much smaller than the solution's steps stay short. A linear program's are about as large as what meets in a column, of the
        z of least length: c is made smaller until that is one.
        """
        now = self.state
        if not all(KINDS[k.kind].symmetric for k in self.batches if k.kind in KINDS):
            return
        system = self.systems.at(self.batches, scalings_at(self.cones, now.s, now.z))
        self.problem.look()
        v, u = system(-self.c, self.b)
        if self.is_linear and now.levelled == 0:
            met = _largest_sum(self.A, np.abs(u), self.systems.equations)
            if math.isfinite(met) and met > MEETS:
                now.of_c = self.of_c = self.of_c / met
                self.c = self.of_c * self.unlevelled[1]
                v, u = system(-self.c, self.b)
        s, z = -u, u.copy()
        for batch in self.batches:
            at = slice(batch.start, batch.stop)
            if batch.kind not in KINDS:
                s[at] = 0.0
                continue
            kind = KINDS[batch.kind]
            assert issubclass(kind, Symmetric)
            for rows in (s, z):
                outside = -kind.depth(batch, rows[at])
                if outside >= 0.0:
                    rows[at] += (1.0 + outside) * kind.unit(batch)
        if np.isfinite(v).all() and np.isfinite(s).all():
            now.v, now.s, now.z = v, s, z

    def _move(self, d: Direction, length: float) -> float:
        """Move the state, by less where rounding would leave the interior, and bring its size back to one; the length of the step."""
        now, step = self.state, _loops().move
        at = *self.cones.symmetric[:2], now.v, now.z, now.s, d.v, d.dz, d.ds
        v, z, s = np.empty(now.v.size), np.empty(now.z.size), np.empty(now.s.size)
        for _ in range(40):
            tau, kappa = now.tau + length * d.tau, now.kappa + length * d.kappa
            size = max(tau, kappa)
            if tau > 0.0 and kappa > 0.0 and step(length, size, *at, v, z, s):
                mu = (float(s @ z) + tau * kappa / size**2) / self.degree
                if self.cones.inside(s, z) and self.cones.central(s, z, mu):
                    break
            length *= 0.8
        else:
            length = 0.0
            size, tau, kappa = max(now.tau, now.kappa), now.tau, now.kappa
            step(0.0, size, *at, v, z, s)
        now.v, now.z, now.s, now.tau, now.kappa = v, z, s, tau / size, kappa / size
        now.short = now.short + 1 if length < SHORTEST else 0
        now.steps += 1
        now.iteration += 1
        return length

    def _ended(self) -> str:
        """The reason why further steps say nothing; "" while they may say something."""
        now = self.state
        if now.tau < VANISHED**2 * now.kappa:
            return "the iterates leave for infinity, and no direction of theirs proves that there is no solution"
        nothing = float(now.s @ now.z) + now.tau * now.kappa < NOTHING * now.tau**2
        return "the numbers have reached the limits of rounding" if nothing or now.short >= ENOUGH else ""

    # --- what it knows ------------------------------------------------------------------------------------------------

    def _unscaled(self, v: Array, z: Array, tau: float, share: float = 1.0) -> tuple[Array, Array]:
        """v and z of the program, divided by tau; `share` of what its logarithms' units have moved v by."""
        z = z / tau / self.state.of_c
        at = self.program.logarithms
        z[at + 1] += self.logs * z[at]
        return self.d * v / tau / self.state.of_b + share * self.offset, self.e * z

    def report(self) -> Report:
        """P at the point, and the dual value of the embedding, which is a bound once its residuals vanish."""
        now = self.state
        failure = self._ended() if now.levelled == ANEW else ""
        leaves = now.tau < VANISHED * now.kappa
        known = now.steps or self.start is None  # a given point is worth the measures of a candidate
        if known and not (failure or leaves):
            rough = self._roughly()
            gap, size = rough.objective - rough.bound, abs(rough.objective)
            tol = self.problem.tol
            # of an objective that vanishes no gap is small: products alone tell; of a run that begins anew every point may be the best
            early = tol is not None and gap > tol * size and not (now.levelled or self._is_near(CLOSE * CLOSE))
            if early or (gap > ROUGH * size and not self._is_near()):
                return rough
        found = self._point()
        return Report(found.value, found.bound, "interior", found.infeasibility, failure, found.hidden, leaves)

    def _roughly(self) -> Report:
        """P and the violation of the embedding's point as it is, which no verifier is asked about yet."""
        now = self.state
        scale = now.tau * self.of_c * self.of_b
        curved, of_c, _, _, _, _, _, missed, of_v, of_s = self._missed().sizes
        value = (0.5 * curved / now.tau + of_c) / scale
        value += self.program.constant + self.of_offset
        size = max(of_v, of_s)
        share = min(1.0, missed / size) if size > 0.0 else 0.0
        return Report(value, value - max(self._gap(), 0.0), "interior", share)

    def candidate(self) -> tuple[Array, list[Array]]:
        """v / tau in the blocks' domains, sharpened where that costs nothing, and the slopes at z / tau. It is as it is where the run is to end."""
        try:
            found = self._point()
        except Stopped:
            found = self._worked_out(near=False)
        return found.x, found.ys

    def spare(self) -> Array | None:
        """The point before it was sharpened: within the cones, but for what the equations miss."""
        known = self.known
        return None if known is None or known[:2] != (self.state, self.state.iteration) else known[2].plain

    def _gap(self) -> float:
        """<s, z> / tau^2, the gap of the program."""
        now = self.state
        return float(now.s @ now.z) / now.tau / now.tau / now.of_c / now.of_b

    def _point(self) -> _MeasuredPoint:
        """The point of the state, which is worked out once an iteration."""
        now = self.state
        if self.known is None or self.known[0] is not now or self.known[1] != now.iteration:
            self.known = now, now.iteration, self._worked_out(self._is_near())
        return self.known[2]

    def _worked_out(self, near: bool) -> _MeasuredPoint:
        """The point in the units of the problem, and its measures.

        An interior point has no exact zeros and bounds. Moved onto the rows that are active, and then by a short step of the proximal gradient at the
        dual point, it has. Where it is `near` the solution that point is taken if it is no worse, beside the gap.
        """
        if self.start is not None and self.state.iteration == 0:
            found = self._measured(*self.start)
            # only the verifier knows its bound
            return found._replace(bound=found.value)
        v, z = self._unscaled(*(self._corrected() if near else (self.state.v, self.state.z)), self.state.tau)
        ys = self.program.multipliers(v, z)
        gap = max(self._gap(), 0.0)
        plain = self._measured(self._taken_back(self.problem.prox_g(self.program.point(v), 0.0, seldom=True)), ys)
        plain = plain._replace(bound=plain.value - gap)
        if not near:
            return plain
        x = self.program.point(self._onto_active(v))
        sharp = self._taken_back(self._stepped(x, ys))
        if not np.isfinite(sharp).all():
            return plain
        other = self._measured(sharp, ys)._replace(bound=plain.bound)
        allowed = plain.value + plain.hidden + SHARE * gap
        if other.value + other.hidden > allowed or other.infeasibility > NEAR:
            return plain
        return other._replace(plain=plain.x) if other.infeasibility > 0.0 else other

    def _taken_back(self, x: Array) -> Array:
        """x without what entries of free variables have in common, where P does not see it: a loss of rows asks for differences of scores alone.

        Nothing in the program holds v in such a direction, so rounding drives it along: two fits of one problem would differ, and far out P has no
        more digits than are left.
        """
        problem, back = self.problem, x
        terms = problem.canonical.terms
        for block in problem.canonical.blocks:
            free = block.g.pair == (None, None) and block.g.curvature == 0.0 and not problem.q[block.slice].any()
            if not free or not block.shape or block.size < 2:
                continue
            if any(b is block and not isinstance(t.f, VectorLossFunction) for t in terms for b, _ in t.map.parts):
                continue
            own = back[block.slice].reshape(block.shape)
            common = own.mean(axis=-1, keepdims=True)
            if largest(common) > ROUNDING * largest(own):
                back = back.copy() if back is x else back
                back[block.slice] -= np.broadcast_to(common, block.shape).reshape(-1)
        if back is x:
            return x
        far, near = problem.forward(x), problem.forward(back)
        weights = [t.f.w.sum() if isinstance(t.f, VectorLossFunction) else 0.0 for t in terms]
        rounding = ROUNDING * sum(float(w * largest(z)) for w, z in zip(weights, far, strict=True))
        moved = problem.objective(back, near) - problem.objective(x, far)
        return back if abs(moved) <= rounding else x

    def _is_near(self, close: float = CLOSE) -> bool:
        """True if the products <s, z> are small enough to tell active rows from others."""
        now = self.state
        return float(now.s @ now.z) + now.tau * now.kappa < close * now.tau**2

    def _onto_active(self, v: Array) -> Array:
        """v moved by the least change, in the scales of the program, that makes the slacks 0 of rows whose multipliers are larger than these."""
        now = self.state
        kinds = [k for k in self.batches if k.kind in ORDER[:2]]
        rows = np.concatenate([np.zeros(0, dtype=np.intp), *(np.arange(k.start, k.stop) for k in kinds)])
        active = rows[now.s[rows] <= now.z[rows]]
        alone = np.diff(self.A.indptr)[active] == 1
        bounds, others = active[alone], active[~alone]
        if not active.size or self.systems.sparse or others.size > ACTIVE:
            return v
        u = (v - self.offset) * now.of_b / self.d
        held, entries = self.A.indices[self.A.indptr[bounds]], self.A.data[self.A.indptr[bounds]]
        # a row of one unknown says what it is
        change = np.zeros(u.size)
        change[held] = np.where(entries != 0.0, self.b[bounds] / np.where(entries != 0.0, entries, 1.0) - u[held], 0.0)
        if others.size:
            A = self.systems.A
            A = A[others] if isinstance(A, np.ndarray) else _written_rows(A, others)
            missed = self.b[others] - A @ (u + change)
            A[:, held] = 0.0
            change += least_change(A, missed)
        return np.asarray(v + self.d * change / now.of_b)

    def _stepped(self, x: Array, ys: list[Array]) -> Array:
        """A short step of the proximal gradient."""
        down = -(self.problem.canonical.q + self.problem.adjoint(ys))
        length = np.ones_like(x)
        for block in self.problem.canonical.blocks:
            own = block.slice
            steepest = float(np.abs(down[own]).max(initial=0.0)) or math.inf
            length[own] = SHORT * float(np.abs(x[own]).max(initial=0.0)) / steepest
        return self.problem.prox_g(x + length * down, 1.0, length, seldom=True)

    def _measured(self, x: Array, ys: list[Array]) -> _MeasuredPoint:
        zs = self.problem.forward(x)
        return _MeasuredPoint(x, ys, self.problem.objective(x, zs), *self.problem.missed(x, zs, ys), -math.inf)

    def feasibility(self) -> tuple[Array, list[Array]]:
        """The solution with no objective, or the ray that proves that there is none; it is worked out once, from the middle of the cones."""
        if self.alone is None:
            self.alone = self._without_objective()
        return self.alone

    def _without_objective(self) -> tuple[Array, list[Array]]:
        """The same of a run on the terms that have a domain alone: the multipliers of others are to be 0, which those of cones tend to slowly."""
        problem = self.problem
        has_domain = [t.domain is not None for t in problem.terms]
        other = copy(self) if all(has_domain) or not any(has_domain) else InteriorRun(problem.of_domains())
        other.known = None
        other.program = other.program.without_objective()
        other.unlevelled = 0.0 * other.unlevelled[0], 0.0 * other.c, other.unlevelled[2]
        other.levels = 1.0, other.levels[1]
        other._level(*other.levels)
        other.state = other.begin(None, None)
        while other.state.iteration < PATIENCE and other.state.short < ENOUGH:
            other.step()
            now = other.state
            if now.kappa + float(now.s @ now.z) < VANISHED * now.tau or now.tau < VANISHED * now.kappa:
                break
        x, found = other.candidate()[0], iter(other.ray()[1])
        taken = other.problem is problem
        ys = [
            next(found) if taken or own else np.zeros(t.map.rows)
            for own, t in zip(has_domain, problem.terms, strict=True)
        ]
        return x, ys

    def ray(self) -> tuple[Array, list[Array]]:
        """v and z themselves, which prove that there is no solution where tau vanishes."""
        tau = self.state.tau
        v, z = self._unscaled(self.state.v, self.state.z, 1.0, tau)
        return self.program.point(v, tau), self.program.multipliers(v, z, tau)
