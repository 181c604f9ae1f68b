"""Reads libsvm (svmlight) files, with a row `label index:value ...` on each line, in chunks into a CSR array."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..grammar.diagnostic import Place
from .decoded import sparse_of
from .files import lines, opened
from .findings import ONCE, FileFindings
from .growing import Growing
from .libsvm_chunks import Layout, Rows, parse_exactly, parse_fast
from .roles import LabelSets, Role
from .scan import not_two, odd_one
from .sources import compression
from .text_ranges import TextPart, cuts

if TYPE_CHECKING:
    from .pieces import Cut
    from .roles import Raw

_INT32 = 2**31 - 1


def read_libsvm(
    path: str,
    options: Mapping[str, Any],
    roles: Sequence[Role],
    findings: FileFindings,
    part: TextPart | None = None,
) -> dict[str, Raw]:
    """The first matrix role gets X (CSR, float64, int32 indices where they fit), a column role the labels; of all rows or of some.

    With `multilabel=true` the labels are `LabelSets`. Raises `Unreadable` where the file cannot be read.
    """
    served = _assign(options, roles, findings)
    if served is None:
        return {}
    table, target = served
    fixed = options.get("features")
    if fixed is None and table is not None:
        fixed = table.width
    layout = Layout(int(options.get("base", 1)), fixed, bool(options.get("multilabel", False)))
    parts = _Parts(table)
    with opened(path, findings) as stream:
        line = 1 if part is None else part.line
        for text in lines(stream) if part is None else part.chunks(stream):
            rows = parse_fast(text, layout)
            if rows is None:
                rows = parse_exactly(text, line, layout, findings)
            line += text.count(b"\n")
            if findings.full or findings.has(*ONCE):
                break
            if not findings.failed:
                parts.add(rows)
    if findings.failed:
        return {}
    if parts.rows == 0:
        findings.no_rows()
        return {}
    result: dict[str, Raw] = {}
    if target is not None and layout.multilabel:
        result[target.name] = _label_sets(parts.label_sets)
    elif target is not None:
        labels = result[target.name] = parts.labels.finish()
        _check_signs(path, target, labels, findings)
    if table is not None:
        result[table.name] = parts.matrix(layout.features)
    return result


def pieces_libsvm(path: str, options: Mapping[str, Any], roles: Sequence[Role], most: int) -> list[Cut]:
    """Ranges of about `most` bytes of whole lines; none of a compressed file, nor where rows have several labels, which are numbered together."""
    return [] if compression(path) or options.get("multilabel") else cuts(path, most)


def joined_libsvm(path: str, role: Role, parts: Sequence[Any], findings: FileFindings) -> Any:
    """The labels of all ranges."""
    labels = np.concatenate(parts)
    _check_signs(path, role, labels, findings)
    return labels


def place_in_libsvm(
    path: str, options: Mapping[str, Any], roles: Sequence[Role], name: str, position: int, findings: FileFindings
) -> Place:
    """The place of a label by its position in the file."""
    return Place(path, row=_line_of(path, position, findings))


def _check_signs(path: str, role: Role, labels: np.ndarray, findings: FileFindings) -> None:
    """Note labels of signs that do not have two values, at the line of the rarest."""
    if not role.is_signs:
        return
    if labels.size and np.all((labels == labels.min()) | (labels == labels.max())) and labels.min() < labels.max():
        return
    distinct, codes = np.unique(labels, return_inverse=True)
    place = Place(path)
    if distinct.size < 2:
        findings.extend(not_two(role.name, distinct.tolist(), place))
        return
    odd, position = odd_one(codes, distinct.size)
    findings.extend(
        not_two(role.name, distinct.tolist(), place, _line_of(path, position, findings), distinct[odd].item())
    )


def _line_of(path: str, position: int, findings: FileFindings) -> int:
    """The line of the row at `position`. Blank lines and comments are no rows."""
    line = 0
    with opened(path, findings) as stream:
        for text in lines(stream):
            for raw in text.split(b"\n")[:-1]:
                line += 1
                position -= bool(raw.partition(b"#")[0].strip())
                if position < 0:
                    return line
    return line


class _Parts:
    """The rows read so far."""

    def __init__(self, table: Role | None) -> None:
        self.labels = Growing(np.float64)
        self.label_sets: list[str] = []
        self._ends = Growing(np.int64)
        self._ends.extend(np.zeros(1, np.int64))
        self._columns = Growing(np.int32)
        self._values = Growing(np.float64)
        if table is not None and table.decoded is not None and table.may_stay:
            self._columns = table.decoded.array(f"{table.name}.columns", np.int32)
            self._values = table.decoded.array(f"{table.name}.numbers", np.float64)
        self._width = 0

    @property
    def rows(self) -> int:
        return self._ends.size - 1

    def add(self, rows: Rows) -> None:
        width = rows.width
        if width > _INT32 and self._columns.dtype != np.int64:
            self._columns.widen(np.int64)
        self._width = max(self._width, width)
        self._ends.extend(rows.cuts[1:] + self._values.size)
        self._columns.extend(rows.columns)
        self._values.extend(rows.values)
        self.labels.extend(rows.labels)
        self.label_sets.extend(rows.label_sets)

    def matrix(self, features: int | None) -> Any:
        return sparse_of(
            self._ends.finish(), self._columns, self._values, self._width if features is None else features
        )


def _assign(
    options: Mapping[str, object], roles: Sequence[Role], findings: FileFindings
) -> tuple[Role | None, Role | None] | None:
    """The role that gets the matrix, and the role that gets the labels."""
    several = bool(options.get("multilabel", False))
    targets = [r for r in roles if r.is_column or (several and r.is_signs)]
    tables = [r for r in roles if r.is_table and r not in targets]
    if len(tables) > 1 or len(targets) > 1 or len(tables) + len(targets) < len(roles):
        findings.cannot_serve(
            roles,
            "a libsvm file holds one matrix and one column of labels",
            "A libsvm source serves a matrix, a vector of labels or values, or both.",
            'declare them as in `data X: matrix[n, p], y: signs[n] from libsvm("train.svm")`',
        )
        return None
    return (tables[0] if tables else None, targets[0] if targets else None)


def _label_sets(sets: Sequence[str]) -> LabelSets:
    """Rows of +1 and -1, a column for each label in sorted order."""
    rows = [[float(part) for part in text.split(",")] if text else [] for text in sets]
    flat = np.array([label for row in rows for label in row], np.float64)
    classes, codes = np.unique(flat, return_inverse=True)
    signs = np.full((len(rows), classes.size), -1.0)
    signs[np.repeat(np.arange(len(rows)), [len(row) for row in rows]), codes] = 1.0
    return LabelSets(signs, classes)
