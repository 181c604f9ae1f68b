"""Tables given in Python for a matrix whose declared source has columns of categories."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..grammar import tree
from ..model import DataDecl
from ..readers.categories import Category, Mixed, Onehot, Selector, levels_key, name_of
from ..readers.frames import cells, column, column_names, match, numeric, offers
from ..words import COLUMN_WORDS
from .findings import Findings

if TYPE_CHECKING:
    from ..atoms.base import MatrixLike


def selector_of(call: tree.Call, values: Mapping[str, Any]) -> Onehot:
    """A column of categories, from its call and the values of its keywords; positional arguments are under ""."""
    names = [p.name for p in COLUMN_WORDS[call.func.name].parameters]
    return Onehot(**{**dict(zip(names, values[""], strict=False)), **{n: v for n, v in values.items() if n}})


def has_categories(selectors: Sequence[Selector]) -> bool:
    """True if one of the columns is of categories."""
    return any(isinstance(s, Onehot) for s in selectors)


def levels_of(
    name: str, selectors: Sequence[Selector], labels: Mapping[str, Sequence[Any]]
) -> dict[str, tuple[str, ...]]:
    """The levels by column that an earlier fit found."""
    inputs = labels.get(f"{name}.inputs", ())
    coded = [column for column, s in zip(inputs, selectors, strict=False) if isinstance(s, Onehot)]
    return {column: tuple(labels[levels_key(name, column)]) for column in coded}


def table(
    decl: DataDecl,
    value: Any,
    selectors: Sequence[Selector],
    labels: Mapping[str, Sequence[Any]],
    findings: Findings,
    origin: str,
) -> Any:
    """The columns of a frame that a declaration names, as a `Mixed`; None where a frame lacks one, which is noted.

    Rows of words and numbers without names (a list of rows, an array of objects) are taken by position, in the order of the declaration. Rows of
    numbers are the matrix itself, and come back as they are.
    """
    names = column_names(value)
    if not names:
        rows = _objects(value)
        if rows is None:
            return value
        if rows.shape[1] != len(selectors):
            findings.add(
                "FW4505",
                f"the rows of `{decl.name}` have {rows.shape[1]} cells, where its declaration names {len(selectors)} columns",
                span=decl.span,
                label="declared with columns of categories",
                rule="Rows of cells without names are taken by position, in the order of `columns=`.",
                hint=f"give a cell for each of {', '.join(f'`{name_of(s)}`' for s in selectors)}, or a frame",
            )
            return None
        raw = tuple(labels.get(f"{decl.name}.inputs", map(str, map(name_of, selectors))))
        return _mixed(decl, raw, selectors, lambda j: rows[:, j], lambda js: rows[:, js], labels)
    raw = tuple(labels.get(f"{decl.name}.inputs", ()))
    if not raw:
        raw = tuple(
            str(names[c]) if isinstance(c, int) and -len(names) <= c < len(names) else str(c)
            for c in map(name_of, selectors)
        )
    if len(set(raw)) < len(raw):
        twice = next(name for name in raw if raw.count(name) > 1)
        rule, hint = "A column is listed once, as numbers or as categories.", f"list `{twice}` once"
        findings.add("FW4032", f"`{decl.name}` has the column `{twice}` twice", span=decl.span, rule=rule, hint=hint)
        return None
    found = match(raw, names)
    of_fit = set(labels.get(f"{decl.name}.columns", ()))
    if set(raw) - set(names) and of_fit and of_fit <= set(names):
        return value  # the matrix itself, as a frame
    if found.wrong or not found.positions:
        findings.add(
            "FW4032",
            f"`{decl.name}` from {origin} has {found.words(names)}, which its declaration names",
            span=decl.span,
            label="declared with columns of categories",
            rule="A frame has the columns that `columns=` of the declared source names.",
            hint=f"its columns are {', '.join(f'`{n}`' for n in names[:12])}{', ...' if len(names) > 12 else ''}",
        )
        return None
    at = found.positions
    few = cells(value, at, mixed=True)
    # beside floats a large int is no longer what it was
    exact = few is not None and few.dtype.kind != "f"
    return _mixed(
        decl,
        raw,
        selectors,
        lambda j: few[:, j] if exact else column(value, at[j]),
        lambda js: numeric(value, [at[j] for j in js], None if few is None else few[:, js]),
        labels,
    )


def _objects(value: Any) -> MatrixLike | None:
    """Rows that are not all of numbers, as an array of objects; None for all else."""
    import numpy as np

    if isinstance(value, np.ndarray):
        rows = value
    elif isinstance(value, list | tuple) and value and all(isinstance(row, list | tuple) for row in value):
        if len({len(row) for row in value}) > 1 or not any(isinstance(v, str) for row in value for v in row):
            return None
        rows = np.array(value, dtype=object)
    else:
        return None
    return rows.astype(object) if rows.ndim == 2 and rows.dtype.kind in "OUS" else None


def _mixed(
    decl: DataDecl,
    names: tuple[str, ...],
    selectors: Sequence[Selector],
    one: Callable[[int], Any],
    several: Callable[[list[int]], Any],
    labels: Mapping[str, Any],
) -> Mixed:
    """The table whose columns at positions of the declaration are given: `one` of categories, `several` of numbers."""
    import numpy as np

    kinds = tuple(s if isinstance(s, Onehot) else None for s in selectors)
    plain = [j for j, kind in enumerate(kinds) if kind is None]
    coded = [Category.of(_cells(one(j))) for j, kind in enumerate(kinds) if kind is not None]
    numbers = _numbers(several(plain)) if plain else np.empty((coded[0].codes.size, 0))
    return Mixed(names, kinds, numbers, tuple(coded), levels_of(decl.name, selectors, labels))


def _cells(column: Any) -> Any:
    """The cells of one column as an array. Codes of Arrow's stand for their values: NumPy is not told which of them are missing."""
    import numpy as np

    if offers(column, "column_names"):
        column = column.column(0)
        column = column.cast(column.type.value_type) if hasattr(column.type, "index_type") else column
    return np.asarray(column).reshape(-1)


def _numbers(rows: Any) -> Any:
    """The columns of a frame as they are, cells of rows as numbers where all of them are."""
    import numpy as np

    if not isinstance(rows, np.ndarray):
        return rows
    try:
        return rows.astype(np.float64, copy=False)
    except (TypeError, ValueError):
        return rows
