"""Matrices on a disk as the methods see them: the sums of `storage`, bit for bit, over pieces that are read one after the other.

A product goes through pieces of about `PIECE` bytes, a buffer for each thread; while a piece is worked on the file system reads the next. A piece
lies within one leaf (`fwdsl.sums`) and rows of a leaf are added up in their order, as in memory. Between pieces a run may be told to end
(`Pool.look`).
"""

from __future__ import annotations

from functools import cached_property
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fwdsl.backends.kernels.blocks import Block
from fwdsl.backends.kernels.compile import kernel
from fwdsl.backends.kernels.matrix import (
    count_columns,
    csr_gram,
    csr_matvec,
    csr_row_squares,
    csr_scatter,
    dense_matvec,
    dense_matvec_columns,
    dense_rmatvec,
    dense_scatter,
)
from fwdsl.backends.kernels.pool import Pool, serial_blas
from fwdsl.backends.kernels.storage import (
    FEW_ROWS,
    Array,
    Compressed,
    Dense,
    GramPlan,
    Sparse,
    Support,
    gram_partials,
    gram_rows,
    part_of,
    readonly,
)
from fwdsl.readers.row_blocks import DenseRows, NotInMemory, SparseRows
from fwdsl.sums import Partials, dense_leaves, merged, sparse_leaves


class StreamedDense(Dense):
    """A dense matrix by rows on a disk."""

    def __init__(self, A: DenseRows, leaves: tuple[Block, ...] | None = None) -> None:
        self.store: Any = A
        self.transposed = False
        self.shape = A.shape
        self.nnz = A.size
        self.leaves = dense_leaves(*A.shape) if leaves is None else leaves

    @cached_property
    def blocks(self) -> tuple[Block, ...]:
        return tuple(self.store.pieces())

    def part(self, start: int, stop: int) -> Dense:
        rows, leaves = part_of(self.leaves, start, stop)
        return StreamedDense(self.store.between(rows.start, rows.stop), leaves)

    def matvec_block(self, x: Array, out: Array, start: int, stop: int) -> None:
        rows = kernel(dense_matvec, reorder=True)
        for a, b in self.store.pieces(start, stop):
            rows(readonly(self.store.piece(a, b)), x, out[a:b], 0, b - a)

    def matvec(self, x: Array, out: Array, pool: Pool) -> None:
        """out = A x."""

        def rows(block: Block) -> None:
            pool.look()
            self.matvec_block(x, out, *block)

        pool.run(rows, self.blocks)

    def rmatvec(self, y: Array, out: Array, pool: Pool) -> None:
        d = self.shape[1]
        sums = kernel(dense_rmatvec, reorder=True)

        def partial(leaf: Block) -> Array:
            part = np.zeros(d)
            for a, b in self.store.pieces(*leaf):
                pool.look()
                sums(readonly(self.store.piece(a, b)), y[a:b], part, 0, b - a, 0, d)
            return part

        found = pool.sum(partial, self.leaves)
        out[:] = 0.0 if found is None else found

    def matvec_columns(self, x: Array, support: Support, out: Array, pool: Pool) -> None:
        some = kernel(dense_matvec_columns)

        def rows(block: Block) -> None:
            pool.look()
            a, b = block
            some(readonly(self.store.piece(a, b)), support, x, out[a:b], 0, b - a)

        pool.run(rows, self.blocks)

    def rmatvec_rows(self, y: Array, rows: Support, out: Array, pool: Pool) -> None:
        d = self.shape[1]
        scatter = kernel(dense_scatter, reorder=True)

        def partial(leaf: Block) -> Array | None:
            ends = np.searchsorted(rows, leaf)
            if ends[0] == ends[1]:
                return None
            part = np.zeros(d)
            for a, b in self.store.pieces(*leaf):
                here = rows[slice(*np.searchsorted(rows, (a, b)))]
                if here.size:
                    pool.look()
                    a, b = int(here[0]), int(here[-1]) + 1
                    scatter(readonly(self.store.piece(a, b)), readonly(here - a), y[a:b], part, 0, d)
            return part

        found = pool.sum(partial, self.leaves)
        out[:] = 0.0 if found is None else found

    def row_squares(self) -> Array:
        found = [Dense(self.store.piece(a, b), False).row_squares() for a, b in self.blocks]
        return np.concatenate([np.zeros(0), *found])

    def columns(self, support: Support) -> Dense:
        """A[:, support] in memory."""
        return Dense(self.store[:, support], False, self.leaves)


class _Tally:
    """The count of numbers in each column of a matrix, which its first whole product takes: that needs no pass of its own."""

    def __init__(self, store: SparseRows) -> None:
        self._store, self._lock = store, Lock()
        self._counts = None if store.counted else np.zeros(store.shape[1], np.int64)

    def look(self, piece: Compressed) -> None:
        """Count a piece."""
        if self._counts is not None:
            with self._lock:
                kernel(count_columns)(piece.indices, self._counts)

    def __enter__(self) -> _Tally:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        # a product that was broken off has not seen all
        if kind is None and self._counts is not None:
            self._store.tell_counts(self._counts)


