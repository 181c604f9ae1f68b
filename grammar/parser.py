"""Turns a program's text into a syntax tree. Each statement is parsed alone, so that one run reports all wrong ones."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from functools import cache
from typing import Any

from fwdsl.grammar.build import ACTIONS, Refused
from fwdsl.grammar.diagnostic import Diagnostic, Fix
from fwdsl.grammar.failure import Failure, Slip
from fwdsl.grammar.lalr import Bound, Stop, run
from fwdsl.grammar.lexer import Token, end_token, scan
from fwdsl.grammar.lines import CLOSING, OPENING, STARTERS, Line, next_line, skip_newlines
from fwdsl.grammar.reader import read
from fwdsl.grammar.slips import explain
from fwdsl.grammar.source import Source, Span
from fwdsl.grammar.starts import mend_start, stray
from fwdsl.grammar.tables import tables
from fwdsl.grammar.tree import NamedRelation, Node, Program, Statement, SubjectTo, Version

LIMIT = 20
DEPTH = 200  # of brackets
TREE_DEPTH = 250  # of nodes, so that functions over the tree may recurse

_TOO_DEEP = "Brackets nest at most 200 deep, and operations at most 250."


def parse(text: str | bytes, name: str = "<text>") -> tuple[Program, tuple[Diagnostic, ...]]:
    """The program, and at most 20 findings in the order of the text. Never raises.

    The program holds the statements that could be parsed; `lost` has the names that the others may declare.
    """
    source, found = read(text, name)
    tokens, comments, unknown = scan(source, LIMIT, any(d.code == "FW1032" for d in found))
    reading = _Reading(source, tokens, [*found, *unknown])
    reading.run()
    program = Program(
        tuple(reading.statements),
        tuple(comments),
        source,
        tuple(dict.fromkeys(reading.lost)),
        span=Span(0, len(source.text)),
    )
    for statement in program.statements:
        if isinstance(statement, Version) and statement.number.value != 1:
            # The text has another version's syntax, which would cause all other findings.
            return program, (_version(source, statement),)
    late = [_late(source, statement) for statement in program.statements[1:] if isinstance(statement, Version)]
    diagnostics = sorted([*reading.found, *late], key=lambda d: d.span or Span(0, 0))
    return program, tuple(diagnostics[:LIMIT])


class _Reading:
    """One pass over the tokens: lines to statements, failures to diagnostics."""

    def __init__(self, source: Source, tokens: list[Token], found: list[Diagnostic]) -> None:
        self.source = source
        self.tokens = tokens
        self.found = found
        self.statements: list[Statement] = []
        self.lost: list[str] = []
        self.subject: Span | None = None  # the words `subject to` of the open list
        self.constraints: list[NamedRelation] = []
        # Whether the last line belonged to no statement, so that the next such line is not reported.
        self.astray = False

    def run(self) -> None:
        index = skip_newlines(self.tokens, 0)
        while index < len(self.tokens) and len(self.found) < LIMIT:
            if mended := mend_start(self.source, self.tokens, index, self.subject is not None):
                if not self.found or self.found[-1].span != mended.diagnostic.span:
                    self.found.append(mended.diagnostic)
                self.tokens[index : mended.stop] = mended.tokens
            line = next_line(self.tokens, index, self.subject is not None, self._meant_as_keyword)
            index = skip_newlines(self.tokens, self._take(line))
        self._close_list()

    def _meant_as_keyword(self, index: int) -> bool:
        """True if a name at the start of a line is a misspelt keyword. Within a statement only two operands in a row show it."""
        return mend_start(self.source, self.tokens, index, True) is not None

    def _take(self, line: Line) -> int:
        """Parse one line and return the index at which the text goes on."""
        if line.kind != "CONSTRAINT":
            self._close_list()
        if line.stop is not None and line.stop.type == "SEMICOLON":
            self.found.append(self._semicolon(line))
            if self.found[-1].fix and self.found[-1].fix.replacement == ",":
                self.tokens[line.next - 1] = line.stop._replace(type="COMMA", text=",")
                return bisect_left(self.tokens, line.tokens[0].start, key=lambda token: token.start)
        if line.kind == "STRAY":
            told = stray(self.source, line.tokens) if line.tokens else None
            # What has a fix is reported though the line before was no statement: the fix of one leaves the others.
            if told is not None and (not self.astray or told.fix):
                self.found.append(told)
            self.lost += _declared(line.tokens)
            self.astray = told is None or told.fix is None
            return line.next
        self.astray = False
        if line.kind == "SUBJECT":
            self.subject = line.tokens[0].span.to(line.tokens[-1].span)
            if len(line.tokens) == 1:
                self.found.append(_lone_subject(self.source, self.subject))
            elif self._at_end(line.next):
                self.found.append(_empty_list(self.source, self.subject))
            return line.next
        if line.kind == "CONSTRAINT":
            node, resume = self._parse("constraint", line) if line.tokens or _is_comma(line.stop) else (None, None)
            if node is not None:
                self.constraints.append(node)
            if _is_comma(line.stop) and resume is None and self._at_end(line.next):
                self.found.append(_trailing_comma(self.source, line.stop))
        else:
            node, resume = self._parse("statement", line)
            if node is not None:
                self.statements.append(node)
            # The text behind a semicolon belongs to the statement before it, or is reported by itself.
            if line.stop is not None:
                self.astray = True
        return line.next if resume is None else resume

    def _parse(self, start: str, line: Line) -> tuple[Any, int | None]:
        """The node, or None with a finding; and where to go on, if that is before the line's end."""
        tokens = line.tokens
        resume: int | None = None
        if (deep := _too_deep(tokens)) is not None:
            message = f"brackets are nested more than {DEPTH} deep"
            self.found.append(Diagnostic("FW1008", message, deep.span, self.source, rule=_TOO_DEEP, hint=_NAME_IT))
            self.lost += _declared(tokens)
            return None, None
        while True:
            end = end_token(tokens[-1].end if tokens else line.stop.start if line.stop else 0)
            try:
                node = run(tables(), start, tokens, end, _rules())
            except Refused as refused:
                self.found.append(refused.diagnostic(self.source))
                break
            if not isinstance(node, Stop):
                if len(tokens) > DEPTH and _tree_too_deep(node):
                    message = f"operations are nested more than {TREE_DEPTH} deep"
                    self.found.append(
                        Diagnostic("FW1008", message, node.span, self.source, rule=_TOO_DEEP, hint=_NAME_IT)
                    )
                    break
                return node, resume
            slip: Slip = explain(Failure(self.source, line.kind, tokens, node.index, node.accepts, end))
            self.found.append(slip.diagnostic)
            self.astray = slip.diagnostic.code == "FW1002"  # the missing part may stand on the next line
            if slip.resume is not None:
                resume = bisect_left(self.tokens, slip.resume, key=lambda token: token.start)
            if slip.mended is None or len(self.found) >= LIMIT:
                break
            tokens = slip.mended
        self.lost += _declared(tokens)
        return None, resume

    def _at_end(self, index: int) -> bool:
        index = skip_newlines(self.tokens, index)
        return index == len(self.tokens) or self.tokens[index].type in STARTERS

    def _close_list(self) -> None:
        if self.subject is not None and self.constraints:
            span = self.subject.to(self.constraints[-1].span)
            self.statements.append(SubjectTo(tuple(self.constraints), span=span))
        self.subject, self.constraints = None, []

    def _semicolon(self, line: Line) -> Diagnostic:
        assert line.stop is not None
        span = line.stop.span
        follows = [token.type for token in self.tokens[line.next : line.next + 2]]
        if follows in (["NAME", "COLON"], ["NAME", "EQUAL"]) and line.kind in ("DATA", "PARAM", "VAR", "SOLVE"):
            hint, right = "write `,`", ","
        elif follows and follows[0] != "NEWLINE":
            hint, right = "start a new line", "\n"
        else:
            hint, right = "delete it", ""
        return Diagnostic(
            "FW1005",
            "a `;` ends no statement",
            span,
            self.source,
            rule="A statement ends at the end of its line.",
            hint=hint,
            fix=Fix(hint, span, right),
        )


