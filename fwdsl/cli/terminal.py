"""The abilities of a stream: colour, characters beyond ASCII, columns."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TextIO

PLAIN_WIDTH = 100

COLORS = ("auto", "always", "never")
"""The values of `--color`."""


@dataclass(frozen=True)
class Style:
    """The way to write on a stream."""

    terminal: bool
    color: bool
    unicode: bool
    width: int


def style_of(stream: TextIO) -> Style:
    """The style that fits a stream: `NO_COLOR`, `FORCE_COLOR` and `TERM=dumb` are honoured, a pipe gets plain text 100 columns wide."""
    terminal = stream.isatty()
    plain = os.environ.get("TERM", "") == "dumb" or not terminal
    color = not os.environ.get("NO_COLOR") and (bool(os.environ.get("FORCE_COLOR")) or not plain)
    unicode = (stream.encoding or "ascii").lower().replace("-", "").startswith("utf")
    width = shutil.get_terminal_size((PLAIN_WIDTH, 24)).columns if terminal else PLAIN_WIDTH
    return Style(terminal, color, unicode, width)


@contextmanager
def colored(argv: Sequence[str]) -> Iterator[None]:
    """`--color` of a command line as the environment that libraries read too. One without a value that is known changes nothing."""
    kept = {name: os.environ.get(name) for name in ("NO_COLOR", "FORCE_COLOR")}
    when = _asked(argv)
    if when in COLORS[1:]:
        wins, loses = ("FORCE_COLOR", "NO_COLOR") if when == "always" else ("NO_COLOR", "FORCE_COLOR")
        os.environ[wins] = "1"
        os.environ.pop(loses, None)
    try:
        yield
    finally:
        for name, value in kept.items():
            os.environ.pop(name, None)
            if value is not None:
                os.environ[name] = value


def _asked(argv: Sequence[str]) -> str:
    for word, following in zip(argv, [*argv[1:], ""], strict=False):
        if word == "--color":
            return following
        if word.startswith("--color="):
            return word.removeprefix("--color=")
    return ""
