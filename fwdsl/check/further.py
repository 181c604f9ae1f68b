"""The arguments of convex functions beside the first: groups, counts, weights, the matrix of a quadratic form."""

from __future__ import annotations

from dataclasses import replace

from ..grammar import tree
from ..grammar.diagnostic import Fix
from ..model import Dim, Expr, Type, multiply_dims
from ..words import AXIS, CONVEX, SHARES
from . import shapes, signs
from .arguments import BoundArguments, option
from .context import Context
from .literal_arithmetic import values_of
from .literals import groups as literal_groups
from .literals import is_psd, is_symmetric, smallest_eigenvalue
from .operands import constant, count, wrong_kind
from .weights import report_weight


def arguments_of(ctx: Context, node: tree.Call, bound: BoundArguments, x: Expr) -> tuple[tuple[str, Expr], ...] | None:
    """The further arguments of `group_norm`, `sorted_l1`, `quad_form` and other functions with options."""
    if "groups" in bound:
        # groups of a family divide the entries of each block
        return group_arguments(ctx, node, bound, x.type.block)
    if "P" in bound and not CONVEX[node.func.name].joint:
        p = _quadratic(ctx, node, bound["P"], x)
        return None if p is None else (("P", p),)
    out: list[tuple[str, Expr]] = []
    for parameter in CONVEX[node.func.name].options:
        if parameter.domain == "count":
            shape = x.type.block.array_shape
            square = CONVEX[node.func.name].of_eigenvalues
            entries = shape[-1] if square or AXIS.name in bound or len(shape) < 2 else multiply_dims(*shape)
            k = count(ctx, node, parameter.name, bound[parameter.name], entries)
            if k is None:
                return None
            out.append((parameter.name, k))
            continue
        if parameter == SHARES:
            if parameter.name in bound:
                (size,), part = x.type.block.array_shape, bound[parameter.name]
                shares = constant(ctx, node, part)
                if shares is None or not _are_weights(ctx, node, part, shares, f"the `{size}` entries", size):
                    return None
                out.append((parameter.name, shares))
            continue
        if not parameter.falls:
            given = option(ctx, node.func.name, parameter, bound.get(parameter.name))
            if given is None:
                return None
            out.append((parameter.name, given))
            continue
        value = constant(ctx, node, bound[parameter.name])
        if value is None or not is_falling(ctx, node, bound[parameter.name], value, x.type.block):
            return None
        out.append((parameter.name, value))
    return tuple(out)


def _are_weights(ctx: Context, node: tree.Call, part: tree.Expr, value: Expr, each_of: str, number: Dim | None) -> bool:
    """True if there is a weight for each of so many things, and none is negative."""
    if value.type.array_shape != (number,):
        wrong_kind(ctx, node, part, value.type, f"a weight for each of {each_of}")
        return False
    if signs.is_nonnegative(value.sign):
        return True
    report_weight(ctx, part, value)
    return False


def is_falling(ctx: Context, node: tree.Call, part: tree.Expr, value: Expr, type_: Type) -> bool:
    """True if the weights of ranks are one for each entry, and known not to be negative; numbers that a literal gives do not rise either."""
    size = type_.array_shape[0]
    if value.type.array_shape != (size,):
        wrong_kind(ctx, node, part, value.type, f"a number for each of the `{size}` entries, by the rank of its size")
        return False
    if not signs.is_nonnegative(value.sign):
        report_weight(ctx, part, value)
        return False
    numbers = values_of(ctx, value)
    if not isinstance(numbers, tuple):
        return True
    flat = [float(v) for v in numbers if not isinstance(v, tuple)]
    at = next((i for i in range(1, len(flat)) if flat[i] > flat[i - 1]), None)
    if at is None and (not flat or flat[0] > 0.0):
        return True
    what = "are all 0" if at is None else f"rise from {flat[at - 1]:g} to {flat[at]:g} at position {at}"
    ctx.error(
        "FW3018",
        f"the numbers of `{ctx.text(part)}` {what}",
        part.span,
        labels=ctx.declared(part),
        rule="The largest size has the first lambda and the largest lambda; without this the sum is not convex.",
        hint="leave the term out" if at is None else "write them from the largest to the smallest",
    )
    return False


