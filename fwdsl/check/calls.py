"""Calls in expressions: finds the word that is called, and says what to write instead of a name that is no word."""

from __future__ import annotations

from typing import cast

from ..grammar import tree
from ..grammar.source import Span
from ..model import Expr
from ..words import (
    COLUMN_WORDS,
    CONVEX,
    ENTRYWISE,
    FEATURE_MAPS,
    FUNCTIONS,
    LOSSES,
    SETS,
    SOURCES,
    TYPES,
    ConvexWord,
    elsewhere,
    function_named,
    function_names,
)
from .arguments import bind_arguments
from .atoms import convex, entrywise, loss
from .composed import composed
from .context import IS, Context
from .features import feature_map
from .functions import apply
from .values import Value


def call(ctx: Context, node: tree.Expr) -> Value | None:
    """`f(...)` in an expression."""
    node = cast(tree.Call, node)
    name = node.func.name
    if name in LOSSES:
        return loss(ctx, node)
    if name in ENTRYWISE:
        return entrywise(ctx, node)
    if name in CONVEX:
        return composed(ctx, node) if CONVEX[name].is_composed else convex(ctx, node)
    if name in FEATURE_MAPS:
        return feature_map(ctx, node)
    if name not in FUNCTIONS:
        _unknown(ctx, node)
        return None
    bound = bind_arguments(ctx, node, FUNCTIONS[name].parameters)
    return None if bound is None else apply(ctx, node, bound)


#: Hints for functions that have no equivalent here. They are no fixes, since another name would change the meaning.
_INSTEAD = {
    "sqrt": "`norm2(x)` is the root of the sum of squares; a root has no other use here",
    "pow": "`sum_squares(x)` is the sum of squares, and the loss `squared(z, b)` is `(z - b)^2` for each sample",
    "median": "the sum of the losses `absolute(z, b)` is least at the median of `b`",
    "transpose": "the transpose of a matrix is written `A.T`",
    "matmul": "a matrix product is written `A @ x`",
    **dict.fromkeys(("load", "read", "read_csv", "loadtxt"), 'data come from a source: `data X: matrix[n, p] from csv("X.csv")`'),
}  # fmt: skip
_INSTEAD |= {
    "neg": "`pos(-x)` is the negative part of each entry: `sum(pos(-x))` is the sum of them",
}
_INSTEAD |= {"power": _INSTEAD["pow"]}
_BARE_NORM = (
    "`norm1(x)` is the sum of absolute values, `norm2(x)` the Euclidean norm of a vector, `norm_inf(x)` the largest absolute value, "
    "`norm_fro(X)`, `norm_nuc(X)` and `norm_spec(X)` are norms of matrices"
)
_INSTEAD |= {"norms": _BARE_NORM}


def _takes(name: str, node: tree.Call, first: Value | None) -> bool:
    """True if a function takes this number of arguments, and the shape of the first one."""
    word = function_named(name)
    assert word is not None
    parameters = word.parameters
    required = sum(p.required for p in parameters)
    if not required <= len(node.args) + len(node.keywords) <= len(parameters):
        return False
    axes = len(first.type.array_shape) if isinstance(first, Expr) and not first.type.is_family else 3
    return not isinstance(word, ConvexWord) or axes > 2 or ("scalar", "vector", "matrix")[axes] in word.of


def _unknown(ctx: Context, node: tree.Call) -> None:
    name, span = node.func.name, node.func.span
    values: list[Value | None] = []
    for argument in (*node.args, *(k.value for k in node.keywords)):
        if name not in SOURCES and name not in SETS:
            values.append(ctx.infer(ctx, argument))
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
            hint=f"write `from {ctx.text(node)}`" if name in SOURCES else f"a type stands behind a name: `x: {name}`",
        )
    elif name in COLUMN_WORDS:
        word = COLUMN_WORDS[name]
        ctx.error(
            "FW2005",
            f"`{name}` is a word for columns of a source and not a function",
            span,
            rule=f"It stands in the `columns` of a source: {word.formula[:1].lower()}{word.formula[1:]}",
            hint=f'write `from csv("data.csv", columns=["a", {name}("b")])`',
        )
    elif name in ctx.entries:
        _declared(ctx, name, span)
    else:
        instead = _INSTEAD.get(name.lower(), "")
        ctx.unknown(
            "FW2006",
            f"there is no function `{name}`",
            name,
            span,
            () if instead else function_names(),
            elsewhere=elsewhere(filter(None, map(function_named, function_names()))),
            fits=lambda word: _takes(word, node, next(iter(values), None)),
            rule="The functions are the losses, norms, feature maps and operations of the language.",
            otherwise=instead,
        )


def _declared(ctx: Context, name: str, span: Span) -> None:
    """Report a call of a name that the program declares."""
    ctx.used.add(name)
    ctx.error(
        "FW2005",
        f"`{name}` is {IS[ctx.entries[name].kind]} and not a function",
        span,
        labels=ctx.declared(tree.Name(name)),
        rule="Only the functions of the language are called.",
        hint=f"write `{name} * (...)` for a product, `{name}[...]` for entries",
    )
