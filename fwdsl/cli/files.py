"""Programs that the commands read; what goes wrong is a diagnostic."""

from __future__ import annotations

import sys
from difflib import get_close_matches
from pathlib import Path

from ..grammar.diagnostic import Diagnostic
from .exits import Stop
from .outputs import keep_apart

STDIN = "-"


def read_program(name: str) -> bytes:
    """The bytes of a program; `-` is standard input."""
    if name == STDIN:
        if sys.stdin is None:
            raise Stop([Diagnostic("FW0012", "standard input cannot be read: it is closed")])
        return sys.stdin.buffer.read()
    return read_file(name)


def read_file(name: str) -> bytes:
    """The bytes of a file that holds a program."""
    keep_apart({}, [("the program", name)])
    try:
        return Path(name).read_bytes()
    except OSError as error:
        raise Stop([_unreadable(name, error)]) from None
    except ValueError:  # a NUL in the name
        raise Stop([_unreadable(name, FileNotFoundError())]) from None


def display_name(name: str) -> str:
    """The name that messages show."""
    return "<stdin>" if name == STDIN else name


def folder_of(name: str) -> Path:
    """What the paths in a program are relative to."""
    return Path() if name == STDIN else Path(name).parent


def _unreadable(name: str, error: OSError) -> Diagnostic:
    path = Path(name)
    if isinstance(error, FileNotFoundError):
        near = _similar(path)
        hint = f"did you mean `{near}`?" if near else "check the name and the folder you are in"
        return Diagnostic("FW0010", f"there is no file `{name}`", hint=hint)
    if isinstance(error, IsADirectoryError):
        programs = sorted(p.name for p in path.glob("*.fw"))
        hint = f"it holds `{path / programs[0]}`" if programs else "name the file of a program"
        return Diagnostic("FW0011", f"`{name}` is a folder, not a program", hint=hint)
    reason = "permission is denied" if isinstance(error, PermissionError) else (error.strerror or "reading failed")
    return Diagnostic("FW0012", f"`{name}` cannot be read: {reason[:1].lower()}{reason[1:]}")


def _similar(path: Path) -> str | None:
    if not path.suffix and path.with_suffix(".fw").is_file():
        return str(path.with_suffix(".fw"))
    try:
        names = [p.name for p in path.parent.iterdir() if p.is_file()]
    except (OSError, ValueError):
        return None
    close = get_close_matches(path.name, names, n=1)
    return str(path.parent / close[0]) if close else None
