"""Comparisons with convex functions: a norm and a constant in any arrangement make a ball; all else is left to `epigraphs`."""

from __future__ import annotations

from ..grammar import tree
from ..grammar.source import Span
from ..model import ConstraintDecl, Dim, Expr, SetRef
from ..words import BOX, CONSTANTS, CONVEX, SETS
from ..words.base import Domain
from . import algebra, shapes, signs
from .arguments import report_unknown_sign
from .context import Context
from .epigraphs import below
from .printer import format_typed
from .scalars import scalar_sign, tidied
from .sets import check_radius
from .values import AppliedAtom, Combination, Summand, Value, merged


def ball(
    ctx: Context, a: Value, b: Value, left: tree.Expr, right: tree.Expr, op: str, span: Span
) -> ConstraintDecl | None:
    """The constraint `a <= b` (or `a == b`) where a norm or another convex function occurs; None after an error.

    One norm that a constant bounds is in a ball. All else is a sum of convex functions below an affine bound.
    """
    samples = next((v.samples for v in (a, b) if isinstance(v, Combination) and v.samples is not None), None)
    for value, node in ((a, left), (b, right)):
        if isinstance(value, Expr) and value.type.array_shape not in ((), (samples,)):
            _report_shape(ctx, value, node, samples)
            return None
        if isinstance(value, Combination) and value.samples not in (None, samples):
            _report_rows(ctx, left, right, span)
            return None
    summands = merged((*_summands(a, 1.0, left), *_summands(b, -1.0, right)))
    convex = [s for s in summands if isinstance(s.body, AppliedAtom) and algebra.number(s.coefficient) != 0.0]
    if not convex:
        ctx.error(
            "FW2056",
            f"the two sides of `{ctx.text(span)}` cancel",
            span,
            rule="A constraint restricts variables.",
        )
        return None
    rest = [s for s in summands if isinstance(s.body, Expr)]
    alone = convex[0].body
    assert isinstance(alone, AppliedAtom)
    constant = all(isinstance(s.body, Expr) and s.body.is_constant for s in rest)
    in_ball = len(convex) == 1 and constant and alone.kind == "function" and bool(CONVEX[alone.atom].ball)
    for s in convex:
        assert isinstance(s.body, AppliedAtom)
        sign = scalar_sign(s.coefficient)
        if op == "==" or signs.is_nonpositive(sign):
            _report_direction(ctx, s.body, op, span)
            return None
        if not (sign == "positive" or (sign == "nonnegative" and not in_ball)):
            wanted: Domain = "positive" if in_ball else "nonnegative"
            report_unknown_sign(
                ctx, f"the factor of `{s.body.text}`", _node(s.coefficient, span), s.coefficient, wanted
            )
            return None
    if in_ball:
        return _as_ball(ctx, convex[0], alone, rest, span)
    return below(ctx, convex, rest, samples, span)


def every_entry(a: Value, b: Value, left: tree.Expr, right: tree.Expr) -> tuple[Expr, Expr] | None:
    """(x, r) where `a <= b` says that every entry of x is at most r, as `max(x) <= r` does; None where it says something else."""
    summands = merged((*_summands(a, 1.0, left), *_summands(b, -1.0, right)))
    convex = [s for s in summands if isinstance(s.body, AppliedAtom)]
    if len(convex) != 1 or scalar_sign(convex[0].coefficient) != "positive":
        return None
    (s,) = convex
    body = s.body
    assert isinstance(body, AppliedAtom)
    if body.kind != "function" or not CONVEX[body.atom].bounds_entries or not body.argument.variables:
        return None
    rest = [(r.coefficient, r.body) for r in summands if isinstance(r.body, Expr)]
    if body.argument.type.is_family or any(not e.type.is_scalar for _, e in rest):
        return None
    bound = algebra.const(0.0)
    for coefficient, e in rest:
        bound = algebra.plus(bound, algebra.times(algebra.times(coefficient, algebra.const(-1.0)), e))
    return body.argument, tidied(algebra.ratio(bound, s.coefficient))


def _report_shape(ctx: Context, value: Expr, node: tree.Expr, samples: Dim | None) -> None:
    per_row = samples is not None
    ctx.error(
        "FW2037",
        f"`{ctx.text(node)}` is {shapes.describe_type(value.type)}, and the other side is "
        + (f"one number for each of `{samples}` rows or samples" if per_row else "one number"),
        node.span,
        labels=ctx.declared(node),
        rule="A norm is bounded by a number."
        if not per_row
        else "What has a value for each row is bounded by a number, or by one for each row.",
        hint=""
        if per_row
        else "bound the entries themselves, as in `-v <= x`, or bound each block in a constraint of its own; "
        "`rownorm2(Y) <= t` has a bound for each row",
    )


