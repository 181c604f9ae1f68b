"""The session of a command: its program, its bindings, and a sink that prints and exits."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NoReturn

from ..grammar.diagnostic import Diagnostic
from ..readers.files import Unreadable, check_readable
from ..readers.findings import FileFindings
from ..readers.sources import is_url, without_secrets
from ..session import Diagnostics, Session, StageName
from ..words import SOLVE_OPTIONS, SOURCES
from .arguments import bindings
from .exits import REJECTED, USAGE, CommandStop, code_for
from .files import STDIN, display_name, folder_of, program_text
from .output import Output
from .outputs import Outputs, keep_apart
from .signals import on_lost_pages

if TYPE_CHECKING:
    from ..bind import Bindings
    from ..model import Model
    from ..model.options import Options
    from ..results.solution import Progress, Solution
    from ..solve import Control
    from ..solve.forms import Start

_CODES: Mapping[StageName, int] = {"compile": REJECTED, "bind": USAGE, "canonicalise": REJECTED, "plan": REJECTED}
"""Exit codes of stages that fail."""

WITHOUT_DATA = "A program whose data are not there is planned without them; `fwdsl run` would stop."


class Printing:
    """The sink of the command line: tells findings as they come, and stops the command where a stage failed.

    With `--strict` warnings are errors. A plan that is refused is the program's fault, or the command line's where `named` says that it names
    the method.
    """

    def __init__(self, output: Output, named: bool = False) -> None:
        self._output = output
        self._codes = {**_CODES, "plan": USAGE} if named else _CODES

    def found(self, stage: StageName, diagnostics: Diagnostics) -> None:
        """Print warnings, or stop at them."""
        if diagnostics and self._output.strict:
            self.failed(stage, diagnostics)
        self._output.report(diagnostics)

    def failed(self, stage: StageName, diagnostics: Diagnostics) -> NoReturn:
        """Stop with the exit code of the stage."""
        graded = self._output.graded(diagnostics)
        raise CommandStop(graded, code_for(graded, self._codes[stage]))

    def contradicted(self, proof: Diagnostic) -> None:
        """Print the proof: it is an answer and no fault."""
        self._output.report([proof])


def bindings_of(known: argparse.Namespace) -> Bindings:
    """The bindings of `--data`, `--set` and `--dim`."""
    sources, params, dims = bindings(known)
    from ..bind import Bindings

    return Bindings(data={}, sources=sources, params=params, dims=dims)


def opened(name: str, output: Output, bindings: Bindings | None = None, named: bool = False) -> Session:
    """The session of a program, compiled; an error in its text exits 2."""
    output.program = program_text(name)
    session = Session(output.program, display_name(name), folder_of(name), Printing(output, named), bindings)
    session.compile()
    return session


def opened_answer(name: str, bindings: Bindings, output: Output) -> Session:
    """The session of the program in a saved answer, with its parameters and label maps; paths in it are relative to the folder of the answer."""
    from ..results.loading import saved_problem

    text, own = saved_problem(name)
    output.program = text.encode()
    session = Session(text, f"the program in {name}", Path(name).parent, Printing(output), own.merge(bindings))
    session.compile()
    return session


def opened_to_solve(
    name: str,
    known: argparse.Namespace,
    bindings: Bindings,
    output: Output,
    outputs: Outputs = MappingProxyType({}),
) -> Session:
    """The session of a program with the command line's options. Stops where a file to write is also read."""
    session = opened(name, output, bindings, known.method is not None)
    keep_apart(outputs, inputs_of(session, name))
    session.options = options_for(session.compile(), known)
    for url in _urls(session):
        output.note(f"{without_secrets(url)} is pulled")  # which may take a while
    tell_of_lost_pages(output)
    return session


def tell_of_lost_pages(output: Output) -> None:
    """Say, where the numbers of a mapped file are gone when they are read, which file is cut short; the process ends there."""
    on_lost_pages(lambda: _end_at_cut_file(output))


def _end_at_cut_file(output: Output) -> None:
    from ..readers.mapped import check_all_mapped
    from ..readers.row_blocks import ChangedFile

    try:
        check_all_mapped()
    except ChangedFile as error:
        output.reject(error.diagnostics)
        sys.stdout.flush()
        os._exit(USAGE)


