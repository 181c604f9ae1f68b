"""The methods that a program names: whether there are such with the options that it gives them, and where it names them."""

from __future__ import annotations

import difflib

from ..backends.option import AUTO
from ..backends.registry import METHODS
from ..grammar.diagnostic import Diagnostic
from ..grammar.tree import Call, Solve
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


def unfit_option(options: Options, model: Model) -> Diagnostic | None:
    """The refusal of the first option that the named method does not have, or has in another domain, FW5004; None where all fit.

    The method is one. Data say more (`Method.requires_options`).
    """
    for name, value in options.method_options.items():
        own = METHODS[options.method].options
        if name not in own:
            close = difflib.get_close_matches(name.lower(), own, 1)
            listed = f"its options are {', '.join(f'`{o}`' for o in own)}" if own else "it has no options"
            return refusal(
                "FW5004",
                f"the method `{options.method}` has no option `{name}`",
                model,
                rule="A method's options are its own.",
                hint=f"did you mean `{close[0]}`?" if close else listed,
                option=name,
            )
        if not own[name].accepts(value):
            return refusal(
                "FW5004",
                f"the option `{name}` of `{options.method}` is {own[name].describe()}, not `{_written(value)}`",
                model,
                rule="A method's options have a domain.",
                hint=f"write {name}={own[name].example()}",
                option=name,
            )
    return None


def misnamed(options: Options, model: Model) -> Diagnostic | None:
    """The refusal of a method or an option as far as names tell, without data; whether the method applies is for the plan to say."""
    unknown = unknown_method(options, model)
    return unknown if unknown is not None else unfit_option(options, model)


def refusal(code: str, message: str, model: Model, rule: str, hint: str, option: str = "") -> Diagnostic:
    """The refusal of a method, or of an option of it, with the place where the program names it, if it does."""
    span = None
    for statement in model.program.statements:
        for node in (
            (o.value for o in statement.options if o.name.name == "method") if isinstance(statement, Solve) else ()
        ):
            own = node.keywords if isinstance(node, Call) else ()
            span = next((k.span for k in own if k.name.name == option), node.span)
    return Diagnostic(code, message, span=span, source=model.source if span else None, rule=rule, hint=hint)


def _written(value: object) -> str:
    """A value as a program writes it."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return value if value == AUTO else f'"{value}"'
    return f"{value:.6g}" if isinstance(value, float) else str(value)
