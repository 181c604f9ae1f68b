"""Rows of data that outgrow memory, of formats that have no rows at places that are known: decoded once, into raw files.

A `Decoded` is a folder `rows-<key>` in the cache folder, with a file for each array and `rows.json`. The key is a hash of the sources (path, size,
time of change), of the format and its options, and of what is asked for: sources that changed are decoded anew. A folder is written as
`.part-rows-...`, and has its name once it is whole; what was begun is removed where it cannot be ended, such as on a full disk. Until it is whole,
and for good where nobody could find it again, it is of the process that writes it, and removed by a later one where that was killed (`owned`).
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import shutil
import tempfile
import weakref
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from . import owned
from .cache_folder import DiskFull, NotWritable, cache_root
from .growing import Growing
from .memory import size
from .row_blocks import DenseRows, RowBlocks, SortedTriplets, SparseRows, Stored, is_on_disk, stored_at

VERSION = 1
"""The version of what is written: another one is decoded anew."""

PREFIX, PART, RECORD = "rows-", ".part-rows-", "rows.json"

ROOM = 1 << 28
"""Bytes of the disk that are left free."""

NO_ROOM = (None, errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
"""The numbers of errors of a disk, a quota or a limit of the process without room; NumPy gives none."""

LOOKS = 1 << 26
"""Bytes that are written between two looks at the room that is left."""


RowsOfFiles = tuple[tuple[str, int], ...]
"""Files whose rows stand under each other, each with their number."""


class Decoded:
    """The arrays of one source as files. Arrays of up to `most` bytes stay in memory, and where all do, nothing is written."""

    def __init__(self, what: object, sources: Sequence[str], most: int) -> None:
        self.most = most
        states = [(os.path.abspath(path), *state_of(path)) for path in sources]
        told = json.dumps([VERSION, what, states], default=str, sort_keys=True)
        self.folder = cache_root() / (PREFIX + hashlib.sha256(told.encode()).hexdigest()[:24])
        self.least = sum(size for _, size, _ in states)
        self._part: Path | None = None
        self._unseen = 0
        owned.remove_abandoned(_folders())

    # --- writing ----------------------------------------------------------------------------------------------------

    def array(self, name: str, dtype: Any) -> Spilling:
        """An array that grows, in memory or in a file."""
        return Spilling(self, name, dtype)

    def create(self, name: str, least: int = 0) -> BinaryIO:
        """A new file. Raises `DiskFull` where the disk has no room for as many bytes as the sources have, or for `least`."""
        if self._part is None:
            root = self.folder.parent
            with full_disk_told(), unwritable_told():
                root.mkdir(mode=0o700, parents=True, exist_ok=True)
                self.look(max(self.least, least))
                self._part = Path(tempfile.mkdtemp(prefix=PART, dir=root))
            owned.own(self._part)
        with full_disk_told():
            return open(self._part / name, "wb+", buffering=1 << 20)

    def look(self, needed: int) -> None:
        """Raise `DiskFull` where so many bytes more would not leave room on the disk."""
        free = free_space(self.folder.parent)
        if free < needed + ROOM:
            raise DiskFull(
                f"{size(needed)} or more are to be written, {size(free)} are free, and {size(ROOM)} are to stay free"
            )

    def wrote(self, count: int) -> None:
        """Count bytes that were written, and look at the room now and then."""
        self._unseen += count
        if self._unseen >= LOOKS:
            self._unseen = 0
            self.look(LOOKS)

    def drop(self) -> None:
        """Remove what was written so far."""
        if self._part is not None:
            owned.remove(self._part)
            self._part = None

    def keep(
        self,
        arrays: Mapping[str, Any],
        headers: Mapping[str, tuple[str, ...]],
        again: bool = True,
        rows: Mapping[str, RowsOfFiles] | None = None,
    ) -> dict[str, Any]:
        """The arrays, those in files at the place where they are kept. What stays in memory is saved beside them, so that all can be had again.

        That is not so unless `again`: where there is something to tell of the sources, they are read anew in each run, and the files go with the
        matrices. `rows` tells of names that several sources serve which of them has which rows.
        """
        if self._part is None:
            return dict(arrays)
        with full_disk_told():
            is_found = self._describe(self._part, arrays, headers, again, rows or {})
        if is_found:
            owned.let_go(self._part)
            shutil.rmtree(self.folder, ignore_errors=True)
        else:  # others that read the same have their own
            self.folder = self.folder.with_name(PREFIX + self._part.name.removeprefix(PART))
        try:
            os.replace(self._part, self.folder)
        except OSError:  # another process, which decoded the same, was faster
            kept = self.kept()
            if kept is None:
                raise
            self.drop()
            return kept[0]
        owned.moved(self._part, self.folder)
        moved = {str(self._part): str(self.folder)}
        self._part = None
        found = {name: _moved(array, moved) for name, array in arrays.items()}
        if not is_found:
            _gone_with(self.folder, found.values())
        return found

    @staticmethod
    def _describe(
        part: Path,
        arrays: Mapping[str, Any],
        headers: Mapping[str, tuple[str, ...]],
        again: bool,
        rows: Mapping[str, RowsOfFiles],
    ) -> bool:
        """Write `rows.json` and what stays in memory into the folder; True if a later run can have it all again."""
        told: dict[str, Any] = {}
        for name, array in arrays.items():
            if isinstance(array, DenseRows):
                told[name] = {"dense": [_told(p) for p in array.parts], "d": array.shape[1]}
            elif isinstance(array, SparseRows):
                np.save(part / f"{name}.ends.npy", array.ends)
                told[name] = {"sparse": [[_told(s) for s in pair] for pair in array.parts], "d": array.shape[1]}
            elif isinstance(array, SortedTriplets):
                for kind in ("rows", "columns", "counts"):
                    np.save(part / f"{name}.{kind}.npy", getattr(array, kind))
                files = [_told(array.codes), _told(array.values)]
                told[name] = {"entries": files, "base": array.base}
            elif isinstance(array, np.ndarray) and array.dtype.kind != "O":
                np.save(part / f"{name}.npy", array)
                told[name] = {"array": f"{name}.npy"}
            else:
                told = {}  # such as sets of labels: decoded anew in each run
                break
        names = {n: list(h) for n, h in headers.items()}
        record = {"arrays": told, "headers": names, "rows": dict(rows)} if told and again else {}
        (part / RECORD).write_text(json.dumps(record), encoding="utf-8")
        return bool(record)

    # --- reading ----------------------------------------------------------------------------------------------------

    def kept(self) -> tuple[dict[str, Any], dict[str, tuple[str, ...]], dict[str, RowsOfFiles]] | None:
        """The arrays, headers and rows of sources of an earlier run; None where there are none, or they are damaged."""
        try:
            record = json.loads((self.folder / RECORD).read_text(encoding="utf-8"))
            arrays = {name: self._again(name, told) for name, told in record["arrays"].items()}
            rows = {n: tuple((str(f), int(k)) for f, k in of) for n, of in record.get("rows", {}).items()}
            return arrays, {name: tuple(names) for name, names in record["headers"].items()}, rows
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def _again(self, name: str, told: Mapping[str, Any]) -> Any:
        if "array" in told:
            return np.load(self.folder / f"{name}.npy", allow_pickle=False)
        if "dense" in told:
            return DenseRows([self._stored(s) for s in told["dense"]], int(told["d"]))
        if "entries" in told:
            kinds = ("rows", "columns", "counts")
            rows, columns, counts = (np.load(self.folder / f"{name}.{k}.npy", allow_pickle=False) for k in kinds)
            codes, values = map(self._stored, told["entries"])
            return SortedTriplets(rows, columns, counts, codes, values, int(told["base"]))
        ends = np.load(self.folder / f"{name}.ends.npy", allow_pickle=False)
        pairs = [(self._stored(c), self._stored(v)) for c, v in told["sparse"]]
        return SparseRows(ends, pairs, int(told["d"]))

    def _stored(self, told: Mapping[str, Any]) -> Stored:
        found = stored_at(str(self.folder / told["file"]), 0, np.dtype(told["dtype"]), int(told["count"]))
        if found.size != found.count * found.dtype.itemsize:
            raise ValueError("the file has another size")
        return found


class Spilling(Growing):
    """A `Growing` that goes into a file once it has more bytes than are to stay in memory."""

    def __init__(self, cache: Decoded, name: str, dtype: Any) -> None:
        super().__init__(dtype)
        self._cache, self._name = cache, name
        self._file: BinaryIO | None = None

    @property
    def spilled(self) -> bool:
        return self._file is not None

    def extend(self, values: np.ndarray) -> None:
        if self._file is None:
            super().extend(values)
            if self._size * self.dtype.itemsize > self._cache.most:
                self.spill()
            return
        self._write(np.ascontiguousarray(values, dtype=self.dtype))
        self._size += values.size

    def spill(self) -> None:
        """Put what there is into a file, where what follows goes too."""
        if self._file is None:
            self._file = self._cache.create(f"{self._name}.raw", self._size * self.dtype.itemsize)
            self._write(self._array[: self._size])
            self._array = np.empty(0, self.dtype)

    def _write(self, values: np.ndarray) -> None:
        assert self._file is not None
        with full_disk_told():
            if values.size:
                self._file.write(values.reshape(-1).view(np.uint8).data)
        self._cache.wrote(values.nbytes)

    def widen(self, dtype: Any) -> None:
        if self._file is None:
            super().widen(dtype)
            return
        old = self.stored()
        self._name += "-"
        self._file, self._size = None, 0
        self._array = np.empty(0, dtype)
        self.spill()
        for start in range(0, old.count, LOOKS):
            self.extend(old.read(start, min(start + LOOKS, old.count)))

    def stored(self) -> Stored:
        """The array in its file."""
        self.spill()
        assert self._file is not None
        path = self._file.name
        with full_disk_told():  # what is still in the buffer is written now
            self._file.close()
        return stored_at(str(path), 0, np.dtype(self.dtype), self._size)

    def finish(self) -> Any:
        """The array, or the `Stored` of the file that it went into."""
        return self.stored() if self._file is not None else super().finish()


class Pile:
    """Dense or sparse matrices of as many columns, under each other in files or in memory. Sparse ones are as wide as the widest."""

    def __init__(self, cache: Decoded, name: str) -> None:
        self._cache, self._name = cache, name
        self._numbers: Spilling | None = None
        self._columns: Spilling | None = None
        self._ends = Growing(np.int64)
        self._ends.extend(np.zeros(1, np.int64))
        self._width = self._rows = 0

    @property
    def width(self) -> int:
        """The columns so far."""
        return self._width

    def add(self, matrix: Any) -> None:
        """Add rows."""
        sparse = hasattr(matrix, "tocsr")
        data = matrix.data if sparse else matrix.reshape(-1)
        if self._numbers is None:
            self._numbers = self._cache.array(f"{self._name}.numbers", data.dtype)
        if data.dtype != self._numbers.dtype and self._numbers.dtype != np.float64:
            self._numbers.widen(np.float64)  # as several types are read
        if sparse:
            if self._columns is None:
                self._columns = self._cache.array(f"{self._name}.columns", matrix.indices.dtype)
            if matrix.indices.dtype == np.int64 and self._columns.dtype != np.int64:
                self._columns.widen(np.int64)
            if not matrix.has_canonical_format:
                matrix = matrix.copy()
                matrix.sum_duplicates()
                data = matrix.data
            self._ends.extend(matrix.indptr[1:].astype(np.int64) + self._numbers.size)
            self._columns.extend(matrix.indices)
        self._numbers.extend(data)
        self._width = max(self._width, matrix.shape[1])
        self._rows += matrix.shape[0]

    def finish(self, as_wide_as: int = 0) -> Any:
        """An array, a `csr_array`, or the same on its disk."""
        assert self._numbers is not None
        self._width = max(self._width, as_wide_as)
        if self._columns is None:
            found = self._numbers.finish()
            return (
                DenseRows([found], self._width) if isinstance(found, Stored) else found.reshape(self._rows, self._width)
            )
        return sparse_of(self._ends.finish(), self._columns, self._numbers, self._width)


def sparse_of(ends: np.ndarray, columns: Growing, values: Growing, width: int) -> Any:
    """The sparse matrix of arrays that have grown, in memory or, where one of them is in a file, in files."""
    if isinstance(columns, Spilling) and isinstance(values, Spilling) and (columns.spilled or values.spilled):
        return SparseRows(ends, [(columns.stored(), values.stored())], width)
    from scipy.sparse import csr_array

    index = np.int64 if columns.dtype == np.int64 or values.size >= 2**31 else np.int32
    matrix = csr_array(
        (values.finish(), columns.finish().astype(index, copy=False), ends.astype(index, copy=False)),
        shape=(ends.size - 1, width),
        copy=False,
    )
    matrix.has_canonical_format = True
    return matrix


@contextmanager
def unwritable_told() -> Iterator[None]:
    """Raises `NotWritable` where a folder or a file in it cannot be made; what is full is another matter."""
    try:
        yield
    except OSError as error:
        if error.errno in NO_ROOM:
            raise
        raise NotWritable((error.strerror or str(error)).lower()) from None


@contextmanager
def full_disk_told() -> Iterator[None]:
    """Raises `DiskFull` where a disk, a quota or a limit of the process has no room for what is written."""
    try:
        yield
    except OSError as error:
        # NumPy says of a write that was cut short only how much it wrote
        if error.errno not in NO_ROOM:
            raise
        raise DiskFull("the disk is full") from None


def free_space(folder: Path) -> int:
    """The bytes that are free on the disk of a folder."""
    return shutil.disk_usage(folder).free


def kept_folders() -> list[tuple[Path, int]]:
    """The folders of decoded rows, whole or begun, with their bytes."""
    return [(folder, sum(f.stat().st_size for f in folder.glob("*"))) for folder in _folders()]


def _folders() -> list[Path]:
    root = cache_root()
    found = [*root.glob(f"{PREFIX}*"), *root.glob(f"{PART}*")] if root.is_dir() else []
    return [folder for folder in sorted(found) if folder.is_dir()]


def is_decoded(folder: str) -> bool:
    """True of a folder of decoded rows."""
    return os.path.basename(folder).startswith(PREFIX) and os.path.exists(os.path.join(folder, RECORD))


def state_of(path: str) -> tuple[int, int]:
    """Size and time of change of a file; of a folder (a zarr store) the sum and the latest of what is in it."""
    if not os.path.isdir(path):
        state = os.stat(path)
        return state.st_size, state.st_mtime_ns
    states = [os.stat(os.path.join(folder, name)) for folder, _, names in os.walk(path) for name in names]
    return sum(s.st_size for s in states), max((s.st_mtime_ns for s in states), default=0)


def _gone_with(folder: Path, arrays: Iterable[Any]) -> None:
    """Remove a folder once the last of the matrices in it is gone, at the end of the process at the latest."""
    there = [array for array in arrays if is_on_disk(array)]
    left = len(there)

    def gone() -> None:
        nonlocal left
        left -= 1
        if not left:
            owned.remove(folder)

    for array in there:
        weakref.finalize(array, gone)


def _told(stored: Stored) -> dict[str, Any]:
    return {"file": os.path.basename(stored.path), "dtype": stored.dtype.str, "count": stored.count}


def _moved(array: Any, moved: Mapping[str, str]) -> Any:
    """A matrix on a disk after its folder was given its name."""
    if not is_on_disk(array) and not isinstance(array, SortedTriplets):
        return array

    def again(s: Stored) -> Stored:
        folder, name = os.path.split(s.path)
        return Stored(os.path.join(moved.get(folder, folder), name), s.offset, s.dtype, s.count, s.size, s.changed)

    if isinstance(array, SortedTriplets):
        return replace(array, codes=again(array.codes), values=again(array.values))
    found: RowBlocks
    if isinstance(array, DenseRows):
        found = DenseRows([again(p) for p in array.parts], array.shape[1])
    else:
        found = SparseRows(array.ends, [(again(c), again(v)) for c, v in array.parts], array.shape[1])
    return found
