"""Convex functions below an affine bound: `norm2(A @ x + b) <= c @ x + d`, `sum(huber(x, y)) <= r`, `rownorm2(Y) <= t`, several terms on the left."""

from __future__ import annotations

from dataclasses import replace
from math import isinf

from ..grammar import tree
from ..grammar.source import Span
from ..model import ConstraintDecl, Dim, Expr
from ..words import CONVEX
from . import algebra, shapes, signs
from .context import Context
from .scalars import tidied
from .values import AppliedAtom, Summand, as_term
from .weights import report_weight


def below(
    ctx: Context, convex: list[Summand], rest: list[Summand], samples: Dim | None, span: Span
) -> ConstraintDecl | None:
    """The constraint `convex + rest <= 0`: the convex terms are at most the negative of the rest, entry by entry where there are `samples`."""
    bodies = [s.body for s in convex if isinstance(s.body, AppliedAtom)]
    if not _fits(ctx, convex, bodies, samples, span):
        return None
    bound = _bound(rest, samples, span)
    if not any(b.argument.variables for b in bodies) and not bound.variables:
        ctx.error(
            "FW2056",
            f"there is no variable in `{ctx.text(span)}`",
            span,
            rule="A constraint restricts variables; what data and parameters satisfy is said by their types.",
        )
        return None
    infinite = next(
        (e for s in rest for e in (s.body,) if isinstance(e, Expr) and isinf(algebra.number(e) or 0.0)), None
    )
    if infinite is not None:
        ctx.error(
            "FW2060",
            f"`{ctx.text(span)}` compares with infinity",
            span,
            rule="An infinite bound is for a variable, in a box; elsewhere it restricts nothing, or everything.",
            hint="leave the constraint out",
        )
        return None
    convex = [replace(s, body=with_weights_in_rows(b)) for s, b in zip(convex, bodies, strict=True)]
    bodies = [s.body for s in convex if isinstance(s.body, AppliedAtom)]
    terms = tuple(as_term(Summand(tidied(s.coefficient), s.body, s.name, s.span)) for s in convex)
    argument = algebra.stack((bound, *(b.argument for b in bodies)), span)
    return ConstraintDecl("below", argument, terms=terms, span=span)


def with_weights_in_rows(body: AppliedAtom) -> AppliedAtom:
    """A function of each row that grows as its argument does, its weights as factors of the rows; any other function as it is."""
    if body.weights is None or body.kind != "function" or not CONVEX[body.atom].grows_evenly:
        return body
    return replace(body, argument=algebra.weighted_rows(body.weights, body.argument), weights=None)


def _fits(ctx: Context, convex: list[Summand], bodies: list[AppliedAtom], samples: Dim | None, span: Span) -> bool:
    """True if the terms can be bounded together: all of them one number, or one function with a value for each entry or row."""
    for body in bodies:
        if body.weights is not None and not signs.is_nonnegative(body.weights.sign):
            report_weight(
                ctx, tree.Node(span=body.weights.span if body.weights.span != tree.NOWHERE else span), body.weights
            )
            return False
    if samples is None:
        return True
    other = next((b for b in bodies if not b.per_sample), None)
    if other is not None or len(bodies) > 1 or any(s.weight is not None for s in convex):
        texts = " and ".join(f"`{b.text}`" for b in bodies[:2])
        ctx.error(
            "FW3011",
            f"{texts} stand in one constraint that has a bound for each of `{samples}` rows or samples",
            span,
            rule="A bound for each row or sample is of one function; several functions are added up where each is one number.",
            hint="bound each of them by a variable of its own, and the sum of these variables, entry by entry",
        )
        return False
    (body,) = bodies
    if body.weights is not None and body.kind == "function" and not CONVEX[body.atom].by_rows:
        ctx.error(
            "FW3011",
            f"`{body.text}` has weights in a constraint with a bound for each of `{samples}` rows",
            span,
            rule="A bound for each row or sample is of one function; several functions are added up where each is one number.",
            hint="divide the bounds by the weights",
        )
        return False
    shape = body.argument.type.array_shape
    if body.kind == "loss" and shape != (samples,):
        ctx.error(
            "FW3012",
            f"`{body.text}` has one value for each of `{samples}` samples, each of several numbers",
            body.span,
            rule="A bound for each sample is of a loss with one prediction a sample.",
            hint=f"bound the whole: `mean({body.text}) <= ...`",
        )
        return False
    return True


def _bound(rest: list[Summand], samples: Dim | None, span: Span) -> Expr:
    """The negative of the affine part: a number, or a vector with an entry for each sample."""
    total = algebra.const(0.0, span)
    vectors: list[Expr] = []
    for s in rest:
        e = s.body
        assert isinstance(e, Expr)
        factor = algebra.times(s.coefficient, algebra.const(-1.0))
        if e.type.is_scalar:
            total = algebra.plus(total, algebra.times(factor, e))
        elif algebra.number(factor) == 1.0:
            vectors.append(e)
        else:
            vectors.append(algebra.multiply(factor, e, shapes.plain(e.type), e.span))
    if samples is None:
        return total
    if not vectors:
        return algebra.spread(total, samples)
    if algebra.number(total) != 0.0:
        vectors.append(algebra.spread(total, samples))
    return vectors[0] if len(vectors) == 1 else algebra.add(vectors, shapes.of_shape((samples,)), span)
