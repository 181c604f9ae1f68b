"""Text to model: parsing and checking in a row."""

from __future__ import annotations

from ..grammar.diagnostic import Diagnostic, has_errors
from ..model import Model
from .program import check

AT_MOST = 20
"""Diagnostics of one program."""


def compile_text(text: str | bytes, name: str = "<text>") -> tuple[Model | None, tuple[Diagnostic, ...]]:
    """Parse and check a program; no model where there is an error. What a broken statement hides is not reported, nor are
    warnings beside an error, as they may follow from it."""
    from ..grammar import parse

    program, found = parse(text, name)
    broken = has_errors(found)
    model, more = check(program, partial=broken)
    told = [d for d in (*found, *more) if d.severity == "error" or not broken]
    every = sorted(told, key=lambda d: d.span.start if d.span else -1)
    return (None if broken else model), tuple(every[:AT_MOST])
