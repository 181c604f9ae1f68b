"""Kernels over the observed entries of a matrix, stored by rows and by columns: every sum in one fixed order."""

from __future__ import annotations

from typing import Any

import numpy as np

from fwdsl.atoms.base import Array, MatrixLike
from fwdsl.backends.kernels.compile import kernel


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
    all of them were gone through, whatever the number of columns.
    """

    def __init__(self, shape: tuple[int, int], rows: Any, cols: Any) -> None:
        rows, cols = np.asarray(rows), np.asarray(cols)
        if rows.shape != cols.shape or rows.ndim != 1:
            raise ValueError("rows and cols are two vectors of one length")
        for at, length in ((rows, shape[0]), (cols, shape[1])):
            if at.size and (int(at.min()) < 0 or int(at.max()) >= length):
                raise ValueError(f"an index is outside 0 .. {length - 1}")
        self.shape = shape
        self.size = rows.size
        self.touched = 0.0
        self.order = np.lexsort((cols, rows))
        rows, cols = rows[self.order], cols[self.order]
        self.indptr = self._pointers(rows, shape[0])
        self.cols = cols.astype(np.uint32)
        self.by_column = np.argsort(cols, kind="stable")
        self.column_indptr = self._pointers(cols, shape[1])
        self.column_rows = rows[self.by_column].astype(np.uint32)

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
        kernel(predict, reorder=True)(self.indptr, self.cols, U, V, out)
        return out

    def predict_path(self, U: Array, V: Array, DU: Array, DV: Array) -> tuple[Array, Array]:
        """(z1, z2) with <U_i + t DU_i, V_j + t DV_j> = <U_i, V_j> + t z1 + t^2 z2."""
        self.touched += 1
        first, second = np.empty(self.size), np.empty(self.size)
        kernel(predict_path, reorder=True)(self.indptr, self.cols, U, V, DU, DV, first, second)
        return first, second

    def left(self, y: Array, V: Array) -> Array:
        """G V for the sparse matrix G of the numbers y."""
        self.touched += 1
        out = np.empty((self.shape[0], V.shape[1]))
        kernel(csr_matmat)(self.indptr, self.cols, y, V, out)
        return out

    def right(self, y: Array, U: Array) -> Array:
        """G'U for the sparse matrix G of the numbers y."""
        self.touched += 1
        out = np.empty((self.shape[1], U.shape[1]))
        kernel(csr_matmat)(self.column_indptr, self.column_rows, y[self.by_column], U, out)
        return out

    def operator(self, y: Array) -> Gathers:
        """The sparse matrix of the numbers y."""
        return Gathers(
            self.shape,
            (self.indptr, self.cols, y),
            (self.column_indptr, self.column_rows, y[self.by_column]),
        )


class Gathers:
    """A sparse matrix as an operator on kernels, the compiled counterpart of `fwdsl.spectral.operators.SparseOperator`.

    A by rows and by columns at once: (indptr, indices, data) of A and of A', so that both products are gathers.
    """

    def __init__(self, shape: tuple[int, int], rows: tuple[Array, ...], columns: tuple[Array, ...]) -> None:
        self.shape = shape
        self._rows, self._columns = rows, columns

    def matvec(self, x: Array) -> Array:
        return self._apply(self._rows, x, self.shape[0])

    def rmatvec(self, y: Array) -> Array:
        return self._apply(self._columns, y, self.shape[1])

    @staticmethod
    def _apply(stored: tuple[Array, ...], x: Array, length: int) -> Array:
        x = np.ascontiguousarray(x, dtype=np.float64)
        out = np.empty((length, *x.shape[1:]))
        kernel(csr_vector if x.ndim == 1 else csr_matmat)(*stored, x, out)
        return out

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
