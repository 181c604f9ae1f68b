"""Checks sets: their parameters, and the expressions that they can contain."""

from __future__ import annotations

from math import isfinite

from ..grammar import tree
from ..grammar.diagnostic import Fix
from ..model import Dim, Expr, SetRef, Type
from ..words import CONVEX, SETS, Parameter, SetWord, elsewhere
from . import algebra, shapes
from .arguments import BoundArguments, bind_arguments, option, report_unknown_sign, signature
from .atoms import symmetric_hint
from .context import Context
from .further import group_arguments, is_falling
from .operands import constant, count, is_finite, wrong_kind
from .scalars import scalar_sign, tidied

_RADIUS_RULE = "A radius is a positive scalar."


def needs_symmetry(node: tree.Expr) -> bool:
    """True if what is written is a set of symmetric matrices."""
    name = node.id if isinstance(node, tree.Name) else node.func.name if isinstance(node, tree.Call) else ""
    return name in SETS and SETS[name].of == "symmetric"


def set_ref(ctx: Context, node: tree.Expr, value: Expr, at: tree.Node) -> SetRef | None:
    """The set that a program writes for an expression; None after an error. For a family it holds for each block."""
    type_ = value.type.block
    call = _as_call(ctx, node, type_)
    return None if call is None else _set(ctx, call, type_, at, value)


def _as_call(ctx: Context, node: tree.Expr, type_: Type | None = None) -> tree.Call | None:
    """The set's name and arguments. Reports what is no set."""
    if isinstance(node, tree.Name):
        node = tree.Call(tree.Ident(node.id, span=node.span), span=node.span)
    if not isinstance(node, tree.Call):
        ctx.error(
            "FW2008", f"`{ctx.text(node)}` is not a set", node.span, rule="Behind `in` stands a set of the language."
        )
        return None
    name = node.func.name
    if name in SETS:
        return node
    from ..words.foreign import foreign
    from .foreign import report_foreign

    record = foreign(name, "call") if name not in ctx.entries else None
    if record is not None and name.lower() not in _elsewhere():
        rule = "Behind `in` stands a set of the language."
        report_foreign(ctx, record, "FW2008", f"there is no set `{name}`", node.func.span, rule)
        return None
    ctx.unknown(
        "FW2008",
        f"there is no set `{name}`" if name not in ctx.entries else f"`{name}` is not a set",
        name,
        node.func.span,
        SETS,
        elsewhere=_elsewhere(),
        fits=lambda word: type_ is None or _may_hold(SETS[word], type_),
        labels=ctx.declared(tree.Name(name)),
        rule="Behind `in` stands a set of the language.",
        otherwise="the sets are " + ", ".join(f"`{s}`" for s in SETS),
    )
    return None


def _elsewhere() -> dict[str, str]:
    """Sets by the names that other languages have for them. The name of a norm stands for its ball."""
    return {name: function.ball for name, function in CONVEX.items() if function.ball} | elsewhere(SETS.values())


def _may_hold(sig: SetWord, type_: Type) -> bool:
    """True if a set contains arrays with this number of axes."""
    axes = len(type_.array_shape)
    if sig.of == "symmetric":
        return type_.is_symmetric
    return {0: sig.scalar, 1: sig.of in ("vector", "entrywise")}.get(axes, sig.of != "vector")


def _set(ctx: Context, call: tree.Call, type_: Type, at: tree.Node, value: Expr | None = None) -> SetRef | None:
    name = call.func.name
    sig = SETS[name]
    bound = bind_arguments(ctx, call, sig.parameters)
    fits = _is_of(ctx, call, sig, type_, at, value)
    if bound is None or not fits:
        return None
    if sig.stands_for:
        outer, inner = sig.stands_for
        return SetRef(outer, inner=SetRef(inner, (("r", algebra.ONE),)), span=call.span)
    if sig.inner:
        return _of_vectors(ctx, call, bound, type_, at)
    args = _arguments(ctx, call, bound, sig, type_)
    return None if args is None else SetRef(name, args, span=call.span)


