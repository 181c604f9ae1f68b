"""Binds other parameters to an instance without reading or checking its data again."""

from __future__ import annotations

from dataclasses import replace

from ..grammar.diagnostic import Diagnostic
from .bindings import Bindings
from .findings import Findings
from .instance import Instance
from .maps import Maps
from .parameters import bind_parameters
from .positions import check_positions


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
