"""Condensed systems beside cones of matrices, whose scalings fill A up.

    P + A'W^-1 W^-T A    is written down, cone by cone, among the unknowns that each of them sees.

Rows of the nonnegative cone stay sparse. Between unknowns that enter one entry of a cone of matrices, W^-1 W^-T is the matrix of V -> H V H,
H = (R R')^-1, which needs no product. A itself stays sparse: products with W^-T A turn the matrices of A v.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from fwdsl.atoms.base import Array
from fwdsl.backends.interior.blocked import Look, Solve, dense_gram, weighted_gram
from fwdsl.backends.interior.cone_loops import INVERSE_T
from fwdsl.backends.interior.cones import Scalings, SecondOrder, Semidefinite, matrices, triangles
from fwdsl.backends.interior.lengths import Lengths
from fwdsl.backends.interior.matrix_loops import congruences
from fwdsl.backends.interior.program import ORDER, Batch
from fwdsl.backends.kernels.compile import kernel
from fwdsl.backends.sparse_rows import Rows
from fwdsl.light_dataclass import light_dataclass

Index = NDArray[np.intp]

WIDE = 0.25
"""The unknowns of several entries of a cone, over those of one, up to which the numbers between the latter are written down without a product."""

SLICES = 64
"""Blocks of a part of the system up to which it is added range by range."""

MOSTLY = 0.8
"""The share of a range of unknowns from which on rows that see so many of them are taken to see all."""


class _Rows(NamedTuple):
    """The rows of a batch of cones, or of one of its cones of matrices, in the unknowns that they see."""

    batch: int
    cone: int | None
    columns: Index
    rows: Array

    def add(self, matrix: Array, scalings: Scalings, look: Look) -> None:
        """Add A'W^-1 W^-T A of these rows."""
        scaling = scalings[self.batch]
        assert scaling is not None
        if self.cone is None:
            scaled = scaling.rows(self.rows)
        else:
            assert isinstance(scaling, Semidefinite)
            scaled = scaling.rows_of(self.cone, self.rows)
        _add_at(matrix, self.columns, self.columns, dense_gram(scaled, look))


class _Matrix(NamedTuple):
    """One cone of matrices, most of whose unknowns enter one entry each; `wide` are the others, with their rows.

    W^-1 W^-T is the matrix of V -> H V H, whose numbers are those between the first ones. Between others sums of these would lose digits: there
    they are products of B V B', H = B'B.
    """

    batch: int
    cone: int
    narrow: Index
    row: Index  # of each narrow unknown
    place: Index | None  # of their numbers in the matrix of all rows; None where they are these
    factor: Array
    wide: Index
    of_wide: Array

    def add(self, matrix: Array, scalings: Scalings, look: Look) -> None:
        """Add A'W^-1 W^-T A of these rows."""
        scaling = scalings[self.batch]
        assert isinstance(scaling, Semidefinite)
        back, rows, count = scaling.back[self.cone], scaling.batch.rows, self.wide.size
        found = np.empty((1, rows, rows))
        kernel(congruences)((back.T @ back)[None], found)
        square: Array = found[0] if self.place is None else found.reshape(-1).take(self.place)
        square *= self.factor
        square *= self.factor[:, None]
        _add_at(matrix, self.narrow, self.narrow, square)
        if not count:
            return
        look()
        turned = back @ matrices(self.of_wide, count, scaling.order) @ back.T
        across = triangles(back.T @ turned @ back)[:, self.row] * self.factor
        _add_at(matrix, self.wide, self.narrow, across)
        _add_at(matrix, self.narrow, self.wide, across.T)
        Y = triangles(turned)
        _add_at(matrix, self.wide, self.wide, Y @ Y.T)


