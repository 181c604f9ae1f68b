"""The columns of a problem's one matrix of data, and the few of its other maps, as the loops of coordinate descent take them."""

from __future__ import annotations

import math
from functools import cache
from types import FunctionType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fwdsl.atoms.base import Array
from fwdsl.backends.coordinate import loops
from fwdsl.backends.coordinate.coordinates import Indices
from fwdsl.backends.coordinate.parts import COPIED_NUMBERS, columns_of_rows, factor_and_matrix, main_part, tasks_of
from fwdsl.backends.kernels.compile import Function, kernel
from fwdsl.backends.kernels.operators import Operator
from fwdsl.backends.kernels.pool import serial_blas
from fwdsl.backends.kernels.rows import csr_row_add, csr_row_dot, dense_row_add, dense_row_dot
from fwdsl.backends.kernels.storage import Dense, readonly
from fwdsl.backends.maps import CountedMap, KernelMatrix
from fwdsl.backends.problem import PreparedProblem, operator_of
from fwdsl.canon.matrix_maps import LeftMultiply

LONGEST_GROUP = 64
"""Coordinates of a group up to which the largest singular value of its columns is found; beyond, their length serves."""


DEPENDENT = 1e-8
"""The least eigenvalue of the correlations of extra columns with which they are minimised out."""

ROUNDING = 4.0 * float(np.finfo(np.float64).eps)
"""The length of what is left of a column without its part along those, a share of it and of the root of its entries, that is rounding."""

CANCELLED = 1e-6
"""The share of the square of a column that is left without its part along extra columns, from which on a difference tells it."""

FEW_COLUMNS = 24
"""Sparse columns up to which their Gram matrix is had faster pair by pair than after a copy of them by rows."""


@cache
def _linked(fn: Any, dense: bool) -> Function:
    """A loop that works with dense or with sparse columns."""
    dot = kernel(dense_row_dot, reorder=True)
    links: dict[str, Any] = {"extra_dot": dot, "extra_add": dense_row_add}
    if dense:
        links |= {"column_dot": dot, "column_add": dense_row_add}
        links["column_square"] = kernel(loops.dense_row_square, reorder=True)
    else:
        links |= {"column_dot": csr_row_dot, "column_add": csr_row_add, "column_square": loops.csr_row_square}
    used = {name: link for name, link in links.items() if name in fn.__code__.co_names}
    # each of them is called at one place: as a part it takes half of the time to compile that it takes by itself
    return kernel(fn, parts=tuple(name for name, link in used.items() if isinstance(link, FunctionType)), **used)


