"""Checks variables over implicit feature maps, which stand only in `Phi @ W` and in Euclidean norms."""

from __future__ import annotations

from collections.abc import Iterator

from ..grammar.diagnostic import Label
from ..grammar.source import Span
from ..grammar.tree import NOWHERE
from ..model import ConstraintDecl, Expr, SetRef, Term, VarDecl
from ..words import CONVEX, SETS
from .context import Context
from .operands import KERNEL_RULE


def _is_euclidean(function: str) -> bool:
    """True if a term is a function of the Euclidean norm of its argument."""
    return function in CONVEX and CONVEX[function].euclidean


def _is_euclidean_ball(set_: SetRef | None) -> bool:
    return set_ is not None and _is_euclidean(SETS[set_.name].norm)


def check_kernels(
    ctx: Context, variables: list[VarDecl], terms: tuple[Term, ...], constraints: list[ConstraintDecl]
) -> None:
    """Check the rule of implicit maps for every variable with such a dimension."""
    for variable in variables:
        maps = [ctx.implicit[d] for d in variable.type.array_shape if d in ctx.implicit]
        if not maps or variable.name not in ctx.used:
            continue
        wrong = next(_other_uses(variable.name, terms, constraints), None)
        hint = "`fourier(X, features=..., gamma=...)` is an explicit map whose variable can be used anywhere"
        if wrong is not None:
            ctx.error(
                "FW3015",
                f"`{variable.name}` is a variable over the implicit feature map `{maps[0]}` and is used otherwise than "
                f"as `Phi @ {variable.name}` or in its norm",
                variable.span if wrong == NOWHERE else wrong,
                labels=[Label(variable.span, f"`{variable.name}` is declared here")],
                rule=f"{KERNEL_RULE[:-1]}, and in `sum_squares`, `norm2`, `norm_fro` or their balls.",
                hint=hint,
            )
        elif not _has_norm(variable.name, terms, constraints):
            ctx.error(
                "FW3014",
                f"`{variable.name}` is a variable over the implicit feature map `{maps[0]}`, and its norm occurs nowhere",
                variable.span,
                rule="With an implicit map `sum_squares`, `norm2` or `norm_fro` of the variable, or a ball of them, is present: "
                "only then is the answer in the span of the samples.",
                hint=f"add `mu * sum_squares({variable.name})` to the objective; or {hint}",
            )


def _has_norm(name: str, terms: tuple[Term, ...], constraints: list[ConstraintDecl]) -> bool:
    in_terms = any(_is_euclidean(t.atom) and _is(name, t.argument) for t in terms)
    return in_terms or any(_is_euclidean_ball(c.set) and _is(name, c.argument) for c in constraints)


def _is(name: str, e: Expr) -> bool:
    return e.op == "var" and e.name == name


def _other_uses(name: str, terms: tuple[Term, ...], constraints: list[ConstraintDecl]) -> Iterator[Span]:
    """The places where the variable stands neither in `Phi @ W` nor alone in a norm or ball."""
    for t in terms:
        if not (_is_euclidean(t.atom) and _is(name, t.argument)):
            yield from _uses_in(name, t.argument, t.span)
    for c in constraints:
        if not (_is_euclidean_ball(c.set) and _is(name, c.argument)):
            yield from _uses_in(name, c.argument, c.span)


def _uses_in(name: str, e: Expr, span: Span) -> Iterator[Span]:
    stack = [e]
    while stack:
        node = stack.pop()
        if name not in node.variables:
            continue
        if node.op == "var":
            yield span
        elif not (node.op == "matmul" and node.args[0].type.is_features and _is(name, node.args[1])):
            stack.extend(node.args)