@cache
def _rules() -> tuple[Bound, ...]:
    """The productions, with the functions that make their values."""
    return tuple((r.length, r.origin, None if r.action is None else ACTIONS[r.action]) for r in tables().rules)


_NAME_IT = "name a part with `let` and use the name"


def _is_comma(token: Token | None) -> bool:
    return token is not None and token.type == "COMMA"


def _too_deep(tokens: Sequence[Token]) -> Token | None:
    """The bracket that is one too many."""
    depth = 0
    for token in tokens:
        if token.type in OPENING:
            depth += 1
            if depth > DEPTH:
                return token
        elif token.type in CLOSING and depth:
            depth -= 1
    return None


def _tree_too_deep(node: Node) -> bool:
    level: list[Node] = [node]
    for _ in range(TREE_DEPTH):
        level = [child for parent in level for child in parent.children()]
        if not level:
            return False
    return True


def _declared(tokens: Sequence[Token]) -> list[str]:
    """The names that a broken declaration may declare: all of its names, dimensions included."""
    if not tokens or tokens[0].type in ("MINIMIZE", "MAXIMIZE", "SOLVE", "PROBLEM"):
        return []
    return [token.text for token in tokens if token.type == "NAME"]


def _version(source: Source, statement: Version) -> Diagnostic:
    number = statement.number
    return Diagnostic(
        "FW1009",
        f"this program is written in version {number.text} of the language, and this is version 1",
        number.span,
        source,
        rule="`fw N` says which version of the language a program is written in.",
        hint="write `fw 1`, or use a fwdsl that knows that version",
    )


def _late(source: Source, statement: Version) -> Diagnostic:
    return Diagnostic(
        "FW1010",
        "`fw` is not the first statement",
        statement.span,
        source,
        rule="`fw 1` is the first statement of a program, or is left out.",
        hint="move it to the first line",
    )


def _lone_subject(source: Source, span: Span) -> Diagnostic:
    return Diagnostic(
        "FW1068",
        "`to` is missing after `subject`",
        span,
        source,
        rule="Constraints follow the words `subject to`.",
        hint="write `subject to`",
        fix=Fix("write `subject to`", span, "subject to"),
    )


def _empty_list(source: Source, span: Span) -> Diagnostic:
    return Diagnostic(
        "FW1052",
        "no constraint follows `subject to`",
        span,
        source,
        rule="`subject to` takes constraints, on its line or on lines of their own.",
        hint="write a constraint such as `x >= 0`, or delete `subject to`",
    )


def _trailing_comma(source: Source, comma: Token | None) -> Diagnostic:
    assert comma is not None
    return Diagnostic(
        "FW1050",
        "nothing follows the comma",
        comma.span,
        source,
        rule="Commas stand between things.",
        hint="delete the comma",
        fix=Fix("delete the comma", comma.span, ""),
    )
