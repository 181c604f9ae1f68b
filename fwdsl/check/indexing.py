"""Square brackets behind an expression: slices, `B[M]` for observed entries, `F[task]` for the block of each sample."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from ..grammar import tree
from ..grammar.diagnostic import Fix
from ..grammar.source import Span
from ..model import Dim, Expr, SliceItem, Type, add_dims, monomials, multiply_dims
from . import algebra, shapes
from .arguments import literal
from .context import Context
from .operands import report_kernel_use
from .types import resolve_dimension
from .values import Combination, Value

_PLACES = "A position is an integer, or a sum or product of dimensions and integers."
_INDEX = f"An index is a position, a range `start:stop` or `start:stop:step` of positions, a list of positions, `entries` or `index` data. {_PLACES}"


def index(ctx: Context, node: tree.Expr) -> Value | None:
    """`x[0:5]`, `W[:, 2]`, `B[M]`, `F[task]`, `F[0]`."""
    node = cast(tree.Index, node)
    if isinstance(node.base, tree.List):
        _no_list(ctx, node)
        return None
    base = ctx.infer(ctx, node.base)
    choosers = [
        i for i, item in enumerate(node.items) if not isinstance(item, tree.Slice) and not _is_position(ctx, item)
    ]
    if choosers:
        return _chosen(ctx, node, base, choosers)
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


def _by_data(ctx: Context, node: tree.Index, base: Expr, chosen: Expr) -> Value | None:
    """`B[M]` and `F[task]`."""
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
    return _is_dimension(ctx, node) or isinstance(node, tree.Number | tree.Neg | tree.Sum | tree.Product)


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
    ctx.error("FW2040", f"`{ctx.text(node)}` is not a position", node.span, rule=_INDEX)


def _item(ctx: Context, node: tree.Expr | tree.Slice) -> SliceItem | None:
    if not isinstance(node, tree.Slice):
        return _position(ctx, node)
    start = None if node.start is None else _position(ctx, node.start)
    stop = None if node.stop is None else _position(ctx, node.stop)
    step = 1 if node.step is None else _step(ctx, node, node.step)
    if (node.start is not None and start is None) or (node.stop is not None and stop is None) or step is None:
        return None
    return (start, stop) if step == 1 else (start, stop, step)


def _step(ctx: Context, node: tree.Slice, part: tree.Expr) -> int | None:
    """The step of a range: a whole number, negative only where both ends are open; None after an error."""
    value = literal(part)
    turned = node.start is None and node.stop is None
    if isinstance(value, float) and value.is_integer() and (value >= 1 or (turned and value <= -1)):
        return int(value)
    ctx.error(
        "FW2040",
        f"`{ctx.text(part)}` is not the step of a range",
        part.span,
        rule="A step is a whole number of at least 1; `x[::-1]` has all entries backwards.",
    )
    return None


def _position(ctx: Context, node: tree.Expr) -> Dim | None:
    """An integer, or a sum or product of dimensions and integers; None after an error."""
    match node:
        case tree.Number() if node.is_integer:
            return int(node.value)
        case tree.Neg():
            inner = _position(ctx, node.operand)
            return None if inner is None else multiply_dims(-1, inner)
        case tree.Sum() | tree.Product():
            parts = [_position(ctx, part) for part in (node.terms if isinstance(node, tree.Sum) else node.factors)]
            known = [part for part in parts if part is not None]
            if len(known) < len(parts):
                return None
            if isinstance(node, tree.Sum):
                return add_dims(*(multiply_dims(s, k) for s, k in zip(node.signs, known, strict=True)))
            if set(node.ops) == {"*"}:
                return multiply_dims(*known)
        case tree.Name() | tree.Call() if _is_dimension(ctx, node):
            return resolve_dimension(ctx, node)
        case tree.Name() if ctx.infer(ctx, node) is None:
            return None
    _no_position(ctx, node)
    return None


def _is_dimension(ctx: Context, node: tree.Expr) -> bool:
    if isinstance(node, tree.Name):
        return node.id in ctx.entries and ctx.entries[node.id].kind == "dimension"
    return isinstance(node, tree.Call) and node.func.name == "dim"


def _from_the_end(position: Dim | None, dim: Dim) -> Dim | None:
    """A position such as `n-1` along `n`, counted from the end; 0 for the end itself."""
    if isinstance(position, str) and all(c < 0 for _, c in monomials(position)):
        return add_dims(dim, position)  # `-k`
    if not (isinstance(position, str) and isinstance(dim, str)):
        return position
    behind = add_dims(position, multiply_dims(-1, dim))
    return behind if isinstance(behind, int) else position


def _resolved(item: SliceItem, dim: Dim) -> SliceItem | None:
    """An index along an axis of this dimension, without the dimension's name where possible; None where it is out of range."""
    if not isinstance(item, tuple):
        at = _from_the_end(item, dim)
        inside = at == item or (isinstance(at, int) and at < 0)
        return at if inside else None
    start, stop = (_from_the_end(end, dim) for end in item[:2])
    for written, end in ((item[0], start), (item[1], stop)):
        if isinstance(written, str) and isinstance(end, int) and (end > 0 or (end == 0 and written == item[0])):
            return None  # beyond the end
    open_stop = None if isinstance(item[1], str) and stop == 0 else stop
    return (start, open_stop, *item[2:])


def _slice(ctx: Context, node: tree.Index, base: Expr, items: tuple[SliceItem, ...]) -> Value | None:
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
    resolved: list[SliceItem] = []
    for axis, (dim, written, part) in enumerate(zip(axes, items, node.items, strict=False)):
        item = _resolved(written, dim)
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


