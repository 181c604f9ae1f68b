"""Condensed systems beside cones of matrices, whose scalings fill A up.

    P + A'W^-1 W^-T A    is written down, cone by cone, among the unknowns that each of them sees.

Rows of the nonnegative cone stay sparse. Where each row of a cone of matrices sees one unknown, W^-1 W^-T is the matrix of V -> H V H, H = (R R')^-1,
which needs no product. A itself stays sparse: products with W^-T A turn the matrices of A v.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from fwdsl.atoms.base import Array
from fwdsl.backends.interior.blocked import Look, Solve, dense_gram, weighted_gram
from fwdsl.backends.interior.cone_loops import INVERSE_T
from fwdsl.backends.interior.cones import Scalings, Semidefinite
from fwdsl.backends.interior.matrix_loops import congruences
from fwdsl.backends.interior.program import ORDER, Batch
from fwdsl.backends.kernels.compile import kernel
from fwdsl.backends.sparse_rows import Rows
from fwdsl.light_dataclass import light_dataclass

Index = NDArray[np.intp]

MOSTLY = 0.8
"""The share of a range of unknowns from which on rows that see so many of them are taken to see all."""


class _Filled(NamedTuple):
    """The rows of a batch of cones in the unknowns that they see, or the numbers of these where each row of one cone sees one of its own."""

    batch: int
    columns: Index
    rows: Array
    is_range: bool = False  # the unknowns lie one behind the other


@light_dataclass
class FilledCones:
    """A, its rows of equations without zeros, those of the nonnegative cone, and those of other cones."""

    A: Rows
    At: Rows
    equal: Array
    linear: csr_array
    first: int  # row of these
    filled: tuple[_Filled, ...]

    @staticmethod
    def of(A: csr_array, batches: Sequence[Batch], equations: int) -> FilledCones:
        """The cones, with what no scaling changes."""
        filled, last = [], equations
        for number, batch in enumerate(batches):
            if batch.kind in ORDER[:2]:
                last = batch.stop
                continue
            own = A[batch.start : batch.stop]
            single = batch.kind == ORDER[3] and batch.number == 1 and (np.diff(own.indptr) == 1).all()
            columns = np.unique(own.indices)
            if single and columns.size == batch.rows:
                at = own.indices.astype(np.intp)
                filled.append(_Filled(number, at, own.data, _is_range(at)))
                continue
            if columns.size:
                # a range of unknowns is sooner added to, though some of them are not seen
                whole = np.arange(columns[0], columns[-1] + 1)
                columns = whole if columns.size > MOSTLY * whole.size else columns
            filled.append(_Filled(number, columns, own[:, columns].toarray(), _is_range(columns)))
        return FilledCones(
            Rows(A), Rows(A.T.tocsr()), A[:equations].toarray(), A[equations:last], equations, tuple(filled)
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
            square = _square(f, scalings, look)
            if f.is_range:
                own = slice(f.columns[0], f.columns[0] + f.columns.size)
                upper[own, own] += square
            else:
                upper[np.ix_(f.columns, f.columns)] += square
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


def _is_range(columns: Index) -> bool:
    return columns.size > 0 and bool((np.diff(columns) == 1).all())


def _add(matrix: Array, square: Array | csr_array) -> None:
    """Add a matrix, sparse or not."""
    if isinstance(square, np.ndarray):
        matrix += square
        return
    square.sum_duplicates()
    matrix[np.repeat(np.arange(square.shape[0]), np.diff(square.indptr)), square.indices] += square.data


def _square(f: _Filled, scalings: Scalings, look: Look) -> Array:
    """A'W^-1 W^-T A of the rows of a batch."""
    scaling = scalings[f.batch]
    assert scaling is not None
    if f.rows.ndim == 1:
        assert isinstance(scaling, Semidefinite)
        found = np.empty((1, f.columns.size, f.columns.size))
        kernel(congruences)(scaling.back.transpose(0, 2, 1) @ scaling.back, found)
        square: Array = found[0]
        square *= f.rows
        square *= f.rows[:, None]
        return square
    return dense_gram(scaling.rows(f.rows), look)
