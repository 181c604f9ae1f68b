"""Docstrings as Sphinx reads them. Ours are plain text with code in backticks, mathematics in signs of its own, and indented programs."""

from __future__ import annotations

import re
from typing import Any

from fwdsl.highlight.vocabulary import STATEMENTS

_NAMED = re.compile(r"(\w[\w, ]*):(?= \S)")
_SPAN = re.compile(r"`([^`]+)`")
_SIGNS = re.compile(r"([\\*|_`<>])")


def as_rst(app: Any, kind: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    """Rewrite the lines of a docstring in place, as reStructuredText that shows what they say."""
    lines[:] = rst(lines)


def rst(lines: list[str]) -> list[str]:
    """Text with its signs kept, code in backticks as code, names with their meanings as lists, indented parts as programs."""
    written: list[str] = []
    for part in _parts(lines):
        if written and _is_indented(part):
            written += [f".. code-block:: {_language(part)}", "   :force:", "", *part]
        elif len(part) > 1 and all(_NAMED.match(line) for line in part):
            written += ["* " + _line(_NAMED.sub(r"`\1`:", line)) for line in part]
        else:
            written += [_line(line.strip()) for line in part]
        written.append("")
    return written


def _parts(lines: list[str]) -> list[list[str]]:
    """The lines between empty ones. An indented program goes on behind an empty line."""
    found: list[list[str]] = [[]]
    for line in lines:
        if line.strip():
            found[-1].append(line)
        elif found[-1]:
            found.append([])
    joined: list[list[str]] = []
    for part in filter(None, found):
        if joined and part[0].startswith("    ") and _is_indented(joined[-1]):
            joined[-1] += ["", *part]
        else:
            joined.append(part)
    return joined


def _is_indented(part: list[str]) -> bool:
    return all(line.startswith("    ") for line in part if line)


def _language(part: list[str]) -> str:
    """Programs begin with a statement of the language; all others are Python."""
    return "fw" if part[0].split()[0] in STATEMENTS else "python"


def _line(text: str) -> str:
    parts = _SPAN.split(text)
    return "".join(
        f"``{p.strip()}``{_apart(parts, i)}" if i % 2 else _SIGNS.sub(r"\\\1", p) for i, p in enumerate(parts)
    )


def _apart(parts: list[str], i: int) -> str:
    """The sign between code and a letter that follows at once, at which reStructuredText would not end the code."""
    after = parts[i + 1][:1] if i + 1 < len(parts) else ""
    return "\\ " if after and (after.isalnum() or after in "_(") else ""
