"""Attaches one datum: converts it, claims its sizes, checks its promises and measures it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ..check.shapes import format_type
from .arrays import Unfit, index
from .axes import claim_axes
from .bindings import Bindings
from .conversion import convert
from .data_operator import DataOperator
from .dimensions import Sizes
from .entries import Entries
from .findings import Findings
from .forms import is_sparse
from .given import Given
from .instance import DataStats
from .measure import Measured, measure, storage
from .memory import most_numbers
from .observations import AXES, Observed, values_of
from .operators import attach as attach_operator
from .parameters import check_domain
from .promises import check_nonnegative, check_psd, check_symmetric
from .unfit import note_nonfinite, note_too_wide, note_unfit


@dataclass
class Bound:
    """The values, statistics and origins that are bound so far."""

    values: dict[str, Any] = field(default_factory=dict)
    stats: dict[str, DataStats] = field(default_factory=dict)
    maps: dict[str, tuple[Any, ...]] = field(default_factory=dict)
    origins: dict[str, str] = field(default_factory=dict)


def attach_datum(given: Given, sizes: Sizes, bound: Bound, findings: Findings) -> None:
    """Convert and check one datum, and enter it into `bound` unless it has an error."""
    decl = given.decl
    try:
        value, classes = convert(given)
    except Unfit as unfit:
        note_unfit(given, unfit, findings)
        return
    if decl.type.kind == "real":
        if check_domain(decl.name, value, decl.type.domain, decl, given.origin, findings):
            bound.values[decl.name] = value
            bound.stats[decl.name] = DataStats((), "scalar", "float64", 1, 8)
            bound.origins[decl.name] = given.origin
        return
    if is_sparse(value) and value.shape[1] > most_numbers():
        note_too_wide(given, value, findings)
        return
    if not claim_axes(given, value, classes, sizes, findings):
        return
    if decl.type.kind == "labels":
        stats = _plain_stats(value)
    elif isinstance(value, DataOperator):
        try:
            stats = attach_operator(value)
        except Unfit as unfit:
            note_unfit(given, unfit, findings)
            return
    else:
        try:
            measured = measure(value)
        except MemoryError:
            if not is_sparse(value):
                raise
            note_too_wide(given, value, findings)
            return
        if not measured.finite:
            note_nonfinite(given, value, findings)
            return
        _check_promises(given, value, measured, findings)
        stats = measured.stats
    bound.values[decl.name] = value
    bound.stats[decl.name] = stats
    bound.origins[decl.name] = given.origin
    if classes:
        bound.maps[decl.name] = classes
    if given.header:
        bound.maps[f"{decl.name}.columns"] = given.header


def attach_index(given: Given, sizes: Sizes, bound: Bound, findings: Findings) -> None:
    """Convert and check the positions of an index. They tell its number of classes where nothing else does."""
    decl = given.decl
    try:
        value = index(given.raw)
    except Unfit as unfit:
        note_unfit(given, unfit, findings)
        return
    if not claim_axes(given, value, (), sizes, findings):
        return
    classes = decl.type.classes
    top = int(value.max())
    if classes is not None:
        size = sizes.bound(classes)
        at = (int(np.argmax(value)),)
        if size is None:
            if not sizes.claim(given, classes, top + 1, "blocks", findings, given.place_of(at, top)):
                return
        elif top >= size:
            findings.add(
                "FW4515",
                f"{given.at(at)} is {top}, but `{decl.name}: {format_type(decl.type)}` has positions 0 to {size - 1}",
                span=decl.span,
                rule="An `index[n] of T` holds whole numbers from 0 to T-1.",
                hint=_of_more_positions(classes, top, size),
                place=given.place_of(at, top),
            )
            return
    bound.values[decl.name] = value
    bound.stats[decl.name] = _plain_stats(value)
    bound.origins[decl.name] = given.origin


def _of_more_positions(classes: Any, top: int, size: int) -> str:
    """The hint for a position that is too large."""
    if top == size:
        return "number the positions from 0"
    return f"leave out what has other positions or, unless `{classes}` is that of an earlier fit, give it a size of {top + 1}"


def attach_entries(o: Observed, entries: Entries, bindings: Bindings, bound: Bound, findings: Findings) -> None:
    """Convert and check the values of observed entries whose positions are known."""
    given, name = o.given, o.given.decl.name
    try:
        values, classes = values_of(o, bindings.labels.get(name))
    except Unfit as unfit:
        note_unfit(given, unfit, findings)
        return
    measured = measure(values)
    if not measured.finite:
        note_nonfinite(given, values, findings)
        return
    if given.decl.type.domain == "nonnegative":
        check_nonnegative(given, values, measured, findings)
    entries = replace(entries, values=values)
    bound.values[name] = entries
    bound.stats[name] = DataStats(entries.shape, "entries", str(values.dtype), len(entries), entries.nbytes)
    bound.origins[name] = given.origin
    if classes:
        bound.maps[name] = classes
    for axis, ids in zip(AXES, (entries.row_ids, entries.column_ids), strict=True):
        if ids is not None:
            bound.maps[f"{name}.{axis}"] = ids


def _check_promises(given: Given, value: Any, measured: Measured, findings: Findings) -> None:
    type_ = given.decl.type
    if type_.domain == "nonnegative":
        check_nonnegative(given, value, measured, findings)
    kind = type_.element.kind if type_.element is not None else type_.kind
    if kind not in ("symmetric", "psd"):
        return
    for block in value if type_.kind == "family" else (value,):
        if block.shape[0] != block.shape[1]:
            return  # a clash of dimensions, which is reported already
        measured_block = measure(block) if type_.kind == "family" else measured
        if check_symmetric(given, block, measured_block, findings) and kind == "psd":
            check_psd(given, block, measured_block, findings)


def _plain_stats(value: Any) -> DataStats:
    return DataStats(tuple(value.shape), storage(value), str(value.dtype), int(value.size), int(value.nbytes))
