"""Checks the declarations: `data`, `param`, `var` and `let`."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from ..grammar import tree
from ..model import DataDecl, Expr, ParamDecl, Sign, Type, VarDecl
from ..words import FEATURE_MAPS, NUMBERS, SETS, TYPES
from . import algebra, shapes, signs
from .arguments import bind_arguments
from .context import Context, Entry
from .data import data_item, serve
from .infer import infer_whole
from .scalars import scalar_sign
from .types import resolve_type
from .values import Combination, Value


@dataclass
class Declared:
    """The declarations of a program, in order. `members` holds the sets that variables are declared in."""

    data: list[DataDecl] = field(default_factory=list)
    params: list[ParamDecl] = field(default_factory=list)
    variables: list[VarDecl] = field(default_factory=list)
    members: list[tuple[tree.Item, Expr]] = field(default_factory=list)
    lets: list[tuple[str, Value]] = field(default_factory=list)


def declare(ctx: Context, node: tree.Declaration, out: Declared) -> None:
    """Enter the items of a `data`, `param` or `var` statement."""
    if node.kind == "data":
        declared = [data_item(ctx, item) for item in node.items]
        out.data.extend(serve(ctx, declared))
        return
    for item in node.items:
        if node.kind == "param":
            _param(ctx, item, out)
        else:
            _variable(ctx, item, out)


def _param(ctx: Context, item: tree.Item, out: Declared) -> None:
    type_ = resolve_type(ctx, item.type, "param")
    if type_ is not None and not (type_.is_scalar or type_.is_vector or type_.is_matrix):
        ctx.error(
            "FW2022",
            f"parameter `{item.name.name}` is {shapes.describe_type(type_)}",
            item.type.span,
            rule="A parameter is a number (`real`, `positive`, `nonnegative` or `count`), a `vector` or a `matrix`.",
            hint=f"declare it as data: `data {ctx.text(item.name)}: {ctx.text(item.type)}`",
        )
        type_ = None
    bounds = None if item.member is None else _bounds(ctx, item, item.member)
    if type_ is not None and bounds is not None and bounds[0] >= 0.0 and type_.domain == "real":
        type_ = replace(type_, domain="nonnegative")
    if item.source is not None:
        ctx.error(
            "FW2024",
            f"parameter `{item.name.name}` is read from a source",
            item.source.span,
            rule="A parameter has a default, or a value given with `--set`; data is read from sources.",
            hint=f"write `param {item.name.name}: {ctx.text(item.type)} = 1`, or declare it as `data`",
        )
    default = None if item.value is None else _default(ctx, item, item.value, type_, bounds)
    value = None
    if type_ is not None:
        sign: Sign = NUMBERS[type_.domain].sign
        if sign == "unknown" or (bounds is not None and bounds[0] > 0.0):
            sign = "unknown" if bounds is None else signs.between(*bounds)
        value = Expr("param", type_, name=item.name.name, value=bounds, sign=sign, span=item.name.span)
    entry = Entry(item.name.name, "param", item.name.span, value, f"`{ctx.text(item.type)}`", item.type.span)
    if ctx.declare(entry) and type_ is not None:
        out.params.append(ParamDecl(item.name.name, type_, default, item.span, bounds))


def _bounds(ctx: Context, item: tree.Item, member: tree.Expr) -> tuple[float, float] | None:
    """The bounds of a parameter declared `in nonnegative` or `in box(lo, hi)`; None after an error."""
    word = member.id if isinstance(member, tree.Name) else member.func.name if isinstance(member, tree.Call) else ""
    signature = SETS.get(word)
    if signature is not None and signature.bounds and not signature.scaled:
        bound = bind_arguments(ctx, member, signature.parameters) if isinstance(member, tree.Call) else {}
        if bound is None:
            return None
        values = {name: ctx.infer(ctx, part) for name, part in bound.items()}
        if None in values.values():
            return None
        args = {n: v for n, v in values.items() if isinstance(v, Expr) and algebra.number(v) is not None}
        if len(args) == len(signature.parameters):
            lo, hi = (algebra.number(end) for end in signature.bounds_of(args, algebra.const, algebra.negate))
            if lo is not None and hi is not None and lo <= hi:
                return lo, hi
    ctx.error(
        "FW2023",
        f"parameter `{item.name.name}` cannot be declared `in {ctx.text(member)}`",
        member.span,
        rule="A parameter may be declared in `nonnegative`, or in a `box` between two numbers that are written out.",
        hint=f"write `param {item.name.name}: {_bounded(ctx, item, word)}`",
    )
    return None


def _bounded(ctx: Context, item: tree.Item, word: str) -> str:
    """The type that a parameter is declared with in place of the promise `in word`."""
    type_ = ctx.text(item.type)
    if word not in TYPES or not TYPES[word].is_number:
        return f"{type_} in box(0, 1)"
    return (
        word if item.type.name.name in TYPES and TYPES[item.type.name.name].is_number else f"{type_} in box(1e-9, inf)"
    )


def _default(
    ctx: Context, item: tree.Item, node: tree.Expr, type_: Type | None, bounds: tuple[float, float] | None
) -> Expr | None:
    """The default of a parameter: a value in its domain, made of numbers, dimensions and other parameters."""
    value = ctx.infer(ctx, node)
    if value is None or type_ is None:
        return None
    name = item.name.name
    if isinstance(value, Combination) or any(e.op in ("data", "var") for e in value.walk()):
        value = None
    elif not type_.is_scalar:
        written = value.op == "literal" and len(value.type.array_shape) == len(type_.array_shape)
        if written or value.type.array_shape == type_.array_shape:
            return value
        ctx.error(
            "FW2029",
            f"the default of `{name}` is {shapes.describe_type(value.type)}, and `{name}` is {shapes.describe_type(type_)}",
            node.span,
            labels=ctx.declared(tree.Name(name)),
            rule="A default has the shape of its parameter.",
            hint=f"write `ones({', '.join(map(str, type_.shape))})`, or the numbers in square brackets",
        )
        return None
    if value is None or not value.type.is_scalar:
        ctx.error(
            "FW2029",
            f"the default of `{name}` is not {'a scalar' if type_.is_scalar else 'made'} of numbers, dimensions and parameters",
            node.span,
            rule="A default is computed before any data is read.",
            hint=f"leave the default out and give the value with `--set {name}=...`",
        )
        return None
    number, sign = algebra.number(value), scalar_sign(value)
    domain = NUMBERS[type_.domain]
    if number is None:
        wrong = (domain.sign == "positive" and signs.is_nonpositive(sign)) or (
            domain.sign == "nonnegative" and sign == "negative"
        )
    else:
        wrong = not domain.holds(number)
    if not wrong and number is not None and bounds is not None and not bounds[0] <= number <= bounds[1]:
        ctx.error(
            "FW2029",
            f"the default `{ctx.text(node)}` of `{name}` is not between {bounds[0]:g} and {bounds[1]:g}",
            node.span,
            rule="A default lies in the set that its parameter is declared in.",
        )
        return None
    if not wrong and (number is None or abs(number) < float("inf")):
        return value
    ctx.error(
        "FW2029",
        f"the default `{ctx.text(node)}` of `{name}` is {domain.missed if wrong else 'not finite'}",
        node.span,
        labels=ctx.declared(tree.Name(name)),
        rule=f"A default is in the domain of its parameter, here `{type_.domain}`.",
    )
    return None


def _variable(ctx: Context, item: tree.Item, out: Declared) -> None:
    name, type_ = item.name.name, resolve_type(ctx, item.type, "var")
    if type_ is not None and not _may_vary(ctx, item):
        type_ = None
    for part in (item.source, item.value):
        if part is not None:
            ctx.error(
                "FW2024",
                f"variable `{name}` is given a value",
                part.span,
                rule="A variable is what is solved for; data and parameters have values.",
                hint="a start is given when solving (`solve(start=...)`); a known value is `data` or `param`",
            )
    value = None
    if type_ is not None:
        sign: Sign = "nonnegative" if type_.domain == "nonnegative" else "unknown"
        value = Expr("var", type_, name=name, sign=sign, variables=frozenset({name}), span=item.name.span)
    entry = Entry(name, "var", item.name.span, value, f"`{ctx.text(item.type)}`", item.type.span)
    if ctx.declare(entry) and type_ is not None and value is not None:
        out.variables.append(VarDecl(name, type_, item.span))
        block = type_.block
        if item.member is not None or block.domain == "nonnegative" or block.is_psd:
            out.members.append((item, value))


def _may_vary(ctx: Context, item: tree.Item) -> bool:
    word = item.type.name.name
    if TYPES[word].var:
        return True
    hint = {
        "positive": "write `nonnegative`: the minimum over an open set need not exist",
        "count": "write `real` or `nonnegative`: whole numbers are not a convex set",
        "tensor": "write `family[T] of matrix[n, d]` for several matrices",
        "signs": "write `vector[...]`, bounded by `-1 <= x <= 1`",
    }.get(word, "")
    ctx.error(
        "FW2022",
        f"variable `{item.name.name}` cannot be `{ctx.text(item.type)}`",
        item.type.span,
        rule="Variables are " + ", ".join(f"`{t}`" for t, s in TYPES.items() if s.var) + ".",
        hint=hint,
    )
    return False


def declare_let(ctx: Context, node: tree.Let, out: Declared) -> None:
    """`let NAME = EXPR`: the name of an expression, of terms of the objective, or of a feature map."""
    name = node.name.name
    if isinstance(node.value, tree.Call) and node.value.func.name in FEATURE_MAPS:
        ctx.naming = name
    value = infer_whole(ctx, node.value)
    ctx.naming = ""
    if isinstance(value, Expr) and value.type.kind in ("string", "boolean", "entries", "labels", "index"):
        ctx.error(
            "FW2036",
            f"`{name}` would name {shapes.describe_type(value.type)}",
            node.value.span,
            rule="`let` names a numeric expression, terms of the objective, or a feature map.",
        )
        value = None
    if isinstance(value, Combination) and value.samples is None:
        value = value.named(name)
    kept = value
    if isinstance(value, Expr) and value.type.is_scalar and value.op != "var":
        kept = replace(value)
        if not kept.is_constant:
            ctx.let_names[id(kept)] = name
    text = ""
    if isinstance(value, Expr):
        implicit = value.type.is_features
        text = shapes.describe_type(value.type) if implicit else f"`{shapes.format_type(value.type)}`"
    if ctx.declare(Entry(name, "let", node.name.span, kept, text)) and kept is not None:
        out.lets.append((name, kept))
