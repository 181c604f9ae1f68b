"""Looks at the beginning of a file of samples: which columns it has, and what is in them."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice
from typing import Any

from ..words import SOURCES
from .csv_rows import LONGEST
from .csv_table import SEPARATING, decoded, note_not_csv, note_ragged, note_told, told_to_spreadsheets
from .files import Unreadable, check_readable, lines, opened
from .findings import FileFindings
from .sources import is_url
from .tokens import is_missing, to_finite

MOST_ROWS = 20_000
"""Rows that are looked at."""

MOST_CLASSES = 20
"""Distinct whole numbers up to which a column is taken for one of classes, if there are at least ten samples of each on average."""

LOOKED_AT = 200
"""Rows that tell whether numbers have decimal commas."""


@dataclass(frozen=True)
class Column:
    """A column of a table: its name, the rows without a value, how many values differ, and the numbers, if all that is there are numbers; else
    `odd` has the values that are none: how many, and the first of them."""

    name: str
    gaps: frozenset[int]
    distinct: int
    numbers: tuple[float, ...] | None
    odd: tuple[int, str] = (0, "")
    #: False of a column whose name says its position alone.
    is_named: bool = True

    @property
    def missing(self) -> int:
        """The number of rows without a value."""
        return len(self.gaps)

    @property
    def is_usable(self) -> bool:
        """True if it is a column of numbers without gaps."""
        return self.numbers is not None and not self.gaps

    @property
    def kind(self) -> str:
        """`number`, `two classes` or `classes`: what it is as a target; `names` if its words hardly repeat."""
        if self.distinct == 2:
            return "two classes"
        if self.numbers is None:
            return "classes" if self.distinct <= 1000 else "names"
        whole = all(value.is_integer() for value in self.numbers)
        return "classes" if whole and self.distinct <= min(MOST_CLASSES, len(self.numbers) // 10) else "number"


@dataclass(frozen=True)
class Table:
    """The contents of a file: its format, its columns, the rows that were looked at, and the options of a source that say how it is written."""

    format: str
    columns: tuple[Column, ...]
    rows: int
    options: tuple[tuple[str, str], ...] = ()
    has_header: bool = True
    #: Its label is its only column here, and its features are sparse.
    sparse: bool = False

    def column(self, name: str) -> Column | None:
        """The column of a name."""
        return next((c for c in self.columns if c.name == name), None)

    def without_gaps(self) -> Table:
        """The same read with `missing="drop"`, which makes the columns of numbers with the fewest gaps usable, while half of the rows are left."""
        lost: frozenset[int] = frozenset()
        if any(parameter.name == "missing" for parameter in SOURCES[self.format].parameters):
            for column in sorted(self.columns, key=lambda c: c.missing):
                if column.numbers is not None and len(lost | column.gaps) <= self.rows // 2:
                    lost |= column.gaps
        columns = tuple(replace(c, gaps=c.gaps - lost) if c.gaps <= lost else c for c in self.columns)
        return replace(self, columns=columns, options=(*self.options, ("missing", "drop"))) if lost else self


def look(path: str, format_name: str, findings: FileFindings) -> Table:
    """The columns of a csv, parquet, feather or libsvm file by its first rows. Raises `Unreadable` where it cannot be read, with the reason noted."""
    if is_url(path):
        from .remote import copied

        with copied(path, SOURCES[format_name], findings) as copy:
            own = FileFindings(copy.path)
            try:
                return look(copy.path, format_name, own)
            finally:
                findings.extend(*(copy.of_url(d) for d in own.result()))
    return {"csv": _csv, "parquet": _parquet, "feather": _feather, "libsvm": _libsvm}[format_name](path, findings)


def _csv(path: str, findings: FileFindings) -> Table:
    with opened(path, findings) as stream:
        written = decoded(lines(stream), 1, findings)
        blank, first = next(((i, line) for i, line in enumerate(written) if line.strip()), (0, ""))
        if not first:
            findings.no_rows()
            raise Unreadable
        begin = [first]
        while first.count('"') % 2 and len(first) < LONGEST and (more := next(written, "")):  # a name with a line break
            begin.append(more)
            first += more
        if told := told_to_spreadsheets(first):
            note_told(told, blank + 1, path, findings)
            raise Unreadable
        sep = max(SEPARATING, key=first.count)  # the comma where none is there
        rows = csv.reader(chain(begin, written), delimiter=sep, strict=False)
        begun = 0
        records: list[list[str]] = []
        ragged = False
        try:
            for row in rows:
                if len(row) > 1 or "".join(row).strip():
                    if records and len(row) != len(records[0]):
                        note_ragged(row, blank + begun + 1, len(records[0]), sep, findings)
                        ragged = True
                    records.append(row)
                if len(records) > MOST_ROWS:
                    break
                begun = rows.line_num
        except csv.Error as error:
            note_not_csv(error, blank + begun + 1, path, findings)
            raise Unreadable from None
    if ragged:
        raise Unreadable
    head, *records = records
    names = [field.strip() for field in head]
    options = () if sep == "," else (("sep", sep),)
    if sep != "," and _has_decimal_commas(records):
        records = [[field.replace(",", ".") for field in row] for row in records]
        options = (*options, ("decimal", ","))
    has_header = any(to_finite(name.replace(",", ".")) is None for name in names)
    if not has_header:
        records, names = [head, *records], [str(j) for j in range(len(names))]
    if not records:
        findings.no_rows()
        raise Unreadable
    cells = [[row[j].strip() for row in records] for j in range(len(names))]
    columns = [
        column if column.name else replace(column, name=f"column {j + 1}", is_named=False)
        for j, column in enumerate(_columns(names, cells))
    ]
    return Table("csv", tuple(columns), len(records), options, has_header)


def _has_decimal_commas(records: Sequence[Sequence[str]]) -> bool:
    """True if more fields are numbers with a comma than are numbers with a point."""
    fields = [field.strip() for row in records[:LOOKED_AT] for field in row]
    commas = sum("," in field and to_finite(field.replace(",", ".")) is not None for field in fields)
    return commas > sum("." in field and to_finite(field) is not None for field in fields)


def _libsvm(path: str, findings: FileFindings) -> Table:
    with opened(path, findings) as stream:
        labels = [
            line.split(None, 1)[0] for line in islice(decoded(lines(stream), 1, findings), MOST_ROWS) if line.strip()
        ]
    if not labels:
        findings.no_rows()
        raise Unreadable
    return Table("libsvm", _columns(["label"], [labels]), len(labels), sparse=True)


def _parquet(path: str, findings: FileFindings) -> Table:
    from .parquet import open_parquet

    check_readable(path, findings)
    with opened(path, findings) as stream:
        file = open_parquet(path, stream, findings)
        batch = next(file.iter_batches(batch_size=MOST_ROWS), None)
        if batch is None or not batch.num_rows:
            findings.no_rows()
            raise Unreadable
        return _of_arrow("parquet", batch)


def _feather(path: str, findings: FileFindings) -> Table:
    from .parquet import open_feather

    check_readable(path, findings)
    with opened(path, findings) as stream:
        head = open_feather(path, stream, findings).head(MOST_ROWS)
        if not head.num_rows:
            findings.no_rows()
            raise Unreadable
        return _of_arrow("feather", head)


def _of_arrow(format_name: str, rows: Any) -> Table:
    """The table of rows of Arrow, whose values are looked at as texts."""
    columns = [["" if v is None else str(v) for v in column.to_pylist()] for column in rows.columns]
    return Table(format_name, _columns(rows.schema.names, columns), rows.num_rows)


def _columns(names: Sequence[str], columns: Sequence[Sequence[str]]) -> tuple[Column, ...]:
    return tuple(_column(name, cells) for name, cells in zip(names, columns, strict=True))


def _column(name: str, cells: Sequence[str]) -> Column:
    gaps = frozenset(i for i, cell in enumerate(cells) if is_missing(cell))
    there = [cell for i, cell in enumerate(cells) if i not in gaps]
    numbers = [to_finite(cell) for cell in there]
    are_numbers = bool(there) and None not in numbers
    values = tuple(number for number in numbers if number is not None) if are_numbers else None
    odd = [cell for cell, number in zip(there, numbers, strict=True) if number is None]
    return Column(name, gaps, len(set(there if values is None else values)), values, (len(odd), odd[0] if odd else ""))
