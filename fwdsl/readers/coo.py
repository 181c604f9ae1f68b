"""Reads observed entries: a row, a column and a value on each line, separated by commas or by `sep`; a header is optional.

Whether ids are indices or names depends on the program's other data, so they come back as written.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .categories import Onehot, Selector, name_of
from .csv_columns import ChosenColumns, Header, position_of
from .csv_rows import Form
from .csv_table import Table, first_line, with_sep
from .files import Unreadable, check_readable, lines, opened
from .findings import FileFindings
from .roles import Role, Triplets
from .row_blocks import Stored
from .sorted_entries import chunks_of, size_of, sort_into_files
from .tokens import is_infinite, to_finite

if TYPE_CHECKING:
    from .roles import Raw

_NAMES = ("row", "column", "value")
_INTEGER = re.compile(r"[+-]?\d{1,20}\Z", re.ASCII)
_RULE = "A coo file has a row, a column and a value on each line."
_EXACT = 2.0**53
"""The number above which floats skip whole numbers, so that two ids would become one."""


def read_coo(path: str, options: Mapping[str, Any], roles: Sequence[Role], findings: FileFindings) -> dict[str, Raw]:
    """The `Triplets` for the only role, of kind `entries`. Raises `Unreadable` where the file cannot be read."""
    check_readable(path, findings)
    if len(roles) != 1 or roles[0].kind != "entries":
        findings.cannot_serve(
            roles,
            "a coo file holds the observed entries of one matrix",
            "A coo source serves one name declared `entries[n, p]`.",
            'declare it as in `data M: entries[n, p] from coo("ratings.csv")`',
        )
        return {}
    kinds = ["vector", "vector"]  # numbers are read fast, and most ids are numbers
    while True:
        attempt = FileFindings(path)
        try:
            columns, first, has_name, at = _columns(path, options, kinds, roles[0], attempt)
        except Unreadable:
            findings.extend(*attempt.result())
            raise
        found = attempt.result()
        words = [k for k in (0, 1) if kinds[k] == "vector" and _are_no_numbers(columns[k], at[k], found)]
        if not words:
            break
        for k in words:
            kinds[k] = "ids"
    findings.extend(*found)
    if attempt.failed:
        return {}
    if has_name and _stands_alone(columns[2]):
        columns, first = [c[1:] for c in columns], first + 1
    base, cache = int(options.get("base", 0)), roles[0].decoded
    if any(isinstance(c, Stored) for c in columns):
        assert cache is not None
        if all(isinstance(c, Stored) or c.dtype.kind == "f" for c in columns):
            return {roles[0].name: sort_into_files(cache, roles[0].name, columns, base)}
        columns = [c.read(0, c.count) if isinstance(c, Stored) else c for c in columns]
    row, column, value = columns
    return {roles[0].name: Triplets(_ids(row), _ids(column), value, base, first)}


def _columns(
    path: str, options: Mapping[str, Any], kinds: Sequence[str], role: Role, findings: FileFindings
) -> tuple[list[np.ndarray], int, bool, tuple[int, int, int]]:
    """The three columns, the line of the first entry (0 where entries and lines do not correspond), whether the first
    value may be the name of its column, which only the other values tell where all are words, and the columns' positions."""
    form = Form.of(options)
    with opened(path, findings) as stream:
        header, rest, line = first_line(lines(stream), {**options, "header": False}, path, findings, "coo")
        text = next(rest)
        head, _, tail = text.partition(b"\n")
        fields = [f.strip() for f in next(csv.reader([head.decode("utf-8")], delimiter=form.sep, strict=True))]
        chosen = _chosen(fields, options, path, line, findings)
        value = form.plain(fields[chosen[2]])
        doubtful = False
        if any(isinstance(s, str) for s in options.get("columns", ())):
            text, line = tail, line + 1
        elif to_finite(value) is None and not is_infinite(value):
            if role.of != "signs" or to_finite(form.plain(_second(tail, form.sep, chosen[2]))) is not None:
                text, line = tail, line + 1
            else:
                doubtful = True
        count = _Count()
        kinds = (*kinds, _value(role))
        targets = tuple((Role(name, kind), at) for name, kind, at in zip(_NAMES, kinds, chosen, strict=True))
        names = [dict(zip(chosen, _NAMES, strict=True)).get(at, "") for at in range(header.count)]
        table = Table(
            Header(header.count, tuple(names), 0),
            ChosenColumns(None, (), targets),
            path,
            findings,
            "write the value as a number",
            form=form,
            source="coo",
            files=role.decoded,
        )
        table.add(count.through(text, rest), line)
    columns = table.result()
    if not columns:
        return [np.zeros(0)] * 3, line, doubtful, chosen
    arrays = [columns[name] for name in _NAMES]
    return arrays, line if count.lines == size_of(arrays[0]) else 0, doubtful, chosen  # type: ignore[return-value]


