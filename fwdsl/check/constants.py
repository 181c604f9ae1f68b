"""Functions of constants: `log(2)`, `sqrt(n)`, `exp(-gamma)`, `log(b)` of data. Numbers that are written out are folded."""

from __future__ import annotations

import math

from ..grammar import tree
from ..grammar.source import Span
from ..model import Expr
from ..words import CONSTANTS, CONVEX, ConvexWord
from . import algebra, ranges, shapes, signs
from .arguments import bind_arguments
from .context import Context
from .values import Value


def first_argument(ctx: Context, node: tree.Call) -> Value | None:
    """The meaning of the first argument of a call; None where there is none, or after an error."""
    word = CONSTANTS[node.func.name]
    named = next((k.value for k in node.keywords if k.name.name == word.parameters[0].name), None)
    part = node.args[0] if node.args else named
    return None if part is None else ctx.infer(ctx, part)


def is_constant(value: Value | None) -> bool:
    """True if the argument of a function of entries has a value without any variable."""
    return isinstance(value, Expr) and value.is_constant and shapes.is_numeric(value.type)


def constant(ctx: Context, node: tree.Call, value: Expr) -> Expr | None:
    """The value of a function of constants; None after an error."""
    word = CONSTANTS[node.func.name]
    bound = bind_arguments(ctx, node, word.parameters)
    if bound is None:
        return None
    options: list[Expr] = []
    for parameter in word.options:
        part = bound[parameter.name]
        option = ctx.infer(ctx, part)
        if option is None:
            return None
        if not isinstance(option, Expr) or not option.is_constant or not option.type.is_scalar:
            ctx.error(
                "FW2012",
                f"`{parameter.name}` of `{word.name}` is a number, not `{ctx.text(part)}`",
                part.span,
                rule="Options are constant, and within the domain of the function.",
            )
            return None
        options.append(option)
    numbers = [algebra.number(e) for e in (value, *options)]
    if None not in numbers:
        try:
            found = float(word.value(math, *numbers))
        except (ValueError, OverflowError, ZeroDivisionError, TypeError):
            found = math.nan
        if math.isfinite(found):
            return algebra.const(found, node.span)
        ctx.error(
            "FW2060",
            f"`{ctx.text(node)}` is not a finite number",
            node.span,
            rule=f"`{word.call}` is of {word.domain}.",
        )
        return None
    type_ = shapes.of_shape(value.type.array_shape)
    made = algebra.make("function", type_, (value, *options), name=word.name, span=node.span)
    sign = signs.between(*ranges.range_of(made))
    if sign == "nonnegative" and word.rises and value.sign == "positive":
        sign = "positive"  # `sqrt(n)`: the end of an open range is not reached
    return algebra.make("function", type_, (value, *options), name=word.name, sign=sign, span=node.span)


def length_of(x: Expr, word: ConvexWord, along: bool, span: Span) -> Expr | None:
    """The value of a Euclidean norm, its square or a sum of sizes of constants, or of each of their rows; None for another function.

    So `r * norm2(a)` and `r * rownorm2(A)` are affine in r, as the centre of a polyhedron asks for.
    """
    if word.by_rows:
        word, along = CONVEX[CONVEX[word.total].rows], True
    if x.type.is_family or not (word.adds_sizes or (word.euclidean and word.degree)):
        return None
    entries = _function("abs" if word.adds_sizes else "square", x, span)
    if along:
        type_ = shapes.of_shape(x.type.array_shape[:1])
        total = algebra.make("sum_axis", type_, (entries,), name="sum", value=1, sign=entries.sign, span=span)
    else:
        total = algebra.make("sum", shapes.REAL, (entries,), sign=entries.sign, span=span)
    return _function("sqrt", total, span) if word.is_norm and not word.adds_sizes else total


def _function(name: str, x: Expr, span: Span) -> Expr:
    """A function of entries that is never negative."""
    return algebra.make("function", shapes.of_shape(x.type.array_shape), (x,), name=name, sign="nonnegative", span=span)
