"""Columns told by folders: in `data/year=2024/part-0.parquet` every row of the file has 2024 in a column `year` (as Hive, Spark and Arrow write)."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote

from .files import Unreadable
from .findings import FileFindings
from .roles import Role
from .several import PATTERN, Reader
from .tokens import to_finite

if TYPE_CHECKING:
    from .roles import Raw

MISSING = ("", "__HIVE_DEFAULT_PARTITION__")
"""The values of folders that stand for none."""

_RULE = "Folders `name=value` tell a column, and all files of a source stand in folders of the same names."


@dataclass(frozen=True, slots=True)
class FolderColumn:
    """A column that a file's folders tell: its name, its one value as text (None where it is missing), and as a number if all files have numbers.

    A column `is_inner` where its folder is below that of the source: it is one of the file's columns. One above the source counts
    only where it is named, so that `data/year=2024` has the columns that `data` has for who asks for them.
    """

    name: str
    text: str | None
    number: float | None
    is_inner: bool


def with_folders(
    reader: Callable[..., dict[str, Raw]], source: Sequence[str], files: Sequence[str] | None, findings: FileFindings
) -> Reader:
    """The reader of each file of a source, or of the one that it is, with the columns of its folders.

    Raises `Unreadable`, with the reason noted, where the folders of a file have other names than those of the first, or tell a column twice.
    """
    columns = folder_columns(source, files, findings)
    if findings.failed:
        raise Unreadable

    return _InFolders(reader, tuple(columns.items()))


@dataclass(frozen=True)
class _InFolders:
    """A reader with the columns that the folders of each path tell: no closure, as workers are sent it."""

    reader: Callable[..., dict[str, Raw]]
    columns: tuple[tuple[str, tuple[FolderColumn, ...]], ...]

    def __call__(
        self,
        path: str,
        options: Mapping[str, object],
        roles: Sequence[Role],
        findings: FileFindings,
        /,
        **part: tuple[int, int],
    ) -> dict[str, Raw]:
        return self.reader(path, options, roles, findings, folders=dict(self.columns)[path], **part)


def folder_columns(
    source: Sequence[str], files: Sequence[str] | None, findings: FileFindings
) -> dict[str, tuple[FolderColumn, ...]]:
    """The columns of each file, by its path; what does not fit is noted."""
    base = _base(source, files is not None)
    paths = source if files is None else files
    outer = _pairs(base.parts[::-1], until_other=True)[::-1]
    inner = {path: _pairs(Path(path).parent.parts[len(base.parts) :]) for path in paths}
    first = paths[0]
    for path in paths:
        names = [name for name, _ in (*outer, *inner[path])]
        twice = next((name for i, name in enumerate(names) if name in names[:i]), None)
        if twice is not None:
            findings.add("FW4026", f"the folders of `{path}` tell `{twice}` twice", rule=_RULE, hint="rename a folder")
            break
        other = {name for name, _ in inner[path]} ^ {name for name, _ in inner[first]}
        if other:
            name = min(other)
            without, within = (path, first) if name in dict(inner[first]) else (first, path)
            findings.add(
                "FW4026",
                f"`{without}` stands in no folder `{name}=...`, as `{within}` does",
                rule=_RULE,
                hint="move the file, or name the files with a pattern, as in `data/year=*/*.parquet`",
            )
            break
    texts: dict[str, set[str]] = {}
    for path in paths:
        for name, text in (*outer, *inner[path]):
            texts.setdefault(name, set()).update(() if text is None else (text,))
    numbers = {name for name, held in texts.items() if all(to_finite(text) is not None for text in held)}

    def column(name: str, text: str | None, is_inner: bool) -> FolderColumn:
        number = to_finite(text) if text is not None and name in numbers else None
        return FolderColumn(name, text, number, is_inner)

    return {
        path: (
            *(column(name, text, True) for name, text in inner[path]),
            *(column(name, text, False) for name, text in outer),
        )
        for path in paths
    }


def _base(source: Sequence[str], is_several: bool) -> Path:
    """The folder that a source names: the path itself, what stands before the first pattern in it, the folder of a file; of a list the one that
    all of these have in common."""
    if len(source) > 1:
        found = [_base([path], os.path.isdir(path) or not os.path.exists(path)).parts for path in source]
        same = next(
            (i for i, parts in enumerate(zip(*found, strict=False)) if len(set(parts)) > 1), min(map(len, found))
        )
        return Path(*found[0][:same])
    path = Path(source[0])
    if not is_several:
        return path.parent
    if path.is_dir():
        return path
    pattern = next((i for i, part in enumerate(path.parts) if any(c in part for c in PATTERN)), len(path.parts) - 1)
    return Path(*path.parts[:pattern])


def _pairs(parts: Sequence[str], until_other: bool = False) -> list[tuple[str, str | None]]:
    """The names and values of folders `name=value`, in their order."""
    found: list[tuple[str, str | None]] = []
    for part in parts:
        name, equals, value = part.partition("=")
        if equals and name:
            value = unquote(value)
            found.append((unquote(name), None if value in MISSING else value))
        elif until_other:
            break
    return found
