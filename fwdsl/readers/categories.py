"""Tables with columns of categories: `columns=["area", onehot("zone")]`, and the matrix of numbers and indicators that they stand for.

Levels are texts: the number 3 and the word `3` are one level, in whatever format a table comes.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    import numpy as np

_NUMBER = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?\Z", re.ASCII)

_TIME = re.compile(r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d:\d\d(?:\.\d+)?(?:[+-]\d\d:\d\d)?)?\Z", re.ASCII)
_ZEROS = re.compile(r"(\.\d*?)0+(?=\Z|[+-])")
"""The last zeros of the fraction of a second."""

SPARSE_SIZE, SPARSE_SHARE = 100_000, 0.2
"""The entries from which on a matrix is a sparse one, if at most this share of them may differ from 0."""


@dataclass(frozen=True, slots=True)
class Onehot:
    """`onehot(column)`: an indicator for each level, without the first where `drop` is "first".

    With `unknown` "ignore" a level that the fit has not seen has zeros; without it is an error.
    """

    column: str | int
    drop: str = ""
    unknown: str = ""


Selector = str | int | Onehot
"""A column of a matrix: numbers by name or position, or the indicators of one."""


def name_of(selector: Selector) -> str | int:
    """The column that a selector is about."""
    return selector.column if isinstance(selector, Onehot) else selector


def level_of(value: object) -> str | None:
    """The level of a value: 3.0 and "3.0" are `3`, words are what they are without blanks around; None where there is none.

    A time is `2024-05-01 12:30:00`, at midnight `2024-05-01`, as pandas writes them into csv files.
    """
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return None
    if isinstance(value, bytes):
        value = value.decode("utf-8", "replace")
    if isinstance(value, str):
        text = value.strip()
        # what may be a code (`007`, `1E5`) stays as it is
        return _plain(float(text)) if "." in text and _NUMBER.match(text) else text or None
    if hasattr(value, "item"):
        value = value.item()  # a number of NumPy
    if isinstance(value, float):
        return None if value != value else _plain(value)
    if hasattr(value, "isoformat"):
        return _moment(value.isoformat())
    return level_of(str(value))


def _moment(iso: str) -> str:
    day, _, time = iso.replace("T", " ").partition(" ")
    time = _ZEROS.sub(r"\1", time).replace(".+", "+").replace(".-", "-").removesuffix(".")
    return day if time in ("", "00:00:00") else f"{day} {time}"


def _plain(number: float) -> str:
    return str(int(number)) if number.is_integer() and abs(number) < 2**53 else repr(number)


def in_order(levels: Iterable[str]) -> tuple[str, ...]:
    """Levels sorted: numbers by their size, then words."""
    return tuple(sorted(levels, key=lambda v: (0, float(v), v) if _NUMBER.match(v) else (1, 0.0, v)))


@dataclass(frozen=True, eq=False, slots=True)
class Category:
    """The levels of a column's rows: `codes` (n,) are positions in `levels`, -1 where there is no value.

    `lines` has the line of a file where each level stands first; it is empty where the rows have no lines.
    """

    codes: np.ndarray
    levels: tuple[str, ...]
    lines: tuple[int, ...] = ()

    @classmethod
    def of(cls, values: Any) -> Category:
        """The category of an array of numbers, words or objects (n,)."""
        import numpy as np

        if values.dtype.kind in "mM":
            distinct, codes = np.unique(values, return_inverse=True)
            levels = [None if np.isnat(v) else str(v) if v.dtype.kind == "m" else _moment(str(v)) for v in distinct]
            return cls.merged(codes, levels)
        if values.dtype.kind == "O":
            if values.size == 1:  # a row that is predicted
                cell = values.item()
                level = level_of(cell if isinstance(cell, Hashable) else str(cell))
                return cls(np.array([-1 if level is None else 0]), () if level is None else (level,))
            known: dict[Any, int] = {}
            cells = [v if isinstance(v, Hashable) else str(v) for v in values.tolist()]
            # True is equal to 1, and no level of its own without its class
            keys = ((isinstance(v, bool | np.bool_), v) for v in cells)
            codes = np.fromiter((known.setdefault(key, len(known)) for key in keys), np.int64, values.size)
            return cls.merged(codes, [level_of(v) for _, v in known])
        distinct, codes = np.unique(values, return_inverse=True)
        return cls.merged(codes, [level_of(v) for v in distinct.tolist()])

    @classmethod
    def merged(cls, codes: Any, values: Sequence[str | None], lines: Sequence[int] = ()) -> Category:
        """The category of codes into values that need not differ as levels."""
        import numpy as np

        found: dict[str, int] = {}
        first: list[int] = []
        to = np.full(len(values), -1, dtype=np.int64)
        for i, level in enumerate(values):
            if level is None:
                continue
            if level not in found:
                found[level] = len(found)
                first.extend(lines[i : i + 1])
            to[i] = found[level]
        return cls(to[np.asarray(codes, dtype=np.int64)], tuple(found), tuple(first))


class _Coded(NamedTuple):
    """A column of categories, with the levels of the fit and the position (n,) of each row's level among them: -1 for no level, and for an unknown
    one."""

    column: str
    onehot: Onehot
    category: Category
    levels: tuple[str, ...]
    places: np.ndarray


@dataclass(frozen=True, eq=False, slots=True)
class Mixed:
    """The columns of a table, some of them categories.

    `names` are the columns as the table calls them. `columns` says for each whether it is one of numbers (None), which stands in `numbers`
    (n, k), or of indicators, whose category stands in `categories`, both in order. `known` has the levels that an earlier fit found, by column.
    """

    names: tuple[str, ...]
    columns: tuple[Onehot | None, ...]
    numbers: Any
    categories: tuple[Category, ...]
    known: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    _found: list[tuple[_Coded, ...]] = field(default_factory=list, init=False, repr=False)

    @property
    def shape(self) -> tuple[int, int]:
        """The rows and columns of the table."""
        return self.numbers.shape[0], len(self.columns)

    def levels(self) -> dict[str, tuple[str, ...]]:
        """The levels of each column of categories, in the order of their indicators."""
        named = [name for name, column in zip(self.names, self.columns, strict=True) if column is not None]
        return {
            name: self.known[name] if name in self.known else in_order(category.levels)
            for name, category in zip(named, self.categories, strict=True)
        }

    def maps(self, name: str) -> dict[str, tuple[Any, ...]]:
        """The names and levels that a fit keeps of the table, for the matrix of a name.

        `X.columns` are the names of its columns, as `zone=red`, `X.inputs` those of the table's, and `X[zone]` the levels of each category.
        """
        levels = self.levels()
        of_matrix: list[str] = []
        for column, onehot in zip(self.names, self.columns, strict=True):
            of_matrix += [column] if onehot is None else [f"{column}={v}" for v in _kept(onehot, levels[column])]
        return {
            f"{name}.columns": tuple(of_matrix),
            f"{name}.inputs": self.names,
            **{levels_key(name, column): found for column, found in levels.items()},
        }

    def first_wrong(self) -> tuple[int, str, str | None, int | None] | None:
        """The first row without a value in a column of categories, or with a level that the fit does not know: its position, the column, the level
        (None where there is none), and its line in a file."""

        found = []
        for column, onehot, category, _, places in self._coded():
            wrong = category.codes < 0 if onehot.unknown else places < 0
            row = int(wrong.argmax()) if wrong.size else 0
            if wrong.size and wrong[row]:
                code = int(category.codes[row])
                found.append(
                    (
                        row,
                        column,
                        category.levels[code] if code >= 0 else None,
                        category.lines[code] if category.lines and code >= 0 else None,
                    )
                )
        return min(found, key=lambda w: w[0], default=None)

    def expanded(self) -> Any:
        """The matrix: numbers as they are, 1 in the column of a row's level. It is a `csr_array` where it is large and mostly 0."""
        import numpy as np

        n = self.numbers.shape[0]
        parts, width, plain = [], 0, []
        coded = iter(self._coded())
        for onehot in self.columns:
            if onehot is None:
                plain.append(width)
                width += 1
                continue
            *_, levels, places = next(coded)
            dropped = 1 if onehot.drop else 0
            parts.append(((places >= dropped).nonzero()[0], width - dropped, places))
            width += len(levels) - dropped
        dtype = self.numbers.dtype if plain else np.dtype(np.float64)
        if n * width < SPARSE_SIZE or len(self.columns) > SPARSE_SHARE * width:
            out = np.zeros((n, width), dtype=dtype)
            out[:, plain] = self.numbers
            for r, start, places in parts:
                out[r, start + places[r]] = 1.0
            return out
        from scipy.sparse import coo_array

        rows = [np.tile(np.arange(n), len(plain)), *(r for r, _, _ in parts)]
        at = [np.repeat(np.array(plain, dtype=np.int64), n), *(start + places[r] for r, start, places in parts)]
        ones = np.ones(sum(r.size for r, _, _ in parts), dtype=dtype)
        data = np.concatenate([np.asarray(self.numbers, dtype=dtype).T.reshape(-1), ones])
        matrix = coo_array((data, (np.concatenate(rows), np.concatenate(at))), shape=(n, width)).tocsr()
        matrix.eliminate_zeros()
        return matrix

    def _coded(self) -> tuple[_Coded, ...]:
        """The columns of categories. They are looked at twice, for what is wrong and for their indicators, and worked out once."""
        if not self._found:
            kinds = (c for c in self.columns if c is not None)
            several = zip(self.levels().items(), kinds, self.categories, strict=True)
            self._found.append(
                tuple(
                    _Coded(column, onehot, category, known, _places(category, known)[category.codes])
                    for (column, known), onehot, category in several
                )
            )
        return self._found[0]


