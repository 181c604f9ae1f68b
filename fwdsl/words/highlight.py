"""A program's text in pieces of one kind each, and as HTML with a colour for each kind.

The kinds come from the tokens of the grammar and the records of the words, so that a new word is coloured without a line here.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from ..diagnostics.secrets import masked
from ..grammar.lexer import scan
from ..grammar.source import Source
from ..grammar.words import KEYWORDS
from ..html.markup import Html, el, joined
from . import COLUMN_WORDS, SETS, SOURCES, TYPES, function_named

Kind = Literal["keyword", "function", "type", "number", "string", "comment", ""]

_OF_TERMINALS: dict[str, Kind] = {"NUMBER": "number", "STRING": "string", **dict.fromkeys(KEYWORDS, "keyword")}


def pieces(text: str) -> Iterator[tuple[str, Kind]]:
    """The whole text in order, each piece with its kind; names that a program declares, signs and blanks have none."""
    source = Source("", text)
    tokens, comments, _ = scan(source, 0)
    known: list[tuple[int, int, Kind]] = [(t.start, t.end, _kind(t.type, t.text)) for t in tokens]
    known += [(c.span.start, c.span.end, "comment") for c in comments]
    at = 0
    for start, end, kind in sorted(known):
        if kind:
            if start > at:
                yield text[at:start], ""
            yield text[start:end], kind
            at = end
    if at < len(text):
        yield text[at:], ""


def _kind(terminal: str, text: str) -> Kind:
    if terminal != "NAME":
        return _OF_TERMINALS.get(terminal, "")
    if text in TYPES:
        return "type"
    return "function" if function_named(text) or text in SETS or text in SOURCES or text in COLUMN_WORDS else ""


def program_html(text: str, name: str = "program") -> Html:
    """The program as preformatted text with a colour for each kind of word, without the secrets of its URLs."""
    marked = (el("span", piece, class_=kind) if kind else piece for piece, kind in pieces(masked(text.strip("\n"))))
    return el("pre", el("code", joined(*marked)), class_="program", tabindex=0, role="region", aria_label=name)
