"""Binding: a checked model and what the user supplies become an instance, or a list of what is wrong."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from ..check.shapes import format_type
from ..data_operator import DataOperator
from ..grammar.diagnostic import Diagnostic
from ..instance import DataStats, Instance
from ..model import DataDecl, Model
from ..readers.roles import LabelSets
from ..readers.scan import find_nonfinite
from .advice import warn_float32, warn_scales
from .arrays import Unfit, index, known_labels, known_signs, labels, numbers, signs, vector
from .bindings import Bindings
from .dimensions import Sizes, known
from .entries import Entries
from .evaluate import is_sparse
from .features import Statistics
from .findings import Findings
from .given import Given, collect
from .maps import Maps
from .measure import Measured, measure, storage
from .names import check_names
from .observations import AXES, Observed, observe, place, values_of
from .operators import attach, check_uses, refuse_types
from .parameters import bind_parameters, check_domain, given_parameter, scalar
from .positions import check_positions
from .promises import check_nonnegative, check_psd, check_symmetric

_SHOWN = 3
_MATRICES = ("matrix", "symmetric", "psd")


@dataclass
class _Bound:
    """What is bound so far."""

    values: dict[str, Any] = field(default_factory=dict)
    stats: dict[str, DataStats] = field(default_factory=dict)
    maps: dict[str, tuple[Any, ...]] = field(default_factory=dict)
    origins: dict[str, str] = field(default_factory=dict)


def bind(
    model: Model, bindings: Bindings, base: Path, tol: float | None = None, fitted: Statistics | None = None
) -> tuple[Instance | None, tuple[Diagnostic, ...]]:
    """The instance of a model under given and declared data, or None with errors; warnings may come with either.

    `base` is the folder of the program: paths in its `from`s are relative to it, those of `bindings` to the working
    directory. `tol` is the tolerance to solve to, where it is not the program's (it only matters to a warning); `fitted` are
    the feature maps of an earlier instance (`instance.features`) or saved ones, whose statistics then serve for the data bound now.
    All findings are reported together, errors first, 20 at most.
    """
    findings = Findings(model.source)
    names = known(model)
    check_names(model, bindings, names, findings)
    sizes = Sizes(_given_dims(model, bindings, names, findings))
    bound = _Bound()
    fixed = {n: s for n in names if (s := sizes.bound(n)) is not None}
    later: list[Given] = []
    observed: list[Observed] = []
    for given in collect(model, bindings, base, fixed, findings):
        # An index may leave its number of classes to itself, once everything else has spoken.
        if given.decl.type.kind == "index":
            later.append(given)
        elif given.decl.type.kind == "entries":
            _observe(given, observed, findings)
        else:
            _attach(given, sizes, bound, findings)
    for o, entries in place(observed, sizes, bindings.labels, findings):
        _attach_entries(o, entries, bindings, bound, findings)
    for given in later:
        _attach_index(given, sizes, bound, findings)
    dims = sizes.resolve(model, {d.name for d in model.data} - set(bound.values), findings)
    misused = check_uses(model, bound.values, findings)
    maps = Maps(model, dims, {n: v for n, v in bound.values.items() if n not in misused}, findings, fitted)
    params, origins = bind_parameters(model, bindings, dims, findings, maps.learn)
    features = maps.complete(params)
    if not findings.failed:
        check_positions(model, dims, params, findings)
    warn_float32(model, bound.stats, tol, findings)
    warn_scales(model, bound.stats, findings)
    if findings.failed:
        return None, findings.result()
    values = {**bound.values, **params}
    instance = Instance(model, dims, values, bound.stats, bound.maps, {**bound.origins, **origins}, features)
    return instance, findings.result()


def check_given(model: Model, bindings: Bindings) -> tuple[Diagnostic, ...]:
    """What is wrong with the names, parameters and dimensions that are given; data are neither read nor missed."""
    findings = Findings(model.source)
    names = known(model)
    check_names(model, bindings, names, findings)
    _given_dims(model, bindings, names, findings)
    for decl in model.params:
        if decl.name in bindings.params:
            given_parameter(decl, bindings, findings)
    return findings.result()


def _given_dims(model: Model, bindings: Bindings, names: list[str], findings: Findings) -> dict[str, int]:
    """The sizes that `--dim` gives, and Python's `bind` for a name that is only a dimension."""
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


