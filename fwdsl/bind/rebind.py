"""Other parameters for an instance that is bound already: its data are neither read nor looked at again."""

from __future__ import annotations

from dataclasses import replace

from ..grammar.diagnostic import Diagnostic
from ..instance import Instance
from .bindings import Bindings
from .findings import Findings
from .parameters import bind_parameters


def rebind(instance: Instance, bindings: Bindings) -> tuple[Instance | None, tuple[Diagnostic, ...]]:
    """The instance with the parameters of `bindings`; whatever else these hold must be what the instance was bound to."""
    model = instance.model
    findings = Findings(model.source)
    params, origins = bind_parameters(model, bindings, instance.dims, findings)
    if findings.failed:
        return None, findings.result()
    return (
        replace(instance, values={**instance.values, **params}, origins={**instance.origins, **origins}),
        findings.result(),
    )
