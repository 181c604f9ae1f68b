"""Cuts a chunk of whole lines into tokens, and converts many of them to numbers at a time.

Integers and short decimals are computed on whole arrays: a decimal of value m / 10^k with m <= 2^53 and k <= 22 is one
correctly rounded division, since both are exact in float64 (W. D. Clinger, How to read floating point numbers
accurately, PLDI 1990). Other numbers are converted one by one.
The results equal `float(text)` to the last bit.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np

Bytes = np.ndarray[Any, np.dtype[np.uint8]]
Ints = np.ndarray[Any, np.dtype[np.int64]]
Floats = np.ndarray[Any, np.dtype[np.float64]]

# The digits after the point stand in a group of their own: with `\d+\.?\d*` a wrong word of n digits would be tried in n^2 ways.
_NUMBER = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?\Z", re.ASCII)

_INFINITE = re.compile(r"[+-]?(?:nan|inf(?:inity)?)\Z", re.IGNORECASE)

MISSING = ("", "na", "n/a", "nan", "null", "none", "?")
"""The fields that stand for no value, in lower case."""

_LONGEST = 20  # sign, dot and the 18 digits that an int64 holds

_EXACT = 2**53

_POWERS = 10.0 ** np.arange(19)


def integers(buffer: Bytes, starts: Ints, ends: Ints) -> Ints | None:
    """Unsigned integers of at most 18 digits at `[starts, ends)`, or None where one is not."""
    lengths = ends - starts
    if lengths.size == 0:
        return np.zeros(0, np.int64)
    longest = int(lengths.max())
    if longest > 18:
        return None
    values = np.zeros(starts.size, np.int64)
    rows: Ints | None = None  # the rows that still have digits; None for all
    for place in range(longest):
        if rows is None and place >= int(lengths.min()):
            rows = np.flatnonzero(lengths > place)
        elif rows is not None:
            rows = rows[lengths[rows] > place]
        digits = buffer[(starts if rows is None else starts[rows]) + place] - np.uint8(
            48
        )  # wraps around for characters below "0"
        if digits.max(initial=0) > 9:
            return None
        if rows is None:
            values *= 10
            values += digits
        else:
            values[rows] = values[rows] * 10 + digits
    return values


def floats(buffer: Bytes, text: bytes, starts: Ints, ends: Ints) -> Floats | None:
    """Numbers at `[starts, ends)` of `buffer` (which holds `text`), or None where one is not a finite number."""
    return floats_counted(buffer, text, starts, ends)[0]


def floats_counted(buffer: Bytes, text: bytes, starts: Ints, ends: Ints) -> tuple[Floats | None, int]:
    """The same, and how many of them are converted one by one."""
    lengths = ends - starts
    values = np.empty(starts.size)
    slow: list[Ints] = []
    counts = np.bincount(lengths) if lengths.size else np.zeros(1, np.int64)
    for length in np.flatnonzero(counts):
        every = counts[length] == lengths.size
        rows = None if every else np.flatnonzero(lengths == length)
        at = starts if rows is None else starts[rows]
        if length > _LONGEST:
            slow.append(np.arange(starts.size) if rows is None else rows)
            continue
        parsed, left = _same_length(buffer, at, int(length))
        if rows is None:
            values = parsed
        else:
            values[rows] = parsed
        if left is not None:
            slow.append(left if rows is None else rows[left])
    count = sum(rows.size for rows in slow)
    for rows in slow:
        converted = _one_by_one(text, starts[rows], ends[rows])
        if converted is None:
            return None, count
        values[rows] = converted
    return values, count


def to_finite(text: str) -> float | None:
    """One number as data formats write it (no digit groups), or None where it is not one or not finite."""
    value = float(text) if _NUMBER.match(text) else None
    return value if value is not None and abs(value) < float("inf") else None


def is_missing(text: str) -> bool:
    """True if a field stands for no value: it is empty, or one of the words for that."""
    return text.strip().lower() in MISSING


def is_gap(text: str) -> bool:
    """True if a field of a text file holds no level of a category. `none` is one: that there is no garage is known."""
    return is_missing(text) and text.strip().lower() != "none"


def is_infinite(text: str) -> bool:
    """True if a text that `to_finite` refuses is nan, an infinity, or a number that overflows."""
    return bool(_INFINITE.match(text) or _NUMBER.match(text))


def _same_length(buffer: Bytes, starts: Ints, length: int) -> tuple[Floats, Ints | None]:
    """Decimals `[+-]digits[.digits]` of one length. The second array lists the rows that are no such decimal, or not exact."""
    first = buffer[starts]
    digits = first - np.uint8(48)
    plain = digits <= 9
    if plain.all():
        mantissa = digits.astype(np.int64)
        negative = None
        others: Ints | np.ndarray[Any, np.dtype[np.int16]] = np.zeros(starts.size, np.int16)
    else:
        negative = first == 45
        others = (negative | (first == 43)).astype(np.int16)  # the bytes that may be no digits: so far, the sign
        mantissa = np.where(plain, digits, 0).astype(np.int64)
    dots = np.zeros(starts.size, np.int16) if negative is None else (first == 46).astype(np.int16)
    fraction = dots * np.int16(length - 1)  # digits behind the dot
    bad = np.zeros(starts.size, np.bool_) if negative is None else ~plain & (others == 0) & (dots == 0)
    for place in range(1, length):
        char = buffer[starts + place]
        digits = char - np.uint8(48)
        if digits.max() <= 9:
            mantissa *= 10
            mantissa += digits
            continue
        plain = digits <= 9
        mantissa = np.where(plain, mantissa * 10 + digits, mantissa)
        dot = char == 46
        dots += dot
        fraction += dot * np.int16(length - 1 - place)
        bad |= ~(plain | dot)
    bad |= (dots > 1) | (length - others - dots < 1) | (length - others - dots > 18) | (mantissa > _EXACT)
    if fraction.any():
        fraction[bad] = 0
        values = mantissa / _POWERS[fraction]
    else:
        values = mantissa.astype(np.float64)
    if negative is not None:
        np.negative(values, out=values, where=negative)
    return values, np.flatnonzero(bad) if bad.any() else None


def _one_by_one(text: bytes, starts: Ints, ends: Ints) -> Floats | None:
    values = np.empty(starts.size)
    try:
        for i, (start, end) in enumerate(zip(starts.tolist(), ends.tolist(), strict=True)):
            token = text[start:end]
            if b"_" in token:  # Python's digit groups; no data format has them
                return None
            values[i] = float(token)
    except ValueError:
        return None
    return values if np.isfinite(values).all() else None


SPACES = b" \t\r\n\v\f"


@dataclass(frozen=True, eq=False, slots=True)
class Tokens:
    """Runs of bytes between separators: token i is `buffer[starts[i]:ends[i]]`, line j has `first[j]:first[j + 1]`."""

    buffer: Bytes
    starts: Ints
    ends: Ints
    first: Ints

    @property
    def per_line(self) -> Ints:
        return np.diff(self.first)


def tokenize(text: bytes, separator: bytes = b"") -> Tokens | None:
    """The tokens between white space and, if given, one more separating byte; None where the text has other control bytes.

    `text` is whole lines: it ends with a newline.
    """
    buffer = np.frombuffer(text, np.uint8)
    apart = np.empty(buffer.size + 1, np.bool_)
    apart[0] = True
    np.less_equal(buffer, 32, out=apart[1:])
    if int(np.count_nonzero(apart)) - 1 != sum(text.count(SPACES[i : i + 1]) for i in range(len(SPACES))):
        return None
    if separator:
        apart[1:] |= buffer == separator[0]
    edges = np.flatnonzero(apart[1:] != apart[:-1])
    starts, ends = edges[0::2], edges[1::2]
    breaks = np.flatnonzero(buffer == 10)
    first = np.zeros(breaks.size + 1, np.int64)
    first[1:] = np.searchsorted(starts, breaks)
    return Tokens(buffer, starts, ends, first)
