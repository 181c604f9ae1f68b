"""A source of several files: a folder, a path with `*`, `?` or `[...]`, or a list of these and of files.

Rows stand under each other, in the order of the files' names, of a list in its own.
"""

from __future__ import annotations

import glob
import os
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Protocol

from ..grammar.diagnostic import Diagnostic, Place
from ..words.sources import SourceWord
from . import places
from .categories import Mixed, joined
from .files import Unreadable
from .findings import LEFT_OUT, FileFindings
from .memory import GivingBack
from .roles import LabelSets, Role
from .sources import has_suffix

if TYPE_CHECKING:
    from .decoded import Decoded, Pile
    from .encoded import Decoding
    from .pieces import Piece
    from .roles import Raw


PATTERN = "*?["
"""The characters of patterns."""


class Reader(Protocol):
    """A reader of one file."""

    def __call__(
        self, path: str, options: Mapping[str, object], roles: Sequence[Role], findings: FileFindings, /
    ) -> dict[str, Raw]:
        """The arrays of the roles."""


def files_of(paths: Sequence[str], word: SourceWord, findings: FileFindings) -> list[str] | None:
    """The files of a source, each member of a list after the other; None where it is the path of one file.

    Raises `Unreadable`, with the reason noted, where a folder or a pattern has none, or a list has a file twice.
    """
    if len(paths) == 1:
        return _members(paths[0], word, findings)
    found = [file for path in paths for file in _members(path, word, findings) or [path]]
    twice = next((file for file, count in Counter(found).items() if count > 1), None)
    if twice is not None:
        findings.add(
            "FW4002",
            f"`{twice}` stands twice in the list",
            rule="Each file of a list is read once, and its rows stand in the place of its path.",
            hint="leave one of them out",
        )
        raise Unreadable
    return found


def _members(path: str, word: SourceWord, findings: FileFindings) -> list[str] | None:
    """The files of a folder (those with a suffix of the format, folders in it too) or of a pattern, sorted; None for the path of one file.

    Files and folders whose names begin with a dot are left out, as they are by patterns; where folders tell columns, also those that begin with
    `_`, where the writers of such folders keep notes. Raises `Unreadable`, with the reason noted, where there are none.
    """
    if os.path.isdir(path):
        if word.is_folder:
            return None
        found = sorted(
            file for file in _below(path, "._" if word.in_folders else ".") if has_suffix(file, word.suffixes)
        )
    elif any(c in path for c in PATTERN) and not os.path.exists(path):
        is_one = os.path.isdir if word.is_folder else os.path.isfile
        found = sorted(file for file in glob.glob(path, recursive=True) if is_one(file))
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


def _below(path: str, marks: str) -> Iterator[str]:
    """The files of a folder and of the folders in it, but for those whose names begin with one of some marks."""
    for folder, folders, names in os.walk(path):
        folders[:] = [name for name in folders if name[0] not in marks]
        yield from (os.path.join(folder, name) for name in names if name[0] not in marks)


