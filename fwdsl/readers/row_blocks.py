"""Matrices that stay on a disk: rows in files, any range of which is read into memory of a bounded size.

A `DenseRows` or a `SparseRows` stands where a matrix of data may. It has a shape, a type and its count of numbers, and no entries that may be asked
for at random: what works on it goes through `pieces`, ranges of consecutive rows of about `PIECE` bytes, and reads one after the other. Files are
read, not mapped: pages of a map count as memory of the process, and a map of a file that is cut short ends the process. Each reading looks whether
the file is still the one that was bound (by its size and the time of its last change), so that a changed file is an error and no silent change.
"""

from __future__ import annotations

import os
import sys
import threading
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import groupby
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from ..errors import DataError
from ..grammar.diagnostic import Diagnostic, Place
from ..light_dataclass import light_dataclass

if TYPE_CHECKING:
    from scipy.sparse import csr_array

Array = NDArray[Any]
Rows = tuple[int, int]

PIECE = 1 << 23
"""Bytes of a range of rows that is read at once, about: each thread has one, and the file system is asked to read the next."""

TOGETHER = 4
"""Rows that kernels take at a time: pieces begin at multiples of it from where their leaf begins, so that cutting changes no sum."""


class NotInMemory(DataError):
    """Something asked a matrix on a disk for what only one in memory has (FW4091)."""

    def __init__(self, found: str = "", rule: str = "") -> None:
        """`found` says what is asked for, where that is not a matrix."""
        found = found or (
            "a matrix is read by ranges of its rows under `--memory`, and what is to be done needs all of it at once"
        )
        rule = rule or "Data that stay on their disk stand in products with vectors and matrices."
        super().__init__((Diagnostic("FW4091", found, rule=rule, hint="leave `--memory` out, or allow more"),))


class ChangedFile(DataError):
    """A file that was changed, cut short or taken away after it was bound (FW4090)."""

    def __init__(self, path: str, what: str) -> None:
        self.told = path, what
        rule = "Data that stay on their disk are read in every pass, so their files stay as they are until the answer is there."
        hint = "run again once nobody writes to the file"
        place = Place(path)
        super().__init__((Diagnostic("FW4090", f"`{path}` {what}", rule=rule, hint=hint, place=place),))


def require_same(path: str, size: int, changed: int, now: os.stat_result) -> None:
    """Raise `ChangedFile` where a file has another size or time of change than it had."""
    if now.st_size != size:
        how = "cut short" if now.st_size < size else "changed"
        raise ChangedFile(path, f"was {how} after it was bound: {size:,} bytes then, {now.st_size:,} now")
    if now.st_mtime_ns != changed:
        raise ChangedFile(path, "was written to after it was bound")


@light_dataclass
class Stored:
    """Numbers of one type that lie one after the other in a file, with what tells that the file is the same one: its size and time of change."""

    path: str
    offset: int
    dtype: np.dtype[Any]
    count: int
    size: int
    changed: int

    def read(self, start: int, stop: int, out: Array | None = None, ahead: int = 0) -> Array:
        """The numbers from start up to stop, in `out` where that is given; `ahead` more are asked of the file system, which reads them meanwhile.

        Raises `ChangedFile`.
        """
        found = np.empty(stop - start, self.dtype) if out is None else out
        if stop > start:
            _read_from_file([(self, start, stop, found, ahead)])
        return found

    def cut(self, start: int, stop: int) -> Stored:
        """Some of the numbers, in the same file."""
        offset = self.offset + start * self.dtype.itemsize
        return Stored(self.path, offset, self.dtype, stop - start, self.size, self.changed)

    def read_from(self, file: BinaryIO, start: int, stop: int, out: Array, ahead: int) -> None:
        """The same from the file, which is open."""
        width = self.dtype.itemsize
        if ahead:
            _read_ahead(file, self.offset + stop * width, ahead * width)
        file.seek(self.offset + start * width)
        rest = memoryview(out).cast("B")  # type: ignore[arg-type]
        while rest.nbytes:
            got = file.readinto(rest)  # type: ignore[attr-defined]
            if not got:
                raise ChangedFile(self.path, "was cut short after it was bound")
            rest = rest[got:]

    def require_same(self, file: BinaryIO) -> None:
        """Raise `ChangedFile` where the open file is not the one that was bound."""
        require_same(self.path, self.size, self.changed, os.fstat(file.fileno()))


