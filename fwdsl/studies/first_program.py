"""A first program for a file of samples: a loss that fits the target, an l1 penalty that fits its scale."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ..readers.findings import shown
from ..readers.look import Column, Table
from ..readers.sources import file_part
from ..words import ONEHOT
from ..words.keywords import KEYWORDS

SHARE = 0.1
"""The weight of the penalty over a bound on the largest that has an effect."""

SHOWN = 5
"""Columns that a comment names."""

MOST_LEVELS = 50
"""Words up to which a column is one of categories, if there are at least ten samples of each on average."""

NAMED_AT_MOST = 60
"""Columns up to which those that are used are written out where others are left out."""


@dataclass(frozen=True)
class FirstProgram:
    """The text of a program, what its target is taken for, and the columns that it leaves out, with the reason."""

    text: str
    target: str
    kind: str
    left_out: tuple[tuple[str, str], ...]


def targets(table: Table) -> list[Column]:
    """The columns that may be predicted: without gaps, and of numbers or classes."""
    return [c for c in table.columns if c.is_named and not c.missing and c.distinct > 1 and c.kind != "names"]


def usual_target(able: Sequence[Column], table: Table) -> Column:
    """The one of `targets` that is predicted where none is named: the last of numbers or of classes with two samples each on average.

    Words that hardly repeat, such as names and dates, make a class of each sample; they are taken where nothing else is there."""
    return ([c for c in able if c.numbers is not None or 2 * c.distinct <= table.rows] or able)[-1]


def first_program(table: Table, path: str, target: Column) -> FirstProgram:
    """A program that predicts one column from the others that are numbers or categories; `path` is written into it as it is."""
    others = [c for c in table.columns if c.name != target.name]
    inputs = [c for c in others if c.is_named and (c.is_usable or _is_category(c, table))]
    left_out = [(c.name, _reason(c, table)) for c in others if c not in inputs]
    options = _options(table, target, inputs, left_out)
    source = f"{table.format}({json.dumps(path, ensure_ascii=False)}{options})"
    of = {"number": "vector[n]", "two classes": "signs[n]", "classes": "labels[n, k]"}[target.kind]
    several = target.kind == "classes"
    scaled = not table.sparse  # sparse features are mostly scaled, and centring moves all of them
    w = "W" if several else "w"
    prediction = f"{'Z' if scaled else 'X'} @ {w} + b"
    lines = [
        "fw 1",
        f"problem {_name(path)}",
        "",
        *_comments(table, path, target, left_out),
        f"data X: matrix[n, p], y: {of} from {source}",
        f"param mu: nonnegative = {_weight(target):g}",
        *(["let Z = standardize(X)"] if scaled else []),
        "var W: matrix[p, k], b: vector[k]" if several else "var w: vector[p], b: real",
        "",
        f"let fit = mean({_LOSSES[target.kind].format(prediction)})",
        "",
        f"minimize fit + mu * norm1({w})",
        "",
    ]
    return FirstProgram("\n".join(lines), target.name, target.kind, tuple(left_out))


_LOSSES = {
    "number": "squared({}, y)",
    "two classes": "logistic({}, y)",
    "classes": "softmax({}, y)",
}

_METHODS = {
    "number": "least squares",
    "two classes": "logistic regression",
    "classes": "multinomial logistic regression",
}


def _is_category(column: Column, table: Table) -> bool:
    """True for a column of words that repeat."""
    return column.numbers is None and not column.missing and column.distinct <= min(MOST_LEVELS, table.rows // 10)


def _comments(table: Table, path: str, target: Column, left_out: list[tuple[str, str]]) -> list[str]:
    what = "the label" if table.sparse else f"`{target.name}`"
    found = [
        f"# {what} of {Path(file_part(path)).name} by {_METHODS[target.kind]} with an l1 penalty; the intercept b is not penalised."
    ]
    if target.kind == "classes" and target.numbers is not None:
        found.append(
            f"# Its {target.distinct} whole numbers are taken for classes; for a number write `y: vector[n]`, `w: vector[p]` and `squared`."
        )
    if left_out:
        names = ", ".join(name for name, _ in left_out[:SHOWN]) + (", ..." if len(left_out) > SHOWN else "")
        found.append(f"# Left out, as they are not columns of numbers or of a few words without gaps: {names}.")
    return [" ".join(line.split()) for line in found]


def _options(table: Table, target: Column, inputs: list[Column], left_out: list[tuple[str, str]]) -> str:
    if table.sparse:
        return ""
    named = table.has_header

    def of(column: Column) -> str:
        return json.dumps(column.name, ensure_ascii=False) if named else column.name

    options = [f"target={of(target)}"]
    if left_out or any(c.numbers is None for c in inputs):
        listed = (of(c) if c.is_usable else f"{ONEHOT.name}({of(c)})" for c in inputs)
        options.append(f"columns=[{', '.join(listed)}]")
    if not named:
        options.append("header=false")
    options += [f"{option}={json.dumps(value)}" for option, value in table.options]
    return "".join(f", {option}" for option in options)


def _weight(target: Column) -> float:
    """`SHARE` of the largest slope of the loss that a standardized column can have, to one digit."""
    if target.kind != "number" or target.numbers is None:
        return 0.02
    mean = math.fsum(target.numbers) / len(target.numbers)
    spread = math.sqrt(math.fsum((v - mean) ** 2 for v in target.numbers) / len(target.numbers))
    return float(f"{SHARE * spread:.0e}") or SHARE


def _reason(column: Column, table: Table) -> str:
    if column.missing:
        return f"{column.missing} of its values {'is' if column.missing == 1 else 'are'} missing"
    if not column.is_named:
        return "it has no name, as the numbers of rows that pandas and R write"
    count, odd = column.odd
    if 2 * count <= table.rows:
        return f"{count} of its values {'is no number:' if count == 1 else 'are no numbers, such as'} `{shown(odd)}`"
    if 2 * sum(c.isdigit() for c in odd) >= len(odd):
        return f"it holds values such as `{shown(odd)}`, which are no numbers"
    if 2 * column.distinct < table.rows:
        return f"it holds {column.distinct} different words, and each is in less than ten rows on average"
    return "it holds words that hardly repeat"


def _name(path: str) -> str:
    """The stem of a path as a name of the language: `data.csv` has `model_data`, for `data` is a keyword."""
    stem = re.sub(r"\W+", "_", Path(file_part(path)).name.split(".")[0]).strip("_").lower()
    return stem if stem[:1].isalpha() and stem not in KEYWORDS else f"model_{stem}".rstrip("_")
