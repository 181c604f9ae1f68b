"""Kernels over the observed entries of a matrix, stored by rows and by columns: every sum in one fixed order.

A row of G V is a sum over the entries of one row, and a row of G'U one over those of one column. So threads share rows, or columns, and no sum
is cut.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fwdsl.atoms.base import Array, MatrixLike
from fwdsl.backends.kernels.blocks import row_blocks
from fwdsl.backends.kernels.compile import kernel
from fwdsl.backends.kernels.pool import Pool
from fwdsl.sums import Rows


def predict(indptr: Any, cols: Any, U: MatrixLike, V: MatrixLike, out: Any) -> None:
    """out_e = <U_i, V_j> over the entries e = (i, j), by rows."""
    k = U.shape[1]
    for i in range(U.shape[0]):
        for e in range(indptr[i], indptr[i + 1]):
            j = cols[e]
            total = 0.0
            for c in range(k):
                total += U[i, c] * V[j, c]
            out[e] = total


def predict_path(
    indptr: Any, cols: Any, U: MatrixLike, V: MatrixLike, DU: Any, DV: Any, first: Any, second: Any
) -> None:
    """The coefficients of <U_i + t DU_i, V_j + t DV_j> in t and t^2 over the entries."""
    k = U.shape[1]
    for i in range(U.shape[0]):
        for e in range(indptr[i], indptr[i + 1]):
            j = cols[e]
            one = 0.0
            two = 0.0
            for c in range(k):
                one += U[i, c] * DV[j, c] + DU[i, c] * V[j, c]
                two += DU[i, c] * DV[j, c]
            first[e] = one
            second[e] = two


class ObservedEntries:
    """The places (i, j) of the observed entries of an (n, p) matrix, a place possibly more than once.

    Vectors over the entries are in the order by rows: `order` takes the user's order to it, v_rows = v_user[order]. `touched` counts how often
    all of them were gone through, whatever the number of columns. The threads of `pool` share the work.
    """

    def __init__(self, shape: tuple[int, int], rows: Any, cols: Any, pool: Pool | None = None) -> None:
        rows, cols = np.asarray(rows), np.asarray(cols)
        if rows.shape != cols.shape or rows.ndim != 1:
            raise ValueError("rows and cols are two vectors of one length")
        for at, length in ((rows, shape[0]), (cols, shape[1])):
            if at.size and (int(at.min()) < 0 or int(at.max()) >= length):
                raise ValueError(f"an index is outside 0 .. {length - 1}")
        self.shape = shape
        self.size = rows.size
        self.touched = 0.0
        self.pool = Pool(1) if pool is None else pool
        self.order = np.lexsort((cols, rows))
        rows, cols = rows[self.order], cols[self.order]
        self.indptr = self._pointers(rows, shape[0])
        self.cols = cols.astype(np.uint32)
        self.by_column = np.argsort(cols, kind="stable")
        self.column_indptr = self._pointers(cols, shape[1])
        self.column_rows = rows[self.by_column].astype(np.uint32)
        self._row_blocks, self._column_blocks = row_blocks(self.indptr), row_blocks(self.column_indptr)

    @property
    def norm_squared(self) -> float:
        """|K|^2: how often the most frequent place was observed."""
        if self.size == 0:
            return 0.0
        rows = np.repeat(np.arange(self.shape[0]), np.diff(self.indptr.astype(np.intp)))
        return float(np.unique(rows * np.int64(self.shape[1]) + self.cols, return_counts=True)[1].max())

    @staticmethod
    def _pointers(at: Any, length: int) -> Any:
        return np.concatenate([[0], np.cumsum(np.bincount(at, minlength=length))]).astype(np.uint64)

    def predict(self, U: Array, V: Array) -> Array:
        """(<U_i, V_j>) over the entries."""
        self.touched += 1
        out = np.empty(self.size)
        compiled = kernel(predict, reorder=True)

        def run(block: Rows) -> None:
            a, b = block
            compiled(self.indptr[a : b + 1], self.cols, U[a:b], V, out)

        self.pool.run(run, self._row_blocks)
        return out

    def predict_path(self, U: Array, V: Array, DU: Array, DV: Array) -> tuple[Array, Array]:
        """(z1, z2) with <U_i + t DU_i, V_j + t DV_j> = <U_i, V_j> + t z1 + t^2 z2."""
        self.touched += 1
        first, second = np.empty(self.size), np.empty(self.size)
        compiled = kernel(predict_path, reorder=True)

        def run(block: Rows) -> None:
            a, b = block
            compiled(self.indptr[a : b + 1], self.cols, U[a:b], V, DU[a:b], DV, first, second)

        self.pool.run(run, self._row_blocks)
        return first, second

    def left(self, y: Array, V: Array) -> Array:
        """G V for the sparse matrix G of the numbers y."""
        self.touched += 1
        return self._by_rows(y).apply(V)

    def right(self, y: Array, U: Array) -> Array:
        """G'U for the sparse matrix G of the numbers y."""
        self.touched += 1
        return self._by_columns(y).apply(U)

    def operator(self, y: Array) -> Gathers:
        """The sparse matrix of the numbers y."""
        return Gathers(self.shape, self._by_rows(y), self._by_columns(y))

    def _by_rows(self, y: Array) -> Compressed:
        return Compressed((self.indptr, self.cols, y), self._row_blocks, self.pool)

    def _by_columns(self, y: Array) -> Compressed:
        numbers = np.empty(self.size)

        def run(block: Rows) -> None:
            at = slice(int(self.column_indptr[block[0]]), int(self.column_indptr[block[1]]))
            numbers[at] = y[self.by_column[at]]

        self.pool.run(run, self._column_blocks)
        return Compressed((self.column_indptr, self.column_rows, numbers), self._column_blocks, self.pool)


