"""Program text and places in it."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field

from fwdsl.light_dataclass import value_dataclass


@value_dataclass
class Span:
    """A half-open range `[start, end)` of code points in a `Source`."""

    start: int
    end: int

    def __lt__(self, other: Span) -> bool:
        return (self.start, self.end) < (other.start, other.end)

    def to(self, other: Span) -> Span:
        return Span(min(self.start, other.start), max(self.end, other.end))


@dataclass(frozen=True, eq=False)
class Source:
    """A program text with its name (the file's path as the user gave it, or `<text>`)."""

    name: str
    text: str
    _starts: list[int] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        starts = [0]
        for line in self.text.split("\n")[:-1]:
            starts.append(starts[-1] + len(line) + 1)
        object.__setattr__(self, "_starts", starts)

    def position(self, offset: int) -> tuple[int, int]:
        """Line and column of an offset, both counted from 1 in code points."""
        line = bisect_right(self._starts, offset)
        return line, offset - self._starts[line - 1] + 1

    def line(self, number: int) -> str:
        """The text of a line (counted from 1), without its line ending."""
        if not 1 <= number <= len(self._starts):
            return ""
        start = self._starts[number - 1]
        end = self._starts[number] if number < len(self._starts) else len(self.text)
        return self.text[start:end].rstrip("\r\n")

    def slice(self, span: Span) -> str:
        return self.text[span.start : span.end]
