"""Docstrings as Sphinx reads them. Ours are plain text with code in backticks, mathematics in signs of its own, and indented programs."""

from __future__ import annotations

import re
from typing import Any

_SPAN = re.compile(r"`([^`]+)`")
_SIGNS = re.compile(r"([\\*|_`<>])")


def as_rst(app: Any, kind: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    """Rewrite the lines of a docstring in place, as reStructuredText that shows what they say."""
    lines[:] = rst(lines)


def rst(lines: list[str]) -> list[str]:
    """Text with its signs kept, code in backticks as code, and indented parts behind an empty line as programs."""
    written: list[str] = []
    inside = False
    before = ""
    for line in lines:
        indented = line.startswith("    ") and bool(line.strip())
        if indented and not inside and not before.strip() and any(w.strip() for w in written):
            written += [".. code-block:: python", ""]
            inside = True
        elif line.strip() and not indented:
            inside = False
        written.append(line if inside else _line(line.strip() if not inside else line))
        before = line
    return written


def _line(text: str) -> str:
    parts = _SPAN.split(text)
    return "".join(
        f"``{p.strip()}``{_apart(parts, i)}" if i % 2 else _SIGNS.sub(r"\\\1", p) for i, p in enumerate(parts)
    )


def _apart(parts: list[str], i: int) -> str:
    """What stands between code and a letter that follows at once, which reStructuredText would not end the code at."""
    after = parts[i + 1][:1] if i + 1 < len(parts) else ""
    return "\\ " if after and (after.isalnum() or after in "_(") else ""
