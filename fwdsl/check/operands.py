"""Checks arguments that must be affine expressions of numbers, and reports others."""

from __future__ import annotations

from math import isfinite

from ..grammar import tree
from ..grammar.diagnostic import Fix
from ..grammar.source import Span
from ..model import Dim, Expr, Type, multiply_dims
from ..words import CONVEX, ENTRYWISE, LOSSES, SETS, LossWord
from . import algebra, shapes
from .context import Context
from .values import AppliedAtom, Combination, Value

KERNEL_RULE = "An implicit feature map is used through its Gram matrix only: as `Phi @ W` with a variable `W`."

NEGATIVE = "-({})"
"""The negative of an argument, in a text that it is put into."""


def affine(ctx: Context, node: tree.Call, part: tree.Expr) -> Expr | None:
    """An argument that is an affine expression of numbers; None after an error."""
    return as_affine(ctx, node, part, ctx.infer(ctx, part))


def as_affine(ctx: Context, node: tree.Call, part: tree.Expr, value: Value | None) -> Expr | None:
    """The meaning of an argument that is an affine expression of numbers; None after an error. Only boxes take `inf`."""
    if isinstance(value, Combination):
        text = _of_values(ctx, node, value) or _of_sum(ctx, node, value)
        ctx.error(
            "FW3005",
            f"`{ctx.text(part)}` is {value.told} and not affine, and stands in `{node.func.name}`",
            part.span,
            rule="The argument of a loss, a norm or a function is affine in the variables.",
            hint=f"write `{text}`"
            if text
            else f"minimise a variable `t: real` in its place, subject to `{ctx.text(node)} <= t`"
            if _is_largest(node, value)
            else _by_bound(ctx, node, part, value)
            or "only sums of convex terms with nonnegative weights are taken apart: write the terms side by side",
            fix=Fix(f"write `{text}`", node.span, text) if text else None,
        )
        return None
    if value is not None and value.type.is_features:
        report_kernel_use(ctx, part, f"stands in `{node.func.name}`")
        return None
    if value is not None and not shapes.is_numeric(value.type):
        wrong_kind(ctx, node, part, value.type, "numbers")
        return None
    if value is not None and node.func.name not in SETS and not is_finite(ctx, value, part):
        return None
    return value


def _is_largest(node: tree.Call, value: Combination) -> bool:
    """True of the largest of what has a value for each row."""
    word = CONVEX.get(node.func.name)
    return word is not None and word.bounds_entries and len(value.shape) == 1 and len(node.args) == 1


def _by_bound(ctx: Context, node: tree.Call, part: tree.Expr, value: Combination) -> str:
    """The help for a loss or a function of what is not affine; empty for other calls.

    Where it rises with its argument and both are convex, or both concave, a variable that the argument bounds takes its place:
    with f convex and rising f(g(x)) is the least f(t) with g(x) <= t; with f concave and rising the largest with g(x) >= t.
    """
    name = node.func.name
    word = ENTRYWISE.get(name) or LOSSES.get(name) or CONVEX.get(name)
    if word is None:
        return ""
    bodies = [s.body for s in value.summands if isinstance(s.body, AppliedAtom)]
    signs = ("negative", "nonpositive") if word.is_concave_function else ("positive", "nonnegative")
    alike = all(s.coefficient.sign in signs for s in value.summands if isinstance(s.body, AppliedAtom))
    alone = not isinstance(word, LossWord) or len(node.args) == 1
    if not (word.rises and alike and alone):
        return f"nothing in its form shows that `{name}` of it is convex or concave: give `{name}` an affine argument"
    t, sign, text = ctx.new_name(part.span), ">=" if word.is_concave_function else "<=", ctx.text(part)
    type_ = shapes.format_type(shapes.of_shape((multiply_dims(*value.shape),) if value.shape else ()))
    declared = f"`{name}` rises with its argument: declare `var {t}: {type_}`"
    if len(value.shape) > 1:
        return f"{declared}, which `{text}` bounds with `vec(...)` in place of matrices, and write `{t}` in place of `{text}`"
    if value.shape and len(bodies) > 1:
        bound = f"`{ctx.text(bodies[0].span)} {sign} {t}`"
        return (
            f"{declared} with {bound}, and such a variable for each further function, and write them in place of these"
        )
    return f"{declared}, write `{t}` in place of `{text}`, and `{text} {sign} {t}` under `subject to`"


def _of_values(ctx: Context, node: tree.Call, value: Combination) -> str:
    """The call with the function that this one is of the values of another: `norm_inf(x)` for `max(abs(x))`; empty where there is none."""
    body = value.summands[0].body
    if isinstance(body, Expr) or len(value.summands) > 1 or len(node.args) > 1 or body.argument.span == tree.NOWHERE:
        return ""
    known = dict(CONVEX[node.func.name].of_values) if node.func.name in CONVEX else {}
    if body.word not in known or algebra.number(value.summands[0].coefficient) != 1.0:
        return ""
    rest = ctx.source.text[node.args[0].span.end : node.span.end]
    word = known[body.word]
    return f"{word}({ctx.source.slice(body.argument.span)}{rest}{')' * word.count('(')}"


