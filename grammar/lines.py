"""The newline filter, which decides which lines make one statement.

It uses one token of lookahead, the bracket depth, and the kind of statement.

A line goes on while a bracket is open; after a comma, `=`, `:`, `of`, `from`, `in`, a binary operator or a comparison;
where the next line starts with `from`, `in`, `of`, a closing bracket, a comparison, `*`, `/` or `@`; and in `minimize`,
`maximize` and `let` also where it starts with `+` or `-`. Blank lines and comments in between do not count. A keyword
that starts a statement always starts one at the start of a line, even in a bracket that somebody forgot to close.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from fwdsl.grammar.lexer import Token
from fwdsl.grammar.modellers import MACROS
from fwdsl.light_dataclass import light_dataclass

STARTERS = frozenset("FW PROBLEM DATA PARAM VAR LET MINIMIZE MAXIMIZE SUBJECT SOLVE".split())
OPENING = {"LPAR": "RPAR", "LSQB": "RSQB"}
CLOSING = {"RPAR": "LPAR", "RSQB": "LSQB"}
COMPARISONS = frozenset("LE GE EQEQ STRICT BACKWARDS UNEQUAL".split())
_TIMES = frozenset("STAR SLASH AT POWER".split())
CONTINUING = COMPARISONS | _TIMES | frozenset("COMMA EQUAL COLON OF FROM IN PLUS MINUS".split())
_BEFORE = COMPARISONS | _TIMES | frozenset("FROM IN OF RPAR RSQB".split())
_SIGNS = frozenset(("PLUS", "MINUS"))


@light_dataclass
class Line:
    """A logical line: a statement, the words `subject to`, one constraint, or (`STRAY`) a line that starts with no keyword.

    `kind` is the terminal that the line starts with, `CONSTRAINT` or `STRAY`. `stop` is the token that ended the line, if
    it was a comma between constraints or a semicolon. `next` is the index at which the text goes on.
    """

    kind: str
    tokens: tuple[Token, ...]
    stop: Token | None
    next: int


def skip_newlines(tokens: Sequence[Token], index: int) -> int:
    """The index of the first token from `index` on that is no newline."""
    while index < len(tokens) and tokens[index].type == "NEWLINE":
        index += 1
    return index


def next_line(tokens: Sequence[Token], index: int, in_list: bool, starts: Callable[[int], bool]) -> Line:
    """The logical line that starts at `index`, a token that is no newline. `in_list` says that it follows a `subject to`.

    `starts` decides whether the name at an index, at the start of a line, is meant as a keyword.
    """
    kind = tokens[index].type
    if kind == "SUBJECT":
        to = index + 1 < len(tokens) and tokens[index + 1].type == "TO"
        return Line(kind, tuple(tokens[index : index + 1 + to]), None, index + 1 + to)
    if kind not in STARTERS:
        kind = "CONSTRAINT" if in_list else "STRAY"
    line: list[Token] = []
    open_brackets = 0
    broken = False  # whether a newline stands between the last token of the line and this one
    for i in range(index, len(tokens)):
        token = tokens[i]
        if token.type == "NEWLINE":
            broken = True
            continue
        if broken and (
            not _continues(kind, line, token, open_brackets)
            or (token.type == "NAME" and starts(i))
            or _is_macro(tokens, i)
        ):
            return Line(kind, tuple(line), None, i)
        if not open_brackets and (token.type == "SEMICOLON" or (token.type == "COMMA" and kind == "CONSTRAINT")):
            return Line(kind, tuple(line), token, i + 1)
        broken = False
        line.append(token)
        if token.type in OPENING:
            open_brackets += 1
        elif token.type in CLOSING and open_brackets:
            open_brackets -= 1
    return Line(kind, tuple(line), None, len(tokens))


def _is_macro(tokens: Sequence[Token], index: int) -> bool:
    """True if a statement of JuMP starts at a token: `@variable(...)`, which continues no product."""
    here, after = tokens[index], tokens[index + 1 : index + 3]
    return here.type == "AT" and [t.type for t in after] == ["NAME", "LPAR"] and after[0].text in MACROS


def _continues(kind: str, line: list[Token], token: Token, open_brackets: int) -> bool:
    """True if a line goes on with `token`, the first token after a newline."""
    if token.type in STARTERS:
        return False
    if open_brackets or not line or line[-1].type in CONTINUING or token.type in _BEFORE:
        return True
    if kind in ("MINIMIZE", "MAXIMIZE"):
        return token.type in _SIGNS or len(line) == 1
    return kind == "LET" and token.type in _SIGNS
