"""The form of csv files: what separates fields and stands in numbers, and chunks of whole rows, which can be read in one way only or not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

LONGEST = 128 << 10
"""Bytes of a row in a file with quotes: Python's csv module refuses fields of more characters."""

_QUOTE, _BREAK, _RETURN = 34, 10, 13


@dataclass(frozen=True, slots=True)
class Form:
    """The form of a csv file: what separates fields, what stands between the digits of a number, whether rows without a value are left out."""

    sep: str = ","
    decimal: str = "."
    drops: bool = False

    @classmethod
    def of(cls, options: Mapping[str, object]) -> Form:
        """The form that the options of a source state; decimal commas stand between semicolons unless `sep` tells otherwise."""
        decimal = str(options.get("decimal", "."))
        return cls(str(options.get("sep", ";" if decimal == "," else ",")), decimal, options.get("missing") == "drop")

    def plain(self, text: str) -> str:
        """A number with a decimal point."""
        return text.replace(",", ".") if self.decimal == "," else text


@dataclass(frozen=True, eq=False, slots=True)
class Rows:
    """The form of a chunk.

    `is_strict` tells that all readers of csv make the same rows of it: quotes stand around whole fields and are doubled within, and no carriage
    return stands alone. Where the file has had quotes (`was_quoted`) the text is UTF-8 and no row is long. Chunks that are strict end with a row.
    """

    has_quotes: bool
    was_quoted: bool
    is_strict: bool
    #: Behind which of the lines a row ends; None where each line is a row.
    ends: np.ndarray | None
    lines: int

    def starts(self, line: int) -> np.ndarray:
        """The lines of the file on which the rows begin, if the chunk begins on `line`."""
        if self.ends is None:
            return np.arange(line, line + self.lines)
        starts = np.full(self.ends.size, line, np.int64)
        starts[1:] += self.ends[:-1] + 1
        return starts


def whole_rows(chunks: Iterator[bytes], sep: str, was_quoted: bool = False) -> Iterator[tuple[bytes, Rows]]:
    """Chunks of whole lines as chunks of whole rows. One that is not strict has all that was read of `chunks`."""
    rest = b""
    for chunk in chunks:
        text = rest + chunk if rest else chunk
        was_quoted = was_quoted or b'"' in text
        rows, end = _rows(text, sep, was_quoted)
        rest = text[end:]
        if end:
            yield text[:end] if rest else text, rows
    if rest:  # its quotes are not closed
        yield rest, Rows(True, True, False, None, rest.count(b"\n"))


def _rows(text: bytes, sep: str, was_quoted: bool) -> tuple[Rows, int]:
    """The form of the rows of a text, and where the last of them ends."""
    strict = b"\r" not in text or text.count(b"\r") == text.count(b"\r\n")
    has_quotes = b'"' in text
    if not was_quoted:
        return Rows(False, False, strict, None, text.count(b"\n")), len(text)
    buffer = np.frombuffer(text, np.uint8)
    breaks = np.flatnonzero(buffer == _BREAK)
    ends = None
    if has_quotes:
        quotes = np.flatnonzero(buffer == _QUOTE)
        strict = strict and _stand_around_fields(buffer, quotes, sep)
        ends = np.flatnonzero(np.searchsorted(quotes, breaks) % 2 == 0)
    last = breaks if ends is None else breaks[ends]
    end = int(last[-1]) + 1 if last.size else 0
    longest = int(np.diff(last, prepend=-1, append=len(text) - 1).max())
    strict = strict and longest < LONGEST and _is_utf8(text)
    if not strict:
        return Rows(has_quotes, True, False, None, breaks.size), len(text)
    lines = breaks.size if ends is None or not ends.size else int(ends[-1]) + 1
    return Rows(has_quotes, True, True, ends, lines), end


def _stand_around_fields(buffer: np.ndarray, quotes: np.ndarray, sep: str) -> bool:
    """True if quotes open at the beginning of a field, close at its end, and are doubled between."""
    opening, closing = quotes[0::2], quotes[1::2]
    before = np.where(opening > 0, buffer[opening - 1], _BREAK)
    again = np.zeros(opening.size, np.bool_)  # the second of two that stand for one
    again[1:] = opening[1:] == closing[: opening.size - 1] + 1
    if not np.all((before == _BREAK) | (before == ord(sep)) | again):
        return False
    behind = buffer[closing + 1]  # a chunk ends with a line break
    returns = (behind == _RETURN) & (buffer[np.minimum(closing + 2, buffer.size - 1)] == _BREAK)
    double = np.zeros(closing.size, np.bool_)
    double[: opening.size - 1] = again[1:]
    return bool(np.all((behind == _BREAK) | (behind == ord(sep)) | returns | double))


def _is_utf8(text: bytes) -> bool:
    try:
        text.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True