def _of_sum(ctx: Context, node: tree.Call, value: Combination) -> str:
    """The words for a function of a convex sum: `log_sum_exp(x)` for `log(sum(exp(x)))`; empty where there are none."""
    word = LOSSES.get(node.func.name) or ENTRYWISE.get(node.func.name)
    bodies = [s.body for s in value.summands if not isinstance(s.body, Expr)]
    beside = [algebra.number(s.body) for s in value.summands if isinstance(s.body, Expr)]
    if word is None or len(bodies) != 1 or len(node.args) != 1 or beside not in ([], [1.0]):
        return ""
    (body,) = bodies
    scaled = any(algebra.number(s.coefficient) != 1.0 for s in value.summands if s.body is body)
    if scaled or body.argument.span == tree.NOWHERE:
        return ""
    adds_up = bool(body.reduce) and body.kind == "loss" and not body.argument.type.is_scalar
    told = " ".join([*(["1 +"] if beside else []), *([body.reduce] if adds_up else []), body.word])
    form, text = dict(word.of_sums).get(told, ""), ctx.source.slice(body.argument.span)
    if NEGATIVE in form and _is_negative(text):
        return form.replace(NEGATIVE, "{}").format(text[2:-1])
    return form.format(text)


def _is_negative(text: str) -> bool:
    """True of `-(...)` whose brackets close at its end."""
    depth = [text[: i + 1].count("(") - text[: i + 1].count(")") for i in range(1, len(text))]
    return text.startswith("-(") and text.endswith(")") and 0 not in depth[:-1]


def is_finite(ctx: Context, value: Expr, node: tree.Node) -> bool:
    """True if an operand is finite, as far as the text tells. Reports `inf`."""
    number = algebra.number(value)
    if number is None or isfinite(number):
        return True
    report_infinite(ctx, node.span)
    return False


def report_infinite(ctx: Context, span: Span) -> None:
    """Report arithmetic with infinity, or arithmetic that overflows."""
    ctx.error(
        "FW2060",
        f"`{ctx.text(span)}` is not a finite number",
        span,
        rule="Arithmetic is between finite numbers; `inf` is a bound and nothing else.",
    )


def constant(ctx: Context, node: tree.Call, part: tree.Expr) -> Expr | None:
    """An argument of numbers that has no variables; None after an error."""
    value = affine(ctx, node, part)
    if value is None or value.is_constant:
        return value
    ctx.error(
        "FW3010",
        f"`{ctx.text(part)}` in `{node.func.name}` depends on a variable",
        part.span,
        labels=ctx.declared(part),
        rule="The parameters of a set, and all but the first argument of a convex function, are constant.",
    )
    return None


def count(ctx: Context, call: tree.Call, name: str, node: tree.Expr, size: Dim) -> Expr | None:
    """An argument that counts entries: a whole number from 1 to `size`, or a parameter or dimension; None after an error."""
    value = constant(ctx, call, node)
    if value is None:
        return None
    number = algebra.number(value)
    whole = number is not None and isfinite(number) and number >= 1 and number == number // 1
    counted = value.op == "dim" or (value.op == "param" and value.type.domain == "count")
    if (whole and not (isinstance(size, int) and number is not None and number > size)) or counted:
        return value
    ctx.error(
        "FW2012",
        f"`{name}` of `{call.func.name}` is a whole number between 1 and `{size}`, not `{ctx.text(node)}`",
        node.span,
        labels=ctx.declared(node),
        rule="It counts entries.",
        hint=f"declare `param {ctx.text(node)}: count`" if value.op == "param" else "",
    )
    return None


def wrong_kind(ctx: Context, node: tree.Call, part: tree.Node, type_: Type, takes: str, hint: str = "") -> None:
    """Report an argument of a type that the function does not take."""
    ctx.error(
        "FW2044",
        f"`{node.func.name}` takes {takes}, and `{ctx.text(part)}` is {shapes.describe_type(type_)}",
        part.span,
        labels=ctx.declared(part),
        rule="A function is applied to what it is of.",
        hint=hint,
    )


def report_kernel_use(ctx: Context, node: tree.Expr, how: str) -> None:
    """Report an implicit feature map that is used as a matrix."""
    ctx.error(
        "FW3015",
        f"`{ctx.text(node)}` is an implicit feature map and {how}",
        node.span,
        labels=ctx.declared(node),
        rule=KERNEL_RULE,
        hint="`fourier(X, features=..., gamma=...)` is an explicit map that can be used like any matrix",
    )