class Columns:
    """K = [E, c A] by columns: `extra` has those of E as its rows, whose places in x are `extra_at`, and those of the data A begin at `start`.

    A working set is an array of places in x: those of E first, all of them, and then some of A. Of a matrix of predictions with `tasks` columns K
    is the same for each of them: a column of K has so many places, one after the other, and predictions are split by tasks (`split`). Columns of
    dense data by rows are copied when they are first asked for.

    Where E is minimised out (`minimise_out`) no working set has its places, which are `gone_at` then, and columns of A are copied without their parts
    along E: of an intercept they are centred. The predictions of a point are to be the best ones that E reaches, and y has E'y = 0.
    """

    #: Models in a step while coordinates are missing.
    growing_models = 8

    def __init__(self, problem: PreparedProblem) -> None:
        (term,) = problem.terms
        best = main_part(term)
        assert best is not None
        block, m = term.map.parts[best]
        self.tasks = tasks_of(m)
        extra: list[Array] = []
        places: list[int] = []
        for i, (beside, other) in enumerate(term.map.parts):
            if i != best:
                extra += columns_of_rows(other, self.tasks)
                places += range(beside.start, beside.stop)
        found = factor_and_matrix(m)
        assert found is not None
        self.problem = problem
        self.counted: CountedMap | None = None
        if isinstance(found[1], KernelMatrix):
            self.operator = found[1].operator
        else:
            assert isinstance(found[1], LeftMultiply)
            self.operator = operator_of(found[1].A, problem.pool, problem.canonical.instance)
            (self.counted,) = (c for c in problem.counted if c.inner is found[1])
        self.factor = found[0]
        self.start = block.start
        self.extra = np.array(extra).reshape(len(extra), self.operator.shape[0])
        self.extra_at = np.array(places, dtype=np.intp)
        self.gone_at = np.zeros(0, dtype=np.intp)
        self._basis, self._weighed_basis = self.extra[:0], self.extra[:0]
        storage = self.operator.storage
        self.dense = isinstance(storage, Dense)
        self.by_rows = isinstance(storage, Dense) and not storage.transposed
        self._held = np.zeros((0, self.operator.shape[0]))
        self._place = np.full(self.operator.shape[1] if self.dense else 0, -1, dtype=np.intp)
        self._count = 0
        self._chosen: tuple[Indices, Operator] | None = None
        self._last: tuple[Indices | None, Indices] = None, np.zeros(0, dtype=np.intp)
        self._costed: tuple[Indices | None, int] = None, 0
        self.residual_epochs = _linked(loops.residual_epochs, self.dense)
        self.residual_entry_epochs = _linked(loops.residual_entry_epochs, self.dense)
        self._squares = _linked(loops.column_squares, self.dense)
        self._group_grams = _linked(loops.group_grams, self.dense)
        self._dots = _linked(loops.column_dots, self.dense)
        self._sum = _linked(loops.column_sum, self.dense)

    def minimise_out(self, h: Array) -> None:
        """Take E out of dense columns for a quadratic function whose curvature of each sample is h, unless columns of E depend on each other there.

        With B = U E, B diag(h) B' = I, a column a becomes a - B'B diag(h) a.
        """
        lengths = np.sqrt(np.square(self.extra) @ h)
        if not self.dense or not np.all(lengths > 0.0):
            return
        even = self.extra / lengths[:, None]
        sizes, turn = np.linalg.eigh((even * h) @ even.T)
        if not sizes.size or sizes[0] <= DEPENDENT:
            return
        self._basis = (turn / np.sqrt(sizes)).T @ even
        self._weighed_basis = self._basis * h
        self.gone_at, self.extra_at, self.extra = self.extra_at, self.gone_at, self.extra[:0]

    def _without_extra(self, rows: Array) -> None:
        """Take what is minimised out from columns, which are rows here, in place; one is the same whatever others are beside it."""
        if not len(self._basis):
            return
        before = np.einsum("ij,ij->i", rows, rows)
        for b, weighed in zip(self._basis, self._weighed_basis, strict=True):
            rows -= (rows * weighed).sum(axis=1)[:, None] * b
        # what rounding leaves of a constant column is nothing
        rows[np.einsum("ij,ij->i", rows, rows) <= ROUNDING**2 * rows.shape[1] * before] = 0.0

    def main(self, work: Indices) -> Indices:
        """The columns of the data in a working set, each once."""
        # of one set it is asked again and again
        if self._last[0] is not work:
            found = work[self.extra_at.size :: self.tasks] - self.start
            self._last = work, found // self.tasks if self.tasks > 1 else found
        return self._last[1]

    def split(self, z: Array) -> Array:
        """Predictions, a row a task."""
        return np.ascontiguousarray(z.reshape(-1, self.tasks).T)

    def task_of(self, size: int) -> Indices:
        """The task of each coordinate of a working set."""
        return np.arange(size) % self.tasks if self.tasks > 1 else np.zeros(size, dtype=np.intp)

    def stored(self, main: Indices) -> tuple[tuple[Any, ...], Indices]:
        """The columns of the data as the loops take them, and where the chosen ones are."""
        storage = self.operator.storage
        if not isinstance(storage, Dense):
            return tuple(storage.by_columns), main
        if not self.by_rows and not len(self._basis):
            return (storage.store,), main
        new = main[self._place[main] < 0]
        if new.size:
            size = self._count + new.size
            if size > len(self._held):
                held = np.empty((min(2 * size, self._place.size), storage.shape[0]))
                held[: self._count] = self._held[: self._count]
                self._held = held
            for first in range(0, new.size, 64):
                some = new[first : first + 64]
                into = self._held[self._count + first : self._count + first + some.size]
                into[:] = storage.store[:, some].T if self.by_rows else storage.store[some]
                self._without_extra(into)
            self._place[new] = np.arange(self._count, size)
            self._count = size
            self.count_work(new)
        return (readonly(self._held),), self._place[main]

    def weighted(self, main: Indices, root: Array) -> tuple[tuple[Any, ...], Indices, Array]:
        """The chosen columns of c A, their rows times `root`, and the squares of their lengths."""
        root = self.factor * root
        columns, cols = self.stored(main)
        every = np.arange(main.size)
        if self.dense:
            rows = (readonly(np.multiply(columns[0][cols], root, dtype=np.float64)),)
            return rows, every, self.squares(rows, every)
        (indptr, indices, _), total, squares = columns, self.cost(main), np.empty(main.size)
        out = np.zeros(main.size + 1, indptr.dtype), np.empty(total, indices.dtype), np.empty(total)
        kernel(loops.weighted_rows)(*columns, cols, root, *out, squares)
        return tuple(map(readonly, out)), every, squares

    def squares(self, columns: tuple[Any, ...], cols: Indices) -> Array:
        """|a_j|^2 of stored columns."""
        out = np.empty(cols.size)
        self._squares(columns, cols, out)
        return out

    def sizes(
        self, columns: tuple[Any, ...], cols: Indices, extra: Array, start: Indices, known: Array | None = None
    ) -> Array:
        """sigma_max(K_g)^2 of the groups of extra columns, each alone, and of stored ones, the squares of whose lengths may be known; at least that
        for long groups."""
        m = extra.shape[0]
        of_stored = self.squares(columns, cols) if known is None else known
        squares = np.concatenate([np.einsum("ij,ij->i", extra, extra), of_stored]) if m else of_stored
        if self.tasks > 1:
            # a group is an entry, or a row, whose columns are orthogonal
            return squares[start[:-1] // self.tasks]
        longest = int(np.diff(start).max(initial=1))
        if longest == 1:
            return squares
        sums = np.add.reduceat(squares, start[:-1])
        if longest <= LONGEST_GROUP:
            blocks = np.zeros((start.size - 1 - m, longest, longest))
            self._group_grams(columns, cols, start[m:] - m, longest, self.operator.shape[0], blocks)
            sums[m:] = np.minimum(sums[m:], (1.0 + 1e-12) * np.linalg.eigvalsh(blocks)[:, -1])
        return np.asarray(sums)

    def dots(self, work: Indices, y: Array) -> Array:
        """K_j'y for the coordinates of a working set."""
        main = self.main(work)
        columns, cols = self.stored(main)
        out = np.empty((self.tasks, main.size))
        for part, into in zip(self.split(y), out, strict=True):
            self._dots(columns, cols, part, into)
        self.count_work(main)
        found = self.factor * out.T.reshape(-1)
        return np.concatenate([self.beside(y).reshape(-1), found]) if self.extra.size else found

    def beside(self, y: Array) -> Array:
        """E'y, a column a task."""
        return self.extra @ y.reshape(-1, self.tasks)

    def add(self, columns: tuple[Any, ...], cols: Indices, extra: Array, x: Array, out: Array) -> None:
        """out += the sum of extra columns and of stored ones times x, a row a task."""
        m = extra.shape[0] * self.tasks
        for task, into in enumerate(out):
            self._sum(columns, cols, np.ascontiguousarray(x[m + task :: self.tasks]), into)
        if m:
            out += x[:m].reshape(-1, self.tasks).T @ extra

    def times(self, work: Indices, d: Array) -> Array:
        """K_W d."""
        main, m = self.main(work), self.extra_at.size
        columns, cols = self.stored(main)
        out = np.zeros((self.tasks, self.operator.shape[0]))
        for task, into in enumerate(out):
            self._sum(columns, cols, np.ascontiguousarray(d[m + task :: self.tasks]), into)
        self.count_work(main)
        out *= self.factor
        if m:
            out += d[:m].reshape(-1, self.tasks).T @ self.extra
        return out.T.reshape(-1)

    def gram(self, work: Indices, h: Array, known: Array) -> Array:
        """K_W'diag(h) K_W for a working set that begins with one whose matrix is `known`; of a matrix variable that of one task."""
        main = self.main(work)
        h = h[:: self.tasks]
        if not self.dense:
            return self._sparse_gram(main, h)
        at_once = self.by_rows and not len(self._basis) and not len(known) and main.size == self._place.size
        if at_once or not self.copies(main.size):
            return self.whole(work, main, h)
        columns, cols = self.stored(main)
        chosen, old, m = _rows(columns[0], cols), len(known), self.extra.shape[0]
        gram = np.empty((m + main.size, m + main.size))
        gram[:old, :old] = known
        self.count_work(main)
        with serial_blas():
            if not old:
                root, rows = np.sqrt(h), np.empty((m + main.size, h.size))
                np.multiply(self.extra, root, out=rows[:m])
                np.multiply(chosen, self.factor * root, out=rows[m:])
                np.matmul(rows, rows.T, out=gram)
                return gram
            # what is known has the extra columns
            new = (self.factor * h) * chosen[old - m :]
            gram[old:, :m] = new @ self.extra.T
            gram[old:, m:] = self.factor * (new @ chosen.T)
        gram[:old, old:] = gram[old:, :old].T
        return gram

    def whole(self, work: Indices, main: Indices, h: Array) -> Array:
        """The same by the operator, for a weight a sample."""
        if len(self._basis):
            return self._whole_without_extra(work, main, h)
        if self.tasks == 1:
            return self.problem.gram(work, [h])
        weighed = self.extra * h
        beside = [self.operator.rmatvec(row)[main] for row in weighed]
        return self._bordered(self.operator.gram(main, h), weighed, beside)

    def _whole_without_extra(self, work: Indices, main: Indices, h: Array) -> Array:
        """The same where E is minimised out: A'diag(h) A less the products along B, unless rounding would see too much of what is left."""
        found = self.operator.gram(main, h)
        before = np.einsum("ii->i", found).copy()
        weighed = self._basis * h
        along = np.array([self.operator.rmatvec(row)[main] for row in weighed])
        self.count_work(main, len(along))
        found = found - along.T @ np.linalg.solve(weighed @ self._basis.T, along)
        left = np.einsum("ii->i", found)
        if self.copies(main.size) and not np.all(left > CANCELLED * before):
            return self.gram(work, np.repeat(h, self.tasks), np.zeros((0, 0)))
        nothing = left <= ROUNDING * math.sqrt(h.size) * before
        found[nothing] = 0.0
        found[:, nothing] = 0.0
        return np.asarray(self.factor**2 * found)

    def _sparse_gram(self, main: Indices, h: Array) -> Array:
        """The same by pairs of columns where they are few, else by rows of the chosen columns, which are copied once for working sets that stay."""
        weighed = self.extra * h
        if main.size <= FEW_COLUMNS:
            columns, found = tuple(self.operator.storage.by_columns), np.empty((main.size, main.size))  # type: ignore[union-attr]
            kernel(loops.sparse_gram)(*columns, main, h, found)
            beside = [np.empty(main.size) for _ in weighed]
            for row, into in zip(weighed, beside, strict=True):
                self._dots(columns, main, row, into)
            self.count_work(main, 0.5 * main.size)
        else:
            if self._chosen is None or not np.array_equal(self._chosen[0], main):
                whole = np.array_equal(main, np.arange(self.operator.shape[1]))
                self._chosen = main, self.operator if whole else self.operator.columns(main)
            found = self._chosen[1].gram(None, h)
            beside = [self._chosen[1].rmatvec(row) for row in weighed]
        return self._bordered(found, weighed, beside)

    def _bordered(self, found: Array, weighed: Array, beside: list[Array]) -> Array:
        """K'diag(h) K of A'diag(h) A, E'diag(h), and A'diag(h) times each column of E."""
        if not beside:
            return self.factor**2 * found
        m, size = len(beside), len(beside) + len(found)
        gram = np.empty((size, size))
        gram[m:, m:] = self.factor**2 * found
        gram[:m, :m] = weighed @ self.extra.T
        for row, of_data in zip(gram, beside, strict=False):
            row[m:] = self.factor * of_data
        gram[m:, :m] = gram[:m, m:].T
        return gram

    def copies(self, count: int) -> bool:
        """True if so many dense columns may be copied."""
        n, d = self.operator.shape
        return n * count <= max(COPIED_NUMBERS, n * d // 4)

    def cost_of(self, places: Indices) -> int:
        """The stored numbers of the columns of some coordinates of the data."""
        return self.operator.storage.cost_of_columns((places - self.start) // self.tasks)

    def cost(self, main: Indices) -> int:
        """The stored numbers of columns of the data."""
        if self._costed[0] is not main:
            self._costed = main, self.operator.storage.cost_of_columns(main)
        return self._costed[1]

    def count_work(self, main: Indices, times: float = 1.0) -> None:
        """Count the stored numbers of columns of the data as touched, once for all tasks."""
        touched = round(times * self.cost(main))
        if self.counted is not None:
            self.counted.touched += touched
        else:
            self.operator.counter.touched += touched


def _rows(stored: NDArray[Any], at: Indices) -> NDArray[Any]:
    return stored[: at.size] if np.array_equal(at, np.arange(at.size)) else stored[at]
