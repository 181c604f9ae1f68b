"""Turns the ids in a file of observed entries into positions. Ids are indices if the size is known, and names if not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..check.shapes import format_type
from ..grammar.diagnostic import Place
from ..readers.roles import Triplets
from .arrays import among
from .findings import Findings
from .given import Given

_SHOWN = 3


def positions(
    given: Given, known: Sequence[int | None], ids: Sequence[Sequence[Any] | None], findings: Findings
) -> tuple[list[Any], list[tuple[Any, ...] | None]] | None:
    """Rows and columns from 0, and the ids of each in order of position (None for indices); None, with the reasons noted.

    `known` has the sizes that are known from elsewhere; `ids` are those of an earlier fit, which has all ids of new data.
    """
    triplets: Triplets = given.raw
    codes: list[Any] = []
    maps: list[tuple[Any, ...] | None] = []
    for axis, (found, size, names) in enumerate(zip((triplets.rows, triplets.columns), known, ids, strict=True)):
        if names is not None:
            code = among(found, names)
            bad, why = code < 0, "is none of the fit's"
            rule = "New data for an earlier fit keep to its rows and columns."
            hint = "leave out entries of rows and columns that the fit has not seen"
        elif size is not None:
            code, bad, why = _indices(found, triplets.base, size)
            rule = "Where a dimension is an integer or has its size from other data, its ids are indices into it."
            hint = f"number the {_WORDS[axis]}s from {triplets.base}" + _other_base(found, triplets.base, size)
        else:
            distinct, code = np.unique(found, return_inverse=True)
            names, bad, why, hint = tuple(distinct.tolist()), np.zeros(0, bool), "", ""
            rule = ""
        _note(given, axis, found, bad, (why, rule, hint), findings)
        codes.append(code.astype(np.int64, copy=False))
        maps.append(None if names is None else tuple(names))
    return None if findings.failed else (codes, maps)


_WORDS = ("row", "column")


def _indices(found: Any, base: int, size: int) -> tuple[Any, Any, str]:
    if found.dtype.kind != "i":
        code = np.zeros(found.size, np.int64)
        return code, np.array([not _is_whole(v) for v in found.tolist()]), "is no index"
    code = found - base
    return code, (code < 0) | (code >= size), f"is not from {base} to {size - 1 + base}"


def _is_whole(value: object) -> bool:
    return isinstance(value, float) and value.is_integer()


def _other_base(found: Any, base: int, size: int) -> str:
    """The hint for ids that seem to count from 1 where they are read as counting from 0."""
    from_one = base == 0 and found.dtype.kind == "i" and found.min() >= 1 and found.max() == size
    return ", or give `base=1`" if from_one else ""


def _note(given: Given, axis: int, found: Any, bad: Any, words: tuple[str, str, str], findings: Findings) -> None:
    why, rule, hint = words
    places = np.flatnonzero(bad)
    decl = given.decl
    for i in places[:_SHOWN]:
        line = given.raw.first + int(i) if given.raw.first else None
        where = f" on line {line}" if line else ""
        left = places.size - _SHOWN if i == places[min(_SHOWN, places.size) - 1] else 0
        more = f"; {left} more {'is' if left == 1 else 'are'} like it" if left > 0 else ""
        value = str(found[i])
        place = None if given.place is None else Place(given.place.file, row=line, column=axis + 1, value=value)
        findings.add(
            "FW4519",
            f"the {_WORDS[axis]} `{value}`{where} {why}, as `{decl.name}: {format_type(decl.type)}` needs it{more}",
            span=decl.span,
            rule=rule,
            hint=hint,
            place=place,
        )
