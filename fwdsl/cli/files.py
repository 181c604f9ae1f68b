"""Programs as the command line names them: files, and `-` for standard input."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import IO

from ..errors import RunError
from ..files.program import read_program
from ..files.target import unwritable, write_atomically
from ..grammar.diagnostic import Diagnostic
from .exits import CommandStop
from .outputs import keep_apart

STDIN = "-"


def program_text(name: str) -> bytes:
    """The bytes of a program; `-` is standard input."""
    if name == STDIN:
        if sys.stdin is None:
            raise CommandStop([Diagnostic("FW0012", "standard input cannot be read: it is closed")])
        return sys.stdin.buffer.read()
    keep_apart({}, [("the program", name)])
    try:
        return read_program(name)
    except RunError as error:
        raise CommandStop(error.diagnostics) from None


def display_name(name: str) -> str:
    """The name that messages show."""
    return "<stdin>" if name == STDIN else name


def folder_of(name: str) -> Path:
    """The folder that paths in a program are relative to."""
    return Path() if name == STDIN else Path(name).parent


def rewrite(name: str, content: bytes) -> None:
    """Replace a program's file, whole or not at all."""

    def write(stream: IO[bytes]) -> None:
        stream.write(content)

    try:
        write_atomically(name, write)
    except OSError as error:
        raise CommandStop([unwritable(name, error)]) from None
