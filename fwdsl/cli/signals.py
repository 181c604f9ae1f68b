"""Ctrl-C at moments when an exception would do harm, and SIGTERM. This module is imported first, so it imports little."""

from __future__ import annotations

import signal
from contextlib import suppress

TYPE_CHECKING = False  # the checkers know the name; `typing` takes a while to import
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType
    from typing import Self


class _Handled:
    """A context in which a signal calls `_handle`; `came` tells that it came."""

    _number = signal.SIGINT

    def __init__(self, wanted: bool) -> None:
        self.came = False
        self._wanted = wanted
        self._previous: object = None

    def __enter__(self) -> Self:
        if self._wanted:
            with suppress(ValueError):  # only the main thread hears signals
                self._previous = signal.signal(self._number, self._handle)
        return self

    def __exit__(self, *_: object) -> None:
        if self._previous is not None:
            signal.signal(self._number, self._previous)  # type: ignore[arg-type]  # as `signal` gave it

    def _handle(self, _signal: int, frame: FrameType | None) -> None:
        self.came = True


class Held(_Handled):
    """A context in which Ctrl-C is only noted: an exception within an import ends in a traceback, or is lost in a callback of Python's own."""

    def __init__(self) -> None:
        super().__init__(callable(signal.getsignal(signal.SIGINT)))  # where it is ignored, it stays so


class Noted(_Handled):
    """A context in which Ctrl-C raises as ever, and is noted besides: what an extension module makes of it while it loads may be any exception."""

    def __init__(self) -> None:
        super().__init__(signal.getsignal(signal.SIGINT) is signal.default_int_handler)

    def _handle(self, _signal: int, frame: FrameType | None) -> None:
        self.came = True
        raise KeyboardInterrupt


class Terminated(_Handled):
    """A context in which SIGTERM ends the command as Ctrl-C does, if that is `wanted`."""

    _number = signal.SIGTERM

    def _handle(self, _signal: int, frame: FrameType | None) -> None:
        self.came = True
        on_interrupt = signal.getsignal(signal.SIGINT)
        # Ctrl-C is ignored by what a shell runs in the background, termination is not
        (on_interrupt if callable(on_interrupt) else signal.default_int_handler)(signal.SIGINT, frame)


def on_lost_pages(tell: Callable[[], None]) -> None:
    """Have `tell` called where pages of a mapped file are gone (SIGBUS), by the thread that reads them; it ends the process, or that ends as ever.

    A handler of Python's own would be called once the instruction is done, which it never is.
    """
    number = getattr(signal, "SIGBUS", None)
    if number is None or _handlers:
        return
    import ctypes

    library = ctypes.CDLL(None)

    def handle(_signal: int) -> None:
        library.signal(int(number), None)  # what is no file's fault ends the process
        tell()

    _handlers.append(ctypes.CFUNCTYPE(None, ctypes.c_int)(handle))
    library.signal(int(number), _handlers[0])


_handlers: list[object] = []
"""The functions that C calls, which have to be kept."""


def let_go() -> None:
    """Ignore Ctrl-C from now on: the work is done, and an exception while Python shuts down would only be noise."""
    with suppress(ValueError):
        signal.signal(signal.SIGINT, signal.SIG_IGN)
