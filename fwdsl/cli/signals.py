"""Ctrl-C at moments when an exception would do harm, and SIGTERM. This module is imported first, so it imports little."""

from __future__ import annotations

import signal
from contextlib import suppress

TYPE_CHECKING = False  # the checkers know the name; `typing` takes a while to import
if TYPE_CHECKING:
    from types import FrameType


class Held:
    """A context in which Ctrl-C is only noted: an exception within an import ends in a traceback, or is lost in a callback of Python's own."""

    def __init__(self) -> None:
        self.came = False
        self._previous: object = None

    def __enter__(self) -> Held:
        found = signal.getsignal(signal.SIGINT)
        if callable(found):  # where it is ignored, it stays so
            with suppress(ValueError):  # only the main thread hears signals
                self._previous = signal.signal(signal.SIGINT, self._note)
        return self

    def __exit__(self, *_: object) -> None:
        if callable(self._previous):
            signal.signal(signal.SIGINT, self._previous)

    def _note(self, _signal: int, _frame: FrameType | None) -> None:
        self.came = True


class Noted:
    """A context in which Ctrl-C raises as ever, and is noted besides: what an extension module makes of it while it loads may be any exception."""

    def __init__(self) -> None:
        self.came = False
        self._previous: object = None

    def __enter__(self) -> Noted:
        if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            with suppress(ValueError):  # only the main thread hears signals
                self._previous = signal.signal(signal.SIGINT, self._raise)
        return self

    def __exit__(self, *_: object) -> None:
        if callable(self._previous):
            signal.signal(signal.SIGINT, self._previous)

    def _raise(self, _signal: int, _frame: FrameType | None) -> None:
        self.came = True
        raise KeyboardInterrupt


class Terminated:
    """A context in which SIGTERM ends the command as Ctrl-C does, if that is `wanted`; `came` tells that it came."""

    def __init__(self, wanted: bool) -> None:
        self.came = False
        self._wanted = wanted
        self._previous: object = None

    def __enter__(self) -> Terminated:
        if self._wanted:
            with suppress(ValueError):  # only the main thread hears signals
                self._previous = signal.signal(signal.SIGTERM, self._handle)
        return self

    def __exit__(self, *_: object) -> None:
        if self._previous is not None:
            signal.signal(signal.SIGTERM, self._previous)  # type: ignore[arg-type]  # as `signal` gave it

    def _handle(self, _signal: int, frame: FrameType | None) -> None:
        self.came = True
        on_interrupt = signal.getsignal(signal.SIGINT)
        # Ctrl-C is ignored by what a shell runs in the background, termination is not
        (on_interrupt if callable(on_interrupt) else signal.default_int_handler)(signal.SIGINT, frame)


def let_go() -> None:
    """Ignore Ctrl-C from now on: the work is done, and an exception while Python shuts down would only be noise."""
    with suppress(ValueError):
        signal.signal(signal.SIGINT, signal.SIG_IGN)
