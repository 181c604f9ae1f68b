"""Diagnostics as HTML: the very text of `render_text`, carets under the columns, with the colours of the page in place of the terminal's."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Protocol

from ..grammar.diagnostic import Diagnostic
from ..html.markup import Html, el, joined
from ..html.style import fragment
from .text import STYLES, counted, render_text

_STYLED = re.compile(r"\x1b\[(?P<style>[\d;]+)m(?P<text>[^\x1b]*)\x1b\[0m")


WIDTH = 88
"""Columns of the text, so that it fits a notebook's cell in most windows."""


class HasDiagnostics(Protocol):
    """An error as far as it is shown."""

    diagnostics: tuple[Diagnostic, ...]


def error_html(error: HasDiagnostics) -> Html:
    """The diagnostics of an error as a part of a page."""
    return fragment(diagnostics_block(error.diagnostics), label=counted(error.diagnostics))


def diagnostics_block(diagnostics: Sequence[Diagnostic]) -> Html:
    """The diagnostics as preformatted text."""
    inner = coloured(render_text(diagnostics, width=WIDTH, color=True).rstrip("\n"))
    return el("pre", inner, class_="diagnostics", role="region", tabindex=0, aria_label=counted(diagnostics))


def coloured(text: str) -> Html:
    """A text with the colours of a terminal as HTML."""
    names = {style: name for name, style in STYLES.items()}
    parts: list[object] = []
    at = 0
    for found in _STYLED.finditer(text):
        parts += [text[at : found.start()], el("span", found["text"], class_=names[found["style"]])]
        at = found.end()
    return joined(*parts, text[at:])
