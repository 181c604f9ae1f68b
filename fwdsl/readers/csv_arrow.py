"""Reads chunks of large csv files by pyarrow, where it is installed: the same numbers and words, bit for bit, in a fraction of the time.

Both round decimals to the nearest float64. pyarrow reads other things than our own reader without a word (quotes within fields, carriage returns
alone, blank lines, `nan(1)`), so it gets only chunks that can be read in one way, and what it makes of one counts only where all of it is in
order. Any other chunk goes to our own reader, which tells what is wrong.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from .arrow_arrays import of_chunk, of_column
from .csv_rows import Form, Rows
from .tokens import MISSING, is_gap, is_missing

if TYPE_CHECKING:
    from types import ModuleType

FROM = 500_000
"""Fields that our own reader converts one by one before pyarrow is asked, whose import takes as long as it gains on these: numbers with exponents or
of more than 15 digits (about 10 MB), and all fields of rows with quotes or without a value. Our own reader reads plain decimals as fast."""

MOST_COLUMNS = 500
"""Fields of a line up to which it is faster: it makes an array for each column of each chunk."""

_MOST = 64 << 20
"""Bytes of a chunk: it is longer where a line is."""

_SEPARATORS = ",;\t|"


@dataclass(frozen=True, eq=False, slots=True)
class Coded:
    """A column of words: those that differ as they come, the line on which each is first seen, and for each row which it has; where it is told of
    alone, with its position and what it is in the user's words."""

    words: Sequence[str]
    lines: Sequence[int]
    codes: np.ndarray
    position: int = 0
    what: str = ""


@dataclass(frozen=True, eq=False, slots=True)
class Columns:
    """The contents of a chunk: the numbers (rows, columns), the words by position of their column, and how many rows are left out."""

    numbers: np.ndarray
    words: dict[int, Coded]
    dropped: int


class ArrowReader:
    """pyarrow, set up for the chunks of one file with `count` fields a line, of which `numbers` are numbers and `words` are words."""

    def __init__(
        self,
        csv: ModuleType,
        count: int,
        numbers: Sequence[int],
        words: Sequence[int],
        form: Form,
        levels: Container[int],
    ) -> None:
        import pyarrow

        self._levels = levels
        self._csv, self._form, self._numbers, self._words = csv, form, numbers, words
        self._names = [str(c) for c in range(count)]
        number, word = pyarrow.float64(), pyarrow.dictionary(pyarrow.int32(), pyarrow.string())
        types = {**{str(c): number for c in numbers}, **{str(c): word for c in words}}
        self._convert = csv.ConvertOptions(
            column_types=types,
            include_columns=list(types),
            decimal_point=form.decimal,
            null_values=_words_for_none() if form.drops else [],
            strings_can_be_null=False,
        )

    @classmethod
    def of(
        cls, count: int, numbers: Sequence[int], words: Sequence[int], form: Form, levels: Container[int] = ()
    ) -> ArrowReader | None:
        """A reader, or None where pyarrow is not there or does not serve: a blank line is a row of one column, and a column may be both.

        `levels` are the columns of words that are categories.
        """
        if not 1 < count <= MOST_COLUMNS or form.sep not in _SEPARATORS or set(numbers) & set(words):
            return None
        try:
            from pyarrow import csv
        except ImportError:
            return None
        return cls(csv, count, numbers, words, form, levels)

    def read(self, text: bytes, rows: Rows, line: int) -> Columns | None:
        """The columns of a chunk that begins on `line` of the file; None where our own reader is to read it."""
        import pyarrow

        if not rows.is_strict or len(text) > _MOST:
            return None
        csv = self._csv
        reading = csv.ReadOptions(use_threads=False, block_size=len(text), column_names=self._names)
        parsing = csv.ParseOptions(
            delimiter=self._form.sep,
            quote_char='"' if rows.has_quotes else False,
            newlines_in_values=rows.has_quotes,
        )
        try:
            table = csv.read_csv(pyarrow.BufferReader(text), reading, parsing, self._convert)
        except pyarrow.ArrowException:
            return None
        lines = rows.starts(line)
        return self._columns(table, lines) if table.num_rows == lines.size else None  # else lines are blank

    def _columns(self, table: Any, lines: np.ndarray) -> Columns | None:
        columns = [table.column(str(c)) for c in self._numbers]
        words = {c: _encoded(table.column(str(c))) for c in self._words}
        numbers = np.empty((lines.size, len(columns)))
        for j, column in enumerate(columns):
            numbers[:, j] = of_column(column)
        dropped = 0
        if self._form.drops:
            whole = self._whole(columns, words, lines.size)
            dropped = int(np.count_nonzero(~whole))
        if dropped:
            numbers, lines = numbers[whole], lines[whole]
            words = {c: (held, codes[whole]) for c, (held, codes) in words.items()}
        if not np.isfinite(numbers).all():
            return None
        coded = {c: _coded(held, codes, lines) for c, (held, codes) in words.items()}
        return None if any("" in column.words for column in coded.values()) else Columns(numbers, coded, dropped)

    def _whole(self, columns: Sequence[Any], words: dict[int, tuple[list[str], np.ndarray]], count: int) -> np.ndarray:
        """True for each row that has a value in every column."""
        whole = np.ones(count, np.bool_)
        for column in columns:
            if column.null_count:
                whole &= column.is_valid().to_numpy()
        for position, (held, codes) in words.items():
            gap = is_gap if position in self._levels else is_missing
            whole &= ~np.array([gap(word) for word in held], np.bool_)[codes]
        return whole


def _encoded(column: Any) -> tuple[list[str], np.ndarray]:
    """The distinct words of a column, and for each row which it has."""
    (chunk,) = column.chunks
    return chunk.dictionary.to_pylist(), of_chunk(chunk.indices)


def _coded(held: Sequence[str], codes: np.ndarray, lines: np.ndarray) -> Coded:
    """The words that rows have, in the order of their lines and without the white space around them."""
    used, first, codes = np.unique(codes, return_index=True, return_inverse=True)
    order = np.argsort(first)
    place = np.empty(order.size, np.int64)
    place[order] = np.arange(order.size)
    return Coded([held[i].strip() for i in used[order].tolist()], lines[first[order]].tolist(), place[codes])


def _words_for_none() -> list[str]:
    """The words that stand for no value, in whatever case."""
    cases = (product(*((letter, letter.upper()) for letter in word)) for word in MISSING)
    return sorted({"".join(letters) for case in cases for letters in case})
