"""The conic form of a function, which an interior-point method solves with:

    f(z) = constant + min over u of  <a, z^2> / 2 + <c, z> + <d, u^2> / 2 + <e, u>   subject to   F z + G u + h in a product of cones

u are unknowns of its own (the bounds |z_i| <= u_i of a norm). An atom that has a conic form gives it as `conic()`; None where it has none.
With multipliers m of the rows, in the dual cone, the slope of f is a z + c - F'm.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]
Index = NDArray[np.intp]


class Cone(NamedTuple):
    """A cone of so many rows, or several cones of three rows each in a row:

    - "zero", "nonnegative";
    - "second_order": (t, v) with |v| <= t;
    - "semidefinite": a matrix of order n has n (n + 1) / 2 rows, its upper triangle by rows, off the diagonal times sqrt(2);
    - "exponential": (x, y, z) with y exp(x / y) <= z, y > 0, and what is left in the limit, x <= 0, y = 0, z >= 0;
    - "power": (x, y, z) with |z| <= x^a y^(1 - a), x, y >= 0, where a = `power` lies between 0 and 1.

    The dual cones of the last two: (u, v, w) with -u exp(v / u - 1) <= w, u < 0, and |w| <= (u / a)^a (v / (1 - a))^(1 - a).
    """

    kind: str
    rows: int
    power: float = 0.0

    @property
    def is_separable(self) -> bool:
        """True if it is a product of intervals."""
        return self.kind in ("zero", "nonnegative")

    @property
    def is_of_three(self) -> bool:
        """True of cones of three rows, of which there may be several."""
        return self.kind in ("exponential", "power")

    @property
    def width(self) -> int:
        """The rows of each single cone."""
        return 1 if self.is_separable else 3 if self.is_of_three else self.rows


class MatrixEntries(NamedTuple):
    """A sparse matrix as its entries; the same place may come twice, and then adds up."""

    row: Index
    column: Index
    value: Array

    def shifted(self, rows: int, columns: int) -> MatrixEntries:
        """The entries in a matrix in which they start `rows` further down and `columns` further to the right."""
        return MatrixEntries(self.row + rows, self.column + columns, self.value)


NO_ENTRIES = MatrixEntries(np.zeros(0, dtype=np.intp), np.zeros(0, dtype=np.intp), np.zeros(0))
"""A matrix of zeros, as its entries."""


def entries(row: ArrayLike = (), column: ArrayLike = (), value: ArrayLike = ()) -> MatrixEntries:
    """Entries from numbers and arrays, brought to one length."""
    r = np.asarray(row, dtype=np.intp).reshape(-1)
    c = np.asarray(column, dtype=np.intp).reshape(-1)
    v = np.asarray(value, dtype=np.float64).reshape(-1)
    if not r.size == c.size == v.size:
        r, c, v = np.broadcast_arrays(r, c, v)
    return MatrixEntries(r, c, v)


def joined(parts: Sequence[MatrixEntries]) -> MatrixEntries:
    """The entries of all parts."""
    if len(parts) < 2:
        return parts[0] if parts else NO_ENTRIES
    return MatrixEntries(*(np.concatenate([p[i] for p in parts]) for i in range(3)))


@dataclass(frozen=True, eq=False, repr=False)
class Conic:
    """constant + min over u of <a, z^2> / 2 + <c, z> + <d, u^2> / 2 + <e, u> with the rows F z + G u + h in a product of cones.

    z has `size` entries, u is `extra` further unknowns. Of a set the numbers a, c, d, e and the constant are 0.
    """

    size: int
    extra: int = 0
    curvature: ArrayLike = 0.0  # a
    slope: ArrayLike = 0.0  # c
    extra_curvature: ArrayLike = 0.0  # d
    extra_slope: ArrayLike = 0.0  # e
    constant: float = 0.0
    of_z: MatrixEntries = NO_ENTRIES  # F
    of_u: MatrixEntries = NO_ENTRIES  # G
    offset: Array = field(default_factory=lambda: np.zeros(0))  # h
    cones: tuple[Cone, ...] = ()
    owner: Index = field(default_factory=lambda: np.zeros(0, dtype=np.intp))
    """The entry of z of each unknown u, where the rows of u see no other entry, and no unknown of another one; -1 where they do, empty: all do.

    They may see unknowns of no entry, which then stand beside z_i: rows a (z_i + <s_i, t>) + C u_i + h with one s_i for all rows of an entry.
    """

    def __add__(self, other: Conic) -> Conic:
        """The sum of two functions of the same z."""
        assert self.size == other.size
        return Conic(
            self.size,
            self.extra + other.extra,
            np.add(self.curvature, other.curvature),
            np.add(self.slope, other.slope),
            np.concatenate([_full(c.extra_curvature, c.extra) for c in (self, other)]),
            np.concatenate([_full(c.extra_slope, c.extra) for c in (self, other)]),
            self.constant + other.constant,
            joined([self.of_z, other.of_z.shifted(self.offset.size, 0)]),
            joined([self.of_u, other.of_u.shifted(self.offset.size, self.extra)]),
            np.concatenate([self.offset, other.offset]),
            (*self.cones, *other.cones),
            np.concatenate([c.owner if c.owner.size else np.full(c.extra, -1) for c in (self, other)]),
        )

    @property
    def owned(self) -> int:
        """The number of unknowns that belong to an entry of z."""
        return int(np.count_nonzero(self.owner >= 0))

    @property
    def heads(self) -> Index:
        """The first row of the cone of three rows that each row belongs to; the row itself in other cones."""
        found, at = np.arange(self.offset.size), 0
        for cone in self.cones:
            if cone.is_of_three:
                found[at : at + cone.rows] -= np.arange(cone.rows) % 3
            at += cone.rows
        return found

    def rises_with(self, k: int) -> bool:
        """True if rows that hold for some u hold for all that differ in a larger u_k alone.

        That is so where u_k raises intervals, the head of a second-order cone, the last entry of an exponential cone or one of the first two of a
        power cone, or lowers the first entry of an exponential cone.
        """
        own = self.of_u.column == k
        rows, values = self.of_u.row[own], self.of_u.value[own]
        raised = np.zeros(self.offset.size, dtype=np.int8)
        at = 0
        for cone in self.cones:
            rises = {
                "nonnegative": (1,),
                "second_order": (1, *(0,) * (cone.rows - 1)),
                "exponential": (-1, 0, 1),
                "power": (1, 1, 0),
            }.get(cone.kind, (0,))
            raised[at : at + cone.rows] = np.resize(rises, cone.rows)
            at += cone.rows
        return rows.size > 0 and bool(np.all(raised[rows] * values > 0.0))

    def repeated(self, places: Index, size: int) -> Conic:
        """The sum over the rows of `places` of this function of those entries of z; no entry is in two rows."""
        count = places.shape[0]
        curvature, slope = np.zeros(size), np.zeros(size)
        curvature[places], slope[places] = np.asarray(self.curvature), np.asarray(self.slope)
        number = np.arange(count)[:, None]
        down = (self.of_z.row + self.offset.size * number).reshape(-1)
        z = MatrixEntries(down, places[:, self.of_z.column].reshape(-1), np.tile(self.of_z.value, count))
        u = MatrixEntries(
            (self.of_u.row + self.offset.size * number).reshape(-1),
            (self.of_u.column + self.extra * number).reshape(-1),
            np.tile(self.of_u.value, count),
        )
        return Conic(
            size,
            count * self.extra,
            curvature,
            slope,
            np.tile(_full(self.extra_curvature, self.extra), count),
            np.tile(_full(self.extra_slope, self.extra), count),
            count * self.constant,
            z,
            u,
            np.tile(self.offset, count),
            _merged(self.cones * count),
        )


def _merged(cones: tuple[Cone, ...]) -> tuple[Cone, ...]:
    """Cones of which neighbours are one where they are intervals, or of three rows and of one kind."""
    found: list[Cone] = []
    for cone in cones:
        last = found[-1] if found else None
        joins = last is not None and (cone.is_separable or cone.is_of_three)
        if last is not None and joins and (last.kind, last.power) == (cone.kind, cone.power):
            found[-1] = last._replace(rows=last.rows + cone.rows)
        else:
            found.append(cone)
    return tuple(found)


def _full(value: ArrayLike, size: int) -> Array:
    found = np.asarray(value, dtype=np.float64)
    return found if found.shape == (size,) else np.full(size, found)


class ConicRow(NamedTuple):
    """A row  of_z z_i + sum_k of_u[k] u_ik + offset >= 0  for each entry i."""

    of_z: ArrayLike
    of_u: tuple[float, ...]
    offset: ArrayLike


class ConicTriple(NamedTuple):
    """Three rows for each entry in an exponential or a power cone."""

    rows: tuple[ConicRow, ConicRow, ConicRow]
    kind: str = "exponential"
    power: float = 0.0


def by_entries(
    size: int,
    pieces: Sequence[ConicRow] = (),
    extras: Sequence[tuple[ArrayLike, ArrayLike]] = (),
    curvature: ArrayLike = 0.0,
    slope: ArrayLike = 0.0,
    constant: ArrayLike = 0.0,
    weights: ArrayLike = 1.0,
    triples: Sequence[ConicTriple] = (),
) -> Conic:
    """sum_i w_i f_i(z_i): for each entry the unknowns `extras`, each with its curvature and slope, the rows `pieces` and the cones `triples`.

    An entry without a weight has no rows, in which its unknowns would have no price.
    """
    w = _full(weights, size)
    live = (w > 0.0).nonzero()[0]
    n = live.size
    row = np.arange(n)

    def own(value: ArrayLike) -> ArrayLike:
        return value if n == size or isinstance(value, float | int) else _full(value, size)[live]

    def priced(values: Sequence[ArrayLike]) -> Array:
        return np.concatenate([np.multiply(prices, own(value)) for value in values]) if values else np.zeros(0)

    prices = w if n == size else w[live]
    # the rows of a piece follow each other; those of a cone are next to each other
    placed = [(k * n + row, p) for k, p in enumerate(pieces)]
    for k, triple in enumerate(triples):
        placed += [((len(pieces) + 3 * k) * n + 3 * row + j, p) for j, p in enumerate(triple.rows)]
    offset = np.zeros(n * len(placed))
    for at, p in placed:
        offset[at] = own(p.offset)
    cones = (Cone("nonnegative", n * len(pieces)), *(Cone(t.kind, 3 * n, t.power) for t in triples))
    return Conic(
        size,
        n * len(extras),
        np.multiply(w, curvature),
        np.multiply(w, slope),
        priced([c for c, _ in extras]),
        priced([s for _, s in extras]),
        float(w @ _full(constant, size)) if _is_some(constant) else 0.0,
        joined([MatrixEntries(at, live, _full(own(p.of_z), n)) for at, p in placed if _is_some(p.of_z)]),
        joined(
            [
                MatrixEntries(at, j * n + row, np.full(n, float(value)))
                for at, p in placed
                for j, value in enumerate(p.of_u)
                if value != 0.0
            ]
        ),
        offset,
        tuple(cone for cone in cones if cone.rows),
        live if len(extras) == 1 else np.tile(live, len(extras)),
    )


def _is_some(value: ArrayLike) -> bool:
    """True unless a number, or all of an array, is 0."""
    return bool(value if isinstance(value, float | int) else np.any(value))


def norm1_form(size: int, c: float) -> Conic:
    """c |z|_1: u >= z, u >= -z at the price c sum(u)."""
    return by_entries(size, (ConicRow(1.0, (1.0,), 0.0), ConicRow(-1.0, (1.0,), 0.0)), ((0.0, c),))


def norm_inf_form(size: int, c: float) -> Conic:
    """c |z|_inf: t >= z, t >= -z at the price c t."""
    at = np.arange(size)
    z = entries(np.arange(2 * size), np.tile(at, 2), np.repeat([1.0, -1.0], size))
    t = entries(np.arange(2 * size), 0, 1.0) if size else NO_ENTRIES
    return Conic(
        size, 1, extra_slope=c, of_z=z, of_u=t, offset=np.zeros(2 * size), cones=(Cone("nonnegative", 2 * size),)
    )


def max_form(size: int, c: float) -> Conic:
    """c max z: t >= z at the price c t."""
    rows = np.arange(size)
    return Conic(
        size,
        1 if size else 0,
        extra_slope=c,
        of_z=entries(rows, rows, -1.0) if size else NO_ENTRIES,
        of_u=entries(rows, 0, 1.0) if size else NO_ENTRIES,
        offset=np.zeros(size),
        cones=(Cone("nonnegative", size),) if size else (),
    )


def sum_largest_form(size: int, c: float, k: int) -> Conic:
    """c times the sum of the k largest: the least k t + sum u with u >= 0 and u >= z - t, at the price c."""
    if not size:
        return Conic(0)
    at = np.arange(size)
    above = [entries(at, at, -1.0), entries(at, 0, 1.0), entries(at, 1 + at, 1.0)]  # u + t - z
    return Conic(
        size,
        size + 1,
        extra_slope=np.concatenate([[c * k], np.full(size, c)]),
        of_z=above[0],
        of_u=joined([above[1], above[2], entries(size + at, 1 + at, 1.0)]),
        offset=np.zeros(2 * size),
        cones=(Cone("nonnegative", 2 * size),),
        owner=np.concatenate([[-1], at]),
    )


def log_sum_exp_form(size: int, c: float) -> Conic:
    """c log sum exp z: the price c t with exp(z - t) <= u and sum u <= 1."""
    if not size:
        return Conic(0)
    at = np.arange(size)
    row = 1 + 3 * at
    return Conic(
        size,
        size + 1,
        extra_slope=np.concatenate([[c], np.zeros(size)]),
        of_z=entries(row, at, 1.0),
        of_u=joined([entries(row, 0, -1.0), entries(row + 2, 1 + at, 1.0), entries(0, 1 + at, -1.0)]),
        offset=np.concatenate([[1.0], np.tile([0.0, 1.0, 0.0], size)]),
        cones=(Cone("nonnegative", 1), Cone("exponential", 3 * size)),
    )


def norm_p_form(size: int, c: float, p: float) -> Conic:
    """c |z|_p: |z_i| <= u_i^(1/p) t^(1 - 1/p) with sum u = t, at the price c t; of 1 and 2 the forms of these."""
    if not size or p in (1.0, 2.0):
        return norm1_form(size, c) if p == 1.0 else norm2_form(size, c)
    at = np.arange(size)
    row = 1 + 3 * at
    return Conic(
        size,
        size + 1,
        extra_slope=np.concatenate([[c], np.zeros(size)]),
        of_z=entries(row + 2, at, 1.0),
        of_u=joined(
            [entries(0, 0, 1.0), entries(0, 1 + at, -1.0), entries(row, 1 + at, 1.0), entries(row + 1, 0, 1.0)]
        ),
        offset=np.zeros(1 + 3 * size),
        cones=(Cone("zero", 1), Cone("power", 3 * size, 1.0 / p)),
    )


def geo_mean_form(shares: Array, c: float) -> Conic:
    """-c prod z_k^(a_k): u_k <= u_(k-1)^(1 - p_k) z_k^(p_k) with u_1 = z_1, p_k = a_k / (a_1 + ... + a_k), at the price -c of the last.

    An entry without a share is at least 0, and no more.
    """
    size = shares.size
    live, rest = np.flatnonzero(shares > 0.0), np.flatnonzero(shares == 0.0)
    count = live.size - 1
    bounds = (Cone("nonnegative", rest.size),) if rest.size else ()
    if count <= 0:
        every = np.concatenate([rest, live])
        slope = np.zeros(size)
        slope[live] = -c
        cones = (Cone("nonnegative", size),) if size else ()
        return Conic(size, slope=slope, of_z=entries(np.arange(size), every, 1.0), offset=np.zeros(size), cones=cones)
    k = np.arange(count)
    row = rest.size + 3 * k
    powers = shares[live][1:] / np.cumsum(shares[live])[1:]
    others = entries(row[1:], k[1:] - 1, 1.0) if count > 1 else NO_ENTRIES
    return Conic(
        size,
        count,
        extra_slope=np.where(k == count - 1, -c, 0.0),
        of_z=joined(
            [entries(np.arange(rest.size), rest, 1.0), entries(row[0], live[0], 1.0), entries(row + 1, live[1:], 1.0)]
        ),
        of_u=joined([others, entries(row + 2, k, 1.0)]),
        offset=np.zeros(rest.size + 3 * count),
        cones=(*bounds, *(Cone("power", 3, 1.0 - float(p)) for p in powers)),
    )


def lengths_form(order: Index, start: Index, prices: Array, size: int) -> Conic:
    """sum_g prices_g |z_g|_2 of groups, g being order[start[g]:start[g + 1]]: (t_g, z_g) in a second-order cone at the price of t_g."""
    counts = np.diff(start)
    heads = start[:-1] + np.arange(counts.size)
    tails = np.arange(order.size) + 1 + np.repeat(np.arange(counts.size), counts)
    return Conic(
        size,
        counts.size,
        extra_slope=prices,
        of_z=entries(tails, order, 1.0) if order.size else NO_ENTRIES,
        of_u=entries(heads, np.arange(counts.size), 1.0) if counts.size else NO_ENTRIES,
        offset=np.zeros(order.size + counts.size),
        cones=tuple(Cone("second_order", int(k) + 1) for k in counts),
    )


def norm2_form(size: int, c: float) -> Conic:
    """c |z|_2."""
    return lengths_form(np.arange(size), np.array([0, size]), np.array([c]), size)


def box_form(lo: Array, hi: Array) -> Conic:
    """lo <= z <= hi: a row for each finite bound, an equality where both are one number."""
    is_wide = lo < hi
    fixed, below, above = (at.nonzero()[0] for at in (lo == hi, is_wide & (lo > -math.inf), is_wide & (hi < math.inf)))
    places = np.concatenate([fixed, below, above])
    signs = np.ones(places.size)
    signs[fixed.size + below.size :] = -1.0
    bounds = np.concatenate([-lo[fixed], -lo[below], hi[above]])
    cones = (Cone("zero", fixed.size), Cone("nonnegative", below.size + above.size))
    return Conic(
        lo.size,
        of_z=MatrixEntries(np.arange(places.size), places, signs),
        offset=bounds,
        cones=tuple(c for c in cones if c.rows),
    )


def budget_form(size: int, r: float, prices: ArrayLike = -1.0, kind: str = "nonnegative") -> Conic:
    """<-prices, z> <= r, or equal to it."""
    z = entries(0, np.arange(size), prices) if size else NO_ENTRIES
    return Conic(size, of_z=z, offset=np.array([r]), cones=(Cone(kind, 1),))


def within_form(norm: Conic, prices: Array, r: float) -> Conic:
    """<prices, u> <= r for the unknowns u of a norm's form, which then have no price: the ball of radius r."""
    free = Conic(norm.size, norm.extra, of_z=norm.of_z, of_u=norm.of_u, offset=norm.offset, cones=norm.cones)
    row = norm.offset.size
    return Conic(
        free.size,
        free.extra,
        of_z=free.of_z,
        of_u=joined([free.of_u, entries(row, np.arange(free.extra), -prices)]) if free.extra else free.of_u,
        offset=np.append(free.offset, r),
        cones=(*free.cones, Cone("nonnegative", 1)),
    )


