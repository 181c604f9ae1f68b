"""One file that workers read by ranges of its rows, as they read one of several: groups of parquet, chunks of HDF5 and zarr, bytes of text."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeAlias

from ..grammar.diagnostic import Diagnostic
from ..words.sources import SourceWord
from . import places
from .decoded import state_of
from .findings import FileFindings
from .roles import Role

if TYPE_CHECKING:
    from .roles import Raw

Cut: TypeAlias = tuple[int, tuple[str, Any]]
"""The first row of a piece (of text its first line), and the argument of its reader that tells which it is; the one of all of a file has no name."""

Join: TypeAlias = Callable[[str, Role, Sequence[Any], FileFindings], Any]
"""(path, role, arrays of the pieces, findings) -> the array of a role that is no matrix."""


@dataclass(frozen=True)
class Piece:
    """The reader of a piece of a file: no closure, as workers are sent it, and equal to itself, as what it decodes is kept by it."""

    reader: Callable[..., dict[str, Raw]]
    first: int
    what: tuple[str, Any]
    #: What makes one array of those of all pieces, where that is more than to put them under each other.
    join: Join | None = None

    def __call__(
        self, path: str, options: Mapping[str, object], roles: Sequence[Role], findings: FileFindings, /
    ) -> dict[str, Raw]:
        name, value = self.what
        more: dict[str, Any] = {name: value} if name else {}
        return self.reader(path, options, roles, findings, **more)

    @property
    def counts_lines(self) -> bool:
        """True where findings tell lines, which count from the first one of the file."""
        return self.what[0] == "part"

    def name(self, path: str) -> str:
        """The piece, in words."""
        return f"{path} from {f'line {self.first:,}' if self.counts_lines else f'row {self.first + 1:,}'}"

    def told(self, found: Diagnostic) -> Diagnostic:
        """A finding whose rows count from the first of the piece."""
        if not self.first or found.place is None or found.place.row is None:
            return found
        where = f"(rows count from row {self.first + 1:,} of the file, where a range of rows begins)"
        return replace(found, message=f"{found.message} {where}")


def pieces_of(
    paths: Sequence[str],
    word: SourceWord,
    reader: Callable[..., dict[str, Raw]],
    options: Mapping[str, object],
    roles: Sequence[Role],
) -> dict[str, Sequence[Piece]]:
    """The readers of the pieces of large files, in their order; none of those that are read as a whole.

    Text is divided where it is one file alone: its lines are counted first, and what a column of words is, all pieces of it tell together.
    """
    if not any(role.is_rows for role in roles) or any(r.stays is not None for r in roles):
        return {}
    found = {path: _pieces(path, word, reader, options, roles, len(paths) == 1) for path in paths if _is_large(path)}
    return {path: pieces for path, pieces in found.items() if pieces}


def _is_large(path: str) -> bool:
    return os.path.exists(path) and state_of(path)[0] > places.READ_HERE


def _pieces(
    path: str,
    word: SourceWord,
    reader: Callable[..., dict[str, Raw]],
    options: Mapping[str, object],
    roles: Sequence[Role],
    alone: bool,
) -> Sequence[Piece]:
    module, function = word.reader
    home = import_module(f".{module}", __package__)
    cuts = getattr(home, function.replace("read_", "pieces_"), None)
    join = getattr(home, function.replace("read_", "joined_"), None)
    if cuts is None or (join is not None and not alone):
        return ()
    found = [Piece(reader, first, what, join) for first, what in cuts(path, options, roles, places.PIECE_BYTES)]
    return found if len(found) > 1 or (found and alone and not found[0].what[0]) else ()
