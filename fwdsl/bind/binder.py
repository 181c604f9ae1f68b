"""Makes an instance of a checked model and what the user supplies, or a list of what is wrong: the order of binding, and the
attachment of one datum, which is converted, claims its sizes, is checked for its promises, and measured."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..check.shapes import format_type
from ..grammar.diagnostic import Diagnostic
from ..model import Model
from ..model.dims import is_derived
from ..readers.categories import Mixed
from ..readers.row_blocks import is_on_disk
from ..readers.scan import find_nonfinite
from .bindings import Bindings, RawDatum, check_names, collect, collect_parameters
from .checks import check_options, check_orders, check_positions, check_uses, warn_float32, warn_scales
from .convert import convert, index
from .data_operator import DataOperator
from .dimensions import StatedSizes, claim_axes, dimension_names
from .features import FittedMaps, Maps
from .findings import Findings, InvalidDatum
from .instance import DataStats, Instance
from .measure import Measured, measure, storage
from .measure import attach as attach_operator
from .observations import AXES, RawEntries, observe, place, values_of
from .promises import (
    bind_parameters,
    check_bounds,
    check_domain,
    check_nonnegative,
    check_psd,
    check_symmetric,
    scalar,
    supplied_parameter,
)
from .values import Entries, is_sparse, is_too_long

if TYPE_CHECKING:
    from ..atoms.base import MatrixLike

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


def bind(
    model: Model, bindings: Bindings, base: Path, tol: float | None = None, fitted: FittedMaps | None = None
) -> tuple[Instance | None, tuple[Diagnostic, ...]]:
    """The instance of a model with given and declared data, or None with errors. Warnings may come with either.

    `base` is the folder of the program: paths in its `from`s are relative to it, those of `bindings` to the working
    directory. `tol` is the tolerance to solve to where it is not the program's; only a warning depends on it. `fitted` are
    the feature maps of an earlier instance (`instance.features`), or saved ones: the new data use their statistics.
    All findings are reported together, errors first, 20 at most.
    """
    findings = Findings(model.source)
    names = dimension_names(model)
    check_names(model, bindings, names, findings)
    sizes = StatedSizes(_supplied_dims(model, bindings, names, findings), bindings.of_fit)
    bound = _Bound()
    fixed = {n: s for n in names if (s := sizes.bound(n)) is not None}
    later: list[RawDatum] = []
    observed: list[RawEntries] = []
    for datum in collect(model, bindings, base, fixed, findings):
        # An index tells its number of classes only where nothing else does, so it comes last.
        if datum.decl.type.is_index:
            later.append(datum)
        elif datum.decl.type.is_entries:
            with _noting(datum, findings):
                observed.append(observe(datum))
        else:
            with _noting(datum, findings):
                _attach_datum(datum, sizes, bound, findings)
    for o, entries in place(observed, sizes, bindings.labels, findings):
        with _noting(o.datum, findings):
            _attach_entries(o, entries, bindings, bound, findings)
    for datum in later:
        with _noting(datum, findings):
            _attach_index(datum, sizes, bound, findings)
    # new data of an earlier fit may have other sizes than its parameters
    arrays = _attach_parameters(model, bindings, StatedSizes({}) if bindings.of_fit else sizes, findings)
    check_orders(model, bound.maps, findings)
    excused = {d.name for d in model.given} - set(bound.values) - set(arrays)
    dims = sizes.resolve(model, excused, findings)
    misused = check_uses(model, bound.values, findings)
    maps = Maps(model, dims, {n: v for n, v in bound.values.items() if n not in misused}, findings, fitted)
    params, origins = bind_parameters(model, bindings, dims, findings, maps.learn, arrays)
    features = maps.complete(params)
    if not findings.failed:
        check_positions(model, dims, params, findings)
        check_options(model, dims, {**bound.values, **params}, origins, findings)
    warn_float32(model, bound.stats, tol, findings)
    warn_scales(model, bound.stats, findings)
    if findings.failed:
        return None, findings.result()
    values = {**bound.values, **params}
    origins = {**bound.origins, **origins}
    instance = Instance(model, dims, values, bound.stats, bound.maps, origins, features, bound.pulled)
    return instance, findings.result()


def check_bindings(model: Model, bindings: Bindings) -> tuple[Diagnostic, ...]:
    """Check the names, parameters and dimensions that are given. Data are not read, and missing data are no error."""
    findings = Findings(model.source)
    names = dimension_names(model)
    check_names(model, bindings, names, findings)
    _supplied_dims(model, bindings, names, findings)
    for decl in model.params:
        if decl.name in bindings.params and decl.type.is_scalar:
            supplied_parameter(decl, bindings, findings)
    return findings.result()


def _supplied_dims(model: Model, bindings: Bindings, names: Sequence[str], findings: Findings) -> dict[str, int]:
    """The sizes given by `--dim`, or by Python's `bind` for a name that is only a dimension."""
    declared = {d.name for d in model.data} | {p.name for p in model.params}
    sizes: dict[str, object] = {n: v for n, v in bindings.data.items() if n in names and n not in declared}
    sizes |= {n: v for n, v in bindings.dims.items() if n in names}
    result = {}
    for name, value in sizes.items():
        number = scalar(value)
        if number is None or number < 1 or not number.is_integer():
            findings.add(
                "FW4509",
                f"`{name}` is given as `{value}`, which is no size",
                rule="A dimension is a whole number, at least 1.",
                hint=f"give `--dim {name}=5`, or `bind({name}=5)` in Python",
            )
        else:
            result[name] = int(number)
    return result


