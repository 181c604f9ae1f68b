"""Reads observed entries: a row, a column and a value on each line, separated by commas; a header is optional.

Whether ids are indices or names depends on the program's other data, so they come back as written.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .csv_columns import ChosenColumns, Header
from .csv_table import Table, first_line
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
            columns, first, has_name = _columns(path, kinds, roles[0], attempt)
        except Unreadable:
            findings.extend(*attempt.result())
            raise
        found = attempt.result()
        words = [k for k in (0, 1) if kinds[k] == "vector" and _are_no_numbers(k, columns, found)]
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


def _columns(path: str, kinds: Sequence[str], role: Role, findings: FileFindings) -> tuple[list[np.ndarray], int, bool]:
    """The three columns, the line of the first entry (0 where entries and lines do not correspond), and whether the first
    value may be the name of its column, which only the other values tell where all are words."""
    with opened(path, findings) as stream:
        header, rest, line = first_line(lines(stream), {"header": False}, path, findings, takes_sep=False)
        if header.count != 3:
            findings.add(
                "FW4036",
                f"line {line} of `{path}` has {header.count} field{'s' if header.count > 1 else ''}, where 3 were expected",
                rule=_RULE,
                hint="keep the columns of the row, the column and the value, in this order",
                row=line,
            )
            raise Unreadable
        text = next(rest)
        head, _, tail = text.partition(b"\n")
        value = next(csv.reader([head.decode("utf-8")], strict=True))[2].strip()
        doubtful = False
        if to_finite(value) is None and not is_infinite(value):
            if role.of != "signs" or to_finite(_second(tail)) is not None:
                text, line = tail, line + 1
            else:
                doubtful = True
        count = _Count()
        targets = [
            (Role(name, kind), k) for k, (name, kind) in enumerate(zip(_NAMES, (*kinds, _value(role)), strict=True))
        ]
        table = Table(
            Header(3, _NAMES, 0),
            ChosenColumns(None, (), tuple(targets)),
            path,
            findings,
            "write the value as a number",
            files=role.decoded,
        )
        table.add(count.through(text, rest), line)
    columns = table.result()
    if not columns:
        return [np.zeros(0)] * 3, line, doubtful
    arrays = [columns[name] for name in _NAMES]
    return arrays, line if count.lines == size_of(arrays[0]) else 0, doubtful  # type: ignore[return-value]


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


def _second(tail: bytes) -> str:
    """The value on the second line."""
    return tail.partition(b"\n")[0].rpartition(b",")[2].decode("utf-8", "replace").strip()


def _are_no_numbers(k: int, columns: Sequence[np.ndarray], found: Sequence[Any]) -> bool:
    """True if a column that was read as numbers holds words, or numbers too large for floats to tell apart."""
    if any(d.code in ("FW4020", "FW4021") and d.place.column == k + 1 for d in found):
        return True
    return any(bool(np.abs(ids).max() >= _EXACT) for ids in chunks_of(columns[k]))


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
