"""Functions that arrange the entries of affine expressions: stacked, in another shape, along an axis, with their neighbours."""

from __future__ import annotations

import re

from ..grammar import tree
from ..model import Dim, Expr, Type, add_dims, multiply_dims, names_in, shift_dim
from ..words import FUNCTIONS
from . import algebra, shapes, signs
from .arguments import BoundArguments, literal, signature
from .arithmetic import report_product
from .context import Context
from .operands import affine, wrong_kind
from .types import resolve_dimension
from .values import Value

# --- stacked -------------------------------------------------------------------------------------------------------


def hstack(ctx: Context, node: tree.Call, bound: BoundArguments) -> Value | None:
    """Numbers and vectors one after the other, or matrices beside each other."""
    return _stacked(ctx, node, below=False)


def vstack(ctx: Context, node: tree.Call, bound: BoundArguments) -> Value | None:
    """Vectors as rows, and matrices, below each other."""
    return _stacked(ctx, node, below=True)


def _stacked(ctx: Context, node: tree.Call, below: bool) -> Expr | None:
    values = [affine(ctx, node, part) for part in node.args]
    known = [v for v in values if v is not None]
    if len(known) < len(values):
        return None
    lines = not below and not shapes.has_two_axes(known[0].type)
    axis = 0 if below or lines else 1
    forms: list[shapes.Shape] = []
    for value, part in zip(known, node.args, strict=True):
        form = _form(value.type, below, lines)
        if form is None or (forms and not lines and form[1 - axis] != forms[0][1 - axis]):
            _report_stack(ctx, node, below, node.args[0], known[0], part, value)
            return None
        forms.append(form)
    shape = list(forms[0])
    shape[axis] = add_dims(*(form[axis] for form in forms))
    sign = signs.union(v.sign for v in known)
    op = "vstack" if below else "hstack"
    return algebra.make(op, shapes.of_shape(tuple(shape)), known, sign=sign, span=node.span)


def _form(type_: Type, below: bool, lines: bool) -> shapes.Shape | None:
    """The shape of an argument in a stack; None where it cannot stand there. A vector is a row of those `below` each other."""
    shape = type_.array_shape
    if type_.is_family or len(shape) > 2:
        return None
    if lines:
        return None if len(shape) == 2 else shape or (1,)
    if below and len(shape) == 1:
        return (1, shape[0])
    return shape if len(shape) == 2 else None


def _report_stack(
    ctx: Context, node: tree.Call, below: bool, left: tree.Expr, a: Expr, right: tree.Expr, b: Expr
) -> None:
    name, text = node.func.name, ctx.text(right)
    two, one = shapes.has_two_axes(b.type), shapes.has_one_axis(b.type)
    rule, hint = "Matrices in `hstack` have the same rows, and stand with no vectors.", ""
    if below:
        rule = "Vectors and matrices in `vstack` have the same number of columns; a vector is a row."
        hint = "`hstack` puts numbers and vectors one after the other" if b.type.is_scalar or one else ""
    elif one and shapes.has_two_axes(a.type):
        hint = f"write `reshape({text}, {b.type.array_shape[0]}, 1)` for a column"
    elif two and not shapes.has_two_axes(a.type):
        hint = f"write `vec({text})` for its entries one after the other, or `vstack` for vectors as rows of a matrix"
    elif two:
        hint = "`vstack` puts matrices with the same columns below each other"
    described = f"`{text}` is {shapes.describe_type(b.type)}"
    together = "" if left is right else f"`{ctx.text(left)}` is {shapes.describe_type(a.type)} and "
    ctx.error(
        "FW2035",
        f"{together}{described}: {'it does' if left is right else 'they do'} not fit in `{name}`",
        right.span,
        labels=ctx.declared(left, right),
        rule=rule,
        hint=hint,
    )


# --- other shapes --------------------------------------------------------------------------------------------------


def vec(ctx: Context, node: tree.Call, bound: BoundArguments) -> Value | None:
    """The entries of a matrix as a vector, in C order."""
    value = affine(ctx, node, bound["X"])
    if value is None:
        return None
    shape: shapes.Shape = (multiply_dims(*value.type.array_shape),)
    return algebra.make("reshape", shapes.of_shape(shape), (value,), name="vec", sign=value.sign, span=node.span)