Asked = tuple[Stored, int, int, Array, int]
"""Numbers, a range of them, the array that it is read into, and how many more are asked of the file system."""


def read_together(asked: Sequence[Asked]) -> None:
    """Read several ranges. Those that follow each other in one file open it once. Raises `ChangedFile`."""
    wanted = (one for one in asked if one[2] > one[1])
    for (_, _, kind), run in groupby(wanted, lambda one: (one[0].path, one[0].changed, type(one[0]))):
        if kind is Stored:
            _read_from_file(list(run))
            continue
        for stored, start, stop, out, ahead in run:  # numbers of another kind are not in the file as they are
            stored.read(start, stop, out, ahead)


def _read_from_file(ranges: Sequence[Asked]) -> None:
    """Read ranges of one file."""
    first = ranges[0][0]
    try:
        with open(first.path, "rb", buffering=0) as file:
            first.require_same(file)
            for stored, start, stop, out, ahead in ranges:
                stored.read_from(file, start, stop, out, ahead)
            first.require_same(file)
    except OSError as error:
        raise ChangedFile(first.path, f"cannot be read any more: {error.strerror or error}") from None


@light_dataclass
class SortedTriplets:
    """Observed entries that outgrow memory, in files, in the order of their rows and within a row of their columns.

    `rows` and `columns` are the ids that there are, rising; `counts` has the entries of each row, and the files have of each entry the place of its
    column's id (`codes`) and its value.
    """

    rows: Array
    columns: Array
    counts: Array
    codes: Stored
    values: Stored
    base: int


def stored_at(path: str, offset: int, dtype: np.dtype[Any], count: int) -> Stored:
    """The numbers at a place of a file, as the file is now."""
    state = os.stat(path)
    return Stored(path, offset, dtype, count, state.st_size, state.st_mtime_ns)


def _read_ahead(file: BinaryIO, offset: int, length: int) -> None:
    if hasattr(os, "posix_fadvise"):  # not on macOS, nor on Windows
        os.posix_fadvise(file.fileno(), offset, length, os.POSIX_FADV_WILLNEED)


def cut_rows(ends: NDArray[np.integer], start: int, stop: int, room: int) -> Iterator[Rows]:
    """Consecutive ranges of the rows from start up to stop of a sparse matrix, each of `room` numbers and rows at most, or of one row."""
    while start < stop:
        end = int(np.searchsorted(ends, int(ends[start]) + room, side="right")) - 1
        # rows without numbers cost their ends
        end = min(max(start + 1, end), start + room, stop)
        yield start, end
        start = end


def unchecked(make: Any, shape: tuple[int, int], data: Array, indices: Array, indptr: Array) -> Any:
    """A sparse array of these arrays, which are not copied and nobody looks at: SciPy's constructor takes 40 microseconds to find that they fit."""
    known = _of_nothing(make)
    if known is None:
        found = make(shape, dtype=data.dtype)
    else:
        found = object.__new__(make)
        vars(found).update(known)
        found._shape = shape
    found.data, found.indices, found.indptr = data, indices, indptr
    return found


@cache
def _of_nothing(make: Any) -> dict[str, Any] | None:
    """The attributes of a sparse array of this class beside its arrays and shape; None for a SciPy whose arrays are made otherwise."""
    own = dict(vars(make((1, 1))))
    arrays = {"_shape", "data", "indices", "indptr"}
    return {n: v for n, v in own.items() if n not in arrays} if arrays <= set(own) else None


