"""Indices in Python, `x[...]`: makes nodes of those that the language has, and says what to write for others."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..errors import misuse
from ..grammar import tree
from .built import Built
from .convert import array, literal, number, operand, whole
from .leaves import DataLeaf, Use, VarLeaf, parts, use, uses

if TYPE_CHECKING:
    from ..atoms.base import MatrixLike

_RULE = "Positions, slices, and one array of positions or truth values are chosen as in NumPy."


def indexed(base: Built, index: object) -> tree.Index:
    """The node of `base[index]`. Raises `BuildError` FW0308, with a hint, for an index that the language lacks."""
    items = index if isinstance(index, tuple) else (index,)
    nodes = tuple(_item(base, item, axis, len(items)) for axis, item in enumerate(items))
    return tree.Index(base.node, nodes)


def _item(base: Built, item: object, axis: int, count: int) -> tree.Expr | tree.Slice:
    if isinstance(item, slice):
        ends = (item.start, item.stop, None if item.step == 1 else item.step)
        return tree.Slice(*(None if end is None else _position(end) for end in ends))
    if whole(item) is not None:
        return _position(item)
    if not isinstance(item, Built | list) and not _axes(item):
        raise misuse(
            "FW0308", f"{item!r} cannot stand in an index", hint="write slices and whole numbers, such as W[:, 2]"
        )
    if not isinstance(item, Built):
        return _array(base, item, axis, count)
    node = item.node
    leaf = node.leaf if isinstance(node, Use) else None
    if (
        isinstance(leaf, DataLeaf)
        and leaf.type is None
        and _axes(leaf.value) == 1
        and not (_has_family(base.node) and count == 1)
    ):
        return _named(base, leaf, axis, count)
    return operand(item, "index").node


def _named(base: Built, leaf: DataLeaf, axis: int, count: int) -> tree.Expr:
    """The node of `x[J]` with a datum `J` without a type: an index of the variable's dimension, else the list of its positions."""
    value: MatrixLike = leaf.value
    of = base.node.leaf if isinstance(base.node, Use) else None
    if not isinstance(of, VarLeaf) or axis >= len(of.type.dims) or value.dtype.kind not in "iu" or (value < 0).any():
        return _array(base, value, axis, count)
    kind = tree.TypeExpr(tree.Ident("index"), (number(int(value.shape[0])),), of.type.dims[axis])
    return use(DataLeaf(leaf.name, kind, value), "index")


def _array(base: Built, item: object, axis: int, count: int) -> tree.Expr:
    """The node of `x[J]`, a list of positions, or of `F[task]`, the block of a family for each sample, whose index has the family's blocks."""
    value: MatrixLike = array(item, "index")
    _refuse(base, value, count)
    blocks = _blocks(base.node) if count == 1 else None
    if blocks is not None:
        kind = tree.TypeExpr(tree.Ident("index"), (number(int(value.shape[0])),), blocks)
        return use(DataLeaf(None, kind, value), "index")
    import numpy as np

    positions = np.flatnonzero(value) if value.dtype.kind == "b" else value
    if positions.dtype.kind not in "iu":
        raise misuse(
            "FW0308", "an index holds numbers that are not whole", rule=_RULE, hint="write x[positions.astype(int)]"
        )
    return literal([int(p) for p in positions])


def _refuse(base: Built, value: MatrixLike, count: int) -> None:
    if _axes(value) != 1:
        raise misuse(
            "FW0308",
            f"an array of {_axes(value)} axes cannot stand in an index",
            rule=_RULE,
            hint='for observed entries of a matrix write B[M], with M = fw.data("M", fw.entries_type(n, p))',
        )
    if _has_family(base.node) and count == 1 and value.dtype.kind == "b":
        raise misuse(
            "FW0308",
            "truth values stand in the index of a family",
            rule="F[task] takes block task_i of a family for each i, counted from 0.",
            hint="write F[task.astype(int)] if they number two blocks, or F[0], F[2] for single blocks",
        )


def _families(node: tree.Node) -> Iterator[tree.TypeExpr]:
    """The types of all families in an expression, and in the named expressions that it uses."""
    for found in uses(node):
        if isinstance(found.leaf, VarLeaf) and found.leaf.type.name.name == "family":
            yield found.leaf.type
        elif found.leaf is not None and not isinstance(found.leaf, VarLeaf | DataLeaf):
            for part in parts(found.leaf):
                yield from _families(part)


def _has_family(node: tree.Node) -> bool:
    return next(_families(node), None) is not None


def _blocks(node: tree.Node) -> tree.Expr | None:
    """The number of blocks of the indexed family."""
    found = next(_families(node), None)
    return None if found is None else found.dims[0]


def _axes(value: object) -> int:
    return len(getattr(value, "shape", ()))


def _position(value: object) -> tree.Expr:
    """A position or an end of a slice. Negative ones count from the end, as in NumPy."""
    at = whole(value)
    return operand(value).node if at is None else number(at)
