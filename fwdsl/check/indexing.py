"""Square brackets behind an expression: slices, `B[M]` for observed entries, `F[task]` for the block of each sample."""

from __future__ import annotations

from typing import cast

from ..grammar import tree
from ..grammar.diagnostic import Fix
from ..grammar.source import Span
from ..model import Dim, Expr, Type, shift_dim, split_dim
from . import algebra, shapes
from .context import Context
from .operands import report_kernel_use
from .types import resolve_dimension
from .values import Combination, Value

Item = Dim | tuple[Dim | None, Dim | None]
"""A position or a range of positions: whole numbers, or dimensions with a whole number added (`n-1`)."""


def index(ctx: Context, node: tree.Expr) -> Value | None:
    """`x[0:5]`, `W[:, 2]`, `B[M]`, `F[task]`, `F[0]`."""
    node = cast(tree.Index, node)
    if isinstance(node.base, tree.List):
        _no_list(ctx, node)
        return None
    base = ctx.infer(ctx, node.base)
    first = node.items[0]
    if len(node.items) == 1 and not isinstance(first, tree.Slice) and not _is_position(ctx, first):
        chosen = ctx.infer(ctx, first)
        if base is None or chosen is None:
            return None
        if isinstance(chosen, Expr) and (chosen.type.is_entries or chosen.type.is_index):
            return _by_data(ctx, node, base, chosen)
        _no_position(ctx, first)
        return None
    items = [_item(ctx, item) for item in node.items]
    if base is None or any(i is None for i in items):
        return None
    if isinstance(base, Combination):
        _not_affine(ctx, node)
        return None
    if base.type.is_features:
        report_kernel_use(ctx, node.base, "is sliced")
        return None
    return _slice(ctx, node, base, tuple(i for i in items if i is not None))


def _not_affine(ctx: Context, node: tree.Index) -> None:
    ctx.error(
        "FW3005",
        f"`{ctx.text(node.base)}` is convex and not affine, and cannot be sliced",
        node.base.span,
        rule="Outside losses, norms and other convex functions an expression over variables is affine.",
        hint="slice the prediction inside the loss",
    )


def _by_data(ctx: Context, node: tree.Index, base: Value, chosen: Expr) -> Value | None:
    """`B[M]` and `F[task]`."""
    if isinstance(base, Combination):
        _not_affine(ctx, node)
        return None
    what = node.items[0]
    if chosen.type.is_entries:
        if not shapes.has_two_axes(base.type) or base.type.array_shape != chosen.type.shape:
            ctx.error(
                "FW2042",
                f"`{ctx.text(node.base)}` is {shapes.describe_type(base.type)}, and `{ctx.text(what)}` observes a matrix "
                f"of {chosen.type.shape[0]} x {chosen.type.shape[1]} entries",
                node.span,
                labels=ctx.declared(node.base, what),
                rule="`B[M]` takes the entries of a matrix `B` of the dimensions of `M`.",
            )
            return None
        observed = shapes.of_shape((f"len({ctx.text(what)})",))
        return algebra.make("observe", observed, (base, chosen), sign=base.sign, span=node.span)
    if not base.type.is_family or base.type.element is None or base.type.shape[0] != chosen.type.classes:
        ctx.error(
            "FW2042",
            f"`{ctx.text(what)}` addresses a family of `{chosen.type.classes}` blocks, and `{ctx.text(node.base)}` is "
            f"{shapes.describe_type(base.type)}",
            node.span,
            labels=ctx.declared(node.base, what),
            rule="`F[task]` takes block `task_i` of a family for each i: `task: index[n] of T` and `F: family[T] of ...`.",
            hint=f"declare `{ctx.text(node.base)}: family[{chosen.type.classes}] of ...`",
        )
        return None
    blocks = shapes.of_shape(chosen.type.shape[:1] + base.type.element.array_shape)
    return algebra.make("gather", blocks, (base, chosen), sign=base.sign, span=node.span)


def _is_position(ctx: Context, node: tree.Expr) -> bool:
    """True if an index is written as a position and not as data."""
    return _is_dimension(ctx, node) or isinstance(node, tree.Number | tree.Neg | tree.Sum)


def _no_list(ctx: Context, node: tree.Index) -> None:
    """Report `[[1, 0] [0, 1]]`: the apparent index is the next row."""
    at = Span(node.base.span.end, node.base.span.end)
    ctx.error(
        "FW2040",
        f"the list `{ctx.text(node.base)}` has no positions",
        node.span,
        rule="An index stands behind an expression; the rows of a literal are separated by commas.",
        hint="write `,` between the two rows",
        fix=Fix("write `,`", at, ","),
    )


def _no_position(ctx: Context, node: tree.Node) -> None:
    ctx.error(
        "FW2040",
        f"`{ctx.text(node)}` is not a position",
        node.span,
        rule="An index is an integer, a range `start:stop` of integers, `entries` or `index` data; a dimension and an integer added to it"
        " count as one.",
    )


def _item(ctx: Context, node: tree.Expr | tree.Slice) -> Item | None:
    if not isinstance(node, tree.Slice):
        return _position(ctx, node)
    start = None if node.start is None else _position(ctx, node.start)
    stop = None if node.stop is None else _position(ctx, node.stop)
    if (node.start is not None and start is None) or (node.stop is not None and stop is None):
        return None
    return start, stop


