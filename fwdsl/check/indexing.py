"""Square brackets behind an expression: slices, `B[M]` for observed entries, `F[task]` for the block of each sample."""

from __future__ import annotations

from typing import cast

from ..grammar import tree
from ..grammar.diagnostic import Fix
from ..grammar.source import Span
from ..model import Dim, Expr, Type
from . import algebra, shapes
from .context import Context
from .operands import report_kernel_use
from .values import Combination, Value

Item = int | tuple[int | None, int | None]


def index(ctx: Context, node: tree.Expr) -> Value | None:
    """`x[0:5]`, `W[:, 2]`, `B[M]`, `F[task]`, `F[0]`."""
    node = cast(tree.Index, node)
    if isinstance(node.base, tree.List):
        _no_list(ctx, node)
        return None
    base = ctx.infer(ctx, node.base)
    if len(node.items) == 1 and not isinstance(node.items[0], tree.Slice | tree.Number | tree.Neg):
        chosen = ctx.infer(ctx, node.items[0])
        if base is None or chosen is None:
            return None
        if isinstance(chosen, Expr) and chosen.type.kind in ("entries", "index"):
            return _by_data(ctx, node, base, chosen)
        _no_position(ctx, node.items[0])
        return None
    items = [_item(ctx, item) for item in node.items]
    if base is None or any(i is None for i in items):
        return None
    if isinstance(base, Combination):
        _not_affine(ctx, node)
        return None
    if base.type.kind == "features":
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
    if chosen.type.kind == "entries":
        if not shapes.is_matrix(base.type) or base.type.array_shape != chosen.type.shape:
            ctx.error(
                "FW2042",
                f"`{ctx.text(node.base)}` is {shapes.describe(base.type)}, and `{ctx.text(what)}` observes a matrix "
                f"of {chosen.type.shape[0]} x {chosen.type.shape[1]} entries",
                node.span,
                labels=ctx.declared(node.base, what),
                rule="`B[M]` takes the entries of a matrix `B` of the dimensions of `M`.",
            )
            return None
        observed = shapes.of_shape((f"len({ctx.text(what)})",))
        return algebra.make("observe", observed, (base, chosen), sign=base.sign, span=node.span)
    if base.type.kind != "family" or base.type.element is None or base.type.shape[0] != chosen.type.classes:
        ctx.error(
            "FW2042",
            f"`{ctx.text(what)}` addresses a family of `{chosen.type.classes}` blocks, and `{ctx.text(node.base)}` is "
            f"{shapes.describe(base.type)}",
            node.span,
            labels=ctx.declared(node.base, what),
            rule="`F[task]` takes block `task_i` of a family for each i: `task: index[n] of T` and `F: family[T] of ...`.",
            hint=f"declare `{ctx.text(node.base)}: family[{chosen.type.classes}] of ...`",
        )
        return None
    blocks = shapes.of_shape(chosen.type.shape[:1] + base.type.element.array_shape)
    return algebra.make("gather", blocks, (base, chosen), sign=base.sign, span=node.span)


def _no_list(ctx: Context, node: tree.Index) -> None:
    """`[[1, 0] [0, 1]]`: what looks like an index is the next row."""
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
        rule="An index is an integer, a range `start:stop` of integers, `entries` or `index` data.",
    )


def _item(ctx: Context, node: tree.Expr | tree.Slice) -> Item | None:
    if not isinstance(node, tree.Slice):
        return _integer(ctx, node)
    start = None if node.start is None else _integer(ctx, node.start)
    stop = None if node.stop is None else _integer(ctx, node.stop)
    if (node.start is not None and start is None) or (node.stop is not None and stop is None):
        return None
    return start, stop


def _integer(ctx: Context, node: tree.Expr) -> int | None:
    sign, part = 1, node
    if isinstance(part, tree.Neg):
        sign, part = -1, part.operand
    if isinstance(part, tree.Number) and part.is_integer:
        return sign * int(part.value)
    if not (isinstance(part, tree.Name) and ctx.infer(ctx, part) is None):
        _no_position(ctx, node)
    return None


def _slice(ctx: Context, node: tree.Index, base: Expr, items: tuple[Item, ...]) -> Value | None:
    axes = base.type.array_shape
    if (base.type.kind not in ("labels", "index") and not shapes.is_numeric(base.type)) or len(items) > len(axes):
        takes = f"takes at most {len(axes)} of them" if axes else "has no entries"
        ctx.error(
            "FW2040",
            f"`{ctx.text(node.base)}` is {shapes.describe(base.type)} and {takes}",
            node.span,
            labels=ctx.declared(node.base),
            rule="An array has an index for each of its axes at most.",
        )
        return None
    shape: list[Dim] = []
    for axis, (dim, item, part) in enumerate(zip(axes, items, node.items, strict=False)):
        size = _length(dim, item)
        if size is None:
            ctx.error(
                "FW2041",
                f"`{ctx.text(part)}` is out of range or empty: axis {axis} of `{ctx.text(node.base)}` has {dim} entries, "
                "counted from 0",
                part.span,
                labels=ctx.declared(node.base),
                rule="Positions count from 0; a range `start:stop` ends before `stop` and is not empty.",
            )
            return None
        if not isinstance(item, int):
            shape.append(size)
    type_ = _slice_type(base.type, items, (*shape, *axes[len(items) :]))
    return algebra.make("slice", type_, (base,), value=items, sign=base.sign, span=node.span)


def _length(dim: Dim, item: Item) -> Dim | None:
    """How many entries an index takes along an axis; None where out of range."""
    if isinstance(item, int):
        return None if isinstance(dim, int) and not -dim <= item < dim else 1
    return shapes.sliced(dim, *item)


def _slice_type(type_: Type, items: tuple[Item, ...], shape: tuple[Dim, ...]) -> Type:
    if type_.kind == "family" and type_.element is not None and len(items) == 1:
        return type_.element if isinstance(items[0], int) else Type("family", shape[:1], element=type_.element)
    if type_.kind in ("labels", "index") and shape:
        return Type(type_.kind, shape + type_.shape[1:], classes=type_.classes)
    if type_.kind == "signs" and shape:
        return Type("signs", shape)
    return shapes.of_shape(shape)
