"""The functions that are neither losses nor norms nor feature maps: `inner`, `quad`, `eye`, `diag`, `sum`, ..."""

from __future__ import annotations

from collections.abc import Callable

from ..grammar import tree
from ..model import Expr, Sign, Type
from ..words import CONVEX, FUNCTIONS
from . import algebra, arrays, shapes, signs
from .arguments import BoundArguments, signature
from .arithmetic import report_product, times
from .context import Context
from .operands import affine, as_affine, wrong_kind
from .reductions import reduced, summed
from .types import resolve_dimension
from .values import AppliedAtom, Combination, Value


def apply(ctx: Context, node: tree.Call, bound: BoundArguments) -> Value | None:
    """The value of a call of one of `FUNCTIONS`; None after an error."""
    return _RULES[node.func.name](ctx, node, bound)


# --- sum and mean --------------------------------------------------------------------------------------------------


def _reduce(ctx: Context, node: tree.Call, bound: BoundArguments) -> Value | None:
    how, part = node.func.name, bound["x"]
    value = ctx.infer(ctx, part)
    if isinstance(value, Expr):
        value = as_affine(ctx, node, part, value)
    if value is None:
        return None
    if "axis" in bound:
        return arrays.along(ctx, node, part, value, bound["axis"])
    if isinstance(value, Expr):
        return algebra.make(how, shapes.REAL, (value,), sign=value.sign, span=node.span)
    if value.samples is None:
        ctx.error(
            "FW2061",
            f"`{how}` of `{ctx.text(part)}`, which is one number already",
            node.span,
            rule="`mean` and `sum` add up the values of a loss over samples, or the entries of an affine expression.",
            hint=f"leave `{how}` out{_of_errors(ctx, value, how)}",
        )
        return None
    return reduced(ctx, value, how, node.span)


def _of_errors(ctx: Context, value: Combination, how: str) -> str:
    """The help where a sum of squares is meant as one of errors: the loss that it is the sum of. Of other functions none."""
    bodies = [s.body for s in value.summands if isinstance(s.body, AppliedAtom)]
    word = CONVEX.get(bodies[0].atom) if len(bodies) == 1 else None
    if word is None or not word.as_loss or word.root_of or bodies[0].argument.span == tree.NOWHERE:
        return ""
    return f"; the {how} of squared errors is `{how}({word.as_loss}({ctx.text(bodies[0].argument.span)}, 0))`"


# --- products that contract ----------------------------------------------------------------------------------------


def _pair(ctx: Context, node: tree.Call, left: tree.Expr, right: tree.Expr) -> tuple[Expr, Expr] | None:
    """Two arguments. At most one of them depends on variables."""
    a, b = affine(ctx, node, left), affine(ctx, node, right)
    if a is None or b is None:
        return None
    if a.is_constant or b.is_constant:
        return a, b
    report_product(ctx, a, b, left, right, node.span)
    return None


def _inner(ctx: Context, node: tree.Call, bound: BoundArguments) -> Value | None:
    pair = _pair(ctx, node, bound["D"], bound["X"])
    if pair is None:
        return None
    d, x = pair
    left, right = d.type.array_shape, x.type.array_shape
    blockwise = "gather" in (d.op, x.op) and left == right
    if blockwise and x.op != "gather":
        # `inner(F[task], X)` is `inner(X, F[task])`
        pair = x, d
    if len(left) < 2 or not (left[1:] == right or blockwise):
        hint = "the sum of the products of all entries is `dot(D, X)`" if left == right else ""
        _mismatch(ctx, node, bound["D"], d, bound["X"], x, "the axes of `X` are those of `D` but the first", hint)
        return None
    return algebra.make("inner", shapes.of_shape(left[:1]), pair, sign=signs.product(d.sign, x.sign), span=node.span)


def _dot(ctx: Context, node: tree.Call, bound: BoundArguments) -> Value | None:
    values = [ctx.infer(ctx, bound["a"]), ctx.infer(ctx, bound["b"])]
    if any(isinstance(v, Combination) and v.shape for v in values):
        a, b = values
        weighted = None if a is None or b is None else times(ctx, a, b, bound["a"], bound["b"], node.span)
        return None if weighted is None else summed(ctx, weighted, node.span)
    pair = _pair(ctx, node, bound["a"], bound["b"])
    if pair is None:
        return None
    a, b = pair
    if a.type.array_shape != b.type.array_shape:
        _mismatch(ctx, node, bound["a"], a, bound["b"], b, "both have the same shape")
        return None
    sign: Sign = "nonnegative" if a == b else signs.product(a.sign, b.sign)
    return algebra.make("dot", shapes.REAL, pair, sign=sign, span=node.span)


def _quad(ctx: Context, node: tree.Call, bound: BoundArguments) -> Value | None:
    u, x = affine(ctx, node, bound["U"]), affine(ctx, node, bound["X"])
    if u is None or x is None:
        return None
    if not u.is_constant:
        ctx.error(
            "FW3003",
            f"`{ctx.text(bound['U'])}` in `quad` depends on a variable, and `quad(U, X)` is quadratic in `U`",
            bound["U"].span,
            labels=ctx.declared(bound["U"]),
            rule="`quad(U, X)` is affine in `X` for constant `U`.",
            hint="for `x' P x` in a variable `x` write `quad_form(x, P)`",
        )
        return None
    rows, square = u.type.array_shape, x.type.array_shape
    blockwise = x.op == "gather" and len(rows) == 2 and square == (rows[0], rows[1], rows[1])
    if not shapes.has_two_axes(u.type) or (square != (rows[1], rows[1]) and not blockwise):
        _mismatch(ctx, node, bound["U"], u, bound["X"], x, "`U` is a matrix[n, d] and `X` a d x d matrix")
        return None
    sign: Sign = "nonnegative" if x.type.is_psd else signs.product(signs.product(u.sign, u.sign), x.sign)
    return algebra.make("quad", shapes.of_shape(rows[:1]), (u, x), sign=sign, span=node.span)