class RowBlocks:
    """A matrix of shape (n, d) whose rows lie in files. `numbers_read` counts what was read so far, as often as it was."""

    ndim = 2
    shape: tuple[int, int]
    #: Of the numbers as they are worked with: float64 or float32.
    dtype: np.dtype[Any]
    #: NumPy and SciPy leave `y @ A` to this class.
    __array_ufunc__ = None
    __array_priority__ = 1e5

    def __init__(self) -> None:
        self.numbers_read = 0
        self._lock = threading.Lock()

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name not in ("_lock", "_own")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._lock = threading.Lock()
        self._refresh()

    def _refresh(self) -> None:
        """Make anew what is not pickled."""

    def _count(self, numbers: int) -> None:
        with self._lock:
            self.numbers_read += numbers

    @property
    def size(self) -> int:
        """Stored numbers."""
        raise NotImplementedError

    @property
    def nnz(self) -> int:
        return self.size

    @property
    def nbytes(self) -> int:
        """Bytes in the files."""
        raise NotImplementedError

    @property
    def largest_piece(self) -> int:
        """Bytes of the largest of `pieces`, `PIECE` at least."""
        raise NotImplementedError

    @property
    def files(self) -> tuple[str, ...]:
        """The paths of the files, each once."""
        raise NotImplementedError

    @property
    def passes(self) -> float:
        """The times that all of it was read."""
        return self.numbers_read / self.size if self.size else 0.0

    @property
    def T(self) -> Turned:
        return Turned(self)

    def place(self, row: int, column: int, value: object) -> Place:
        """An entry by its file, and its row and column there, counted from 1."""
        raise NotImplementedError

    def pieces(self, start: int = 0, stop: int | None = None) -> Iterator[Rows]:
        """Consecutive ranges of the rows from start up to stop, each of about `PIECE` bytes and none empty."""
        raise NotImplementedError

    def rows(self, start: int, stop: int) -> Any:
        """The rows from start up to stop in memory: an array of their own, C-ordered, or a `csr_array`."""
        raise NotImplementedError

    def piece(self, start: int, stop: int, slot: int = 0) -> Any:
        """The rows from start up to stop in a buffer of this thread, which its next piece in that slot is read into."""
        raise NotImplementedError

    def walk(self, ranges: Sequence[Rows]) -> Iterator[Any]:
        """The `piece` of each range in turn, good until the next is asked for: a thread of its own reads that one meanwhile."""
        if len(ranges) < 2 or sys.platform == "emscripten":  # a browser has no threads
            yield from (self.piece(*one) for one in ranges)
            return
        from concurrent.futures import ThreadPoolExecutor

        with ThreadPoolExecutor(1, thread_name_prefix="fwdsl-reader") as reader:
            coming = reader.submit(self.piece, *ranges[0])
            for k in range(1, len(ranges) + 1):
                found = coming.result()
                if k < len(ranges):
                    coming = reader.submit(self.piece, *ranges[k], k % 2)
                yield found

    def between(self, start: int, stop: int) -> RowBlocks:
        """The rows from start up to stop as a matrix of its own, on its disk too."""
        raise NotImplementedError

    def take(self, rows: NDArray[np.intp], columns: NDArray[np.intp]) -> Array:
        """The entries in some rows and columns, dense and in memory; pieces without any of these rows are not read."""
        out = np.empty((rows.size, columns.size), self.dtype)
        order = np.argsort(rows, kind="stable")
        ordered = rows[order]
        for a, b in self.pieces():
            low, high = np.searchsorted(ordered, (a, b))
            if low < high:
                first, last = int(ordered[low]), int(ordered[high - 1]) + 1
                part = self.rows(first, last)[ordered[low:high] - first][:, columns]
                out[order[low:high]] = part if isinstance(part, np.ndarray) else part.toarray()
        return out

    def __array__(self, *_: Any, **__: Any) -> Array:
        raise NotInMemory

    def astype(self, dtype: Any, copy: bool = True) -> RowBlocks:
        """Itself, where that is its type."""
        if np.dtype(dtype) == self.dtype:
            return self
        raise NotInMemory

    def __repr__(self) -> str:
        return f"<{self.shape[0]:,} x {self.shape[1]:,} in {len(self.files)} file{'s' if len(self.files) > 1 else ''}>"


