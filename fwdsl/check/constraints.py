"""Checks and normalises constraints: memberships, affine comparisons, and norm balls in any arrangement."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from math import inf

from ..grammar import tree
from ..grammar.diagnostic import Fix, Label
from ..grammar.source import Span
from ..model import ConstraintDecl, Expr, SetRef
from ..words import BOX, CONVEX, NONNEGATIVE, PSD
from . import algebra, shapes
from .balls import ball, every_entry
from .context import Context
from .infer import infer_whole
from .reductions import rows_under
from .scalars import scalar_sign
from .sets import needs_symmetry, report_empty_box, set_ref
from .symmetry import assumed
from .values import Combination, Value

Made = list[ConstraintDecl]
_ORDER_RULE = "A comparison of a symmetric matrix, or of a matrix with zero, is ambiguous and refused."


def member(ctx: Context, node: tree.Member) -> Made | None:
    """`EXPR in SET`; None after an error."""
    value = infer_whole(ctx, node.value)
    if isinstance(value, Combination):
        ctx.error(
            "FW3005",
            f"`{ctx.text(node.value)}` is convex and not affine, and stands before `in`",
            node.value.span,
            rule="What a set should contain is affine in the variables.",
            hint="a norm is bounded by a comparison: `norm1(x) <= r`",
        )
        value = None
    if value is None or not _has_variable(ctx, value, node.value):
        return None
    value = assumed(value) if needs_symmetry(node.set) else value
    ref = set_ref(ctx, node.set, value, node.value)
    return None if ref is None else [ConstraintDecl("in", value, ref, text=ctx.text(node), span=node.span)]


def declared_sets(ctx: Context, item: tree.Item, variable: Expr) -> Made:
    """The constraints that a variable's declaration states: by its type (`nonnegative`, `psd[d]`), and by the set after `in`."""
    made: Made = []
    block = variable.type.block
    if block.domain == "nonnegative" or block.is_psd:
        ref = SetRef(NONNEGATIVE if block.is_scalar else PSD, span=item.type.span)
        made.append(ConstraintDecl("in", variable, ref, text=f"{item.name.name} in {ref.name}", span=item.type.span))
    if item.member is not None:
        ref_in = set_ref(ctx, item.member, variable, item.name)
        if ref_in is not None:
            text = f"{item.name.name} in {ctx.text(item.member)}"
            made.append(ConstraintDecl("in", variable, ref_in, text=text, span=item.name.span.to(item.member.span)))
    return made


def _has_variable(ctx: Context, value: Expr, node: tree.Node) -> bool:
    if value.variables:
        return True
    ctx.error(
        "FW2056",
        f"there is no variable in `{ctx.text(node)}`",
        node.span,
        labels=ctx.declared(node),
        rule="A constraint restricts variables; what data and parameters satisfy is said by their types.",
        hint="a sign is promised where it is declared: `param NAME: positive`, `data NAME: vector[n] in nonnegative`",
    )
    return False


# --- comparisons ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Side:
    """One side of a comparison."""

    value: Value
    node: tree.Expr


def comparison(ctx: Context, node: tree.Comparison) -> Made | None:
    """`a <= b`, `a >= b`, `a == b` and chains of them; None after an error."""
    operands = _row_by_row(ctx, node)
    values = [infer_whole(ctx, operand) for operand in operands]
    directions = {op for op in node.ops if op != "=="}
    if len(directions) > 1 or (len(node.ops) > 1 and "==" in node.ops):
        texts = [ctx.source.slice(operand.span) for operand in node.operands]
        apart = ", ".join(f"{a} {op} {b}" for a, op, b in zip(texts, node.ops, texts[1:], strict=False))
        ctx.error(
            "FW2055",
            f"`{ctx.text(node)}` mixes {' and '.join(f'`{op}`' for op in dict.fromkeys(node.ops))}",
            node.span,
            rule="The comparisons of a chain point in one direction, as in `0 <= x <= 1`.",
            hint=f"write `{apart}`",
            fix=Fix("write them as separate constraints", node.span, apart),
        )
        return None
    sides = [Side(v, o) for v, o in zip(values, operands, strict=True) if v is not None]
    if len(sides) < len(values) or not all(_is_comparable(ctx, s) for s in sides):
        return None
    flipped = node.ops[0] == ">="
    ordered = sides[::-1] if flipped else sides
    if len(ordered) == 3 and _is_box(ordered):
        made = _box(ctx, ordered[0], ordered[1], ordered[2], node.span)
        return None if made is None else [replace(made, flipped=flipped, text=ctx.text(node))]
    out: Made = []
    for left, right in pairwise(ordered):
        text = ctx.text(node) if len(ordered) == 2 else f"{ctx.text(left.node)} <= {ctx.text(right.node)}"
        single = _compare(ctx, left, right, node.ops[0], node.span)
        if single is None:
            return None
        out.append(replace(single, flipped=flipped, text=text, span=node.span))
    return out


