"""What fwdsl says of the catalogue's programs."""

from __future__ import annotations

from pathlib import Path

from fwdsl.bind import Bindings
from fwdsl.canon import Canonical
from fwdsl.diagnostics import render_text
from fwdsl.diagnostics.catalogue import all_entries
from fwdsl.grammar.diagnostic import Diagnostic
from fwdsl.pipeline import bind, canonicalise, compile_text, make_plan
from fwdsl.settings import resolve_options

EXAMPLE_NAME = "example.fw"


def codes() -> list[str]:
    """The codes whose examples are programs."""
    return [code for code, entry in all_entries().items() if entry.is_program]


def examine(program: str) -> tuple[Diagnostic, ...]:
    """The diagnostics of checking an example, planning it, and, where it needs no data, binding it."""
    model, found = compile_text(program, EXAMPLE_NAME)
    if model is None:
        return found
    _, planning = make_plan(model, resolve_options(model))
    if planning or any(d.literal is None for d in model.data) or any(p.default is None for p in model.params):
        return (*found, *planning)
    instance, binding = bind(model, Bindings(), Path())
    form, shaping = canonicalise(instance) if instance is not None else (None, ())
    contradiction = form.contradiction if isinstance(form, Canonical) else None
    return (*found, *binding, *shaping, *([contradiction] if contradiction else []))


def rendered(program: str) -> str:
    """The diagnostics of an example as text, with its file called `example.fw`."""
    return render_text(examine(program))
