"""Names for leaves that the user has not named (`data1`, `var1`, ...), and the text of a part of a program with them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, replace
from typing import TypeVar, cast

from ..grammar import tree
from .leaves import DataLeaf, Leaf, Use, uses


class Names:
    """The names of one program. Fresh names avoid taken ones."""

    def __init__(self) -> None:
        self._taken: set[str] = set()
        self._count = {"data": 0, "var": 0}

    def take(self, name: str) -> bool:
        """Reserve a name; False where it is taken."""
        if name in self._taken:
            return False
        self._taken.add(name)
        return True

    def fresh(self, leaf: Leaf) -> str:
        """The next free name for an unnamed leaf."""
        stem = "data" if isinstance(leaf, DataLeaf) else "var"
        while True:
            self._count[stem] += 1
            name = f"{stem}{self._count[stem]}"
            if self.take(name):
                return name


N = TypeVar("N", bound=tree.Node)


def rename(node: N, name_of: Callable[[Use], str]) -> N:
    """The tree with each use of a leaf replaced by `Name(name_of(use))`."""
    return cast(N, _rename(node, name_of))


def _rename(node: tree.Node, name_of: Callable[[Use], str]) -> tree.Node:
    # Expressions nest at most MAX_DEPTH deep, so recursion is safe; sums and products are flat.
    if isinstance(node, Use):
        return tree.Name(name_of(node))
    changes: dict[str, object] = {}
    for f in fields(node):
        value = getattr(node, f.name)
        if isinstance(value, tree.Node):
            changes[f.name] = _rename(value, name_of)
        elif isinstance(value, tuple) and any(isinstance(v, tree.Node) for v in value):
            changes[f.name] = tuple(_rename(v, name_of) if isinstance(v, tree.Node) else v for v in value)
    return replace(node, **changes) if changes else node  # type: ignore[arg-type]


LONGEST = 400


def text_of(node: tree.Expr | tree.NamedRelation) -> str:
    """The text of a node in the language, cut after `LONGEST` characters."""
    from ..grammar import format_expr

    names = Names()
    leaves: dict[int, Leaf] = {}
    for found in uses(node):
        if found.leaf is not None:
            leaves[id(found.leaf)] = found.leaf
    for leaf in leaves.values():
        if leaf.name is not None:
            names.take(leaf.name)
    known = {key: leaf.name or names.fresh(leaf) for key, leaf in leaves.items()}
    renamed = rename(node, lambda found: known[id(found.leaf)])
    if isinstance(renamed, tree.NamedRelation):
        text = _constraint_text(renamed)
    else:
        text = format_expr(renamed)
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 4]} ..."


def _constraint_text(constraint: tree.NamedRelation) -> str:
    from ..grammar import format_expr

    relation = constraint.relation
    if isinstance(relation, tree.Member):
        text = f"{format_expr(relation.value)} in {format_expr(relation.set)}"
    else:
        text = format_expr(relation.operands[0])
        for op, operand in zip(relation.ops, relation.operands[1:], strict=True):
            text += f" {op} {format_expr(operand)}"
    return text if constraint.name is None else f"{constraint.name.name}: {text}"
