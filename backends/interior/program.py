r"""The conic program of a canonical problem:

    minimise  v'P v / 2 + <c, v>   subject to   A v + s = b,  s in a product of cones

v is x, of symmetric matrices their upper triangles, followed by the further unknowns of the functions' conic forms (`fwdsl.atoms.conic`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import cached_property
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from fwdsl.atoms.base import Array, MatrixLike
from fwdsl.atoms.conic import Cone, Conic, MatrixEntries, joined
from fwdsl.backends.interior.blocked import Look, weighted_gram
from fwdsl.backends.interior.scale_loops import pass_over
from fwdsl.backends.interior.sizes import conics_of, free_entries
from fwdsl.backends.kernels.compile import kernel
from fwdsl.backends.sparse_rows import sparse_map
from fwdsl.canon.form import Canonical
from fwdsl.canon.maps import by_rows, placed
from fwdsl.light_dataclass import light_dataclass

Index = NDArray[np.intp]

ORDER = ("zero", "nonnegative", "second_order", "semidefinite", "exponential", "power")
"""The order of the cones in the rows; within a kind the smaller ones come first."""


_RANK = {kind: i for i, kind in enumerate(ORDER)}


LEVELLING, LEVEL = 60, 1e-4
"""Steps of levelling, and the residual that ends them: then units no longer count."""


RUIZ = 6
"""Rounds in which the largest sizes are brought to one."""

WIDE, NARROWER, FEW = 20.0, 0.5, 0.02
"""Powers of two beyond which scales differ much, and by which an entry is below the largest of its row and column to count for nothing; the share of
these powers that other scales differ by which take their place; and the share of the entries up to which few count for nothing."""

FAR = 40.0
"""Powers of two that levelled entries differ by where no units explain them, as of the powers of numbers near 0; normal ones differ by 15."""

LONG = 10_000
"""Entries from which on the clock is looked at in each step of levelling: fewer take no time."""

STEPS = 4
"""Steps along rows and columns in which most programs are gone through, those of chains left aside."""

UNIT = 8.0
"""The logarithm of a factor of the arguments of logarithms below which they keep their unit."""

HELD = 0.1
"""The weight of a scale's distance from those of its kind beside the entries of its column, in logarithms."""


MOSTLY = 0.8
"""The share of the unknowns that a dense part of P must have for P to be dense."""


class Batch(NamedTuple):
    """Cones of one kind and size in consecutive rows; all entries of "zero" and "nonnegative" are one cone. Power cones have a power each."""

    kind: str
    start: int
    number: int
    rows: int
    powers: tuple[float, ...] = ()

    @property
    def stop(self) -> int:
        return self.start + self.number * self.rows


class _PlacedForm(NamedTuple):
    """A function of the sum with its place among the unknowns and rows: z = K x + o."""

    form: Conic
    K: csr_array
    offset: Array
    extra: int  # the place of its own unknowns among v
    row: int  # the place of its rows, before they are sorted by cones