def read_all(
    paths: Sequence[str],
    reader: Reader,
    options: Mapping[str, object],
    roles: Sequence[Role],
    findings: FileFindings,
    pieces: Mapping[str, Sequence[Piece]] | None = None,
) -> dict[str, Raw]:
    """The arrays of all files under each other. Those that have `pieces` are read elsewhere, piece by piece.

    Columns with names are matched with those of the first file, in whatever order they stand. A file may have no rows, but not all may. Warnings
    that files have in common, and what is wrong with a column in all of them, are told once.
    """
    parts: dict[str, dict[str, Any]] = {role.name: {} for role in roles}
    # a file alone may have samples of one class
    asked = {role.name: role for role in roles}
    roles = [replace(r, kind="labels", shape=(None, None)) if r.is_column and r.may_be_text else r for r in roles]
    stays = next((role.stays for role in roles if role.stays is not None), None)
    if stays is not None and sum(os.path.getsize(path) for path in paths if os.path.isfile(path)) > stays:
        # one alone may fit into memory, not all of them
        roles = [replace(role, stays=0) for role in roles]
    into = {role.name: role.decoded if role.is_rows else None for role in roles}
    roles = [replace(role, decoded=None) for role in roles]
    is_piled, giving = any(files is not None for files in into.values()), GivingBack()
    piles: dict[str, Pile] = {}
    counts: dict[str, list[tuple[str, int]]] = {}  # of a name the rows of each file
    dropped, warnings, told = 0, dict[str, list[Diagnostic]](), set[tuple[str, str]]()
    elsewhere = _Elsewhere.of(paths, reader, options, roles)
    named: dict[str, tuple[str, Piece]] = {}
    gaps = set[str]()
    only: Sequence[Piece] = ()
    if pieces:
        only = pieces[paths[0]] if len(paths) == 1 else ()
        named = {piece.name(path): (path, piece) for path, own in pieces.items() for piece in own}
        paths = [name for path in paths for name in ([p.name(path) for p in pieces.get(path, ())] or [path])]
        elsewhere = _Elsewhere(paths, reader, options, {}, named, bool(only))
    for path in paths:
        if elsewhere is None:
            own = FileFindings(path)
            try:
                arrays = reader(path, options, roles, own)
            except Unreadable:
                arrays = {}
        else:
            arrays, own = elsewhere.look_at(path, roles)
        dropped += own.dropped
        if own.dropped:
            gaps.add(path)
        by_lines = path in named and named[path][1].counts_lines
        if by_lines:
            findings.go_on(own)
        for found in () if by_lines else own.result():
            if path in named:
                found = named[path][1].told(found)
            if found.severity != "error":
                warnings.setdefault(found.code, []).append(found)
            elif (arrays or not own.has_no_rows) and (_has_row(found) or (found.code, found.message) not in told):
                findings.extend(found)
                told.add((found.code, found.message))
        if findings.full or own.lacks_reader:  # the other files are like it
            return {}
        findings.headers = findings.headers or own.headers
        if not only:  # a file has its columns as they are
            file = named[path][0] if path in named else path
            roles = [_with_columns(role, findings.headers.get(role.name, ()), file) for role in roles]
        if not own.failed:
            for name in list(arrays):
                array = arrays.pop(name)
                counts.setdefault(name, []).append((path, array.shape[0] if hasattr(array, "shape") else -1))
                parts[name][path] = _piled(name, array, into[name], parts[name], piles, is_piled)
                del array  # nor is one kept while the next file is read
        if is_piled:
            giving.read(os.path.getsize(path) if os.path.isfile(path) else giving.EVERY)
    for code, alike in warnings.items():
        more = f"; {len(alike) - 1} more of the files are like it" if len(alike) > 1 else ""
        if code != LEFT_OUT:
            findings.extend(replace(alike[0], message=alike[0].message + more))
    if findings.failed:
        return {}
    if not all(parts.values()):
        findings.no_rows(dropped)
        return {}
    joined = {}
    for name, arrays in parts.items():
        if not pieces and all(rows >= 0 for _, rows in counts[name]):
            findings.rows[name] = tuple(counts[name])
        join = only[0].join if only and asked[name].is_column else None
        if join is not None and asked[name].may_be_text:
            joined[name] = join(named[paths[0]][0], asked[name], list(arrays.values()), findings)
        else:
            joined[name] = _joined(name, arrays, findings)
        if asked[name].is_signs and asked[name].is_column and join is None:
            places_of = _Places(reader, options, roles, named, gaps)
            _check_signs(asked[name], joined[name], arrays, places_of, findings)
    joined |= {name: pile.finish() for name, pile in piles.items()}
    if dropped:
        rows = max(array.shape[0] for array in joined.values() if hasattr(array, "shape"))
        findings.left_out(dropped, rows + dropped)
    return joined


def _with_columns(role: Role, columns: tuple[str, ...], file: str) -> Role:
    """The role with the columns of the first file, unless it has those of an earlier fit."""
    return replace(role, columns=columns, like=file) if columns and not role.columns else role