def _of_vectors(ctx: Context, call: tree.Call, bound: BoundArguments, type_: Type, at: tree.Node) -> SetRef | None:
    """`rows(SET)`, `columns(SET)`, `vec(SET)`."""
    inner = _as_call(ctx, bound["set"])
    if inner is None:
        return None
    if SETS[inner.func.name].of not in ("vector", "entrywise"):
        ctx.error(
            "FW2053",
            f"`{call.func.name}` makes a set of matrices from a set of vectors, and `{inner.func.name}` is none",
            inner.span,
            rule="`rows`, `columns` and `vec` take a set of vectors.",
            hint="several constraints on one variable mean their intersection: write them side by side",
        )
        return None
    rows, columns = type_.array_shape
    how = SETS[call.func.name].inner
    size: Dim = columns if how == "rows" else rows
    if how == "entries":
        size = rows * columns if isinstance(rows, int) and isinstance(columns, int) else f"{rows}*{columns}"
    ref = _set(ctx, inner, shapes.of_shape((size,)), at)
    return None if ref is None else SetRef(call.func.name, inner=ref, span=call.span)


def _is_of(ctx: Context, call: tree.Call, sig: SetWord, type_: Type, at: tree.Node, value: Expr | None = None) -> bool:
    """True if the set contains such expressions."""
    name, text = call.func.name, ctx.text(at)
    axes = len(type_.array_shape)
    matrix = shapes.has_two_axes(type_)
    if (sig.of == "entrywise" and (axes or sig.scalar) and axes <= 2) or (sig.of == "vector" and axes == 1):
        return True
    if (sig.of == "symmetric" and type_.is_symmetric) or (sig.of == "matrix" and matrix):
        return True
    if sig.of == "square" and matrix and type_.array_shape[0] == type_.array_shape[1]:
        return True
    if sig.of_matrices and matrix:
        other = sig.of_matrices
        ctx.error(
            "FW2052",
            f"`{name}` on the matrix `{text}` could be two things",
            call.span,
            labels=ctx.declared(at),
            rule=f"`{name}` is of vectors; the ball of the Frobenius norm is `{other}`.",
            hint=f"write `{other}(r)` for the sum of all squares, `rows({name}(r))` for each row",
            fix=Fix(f"use `{other}`", call.func.span, other),
        )
    elif sig.of == "vector" and matrix:
        inner = ctx.text(call)
        ctx.error(
            "FW2053",
            f"`{name}` is a set of vectors, and `{text}` is {shapes.describe_type(type_)}",
            call.span,
            labels=ctx.declared(at),
            rule="A set of vectors on a matrix says whether it holds for each row, each column or all entries as one vector.",
            hint=f"write `rows({inner})`, `columns({inner})` or `vec({inner})`",
        )
    else:
        ctx.error(
            "FW2054",
            f"`{name}` is a set of {_OF[sig.of]}, and `{text}` is {shapes.describe_type(type_)}",
            call.span,
            labels=ctx.declared(at),
            rule="A set contains what it is of.",
            hint=_other_set(ctx, sig, type_, at, value),
        )
    return False


_OF = {
    "vector": "vectors",
    "entrywise": "vectors and matrices",
    "matrix": "matrices",
    "square": "square matrices",
    "symmetric": "symmetric matrices",
}


def _other_set(ctx: Context, sig: SetWord, type_: Type, at: tree.Node, value: Expr | None) -> str:
    if not type_.array_shape:
        return "a number is bounded by comparisons: `-1 <= b <= 1`"
    if sig.of == "symmetric" and shapes.has_two_axes(type_):
        return symmetric_hint(ctx, at, value) if value is not None else ""
    if sig.of == "matrix" and shapes.has_one_axis(type_):
        return f"for a vector write `{sig.of_vectors}`" if sig.of_vectors else ""
    return ""


# --- parameters ----------------------------------------------------------------------------------------------------


def _arguments(
    ctx: Context, call: tree.Call, bound: BoundArguments, sig: SetWord, type_: Type
) -> tuple[tuple[str, Expr], ...] | None:
    args: list[tuple[str, Expr]] = []
    fine = True
    for parameter in sig.parameters:
        name = parameter.name
        if name in ("groups", "weights"):
            continue
        if name == "r":
            value = radius(ctx, call, bound["r"])
        elif parameter.domain == "count":
            value = count(ctx, call, name, bound[name], type_.array_shape[0] if type_.array_shape else 1)
        elif parameter.domain != "value":
            value = option(ctx, call.func.name, parameter, bound[name])
        else:
            value = constant(ctx, call, bound[name])
            if value is not None and parameter.shape != "bound" and not is_finite(ctx, value, bound[name]):
                value = None
            if value is not None and not _has_shape(ctx, call, parameter, bound, value, type_):
                value = None
            if value is not None and parameter.falls and not is_falling(ctx, call, bound[name], value, type_):
                value = None
        fine = fine and value is not None
        if value is not None:
            args.append((name, value))
    if "groups" in bound:
        grouped = group_arguments(ctx, call, bound, type_)
        fine = fine and grouped is not None
        args.extend(grouped or ())
    found = dict(args)
    if not fine or _is_empty(ctx, call, sig, found) or not _have_one_size(ctx, call, bound, sig, found):
        return None
    return tuple(args)


