"""Collects what is wrong with one source, up to a limit that people still read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ..grammar.diagnostic import Diagnostic, Place, Severity

if TYPE_CHECKING:
    from .roles import Role

LIMIT = 20

_SYSTEMATIC = ("FW4010", "FW4020", "FW4022", "FW4023")
"""Codes that every row of a column may have. They are reported for a few rows, so that other errors are seen too."""
_ALIKE = 3
_LOOKED_AT = 1000

ONCE = ("FW4013", "FW4014")
"""Codes that most rows of a file have if one has. They are reported for one row."""

LEFT_OUT = "FW4024"

_GAPS = "leave columns with many gaps out with `columns=`"


class FileFindings:
    """The diagnostics of one source, at most `LIMIT` of them, all about one file."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.headers: dict[str, tuple[str, ...]] = {}  # the names of the columns, by table, where it has names
        self.rows: dict[str, tuple[tuple[str, int], ...]] = {}  # of several files, by array: each with its rows
        self.has_no_rows = False  # the file is in order, but has no rows
        self.dropped = 0  # the rows that are left out
        self.lacks_reader = False  # what reads files of this format is absent
        self._found: list[Diagnostic] = []
        # By systematic finding: its places in the list, -1 for those left out.
        self._alike: dict[tuple[str, int | None], list[int]] = {}

    def add(
        self,
        code: str,
        message: str,
        *,
        rule: str = "",
        hint: str = "",
        key: str | None = None,
        row: int | None = None,
        column: int | None = None,
        value: str | None = None,
        severity: Severity = "error",
    ) -> None:
        """Note one finding; findings beyond the limit are dropped."""
        if self.full:
            return
        if code in _SYSTEMATIC:
            alike = self._alike.setdefault((code, column), [])
            alike.append(len(self._found) if len(alike) < _ALIKE else -1)
            if alike[-1] < 0:
                return
        place = Place(self.file, key, row, column, None if value is None else shown(value))
        self._found.append(Diagnostic(code, message, rule=rule, hint=hint, place=place, severity=severity))

    def extend(self, *diagnostics: Diagnostic) -> None:
        """Note findings made elsewhere."""
        self._found.extend(diagnostics[: LIMIT - len(self._found)])

    def go_on(self, behind: FileFindings) -> None:
        """Note what was found in the next range of the rows of the same file, as who reads it as a whole would; that no or few rows are in the range
        is told of the whole."""
        for found in behind._found:
            column = None if found.place is None else found.place.column
            if found.code == LEFT_OUT or (behind.has_no_rows and found.severity == "error"):
                continue
            if self.full or (found.code in ONCE and self.has(found.code)):
                continue
            if found.code in _SYSTEMATIC:
                alike = self._alike.setdefault((found.code, column), [])
                alike.append(len(self._found) if len(alike) < _ALIKE else -1)
                if alike[-1] < 0:
                    continue
            self._found.append(found)
        for key, places in behind._alike.items():
            alike = self._alike.setdefault(key, [])
            alike += [-1] * min(places.count(-1), _LOOKED_AT - len(alike))

    def not_finite(self, what: str, text: str, row: int, column: int | None = None) -> None:
        """Note a nan or an infinity; `what` says which value it is."""
        self.add(
            "FW4021",
            f"{what} on line {row} is `{shown(text)}`, where a finite number is needed",
            rule="Data must be finite: no nan and no infinity.",
            hint="remove the row, or replace the value",
            row=row,
            column=column,
            value=text,
        )

    def not_a_number(self, what: str, text: str, row: int, column: int | None = None, hint: str = "") -> None:
        """Note a value that is no number."""
        self.add(
            "FW4020",
            f"{what} on line {row} is `{shown(text)}`, where a number was expected",
            rule="Values are decimal numbers with a point, such as `0.5`, `-3` or `1e-3`.",
            hint=hint,
            row=row,
            column=column,
            value=text,
        )

    def no_rows(self, dropped: int = 0) -> None:
        """Note a file that exists and holds no rows, or none but those that `missing="drop"` leaves out."""
        self.has_no_rows = not self.failed
        self.dropped = dropped
        rule = "A source holds at least one row."
        if dropped:
            self.add(
                "FW4004", f"no row of `{self.file}` has a value in every column that is used", rule=rule, hint=_GAPS
            )
        else:
            self.add("FW4004", f"`{self.file}` has no rows", rule=rule)

    def no_columns(self, rows: int) -> None:
        """Note an array of rows without a number in them."""
        message = f"`{self.file}` has {rows:,} row{'s' if rows != 1 else ''} and no columns"
        self.add("FW4004", message, rule="A source holds at least one row and one column.")

    def with_rows(self, arrays: dict[str, Any]) -> dict[str, Any]:
        """The arrays of a file that holds some by name. That none has rows is noted, and so is one that has none beside others that do."""
        empty = [array.shape[:1] == (0,) for array in arrays.values()]
        if any(empty):
            self.no_rows()
        return arrays if not all(empty) else {}

    def left_out(self, count: int, rows: int) -> None:
        """Note the rows that `missing="drop"` leaves out, some of all."""
        self.dropped = count
        self.add(
            LEFT_OUT,
            f"{count:,} of the {rows:,} rows of `{self.file}` have no value in a column that is used, and are left out",
            rule='With `missing="drop"` rows without a value are left out.',
            hint=_GAPS,
            severity="warning",
        )

    def cannot_serve(self, roles: Sequence[Role], holds: str, rule: str, hint: str) -> None:
        """Note declared names that do not fit what a format holds."""
        names = ", ".join(f"`{r.name}`" for r in roles)
        self.add("FW4030", f"`{self.file}` cannot serve {names}: {holds}", rule=rule, hint=hint)

    def has(self, *codes: str) -> bool:
        return any(d.code in codes for d in self._found)

    @property
    def full(self) -> bool:
        """True if the limit is reached, so that reading on is of no use."""
        return len(self._found) >= LIMIT or any(len(alike) >= _LOOKED_AT for alike in self._alike.values())

    @property
    def failed(self) -> bool:
        return any(d.severity == "error" for d in self._found)

    def result(self) -> tuple[Diagnostic, ...]:
        """The findings in order. The last one about a column says how many more there are."""
        found = list(self._found)
        for alike in self._alike.values():
            more = alike.count(-1)
            if more:
                last = alike[_ALIKE - 1]
                count = "1 more is" if more == 1 else f"{more} more are"
                least = "" if len(alike) < _LOOKED_AT else "at least "
                found[last] = replace(found[last], message=f"{found[last].message}; {least}{count} like it")
        return tuple(found)


def shown(text: str, width: int = 40) -> str:
    """A piece of a file, fit for a message: printable, on one line, at most `width` characters."""
    clean = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)
    return clean if len(clean) <= width else clean[: width - 3] + "..."
