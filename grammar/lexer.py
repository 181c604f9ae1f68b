"""Turns text into tokens and never fails: other characters become tokens that no rule takes."""

from __future__ import annotations

import re
import unicodedata
from functools import cache
from typing import NamedTuple

from fwdsl.grammar.diagnostic import Diagnostic, Fix
from fwdsl.grammar.reader import not_utf8
from fwdsl.grammar.source import Source, Span
from fwdsl.grammar.tables import tables
from fwdsl.grammar.tree import Comment

# Characters from word processors, web pages and papers that stand for one of the language's characters.
LOOKALIKES = {
    **dict.fromkeys("−–—‐‑", "-"),
    **dict.fromkeys("×⋅∙•∗＊", "*"),
    **dict.fromkeys("÷∕", "/"),
    "＝": "=",
    "＋": "+",
    "，": ",",
    "：": ":",
    "（": "(",
    "）": ")",
    "［": "[",
    "］": "]",
    "≦": "<=",
    "≧": ">=",
    "⩽": "<=",
    "⩾": ">=",
    "∊": "in",
    "∞": "inf",
    "；": ";",
    **dict.fromkeys("\u00a0\u2002\u2003\u2007\u2009\u200a\u202f\u3000", " "),
    **dict.fromkeys("\u200b\u200c\u200d\u2060\ufeff", ""),
}
_TYPES = {"-": "MINUS", "*": "STAR", "/": "SLASH", "=": "EQUAL", "+": "PLUS", ",": "COMMA", ":": "COLON"}
_TYPES |= {"(": "LPAR", ")": "RPAR", "[": "LSQB", "]": "RSQB", "<=": "LE", ">=": "GE", "in": "IN", "inf": "INF"}
_TYPES |= {";": "SEMICOLON"}


class Token(NamedTuple):
    """A terminal with its text and place. The text of a name is in Unicode's composed form (NFC)."""

    type: str
    text: str
    start: int
    end: int

    @property
    def span(self) -> Span:
        return Span(self.start, self.end)


def end_token(offset: int) -> Token:
    """The end of a logical line, as the parser sees it."""
    return Token("$END", "", offset, offset)


OFTEN = "BLANK IN NAME COMMA LPAR RPAR NEWLINE COLON LSQB RSQB PLUS MINUS AT SLASH NUMBER".split()
"""The terminals that most of a text is, in the order that they are tried in before the others: but for `in`, which is no name, what one of them
matches no other one does."""


@cache
def _pattern() -> re.Pattern[str]:
    patterns = dict(tables().patterns)
    names = [*OFTEN, *(name for name in patterns if name not in OFTEN)]
    return re.compile("|".join(f"(?P<{name}>{patterns[name]})" for name in names))


def scan(source: Source, limit: int, damaged: bool = False) -> tuple[list[Token], list[Comment], list[Diagnostic]]:
    """Tokens (newlines kept, blanks dropped), comments, and at most `limit` findings about single characters.

    NUL is skipped like a blank, since `read` has reported it. U+FFFD is skipped too, and reported once.
    """
    text = source.text.replace("\0", " ")
    keywords = tables().keywords
    tokens: list[Token] = []
    comments: list[Comment] = []
    found: list[Diagnostic] = []
    fresh = True  # no code on this line so far
    for match in _pattern().finditer(text):
        kind = match.lastgroup or "BAD"
        if kind == "BLANK":
            continue
        value = match.group()
        start, end = match.span()
        if kind == "NAME":
            kind = keywords.get(value, "NAME")
            if not value.isascii():
                value = unicodedata.normalize("NFC", value)
                if not value.isidentifier():
                    kind = "BAD"
        elif kind == "COMMENT":
            body = source.text[start:end].replace("\0", "").rstrip()
            comments.append(Comment(body, fresh, span=Span(start, start + len(body))))
            continue
        elif value == "\ufffd":
            if not damaged:
                found.append(not_utf8(source, Span(start, end), f"line {source.position(start)[0]} was not UTF-8"))
            damaged = True
            continue
        elif kind == "BAD" and value in LOOKALIKES:
            if len(found) < limit:
                found.append(_lookalike(source, value, Span(start, end)))
            value = LOOKALIKES[value]
            if not value.strip():
                continue
            kind = _TYPES[value]
        fresh = kind == "NEWLINE"
        tokens.append(Token(kind, value, start, end))
    return tokens, comments, found


def character(char: str) -> str:
    """A character in a message: itself if it is visible, and its number and Unicode name."""
    code = f"U+{ord(char):04X}"
    name = unicodedata.name(char, "")
    if char.isprintable() and not char.isspace():
        return f"`{char}`" if char.isascii() else f"`{char}` ({f'{code} {name.lower()}'.strip()})"
    return f"the character {code}" + (f" ({name.lower()})" if name else "")


def _lookalike(source: Source, char: str, span: Span) -> Diagnostic:
    meant = LOOKALIKES[char]
    if meant.strip():
        hint = f"write `{meant}`"
    else:
        hint = "write an ordinary space" if meant else "delete it: it cannot be seen and means nothing here"
    return Diagnostic(
        "FW1038",
        f"{character(char)} is not a character of the language",
        span,
        source,
        label="not ASCII",
        rule="Operators and blanks are plain ASCII (and `≤`, `≥`, `∈`, `·`).",
        hint=hint,
        fix=Fix(hint, span, meant),
    )
