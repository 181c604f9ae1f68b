"""The output of a command: text for people, or JSON alone on standard output."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Literal

from ..diagnostics import counted, render_text, to_json
from ..grammar.diagnostic import Diagnostic
from ..results.json_form import dumps
from .no_result import NO_RESULT
from .terminal import style_of

Mode = Literal["text", "json", "stream"]


class Output:
    """The output of one command.

    In text mode results go to standard output, diagnostics to standard error. In JSON mode everything is kept for the
    one object that `finish` writes; in stream mode each thing is an object on a line of its own.
    """

    def __init__(self) -> None:
        self.mode: Mode = "text"
        self.quiet = False
        self.strict = False
        #: The program's text, for the report of a bug.
        self.program: bytes | None = None
        self._kept: list[Diagnostic] = []

    def configure(self, *, mode: Mode = "text", quiet: bool = False, strict: bool = False) -> None:
        """Set what the command's options say."""
        self.mode, self.quiet, self.strict = mode, quiet, strict

    def graded(self, diagnostics: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
        """The diagnostics as `--strict` has them: warnings are errors."""
        if not self.strict:
            return tuple(diagnostics)
        return tuple(replace(d, severity="error") for d in diagnostics)

    def report(self, diagnostics: Sequence[Diagnostic]) -> None:
        """Report diagnostics; `--quiet` leaves out warnings in text."""
        if self.mode == "json":
            self._kept.extend(diagnostics)
        elif self.mode == "stream":
            for d in diagnostics:
                self.event("diagnostic", to_json(d))
        else:
            told = [d for d in diagnostics if d.severity == "error" or not self.quiet]
            if told:
                how = style_of(sys.stderr)
                text = render_text(told, width=how.width, color=how.color, unicode=how.unicode)
                sys.stdout.flush()
                sys.stderr.write(text + "\n" if len(told) > 1 else text)
                if len(told) > 1:
                    sys.stderr.write(counted(told) + "\n")

    def reject(self, diagnostics: Sequence[Diagnostic]) -> None:
        """Report the diagnostics that end the command."""
        self.report(diagnostics)
        if self.mode == "json":
            self.finish({"status": "rejected"})
        elif self.mode == "stream":
            self.event("solution", {"status": "rejected"})

    def interrupted(self) -> None:
        """Report that the command was interrupted before it had a point to give."""
        if self.mode == "text":
            sys.stderr.write(NO_RESULT)
        elif self.mode == "json":
            self.finish({"status": "interrupted"})
        else:
            self.event("solution", {"status": "interrupted"})

    def text(self, text: str) -> None:
        """Write to standard output in text mode."""
        if self.mode == "text":
            sys.stdout.write(text)

    def utf8(self, text: str) -> None:
        """Write a program to standard output, whose encoding may be another one."""
        sys.stdout.flush()
        sys.stdout.buffer.write(text.encode())
        sys.stdout.buffer.flush()

    def note(self, text: str) -> None:
        """A remark on standard error in text mode, none with `--quiet`."""
        if self.mode == "text" and not self.quiet:
            sys.stdout.flush()
            sys.stderr.write(text + "\n")
            sys.stderr.flush()

    def event(self, kind: str, payload: Mapping[str, object]) -> None:
        """One line of `--json-stream`."""
        if self.mode == "stream":
            sys.stdout.write(dumps({"v": 1, "type": kind, **payload}) + "\n")
            sys.stdout.flush()

    def finish(self, payload: Mapping[str, object]) -> None:
        """The one object of `--json`, with all diagnostics."""
        if self.mode == "json":
            sys.stdout.write(dumps({**payload, "diagnostics": [to_json(d) for d in self._kept]}) + "\n")