def rebind(instance: Instance, bindings: Bindings) -> tuple[Instance | None, tuple[Diagnostic, ...]]:
    """The instance with the parameters of `bindings`. Everything else in these must be what the instance was bound to."""
    model = instance.model
    findings = Findings(model.source)
    data = {d.name for d in model.data}
    kept = {n: v for n, v in instance.values.items() if n in data}
    maps = Maps(model, dict(instance.dims), kept, findings, again=instance.features)
    sizes = StatedSizes({n: s for n, s in instance.dims.items() if not is_derived(n)})
    arrays = _attach_parameters(model, bindings, sizes, findings)
    sizes.compare(findings)
    params, origins = bind_parameters(model, bindings, maps.dims, findings, maps.learn, arrays)
    features = maps.complete(params)
    if not findings.failed:
        check_positions(model, maps.dims, params, findings)
        check_options(model, maps.dims, {**kept, **params}, origins, findings)
    if findings.failed:
        return None, findings.result()
    values = {**instance.values, **params}
    origins = {**instance.origins, **origins}
    return replace(instance, dims=maps.dims, values=values, origins=origins, features=features), findings.result()


@dataclass
class _Bound:
    """The values, statistics, maps and origins of the data that are bound so far, and the files that were pulled for them."""

    values: dict[str, Any] = field(default_factory=dict)
    stats: dict[str, DataStats] = field(default_factory=dict)
    maps: dict[str, tuple[Any, ...]] = field(default_factory=dict)
    origins: dict[str, str] = field(default_factory=dict)
    pulled: dict[str, tuple[Mapping[str, object], ...]] = field(default_factory=dict)

    def enter(self, datum: RawDatum, value: Any, stats: DataStats, classes: tuple[Any, ...] = ()) -> None:
        """Add a datum without errors."""
        name = datum.decl.name
        self.values[name], self.stats[name], self.origins[name] = value, stats, datum.origin
        if datum.pulled:
            self.pulled[name] = datum.pulled
        if classes:
            self.maps[name] = classes


def _attach_parameters(
    model: Model, bindings: Bindings, sizes: StatedSizes, findings: Findings
) -> dict[str, tuple[Any, str]]:
    """The vectors and matrices that are given for parameters, converted and checked as data are, with their origins."""
    fixed = {n: s for n in dimension_names(model) if (s := sizes.bound(n)) is not None}
    found: dict[str, tuple[Any, str]] = {}
    for decl, datum in collect_parameters(model, bindings, fixed, findings):
        own = _Bound()
        with _noting(datum, findings):
            _attach_datum(datum, sizes, own, findings)
        if decl.name in own.values:
            value = own.values[decl.name]
            value = np.asarray(value.toarray() if is_sparse(value) else value, dtype=np.float64)
            if check_bounds(decl, value, datum.origin, findings):
                found[decl.name] = value, datum.origin
    return found


def _attach_datum(datum: RawDatum, sizes: StatedSizes, bound: _Bound, findings: Findings) -> None:
    """Convert and check one datum, and enter it into `bound` unless it has an error."""
    decl = datum.decl
    value, classes = convert(datum)
    if decl.type.is_scalar:
        if check_domain(decl.name, value, decl.type.domain, decl, datum.origin, findings):
            bound.enter(datum, value, DataStats((), "scalar", "float64", 1, 8))
        return
    if is_sparse(value) and is_too_long(value.shape[1]):
        _note_too_wide(datum, value, findings)
        return
    if not claim_axes(datum, value, classes, sizes, findings):
        return
    if decl.type.is_labels:
        stats = _plain_stats(value)
    elif isinstance(value, DataOperator):
        stats = attach_operator(value)
    else:
        try:
            promises = decl.type.domain == "nonnegative" or decl.type.block.is_symmetric
            measured = measure(value, least=promises)
        except MemoryError:
            if not is_sparse(value):
                raise
            _note_too_wide(datum, value, findings)
            return
        if not measured.finite:
            _note_nonfinite(datum, value, findings)
            return
        _check_promises(datum, value, measured, findings)
        stats = measured.stats
    bound.enter(datum, value, stats, classes)
    if isinstance(datum.raw, Mixed):
        bound.maps.update(datum.raw.maps(decl.name))
    elif datum.header:
        bound.maps[f"{decl.name}.columns"] = datum.header


