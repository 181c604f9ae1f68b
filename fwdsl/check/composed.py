"""Functions that are sums of other convex functions of parts of their arguments, or the negative of one: they are taken apart here."""

from __future__ import annotations

from dataclasses import replace

from ..grammar import tree
from ..model import Expr
from ..words import CONVEX, ConvexWord
from . import algebra, shapes, signs
from .arguments import BoundArguments, bind_arguments, option
from .atoms import is_of, of_each_row, operand_of
from .context import Context
from .further import arguments_of
from .operands import affine, constant, wrong_kind
from .values import AppliedAtom, Combination, Summand
from .weights import report_weight


def composed(ctx: Context, node: tree.Call) -> Combination | None:
    """A call of one of these functions; None after an error."""
    bound = bind_arguments(ctx, node, CONVEX[node.func.name].parameters)
    if bound is None:
        return None
    word = CONVEX[node.func.name]
    rule = _negative_of if word.negative_of else _variation if word.of_differences else _of_negative
    return rule(ctx, node, bound)


def _sum(ctx: Context, node: tree.Call, parts: list[AppliedAtom], sign: float = 1.0) -> Combination:
    """sign times the sum of functions, which have the text of the call."""
    own = [replace(p, text=ctx.text(node), span=node.span, written=node.func.name, concave=sign < 0.0) for p in parts]
    coefficient = algebra.ONE if sign > 0.0 else algebra.const(-1.0)
    rows = own[0].argument.type.array_shape[0] if own[0].per_sample else None
    return Combination(tuple(Summand(coefficient, p, span=node.span) for p in own), rows, node.span)


def _negative_of(ctx: Context, node: tree.Call, bound: BoundArguments) -> Combination | None:
    """-f(-x) for the function f that a record names: the smallest entries are the largest of -x."""
    word = CONVEX[node.func.name]
    found = operand_of(ctx, node, bound, word)
    if found is None:
        return None
    x, along = found
    options = arguments_of(ctx, node, bound, x)
    if options is None:
        return None
    body = AppliedAtom("function", word.negative_of, algebra.negate(x), options=options)
    return _sum(ctx, node, [of_each_row(body) if along else body], -1.0)


def _of_negative(ctx: Context, node: tree.Call, bound: BoundArguments) -> Combination | None:
    """A concave function, as -1 times the convex one that stands for it."""
    found = operand_of(ctx, node, bound, CONVEX[node.func.name])
    options = None if found is None else arguments_of(ctx, node, bound, found[0])
    if found is None or options is None:
        return None
    return _sum(ctx, node, [AppliedAtom("function", node.func.name, found[0], options=options)], -1.0)


# --- total variation -----------------------------------------------------------------------------------------------


def _variation(ctx: Context, node: tree.Call, bound: BoundArguments) -> Combination | None:
    """Sizes of differences of neighbours of a vector; of a matrix those of both directions, pixel by pixel their length or their sum."""
    word = CONVEX[node.func.name]
    isotropic = option(ctx, word.name, word.parameters[-1], bound.get("isotropic"))
    x = affine(ctx, node, bound["x"])
    if x is None or isotropic is None or not is_of(ctx, node, bound["x"], x, word):
        return None
    weights = None
    if "weights" in bound:
        weights = _weights(ctx, node, bound, x)
        if weights is None:
            return None
    single = [axis for axis, d in enumerate(x.type.array_shape) if isinstance(d, int) and d < 2]
    if single:
        two_ways = shapes.has_two_axes(x.type) and isotropic.value is False and len(single) == 1
        ctx.error(
            "FW2041",
            f"`{ctx.text(bound['x'])}` is {shapes.describe_type(x.type)}, and has no neighbours along an axis of one entry",
            bound["x"].span,
            labels=ctx.declared(bound["x"]),
            rule="Total variation is of the differences of neighbours.",
            hint=f"write `norm1(diff({ctx.text(bound['x'])}, axis={1 - single[0]}))` for those along the other axis"
            if two_ways
            else "leave the term out: of no neighbours it is 0",
        )
        return None
    if shapes.has_one_axis(x.type):
        return _sum(ctx, node, [_sizes(word, algebra.differences(x, 0), weights)])
    down, right = (algebra.differences(x, axis) for axis in (0, 1))
    if not isotropic.value:
        # a difference has the weight of the pixel that it leads from
        starts = [None if weights is None else algebra.without_last(weights, axis) for axis in (0, 1)]
        return _sum(ctx, node, [_sizes(word, d, w) for d, w in zip((down, right), starts, strict=True)])
    inner = None if weights is None else algebra.without_last(algebra.without_last(weights, 0), 1)
    both = [_weighted(d, inner) for d in (algebra.without_last(down, 1), algebra.without_last(right, 0))]
    pairs = algebra.transposed(algebra.stacked([algebra.flat(d) for d in both], below=True))
    return _sum(ctx, node, [AppliedAtom("function", word.of_pairs, pairs)])


def _weighted(d: Expr, weights: Expr | None) -> Expr:
    return d if weights is None else algebra.multiply(weights, d, shapes.plain(d.type), d.span)


def _sizes(word: ConvexWord, d: Expr, weights: Expr | None) -> AppliedAtom:
    return AppliedAtom("function", word.of_differences, _weighted(d, weights))


def _weights(ctx: Context, node: tree.Call, bound: BoundArguments, x: Expr) -> Expr | None:
    """Nonnegative weights: one for each difference of a vector, or for each entry of a matrix; None after an error."""
    part = bound["weights"]
    value = constant(ctx, node, part)
    if value is None:
        return None
    lines = shapes.has_one_axis(x.type)
    wanted = algebra.differences(x, 0).type.array_shape if lines else x.type.array_shape
    if value.type.array_shape != wanted:
        size = " x ".join(f"{d}" for d in wanted)
        wrong_kind(
            ctx,
            node,
            part,
            value.type,
            f"weights of the shape {size}, one for each {'difference' if lines else 'entry'}",
        )
        return None
    if not signs.is_nonnegative(value.sign):
        report_weight(ctx, part, value)
        return None
    return value
