"""Plain text of records and docstrings as Markdown that shows what it says."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable

#: The beginning of a page that stands in no table of contents: with all of them in it, Sphinx takes minutes to draw it on each page.
ALONE = "---\norphan: true\n---\n\n"

_SPAN = re.compile(r"(`[^`]+`)")
_SIGNS = re.compile(r"([\\*_|\[\]<>#$~])")


def md(text: str) -> str:
    """Text in which signs of mathematics stay what they are; code in backticks stays code."""
    return "".join(p if i % 2 else _SIGNS.sub(r"\\\1", p) for i, p in enumerate(_SPAN.split(text)))


def cell(text: str) -> str:
    """A cell of a table, in which a bar would end it."""
    return re.sub(r"(?<!\\)\|", r"\\|", text).replace("\n", " ")


def table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """A table of Markdown; "" where there are no rows."""
    lines = [[cell(c) for c in row] for row in rows]
    if not lines:
        return ""
    top = list(head)
    return "".join(f"| {' | '.join(row)} |\n" for row in (top, ["---"] * len(top), *lines))


def paragraphs(docstring: str | None) -> str:
    """A docstring as Markdown: paragraphs, lists, and indented parts as code."""
    parts = []
    for part in inspect.cleandoc(docstring or "").split("\n\n"):
        if all(line.startswith("    ") for line in part.splitlines()):
            parts.append(part)
        elif part.startswith(("* ", "- ")):
            parts.append(re.sub(r"^(?=[^*\s-])|^\\\*", lambda m: "*" if m[0] else "", md(part), flags=re.M))
        else:
            parts.append(md(part))
    return "\n\n".join(parts)


def listed(names: Iterable[str], folder: str) -> str:
    """Names as links to their pages, for a sentence."""
    return ", ".join(f"[`{name}`](/reference/{folder}/{name}.md)" for name in names)
