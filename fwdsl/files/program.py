"""Reading the file of a program. Errors are diagnostics that suggest the file that was meant."""

from __future__ import annotations

import shlex
from difflib import get_close_matches
from pathlib import Path

from ..errors import RunError
from ..grammar.diagnostic import Diagnostic
from ..words import SOURCES
from .target import SUFFIX


def read_program(name: str) -> bytes:
    """The bytes of a file. Raises `RunError` FW0010 where it is not there, FW0011 for a folder or data, FW0012 where it cannot be read."""
    try:
        with open(name, "rb") as file:
            # before any of it is read: data may be large
            if (of_data := _hint_for_data(name)) is not None:
                raise RunError([Diagnostic("FW0011", f"`{name}` is data by its suffix, not a program", hint=of_data)])
            return file.read()
    except OSError as error:
        raise RunError([_unreadable(name, error)]) from None
    except ValueError:  # a NUL in the name
        raise RunError([_unreadable(name, FileNotFoundError())]) from None


def _hint_for_data(name: str) -> str | None:
    """The hint for a file that has a suffix of data; None for other files."""
    found = next((word for word in SOURCES.values() if name.lower().endswith(word.suffixes)), None)
    if found is None:
        return None
    quoted = shlex.quote(name)
    if name.lower().endswith(SUFFIX):
        return f"`fwdsl eval {quoted}` and `fwdsl verify {quoted}` take a saved answer, `--data NAME={quoted}` arrays"
    new = f"`fwdsl new {quoted}` writes a program for it, " if found.serves == "table" else ""
    return f"{new}`--data NAME={quoted}` gives it to one"


def _unreadable(name: str, error: OSError) -> Diagnostic:
    path = Path(name)
    if isinstance(error, FileNotFoundError):
        near = _similar(path)
        hint = f"did you mean `{near}`?" if near else "check the name and the folder you are in"
        if "\n" in name.strip():
            return Diagnostic(
                "FW0010",
                "there is no file of this name, which is a text of several lines",
                hint="write `fw.parse(text)`",
            )
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
