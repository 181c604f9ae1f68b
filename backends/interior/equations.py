r"""Equations that need no step: those that follow from others, and those of two unknowns, of which one goes.

- An equation is a combination of others, a_i = E'l. Where b_i = b'l it says nothing more, and its multiplier is 0. The rows are scaled to length 1:
  a pivot of the Cholesky factor of E E' is then the squared distance of a row from the span of those before it. Small ones are suspects: a solution
  of least squares says whether the rows are combinations but for rounding.
- a v_j + b v_k = d puts v_j = (d - b v_k) / a in all rows, those of v_j's bounds and cones among them, which become rows of v_k. Stationarity of the
  column of v_j gives the multiplier of the equation.

Source: Andersen, Andersen, "Presolving in linear programming", 1995; Andersen, "Finding all linearly dependent rows in large-scale linear
programming", 1995.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dpotrf, dpotrs, dpstrf
from scipy.sparse import csc_array, csr_array, eye_array
from scipy.sparse.linalg import splu

from fwdsl.atoms.base import Array
from fwdsl.backends.interior.blocked import Look, Solve
from fwdsl.backends.interior.program import ConicProgram, Entries, levelled, part_of
from fwdsl.backends.interior.sizes import DENSE_SHARE
from fwdsl.canon.maps import by_rows
from fwdsl.light_dataclass import light_dataclass

Index = NDArray[np.intp]

ROUNDING = 64.0 * float(np.finfo(np.float64).eps)
"""The part that rounding leaves of a combination of rows, beside the sum of the sizes of its numbers."""

SUSPECT = 1e-9
"""The squared distance of a row of length 1 from the span of others from which on it is no suspect."""

SHIFT = 1e-13
"""The number added to the diagonal of E E', so that its factorisation goes on where it is singular."""

DENSE = 200
"""Equations up to which E E' is factored with its zeros."""

MOST, FILLED = 20_000, 2.0
"""Equations, and entries of E E' for each entry of the program, up to which dependent ones are looked for: a factorisation costs little then."""

LITTLE = 1e6
"""Multiplications of E E' with all zeros up to which they take less time than SciPy's calls for a sparse one."""

MANY = 100
"""Suspects from which on none is looked at."""

PEELS = 50
"""Times that equations with an unknown of their own are set aside."""

FEW, LONGEST = 6, 30
"""Entries of the column of an unknown that goes, and of the column that it moves into."""

LEAST = 1e-3
"""The least entry of the unknown that goes beside the other, both levelled: a smaller one would enlarge what others miss."""

MISSED = 1e-9
"""The part of the numbers that it is the sum of by which the side of an equation may miss that of the equations it follows from: more contradicts
them. Data have rounding of their own, which may be larger than that of sums; no point meets both sides, however small the difference is."""

WORTH = 0.05
"""The least number of equations of two unknowns for each unknown at which they are taken out: fewer save less than finding them costs."""


class _Linked(NamedTuple):
    """Unknowns v_j that go, their equations a v_j + b v_k = d, the unknowns v_k, and the numbers a and b."""

    columns: Index
    rows: Index
    others: Index
    entry: Array
    of_other: Array


