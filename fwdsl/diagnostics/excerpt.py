"""Cuts a line of a program to fit, and tells the display columns of its code points."""

from __future__ import annotations

from dataclasses import dataclass, replace

from .cells import cell, width


@dataclass(frozen=True)
class Excerpt:
    """A piece of a line: `text` is printable; code point `first + i` of the line starts at display column `columns[i]`.

    The last entry of `columns` is the column after the piece.
    """

    text: str
    first: int
    columns: tuple[int, ...]

    @property
    def last(self) -> int:
        """The code point after the piece."""
        return self.first + len(self.columns) - 1

    def shows(self, start: int, end: int) -> bool:
        """True if a mark from code point `start` to `end` begins within the piece."""
        return self.first <= start < self.last or start == end == self.last

    def marked(self, start: int, end: int) -> tuple[int, int]:
        """Display columns `[from, to)` to underline for the code points `[start, end)`: at least one column."""
        left = self.columns[min(max(start, self.first), self.last) - self.first]
        right = self.columns[min(max(end, self.first), self.last) - self.first]
        return left, max(right, left + 1)


def cut(line: str, start: int, end: int, room: int, unicode: bool = True) -> Excerpt:
    """Lay out `line` in at most `room` columns so that `[start, end)` is visible, with an ellipsis where it is cut.

    The work is proportional to `room`, not to the length of the line.
    """
    piece = _lay_out(line, 0, "", room, unicode)
    if piece.last == len(line):
        return piece
    ellipsis = "…" if unicode else "..."
    # The text before the mark gets a third of the room, or less if the mark needs it.
    before = min(room // 3, max(room - (end - start) - 2 * len(ellipsis), room // 8))
    first = max(0, min(start - before, len(line) - room + len(ellipsis)))
    piece = _window(line, first, room, ellipsis, unicode)
    # Escapes and wide characters may have pushed the mark out.
    return piece if piece.shows(start, end) else _window(line, start, room, ellipsis, unicode)


def _window(line: str, first: int, room: int, ellipsis: str, unicode: bool) -> Excerpt:
    head = ellipsis if first else ""
    piece = _lay_out(line, first, head, room, unicode)
    if piece.last == len(line):
        return piece
    piece = _lay_out(line, first, head, room - len(ellipsis), unicode)
    return replace(piece, text=piece.text + ellipsis)


def _lay_out(line: str, first: int, head: str, room: int, unicode: bool) -> Excerpt:
    """Return as much of the line as fits, from code point `first` on."""
    shown = [head]
    column = width(head)
    columns = [column]
    for char in line[first : first + room + 1]:
        text = cell(char, column, unicode)
        if column + width(text) > room:
            break
        shown.append(text)
        column += width(text)
        columns.append(column)
    return Excerpt("".join(shown), first, tuple(columns))