class StreamedSparse(Sparse):
    """A sparse matrix by rows on a disk. A'y goes by rows too, which adds up what `Sparse` gathers from columns, in the same order."""

    def __init__(self, A: SparseRows, leaves: tuple[Block, ...] | None = None) -> None:
        self.store = A
        self.shape = A.shape
        self.nnz = A.size
        self.leaves = sparse_leaves(A.ends, A.shape[1]) if leaves is None else leaves

    @cached_property
    def rows(self) -> Compressed:
        raise NotInMemory

    @cached_property
    def by_columns(self) -> Compressed:
        raise NotInMemory

    @cached_property
    def blocks(self) -> tuple[Block, ...]:
        return tuple(self.store.pieces())

    @cached_property
    def longest_row(self) -> int:
        return int(np.diff(self.store.ends).max(initial=0))

    @cached_property
    def _in_columns(self) -> NDArray[np.intp]:
        """The count of numbers in each column."""
        return self.store.in_columns()

    def part(self, start: int, stop: int) -> Sparse:
        rows, leaves = part_of(self.leaves, start, stop)
        return StreamedSparse(self.store.between(rows.start, rows.stop), leaves)

    def _piece(self, a: int, b: int) -> Compressed:
        indptr, indices, data = self.store.piece(a, b)
        unsigned = np.uint32 if indices.dtype == np.int32 else np.uint64
        return Compressed(readonly(indptr.view(unsigned)), readonly(indices.view(unsigned)), readonly(data))

    def matvec_block(self, x: Array, out: Array, start: int, stop: int) -> None:
        for a, b in self.store.pieces(start, stop):
            kernel(csr_matvec)(*self._piece(a, b), x, out[a:b], 0, b - a)

    def matvec(self, x: Array, out: Array, pool: Pool) -> None:
        """out = A x."""
        product = kernel(csr_matvec)

        def rows(block: Block) -> None:
            pool.look()
            a, b = block
            piece = self._piece(a, b)
            product(*piece, x, out[a:b], 0, b - a)
            tally.look(piece)

        with _Tally(self.store) as tally:
            pool.run(rows, self.blocks)

    def rmatvec(self, y: Array, out: Array, pool: Pool) -> None:
        scatter = kernel(csr_scatter)

        def partial(leaf: Block) -> Array:
            part = np.zeros(self.shape[1])
            for a, b in self.store.pieces(*leaf):
                pool.look()
                piece = self._piece(a, b)
                scatter(*piece, readonly(np.arange(b - a)), y[a:b], part)
                tally.look(piece)
            return part

        with _Tally(self.store) as tally:
            found = pool.sum(partial, self.leaves)
        out[:] = 0.0 if found is None else found

    def cost_of_columns(self, support: Support) -> int:
        return int(self._in_columns[support].sum())

    def matvec_columns(self, x: Array, support: Support, out: Array, pool: Pool) -> None:
        # what is added beside the columns of the support is 0
        self.matvec(x, out, pool)

    def cost_of_rows(self, rows: Support) -> int:
        ends = self.store.ends
        return int((ends[rows + 1] - ends[rows]).sum())

    def rmatvec_rows(self, y: Array, rows: Support, out: Array, pool: Pool) -> None:
        scatter, found = kernel(csr_scatter), Partials()
        for leaf in self.leaves:
            part = None
            for a, b in self.store.pieces(*leaf):
                here = rows[slice(*np.searchsorted(rows, (a, b)))]
                if not here.size:
                    continue
                pool.look()
                part = np.zeros(self.shape[1]) if part is None else part
                a, b = int(here[0]), int(here[-1]) + 1
                scatter(*self._piece(a, b), readonly(here - a), y[a:b], part)
            found.add(part)
        total = found.total()
        out[:] = 0.0 if total is None else total

    def row_squares(self) -> Array:
        out = np.empty(self.shape[0])
        for a, b in self.blocks:
            kernel(csr_row_squares)(self._piece(a, b), out[a:b])
        return out

    def columns(self, support: Support) -> Sparse:
        raise NotInMemory

    def gram(self, support: Support | None, d: Array, pool: Pool, plan: GramPlan | None = None) -> Array:
        width = self.shape[1]
        plan = self.gram_plan(support) if plan is None else plan
        support = np.arange(width) if support is None else support
        k = support.size
        if plan.kind == "dense":
            return self._by_dense_blocks(support, d, pool, plan)
        # columns are not copied first: pairs of them are the same ones, in the same order
        place = np.full(width, -1)
        place[support] = np.arange(k)
        pairs = kernel(csr_gram)

        def partial(block: Block) -> Array:
            total = np.zeros((k, k))
            for a, b in self.store.pieces(*block):
                pool.look()
                pairs(*self._piece(a, b), readonly(place), self.longest_row, d[a:b], total, 0, b - a)
            return total

        found = pool.sum(partial, merged(self.leaves, plan.level), gram_partials(k))
        out = np.zeros((k, k)) if found is None else found
        return np.asarray(out + np.triu(out, 1).T)

    def _by_dense_blocks(self, support: Support, d: Array, pool: Pool, plan: GramPlan) -> Array:
        """The same by dense blocks of rows and BLAS: those that `Sparse` takes."""
        k = support.size
        every, step = np.array_equal(support, np.arange(self.shape[1])), gram_rows(k)

        def partial(block: Block) -> Array:
            total = np.zeros((k, k))
            for start in range(*block, step):
                pool.look()
                stop = min(start + step, block[1])
                some, weights = self.store.rows(start, stop), d[start:stop]
                some = some if every else some[:, support]
                live = np.flatnonzero(weights)
                if live.size <= FEW_ROWS * weights.size:
                    some, weights = some[live], weights[live]
                dense = some.toarray().astype(np.float64, copy=False)
                total += dense.T @ (weights[:, None] * dense)
            return 0.5 * (total + total.T)

        with serial_blas():
            found = pool.sum(partial, merged(self.leaves, plan.level), gram_partials(k))
        return np.zeros((k, k)) if found is None else np.asarray(found)


def streamed(A: Any, leaves: tuple[Block, ...] | None = None) -> StreamedDense | StreamedSparse:
    """The storage of a matrix on a disk."""
    return StreamedDense(A, leaves) if isinstance(A, DenseRows) else StreamedSparse(A, leaves)
