"""Matrix products `a @ b`: their shapes, their signs, and messages where the shapes do not fit."""

from __future__ import annotations

from ..grammar import tree
from ..grammar.diagnostic import Fix, Label
from ..grammar.source import Span
from ..model import Dim, Expr
from . import algebra, shapes
from .arithmetic import report_product, times
from .context import Context, Entry
from .operands import report_kernel_use
from .reductions import summed
from .values import Combination, Value


def matrix_product(ctx: Context, a: Value, b: Value, left: tree.Expr, right: tree.Expr, span: Span) -> Value | None:
    """a @ b for vectors and matrices, as in NumPy. `w @ f` of weights and functions of entries is `sum(w * f)`."""
    one, sum_ = (a, b) if isinstance(b, Combination) else (b, a)
    if isinstance(sum_, Combination) and len(sum_.shape) == 1 and isinstance(one, Expr) and one.type.is_vector:
        weighted = times(ctx, a, b, left, right, span)
        return None if weighted is None else summed(ctx, weighted, span)
    for value, node in ((a, left), (b, right)):
        if isinstance(value, Combination):
            ctx.error(
                "FW3005",
                f"`{ctx.text(node)}` is {value.told} and not affine, and stands in a matrix product",
                node.span,
                rule="Outside losses, norms and other convex functions an expression over variables is affine.",
                hint="a coefficient is written with `*`",
            )
    if isinstance(a, Combination) or isinstance(b, Combination):
        return None
    if not a.is_constant and not b.is_constant:
        report_product(ctx, a, b, left, right, span)
        return None
    if b.type.is_features or (a.type.is_features and b.is_constant):
        node, other = (right, left) if b.type.is_features else (left, right)
        report_kernel_use(ctx, node, f"is multiplied by `{ctx.text(other)}`, which is not a variable on its right")
        return None
    for value, node in ((a, left), (b, right)):
        axes = len(value.type.array_shape)
        if axes not in (1, 2) or value.type.is_family:
            _report_operand(ctx, value, node)
            return None
    shape = shapes.matrix_product(a.type.array_shape, b.type.array_shape)
    if shape is None:
        _report_inner(ctx, a, b, left, right, span)
        return None
    return algebra.matmul(a, b, shapes.of_shape(shape), span)


def _report_operand(ctx: Context, value: Expr, node: tree.Expr) -> None:
    if value.type.is_scalar:
        ctx.error(
            "FW2031",
            f"`{ctx.text(node)}` is a number, and `@` is the product of vectors and matrices",
            node.span,
            labels=ctx.declared(node),
            rule="`@` takes vectors and matrices.",
            hint="multiply by a number with `*`",
        )
        return
    ctx.error(
        "FW2031",
        f"`{ctx.text(node)}` is {shapes.describe_type(value.type)}, and `@` is the product of vectors and matrices",
        node.span,
        labels=ctx.declared(node),
        rule="`@` takes vectors and matrices.",
        hint="`inner(D, X)` contracts all axes of a tensor or a family but the first",
    )


def _report_inner(ctx: Context, a: Expr, b: Expr, left: tree.Expr, right: tree.Expr, span: Span) -> None:
    """Report that the inner dimensions of a @ b differ. The message names both, and a transpose or a type that would fit."""
    inner, outer = a.type.array_shape[-1], b.type.array_shape[0]
    has = "columns" if len(a.type.array_shape) == 2 else "entries"
    needs = "rows" if len(b.type.array_shape) == 2 else "entries"
    hint, fix = _mend(ctx, a, b, left, right)
    labels = ctx.declared(left, right) or [
        Label(left.span, shapes.describe_type(a.type)),
        Label(right.span, shapes.describe_type(b.type)),
    ]
    ctx.error(
        "FW2032",
        f"`{ctx.text(left)}` has `{inner}` {has}, but `{ctx.text(right)}` has `{outer}` {needs}",
        span,
        label=f"`{inner}` meets `{outer}`",
        labels=labels,
        rule="In `A @ B` the columns of `A` are the rows of `B`: the same dimension, by name.",
        hint=hint,
        fix=fix,
    )


def _mend(ctx: Context, a: Expr, b: Expr, left: tree.Expr, right: tree.Expr) -> tuple[str, Fix | None]:
    """A hint on what to write instead, and the same as an edit."""
    sa, sb = a.type.array_shape, b.type.array_shape
    entry = ctx.entry_of(right)
    if entry is not None and entry.kind == "var" and str(sa[-1]).startswith("dim("):
        # the samples of a feature map are not coordinates of its variable, even where their numbers agree
        return _declared_as(entry, (sa[-1], *sb[1:]))
    simple = isinstance(left, tree.Name | tree.Call) and isinstance(right, tree.Name | tree.Call)
    first, second = ctx.text(left), ctx.text(right)
    if simple and len(sa) == 2 and sa[0] == sb[0]:
        return _meant(f"{first}.T @ {second}", Span(left.span.end, left.span.end), ".T")
    if simple and len(sb) == 2 and sa[-1] == sb[1]:
        return _meant(f"{first} @ {second}.T", Span(right.span.end, right.span.end), ".T")
    if simple and sa[0] == sb[-1]:
        bare = ctx.source.slice(Span(left.span.end, right.span.start)).strip() == "@"  # no brackets between
        whole = Span(left.span.start, right.span.end)
        swapped = f"{ctx.source.slice(right.span)} @ {ctx.source.slice(left.span)}"
        return _meant(f"{second} @ {first}", whole if bare else None, swapped)
    if entry is not None and entry.kind == "var" and isinstance(right, tree.Name):
        return _declared_as(entry, (sa[-1], *sb[1:]))
    return "", None


def _meant(text: str, span: Span | None, replacement: str) -> tuple[str, Fix | None]:
    return f"did you mean `{text}`?", None if span is None else Fix(f"write `{text}`", span, replacement, guess=True)


def _declared_as(entry: Entry, shape: tuple[Dim, ...]) -> tuple[str, Fix | None]:
    """The declaration of a variable with another shape."""
    type_ = shapes.format_type(shapes.of_shape(shape))
    hint = f"declare `{entry.name}: {type_}`"
    plain = entry.type_span is not None and isinstance(entry.value, Expr) and not entry.value.type.is_family
    return hint, Fix(hint, entry.type_span, type_, guess=True) if plain and entry.type_span is not None else None
