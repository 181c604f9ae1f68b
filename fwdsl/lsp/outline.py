"""The parts of a program that are read off its text: its outline, the colours of its words, and hints of dimensions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ..grammar import tree
from ..grammar.source import Span
from ..words import CONVEX, LOSSES
from .analysis import Analysis, Marked
from .roles import Role

# --- the outline -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Symbol:
    """A statement or a name in the outline: `kind` is "data", "param", "var", "let", "objective", "constraints", "constraint" or "solve"."""

    name: str
    detail: str
    kind: str
    whole: Span
    own: Span
    children: tuple[Symbol, ...] = ()


def symbols(analysis: Analysis) -> tuple[Symbol, ...]:
    """The declarations, objective and constraints that could be parsed, in the order of the text."""
    return tuple(s for statement in analysis.examined.program.statements for s in _symbols(analysis, statement))


def _symbols(analysis: Analysis, statement: tree.Statement) -> Iterator[Symbol]:
    def text(span: Span) -> str:
        return " ".join(analysis.source.slice(span).split())[:80]

    match statement:
        case tree.Declaration():
            for item in statement.items:
                detail = text(item.type.span)
                yield Symbol(item.name.name, detail, statement.kind, item.span, item.name.span)
        case tree.Let():
            seen = analysis.describe(statement.name.name)
            yield Symbol(statement.name.name, seen.type if seen else "", "let", statement.span, statement.name.span)
        case tree.Objective():
            yield Symbol(statement.sense, text(statement.value.span), "objective", statement.span, statement.span)
        case tree.SubjectTo():
            children = tuple(
                Symbol(
                    node.name.name if node.name is not None else text(node.relation.span),
                    text(node.relation.span) if node.name is not None else "",
                    "constraint",
                    node.span,
                    node.name.span if node.name is not None else node.span,
                )
                for node in statement.constraints
            )
            yield Symbol("subject to", "", "constraints", statement.span, statement.span, children)
        case tree.Solve():
            options = ", ".join(text(option.span) for option in statement.options)
            yield Symbol("solve", options, "solve", statement.span, statement.span)
        case _:
            return


# --- colours ---------------------------------------------------------------------------------------------------------

TOKEN_TYPES = (
    "keyword type typeParameter variable parameter function class namespace property enumMember number string operator comment"
).split()
"""The types of semantic tokens, all of the protocol's own."""

TOKEN_MODIFIERS = ["declaration", "readonly", "defaultLibrary"]

_COLOURS = {
    Role.KEYWORD: "keyword",
    Role.TYPE: "type",
    Role.DIMENSION: "typeParameter",
    Role.FUNCTION: "function",
    Role.SET: "class",
    Role.SOURCE: "function",
    Role.ARGUMENT: "property",
    Role.OPTION: "property",
    Role.CHOICE: "enumMember",
    Role.METHOD: "function",
    Role.LABEL: "property",
    Role.TITLE: "namespace",
    Role.NUMBER: "number",
    Role.STRING: "string",
    Role.OPERATOR: "operator",
}
_OF_LANGUAGE = (Role.TYPE, Role.FUNCTION, Role.SET, Role.SOURCE)
_KINDS = {"param": "parameter", "dimension": "typeParameter"}
_FIXED = ("data", "param", "dimension")


def colours(analysis: Analysis) -> list[tuple[Span, str, tuple[str, ...]]]:
    """Each word with its type and modifiers, comments among them, in the order of the text."""
    found = [(w.span, *_colour(analysis, w)) for w in analysis.words if w.role is not Role.OTHER]
    found += [(c.span, "comment", ()) for c in analysis.comments]
    return sorted((f for f in found if f[0].end > f[0].start), key=lambda f: f[0].start)


def _colour(analysis: Analysis, word: Marked) -> tuple[str, tuple[str, ...]]:
    if word.role in (Role.NAME, Role.DECLARATION):
        entry = analysis.entries.get(word.token.text)
        kind = entry.kind if entry is not None else ""
        fixed = ("readonly",) if kind in _FIXED else ()
        declared = ("declaration",) if word.role is Role.DECLARATION else ()
        return _KINDS.get(kind, "variable"), declared + fixed
    own = ("defaultLibrary",) if word.role in _OF_LANGUAGE else ()
    return _COLOURS[word.role], ("declaration",) if word.role is Role.LABEL else own


# --- hints of dimensions ---------------------------------------------------------------------------------------------


def hints(analysis: Analysis, start: int, end: int) -> list[tuple[int, str]]:
    """The type behind the name of each `let`, and that before each prediction or argument of a norm but bare names; by offset, within a range."""
    found: list[tuple[int, str]] = []
    for statement in analysis.examined.program.statements:
        if isinstance(statement, tree.Let):
            seen = analysis.describe(statement.name.name)
            if seen is not None and seen.has_type:
                found.append((statement.name.span.end, f": {seen.type}"))
        if isinstance(statement, tree.Let | tree.Objective | tree.SubjectTo):
            found += _arguments(analysis, statement)
    return sorted((at, text) for at, text in found if start <= at <= end)


def _arguments(analysis: Analysis, statement: tree.Node) -> Iterator[tuple[int, str]]:
    stack: list[tree.Node] = [statement]
    while stack:
        node = stack.pop()
        stack.extend(node.children())
        if isinstance(node, tree.Call) and node.func.name in (*LOSSES, *CONVEX) and node.args:
            argument = node.args[0]
            seen = None if isinstance(argument, tree.Name) else analysis.seen(argument)
            if seen is not None and seen.has_type and not seen.is_number:
                # behind the argument it would look like the type of its last name
                yield argument.span.start, f"{seen.type}: "
