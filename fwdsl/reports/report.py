"""The page of `--html`: title and verdict, what the command found, the program, the record, and the command that does it again."""

from __future__ import annotations

import math
import shlex
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import IO, TYPE_CHECKING, Any

from ..diagnostics.secrets import masked
from ..files.target import write_atomically
from ..grammar.diagnostic import Diagnostic
from ..html.markup import Html, el, facts, folded, joined, section, table
from ..html.style import page
from ..results.fingerprint import of_instance, of_program
from ..results.versions import versions
from ..words.highlight import program_html

if TYPE_CHECKING:
    from ..bind.instance import Instance
    from ..model import Model
    from ..model.options import Options
    from ..session import Session


@dataclass(frozen=True)
class Report:
    """A page on its way to a file: what it is about, and its parts in order. The record, with a note where one
    is given, and the command come last."""

    what: str
    name: str
    parts: Sequence[Html]
    session: Session
    argv: Sequence[str]
    instance: Instance | None = None
    note: str = ""

    def html(self) -> Html:
        """The page."""
        session, model = self.session, self.session.compile()
        title = f"{model.name or self.name}: {self.what}"
        text = session.text if isinstance(session.text, str) else session.text.decode("utf-8", "replace")
        found = [*session.found()]
        return page(
            title,
            el("h1", title),
            *self.parts,
            section("Program", el("p", el("code", self.name)), program_html(text, self.name)),
            *([section("Findings", _diagnostics(found))] if found else []),
            section("Record", *self._noted(), *_record(model, self.instance, session.options)),
            section("Again", el("p", "This command makes the page again:"), _command(self.argv)),
        )

    def _noted(self) -> list[Html]:
        return [el("p", self.note)] if self.note else []

    def write(self, file: str) -> None:
        """Write the page, whole or not at all. Raises `OSError` where that fails."""
        content = self.html().encode("utf-8")

        def put(stream: IO[bytes]) -> None:
            stream.write(content)

        write_atomically(file, put)


def _diagnostics(found: Sequence[Diagnostic]) -> Html:
    from ..diagnostics.html_form import diagnostics_block

    return diagnostics_block(found)


def _command(argv: Sequence[str]) -> Html:
    return el(
        "pre", el("code", shlex.join(("fwdsl", *map(masked, argv)))), tabindex=0, role="region", aria_label="command"
    )


def _record(model: Model, instance: Instance | None, options: Options) -> Iterable[Html]:
    """Options and versions, and the data with their fingerprints, or the program's alone where no data are bound."""
    yield facts((name, _option(name, value)) for name, value in asdict(options).items() if value not in ({}, ()))
    if instance is None:
        yield facts([("program", joined("SHA-256 ", el("code", of_program(model))))])
    else:
        if instance.dims:
            yield table(
                ("dimension", "size"),
                ((el("code", n), f"{size:,}") for n, size in instance.dims.items()),
                "Sizes",
                numbers=(1,),
            )
        yield table(("name", "what", "from", "SHA-256"), _values(instance), "Program, data and parameters")
    yield folded("Versions", facts(versions().items()))


#: Values of options that mean more than they say.
_MEANING: dict[tuple[str, object], str] = {
    ("time", math.inf): "no limit",
    ("max_iter", None): "no limit",
    ("memory", None): "no limit",
    ("threads", 0): "0: one for each core",
}


def _option(name: str, value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{k} = {v}" for k, v in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value))
    return _MEANING.get((name, value)) or f"{value}"


def _values(instance: Instance) -> Iterable[tuple[object, ...]]:
    for name, digest in of_instance(instance).items():
        etags = [f"etag {file['etag']}" for file in instance.pulled.get(name, ()) if "etag" in file]
        origin = ", ".join([instance.origins.get(name, ""), *etags[:MOST_ETAGS]])
        yield (el("code", name), _what(instance, name), origin, el("code", digest, class_="dim"))


MOST_ETAGS = 3
"""Etags of pulled files that are shown; the record of an answer has all."""


def _what(instance: Instance, name: str) -> str:
    if name not in instance.values:
        return "objective and constraints"
    value: Any = instance.values[name]
    stats = instance.stats.get(name)
    if stats is not None and stats.shape:
        return f"{stats.storage}, {' x '.join(f'{n:,}' for n in stats.shape)}, {stats.dtype}"
    return f"{value:.10g}" if isinstance(value, float) else ""
