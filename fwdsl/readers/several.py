"""A source of several files: a folder, or a path with `*`, `?` or `[...]`. Their rows stand under each other in the order of their names."""

from __future__ import annotations

import glob
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol

from ..words.sources import SourceWord
from .categories import Mixed, joined
from .files import Unreadable
from .findings import FileFindings
from .roles import LabelSets, Role
from .sources import compression

if TYPE_CHECKING:
    from .roles import Raw


class Reader(Protocol):
    """A reader of one file."""

    def __call__(
        self, path: str, options: Mapping[str, object], roles: Sequence[Role], findings: FileFindings, /
    ) -> dict[str, Raw]:
        """The arrays of the roles."""


def files_of(path: str, word: SourceWord, findings: FileFindings) -> list[str] | None:
    """The files of a folder (those with a suffix of the format, folders in it too) or of a pattern, sorted; None for the path of one file.

    Raises `Unreadable`, with the reason noted, where there are none.
    """
    if os.path.isdir(path):
        held = (os.path.join(folder, name) for folder, _, names in os.walk(path) for name in names)
        found = sorted(file for file in held if _has_suffix(file, word))
    elif any(c in path for c in "*?[") and not os.path.exists(path):
        found = sorted(file for file in glob.glob(path, recursive=True) if os.path.isfile(file))
    else:
        return None
    if not found:
        folder = os.path.isdir(path)
        told = (
            f"`{path}` is a folder without a file of {' or '.join(word.suffixes)}"
            if folder
            else f"no file matches `{path}`"
        )
        findings.add(
            "FW4002", told, rule="A folder or a pattern stands for all its files, one at least.", hint="check the path"
        )
        raise Unreadable
    return found


def _has_suffix(path: str, word: SourceWord) -> bool:
    stem = path.lower()
    return stem[: len(stem) - len(compression(path))].endswith(word.suffixes)


def read_all(
    paths: Sequence[str], reader: Reader, options: Mapping[str, object], roles: Sequence[Role], findings: FileFindings
) -> dict[str, Raw]:
    """The arrays of all files under each other. Columns with names are matched with those of the first file, in whatever order they stand."""
    parts: dict[str, list[Any]] = {role.name: [] for role in roles}
    # a file alone may have samples of one class
    roles = [replace(r, kind="labels", shape=(None, None)) if r.is_column and r.may_be_text else r for r in roles]
    for path in paths:
        own = FileFindings(path)
        try:
            arrays = reader(path, options, roles, own)
        except Unreadable:
            arrays = {}
        findings.extend(*own.result())
        if findings.full:
            return {}
        findings.headers = findings.headers or own.headers
        roles = [replace(role, columns=role.columns or findings.headers.get(role.name, ())) for role in roles]
        for name, array in arrays.items():
            parts[name].append(array)
    if findings.failed:
        return {}
    return {name: _joined(name, arrays, paths, findings) for name, arrays in parts.items()}


def _joined(name: str, arrays: Sequence[Any], paths: Sequence[str], findings: FileFindings) -> Any:
    """Arrays under each other; sparse ones are as wide as the widest."""
    import numpy as np  # where files are looked for it is not needed

    first = arrays[0]
    if isinstance(first, Mixed):
        return joined(arrays)
    if isinstance(first, LabelSets) or not hasattr(first, "shape"):
        rule = "Several files serve matrices, vectors and labels."
        findings.add("FW4030", f"`{name}` cannot be served by several files", rule=rule, hint="join the files")
        return first
    if hasattr(first, "tocsr"):
        from scipy.sparse import csr_array, vstack

        width = max(array.shape[1] for array in arrays)
        wide = [csr_array((a.data, a.indices, a.indptr), shape=(a.shape[0], width)) for a in arrays]
        return csr_array(vstack(wide, format="csr"))
    if len({array.dtype.kind in "OUS" for array in arrays}) > 1:  # numbers in one file, words in another
        arrays = [array.astype(str) for array in arrays]
    for path, array in zip(paths, arrays, strict=True):
        if array.ndim == 0 or array.shape[1:] != first.shape[1:]:
            told = " x ".join(str(n) for n in array.shape[1:]) or "no"
            findings.add(
                "FW4025",
                f"`{path}` has {told} columns for `{name}`, where `{paths[0]}` has {' x '.join(str(n) for n in first.shape[1:]) or 'no'}",
                rule="The rows of several files are of one length.",
            )
            return first
    return np.concatenate(arrays)