def _length(dim: Dim, item: SliceItem) -> Dim | None:
    """The number of entries that an index takes along an axis; None where it is out of range."""
    if isinstance(item, tuple):
        return shapes.sliced(dim, *item)
    return None if isinstance(dim, int) and isinstance(item, int) and not -dim <= item < dim else 1


def _chosen(ctx: Context, node: tree.Index, base: Value | None, choosers: Sequence[int]) -> Value | None:
    """An index with data or a list in it: `B[M]`, `F[task]`, `x[J]`, `x[[0, 3, 5]]`, `W[:, J]`."""
    axis = choosers[0]
    part = cast(tree.Expr, node.items[axis])
    chosen = _position_list(ctx, part) if isinstance(part, tree.List) else ctx.infer(ctx, part)
    if base is None or chosen is None:
        return None
    if not isinstance(chosen, Expr) or not (chosen.type.is_entries or chosen.type.is_index):
        _no_position(ctx, part)
        return None
    if isinstance(base, Combination):
        _not_affine(ctx, node)
        return None
    if base.type.is_features:
        report_kernel_use(ctx, node.base, "is sliced")
        return None
    if chosen.type.is_entries or (base.type.is_family and chosen.op != "list"):
        if len(node.items) == 1:
            return _by_data(ctx, node, base, chosen)
        _no_position(ctx, part)
        return None
    if len(choosers) > 1:
        ctx.error(
            "FW2040",
            f"`{ctx.text(node)}` chooses along {len(choosers)} axes at once",
            node.span,
            rule="An index has one list of positions; NumPy would take single entries here, one for each pair.",
            hint=f"choose rows first and columns then, as in `{ctx.text(node.base)}[{ctx.text(node.items[0])}]"
            f"[:, {ctx.text(node.items[-1])}]`",
        )
        return None
    others = [(None, None) if i == axis else _item(ctx, item) for i, item in enumerate(node.items)]
    known = tuple(item for item in others if item is not None)
    if len(known) < len(others):
        return None
    value = base if all(item == (None, None) for item in known) else _slice(ctx, node, base, known)
    if not isinstance(value, Expr):
        return None
    return _take(ctx, node, value, part, chosen, axis - sum(not isinstance(item, tuple) for item in known[:axis]))


def _take(ctx: Context, node: tree.Index, value: Expr, part: tree.Expr, chosen: Expr, axis: int) -> Expr | None:
    """The entries, rows or columns at these positions along an axis."""
    axes = value.type.array_shape
    if (not value.type.is_coded and not shapes.is_numeric(value.type)) or value.type.is_family or axis >= len(axes):
        ctx.error(
            "FW2040",
            f"`{ctx.text(node.base)}` is {shapes.describe_type(value.type)} and has no entries to choose with `{ctx.text(part)}`",
            node.span,
            labels=ctx.declared(node.base),
            rule=_INDEX,
        )
        return None
    dim = axes[axis]
    if chosen.op == "list":
        positions = chosen.value if isinstance(chosen.value, tuple) else ()
        beyond = [p for p in positions if isinstance(dim, int) and not -dim <= p < dim]
        if beyond:
            ctx.error(
                "FW2041",
                f"position {beyond[0]} is out of range: axis {axis} of `{ctx.text(node.base)}` has {dim} entries, counted from 0",
                part.span,
                labels=ctx.declared(node.base),
                rule="Positions count from 0, negative ones from the end.",
            )
            return None
    elif chosen.type.classes != dim:
        ctx.error(
            "FW2042",
            f"`{ctx.text(part)}` has positions among `{chosen.type.classes}` entries, and `{ctx.text(node.base)}` is "
            f"{shapes.describe_type(value.type)}",
            node.span,
            labels=ctx.declared(node.base, part),
            rule="`x[J]` takes the entries of `x: vector[n]` at the positions `J: index[m] of n`.",
            hint=f"declare `{ctx.text(part)}: index[{chosen.type.shape[0]}] of {dim}`",
        )
        return None
    shape = (*axes[:axis], chosen.type.shape[0], *axes[axis + 1 :])
    type_ = _slice_type(value.type, ((None, None),), shape)
    return algebra.make("take", type_, (value, chosen), value=axis, sign=value.sign, span=node.span)


def _position_list(ctx: Context, node: tree.List) -> Expr | None:
    """A written list of positions; None after an error."""
    found = [(item, literal(item)) for item in node.items]
    positions = tuple(int(p) for _, p in found if isinstance(p, float) and p.is_integer())
    if positions and len(positions) == len(found):
        return Expr("list", Type("index", (len(positions),)), value=positions, span=node.span)
    wrong = next((item for item, p in found if not (isinstance(p, float) and p.is_integer())), node)
    ctx.error(
        "FW2040",
        f"`{ctx.text(wrong)}` is not a position" if node.items else "a list of positions is empty",
        wrong.span,
        rule="A list of positions is made of whole numbers; positions from data are `J: index[m] of n`.",
    )
    return None


def _slice_type(type_: Type, items: tuple[SliceItem, ...], shape: tuple[Dim, ...]) -> Type:
    if type_.is_family and type_.element is not None and len(items) == 1:
        return Type("family", shape[:1], element=type_.element) if isinstance(items[0], tuple) else type_.element
    if type_.is_coded and shape:
        return Type(type_.kind, shape + type_.shape[1:], classes=type_.classes)
    if type_.is_signs and shape:
        return Type("signs", shape)
    return shapes.of_shape(shape)