def reshape(ctx: Context, node: tree.Call, bound: BoundArguments) -> Value | None:
    """The entries in another shape, in C order."""
    value = affine(ctx, node, bound["x"])
    dims = [resolve_dimension(ctx, bound[name]) for name in ("n", "k") if name in bound]
    shape = tuple(d for d in dims if d is not None)
    if value is None or len(shape) < len(dims):
        return None
    has, wanted = multiply_dims(*value.type.array_shape), multiply_dims(*shape)
    if has != wanted:
        part = bound["x"]
        hint = (
            f"declare `{ctx.text(part)}: vector[{' * '.join(map(str, shape))}]`"
            if value.op in ("var", "data")
            else _declared_as(ctx, has, wanted)
        )
        ctx.error(
            "FW2035",
            f"`{ctx.text(part)}` is {shapes.describe_type(value.type)} with `{has}` entries, "
            f"and {shapes.describe_type(shapes.of_shape(shape))} has `{wanted}`",
            node.span,
            labels=ctx.declared(part),
            rule="`reshape` keeps the number of entries, as the names of dimensions tell before data are bound; entries go row after row.",
            hint=hint,
        )
        return None
    return algebra.make("reshape", shapes.of_shape(shape), (value,), sign=value.sign, span=node.span)


def _declared_as(ctx: Context, name: Dim, size: Dim) -> str:
    """The help where a dimension that is a name is to have another size: the declarations with that size in its place. Empty where it is no name."""
    if not isinstance(name, str) or not name.isidentifier() or name in names_in(size):
        return ""
    other = str(size) if all(c not in "+-" for c in str(size)) else f"({size})"
    word = re.compile(rf"\b{name}\b")
    declared = [
        f"`{entry.kind} {entry.name}: {word.sub(other, entry.type_text.strip('`'))}`"
        for entry in ctx.entries.values()
        if entry.kind in ("data", "param", "var")
        and isinstance(entry.value, Expr)
        and any(name in names_in(dim) for dim in entry.value.type.shape)
    ]
    return f"write `{size}` for `{name}` where it is declared: {', '.join(declared)}" if declared else ""


def outer(ctx: Context, node: tree.Call, bound: BoundArguments) -> Value | None:
    """The matrix of products a_i b_j, of which one side is constant."""
    pair = _two_vectors(ctx, node, bound["a"], bound["b"])
    if pair is None:
        return None
    a, b = pair
    shape = (a.type.array_shape[0], b.type.array_shape[0])
    return algebra.make("outer", shapes.of_shape(shape), pair, sign=signs.product(a.sign, b.sign), span=node.span)


def conv(ctx: Context, node: tree.Call, bound: BoundArguments) -> Value | None:
    """The full convolution of two vectors, of which one is constant."""
    pair = _two_vectors(ctx, node, bound["k"], bound["x"])
    if pair is None:
        return None
    k, x = pair
    size = shift_dim(add_dims(k.type.array_shape[0], x.type.array_shape[0]), -1)
    return algebra.make("conv", shapes.of_shape((size,)), pair, sign=signs.product(k.sign, x.sign), span=node.span)


def kron(ctx: Context, node: tree.Call, bound: BoundArguments) -> Value | None:
    """The Kronecker product of two vectors or two matrices, of which one is constant. Of symmetric matrices it is symmetric."""
    pair = _two(ctx, node, bound["A"], bound["B"], (1, 2), "two vectors or two matrices")
    if pair is None:
        return None
    a, b = pair
    shape = tuple(multiply_dims(m, n) for m, n in zip(a.type.array_shape, b.type.array_shape, strict=True))
    type_ = shapes.of_shape(shape)
    if a.type.is_symmetric and b.type.is_symmetric:
        definite = a.type.is_psd and b.type.is_psd and a.is_constant and b.is_constant
        type_ = Type("psd" if definite else "symmetric", shape[:1])
    return algebra.make("kron", type_, pair, sign=signs.product(a.sign, b.sign), span=node.span)


def _two_vectors(ctx: Context, node: tree.Call, left: tree.Expr, right: tree.Expr) -> tuple[Expr, Expr] | None:
    return _two(ctx, node, left, right, (1,), "two vectors")


def _two(
    ctx: Context, node: tree.Call, left: tree.Expr, right: tree.Expr, axes: tuple[int, ...], takes: str
) -> tuple[Expr, Expr] | None:
    """Two arguments of as many axes, of which one is constant; None after an error."""
    a, b = affine(ctx, node, left), affine(ctx, node, right)
    if a is None or b is None:
        return None
    for value, part in ((a, left), (b, right)):
        fits = not value.type.is_family and len(value.type.array_shape) in axes
        if not fits or len(value.type.array_shape) != len(a.type.array_shape):
            hint = f"write `{ctx.text(left)} * {ctx.text(right)}`" if value.type.is_scalar else ""
            wrong_kind(ctx, node, part, value.type, takes, hint)
            return None
    if a.is_constant or b.is_constant:
        return a, b
    report_product(ctx, a, b, left, right, node.span)
    return None


