"""The type of one expression of a program, its sign, and its curvature with the reasons, for editors."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ..grammar import tree
from ..model import Expr
from . import algebra, shapes, signs
from .budget import ExpressionLimits
from .context import Context
from .curvature import reason_of
from .scalars import scalar_sign, tidied
from .values import AppliedAtom, Combination, Summand, merged


@dataclass(frozen=True)
class Seen:
    """The facts that are known of an expression.

    `type` is as a program writes it, `sign` is that of every entry ("unknown" where it is not known). `curvature` is "constant", "affine", "convex",
    "concave" or "unknown", and `reasons` say why, one for each term.
    """

    type: str
    sign: str
    curvature: str
    reasons: tuple[str, ...] = ()
    is_number: bool = False
    #: Whether the type is one that a program can write.
    has_type: bool = True


def inspect_expression(ctx: Context, node: tree.Expr) -> Seen | None:
    """The facts that are known of an expression of the program that `ctx` has read; None where it has no meaning. `ctx` stays as it is."""
    aside = replace(
        ctx, found=[], used=set(), missing=set(), naming="", depth=0, too_deep=False, budget=ExpressionLimits()
    )
    value = ctx.infer(aside, node)
    if value is None:
        return None
    return _of_combination(value) if isinstance(value, Combination) else _of_expr(value)


def _of_expr(e: Expr) -> Seen:
    if not shapes.is_numeric(e.type):
        return Seen(shapes.describe_type(e.type), "unknown", "constant", has_type=False)
    sign = scalar_sign(e) if e.type.is_scalar else e.sign
    of = ", ".join(f"`{v}`" for v in sorted(e.variables))
    reason = f"it is linear in {of}, plus a constant" if of else "no variable occurs in it"
    number = e.type.is_scalar
    return Seen(shapes.format_type(e.type), sign, "affine" if of else "constant", (reason,), number)


def _of_combination(value: Combination) -> Seen:
    summands = [replace(s, coefficient=tidied(s.coefficient)) for s in merged(value.summands)]
    kinds = {_curvature(s) for s in summands} - {"constant", "affine"}
    curvature = kinds.pop() if len(kinds) == 1 else "unknown" if kinds else "affine"
    reasons = tuple(
        reason_of(s, s.body, scalar_sign(s.coefficient)) for s in summands if isinstance(s.body, AppliedAtom)
    )
    type_ = shapes.REAL if value.samples is None else shapes.of_shape(value.shape)
    return Seen(shapes.format_type(type_), "unknown", curvature, reasons, value.samples is None)


def _curvature(s: Summand) -> str:
    if isinstance(s.body, Expr):
        return "affine"
    sign = scalar_sign(s.coefficient)
    weights = s.body.weights
    if sign == "zero" or algebra.number(s.coefficient) == 0:
        return "constant"
    if weights is not None and not signs.is_nonnegative(weights.sign):
        return "unknown"
    if signs.is_nonnegative(sign):
        return "convex"
    return "concave" if signs.is_nonpositive(sign) else "unknown"
