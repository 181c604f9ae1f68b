"""The systems of an interior-point step as sparse symmetric matrices that L D L' factors in any order, without pivoting:

    [P + shift, A'; A, -W'W - shift] (dv, dz) = (p, W'r),   u = W dz.

They are quasidefinite: a positive definite block, a negative definite one, and what lies between. So the order of the unknowns, and with it the
places of L's numbers, is found once for all steps. Of a second-order cone W'W is a diagonal with two terms u u' - w w' of rank one; a larger cone
has an unknown for each of them, so that no matrix of its size is written down. What the shift changes is taken back by refinement.

Sources: Vanderbei, "Symmetric quasidefinite matrices", 1995; Domahidi, Chu, Boyd, "ECOS", 2013 (second-order cones); Goulart, Chen 2024.
"""

from __future__ import annotations

import threading
from collections.abc import Hashable, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array
from scipy.sparse.linalg import spilu

from fwdsl.atoms.base import Array
from fwdsl.backends.interior.blocked import Look, attended
from fwdsl.backends.interior.cone_loops import write, write_lengths
from fwdsl.backends.interior.cones import Scalings
from fwdsl.backends.interior.ldl_loops import answer, factor, least_degrees, walk
from fwdsl.backends.interior.program import ORDER, Batch
from fwdsl.backends.interior.sizes import HALF_FULL, ORDERED
from fwdsl.backends.kernels.compile import kernel
from fwdsl.canon.maps import row_by_row

Index = NDArray[np.intp]

Unsigned = NDArray[np.uint32]
"""Places for kernels: unsigned ones need no test, and short ones half the memory."""

SHIFT = 1e-8
"""The amount by which diagonals are moved away from zero, beside entries of about one."""

LEAST = 1e-13
"""The least size of a number of D."""

WHOLE = 4
"""Rows of a second-order cone up to which W'W is written down."""

SMALL = 2_000
"""Unknowns and rows up to which an order is found among the neighbours of each as bits, sooner than SuperLU finds it."""

KEPT, KEPT_ENTRIES = 8, 20_000
"""Patterns of earlier programs that are kept, and the entries of P and A up to which one is."""

LONG = 64
"""Numbers in a row of the system beyond which it comes last, where the few of them fill up no more than they are."""

LARGE = 5_000
"""Unknowns and rows from which on the clock is looked at while an order is found."""

REFINEMENTS, ENOUGH, POOR = 10, 1e-11, 1e-8
"""Refinements of an answer at most, the relative residual that needs no more, and the one from which on the factor is poor."""

OF_DATA, SURELY = 5, 0.7
"""Entries of a row from which on it is one of data, and the share of the multiplications told beforehand from which on no order is looked for."""

SECONDS, OF_A_NUMBER, OF_AN_ENTRY = 4e-10, 1.5e-8, 1.6e-8
"""Seconds of a multiplication of the factorisation, those of a step's answers with a number of L or of the system, and a step's share of those of the
order with an entry of the system."""


class Pattern(NamedTuple):
    """The places of the numbers of the systems of one program, and of those of L."""

    place: Index  # of each unknown, row and further unknown in the order
    entry: Unsigned  # the place in the data of each number that is written, as `Quasidefinite` writes them
    indptr: Unsigned
    indices: Unsigned
    starts: Unsigned
    rows: Unsigned
    row_starts: Unsigned
    columns: Unsigned


