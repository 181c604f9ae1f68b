"""Prints the characters of a user's text on a terminal: tabs, wide characters, and escapes for unsafe ones."""

from __future__ import annotations

from unicodedata import category, combining, east_asian_width

TAB = 4
# Characters to escape: control, format (which can change the direction of text), surrogate, unassigned, line separators.
_UNPRINTABLE = frozenset({"Cc", "Cf", "Cs", "Cn", "Zl", "Zp"})


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
