"""Arrays that are mapped from their files, and whether these are what they were.

The system reads pages of such a file when they are touched, so what is written to the file meanwhile is seen, and a page beyond its end is a SIGBUS.
"""

from __future__ import annotations

import os
import weakref
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from .row_blocks import require_same


class _State(NamedTuple):
    """A file as it was when it was mapped."""

    path: str
    size: int
    changed: int
    number: int

    def check(self) -> None:
        """Raise `ChangedFile` where the file was written to since. One that was replaced or removed is still there for whoever mapped it."""
        try:
            now = os.stat(self.path)
        except OSError:
            return
        if now.st_ino == self.number:
            require_same(self.path, self.size, self.changed, now)


class Mapped(np.memmap):
    """Numbers mapped from a file, read only."""

    state: _State | None

    def __array_finalize__(self, obj: Any) -> None:
        super().__array_finalize__(obj)
        self.state = getattr(obj, "state", None)


_STATES: weakref.WeakValueDictionary[int, Mapped] = weakref.WeakValueDictionary()
"""The arrays that are mapped now, by their identity."""


def mapped(path: str, dtype: np.dtype[Any], offset: int, shape: tuple[int, ...], order: str) -> Mapped:
    """The array at a place of a file. Raises `OSError`."""
    found: Mapped = Mapped(path, dtype=dtype, mode="r", offset=offset, shape=shape, order=order)  # type: ignore[call-overload]
    state = os.stat(path)
    found.state = _State(path, state.st_size, state.st_mtime_ns, state.st_ino)
    _STATES[id(found)] = found
    return found


def check_mapped(values: Iterable[Any]) -> None:
    """Raise `ChangedFile` where a file that values are mapped from was written to since."""
    for value in values:
        base = value
        while isinstance(base, np.ndarray) and not isinstance(base, Mapped):
            base = base.base
        if isinstance(base, Mapped) and base.state is not None and base.filename is not None:
            base.state.check()


def check_all_mapped() -> None:
    """The same for all files that are mapped now."""
    check_mapped(list(_STATES.values()))
