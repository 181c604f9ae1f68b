"""The norm form of a ball: a scaled norm compared with a constant, in any arrangement."""

from __future__ import annotations

from ..grammar import tree
from ..grammar.source import Span
from ..model import ConstraintDecl, Expr, SetRef
from ..words import BOX, CONVEX, SETS
from . import algebra, shapes, signs
from .arguments import report_unknown_sign
from .context import Context
from .printer import format_typed
from .scalars import scalar_sign, tidied
from .sets import check_radius
from .values import AppliedAtom, Combination, Summand, Value, merged


def ball(
    ctx: Context, a: Value, b: Value, left: tree.Expr, right: tree.Expr, op: str, span: Span
) -> ConstraintDecl | None:
    """The constraint `a <= b` (or `a == b`) where a norm or another convex function occurs; None after an error."""
    for value, node in ((a, left), (b, right)):
        if isinstance(value, Expr) and not value.type.is_scalar:
            ctx.error(
                "FW2037",
                f"`{ctx.text(node)}` is {shapes.describe_type(value.type)}, and the other side is one number",
                node.span,
                labels=ctx.declared(node),
                rule="A norm is bounded by a number.",
                hint="bound the entries themselves, as in `-v <= x`, or bound each block in a constraint of its own",
            )
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
    if not _are_norms(ctx, convex, span):
        return None
    norm = convex[0]
    assert isinstance(norm.body, AppliedAtom)
    sign = scalar_sign(norm.coefficient)
    if op == "==" or signs.is_nonpositive(sign):
        _report_direction(ctx, norm.body, op, span)
        return None
    if sign != "positive":
        report_unknown_sign(
            ctx, f"the factor of `{norm.body.text}`", _node(norm.coefficient, span), norm.coefficient, "positive"
        )
        return None
    rest = [s for s in summands if isinstance(s.body, Expr)]
    return _as_ball(ctx, norm, norm.body, rest, span)


def _node(e: Expr, otherwise: Span) -> tree.Node:
    return tree.Node(span=otherwise if e.span == tree.NOWHERE else e.span)


def _summands(value: Value, sign: float, node: tree.Expr) -> tuple[Summand, ...]:
    if isinstance(value, Combination):
        return value.scaled(algebra.const(sign)).summands
    return (Summand(algebra.const(sign), value, span=node.span),)


def _are_norms(ctx: Context, convex: list[Summand], span: Span) -> bool:
    """True if there is exactly one convex function and it has a ball. Reports losses, entropies and sums of norms."""
    fine = True
    for s in convex:
        body = s.body
        assert isinstance(body, AppliedAtom)
        if body.kind == "loss":
            ctx.error(
                "FW3012",
                f"the loss `{body.text}` stands in a constraint",
                body.span,
                rule="A constraint bounds an affine expression or one norm; losses belong to the objective.",
                hint=f"add it to the objective with a weight: `minimize ... + mu * {_reduced(body)}`",
            )
            fine = False
        elif not CONVEX[body.atom].ball:
            ctx.error(
                "FW3013",
                f"`{body.text}` stands in a constraint",
                body.span,
                rule=f"A constraint bounds an affine expression or one norm; `{body.atom}` has no ball.",
                hint=f"add it to the objective with a weight: `minimize ... + mu * {body.text}`",
            )
            fine = False
    if fine and len(convex) > 1:
        texts = " and ".join(f"`{s.body.text}`" for s in convex[:2] if isinstance(s.body, AppliedAtom))
        ctx.error(
            "FW3011",
            f"{texts} stand in one constraint",
            span,
            rule="A constraint bounds one norm by a constant.",
            hint="bound each of them in a constraint of its own, or add them to the objective with weights",
        )
        return False
    return fine


def _reduced(body: AppliedAtom) -> str:
    return body.text if body.reduce else f"mean({body.text})"


def _report_direction(ctx: Context, body: AppliedAtom, op: str, span: Span) -> None:
    """Report a norm that is bounded from below or set equal."""
    if op == "==":
        word = CONVEX[body.atom]
        ctx.error(
            "FW3009",
            f"`{body.text}` is set equal",
            span,
            rule="The points at which a norm has a given value are not a convex set; those at which it is at most that are.",
            hint=f"write `{body.text} <= ...`"
            + ("; for `x >= 0` with a given sum write `x in simplex(r)`" if word.is_norm and word.additive else ""),
        )
        return
    ctx.error(
        "FW3008",
        f"`{body.text}` is bounded from below",
        span,
        rule="The points at which a norm is at least a number are not a convex set; those at which it is at most that are.",
        hint=f"write `{body.text} <= ...`, or leave the bound out",
    )


def _as_ball(ctx: Context, norm: Summand, body: AppliedAtom, rest: list[Summand], span: Span) -> ConstraintDecl | None:
    """The constraint `coefficient * norm + rest <= 0`, as `argument in ball(-rest / coefficient)`."""
    bound = algebra.const(0.0, span)
    for s in rest:
        e = s.body
        assert isinstance(e, Expr)
        if not e.is_constant:
            ctx.error(
                "FW3010",
                f"`{body.text}` is bounded by `{ctx.text(s.span)}`, which depends on a variable",
                span,
                rule="The bound of a norm, its radius, is constant.",
                hint="minimise the norm instead, as a term of the objective",
            )
            return None
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
    return SetRef(name, (("r", r), *body.options), span=span)


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
