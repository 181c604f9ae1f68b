"""Fixes of diagnostics as edits of a program's text."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from ..grammar.diagnostic import Diagnostic, Fix

Finds = Callable[[str], Sequence[Diagnostic]]
"""A function that gives the findings about a text."""

ROUNDS = 100
"""The rounds of fixes at most: each uncovers what the one before hid, as the checker follows the parser."""


def apart(fixes: Iterable[Fix]) -> list[Fix]:
    """Fixes that do not overlap, in the order of the text."""
    found: list[Fix] = []
    for fix in sorted(fixes, key=lambda f: (f.span.start, f.span.end)):
        if not found or fix.span.start > found[-1].span.end:
            found.append(fix)
    return found


def applied(text: str, fixes: Iterable[Fix]) -> str:
    """A text with fixes that do not overlap."""
    for fix in sorted(fixes, key=lambda f: (f.span.start, f.span.end), reverse=True):
        text = text[: fix.span.start] + fix.replacement + text[fix.span.end :]
    return text


def kept(diagnostics: Iterable[Diagnostic]) -> list[Fix]:
    """The fixes of errors that keep what the program says: none is a guess, and no other error is about the whole of what it replaces."""
    errors = [d for d in diagnostics if d.severity == "error"]
    unclear = {d.span for d in errors if d.fix is None}
    return apart(d.fix for d in errors if d.fix is not None and not d.fix.guess and d.fix.span not in unclear)


def mended(text: str, finds: Finds) -> tuple[str, int]:
    """A text with every fix that keeps its meaning, those among them that others uncover, and how many they were."""
    count = 0
    for _ in range(ROUNDS):
        fixes = kept(finds(text))
        changed = applied(text, fixes)
        if changed == text:
            break
        text, count = changed, count + len(fixes)
    return text, count
