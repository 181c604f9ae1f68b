"""The methods that a program names: whether there are such, and where it names them."""

from __future__ import annotations

import difflib

from ..backends.registry import METHODS
from ..grammar.diagnostic import Diagnostic
from ..grammar.tree import Solve
from ..model import Model
from ..model.options import Options


def unknown_method(options: Options, model: Model) -> Diagnostic | None:
    """The refusal of the first name that no method has, FW5002; None where all have one."""
    name = next((n for n in options.among or (options.method,) if n != "auto" and n not in METHODS), None)
    if name is None:
        return None
    close = difflib.get_close_matches(name.lower(), METHODS, 1)
    return refusal(
        "FW5002",
        f"there is no method `{name}`; this version has {', '.join(f'`{n}`' for n in METHODS)}",
        model,
        rule="`method` names a method or is `auto`.",
        hint=f"did you mean `{close[0]}`?" if close else "write `method = auto` for the planner's choice",
    )


def refusal(code: str, message: str, model: Model, rule: str, hint: str) -> Diagnostic:
    """The refusal of a method, with the place where the program names it, if it does."""
    span = None
    for statement in model.program.statements:
        if isinstance(statement, Solve):
            span = next((o.value.span for o in statement.options if o.name.name == "method"), span)
    return Diagnostic(code, message, span=span, source=model.source if span else None, rule=rule, hint=hint)