def _report_rows(ctx: Context, left: tree.Expr, right: tree.Expr, span: Span) -> None:
    ctx.error(
        "FW2037",
        f"`{ctx.text(left)}` and `{ctx.text(right)}` have values for different rows or samples: they cannot be compared",
        span,
        rule="What has a value for each row is bounded by a number, or by one for each row.",
    )


def _node(e: Expr, otherwise: Span) -> tree.Node:
    return tree.Node(span=otherwise if e.span == tree.NOWHERE else e.span)


def _summands(value: Value, sign: float, node: tree.Expr) -> tuple[Summand, ...]:
    if isinstance(value, Combination):
        return value.scaled(algebra.const(sign)).summands
    return (Summand(algebra.const(sign), value, span=node.span),)


def _report_direction(ctx: Context, body: AppliedAtom, op: str, span: Span) -> None:
    """Report a norm that is bounded from below or set equal, or a concave function that is bounded from above."""
    kind, way = ("concave", "above") if body.is_concave else ("convex", "below")
    beyond, within, sign = ("most", "least", ">=") if body.is_concave else ("least", "most", "<=")
    if op == "==":
        word = CONVEX[body.atom] if body.kind == "function" else None
        ctx.error(
            "FW3009",
            f"`{body.text}` is set equal",
            span,
            rule=f"The points at which a {kind} function has a given value are not a convex set; those at which it is at {within} that are.",
            hint=f"write `{body.text} {sign} ...`{_argument_bounded(ctx, body, op)}"
            + (
                "; for `x >= 0` with a given sum write `x in simplex(r)`"
                if word is not None and word.is_norm and word.additive
                else ""
            ),
        )
        return
    op = "<=" if body.is_concave else ">="
    ctx.error(
        "FW3008",
        f"`{body.text}` is bounded from {way}",
        span,
        rule=f"The points at which a {kind} function is at {beyond} a number are not a convex set; those at which it is at {within} that are.",
        hint=f"write `{body.text} {sign} ...`, or leave the bound out{_argument_bounded(ctx, body, op)}",
    )


def _argument_bounded(ctx: Context, body: AppliedAtom, op: str) -> str:
    """The same constraint on the argument of a function of entries that rises."""
    word = CONSTANTS.get(body.word)
    if word is None or not word.rises or body.argument.span == tree.NOWHERE:
        return ""
    return f"; `{body.word}` rises, so its argument may be bounded instead: `{ctx.text(body.argument.span)} {op} ...`"


def _as_ball(ctx: Context, norm: Summand, body: AppliedAtom, rest: list[Summand], span: Span) -> ConstraintDecl | None:
    """The constraint `coefficient * norm + rest <= 0`, as `argument in ball(-rest / coefficient)`."""
    bound = algebra.const(0.0, span)
    for s in rest:
        e = s.body
        assert isinstance(e, Expr)
        bound = algebra.plus(bound, algebra.times(algebra.times(s.coefficient, algebra.const(-1.0)), e))
    r = tidied(algebra.ratio(bound, norm.coefficient))
    place = rest[0].span if len(rest) == 1 else span
    if algebra.number(r) == 0.0:
        ctx.error(
            "FW2065",
            f"the radius of `{body.text}` is zero",
            span,
            rule="A radius is a positive scalar.",
            hint=f"write `{ctx.text(body.argument.span)} == 0`" if body.argument.span != tree.NOWHERE else "",
        )
        return None
    if not check_radius(ctx, r, tree.Node(span=place), "" if len(rest) == 1 else format_typed(r)):
        return None
    squared = CONVEX[body.atom].degree == 2
    if squared:
        r = algebra.root(r)
    x = body.argument
    if x.type.is_family:
        _report_family(ctx, body, span)
        return None
    if not x.variables:
        ctx.error(
            "FW2056", f"there is no variable in `{body.text}`", body.span, rule="A constraint restricts variables."
        )
        return None
    return ConstraintDecl("in", x, _set(body, x, r, span), factor=norm.coefficient, squared=squared, span=span)


def _set(body: AppliedAtom, x: Expr, r: Expr, span: Span) -> SetRef:
    if x.type.is_scalar:
        return SetRef(BOX, (("lo", algebra.negate(r)), ("hi", r)), span=span)
    name = CONVEX[body.atom].ball
    if shapes.has_two_axes(x.type):
        name = SETS[name].of_matrices or name
    given = {"r": r, **dict(body.options)}
    return SetRef(name, tuple((p.name, given[p.name]) for p in SETS[name].parameters if p.name in given), span=span)


def _report_family(ctx: Context, body: AppliedAtom, span: Span) -> None:
    name = CONVEX[body.atom].ball
    takes_groups = ", groups" if "groups" in (p.name for p in SETS[name].parameters) else ""
    ctx.error(
        "FW2071",
        f"`{ctx.text(span)}` could bound each block of the family, or their sum",
        span,
        rule="A set on a family holds for each block, a function adds up over the blocks: together they are ambiguous.",
        hint=f"write `{ctx.text(body.argument.span)} in {name}(r{takes_groups})` for each block",
    )
