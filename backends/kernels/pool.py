"""A thread pool whose results do not depend on the number of threads.

The work is cut into blocks by the data alone (`row_blocks`) and results come back in the order of the blocks; kernels release the
interpreter's lock.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any, TypeVar

B = TypeVar("B")
T = TypeVar("T")


class Stopped(Exception):
    """Work was given up because the run is to end: the step that it was part of is as if it had not begun."""


def never() -> bool:
    """What a pool says of stopping while no driver runs its problem."""
    return False


class Pool:
    """`threads` workers, started at the first parallel run; usable as a context manager, which closes it."""

    def __init__(self, threads: int = 1) -> None:
        if threads < 1:
            raise ValueError(f"threads must be at least 1, not {threads}")
        self.threads = threads
        #: Whether the run is to end now (its time is over, Ctrl-C), which the driver knows.
        self.must_stop: Callable[[], bool] = never
        self._workers: ThreadPoolExecutor | None = None

    def run(self, fn: Callable[[B], T], blocks: Sequence[B]) -> list[T]:
        """[fn(block) for block in blocks], in that order. Where one raises, its error is raised after all have ended."""
        if self.threads == 1 or len(blocks) < 2:
            return [fn(block) for block in blocks]
        if self._workers is None:
            self._workers = ThreadPoolExecutor(self.threads, thread_name_prefix="fwdsl")
        futures = [self._workers.submit(fn, block) for block in blocks]
        failed = [error for error in [future.exception() for future in futures] if error is not None]
        if failed:
            raise failed[0]
        return [future.result() for future in futures]

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


@cache
def _blas() -> Any:
    from threadpoolctl import ThreadpoolController  # type: ignore[import-untyped]

    return ThreadpoolController()


@contextlib.contextmanager
def serial_blas() -> Iterator[None]:
    """While open, BLAS uses one thread: its sums then do not depend on how many it would have taken."""
    with _blas().limit(limits=1, user_api="blas"):
        yield
