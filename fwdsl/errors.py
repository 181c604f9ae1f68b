"""Exceptions of the Python interface: diagnostics that stop what was asked for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .grammar.diagnostic import Diagnostic
from .grammar.source import Span
from .html.shown import ShownInNotebooks


class FwError(ShownInNotebooks, Exception):
    """Base of all errors; its message is the diagnostics as text.

    `diagnostics` holds all that was found, warnings included; `code`, `span` and `hint` are those of the first error.
    """

    _html_from = "fwdsl.diagnostics.html_form:error_html"

    def __init__(self, diagnostics: Sequence[Diagnostic]) -> None:
        if not diagnostics:
            raise ValueError("an FwError needs at least one diagnostic")
        self.diagnostics = tuple(diagnostics)
        super().__init__(self.diagnostics)

    def __str__(self) -> str:
        from .diagnostics import render_text

        return render_text(self.diagnostics).rstrip("\n")

    def _plain(self) -> str:
        return str(self)

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        # IPython has a printer of its own for exceptions, which comes before `_repr_mimebundle_`
        printer.text(self._plain())

    def _render_traceback_(self) -> list[str]:
        """The lines that IPython prints in place of a traceback: the kind of error, where the user's code raised it, and the diagnostics."""
        from .diagnostics.traceback import rendered

        return rendered(self, self.diagnostics)

    @property
    def first(self) -> Diagnostic:
        """The first error; the first warning where there is no error."""
        return next((d for d in self.diagnostics if d.severity == "error"), self.diagnostics[0])

    @property
    def code(self) -> str:
        """The code of the diagnostic, such as FW2001."""
        return self.first.code

    @property
    def span(self) -> Span | None:
        """The place in the program, if it has one."""
        return self.first.span

    @property
    def hint(self) -> str:
        """A hint what to write instead."""
        return self.first.hint


class RejectedError(FwError):
    """The program is not accepted: syntax, names, types, shapes or convexity (FW1nnn, FW2nnn, FW3nnn)."""


class DataError(FwError):
    """Data or parameters do not fit the program, or cannot be read (FW4nnn)."""


class PlanError(FwError):
    """No method was found, or the one asked for does not apply (FW5nnn)."""


class MemoryLimitError(DataError, PlanError):
    """No method that may be taken keeps to the memory allowed: less data would do, and so may another method (FW4095)."""


class RunError(FwError):
    """Running failed (FW0nnn, FW6nnn)."""


class BuildError(FwError):
    """Python code that does not make a program: an operator the language lacks, a value of the wrong sort (FW03nn)."""


class InternalError(FwError):
    """A bug of fwdsl (FW9nnn)."""


_KINDS: dict[str, type[FwError]] = {
    "FW1": RejectedError,
    "FW2": RejectedError,
    "FW3": RejectedError,
    "FW4": DataError,
    "FW4095": MemoryLimitError,
    "FW5": PlanError,
    "FW9": InternalError,
}


def error_for(diagnostics: Sequence[Diagnostic]) -> FwError:
    """The exception that fits the first error among the diagnostics."""
    code = next((d.code for d in diagnostics if d.severity == "error"), diagnostics[0].code if diagnostics else "")
    return (_KINDS.get(code) or _KINDS.get(code[:3], RunError))(diagnostics)


def misuse(code: str, message: str, *, rule: str = "", hint: str = "") -> BuildError:
    """The exception for one finding about the caller's Python code (there is no program text to point into yet)."""
    return BuildError((Diagnostic(code=code, message=message, rule=rule, hint=hint),))