@light_dataclass
class ConicProgram:
    """The program, with what leads from its points to those of the canonical problem."""

    canonical: Canonical
    reduced: Triangles  # T: x = T v, for the first unknowns v
    parts: tuple[_PlacedForm, ...]  # the terms of the sum, then the blocks
    P: MatrixLike  # sparse, or a dense matrix where it is filled
    c: Array
    A: csr_array
    b: Array
    rows: Index  # the row of the parts that is at a place of A
    batches: tuple[Batch, ...]

    @classmethod
    def of(cls, canonical: Canonical, look: Look) -> ConicProgram:
        """Raises `ValueError` where a function has no conic form; `look` is asked between its parts."""
        T = Triangles.of(canonical)
        parts, extra, row = [], T.columns, 0
        for form, K, offset in _functions(canonical, T):
            look()
            parts.append(_PlacedForm(form, K, offset, extra, row))
            extra, row = extra + form.extra, row + form.offset.size
        rows, batches = _sorted([cone for p in parts for cone in p.form.cones])
        A, b = _constraints(parts, extra, rows, look)
        P, c = _objective(parts, extra, T.adjoint(canonical.q), look)
        look()
        return cls(canonical, T, tuple(parts), P, c, A, b, rows, batches)

    def point(self, v: Array, tau: float = 1.0) -> Array:
        """x of v, for tau times the numbers of the program."""
        return self.reduced.times(v)

    def multipliers(self, v: Array, z: Array, tau: float = 1.0) -> list[Array]:
        """The slopes y_i of the functions of the sum, for tau times the offsets: 0 for those of a ray."""
        m = np.empty(self.rows.size)
        m[self.rows] = z
        ys = []
        for p in self.parts[: len(self.canonical.terms)]:
            form, own = p.form, m[p.row : p.row + p.form.offset.size]
            of = form.of_z
            y = np.negative(
                np.bincount(of.column, weights=of.value * own[of.row], minlength=form.size), dtype=np.float64
            )
            if _is_some(form.slope):
                y += tau * np.asarray(form.slope)
            if _is_some(form.curvature):
                y += np.asarray(form.curvature) * (p.K @ v[: p.K.shape[1]] + tau * p.offset)
            ys.append(y)
        return ys

    @cached_property
    def constant(self) -> float:
        """The constant that the objective of the canonical problem has beside that of the program."""
        total = self.canonical.constant
        for p in self.parts:
            total += p.form.constant
            if p.offset.any():
                o = p.offset
                total += float(((0.5 * np.asarray(p.form.curvature) * o + np.asarray(p.form.slope)) * o).sum())
        return total

    @property
    def unknowns(self) -> Index:
        """The places of the unknowns among those of all parts."""
        return np.arange(self.c.size)

    def without_objective(self) -> ConicProgram:
        """The program whose multipliers belong to v and z of the rows alone, as those of a proof that no point meets them."""
        return self

    @property
    def equations(self) -> int:
        """The number of rows in the zero cone, which come first."""
        return next((batch.rows for batch in self.batches if batch.kind == ORDER[0]), 0)

    @property
    def is_linear(self) -> bool:
        """True if all cones are products of intervals."""
        return not self.batches or self.batches[-1].kind in ORDER[:2]

    @cached_property
    def kinds(self) -> Index:
        """The number of the kind of each unknown: those of one variable are of one kind, in one unit, and those that one function has of its own.

        Logarithms themselves have no unit.
        """
        blocks, parts = self.canonical.blocks, self.parts
        sizes = [free_entries(b) for b in blocks] + [p.form.extra for p in parts]
        found = np.repeat(np.arange(len(sizes)), sizes)
        if not self.logarithms.size:
            return found
        seen = np.diff(self.A.indptr)
        at = self.logarithms[seen[self.logarithms] == 1]
        of_logarithms = self.A.indices[self.A.indptr[at]]
        found[of_logarithms[of_logarithms >= self.reduced.columns]] = len(sizes)
        return found

    @property
    def origins(self) -> Index:
        """The number of the part that each row belongs to: those of one are in one unit, but for factors in the data."""
        return np.searchsorted([p.row for p in self.parts], self.rows, side="right") - 1

    @cached_property
    def groups(self) -> Index:
        """The number of the scale of each row: one for each row of a product of intervals, one for each other cone."""
        if self.is_linear:
            return np.arange(self.b.size)
        found, number = np.empty(self.b.size, dtype=np.intp), 0
        for kind, start, count, rows, _ in self.batches:
            each = 1 if kind in ORDER[:2] else rows
            total = count * rows // each
            found[start : start + count * rows] = number + np.repeat(np.arange(total), each)
            number += total
        return found

    @cached_property
    def logarithms(self) -> Index:
        """The first rows of the cones of three that say t <= c log(z / c) with a constant c > 0: exponential ones whose second row sees no unknown.

        Their third row may have a unit of its own, for log(a z) = log(a) + log(z): (t, c, z) -> (t + c log a, c, a z) leaves the cone as it is.
        """
        firsts = [np.arange(b.start, b.stop, 3) for b in self.batches if b.kind == "exponential"]
        if not firsts:
            return np.zeros(0, dtype=np.intp)
        at = np.concatenate(firsts)
        constant = (np.diff(self.A.indptr)[at + 1] == 0) & (self.b[at + 1] > 0.0)
        return np.asarray(at[constant], dtype=np.intp)

    def moved_by(self, rows: Index, amounts: Array) -> tuple[Array, Array]:
        """(u, h) with b - A (v + u) + amounts = b + h - A v in these rows, and h = 0 elsewhere: u moves the unknowns that a row alone sees, and h is
        the amounts of the rows without one."""
        moved, held = np.zeros(self.c.size), np.zeros(self.b.size)
        if not amounts.any():
            return moved, held
        held[rows] = amounts
        seen = np.bincount(self.A.indices, minlength=moved.size)
        seen[self.P.diagonal() > 0.0] = 2
        row = np.repeat(np.arange(held.size), np.diff(self.A.indptr))
        alone = np.flatnonzero((seen[self.A.indices] == 1) & (held[row] != 0.0) & (self.A.data != 0.0))
        _, first = np.unique(row[alone], return_index=True)
        alone = alone[first]
        moved[self.A.indices[alone]] = held[row[alone]] / self.A.data[alone]
        held[row[alone]] = 0.0
        return moved, held


