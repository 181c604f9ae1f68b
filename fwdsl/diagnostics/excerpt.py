"""Cuts a line of a program to fit, prints its characters safely, and tells the display columns of its code points."""

from __future__ import annotations

from dataclasses import dataclass, replace
from unicodedata import category, combining, east_asian_width

TAB = 4

# Characters to escape: control, format (which can change the direction of text), surrogate, unassigned, line separators.
_UNPRINTABLE = frozenset({"Cc", "Cf", "Cs", "Cn", "Zl", "Zp"})


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


def cell(char: str, column: int, unicode: bool = True) -> str:
    """The print of a character that starts at display column `column` (from 0): itself, spaces or an escape."""
    if " " <= char <= "~":
        return char
    if char == "\t":
        return " " * (TAB - column % TAB)
    if not unicode or category(char) in _UNPRINTABLE:
        return char.encode("unicode_escape").decode("ascii")
    return char


def width(text: str) -> int:
    """The number of columns of a printable text: two for wide characters, none for combining marks."""
    if text.isascii():
        return len(text)
    return sum(_width(char) for char in text)


def _width(char: str) -> int:
    if combining(char) or category(char) in ("Mn", "Me"):
        return 0
    return 2 if east_asian_width(char) in "WF" else 1


def printable(text: str, unicode: bool = True) -> str:
    """A message's text on one line, safe to print on a terminal."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(" " if char in "\t\r\n" else cell(char, 0, unicode) for char in text)
