"""Long second-order cones in condensed systems: the squares of their scaled rows without the rows.

With W = eta (2 w w' - J)^(1/2) and A = (a_0'; A_1) the rows of a cone,

    A'W^-2 A = (A_1'A_1 - a_0 a_0' + 2 g g') / eta^2,   g = w_0 a_0 - A_1'w_1.

W^-T A itself has a number for each row and unknown that the cone sees, be A as sparse as it may.

Source: Domahidi, Chu, Boyd, "ECOS: an SOCP solver for embedded systems", 2013, section III.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from fwdsl.atoms.base import Array
from fwdsl.backends.interior.blocked import Look, add_gram, dense_gram
from fwdsl.backends.interior.cones import Scaling, SecondOrder
from fwdsl.backends.interior.program import ORDER, Batch
from fwdsl.backends.interior.sizes import DENSE_SHARE, is_long
from fwdsl.backends.sparse_rows import Rows
from fwdsl.light_dataclass import light_dataclass


@light_dataclass
class Lengths:
    """A batch of such cones."""

    batch: int  # its place among the batches
    place: slice  # of its rows among those of A
    rows: Rows
    tails: csr_array  # A_1 of all
    each: int  # rows of A_1 of a cone
    seen: NDArray[Any]  # the unknowns that heads see
    heads: Array  # a_0 of each cone, in these
    square: Array | None  # A_1'A_1, of one cone with full rows

    @staticmethod
    def of(A: csr_array, others: NDArray[Any], batches: Sequence[Batch], look: Look) -> tuple[Lengths, ...]:
        """The batches among these rows of a program, which A has, whose rows of W^-T A would have many numbers."""
        found, order = [], A.shape[1]
        for k, batch in enumerate(batches):
            if batch.kind != ORDER[2]:
                continue
            first = int(np.searchsorted(others, batch.start))
            last = first + batch.number * batch.rows
            if last > others.size or others[first] != batch.start or others[last - 1] != batch.stop - 1:
                continue
            own = csr_array(A[first:last])
            if not is_long(batch.rows, min(float(order), own.nnz / batch.number), order):
                continue
            at = np.arange(last - first)
            heads, tails = own[at % batch.rows == 0], csr_array(own[at % batch.rows != 0])
            seen = np.unique(heads.indices)
            full = batch.number == 1 and tails.nnz > DENSE_SHARE * tails.shape[0] * order
            square = dense_gram(tails.toarray(), look) if full else None
            heads = heads[:, seen].toarray()
            found.append(Lengths(k, slice(first, last), Rows(own), tails, batch.rows - 1, seen, heads, square))
        return tuple(found)

    def add_squares(self, matrix: Array, scaling: SecondOrder, look: Look) -> None:
        """Add A'W^-2 A to the lower triangle of the first rows and columns of a matrix by columns."""
        number, order = self.heads.shape[0], self.rows.shape[1]
        signed, eta = -scaling.own.reshape(number, -1), scaling.eta
        signed[:, 0] *= -1.0
        block = matrix[:order, :order]
        if self.square is None:
            add_gram(matrix, self.tails, np.repeat(eta**-2.0, self.each), look)
        else:
            block += self.square * float(eta[0]) ** -2
        if number == 1:
            g = np.zeros((1, order))
            self.rows.add_adjoint(signed[0], g[0])
        else:
            at = np.repeat(np.arange(number), self.each + 1), np.arange(signed.size)
            g = (csr_array((signed.reshape(-1), at)) @ self.rows.matrix).toarray()
        g *= np.sqrt(2.0) / eta[:, None]
        # of a symmetric matrix the transpose has its numbers in the order of the block
        block += (g.T @ g).T
        heads = self.heads / eta[:, None]
        block[np.ix_(self.seen, self.seen)] -= heads.T @ heads


class TurnedRows(Rows):
    """W^-T A for products alone: the matrix has rows of A as they are where long cones are."""

    def __init__(self, matrix: csr_array, long: Sequence[Lengths], scalings: Sequence[Scaling | None]) -> None:
        super().__init__(matrix)
        self.turned = [(of.place, cast(SecondOrder, scalings[of.batch])) for of in long]
        self.long = long

    def __matmul__(self, v: Array) -> Array:
        out = super().__matmul__(v)
        for place, scaling in self.turned:
            out[place] = scaling.inverse_t(out[place])
        return out

    def add_adjoint(self, u: Array, out: Array, rows: Any = None) -> None:
        """Add its adjoint times u."""
        u = u.copy()
        for place, scaling in self.turned:
            u[place] = scaling.inverse(u[place])
        super().add_adjoint(u, out, rows)

    def products(self, v: Array, u: Array) -> tuple[Array, Array]:
        """W^-T A v and A'W^-1 u."""
        across = np.zeros(v.size)
        self.add_adjoint(u, across)
        return self @ v, across

    def add_squares(self, matrix: Array, first: int, look: Look) -> None:
        """Add the squares of the rows from the first one on to the lower triangle of the first rows and columns of a matrix by columns."""
        weights = np.ones(self.shape[0])
        for of in self.long:
            weights[of.place] = 0.0
        add_gram(matrix, self.matrix[first:], weights[first:], look)
        for of, (_, scaling) in zip(self.long, self.turned, strict=True):
            of.add_squares(matrix, scaling, look)