@dataclass
class _Places:
    """The places where values of files stand. Files of the set `gaps` have rows that are left out."""

    reader: Reader
    options: Mapping[str, object]
    roles: Sequence[Role]
    named: Mapping[str, tuple[str, Piece]]
    gaps: set[str]

    def of(self, role: Role, path: str, position: int, findings: FileFindings) -> Place:
        """The place of a value by its file, or a piece of one, and its position among the values from there. Text tells its line; no row is told
        where rows before it are left out."""
        if path in self.named:
            file, piece = self.named[path]
            return Place(file, row=None if path in self.gaps else piece.first + position + 1)
        function = getattr(self.reader, "__name__", "")
        look = getattr(sys.modules[self.reader.__module__], function.replace("read_", "place_in_"), None)
        if look is None or not function:
            return Place(path, row=None if path in self.gaps else position + 1)
        found: Place = look(path, self.options, self.roles, role.name, position, findings)
        return found


def _check_signs(role: Role, values: Any, parts: Mapping[str, Any], places_of: _Places, findings: FileFindings) -> None:
    """Note signs of more than two values in all files together, at the place of the rarest."""
    import numpy as np

    from .scan import not_two, odd_one

    if values.dtype.kind not in "biufUS" or (values.dtype.kind == "f" and not np.isfinite(values).all()):
        return  # which is told when they are bound
    others = values[values != values[0]]
    if values.ndim != 1 or not others.size or (others == others[0]).all():
        return
    distinct, codes = np.unique(values, return_inverse=True)
    odd, position = odd_one(codes, distinct.size)
    for path, part in parts.items():
        if position < len(part):
            place = places_of.of(role, path, position, findings)
            findings.extend(not_two(role.name, distinct.tolist(), place, place.row, distinct[odd].item()))
            return
        position -= len(part)


@dataclass
class _Elsewhere:
    """Files that are read where their rows are to be held: the first one alone, as it has the columns that the others are matched with."""

    paths: Sequence[str]
    reader: Reader
    options: Mapping[str, object]
    found: dict[str, tuple[dict[str, Raw], FileFindings]] = field(default_factory=dict)
    #: The files of pieces and their readers, by the names of these in `paths`; and whether all are of one file.
    pieces: Mapping[str, tuple[str, Piece]] = field(default_factory=dict)
    is_one: bool = False

    @staticmethod
    def of(
        paths: Sequence[str], reader: Reader, options: Mapping[str, object], roles: Sequence[Role]
    ) -> _Elsewhere | None:
        """None where files are read here: nobody else is there, no matrix is asked for, or they are small."""
        if (
            places.places() is None
            or not any(role.is_rows for role in roles)
            or any(role.stays is not None for role in roles)
        ):
            return None
        small = sum(os.path.getsize(path) for path in paths if os.path.isfile(path)) <= places.READ_HERE
        return None if small else _Elsewhere(paths, reader, options)

    def look_at(self, path: str, roles: Sequence[Role]) -> tuple[dict[str, Raw], FileFindings]:
        """The arrays of a file, and what was found."""
        from .encoded import look_at

        if path not in self.found:
            read_by = places.places()
            assert read_by is not None
            alone = not self.found and not self.is_one  # the columns of one file need no match
            wanted = [path] if alone else [p for p in self.paths if p not in self.found]
            self.found |= zip(wanted, read_by(look_at, [self._asked(p, roles) for p in wanted]), strict=True)
        return self.found[path]

    def _asked(self, path: str, roles: Sequence[Role]) -> tuple[str, Decoding]:
        from .encoded import Decoding

        file, reader = self.pieces.get(path, (path, self.reader))
        return file, Decoding(reader, self.options, tuple(roles))


def _piled(
    name: str, array: Any, into: Decoded | None, parts: dict[str, Any], piles: dict[str, Pile], is_piled: bool
) -> Any:
    """The array of a file; no more than its shape of a matrix that went to the pile of those before, as those do that may outgrow memory together.

    Rows that may stay in their files go there too where those of another file of the same source do not.
    """
    if not hasattr(array, "astype") or (hasattr(array, "pieces") and name not in piles):
        return array
    if into is None:
        # a column that is cut out of its file's table would hold all of that
        return array.copy() if is_piled and getattr(array, "base", None) is not None else array
    from .decoded import Pile

    first = next(iter(parts.values()), array)
    if (
        not (hasattr(array, "reshape") or hasattr(array, "pieces"))
        or array.ndim != 2
        or (not hasattr(array, "tocsr") and array.shape[1] != first.shape[1])
    ):
        return array  # which is told when all are joined
    if name not in piles:
        piles[name] = Pile(into, name)
        for path, part in parts.items():
            parts[path] = _poured(part, piles[name])
    return _poured(array, piles[name])