# --- along an axis -------------------------------------------------------------------------------------------------


def along(ctx: Context, node: tree.Call, part: tree.Expr, value: Value, axis_node: tree.Expr) -> Value | None:
    """`sum(X, axis=0)` and `mean(X, axis=0)`: of each column; with `axis=1` of each row."""
    if not isinstance(value, Expr):
        ctx.error(
            "FW2061",
            f"`{ctx.text(part)}` is a loss or convex, and is added up as a whole",
            axis_node.span,
            rule="An axis is of an affine expression.",
            hint=f"leave `axis` out: `{node.func.name}({ctx.text(part)})`",
        )
        return None
    axis = _axis(ctx, node, part, value, axis_node)
    if axis is None:
        return None
    shape = value.type.array_shape
    kept = shapes.of_shape(shape[:axis] + shape[axis + 1 :])
    total = algebra.make("sum_axis", kept, (value,), name="sum", value=axis, sign=value.sign, span=node.span)
    if not FUNCTIONS[node.func.name].averages:
        return total
    return algebra.divide(total, algebra.length(shape[axis]), kept, node.span)


def too_few_differences(order: int) -> str:
    """The help where a vector has no differences of an order."""
    return (
        f"differences of order {order} take {order + 1} entries or more; there are no empty vectors, and sums and norms of none would be 0: "
        "leave the term out where there are fewer"
    )


def diff(ctx: Context, node: tree.Call, bound: BoundArguments) -> Value | None:
    """The differences of neighbours along an axis, taken `order` times."""
    part, value = bound["x"], affine(ctx, node, bound["x"])
    order = _whole(ctx, node, "order", bound["order"], 1) if "order" in bound else 1
    axis = None if value is None else _axis(ctx, node, part, value, bound.get("axis"))
    if value is None or axis is None or order is None:
        return None
    shape = list(value.type.array_shape)
    shape[axis] = left = shift_dim(shape[axis], -order)
    if isinstance(left, int) and left < 1:
        entries = "1 entry" if left + order == 1 else f"{left + order} entries"
        ctx.error(
            "FW2041",
            f"`{ctx.text(part)}` has {entries} along axis {axis}, which leave no differences of order {order}",
            node.span,
            labels=ctx.declared(part),
            rule="Differences of order k take one entry more than k.",
            hint=too_few_differences(order),
        )
        return None
    return algebra.make("diff", shapes.of_shape(tuple(shape)), (value,), value=(order, axis), span=node.span)


def cumsum(ctx: Context, node: tree.Call, bound: BoundArguments) -> Value | None:
    """The sums of the entries up to each one along an axis."""
    part, value = bound["x"], affine(ctx, node, bound["x"])
    axis = None if value is None else _axis(ctx, node, part, value, bound.get("axis"))
    if value is None or axis is None:
        return None
    return algebra.make(
        "cumsum", shapes.of_shape(value.type.array_shape), (value,), value=axis, sign=value.sign, span=node.span
    )


def _axis(ctx: Context, node: tree.Call, part: tree.Expr, value: Expr, axis_node: tree.Expr | None) -> int | None:
    """The axis that a call names, the first one where it names none; None after an error."""
    axes = 0 if value.type.is_family else len(value.type.array_shape)
    if not axes:
        what = "a vector or a matrix" if axis_node is None else "the axis of a vector or a matrix"
        wrong_kind(ctx, node, part, value.type, what)
        return None
    if axis_node is None:
        return 0
    axis = _whole(ctx, node, "axis", axis_node, -axes)
    if axis is None or axis < axes:
        return axis if axis is None or axis >= 0 else axis + axes
    ctx.error(
        "FW2041",
        f"`{ctx.text(part)}` is {shapes.describe_type(value.type)} and has no axis {axis}",
        axis_node.span,
        labels=ctx.declared(part),
        rule="Axes count from 0: axis 0 goes along the rows of a matrix, down its columns, and axis 1 along its columns.",
    )
    return None


def _whole(ctx: Context, node: tree.Call, name: str, part: tree.Expr, least: int) -> int | None:
    """A written whole number; None after an error."""
    value = literal(part)
    if isinstance(value, float) and value.is_integer() and value >= least:
        return int(value)
    ctx.error(
        "FW2012",
        f"`{name}` of `{node.func.name}` is a whole number written out, not `{ctx.text(part)}`",
        part.span,
        rule="Options are constant, and within the domain of the function.",
        hint=f"write `{signature(node.func.name, FUNCTIONS[node.func.name].parameters)}`",
    )
    return None