def pattern_of(P: Any, A: Any, batches: Sequence[Batch], allowed: float, look: Look) -> Pattern | None:
    """The pattern; None where P or a scaling is filled, entries are too many, or a step with it would take longer than the seconds allowed.

    `look` is asked while an order is found. Small ones are kept for the next program with the same places.
    """
    n, m = P.shape[0], A.shape[0]
    if isinstance(P, np.ndarray) or any(k.kind == ORDER[3] for k in batches) or A.nnz + P.nnz > ORDERED:
        return None
    # a row that goes before its unknowns leaves its square, and so does an unknown that goes before its rows
    of_columns = np.bincount(A.indices, minlength=n)
    squares = min(float(np.square(of, dtype=np.float64).sum()) for of in (np.diff(A.indptr), of_columns))
    if SECONDS * squares + 2.0 * (OF_A_NUMBER + OF_AN_ENTRY) * (A.nnz + 0.5 * P.nnz) > allowed:
        return None
    size = n + m + 2 * sum(k.number for k in batches if _is_split(k))
    key = _key(P, A, batches) if size <= SMALL and A.nnz + P.nnz <= KEPT_ENTRIES else None
    if key is not None and (known := _known(key)) is not None:
        return known.pattern if known.seconds <= allowed else None
    if SURELY * SECONDS * _core(A) > allowed:
        return None
    row, column = _coordinates(P, A, batches)
    if size <= SMALL:
        place = _order_of_few(row, column, size, _waiting(P, A, batches, of_columns, size))
    else:
        place = _supported(_order(row, column, size, look), P, A, batches)
    low, high = np.minimum(place[row], place[column]), np.maximum(place[row], place[column])
    order = row_by_row(high, low, (size, size))
    entry = np.empty_like(order)
    entry[order] = np.arange(order.size)
    indptr = np.concatenate([[0], np.cumsum(np.bincount(high, minlength=size))])
    indices = low[order]
    parent, mark, counts = np.full(size, -1), np.empty(size, dtype=np.intp), np.zeros(size, dtype=np.intp)
    none, symbolic = np.empty(0, dtype=np.intp), kernel(walk)
    symbolic(indptr, indices, parent, mark, counts, none, none, none)
    starts = np.concatenate([[0], np.cumsum(counts)])
    rows, columns = np.empty((2, int(starts[-1])), dtype=np.intp)
    seconds = SECONDS * float(np.square(counts, dtype=np.float64).sum()) + OF_A_NUMBER * float(rows.size + row.size)
    if seconds > allowed:
        return None
    row_starts = np.empty(size + 1, dtype=np.intp)
    symbolic(indptr, indices, parent, mark, starts[:-1].copy(), rows, row_starts, columns)
    found = (entry, indptr, indices, starts, rows, row_starts, columns)
    pattern = Pattern(place, *(a.astype(np.uint32) for a in found))
    if key is not None:
        _keep(key, _Kept(seconds, pattern))
    return pattern


def _core(A: Any) -> float:
    """About the multiplications of a factor of what rows of data leave in any order, which fills up as those of random matrices do: of the order of
    their number or that of the unknowns that they see, whichever is less."""
    each = np.diff(A.indptr)
    data = each >= OF_DATA
    seen = np.count_nonzero(np.bincount(A.indices[np.repeat(data, each)], minlength=1))
    if not seen:
        return 0.0
    met = float(np.square(each[data], dtype=np.float64).sum()) / seen
    return met**2 / (met**2 + HALF_FULL**2) * float(min(np.count_nonzero(data), seen)) ** 3 / 3.0


class _Kept(NamedTuple):
    """A pattern, and the seconds that a step with it takes."""

    seconds: float
    pattern: Pattern


_patterns: dict[Hashable, _Kept] = {}
"""The last patterns, the latest at the end, by all that they depend on."""

_of_patterns = threading.Lock()


def _key(P: Any, A: Any, batches: Sequence[Batch]) -> Hashable:
    """The numbers that the pattern of a program depends on."""
    places = (a.tobytes() for a in (P.indptr, P.indices, P.diagonal() == 0.0, A.indptr, A.indices))
    return P.shape, A.shape, tuple(k[:4] for k in batches), *places


def _known(key: Hashable) -> _Kept | None:
    with _of_patterns:
        found = _patterns.pop(key, None)
        if found is not None:
            _patterns[key] = found
    return found


def _keep(key: Hashable, found: _Kept) -> None:
    with _of_patterns:
        _patterns[key] = found
        if len(_patterns) > KEPT:
            del _patterns[next(iter(_patterns))]


