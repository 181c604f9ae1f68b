"""Calls in expressions: which word it is, and what to write instead of one that is none."""

from __future__ import annotations

from typing import cast

from ..grammar import tree
from ..grammar.diagnostic import Fix
from .arguments import bind
from .atoms import convex, loss
from .context import Context, similar
from .features import feature_map
from .functions import apply
from .signatures import CONVEX, FEATURE_MAPS, FUNCTION_NAMES, FUNCTIONS, LOSSES, SETS, SOURCES, TYPES
from .values import Value


def call(ctx: Context, node: tree.Expr) -> Value | None:
    """`f(...)` in an expression."""
    node = cast(tree.Call, node)
    name = node.func.name
    if name in LOSSES:
        return loss(ctx, node)
    if name in CONVEX:
        return convex(ctx, node)
    if name in FEATURE_MAPS:
        return feature_map(ctx, node)
    if name not in FUNCTIONS:
        _unknown(ctx, node)
        return None
    bound = bind(ctx, node, FUNCTIONS[name])
    return None if bound is None else apply(ctx, node, bound)


_ELSEWHERE = {
    "norm": ("norm1", "norm2", "norm_inf", "norm_fro", "norm_nuc", "norm_spec"),
    "abs": ("norm1",),
    "max": ("norm_inf",),
    "sqrt": (),
    "exp": (),
    "log": (),
    "square": ("sum_squares",),
    "sumsq": ("sum_squares",),
    "least_squares": ("squared",),
    "mse": ("squared",),
    "identity": ("eye",),
    "tr": ("trace",),
}
_BARE_NORM = (
    "`norm1(x)` is the sum of absolute values, `norm2(x)` the Euclidean norm of a vector, `norm_inf(x)` the largest absolute value, "
    "`norm_fro(X)`, `norm_nuc(X)` and `norm_spec(X)` are norms of matrices"
)


def _unknown(ctx: Context, node: tree.Call) -> None:
    name, span = node.func.name, node.func.span
    for argument in (*node.args, *(k.value for k in node.keywords)):
        if name not in SOURCES and name not in SETS:
            ctx.infer(ctx, argument)
    if name == "norm":
        ctx.error(
            "FW2050",
            "`norm` could be any of several norms",
            span,
            rule="A norm is called by its own name: ambiguity is refused.",
            hint=_BARE_NORM,
        )
    elif name in SETS:
        ctx.error(
            "FW2005",
            f"`{ctx.text(node)}` is a set and not a value",
            node.span,
            rule="A set stands behind `in`, in `subject to` or in the declaration of a variable.",
            hint=f"write `x in {ctx.text(node)}` under `subject to`",
        )
    elif name in SOURCES or name in TYPES:
        ctx.error(
            "FW2005",
            f"`{name}` is {'a data source' if name in SOURCES else 'a type'} and not a function",
            span,
            rule="A source stands behind `from`, a type behind `:`, in a declaration.",
        )
    elif (entry := ctx.entries.get(name)) is not None:
        ctx.used.add(name)
        ctx.error(
            "FW2005",
            f"`{name}` is {'a value' if entry.value is None else entry.kind} and not a function",
            span,
            labels=ctx.declared(tree.Name(name)),
            rule="Only the functions of the language are called.",
            hint=f"write `{name} * (...)` for a product, `{name}[...]` for entries",
        )
    else:
        options = _ELSEWHERE.get(name.lower())
        guess = (options[0] if options else "") if options is not None else similar(name, FUNCTION_NAMES)
        ctx.error(
            "FW2006",
            f"there is no function `{name}`",
            span,
            rule="The functions are the losses, norms, feature maps and operations of the language.",
            hint=f"did you mean `{guess}`?" if guess else "",
            fix=Fix(f"replace `{name}` by `{guess}`", span, guess) if guess else None,
        )
