"""How much memory there is, so that what can never fit is refused with its name before it is asked for."""

from __future__ import annotations

import os
import sys


def most_numbers() -> int:
    """How many float64 the memory of this machine, or the address space that this process may take, could hold."""
    size = sys.maxsize
    if hasattr(os, "sysconf"):  # not on Windows
        import resource

        pages, page = os.sysconf("SC_PHYS_PAGES"), os.sysconf("SC_PAGE_SIZE")
        size = pages * page if pages > 0 and page > 0 else size
        allowed, _ = resource.getrlimit(resource.RLIMIT_AS)
        size = size if allowed == resource.RLIM_INFINITY else min(size, allowed)
    return size // 8
