"""The names of a table's columns, without its data, for who writes a program."""

from __future__ import annotations

from importlib import import_module

from ..words import SOURCES
from .files import Unreadable
from .findings import FileFindings
from .several import files_of


def header_names(path: str, format_name: str) -> tuple[str, ...]:
    """The columns of a file, or of the first of several, with those that its folders tell.

    There are none where it cannot be read, has no header, or is of a format without one.
    """
    word, findings = SOURCES[format_name], FileFindings(path)
    module = import_module(f".{word.reader[0]}", __package__)
    names = getattr(module, "header_names", None)
    if names is None:
        return ()
    try:
        files = files_of([path], word, findings)
        found: tuple[str, ...] = names(files[0] if files else path, findings)
        if files and word.in_folders:
            from .partitions import folder_columns

            told = folder_columns([path], files[:1], findings)[files[0]]
            found = (*found, *(column.name for column in told if column.is_inner and column.name not in found))
    except (Unreadable, ValueError):
        return ()
    return found
