"""The abilities of a stream: colour, characters beyond ASCII, columns."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from typing import TextIO

PLAIN_WIDTH = 100


@dataclass(frozen=True)
class Style:
    """The way to write on a stream."""

    terminal: bool
    color: bool
    unicode: bool
    width: int


def style_of(stream: TextIO) -> Style:
    """The style that fits a stream: `NO_COLOR` and `TERM=dumb` are honoured, a pipe gets plain text 100 columns wide."""
    terminal = stream.isatty()
    color = terminal and not os.environ.get("NO_COLOR") and os.environ.get("TERM", "") != "dumb"
    unicode = (stream.encoding or "ascii").lower().replace("-", "").startswith("utf")
    width = shutil.get_terminal_size((PLAIN_WIDTH, 24)).columns if terminal else PLAIN_WIDTH
    return Style(terminal, color, unicode, width)
