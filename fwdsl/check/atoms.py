"""Norms and other convex functions applied to their arguments."""

from __future__ import annotations

from dataclasses import replace

from ..grammar import tree
from ..model import Expr
from ..words import AXIS, CONVEX, ConvexWord
from . import algebra, shapes
from .arguments import BoundArguments, bind_arguments, literal
from .constants import length_of
from .context import Context
from .further import arguments_of
from .operands import affine, wrong_kind
from .symmetry import assumed, factors_at_fault
from .values import AppliedAtom, Combination, Summand, Value


def convex(ctx: Context, node: tree.Call) -> Value | None:
    """A norm or another convex function, of one number or of each row; a constant where it is a sum over entries that are constant."""
    name = node.func.name
    signature = CONVEX[name]
    bound = bind_arguments(ctx, node, signature.parameters)
    found = None if bound is None else operand_of(ctx, node, bound, signature)
    if found is None or bound is None:
        return None
    x, along = found
    options = arguments_of(ctx, node, bound, x)
    if options is None:
        return None
    if signature.joint:
        t = affine(ctx, node, bound[signature.joint])
        if t is None:
            return None
        if signature.of_joint_matrix:
            t = assumed(t)
            if not _is_symmetric_for(ctx, node, bound, t, x):
                return None
        elif not t.type.is_scalar:
            wrong_kind(ctx, node, bound[signature.joint], t.type, "a number that is affine in the variables")
            return None
        x = algebra.stack((t, x), node.span)
    if x.is_constant and (known := length_of(x, signature, along, node.span)) is not None:
        return known
    body = AppliedAtom("function", name, x, options=options, text=ctx.text(node), span=node.span)
    if along:
        body = of_each_row(body)
    rows = x.type.array_shape[0] if body.per_sample else None
    return Combination((Summand(algebra.ONE, body, span=node.span),), rows, node.span)


def _is_symmetric_for(ctx: Context, node: tree.Call, bound: BoundArguments, p: Expr, x: Expr) -> bool:
    """True if a matrix is symmetric, with a row for each entry of a vector."""
    part, (d,) = bound[CONVEX[node.func.name].joint], x.type.array_shape
    if p.type.array_shape != (d, d):
        wrong_kind(ctx, node, part, p.type, f"a {d} x {d} matrix for the {d} entries of `{ctx.text(bound['x'])}`")
        return False
    if p.type.is_symmetric:
        return True
    wrong_kind(ctx, node, part, p.type, "a symmetric matrix", symmetric_hint(ctx, part, p))
    return False


def of_each_row(body: AppliedAtom) -> AppliedAtom:
    """A function of vectors, taken of each row of its argument."""
    other = CONVEX[body.atom].of_each_row
    if other != body.atom:
        return replace(body, atom=other, written=body.word)
    return replace(body, options=(*body.options, (AXIS.name, algebra.ONE)))


def operand_of(ctx: Context, node: tree.Call, bound: BoundArguments, signature: ConvexWord) -> tuple[Expr, bool] | None:
    """The argument of a function, several numbers as one vector, and whether the function is of each of its rows; None after an error.

    Several vectors are the columns of a matrix; columns are rows of the transpose.
    """
    if signature.of_several and len(node.args) > 1:
        return _of_several(ctx, node, bound)
    x = affine(ctx, node, bound["x"])
    if x is None:
        return None
    if signature.of_eigenvalues:
        x = assumed(x)
    if AXIS.name not in bound:
        return (x, False) if is_of(ctx, node, bound["x"], x, signature) else None
    if x.type.is_family or not shapes.has_two_axes(x.type):
        wrong_kind(
            ctx,
            node,
            bound["x"],
            x.type,
            "a matrix, where it has an axis",
            f"write `{node.func.name}({ctx.text(bound['x'])})`",
        )
        return None
    axis = literal(bound[AXIS.name])
    if axis not in (0.0, 1.0):
        ctx.error(
            "FW2012",
            f"`axis` of `{node.func.name}` is 0, for a value of each column, or 1, for one of each row, not `{ctx.text(bound['axis'])}`",
            bound[AXIS.name].span,
            rule="Options are constant, and within the domain of the function.",
        )
        return None
    return (x if axis == 1.0 else algebra.transposed(x)), True