@light_dataclass
class Turned:
    """The transpose of a matrix on a disk, for products alone."""

    A: RowBlocks

    ndim = 2
    __array_ufunc__ = None
    __array_priority__ = 1e5

    @property
    def shape(self) -> tuple[int, int]:
        return self.A.shape[::-1]

    @property
    def dtype(self) -> np.dtype[Any]:
        return self.A.dtype

    @property
    def size(self) -> int:
        return self.A.size

    @property
    def T(self) -> RowBlocks:
        return self.A

    def __array__(self, *_: Any, **__: Any) -> Array:
        raise NotInMemory

    def __getitem__(self, _: Any) -> Any:
        raise NotInMemory


class DenseRows(RowBlocks):
    """A dense matrix: each part has whole rows of d numbers, one after the other. What are no floats becomes float64 as it is read."""

    def __init__(self, parts: Sequence[Stored], d: int) -> None:
        super().__init__()
        self.parts = tuple(parts)
        ends = np.cumsum([0, *(p.count // d for p in self.parts)])
        self.starts = [int(end) for end in ends]
        self.shape = self.starts[-1], d
        types = {p.dtype for p in self.parts}
        native = len(types) == 1 and next(iter(types)) in (np.float64, np.float32) and next(iter(types)).isnative
        self.dtype = next(iter(types)) if native else np.dtype(np.float64)
        self._refresh()

    def _refresh(self) -> None:
        self._own = threading.local()

    @property
    def size(self) -> int:
        return self.shape[0] * self.shape[1]

    @property
    def nbytes(self) -> int:
        return sum(p.count * p.dtype.itemsize for p in self.parts)

    @property
    def files(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(p.path for p in self.parts))

    def place(self, row: int, column: int, value: object) -> Place:
        path = self.parts[bisect_right(self.starts, row) - 1].path
        # a file may be in several parts
        first = next(start for part, start in zip(self.parts, self.starts, strict=False) if part.path == path)
        return Place(path, None, row - first + 1, column + 1, str(value))

    def between(self, start: int, stop: int) -> DenseRows:
        d, found = self.shape[1], []
        for part, first, last in zip(self.parts, self.starts, self.starts[1:], strict=False):
            a, b = max(start, first), min(stop, last)
            if a < b:
                found.append(part.cut((a - first) * d, (b - first) * d))
        return DenseRows(found, d)

    @property
    def piece_rows(self) -> int:
        """Rows of a piece."""
        rows = PIECE // (self.dtype.itemsize * max(1, self.shape[1]))
        return max(TOGETHER, rows - rows % TOGETHER)

    @property
    def largest_piece(self) -> int:
        return max(PIECE, self.piece_rows * self.shape[1] * self.dtype.itemsize)

    def pieces(self, start: int = 0, stop: int | None = None) -> Iterator[Rows]:
        stop, step = self.shape[0] if stop is None else stop, self.piece_rows
        for a in range(start, stop, step):
            yield a, min(a + step, stop)

    def rows(self, start: int, stop: int) -> Array:
        return self._into(np.empty((stop - start, self.shape[1]), self.dtype), start, stop)

    def piece(self, start: int, stop: int, slot: int = 0) -> Array:
        d, own = self.shape[1], vars(self._own)
        held: Array | None = own.get(f"buffer{slot}")
        if held is None or held.size < (stop - start) * d:
            own[f"buffer{slot}"] = held = np.empty(max(self.piece_rows, stop - start) * d, self.dtype)
        return self._into(held[: (stop - start) * d].reshape(stop - start, d), start, stop)

    def _into(self, out: Array, start: int, stop: int) -> Array:
        d = self.shape[1]
        at = start
        while at < stop:
            k = bisect_right(self.starts, at) - 1
            part, first = self.parts[k], self.starts[k]
            end = min(stop, self.starts[k + 1])
            rows = out[at - start : end - start].reshape(-1)
            low, high = (at - first) * d, (end - first) * d
            ahead = min(rows.size, part.count - high)
            if part.dtype == self.dtype:
                part.read(low, high, rows, ahead)
            else:
                rows[:] = part.read(low, high, ahead=ahead)
            at = end
        self._count(out.size)
        return out

    def __getitem__(self, at: Any) -> Array:
        """A[start:stop] or A[start:stop, columns] in memory, read piece by piece."""
        rows, columns = at if isinstance(at, tuple) else (at, slice(None))
        if not isinstance(rows, slice):
            raise NotInMemory
        start, stop, step = rows.indices(self.shape[0])
        if step != 1:
            raise NotInMemory
        stop = max(start, stop)
        if isinstance(columns, slice) and columns == slice(None):
            return self.rows(start, stop)
        columns = np.arange(self.shape[1])[columns]
        # by rows, as chosen columns of an array in memory are copied: products of them then round alike
        out = np.empty((stop - start, columns.size), self.dtype)
        for a, b in self.pieces(start, stop):
            np.take(self.piece(a, b), columns, axis=1, out=out[a - start : b - start])
        return out


class SparseRows(RowBlocks):
    """A sparse matrix by rows: where its rows end in memory, (n + 1) numbers, and in files its columns' numbers and its entries.

    Columns strictly increase in each row. The parts are pairs of as many columns as entries.
    """

    def __init__(self, ends: NDArray[np.integer], parts: Sequence[tuple[Stored, Stored]], d: int) -> None:
        super().__init__()
        self.parts = tuple(parts)
        self.ends = ends
        self.starts = [int(end) for end in np.cumsum([0, *(data.count for _, data in self.parts)])]
        self.shape = ends.size - 1, d
        types = {data.dtype for _, data in self.parts}
        native = len(types) == 1 and next(iter(types)) in (np.float64, np.float32) and next(iter(types)).isnative
        self.dtype = next(iter(types)) if native else np.dtype(np.float64)
        self._in_columns: NDArray[np.intp] | None = None
        self.narrow = max(*self.shape, self.starts[-1]) < 2**31
        self._refresh()

    def _refresh(self) -> None:
        self._own = threading.local()

    @property
    def size(self) -> int:
        return self.starts[-1]

    @property
    def nbytes(self) -> int:
        return sum(s.count * s.dtype.itemsize for pair in self.parts for s in pair) + int(self.ends.nbytes)

    @property
    def files(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(s.path for pair in self.parts for s in pair))

    @property
    def largest_piece(self) -> int:
        width = self.dtype.itemsize + np.dtype(self._signed).itemsize
        return max(PIECE, width * int(np.diff(self.ends).max(initial=0)))

    def pieces(self, start: int = 0, stop: int | None = None) -> Iterator[Rows]:
        return cut_rows(self.ends, start, self.shape[0] if stop is None else stop, max(1, PIECE // 12))

    def place(self, row: int, column: int, value: object) -> Place:
        return Place(self.files[0], None, row + 1, column + 1, str(value))

    def between(self, start: int, stop: int) -> SparseRows:
        low, high = int(self.ends[start]), int(self.ends[stop])
        found: list[tuple[Stored, Stored]] = []
        for (columns, values), first, last in zip(self.parts, self.starts, self.starts[1:], strict=False):
            a, b = max(low, first), min(high, last)
            if a < b:
                found.append((columns.cut(a - first, b - first), values.cut(a - first, b - first)))
        if not found:  # rows without numbers
            columns, values = self.parts[0]
            found.append((columns.cut(0, 0), values.cut(0, 0)))
        return SparseRows(self.ends[start : stop + 1] - low, found, self.shape[1])

    def compressed(self, start: int, stop: int) -> tuple[Array, Array, Array]:
        """(indptr, indices, data) of the rows from start up to stop, as kernels take them but for their sign."""
        count = int(self.ends[stop] - self.ends[start])
        return self._into(np.empty(count, self._signed), np.empty(count, self.dtype), start, stop)

    def piece(self, start: int, stop: int, slot: int = 0) -> tuple[Array, Array, Array]:
        """The same in buffers of this thread, which its next piece is read into: the system clears each page of new ones."""
        count, own = int(self.ends[stop] - self.ends[start]), vars(self._own)
        held: tuple[Array, Array] | None = own.get(f"buffers{slot}")
        if held is None or held[0].size < count:
            room = max(PIECE // 12, count)
            own[f"buffers{slot}"] = held = np.empty(room, self._signed), np.empty(room, self.dtype)
        return self._into(held[0][:count], held[1][:count], start, stop)

    @property
    def _signed(self) -> type[np.signedinteger[Any]]:
        return np.int32 if self.narrow else np.int64

    def _into(self, indices: Array, data: Array, start: int, stop: int) -> tuple[Array, Array, Array]:
        first = int(self.ends[start])
        indptr = np.subtract(self.ends[start : stop + 1], first, dtype=self._signed, casting="same_kind")
        for k, low, high in self._in_parts(start, stop):
            at = self.starts[k] - first
            asked, wanted = [], []
            for stored, out in zip(self.parts[k], (indices, data), strict=True):
                part = out[at + low : at + high]
                into = part if stored.dtype == out.dtype else np.empty(high - low, stored.dtype)
                asked.append((stored, low, high, into, min(high - low, stored.count - high)))
                wanted.append((part, into))
            read_together(asked)
            for part, into in wanted:
                if part is not into:
                    part[:] = into
        self._count(data.size)
        return indptr, indices, data

    def _in_parts(self, start: int, stop: int) -> Iterator[tuple[int, int, int]]:
        """The numbers of some rows: each part that has some of them, with the range of its own numbers."""
        at, last = int(self.ends[start]), int(self.ends[stop])
        while at < last:
            k = bisect_right(self.starts, at) - 1
            end = min(last, self.starts[k + 1])
            yield k, at - self.starts[k], end - self.starts[k]
            at = end

    def columns_of(self, start: int, stop: int) -> Array:
        """The columns' numbers of some rows alone, as the files have them."""
        found = [self.parts[k][0].read(low, high, ahead=high - low) for k, low, high in self._in_parts(start, stop)]
        return found[0] if len(found) == 1 else np.concatenate([np.zeros(0, np.int64), *found])

    @property
    def counted(self) -> bool:
        """True if the count of numbers in each column is known."""
        return self._in_columns is not None

    def tell_counts(self, counts: NDArray[np.int64]) -> None:
        """Keep the count of numbers in each column, which a pass over all rows has found beside its own sums."""
        self._in_columns = counts.astype(np.intp, copy=False)

    def in_columns(self) -> NDArray[np.intp]:
        """The count of numbers in each column, taken when this is first asked."""
        if self._in_columns is None:
            found = np.zeros(self.shape[1], dtype=np.intp)
            for a, b in self.pieces():
                found += np.bincount(self.columns_of(a, b), minlength=found.size)
            self._in_columns = found
        return self._in_columns

    def rows(self, start: int, stop: int) -> csr_array:
        return self.as_matrix(*self.compressed(start, stop))

    def as_matrix(self, indptr: Array, indices: Array, data: Array) -> csr_array:
        """Rows as SciPy has them, which are not copied."""
        from scipy.sparse import csr_array

        found = unchecked(csr_array, (indptr.size - 1, self.shape[1]), data, indices, indptr)
        found.has_canonical_format = True
        return found


def is_on_disk(A: object) -> bool:
    """True if a matrix stays on its disk."""
    return isinstance(A, RowBlocks)


def in_file(A: Any) -> Any:
    """A matrix by rows that is mapped from a file as rows of that file, which workers read by themselves; any other one as it is."""
    base = A
    while isinstance(base, np.ndarray) and not isinstance(base, np.memmap):
        base = base.base
    while isinstance(base, np.memmap) and isinstance(base.base, np.memmap):
        base = base.base
    if not isinstance(base, np.memmap) or not A.flags.c_contiguous or not base.filename or A.ndim != 2:
        return A
    offset = base.offset + A.__array_interface__["data"][0] - base.__array_interface__["data"][0]
    try:
        return DenseRows([stored_at(str(base.filename), offset, A.dtype, A.size)], A.shape[1])
    except OSError:  # the copy of a URL is gone but for what is mapped of it
        return A
