"""How characters of a user's text stand on a terminal: tabs, wide characters, and what must not be printed as it is."""

from __future__ import annotations

from unicodedata import category, combining, east_asian_width

TAB = 4
# Control, format (which could turn the direction of the text), surrogate and unassigned characters, line separators.
_UNPRINTABLE = frozenset({"Cc", "Cf", "Cs", "Cn", "Zl", "Zp"})


def cell(char: str, column: int, unicode: bool = True) -> str:
    """What to print for a character that starts at display column `column` (from 0): itself, spaces or an escape."""
    if " " <= char <= "~":
        return char
    if char == "\t":
        return " " * (TAB - column % TAB)
    if not unicode or category(char) in _UNPRINTABLE:
        return char.encode("unicode_escape").decode("ascii")
    return char


def width(text: str) -> int:
    """Columns that a printable text takes: two for wide characters, none for combining marks."""
    if text.isascii():
        return len(text)
    return sum(_width(char) for char in text)


def _width(char: str) -> int:
    if combining(char) or category(char) in ("Mn", "Me"):
        return 0
    return 2 if east_asian_width(char) in "WF" else 1


def printable(text: str, unicode: bool = True) -> str:
    """A message's text, safe on a terminal, on one line."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(" " if char in "\t\r\n" else cell(char, 0, unicode) for char in text)
