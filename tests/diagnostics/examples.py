"""The diagnostics of the catalogue's programs."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import NoReturn

from fwdsl.diagnostics import render_text
from fwdsl.diagnostics.catalogue import all_entries
from fwdsl.errors import FwError
from fwdsl.grammar.diagnostic import Diagnostic
from fwdsl.session import Diagnostics, Raising, Session, StageName

EXAMPLE_NAME = "example.fw"


def codes() -> list[str]:
    """The codes whose examples are programs."""
    return [code for code, entry in all_entries().items() if entry.is_program]


class Keeping(Raising):
    """A sink that keeps all it is told."""

    def __init__(self) -> None:
        self.diagnostics: list[Diagnostic] = []

    def found(self, stage: StageName, diagnostics: Diagnostics) -> None:
        self.diagnostics += diagnostics

    def failed(self, stage: StageName, diagnostics: Diagnostics) -> NoReturn:
        self.diagnostics += diagnostics
        super().failed(stage, diagnostics)

    def contradicted(self, proof: Diagnostic) -> None:
        self.diagnostics.append(proof)


def examine(program: str) -> tuple[Diagnostic, ...]:
    """The diagnostics of checking an example, planning it, and, where it needs no data, binding it."""
    sink = Keeping()
    session = Session(program, EXAMPLE_NAME, Path(), sink)
    with suppress(FwError):
        model = session.compile()
        session.plan(with_data=False)
        if all(d.literal is not None for d in model.data) and all(p.default is not None for p in model.params):
            session.canonicalise()
    return tuple(sink.diagnostics)


def rendered(program: str) -> str:
    """The diagnostics of an example as text, with its file called `example.fw`."""
    return render_text(examine(program))
