"""The role of each word of a text: a keyword, a type, a declared name, a function, an argument, ... by its place in its statement.

It needs tokens alone, so it tells as much of a statement that is half written as of a whole one; completion asks it what may stand at the cursor.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from ..grammar.lexer import Token
from ..grammar.lines import CLOSING, OPENING, STARTERS, Line, next_line, skip_newlines
from ..grammar.words import KEYWORDS
from ..words import SETS, TYPES


class Role(StrEnum):
    """The role of a token. A `name` is the use of a declared name, and `dimension` one in a type, which also declares it."""

    KEYWORD = "keyword"
    TYPE = "type"
    DIMENSION = "dimension"
    DECLARATION = "declaration"
    NAME = "name"
    FUNCTION = "function"
    SET = "set"
    SOURCE = "source"
    ARGUMENT = "argument"
    OPTION = "option"
    CHOICE = "choice"
    METHOD = "method"
    LABEL = "label"
    TITLE = "title"
    NUMBER = "number"
    STRING = "string"
    OPERATOR = "operator"
    OTHER = "other"


NAMES = frozenset((Role.DECLARATION, Role.NAME, Role.DIMENSION, Role.LABEL))
"""The roles of words that stand for something of the program."""


@dataclass
class Bracket:
    """An open bracket: what is called, and the argument that is being given."""

    opener: str
    callee: str = ""
    role: Role = Role.OTHER
    argument: str = ""
    position: int = 0
    given: list[str] = field(default_factory=list)


@dataclass
class Place:
    """The place before a token: the statement's first terminal, the part of it, the open brackets, the last token.

    `part` is "start", "declared" (where a new name stands), "type", "of", "set", "source", "value" (an expression), "options", "option" (the value of
    one), "title" or "other". `option` is that whose value is given, `of` the type before the word `of`.
    """

    kind: str
    part: str
    brackets: list[Bracket] = field(default_factory=list)
    last: Token | None = None
    last_role: Role = Role.OTHER
    option: str = ""
    of: str = ""
    given: list[str] = field(default_factory=list)

    @property
    def call(self) -> Bracket | None:
        """The innermost call whose brackets are open."""
        return next((b for b in reversed(self.brackets) if b.callee), None)


_PARTS = {"PROBLEM": "title", "DATA": "declared", "PARAM": "declared", "VAR": "declared", "LET": "declared"}
_PARTS |= {"MINIMIZE": "value", "MAXIMIZE": "value", "SOLVE": "options"}
DECLARING = ("DATA", "PARAM", "VAR")
"""The terminals that begin declarations."""

_BY_TYPE = {"NUMBER": Role.NUMBER, "STRING": Role.STRING, "SINGLE": Role.STRING, "OPEN": Role.STRING}
_TERMINAL_PARTS = {"OF": "of", "FROM": "source", "IN": "set"}


def logical_lines(tokens: Sequence[Token]) -> Iterator[Line]:
    """The logical lines of a text, as the parser cuts it where nothing is misspelt."""
    index, in_list = skip_newlines(tokens, 0), False
    while index < len(tokens):
        line = next_line(tokens, index, in_list, lambda at: False)
        in_list = line.kind == "SUBJECT" or (in_list and line.kind == "CONSTRAINT")
        yield line
        index = skip_newlines(tokens, line.next)


def roles_of(line: Line) -> tuple[list[Role], Place]:
    """The role of each token of a logical line, and the place before its last token."""
    reading = _Reading(line)
    return reading.roles, reading.place


class _Reading:
    """One pass over the tokens of a logical line."""

    def __init__(self, line: Line) -> None:
        self.now = Place(line.kind, "start")
        self.tokens = line.tokens
        self.roles: list[Role] = []
        self.place = self.now
        for i, token in enumerate(line.tokens):
            if i == len(line.tokens) - 1:
                now = self.now
                self.place = Place(
                    now.kind,
                    now.part,
                    list(now.brackets),
                    now.last,
                    now.last_role,
                    now.option,
                    now.of,
                    list(now.given),
                )
            role = self._take(i, token)
            self.roles.append(role)
            self.now.last, self.now.last_role = token, role

    def _follows(self, i: int, kind: str) -> bool:
        return i + 1 < len(self.tokens) and self.tokens[i + 1].type == kind

    def _take(self, i: int, token: Token) -> Role:
        now = self.now
        if i == 0:
            now.part = _PARTS.get(now.kind, "value" if now.kind in ("CONSTRAINT", "STRAY") else "other")
            if now.kind == "STRAY" and token.type == "NAME":
                return Role.OTHER
        if token.type in OPENING:
            self._open(token)
        elif token.type in CLOSING:
            if now.brackets:
                now.brackets.pop()
        elif token.type == "COMMA":
            self._comma()
        elif token.type == "EQUAL":
            self._equal(i)
        elif token.type == "COLON" and not now.brackets and now.kind in DECLARING:
            now.part = "type"
        if token.type == "NAME":
            return self._name(i, token)
        if token.type in KEYWORDS or token.type in STARTERS:
            return self._keyword(token)
        return _BY_TYPE.get(token.type, Role.OPERATOR)

    def _open(self, token: Token) -> None:
        now, callee = self.now, ""
        called = now.last is not None and now.last.type == "NAME" and token.type == "LPAR"
        if called and now.last is not None:
            callee = now.last.text
        now.brackets.append(Bracket(token.text, callee, now.last_role if called else Role.OTHER))

    def _comma(self) -> None:
        now = self.now
        if now.brackets:
            bracket = now.brackets[-1]
            bracket.position, bracket.argument = bracket.position + 1, ""
        elif now.kind in DECLARING:
            now.part = "declared"
        elif now.part == "option":
            now.part, now.option = "options", ""

    def _equal(self, i: int) -> None:
        now = self.now
        before = self.tokens[i - 1].text if i else ""
        if now.brackets:
            now.brackets[-1].argument = before
            now.brackets[-1].given.append(before)
        elif now.part == "options":
            now.part, now.option = "option", before
            now.given.append(before)
        elif now.kind in (*DECLARING, "LET"):
            now.part = "value"

    def _keyword(self, token: Token) -> Role:
        now = self.now
        if not now.brackets and token.type in _TERMINAL_PARTS:
            if token.type == "OF" and now.last is not None:
                now.of = next((t.text for t in reversed(self.tokens[: len(self.roles)]) if t.text in TYPES), "")
            now.part = _TERMINAL_PARTS[token.type]
        return Role.TYPE if token.text in TYPES else Role.KEYWORD

    def _name(self, i: int, token: Token) -> Role:
        now, name = self.now, token.text
        bracket = now.brackets[-1] if now.brackets else None
        if bracket is not None and bracket.opener == "(" and self._follows(i, "EQUAL"):
            return Role.ARGUMENT
        called = self._follows(i, "LPAR")
        if now.part == "option":
            return Role.CHOICE if now.brackets and now.call is not None else Role.METHOD if called else Role.CHOICE
        if bracket is not None and now.part in ("type", "of"):
            return Role.FUNCTION if called else Role.DIMENSION if now.call is None else Role.NAME
        if bracket is None and now.part in _PLAIN:
            return _PLAIN[now.part]
        if bracket is None and now.part == "of":
            return Role.TYPE if name in TYPES else Role.DIMENSION
        if bracket is None and now.part == "source":
            return Role.SOURCE
        if now.kind == "CONSTRAINT" and i == 0 and self._follows(i, "COLON"):
            return Role.LABEL
        if name in SETS and (called or now.part == "set" or (now.call is not None and now.call.role is Role.SET)):
            return Role.SET
        return Role.FUNCTION if called else Role.NAME


_PLAIN = {"declared": Role.DECLARATION, "type": Role.TYPE, "title": Role.TITLE, "options": Role.OPTION}