def _row_by_row(ctx: Context, node: tree.Comparison) -> tuple[tree.Expr, ...]:
    """The sides, those of `max(f) <= t` without the `max`: f has a value for each row, and t is one number."""
    if len(node.operands) != 2 or node.ops[0] == "==":
        return node.operands
    small = 0 if node.ops[0] == "<=" else 1
    inner, bound = node.operands[small], node.operands[1 - small]
    found = rows_under(ctx, inner)
    if found is None or not isinstance(inner, tree.Call) or not CONVEX[inner.func.name].bounds_entries:
        return node.operands
    limit = infer_whole(ctx, bound)
    if limit is None or (limit.shape if isinstance(limit, Combination) else limit.type.array_shape):
        return node.operands
    sides = [inner.args[0], bound]
    return (sides[small], sides[1 - small])


def _is_comparable(ctx: Context, side: Side) -> bool:
    if isinstance(side.value, Combination) or shapes.is_numeric(side.value.type):
        return True
    ctx.error(
        "FW2036",
        f"`{ctx.text(side.node)}` is {shapes.describe_type(side.value.type)} and cannot be compared",
        side.node.span,
        labels=ctx.declared(side.node),
        rule="Comparisons are between numbers.",
    )
    return False


def _compare(ctx: Context, left: Side, right: Side, op: str, span: Span) -> ConstraintDecl | None:
    """left <= right, or left == right."""
    a, b = left.value, right.value
    if isinstance(a, Combination) or isinstance(b, Combination):
        entries = every_entry(a, b, left.node, right.node) if op != "==" else None
        if entries is None:
            return ball(ctx, a, b, left.node, right.node, op, span)
        e, bound = entries
        bounded = _bounded_variable(e, bound) if bound.is_constant else None
        if bounded is None or (bounded[2] is not None and scalar_sign(bounded[2]) != "positive"):
            return ConstraintDecl("le", _difference(e, bound), span=span)
        x, limit, factor = bounded
        made = _half_box(ctx, x, None, limit, right, span)
        return None if made is None else replace(made, factor=factor)
    if a.is_constant and b.is_constant:
        _has_variable(ctx, a, tree.Node(span=left.node.span.to(right.node.span)))
        return None
    scalar = a.type.is_scalar or b.type.is_scalar
    if not scalar and shapes.added(a.type, b.type) is None:
        _report_shapes(ctx, left, a, right, b, span)
        return None
    if op != "==" and not _is_entrywise(ctx, left, a, right, b, span):
        return None
    if op != "==":
        for e, bound, side, above in ((a, b, right, True), (b, a, left, False)):
            bounded = _bounded_variable(e, bound) if bound.is_constant else None
            if bounded is not None:
                x, limit, factor = bounded
                is_upper = above if factor is None or scalar_sign(factor) == "positive" else not above
                low, high = (None, limit) if is_upper else (limit, None)
                made = _half_box(ctx, x, low, high, side, span)
                return None if made is None else replace(made, factor=factor)
    if algebra.number(a) in (inf, -inf) or algebra.number(b) in (inf, -inf):
        _report_infinite(ctx, left, right, span)
        return None
    return ConstraintDecl("eq" if op == "==" else "le", _difference(a, b), span=span)


