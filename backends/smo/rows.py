"""Rows of a Gram matrix, computed many at a time and kept within a number of bytes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from fwdsl.atoms.base import Array
from fwdsl.backends.kernels.compile import kernel
from fwdsl.backends.smo import loops
from fwdsl.features.gram import GramOperator
from fwdsl.features.matrices import is_sparse

BATCH = 128
"""Most rows computed at a time: fewer leave a third of the speed of matrix products unused."""

LEAST = 8
"""Rows that are kept whatever the bytes."""

LARGEST_COPY = 1 << 28
"""Bytes of a copy of dense samples, centred and in double precision; beyond, their blocks are made anew each time."""

PART = 1 << 18
"""Products of a batch with samples that are taken at a time: they stay in cache until their kernel is."""

_KEPT: WeakKeyDictionary[GramOperator, GramRows] = WeakKeyDictionary()
"""The rows of a Gram matrix as long as it lives: solving again with another parameter computes none twice."""


class GramRows:
    """Rows in slots of one array, the least recently used given up where it is full.

    A row's last digits may depend on those it was computed with, so the batch of each is known: `record` has all that a resumed run needs to make
    the same rows again, and to give up the same ones.
    """

    def __init__(self, gram: GramOperator, most_bytes: float) -> None:
        self.n = gram.shape[0]
        self.most_bytes = most_bytes
        self.slots = int(max(min(self.n, LEAST), min(self.n, most_bytes // (8 * self.n))))
        self.store = np.empty((self.slots, self.n))
        self.slot_of = np.full(self.n, -1, dtype=np.int64)
        self.row_in = np.full(self.slots, -1, dtype=np.int64)
        self.used = np.zeros(self.slots, dtype=np.int64)
        self.batch_in = np.zeros(self.slots, dtype=np.int64)
        self.batches: dict[int, NDArray[np.int64]] = {}
        self.clock = 0
        self.filled = 0
        self._samples: Any = None

    @staticmethod
    def taken(gram: GramOperator, most_bytes: float) -> GramRows:
        """The rows that an earlier solve gave back, where they take as many bytes; else new ones."""
        found = _KEPT.pop(gram, None)
        return found if found is not None and found.most_bytes == most_bytes else GramRows(gram, most_bytes)

    def give_back(self, gram: GramOperator) -> None:
        """Keep the rows for the next solve, which has them alone."""
        _KEPT[gram] = self

    # --- records ------------------------------------------------------------------------------------------------------

    def record(self) -> NDArray[np.int64]:
        """The rows that are kept, when they were used, and the batches they were computed in: a line of numbers for a state."""
        k = self.filled
        live = np.unique(self.batch_in[:k][self.row_in[:k] >= 0])
        self.batches = {int(b): self.batches[int(b)] for b in live}
        sizes = [rows.size for rows in self.batches.values()]
        tables = [self.row_in[:k], self.used[:k], np.searchsorted(live, self.batch_in[:k])]
        return np.concatenate(
            [[self.clock, k, len(sizes)], *tables, np.array(sizes, dtype=np.int64), *self.batches.values()]
        )

    def restore(self, gram: GramOperator, record: NDArray[np.int64], look: Callable[[], None]) -> None:
        """Make the rows of a record again, where they are not those kept already."""
        if np.array_equal(record, self.record()):
            return
        clock, k, count = (int(number) for number in record[:3])
        row_in, used, batch_in = (record[3 + i * k : 3 + (i + 1) * k] for i in range(3))
        sizes, rows_of_all = np.split(record[3 + 3 * k :], [count])
        batches = np.split(rows_of_all, np.cumsum(sizes)[:-1]) if count else []
        self.slot_of[:], self.row_in[:], self.clock, self.filled = -1, -1, 0, k
        self.used[:k], self.batch_in[:k] = used, batch_in
        self.batches = {b: rows.copy() for b, rows in enumerate(batches)}
        place = np.zeros(self.n, dtype=np.int64)
        for b, rows in self.batches.items():
            place[rows] = np.arange(rows.size)
            slots = np.flatnonzero((batch_in == b) & (row_in >= 0))
            slots = slots[np.argsort(place[row_in[slots]])]
            self._write(gram, rows, place[row_in[slots]], slots, look)
            self.slot_of[row_in[slots]], self.row_in[slots] = slots, row_in[slots]
        self.clock = clock

    # --- sums ---------------------------------------------------------------------------------------------------------

    def block(
        self,
        gram: GramOperator,
        at: NDArray[np.int64],
        look: Callable[[], None],
        factor: float = 1.0,
        extra: Array | float = 0.0,
    ) -> Array:
        """factor K + diag(extra) of some samples with each other: from rows that are kept, else computed by itself, for most other rows will not be
        needed. It is to be read: of all samples it may be the rows as they are kept.

        A block of most samples is most of its rows, which the steps on it will ask for. Where none is kept yet and all have room, half of the
        products, each of which is one of two rows, take less time than these rows.
        """
        if 2 * at.size >= self.n and at.size <= self.slots:
            empty = not self.filled and self.slots == self.n and isinstance(self._all(gram), np.ndarray)
            self._fetch(gram, np.arange(self.n) if empty else at, look)
        slots, plain = self.slot_of[at], factor == 1.0 and not np.any(extra)
        if plain and at.size == self.n and np.array_equal(slots, at):
            return self.store
        out = np.empty((at.size, at.size))
        kernel(loops.gather)(self.store, slots, at, factor, out)
        missing = np.flatnonzero(slots < 0)
        if missing.size:
            few, squares = at[missing], gram.squares
            here = self._rows(gram, few)
            if isinstance(here, np.ndarray) and few.size == at.size:
                gram.kernel.among(here, squares[at], out)
            else:
                there = self._rows(gram, at)
                out[missing] = gram.kernel.block(here, there, squares[few], squares[at])
            if factor != 1.0:
                out[missing] *= factor
        np.fill_diagonal(out, factor * gram.diag()[at] + extra)
        return out

    def add(self, gram: GramOperator, at: NDArray[np.int64], step: Array, look: Callable[[], None], out: Array) -> None:
        """out += K step for a step of some entries."""
        most = max(1, self.slots // 2)
        for start in range(0, at.size, most):
            look()
            some = slice(start, start + most)
            slots = self._fetch(gram, at[some], look)
            kernel(loops.add_rows, fuse=True)(self.store, slots, step[some], out)

    def _fetch(self, gram: GramOperator, wanted: NDArray[np.int64], look: Callable[[], None]) -> NDArray[np.int64]:
        """The slots of rows."""
        here = self.slot_of[wanted]
        self.clock += 1
        self.used[here[here >= 0]] = self.clock
        missing = wanted[here < 0]
        step = missing.size if missing.size == self.n else BATCH
        for start in range(0, missing.size, step):
            self._compute(gram, missing[start : start + step], look)
        return self.slot_of[wanted]

    def _compute(self, gram: GramOperator, rows: NDArray[np.int64], look: Callable[[], None]) -> None:
        slots = self._free(rows.size)
        self.slot_of[self.row_in[slots][self.row_in[slots] >= 0]] = -1
        self.row_in[slots] = -1
        batch = max(self.batches, default=-1) + 1
        self.batches[batch] = rows.copy()
        self._write(gram, rows, np.arange(rows.size), slots, look)
        self.batch_in[slots], self.used[slots] = batch, self.clock
        self.slot_of[rows], self.row_in[slots] = slots, rows

    def _free(self, count: int) -> NDArray[np.int64]:
        """Slots that nothing is in, then those whose rows were not used for longest."""
        fresh = np.arange(self.filled, min(self.slots, self.filled + count))
        self.filled += fresh.size
        if fresh.size == count:
            return fresh
        oldest = np.argsort(self.used[: self.filled - fresh.size], kind="stable")[: count - fresh.size]
        return np.concatenate([fresh, oldest])

    def _write(
        self,
        gram: GramOperator,
        batch: NDArray[np.int64],
        places: NDArray[np.int64],
        slots: NDArray[np.int64],
        look: Callable[[], None],
    ) -> None:
        """Rows at some places of a batch, in its order, into their slots, by parts of the columns. All rows in theirs are computed at once."""
        squares, diagonal, samples = gram.squares, gram.diag(), self._all(gram)
        every = np.arange(self.n)
        if isinstance(samples, np.ndarray) and np.array_equal(batch, every) and np.array_equal(slots, every):
            gram.kernel.among(samples, squares, self.store, look)
            np.fill_diagonal(self.store, diagonal)
            return
        here, step = self._rows(gram, batch), max(1, PART // batch.size)
        all_places = places.size == batch.size
        for start in range(0, self.n, step):
            look()
            part = slice(start, min(self.n, start + step))
            values = self._values(gram, here, squares[batch], part)
            self.store[slots, part] = values if all_places else values[places]
        rows = batch[places]
        self.store[slots, rows] = diagonal[rows]

    def _rows(self, gram: GramOperator, rows: NDArray[np.int64]) -> Any:
        found = self._all(gram)[rows]
        if is_sparse(found) and 8 * rows.size * found.shape[1] <= LARGEST_COPY:
            return found.toarray()
        return found

    def _values(self, gram: GramOperator, here: Any, squares: Array, part: slice) -> Array:
        """K of a batch with a part of the samples."""
        there = self._all(gram)[part]
        if isinstance(here, np.ndarray) and is_sparse(there):
            products = np.ascontiguousarray((there @ here.T).T)
            return gram.kernel.of_products(products, squares, gram.squares[part])
        return gram.kernel.block(here, there, squares, gram.squares[part])

    def _all(self, gram: GramOperator) -> Any:
        """The samples, centred as their squared norms are; dense ones in a copy where that is small."""
        if self._samples is None:
            X = gram.samples
            if isinstance(X, np.ndarray) and X.size * 8 <= LARGEST_COPY:
                X = np.asarray(X, dtype=np.float64)
                X = X if gram.centre is None else X - gram.centre
            elif isinstance(X, np.ndarray):
                X = _Centred(X, gram.centre)
            elif is_sparse(X):
                X = X.astype(np.float64, copy=False)
            self._samples = X
        return self._samples


class _Centred:
    """Blocks of large dense samples, made as they are asked for."""

    def __init__(self, X: Array, centre: Array | None) -> None:
        self.X, self.centre = X, centre

    def __getitem__(self, item: Any) -> Array:
        part = np.asarray(self.X[item], dtype=np.float64)
        return part if self.centre is None else part - self.centre