@light_dataclass
class Eliminated:
    """Equations that were taken out of a program, each alone or with an unknown, and the way back to its points."""

    whole: ConicProgram
    rows: Index  # those that are left
    columns: Index
    linked: _Linked
    dependent: int
    priced: bool = True  # whether multipliers weigh the objective

    def unknowns(self, v: Array, tau: float) -> Array:
        """The unknowns of the whole program, for tau times its numbers."""
        found, at = np.zeros(self.whole.c.size), self.linked
        found[self.columns] = v
        found[at.columns] = (tau * self.whole.b[at.rows] - at.of_other * found[at.others]) / at.entry
        return found

    def multipliers(self, v: Array, z: Array, tau: float) -> Array:
        """The multipliers of all rows, at the unknowns of the whole program."""
        whole, at, found = self.whole, self.linked, np.zeros(self.whole.b.size)
        found[self.rows] = z
        if at.columns.size:
            slope = whole.A.T @ found
            if self.priced:
                slope += whole.P @ v + tau * whole.c
            found[at.rows] = -slope[at.columns] / at.entry
        return found

    def left(self, sizes: Array) -> tuple[Any, Array, csr_array, Array, Array]:
        """P, c, A and b of the program without them, at v = M w + v0 for the unknowns w that are left; and the sizes of the numbers that b is the sum
        of, which were `sizes`."""
        whole, at = self.whole, self.linked
        if not at.columns.size:
            A = part_of(whole.A, self.rows, np.arange(whole.c.size))
            return whole.P, whole.c, A, whole.b[self.rows], sizes[self.rows]
        v0 = self.unknowns(np.zeros(self.columns.size), 1.0)
        place = np.empty(whole.c.size, dtype=np.intp)
        place[self.columns] = np.arange(self.columns.size)
        one = np.ones(self.columns.size), (self.columns, place[self.columns])
        other = -at.of_other / at.entry, (at.columns, place[at.others])
        row, column = (np.concatenate([a, b]) for a, b in zip(one[1], other[1], strict=True))
        M = csr_array((np.concatenate([one[0], other[0]]), (row, column)), (whole.c.size, self.columns.size))
        A = whole.A[self.rows]
        P = M.T @ whole.P @ M
        P = P if isinstance(P, np.ndarray) else csr_array(P)
        of_v0 = np.zeros(whole.c.size)
        of_v0[at.columns] = sizes[at.rows] / np.abs(at.entry)
        sizes = sizes[self.rows] + abs(A) @ of_v0
        return P, M.T @ (whole.c + whole.P @ v0), _sum_of_products(A, M), whole.b[self.rows] - A @ v0, sizes


def _sum_of_products(A: csr_array, M: csr_array) -> csr_array:
    """A M, without the entries that are 0 but for rounding."""
    found, size = csr_array(A @ M), csr_array(abs(A) @ abs(M))
    # products leave out the sums that are 0 to the last bit, so the two need not have the same entries
    keeps = abs(found) > ROUNDING * size
    found = csr_array(found.multiply(keeps))
    found.eliminate_zeros()
    found.sort_indices()
    return found


class Contradiction(Exception):
    """Equations contradict each other by more than rounding."""


def eliminated(
    program: ConicProgram, look: Look, rows_may_go: NDArray[np.bool_], may_go: NDArray[np.bool_], dependent_ones: bool
) -> Eliminated | None:
    """The equations to take out, those that follow from others among them where they are asked for; None if there are none.

    Raises `Contradiction`.
    """
    k = program.equations
    if not k:
        return None
    gone = np.zeros(program.b.size, dtype=bool)
    if dependent_ones:
        gone[_dependent(program, rows_may_go[:k], look)] = True
    dependent = int(np.count_nonzero(gone))
    linked = _linked(program, rows_may_go[:k] & ~gone[:k], may_go, gone, look)
    if not (dependent or linked.rows.size):
        return None
    gone[linked.rows] = True
    live = np.ones(program.c.size, dtype=bool)
    live[linked.columns] = False
    if gone.all():
        return None
    return Eliminated(program, np.flatnonzero(~gone), np.flatnonzero(live), linked, dependent)


# --- equations of two unknowns ----------------------------------------------------------------------------------------


