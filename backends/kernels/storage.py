"""A matrix laid out for the kernels: dense in either order, or sparse by rows and, when first needed, by columns too.

Arrays are only ever viewed, not copied, except where the kernels could not read them: 64-bit indices that fit 32 bits are
narrowed (the gathers are bound by memory), numbers that are neither float32 nor float64 are converted. All views are read-only,
so that data read from a map and data in memory share one compiled signature.
"""

from __future__ import annotations

from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fwdsl.backends.kernels.blocks import BLOCK_NUMBERS, Block, row_blocks, strip_blocks
from fwdsl.backends.kernels.compile import kernel
from fwdsl.backends.kernels.matrix import (
    csc_rows,
    csr_gram,
    csr_matvec,
    csr_matvec_leaves,
    csr_row_squares,
    csr_scatter,
    dense_matvec,
    dense_matvec_columns,
    dense_matvec_columns_leaves,
    dense_matvec_leaves,
    dense_rmatvec,
    dense_rmatvec_leaves,
    dense_scatter,
    leaf_starts,
    scaled_rows,
)
from fwdsl.backends.kernels.pool import PARTIALS, Pool, serial_blas
from fwdsl.sums import Rows, dense_leaves, merged, sparse_leaves, tree_sum

if TYPE_CHECKING:
    from fwdsl.atoms.base import MatrixLike

Array = NDArray[np.float64]
Support = NDArray[np.intp]

SINGLE_SHARE = 3
"""The share of the rows taken at a time that those in single precision are: what they add up is added in double precision, and loses less."""

MANY_SCALED = 1 << 15
"""Numbers from which on rows are scaled by a kernel, which takes a third of NumPy's time."""

GRAM_NUMBERS = 1 << 22
"""Most numbers in all partial Gram matrices together."""

_DENSE_GRAM_SHARE = 0.3
"""The share of stored numbers above which a Gram matrix is had faster from dense blocks (one pair of numbers costs ten flops)."""

_DENSE_GRAM_COLUMNS = 32
"""Below so many columns, pairs are had faster one by one than dense blocks are filled."""

FEW_PRODUCTS = 20
"""Products A'y of sparse data by rows that are taken without a transposed copy, which costs as much as five to ten of them: sums by columns are up to
a quarter faster."""

MOST_TURNED = 1 << 27
"""Numbers of dense data by columns up to which methods that take rows one by one have a copy by rows, 1 GB."""

MOST_ROWS = 1 << 11
"""Rows of a wide matrix that its Gram matrix takes at a time."""

_PAIRS = 2e8
"""Pairs of numbers that a Gram matrix takes between two looks at the clock, about a tenth of a second."""

_FEW_COLUMNS = 0.05
"""Below this share of the stored numbers, a support's columns are copied before their Gram matrix is formed."""


GRAM_COLUMNS = 1_500
"""Columns beyond which the nodes whose Gram matrices are added up need to be no larger: their products cost far more than the sums."""

_GRAM_ROWS = 4
"""Least rows of such a node for each column, of dense blocks."""

_GRAM_NUMBERS = 32
"""Least stored numbers of such a node for each number of the Gram matrix, where pairs of them are added one by one."""

FEW_ROWS = 0.75
"""Below this share of rows with a weight, those are copied before their products are taken."""

_GOLDEN = 0.5 * (5.0**0.5 - 1.0)
"""The multiples of this have fractional parts that lie far apart."""

KEPT_NUMBERS = 500_000
"""Numbers of the Gram matrices of all nodes of a matrix up to which they are kept for later solves, in each precision."""


KEPT_PRODUCTS = 4
"""Products with the transpose that are kept for later solves: those at a start, which is the same for every parameter, come first."""

PRODUCT_NUMBERS = 100_000
"""Numbers of a matrix from which on they are kept: below, they take no longer than to be found."""


