"""Indices in Python, `x[...]`: makes nodes of those that the language has, and says what to write for others."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..errors import misuse
from ..grammar import tree
from .built import Built
from .convert import array, number, operand, whole
from .leaves import DataLeaf, Use, VarLeaf, parts, use, uses

if TYPE_CHECKING:
    from ..atoms.base import MatrixLike

_RULE = "Positions and slices without a step are chosen as in NumPy; another choice of entries is a product with a matrix of zeros and ones."


def indexed(base: Built, index: object) -> tree.Index:
    """The node of `base[index]`. Raises `BuildError` FW0308, with a hint, for an index that the language lacks."""
    items = index if isinstance(index, tuple) else (index,)
    nodes = tuple(_item(base, item, axis, len(items)) for axis, item in enumerate(items))
    return tree.Index(base.node, nodes)


def _item(base: Built, item: object, axis: int, count: int) -> tree.Expr | tree.Slice:
    if isinstance(item, slice):
        if item.step not in (None, 1):
            step = item if whole(item.step) is None else slice(item.start, item.stop, whole(item.step))
            raise _no_choice(f"a slice has the step {step.step!r}", base, axis, _text(step), None)
        return tree.Slice(*(None if end is None else _position(end) for end in (item.start, item.stop)))
    if whole(item) is not None:
        return _position(item)
    if not isinstance(item, Built | list) and not _axes(item):
        raise misuse(
            "FW0308", f"{item!r} cannot stand in an index", hint="write slices and whole numbers, such as W[:, 2]"
        )
    if isinstance(item, Built):
        _check_data(base, item, axis, count)
        return operand(item, "index").node
    return _array(base, item, axis, count)


def _check_data(base: Built, item: Built, axis: int, count: int) -> None:
    """Refuse an array as an index into an expression that is no family."""
    node = item.node
    leaf = node.leaf if isinstance(node, Use) else None
    if isinstance(leaf, DataLeaf) and leaf.type is None and leaf.value is not None and _axes(leaf.value) == 1:
        _refuse(base, leaf.value, axis, count)


def _array(base: Built, item: object, axis: int, count: int) -> tree.Expr:
    """The node of `F[task]`, the block of a family for each sample. The index's type gets the family's number of blocks."""
    value: MatrixLike = array(item, "index")
    _refuse(base, value, axis, count)
    blocks = _blocks(base.node)
    kind = None if blocks is None else tree.TypeExpr(tree.Ident("index"), (number(int(value.shape[0])),), blocks)
    return use(DataLeaf(None, kind, value), "index")


def _refuse(base: Built, value: MatrixLike, axis: int, count: int) -> None:
    mask = value.dtype.kind == "b"
    if _axes(value) != 1:
        raise misuse(
            "FW0308",
            f"an array of {_axes(value)} axes cannot stand in an index",
            rule=_RULE,
            hint='for observed entries of a matrix write B[M], with M = fw.data("M", fw.entries_type(n, p))',
        )
    if not _has_family(base.node) or count > 1:
        what = "a boolean mask" if mask else "an array of positions"
        chosen = "mask" if mask else "positions"
        raise _no_choice(f"{what} stands in an index", base, axis, chosen, int(value.shape[0]) if mask else None)
    if mask:
        raise misuse(
            "FW0308",
            "truth values stand in the index of a family",
            rule="F[task] takes block task_i of a family for each i, counted from 0.",
            hint="write F[task.astype(int)] if they number two blocks, or F[0], F[2] for single blocks",
        )


def _no_choice(message: str, base: Built, axis: int, chosen: str, size: int | None) -> Exception:
    node = base.node
    leaf = node.leaf if isinstance(node, Use) else None
    of = "[:, " if axis else "["
    if isinstance(leaf, DataLeaf):
        hint = f"choose from the array before it is data: array{of}{chosen}]"
    elif _has_family(node):
        hint = "write F[0], F[2] for single blocks, or F[task] with whole numbers for the block of each sample"
    else:
        n = str(size) if size is not None else _length(leaf, axis) or "n"
        matrix = f'S = scipy.sparse.eye_array({n}, format="csr")[{chosen}]'
        hint = f"write X @ S.T with {matrix}" if axis else f"write S @ x with {matrix}"
    return misuse("FW0308", message, rule=_RULE, hint=hint)


def _length(leaf: object, axis: int) -> str:
    """The number of entries of a variable along an axis, where it is known."""
    dims = leaf.type.dims if isinstance(leaf, VarLeaf) else ()
    found = dims[axis] if axis < len(dims) else None
    return found.text if isinstance(found, tree.Number) else ""


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


def _text(item: slice) -> str:
    return f"{'' if item.start is None else item.start}:{'' if item.stop is None else item.stop}:{item.step}"


def _position(value: object) -> tree.Expr:
    """A position or an end of a slice. Negative ones count from the end, as in NumPy."""
    at = whole(value)
    return operand(value).node if at is None else number(at)
