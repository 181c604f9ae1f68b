"""Makes nodes of `tree` from the values of a rule's symbols: one function for each alias in `fw.lark`."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from math import isinf
from typing import Any

from fwdsl.grammar.diagnostic import Diagnostic, Fix
from fwdsl.grammar.lexer import Token
from fwdsl.grammar.source import Source, Span
from fwdsl.grammar.tree import (
    Boolean,
    Call,
    Comparison,
    Declaration,
    Expr,
    Ident,
    Index,
    Item,
    Keyword,
    Let,
    List,
    Member,
    Name,
    NamedRelation,
    Neg,
    Number,
    Objective,
    ProblemName,
    Product,
    Slice,
    Solve,
    String,
    Sum,
    Transpose,
    TypeExpr,
    Version,
)

Parts = list[Any]
"""The values of the symbols of a rule: nodes, tokens, lists of them, None."""

UNITS = {"s": 1.0, "min": 60.0}
_ESCAPES = {"n": "\n", "t": "\t", '"': '"', "\\": "\\"}
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)")


@dataclass(frozen=True)
class Refused(Exception):
    """A rule matched a text that has no meaning. The exception holds the parts of a diagnostic."""

    code: str
    message: str
    span: Span
    rule: str
    hint: str
    replacement: str | None = None

    def diagnostic(self, source: Source) -> Diagnostic:
        """The finding, in its source."""
        fix = None if self.replacement is None else Fix(self.hint, self.span, self.replacement)
        return Diagnostic(self.code, self.message, self.span, source, rule=self.rule, hint=self.hint, fix=fix)


def _span(parts: Parts) -> Span:
    return Span(_first(parts).start, _last(parts).end)


def _first(part: Any) -> Span:
    while isinstance(part, list):
        part = part[0]
    return part.span  # type: ignore[no-any-return]


def _last(part: Any) -> Span:
    while isinstance(part, list):
        part = part[-1]
    return part.span  # type: ignore[no-any-return]


def _ident(token: Token) -> Ident:
    return Ident(token.text, span=token.span)


# --- lists: `first` opens one, `more` appends to it; separators are kept where they mean something (operators)


def first(parts: Parts) -> Parts:
    return parts


def more(parts: Parts) -> Parts:
    # The parser's stack holds the only reference, so appending in place is safe, and takes linear time for many terms.
    grown, *rest = parts
    grown.extend(part for part in rest if not (isinstance(part, Token) and part.type == "COMMA"))
    return grown  # type: ignore[no-any-return]


# --- atoms


def name(parts: Parts) -> Name:
    return Name(parts[0].text, span=parts[0].span)


def number(parts: Parts) -> Number:
    token = parts[0]
    value = float(token.text)
    if isinf(value) and token.type != "INF":
        raise Refused(
            "FW1037",
            "this number is too large",
            token.span,
            "Numbers are double precision floats, at most 1.8e308.",
            "write `inf` if infinity is meant",
        )
    return Number(value, token.text, span=token.span)


def boolean(parts: Parts) -> Boolean:
    return Boolean(parts[0].type == "TRUE", span=parts[0].span)


def string(parts: Parts) -> String:
    token = parts[0]

    def resolve(match: re.Match[str]) -> str:
        escape = match.group(1)
        if escape in _ESCAPES:
            return _ESCAPES[escape]
        code = int(escape[1:], 16) if len(escape) == 5 else 0xD800
        if not 0xD800 <= code <= 0xDFFF:
            return chr(code)
        start = token.start + 1 + match.start()
        raise Refused(
            "FW1036",
            f"`\\{escape}` is not an escape",
            Span(start, start + 1 + len(escape)),
            'In a text, `\\` stands before `\\`, `"`, `n`, `t` or `u` with four hexadecimal digits.',
            "write `\\\\` for a backslash; in paths, `/` works on every system",
        )

    body = token.text[1:-1]
    return String(_ESCAPE.sub(resolve, body) if "\\" in body else body, span=token.span)


def list_(parts: Parts) -> List:
    return List(tuple(parts[1]) if len(parts) == 3 else (), span=_span(parts))


def group(parts: Parts) -> Expr:
    return replace(parts[1], span=_span(parts))  # type: ignore[no-any-return]


def call(parts: Parts) -> Call:
    arguments = parts[2] if len(parts) == 4 else []
    keywords = tuple(a for a in arguments if isinstance(a, Keyword))
    positional = tuple(a for a in arguments if not isinstance(a, Keyword))
    if keywords and positional and positional[-1].span.start > keywords[0].span.start:
        late = next(a for a in positional if a.span.start > keywords[0].span.start)
        raise Refused(
            "FW1067",
            f"`{parts[0].text}` is given an argument without a name after `{keywords[0].name.name}=`",
            late.span,
            "Arguments without a name come first.",
            f"move it in front of `{keywords[0].name.name}=`, or name it",
        )
    return Call(_ident(parts[0]), positional, keywords, span=_span(parts))


def keyword(parts: Parts) -> Keyword:
    return Keyword(_ident(parts[0]), parts[2], span=_span(parts))


def duration(parts: Parts) -> Keyword:
    option, _, amount, unit = parts
    if unit.text not in UNITS:
        raise Refused(
            "FW1066",
            f"`{unit.text}` is not a unit of time",
            unit.span,
            "A time is in seconds (`s`) or minutes (`min`).",
            f"write `{amount.text} s` or `{amount.text} min`",
        )
    seconds = number([amount]).value * UNITS[unit.text]
    value = Number(seconds, f"{amount.text} {unit.text}", span=amount.span.to(unit.span))
    return Keyword(_ident(option), value, span=option.span.to(unit.span))


# --- expressions


def neg(parts: Parts) -> Neg:
    return Neg(parts[1], span=_span(parts))


def sum_(parts: Parts) -> Sum:
    flat = parts[0]
    signed = flat if isinstance(flat[0], Token) else [Token("PLUS", "+", 0, 0), *flat]
    signs = tuple(1 if sign.type == "PLUS" else -1 for sign in signed[::2])
    return Sum(tuple(signed[1::2]), signs, span=_span(parts))


def product(parts: Parts) -> Product:
    flat = parts[0]
    ops = {"STAR": "*", "SLASH": "/", "AT": "@"}
    return Product(tuple(flat[::2]), tuple(ops[t.type] for t in flat[1::2]), span=_span(parts))  # type: ignore[misc]


def transpose(parts: Parts) -> Transpose:
    return Transpose(parts[0], span=_span(parts))


def index(parts: Parts) -> Index:
    return Index(parts[0], tuple(parts[2]), span=_span(parts))


def slice_(parts: Parts) -> Slice:
    colon = next(i for i, part in enumerate(parts) if isinstance(part, Token))
    return Slice(parts[0] if colon else None, parts[-1] if colon < len(parts) - 1 else None, span=_span(parts))


# --- types and statements


def type_(parts: Parts) -> TypeExpr:
    return TypeExpr(_ident(parts[0]), tuple(parts[2]) if len(parts) == 4 else (), span=_span(parts))


def type_of(parts: Parts) -> TypeExpr:
    head, _, of = parts
    if head.name.name == "index" and isinstance(of, TypeExpr) and not of.dims and of.of is None:
        of = Name(of.name.name, span=of.span)  # `index[n] of T`: T is a dimension, not a type
    return replace(head, of=of, span=_span(parts))  # type: ignore[no-any-return]


def member_of(parts: Parts) -> tuple[str, Span, Expr]:
    return "member", _span(parts), parts[1]


def from_source(parts: Parts) -> tuple[str, Span, Expr]:
    source = parts[1]
    if source.args and not isinstance(source.args[0], String):
        path = source.args[0]
        quoted = f'"{path.id}"' if isinstance(path, Name) else None
        raise Refused(
            "FW1064",
            f"the path of `{source.func.name}` is not in quotes",
            path.span,
            "A path is a text in double quotes.",
            f"write `{quoted}`" if quoted else f'write `{source.func.name}("...")`',
            quoted,
        )
    return "source", _span(parts), source


def from_value(parts: Parts) -> tuple[str, Span, Expr]:
    return "value", _span(parts), parts[1]


def item(parts: Parts) -> Item:
    declared, _, kind, *rest = parts
    end = rest[-1][1].end if rest else kind.span.end
    return Item(_ident(declared), kind, **{k: v for k, _, v in rest}, span=Span(declared.start, end))


def declaration(parts: Parts) -> Declaration:
    return Declaration(parts[0].text, tuple(parts[1]), span=_span(parts))


def version(parts: Parts) -> Version:
    return Version(number(parts[1:]), span=_span(parts))


def problem(parts: Parts) -> ProblemName:
    return ProblemName(_ident(parts[1]), span=_span(parts))


def let(parts: Parts) -> Let:
    return Let(_ident(parts[1]), parts[3], span=_span(parts))


def objective(parts: Parts) -> Objective:
    return Objective(parts[0].text, parts[1], span=_span(parts))


def solve(parts: Parts) -> Solve:
    return Solve(tuple(parts[1]), span=_span(parts))


def comparison(parts: Parts) -> Comparison:
    flat = parts[0]
    ops = {"LE": "<=", "GE": ">=", "EQEQ": "=="}
    return Comparison(tuple(flat[::2]), tuple(ops[t.type] for t in flat[1::2]), span=_span(parts))  # type: ignore[misc]


def member(parts: Parts) -> Member:
    return Member(parts[0], parts[2], span=_span(parts))


def constraint(parts: Parts) -> NamedRelation:
    return NamedRelation(parts[-1], _ident(parts[0]) if len(parts) == 3 else None, span=_span(parts))


ACTIONS: dict[str, Callable[[Parts], Any]] = {
    f.__name__.rstrip("_"): f
    for f in (
        first, more, name, number, boolean, string, list_, group, call, keyword, duration, neg, sum_, product,
        transpose, index, slice_, type_, type_of, member_of, from_source, from_value, item, declaration, version,
        problem, let, objective, solve, comparison, member, constraint,
    )
}  # fmt: skip
