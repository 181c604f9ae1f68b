"""`--set N=a,b,c` and `--set N=logspace(lo,hi,count)`: the values of a path or a grid."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Literal

from ..grammar.diagnostic import Diagnostic
from ..readers.sources import parse_set_argument
from .exits import CommandStop

LONGEST = 10_000
"""Points that a path or a grid may have."""

_SPACE = re.compile(r"\s*(?P<kind>logspace|linspace)\s*\((?P<inside>[^()]*)\)\s*\Z")


def split_sets(
    texts: Sequence[str], command: Literal["path", "grid"]
) -> tuple[dict[str, tuple[float, ...]], list[str]]:
    """The values of each parameter that has several, and the `--set`s of the others; or a stop with the errors.

    A path has one such parameter, a grid at least one, with at most `LONGEST` points in all.
    """
    swept = [text for text in texts if _has_several(text)]
    rest = [text for text in texts if not _has_several(text)]
    rule = (
        "A path goes along the values of one parameter."
        if command == "path"
        else "A grid is over the values of parameters."
    )
    names = [text.partition("=")[0].strip() for text in swept]
    hint = _ways(next((name.strip() for name, equals, _ in (text.partition("=") for text in texts) if equals), "NAME"))
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        found = f"`{twice[0]}` is given several values twice"
    elif not swept:
        found = "no parameter is given several values"
    elif command == "path" and len(swept) > 1:
        found, hint = (
            f"{len(swept)} parameters are given several values",
            "`fwdsl grid` solves for every combination of them",
        )
    else:
        values = {name: _values(name, text.partition("=")[2]) for name, text in zip(names, swept, strict=True)}
        count = math.prod(map(len, values.values()))
        if count <= LONGEST or len(values) == 1:
            return values, rest
        found = f"a grid of {' x '.join(str(len(v)) for v in values.values())} = {count:,} points is too large"
        rule, hint = f"A grid has at most {LONGEST:,} points.", "give fewer values"
    raise CommandStop([Diagnostic("FW0026", found, rule=rule, hint=hint)])


def _ways(name: str) -> str:
    """The help: how several values of a parameter are written."""
    return f"write `--set {name}=0.1,1,10`, `--set '{name}=logspace(0.1,10,20)'` or `--set '{name}=linspace(1,5,9)'`"


def _has_several(text: str) -> bool:
    value = text.partition("=")[2]
    return not value.lstrip().startswith("[") and ("," in value or "(" in value)


def _values(name: str, text: str) -> tuple[float, ...]:
    space = _SPACE.match(text)
    if space is None and "(" in text:
        raise CommandStop([_malformed(name, text, "neither a list of numbers nor `logspace(lo,hi,count)`")])
    parts = (space["inside"] if space else text).split(",")
    if not all(part.strip() for part in parts):
        raise CommandStop([_malformed(name, text, f"a list whose {_where(parts)} is empty", "FW0111")])
    numbers = [_number(name, part) for part in parts]
    if space is None:
        return tuple(numbers)
    kind = space["kind"]
    if len(numbers) != 3 or not numbers[2].is_integer() or not 2 <= numbers[2] <= LONGEST:
        raise CommandStop([_malformed(name, text, f"not `{kind}(lo,hi,count)` with a count from 2 to {LONGEST}")])
    low, high, count = numbers
    if kind == "logspace" and not (low > 0.0 and high > 0.0):
        raise CommandStop([_malformed(name, text, "a logspace of numbers that are not positive")])
    import numpy as np

    values = np.geomspace(low, high, int(count)) if kind == "logspace" else np.linspace(low, high, int(count))
    return tuple(float(v) for v in values)


def _where(parts: Sequence[str]) -> str:
    """The first value that is empty, by its place among the commas."""
    at = next(i for i, part in enumerate(parts) if not part.strip())
    places = {0: "before the first comma", len(parts) - 1: "behind the last comma"}
    return f"value {places.get(at, 'between two commas')}"


def _number(name: str, part: str) -> float:
    parsed = parse_set_argument(f"{name}={part.strip()}")
    if isinstance(parsed, Diagnostic):
        raise CommandStop([parsed])
    value = parsed[1]
    if not isinstance(value, float):
        raise CommandStop([_malformed(name, part, "no list of numbers")])
    return value


def _malformed(name: str, text: str, what: str, code: str = "FW0027") -> Diagnostic:
    rule = "Several values are numbers separated by commas, `logspace(lo,hi,count)` or `linspace(lo,hi,count)`, both ends included."
    return Diagnostic(code, f"`--set {name}={text}` is {what}", rule=rule, hint=_ways(name))