def _kept(onehot: Onehot, levels: Sequence[str]) -> Sequence[str]:
    return levels[1:] if onehot.drop else levels


@lru_cache(maxsize=64)
def _positions(levels: tuple[str, ...]) -> dict[str | _Alike, int]:
    """The position of each level, and under what it is alike unless that is no one level. It is asked for with every row that is predicted."""
    alike = [_alike(level) for level in levels]
    counts = Counter(alike)
    found: dict[str | _Alike, int] = {key: i for i, key in enumerate(alike) if counts[key] == 1}
    found.update((level, i) for i, level in enumerate(levels))
    return found


class _Alike(tuple[str]):
    """The meaning of a level that formats write in several ways: a truth value, or a time."""


def _alike(level: str) -> str | _Alike:
    if level in ("true", "True", "TRUE", "false", "False", "FALSE"):
        return _Alike((level.lower(),))
    return _Alike((_moment(level),)) if _TIME.match(level) else level


def _places(category: Category, known: Sequence[str]) -> Any:
    """The position of each level among the known ones, and -1 for the others and behind the last, where the code -1 finds it."""
    import numpy as np

    at = _positions(tuple(known))
    wanted = (at[level] if level in at else at.get(_alike(level), -1) for level in category.levels)
    return np.array([*wanted, -1], dtype=np.int64)


def levels_key(name: str, column: str) -> str:
    """The name under which a fit keeps the levels of a column of a matrix."""
    return f"{name}[{column}]"


def joined(parts: Sequence[Mixed]) -> Mixed:
    """Tables with the same columns under each other."""
    import numpy as np

    categories = []
    for several in zip(*(part.categories for part in parts), strict=True):
        values = [level for category in several for level in category.levels]
        starts = np.cumsum([0, *(len(category.levels) for category in several)])
        codes = [np.where(c.codes < 0, len(values), c.codes + s) for c, s in zip(several, starts, strict=False)]
        categories.append(Category.merged(np.concatenate(codes), [*values, None]))
    first = parts[0]
    numbers = np.concatenate([part.numbers for part in parts])
    return Mixed(first.names, first.columns, numbers, tuple(categories), first.known)
