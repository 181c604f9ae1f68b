"""The memory that data may take."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from functools import cache


def resident() -> tuple[int, int]:
    """The bytes of this process that are in memory now, mapped files included, and the most that were so far; 0 where the system does not tell."""
    found = {"VmRSS:": 0, "VmHWM:": 0}
    with suppress(OSError), open("/proc/self/status", encoding="ascii", errors="replace") as status:
        for line in status:
            name, _, rest = line.partition("\t")
            if name in found:
                found[name] = 1024 * int(rest.split()[0])
    return found["VmRSS:"], found["VmHWM:"]


def give_back() -> None:
    """Give freed memory back to the system: that of Arrow, and that of malloc."""
    if "pyarrow" in sys.modules:
        sys.modules["pyarrow"].default_memory_pool().release_unused()
    if sys.platform == "linux":
        import ctypes

        with suppress(OSError, AttributeError):  # not of glibc
            ctypes.CDLL(None).malloc_trim(0)


class GivingBack:
    """Gives freed memory back now and then while much is read: what one file or block left must not add up with what others do."""

    EVERY = 1 << 23
    """Bytes that are read between two times."""

    def __init__(self) -> None:
        self._since = 0

    def read(self, nbytes: int) -> None:
        """Count bytes that were read, and whose arrays are gone."""
        self._since += nbytes
        if self._since >= self.EVERY:
            self._since = 0
            give_back()


def size(value: float) -> str:
    """Bytes in the unit that suits them."""
    for unit in ("B", "kB", "MB", "GB"):
        if value < 1000 or unit == "GB":
            return f"{value:.0f} {unit}" if unit == "B" else f"{value:.1f} {unit}"
        value /= 1000
    return f"{value:.1f} GB"


def most_memory() -> int:
    """The bytes of this machine's memory, or of the address space that this process may have if that is less."""
    size = _built_in()
    with suppress(ImportError):  # not on Windows, nor in a browser
        import resource

        allowed, _ = resource.getrlimit(resource.RLIMIT_AS)
        size = size if allowed == resource.RLIM_INFINITY else min(size, allowed)
    return size


@cache
def _built_in() -> int:
    """The bytes of this machine's memory; the largest number where it does not tell."""
    size = sys.maxsize
    if {"SC_PHYS_PAGES", "SC_PAGE_SIZE"} <= getattr(
        os, "sysconf_names", {}
    ).keys():  # not on Windows, nor on every POSIX
        pages, page = os.sysconf("SC_PHYS_PAGES"), os.sysconf("SC_PAGE_SIZE")
        size = pages * page if pages > 0 and page > 0 else size
    return size
