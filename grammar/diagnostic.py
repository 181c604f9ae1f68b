"""Errors and warnings as data, which every stage returns. `fwdsl.diagnostics` renders them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from fwdsl.grammar.source import Source, Span

Severity = Literal["error", "warning"]


@dataclass(frozen=True, slots=True)
class Label:
    """A secondary span: another place that explains the first one, with a few words."""

    span: Span
    text: str


@dataclass(frozen=True, slots=True)
class Fix:
    """An edit that would mend the program: replace the text under `span`.

    `guess` says that it is what was probably meant: it may change what the program says, so that a user looks at it first.
    """

    description: str
    span: Span
    replacement: str
    guess: bool = False


@dataclass(frozen=True, slots=True)
class Place:
    """The place of an error in a data source. Rows and columns count from 1, as an editor shows them."""

    file: str
    key: str | None = None
    row: int | None = None
    column: int | None = None
    value: str | None = None


@dataclass(frozen=True)
class Diagnostic:
    """One finding.

    `message` says what was found and what was expected, in the user's own names, in one sentence without a final stop.
    `label` is the few words printed under the caret; `labels` are secondary spans; `rule` names the rule that was
    broken; `hint` says what to write instead; `fix` is the hint as an edit. `choices` are edits of which each mends the program with
    another meaning, so that a user chooses. `place` is a position in a data source.
    """

    code: str
    message: str
    span: Span | None = None
    source: Source | None = None
    label: str = ""
    labels: tuple[Label, ...] = ()
    rule: str = ""
    hint: str = ""
    fix: Fix | None = None
    place: Place | None = None
    severity: Severity = "error"
    choices: tuple[Fix, ...] = ()


def has_errors(diagnostics: list[Diagnostic] | tuple[Diagnostic, ...]) -> bool:
    """True if any of them is an error rather than a warning."""
    return any(d.severity == "error" for d in diagnostics)
