"""The language's functions and sets as Python functions, made from the checker's table of signatures."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import TypeVar

from ..check.signatures import CONVEX, FEATURE_MAPS, FUNCTIONS, LOSSES, SETS, Parameter
from ..grammar import tree
from .convert import literal, operand
from .expression import Expression, SetExpression
from .formulas import FORMULAS
from .leaves import Role

F = TypeVar("F", bound=Callable[..., object])
Word = Callable[..., Expression] | Callable[..., SetExpression] | SetExpression


def word(name: str) -> Word:
    """The Python object for a function or set of the language, such as `norm1`; `KeyError` for any other word."""
    if name in LOSSES:
        loss = LOSSES[name]
        target: Role = "" if loss.target == "real" else loss.target
        return _function(name, loss.parameters, {"target": target}, per_sample=True)
    if name in CONVEX:
        return _function(name, CONVEX[name].parameters, {"groups": "index", "P": "psd"})
    if name in FEATURE_MAPS:
        return _function(name, FEATURE_MAPS[name].parameters, {})
    if name in FUNCTIONS:
        return _function(name, FUNCTIONS[name], {})
    if not SETS[name].parameters:
        return SetExpression(tree.Name(name))
    return _set(name, SETS[name].parameters)


def _function(
    name: str, parameters: Sequence[Parameter], roles: dict[str, Role], per_sample: bool = False
) -> Callable[..., Expression]:
    reduces = name in ("sum", "mean", *CONVEX)

    def call(*args: object, **keywords: object) -> Expression:
        node, given = _call(name, parameters, roles, args, keywords)
        depth = 1 + max((e.depth for e in given), default=0)
        inside = any(e.per_sample for e in given) and not reduces
        return Expression(node, depth, per_sample or inside)

    return _dressed(call, name, parameters, "Expression")


def _set(name: str, parameters: Sequence[Parameter]) -> Callable[..., SetExpression]:
    def call(*args: object, **keywords: object) -> SetExpression:
        node, _ = _call(name, parameters, {"groups": "index"}, args, keywords)
        return SetExpression(node)

    return _dressed(call, name, parameters, "SetExpression")


def _call(
    name: str,
    parameters: Sequence[Parameter],
    roles: dict[str, Role],
    args: tuple[object, ...],
    keywords: dict[str, object],
) -> tuple[tree.Call, list[Expression]]:
    """The call as written: the checker, which points into the printed program, says what is wrong with its arguments."""
    given: list[Expression] = []

    def argument(key: str, value: object) -> tree.Expr:
        if isinstance(value, SetExpression):
            return value.node
        if isinstance(value, bool | str) or (key == "groups" and isinstance(value, list | tuple)):
            return literal(value)
        expression = operand(value, roles.get(key, ""))
        given.append(expression)
        return expression.node

    keys = [p.name for p in parameters] + [""] * len(args)
    positional = tuple(argument(key, value) for key, value in zip(keys, args, strict=False))
    named = tuple(tree.Keyword(tree.Ident(key), argument(key, value)) for key, value in keywords.items())
    return tree.Call(tree.Ident(name), positional, named), given


def _dressed(function: F, name: str, parameters: Sequence[Parameter], returns: str) -> F:
    """Give a made function its name, signature and docstring."""
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    function.__name__ = function.__qualname__ = name
    function.__module__ = "fwdsl"
    function.__doc__ = FORMULAS.get(name) or f"`{name}({', '.join(p.name for p in parameters)})` of the language."
    function.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [
            inspect.Parameter(p.name, kind, default=inspect.Parameter.empty if p.required else p.default)
            for p in parameters
        ],
        return_annotation=returns,
    )
    return function