def _bounded_variable(e: Expr, bound: Expr) -> tuple[Expr, Expr, Expr | None] | None:
    """(x, (bound - k) / c, c) where e is c x + k for a variable x and constants k and c, a scalar of one sign. The constraint is then a box.

    c is None where it is 1.
    """
    constants = [a for a in e.args if a.is_constant] if e.op == "add" else []
    live = [a for a in e.args if not a.is_constant] if e.op == "add" else [e]
    if len(live) != 1:
        return None
    factor, x = _scaled_variable(live[0])
    fits = all(k.type.array_shape in ((), x.type.array_shape) for k in (bound, *constants))
    if x.op != "var" or x.type.is_family or not fits:
        return None
    if factor is not None and scalar_sign(factor) not in ("positive", "negative"):
        return None
    for k in constants:
        bound = _difference(bound, k)
    if factor is None or algebra.number(bound) == 0.0:
        return x, bound, factor
    if bound.type.is_scalar:
        return x, algebra.ratio(bound, factor), factor
    return x, algebra.divide(bound, factor, shapes.plain(bound.type), bound.span), factor


def _scaled_variable(e: Expr) -> tuple[Expr | None, Expr]:
    """The constant factors of an expression, None where there are none, and what is left."""
    if e.op == "neg":
        factor, rest = algebra.const(-1.0), e.args[0]
    elif e.op == "mul" and any(a.is_constant and a.type.is_scalar for a in e.args):
        first = e.args[0].is_constant and e.args[0].type.is_scalar
        factor, rest = e.args if first else e.args[::-1]
    elif e.op == "div" and e.args[1].type.is_scalar:
        factor, rest = algebra.ratio(algebra.ONE, e.args[1]), e.args[0]
    else:
        return None, e
    inner, rest = _scaled_variable(rest)
    return (factor if inner is None else algebra.times(factor, inner)), rest


def _difference(a: Expr, b: Expr) -> Expr:
    """a - b, without terms that are zero."""
    type_ = shapes.added(a.type, b.type)
    assert type_ is not None
    if algebra.number(b) == 0.0:
        return a
    if algebra.number(a) == 0.0:
        return algebra.negate(b)
    return algebra.add((a, algebra.negate(b)), type_, a.span.to(b.span))


def _half_box(
    ctx: Context, x: Expr, low: Expr | None, high: Expr | None, side: Side, span: Span
) -> ConstraintDecl | None:
    """A one-sided bound of a variable: `nonnegative`, or a box with an infinite side."""
    if low is not None and algebra.number(low) == 0.0:
        return ConstraintDecl("in", x, SetRef(NONNEGATIVE, span=span), span=span)
    bounds = (("lo", low or algebra.const(-inf)), ("hi", high or algebra.const(inf)))
    if algebra.number(bounds[0][1]) == -inf and algebra.number(bounds[1][1]) == inf:
        _report_infinite(ctx, side, side, span)
        return None
    if algebra.number(bounds[0][1]) == inf or algebra.number(bounds[1][1]) == -inf:
        report_empty_box(
            ctx, tree.Node(span=span), algebra.number(bounds[0][1]) or 0.0, algebra.number(bounds[1][1]) or 0.0
        )
        return None
    return ConstraintDecl("in", x, SetRef(BOX, bounds, span=span), span=span)


def _is_box(sides: list[Side]) -> bool:
    low, x, high = (s.value for s in sides)
    if isinstance(low, Combination) or isinstance(x, Combination) or isinstance(high, Combination):
        return False
    bounds = low.is_constant and high.is_constant and not x.is_constant
    return bounds and len(x.type.array_shape) < 3 and not x.type.is_family


def _box(ctx: Context, low: Side, x: Side, high: Side, span: Span) -> ConstraintDecl | None:
    """`lo <= e <= hi` of an affine e."""
    lo, e, hi = low.value, x.value, high.value
    assert isinstance(lo, Expr) and isinstance(e, Expr) and isinstance(hi, Expr)
    for side, bound in ((low, lo), (high, hi)):
        if bound.type.array_shape not in ((), e.type.array_shape):
            _report_shapes(ctx, side, bound, x, e, span)
            return None
    if e.type.is_symmetric:
        text = ctx.text(x.node)
        ctx.error(
            "FW2070",
            f"`{ctx.text(span)}` could mean every entry, or the order of positive semidefinite matrices",
            span,
            labels=ctx.declared(x.node),
            rule=_ORDER_RULE,
            hint=f"write `{text} in box({ctx.text(low.node)}, {ctx.text(high.node)})` for every entry, `{text} in psd` and the like "
            "for positive semidefinite matrices",
        )
        return None
    a, b = algebra.number(lo), algebra.number(hi)
    if a is not None and b is not None and (a > b or a == inf or b == -inf):
        report_empty_box(ctx, tree.Node(span=span), a, b)
        return None
    return ConstraintDecl("in", e, SetRef(BOX, (("lo", lo), ("hi", hi)), span=span), span=span)


