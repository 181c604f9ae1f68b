"""Collects what is wrong with a binding. Findings point at the program and, where possible, at the data."""

from __future__ import annotations

from dataclasses import replace

from ..extras import ABSENCES
from ..grammar.diagnostic import Diagnostic, Label, Place, Severity
from ..grammar.source import Source, Span

LIMIT = 20


class Findings:
    """The diagnostics of one program."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._found: list[Diagnostic] = []

    def add(
        self,
        code: str,
        message: str,
        *,
        span: Span | None = None,
        label: str = "",
        labels: tuple[Label, ...] = (),
        rule: str = "",
        hint: str = "",
        place: Place | None = None,
        severity: Severity = "error",
    ) -> None:
        """Note one finding, with its place in the file where that is known."""
        self._note(Diagnostic(code, message, span, None, label, labels, rule, hint, None, place, severity))

    def adopt(self, diagnostics: tuple[Diagnostic, ...], span: Span, label: str = "") -> None:
        """Note what a reader found in a file that serves the declaration under `span`; what is to be installed is noted for the first file.

        What was found there for another declaration already is told once, with both.
        """
        told = {(d.code, d.hint) for d in self._found if d.code in ABSENCES}
        known = {(d.code, d.message, d.place): i for i, d in enumerate(self._found)}
        for d in diagnostics:
            if (d.code, d.hint) in told:
                continue
            at = known.get((d.code, d.message, d.place)) if d.place is not None else None
            if at is None:
                self._note(replace(d, span=d.span or span, label=d.label or label))
            elif self._found[at].span not in (None, span):
                before = self._found[at]
                self._found[at] = replace(before, labels=(*before.labels, Label(span, label)))

    @property
    def failed(self) -> bool:
        return any(d.severity == "error" for d in self._found)

    def result(self) -> tuple[Diagnostic, ...]:
        """Errors in the order they were found, then warnings; at most `LIMIT` of each."""
        errors = [d for d in self._found if d.severity == "error"]
        warnings = [d for d in self._found if d.severity == "warning"]
        return (*errors[:LIMIT], *warnings[:LIMIT])

    def _note(self, d: Diagnostic) -> None:
        # Without a program text (a model built in Python) a span points nowhere.
        bare = d.span is None or not self._source.text
        self._found.append(replace(d, span=None, source=None, labels=()) if bare else replace(d, source=self._source))


class InvalidDatum(Exception):
    """A value that does not fit its declaration. `found` continues a sentence that begins with the name, unless there is a `diagnostic`.

    `at` is the position of the wrong entry, where a single one is wrong. The exception never leaves this package.
    """

    def __init__(
        self,
        code: str,
        found: str,
        hint: str = "",
        *,
        at: tuple[int, ...] | None = None,
        diagnostic: Diagnostic | None = None,
    ) -> None:
        super().__init__(found)
        self.code = code
        self.found = found
        self.hint = hint
        self.at = at
        self.diagnostic = diagnostic
