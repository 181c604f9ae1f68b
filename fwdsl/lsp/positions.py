"""Positions of the protocol, lines and code units, and offsets in code points, one from the other."""

from __future__ import annotations

import re
from bisect import bisect_right

#: The code units of a character: UTF-16 has two for those beyond the basic plane, UTF-8 up to four.
ENCODINGS = {
    "utf-16": lambda char: 1 + (ord(char) > 0xFFFF),
    "utf-8": lambda char: 1 + (ord(char) > 0x7F) + (ord(char) > 0x7FF) + (ord(char) > 0xFFFF),
    "utf-32": lambda char: 1,
}

_LINE_END = re.compile("\r\n|\r|\n")


class Positions:
    """The lines of a text as the protocol has them, which end with `\\n`, `\\r\\n` or `\\r` and nothing else.

    Offsets count code points behind a byte order mark, which a `Source` does not have either.
    """

    def __init__(self, text: str, encoding: str = "utf-16") -> None:
        self._units = ENCODINGS.get(encoding, ENCODINGS["utf-16"])
        self._text = text
        self._mark = text.startswith("\ufeff")
        self._starts = [0]
        self._ends: list[int] = []
        for match in _LINE_END.finditer(text):
            self._ends.append(match.start())
            self._starts.append(match.end())
        self._ends.append(len(text))

    def position(self, offset: int) -> tuple[int, int]:
        """The line and the code unit of an offset, both counted from 0."""
        at = min(max(offset, 0) + self._mark, len(self._text))
        line = bisect_right(self._starts, at) - 1
        start = self._starts[line]
        return line, self._width(start, min(at, self._ends[line]))

    def offset(self, line: int, unit: int) -> int:
        """The offset of a position. One that lies outside of the text means the nearest one inside."""
        if line >= len(self._starts):
            return max(len(self._text) - self._mark, 0)
        at, end = self._starts[max(line, 0)], self._ends[max(line, 0)]
        if self._text[at:end].isascii():
            at = min(at + max(unit, 0), end)
        else:
            left = unit
            while at < end and left >= self._units(self._text[at]):
                left -= self._units(self._text[at])
                at += 1
        return max(at - self._mark, 0)

    def whole(self) -> tuple[tuple[int, int], tuple[int, int]]:
        """The first and the last position of the text."""
        last = len(self._starts) - 1
        return (0, 0), (last, self._width(self._starts[last], self._ends[last]))

    def _width(self, start: int, end: int) -> int:
        piece = self._text[start:end]
        return len(piece) if piece.isascii() else sum(map(self._units, piece))
