"""Calls in expressions: finds the word that is called, and says what to write instead of a name that is no word."""

from __future__ import annotations

from typing import cast

from ..grammar import tree
from ..grammar.source import Span
from ..model import Expr
from ..words import (
    COLUMN_WORDS,
    CONSTANTS,
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
from .atoms import convex
from .composed import composed
from .constants import constant, first_argument, is_constant
from .context import IS, Context
from .features import feature_map
from .functions import apply
from .losses import entrywise, loss
from .reductions import largest
from .values import Value


def call(ctx: Context, node: tree.Expr) -> Value | None:
    """`f(...)` in an expression."""
    node = cast(tree.Call, node)
    name = node.func.name
    if name in CONSTANTS:
        value = first_argument(ctx, node)
        if isinstance(value, Expr) and is_constant(value):
            return constant(ctx, node, value)
    if name in LOSSES:
        return loss(ctx, node)
    if name in ENTRYWISE:
        return entrywise(ctx, node)
    if name in CONVEX:
        return largest(ctx, node) or (composed if CONVEX[name].is_composed else convex)(ctx, node)
    if name in FEATURE_MAPS:
        return feature_map(ctx, node)
    if name not in FUNCTIONS:
        _unknown(ctx, node)
        return None
    bound = bind_arguments(ctx, node, FUNCTIONS[name].parameters)
    return None if bound is None else apply(ctx, node, bound)


def _takes(name: str, node: tree.Call, first: Value | None) -> bool:
    """True if a function takes this number of arguments, and the shape of the first one."""
    word = function_named(name)
    assert word is not None
    parameters = word.parameters
    required = sum(p.required for p in parameters)
    if not required <= len(node.args) + len(node.keywords) <= len(parameters):
        return False
    axes = len(first.type.array_shape) if isinstance(first, Expr) and not first.type.is_family else 3
    if not isinstance(word, ConvexWord) or axes > 2:
        return True
    symmetric = isinstance(first, Expr) and first.type.is_symmetric
    return ("scalar", "vector", "matrix")[axes] in word.of and (symmetric or not word.of_eigenvalues)


def _unknown(ctx: Context, node: tree.Call) -> None:
    from .foreign import foreign_call

    name, span = node.func.name, node.func.span
    if name not in ctx.entries and foreign_call(ctx, node):
        return
    values: list[Value | None] = []
    for argument in (*node.args, *(k.value for k in node.keywords)):
        if name not in SOURCES and name not in SETS:
            values.append(ctx.infer(ctx, argument))
    if name in SETS:
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
        ctx.unknown(
            "FW2006",
            f"there is no function `{name}`",
            name,
            span,
            function_names(),
            elsewhere=elsewhere(filter(None, map(function_named, function_names()))),
            fits=lambda word: _takes(word, node, next(iter(values), None)),
            rule="The functions are the losses, norms, feature maps and operations of the language.",
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
