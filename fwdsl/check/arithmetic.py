"""Sums, entrywise products and quotients of expressions, and of expanded sums of losses and convex functions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import isfinite

from ..grammar import tree
from ..grammar.diagnostic import Fix
from ..grammar.source import Span
from ..model import Dim, Expr, Type
from ..words import LOSSES
from . import algebra, shapes, signs
from .budget import DEPTH_AT_MOST, OPERATIONS_AT_MOST
from .context import Context
from .operands import report_infinite
from .values import AppliedAtom, Combination, Summand, Value

PRODUCT_RULE = "At most one factor of a product depends on variables."


def sum_of(ctx: Context, values: Sequence[Value], node: tree.Sum) -> Value | None:
    """The sum of signed terms; None after an error."""
    if not any(isinstance(v, Combination) for v in values):
        terms = [v for v in values if isinstance(v, Expr)]
        type_ = _sum_type(ctx, terms, node)
        return None if type_ is None else finite(ctx, algebra.add(terms, type_, node.span))
    return _combined(ctx, values, node)


def _sum_type(ctx: Context, terms: Sequence[Expr], node: tree.Sum) -> Type | None:
    type_, widest = terms[0].type, node.terms[0]
    if len(terms) > 1 and type_.is_scalar:
        type_ = shapes.plain(type_)
    for term, part in zip(terms[1:], node.terms[1:], strict=True):
        joined = shapes.added(type_, term.type)
        if joined is None:
            report_sum_mismatch(ctx, widest, type_, part, term.type)
            return None
        if joined.array_shape != type_.array_shape:
            widest = part
        type_ = joined
    return type_


def report_sum_mismatch(ctx: Context, left: tree.Node, a: Type, right: tree.Node, b: Type) -> None:
    """Report `left + right` where the shapes do not fit."""
    hint = ""
    pair = (a, b) if len(a.array_shape) < len(b.array_shape) else (b, a)
    if shapes.has_one_axis(pair[0]) and shapes.has_two_axes(pair[1]):
        hint = f"a vector with an entry for each column, `{pair[1].array_shape[1]}`, is added to every row"
    ctx.error(
        "FW2033",
        f"`{ctx.text(left)}` is {shapes.describe_type(a)} and `{ctx.text(right)}` is {shapes.describe_type(b)}: they cannot be added",
        right.span,
        label=shapes.describe_type(b),
        labels=ctx.declared(left, right),
        rule="Terms of a sum have equal shapes; only a scalar, a vector or one row added to the rows of a matrix, and one column, are broadcast.",
        hint=hint,
    )


def _report_number(ctx: Context, first: tree.Expr, shape: tuple[Dim, ...], part: tree.Expr, value: Expr) -> None:
    """Report an array beside a convex function whose values have another shape; one number is bounded by a variable instead."""
    if shape:
        report_sum_mismatch(ctx, first, shapes.of_shape(shape), part, value.type)
        return
    ctx.error(
        "FW2033",
        f"`{ctx.text(first)}` is one number, and `{ctx.text(part)}` is {shapes.describe_type(value.type)}: they cannot be added",
        part.span,
        label=shapes.describe_type(value.type),
        labels=ctx.declared(part),
        rule="A convex function that is one number is added to numbers; only affine numbers are added to every entry of an array.",
        hint="declare `var t: real`, bound the function under `subject to`, as in `norm2(x) <= t`, and write `t` in its place",
    )


def _combined(ctx: Context, values: Sequence[Value], node: tree.Sum) -> Combination | None:
    """A sum with losses or convex functions in it: one number, or one for each sample."""
    whole = next((v for v in values if isinstance(v, Combination) and v.shape), None)
    wanted = () if whole is None else whole.shape
    first = next(t for t, v in zip(node.terms, values, strict=True) if isinstance(v, Combination) and v.shape == wanted)
    summands: list[Summand] = []
    for value, part in zip(values, node.terms, strict=True):
        if isinstance(value, Combination):
            if value.shape not in ((), wanted):
                report_sum_mismatch(ctx, first, shapes.of_shape(wanted), part, shapes.of_shape(value.shape))
                return None
            summands.extend(value.summands)
            continue
        shape = value.type.array_shape
        if shape and shape != wanted:
            _report_number(ctx, first, wanted, part, value)
            return None
        summands.append(Summand(algebra.ONE, value, span=part.span))
    if len(summands) > OPERATIONS_AT_MOST:
        report_size(ctx, node)
        return None
    samples, columns = (None, None) if whole is None else (whole.samples, whole.columns)
    return Combination(tuple(summands), samples, node.span, columns)


def report_size(ctx: Context, node: tree.Node) -> None:
    """Report an expression that is too large or too deep once every `let` is written out."""
    ctx.error(
        "FW2067",
        "this expression is too large",
        node.span,
        rule=f"With every `let` written out, an expression has at most {OPERATIONS_AT_MOST:,} operations, nested at most "
        f"{DEPTH_AT_MOST} deep.",
        hint="write it in fewer steps, with matrices and `sum` instead of entry by entry",
    )


def times(ctx: Context, a: Value, b: Value, left: tree.Expr, right: tree.Expr, span: Span) -> Value | None:
    """a * b."""
    if isinstance(a, Combination) or isinstance(b, Combination):
        return _weighted(ctx, a, b, left, right, span)
    if not a.is_constant and not b.is_constant:
        report_product(ctx, a, b, left, right, span)
        return None
    type_ = shapes.multiplied(a.type, b.type)
    if type_ is None:
        report_entrywise(ctx, "*", a, b, left, right, span)
        return None
    return finite(ctx, algebra.multiply(a, b, type_, span))


def quotient(ctx: Context, a: Value, b: Value, left: tree.Expr, right: tree.Expr, span: Span) -> Value | None:
    """a / b, with a constant b."""
    if isinstance(b, Combination) or not b.is_constant:
        ctx.error(
            "FW3004",
            f"the divisor `{ctx.text(right)}` depends on a variable",
            right.span,
            labels=ctx.declared(right),
            rule="No variable occurs in a divisor.",
            hint="multiply both sides of a constraint out, or minimise another convex measure of the same thing",
        )
        return None
    if b.sign == "zero":
        ctx.error(
            "FW2060",
            f"the divisor `{ctx.text(right)}` is zero",
            right.span,
            rule="A divisor is not zero.",
        )
        return None
    if isinstance(a, Combination):
        if b.type.is_scalar:
            return a.scaled(b, divide=True, span=span)
        inverse = algebra.divide(algebra.ONE, b, shapes.plain(b.type), right.span)
        return _weighted(ctx, inverse, a, right, left, span)
    type_ = shapes.multiplied(a.type, b.type)
    if type_ is None:
        report_entrywise(ctx, "/", a, b, left, right, span)
        return None
    return finite(ctx, algebra.divide(a, b, type_, span))


def finite(ctx: Context, e: Expr) -> Expr | None:
    """The expression. Reports an error where its value is known and is not finite."""
    values = [algebra.number(part) for part in (e, *e.args)]
    if all(v is None or isfinite(v) for v in values):
        return e
    report_infinite(ctx, e.span)
    return None


def _weighted(ctx: Context, a: Value, b: Value, left: tree.Expr, right: tree.Expr, span: Span) -> Value | None:
    """A convex expression times a constant, which is a scalar or a weight for each sample."""
    if isinstance(a, Combination) and isinstance(b, Combination):
        report_product(ctx, a, b, left, right, span)
        return None
    factor, sum_, factor_node = (a, b, left) if isinstance(b, Combination) else (b, a, right)
    assert isinstance(factor, Expr) and isinstance(sum_, Combination)
    if not factor.is_constant:
        report_product(ctx, a, b, left, right, span)
        return None
    if factor.type.is_scalar:
        return sum_.scaled(factor, span=span)
    if (not sum_.shape or factor.type.array_shape != sum_.shape) and not _weighs_entries(sum_, factor):
        what = f"one value for each of `{sum_.samples}` samples" if sum_.samples is not None else "one number"
        what = (
            f"one value for each entry of a matrix[{sum_.samples}, {sum_.columns}]"
            if sum_.columns is not None
            else what
        )
        ctx.error(
            "FW2049",
            f"`{ctx.text(factor_node)}` is {shapes.describe_type(factor.type)}, and `{ctx.text(sum_.span)}` is {what}",
            factor_node.span,
            labels=ctx.declared(factor_node),
            rule="A weight is a nonnegative number, or inside `mean` and `sum` a vector with an entry for each sample, or a matrix with one for each "
            "prediction.",
        )
        return None
    return replace(sum_, summands=tuple(_with_weight(s, factor) for s in sum_.summands), span=span)


def _weighs_entries(sum_: Combination, factor: Expr) -> bool:
    """True if each summand is a loss of single predictions that are a matrix, and the factor has a number for each of them."""
    bodies = [s.body for s in sum_.summands if isinstance(s.body, AppliedAtom)]
    return len(bodies) == len(sum_.summands) and all(
        body.kind == "loss"
        and body.per_sample
        and not LOSSES[body.atom].scores
        and body.argument.type.array_shape == factor.type.array_shape
        for body in bodies
    )


def _with_weight(s: Summand, weight: Expr) -> Summand:
    """A summand times a weight for each sample. Scalar factors of the weight move into the coefficient."""
    coefficient, weight = split_scale(s.coefficient, weight)
    if isinstance(s.body, Expr):
        body = s.body
        if shapes.has_two_axes(body.type) and shapes.has_one_axis(weight.type):
            # what stands beside a loss of a matrix has a value for each entry, and the loss one for each row
            body = algebra.weighted_rows(weight, body)
        else:
            body = algebra.multiply(weight, body, shapes.plain(weight.type))
        return replace(s, coefficient=coefficient, body=body)
    old = s.body.weights if s.body.per_sample else s.weight
    new = weight if old is None else _together(old, weight)
    if s.body.per_sample:
        return replace(s, coefficient=coefficient, body=replace(s.body, weights=new))
    return replace(s, coefficient=coefficient, weight=new)


def _together(a: Expr, b: Expr) -> Expr:
    """The product of two weights, each a vector over samples or a matrix of all predictions."""
    if a.type.array_shape == b.type.array_shape:
        return algebra.multiply(a, b, a.type)
    rows, entries = (a, b) if shapes.has_one_axis(a.type) else (b, a)
    return replace(algebra.weighted_rows(rows, entries), sign=signs.product(a.sign, b.sign))


def split_scale(coefficient: Expr, weight: Expr) -> tuple[Expr, Expr]:
    """The coefficient times the scalar factors of a vector, and the vector without them."""
    scale, rest = algebra.scale_of(weight)
    while scale is not None:
        coefficient, weight = algebra.times(coefficient, scale), rest
        scale, rest = algebra.scale_of(weight)
    return coefficient, weight


def report_product(ctx: Context, a: Value, b: Value, left: tree.Expr, right: tree.Expr, span: Span) -> None:
    """Report a product of two expressions that both depend on variables, or one of which is a function without a value of its own."""
    for value, node in ((a, left), (b, right)):
        if isinstance(value, Combination) and value.is_constant:
            ctx.error(
                "FW3003",
                f"`{ctx.text(node)}` has no variables, but stands as a term and not as a factor of one",
                node.span,
                rule="Sums, Euclidean norms, `norm1` and functions of entries are worked out where they are of constants, others are not.",
                hint="give its value as data or as a parameter",
            )
            return
    hint, text = "fix one of the two as data or as a parameter", ""
    if isinstance(a, Expr) and isinstance(b, Expr):
        ahead, a = _unscaled(ctx, a, left)
        inner = (
            "@" in ctx.source.text[span.start : right.span.start]
            or isinstance(left, tree.Call)
            or ctx.source.text.startswith("dot", span.start)
        )
        if b in (a, _untransposed(a)):
            hint = f"write `sum_squares({ctx.text(right)})` for the sum of its squares"
            if a.type.is_scalar or (inner and shapes.has_one_axis(b.type)):
                text = f"{ahead}sum_squares({ctx.source.slice(right.span)})"
        elif (form := _form(a, b, left, right)) is not None:
            whole, matrix = form
            hint = f"write `quad_form({ctx.text(whole)}, {ctx.text(matrix)})`, with a positive semidefinite `{ctx.text(matrix)}`"
            text = f"{ahead}quad_form({ctx.source.slice(whole.span)}, {ctx.source.slice(matrix.span)})"
    elif isinstance(a, Combination) and isinstance(b, Combination) and a.summands == b.summands:
        hint = "the square of a norm is `sum_squares(...)`"
    ctx.error(
        "FW3003",
        f"`{ctx.text(left)}` and `{ctx.text(right)}` both depend on variables, so their product is neither convex nor concave",
        span,
        labels=ctx.declared(left, right),
        rule=PRODUCT_RULE,
        hint=hint,
        fix=Fix(f"write `{text}`", span, text) if text else None,
    )


def _form(a: Expr, b: Expr, left: tree.Expr, right: tree.Expr) -> tuple[tree.Expr, tree.Expr] | None:
    """x and P of `x.T @ P @ x`, `x @ (P @ x)` and `dot(x, P @ x)`; None where the product is no quadratic form, or is written otherwise."""
    if a.op == "matmul" and isinstance(left, tree.Product):
        _, first = _unscaled(None, a.args[0], left)
        return (right, left.factors[-1]) if b in (first, _untransposed(first)) else None
    if b.op == "matmul" and isinstance(right, tree.Product) and b.args[1] in (a, _untransposed(a)):
        x = left.factors[-1] if isinstance(left, tree.Product) else left
        return (x.operand if isinstance(x, tree.Transpose) else x), right.factors[0]
    return None


def _unscaled(ctx: Context | None, e: Expr, node: tree.Expr) -> tuple[str, Expr]:
    """The text of the numbers in front of a product, and what they multiply."""
    rest = e
    scale, inner = algebra.scale_of(e)
    while scale is not None:
        rest = inner
        scale, inner = algebra.scale_of(rest)
    if ctx is None or rest is e or not isinstance(node, tree.Product):
        return "", rest
    count = node.ops.index("@") if "@" in node.ops else len(node.ops)
    return ctx.source.text[node.span.start : node.factors[count].span.start], rest


def _untransposed(e: Expr) -> Expr:
    return e.args[0] if e.op == "transpose" else e


def report_entrywise(ctx: Context, op: str, a: Expr, b: Expr, left: tree.Expr, right: tree.Expr, span: Span) -> None:
    """Report `a * b` or `a / b` where neither is a scalar and the shapes differ."""
    hint = "use `@` for a matrix product" if op == "*" else ""
    vector, matrix = (left, right) if shapes.has_one_axis(a.type) else (right, left)
    if (shapes.has_one_axis(a.type) and shapes.has_two_axes(b.type)) or (
        shapes.has_two_axes(a.type) and shapes.has_one_axis(b.type)
    ):
        v, m = ctx.text(vector), ctx.text(matrix)
        over = "1 / " if op == "/" else ""
        entry, rows_columns = (a, b) if vector is left else (b, a)
        columns = entry.type.array_shape[0] == rows_columns.type.array_shape[1]
        rows = entry.type.array_shape[0] == rows_columns.type.array_shape[0]
        scaled = (
            f"`diag({over}{v}) @ {m}` to scale the rows" if rows else f"`{m} @ diag({over}{v})` to scale the columns"
        )
        meets = columns if matrix is left else rows  # whether `@` between them has a meaning
        product = f"`{ctx.text(left)} @ {ctx.text(right)}` for the matrix product, " if op == "*" and meets else ""
        hint = f"write {product}{scaled}"
        if not rows and not columns:
            hint = (
                f"use `@` for a matrix product, or `diag({v}) @ {m}` with a vector of one entry a row to scale the rows"
            )
    ctx.error(
        "FW2034",
        f"`{ctx.text(left)}` is {shapes.describe_type(a.type)} and `{ctx.text(right)}` is {shapes.describe_type(b.type)}: "
        f"`{op}` between them has no meaning",
        span,
        labels=ctx.declared(left, right),
        rule="`*` and `/` take a scalar on one side, or equal shapes entrywise.",
        hint=hint,
    )
