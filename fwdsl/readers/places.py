"""The places where sources are read while data are bound: this process, or the workers that are to hold the rows."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from contextvars import ContextVar
from typing import Any

READ_HERE = 1 << 26
"""Bytes of files up to which they are read by this process, whoever else is there."""

PIECE_BYTES = 1 << 26
"""Bytes of a range of the rows of one file, about: a worker decodes it at once."""

Places = Callable[[Callable[..., Any], Sequence[tuple[Any, ...]]], list[Any]]
"""(fn, arguments) -> [fn(*a) for a in arguments], each where the rows are to be held."""

_PLACES: ContextVar[Places | None] = ContextVar("fwdsl places", default=None)


@contextlib.contextmanager
def reading_at(places: Places | None) -> Iterator[None]:
    """A context in which large sources are read elsewhere; None for here."""
    token = _PLACES.set(places)
    try:
        yield
    finally:
        _PLACES.reset(token)


def places() -> Places | None:
    """The holders that read large sources; None for this process."""
    return _PLACES.get()