def _linked(
    program: ConicProgram, able: NDArray[np.bool_], may_go: NDArray[np.bool_], gone: NDArray[np.bool_], look: Look
) -> _Linked:
    """Equations of two unknowns of which one may go. No unknown that goes is in another of them, and `gone` rows count no more."""
    A, none = program.A, np.zeros(0, dtype=np.intp)
    rows = np.flatnonzero(able & (np.diff(A.indptr[: able.size + 1]) == 2))
    if rows.size < max(1.0, WORTH * program.c.size) or any(p.form.owned for p in program.parts):
        return _Linked(none, none, none, np.zeros(0), np.zeros(0))
    first = A.indptr[rows]
    pair, entry = A.indices[np.stack([first, first + 1])], A.data[np.stack([first, first + 1])]
    seen = np.bincount(A.indices, weights=np.repeat(~gone, np.diff(A.indptr)), minlength=program.c.size)
    may_go = may_go & ~_coupled(program.P)
    size = np.abs(entry) * _levels(A, look)[1][pair]
    fits = may_go[pair] & (seen[pair] <= FEW) & (size >= LEAST * size[::-1]) & (size > 0.0)
    fits &= (seen[pair[0]] + seen[pair[1]] <= LONGEST) & (size[::-1] > 0.0) & (pair[0] != pair[1])
    # the one with fewer entries goes; of two alike that with the larger number, by which the other is multiplied least
    better = (seen[pair[0]] < seen[pair[1]]) | ((seen[pair[0]] == seen[pair[1]]) & (size[0] >= size[1]))
    which = np.where(fits[0] & (better | ~fits[1]), 0, 1)
    at = np.flatnonzero(fits.any(axis=0))
    taken = np.zeros(program.c.size, dtype=bool)
    chosen = []
    for i in at.tolist():
        j, k = pair[which[i], i], pair[1 - which[i], i]
        # an unknown that two equations share waits for the next time
        if not (taken[j] or taken[k]):
            taken[j] = taken[k] = True
            chosen.append(i)
    at = np.array(chosen, dtype=np.intp)
    own = which[at]
    return _Linked(pair[own, at], rows[at], pair[1 - own, at], entry[own, at], entry[1 - own, at])


def _coupled(P: Any) -> NDArray[np.bool_]:
    """The unknowns whose curvature another one shares: putting one into the other would fill P up."""
    if isinstance(P, np.ndarray):
        return np.asarray((P != 0.0).sum(axis=0) > (P.diagonal() != 0.0))
    at = P.tocoo()
    off = (at.row != at.col) & (at.data != 0.0)
    found = np.zeros(P.shape[0], dtype=bool)
    found[at.row[off]] = found[at.col[off]] = True
    return found


# --- equations that follow from others --------------------------------------------------------------------------------


def _dependent(program: ConicProgram, able: NDArray[np.bool_], look: Look) -> Index:
    """The equations that are combinations of others. Raises `Contradiction` where their sides are not."""
    k, none = program.equations, np.zeros(0, dtype=np.intp)
    core = _core(program.A, k) if k <= MOST else none
    core = core[able[core]]
    if core.size < 2:
        return none
    E = part_of(program.A, core, np.arange(program.c.size))
    squares = float(np.square(np.bincount(E.indices).astype(float)).sum())
    if core.size > DENSE and squares > FILLED * program.A.nnz:
        return none
    look()
    E, b = _levelled(E, program.b[core], look)
    try:
        suspects, solve = _suspects_of_few(E) if core.size <= DENSE else _suspects(E)
    except (RuntimeError, np.linalg.LinAlgError):
        return none
    look()
    if not suspects.size or suspects.size > MANY:
        return none
    kept = np.ones(core.size, dtype=bool)
    kept[suspects] = False
    K, wanted = E[np.flatnonzero(kept)], E[suspects].T.toarray()
    weights, rest = np.zeros((K.shape[0], suspects.size)), wanted
    for _ in range(3):
        weights = weights + solve(K @ rest)
        rest = wanted - K.T @ weights
    size = np.abs(wanted) + abs(K).T @ np.abs(weights)
    follows = np.isfinite(weights).all(axis=0) & (np.abs(rest) <= ROUNDING * size.max(axis=0)).all(axis=0)
    missed = np.abs(b[suspects] - weights.T @ b[kept])
    # at a solution x of those that are kept both sides are sums of products of x, and no more is known of them than of these
    x = K.T @ solve(b[kept])
    of_b = np.abs(b[suspects]) + np.abs(weights).T @ np.abs(b[kept]) + size.T @ np.abs(x)
    follows &= np.isfinite(of_b)
    if np.any(follows & (missed > MISSED * of_b)):
        raise Contradiction
    return np.asarray(core[suspects[follows]])


