"""Chooses the columns of a csv file for the declared names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from .categories import Onehot, Selector, name_of
from .findings import FileFindings
from .frames import Match, match
from .roles import Role


@dataclass(frozen=True, slots=True)
class ChosenColumns:
    """The positions of the columns of the role `table`, and of the column of each other role.

    `onehot` says which columns of the table are categories: None for each that is of numbers. It is empty where all are.
    """

    table: Role | None
    columns: tuple[int, ...]
    targets: tuple[tuple[Role, int], ...]
    onehot: tuple[Onehot | None, ...] = ()

    @property
    def numbers(self) -> tuple[int, ...]:
        """The positions of the table's columns of numbers."""
        kinds = self.onehot or (None,) * len(self.columns)
        return tuple(c for c, kind in zip(self.columns, kinds, strict=True) if kind is None)

    @property
    def categories(self) -> tuple[int, ...]:
        """The positions of the table's columns of categories."""
        return tuple(c for c, kind in zip(self.columns, self.onehot, strict=False) if kind is not None)


@dataclass(frozen=True, slots=True)
class Header:
    """The names of a file's columns; `names` is None where the file has no header."""

    count: int
    names: tuple[str, ...] | None
    row: int | None

    def blanks(self, text: str) -> str:
        """The hint where the only field of a line has blanks, which perhaps separate fields; else nothing."""
        apart = self.count == 1 and " " in text and "" not in text.split(" ")
        return 'if blanks separate the fields, say `sep=" "` in the program' if apart else ""

    def listed(self) -> str:
        """The columns, for a message."""
        if self.names is None:
            return f"the file has no header; its columns are 0 to {self.count - 1}"
        more = ", ..." if self.count > 12 else ""
        return f"the columns are {', '.join(f'`{n}`' for n in self.names[:12])}{more}"


def choose(
    header: Header, options: Mapping[str, Any], roles: Sequence[Role], path: str, findings: FileFindings
) -> ChosenColumns | None:
    """The columns for each role, or None with the reasons noted."""
    tables = [r for r in roles if r.is_table]
    singles = [r for r in roles if r.is_column]
    if len(tables) > 1 or len(tables) + len(singles) < len(roles):
        findings.cannot_serve(
            roles,
            "a csv file holds one matrix and columns of labels or values",
            "A csv source serves a matrix, vectors, labels, or a matrix and those.",
            'declare them as in `data X: matrix[n, p], y: vector[n] from csv("train.csv", target="price")`',
        )
        return None
    table = tables[0] if tables else None
    # Where the columns are known, rows without a target will do for a matrix alone.
    needless = not singles and ("columns" in options or any(t.columns for t in tables))
    absent = needless and isinstance(options.get("target"), str) and options["target"] not in (header.names or ())
    told = "target" in options and not absent
    target = position_of(header, options["target"], "target", path, findings) if told else None
    selectors: Sequence[Selector] = options.get("columns", ())
    listed = [position_of(header, name_of(s), "columns", path, findings) for s in selectors]
    if findings.failed:
        return None
    columns = [c for c in listed if c is not None]
    targets = _targets(header, singles, target, None if table else columns, path, findings)
    if targets is None:
        return None
    if table is None:
        return ChosenColumns(None, (), targets)
    fitted = match(table.columns, header.names) if table.columns and header.names is not None else Match()
    if fitted.wrong:
        _missing(fitted, header, table, path, findings)
        return None
    if fitted.positions:
        columns = list(fitted.positions)
    elif "columns" not in options:
        taken = {target, *(position for _, position in targets)}
        columns = [c for c in range(header.count) if c not in taken]
        _warn_of_no_name(header, columns, table, path, findings)
    if not columns:
        findings.add(
            "FW4031",
            f"`{path}` has no column left for `{table.name}`",
            rule="The matrix of a csv source takes the columns listed, or all but the target.",
            hint=header.listed(),
        )
        return None
    if header.names is not None:
        findings.headers[table.name] = tuple(header.names[c] for c in columns)
        _warn_of_names(header, sorted(set(columns)), table, path, findings)
    onehot = tuple(s if isinstance(s, Onehot) else None for s in selectors)
    coded = any(onehot)
    twice = next((c for c in columns if columns.count(c) > 1), None) if coded else None
    if twice is not None:
        findings.add(
            "FW4032",
            f"{_named(header, twice)} of `{path}` is listed twice",
            rule="A column is listed once, as numbers or as categories.",
            hint="list it once in `columns=`",
        )
        return None
    for role, position in targets:
        if coded and position in columns:
            findings.add(
                "FW4031",
                f"a column of `{path}` is both `{role.name}` and one of `{table.name}`",
                rule="A target is not among the columns it is predicted from.",
                hint=f"leave {_named(header, position)} out of `columns`",
            )
            return None
    return ChosenColumns(table, tuple(columns), targets, onehot if coded else ())


def _warn_of_names(header: Header, columns: Sequence[int], table: Role, path: str, findings: FileFindings) -> None:
    """Warn of columns of a table that have one name."""
    names = header.names or ()
    twice = repeated([names[c] for c in columns])
    if twice:
        findings.add(
            "FW4038",
            f"`{table.name}` takes {several_named(twice)} from `{path}`",
            rule=ONE_NAME,
            hint="give each column of the header a name of its own",
            row=header.row,
            severity="warning",
        )


