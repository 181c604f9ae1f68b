"""Infers the meaning of an expression: its type by dimension names, its sign, and the losses and convex functions in its sum.

`infer` returns None after an error that it has reported, so that consequences of the error are not reported.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import cast

from ..grammar import tree
from ..model import Expr, Type
from . import algebra, shapes
from .arithmetic import quotient, report_size, sum_of, times
from .budget import DEPTH_AT_MOST
from .calls import call
from .context import Context
from .indexing import index
from .literals import numbers
from .operands import report_kernel_use
from .products import matrix_product
from .symmetry import derived
from .values import Combination, Value

_LEVELS = 40
"""The number of levels of an expression that are inferred on one stack. Each level takes up to six calls; Python allows 1,000."""


def infer(ctx: Context, node: tree.Expr) -> Value | None:
    """The meaning of an expression; None after an error."""
    if ctx.depth >= DEPTH_AT_MOST:
        if not ctx.too_deep:
            report_size(ctx, node)
        ctx.too_deep = True
        return None
    if id(node) in ctx.known:
        return ctx.known[id(node)][1]
    ctx.depth += 1
    try:
        rule = _RULES[type(node)]
        value = rule(ctx, node) if ctx.depth % _LEVELS else _on_own_stack(lambda: rule(ctx, node))
    finally:
        ctx.depth -= 1
    ctx.known[id(node)] = node, value
    return value


def _on_own_stack(run: Callable[[], Value | None]) -> Value | None:
    """The result of `run` in a new thread. Python limits nested calls for each thread on its own."""
    if sys.platform == "emscripten":  # a browser has no threads
        return run()
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(1) as pool:
        return pool.submit(run).result()


def infer_whole(ctx: Context, node: tree.Expr) -> Value | None:
    """The meaning of a whole objective, `let` or side of a constraint. Reports one that is too large with every `let` written out."""
    ctx.too_deep = False
    value = infer(ctx, node)
    if value is None or ctx.budget.allows(value):
        return value
    report_size(ctx, node)
    return None


def _number(ctx: Context, node: tree.Expr) -> Value | None:
    value = cast(tree.Number, node).value
    return algebra.const(value, node.span)


def _boolean(ctx: Context, node: tree.Expr) -> Value | None:
    return Expr("boolean", shapes.BOOLEAN, value=cast(tree.Boolean, node).value, span=node.span)


def _string(ctx: Context, node: tree.Expr) -> Value | None:
    return Expr("string", shapes.STRING, value=cast(tree.String, node).value, span=node.span)


def _name(ctx: Context, node: tree.Expr) -> Value | None:
    return ctx.lookup(cast(tree.Name, node).id, node.span)


def _neg(ctx: Context, node: tree.Expr) -> Value | None:
    operand = cast(tree.Neg, node).operand
    value = operand_value(ctx, operand)
    if isinstance(value, Combination):
        return value.scaled(algebra.const(-1.0), span=node.span)
    return None if value is None else algebra.negate(value, node.span)


def operand_value(ctx: Context, node: tree.Expr) -> Value | None:
    """An operand of arithmetic. Reports an expression that is not made of numbers."""
    value = infer(ctx, node)
    if isinstance(value, Expr) and not shapes.is_numeric(value.type):
        _not_numbers(ctx, node, value.type)
        return None
    return value


def _not_numbers(ctx: Context, node: tree.Expr, type_: Type) -> None:
    if type_.is_features:
        report_kernel_use(ctx, node, "is computed with")
        return
    hints = {
        "labels": "classes are not numbers; declare a `vector` to compute with them",
        "index": "an index addresses a family or groups, as in `F[task]`; declare a `vector` to compute with it",
        "entries": "`B[M]` takes the observed entries of a matrix; as the target of a loss `M` stands for its values",
    }
    ctx.error(
        "FW2036",
        f"`{ctx.text(node)}` is {shapes.describe_type(type_)} and cannot be computed with",
        node.span,
        labels=ctx.declared(node),
        rule="Arithmetic takes numbers: scalars, vectors, matrices, tensors, signs and families.",
        hint=hints.get(type_.kind, ""),
    )


def _sum(ctx: Context, node: tree.Expr) -> Value | None:
    total = cast(tree.Sum, node)
    values = [operand_value(ctx, term) for term in total.terms]
    known = [v for v in values if v is not None]
    if len(known) < len(values):
        return None
    signed = [v if sign > 0 else _minus(v, term) for v, sign, term in zip(known, total.signs, total.terms, strict=True)]
    return _as_symmetric(sum_of(ctx, signed, total))


def _minus(value: Value, term: tree.Expr) -> Value:
    """The meaning of a term of a sum after a minus sign."""
    if isinstance(value, Combination):
        return value.scaled(algebra.const(-1.0), span=term.span)
    return algebra.negate(value)


def _call(ctx: Context, node: tree.Expr) -> Value | None:
    return _as_symmetric(call(ctx, node))


def _product(ctx: Context, node: tree.Expr) -> Value | None:
    factors, ops = cast(tree.Product, node).factors, cast(tree.Product, node).ops
    _note_weights(ctx, factors, ops)
    left = _factor(ctx, factors[0], ops[0])
    for i, op in enumerate(ops):
        right = _factor(ctx, factors[i + 1], op)
        if left is None or right is None:
            left = None
            continue
        span = factors[0].span.to(factors[i + 1].span)
        left_node = (
            factors[0] if i == 0 else tree.Product(factors[: i + 1], ops[:i], span=factors[0].span.to(factors[i].span))
        )
        rule = {"*": times, "/": quotient, "@": matrix_product}[op]
        left = rule(ctx, left, right, left_node, factors[i + 1], span)
    return _as_symmetric(left)


def _note_weights(ctx: Context, factors: Sequence[tree.Expr], ops: Sequence[str]) -> None:
    """Note the names without a declaration that multiply a loss or a convex function, for what is told of them."""
    names = {
        factor.id
        for factor, op in zip(factors, ("*", *ops), strict=True)
        if op == "*" and isinstance(factor, tree.Name) and factor.id not in ctx.entries
    }
    if names - ctx.missing and any(
        isinstance(infer(ctx, factor), Combination)
        for factor in factors
        if not (isinstance(factor, tree.Name) and factor.id in names)
    ):
        ctx.weights |= names


def _as_symmetric(value: Value | None) -> Value | None:
    """A sum or a product, with the type of a symmetric matrix where it is its own transpose."""
    return derived(value) if isinstance(value, Expr) else value


def _factor(ctx: Context, node: tree.Expr, op: str) -> Value | None:
    """A factor. A matrix product may have an implicit feature map as a factor."""
    if op != "@":
        return operand_value(ctx, node)
    value = infer(ctx, node)
    if isinstance(value, Expr) and not shapes.is_numeric(value.type) and not value.type.is_features:
        _not_numbers(ctx, node, value.type)
        return None
    return value


def _transpose(ctx: Context, node: tree.Expr) -> Value | None:
    operand = cast(tree.Transpose, node).operand
    value = operand_value(ctx, operand)
    if isinstance(value, Combination):
        ctx.error(
            "FW3005",
            f"`.T` of `{ctx.text(operand)}`, which is convex and not affine",
            node.span,
            rule="Outside losses, norms and other convex functions an expression over variables is affine.",
        )
        return None
    if value is None:
        return None
    type_ = shapes.transposed(value.type)
    if type_ is None:
        ctx.error(
            "FW2044",
            f"`.T` is of vectors and matrices, and `{ctx.text(operand)}` is {shapes.describe_type(value.type)}",
            node.span,
            labels=ctx.declared(operand),
            rule="Only a vector or a matrix has a transpose.",
        )
        return None
    if len(value.type.array_shape) < 2 or value.type.is_symmetric:
        return value
    if value.op == "transpose":
        return value.args[0]
    return algebra.make("transpose", type_, (value,), sign=value.sign, span=node.span)


def _list(ctx: Context, node: tree.Expr) -> Value | None:
    literal = numbers(ctx, cast(tree.List, node))
    if literal is None:
        return None
    values, shape, sign = literal
    return Expr("literal", shapes.of_shape(shape), value=values, sign=sign, span=node.span)


_RULES: dict[type, Callable[[Context, tree.Expr], Value | None]] = {
    tree.Number: _number,
    tree.Boolean: _boolean,
    tree.String: _string,
    tree.Name: _name,
    tree.Neg: _neg,
    tree.Sum: _sum,
    tree.Product: _product,
    tree.Transpose: _transpose,
    tree.Call: _call,
    tree.Index: index,
    tree.List: _list,
}
