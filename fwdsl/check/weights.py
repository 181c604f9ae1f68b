"""Weights that are not known to be nonnegative, and the promise that their declaration may make."""

from __future__ import annotations

from ..grammar import tree
from ..grammar.diagnostic import Fix
from ..grammar.source import Span
from ..model import Expr
from . import shapes
from .context import Context, Entry


def report_weight(ctx: Context, node: tree.Node, weight: Expr) -> None:
    """Report a vector of weights that is not known to be nonnegative."""
    entry = ctx.entry_of(node)
    name = entry.name if entry is not None and entry.kind == "data" else ""
    text = ctx.text(node)
    negative = weight.sign in ("negative", "nonpositive")
    ctx.error(
        "FW3007",
        f"the weight `{text}` {'is negative' if negative else 'is not known to be nonnegative'}",
        node.span,
        labels=ctx.declared(node),
        rule="A convex function keeps its curvature only under weights that are not negative.",
        hint=f"declare `{name}: {shapes.format_type(weight.type)} in nonnegative`; it is checked when data is bound"
        if name and not negative
        else "weights need the promise `in nonnegative` of their data, or a literal that shows it",
        fix=promised(entry)
        if name and not negative and weight.type.is_vector and isinstance(node, tree.Name)
        else None,
    )


def promised(entry: Entry | None) -> Fix | None:
    """The declaration of a datum with the promise that it is nonnegative."""
    at = entry.type_span if entry is not None else None
    return None if at is None else Fix("promise `in nonnegative`", Span(at.end, at.end), " in nonnegative", guess=True)
