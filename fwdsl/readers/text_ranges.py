"""One large text file in ranges of whole rows, on whose places the workers that read them agree.

Each range of bytes is counted first: its line breaks and its quotes. Their sums tell on which line a range begins, and whether within quotes: a row
begins behind a line break with an even number of quotes before it. That holds where all quotes stand around whole fields, which the workers look
at too; where they do not, the file is read as a whole.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, BinaryIO

import numpy as np

from . import places
from .csv_rows import whole_rows
from .decoded import state_of
from .files import BLOCK, Limited, Unreadable, lines, opened
from .findings import FileFindings

if TYPE_CHECKING:
    from .pieces import Cut

_QUOTE, _BREAK = 34, 10


@dataclass(frozen=True, slots=True)
class TextPart:
    """The rows of a text file between two bytes, the first of which stands on `line`; `was_quoted` says that the file has quotes."""

    start: int
    stop: int
    line: int = 1
    was_quoted: bool = False

    def chunks(self, stream: BinaryIO) -> Iterator[bytes]:
        """Chunks of the whole lines of the part."""
        stream.seek(self.start)
        return lines(Limited(stream, self.stop - self.start), amid=self.start > 0)


@dataclass(frozen=True, slots=True)
class _Counted:
    """The line breaks and quotes of a range of bytes; a carriage return `alone` ends a line, or is part of a field, as readers have it.

    `first` has where a row begins behind a line break, and how many breaks are before that place, for an even number of quotes before the range
    and for an odd one.
    """

    breaks: int
    quotes: int
    alone: bool
    first: tuple[tuple[int, int] | None, tuple[int, int] | None]


def cuts(path: str, most: int, sep: str = "", first: int = 1) -> list[Cut]:
    """Ranges of about `most` bytes of whole rows, none of which begins before line `first`; none where the file is to be read as a whole.

    Rows are lines where nothing separates their fields (`sep`).
    """
    read_by = places.places()
    assert read_by is not None
    size = state_of(path)[0]
    ends = [(a, min(a + most, size)) for a in range(0, size, most)]
    counted: list[_Counted] = read_by(count, [(path, *pair) for pair in ends])
    if any(c.alone for c in counted):
        return []
    was_quoted = bool(sep) and any(c.quotes for c in counted)
    starts, line, quotes = [(0, 1)], 1, 0
    for k, c in enumerate(counted):
        place = c.first[quotes % 2 if was_quoted else 0]
        if k and place is not None and place[0] < size and line + place[1] >= first:
            starts.append((place[0], line + place[1]))
        line, quotes = line + c.breaks, quotes + c.quotes if was_quoted else 0
    stops = [*(start for start, _ in starts[1:]), size]
    parts = [TextPart(start, stop, at, was_quoted) for (start, at), stop in zip(starts, stops, strict=True)]
    if was_quoted and not all(read_by(is_strict, [(path, part, sep) for part in parts])):
        return []
    return [(part.line, ("part", part)) for part in parts]


def count(path: str, start: int, stop: int) -> _Counted:
    """Count a range of bytes of a file."""
    breaks = quotes = returns = pairs = 0
    first: list[tuple[int, int] | None] = [None, None]
    with open(path, "rb") as file:
        file.seek(start)
        at, last = start, b""
        while at < stop and (text := file.read(min(BLOCK, stop - at))):
            buffer = np.frombuffer(text, np.uint8)
            here, marks = np.flatnonzero(buffer == _BREAK), np.flatnonzero(buffer == _QUOTE)
            if None in first and here.size:
                odd = (quotes + np.searchsorted(marks, here)) % 2
                for k in (0, 1):
                    which = np.flatnonzero(odd == k)
                    if first[k] is None and which.size:
                        first[k] = at + int(here[which[0]]) + 1, breaks + int(which[0]) + 1
            breaks, quotes = breaks + here.size, quotes + marks.size
            returns, pairs = returns + text.count(b"\r"), pairs + (last + text).count(b"\r\n")
            at, last = at + len(text), text[-1:]
        pairs += last + file.read(1) == b"\r\n"
    return _Counted(breaks, quotes, returns != pairs, (first[0], first[1]))


def is_strict(path: str, part: TextPart, sep: str) -> bool:
    """True if all readers of csv make the same rows of a part."""
    findings = FileFindings(path)
    try:
        with opened(path, findings) as stream:
            return all(rows.is_strict for _, rows in whole_rows(part.chunks(stream), sep, part.was_quoted))
    except Unreadable:
        return False
