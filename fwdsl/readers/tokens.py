"""Cuts a chunk of whole lines into tokens with array operations."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .decimals import Bytes, Ints

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
        """How many tokens each line has."""
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
