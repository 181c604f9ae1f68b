"""Numbers in a file that nobody else sees, and that is gone with who made it."""

from __future__ import annotations

import tempfile
import threading
from typing import Any, BinaryIO, cast

import numpy as np
from numpy.typing import NDArray

from .cache_folder import cache_root
from .decoded import full_disk_told, unwritable_told
from .memory import most_memory

AT_ONCE = 1 << 25
"""Bytes of a range of rows whose columns are read one after the other: of wide matrices the disk is to give some thousands of bytes each time."""

SHARE = 2
"""The share of the machine's memory, as 1 / SHARE, beyond which a copy of a file is not made in memory."""


class Scratch:
    """Numbers that are written and read by ranges, in a file without a name in the folder for caches. Threads may share it."""

    def __init__(self) -> None:
        self._file = _without_name()
        self._lock = threading.Lock()

    def __setitem__(self, at: slice, numbers: NDArray[np.float64]) -> None:
        with self._lock:
            self._file.seek(8 * at.start)
            _write(self._file, np.ascontiguousarray(numbers, dtype=np.float64))

    def __getitem__(self, at: slice) -> NDArray[np.float64]:
        found = np.empty(at.stop - at.start)
        rest = found.view(np.uint8).data
        with self._lock:
            self._file.seek(8 * at.start)
            while rest.nbytes:
                rest = rest[self._file.readinto(rest) :]  # type: ignore[attr-defined]
        return found


def by_rows(array: NDArray[Any]) -> NDArray[Any]:
    """A copy of an array that lies row by row: in memory, or mapped from a file without a name where it takes more than half of the machine's.

    Raises `DiskFull` where there is no room for that file.
    """
    # of a map by columns a range of each is read at a time
    step = max(1, AT_ONCE * len(array) // array.nbytes) if array.nbytes else 1
    parts = (array[start : start + step] for start in range(0, len(array), step))
    if array.nbytes <= most_memory() // SHARE:
        found = np.empty(array.shape, array.dtype)
        for start, part in zip(range(0, len(array), step), parts, strict=True):
            found[start : start + len(part)] = part
        return found
    with unwritable_told():
        file = _without_name()
    with file:
        for part in parts:
            _write(file, np.ascontiguousarray(part))
        return np.memmap(file, dtype=array.dtype, mode="r", shape=array.shape)


def _write(file: BinaryIO, numbers: NDArray[Any]) -> None:
    rest = numbers.reshape(-1).view(np.uint8).data
    with full_disk_told():
        while rest.nbytes:
            rest = rest[file.write(rest) :]


def _without_name() -> BinaryIO:
    """A new file in the folder for caches, which is gone once it is closed."""
    root = cache_root()
    root.mkdir(mode=0o700, parents=True, exist_ok=True)
    return cast(BinaryIO, tempfile.TemporaryFile(dir=root, buffering=0))
