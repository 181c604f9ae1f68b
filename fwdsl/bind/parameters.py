"""Finds the value of each parameter, given or default, and checks that it lies in the declared domain."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

import numpy as np

from ..model import DataDecl, Model, ParamDecl
from .bindings import DECLARED, Bindings, describe_supplied, supplied_names
from .evaluate import evaluate
from .findings import Findings

_DOMAINS: Mapping[str, tuple[str, Callable[[float], bool]]] = {
    "positive": ("greater than 0", lambda v: v > 0.0),
    "nonnegative": ("0 or greater", lambda v: v >= 0.0),
    "count": ("a whole number from 1", lambda v: v >= 1.0 and v == math.floor(v)),
}


def bind_parameters(
    model: Model,
    bindings: Bindings,
    dims: Mapping[str, int],
    findings: Findings,
    learn: Callable[[Mapping[str, float]], None] = lambda values: None,
) -> tuple[dict[str, float], dict[str, str]]:
    """The value of each parameter, and where it comes from. Defaults may use dimensions and earlier parameters.

    `learn` is called with the parameters so far before a default is evaluated, since it may use the size of a feature map.
    """
    values: dict[str, float] = {}
    origins: dict[str, str] = {}
    for decl in model.params:
        if decl.name in bindings.params or decl.name in bindings.data:
            value, origin = supplied_parameter(decl, bindings, findings)
        elif decl.default is not None:
            origin = DECLARED
            learn(values)
            value = _default(decl, dims, values, findings)
            if value is not None and not check_domain(decl.name, value, decl.type.domain, decl, origin, findings):
                value = None
        else:
            _missing(decl, bindings, findings)
            continue
        if value is not None:
            values[decl.name] = value
            origins[decl.name] = origin
    return values, origins


def supplied_parameter(decl: ParamDecl, bindings: Bindings, findings: Findings) -> tuple[float | None, str]:
    """The given value of a parameter (None, with the reason noted, where it has none), and where it comes from."""
    by_option = decl.name in bindings.params
    origin = f"--set {decl.name}" if by_option else f"bind({decl.name}=...)"
    value = _number(decl, (bindings.params if by_option else bindings.data)[decl.name], origin, findings)
    if value is not None and not check_domain(decl.name, value, decl.type.domain, decl, origin, findings):
        value = None
    return value, origin


def check_domain(
    name: str, value: float, domain: str, decl: DataDecl | ParamDecl, origin: str, findings: Findings
) -> bool:
    """True if a scalar is finite and within its domain; a finding if not."""
    expected, fits = _DOMAINS.get(domain, ("finite", lambda v: True))
    if math.isfinite(value):
        if fits(value):
            return True
    else:
        expected = "finite"
    findings.add(
        "FW4511",
        f"`{name}` is {value:g} from {origin}, but must be {expected}",
        span=decl.span,
        label=f"declared `{domain}`",
        rule="A scalar's value is finite and lies in its domain.",
        hint=f"give a value that is {expected}",
    )
    return False


def scalar(value: object) -> float | None:
    """A real number as a float, also from an array of one entry; None for anything else."""
    try:
        array = np.asarray(value)
    except (ValueError, TypeError):
        return None
    return float(array.reshape(-1)[0]) if array.size == 1 and array.dtype.kind in "biuf" else None


def _number(decl: ParamDecl, value: object, origin: str, findings: Findings) -> float | None:
    number = scalar(value)
    if number is None:
        shape = getattr(value, "shape", None)
        what = f"an array of shape {shape}" if shape else f"a {type(value).__name__}"
        findings.add(
            "FW4512",
            f"`{decl.name}` is {what} from {origin}, where a number is needed",
            span=decl.span,
            rule="A parameter is one real number.",
            hint=f"give a number, as in `bind({decl.name}=3.0)`",
        )
    return number


def _default(decl: ParamDecl, dims: Mapping[str, int], values: Mapping[str, float], findings: Findings) -> float | None:
    assert decl.default is not None
    try:
        return float(evaluate(decl.default, dims, values))
    except KeyError:
        return None  # a dimension or an earlier parameter has no value, which is noted already
    except (ValueError, OverflowError) as error:
        findings.add(
            "FW4513",
            f"the default of `{decl.name}` has no value: {error}",
            span=decl.default.span,
            rule="A default is a number once dimensions and parameters are known.",
            hint=f"correct the default, or give `--set {decl.name}=VALUE`",
        )
        return None


def _missing(decl: ParamDecl, bindings: Bindings, findings: Findings) -> None:
    if decl.name in supplied_names(bindings):
        return  # the name is given as another kind of thing, which `check_names` notes
    findings.add(
        "FW4502",
        f"the parameter `{decl.name}` has no value: {describe_supplied(bindings)}",
        span=decl.span,
        label="declared without a default",
        rule="A parameter has a default, or is given when the program is run.",
        hint=f"give `--set {decl.name}=VALUE` on the command line, `bind({decl.name}=...)` in Python, or a default "
        "in the program",
    )
