"""Attaches one datum: converts it, claims its sizes, checks its promises and measures it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ..check.shapes import format_type
from ..readers.scan import find_nonfinite
from .bindings import Bindings, RawDatum
from .convert import convert, index
from .data_operator import DataOperator
from .dimensions import StatedSizes, claim_axes
from .findings import Findings, InvalidDatum
from .instance import DataStats
from .measure import Measured, measure, storage
from .measure import attach as attach_operator
from .observations import AXES, RawEntries, values_of
from .parameters import check_domain
from .promises import check_nonnegative, check_psd, check_symmetric
from .values import Entries, is_sparse, most_numbers


@dataclass
class BoundValues:
    """The values, statistics, maps and origins of the data that are bound so far."""

    values: dict[str, Any] = field(default_factory=dict)
    stats: dict[str, DataStats] = field(default_factory=dict)
    maps: dict[str, tuple[Any, ...]] = field(default_factory=dict)
    origins: dict[str, str] = field(default_factory=dict)


def attach_datum(datum: RawDatum, sizes: StatedSizes, bound: BoundValues, findings: Findings) -> None:
    """Convert and check one datum, and enter it into `bound` unless it has an error."""
    decl = datum.decl
    try:
        value, classes = convert(datum)
    except InvalidDatum as error:
        note_invalid(datum, error, findings)
        return
    if decl.type.kind == "real":
        if check_domain(decl.name, value, decl.type.domain, decl, datum.origin, findings):
            bound.values[decl.name] = value
            bound.stats[decl.name] = DataStats((), "scalar", "float64", 1, 8)
            bound.origins[decl.name] = datum.origin
        return
    if is_sparse(value) and value.shape[1] > most_numbers():
        note_too_wide(datum, value, findings)
        return
    if not claim_axes(datum, value, classes, sizes, findings):
        return
    if decl.type.kind == "labels":
        stats = _plain_stats(value)
    elif isinstance(value, DataOperator):
        try:
            stats = attach_operator(value)
        except InvalidDatum as error:
            note_invalid(datum, error, findings)
            return
    else:
        try:
            measured = measure(value)
        except MemoryError:
            if not is_sparse(value):
                raise
            note_too_wide(datum, value, findings)
            return
        if not measured.finite:
            note_nonfinite(datum, value, findings)
            return
        _check_promises(datum, value, measured, findings)
        stats = measured.stats
    bound.values[decl.name] = value
    bound.stats[decl.name] = stats
    bound.origins[decl.name] = datum.origin
    if classes:
        bound.maps[decl.name] = classes
    if datum.header:
        bound.maps[f"{decl.name}.columns"] = datum.header


def attach_index(datum: RawDatum, sizes: StatedSizes, bound: BoundValues, findings: Findings) -> None:
    """Convert and check the positions of an index. They give its number of classes where nothing else does."""
    decl = datum.decl
    try:
        value = index(datum.raw)
    except InvalidDatum as error:
        note_invalid(datum, error, findings)
        return
    if not claim_axes(datum, value, (), sizes, findings):
        return
    classes = decl.type.classes
    top = int(value.max())
    if classes is not None:
        size = sizes.bound(classes)
        at = (int(np.argmax(value)),)
        if size is None:
            if not sizes.claim(datum, classes, top + 1, "blocks", findings, datum.place_of(at, top)):
                return
        elif top >= size:
            findings.add(
                "FW4515",
                f"{datum.at(at)} is {top}, but `{decl.name}: {format_type(decl.type)}` has positions 0 to {size - 1}",
                span=decl.span,
                rule="An `index[n] of T` holds whole numbers from 0 to T-1.",
                hint=_of_more_positions(classes, top, size),
                place=datum.place_of(at, top),
            )
            return
    bound.values[decl.name] = value
    bound.stats[decl.name] = _plain_stats(value)
    bound.origins[decl.name] = datum.origin


def _of_more_positions(classes: Any, top: int, size: int) -> str:
    """The hint for a position that is too large."""
    if top == size:
        return "number the positions from 0"
    return f"leave out what has other positions or, unless `{classes}` is that of an earlier fit, give it a size of {top + 1}"


def attach_entries(o: RawEntries, entries: Entries, bindings: Bindings, bound: BoundValues, findings: Findings) -> None:
    """Convert and check the values of observed entries whose positions are known."""
    datum, name = o.datum, o.datum.decl.name
    try:
        values, classes = values_of(o, bindings.labels.get(name))
    except InvalidDatum as error:
        note_invalid(datum, error, findings)
        return
    measured = measure(values)
    if not measured.finite:
        note_nonfinite(datum, values, findings)
        return
    if datum.decl.type.domain == "nonnegative":
        check_nonnegative(datum, values, measured, findings)
    entries = replace(entries, values=values)
    bound.values[name] = entries
    bound.stats[name] = DataStats(entries.shape, "entries", str(values.dtype), len(entries), entries.nbytes)
    bound.origins[name] = datum.origin
    if classes:
        bound.maps[name] = classes
    for axis, ids in zip(AXES, (entries.row_ids, entries.column_ids), strict=True):
        if ids is not None:
            bound.maps[f"{name}.{axis}"] = ids


def _check_promises(datum: RawDatum, value: Any, measured: Measured, findings: Findings) -> None:
    type_ = datum.decl.type
    if type_.domain == "nonnegative":
        check_nonnegative(datum, value, measured, findings)
    kind = type_.element.kind if type_.element is not None else type_.kind
    if kind not in ("symmetric", "psd"):
        return
    for block in value if type_.kind == "family" else (value,):
        if block.shape[0] != block.shape[1]:
            return  # a clash of dimensions, which is reported already
        measured_block = measure(block) if type_.kind == "family" else measured
        if check_symmetric(datum, block, measured_block, findings) and kind == "psd":
            check_psd(datum, block, measured_block, findings)


def _plain_stats(value: Any) -> DataStats:
    return DataStats(tuple(value.shape), storage(value), str(value.dtype), int(value.size), int(value.nbytes))


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


def note_invalid(datum: RawDatum, error: InvalidDatum, findings: Findings) -> None:
    """Note that a datum could not be converted to its type."""
    decl = datum.decl
    if error.diagnostic is not None:
        d = error.diagnostic
        findings.adopt((d if d.place else replace(d, place=datum.place),), decl.span, f"from {datum.origin}")
        return
    subject = datum.at(error.at) if error.at is not None else f"`{decl.name}: {format_type(decl.type)}`"
    place = datum.place_of(error.at) if error.at is not None else datum.place
    findings.add(
        error.code,
        f"{subject} {error.found}",
        span=decl.span,
        label=f"from {datum.origin}",
        rule=_RULES.get(error.code, ""),
        hint=error.hint,
        place=place,
    )


def note_nonfinite(datum: RawDatum, value: Any, findings: Findings) -> None:
    """Note the first entries of an array that are not finite."""
    for row, column, entry in find_nonfinite(value, _SHOWN):
        tail = np.unravel_index(column, value.shape[1:]) if value.ndim > 2 else (column,)
        at = (row, *(int(i) for i in tail))[: value.ndim]
        findings.add(
            "FW4021",
            f"{datum.at(at)} is `{entry}`, where a finite number is needed",
            span=datum.decl.span,
            rule="Data must be finite: no nan and no infinity.",
            hint="remove the row, or replace the value",
            place=datum.place_of(at, entry),
        )


def note_too_wide(datum: RawDatum, value: Any, findings: Findings) -> None:
    """Note a sparse matrix with more columns than fit in memory at one number each, at the row of the last column."""
    at: tuple[int, ...] = ()
    if value.indices.size:
        last = int(np.argmax(value.indices))
        at = int(np.searchsorted(value.indptr, last, side="right")) - 1, int(value.indices[last])
    where = f": row {at[0] + 1} has an entry in the last" if at and at[1] == value.shape[1] - 1 else ""
    findings.add(
        "FW4007",
        f"`{datum.decl.name}` has {value.shape[1]} columns, and one number for each does not fit into memory{where}",
        span=datum.decl.span,
        rule="Data that is not memory-mapped must fit into memory, and so must one number for each column of it.",
        hint="columns count from the first: where they are ids, number those that occur",
        place=datum.place_of(at) if at else datum.place,
    )