class Compressed:
    """A sparse matrix by rows, (indptr, indices, data), whose products are gathers: threads take blocks of rows."""

    def __init__(self, stored: tuple[Array, ...], blocks: tuple[Rows, ...], pool: Pool) -> None:
        self._stored, self._blocks, self._pool = stored, blocks, pool

    def apply(self, x: Array) -> Array:
        """A x, for a vector or for vectors as columns."""
        indptr, indices, data = self._stored
        x = np.ascontiguousarray(x, dtype=np.float64)
        out = np.empty((indptr.size - 1, *x.shape[1:]))
        compiled = kernel(csr_vector if x.ndim == 1 else csr_matmat)

        def run(block: Rows) -> None:
            a, b = block
            compiled(indptr[a : b + 1], indices, data, x, out[a:b])

        self._pool.run(run, self._blocks)
        return out


class Gathers:
    """A sparse matrix as an operator on kernels, the compiled counterpart of `fwdsl.spectral.operators.SparseOperator`.

    A by rows and by columns at once, so that both products are gathers.
    """

    def __init__(self, shape: tuple[int, int], rows: Compressed, columns: Compressed) -> None:
        self.shape = shape
        self._rows, self._columns = rows, columns

    def matvec(self, x: Array) -> Array:
        return self._rows.apply(x)

    def rmatvec(self, y: Array) -> Array:
        return self._columns.apply(y)

    matmat = matvec
    rmatmat = rmatvec


def csr_matmat(indptr: Any, indices: Any, data: Any, X: MatrixLike, out: Any) -> None:
    """out = A X for A by rows, X of shape (n, k) in C order."""
    k = X.shape[1]
    for r in range(out.shape[0]):
        for c in range(k):
            out[r, c] = 0.0
        for i in range(indptr[r], indptr[r + 1]):
            a = data[i]
            j = indices[i]
            for c in range(k):
                out[r, c] += a * X[j, c]


def csr_vector(indptr: Any, indices: Any, data: Any, x: Any, out: Any) -> None:
    """out = A x for A by rows."""
    for r in range(out.size):
        total = 0.0
        for i in range(indptr[r], indptr[r + 1]):
            total += data[i] * x[indices[i]]
        out[r] = total
