"""The sum, the mean and the largest of what has one value for each sample: losses, functions of entries, and what is added to them."""

from __future__ import annotations

from dataclasses import replace

from ..grammar import tree
from ..grammar.source import Span
from ..model import Dim, Expr
from ..words import CONVEX
from . import algebra, shapes, signs
from .context import Context
from .epigraphs import with_weights_in_rows
from .values import AppliedAtom, Combination, Summand, Value


def reduced(ctx: Context, value: Combination, how: str, span: Span) -> Combination:
    """The `sum` or `mean` over samples or entries, which is written at `span`."""
    alone = len(value.summands) == 1
    return Combination(tuple(_reduced(ctx, s, how, value.shape, span, alone) for s in value.summands), span=span)


def summed(ctx: Context, value: Value, span: Span) -> Value:
    """The sum over samples where there are any: the inner product of weights and what they weigh."""
    return reduced(ctx, value, "sum", span) if isinstance(value, Combination) and value.shape else value


def _reduced(ctx: Context, s: Summand, how: str, shape: tuple[Dim, ...], span: Span, alone: bool) -> Summand:
    """One summand under `mean` or `sum`. A summand that is one number counts once for each sample."""
    if isinstance(s.body, Expr):
        array = s.body
        if s.body.type.is_scalar:
            ones = algebra.ones(shape, s.body.span)
            array = algebra.multiply(s.body, ones, ones.type, s.body.span)
        return replace(s, body=algebra.make(how, shapes.REAL, (array,), sign=array.sign, span=array.span))
    if s.body.per_sample and s.body.kind == "function":
        return _of_functions(ctx, s, s.body, how, shape[0], span if alone else s.span)
    if s.body.per_sample:
        text, place = (ctx.text(span), span) if alone else (f"{how}({s.body.text})", s.span)
        body = replace(s.body, reduce="mean" if how == "mean" else "sum", text=text, span=place)
        return replace(s, body=body, span=place, coefficient=_of_rows(s.coefficient, body))
    if s.weight is not None:
        factor = algebra.make(how, shapes.REAL, (s.weight,), sign=s.weight.sign, span=s.weight.span)
    elif how == "mean":
        return s
    else:
        ones = algebra.ones(shape)
        factor = algebra.make("sum", shapes.REAL, (ones,), sign="positive", span=s.span)
    return replace(s, coefficient=algebra.times(s.coefficient, factor), weight=None)


def _of_functions(ctx: Context, s: Summand, body: AppliedAtom, how: str, samples: Dim, span: Span) -> Summand:
    """The sum, or the mean, of what a function has for each row: the function of the whole matrix, where there is one of its own.

    Weights are factors of the rows where the function grows as its argument does.
    """
    word = CONVEX[body.atom]
    if word.grows_evenly:
        body = with_weights_in_rows(body)
    coefficient = algebra.ratio(s.coefficient, algebra.length(samples)) if how == "mean" else s.coefficient
    whole, text = word.sum_over_rows, ctx.text(span)
    if word.adds_pieces:
        body = replace(body, argument=algebra.flat(body.argument))
    body = replace(body, atom=whole, options=(), reduce="") if whole else replace(body, reduce="sum")
    return replace(s, coefficient=coefficient, body=replace(body, text=text, span=span), span=span)


def _of_rows(coefficient: Expr, body: AppliedAtom) -> Expr:
    """The coefficient of the mean over rows. Where a function of entries has no samples the mean is that over all entries of a matrix."""
    columns = body.argument.type.array_shape[1:]
    if not columns or not body.of_entries or body.reduce != "mean":
        return coefficient
    return algebra.ratio(coefficient, algebra.length(columns[0]))


def largest(ctx: Context, node: tree.Call) -> Combination | None:
    """The largest of what a function has for each row, `max(norm2(X, axis=1))`, where that is a function of the whole matrix; else None."""
    value = rows_under(ctx, node)
    if value is None or len(value.summands) > 1:
        return None
    (s,) = value.summands
    body = s.body
    if not isinstance(body, AppliedAtom) or body.kind != "function" or not signs.is_nonnegative(s.coefficient.sign):
        return None
    if body.weights is not None and not signs.is_nonnegative(body.weights.sign):
        return None
    name = CONVEX[body.atom].largest_over_rows
    if not name or not (CONVEX[node.func.name].bounds_entries or CONVEX[name].is_norm):
        return None
    body = replace(with_weights_in_rows(body), atom=name, options=(), text=ctx.text(node), span=node.span)
    return Combination((replace(s, body=body, span=node.span),), None, node.span)


def rows_under(ctx: Context, node: tree.Expr) -> Combination | None:
    """The function of each row or sample under a call of the largest of them; None for any other expression."""
    if not isinstance(node, tree.Call) or node.func.name not in CONVEX or len(node.args) != 1 or node.keywords:
        return None
    if CONVEX[node.func.name].most_of_rows != node.func.name:
        return None
    value = ctx.infer(ctx, node.args[0])
    return value if isinstance(value, Combination) and len(value.shape) == 1 else None
