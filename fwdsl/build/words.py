"""The language's functions and sets as Python functions, made from their records."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import TypeVar

from ..grammar import tree
from ..words import AXIS, SETS, ConvexWord, EntryWord, FunctionWord, LossWord, SetWord, Word, function_named
from .built import Built
from .convert import as_weights, literal, operand
from .expression import Expression, SetExpression
from .leaves import UseKind

F = TypeVar("F", bound=Callable[..., object])
Made = (
    Callable[..., Expression] | Callable[..., SetExpression] | Callable[..., Expression | SetExpression] | SetExpression
)


def word(name: str) -> Made:
    """The Python object for a function or set of the language, such as `norm1`; `KeyError` for any other word."""
    function = function_named(name)
    if function is not None:
        return _of_either(function, SETS[name]) if name in SETS else _function(function)
    record = SETS[name]
    return _set(record) if record.parameters else SetExpression(tree.Name(name))


def _function(word: Word) -> Callable[..., Expression]:
    per_sample = isinstance(word, LossWord | EntryWord)
    sums_products = isinstance(word, FunctionWord) and word.sums_products
    reduces = isinstance(word, ConvexWord) or sums_products or (isinstance(word, FunctionWord) and word.reduces)

    def call(*args: object, **keywords: object) -> Expression:
        if sums_products and any(isinstance(e, Built) and e.per_sample for e in args):
            # the other one has the weights
            args = tuple(as_weights(operand(e)) for e in args)
        node, operands = _call(word, args, keywords)
        depth = 1 + max((e.depth for e in operands), default=0)
        inside = any(e.per_sample for e in operands) and not reduces
        inside = inside or (isinstance(word, ConvexWord) and AXIS.name in keywords)
        return Expression(node, depth, per_sample or inside)

    return _dressed(call, word, "Expression")


def _set(word: SetWord) -> Callable[..., SetExpression]:
    def call(*args: object, **keywords: object) -> SetExpression:
        return SetExpression(_call(word, args, keywords)[0])

    return _dressed(call, word, "SetExpression")


def _of_either(function: Word, of_sets: SetWord) -> Callable[..., Expression | SetExpression]:
    """A word that makes a set of a set, and an expression of anything else: `vec`."""
    of_values, of_members = _function(function), _set(of_sets)

    def call(*args: object, **keywords: object) -> Expression | SetExpression:
        made = any(isinstance(value, SetExpression) for value in (*args, *keywords.values()))
        return (of_members if made else of_values)(*args, **keywords)

    _dressed(call, function, "Expression | SetExpression")
    call.__doc__ = f"{function.summary} Of a set: {of_sets.summary}"
    return call


def _call(word: Word, args: tuple[object, ...], keywords: dict[str, object]) -> tuple[tree.Call, list[Built]]:
    """The call as written. The checker reports wrong arguments at their place in the printed program."""
    operands: list[Built] = []
    roles: dict[str, UseKind] = {p.name: p.kind for p in word.parameters}

    def argument(key: str, value: object) -> tree.Expr:
        if isinstance(value, SetExpression):
            return value.node
        if isinstance(value, bool | str) or (roles.get(key) == "index" and isinstance(value, list | tuple)):
            return literal(value)
        expression = operand(value, roles.get(key, ""))
        operands.append(expression)
        return expression.node

    if len(args) == 1 and isinstance(args[0], list | tuple) and any(p.repeated for p in word.parameters):
        args = tuple(args[0])  # as NumPy takes them
    keys = [p.name for p in word.parameters] + [""] * len(args)
    positional = tuple(argument(key, value) for key, value in zip(keys, args, strict=False))
    named = tuple(tree.Keyword(tree.Ident(key), argument(key, value)) for key, value in keywords.items())
    return tree.Call(tree.Ident(word.name), positional, named), operands


def _dressed(function: F, word: Word, returns: str) -> F:
    """The function with its name, signature and docstring."""
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    last = next((i for i, p in enumerate(word.parameters) if p.repeated), len(word.parameters))
    function.__name__ = function.__qualname__ = word.name
    function.__module__ = "fwdsl"
    function.__doc__ = word.summary
    function.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [
            inspect.Parameter(p.name, inspect.Parameter.VAR_POSITIONAL)
            if p.repeated
            else inspect.Parameter(
                p.name,
                kind if i < last else inspect.Parameter.KEYWORD_ONLY,
                default=inspect.Parameter.empty if p.required else p.default,
            )
            for i, p in enumerate(word.parameters)
        ],
        return_annotation=returns,
    )
    return function
