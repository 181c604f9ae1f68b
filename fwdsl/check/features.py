"""Feature maps over a data matrix."""

from __future__ import annotations

from ..grammar import tree
from ..model import Dim, Expr, Type, shift_dim
from ..words import FEATURE_MAPS, MapWord
from . import algebra, shapes
from .arguments import bind_arguments, option
from .context import Context
from .operands import constant, wrong_kind


def feature_map(ctx: Context, node: tree.Call) -> Expr | None:
    """`rbf(X, gamma=)`, `fourier(X, ...)`, ...: an implicit map, or an explicit matrix of features."""
    signature = FEATURE_MAPS[node.func.name]
    name, ctx.naming = ctx.naming, ""
    bound = bind_arguments(ctx, node, signature.parameters)
    if bound is None:
        return None
    data = constant(ctx, node, bound["X"])
    options = [(p.name, option(ctx, node.func.name, p, bound.get(p.name))) for p in signature.options]
    known_options = tuple((n, v) for n, v in options if v is not None)
    if data is None or len(known_options) < len(options):
        return None
    if not shapes.has_two_axes(data.type):
        wrong_kind(
            ctx, node, bound["X"], data.type, "a data matrix", "a feature map takes a `matrix[n, p]`, a row a sample"
        )
        return None
    rows, _ = data.type.array_shape
    columns = _columns(signature, data, dict(known_options), f"dim({name or ctx.text(node)})")
    if signature.implicit:
        ctx.implicit[columns] = ctx.text(node)
        type_ = Type("features", (rows, columns))
    else:
        type_ = shapes.of_shape((rows, columns))
    return algebra.make("features", type_, (data,), name=node.func.name, options=known_options, span=node.span)


def _columns(signature: MapWord, data: Expr, options: dict[str, Expr], own: str) -> Dim:
    columns = data.type.array_shape[1]
    if signature.columns == "same":
        return columns
    if signature.columns == "more":
        return shift_dim(columns, 1)
    count = algebra.number(options["features"]) if signature.columns == "features" else None
    return int(count) if count is not None else own
