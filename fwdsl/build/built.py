"""The builder's objects: expressions with their syntax trees, and statements about expressions."""

from __future__ import annotations

from typing import ClassVar

from ..errors import misuse
from ..grammar import tree
from .naming import text_of

MAX_DEPTH = 200
"""The greatest depth of nesting. The parser refuses more too, so that no stage runs out of stack."""


class Built:
    """An expression as a syntax tree, without operators.

    `depth` counts nested operations. `per_sample` says that it has a loss outside of `mean` and `sum`, so that an array times it is
    a weight per sample. Raises `BuildError` FW0305 where it is nested too deep.
    """

    __slots__ = ("depth", "node", "per_sample")
    sort: ClassVar[str] = "expression"

    def __init__(self, node: tree.Expr, depth: int = 1, per_sample: bool = False) -> None:
        if depth > MAX_DEPTH:
            raise misuse(
                "FW0305",
                f"an expression is nested more than {MAX_DEPTH} deep",
                rule=f"Brackets and calls nest at most {MAX_DEPTH} deep.",
                hint="name parts of it with fw.let(name, expression)",
            )
        self.node = node
        self.depth = depth
        self.per_sample = per_sample

    def __repr__(self) -> str:
        return text_of(self.node)


class Stated:
    """A part of a program that is no expression: a set or a constraint. Messages call it by its `sort`."""

    __slots__ = ()
    sort: ClassVar[str]


def describe_value(value: object) -> str:
    """A value of the wrong sort, in a few words for a message."""
    if isinstance(value, Built | Stated):
        return f"the {value.sort} {value!r}"
    kind = type(value).__name__
    shape = getattr(value, "shape", None)
    if isinstance(shape, tuple):
        return f"the {kind} of shape {shape}"
    text = repr(value)
    return f"{text} ({kind})" if len(text) <= 40 else f"the {kind} given"
