"""`python -m fwdsl.diagnostics.document > docs/diagnostics.md`: the catalogue as a page."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from ..grammar.diagnostic import Diagnostic
from .catalogue import FAMILY_TITLES, Entry, all_entries
from .text import render_text

_HEAD = """\
# Diagnostics

Every error and warning has a code, which is never renumbered or reused; `fwdsl explain CODE` prints what stands here.
This page is generated from the catalogue: `python -m fwdsl.diagnostics.document > docs/diagnostics.md`.
"""

#: The families whose examples are programs that can be looked at on their own.
FAMILIES_OF_PROGRAMS = ("FW1", "FW2", "FW3", "FW5")
EXAMPLE_NAME = "example.fw"


def document() -> str:
    """The page, as Markdown."""
    return "\n".join([_HEAD, *_families()])


def examine(program: str) -> tuple[Diagnostic, ...]:
    """What is found about an example by checking it, planning it, and, where it needs no data, binding it."""
    from ..bind import Bindings
    from ..canon import Canonical
    from ..pipeline import bind, canonicalise, compile_text, make_plan
    from ..settings import resolve_options

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


def rendered_example(program: str) -> str:
    """What is said of an example, with its file called `example.fw`."""
    return render_text(examine(program))


def _families() -> Iterator[str]:
    for family, title in FAMILY_TITLES.items():
        yield f"## {family}nnn: {title[:1].lower()}{title[1:]}\n"
        for code, entry in all_entries().items():
            if code.startswith(family):
                yield _entry(code, entry, family in FAMILIES_OF_PROGRAMS)


def _entry(code: str, entry: Entry, is_program: bool) -> str:
    language = "fw" if is_program else "text"
    parts = [f"### {code}: {entry.title}", entry.explanation.strip(), "Not accepted:", _fenced(entry.bad, language)]
    if is_program:
        parts += ["What is said of it:", _fenced(rendered_example(entry.bad), "text")]
    return "\n\n".join([*parts, "Accepted:", _fenced(entry.good, language)]) + "\n"


def _fenced(text: str, language: str) -> str:
    body = text.strip("\n")
    fence = "```"
    while fence in body:
        fence += "`"
    return f"{fence}{language}\n{body}\n{fence}"


if __name__ == "__main__":
    sys.stdout.write(document())