def _of_several(ctx: Context, node: tree.Call, bound: BoundArguments) -> tuple[Expr, bool] | None:
    """Several numbers as one vector, several vectors as the columns of a matrix, each of whose rows the function is of; None after an error."""
    name = node.func.name
    if AXIS.name in bound:
        ctx.error(
            "FW2010",
            f"`{name}` of several arguments has no axis",
            bound[AXIS.name].span,
            rule="Of several numbers there is one value, of several vectors one for each entry.",
            hint=f"leave `axis` out, or write `{name}(X, axis=1)` of one matrix",
        )
        return None
    values: list[Expr] = []
    for part in node.args:
        value = affine(ctx, node, part)
        if value is None:
            return None
        longest = next((v.type.array_shape for v in values if v.type.array_shape), ())
        fits = value.type.is_scalar or (shapes.has_one_axis(value.type) and longest in ((), value.type.array_shape))
        if not fits or value.type.is_family:
            takes = "numbers, or vectors of one size, where it has several arguments"
            wrong_kind(ctx, node, part, value.type, takes, f"`{name}(X, axis=1)` is of each row of a matrix")
            return None
        values.append(value)
    shape = next((v.type.array_shape for v in values if v.type.array_shape), ())
    if not shape:
        return algebra.stacked(values, span=node.span), False
    columns = [algebra.spread(v, shape[0]) if v.type.is_scalar else v for v in values]
    return algebra.transposed(algebra.stacked(columns, below=True, span=node.span)), True


def is_of(ctx: Context, node: tree.Call, part: tree.Expr, x: Expr, signature: ConvexWord) -> bool:
    """True if the function takes such an argument. On a family it adds up over the blocks."""
    axes = len(x.type.block.array_shape)
    shape = ("scalar", "vector", "matrix")[axes] if axes < 3 else "tensor"
    if shape == "matrix" and signature.adds_squares and _means_a_norm(ctx, node):
        text = ctx.text(part)
        ctx.error(
            "FW2051",
            f"the norm of the matrix `{text}` whose square is written could be two things",
            node.span,
            labels=ctx.declared(part),
            rule="Norms of matrices have names of their own.",
            hint=f"write `{signature.name}({text})` for the square of the root of the sum of squares; for the largest singular value, which CVXPY's "
            f"`norm(X)` is, `{signature.name}(t)` with a variable `t: real` and `norm_spec({text}) <= t`",
        )
        return False
    if shape in signature.of:
        return not signature.of_eigenvalues or x.type.block.is_symmetric or _report_asymmetric(ctx, node, part, x)
    name, text = node.func.name, ctx.text(part)
    if signature.of_matrices and shape == "matrix":
        ctx.error(
            "FW2051",
            f"`{name}` of the matrix `{text}` could be two things",
            node.span,
            labels=ctx.declared(part),
            rule=f"`{name}` is of vectors; norms of matrices have names of their own.",
            hint=f"write `{signature.of_matrices}({text})` for the root of the sum of squares, `norm_spec({text})` for the largest "
            "singular value",
        )
        return False
    hint = ""
    if shape == "vector" and signature.of == ("matrix",):
        hint = f"for a vector write `norm1({text})`, `norm2({text})` or `norm_inf({text})`"
    takes = " or ".join({"scalar": "a number", "vector": "a vector", "matrix": "a matrix"}[s] for s in signature.of)
    wrong_kind(ctx, node, part, x.type, takes, hint)
    return False


def _means_a_norm(ctx: Context, node: tree.Call) -> bool:
    """True of a sum of squares that the program writes as the square of a norm that has other meanings for matrices: `norm(X)^2`."""
    return ctx.source.text.startswith(("norm(", "norm2(", "||"), node.span.start)


def _report_asymmetric(ctx: Context, node: tree.Call, part: tree.Expr, x: Expr) -> bool:
    """Report a matrix that is not known to be symmetric."""
    wrong_kind(ctx, node, part, x.type, "a symmetric matrix", symmetric_hint(ctx, part, x))
    return False


def symmetric_hint(ctx: Context, part: tree.Node, x: Expr) -> str:
    """The declarations that make an expression symmetric, or its symmetric part."""
    rows, columns = x.type.array_shape[-2:]
    if rows != columns:
        return ""
    entry = ctx.entry_of(part)
    if entry is not None and entry.kind in ("var", "data"):
        return f"declare `{entry.kind} {entry.name}: symmetric[{rows}]`"
    alone = factors_at_fault(x)
    if alone:
        return "declare " + ", ".join(f"`{m.name}: symmetric[{rows}]`" for m in alone)
    text = ctx.text(part)
    return f"an expression is symmetric where it is its own transpose, as `(B + B.T) / 2` is with B = `{text}`"
