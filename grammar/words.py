"""Words for the grammar's terminals in messages."""

from __future__ import annotations

from collections.abc import Collection

from fwdsl.grammar.lexer import Token, character

_SHOWN = 40

SPELLING = {
    "$END": "the end of the line",
    "NAME": "a name",
    "NUMBER": "a number",
    "STRING": "a text in quotes",
    "TRANSPOSE": "`.T`",
    "LE": "`<=`",
    "GE": "`>=`",
    "EQEQ": "`==`",
    "EQUAL": "`=`",
    "PLUS": "`+`",
    "MINUS": "`-`",
    "STAR": "`*`",
    "SLASH": "`/`",
    "AT": "`@`",
    "COLON": "`:`",
    "COMMA": "`,`",
    "LPAR": "`(`",
    "RPAR": "`)`",
    "LSQB": "`[`",
    "RSQB": "`]`",
} | {
    word.upper(): f"`{word}`"
    for word in (
        "fw problem data param var let minimize maximize subject to solve in of from family true false inf".split()
    )
}
KEYWORDS = frozenset(t for t, spelling in SPELLING.items() if spelling == f"`{t.lower()}`" and t.isalpha())
# Terminals that are named together where all of them are possible, in the order in which messages list them.
_GROUPS = (
    ("an expression", frozenset("NAME NUMBER LPAR LSQB MINUS STRING TRUE FALSE INF".split())),
    ("a comparison", frozenset("LE GE EQEQ".split())),
    ("an operator", frozenset("PLUS MINUS STAR SLASH AT TRANSPOSE".split())),
    ("an operator", frozenset("STAR SLASH AT TRANSPOSE".split())),
    ("an operator", frozenset("PLUS MINUS".split())),
)
_LAST = ("an operator", SPELLING["$END"])


def quoted(text: str) -> str:
    """A piece of the program in a message, cut where it is long."""
    flat = " ".join(text.split())
    return f"`{flat}`" if len(flat) <= _SHOWN else f"`{flat[: _SHOWN - 1]}…`"


def found(token: Token) -> str:
    """The token found, in words."""
    if token.type == "$END":
        return SPELLING["$END"]
    if token.type in KEYWORDS:
        return f"the keyword {quoted(token.text)}"
    if token.type == "BAD" and len(token.text) == 1:
        return character(token.text)
    if token.type == "STRING":
        return f"the text {quoted(token.text)}"
    return quoted(token.text)


def expected(accepts: Collection[str]) -> str:
    """The terminals expected, in a few words joined by `or`."""
    left = set(accepts)
    words: list[str] = []
    for word, group in _GROUPS:
        if group <= left:
            left -= group
            words.append(word)
    if "an operator" in words:
        left -= {"LSQB", "LPAR"}  # an index or a call: nobody misses these behind an operand
    words += [spelling for terminal, spelling in SPELLING.items() if terminal in left]
    words = [w for w in dict.fromkeys(words) if w not in _LAST] + [w for w in _LAST if w in words]
    return words[0] if len(words) == 1 else ", ".join(words[:-1]) + " or " + words[-1]
