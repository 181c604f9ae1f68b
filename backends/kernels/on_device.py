"""Matrices on a device as the methods see them: their numbers lie there in full, and vectors move.

Each keeps what the host has of it too, as the verifier and methods that visit single samples read that. A product that the device has no room for, or
that it fails in, is taken by the host, and so are all that follow: `lost` says why.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np

from fwdsl.backends.kernels.arrays import Array, Arrays, OnDevice
from fwdsl.backends.kernels.pool import Pool
from fwdsl.backends.kernels.storage import Compressed, Dense, GramPlan, Sparse, Support, readonly


class DeviceMatrix:
    """The part that dense and sparse matrices have in common."""

    elsewhere = True
    arrays: Arrays
    #: Why the host has taken over; "" while the device serves.
    lost: str
    #: Products that the device took.
    products: int
    _lock: threading.Lock

    def _begin(self, arrays: Arrays) -> None:
        self.arrays, self.lost, self.products = arrays, "", 0
        # buffers and counts are those of one product at a time
        self._lock = threading.Lock()

    def _asked(self, work: Callable[[], Any], out: Array) -> bool:
        """True once the device has done some work and `out` has its result; False where the host is to do it."""
        if self.lost:
            return False
        try:
            with self._lock:
                self.arrays.fetch(work(), out)
        except self.arrays.errors as error:
            self._lose(error)
            return False
        self.products += 1
        return True

    def _lose(self, error: BaseException) -> None:
        """Leave the rest to the host: a device that has failed once is not asked again."""
        self.lost = why_lost(error)
        self._drop()
        self.arrays.release()

    def _drop(self) -> None:
        """Let go of what lies on the device."""
        raise NotImplementedError


class DeviceDense(DeviceMatrix, Dense):
    """A dense matrix on a device, in the order that the host has it in."""

    def __init__(self, host: Dense, arrays: Arrays) -> None:
        vars(self).update(vars(host))
        self._begin(arrays)
        self._there = arrays.put(host.store)

    def _drop(self) -> None:
        self._there = None

    def _product(self, v: Array, by_rows: bool, out: Array, at: Support | None = None) -> bool:
        """Rows of the store times v, or the sum of its rows, each times a number of v: of the columns, or the rows, `at`."""
        arrays = self.arrays

        def work() -> Any:
            take = arrays.dot_rows if by_rows else arrays.sum_rows
            if at is None:
                return take(self._there, arrays.vector(v))
            return take(self._there, arrays.vector(v[at]), arrays.put(at))

        return self._asked(work, out)

    def matvec(self, x: Array, out: Array, pool: Pool) -> None:
        if not self._product(x, not self.transposed, out):
            super().matvec(x, out, pool)

    def rmatvec(self, y: Array, out: Array, pool: Pool) -> None:
        if not self._product(y, self.transposed, out):
            super().rmatvec(y, out, pool)

    def matvec_columns(self, x: Array, support: Support, out: Array, pool: Pool) -> None:
        if not self._product(x, not self.transposed, out, support):
            super().matvec_columns(x, support, out, pool)

    def rmatvec_rows(self, y: Array, rows: Support, out: Array, pool: Pool) -> None:
        if not self._product(y, self.transposed, out, rows):
            super().rmatvec_rows(y, rows, out, pool)

    def gram(
        self, support: Support | None, d: Array, pool: Pool, plan: GramPlan | None = None, single: bool = False
    ) -> Array:
        """The same in double precision always: a device is fast enough."""
        k, arrays = self.shape[1] if support is None else support.size, self.arrays

        def work() -> Any:
            at = None if support is None else arrays.put(support)
            return arrays.gram(self._there, self.transposed, at, arrays.vector(d), pool.look)

        out = np.empty((k, k))
        return out if self._asked(work, out) else super().gram(support, d, pool, plan, single)

    def sizes(self, v: Array, turned: bool, of: int, out: Array) -> bool:
        """|A| v or |A|'v, or the same of squares, into `out`; False where the host is to take it."""
        arrays = self.arrays

        def work() -> Any:
            take = arrays.sum_rows if turned != self.transposed else arrays.dot_rows
            return take(self._there, arrays.vector(v), of=of)

        return self._asked(work, out)

    def times(self, X: Array, turned: bool, out: Array) -> bool:
        """A X, or A'X where `turned`, into `out`; False where the host is to take it."""
        arrays = self.arrays
        return self._asked(lambda: arrays.times(self._there, turned != self.transposed, arrays.vector(X)), out)