def radius(ctx: Context, call: tree.Call, node: tree.Expr) -> Expr | None:
    """The radius that a node writes: a constant scalar that is proved positive; None after an error."""
    value = constant(ctx, call, node)
    if value is None:
        return None
    if not value.type.is_scalar:
        wrong_kind(ctx, call, node, value.type, "a number as its radius")
        return None
    return tidied(value) if check_radius(ctx, value, node) else None


def check_radius(ctx: Context, value: Expr, node: tree.Node, text: str = "") -> bool:
    """True if a constant scalar is a radius. Reports one that is not proved positive.

    Messages write `text` for it where that differs from the program's text."""
    number, sign = algebra.number(value), scalar_sign(value)
    if sign == "positive" and (number is None or isfinite(number)):
        return True
    if number is None and sign in ("unknown", "nonnegative"):
        report_unknown_sign(ctx, "the radius", node, value, "positive", text=text)
        return False
    what = "zero" if sign == "zero" else "infinite" if sign == "positive" else "negative"
    hint = {
        "zero": "write `x == 0` for a point",
        "infinite": "leave the constraint out",
        "negative": "no point is in such a set",
    }
    ctx.error(
        "FW2065", f"the radius `{text or ctx.text(node)}` is {what}", node.span, rule=_RADIUS_RULE, hint=hint[what]
    )
    return False


def _has_shape(
    ctx: Context, call: tree.Call, parameter: Parameter, bound: BoundArguments, value: Expr, type_: Type
) -> bool:
    """True if a set's parameter has the shape that fits the expression."""
    name, shape, of = parameter.name, value.type.array_shape, type_.array_shape
    size = of[0] if of else 1
    match parameter.shape:
        case "bound":
            fits, takes = shape in ((), of), f"a number or {shapes.describe_type(shapes.of_shape(of))} as a bound"
        case "entries":
            fits, takes = shape == (size,), f"a vector of `{size}` entries as `{name}`"
        case "number":
            fits, takes = shape == (), f"a number as `{name}`"
        case "columns":
            fits, takes = len(shape) == 2 and shape[1] == size, f"a matrix of `{size}` columns as `{name}`"
        case _:
            fits, takes = len(shape) == 1 or shape == (), f"a vector as `{name}`"
    if not fits:
        wrong_kind(
            ctx,
            call,
            bound[name],
            value.type,
            takes,
            f"the set is written `{signature(call.func.name, SETS[call.func.name].parameters)}`",
        )
    return fits


def _have_one_size(ctx: Context, call: tree.Call, bound: BoundArguments, sig: SetWord, args: dict[str, Expr]) -> bool:
    """True if a right-hand side has an entry for each row of the matrix before it."""
    matrix = ""
    for parameter in sig.parameters:
        if parameter.shape == "columns":
            matrix = parameter.name
        if parameter.shape != "right":
            continue
        rows, b = args[matrix].type.array_shape[0], args[parameter.name]
        if b.type.array_shape not in ((), (rows,)):
            takes = f"a right-hand side with an entry for each of the `{rows}` rows of `{ctx.text(bound[matrix])}`"
            wrong_kind(ctx, call, bound[parameter.name], b.type, takes)
            return False
    return True


def _is_empty(ctx: Context, call: tree.Call, sig: SetWord, args: dict[str, Expr]) -> bool:
    """True if no number lies between the two bounds of a set."""
    bounds = [algebra.number(args[p.name]) for p in sig.parameters if p.shape == "bound"]
    if len(bounds) < 2:
        return False
    low, high = bounds
    if low is None or high is None or (low <= high and low < float("inf") and high > -float("inf")):
        return False
    report_empty_box(ctx, call, low, high)
    return True


def report_empty_box(ctx: Context, node: tree.Node, low: float, high: float) -> None:
    """Report a box whose lower bound exceeds its upper bound."""
    ctx.error(
        "FW2066",
        f"no number lies between {low:g} and {high:g}",
        node.span,
        rule="The lower bound of a box is at most its upper bound, and both leave room for finite numbers.",
        hint="exchange the bounds" if low > high else "",
    )
