"""A vector in a file that nobody else sees, and that is gone with who made it."""

from __future__ import annotations

import tempfile
import threading

import numpy as np
from numpy.typing import NDArray

from .cache_folder import cache_root
from .decoded import full_disk_told


class Scratch:
    """Numbers that are written and read by ranges, in a file without a name in the folder for caches. Threads may share it."""

    def __init__(self) -> None:
        root = cache_root()
        root.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._file = tempfile.TemporaryFile(dir=root, buffering=0)  # noqa: SIM115 - it is closed with its owner
        self._lock = threading.Lock()

    def __setitem__(self, at: slice, numbers: NDArray[np.float64]) -> None:
        rest = np.ascontiguousarray(numbers, dtype=np.float64).view(np.uint8).data
        with self._lock, full_disk_told():
            self._file.seek(8 * at.start)
            while rest.nbytes:
                rest = rest[self._file.write(rest) :]

    def __getitem__(self, at: slice) -> NDArray[np.float64]:
        found = np.empty(at.stop - at.start)
        rest = found.view(np.uint8).data
        with self._lock:
            self._file.seek(8 * at.start)
            while rest.nbytes:
                rest = rest[self._file.readinto(rest) :]
        return found
