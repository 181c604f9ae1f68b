"""The leaves of expressions: data, parameters, variables and named expressions.

Two leaves are the same only if they are one object, or data that share one array. Assembly names the unnamed
leaves (`data1`, `var1`, ...).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

from ..grammar import tree
from ..light_dataclass import value_dataclass

UseKind = Literal["", "signs", "labels", "index", "weights", "psd"]
"""The kind of data that a place needs an array to be; "" stands for numbers."""


@dataclass(frozen=True, slots=True, eq=False)
class DataLeaf:
    """A datum. Assembly names it where it has no name. Its uses tell its type where it has none."""

    name: str | None
    type: tree.TypeExpr | None
    value: object = field(default=None, repr=False)
    member: tree.Expr | None = None


@dataclass(frozen=True, slots=True, eq=False)
class ParamLeaf:
    """A parameter with its default, and the set of its declaration."""

    name: str
    type: tree.TypeExpr
    value: tree.Expr | None = None
    member: tree.Expr | None = None


@dataclass(frozen=True, slots=True, eq=False)
class VarLeaf:
    """A variable and the set of its declaration."""

    name: str | None
    type: tree.TypeExpr
    member: tree.Expr | None = None


@dataclass(frozen=True, slots=True, eq=False)
class LetLeaf:
    """A named expression."""

    name: str
    value: tree.Expr


Leaf = DataLeaf | ParamLeaf | VarLeaf | LetLeaf


@value_dataclass
class Use(tree.Name):
    """A use of a leaf inside a tree. Assembly replaces it by a plain `Name`."""

    leaf: Leaf | None = field(default=None, compare=False)
    role: UseKind = field(default="", compare=False)


def use(leaf: Leaf, role: UseKind = "") -> Use:
    """A tree node that stands for a leaf."""
    return Use(id=leaf.name or "", leaf=leaf, role=role)


def parts(leaf: Leaf) -> Iterator[tree.Node]:
    """The trees in the declaration of a leaf."""
    for part in (
        getattr(leaf, "type", None),
        getattr(leaf, "member", None),
        leaf.value if isinstance(leaf, ParamLeaf | LetLeaf) else None,
    ):
        if part is not None:
            yield part


def uses(node: tree.Node) -> Iterator[Use]:
    """All uses of leaves under a node, in the order of the text."""
    stack = [node]
    while stack:
        top = stack.pop()
        if isinstance(top, Use):
            yield top
        else:
            stack.extend(reversed(list(top.children())))
