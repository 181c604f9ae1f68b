"""Facts about constraints and declarations, each with where it comes from. Those about terms are made in `curvature`."""

from __future__ import annotations

from collections.abc import Sequence

from ..model import Constraint, DataDecl, Fact, ParamDecl
from ..words import SETS
from .printer import format_set, format_typed


def constraint_fact(c: Constraint) -> Fact:
    """Why the points that satisfy a constraint are a convex set."""
    of = f"affine in {', '.join(f'`{v}`' for v in sorted(c.argument.variables))}"
    if c.set is None:
        what, kind = ("affine inequality", "<=") if c.relation == "le" else ("affine equality", "==")
        return Fact(c.name, what, f"`{format_typed(c.argument)} {kind} 0`, {of}", c.span)
    norm = SETS[c.set.name].norm
    reason = f"`{format_set(c.set)}` is " + (f"a ball of `{norm}`" if norm else "a convex set")
    radius = dict(c.set.args).get("r")
    if radius is not None:
        reason += f", its radius `{format_typed(radius)}` is positive"
    return Fact(c.name, "convex set", f"{reason}; what it contains is {of}", c.span)


def promises(data: Sequence[DataDecl], params: Sequence[ParamDecl]) -> tuple[Fact, ...]:
    """Signs that declarations promise; they are checked when values are bound."""
    declared = [(d.name, d.type, d.span) for d in data] + [(p.name, p.type, p.span) for p in params]
    return tuple(
        Fact(name, "positive" if type_.domain == "count" else type_.domain, "declared so", span)
        for name, type_, span in declared
        if type_.domain != "real"
    )
