"""Expands the objective into a sum of terms, and proves each convex (or concave, where it is maximised)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ..grammar import tree
from ..grammar.diagnostic import Fix
from ..grammar.source import Span
from ..model import Expr, Fact, Term
from . import algebra, shapes
from .arithmetic import split_scale
from .context import Context
from .curvature import judge
from .infer import infer_whole
from .values import AppliedAtom, Combination, Summand, merged


def objective(ctx: Context, node: tree.Objective) -> tuple[tuple[Term, ...], tuple[Fact, ...]] | None:
    """The terms of the objective, and the fact that proves each convex; None after an error."""
    value = infer_whole(ctx, node.value)
    if value is None:
        return None
    feasibility = isinstance(value, Expr) and algebra.number(value) is not None
    if isinstance(value, Expr):
        if not value.type.is_scalar:
            _not_a_number(ctx, node, value)
            return None
        value = Combination((Summand(algebra.ONE, value, span=node.value.span),), span=node.value.span)
    if value.samples is not None:
        report_no_reduction(ctx, value, node.value)
        return None
    summands = merged(tuple(part for s in value.summands for part in _split(ctx, s)))
    terms, facts = [], []
    for s in map(_positive_weight, summands):
        judged = judge(ctx, s, node.sense)
        if judged is not None:
            term, fact = judged
            terms.append(term)
            facts.append(fact)
    if len(terms) < len(summands):
        return None
    if (
        not feasibility
        and not any(t.argument.variables for t in terms)
        and any(e.kind == "var" for e in ctx.entries.values())
    ):
        ctx.error(
            "FW2059",
            f"there is no variable in `{ctx.text(node.value)}`",
            node.value.span,
            rule="The objective depends on a variable, or is a number written out.",
            hint="every point is as good as any other; for any point that meets the constraints write `minimize 0`",
        )
        return None
    return tuple(terms), tuple(facts)


def _not_a_number(ctx: Context, node: tree.Objective, value: Expr) -> None:
    text = ctx.text(node.value)
    numeric = shapes.is_numeric(value.type)
    ctx.error(
        "FW2057",
        f"the objective `{text}` is {shapes.describe_type(value.type)}",
        node.value.span,
        labels=ctx.declared(node.value),
        rule="The objective is one number.",
        hint=f"write `sum({text})` for the sum of its entries, `sum_squares({text})` for the sum of their squares"
        if numeric
        else "",
    )


def report_no_reduction(ctx: Context, value: Combination, node: tree.Node) -> None:
    """Report a loss without `mean` or `sum`."""
    body = next(s.body for s in value.summands if isinstance(s.body, AppliedAtom) and s.body.per_sample)
    span = body.span if body.span != tree.NOWHERE else node.span
    text = ctx.text(span)
    ctx.error(
        "FW2058",
        f"`{body.word}` has one value for each of `{value.samples}` {'entries' if body.of_entries else 'samples'}, and no `mean` or `sum` around it"
        if value.columns is None
        else f"`{body.word}` has one value for each entry of a matrix, and no `mean` or `sum` around it",
        span,
        rule=f"A {'function of entries' if body.of_entries else 'loss'} is wrapped in `mean(...)` or `sum(...)`"
        f"{'' if body.of_entries else ' over its samples'}; which of them is not guessed.",
        hint=f"write `mean({text})` for the average{'' if body.of_entries else ' loss'}, `sum({text})` for the total",
        choices=[
            Fix(f"write `{word}({text})`", span, f"{word}({ctx.source.slice(span)})")
            for word in ("mean", "sum")
            if body.weights is None
        ],
    )


# --- expansion -----------------------------------------------------------------------------------------------------


def _split(ctx: Context, s: Summand) -> Iterator[Summand]:
    """An affine summand, split into one for each of its terms with scalar factors in the coefficient. Convex summands stay whole."""
    stack = [s]
    while stack:
        s = stack.pop()
        e = s.body
        if not isinstance(e, Expr):
            yield s
            continue
        name = ctx.let_names.get(id(e))
        if name is not None and not s.name:
            yield replace(s, name=name)
        elif e.is_constant:
            yield s
        elif e.op == "add":
            stack.extend(replace(s, body=a, span=_span(a, s.span)) for a in reversed(e.args))
        elif e.op == "neg":
            stack.append(replace(s, coefficient=algebra.times(s.coefficient, algebra.const(-1.0)), body=e.args[0]))
        elif e.op == "mul" and all(a.type.is_scalar for a in e.args):
            scale, rest = e.args if e.args[0].is_constant else e.args[::-1]
            stack.append(replace(s, coefficient=algebra.times(s.coefficient, scale), body=rest))
        elif e.op == "div" and all(a.type.is_scalar for a in e.args):
            stack.append(replace(s, coefficient=algebra.ratio(s.coefficient, e.args[1]), body=e.args[0]))
        else:
            yield s


def _span(e: Expr, otherwise: Span) -> Span:
    return e.span if e.span != tree.NOWHERE else otherwise


def _positive_weight(s: Summand) -> Summand:
    """The summand with positive weights: where all sample weights are negative, their sign moves into the coefficient."""
    if not isinstance(s.body, AppliedAtom) or s.body.weights is None:
        return s
    coefficient, weights = split_scale(s.coefficient, s.body.weights)
    if weights.sign in ("negative", "nonpositive"):
        coefficient, weights = algebra.times(coefficient, algebra.const(-1.0)), algebra.negate(weights)
    return replace(s, coefficient=coefficient, body=replace(s.body, weights=weights))
