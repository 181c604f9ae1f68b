"""A matrix laid out for the kernels: dense in either order, or sparse by rows and, when first needed, by columns too.

Arrays are only ever viewed, not copied, except where the kernels could not read them: 64-bit indices that fit 32 bits are
narrowed (the gathers are bound by memory), numbers that are neither float32 nor float64 are converted. All views are read-only,
so that data read from a map and data in memory share one compiled signature.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fwdsl.backends.kernels.blocks import BLOCK_NUMBERS, Block, row_blocks, strip_blocks
from fwdsl.backends.kernels.compile import kernel
from fwdsl.backends.kernels.matrix import (
    csc_rows,
    csc_rows_count,
    csr_gram,
    csr_matvec,
    csr_scatter,
    dense_matvec,
    dense_matvec_columns,
    dense_rmatvec,
    dense_scatter,
)
from fwdsl.backends.kernels.pool import Pool, serial_blas

if TYPE_CHECKING:
    from fwdsl.atoms.base import MatrixLike

Array = NDArray[np.float64]
Support = NDArray[np.intp]

SINGLE_SHARE = 3
"""The share of the rows taken at a time that those in single precision are, which lie beside what they are copies of."""

PARTIALS = 16
"""Most partial results that a sum over rows may take."""

GRAM_NUMBERS = 1 << 22
"""Most numbers in all partial Gram matrices together."""

_DENSE_GRAM_SHARE = 0.3
"""The share of stored numbers above which a Gram matrix is had faster from dense blocks (one pair of numbers costs ten flops)."""

_DENSE_GRAM_COLUMNS = 32
"""Below so many columns, pairs are had faster one by one than dense blocks are filled."""

MOST_ROWS = 1 << 11
"""Rows of a wide matrix that its Gram matrix takes at a time."""

_PAIRS = 2e8
"""Pairs of numbers that a Gram matrix takes between two looks at the clock, about a tenth of a second."""

_FEW_COLUMNS = 0.05
"""Below this share of the stored numbers, a support's columns are copied before their Gram matrix is formed."""


_FEW_ROWS = 0.75
"""Below this share of rows with a weight, those are copied before their products are taken."""


