"""Parses chunks of libsvm text: fast with array operations, and exactly, line by line, where that fails.

A line is `label [qid:number] index:value ... [# comment]`. Where a row may have several labels, they are separated by
commas, and there may be none.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from .findings import FileFindings
from .tokens import Floats, Ints, floats, integers, is_infinite, to_finite, tokenize

_COMMENT = re.compile(rb"#[^\n]*")
_QID = re.compile(rb"(?m)^([ \t]*[^ \t\r\n:]+[ \t]+)qid:\d+(?=\s)")
_INDEX = re.compile(r"\d+\Z", re.ASCII)
_LARGEST = 2**62  # the largest index: int64 less a margin


@dataclass(frozen=True, eq=False, slots=True)
class Rows:
    """Rows of one chunk: row i stores `columns[cuts[i]:cuts[i + 1]]` (from 0, increasing) and `values` likewise."""

    labels: Floats
    label_sets: tuple[str, ...]
    cuts: Ints
    columns: Ints
    values: Floats

    @property
    def width(self) -> int:
        """The least number of columns that holds them."""
        return int(self.columns.max(initial=-1)) + 1


@dataclass(frozen=True, slots=True)
class Layout:
    """The file's layout in the program: the first index, the number of columns if it is fixed, and whether rows have several labels."""

    base: int = 1
    features: int | None = None
    multilabel: bool = False


def parse_fast(text: bytes, layout: Layout) -> Rows | None:
    """The rows of a chunk of whole lines; None where a line is wrong or needs the exact reader."""
    if b"#" in text:
        text = _COMMENT.sub(b"", text)
    if b"qid:" in text:
        text = _QID.sub(rb"\1", text)
    tokens = tokenize(text, b":")
    if tokens is None:
        return None
    buffer, starts, ends = tokens.buffer, tokens.starts, tokens.ends
    if starts.size == 0 and b":" not in text:
        return Rows(np.zeros(0), (), np.zeros(1, np.int64), np.zeros(0, np.int64), np.zeros(0))
    is_index = buffer[ends] == 58
    is_value = buffer[starts - 1] == 58  # a first token at 0 looks at the last byte, a newline
    pairs = int(np.count_nonzero(is_index))
    # There are as many colons as indices and as values, so each colon stands between an index and a value.
    if pairs != text.count(b":") or pairs != np.count_nonzero(is_value) or np.any(is_index & is_value):
        return None
    heads = tokens.first[:-1][tokens.per_line > 0]
    labels = np.flatnonzero(~(is_index | is_value))
    if not layout.multilabel and not np.array_equal(labels, heads):
        return None
    if layout.multilabel and not np.isin(labels, heads, assume_unique=True).all():
        return None
    columns = integers(buffer, starts[is_index], ends[is_index])
    values = floats(buffer, text, starts[is_value], ends[is_value])
    if columns is None or values is None:
        return None
    columns -= layout.base
    before = np.zeros(starts.size + 1, np.int64)
    np.cumsum(is_index, out=before[1:])
    cuts = before[np.append(heads, starts.size)]
    if columns.size and (columns.min() < 0 or (layout.features is not None and columns.max() >= layout.features)):
        return None
    ordered = _ordered(cuts, columns, values)
    if ordered is None:
        return None
    columns, values = ordered
    if layout.multilabel:
        has_label = np.isin(heads, labels, assume_unique=True)
        sets = tuple(
            text[starts[h] : ends[h]].decode("latin-1") if has else "" for h, has in zip(heads, has_label, strict=True)
        )
        if not all(_is_label_set(s) for s in set(sets)):
            return None
        return Rows(np.zeros(0), sets, cuts, columns, values)
    numbers = floats(buffer, text, starts[labels], ends[labels])
    return None if numbers is None else Rows(numbers, (), cuts, columns, values)


def parse_exactly(text: bytes, line: int, layout: Layout, findings: FileFindings) -> Rows:
    """The same rows, line by line from line number `line`; notes everything that is wrong with them."""
    labels: list[float] = []
    sets: list[str] = []
    cuts = [0]
    columns: list[int] = []
    values: list[float] = []
    for number, raw in enumerate(text.split(b"\n")[:-1], line):
        words = raw.partition(b"#")[0].decode("utf-8", "replace").split()
        if not words or findings.full:
            continue
        head = "" if ":" in words[0] else words.pop(0)
        if layout.multilabel and _is_label_set(head):
            sets.append(head)
        elif not layout.multilabel and (label := _label(head, words, number, findings)) is not None:
            labels.append(label)
        elif layout.multilabel:
            findings.add(
                "FW4010",
                f"`{head}` on line {number} is not a list of labels",
                rule="With `multilabel=true` a line begins with numbers separated by commas, without spaces.",
                hint="write labels as in `1,4 3:0.5 7:1`",
                row=number,
                value=head,
            )
        if words and re.match(r"qid:\d+\Z", words[0], re.ASCII):
            words.pop(0)
        row: dict[int, float] = {}
        for word in words:
            _pair(word, number, row, layout, findings)
        for column in sorted(row):
            columns.append(column)
            values.append(row[column])
        cuts.append(len(columns))
    return Rows(
        np.array(labels, np.float64),
        tuple(sets),
        np.array(cuts, np.int64),
        np.array(columns, np.int64),
        np.array(values, np.float64),
    )


