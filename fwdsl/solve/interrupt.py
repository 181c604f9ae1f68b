"""Ending a running solve from outside: Ctrl-C, or a flag that another thread sets."""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType

from ..backends.kernels.compile import is_compiling


class BrokenOff(KeyboardInterrupt):
    """A step, or what comes before the first one, was cut in two by a second Ctrl-C."""


@dataclass
class Control:
    """The caller's control over a running solve: `stop` ends it after the current step, or within a long one (Ctrl-C sets it, and so may another
    thread). `impatient` says that Ctrl-C came again, and `within` whether it may then break off what runs."""

    stop: bool = False
    impatient: bool = False
    within: bool = False

    @contextmanager
    def breakable(self) -> Iterator[None]:
        """A context in which a second Ctrl-C raises `BrokenOff`; a point to return is known to whoever catches it."""
        self.within = True
        try:
            yield
        finally:
            self.within = False


_heard: list[int] = []


def heard() -> int:
    """The number of times that solves of this process have met Ctrl-C.

    One that comes while it is proven that there is no solution leaves no trace in the answer, and who solves several times is to stop all the same.
    """
    return len(_heard)


@contextmanager
def interruptible(control: Control) -> Iterator[None]:
    """A context in which the first Ctrl-C only sets a flag, so that no step is cut in two.

    The second one breaks off a step that does not end, but for one that compiles a kernel; where a point is being verified it only asks to be
    quick. The third one is as usual.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def handle(number: int, frame: FrameType | None) -> None:
        _heard.append(number)
        if not control.stop:
            control.stop = True
        elif not control.impatient:
            control.impatient = True
            if control.within and not is_compiling():
                raise BrokenOff
        else:
            (previous if callable(previous) else signal.default_int_handler)(number, frame)

    # `signal.signal` makes enumerations of what it takes and gives, which takes longer than all else here
    previous = _signal.signal(signal.SIGINT, handle)
    try:
        yield
    finally:
        _signal.signal(signal.SIGINT, previous)
