"""Reading the file of a program. Errors are diagnostics that suggest the file that was meant."""

from __future__ import annotations

from difflib import get_close_matches
from pathlib import Path

from ..errors import RunError
from ..grammar.diagnostic import Diagnostic


def read_program(name: str) -> bytes:
    """The bytes of a file. Raises `RunError` FW0010 where it is not there, FW0011 for a folder, FW0012 where it cannot be read."""
    try:
        return Path(name).read_bytes()
    except OSError as error:
        raise RunError([_unreadable(name, error)]) from None
    except ValueError:  # a NUL in the name
        raise RunError([_unreadable(name, FileNotFoundError())]) from None


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