def _ordered(cuts: Ints, columns: Ints, values: Floats) -> tuple[Ints, Floats] | None:
    """Columns and values, sorted by column within each row; None where a row has a column twice."""
    same_row = np.ones(max(columns.size - 1, 0), np.bool_)
    inner = cuts[1:-1]
    same_row[inner[(inner > 0) & (inner < columns.size)] - 1] = False
    if not np.any((columns[1:] <= columns[:-1]) & same_row):
        return columns, values
    order = np.lexsort((columns, np.repeat(np.arange(cuts.size - 1), np.diff(cuts))))
    columns, values = columns[order], values[order]
    if np.any((columns[1:] == columns[:-1]) & same_row):
        return None
    return columns, values


def _is_label_set(text: str) -> bool:
    return not text or all(to_finite(part) is not None for part in text.split(","))


def _label(head: str, words: list[str], row: int, findings: FileFindings) -> float | None:
    value = to_finite(head)
    if value is not None:
        return value
    if not head:
        findings.add(
            "FW4010",
            f"line {row} begins with `{words[0]}`, where its label was expected",
            rule="A line of a libsvm file is a label and then `index:value` pairs.",
            hint="put the label first, as in `+1 3:0.5 7:1`, or give `multilabel=true` if rows may have none",
            row=row,
            value=words[0],
        )
    elif is_infinite(head):
        findings.not_finite("the label", head, row)
    else:
        several = all(to_finite(part) is not None for part in head.split(","))
        findings.add(
            "FW4010",
            f"the label `{head}` on line {row} is not a number",
            rule="A line of a libsvm file is a label and then `index:value` pairs.",
            hint="give `multilabel=true` if rows have several labels" if several else "write labels as numbers",
            row=row,
            value=head,
        )
    return None


def _pair(word: str, row: int, into: dict[int, float], layout: Layout, findings: FileFindings) -> None:
    """Read `index:value` into `into`, or note what is wrong with it."""
    left, colon, right = word.partition(":")
    if not colon or not left or not right or ":" in right:
        findings.add(
            "FW4011",
            f"`{word}` on line {row} is not of the form `index:value`",
            rule="Behind the label, a libsvm line has pairs `index:value`, without spaces around the colon.",
            hint="write it as in `3:0.5`, and comments behind `#`",
            row=row,
            value=word,
        )
        return
    column = _column(left, word, row, layout, findings)
    if column is None:
        return
    value = to_finite(right)
    if value is None and is_infinite(right):
        findings.not_finite(f"the value at index {left}", right, row, column + 1)
    elif value is None:
        findings.not_a_number(f"the value at index {left}", right, row, column + 1)
    elif column in into:
        findings.add(
            "FW4015",
            f"index {left} comes twice on line {row}",
            rule="A row has at most one value per column.",
            hint="remove one of the two, or add them up",
            row=row,
            column=column + 1,
            value=word,
        )
    else:
        into[column] = value


def _column(left: str, word: str, row: int, layout: Layout, findings: FileFindings) -> int | None:
    """The column of the index `left` of a pair, counted from 0; None after an error."""
    # Python refuses to convert very many digits; no index has as many.
    if not _INDEX.match(left) or len(left) > 4000 or int(left) > _LARGEST:
        findings.add(
            "FW4012",
            f"the index `{left}` on line {row} is not a whole number"
            if not _INDEX.match(left)
            else f"the index `{left}` on line {row} is too large",
            rule="The index of a libsvm pair is a whole number that counts columns.",
            hint="write it as in `3:0.5`",
            row=row,
            value=word,
        )
        return None
    column = int(left) - layout.base
    if column < 0:
        if findings.has("FW4013"):
            return None
        findings.add(
            "FW4013",
            f"index 0 on line {row}, where indices count from 1",
            rule="Indices of a libsvm file count from 1 unless `base=0` says otherwise.",
            hint="give the source `base=0` if the file counts from 0",
            row=row,
            value=word,
        )
        return None
    if layout.features is not None and column >= layout.features:
        if findings.has("FW4014"):
            return None
        findings.add(
            "FW4014",
            f"index {left} on line {row} is outside the {layout.features} columns declared",
            rule="No index may exceed the number of columns that `features=` or the declared shape gives.",
            hint=f"give at least `features={column + 1}`, or name that dimension instead of fixing it",
            row=row,
            column=column + 1,
            value=word,
        )
        return None
    return column