class DeviceSparse(DeviceMatrix, Sparse):
    """A sparse matrix on a device, by rows and by columns. Gram matrices are the host's: few of its numbers are in the same columns."""

    def __init__(self, host: Sparse, arrays: Arrays) -> None:
        vars(self).update(vars(host))
        self._begin(arrays)
        given = "rows" in vars(host)
        parts, width = (host.rows, self.shape[1]) if given else (host.by_columns, self.shape[0])
        first = arrays.compressed(arrays.put(parts.indptr), arrays.put(parts.indices), arrays.put(parts.data), width)
        turned = arrays.turned(first)
        self._by_rows: OnDevice | None = first if given else turned
        self._by_columns: OnDevice | None = turned if given else first
        # what sorting took
        arrays.release()

    def _drop(self) -> None:
        self._by_rows = self._by_columns = None

    @cached_property
    def rows(self) -> Compressed:
        found = self._fetched(self._by_rows)
        return Sparse.rows.func(self) if found is None else found  # type: ignore[attr-defined]

    @cached_property
    def by_columns(self) -> Compressed:
        found = self._fetched(self._by_columns)
        return Sparse.by_columns.func(self) if found is None else found  # type: ignore[attr-defined]

    def _fetched(self, rows: OnDevice | None) -> Compressed | None:
        """The arrays as the host's kernels take them: sorting took the device less time than it would take the host."""
        if rows is None or self.lost:
            return None
        found = []
        try:
            with self._lock:
                for part in (rows.indptr, rows.indices, rows.data):
                    found.append(np.empty(part.shape, part.dtype))
                    self.arrays.fetch(part, found[-1])
        except self.arrays.errors as error:
            self._lose(error)
            return None
        return Compressed(*map(readonly, found))

    @cached_property
    def _ends(self) -> Any:
        """The places where columns begin and end: the rest of `by_columns` stays on the device for as long as nobody asks."""
        if "by_columns" in vars(self) or self._by_columns is None or self.lost:
            return self.by_columns.indptr
        part = self._by_columns.indptr
        out = np.empty(part.shape, part.dtype)
        try:
            with self._lock:
                self.arrays.fetch(part, out)
        except self.arrays.errors as error:
            self._lose(error)
            return self.by_columns.indptr
        return out

    def cost_of_columns(self, support: Support) -> int:
        return int((self._ends[support + 1] - self._ends[support]).sum())

    def matvec(self, x: Array, out: Array, pool: Pool) -> None:
        arrays = self.arrays
        if not self._asked(lambda: arrays.gather(self._by_rows, arrays.vector(x)), out):  # type: ignore[arg-type]
            super().matvec(x, out, pool)

    def rmatvec(self, y: Array, out: Array, pool: Pool) -> None:
        arrays = self.arrays
        if not self._asked(lambda: arrays.gather(self._by_columns, arrays.vector(y)), out):  # type: ignore[arg-type]
            super().rmatvec(y, out, pool)

    def matvec_columns(self, x: Array, support: Support, out: Array, pool: Pool) -> None:
        # what is added beside the columns of the support is 0
        if self.lost:
            super().matvec_columns(x, support, out, pool)
        else:
            self.matvec(x, out, pool)

    def rmatvec_rows(self, y: Array, rows: Support, out: Array, pool: Pool) -> None:
        if self.lost:
            super().rmatvec_rows(y, rows, out, pool)
        else:
            self.rmatvec(y, out, pool)

    def sizes(self, v: Array, turned: bool, of: int, out: Array) -> bool:
        """|A| v or |A|'v, or the same of squares, into `out`; False where the host is to take it."""
        arrays = self.arrays

        def work() -> Any:
            rows = self._by_columns if turned else self._by_rows
            assert rows is not None
            return arrays.gather(arrays.sized(rows, of), arrays.vector(v))

        return self._asked(work, out)

    def times(self, X: Array, turned: bool, out: Array) -> bool:
        """A X, or A'X where `turned`, into `out`, a column after the other; False where the host is to take it."""
        arrays = self.arrays

        def work() -> Any:
            rows, there = self._by_columns if turned else self._by_rows, arrays.vector(X)
            assert rows is not None
            columns = (arrays.xp.ascontiguousarray(there[:, c]) for c in range(X.shape[1]))
            return arrays.xp.stack([arrays.gather(rows, v) for v in columns], axis=1)

        return self._asked(work, out)


def why_lost(error: BaseException) -> str:
    """The reason that a device gave, as a clause."""
    if isinstance(error, MemoryError):
        return "the memory of the device ran out"
    return f"the device failed: {str(error).strip().partition(chr(10))[0] or type(error).__name__}"
