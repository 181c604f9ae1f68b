"""A thread pool whose results do not depend on the number of threads.

The work is cut into blocks by the data alone (`row_blocks`), results come back in the order of the blocks, and sums are taken by the tree of
`fwdsl.sums`; kernels release the interpreter's lock.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

from fwdsl.sums import groups, level_of, tree_sum

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor

B = TypeVar("B")
T = TypeVar("T")


PARTIALS = 16
"""Values of nodes that threads have at a time, at most: what a sum over rows needs beside its result."""


class Stopped(Exception):
    """Work was given up because the run is to end: the step that it was part of is as if it had not begun."""


def never() -> bool:
    """The answer of a pool to "must we stop?" while no driver runs its problem."""
    return False


class Pool:
    """`threads` workers, started at the first parallel run; usable as a context manager, which closes it."""

    def __init__(self, threads: int = 1) -> None:
        if threads < 1:
            raise ValueError(f"threads must be at least 1, not {threads}")
        self.threads = 1 if sys.platform == "emscripten" else threads  # a browser has no threads
        #: Whether the run is to end now (its time is over, Ctrl-C), which the driver knows.
        self.must_stop: Callable[[], bool] = never
        self._workers: ThreadPoolExecutor | None = None

    def run(self, fn: Callable[[B], T], blocks: Sequence[B]) -> list[T]:
        """[fn(block) for block in blocks], in that order. Where one raises, its error is raised after all have ended."""
        if self.threads == 1 or len(blocks) < 2:
            return [fn(block) for block in blocks]
        if self._workers is None:
            from concurrent.futures import ThreadPoolExecutor

            self._workers = ThreadPoolExecutor(self.threads, thread_name_prefix="fwdsl")
        futures = [self._workers.submit(fn, block) for block in blocks]
        failed = [error for error in [future.exception() for future in futures] if error is not None]
        if failed:
            raise failed[0]
        return [future.result() for future in futures]

    def sum(self, fn: Callable[[B], Any], leaves: Sequence[B], most: int = PARTIALS) -> Any:
        """The tree sum (`fwdsl.sums`) of fn over leaves, None where there are none; values are fn's to give away. At most so many values of nodes
        wait for each other, beside those of the leaves of one node for each thread."""
        if len(leaves) == 1:
            return fn(leaves[0])
        parts = groups(leaves, level_of(len(leaves), 1 if self.threads == 1 else most))
        return tree_sum(self.run(lambda part: tree_sum(fn(leaf) for leaf in part), parts))

    def look(self) -> None:
        """Raise `Stopped` where the run is to end: for work that may take long, and changes nothing before it is done."""
        if self.must_stop():
            raise Stopped

    def close(self) -> None:
        """End the workers; a later `run` starts new ones."""
        if self._workers is not None:
            self._workers.shutdown()
            self._workers = None

    def __enter__(self) -> Pool:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class _SerialBlas:
    """The context of `serial_blas`, from the first that is entered to the last that is left, of all threads together: the limit is the process's.

    SciPy has a BLAS of its own, which is found once it is loaded.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._depth = 0
        self._limits: list[tuple[Any, int]] = []  # libraries, and the threads that they had
        self._with_scipy = False

    def __enter__(self) -> None:
        with self._lock:
            with_scipy = "scipy.linalg" in sys.modules
            if self._depth == 0 or with_scipy is not self._with_scipy:
                of_blas = [lib for lib in _blas(with_scipy).lib_controllers if lib.user_api == "blas"]
                found = [(lib, threads) for lib in of_blas if (threads := lib.num_threads) != 1]
                self._limits += found
                for lib, _ in found:
                    lib.set_num_threads(1)
            self._with_scipy = with_scipy
            self._depth += 1

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._depth -= 1
            while self._depth == 0 and self._limits:
                lib, threads = self._limits.pop()
                lib.set_num_threads(threads)


@cache
def _blas(with_scipy: bool) -> Any:
    """The BLAS libraries that are loaded now. Looking for them takes milliseconds."""
    from threadpoolctl import ThreadpoolController  # type: ignore[import-untyped]

    return ThreadpoolController()


_serial = _SerialBlas()


def serial_blas() -> AbstractContextManager[None]:
    """A context in which BLAS uses one thread: its sums then do not depend on how many it would have taken."""
    return _serial