class GramPlan(NamedTuple):
    """The way a Gram matrix is taken, which the whole of the data decides: those who hold parts of it are told."""

    kind: str  # by "dense" blocks, by "pairs" of stored numbers, or by pairs of "copied" columns
    level: int  # the level of the nodes within which rows are added one after the other (`fwdsl.sums`)


class Dense:
    """A as a C-ordered array, or as one of its transpose; `leaves` are those of its rows."""

    #: Whether another device takes its products.
    elsewhere = False
    #: The Gram matrices of nodes without weights, by node and precision, where they are kept: `keep_grams`.
    _grams: dict[tuple[Block, Any], Array] | None = None
    #: The first products with the transpose, as (y, A'y), where they are kept.
    _products: list[tuple[Array, Array]] | None = None
    #: The mark of the data that these are of, once there are some, where the data may change.
    _mark: NDArray[Any] | None = None
    _stays = False

    def __init__(self, store: NDArray[Any], transposed: bool, leaves: tuple[Rows, ...] | None = None) -> None:
        self.store = readonly(store)
        self.transposed = transposed
        self.shape: tuple[int, int] = store.shape[::-1] if transposed else store.shape
        self.nnz = store.size
        self.leaves = dense_leaves(*self.shape, by_columns=transposed) if leaves is None else leaves

    def keep_grams(self, stays: bool = False) -> None:
        """Keep the Gram matrices of all columns without weights from now on, where they are small. They are kept by node, before weights that are all
        the same scale them, so that they give the bits that they give when they are formed. `is_as_kept` says whether they still are of the data;
        with `stays` nobody can change these, so nobody asks."""
        self._grams, self._stays = {}, stays

    def keep_products(self) -> None:
        """Keep the first products with the transpose from now on, if they are few numbers beside the data. The data must not change."""
        if self.nnz >= max(PRODUCT_NUMBERS, 8 * KEPT_PRODUCTS * sum(self.shape)):
            self._products = []

    def is_as_kept(self) -> bool:
        """True if no numbers have changed since a Gram matrix or a copy was kept, beyond the rounding of a sum over each column."""
        keeps = bool(self._grams) or "by_rows" in vars(self)
        return not keeps or (self._mark is not None and np.array_equal(self._mark, self._marked()))

    def _remember(self) -> None:
        """Note what the numbers are, where what is kept of them outlives a solve and they may change."""
        if self._grams is not None and self._mark is None and not self._stays:
            self._mark = self._marked()

    @cached_property
    def by_rows(self) -> NDArray[Any]:
        """A by rows: of one by columns a copy in C order, up to `MOST_TURNED` numbers: rows one by one take up to ten times as long from columns."""
        if not self.transposed:
            return self.store
        if self.nnz > MOST_TURNED:
            return self.store.T
        self._remember()
        return readonly(np.ascontiguousarray(self.store.T))

    @np.errstate(over="ignore", invalid="ignore")
    def _marked(self) -> NDArray[Any]:
        """The sum of each column with weights of which no two are the same: it tells rows, columns and signs that are exchanged."""
        weights = self._marks
        with serial_blas():
            return np.asarray(self.store @ weights if self.transposed else weights @ self.store)

    @cached_property
    def _marks(self) -> NDArray[Any]:
        return np.asarray(np.modf(_GOLDEN * np.arange(1, self.shape[0] + 1))[0], dtype=self.store.dtype)

    @cached_property
    def blocks(self) -> tuple[Block, ...]:
        return strip_blocks(self.leaves, self.shape[1]) if self.transposed else row_blocks(self.shape)

    @cached_property
    def _cuts(self) -> NDArray[np.uint64]:
        return _cuts(self.leaves)

    @cached_property
    def _signed_cuts(self) -> Support:
        return readonly(self._cuts.astype(np.intp))

    def part(self, start: int, stop: int) -> Dense:
        """The rows of the leaves start..stop-1, with these leaves: what a holder of some rows has."""
        rows, leaves = part_of(self.leaves, start, stop)
        store = np.ascontiguousarray(self.store[:, rows]) if self.transposed else self.store[rows]
        return Dense(store, self.transposed, leaves)

    def matvec(self, x: Array, out: Array, pool: Pool) -> None:
        """out = A x."""
        pool.run(lambda block: self.matvec_block(x, out, *block), self.blocks)

    def matvec_block(self, x: Array, out: Array, start: int, stop: int) -> None:
        """out[start:stop] = A[start:stop] x."""
        if self.transposed:
            out[start:stop] = 0.0
            kernel(dense_rmatvec, reorder=True)(self.store, x, out, 0, self.shape[1], start, stop)
        else:
            kernel(dense_matvec, reorder=True)(self.store, x, out, start, stop)

    def rmatvec(self, y: Array, out: Array, pool: Pool) -> None:
        """out = A'y."""
        for known, found in self._products or ():
            # bits, not values: 0 and -0 lead to sums of other signs
            if known[0] == y[0] and np.array_equal(known.view(np.int64), y.view(np.int64)):
                out[:] = found
                return
        self._rmatvec(y, out, pool)
        if self._products is not None and len(self._products) < KEPT_PRODUCTS:
            self._products.append((y.copy(), out.copy()))

    def _rmatvec(self, y: Array, out: Array, pool: Pool) -> None:
        d = self.shape[1]
        if self.transposed and len(self.leaves) > 1:
            cut = kernel(dense_matvec_leaves, reorder=True)
            pool.run(lambda block: cut(self.store, y, self._cuts, out, *block), row_blocks(self.store.shape))
            return
        if self.transposed:
            rows = kernel(dense_matvec, reorder=True)
            pool.run(lambda block: rows(self.store, y, out, *block), row_blocks(self.store.shape))
            return
        count, cuts = len(self.leaves), self._signed_cuts
        if count <= 1:
            # to the same bits as with the tree, whose kernel takes twice as long to compile
            out[:] = 0.0
            if count == 1:
                kernel(dense_rmatvec, reorder=True)(self.store, y, out, *self.leaves[0], 0, d)
            return
        sums = kernel(dense_rmatvec_leaves, reorder=True)
        if pool.threads == 1:
            # the tree within the kernel: small data would pay for each leaf that is asked for from here
            sums(self.store, y, cuts, np.empty(((count - 1).bit_length() + 1, d)), out)
            return

        def partial(leaf: int) -> Array:
            part = np.empty(d)
            sums(self.store, y, cuts[leaf : leaf + 2], part.reshape(1, d), part)
            return part

        out[:] = pool.sum(partial, range(count))

    def cost_of_columns(self, support: Support) -> int:
        """The stored numbers in the columns of the support."""
        return self.shape[0] * support.size

    def prefers_columns(self, support: Support) -> bool:
        """True if A[:, support] x[support] is cheaper than A x; by rows each number read brings a cache line of its neighbours."""
        return support.size * (2 if self.transposed else 8) <= self.shape[1]

    def matvec_columns(self, x: Array, support: Support, out: Array, pool: Pool) -> None:
        """out = A[:, support] x[support]."""
        if self.transposed:
            scatter = kernel(dense_scatter, reorder=True)
            out[:] = 0.0
            pool.run(lambda block: scatter(self.store, support, x, out, *block), self.blocks)
        else:
            some = kernel(dense_matvec_columns)
            blocks = row_blocks((self.shape[0], max(1, support.size)))
            pool.run(lambda block: some(self.store, support, x, out, *block), blocks)

    def cost_of_rows(self, rows: Support) -> int:
        return self.shape[1] * rows.size

    def prefers_rows(self, rows: Support) -> bool:
        """True if A[rows]'y[rows] is cheaper than A'y; by columns each number read brings a cache line of its neighbours."""
        return rows.size * (8 if self.transposed else 2) <= self.shape[0]

    def rmatvec_rows(self, y: Array, rows: Support, out: Array, pool: Pool) -> None:
        """out = A[rows]'y[rows]."""
        d = self.shape[1]
        cuts = np.searchsorted(rows, self._cuts).astype(np.uint64)
        if self.transposed:
            some, blocks = kernel(dense_matvec_columns_leaves), row_blocks((d, max(1, rows.size)))
            pool.run(lambda block: some(self.store, rows, readonly(cuts), y, out, *block), blocks)
            return
        scatter = kernel(dense_scatter, reorder=True)

        def partial(ends: tuple[int, int]) -> Array | None:
            if ends[0] == ends[1]:
                return None
            part = np.zeros(d)
            scatter(self.store, rows[slice(*ends)], y, part, 0, d)
            return part

        found = pool.sum(partial, list(pairwise(cuts.tolist())))
        out[:] = 0.0 if found is None else found

    def columns(self, support: Support) -> Dense:
        """A[:, support], copied in the same order."""
        part = self.store[support] if self.transposed else self.store[:, support]
        return Dense(np.ascontiguousarray(part), self.transposed, self.leaves)

    def row_squares(self) -> Array:
        """|a_i|^2 for each row."""
        A = self.store.T if self.transposed else self.store
        return np.asarray(np.einsum("ij,ij->i", A, A, dtype=np.float64))

    def gram_plan(self, support: Support | None) -> GramPlan:
        """The way the Gram matrix of these columns is taken."""
        k = self.shape[1] if support is None else support.size
        return GramPlan("dense", level_of_rows(self.shape[0], len(self.leaves), k))

    def gram(
        self, support: Support | None, d: Array, pool: Pool, plan: GramPlan | None = None, single: bool = False
    ) -> Array:
        """A[:, support]' diag(d) A[:, support]; None for all columns. A holder of some leaves is given the plan of the whole.

        With `single` and d >= 0 the products are taken in single precision.
        """
        k = self.shape[1] if support is None else support.size
        plan = self.gram_plan(support) if plan is None else plan
        if support is not None and np.array_equal(support, np.arange(self.shape[1])):
            support = None
        rooms: list[_Room] = []
        nodes = merged(self.leaves, plan.level)
        kept = self._grams if support is None and k * k * len(nodes) <= KEPT_NUMBERS else None

        def partial(block: Block) -> Array:
            # numbers beyond single precision are seen by whoever asked for it; a thread has its own warnings
            with np.errstate(over="ignore", invalid="ignore"):
                return of_block(block)

        def of_block(block: Block) -> Array:
            total: Array | None = None
            here = d[slice(*block)]
            least, most = float(here.min(initial=np.inf)), float(here.max(initial=0.0))
            # a product with its own transpose takes half the time, and without weights no copy
            even = least == most
            root = np.sqrt(here) if least >= 0.0 and not even else None
            kind: Any = np.float32 if single and least >= 0.0 else np.float64
            # rows without a weight are left out, of what is kept too
            place = (block, kind) if kept is not None and even and most != 0.0 else None
            if kept is not None and place in kept:
                return kept[place] * most
            if kind is np.float32:
                # weights of 1 at most keep within its range what is in it
                root = None if root is None else (root / np.sqrt(most)).astype(np.float32)
                step = max(1, gram_rows(k) // SINGLE_SHARE)
            else:
                step = (4 if even else 1) * gram_rows(k)
            try:
                room = rooms.pop()
            except IndexError:
                room = _Room()
            for start in range(*block, step):
                pool.look()
                stop = min(start + step, block[1])
                rows, own = self._rows(support, start, stop, room, kind)
                weights = (here if root is None else root)[start - block[0] : stop - block[0]]
                live = None if least > 0.0 else np.flatnonzero(weights)
                if live is not None and live.size <= FEW_ROWS * weights.size:
                    # samples on linear pieces of their losses
                    rows, weights, own = rows[live], weights[live], True
                if root is not None and not own and rows.flags.c_contiguous and rows.size >= MANY_SCALED:
                    taken, rows = rows, room.like(rows, kind)
                    kernel(scaled_rows)(taken, weights, rows)
                else:
                    if rows.dtype != kind:
                        taken, own = rows, True
                        rows = room.like(taken, kind)
                        np.copyto(rows, taken, casting="same_kind")
                    if root is not None:
                        rows = np.multiply(weights[:, None], rows, out=rows if own else room.like(rows, kind))
                part = rows.T @ (rows if even or root is not None else weights[:, None] * rows)
                total = part.astype(np.float64, copy=False) if total is None else np.add(total, part, out=total)
            rooms.append(room)
            assert total is not None
            if kept is not None and place is not None:
                kept[place] = total.copy()
            if (even or kind is np.float32) and most != 1.0:
                total *= most
            return 0.5 * (total + total.T) if not even and root is None else total

        with serial_blas():
            found = pool.sum(partial, nodes, gram_partials(k))
        if kept:
            self._remember()
        return np.zeros((k, k)) if found is None else np.asarray(found)

    def _rows(
        self, support: Support | None, start: int, stop: int, room: _Room, kind: Any
    ) -> tuple[NDArray[Any], bool]:
        """Some rows of these columns, and whether they are a copy that may be written to, in the room where they are of that kind."""
        store: Any = self.store
        if not isinstance(store, np.ndarray):
            return (store[start:stop] if support is None else store[start:stop, support]), True
        if support is None:
            return (store[:, start:stop].T if self.transposed else store[start:stop]), False
        if self.transposed:
            return store[support, start:stop].T, True
        out = room.of(stop - start, support.size, kind) if store.dtype == kind else None
        # columns are within bounds: to look at them again would take one more copy
        return np.take(store[start:stop], support, axis=1, out=out, mode="clip"), True


class _Room:
    """The place in which blocks of rows are written, one after the other: malloc gives what an array of a megabyte had back to the system, which
    clears its pages for the next."""

    def __init__(self) -> None:
        self._numbers = np.empty(0)

    def like(self, rows: NDArray[Any], kind: Any) -> NDArray[Any]:
        """An array of that shape, laid out by rows or by columns as `rows` is."""
        n, k = rows.shape
        return self.of(k, n, kind).T if rows.strides[0] < rows.strides[1] else self.of(n, k, kind)

    def of(self, n: int, k: int, kind: Any) -> NDArray[Any]:
        """An array of n rows."""
        if self._numbers.size < n * k or self._numbers.dtype != kind:
            self._numbers = np.empty(n * k, kind)
        return self._numbers[: n * k].reshape(n, k)


class Compressed(NamedTuple):
    """Rows stored one after the other."""

    indptr: NDArray[Any]
    indices: NDArray[Any]
    data: NDArray[Any]


class Sparse:
    """A by rows and by columns; the one that is missing is made when first needed, and kept."""

    elsewhere = False

    def __init__(
        self,
        shape: tuple[int, int],
        *,
        rows: Compressed | None = None,
        columns: Compressed | None = None,
        leaves: tuple[Rows, ...] | None = None,
    ) -> None:
        self.shape = shape
        if leaves is not None:
            self.leaves = leaves
        if rows is not None:
            self.rows = rows
        if columns is not None:
            self.by_columns = columns
        self.nnz = int((rows or columns).data.size)  # type: ignore[union-attr]
        self._scattered = 0  # products A'y that were taken by rows

    @cached_property
    def rows(self) -> Compressed:
        return _transposed(self.by_columns, self.shape[::-1])

    @cached_property
    def by_columns(self) -> Compressed:
        return _transposed(self.rows, self.shape)

    @cached_property
    def leaves(self) -> tuple[Rows, ...]:
        """The leaves of its rows."""
        return sparse_leaves(self.rows.indptr, self.shape[1])

    @cached_property
    def _cuts(self) -> NDArray[np.uint64]:
        return _cuts(self.leaves)

    @cached_property
    def _starts(self) -> tuple[NDArray[Any], Compressed]:
        """The places where the entries of each leaf begin in each column, and the columns, in the order of their rows."""
        columns = self.by_columns
        starts = np.empty((self.shape[1], len(self.leaves) + 1), dtype=columns.indptr.dtype)
        cuts = readonly(self._cuts[:-1].astype(columns.indptr.dtype))
        if not kernel(leaf_starts)(columns.indptr, columns.indices, cuts, starts):
            columns = _transposed(self.rows, self.shape)
            kernel(leaf_starts)(columns.indptr, columns.indices, cuts, starts)
        return readonly(starts), columns

    def part(self, start: int, stop: int) -> Sparse:
        """The rows of the leaves start..stop-1, with these leaves: what a holder of some rows has."""
        at, leaves = part_of(self.leaves, start, stop)
        indptr, indices, data = self.rows
        ends = indptr[at.start : at.stop + 1]
        inside = slice(int(ends[0]), int(ends[-1]))
        rows = Compressed(readonly(ends - ends[0]), indices[inside], data[inside])
        return Sparse((at.stop - at.start, self.shape[1]), rows=rows, leaves=leaves)

    @cached_property
    def blocks(self) -> tuple[Block, ...]:
        return row_blocks(self.rows.indptr)

    @cached_property
    def column_blocks(self) -> tuple[Block, ...]:
        return row_blocks(self.by_columns.indptr)

    @cached_property
    def longest_row(self) -> int:
        return int(np.diff(self.rows.indptr.astype(np.int64)).max(initial=0))

    def matvec(self, x: Array, out: Array, pool: Pool) -> None:
        """out = A x."""
        pool.run(lambda block: self.matvec_block(x, out, *block), self.blocks)

    def matvec_block(self, x: Array, out: Array, start: int, stop: int) -> None:
        """out[start:stop] = A[start:stop] x."""
        kernel(csr_matvec)(*self.rows, x, out, start, stop)

    def rmatvec(self, y: Array, out: Array, pool: Pool) -> None:
        """out = A'y. One thread takes it by rows while it has no columns and few products were asked for: the sums are the same, bit for bit."""
        if pool.threads == 1 and "by_columns" not in vars(self) and self._scattered < FEW_PRODUCTS:
            self._scattered += 1
            self.rmatvec_rows(y, readonly(np.arange(self.shape[0])), out, pool)
            return
        if len(self.leaves) < 2:
            gather, columns = kernel(csr_matvec), self.by_columns
            pool.run(lambda block: gather(*columns, y, out, *block), self.column_blocks)
            return
        cut, (starts, columns) = kernel(csr_matvec_leaves), self._starts
        pool.run(lambda block: cut(starts, columns.indices, columns.data, y, out, *block), self.column_blocks)

    def cost_of_columns(self, support: Support) -> int:
        """The stored numbers in the columns of the support."""
        indptr = self.by_columns.indptr
        return int((indptr[support + 1] - indptr[support]).sum())

    def prefers_columns(self, support: Support) -> bool:
        """True if A[:, support] x[support] is cheaper than A x."""
        return 2 * self.cost_of_columns(support) <= self.nnz

    def matvec_columns(self, x: Array, support: Support, out: Array, pool: Pool) -> None:
        """out = A[:, support] x[support]."""
        out[:] = 0.0
        kernel(csr_scatter)(*self.by_columns, support, x, out)

    def cost_of_rows(self, rows: Support) -> int:
        """The stored numbers of some rows."""
        indptr = self.rows.indptr
        return int((indptr[rows + 1] - indptr[rows]).sum())

    def prefers_rows(self, rows: Support) -> bool:
        """True if A[rows]'y[rows] is cheaper than A'y."""
        return 2 * self.cost_of_rows(rows) <= self.nnz

    def rmatvec_rows(self, y: Array, rows: Support, out: Array, pool: Pool) -> None:
        """out = A[rows]'y[rows]."""
        scatter = kernel(csr_scatter)
        ends = list(pairwise(np.searchsorted(rows, self._cuts).tolist()))
        if (0, rows.size) in ends:
            # all are of one leaf
            out[:] = 0.0
            scatter(*self.rows, rows, y, out)
            return

        def partial(start: int, stop: int) -> Array | None:
            if start == stop:
                return None
            part = np.zeros(self.shape[1])
            scatter(*self.rows, rows[start:stop], y, part)
            return part

        total = tree_sum(partial(*pair) for pair in ends)
        out[:] = 0.0 if total is None else total

    def columns(self, support: Support) -> Sparse:
        """A[:, support], copied; indices strictly increase in each row."""
        columns, n = self.by_columns, self.shape[0]
        last, indptr = np.full(n, -1), np.zeros(n + 1, dtype=np.int64)
        indices, data = np.empty(0, columns.indices.dtype), np.empty(0, columns.data.dtype)
        kernel(csc_rows)(*columns, support, last, indptr[1:], indices, data)
        np.cumsum(indptr, out=indptr)
        indices, data = np.empty(indptr[-1], indices.dtype), np.empty(indptr[-1], data.dtype)
        last[:] = -1
        kernel(csc_rows)(*columns, support, last, indptr[:-1].copy(), indices, data)
        rows = Compressed(*map(readonly, (indptr.astype(columns.indptr.dtype), indices, data)))
        return Sparse((n, support.size), rows=rows, leaves=self.leaves)

    def row_squares(self) -> Array:
        """|a_i|^2 for each row."""
        out = np.empty(self.shape[0])
        kernel(csr_row_squares)(self.rows, out)
        return out

    def gram_plan(self, support: Support | None) -> GramPlan:
        """The way the Gram matrix of these columns is taken."""
        n, width = self.shape
        here = self.nnz if support is None else self.cost_of_columns(support)
        k = width if support is None else support.size
        if k >= _DENSE_GRAM_COLUMNS and here > _DENSE_GRAM_SHARE * n * k:
            return GramPlan("dense", level_of_rows(n, len(self.leaves), k))
        kind = "copied" if here < _FEW_COLUMNS * self.nnz else "pairs"
        # most rows have nothing there: what they have is copied first
        return GramPlan(kind, level_of_numbers(here, len(self.leaves), k))

    def gram(self, support: Support | None, d: Array, pool: Pool, plan: GramPlan | None = None) -> Array:
        """A[:, support]' diag(d) A[:, support]; None for all columns. A holder of some leaves is given the plan of the whole."""
        width = self.shape[1]
        plan = self.gram_plan(support) if plan is None else plan
        support = np.arange(width) if support is None else support
        k = support.size
        if plan.kind == "dense":
            return self._dense_gram(support, d, pool, plan)
        if plan.kind == "copied":
            return self.columns(support).gram(None, d, pool, plan._replace(kind="pairs"))
        n, rows = self.shape[0], self.rows
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

        found = pool.sum(partial, merged(self.leaves, plan.level), gram_partials(k))
        out = np.zeros((k, k)) if found is None else found
        return np.asarray(out + np.triu(out, 1).T)

    def _dense_gram(self, support: Support, d: Array, pool: Pool, plan: GramPlan) -> Array:
        """The same by dense blocks of rows and BLAS."""
        k = support.size
        rows = self.rows if np.array_equal(support, np.arange(self.shape[1])) else self.columns(support).rows
        matrix, step = _scipy(rows, (self.shape[0], k)), gram_rows(k)

        def partial(block: Block) -> Array:
            total = np.zeros((k, k))
            for start in range(*block, step):
                pool.look()
                stop = min(start + step, block[1])
                some, weights = matrix[start:stop], d[start:stop]
                live = np.flatnonzero(weights)
                if live.size <= FEW_ROWS * weights.size:
                    some, weights = some[live], weights[live]
                dense = some.toarray().astype(np.float64, copy=False)
                total += dense.T @ (weights[:, None] * dense)
            return 0.5 * (total + total.T)

        with serial_blas():
            found = pool.sum(partial, merged(self.leaves, plan.level), gram_partials(k))
        return np.zeros((k, k)) if found is None else np.asarray(found)


def stored(A: MatrixLike, leaves: tuple[Rows, ...] | None = None) -> Dense | Sparse:
    """The storage of a NumPy array, a memory map or a SciPy sparse matrix or array; a part of some data is given its leaves."""
    if isinstance(A, np.ndarray):
        return _dense(A, leaves)
    if A.format == "csc":
        return Sparse(A.shape, columns=_compressed(A), leaves=leaves)
    return Sparse(A.shape, rows=_compressed(A.tocsr()), leaves=leaves)


def is_turned(A: Any) -> bool:
    """True of data that are copied where their rows are taken one by one (`Dense.by_rows`)."""
    by_columns = isinstance(A, np.ndarray) and A.flags.f_contiguous and not A.flags.c_contiguous
    return by_columns and bool(A.size <= MOST_TURNED)


def readonly(a: NDArray[Any]) -> NDArray[Any]:
    """A plain view that cannot be written through."""
    view = np.asarray(a).view()
    view.flags.writeable = False
    return view


def _dense(A: NDArray[Any], leaves: tuple[Rows, ...] | None) -> Dense:
    if A.ndim != 2:
        raise ValueError(f"a matrix has two axes, not {A.ndim}")
    A = _numbers(A)
    if A.flags.c_contiguous:
        return Dense(A, transposed=False, leaves=leaves)
    if A.flags.f_contiguous:
        return Dense(A.T, transposed=True, leaves=leaves)
    return Dense(np.ascontiguousarray(A), transposed=False, leaves=leaves)


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


def gram_rows(k: int) -> int:
    """The number of rows of k numbers to take at a time: they stay in cache, and are enough for a product to be worth its k^2 sums."""
    return max(1, BLOCK_NUMBERS // max(1, k), min(2 * k, MOST_ROWS))


def gram_partials(k: int) -> int:
    """The number of k x k partial sums to take: together they stay small."""
    return max(1, min(PARTIALS, GRAM_NUMBERS // max(1, k * k)))


def level_of_rows(n: int, leaves: int, k: int) -> int:
    """The level of nodes that have rows enough for their k x k matrices to cost more than the sums of these."""
    return _level(n, leaves, _GRAM_ROWS * min(k, GRAM_COLUMNS))


def level_of_numbers(numbers: int, leaves: int, k: int) -> int:
    """The same where pairs of stored numbers are added one by one."""
    return _level(numbers, leaves, _GRAM_NUMBERS * min(k, GRAM_COLUMNS) ** 2)


def _level(total: int, leaves: int, least: int) -> int:
    level = 0
    while (1 << level) < leaves and total * (1 << level) < leaves * least:
        level += 1
    return level


def _cuts(leaves: tuple[Rows, ...]) -> NDArray[np.uint64]:
    """The rows where leaves begin, and the last end: unsigned, as the wrap-around test of signed indices keeps a loop from vector registers."""
    return readonly(np.array([0, *(stop for _, stop in leaves)], dtype=np.uint64))


def part_of(leaves: tuple[Rows, ...], start: int, stop: int) -> tuple[slice, tuple[Rows, ...]]:
    """The rows of the leaves start..stop-1, and these leaves counted from the first of them."""
    first = leaves[start][0]
    return slice(first, leaves[stop - 1][1]), tuple((a - first, b - first) for a, b in leaves[start:stop])
