"""The text of a part of a program that has not been assembled yet: unnamed leaves get provisional names."""

from __future__ import annotations

from ..grammar import tree
from .leaves import Leaf, uses
from .naming import Names
from .rewrite import rename

LONGEST = 400


def text_of(node: tree.Expr | tree.Constraint) -> str:
    """The node as the language writes it, cut after a few lines' worth of characters."""
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
    if isinstance(renamed, tree.Constraint):
        text = _constraint_text(renamed)
    else:
        text = format_expr(renamed)
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 4]} ..."


def _constraint_text(constraint: tree.Constraint) -> str:
    from ..grammar import format_expr

    relation = constraint.relation
    if isinstance(relation, tree.Member):
        text = f"{format_expr(relation.value)} in {format_expr(relation.set)}"
    else:
        text = format_expr(relation.operands[0])
        for op, operand in zip(relation.ops, relation.operands[1:], strict=True):
            text += f" {op} {format_expr(operand)}"
    return text if constraint.name is None else f"{constraint.name.name}: {text}"
