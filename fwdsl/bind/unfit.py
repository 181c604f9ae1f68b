"""Notes what is wrong with one datum, at its declaration and at its place in a file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from ..check.shapes import format_type
from ..readers.scan import find_nonfinite
from .arrays import Unfit
from .findings import Findings
from .given import Given

_SHOWN = 3

_RULES: Mapping[str, str] = {
    "FW4021": "Data must be finite, and labels must be values.",
    "FW4504": "Data are real numbers; labels may also be words.",
    "FW4505": "Data have the form that their type says.",
    "FW4512": "A scalar is one real number.",
    "FW4515": "An `index[n] of T` holds whole numbers from 0 to T-1.",
    "FW4519": "Rows and columns of observed entries are positions from 0, or ids that are mapped to them.",
    "FW4520": "New data keep to the labels of the fit that they are put to.",
    "FW4526": "An operator is used by its products with A and with A', and <A x, y> = <x, A'y>.",
    "FW4528": "An operator stands for data declared `matrix`, in products: `A @ x`, `A.T @ y`.",
    "FW4529": "|A x| is at most |A| |x| for every x.",
}


def note_unfit(given: Given, unfit: Unfit, findings: Findings) -> None:
    """Note that a datum could not be converted to its type."""
    decl = given.decl
    if unfit.diagnostic is not None:
        d = unfit.diagnostic
        findings.adopt((d if d.place else replace(d, place=given.place),), decl.span, f"from {given.origin}")
        return
    subject = given.at(unfit.at) if unfit.at is not None else f"`{decl.name}: {format_type(decl.type)}`"
    place = given.place_of(unfit.at) if unfit.at is not None else given.place
    findings.add(
        unfit.code,
        f"{subject} {unfit.found}",
        span=decl.span,
        label=f"from {given.origin}",
        rule=_RULES.get(unfit.code, ""),
        hint=unfit.hint,
        place=place,
    )


def note_nonfinite(given: Given, value: Any, findings: Findings) -> None:
    """Note the first entries of an array that are not finite."""
    for row, column, entry in find_nonfinite(value, _SHOWN):
        tail = np.unravel_index(column, value.shape[1:]) if value.ndim > 2 else (column,)
        at = (row, *(int(i) for i in tail))[: value.ndim]
        findings.add(
            "FW4021",
            f"{given.at(at)} is `{entry}`, where a finite number is needed",
            span=given.decl.span,
            rule="Data must be finite: no nan and no infinity.",
            hint="remove the row, or replace the value",
            place=given.place_of(at, entry),
        )


def note_too_wide(given: Given, value: Any, findings: Findings) -> None:
    """Note a sparse matrix with more columns than fit in memory at one number each, at the row of the last column."""
    at: tuple[int, ...] = ()
    if value.indices.size:
        last = int(np.argmax(value.indices))
        at = int(np.searchsorted(value.indptr, last, side="right")) - 1, int(value.indices[last])
    where = f": row {at[0] + 1} has an entry in the last" if at and at[1] == value.shape[1] - 1 else ""
    findings.add(
        "FW4007",
        f"`{given.decl.name}` has {value.shape[1]} columns, and one number for each does not fit into memory{where}",
        span=given.decl.span,
        rule="Data that is not memory-mapped must fit into memory, and so must one number for each column of it.",
        hint="columns count from the first: where they are ids, number those that occur",
        place=given.place_of(at) if at else given.place,
    )
