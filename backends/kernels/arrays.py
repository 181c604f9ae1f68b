"""The arrays of a device, and what its matrices ask of them (`fwdsl.backends.kernels.on_device`).

`Arrays` is written over a module with NumPy's interface. Over NumPy it runs on the host: tests put it in the place of a device, and all but the
products themselves is then what a device runs. `fwdsl.backends.kernels.cuda` has the products of CUDA. Sums are taken in float64, whatever the
data are stored in, and in an order that the sizes alone decide: the same data give the same bits on the same device.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

BLOCK = 1 << 25
"""Numbers of a copy in float64 that a sum takes at a time, 256 MB: enough for a device to be busy, and little beside its memory."""


NUMBERS, SIZES, SQUARES = 0, 1, 2
"""The kinds of numbers that a product takes: a matrix's own, their sizes, or their squares."""


class OnDevice(NamedTuple):
    """Rows stored one after the other, on a device; `more` is what its products have prepared."""

    indptr: Any
    indices: Any
    data: Any
    width: int
    more: Any = None


class Arrays:
    """Arrays over a module with NumPy's interface, and the products of matrices with vectors."""

    #: What a device raises where it has no room, or fails.
    errors: tuple[type[BaseException], ...] = (MemoryError,)

    def __init__(self, xp: Any = np) -> None:
        self.xp = xp

    # --- memory -----------------------------------------------------------------------------------------------------

    def free(self) -> int:
        """The bytes that are free on the device."""
        from fwdsl.readers.memory import most_memory, resident

        return max(0, most_memory() - resident()[0])

    def release(self) -> None:
        """Give back what was freed."""

    def put(self, host: NDArray[Any]) -> Any:
        """A copy of an array of the host."""
        return self.xp.array(host)

    def vector(self, v: Array) -> Any:
        """A copy of a vector or of another small array of numbers."""
        return self.xp.array(v)

    def fetch(self, found: Any, out: Array) -> None:
        """Write an array of the device into one of the host, of any shape."""
        out[...] = found

    def wait(self) -> None:
        """Wait until the device has done all that it was asked for."""

    # --- dense matrices ---------------------------------------------------------------------------------------------

    def dot_rows(self, M: Any, v: Any, at: Any = None, of: int = NUMBERS) -> Any:
        """M[:, at] v for M stored by rows, or for the sizes or squares `of` its numbers: all columns where none are named."""
        out = self.xp.empty(M.shape[0])
        for some in _pieces(M.shape[0], M.shape[1] if at is None else at.size):
            rows = M[some] if at is None else M[some][:, at]
            out[some] = self._of(rows.astype(np.float64, copy=False), of) @ v
        return out

    def sum_rows(self, M: Any, v: Any, at: Any = None, of: int = NUMBERS) -> Any:
        """M[at]'v for M stored by rows, or for the sizes or squares `of` its numbers: all rows where none are named."""
        out = self.xp.zeros(M.shape[1])
        for some in _pieces(v.size, M.shape[1]):
            rows = M[some] if at is None else M[at[some]]
            out += v[some] @ self._of(rows.astype(np.float64, copy=False), of)
        return out

    def _of(self, numbers: Any, of: int) -> Any:
        return _OF[of](numbers)

    def gram(self, M: Any, transposed: bool, at: Any, w: Any, look: Callable[[], None]) -> Any:
        """A[:, at]' diag(w) A[:, at], A being M, or its transpose; all columns where none are named."""
        n, d = M.shape[::-1] if transposed else M.shape
        k = d if at is None else at.size
        total = self.xp.zeros((k, k))
        for some in _pieces(n, k):
            look()
            if transposed:
                rows = (M[:, some] if at is None else M[at, some]).T
            else:
                rows = M[some] if at is None else M[some][:, at]
            rows = rows.astype(np.float64, copy=False)
            total += rows.T @ (w[some, None] * rows)
            self.wait()
        return 0.5 * (total + total.T)

    def times(self, M: Any, transposed: bool, X: Any) -> Any:
        """M X, or M'X, for a matrix X."""
        if M.dtype == np.float64:
            return (M.T if transposed else M) @ X
        if transposed:
            out = self.xp.zeros((M.shape[1], X.shape[1]))
            for some in _pieces(M.shape[0], M.shape[1]):
                out += M[some].astype(np.float64, copy=False).T @ X[some]
            return out
        out = self.xp.empty((M.shape[0], X.shape[1]))
        for some in _pieces(M.shape[0], M.shape[1]):
            out[some] = M[some].astype(np.float64, copy=False) @ X
        return out

    # --- sparse matrices --------------------------------------------------------------------------------------------

    def compressed(self, indptr: Any, indices: Any, data: Any, width: int) -> OnDevice:
        """Rows of `width` numbers whose arrays are on the device."""
        return OnDevice(indptr, indices, data, width)

    def turned(self, rows: OnDevice) -> OnDevice:
        """The same numbers by columns, those of a column in the order of their rows."""
        xp, kind = self.xp, rows.indices.dtype
        order = self.sorting(rows.indices)
        at = xp.searchsorted(rows.indptr[1:], order.astype(rows.indptr.dtype), side="right").astype(kind)
        ends = xp.searchsorted(rows.indices[order], xp.arange(rows.width + 1, dtype=kind))
        return self.compressed(ends.astype(rows.indptr.dtype), at, rows.data[order], int(rows.indptr.size) - 1)

    def sorting(self, keys: Any) -> Any:
        """The places of keys in increasing order, those of equal ones in theirs."""
        return self.xp.argsort(keys, kind="stable")

    def sized(self, rows: OnDevice, of: int) -> OnDevice:
        """The same places with the sizes or squares of the numbers."""
        return rows._replace(data=self._of(rows.data.astype(np.float64, copy=False), of))

    def gather(self, rows: OnDevice, v: Any) -> Any:
        """The product of the rows with v."""
        from scipy.sparse import csr_array

        signed = np.int32 if rows.indices.dtype == np.uint32 else np.int64
        parts = (rows.data.astype(np.float64), rows.indices.view(signed), rows.indptr.view(signed))
        return csr_array(parts, shape=(rows.indptr.size - 1, rows.width)) @ v


_OF: tuple[Callable[[Any], Any], ...] = (lambda numbers: numbers, abs, lambda numbers: numbers * numbers)
"""The same as functions."""


def _pieces(n: int, width: int) -> Iterator[slice]:
    """Ranges of n rows of so many numbers, in their order."""
    step = max(1, BLOCK // max(1, width))
    return (slice(start, min(start + step, n)) for start in range(0, n, step))