def _combine(ctx: Context, node: tree.Call, bound: BoundArguments) -> Value | None:
    x, m = affine(ctx, node, bound["x"]), affine(ctx, node, bound["M"])
    if x is None or m is None:
        return None
    if not m.is_constant:
        ctx.error(
            "FW3003",
            f"`{ctx.text(bound['M'])}` in `combine` depends on a variable",
            bound["M"].span,
            labels=ctx.declared(bound["M"]),
            rule="`combine(x, M)` is affine in `x` for constant matrices `M`.",
            hint="where the numbers are data and the matrices variables, write the sum out: `c[0] * X + c[1] * Y`",
        )
        return None
    coefficients, matrices = x.type.array_shape, m.type.array_shape
    if x.type.is_family or m.type.is_family or len(matrices) != 3 or coefficients != matrices[:1]:
        hint = f"for a matrix write `{ctx.text(bound['M'])}.T @ {ctx.text(bound['x'])}`" if len(matrices) == 2 else ""
        _mismatch(ctx, node, bound["x"], x, bound["M"], m, "`x` is a vector[m] and `M` a tensor[m, n, d]", hint)
        return None
    sign = signs.product(x.sign, m.sign)
    return algebra.make("combine", shapes.of_shape(matrices[1:]), (x, m), sign=sign, span=node.span)


def _mismatch(
    ctx: Context, node: tree.Call, left: tree.Expr, a: Expr, right: tree.Expr, b: Expr, rule: str, hint: str = ""
) -> None:
    name = node.func.name
    ctx.error(
        "FW2035",
        f"`{ctx.text(left)}` is {shapes.describe_type(a.type)} and `{ctx.text(right)}` is {shapes.describe_type(b.type)}: "
        f"they do not fit in `{name}`",
        node.span,
        labels=ctx.declared(left, right),
        rule=f"In `{signature(name, FUNCTIONS[name].parameters)}` {rule}.",
        hint=hint,
    )


# --- constant arrays, and diagonals --------------------------------------------------------------------------------


def _filled(ctx: Context, node: tree.Call, bound: BoundArguments) -> Value | None:
    dims = [resolve_dimension(ctx, part) for part in bound.values()]
    shape = tuple(d for d in dims if d is not None)
    if len(shape) < len(dims):
        return None
    sign: Sign = "positive" if node.func.name == "ones" else "zero"
    return algebra.make(node.func.name, shapes.of_shape(shape), sign=sign, span=node.span)


def _eye(ctx: Context, node: tree.Call, bound: BoundArguments) -> Value | None:
    d = resolve_dimension(ctx, bound["d"])
    if d is None:
        return None
    return algebra.make("eye", Type("psd", (d,)), sign="nonnegative", span=node.span)


def _diag(ctx: Context, node: tree.Call, bound: BoundArguments) -> Value | None:
    value = affine(ctx, node, bound["v"])
    if value is None:
        return None
    shape = value.type.array_shape
    if shapes.has_one_axis(value.type):
        off: Sign = signs.union((value.sign, "zero"))
        kind = "psd" if signs.is_nonnegative(value.sign) and value.is_constant else "symmetric"
        return algebra.make("diag", Type(kind, shape), (value,), sign=off, span=node.span)  # type: ignore[arg-type]
    if not _is_square(ctx, node, bound["v"], value, "a vector or a square matrix"):
        return None
    return algebra.make("diag", shapes.of_shape(shape[:1]), (value,), sign=_diagonal_sign(value), span=node.span)


def _trace(ctx: Context, node: tree.Call, bound: BoundArguments) -> Value | None:
    value = affine(ctx, node, bound["X"])
    if value is None or not _is_square(ctx, node, bound["X"], value, "a square matrix"):
        return None
    return algebra.make("trace", shapes.REAL, (value,), sign=_diagonal_sign(value), span=node.span)


def _diagonal_sign(matrix: Expr) -> Sign:
    if matrix.op == "eye":
        return "positive"
    return "nonnegative" if matrix.type.is_psd else matrix.sign


def _is_square(ctx: Context, node: tree.Call, part: tree.Expr, value: Expr, takes: str) -> bool:
    shape = value.type.array_shape
    if shapes.has_two_axes(value.type) and shape[0] == shape[1]:
        return True
    wrong_kind(ctx, node, part, value.type, takes)
    return False


def _dim(ctx: Context, node: tree.Call, bound: BoundArguments) -> Value | None:
    dim = resolve_dimension(ctx, node)
    return None if dim is None else algebra.length(dim, node.span)


_RULES: dict[str, Callable[[Context, tree.Call, BoundArguments], Value | None]] = {
    "sum": _reduce,
    "mean": _reduce,
    "inner": _inner,
    "dot": _dot,
    "quad": _quad,
    "combine": _combine,
    "ones": _filled,
    "zeros": _filled,
    "eye": _eye,
    "diag": _diag,
    "trace": _trace,
    "dim": _dim,
    "hstack": arrays.hstack,
    "vstack": arrays.vstack,
    "vec": arrays.vec,
    "reshape": arrays.reshape,
    "outer": arrays.outer,
    "kron": arrays.kron,
    "diff": arrays.diff,
    "cumsum": arrays.cumsum,
    "conv": arrays.conv,
}
