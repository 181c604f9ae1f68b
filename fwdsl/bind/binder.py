"""Makes an instance of a checked model and what the user supplies, or a list of what is wrong."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from ..grammar.diagnostic import Diagnostic
from ..model import Model
from .attach import BoundValues, attach_datum, attach_entries, attach_index, note_invalid
from .bindings import Bindings, RawDatum, check_names, collect
from .checks import check_orders, check_positions, check_uses, warn_float32, warn_scales
from .dimensions import StatedSizes, dimension_names
from .features import FittedMaps, Maps
from .findings import Findings, InvalidDatum
from .instance import Instance
from .observations import RawEntries, observe, place
from .parameters import bind_parameters, scalar, supplied_parameter


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
    sizes = StatedSizes(_supplied_dims(model, bindings, names, findings))
    bound = BoundValues()
    fixed = {n: s for n in names if (s := sizes.bound(n)) is not None}
    later: list[RawDatum] = []
    observed: list[RawEntries] = []
    for datum in collect(model, bindings, base, fixed, findings):
        # An index tells its number of classes only where nothing else does, so it comes last.
        if datum.decl.type.kind == "index":
            later.append(datum)
        elif datum.decl.type.kind == "entries":
            _observe(datum, observed, findings)
        else:
            attach_datum(datum, sizes, bound, findings)
    for o, entries in place(observed, sizes, bindings.labels, findings):
        attach_entries(o, entries, bindings, bound, findings)
    for datum in later:
        attach_index(datum, sizes, bound, findings)
    check_orders(model, bound.maps, findings)
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


def check_bindings(model: Model, bindings: Bindings) -> tuple[Diagnostic, ...]:
    """Check the names, parameters and dimensions that are given. Data are not read, and missing data are no error."""
    findings = Findings(model.source)
    names = dimension_names(model)
    check_names(model, bindings, names, findings)
    _supplied_dims(model, bindings, names, findings)
    for decl in model.params:
        if decl.name in bindings.params:
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


def _observe(datum: RawDatum, observed: list[RawEntries], findings: Findings) -> None:
    try:
        observed.append(observe(datum))
    except InvalidDatum as error:
        note_invalid(datum, error, findings)


def rebind(instance: Instance, bindings: Bindings) -> tuple[Instance | None, tuple[Diagnostic, ...]]:
    """The instance with the parameters of `bindings`. Everything else in these must be what the instance was bound to."""
    model = instance.model
    findings = Findings(model.source)
    data = {d.name for d in model.data}
    kept = {n: v for n, v in instance.values.items() if n in data}
    maps = Maps(model, dict(instance.dims), kept, findings, again=instance.features)
    params, origins = bind_parameters(model, bindings, maps.dims, findings, maps.learn)
    features = maps.complete(params)
    if not findings.failed:
        check_positions(model, maps.dims, params, findings)
    if findings.failed:
        return None, findings.result()
    values = {**instance.values, **params}
    origins = {**instance.origins, **origins}
    return replace(instance, dims=maps.dims, values=values, origins=origins, features=features), findings.result()
