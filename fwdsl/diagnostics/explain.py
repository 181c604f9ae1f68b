"""`fwdsl explain CODE`: the long form of a diagnostic, as text."""

from __future__ import annotations

from difflib import get_close_matches
from textwrap import fill

from .catalogue import LongForm, all_entries, families, lookup


def explain(code: str, width: int = 100) -> str | None:
    """The title, explanation and examples of a code, or None where there is no such code (see `similar`).

    Lines of the explanation have `width` columns, or 40 if that is more.
    """
    entry = lookup(code)
    return None if entry is None else _long_form(code.upper(), entry, max(width, 40))


def similar(code: str) -> list[str]:
    """Existing codes similar to `code`, the likeliest first (`2003` and `fw-2003` mean FW2003)."""
    meant = "FW" + "".join(char for char in code if char.isdigit()).zfill(4)
    return [meant] if meant in all_entries() else get_close_matches(meant, all_entries(), n=3)


def listing() -> str:
    """A list of all codes with their titles, by family."""
    parts = []
    for prefix, family in families().items():
        lines = [
            f"{prefix}nnn  {family.title}",
            *(f"  {code}  {entry.title}" for code, entry in family.entries.items()),
        ]
        parts.append("\n".join(lines))
    return "\n\n".join(parts) + "\n"


def _long_form(code: str, entry: LongForm, width: int) -> str:
    explanation = fill(entry.explanation, width, break_long_words=False, break_on_hyphens=False)
    return (
        f"{code}: {entry.title}\n\n{explanation}\n\n"
        f"Not accepted:\n\n{_indented(entry.bad)}\n\nAccepted:\n\n{_indented(entry.good)}\n"
    )


def _indented(text: str) -> str:
    return "\n".join(f"    {line}".rstrip() for line in text.strip("\n").split("\n"))
