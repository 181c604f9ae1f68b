"""The sum and the mean of what has one value for each sample: losses, functions of entries, and what is added to them."""

from __future__ import annotations

from dataclasses import replace

from ..grammar.source import Span
from ..model import Dim, Expr
from . import algebra, shapes
from .context import Context
from .values import AppliedAtom, Combination, Summand, Value


def reduced(ctx: Context, value: Combination, how: str, samples: Dim, span: Span) -> Combination:
    """The `sum` or `mean` over samples, which is written at `span`."""
    alone = len(value.summands) == 1
    return Combination(tuple(_reduced(ctx, s, how, samples, span, alone) for s in value.summands), span=span)


def summed(ctx: Context, value: Value, span: Span) -> Value:
    """The sum over samples where there are any: the inner product of weights and what they weigh."""
    if not isinstance(value, Combination) or value.samples is None:
        return value
    return reduced(ctx, value, "sum", value.samples, span)


def _reduced(ctx: Context, s: Summand, how: str, samples: Dim, span: Span, alone: bool) -> Summand:
    """One summand under `mean` or `sum`. A summand that is one number counts once for each sample."""
    if isinstance(s.body, Expr):
        vector = algebra.spread(s.body, samples) if s.body.type.is_scalar else s.body
        return replace(s, body=algebra.make(how, shapes.REAL, (vector,), sign=vector.sign, span=vector.span))
    if s.body.per_sample:
        text, place = (ctx.text(span), span) if alone else (f"{how}({s.body.text})", s.span)
        body = replace(s.body, reduce="mean" if how == "mean" else "sum", text=text, span=place)
        return replace(s, body=body, span=place, coefficient=_of_rows(s.coefficient, body))
    if s.weight is not None:
        factor = algebra.make(how, shapes.REAL, (s.weight,), sign=s.weight.sign, span=s.weight.span)
    elif how == "mean":
        return s
    else:
        ones = algebra.ones((samples,))
        factor = algebra.make("sum", shapes.REAL, (ones,), sign="positive", span=s.span)
    return replace(s, coefficient=algebra.times(s.coefficient, factor), weight=None)


def _of_rows(coefficient: Expr, body: AppliedAtom) -> Expr:
    """The coefficient of the mean over rows. Where a function of entries has no samples the mean is that over all entries of a matrix."""
    columns = body.argument.type.array_shape[1:]
    if not columns or not body.of_entries or body.reduce != "mean":
        return coefficient
    return algebra.ratio(coefficient, algebra.length(columns[0]))