@light_dataclass
class FilledCones:
    """A, its rows of equations without zeros, those of the nonnegative cone, and those of other cones."""

    A: Rows
    At: Rows
    equal: Array
    linear: csr_array
    first: int  # row of these
    filled: tuple[_Rows | _Matrix, ...]
    long: tuple[Lengths, ...]

    @staticmethod
    def of(A: csr_array, batches: Sequence[Batch], equations: int, look: Look) -> FilledCones:
        """The cones, with what no scaling changes."""
        long = Lengths.of(A, np.arange(A.shape[0]), batches, look)
        turned = {of.batch for of in long}
        filled: list[_Rows | _Matrix] = []
        last = equations
        for number, batch in enumerate(batches):
            if batch.kind in ORDER[:2]:
                last = batch.stop
                continue
            own = csr_array(A[batch.start : batch.stop])
            if batch.kind == ORDER[3]:
                for cone in range(batch.number):
                    rows = csr_array(own[cone * batch.rows : (cone + 1) * batch.rows])
                    filled.append(_matrix(rows, number, cone) or _written(rows, number, cone))
                continue
            if number not in turned:
                filled.append(_written(own, number, None))
        return FilledCones(
            Rows(A), Rows(A.T.tocsr()), A[:equations].toarray(), A[equations:last], equations, tuple(filled), long
        )

    def solver(
        self, P: Array, scalings: Scalings, factored: Callable[[Array, Array], Solve], look: Look
    ) -> tuple[Solve, Callable[[Array, Array], tuple[Array, Array]]]:
        """The solver of the system at a scaling, and the products with W^-T A. `factored` solves with a matrix, which it may overwrite, and equations
        below it."""
        n, k = P.shape[0], self.equal.shape[0]
        matrix = np.zeros((n + k, n + k), order="F")
        # symmetric, and by rows as all that is added to it
        upper = matrix[:n, :n].T
        upper += P
        if self.linear.shape[0]:
            weights = scalings.numbers.turn(INVERSE_T, np.ones(self.A.shape[0]))
            weights = weights[self.first : self.first + self.linear.shape[0]]
            _add(upper, weighted_gram(self.linear, weights * weights, look))
        for f in self.filled:
            look()
            f.add(upper, scalings, look)
        for of in self.long:
            scaling = scalings[of.batch]
            assert isinstance(scaling, SecondOrder)
            of.add_squares(matrix, scaling, look)
        inner = factored(matrix, self.equal)

        def along(v: Array) -> Array:
            return scalings.inverse_t(self.A @ v)

        def across(u: Array) -> Array:
            return self.At @ scalings.inverse(u)

        def solve(right: Array) -> Array:
            r = right[n:].copy()
            r[:k] = 0.0
            found = inner(np.concatenate([right[:n] + across(r), right[n : n + k]]))
            u = along(found[:n]) - r
            u[:k] = found[n:]
            return np.concatenate([found[:n], u])

        return solve, lambda v, u: (along(v), across(u))


def _seen(own: csr_array) -> Index:
    """The unknowns that rows see. A range of them is sooner added to, though some in it are not seen."""
    columns = np.unique(own.indices).astype(np.intp)
    if columns.size:
        whole = np.arange(columns[0], columns[-1] + 1)
        columns = whole if columns.size > MOSTLY * whole.size else columns
    return columns


def _written(own: csr_array, batch: int, cone: int | None) -> _Rows:
    columns = _seen(own)
    return _Rows(batch, cone, columns, own[:, columns].toarray())


def _matrix(own: csr_array, batch: int, cone: int) -> _Matrix | None:
    """A cone of matrices; None where many of its unknowns enter several entries."""
    each = np.bincount(own.indices, minlength=own.shape[1])
    narrow, wide = np.flatnonzero(each == 1), np.flatnonzero(each > 1)
    if wide.size > WIDE * narrow.size:
        return None
    by_columns = own.tocsc()
    at = by_columns.indptr[narrow]
    row, factor = by_columns.indices[at].astype(np.intp), by_columns.data[at]
    in_order = row.size == own.shape[0] and bool((np.diff(row) == 1).all())
    of_wide = np.ascontiguousarray(by_columns[:, wide].toarray().T)
    place = None if in_order else row[:, None] * own.shape[0] + row
    return _Matrix(batch, cone, narrow, row, place, factor, wide, of_wide)


def _add_at(matrix: Array, rows: Index, columns: Index, square: Array) -> None:
    """Add a block to the entries in these rows and columns, by slices where they are few ranges."""
    if not square.size:
        return
    down, along = _ranges(rows), _ranges(columns)
    if down.size * along.size > SLICES:
        matrix[rows[:, None], columns] += square
        return
    for i, j in pairwise(down):
        for k, m in pairwise(along):
            matrix[rows[i] : rows[i] + j - i, columns[k] : columns[k] + m - k] += square[i:j, k:m]


def _ranges(at: Index) -> Index:
    """The places between which numbers lie one behind the other, rising."""
    return np.concatenate([[0], np.flatnonzero(at[1:] - at[:-1] != 1) + 1, [at.size]])


def _add(matrix: Array, square: Array | csr_array) -> None:
    """Add a matrix, sparse or not."""
    if isinstance(square, np.ndarray):
        matrix += square
        return
    square.sum_duplicates()
    matrix[np.repeat(np.arange(square.shape[0]), np.diff(square.indptr)), square.indices] += square.data
