"""Makes nodes of `tree` from the values of a rule's symbols: an entry of `ACTIONS` for each alias in `fw.lark`."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from math import isinf
from typing import Any

from fwdsl.grammar import tree
from fwdsl.grammar.diagnostic import Diagnostic, Fix
from fwdsl.grammar.lexer import Token
from fwdsl.grammar.source import Source, Span

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


def _ident(token: Token) -> tree.Ident:
    return tree.Ident(token.text, span=token.span)


def more(parts: Parts) -> Parts:
    # `first` opens a list, this appends to it; separators are kept where they mean something (operators).
    # The parser's stack holds the only reference, so appending in place is safe, and takes linear time for many terms.
    grown, *rest = parts
    grown.extend(part for part in rest if not (isinstance(part, Token) and part.type == "COMMA"))
    return grown  # type: ignore[no-any-return]


def number(parts: Parts) -> tree.Number:
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
    return tree.Number(value, token.text, span=token.span)


def string(parts: Parts) -> tree.String:
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
    return tree.String(_ESCAPE.sub(resolve, body) if "\\" in body else body, span=token.span)


def call(parts: Parts) -> tree.Call:
    arguments = parts[2] if len(parts) == 4 else []
    keywords = tuple(a for a in arguments if isinstance(a, tree.Keyword))
    positional = tuple(a for a in arguments if not isinstance(a, tree.Keyword))
    if keywords and positional and positional[-1].span.start > keywords[0].span.start:
        late = next(a for a in positional if a.span.start > keywords[0].span.start)
        raise Refused(
            "FW1067",
            f"`{parts[0].text}` is given an argument without a name after `{keywords[0].name.name}=`",
            late.span,
            "Arguments without a name come first.",
            f"move it in front of `{keywords[0].name.name}=`, or name it",
        )
    return tree.Call(_ident(parts[0]), positional, keywords, span=_span(parts))


def duration(parts: Parts) -> tree.Keyword:
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
    value = tree.Number(seconds, f"{amount.text} {unit.text}", span=amount.span.to(unit.span))
    return tree.Keyword(_ident(option), value, span=option.span.to(unit.span))


def sum_(parts: Parts) -> tree.Sum:
    flat = parts[0]
    signed = flat if isinstance(flat[0], Token) else [Token("PLUS", "+", 0, 0), *flat]
    signs = tuple(1 if sign.type == "PLUS" else -1 for sign in signed[::2])
    return tree.Sum(tuple(signed[1::2]), signs, span=_span(parts))


def product(parts: Parts) -> tree.Product:
    flat = parts[0]
    ops = {"STAR": "*", "SLASH": "/", "AT": "@"}
    return tree.Product(tuple(flat[::2]), tuple(ops[t.type] for t in flat[1::2]), span=_span(parts))  # type: ignore[misc]


def slice_(parts: Parts) -> tree.Slice:
    ends, *rest = parts
    colon = next(i for i, part in enumerate(ends) if isinstance(part, Token))
    start, stop = ends[0] if colon else None, ends[-1] if colon < len(ends) - 1 else None
    return tree.Slice(start, stop, rest[-1] if len(rest) == 2 else None, span=_span(parts))


def type_of(parts: Parts) -> tree.TypeExpr:
    head, _, of = parts
    if head.name.name == "index" and isinstance(of, tree.TypeExpr) and not of.dims and of.of is None:
        of = tree.Name(of.name.name, span=of.span)  # `index[n] of T`: T is a dimension, not a type
    return replace(head, of=of, span=_span(parts))  # type: ignore[no-any-return]


def from_source(parts: Parts) -> tuple[str, Span, tree.Expr]:
    source = parts[1]
    if source.args and not isinstance(source.args[0], tree.String):
        path = source.args[0]
        quoted = f'"{path.id}"' if isinstance(path, tree.Name) else None
        raise Refused(
            "FW1064",
            f"the path of `{source.func.name}` is not in quotes",
            path.span,
            "A path is a text in double quotes.",
            f"write `{quoted}`" if quoted else f'write `{source.func.name}("...")`',
            quoted,
        )
    return "source", _span(parts), source


def item(parts: Parts) -> tree.Item:
    declared, _, kind, *rest = parts
    end = rest[-1][1].end if rest else kind.span.end
    return tree.Item(_ident(declared), kind, **{k: v for k, _, v in rest}, span=Span(declared.start, end))


def comparison(parts: Parts) -> tree.Comparison:
    flat = parts[0]
    ops = {"LE": "<=", "GE": ">=", "EQEQ": "=="}
    return tree.Comparison(tuple(flat[::2]), tuple(ops[t.type] for t in flat[1::2]), span=_span(parts))  # type: ignore[misc]


ACTIONS: dict[str, Callable[[Parts], Any]] = {
    "first": lambda parts: parts,
    "more": more,
    # atoms
    "name": lambda parts: tree.Name(parts[0].text, span=parts[0].span),
    "number": number,
    "boolean": lambda parts: tree.Boolean(parts[0].type == "TRUE", span=parts[0].span),
    "string": string,
    "list": lambda parts: tree.List(tuple(parts[1]) if len(parts) == 3 else (), span=_span(parts)),
    "group": lambda parts: replace(parts[1], span=_span(parts)),
    "call": call,
    "keyword": lambda parts: tree.Keyword(_ident(parts[0]), parts[2], span=_span(parts)),
    "duration": duration,
    # expressions
    "neg": lambda parts: tree.Neg(parts[1], span=_span(parts)),
    "sum": sum_,
    "product": product,
    "transpose": lambda parts: tree.Transpose(parts[0], span=_span(parts)),
    "index": lambda parts: tree.Index(parts[0], tuple(parts[2]), span=_span(parts)),
    "slice": slice_,
    # types and statements
    "type": lambda parts: tree.TypeExpr(
        _ident(parts[0]), tuple(parts[2]) if len(parts) == 4 else (), span=_span(parts)
    ),
    "type_of": type_of,
    "member_of": lambda parts: ("member", _span(parts), parts[1]),
    "from_source": from_source,
    "from_value": lambda parts: ("value", _span(parts), parts[1]),
    "item": item,
    "declaration": lambda parts: tree.Declaration(parts[0].text, tuple(parts[1]), span=_span(parts)),
    "version": lambda parts: tree.Version(number(parts[1:]), span=_span(parts)),
    "problem": lambda parts: tree.ProblemName(_ident(parts[1]), span=_span(parts)),
    "let": lambda parts: tree.Let(_ident(parts[1]), parts[3], span=_span(parts)),
    "objective": lambda parts: tree.Objective(parts[0].text, parts[1], span=_span(parts)),
    "solve": lambda parts: tree.Solve(tuple(parts[1]), span=_span(parts)),
    "comparison": comparison,
    "member": lambda parts: tree.Member(parts[0], parts[2], span=_span(parts)),
    "constraint": lambda parts: tree.NamedRelation(
        parts[-1], _ident(parts[0]) if len(parts) == 3 else None, span=_span(parts)
    ),
}