class Dense:
    """A as a C-ordered array, or as one of its transpose."""

    def __init__(self, store: NDArray[Any], transposed: bool) -> None:
        self.store = readonly(store)
        self.transposed = transposed
        self.shape: tuple[int, int] = store.shape[::-1] if transposed else store.shape
        self.nnz = store.size
        self.blocks = strip_blocks(*self.shape) if transposed else row_blocks(self.shape)

    def matvec_block(self, x: Array, out: Array, start: int, stop: int) -> None:
        """out[start:stop] = A[start:stop] x."""
        if self.transposed:
            out[start:stop] = 0.0
            kernel(dense_rmatvec, reorder=True)(self.store, x, out, 0, self.shape[1], start, stop)
        else:
            kernel(dense_matvec, reorder=True)(self.store, x, out, start, stop)

    def rmatvec(self, y: Array, out: Array, pool: Pool) -> None:
        """out = A'y."""
        d = self.shape[1]
        if self.transposed:
            rows = kernel(dense_matvec, reorder=True)
            pool.run(lambda block: rows(self.store, y, out, *block), row_blocks(self.store.shape))
            return
        sums = kernel(dense_rmatvec, reorder=True)

        def partial(block: Block) -> Array:
            if self.store.dtype == np.float64:
                # BLAS takes half the time
                return np.asarray(y[slice(*block)] @ self.store[slice(*block)])
            part = np.zeros(d)
            sums(self.store, y, part, *block, 0, d)
            return part

        with serial_blas():
            _add_up(pool.run(partial, row_blocks(self.shape, most=PARTIALS)), out)

    def cost_of_columns(self, support: Support) -> int:
        """The stored numbers in the columns of the support."""
        return self.shape[0] * support.size

    def matvec_columns(self, x: Array, support: Support, out: Array, pool: Pool) -> bool:
        """out = A[:, support] x[support], or False where the full product is cheaper."""
        n, d = self.shape
        # by rows each number read brings a cache line of its neighbours
        if support.size * (2 if self.transposed else 8) > d:
            return False
        if self.transposed:
            scatter = kernel(dense_scatter, reorder=True)
            out[:] = 0.0
            pool.run(lambda block: scatter(self.store, support, x, out, *block), self.blocks)
        else:
            some = kernel(dense_matvec_columns)
            pool.run(lambda block: some(self.store, support, x, out, *block), row_blocks((n, max(1, support.size))))
        return True

    def cost_of_rows(self, rows: Support) -> int:
        return self.shape[1] * rows.size

    def rmatvec_rows(self, y: Array, rows: Support, out: Array, pool: Pool) -> bool:
        """out = A[rows]'y[rows], or False where the full product is cheaper."""
        n, d = self.shape
        # by columns each number read brings a cache line of its neighbours
        if rows.size * (8 if self.transposed else 2) > n:
            return False
        if self.transposed:
            some = kernel(dense_matvec_columns)
            pool.run(lambda block: some(self.store, rows, y, out, *block), row_blocks((d, max(1, rows.size))))
        else:
            scatter = kernel(dense_scatter, reorder=True)
            out[:] = 0.0
            pool.run(lambda block: scatter(self.store, rows, y, out, *block), strip_blocks(d, n))
        return True

    def columns(self, support: Support) -> Dense:
        """A[:, support], copied in the same order."""
        part = self.store[support] if self.transposed else self.store[:, support]
        return Dense(np.ascontiguousarray(part), self.transposed)

    def gram(self, support: Support | None, d: Array, pool: Pool, single: bool = False) -> Array:
        """A[:, support]' diag(d) A[:, support]; None for all columns. With `single` and d >= 0 the products are taken in single precision."""
        n = self.shape[0]
        k = self.shape[1] if support is None else support.size
        chosen = slice(None) if support is None else support
        least, most = float(d.min(initial=np.inf)), float(d.max(initial=0.0))
        # a product with its own transpose takes half the time, and without weights no copy
        even = least == most
        root = np.sqrt(d) if least >= 0.0 and not even else None
        kind: Any = np.float32 if single and least >= 0.0 else np.float64
        if kind is np.float32:
            # weights of 1 at most keep within its range what is in it
            root = None if root is None else (root / np.sqrt(most)).astype(np.float32)
            step = max(1, _gram_rows(k) // SINGLE_SHARE)
        else:
            step = (4 if even else 1) * _gram_rows(k)

        # numbers beyond single precision are seen by whoever asked for it; a thread has its own warnings
        @np.errstate(over="ignore", invalid="ignore")
        def partial(block: Block) -> Array:
            total: Array | None = None
            for start in range(*block, step):
                pool.look()
                stop = min(start + step, block[1])
                rows = self.store[chosen, start:stop].T if self.transposed else self.store[start:stop, chosen]
                weights = d[start:stop] if root is None else root[start:stop]
                live = None if least > 0.0 else np.flatnonzero(weights)
                if live is not None and live.size <= _FEW_ROWS * weights.size:
                    # samples on linear pieces of their losses
                    rows, weights = rows[live], weights[live]
                rows = rows.astype(kind, copy=False)
                if root is not None:
                    # a view is one of the data, and a copy may be written to
                    rows = np.multiply(weights[:, None], rows, out=rows if rows.base is None else None)
                part = rows.T @ (rows if even or root is not None else weights[:, None] * rows)
                total = part.astype(np.float64, copy=False) if total is None else np.add(total, part, out=total)
            return np.zeros((k, k)) if total is None else total

        # sums of wide matrices cost more than they spare where a part has few rows
        parts = max(1, min(_gram_partials(k), n // (4 * max(1, k))))
        with serial_blas():
            found = pool.run(partial, row_blocks((n, k), most=parts))
        out = found[0] if found else np.zeros((k, k))
        for part in found[1:]:
            out += part
        if even or kind is np.float32:
            out *= most
        elif root is None:
            out = 0.5 * (out + out.T)
        return out


class Compressed(NamedTuple):
    """Rows stored one after the other."""

    indptr: NDArray[Any]
    indices: NDArray[Any]
    data: NDArray[Any]


class Sparse:
    """A by rows and by columns; the one that is missing is made when first needed, and kept."""

    def __init__(
        self,
        shape: tuple[int, int],
        *,
        rows: Compressed | None = None,
        columns: Compressed | None = None,
    ) -> None:
        self.shape = shape
        if rows is not None:
            self.rows = rows
        if columns is not None:
            self.by_columns = columns
        self.nnz = int((rows or columns).data.size)  # type: ignore[union-attr]

    @cached_property
    def rows(self) -> Compressed:
        return _transposed(self.by_columns, self.shape[::-1])

    @cached_property
    def by_columns(self) -> Compressed:
        return _transposed(self.rows, self.shape)

    @cached_property
    def blocks(self) -> tuple[Block, ...]:
        return row_blocks(self.rows.indptr)

    @cached_property
    def column_blocks(self) -> tuple[Block, ...]:
        return row_blocks(self.by_columns.indptr)

    @cached_property
    def longest_row(self) -> int:
        return int(np.diff(self.rows.indptr.astype(np.int64)).max(initial=0))

    def matvec_block(self, x: Array, out: Array, start: int, stop: int) -> None:
        """out[start:stop] = A[start:stop] x."""
        kernel(csr_matvec)(*self.rows, x, out, start, stop)

    def rmatvec(self, y: Array, out: Array, pool: Pool) -> None:
        """out = A'y."""
        gather, columns = kernel(csr_matvec), self.by_columns
        pool.run(lambda block: gather(*columns, y, out, *block), self.column_blocks)

    def cost_of_columns(self, support: Support) -> int:
        """The stored numbers in the columns of the support."""
        indptr = self.by_columns.indptr
        return int((indptr[support + 1] - indptr[support]).sum())

    def matvec_columns(self, x: Array, support: Support, out: Array, pool: Pool) -> bool:
        """out = A[:, support] x[support], or False where the full product is cheaper."""
        if 2 * self.cost_of_columns(support) > self.nnz:
            return False
        out[:] = 0.0
        kernel(csr_scatter)(*self.by_columns, support, x, out)
        return True

    def cost_of_rows(self, rows: Support) -> int:
        """The stored numbers of some rows."""
        indptr = self.rows.indptr
        return int((indptr[rows + 1] - indptr[rows]).sum())

    def rmatvec_rows(self, y: Array, rows: Support, out: Array, pool: Pool) -> bool:
        """out = A[rows]'y[rows], or False where the full product is cheaper."""
        if 2 * self.cost_of_rows(rows) > self.nnz:
            return False
        out[:] = 0.0
        kernel(csr_scatter)(*self.rows, rows, y, out)
        return True

    def columns(self, support: Support) -> Sparse:
        """A[:, support], copied; indices strictly increase in each row."""
        columns, n = self.by_columns, self.shape[0]
        last, indptr = np.full(n, -1), np.zeros(n + 1, dtype=np.int64)
        kernel(csc_rows_count)(columns.indptr, columns.indices, support, last, indptr)
        np.cumsum(indptr, out=indptr)
        indices, data = np.empty(indptr[-1], columns.indices.dtype), np.empty(indptr[-1], columns.data.dtype)
        last[:] = -1
        kernel(csc_rows)(*columns, support, last, indptr[:-1].copy(), indices, data)
        rows = Compressed(*map(readonly, (indptr.astype(columns.indptr.dtype), indices, data)))
        return Sparse((n, support.size), rows=rows)

    def gram(self, support: Support | None, d: Array, pool: Pool) -> Array:
        """A[:, support]' diag(d) A[:, support]; None for all columns."""
        n, width = self.shape
        here = self.nnz if support is None else self.cost_of_columns(support)
        support = np.arange(width) if support is None else support
        k = support.size
        if k >= _DENSE_GRAM_COLUMNS and here > _DENSE_GRAM_SHARE * n * k:
            return self._dense_gram(support, d, pool)
        if here < _FEW_COLUMNS * self.nnz:
            # most rows have nothing there: what they have is copied first
            return self.columns(support).gram(None, d, pool)
        rows = self.rows
        place = np.full(width, -1)
        place[support] = np.arange(k)
        pairs = kernel(csr_gram)
        step = max(1, int(_PAIRS / (1.0 + self.nnz / max(1, n)) ** 2))

        def partial(block: Block) -> Array:
            total = np.zeros((k, k))
            for start in range(*block, step):
                pool.look()
                pairs(*rows, place, self.longest_row, d, total, start, min(start + step, block[1]))
            return total

        out = np.zeros((k, k))
        _add_up(pool.run(partial, row_blocks(rows.indptr, _gram_partials(k))), out)
        return out + np.triu(out, 1).T

    def _dense_gram(self, support: Support, d: Array, pool: Pool) -> Array:
        """The same by dense blocks of rows and BLAS."""
        k = support.size
        rows = self.rows if np.array_equal(support, np.arange(self.shape[1])) else self.columns(support).rows
        matrix, step = _scipy(rows, (self.shape[0], k)), _gram_rows(k)

        def partial(block: Block) -> Array:
            total = np.zeros((k, k))
            for start in range(*block, step):
                pool.look()
                stop = min(start + step, block[1])
                some, weights = matrix[start:stop], d[start:stop]
                live = np.flatnonzero(weights)
                if live.size <= _FEW_ROWS * weights.size:
                    some, weights = some[live], weights[live]
                dense = some.toarray().astype(np.float64, copy=False)
                total += dense.T @ (weights[:, None] * dense)
            return total

        out = np.zeros((k, k))
        with serial_blas():
            _add_up(pool.run(partial, row_blocks(rows.indptr, _gram_partials(k))), out)
        return (out + out.T) / 2


def stored(A: MatrixLike) -> Dense | Sparse:
    """The storage of a NumPy array, a memory map or a SciPy sparse matrix or array."""
    if isinstance(A, np.ndarray):
        return _dense(A)
    if A.format == "csc":
        return Sparse(A.shape, columns=_compressed(A))
    return Sparse(A.shape, rows=_compressed(A.tocsr()))


def readonly(a: NDArray[Any]) -> NDArray[Any]:
    """A plain view that cannot be written through."""
    view = np.asarray(a).view()
    view.flags.writeable = False
    return view


def _dense(A: NDArray[Any]) -> Dense:
    if A.ndim != 2:
        raise ValueError(f"a matrix has two axes, not {A.ndim}")
    A = _numbers(A)
    if A.flags.c_contiguous:
        return Dense(A, transposed=False)
    if A.flags.f_contiguous:
        return Dense(A.T, transposed=True)
    return Dense(np.ascontiguousarray(A), transposed=False)


def _numbers(a: NDArray[Any]) -> NDArray[Any]:
    return a if a.dtype in (np.float64, np.float32) and a.dtype.isnative else a.astype(np.float64)


def _compressed(A: Any) -> Compressed:
    """The arrays of a csr or csc matrix, as the kernels read them."""
    narrow = max(*A.shape, A.data.size) < 2**31
    signed, unsigned = (np.int32, np.uint32) if narrow else (np.int64, np.uint64)
    indptr, indices = (np.ascontiguousarray(a, dtype=signed).view(unsigned) for a in (A.indptr, A.indices))
    size = int(A.indptr[-1])
    return Compressed(
        readonly(indptr), readonly(indices[:size]), readonly(np.ascontiguousarray(_numbers(A.data[:size])))
    )


def _scipy(rows: Compressed, shape: tuple[int, int]) -> Any:
    """The same arrays as a scipy.sparse.csr_array."""
    from scipy.sparse import csr_array

    signed = np.int32 if rows.indptr.dtype == np.uint32 else np.int64
    return csr_array((rows.data, rows.indices.view(signed), rows.indptr.view(signed)), shape=shape, copy=False)


def _transposed(rows: Compressed, shape: tuple[int, int]) -> Compressed:
    """The matrix `rows` of that shape, by columns."""
    return _compressed(_scipy(rows, shape).tocsc())


def _gram_rows(k: int) -> int:
    """The number of rows of k numbers to take at a time: they stay in cache, and are enough for a product to be worth its k^2 sums."""
    return max(1, BLOCK_NUMBERS // max(1, k), min(2 * k, MOST_ROWS))


def _gram_partials(k: int) -> int:
    """The number of k x k partial sums to take: together they stay small."""
    return max(1, min(PARTIALS, GRAM_NUMBERS // max(1, k * k)))


def _add_up(parts: list[Array], out: Array) -> None:
    """out = the sum of the parts, in their order."""
    out[...] = 0.0
    for part in parts:
        out += part
