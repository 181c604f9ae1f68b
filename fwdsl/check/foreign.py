"""Names from elsewhere: reports what a program takes from CVXPY, Convex.jl, JuMP, NumPy or scikit-learn, with what to write in its place.

Where a call means exactly something here the help has it in the user's own names, and the fix writes it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, replace
from functools import cache
from typing import cast

from ..grammar import format_expr, parse, tree
from ..grammar.diagnostic import Fix
from ..grammar.source import Span
from ..model import Expr
from ..words.foreign import Argument, Foreign, Kind, Way, foreign, is_said
from ..words.keywords import KEYWORDS
from .context import Context

_MAKES: Mapping[Kind, str] = {
    "integer": "makes an integer program",
    "complex": "makes a program in complex numbers",
    "quasi-convex": "makes a program that is quasi-convex at best",
    "geometric": "belongs to geometric programs",
    "not convex": "makes a program that is not convex",
    "steps": "is a step of a script",
    "no program": "fits no convex program",
}
_CONVEX = "A program minimises a convex function of real variables over a convex set."
_STARTS = tuple(name for name, word in KEYWORDS.items() if word.starts)
_SHAPES = {0: "scalar", 1: "vector", 2: "matrix"}


def report_foreign(
    ctx: Context, record: Foreign, code: str, message: str, span: Span, rule: str, hint: str = ""
) -> None:
    """Report a name from elsewhere: by its kind where that is out, else as unknown, with what to write."""
    if record.kind:
        name = ctx.source.text[span.start : span.end]  # in its own case
        ctx.error("FW2074", f"`{name}` {_MAKES[record.kind]}", span, rule=_CONVEX, hint=record.why)
    else:
        ctx.error(code, message, span, rule=rule, hint=record.why)


def foreign_call(ctx: Context, node: tree.Call) -> bool:
    """Report the call of a function from elsewhere; False where the name is nobody's. Infers its arguments, which may have findings of their own."""
    record = foreign(node.func.name, "call")
    if record is None:
        return False
    ways = [(way, bound) for way in record.ways if is_said(way) and (bound := _bound(way, node)) is not None]
    named = {id(argument) for _, bound in ways for argument, _ in bound.values()}
    shapes = {
        id(argument): _shape(ctx, argument)
        for argument in _arguments(node)
        if not isinstance(argument, tree.String) and (not ways or id(argument) in named)
    }
    new = ctx.new_name(node.span) if record.variable and ways else ""
    further: dict[str, tree.Expr] = {record.variable: tree.Name(new, span=node.span)} if new else {}
    said = next(
        (
            _bracketed(ctx, written(way, {n: a for n, (a, _) in bound.items()} | further), node.span)
            for way, bound in ways
            if all(not shape or shapes.get(id(argument)) == shape for argument, shape in bound.values())
        ),
        "",
    )
    hint = f"{f'declare `var {new}: real` and ' if new else ''}write `{said}`" if said else ""
    fix = Fix(hint, node.span, said) if said and not new else None
    if record.several:
        message = f"`{node.func.name}` could be any of several norms"
        rule = "A norm is called by its own name: ambiguity is refused."
        ctx.error("FW2050", message, node.func.span, rule=rule, hint=hint or record.why, fix=fix)
        return True
    rule = "The functions are the losses, norms, feature maps and operations of the language."
    message = f"there is no function `{node.func.name}`"
    if said:
        ctx.error("FW2006", message, node.span, rule=rule, hint=hint, fix=fix)
    else:
        report_foreign(ctx, record, "FW2006", message, node.func.span, rule)
    return True


def written(way: Way, arguments: Mapping[str, tree.Expr]) -> tree.Expr:
    """The expression that a way writes for the arguments of a call."""
    return cast(tree.Expr, _replaced(_template(way.text), arguments))


@cache
def _template(text: str) -> tree.Expr:
    program, _ = parse(f"let template = {text}\n")
    (statement,) = program.statements
    return cast(tree.Let, statement).value


def _replaced(node: tree.Node, arguments: Mapping[str, tree.Expr]) -> tree.Node:
    if isinstance(node, tree.Name):
        return arguments.get(node.id, node)
    changes: dict[str, object] = {}
    for f in fields(node):
        value = getattr(node, f.name)
        if isinstance(value, tree.Node):
            changes[f.name] = _replaced(value, arguments)
        elif isinstance(value, tuple) and any(isinstance(v, tree.Node) for v in value):
            changes[f.name] = tuple(_replaced(v, arguments) if isinstance(v, tree.Node) else v for v in value)
    return replace(node, **changes) if changes else node  # type: ignore[arg-type]


def _arguments(node: tree.Call) -> Iterator[tree.Expr]:
    yield from node.args
    yield from (k.value for k in node.keywords)


def _bound(way: Way, node: tree.Call) -> dict[str, tuple[tree.Expr, str]] | None:
    """The arguments of a call by the names of a way, each with the shape that it has to have; None where the call is another."""
    pattern = way.pattern
    plain = [a for a in pattern if not a.keyword]
    keywords = {k.name.name: k.value for k in node.keywords}
    if len(plain) != len(node.args) or {a.keyword for a in pattern if a.keyword} != set(keywords):
        return None
    pairs: Sequence[tuple[Argument, tree.Expr]] = [
        *zip(plain, node.args, strict=True),
        *((a, keywords[a.keyword]) for a in pattern if a.keyword),
    ]
    if any(a.literal and format_expr(value) != a.literal for a, value in pairs):
        return None
    return {a.name: (value, a.shape) for a, value in pairs if a.name}


def _shape(ctx: Context, node: tree.Expr) -> str:
    value = ctx.infer(ctx, node)
    if not isinstance(value, Expr) or value.type.is_family:
        return ""
    return _SHAPES.get(len(value.type.array_shape), "")


def _bracketed(ctx: Context, node: tree.Expr, span: Span) -> str:
    """The text of an expression, in brackets where it is a sum or a product that is to stand in a larger one."""
    text = format_expr(node)
    if not isinstance(node, tree.Sum | tree.Product | tree.Neg):
        return text
    whole = ctx.source.text
    before, after = whole[: span.start].rstrip(" "), whole[span.end :].lstrip(" ")
    alone = (not before or before[-1] in "(,[=\n" or before.endswith(_STARTS)) and (not after or after[0] in "),]\n")
    return text if alone else f"({text})"