def _report_shapes(ctx: Context, left: Side, a: Expr, right: Side, b: Expr, span: Span) -> None:
    ctx.error(
        "FW2037",
        f"`{ctx.text(left.node)}` is {shapes.describe_type(a.type)} and `{ctx.text(right.node)}` is {shapes.describe_type(b.type)}: "
        "they cannot be compared",
        span,
        labels=ctx.declared(left.node, right.node),
        rule="Both sides of a comparison have one shape, or one of them is a scalar, a vector that meets every row, a single row or column.",
    )


def _report_infinite(ctx: Context, left: Side, right: Side, span: Span) -> None:
    ctx.error(
        "FW2060",
        f"`{ctx.text(span)}` compares with infinity",
        span,
        labels=[Label(s.node.span, "infinite") for s in (left, right) if isinstance(s.node, tree.Number)],
        rule="An infinite bound is for a variable, in a box; elsewhere it restricts nothing, or everything.",
        hint="leave the constraint out",
    )


# --- the meaning of `<=` for matrices ------------------------------------------------------------------------------


def _is_entrywise(ctx: Context, left: Side, a: Expr, right: Side, b: Expr, span: Span) -> bool:
    """True if `<=` can only be meant entrywise. Reports a comparison that could also mean the order of symmetric matrices.

    Where only a constant is symmetric, as in `W >= eye(d)`, the difference is not symmetric, so `<=` is entrywise. So it is of a vector, which meets
    every row of it.
    """
    constant = [e.type.is_symmetric and e.is_constant for e in (a, b)]
    general = [e.type.array_shape != () and not e.type.is_symmetric for e in (a, b)]
    if (constant[0] and general[1]) or (constant[1] and general[0]):
        return True
    if a.type.is_symmetric or b.type.is_symmetric:
        on_left = a.type.is_symmetric and not (b.type.is_symmetric and a.is_constant)
        side, e = (left, a) if on_left else (right, b)
        other, o = (right, b) if side is left else (left, a)
        _report_order(ctx, side, e, span, None if algebra.number(o) == 0.0 else other, below=side is left)
        return False
    for side, e, bound in ((left, a, b), (right, b, a)):
        bare = algebra.scale_of(e)[1] if e.op in ("mul", "div", "neg") else e
        if bare.op == "var" and shapes.has_two_axes(e.type) and algebra.number(bound) == 0.0:
            _report_order(ctx, side, e, span, None, below=side is left)
            return False
    return True


def _report_order(ctx: Context, side: Side, e: Expr, span: Span, other: Side | None, below: bool = False) -> None:
    text = ctx.text(side.node)
    if other is not None:
        first, second = (other.node, side.node) if below else (side.node, other.node)
        wrapped = f"({ctx.text(second)})" if isinstance(second, tree.Sum) else ctx.text(second)
        text = f"{ctx.text(first)} - {wrapped}"
    elif below:
        text = f"-{text}" if not isinstance(side.node, tree.Sum) else f"-({text})"
    reading = _psd_reading(e, text)
    o = other.value if other is not None else None
    plain = isinstance(o, Expr) and o.type.array_shape != () and not o.type.is_symmetric
    if other is not None and plain and e.type.is_symmetric:
        reading = (
            f"or make `{ctx.text(other.node)}` symmetric and write `{text} in psd` for a positive semidefinite matrix"
        )
    ctx.error(
        "FW2070",
        f"`{ctx.text(span)}` could mean every entry, or the order of positive semidefinite matrices",
        span,
        labels=ctx.declared(side.node),
        rule=_ORDER_RULE,
        hint=f"write `{text} in nonnegative` for every entry, {reading}",
    )


def _psd_reading(e: Expr, text: str) -> str:
    rows, columns = e.type.array_shape[-2:]
    if e.type.is_symmetric:
        return f"`{text} in psd` for a positive semidefinite matrix"
    if rows == columns:
        return (
            f"or declare the variable `symmetric[{rows}]` and write `{text} in psd` for a positive semidefinite matrix"
        )
    return "or declare a square variable `psd[d]` for a positive semidefinite matrix"