class Triangles(NamedTuple):
    """T with x = T v for the first unknowns v, which are the entries of x but for symmetric matrices: of these they are the upper triangles."""

    columns: int
    places: Index | None  # the unknown that each entry of x is; None where it is its own

    @classmethod
    def of(cls, canonical: Canonical) -> Triangles:
        """T of a problem."""
        if not any(b.symmetric for b in canonical.blocks):
            return cls(canonical.size, None)
        places, columns = [], 0
        for b in canonical.blocks:
            if b.symmetric:
                n, own = b.shape[-1], free_entries(b)
                each = n * (n + 1) // 2
                i, j = np.triu_indices(n)
                at = np.empty((n, n), dtype=np.intp)
                at[i, j] = at[j, i] = np.arange(each)
                places.append((columns + each * np.arange(own // each)[:, None] + at.reshape(-1)).reshape(-1))
            else:
                own = b.size
                places.append(np.arange(columns, columns + own))
            columns += own
        return cls(columns, np.concatenate(places))

    def times(self, v: Array) -> Array:
        """T times the first of these unknowns."""
        own = v[: self.columns]
        return own.copy() if self.places is None else own[self.places]

    def adjoint(self, q: Array) -> Array:
        """T'q."""
        return q if self.places is None else np.asarray(np.bincount(self.places, q, self.columns), dtype=np.float64)

    def product(self, K: csr_array) -> csr_array:
        """K T."""
        if self.places is None:
            return K
        shape = K.shape[0], self.columns
        return placed(np.repeat(np.arange(shape[0]), np.diff(K.indptr)), self.places[K.indices], K.data, shape)

    def rows(self, start: int, stop: int) -> csr_array:
        """Rows start to stop - 1 of T."""
        at = np.arange(start, stop, dtype=np.int32) if self.places is None else self.places[start:stop].astype(np.int32)
        each = np.arange(at.size + 1, dtype=np.int32)
        return by_rows(np.ones(at.size), at, each, (at.size, self.columns), copy=False)


def _functions(canonical: Canonical, T: Triangles) -> Iterator[tuple[Conic, csr_array, Array]]:
    """The conic forms of the terms and of the blocks, with the maps and offsets of their arguments."""
    conics = iter(conics_of(canonical))
    for term in canonical.terms:
        yield _known(next(conics)), T.product(sparse_map(term, canonical.size)), term.map.offset
    for block in canonical.blocks:
        K = T.rows(block.start, block.start + block.size)
        yield _known(next(conics)), K, np.zeros(block.size)


def _known(form: Conic | None) -> Conic:
    if form is None:
        raise ValueError("there is no conic form")
    return form


def _product(of: MatrixEntries, K: csr_array) -> MatrixEntries:
    """The entries of F K, F having these entries; those of one place come several times."""
    if K.data.size == K.shape[0] and np.array_equal(K.indptr, np.arange(K.data.size + 1)):
        return MatrixEntries(of.row, K.indices[of.column], of.value * K.data[of.column])
    first, counts = K.indptr[of.column], np.diff(K.indptr)[of.column]
    ends = np.cumsum(counts)
    at = np.arange(int(ends[-1]) if ends.size else 0) + np.repeat(first - (ends - counts), counts)
    return MatrixEntries(np.repeat(of.row, counts), K.indices[at], np.repeat(of.value, counts) * K.data[at])


def _sorted(cones: list[Cone]) -> tuple[Index, tuple[Batch, ...]]:
    """The rows in the order of their cones, and the batches."""
    starts = list(accumulate((c.rows for c in cones), initial=0))
    keys = [(_RANK[c.kind], c.width) for c in cones]
    order = sorted(range(len(cones)), key=keys.__getitem__)
    batches: list[Batch] = []
    at = 0
    for i in order:
        kind, total, power = cones[i]
        rank, width = keys[i]
        is_separable = rank < 2
        number, rows = (1, total) if is_separable else (total // max(1, width), width)
        powers = (power,) * number if power else ()
        last = batches[-1] if batches and batches[-1].kind == kind else None
        if last is not None and is_separable:
            batches[-1] = last._replace(rows=last.rows + rows)
        elif last is not None and last.rows == rows:
            batches[-1] = last._replace(number=last.number + number, powers=last.powers + powers)
        else:
            batches.append(Batch(kind, at, number, rows, powers))
        at += total
    if order == list(range(len(order))):
        return np.arange(at), tuple(batches)
    return np.concatenate([np.arange(starts[i], starts[i + 1]) for i in order]), tuple(batches)


def _constraints(parts: list[_PlacedForm], columns: int, rows: Index, look: Look) -> tuple[csr_array, Array]:
    """A = -(F K, G) and b = F o + h, their rows in the order of the cones."""
    b = np.zeros(rows.size)
    found = []
    for p in parts:
        look()
        form, of, size = p.form, p.form.of_z, p.form.offset.size
        if not size:
            continue
        b[p.row : p.row + size] = form.offset
        if p.offset.any():
            b[p.row : p.row + size] += np.bincount(of.row, weights=of.value * p.offset[of.column], minlength=size)
        found.append(_product(of, p.K).shifted(p.row, 0))
        if form.of_u.row.size:
            found.append(form.of_u.shifted(p.row, p.extra))
    look()
    row, column, value = joined(found)
    place = np.empty_like(rows)
    place[rows] = np.arange(rows.size)
    return placed(place[row], column, -value, (rows.size, columns)), b[rows]


def _objective(parts: list[_PlacedForm], columns: int, q: Array, look: Look) -> tuple[Any, Array]:
    """P and c."""
    c = np.zeros(columns)
    c[: q.size] = q
    diagonal = np.zeros(columns)
    P: MatrixLike | None = None
    for p in parts:
        form, width = p.form, p.K.shape[1]
        if form.extra:
            own = slice(p.extra, p.extra + form.extra)
            diagonal[own], c[own] = form.extra_curvature, form.extra_slope
        curved, sloped = _is_some(form.curvature), _is_some(form.slope)
        if not (curved or sloped):
            continue
        a = np.broadcast_to(np.asarray(form.curvature, dtype=np.float64), (form.size,))
        if sloped or (curved and p.offset.any()):
            slope = np.broadcast_to(a * p.offset + np.asarray(form.slope), (form.size,))
            c[:width] += np.bincount(p.K.indices, p.K.data * np.repeat(slope, np.diff(p.K.indptr)), width)
        if curved:
            P = _added(P, weighted_gram(p.K, a, look), columns)
    if isinstance(P, np.ndarray):
        np.einsum("ii->i", P)[:] += diagonal
        return P, c
    at = np.flatnonzero(diagonal)
    if not (P is None or at.size):
        return csr_array(P), c
    starts = np.zeros(columns + 1, dtype=np.intp)
    if at.size:
        np.cumsum(diagonal != 0.0, out=starts[1:])
    bent = by_rows(diagonal[at], at, starts, (columns, columns))
    return bent if P is None else csr_array(P + bent), c


def _is_some(value: ArrayLike) -> bool:
    """True if a number is not 0, or one of several."""
    return value != 0.0 if isinstance(value, float) else bool(np.any(value))


def _added(P: Any, square: Any, columns: int) -> Any:
    """P, of so many columns, with a matrix added in its upper left; dense where that one is, and most of P. None is 0."""
    k, filled = square.shape[0], isinstance(square, np.ndarray)
    if isinstance(P, np.ndarray) or (filled and MOSTLY * columns <= k):
        P = np.zeros((columns, columns)) if P is None else P if isinstance(P, np.ndarray) else P.toarray()
        P[:k, :k] += square if filled else square.toarray()
        return P
    square = csr_array(square) if filled else square
    square.sum_duplicates()
    starts = np.concatenate([square.indptr, np.full(columns - k, square.nnz)])
    wide = by_rows(square.data, square.indices, starts, (columns, columns))
    return wide if P is None else P + wide


def equilibrated(program: ConicProgram, look: Look) -> tuple[Array, Array]:
    """Scales of the unknowns and of the rows that bring the entries of A and of the root of P's diagonal to about one.

    First the geometric means are levelled (Curtis, Reid 1972), which is the same in every unit; then the largest ones (Ruiz 2001). Where scales of a
    linear program then differ much more than those of the largest ones alone, as of the powers of numbers near 0, the latter are taken: entries that
    are small enough to count for nothing would decide. The arguments of logarithms are brought to their unit before.
    """
    entries, groups = _entries_of(program), program.groups
    if not entries.size.size:
        return np.ones(program.c.size), np.ones(program.b.size)
    of_argument = None
    unit = _unit_of_logarithms(program, entries, look)
    if unit != 0.0:
        of_argument = np.zeros(program.b.size + 1)
        of_argument[program.logarithms + 2] = unit
        entries = entries._replace(size=entries.size + of_argument[entries.row])
    entries = entries.by(groups)
    scale = _levelled(program, groups, entries, look)
    # what no scales level, but for zeros that are nearly so: units are levelled
    left = float(np.ptp(entries.size + scale[entries.row] + scale[entries.column]))
    _flatten(entries, scale, RUIZ, look)
    # with squares or other cones these scales hang on the units of the data
    linear = program.is_linear and not program.P.diagonal().any()
    # what the rows of one term have in common, or the unknowns of one kind, is a unit; so many may be more than it says
    if linear and left > FAR and max(np.ptp(scale[: entries.rows]), np.ptp(scale[entries.rows :])) > WIDE:
        alike = np.concatenate([program.origins, [len(program.parts)], len(program.parts) + 1 + program.kinds])
        if _spread(scale, alike) > WIDE:
            plain = _means(scale, alike)
            _shift(program, groups, entries, plain)
            _flatten(entries, plain, RUIZ, look)
            nothing = entries.size + plain[entries.row] + plain[entries.column] < -WIDE
            if np.mean(nothing) > FEW and _spread(plain, alike) < NARROWER * _spread(scale, alike):
                scale = plain
    r = scale[groups] if of_argument is None else scale[groups] + of_argument[:-1]
    return np.exp2(scale[entries.rows :]), np.exp2(r)


def _means(values: Array, kinds: Index) -> Array:
    """The mean of the values of its kind in place of each."""
    counts = np.bincount(kinds)
    found: Array = (np.bincount(kinds, weights=values) / np.maximum(counts, 1))[kinds]
    return found


def _spread(values: Array, kinds: Index) -> float:
    """The most that values of one kind differ by."""
    least, most = np.full(int(kinds.max()) + 1, math.inf), np.full(int(kinds.max()) + 1, -math.inf)
    np.minimum.at(least, kinds, values)
    np.maximum.at(most, kinds, values)
    return float((most - least)[kinds].max())


def _flatten(entries: Entries, scale: Array, rounds: int, look: Look) -> None:
    """Bring the largest entries of rows and columns to about one, in place."""
    passed = entries.passes(scale)
    for _ in range(rounds):
        look()
        passed(entries.size, 0.5)


class Entries(NamedTuple):
    """The sizes, as logarithms, of the entries of a matrix other than 0, with their rows and columns. The places of columns are behind the rows."""

    row: Index
    column: Index
    size: Array
    rows: int
    columns: int

    @classmethod
    def of(cls, A: csr_array) -> Entries:
        """The entries of a sparse matrix."""
        (m, n), row, column, data = A.shape, np.repeat(np.arange(A.shape[0]), np.diff(A.indptr)), A.indices, A.data
        if not data.all():
            live = np.flatnonzero(data)
            row, column, data = row[live], column[live], data[live]
        return cls(row, column + np.intp(m), np.log2(np.abs(data)), m, n)

    def by(self, groups: Index) -> Entries:
        """The entries with the groups of their rows in place of these, the last row being a group of its own."""
        count = int(groups.max(initial=-1)) + 2
        if count == self.rows:
            return self
        row = np.append(groups, count - 1)[self.row]
        return self._replace(row=row, column=self.column + (count - self.rows), rows=count)

    def passes(self, scale: Array) -> Callable[..., Array]:
        """A function of sizes and a share: the sums of sizes + scale of the row + scale of the column by rows and columns, until it is called again.
        The share of the largest ones is taken from the scales."""
        sums, peaks = np.empty((2, scale.size))
        loop, row, column = kernel(pass_over), self.row, self.column

        def passed(size: Array, share: float = 0.0) -> Array:
            loop(row, column, size, share, scale, sums, peaks)
            return sums

        return passed


def _entries_of(program: ConicProgram) -> Entries:
    """The entries of A, and behind them those of the root of P's diagonal, a row of its own."""
    entries, diagonal = Entries.of(program.A), program.P.diagonal()
    curved = np.flatnonzero(diagonal > 0.0)
    m = entries.rows
    return Entries(
        np.concatenate([entries.row, np.full(curved.size, m)]),
        np.concatenate([entries.column, m + curved]) + 1,
        np.concatenate([entries.size, 0.5 * np.log2(diagonal[curved])]),
        m + 1,
        entries.columns,
    )


def _levelled(program: ConicProgram, groups: Index, entries: Entries, look: Look) -> Array:
    """The logarithms of the scales of these groups of rows, and then of unknowns, that level the geometric means."""
    scale = levelled(entries, program.kinds, look)
    _shift(program, groups, entries, scale)
    return scale


def _unit_of_logarithms(program: ConicProgram, entries: Entries, look: Look) -> float:
    """The logarithm of the factor that brings the arguments of logarithms to about one, 0 where they are within `UNIT` of that: what the scales of
    these rows would be beside those of their cones if each had its own, in the middle of all of them."""
    at = program.logarithms
    # numbers that are alike leave no room for another unit
    room = float(np.ptp(entries.size)) + float(np.ptp(np.log2(np.abs(program.b[program.b != 0.0])))) if at.size else 0.0
    if room <= UNIT:
        return 0.0
    own = program.groups.copy()
    own[at + 2] = own.max() + 1 + np.arange(at.size)
    r = _levelled(program, own, entries.by(own), look)
    unit = float(np.median(r[own[at + 2]] - r[own[at]]))
    return unit if abs(unit) > UNIT else 0.0


def levelled(entries: Entries, kinds: Index | None, look: Look) -> Array:
    """The r and behind it the d of the least squares of size + r_row + d_column over the entries, and, with a small weight, of d less the mean of its
    kind, by conjugate gradients on what is left without r. Without kinds nothing is weighed.

    The weight holds unknowns of one kind together: along a chain of states, each a small multiple of the one before, scales would grow without end.
    What they have in common is free, so that no unit matters.
    """
    m, size = entries.rows, entries.size
    scale, nothing = np.zeros(m + entries.columns), np.zeros(size.size)
    counts = np.bincount(entries.row, minlength=scale.size) + np.bincount(entries.column, minlength=scale.size)
    share = 1.0 / np.maximum(counts, 1)
    in_column, of_row, weight = counts[m:], -share[:m], share[m:]

    r, d, passed = scale[:m], scale[m:], entries.passes(scale)

    def rest(of: Array, sizes: Array) -> Array:
        """The column sums of sizes + numbers of the columns less their row's mean; the scales have these then."""
        r[:], d[:] = 0.0, of
        np.multiply(of_row, passed(sizes)[:m], out=r)
        return passed(sizes)[m:]

    def sums(of: Array) -> Array:
        """The sum of each kind."""
        return np.asarray(np.bincount(kinds, weights=of), dtype=np.float64)  # type: ignore[arg-type]

    together = np.zeros(0) if kinds is None else np.maximum(sums(np.asarray(in_column, dtype=np.float64)), 1.0)

    def apart(of: Array) -> Array:
        """The numbers less the mean of their kind, times the entries of their columns."""
        own = in_column * of
        return np.asarray(own - in_column * (sums(own) / together)[kinds])

    found = np.zeros(in_column.size)
    residual = -rest(found, size)
    p = weight * residual
    rho = float(residual @ p)
    least = LEVEL**2 * max(rho, 1.0)
    for _ in range(LEVELLING):
        if rho <= least:
            break
        if size.size > LONG:
            look()
        h = rest(p, nothing)
        if kinds is not None:
            h += HELD * apart(p)
        step = rho / max(float(p @ h), 1e-300)
        found += step * p
        residual -= step * h
        preconditioned = weight * residual
        rho, before = float(residual @ preconditioned), rho
        p = preconditioned + rho / before * p
    r[:], d[:] = 0.0, found
    np.multiply(of_row, passed(size)[:m], out=r)
    return scale


def _shift(program: ConicProgram, groups: Index, entries: Entries, scale: Array) -> None:
    """Shift d up and r down, so that c and b are level between parts of A.

    Unknowns and rows that no entry connects have scales of their own, which A leaves open. c and b tell them, by their largest entries of each part.
    """
    m = entries.rows
    with np.errstate(divide="ignore"):
        price, own = np.log2(np.abs(program.c)) + scale[m:], np.log2(np.abs(program.b)) + scale[groups]
    alone = _alone(entries.row, entries.column, scale.size)
    if alone is not None and not alone[: m - 1].any() and not alone[m:].any():
        # one part, beside the root of P where it has no entry
        own, price = own.max(initial=-math.inf), price.max(initial=-math.inf)
        change = own if math.isfinite(own) else -price if math.isfinite(price) else 0.0
        scale[m:] += change
        scale[:m] -= change
        return
    parts, part = _parts(entries.row, entries.column, scale.size, alone)
    price, own = _largest(price, part[m:], parts), _largest(own, part[groups], parts)
    priced, bounded = np.isfinite(price), np.isfinite(own)
    price[~priced], own[~bounded] = 0.0, 0.0
    both = priced & bounded
    # where both are told they share what is over; c as a whole has a factor of its own, which takes their mean
    over = float(np.mean((price + own)[both])) if both.any() else 0.0
    shift = np.where(both, 0.5 * (own - (price - over)), np.where(bounded, own, over - price))
    shift = np.where(priced | bounded, shift, 0.0)[part]
    scale[m:] += shift[m:]
    scale[:m] -= shift[:m]


def connected(one: Index, other: Index, number: int) -> tuple[int, Index]:
    """The number of parts that so many points are in, joined one to the other, and the part of each."""
    return _parts(one, other, number, _alone(one, other, number))


def _parts(one: Index, other: Index, number: int, alone: NDArray[np.bool_] | None) -> tuple[int, Index]:
    """The same, where it may be known what is alone."""
    if alone is not None:
        return 1 + int(np.count_nonzero(alone)), np.asarray(np.where(alone, np.cumsum(alone), 0))
    order = np.argsort(one, kind="stable")
    starts = np.concatenate([[0], np.cumsum(np.bincount(one, minlength=number))])
    joined_to = by_rows(np.ones(one.size), other[order], starts, (number, number))
    return connected_components(joined_to, directed=False)  # type: ignore[no-any-return]


def _alone(one: Index, other: Index, number: int) -> NDArray[np.bool_] | None:
    """The points that nothing is joined to, where all others are in one part, and a few steps lead to all from the one with the most; else None.

    That is soon seen, and so are most programs.
    """
    if not one.size:
        return None
    joined_to, seen = np.zeros(number, dtype=bool), np.zeros(number, dtype=bool)
    joined_to[one] = joined_to[other] = True
    seen[np.bincount(other).argmax()] = True
    for _ in range(STEPS):
        seen[one[seen[other]]] = True
        seen[other[seen[one]]] = True
        if (seen == joined_to).all():
            return ~joined_to
    return None


def _largest(values: Array, part: Index, parts: int) -> Array:
    """The largest value of each part, -inf where there is none."""
    found = np.full(parts, -math.inf)
    np.maximum.at(found, part, values)
    return found


def levels(curvature: Array, c: Array, b: Array) -> tuple[float, float]:
    """Factors of c and b that bring them to about one; b's, where there is none, brings P there, and both share it where they differ.

    They are 1 where sizes overflow: the program's numbers do not fit into floating point.
    """
    of_c, of_b = _factors(curvature, c, b)
    fits = math.isfinite(of_c) and math.isfinite(of_b) and of_c > 0.0 and of_b > 0.0
    return (of_c, of_b) if fits else (1.0, 1.0)


def _factors(curvature: Array, c: Array, b: Array) -> tuple[float, float]:
    price, size = float(np.abs(c).max(initial=0.0)), float(np.abs(b).max(initial=0.0))
    bend = float(curvature.max(initial=0.0))
    if price == 0.0:
        of_b = 1.0 / size if size > 0.0 else 1.0
        return (of_b / bend if bend > 0.0 else 1.0), of_b
    of_c = 1.0 / price
    of_b = 1.0 / size if size > 0.0 else of_c * bend or 1.0
    if size > 0.0 and bend > 0.0:
        of_b = math.sqrt(of_b) * math.sqrt(of_c * bend)
    return of_c, of_b


def part_of(A: csr_array, rows: Index, columns: Index) -> csr_array:
    """The matrix of some rows and columns, whose places rise. SciPy looks each up."""
    place, kept = np.full(A.shape[1], -1), np.zeros(A.shape[0], dtype=bool)
    place[columns], kept[rows] = np.arange(columns.size), True
    column = place[A.indices]
    live = np.repeat(kept, np.diff(A.indptr)) & (column >= 0)
    ends = np.zeros(A.data.size + 1, dtype=np.intp)
    np.cumsum(live, out=ends[1:])
    starts = np.zeros(rows.size + 1, dtype=np.intp)
    # of rows that are left out nothing is counted
    starts[1:] = ends[A.indptr[rows + 1]]
    return by_rows(A.data[live], column[live], starts, (rows.size, columns.size), copy=False)


def scaled(A: Any, left: Array, right: Array) -> csr_array:
    """diag(left) A diag(right)."""
    A = A.tocsr()
    return by_rows(A.data * np.repeat(left, np.diff(A.indptr)) * right[A.indices], A.indices, A.indptr, A.shape)