def _core(A: csr_array, k: int) -> Index:
    """The equations, the first k rows, that are left when those with an unknown of their own are set aside, again and again: these follow from no
    others."""
    row = np.repeat(np.arange(k), np.diff(A.indptr[: k + 1]))
    column, live = A.indices[: row.size], np.ones(k, dtype=bool)
    for _ in range(PEELS):
        alone = np.bincount(column)[column] == 1
        if not alone.any():
            break
        live[row[alone]] = False
        left = live[row]
        row, column = row[left], column[left]
    live &= np.bincount(row, minlength=live.size) > 0
    return np.flatnonzero(live)


def _levelled(E: csr_array, b: Array, look: Look) -> tuple[csr_array, Array]:
    """E with rows and columns levelled, so that rows are about 1 long, and b with the factors of the rows."""
    row, column = _levels(E, look)
    entry = E.data * np.repeat(row, np.diff(E.indptr)) * column[E.indices]
    length = _power(np.sqrt(np.bincount(_rows_of(E), np.square(entry), row.size)))
    return by_rows(entry * np.repeat(length, np.diff(E.indptr)), E.indices, E.indptr, E.shape), b * row * length


def _levels(A: csr_array, look: Look) -> tuple[Array, Array]:
    """Factors of the rows and columns of A, in whatever units they are, that bring the geometric means of their entries to about 1.

    They are powers of 2, which leave the digits as they are.
    """
    # each column is of a kind of its own: nothing holds units together
    scale = np.exp2(np.rint(levelled(Entries.of(A), None, look)))
    return scale[: A.shape[0]], scale[A.shape[0] :]


def _rows_of(A: csr_array) -> Index:
    return np.repeat(np.arange(A.shape[0]), np.diff(A.indptr))


def _power(size: Array) -> Array:
    return np.asarray(np.ldexp(1.0, -np.frexp(np.where(size > 0.0, size, 1.0))[1]))


def _suspects_of_few(E: csr_array) -> tuple[Index, Solve]:
    """The rows whose pivots are small, and what solves with E E' of the others."""
    if E.nnz > DENSE_SHARE * E.shape[0] * E.shape[1] or E.shape[0] ** 2 * E.shape[1] <= LITTLE:
        full = E.toarray()
        square = full @ full.T
    else:
        square = (E @ E.T).toarray()
    _, order, rank, _ = dpstrf(square, tol=SUSPECT, lower=1)
    if rank == E.shape[0]:
        return np.zeros(0, dtype=np.intp), lambda right: right
    kept = np.sort(order[:rank] - 1)
    is_kept = np.zeros(E.shape[0], dtype=bool)
    is_kept[kept] = True
    suspects = np.flatnonzero(~is_kept)
    L, info = dpotrf(square[np.ix_(kept, kept)], lower=1)
    if info:
        raise np.linalg.LinAlgError("the rows that are kept are dependent, too")
    return suspects, lambda right: np.asarray(dpotrs(L, right, lower=1)[0])


def _suspects(E: csr_array) -> tuple[Index, Solve]:
    """The same by a sparse factor, whose pivots are in an order that hardly fills it."""
    lu = _factor(E)
    # pivot i of the factor is that of the row that has its place
    suspects = np.flatnonzero(lu.U.diagonal()[lu.perm_c] <= SUSPECT)
    if not 0 < suspects.size <= MANY:
        return suspects, lambda right: right
    kept = np.setdiff1d(np.arange(E.shape[0]), suspects)
    again = _factor(E[kept])
    return suspects, lambda right: np.asarray(again.solve(np.ascontiguousarray(right)))


def _factor(E: csr_array) -> Any:
    square = csc_array(E @ E.T + SHIFT * eye_array(E.shape[0]))
    return splu(square, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True})