def group_arguments(
    ctx: Context, node: tree.Call, bound: BoundArguments, type_: Type
) -> tuple[tuple[str, Expr], ...] | None:
    """The `groups` (an `index[d] of G` or a literal list of lists of positions) and the `weights`, one for each group."""
    size = type_.array_shape[0]
    part = bound["groups"]
    groups = literal_groups(ctx, part, size) if isinstance(part, tree.List) else _index(ctx, node, part, size)
    weights = constant(ctx, node, bound["weights"]) if "weights" in bound else None
    if groups is None or ("weights" in bound and weights is None):
        return None
    if weights is None:
        return (("groups", groups),)
    count = groups.type.classes if groups.type.is_index else groups.type.shape[0]
    if not _are_weights(ctx, node, bound["weights"], weights, f"`{count}` groups", count):
        return None
    return (("groups", groups), ("weights", weights))


def _index(ctx: Context, node: tree.Call, part: tree.Expr, size: Dim) -> Expr | None:
    value = ctx.infer(ctx, part)
    if value is None:
        return None
    if isinstance(value, Expr) and value.type.is_index and value.type.shape == (size,):
        return value
    type_ = value.type if isinstance(value, Expr) else shapes.REAL
    wrong_kind(
        ctx,
        node,
        part,
        type_,
        f"groups as an `index[{size}] of G` or a list of lists of positions",
        f"declare `data {ctx.text(part)}: index[{size}] of G`" if isinstance(part, tree.Name) else "",
    )
    return None


def _quadratic(ctx: Context, node: tree.Call, part: tree.Expr, x: Expr) -> Expr | None:
    """The matrix of `quad_form`. Its declaration, or the numbers of literals that it is made of, prove that it is positive semidefinite."""
    p = constant(ctx, node, part)
    if p is None:
        return None
    d = x.type.array_shape[0]
    if p.type.array_shape != (d, d):
        wrong_kind(ctx, node, part, p.type, f"a {d} x {d} matrix for the {d} entries of `{ctx.text(x.span)}`")
        return None
    if p.type.is_psd:
        return p
    what = "is not known to be positive semidefinite"
    entry = ctx.entries.get(p.name) if p.op == "data" else None
    values = values_of(ctx, p)
    if isinstance(values, tuple):
        if not is_symmetric(values):
            what = "is not symmetric"
        elif is_psd(values):
            # A user may bind other values to data in place of their literal, so the canonical form checks them again.
            return p if any(e.op == "data" for e in p.walk()) else replace(p, type=Type("psd", (d,)))
        else:
            what = f"is not positive semidefinite: its smallest eigenvalue is {smallest_eigenvalue(values):.6g}"
    ctx.error(
        "FW3017",
        f"the matrix `{ctx.text(part)}` of `quad_form` {what}",
        part.span,
        labels=ctx.declared(part),
        rule="`quad_form(x, P)` is convex where `P` is symmetric positive semidefinite.",
        hint=f"declare `data {entry.name}: psd[{d}]`; it is checked when data is bound"
        if entry is not None and values is None
        else _gram_hint(ctx, p, x),
        fix=Fix(f"declare `{entry.name}: psd[{d}]`", entry.type_span, f"psd[{d}]", guess=True)
        if entry is not None and values is None and entry.type_span is not None
        else None,
    )
    return None


def _gram_hint(ctx: Context, p: Expr, x: Expr) -> str:
    """The hint for a quadratic form of `A.T @ A`."""
    if p.op == "matmul" and p.args[0].op == "transpose" and p.args[0].args[0] == p.args[1]:
        return f"write `sum_squares({ctx.text(p.args[1].span)} @ {ctx.text(x.span)})`"
    return ""