def _poured(matrix: Any, pile: Pile) -> Any:
    """A matrix of no rows that has the width and the type of one that went to the pile, and nothing of its memory."""
    if hasattr(matrix, "pieces"):
        for start, stop in matrix.pieces():
            pile.add(matrix.rows(start, stop))
    else:
        pile.add(matrix)
    # no slice: it would hold all numbers of the file
    if hasattr(matrix, "tocsr"):
        return type(matrix)((0, matrix.shape[1]), dtype=matrix.dtype)
    import numpy as np  # where files are looked for it is not needed

    return np.empty((0, matrix.shape[1]), matrix.dtype)


def _has_row(found: Diagnostic) -> bool:
    return found.place is not None and found.place.row is not None


def _joined(name: str, parts: Mapping[str, Any], findings: FileFindings) -> Any:
    """The arrays of files under each other; sparse ones are as wide as the widest."""
    import numpy as np  # where files are looked for it is not needed

    from .row_blocks import is_on_disk

    paths, arrays = list(parts), list(parts.values())
    first = arrays[0]
    if isinstance(first, Mixed):
        return joined(arrays)
    if isinstance(first, LabelSets) or not hasattr(first, "shape"):
        rule = "Several files serve matrices, vectors and labels."
        findings.add("FW4030", f"`{name}` cannot be served by several files", rule=rule, hint="join the files")
        return first
    if is_on_disk(first):
        return _stacked(arrays, paths, name, findings)
    if hasattr(first, "tocsr"):
        from scipy.sparse import csr_array, vstack

        width = max(array.shape[1] for array in arrays)
        if len({array.dtype for array in arrays}) > 1:
            arrays = [array.astype(np.float64) for array in arrays]
        wide = [csr_array((a.data, a.indices, a.indptr), shape=(a.shape[0], width)) for a in arrays]
        return csr_array(vstack(wide, format="csr"))
    if first.ndim == 2 and len({array.dtype for array in arrays}) > 1 and all(a.dtype.kind in "biuf" for a in arrays):
        arrays = [array.astype(np.float64) for array in arrays]  # as rows that stay in their files are read
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
    rows = (sum(map(len, arrays)), *first.shape[1:])
    # by rows, however the files lie, as those are read that stay on their disk
    return np.concatenate(arrays, out=np.empty(rows, np.result_type(*arrays)))


def _stacked(matrices: Sequence[Any], paths: Sequence[str], name: str, findings: FileFindings) -> Any:
    """Matrices on disks under each other: dense ones, of which rows of different lengths are noted, and sparse ones as wide as the widest."""
    first = matrices[0]
    import numpy as np

    from .row_blocks import DenseRows, SparseRows

    if all(isinstance(matrix, SparseRows) for matrix in matrices):
        starts = np.cumsum([0, *(matrix.size for matrix in matrices)])
        ends = [matrix.ends[1:] + start for matrix, start in zip(matrices, starts, strict=False)]
        pairs = [pair for matrix in matrices for pair in matrix.parts]
        return SparseRows(np.concatenate([[0], *ends]), pairs, max(matrix.shape[1] for matrix in matrices))

    parts: list[Any] = []
    for path, matrix in zip(paths, matrices, strict=True):
        if matrix.shape[1] != first.shape[1]:
            findings.add(
                "FW4025",
                f"`{path}` has {matrix.shape[1]} columns for `{name}`, where `{paths[0]}` has {first.shape[1]}",
                rule="The rows of several files are of one length.",
            )
            return first
        parts += matrix.parts
    return DenseRows(parts, first.shape[1])