def _attach(given: Given, sizes: Sizes, bound: _Bound, findings: Findings) -> None:
    """Convert, check and note one datum; it is left out of `bound` where it has an error."""
    decl = given.decl
    try:
        value, classes = _convert(given)
    except Unfit as unfit:
        _note(given, unfit, findings)
        return
    if decl.type.kind == "real":
        if check_domain(decl.name, value, decl.type.domain, decl, given.origin, findings):
            bound.values[decl.name] = value
            bound.stats[decl.name] = DataStats((), "scalar", "float64", 1, 8)
            bound.origins[decl.name] = given.origin
        return
    if not _claim_shape(given, value, classes, sizes, findings):
        return
    if decl.type.kind == "labels":
        stats = _plain_stats(value)
    elif isinstance(value, DataOperator):
        try:
            stats = attach(value)
        except Unfit as unfit:
            _note(given, unfit, findings)
            return
    else:
        measured = measure(value)
        if not measured.finite:
            _nonfinite(given, value, findings)
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


def _convert(given: Given) -> tuple[Any, tuple[Any, ...]]:
    """The array of a datum, and the label values that its codes stand for."""
    type_, raw = given.decl.type, given.raw
    if isinstance(raw, DataOperator):
        return refuse_types(given.decl, raw), ()
    if given.labels is not None and type_.kind in ("signs", "labels"):
        return _as_fitted(given, given.labels), given.labels
    if isinstance(raw, LabelSets):
        if type_.kind != "signs" or len(type_.shape) != 2:
            raise Unfit("FW4505", "holds sets of labels", f"declare `{given.decl.name}: signs[n, k]`")
        return raw.signs, tuple(raw.classes.tolist())
    if type_.kind == "labels":
        codes, classes = labels(raw)
        if len(classes) == 1:
            hint = "give data of at least two classes; nothing can be learned from one"
            raise Unfit("FW4525", f"holds one class only, `{classes[0]}`", hint)
        return codes, classes
    if type_.kind == "signs":
        place = given.place if given.located else None
        return signs(raw, len(type_.shape), given.decl.name, place)
    if type_.kind == "real":
        value = scalar(raw)
        if value is None:
            raise Unfit("FW4512", "is no number", f"give one number, or declare `{given.decl.name}: vector[n]`")
        return value, ()
    if type_.kind in _MATRICES:
        return numbers(raw), ()
    if len(type_.array_shape) == 1:
        return vector(raw), ()
    array = numbers(raw)
    if is_sparse(array):
        raise Unfit(
            "FW4505", "is sparse, where a dense array is needed", "give a dense array: only matrices may be sparse"
        )
    return array, ()


def _as_fitted(given: Given, classes: tuple[Any, ...]) -> Any:
    """Labels of new data by the map of an earlier fit."""
    type_, raw = given.decl.type, given.raw
    if not isinstance(raw, LabelSets):
        return known_labels(raw, classes) if type_.kind == "labels" else known_signs(raw, classes, len(type_.shape))
    at = known_labels(raw.classes, classes)
    signs_ = np.full((raw.signs.shape[0], len(classes)), -1.0)
    signs_[:, at] = raw.signs
    return signs_