@contextmanager
def held_by_workers(session: Session, workers: int | str | None, output: Output) -> Iterator[Session]:
    """The session with its rows in the hands of `--workers`, until the context ends; as it is without."""
    if workers is None:
        yield session
        return
    from ..cluster.connect import connect
    from ..errors import RunError

    session.compile()
    try:
        cluster = connect(workers)
    except RunError as error:
        raise CommandStop(error.diagnostics, USAGE) from None
    with cluster:
        held = session.held_by(cluster)
        try:
            held.bind()  # with the workers there, which read their own files
        except RunError as error:
            raise CommandStop(error.diagnostics, USAGE) from None
        for line in (*cluster.told_at_start(), *cluster.predicted(held.bind())):
            output.note(line)
        yield held


def _urls(session: Session) -> list[str]:
    """The URLs that data are read from, each once; what replaces a source of the program counts in its place."""
    from ..bind.bindings import spec_of

    given = {name: spec.paths for names, spec in session.bindings.sources for name in names}
    own = {d.name: spec_of(d.source, session.base).paths for d in session.compile().data if d.source is not None}
    return [path for path in dict.fromkeys(p for paths in {**own, **given}.values() for p in paths) if is_url(path)]


def inputs_of(session: Session, name: str) -> list[tuple[str, str | Path]]:
    """The files of a program and its data, its own sources included where others are given."""
    from ..bind.bindings import spec_of

    data = [d for d in session.compile().data if d.source is not None]
    sources = {d.name: spec_of(d.source, session.base).path for d in data if d.source is not None}
    every = [*sources.items(), *((", ".join(names), p) for names, spec in session.bindings.sources for p in spec.paths)]
    program: list[tuple[str, str | Path]] = [] if name == STDIN else [("the program", name)]
    return [*program, *((f"the data of `{names}`", path) for names, path in every)]


def at_hand(model: Model, bindings: Bindings, absent: Sequence[Diagnostic]) -> bool:
    """True if every datum and parameter can have a value; true also where the command line gives data, so that what it
    lacks is reported."""
    if bindings.sources:
        return True
    return (
        not absent
        and all(param.default is not None or param.name in bindings.params for param in model.params)
        and all(datum.literal is not None or datum.source is not None for datum in model.data)
    )


def absent_sources(model: Model, bindings: Bindings, folder: Path) -> tuple[Diagnostic, ...]:
    """The program's own sources that are not there, or at URLs that cannot be had, as warnings; none where the command line gives data."""
    from ..bind.bindings import spec_of
    from ..readers.several import files_of

    sources = {d.source.span.start: d.source for d in model.data if d.source is not None and not bindings.sources}
    found: list[Diagnostic] = []
    for source in sources.values():
        spec = spec_of(source, folder)
        findings, word = FileFindings(without_secrets(spec.path)), SOURCES[spec.format]
        no_files = FileFindings(without_secrets(spec.path))
        with suppress(Unreadable):
            if is_url(spec.path):
                from ..readers.remote import check_reachable

                check_reachable(spec.path, word, findings)
            elif files_of(spec.paths, word, no_files) is None:
                check_readable(spec.path, findings)
        # what else is wrong with a file is told when it is read
        told = [d for d in findings.result() if d.code in ("FW4001", "FW4080", "FW4081")]
        found += [
            replace(d, severity="warning", rule=WITHOUT_DATA, span=source.span, source=model.source)
            for d in (*no_files.result(), *told)
        ]
    return tuple(found)


def options_for(model: Model, known: argparse.Namespace) -> Options:
    """The program's `solve` options, overridden by those of the command line."""
    from ..check.settings import resolve_options

    option_values = {name: getattr(known, name) for name in SOLVE_OPTIONS}
    method, own = option_values.pop("method") or (None, {})
    options = resolve_options(model, **option_values, method=method)
    return replace(options, method_options=own) if own else options


def solve(
    session: Session,
    output: Output,
    start: Solution | Start | None = None,
    control: Control | None = None,
    resume: Any = None,
    on_state: Callable[[Any], None] | None = None,
) -> Solution:
    """Solve the session's program, and show progress while it runs."""
    from .progress import reporting

    # so that what they find is told before the first line of progress
    session.plan()
    on_progress: Callable[[Progress], bool | None]
    more = None if session.cluster is None else session.cluster.state
    with reporting(output, session.options, more) as on_progress:
        return session.solve(on_progress, start, control, resume, on_state)
