"""Files beside a program: those that a source may name, and the columns of one."""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from ..words import SOURCES

MOST_FILES = 200
"""Files that are offered; folders are searched two levels deep."""


def files_for(folder: Path | None, format_name: str) -> list[str]:
    """The files of a format in the program's folder and the folders in it, as a program writes their paths."""
    if folder is None:
        return []
    from ..readers.sources import compression

    suffixes = SOURCES[format_name].suffixes
    found = []
    for path in _files(folder, SOURCES[format_name].is_folder):
        lower = path.lower()
        if lower[: len(lower) - len(compression(lower))].endswith(suffixes):
            found.append(path)
            if len(found) == MOST_FILES:
                break
    return found


def _files(folder: Path, are_folders: bool) -> Iterator[str]:
    for top in (folder, *_folders(folder)):
        try:
            names = sorted(
                entry.name for entry in os.scandir(top) if (entry.is_dir() if are_folders else entry.is_file())
            )
        except OSError:
            continue
        yield from ((top / name).relative_to(folder).as_posix() for name in names)


def _folders(folder: Path) -> list[Path]:
    try:
        return sorted(Path(e.path) for e in os.scandir(folder) if e.is_dir() and not e.name.startswith("."))[
            :MOST_FILES
        ]
    except OSError:
        return []


def columns_of(path: Path, format_name: str) -> tuple[str, ...]:
    """The names of a table's columns; none where the file has none, or cannot be read."""
    try:
        changed = path.stat().st_mtime_ns
    except (OSError, ValueError):
        return ()
    return _columns(str(path), format_name, changed)


@lru_cache(maxsize=64)
def _columns(path: str, format_name: str, changed: int) -> tuple[str, ...]:
    from ..readers.headers import header_names

    return header_names(path, format_name)
