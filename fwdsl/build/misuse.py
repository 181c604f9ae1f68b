"""Errors of the Python builder: what was written, and what to write instead."""

from __future__ import annotations

from ..errors import FwError
from ..grammar.diagnostic import Diagnostic


class BuildError(FwError):
    """Python code that does not make a program: an operator the language lacks, a value of the wrong sort (FW03nn)."""


def misuse(code: str, message: str, *, rule: str = "", hint: str = "") -> BuildError:
    """The exception for one finding about the caller's Python code (there is no program text to point into yet)."""
    return BuildError((Diagnostic(code=code, message=message, rule=rule, hint=hint),))
