"""Functions of constants: `log(2)`, `sqrt(n)`, `exp(-gamma)`, `log(b)` of data. Numbers that are written out are folded."""

from __future__ import annotations

import math

from ..grammar import tree
from ..model import Expr
from ..words import CONSTANTS
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