def _claim_shape(given: Given, value: Any, classes: tuple[Any, ...], sizes: Sizes, findings: Findings) -> bool:
    """Whether an array has as many axes as its type, and no empty one; its sizes are claimed."""
    decl = given.decl
    dims = decl.type.array_shape
    written = format_type(decl.type)
    if value.ndim != len(dims):
        findings.add(
            "FW4505",
            f"`{decl.name}: {written}` got {_axes(value.shape)}",
            span=decl.span,
            label=f"{_plural(len(dims), 'axis', 'axes')} declared",
            rule="Data have as many axes as their type has dimensions; a vector may be given as a single column.",
            hint=_reshape(decl, value.shape),
            place=given.place,
        )
        return False
    if 0 in value.shape:
        findings.add(
            "FW4505",
            f"`{decl.name}: {written}` got an empty array of shape {tuple(value.shape)}",
            span=decl.span,
            rule="A dimension is at least 1.",
            hint="give data with at least one row and one column",
            place=given.place,
        )
        return False
    words = ("entries",) if len(dims) == 1 else ("rows", "columns") if len(dims) == 2 else ()
    if decl.type.kind == "family":
        words = ("blocks",)
    for axis, (dim, size) in enumerate(zip(dims, value.shape, strict=True)):
        what = words[axis] if axis < len(words) else f"entries along axis {axis}"
        sizes.claim(given, dim, int(size), what, findings)
    if decl.type.kind == "labels" and len(decl.type.shape) == 2:
        sizes.claim(given, decl.type.shape[1], len(classes), "classes", findings)
    return True


def _attach_index(given: Given, sizes: Sizes, bound: _Bound, findings: Findings) -> None:
    decl = given.decl
    try:
        value = index(given.raw)
    except Unfit as unfit:
        _note(given, unfit, findings)
        return
    if not _claim_shape(given, value, (), sizes, findings):
        return
    classes = decl.type.classes
    top = int(value.max())
    if classes is not None:
        size = sizes.bound(classes)
        if size is None:
            sizes.claim(given, classes, top + 1, "blocks", findings)
        elif top >= size:
            at = (int(np.argmax(value)),)
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
    """What to do about a position that is too large."""
    if top == size:
        return "number the positions from 0"
    return f"leave out what has other positions or, unless `{classes}` is that of an earlier fit, give it a size of {top + 1}"


def _observe(given: Given, observed: list[Observed], findings: Findings) -> None:
    try:
        observed.append(observe(given))
    except Unfit as unfit:
        _note(given, unfit, findings)


def _attach_entries(o: Observed, entries: Entries, bindings: Bindings, bound: _Bound, findings: Findings) -> None:
    """Convert, check and note the values of observed entries whose positions are known."""
    given, name = o.given, o.given.decl.name
    try:
        values, classes = values_of(o, bindings.labels.get(name))
    except Unfit as unfit:
        _note(given, unfit, findings)
        return
    measured = measure(values)
    if not measured.finite:
        _nonfinite(given, values, findings)
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
            return  # a clash of dimensions, found already
        measured_block = measure(block) if type_.kind == "family" else measured
        if check_symmetric(given, block, measured_block, findings) and kind == "psd":
            check_psd(given, block, measured_block, findings)


def _nonfinite(given: Given, value: Any, findings: Findings) -> None:
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


def _note(given: Given, unfit: Unfit, findings: Findings) -> None:
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


def _plain_stats(value: Any) -> DataStats:
    return DataStats(tuple(value.shape), storage(value), str(value.dtype), int(value.size), int(value.nbytes))


def _axes(shape: tuple[int, ...]) -> str:
    return "a single number" if not shape else f"an array of shape {tuple(int(s) for s in shape)}"


def _plural(number: int, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many}"


def _reshape(decl: DataDecl, shape: tuple[int, ...]) -> str:
    expected = len(decl.type.array_shape)
    if expected == 2 and len(shape) == 1:
        return (
            f"give one column with `{decl.name}.reshape(-1, 1)`, or declare `{decl.name}: vector[{decl.type.shape[0]}]`"
        )
    if expected == 1 and len(shape) == 2 and shape[0] == 1:
        return f"give `{decl.name}.reshape(-1)`"
    if expected == 1 and len(shape) == 2:
        return f"give one of its columns, or declare `{decl.name}` as a matrix"
    return "give an array of the declared form"