def _attach_index(datum: RawDatum, sizes: StatedSizes, bound: _Bound, findings: Findings) -> None:
    """Convert and check the positions of an index. They give its number of classes where nothing else does."""
    decl = datum.decl
    value = index(datum.raw)
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
    bound.enter(datum, value, _plain_stats(value))


def _of_more_positions(classes: Any, top: int, size: int) -> str:
    """The hint for a position that is too large."""
    if top == size:
        return "number the positions from 0"
    return f"leave out what has other positions or, unless `{classes}` is that of an earlier fit, give it a size of {top + 1}"


def _attach_entries(o: RawEntries, entries: Entries, bindings: Bindings, bound: _Bound, findings: Findings) -> None:
    """Convert and check the values of observed entries whose positions are known."""
    datum, name = o.datum, o.datum.decl.name
    if o.stored is not None:
        bound.enter(datum, entries, DataStats(entries.shape, "entries", "float64", len(entries), entries.nbytes), ())
        _note_ids(name, entries, bound)
        return
    values, classes = values_of(o, bindings.labels.get(name))
    measured = measure(values)
    if not measured.finite:
        _note_nonfinite(datum, values, findings)
        return
    if datum.decl.type.domain == "nonnegative":
        check_nonnegative(datum, values, measured, findings)
    entries = replace(entries, values=values)
    stats = DataStats(entries.shape, "entries", str(values.dtype), len(entries), entries.nbytes)
    bound.enter(datum, entries, stats, classes)
    _note_ids(name, entries, bound)


def _note_ids(name: str, entries: Entries, bound: _Bound) -> None:
    for axis, ids in zip(AXES, (entries.row_ids, entries.column_ids), strict=True):
        if ids is not None:
            bound.maps[f"{name}.{axis}"] = ids


def _check_promises(datum: RawDatum, value: MatrixLike, measured: Measured, findings: Findings) -> None:
    type_ = datum.decl.type
    if type_.domain == "nonnegative":
        check_nonnegative(datum, value, measured, findings)
    own = type_.block
    if not own.is_symmetric:
        return
    for block in value if type_.is_family else (value,):
        if block.shape[0] != block.shape[1]:
            return  # a clash of dimensions, which is reported already
        measured_block = measure(block) if type_.is_family else measured
        if check_symmetric(datum, block, measured_block, findings) and own.is_psd:
            check_psd(datum, block, measured_block, findings)


def _plain_stats(value: MatrixLike) -> DataStats:
    return DataStats(tuple(value.shape), storage(value), str(value.dtype), int(value.size), int(value.nbytes))


@contextmanager
def _noting(datum: RawDatum, findings: Findings) -> Iterator[None]:
    """Note that a datum could not be converted to its type."""
    try:
        yield
    except InvalidDatum as error:
        _note_invalid(datum, error, findings)


def _note_invalid(datum: RawDatum, error: InvalidDatum, findings: Findings) -> None:
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


def _note_nonfinite(datum: RawDatum, value: MatrixLike, findings: Findings) -> None:
    """Note the first entries of an array that are not finite."""
    found_at: Any = None
    if is_on_disk(value):
        from ..readers.decoded import is_decoded

        # of rows that were decoded the user knows the source
        rows: Any = value
        found_at = None if any(is_decoded(os.path.dirname(file)) for file in rows.files) else rows.place
    for row, column, entry in find_nonfinite(value, _SHOWN):
        tail = np.unravel_index(column, value.shape[1:]) if value.ndim > 2 else (column,)
        at = (row, *(int(i) for i in tail))[: value.ndim]
        findings.add(
            "FW4021",
            f"{datum.at(at)} is `{entry}`, where a finite number is needed",
            span=datum.decl.span,
            rule="Data must be finite: no nan and no infinity.",
            hint="remove the row, or replace the value",
            place=found_at(*at, entry) if found_at is not None else datum.place_of(at, entry),
        )


def _note_too_wide(datum: RawDatum, value: Any, findings: Findings) -> None:
    """Note a sparse matrix with so many columns that vectors of that size do not fit into memory, at the row of the last column."""
    at: tuple[int, ...] = ()
    if value.indices.size:
        last = int(np.argmax(value.indices))
        at = int(np.searchsorted(value.indptr, last, side="right")) - 1, int(value.indices[last])
    where = f": row {at[0] + 1} has an entry in the last" if at and at[1] == value.shape[1] - 1 else ""
    findings.add(
        "FW4007",
        f"`{datum.decl.name}` has {value.shape[1]:,} columns, and the vectors of that size that a solve holds do not fit into memory{where}",
        span=datum.decl.span,
        rule="Data that is not memory-mapped must fit into memory, and so must some vectors with one number for each column of it.",
        hint="columns count from the first: where they are ids, number those that occur",
        place=datum.place_of(at) if at else datum.place,
    )
