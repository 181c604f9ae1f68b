"""What the catalogue holds about one code."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Entry:
    """The long form of a diagnostic.

    `title` is a line in lower case without a final stop, `explanation` a few sentences. `bad` and `good` are complete
    programs; for codes that need no program they are a command line or a piece of a data file.
    """

    title: str
    explanation: str
    bad: str
    good: str


DECLARED = "data A: matrix[n, d], b: vector[n]\nvar x: vector[d]\n"
"""How most of the programs start."""

LEAST_SQUARES = DECLARED + "minimize sum(squared(A @ x, b))\n"
"""The program that most of the others are variants of."""