def _warn_of_no_name(header: Header, columns: Sequence[int], table: Role, path: str, findings: FileFindings) -> None:
    """Warn of a first column, the only one without a name, which a table takes because nobody said which columns it takes."""
    names = header.names or ()
    if len(names) > 1 and not names[0] and names.count("") == 1 and 0 in columns:
        findings.add(
            "FW4039",
            f"`{table.name}` takes column 1 of `{path}`, which has no name",
            rule="pandas and R write the numbers of the rows into a first column without a name, which are no values.",
            hint="list the columns that are used with `columns=`, or write the file without them: `to_csv(path, index=False)`",
            row=header.row,
            column=1,
            severity="warning",
        )


ONE_NAME = "Columns are told apart by their names: those of `target=` and `columns=`, and those of new data for a fit."


def repeated(names: Sequence[str]) -> dict[str, int]:
    """The names that stand more than once, and how often; columns without a name are left out."""
    return {name: count for name, count in Counter(names).items() if count > 1 and name}


def several_named(twice: Mapping[str, int]) -> str:
    """Columns of the same names, for a message: "2 columns named `a`"."""
    told = [f"{count} columns named `{name}`" for name, count in list(twice.items())[:3]]
    return " and ".join(told) + (" and more" if len(twice) > 3 else "")


def _named(header: Header, position: int) -> str:
    return f"column {position}" if header.names is None else f"`{header.names[position]}`"


def _missing(fitted: Match, header: Header, table: Role, path: str, findings: FileFindings) -> None:
    """Note the columns of an earlier fit, or of the first of several files, that a file lacks or has twice."""
    if table.like:
        findings.add(
            "FW4032",
            f"`{path}` has {fitted.words(header.names or ())}, which `{table.like}` has",
            rule="The columns of several files are matched by name with those of the first one.",
            hint=f"name the columns as there, or list those that all files have in `columns=`; in `{path}` {header.listed()}",
            row=header.row,
        )
        return
    findings.add(
        "FW4032",
        f"`{path}` has {fitted.words(header.names or ())}, which `{table.name}` has in the fit",
        rule="New data with a header are matched with the fit's columns by name.",
        hint=f"name the columns as in the fit, or leave the header out and say `header=false`; {header.listed()}",
        row=header.row,
    )


def _targets(
    header: Header, singles: list[Role], target: int | None, listed: list[int] | None, path: str, findings: FileFindings
) -> tuple[tuple[Role, int], ...] | None:
    """A column for each of `singles`: the target, else the column of its name, else the only column."""
    names = header.names or ()
    chosen: dict[str, int] = {}
    rest = []
    for role in singles:
        if names.count(role.name) == 1 and not (target is not None and len(singles) == 1):
            chosen[role.name] = names.index(role.name)
        else:
            rest.append(role)
    only = listed[0] if listed is not None and len(listed) == 1 else 0 if listed == [] and header.count == 1 else None
    if len(rest) == 1 and target is not None:
        chosen[rest.pop().name] = target
    elif len(rest) == 1 and only is not None:
        chosen[rest.pop().name] = only
    for role in rest:
        findings.add(
            "FW4031",
            f"nothing says which column of `{path}` is `{role.name}`",
            rule="A vector or labels take the column named by `target=`, the one of their own name, or the only one.",
            hint=f"name the column `{role.name}`, or write `target=`, a name or a position from 0, in the program's `from`; "
            + header.listed(),
            row=header.row if header.names else None,
        )
    return None if rest else tuple((role, chosen[role.name]) for role in singles)


def position_of(header: Header, selector: object, option: str, path: str, findings: FileFindings) -> int | None:
    """The position of a column given by name or position, or None with the reason noted."""
    if isinstance(selector, str):
        names = header.names or ()
        if names.count(selector) == 1:
            return names.index(selector)
        close = get_close_matches(selector, names, n=1) if selector not in names else []
        message = f"`{path}` has no column `{selector}`"
        if names.count(selector) > 1:
            message = f"`{path}` has {names.count(selector)} columns named `{selector}`"
        elif header.names is None:
            message = f"the column `{selector}` is given by name, but `{path}` has no header"
        only = names[0] if names else ""
        findings.add(
            "FW4032",
            message,
            rule=f"`{option}=` names a column of the header, or gives its position from 0.",
            hint="remove the comment: the first line has the names of the columns"
            if only.startswith("#")
            else (f"did you mean `{close[0]}`? " if close else header.blanks(only) and f"{header.blanks(only)}; ")
            + header.listed(),
            row=header.row if header.names else None,
        )
        return None
    position = int(selector)  # type: ignore[call-overload]  # the checker allows names and integers only
    if not -header.count <= position < header.count:
        findings.add(
            "FW4032",
            f"`{path}` has no column {position}: it has {header.count}",
            rule=f"`{option}=` names a column of the header, or gives its position from 0.",
            hint=header.listed(),
        )
        return None
    return int(position % header.count)
