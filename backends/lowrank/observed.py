"""Kernels over the observed entries of a matrix, stored by rows and by columns: every sum in one fixed order.

A row of G V is a sum over the entries of one row, and threads share rows. A row of G'U is one over those of one column, taken by the tree over the
leaves of rows (`fwdsl.sums`): threads share columns, and whoever holds the rows of some leaves has their part of it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fwdsl.atoms.base import Array, MatrixLike
from fwdsl.backends.kernels.blocks import row_blocks
from fwdsl.backends.kernels.compile import kernel
from fwdsl.backends.kernels.matrix import csr_matvec_leaves
from fwdsl.backends.kernels.pool import Pool
from fwdsl.backends.kernels.storage import readonly
from fwdsl.backends.lowrank.smooth import Smooth
from fwdsl.bind.observed_places import Places, pointers
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


class ObservedEntries:
    """The places (i, j) of the observed entries of an (n, p) matrix, a place possibly more than once.

    Vectors over the entries are in the order by rows: `order` takes the user's order to it, v_rows = v_user[order]. `touched` counts how often
    all of them were gone through, whatever the number of columns. The threads of `pool` share the work.
    """

    order: Any

    def __init__(self, shape: tuple[int, int], rows: Any, cols: Any, pool: Pool | None = None) -> None:
        rows, cols = np.asarray(rows), np.asarray(cols)
        if rows.shape != cols.shape or rows.ndim != 1:
            raise ValueError("rows and cols are two vectors of one length")
        for at, length in ((rows, shape[0]), (cols, shape[1])):
            if at.size and (int(at.min()) < 0 or int(at.max()) >= length):
                raise ValueError(f"an index is outside 0 .. {length - 1}")
        places, self.order = Places.by_rows(shape, rows, cols)
        self._hold(places, Pool(1) if pool is None else pool, places.leaves)

    @classmethod
    def of(cls, places: Places, pool: Pool, leaves: tuple[Rows, ...] | None = None) -> ObservedEntries:
        """The entries of places that are by rows already; `leaves` are those of their rows where they are a part of the whole."""
        found = object.__new__(cls)
        found._hold(places, pool, places.leaves if leaves is None else leaves)
        return found

    def _hold(self, places: Places, pool: Pool, leaves: tuple[Rows, ...]) -> None:
        self.places, self.pool = places, pool
        self.shape, self.size, self.touched = places.shape, places.size, 0.0
        self.row_leaves = leaves
        self.indptr, self.cols = readonly(places.indptr), readonly(places.columns_of(0, places.size))
        #: The leaves of the entries.
        self.leaves = tuple(places.within(leaf) for leaf in leaves)
        self.by_column = np.argsort(self.cols, kind="stable")
        self.column_rows = readonly(places.rows_of(0, places.size)[self.by_column].astype(np.uint32))
        self._row_starts = readonly(np.stack([self.indptr[:-1], self.indptr[1:]], axis=1))
        self._column_starts = readonly(self._starts())
        self._row_blocks = row_blocks(self.indptr)
        self._column_blocks = row_blocks(np.append(self._column_starts[:, 0], np.uint64(self.size)))

    def _starts(self) -> Any:
        """The places where the entries of each leaf begin in each column, and where those of the last one end."""
        p, count = self.shape[1], len(self.leaves)
        leaf = np.repeat(np.arange(count), [stop - start for start, stop in self.leaves])
        begin = pointers(self.cols.astype(np.intp) * count + leaf, p * count)
        return np.hstack([begin[:-1].reshape(p, count), begin[count::count, None]])

    @property
    def norm_squared(self) -> float:
        """|K|^2: how often the most frequent place was observed."""
        return float(self.places.most_frequent())

    def zeros(self) -> Array:
        """A vector over the entries."""
        return np.zeros(self.size)

    def vector(self, z: Any) -> Array:
        """A vector over the entries that a run had, which may have been where others hold them."""
        return np.array(z)

    def predict(self, U: Array, V: Array) -> Array:
        """(<U_i, V_j>) over the entries."""
        self.touched += 1
        out = np.empty(self.size)
        compiled, U, V = kernel(predict, reorder=True), plain(U), plain(V)

        def run(block: Rows) -> None:
            a, b = block
            compiled(self.indptr[a : b + 1], self.cols, U[a:b], V, out)

        self.pool.run(run, self._row_blocks)
        return out

    def predict_path(self, U: Array, V: Array, DU: Array, DV: Array) -> tuple[Array, Array]:
        """(z1, z2) with <U_i + t DU_i, V_j + t DV_j> = <U_i, V_j> + t z1 + t^2 z2."""
        return self.predict(np.hstack([U, DU]), np.hstack([DV, V])), self.predict(DU, DV)

    def slopes(self, f: Smooth, z: Array, U: Array, V: Array) -> tuple[float, Array, Array, Array]:
        """(f(z), y = f'(z), G V, G'U) for the sparse matrix G of the numbers y."""
        y = np.empty_like(z)
        value = f.value_gradient(z, y)
        return value, y, self.left(y, V), self.right(y, U)

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
        return Compressed((self._row_starts, self.cols, readonly(y)), self._row_blocks, self.pool)

    def _by_columns(self, y: Array) -> Compressed:
        numbers = np.empty(self.size)

        def run(block: Rows) -> None:
            at = slice(*block)
            numbers[at] = y[self.by_column[at]]

        self.pool.run(run, row_blocks((self.size, 1)))
        return Compressed((self._column_starts, self.column_rows, readonly(numbers)), self._column_blocks, self.pool)


def plain(U: Array) -> Array:
    """A factor as kernels take it: by rows, as sums of others round otherwise."""
    return readonly(np.ascontiguousarray(U, dtype=np.float64))


class Compressed:
    """A sparse matrix by rows, (starts, indices, data), whose products are gathers: threads take blocks of rows.

    starts[r] has where the leaves of row r begin, and where its last one ends.
    """

    def __init__(self, stored: tuple[Array, ...], blocks: tuple[Rows, ...], pool: Pool) -> None:
        self._stored, self._blocks, self._pool = stored, blocks, pool

    def apply(self, x: Array) -> Array:
        """A x, for a vector or for vectors as columns."""
        starts, indices, data = self._stored
        x = plain(x)
        out = np.empty((starts.shape[0], *x.shape[1:]))
        compiled = kernel(csr_matvec_leaves if x.ndim == 1 else csr_matmat_leaves)
        self._pool.run(lambda block: compiled(starts, indices, data, x, out, *block), self._blocks)
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


def csr_matmat_leaves(starts: Any, indices: Any, data: Any, X: MatrixLike, out: Any, r0: int, r1: int) -> None:
    """out[r] = row r of A times X for r0 <= r < r1: the tree sum (`fwdsl.sums`) of the parts of the row that begin at starts[r]."""
    k = X.shape[1]
    count = starts.shape[1] - 1
    part = np.empty((count, k))
    for r in range(r0, r1):
        for c in range(k):
            out[r, c] = 0.0
        for i in range(starts[r, 0], starts[r, 1]):
            a = data[i]
            j = indices[i]
            for c in range(k):
                out[r, c] += a * X[j, c]
        if count == 1:
            continue
        for l in range(1, count):
            for c in range(k):
                part[l, c] = 0.0
            for i in range(starts[r, l], starts[r, l + 1]):
                a = data[i]
                j = indices[i]
                for c in range(k):
                    part[l, c] += a * X[j, c]
        step = 1
        while step < count:
            for c in range(k):
                out[r, c] += part[step, c]
            for l in range(2 * step, count - step, 2 * step):
                for c in range(k):
                    part[l, c] += part[l + step, c]
            step *= 2
