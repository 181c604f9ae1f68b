"""Reads Matrix Market files: coordinate files become CSR arrays, array files dense ones, and symmetric ones are expanded.

As in `scipy.io.mmread`, duplicate entries of a coordinate file are added up.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, NoReturn

import numpy as np

from .files import Unreadable, lines, opened
from .findings import FileFindings
from .growing import Growing
from .roles import Role
from .tokens import floats, integers, is_infinite, to_finite, tokenize

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from .roles import Raw

_BANNER = "begin the file with a line such as `%%MatrixMarket matrix coordinate real general`"


@dataclass(frozen=True, slots=True)
class _Head:
    sparse: bool
    pattern: bool
    symmetry: str  # general, symmetric or skew-symmetric
    rows: int
    columns: int
    entries: int

    @property
    def words(self) -> int:
        """The number of words on each line."""
        return (2 if self.pattern else 3) if self.sparse else 1


def read_mtx(path: str, options: Mapping[str, object], roles: Sequence[Role], findings: FileFindings) -> dict[str, Raw]:
    """The matrix for the only role; a role of one dimension takes a matrix of one column or one row.

    Raises `Unreadable` where the file cannot be read.
    """
    if len(roles) != 1:
        findings.cannot_serve(
            roles,
            "an mtx file holds one matrix",
            "An mtx source serves one name.",
            "give each its own file",
        )
        return {}
    role = roles[0]
    with opened(path, findings) as stream:
        chunks = lines(stream)
        head, rest, line = _head(chunks, path, findings)
        entries = _Entries(head, path, findings)
        for text in rest:
            entries.add(text, line)
            line += text.count(b"\n")
            if findings.full:
                break
    entries.check_count()
    if findings.failed:
        return {}
    column = len(role.shape) == 1 and 1 in (head.rows, head.columns)
    if head.sparse:
        matrix = entries.sparse()
        return {role.name: matrix.toarray().reshape(-1) if column else matrix}
    return {role.name: entries.dense().reshape(-1) if column else entries.dense()}


class _Entries:
    """The entries read so far."""

    def __init__(self, head: _Head, path: str, findings: FileFindings) -> None:
        self._head = head
        self._path = path
        self._findings = findings
        index = np.int32 if max(head.rows, head.columns) < 2**31 else np.int64
        self._rows = Growing(index)
        self._columns = Growing(index)
        self._values = Growing(np.float64)
        self._count = 0

    def add(self, text: bytes, line: int) -> None:
        """Add whole lines that begin at `line`."""
        if not self._add_fast(text):
            for number, raw in enumerate(text.split(b"\n")[:-1], line):
                if self._findings.full:
                    return
                self._add_line(raw, number)

    def check_count(self) -> None:
        """Note a number of entries that differs from the size line."""
        if not self._findings.failed and self._count != self._promised:
            self._findings.add(
                "FW4062",
                f"`{self._path}` has {self._count} of the {self._promised} entries that its size line promises",
                rule="A Matrix Market file has as many entries as its size line tells.",
                hint="write or copy it again",
            )

    def sparse(self) -> csr_array:
        """The matrix of a coordinate file."""
        from scipy.sparse import coo_array

        head = self._head
        rows, columns = self._rows.finish(), self._columns.finish()
        values = np.ones(rows.size) if head.pattern else self._values.finish()
        if head.symmetry != "general":
            off = rows != columns
            mirrored = values[off] if head.symmetry == "symmetric" else -values[off]
            rows, columns = np.concatenate([rows, columns[off]]), np.concatenate([columns, rows[off]])
            values = np.concatenate([values, mirrored])
        matrix = coo_array((values, (rows, columns)), shape=(head.rows, head.columns)).tocsr()
        matrix.sum_duplicates()
        return matrix

    def dense(self) -> np.ndarray:
        """The matrix of an array file, which lists the columns, or the columns of one triangle."""
        head, values = self._head, self._values.finish()
        if head.symmetry == "general":
            return values.reshape(head.columns, head.rows).T
        columns, rows = np.triu_indices(head.rows, 1 if head.symmetry == "skew-symmetric" else 0)
        matrix = np.zeros((head.rows, head.rows))
        matrix[columns, rows] = values if head.symmetry == "symmetric" else -values
        matrix[rows, columns] = values
        return matrix

    @property
    def _promised(self) -> int:
        head = self._head
        if head.sparse:
            return head.entries
        n = head.rows
        return {"symmetric": n * (n + 1) // 2, "skew-symmetric": n * (n - 1) // 2}.get(head.symmetry, n * head.columns)

    def _add_fast(self, text: bytes) -> bool:
        """Add whole lines with array operations. Adds nothing and returns False where a line needs the exact reader."""
        head = self._head
        tokens = None if b"%" in text else tokenize(text)
        if tokens is None:
            return False
        per_line = tokens.per_line
        if not np.all((per_line == head.words) | (per_line == 0)):
            return False
        starts, ends = tokens.starts.reshape(-1, head.words), tokens.ends.reshape(-1, head.words)
        if self._count + len(starts) > self._promised:
            return False
        values = None if head.pattern else floats(tokens.buffer, text, starts[:, -1], ends[:, -1])
        if head.sparse:
            rows = integers(tokens.buffer, starts[:, 0], ends[:, 0])
            columns = integers(tokens.buffer, starts[:, 1], ends[:, 1])
            if rows is None or columns is None or (values is None and not head.pattern):
                return False
            if rows.size and (
                min(rows.min(), columns.min()) < 1 or rows.max() > head.rows or columns.max() > head.columns
            ):
                return False
            if head.symmetry != "general" and np.any(
                (columns > rows) | ((columns == rows) & (head.symmetry == "skew-symmetric"))
            ):
                return False
            self._rows.extend(rows - 1)
            self._columns.extend(columns - 1)
        elif values is None:
            return False
        if values is not None:
            self._values.extend(values)
        self._count += len(starts)
        return True

    def _add_line(self, raw: bytes, line: int) -> None:
        """Add one line, or note what is wrong with it."""
        head, findings = self._head, self._findings
        words = raw.decode("utf-8", "replace").split()
        if not words or words[0].startswith("%"):
            return
        if self._count == self._promised:
            findings.add(
                "FW4062",
                f"line {line} of `{self._path}` is one entry more than the {self._promised} its size line promises",
                rule="A Matrix Market file has as many entries as its size line tells.",
                hint="correct the size line",
                row=line,
                value=" ".join(words),
            )
        self._count += 1
        if len(words) != head.words:
            form = {1: "`value`", 2: "`row column`", 3: "`row column value`"}[head.words]
            findings.add(
                "FW4061",
                f"line {line} has {len(words)} numbers, where {form} was expected",
                rule="Each entry of a Matrix Market file stands on its own line, in the form that line 1 tells.",
                row=line,
                value=" ".join(words),
            )
            return
        column = None
        if head.sparse:
            place = self._position(words, line)
            if place is None:
                return
            self._rows.extend(np.array(place[:1]))
            self._columns.extend(np.array(place[1:]))
            column = place[1] + 1
        if not head.pattern:
            self._add_value(words[-1], line, column)

    def _add_value(self, text: str, line: int, column: int | None) -> None:
        value = to_finite(text)
        if value is not None:
            self._values.extend(np.array([value]))
        elif is_infinite(text):
            self._findings.not_finite("the value", text, line, column)
        else:
            self._findings.not_a_number("the value", text, line, column)

    def _position(self, words: list[str], line: int) -> tuple[int, int] | None:
        """Row and column from 0, or None with the reason noted."""
        head = self._head
        numbers = [int(w) - 1 if w.isascii() and w.isdigit() and len(w) < 19 else -1 for w in words[:2]]
        row, column = numbers
        if not (0 <= row < head.rows and 0 <= column < head.columns):
            self._findings.add(
                "FW4063",
                f"the entry at row `{words[0]}`, column `{words[1]}` on line {line} is outside the "
                f"{head.rows} x {head.columns} matrix",
                rule="Rows and columns of a Matrix Market file count from 1 to the sizes that its size line tells.",
                row=line,
                value=" ".join(words),
            )
            return None
        if head.symmetry != "general" and (column > row or (column == row and head.symmetry == "skew-symmetric")):
            self._findings.add(
                "FW4063",
                f"the entry at row {row + 1}, column {column + 1} on line {line} is not below the diagonal of a "
                f"{head.symmetry} matrix",
                rule="A symmetric Matrix Market file lists what is below the diagonal and, unless skew, the diagonal.",
                hint="list the other triangle only, or write `general` in the first line and list all entries",
                row=line,
                column=column + 1,
                value=" ".join(words),
            )
            return None
        return row, column


def _head(chunks: Iterator[bytes], path: str, findings: FileFindings) -> tuple[_Head, Iterator[bytes], int]:
    """The first line and the size line, the chunks behind them, and the line where those start."""
    banner: list[str] | None = None
    line = 1
    for text in chunks:
        while text:
            first, _, text = text.partition(b"\n")
            words = first.decode("utf-8", "replace").split()
            if banner is None:
                banner = [w.lower() for w in words]
                _check_banner(banner, path, findings)
            elif words and not words[0].startswith("%"):
                return _size(banner, words, line, path, findings), chain([text] if text else [], chunks), line + 1
            line += 1
    _refuse("FW4064", f"`{path}` ends before its size line", path, findings)


def _check_banner(words: list[str], path: str, findings: FileFindings) -> None:
    if (
        len(words) != 5
        or words[0] != "%%matrixmarket"
        or words[1] != "matrix"
        or words[2] not in ("coordinate", "array")
    ):
        _refuse("FW4060", f"`{path}` does not begin as a Matrix Market file", path, findings, row=1, hint=_BANNER)
    if words[3] not in ("real", "double", "integer", "pattern") or words[4] not in (
        "general",
        "symmetric",
        "skew-symmetric",
    ):
        _refuse(
            "FW4065",
            f"`{path}` holds a matrix that is `{words[3]} {words[4]}`, where a real one was expected",
            path,
            findings,
            row=1,
            hint="write it as `real`, `integer` or `pattern`, and `general`, `symmetric` or `skew-symmetric`",
        )
    if words[2] == "array" and words[3] == "pattern":
        _refuse("FW4065", f"`{path}` says `array pattern`, which has no values", path, findings, row=1, hint=_BANNER)


def _size(banner: list[str], words: list[str], line: int, path: str, findings: FileFindings) -> _Head:
    sparse = banner[2] == "coordinate"
    form = "`rows columns entries`" if sparse else "`rows columns`"
    if len(words) != (3 if sparse else 2) or not all(w.isascii() and w.isdigit() and len(w) < 19 for w in words):
        _refuse(
            "FW4064",
            f"line {line} of `{path}` is `{' '.join(words)[:40]}`, where the sizes {form} were expected",
            path,
            findings,
            row=line,
        )
    rows, columns, entries = (*map(int, words), 0)[:3]
    if banner[4] != "general" and rows != columns:
        _refuse("FW4064", f"`{path}` is {banner[4]}, but {rows} x {columns}", path, findings, row=line)
    return _Head(sparse, banner[3] == "pattern", banner[4], rows, columns, entries)


def _refuse(
    code: str, message: str, path: str, findings: FileFindings, *, row: int | None = None, hint: str = ""
) -> NoReturn:
    findings.add(
        code,
        message,
        rule="A Matrix Market file begins with a line that tells its form, then comments, then a line with its sizes.",
        hint=hint,
        row=row,
    )
    raise Unreadable
