r"""Rows and unknowns of a conic program that need no step: they are taken out before the first one, and put back into its points.

- A row without an entry says nothing, or that there is no solution.
- Rows that are multiples of each other bound one form a'v. The tightest bound on each side stays, or the equation; the others have multiplier 0.
  Of rows of one unknown these are its bounds.
- An unknown whose bounds meet is fixed: v_j moves into b and c. Its rows may leave others with one unknown, so this is done again.
- An equation that alone sees an unknown without curvature defines it, a v_j = b_i - a_i'v. Both go, and c becomes c - (c_j / a) a_i.
- An unknown that nothing sees is 0.

The multipliers of what is left are those of the program. Stationarity of a column gives the one of the row that fixed or defined its unknown,

    (P v + c + A'z)_j = 0,

the unknowns that were fixed last first. Where the rows contradict each other nothing is taken out: the method proves it of the program as it is.

Source: Andersen, Andersen, "Presolving in linear programming", 1995.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache, cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from fwdsl.atoms.base import Array
from fwdsl.backends.interior.blocked import Look
from fwdsl.backends.interior.equations import Contradiction, Eliminated, eliminated
from fwdsl.backends.interior.program import ORDER, Batch, ConicProgram, part_of
from fwdsl.light_dataclass import light_dataclass

Index = NDArray[np.intp]

ROUNDING = 8.0 * float(np.finfo(np.float64).eps)
"""The relative difference of two numbers that rounding explains."""

ALIKE = 1e-11
"""The relative difference of the keys of two rows from which on they are no multiples of each other; nearer, their entries tell."""

ROUNDS = 3
"""Times that equations are taken out after rows and unknowns, which may leave more of these."""

PASSES = 20
"""Times that rows are looked at anew after unknowns were fixed: a chain of equations would take as many as it is long."""

KEPT = 5_000
"""Unknowns up to which their marks are worked out once."""

LEAST = 1e-3
"""The least entry of an unknown in the equation that defines it, beside the largest one of the row: a smaller one would enlarge what others miss."""


class _Fixed(NamedTuple):
    """Unknowns fixed in one pass, with the rows that hold them from above and below, which are one where it is an equation, and their entries."""

    columns: Index
    upper: Index
    of_upper: Array
    lower: Index
    of_lower: Array


class _Defined(NamedTuple):
    """Unknowns without curvature that one equation alone sees, that row, and their entries in it."""

    columns: Index
    rows: Index
    entry: Array


class Counts(NamedTuple):
    """The numbers of rows and unknowns that were taken out, for the plan."""

    empty: int = 0
    duplicate: int = 0
    bounds: int = 0
    fixed: int = 0
    defined: int = 0
    unseen: int = 0
    linked: int = 0
    dependent: int = 0

    def describe(self) -> str:
        """The counts as a phrase."""
        told = [
            (self.empty, "empty row", "empty rows"),
            (self.duplicate, "multiple of another row", "multiples of other rows"),
            (self.bounds, "row that a bound implies", "rows that a bound implies"),
            (self.fixed, "fixed unknown", "fixed unknowns"),
            (self.defined, "unknown that one equation defines", "unknowns that an equation each defines"),
            (self.unseen, "unknown that nothing sees", "unknowns that nothing sees"),
            (self.linked, "equation of two unknowns, with one of them", "equations of two unknowns, with one of each"),
            (self.dependent, "equation that follows from others", "equations that follow from others"),
        ]
        return ", ".join(f"{n:,} {one if n == 1 else many}" for n, one, many in told if n)


@light_dataclass
class Taken:
    """Rows and unknowns that were taken out of a program, and the way back to its points."""

    whole: ConicProgram
    rows: Index  # those that are left
    columns: Index
    value: Array  # of the fixed unknowns; 0 of the others
    fixed: tuple[_Fixed, ...]  # by passes
    defined: _Defined
    counts: Counts
    priced: bool = True  # whether multipliers weigh the objective

    def unknowns(self, v: Array, tau: float) -> Array:
        """The unknowns of the whole program, for tau times its numbers."""
        found = tau * self.value
        found[self.columns] = v
        at, rows, entry = self.defined
        if at.size:
            found[at] = (tau * self.whole.b[rows] - self.whole.A[rows] @ found) / entry
        return found

    def multipliers(self, v: Array, z: Array, tau: float) -> Array:
        """The multipliers of all rows, at the unknowns of the whole program."""
        whole, found = self.whole, np.zeros(self.whole.b.size)
        found[self.rows] = z
        if self.priced:
            found[self.defined.rows] = -tau * whole.c[self.defined.columns] / self.defined.entry
        if self.fixed:
            slope = whole.A.T @ found
            if self.priced:
                slope += whole.P @ v + tau * whole.c
            for last in reversed(self.fixed):
                wanted = -slope[last.columns]
                above = wanted > 0.0
                rows = np.where(above, last.upper, last.lower)
                found[rows] = wanted / np.where(above, last.of_upper, last.of_lower)
                slope += whole.A[rows].T @ found[rows]
        return found


@light_dataclass
class Presolved(ConicProgram):
    """A program without the rows and unknowns that were taken out. Its points lead to those of the whole one."""

    taken: Taken | Eliminated
    sizes: Array  # of the numbers that b is the sum of: the measure of its rounding

    def point(self, v: Array, tau: float = 1.0) -> Array:
        return self.taken.whole.point(self.taken.unknowns(v, tau))

    def multipliers(self, v: Array, z: Array, tau: float = 1.0) -> list[Array]:
        v = self.taken.unknowns(v, tau)
        return self.taken.whole.multipliers(v, self.taken.multipliers(v, z, tau), tau)

    @property
    def unknowns(self) -> Index:
        return self.taken.whole.unknowns[self.taken.columns]

    @property
    def kinds(self) -> Index:
        return self.taken.whole.kinds[self.taken.columns]

    @cached_property
    def constant(self) -> float:
        """The constant of the whole program, plus its objective at the point whose kept unknowns are 0."""
        whole, v = self.taken.whole, self.taken.unknowns(np.zeros(self.c.size), 1.0)
        return whole.constant + float(v @ (0.5 * (whole.P @ v) + whole.c))

    @property
    def counts(self) -> Counts:
        """The numbers of what was taken out, one pass after the other."""
        taken, whole = self.taken, self.taken.whole
        own = (
            taken.counts
            if isinstance(taken, Taken)
            else Counts(linked=taken.linked.rows.size, dependent=taken.dependent)
        )
        return Counts(*map(sum, zip(own, whole.counts, strict=True))) if isinstance(whole, Presolved) else own

    def without_objective(self) -> Presolved:
        whole = self.taken.whole.without_objective()
        return replace(self, taken=replace(self.taken, whole=whole, priced=False))


def presolved(program: ConicProgram, look: Look) -> ConicProgram:
    """The program without what needs no step; itself where nothing is found, or where no constraint is a row."""
    if not any(t.is_constraint for t in program.canonical.terms):
        return program
    whole = program
    for turn in range(ROUNDS + 1):
        search = _Search(program)
        try:
            taken = search.run(look)
            program = program if taken is None else _without(program, taken, search.size)
            # what depends on others before does not do so anew
            found = None if turn == ROUNDS else eliminated(program, look, *search.free(taken), turn == 0)
        except (_LeaveAlone, Contradiction):
            # the method proves it of the program as it is
            return whole
        if found is None:
            break
        program = _without_equations(program, found)
        if not found.linked.rows.size:
            break
    return program


class _LeaveAlone(Exception):
    """Nothing is to be taken out: rows contradict each other by more than rounding."""


class _Search:
    """The search among the rows of the zero and nonnegative cones, which come first."""

    def __init__(self, program: ConicProgram) -> None:
        self.program, self.equations = program, program.equations
        A = self.A = _without_zeros(program.A)
        self.count = sum(k.rows for k in program.batches if k.kind in ORDER[:2])
        self.last = int(A.indptr[self.count])
        # the entries of rows and unknowns that are left
        self.row = np.repeat(np.arange(self.count), np.diff(A.indptr[: self.count + 1]))
        self.column, self.entry = A.indices[: self.last], A.data[: self.last]
        self.b = program.b[: self.count].copy()
        # of the numbers that b is the sum of: the measure of its rounding
        self.size = _sizes_of(program)[: self.count].copy()
        self.is_sum = self.size > np.abs(self.b)  # whether b is such a sum: others are exact
        self.dropped = np.zeros(self.count, dtype=bool)
        self.live = np.ones(program.c.size, dtype=bool)  # unknowns that are left
        self.value = np.zeros(program.c.size)
        self.of_value = np.zeros(program.c.size)  # the sizes of the numbers that a value is the sum of
        self.rows_may_go = np.ones(self.count, dtype=bool)
        self.may_go = np.ones(program.c.size, dtype=bool)  # unknowns that may
        self._protect()
        self.empty, self.duplicate, self.bounds = 0, 0, 0

    def _protect(self) -> None:
        """Leave alone what systems eliminate as it is: the entries of losses with unknowns of their own, and matrices in cones."""
        program, A = self.program, self.A
        owned = [p for p in program.parts if p.form.owned]
        if owned:
            theirs = np.zeros(sum(p.form.offset.size for p in program.parts), dtype=bool)
            may_go = np.ones(max(p.extra + p.form.extra for p in program.parts), dtype=bool)
            for p in owned:
                theirs[p.row : p.row + p.form.offset.size] = True
                may_go[p.extra : p.extra + p.form.extra] = False
            self.rows_may_go, self.may_go = ~theirs[program.rows[: self.count]], may_go[program.unknowns]
        for k in program.batches:
            if k.kind == "semidefinite":
                self.may_go[A.indices[A.indptr[k.start] : A.indptr[k.stop]]] = False

    def run(self, look: Look) -> Taken | None:
        """The rows and unknowns to take out; None if there are none, or if nothing would be left. Raises `_LeaveAlone`."""
        fixed: list[_Fixed] = []
        with np.errstate(all="ignore"):
            for _ in range(PASSES):
                look()
                new = self._pass()
                if new is None:
                    break
                fixed.append(new)
            else:
                each = np.bincount(self.row, minlength=self.count)
                self._drop_empty(np.flatnonzero(self.rows_may_go & ~self.dropped & (each == 0)))
            unseen, defined = self._unseen(), self._defined()
        counts = Counts(
            self.empty,
            self.duplicate,
            self.bounds,
            sum(f.columns.size for f in fixed),
            defined.columns.size,
            unseen,
        )
        if not any(counts):
            return None
        rows = np.ones(self.program.b.size, dtype=bool)
        rows[: self.count] = ~self.dropped
        rows[defined.rows], self.live[defined.columns] = False, False
        at, columns = np.flatnonzero(rows), np.flatnonzero(self.live)
        if not (at.size and columns.size and np.isfinite(self.value).all()):
            return None
        return Taken(self.program, at, columns, self.value, tuple(fixed), defined, counts)

    def free(self, taken: Taken | None) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """True for each row of the zero and nonnegative cones that is left and may go; the same for the unknowns."""
        if taken is None:
            return self.rows_may_go, self.may_go
        return self.rows_may_go[taken.rows[taken.rows < self.count]], self.may_go[taken.columns]

    def _pass(self) -> _Fixed | None:
        """Drop rows, and fix the unknowns whose bounds meet; None if there are none."""
        each = np.bincount(self.row, minlength=self.count)
        able = self.rows_may_go & ~self.dropped
        self._drop_empty(np.flatnonzero(able & (each == 0)))
        start = np.cumsum(each) - each
        rows = np.flatnonzero(each)
        if not rows.size:
            return None
        # multiples of a row have its key
        key = np.add.reduceat(self.entry * _marks(self.live.size)[self.column], start[rows]) / self.entry[start[rows]]
        key, rows = key[able[rows]], rows[able[rows]]
        if not rows.size:
            return None
        order = np.argsort(key, kind="stable")
        key, rows = key[order], rows[order]
        lead, first, length = self.entry[start[rows]], self.column[start[rows]], each[rows]
        same = np.abs(key[1:] - key[:-1]) <= ALIKE * np.abs(key[1:])
        same &= (first[1:] == first[:-1]) & (length[1:] == length[:-1])
        doubt = np.flatnonzero(same & (length[1:] > 1))
        if doubt.size:
            same[doubt] = self._are_multiples(start[rows[doubt]], start[rows[doubt + 1]], length[doubt])
        if self._says_nothing(rows, lead, length, same):
            return None
        return self._tightest(rows, lead, first, length == 1, np.flatnonzero(np.concatenate([[True], ~same])))

    def _says_nothing(self, rows: Index, lead: Array, length: Index, same: NDArray[np.bool_]) -> bool:
        """True if no form has more than a bound on each side, and these do not meet: a box is like that, and most programs are. `same` tells
        rows that are multiples of those before them."""
        if self.equations and np.any((length == 1) & (rows < self.equations)):
            return False
        at = np.flatnonzero(same)
        if not at.size:
            return True
        one, two = lead[at], lead[at + 1]
        if np.any(one * two > 0.0) or np.any(at[1:] == at[:-1] + 1):
            return False
        if self.equations and min(rows[at].min(), rows[at + 1].min()) < self.equations:
            return False
        room = self.b[rows[at]] / np.abs(one) + self.b[rows[at + 1]] / np.abs(two)
        return bool(
            np.all(room > ROUNDING * (self.size[rows[at]] / np.abs(one) + self.size[rows[at + 1]] / np.abs(two)))
        )

    def _drop_empty(self, rows: Index) -> None:
        """Rows without an entry; what substitution left of b may be rounding."""
        if not rows.size:
            return
        rest, rounding = self.b[rows], ROUNDING * np.where(self.is_sum, self.size, 0.0)[rows]
        rest = np.where(rows < self.equations, np.abs(rest), -rest)
        if np.any(rest > rounding):
            raise _LeaveAlone
        self.dropped[rows] = True
        self.empty += rows.size

    def _are_multiples(self, start: Index, other: Index, length: Index) -> NDArray[np.bool_]:
        """True for each row, by its first place and length, that is a multiple of another one, but for rounding."""
        ends = np.cumsum(length)
        within = np.arange(int(ends[-1])) - np.repeat(ends - length, length)
        one, two = np.repeat(start, length) + within, np.repeat(other, length) + within
        a = self.entry[one] / np.repeat(self.entry[start], length)
        b = self.entry[two] / np.repeat(self.entry[other], length)
        alike = (self.column[one] == self.column[two]) & (np.abs(a - b) <= ROUNDING * np.abs(a))
        return np.asarray(np.logical_and.reduceat(alike, ends - length))

    def _tightest(
        self, rows: Index, lead: Array, first: Index, single: NDArray[np.bool_], heads: Index
    ) -> _Fixed | None:
        """Keep the tightest rows of each group of multiples, whose first entries are `lead`, of the unknowns `first`. Groups begin at `heads`."""
        equal, value = rows < self.equations, self.b[rows] / lead
        up, low = equal | (lead > 0.0), equal | (lead < 0.0)
        hi = np.minimum.reduceat(np.where(up, value, np.inf), heads)
        lo = np.maximum.reduceat(np.where(low, value, -np.inf), heads)
        rounding = ROUNDING * np.maximum.reduceat(self.size[rows] / np.abs(lead), heads)
        if np.any(lo - hi > rounding):
            raise _LeaveAlone
        meets = single[heads] & (lo >= hi) & self.may_go[first[heads]]
        number = np.repeat(np.arange(heads.size), np.diff(heads, append=rows.size))
        of_equation = np.logical_or.reduceat(equal, heads)[number]
        # of equal ones that of a block, which comes last: sharpened points move onto bounds for which the terms' multipliers leave a slope
        upper = _last_of_each(np.where(of_equation, equal, up & (value == hi[number])), number, rows, heads.size)
        lower = _last_of_each(np.where(of_equation, equal, low & (value == lo[number])), number, rows, heads.size)
        gone = np.ones(rows.size, dtype=bool)
        gone[upper[upper >= 0]] = gone[lower[lower >= 0]] = False
        self.bounds += int(np.count_nonzero(gone & single))
        self.duplicate += int(np.count_nonzero(gone & ~single))
        gone |= meets[number]
        self.dropped[rows[gone]] = True
        groups = np.flatnonzero(meets)
        columns, once = np.unique(first[heads[groups]], return_index=True)
        if once.size < groups.size:  # another key between those of one unknown's rows
            raise _LeaveAlone
        groups = groups[once]
        above, below = upper[groups], lower[groups]
        if groups.size:
            self.value[columns] = np.where(equal[above], value[above], lo[groups] + 0.5 * (hi[groups] - lo[groups]))
            self.of_value[columns] = np.maximum(
                self.size[rows[above]] / np.abs(lead[above]), np.abs(self.value[columns])
            )
            self.live[columns] = False
            self._substitute()
        left = self.live[self.column] & ~self.dropped[self.row]
        self.row, self.column, self.entry = self.row[left], self.column[left], self.entry[left]
        return _Fixed(columns, rows[above], lead[above], rows[below], lead[below]) if groups.size else None

    def _substitute(self) -> None:
        """Take unknowns that have just been fixed out of b."""
        at = np.flatnonzero(~self.live[self.column])
        row, column, entry = self.row[at], self.column[at], self.entry[at]
        self.b -= np.bincount(row, entry * self.value[column], self.count)
        self.size += np.bincount(row, np.abs(entry) * self.of_value[column], self.count)
        self.is_sum[row] = True

    def _unseen(self) -> int:
        """Leave out the unknowns that nothing sees; their number."""
        self.seen = np.bincount(self.column, minlength=self.live.size)
        self.seen += np.bincount(self.A.indices[self.last :], minlength=self.live.size)
        self.curved = _columns(self.program.P)
        alone = self.live & self.may_go & (self.seen == 0) & ~self.curved & (self.program.c == 0.0)
        self.live &= ~alone
        return int(np.count_nonzero(alone))

    def _defined(self) -> _Defined:
        """The unknowns without curvature that an equation alone sees, one of an equation."""
        able = self.live & self.may_go & ~self.curved & (self.seen == 1)
        at = np.zeros(0, dtype=np.intp)
        if self.equations and able.any():
            at = np.flatnonzero(able[self.column] & (self.row < self.equations))
            at = at[self.rows_may_go[self.row[at]] & ~self.dropped[self.row[at]]]
            largest = np.zeros(self.count)
            np.maximum.at(largest, self.row, np.abs(self.entry))
            at = at[np.abs(self.entry[at]) >= LEAST * largest[self.row[at]]]
            at = at[np.unique(self.row[at], return_index=True)[1]]
        return _Defined(self.column[at], self.row[at], self.entry[at])


def _sizes_of(program: ConicProgram) -> Array:
    """The sizes of the numbers that b is the sum of."""
    return program.sizes if isinstance(program, Presolved) else np.abs(program.b)


def _without_zeros(A: csr_array) -> csr_array:
    if A.data.all():
        return A
    A = A.copy()
    A.eliminate_zeros()
    return A


def _marks(size: int) -> Array:
    """Numbers between 1 and 2 without a pattern, one for each unknown."""
    return _first_marks()[:size] if size <= KEPT else _marks_of(size)


@cache
def _first_marks() -> Array:
    return _marks_of(KEPT)


def _marks_of(size: int) -> Array:
    return 1.0 + np.modf(np.abs(np.sin(12.9898 * np.arange(1.0, size + 1.0))) * 43758.5453)[0]


def _last_of_each(chosen: NDArray[np.bool_], number: Index, rows: Index, groups: int) -> Index:
    """The chosen place of each group with the last row, -1 where there is none."""
    found = np.full(groups, -1, dtype=np.intp)
    at = np.flatnonzero(chosen)
    at = at[np.argsort(rows[at])]
    found[number[at]] = at
    return found


def _columns(P: Any) -> NDArray[np.bool_]:
    """The unknowns that a matrix sees."""
    if isinstance(P, np.ndarray):
        return np.asarray(P.any(axis=0))
    return np.bincount(P.indices[P.data != 0.0], minlength=P.shape[1]) > 0


def _without(program: ConicProgram, taken: Taken, sizes: Array) -> Presolved:
    """The program without what was taken out; b is the sum of numbers of these sizes, in the first rows."""
    rows, columns, value = taken.rows, taken.columns, taken.value
    b, c = program.b - program.A @ value, program.c + program.P @ value
    at, equations, entry = taken.defined
    if at.size:
        c = c - program.A[equations].T @ (program.c[at] / entry)
    P = program.P
    P = P[np.ix_(columns, columns)] if isinstance(P, np.ndarray) else part_of(P, columns, columns)
    A = part_of(program.A, rows, columns)
    left = c[columns], A, b[rows], program.rows[rows], _batches(program.batches, rows)
    if sizes.size < program.b.size:
        others = np.abs(program.b)[sizes.size :] + (abs(program.A[sizes.size :]) @ np.abs(value))
        sizes = np.concatenate([sizes, others])
    return Presolved(program.canonical, program.reduced, program.parts, P, *left, taken, sizes[rows])


def _without_equations(program: ConicProgram, found: Eliminated) -> Presolved:
    """The program without equations that were taken out."""
    P, c, A, b, sizes = found.left(_sizes_of(program))
    left = P, c, A, b, program.rows[found.rows], _batches(program.batches, found.rows)
    return Presolved(program.canonical, program.reduced, program.parts, *left, found, sizes)


def _batches(batches: Sequence[Batch], rows: Index) -> tuple[Batch, ...]:
    """The batches of these rows; all rows of cones that are no products of intervals are among them."""
    found, at = [], 0
    for batch in batches:
        stop = int(np.searchsorted(rows, batch.stop))
        if stop > at:
            size = stop - at if batch.kind in ORDER[:2] else batch.rows
            found.append(batch._replace(start=at, rows=size))
        at = stop
    return tuple(found)