def _position(ctx: Context, node: tree.Expr) -> Dim | None:
    """An integer, or a dimension with an integer added to it; None after an error."""
    parts = tuple(zip(node.signs, node.terms, strict=True)) if isinstance(node, tree.Sum) else ((1, node),)
    base, total = "", 0
    for sign, part in parts:
        if isinstance(part, tree.Neg):
            sign, part = -sign, part.operand
        if isinstance(part, tree.Number) and part.is_integer:
            total += sign * int(part.value)
        elif _is_dimension(ctx, part) and sign > 0 and not base:
            dim = resolve_dimension(ctx, part)
            if dim is None:
                return None
            base, shift = split_dim(dim) if isinstance(dim, str) else ("", dim)
            total += shift
        else:
            if not (isinstance(part, tree.Name) and ctx.infer(ctx, part) is None):
                _no_position(ctx, node)
            return None
    return shift_dim(base, total) if base else total


def _is_dimension(ctx: Context, node: tree.Expr) -> bool:
    if isinstance(node, tree.Name):
        return node.id in ctx.entries and ctx.entries[node.id].kind == "dimension"
    return isinstance(node, tree.Call) and node.func.name == "dim"


def _from_the_end(position: Dim | None, dim: Dim) -> Dim | None:
    """A position such as `n-1` along `n`, counted from the end; None for the end itself."""
    if not (isinstance(position, str) and isinstance(dim, str)):
        return position
    (base, shift), (own, by) = split_dim(position), split_dim(dim)
    return (shift - by or None) if base == own else position


def _resolved(item: Item, dim: Dim) -> Item | None:
    """An index along an axis of this dimension, without the dimension's name where possible; None where it is out of range."""
    if not isinstance(item, tuple):
        at = _from_the_end(item, dim)
        inside = at is not None and not (at != item and isinstance(at, int) and at > 0)
        return at if inside else None
    start, stop = (_from_the_end(end, dim) for end in item)
    beyond = any(isinstance(i, str) and isinstance(e, int) and e > 0 for i, e in zip(item, (start, stop), strict=True))
    return None if beyond or (item[0] is not None and start is None) else (start, stop)


def _slice(ctx: Context, node: tree.Index, base: Expr, items: tuple[Item, ...]) -> Value | None:
    axes = base.type.array_shape
    if (not base.type.is_coded and not shapes.is_numeric(base.type)) or len(items) > len(axes):
        takes = f"takes at most {len(axes)} of them" if axes else "has no entries"
        ctx.error(
            "FW2040",
            f"`{ctx.text(node.base)}` is {shapes.describe_type(base.type)} and {takes}",
            node.span,
            labels=ctx.declared(node.base),
            rule="An array has an index for each of its axes at most.",
        )
        return None
    shape: list[Dim] = []
    resolved: list[Item] = []
    for axis, (dim, written, part) in enumerate(zip(axes, items, node.items, strict=False)):
        item = _resolved(written, dim)
        if item is not None and _is_unnamed(item):
            _no_size(ctx, part, dim) if isinstance(item, tuple) else _no_position(ctx, part)
            return None
        size = None if item is None else _length(dim, item)
        if item is None or size is None:
            ctx.error(
                "FW2041",
                f"`{ctx.text(part)}` is out of range or empty: axis {axis} of `{ctx.text(node.base)}` has {dim} entries, "
                "counted from 0",
                part.span,
                labels=ctx.declared(node.base),
                rule="Positions count from 0; a range `start:stop` ends before `stop` and is not empty.",
            )
            return None
        resolved.append(item)
        if isinstance(item, tuple):
            shape.append(size)
    type_ = _slice_type(base.type, tuple(resolved), (*shape, *axes[len(items) :]))
    return algebra.make("slice", type_, (base,), value=tuple(resolved), sign=base.sign, span=node.span)


def _is_unnamed(item: Item) -> bool:
    """True if the number of entries that an index takes cannot be written by one dimension, as for `k:` along `n`."""
    if not isinstance(item, tuple):
        return isinstance(item, str)
    start, stop = item
    if isinstance(stop, str):
        split = split_dim(start)[0] == split_dim(stop)[0] if isinstance(start, str) else (start or 0) >= 0
        return not split
    return isinstance(start, str)


def _no_size(ctx: Context, part: tree.Node, dim: Dim) -> None:
    ctx.error(
        "FW2040",
        f"how many of the {dim} entries `{ctx.text(part)}` takes cannot be said by one dimension",
        part.span,
        rule="Positions are integers, or the axis' own dimension and an integer added to it; a range may also end at another dimension.",
        hint="name the dimension of each part in the declarations",
    )


def _length(dim: Dim, item: Item) -> Dim | None:
    """The number of entries that an index takes along an axis; None where it is out of range."""
    if isinstance(item, tuple):
        return shapes.sliced(dim, *item)
    return None if isinstance(dim, int) and isinstance(item, int) and not -dim <= item < dim else 1


def _slice_type(type_: Type, items: tuple[Item, ...], shape: tuple[Dim, ...]) -> Type:
    if type_.is_family and type_.element is not None and len(items) == 1:
        return Type("family", shape[:1], element=type_.element) if isinstance(items[0], tuple) else type_.element
    if type_.is_coded and shape:
        return Type(type_.kind, shape + type_.shape[1:], classes=type_.classes)
    if type_.is_signs and shape:
        return Type("signs", shape)
    return shapes.of_shape(shape)
