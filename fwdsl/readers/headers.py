"""The names of a table's columns, without its data, for who writes a program."""

from __future__ import annotations

from importlib import import_module

from ..words import SOURCES
from .files import Unreadable
from .findings import FileFindings


def header_names(path: str, format_name: str) -> tuple[str, ...]:
    """The columns of a file; none where it cannot be read, has no header, or is of a format without one."""
    module = import_module(f".{SOURCES[format_name].reader[0]}", __package__)
    names = getattr(module, "header_names", None)
    if names is None:
        return ()
    try:
        found: tuple[str, ...] = names(path, FileFindings(path))
    except (Unreadable, ValueError):
        return ()
    return found
