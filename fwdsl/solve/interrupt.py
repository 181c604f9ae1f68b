"""Ending a running solve from outside: Ctrl-C, or a flag that another thread sets."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass


@dataclass
class Control:
    """What the caller can do to a running solve: `stop` ends it after the current step, or within a long one (Ctrl-C sets it, and so may another
    thread)."""

    stop: bool = False


@contextmanager
def interruptible(control: Control) -> Iterator[Callable[[], bool]]:
    """While open, the first Ctrl-C only sets a flag, so that no step is cut in two; the second one raises as usual."""
    if threading.current_thread() is not threading.main_thread():
        yield lambda: control.stop
        return
    previous = signal.getsignal(signal.SIGINT)

    def handle(_signal: int, _frame: object) -> None:
        control.stop = True
        signal.signal(signal.SIGINT, previous if callable(previous) else signal.default_int_handler)

    signal.signal(signal.SIGINT, handle)
    try:
        yield lambda: control.stop
    finally:
        signal.signal(signal.SIGINT, previous)