def hull_form(vertices: Array) -> Conic:
    """The hull of the rows of a matrix: z = V'u with u >= 0 and sum u = 1."""
    count, size = vertices.shape
    rows, columns = np.nonzero(vertices.T)
    of_u = [entries(np.arange(count), np.arange(count), 1.0), entries(count, np.arange(count), 1.0)]
    return Conic(
        size,
        count,
        of_z=entries(count + 1 + np.arange(size), np.arange(size), 1.0) if size else NO_ENTRIES,
        of_u=joined([*of_u, MatrixEntries(count + 1 + rows, columns, -vertices.T[rows, columns])]),
        offset=np.concatenate([np.zeros(count), [-1.0], np.zeros(size)]),
        cones=(Cone("nonnegative", count), Cone("zero", 1 + size)),
    )


def transport_form(of_rows: Array, of_columns: Array) -> Conic:
    """z >= 0 with these sums of the rows and the columns of its matrix. The last column's follows from the others."""
    n, d = of_rows.size, of_columns.size
    at = np.arange(n * d)
    kept = at % d < d - 1
    return Conic(
        n * d,
        of_z=joined(
            [
                entries(at, at, 1.0),
                entries(n * d + at // d, at, 1.0),
                entries(n * d + n + at[kept] % d, at[kept], 1.0),
            ]
        ),
        offset=np.concatenate([np.zeros(n * d), -of_rows, -of_columns[:-1]]),
        cones=(Cone("nonnegative", n * d), Cone("zero", n + d - 1)) if n else (),
    )


def semidefinite_form(order: int) -> Conic:
    """The symmetric part of a flat matrix is positive semidefinite."""
    i, j = np.triu_indices(order)
    row = np.arange(i.size)
    half = np.where(i == j, 0.5, math.sqrt(0.5))
    z = joined([MatrixEntries(row, i * order + j, half), MatrixEntries(row, j * order + i, half)])
    cones = (Cone("semidefinite", i.size),) if order else ()
    return Conic(order * order, of_z=z, offset=np.zeros(i.size), cones=cones)
