"""Checking short programs in tests."""

from __future__ import annotations

from fwdsl.check import check
from fwdsl.grammar import parse
from fwdsl.grammar.diagnostic import Diagnostic
from fwdsl.model import Model

REGRESSION = "data X: matrix[n, p], y: vector[n]\nparam mu: nonnegative, delta: positive, s: real\nvar w: vector[p]\n"


def examine(text: str, *, partial: bool = False) -> tuple[Model | None, tuple[Diagnostic, ...]]:
    """The model of a program that parses, and what the checker says."""
    program, found = parse(text)
    assert partial or not found, [d.message for d in found]
    return check(program, partial=partial)


def accepted(text: str) -> Model:
    """The model of a program without errors (unused declarations are no matter here)."""
    model, found = examine(text)
    assert model is not None, [(d.code, d.message) for d in found]
    return model


def codes(text: str) -> list[str]:
    """The codes of what is found, without those of unused declarations."""
    return [d.code for d in examine(text)[1] if d.code not in ("FW2090", "FW2091", "FW2092")]


def only(text: str) -> Diagnostic:
    """The one thing that is found."""
    found = [d for d in examine(text)[1] if d.code not in ("FW2090", "FW2091", "FW2092")]
    assert len(found) == 1, [(d.code, d.message) for d in found]
    return found[0]


def marked(diagnostic: Diagnostic) -> str:
    """The text under a diagnostic's caret."""
    assert diagnostic.span is not None and diagnostic.source is not None
    return diagnostic.source.slice(diagnostic.span)