def _chosen(
    fields: Sequence[str], options: Mapping[str, Any], path: str, line: int, findings: FileFindings
) -> tuple[int, int, int]:
    """The positions of the row, the column and the value. Raises `Unreadable`."""
    listed: Sequence[Selector] = options.get("columns", ())
    count, sep = len(fields), Form.of(options).sep
    if listed:
        header = Header(count, tuple(fields), line)
        found = [position_of(header, name_of(s), "columns", path, findings) for s in listed]
        if len(set(found)) != 3 or any(isinstance(s, Onehot) for s in listed):
            findings.add(
                "FW4036",
                f"`columns=` of `{path}` does not name three columns",
                rule=_RULE,
                hint=f"list the columns of the row, the column and the value, in this order; {header.listed()}",
            )
        if findings.failed:
            raise Unreadable
        row, column, value = (at for at in found if at is not None)
        return row, column, value
    if count == 3:
        return 0, 1, 2
    several = count == 1 and len(fields[0].split(" ")) >= 3
    named = all(to_finite(f) is None for f in fields)
    three = ", ".join(f'"{f}"' for f in fields[:3]) if named else "0, 1, 2"
    findings.add(
        "FW4036",
        f"line {line} of `{path}` has {count} field{'s' if count > 1 else ''}, where 3 were expected",
        rule=_RULE,
        hint=with_sep(path, " ", "coo")
        if several and sep != " "
        else f"say which are the row, the column and the value, as in `columns=[{three}]`"
        if count > 3
        else "keep the columns of the row, the column and the value, in this order",
        row=line,
    )
    raise Unreadable


class _Count:
    """Counts the lines that pass through it."""

    def __init__(self) -> None:
        self.lines = 0

    def through(self, text: bytes, rest: Iterator[bytes]) -> Iterator[bytes]:
        """Pass chunks on and count their lines."""
        while True:
            self.lines += text.count(b"\n")
            if text:
                yield text
            following = next(rest, None)
            if following is None:
                return
            text = following


def _value(role: Role) -> str:
    return "labels" if role.of == "signs" else "vector"


def _second(tail: bytes, sep: str, at: int) -> str:
    """The value on the second line."""
    fields = tail.partition(b"\n")[0].decode("utf-8", "replace").split(sep)
    return fields[at].strip() if at < len(fields) else ""


def _are_no_numbers(column: np.ndarray, position: int, found: Sequence[Any]) -> bool:
    """True if a column that was read as numbers holds words, or numbers too large for floats to tell apart."""
    if any(d.code in ("FW4020", "FW4021") and d.place.column == position + 1 for d in found):
        return True
    return any(bool(np.abs(ids).max() >= _EXACT) for ids in chunks_of(column))


def _ids(column: np.ndarray) -> np.ndarray:
    """Ids as int64 if all are whole numbers, as floats if all are numbers, else as words."""
    if column.dtype.kind == "f":
        whole = column.astype(np.int64)
        return whole if np.array_equal(whole, column) else column
    words, codes = np.unique(column, return_inverse=True)
    if not all(_INTEGER.match(w) for w in words.tolist()):
        return column
    try:
        numbers = np.array([int(w) for w in words.tolist()], dtype=np.int64)
    except OverflowError:
        return column
    ids: np.ndarray = numbers[codes]
    return ids


def _stands_alone(values: np.ndarray) -> bool:
    """True if the first of more than two values occurs only once, which makes it the name of the column."""
    return np.unique(values).size > 2 and not np.any(values[1:] == values[0])