def _order_of_few(row: Index, column: Index, size: int, waits: NDArray[np.bool_]) -> Index:
    """The places of all in an order that hardly fills the factor of a symmetric matrix with numbers at these places of one triangle, each once, and
    in which those that wait come after a neighbour."""
    (degree, moved), place = np.zeros((2, size), dtype=np.intp), np.full(size, -1)
    adjacent = np.zeros((size, -(-size // 32)), dtype=np.int64)
    kernel(least_degrees)(row, column, waits, adjacent, degree, moved, place)
    return place


def _waiting(P: Any, A: Any, batches: Sequence[Batch], of_columns: Index, size: int) -> NDArray[np.bool_]:
    """True for what has the shift alone as its number of D where it goes before all its neighbours, which costs half of the digits: equations, and
    unknowns without a square that rows see which are none. `of_columns` are the entries of the columns of A."""
    n = P.shape[0]
    equations = batches[0].rows if batches and batches[0].kind == ORDER[0] else 0
    last = A.indptr[equations]
    of_others = of_columns - np.bincount(A.indices[:last], minlength=n) if equations else of_columns
    waits = np.zeros(size, dtype=np.bool_)
    waits[:n] = (of_others > 0) & (P.diagonal() == 0.0)
    waits[n : n + equations] = True
    return waits


def _order(row: Index, column: Index, size: int, look: Look) -> Index:
    """The same by SuperLU, which lets nothing wait.

    A few long rows come last: among them the factor is full in any order, and the order of the others is found in a fraction of the time.
    """
    long, rest = np.zeros(size, dtype=np.bool_), np.arange(row.size)
    while True:
        numbers = np.bincount(row[rest], minlength=size) + np.bincount(column[rest], minlength=size)
        most = int(numbers.max(initial=0))
        if most <= LONG:
            break
        # the longest first: without them those that only they met are short
        long |= 2 * numbers > most
        if np.count_nonzero(long) ** 2 > row.size:
            return _by_superlu(row, column, size, look)
        rest = rest[~(long[row[rest]] | long[column[rest]])]
    place, within, short = np.empty(size, dtype=np.intp), np.cumsum(~long) - 1, size - np.count_nonzero(long)
    place[~long] = _by_superlu(within[row[rest]], within[column[rest]], int(short), look)
    place[long] = np.arange(short, size)
    return place


def _by_superlu(row: Index, column: Index, size: int, look: Look) -> Index:
    """The places in an order by minimum degrees."""
    if not size:
        return np.zeros(0, dtype=np.intp)
    dominant = _dominant(row, column, size)
    options = {"SymmetricMode": True, "Equil": False}

    def ordered() -> Index:
        # an incomplete factor that keeps next to nothing: its order is that of the whole one
        lu = spilu(
            dominant, drop_tol=1.0, fill_factor=1.0, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options=options
        )
        return lu.perm_c.astype(np.intp)  # type: ignore[no-any-return]

    return attended(ordered, look) if size > LARGE else ordered()


def _dominant(row: Index, column: Index, size: int) -> csc_array:
    """A symmetric matrix with numbers at these places and those across the diagonal, which is larger than the sum of the others in its column."""
    off = row != column
    row, column = row[off], column[off]
    kind = np.int32 if size < 1 << 15 else np.int64
    key = np.concatenate([row * size + column, column * size + row, np.arange(size) * (size + 1)]).astype(kind)
    # a sort of the places themselves takes a third of the time that one of their order takes
    key.sort()
    indices, starts = key % size, np.searchsorted(key, np.arange(size + 1) * kind(size))
    data = np.ones(key.size)
    data[indices == np.repeat(np.arange(size), np.diff(starts))] += np.diff(starts)
    return csc_array((data, indices, starts), (size, size))


def _supported(place: Index, P: Any, A: Any, batches: Sequence[Batch]) -> Index:
    """An order like this one in which fewer numbers of D are the shift alone, which costs half of the digits.

    So is that of an unknown without a square that goes before all its rows, and of an equation that goes before all its unknowns. The neighbour that
    comes next goes before it: what is left once both are eliminated is the same. (Two of them may still share a neighbour.)
    """
    n, m = P.shape[0], A.shape[0]
    key = place.astype(np.float64)
    row, column = np.repeat(np.arange(m), np.diff(A.indptr)), A.indices
    equation = np.zeros(m, dtype=bool)
    for batch in batches:
        equation[batch.start : batch.stop] = batch.kind == ORDER[0]
    of_equation = equation[row]
    advance(key, n + row[of_equation], column[of_equation], 0.5)
    plain = ~of_equation & (P.diagonal() == 0.0)[column]
    advance(key, column[plain], n + row[plain], 0.25)
    found = np.empty_like(place)
    found[np.argsort(key, kind="stable")] = np.arange(place.size)
    return found


def advance(key: Array, waiting: Index, neighbour: Index, by: float) -> None:
    """Put the first neighbour of those that go before all of theirs before them, in place."""
    theirs, first = key[neighbour], np.full(key.size, np.inf)
    np.minimum.at(first, waiting, theirs)
    # no two neighbours have one key
    late = np.flatnonzero((theirs == first[waiting]) & (theirs > key[waiting]))
    np.minimum.at(key, neighbour[late], key[waiting[late]] - by)


@lru_cache(maxsize=16)
def _above(rows: int) -> tuple[Index, Index]:
    """The rows and columns of the entries above the diagonal of a matrix of so many rows, row by row."""
    return np.triu_indices(rows, 1)


def _is_split(batch: Batch) -> bool:
    return batch.kind == ORDER[2] and batch.rows > WHOLE


def _coordinates(P: Any, A: Any, batches: Sequence[Batch]) -> tuple[Index, Index]:
    """The rows and columns of the numbers of a system, each pair once: P without its diagonal above it, A, the diagonal, and those of W'W."""
    n, m = P.shape[0], A.shape[0]
    upper, above = _upper(P)
    size, row, column = n + m, [], []
    for batch in batches:
        at = n + batch.start + np.arange(batch.number * batch.rows).reshape(batch.number, batch.rows)
        if _is_split(batch):
            row.append(np.concatenate([at, at[:, 1:]], axis=1))
            one, other = np.repeat([0, 1], [batch.rows, batch.rows - 1]), np.arange(batch.number)
            column.append(size + 2 * other[:, None] + one)
            size += 2 * batch.number
        elif batch.kind not in ORDER[:2]:
            i, j = _above(batch.rows)
            row.append(at[:, i])
            column.append(at[:, j])
    of_A = np.repeat(np.arange(n, n + m), np.diff(A.indptr))
    diagonal = np.arange(size)
    rows = [upper, of_A, diagonal, *(r.reshape(-1) for r in row)]
    return np.concatenate(rows), np.concatenate([above, A.indices, diagonal, *(c.reshape(-1) for c in column)])


def _upper(P: Any) -> tuple[Index, Index]:
    """The rows and columns of the entries of P above its diagonal."""
    row, above = _above_diagonal(P)
    return row[above], P.indices[above]


def _above_diagonal(P: Any) -> tuple[Index, NDArray[np.bool_]]:
    """The rows of the entries of P, and which of these are above its diagonal."""
    row = np.repeat(np.arange(P.shape[0]), np.diff(P.indptr))
    return row, row < P.indices


class Quasidefinite:
    """The systems of one program with these numbers in P and A."""

    def __init__(self, pattern: Pattern, P: Any, A: Any, batches: Sequence[Batch]) -> None:
        self.pattern, self.batches = pattern, batches
        n, m, size = P.shape[0], A.shape[0], pattern.place.size
        place = pattern.place.astype(np.uint32)
        self.of_v, self.of_z, further = place[:n], place[n : n + m], place[n + m :]
        self.data = np.empty(pattern.indices.size)
        above = P.data[_above_diagonal(P)[1]]
        fixed = above.size + A.data.size
        self.data[pattern.entry[: above.size]], self.data[pattern.entry[above.size : fixed]] = above, A.data
        self.written = pattern.entry[fixed:].astype(np.intp)
        self.diagonal = np.zeros(size)
        self.diagonal[:n] = P.diagonal()
        self.signs, self.shift, self.part = np.full(size, -1.0), np.full(size, -SHIFT), np.ones(size, np.int8)
        self.signs[self.of_v], self.shift[self.of_v], self.part[self.of_v] = 1.0, SHIFT, 0
        if further.size:
            self.diagonal[n + m :: 2], self.diagonal[n + m + 1 :: 2] = 1.0, -1.0
            self.signs[further[::2]], self.shift[further] = 1.0, 0.0
        self.work = np.empty((4, size))
        self.write, self.factor, self.answer = kernel(write), kernel(factor), kernel(answer)

    def at(self, scalings: Scalings) -> FactoredQuasidefinite:
        """The system at a scaling, factored. Raises `LinAlgError` where numbers overflow."""
        pattern, of = self.pattern, scalings.numbers
        rows, n, more = of.symmetric, self.of_v.size, self.diagonal.size
        numbers = np.empty(self.written.size)
        numbers[:more] = self.diagonal
        if rows.has_lengths:
            more = kernel(write_lengths)(rows.heads, of.root, of.eta, n, more, WHOLE, numbers)
        self.write(rows.equations, rows.linear, of.threes, of.root, of.own, n, more, numbers)
        data = self.data.copy()
        data[self.written] = numbers
        values, inverse = np.empty(pattern.rows.size), np.empty(self.signs.size)
        good = self.factor(
            pattern.indptr,
            pattern.indices,
            data,
            self.shift,
            pattern.starts,
            pattern.rows,
            pattern.row_starts,
            pattern.columns,
            self.signs,
            LEAST,
            values,
            inverse,
            np.zeros(inverse.size),
            pattern.starts[:-1].copy(),
        )
        if not good:
            raise np.linalg.LinAlgError("the system is singular")
        return FactoredQuasidefinite(self, scalings, data, values, inverse)


class FactoredQuasidefinite:
    """A factored system, solved to rounding; `is_poor` once an answer was not."""

    is_poor = False

    def __init__(self, of: Quasidefinite, scalings: Scalings, data: Array, values: Array, inverse: Array) -> None:
        """`data` are the numbers of the matrix, which L D L' has with its shift."""
        self.of, self.scalings, self.data, self.values, self.inverse = of, scalings, data, values, inverse

    def __call__(self, p: Array, r: Array, harmless: float = 0.0) -> tuple[Array, Array]:
        """The solution (dv, u) for the right-hand sides p and r; entries of what is missed of p may have the size `harmless`."""
        of, pattern = self.of, self.of.pattern
        v, z = np.empty(p.size), np.empty(r.size)
        missed = of.answer(
            pattern.indptr,
            pattern.indices,
            self.data,
            pattern.starts,
            pattern.rows,
            self.values,
            self.inverse,
            of.part,
            of.of_v,
            of.of_z,
            p,
            self.scalings.wt(r),
            harmless,
            REFINEMENTS,
            ENOUGH,
            of.work,
            v,
            z,
        )
        self.is_poor = self.is_poor or not missed <= POOR
        return v, self.scalings.w(z)
