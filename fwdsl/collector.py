"""Python's collector of cycles, kept still while modules are imported and kernels loaded."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def still_collector() -> Iterator[None]:
    """A context in which no cycles are looked for.

    Imports and numba make hundreds of thousands of objects that stay, and the collector walks all of them, over and over: a quarter of the
    time of an import.
    """
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            gc.enable()
