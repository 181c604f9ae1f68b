"""Builds typed expressions from typed expressions. The callers have checked the shapes. Constants are folded."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import inf, sqrt

from ..grammar.source import Span
from ..grammar.tree import NOWHERE
from ..model import Dim, Expr, SetRef, Sign, Type, add_dims, multiply_dims, shift_dim
from . import ranges, shapes, signs
from .shapes import REAL


def const(value: float, span: Span = NOWHERE) -> Expr:
    """A number."""
    return Expr("const", REAL, value=float(value), sign=signs.sign_of_value(value), span=span)


ONE = const(1.0)


def number(expr: Expr) -> float | None:
    """The value of a literal number, or None for any other expression."""
    return expr.value if expr.op == "const" and isinstance(expr.value, float) else None


def bounds(ref: SetRef) -> tuple[Expr, Expr] | None:
    """The least and the largest value of the entries of a set that says no more; None for any other set."""
    return ref.word.bounds_of(dict(ref.args), const, negate) if ref.word.bounds else None


def numeric_bounds(ref: SetRef) -> tuple[float | None, float | None]:
    """These bounds as far as they are literal numbers."""
    found = bounds(ref)
    return (None, None) if found is None else (number(found[0]), number(found[1]))


def is_sign(ref: SetRef | None) -> bool:
    """True if a set says that every entry is at least 0, and no more."""
    return ref is not None and numeric_bounds(ref) == (0.0, inf)


def make(
    op: str,
    type_: Type,
    args: Sequence[Expr] = (),
    *,
    name: str = "",
    value: object = None,
    options: tuple[tuple[str, Expr], ...] = (),
    sign: Sign = "unknown",
    span: Span = NOWHERE,
) -> Expr:
    """An operation on arguments. It depends on the variables of its arguments."""
    variables = _variables(args)
    return Expr(op, type_, tuple(args), name, value, options, sign, variables, span)  # type: ignore[arg-type]


def _variables(args: Iterable[Expr]) -> frozenset[str]:
    used = {a.variables for a in args if a.variables}
    return frozenset().union(*used) if len(used) != 1 else used.pop()


def negate(a: Expr, span: Span | None = None) -> Expr:
    """-a."""
    value = number(a)
    if value is not None:
        return const(-value, span or a.span)
    if a.op == "neg":
        return a.args[0]
    return make("neg", shapes.plain(a.type), (a,), sign=signs.negated(a.sign), span=span or a.span)


def add(terms: Sequence[Expr], type_: Type, span: Span = NOWHERE) -> Expr:
    """The sum of terms."""
    values = [number(t) for t in terms]
    folded = [v for v in values if v is not None]
    if len(folded) == len(terms):
        return const(sum(folded), span)
    sign = signs.total(t.sign for t in terms)
    if sign == "unknown" and all(t.is_constant for t in terms):
        sign = ranges.sign_of_sum(tuple(terms))
    return make("add", type_, terms, sign=sign, span=span)


def multiply(a: Expr, b: Expr, type_: Type, span: Span = NOWHERE) -> Expr:
    """a * b, entrywise or by a scalar."""
    x, y = number(a), number(b)
    if x is not None and y is not None:
        return const(x * y, span)
    sign: Sign = "nonnegative" if a == b else signs.product(a.sign, b.sign)
    return make("mul", _kept_psd(a, b, type_), (a, b), sign=sign, span=span)


def _kept_psd(a: Expr, b: Expr, type_: Type) -> Type:
    """A nonnegative multiple of a positive semidefinite matrix is one."""
    for scalar, other in ((a, b), (b, a)):
        if scalar.type.is_scalar and other.type.is_psd and signs.is_nonnegative(scalar.sign):
            return other.type
    return type_


def divide(a: Expr, b: Expr, type_: Type, span: Span = NOWHERE) -> Expr:
    """a / b for a constant b."""
    x, y = number(a), number(b)
    if x is not None and y:
        return const(x / y, span)
    kept = a.type if a.type.is_psd and b.type.is_scalar and signs.is_nonnegative(b.sign) else type_
    return make("div", kept, (a, b), sign=signs.quotient(a.sign, b.sign), span=span)


def matmul(a: Expr, b: Expr, type_: Type, span: Span = NOWHERE) -> Expr:
    """a @ b. Scalar factors and signs move to the front, so that no data are copied to be scaled."""
    for scale, rest, other, left in ((*scale_of(a), b, True), (*scale_of(b), a, False)):
        if scale is not None:
            inner = matmul(rest, other, type_, span) if left else matmul(other, rest, type_, span)
            value = number(scale)
            return negate(inner, span) if value == -1.0 else multiply(scale, inner, type_, span)
    return make("matmul", type_, (a, b), sign=signs.product(a.sign, b.sign), span=span)


def scale_of(e: Expr) -> tuple[Expr | None, Expr]:
    """A constant scalar factor of a non-scalar expression, and the rest; (None, e) where there is no such factor."""
    if e.type.is_scalar:
        return None, e
    if e.op == "neg":
        return const(-1.0, e.span), e.args[0]
    if e.op == "mul":
        for scalar, rest in (e.args, e.args[::-1]):
            if scalar.type.is_scalar and scalar.is_constant:
                return scalar, rest
    if e.op == "div" and e.args[1].type.is_scalar and not e.args[0].type.is_scalar:
        return ratio(ONE, e.args[1]), e.args[0]
    return None, e


def ones(shape: tuple[Dim, ...], span: Span = NOWHERE) -> Expr:
    """An array of ones."""
    return make("ones", shapes.of_shape(shape), sign="positive", span=span)


def stacked(parts: Sequence[Expr], below: bool = False, span: Span = NOWHERE) -> Expr:
    """Numbers and vectors one after the other, or vectors of one size as rows `below` each other."""
    sizes = [p.type.array_shape[0] if p.type.array_shape else 1 for p in parts]
    shape = (len(parts), sizes[0]) if below else (add_dims(*sizes),)
    sign = signs.union(p.sign for p in parts)
    return make("vstack" if below else "hstack", shapes.of_shape(shape), parts, sign=sign, span=span)


def weighted_rows(weights: Expr, x: Expr) -> Expr:
    """diag(weights) @ x: each row of a matrix times its weight."""
    n = weights.type.array_shape[0]
    rows = make("diag", Type("symmetric", (n, n)), (weights,), span=weights.span)
    return matmul(rows, x, shapes.plain(x.type), x.span)


def stack(parts: Sequence[Expr], span: Span = NOWHERE) -> Expr:
    """The numbers of all parts, one after the other; the parts keep their shapes, unlike those of `stacked`."""
    longest = max((p.type.array_shape for p in parts), key=len)
    size: Dim = "+".join("*".join(map(str, p.type.array_shape)) or "1" for p in parts)
    if len(parts) == 2 and len(longest) == 1 and any(p.type.is_scalar for p in parts):
        size = shift_dim(longest[0], 1)
    return make("hstack", Type("vector", (size,)), parts, span=span)


def differences(x: Expr, axis: int) -> Expr:
    """The differences of neighbours along an axis."""
    return make("diff", _shorter(x, axis), (x,), value=(1, axis), span=x.span)


def without_last(x: Expr, axis: int) -> Expr:
    """x without what stands last along an axis."""
    ends = tuple((None, -1 if a == axis else None) for a in range(axis + 1))
    return make("slice", _shorter(x, axis), (x,), value=ends, sign=x.sign, span=x.span)


def _shorter(x: Expr, axis: int) -> Type:
    shape = x.type.array_shape
    return shapes.of_shape((*shape[:axis], shift_dim(shape[axis], -1), *shape[axis + 1 :]))


def flat(x: Expr) -> Expr:
    """The entries of a matrix as a vector, row after row."""
    size = multiply_dims(*x.type.array_shape)
    return make("reshape", shapes.of_shape((size,)), (x,), name="vec", sign=x.sign, span=x.span)


def transposed(x: Expr) -> Expr:
    """The transpose of a matrix."""
    return make("transpose", shapes.of_shape(x.type.array_shape[::-1]), (x,), sign=x.sign, span=x.span)


def length(dim: Dim, span: Span = NOWHERE) -> Expr:
    """A dimension as a number."""
    return const(dim, span) if isinstance(dim, int) else Expr("dim", REAL, name=dim, sign="positive", span=span)


def spread(scalar: Expr, samples: Dim) -> Expr:
    """A scalar repeated to a vector with an entry for each sample."""
    vector = ones((samples,), scalar.span)
    return multiply(scalar, vector, vector.type, scalar.span)


def root(a: Expr) -> Expr:
    """The square root of a positive scalar."""
    value = number(a)
    return const(sqrt(value), a.span) if value is not None else make("sqrt", REAL, (a,), sign="positive", span=a.span)


def roots(a: Expr) -> Expr:
    """The square roots of a vector of nonnegative numbers."""
    return make("function", shapes.plain(a.type), (a,), name="sqrt", sign="nonnegative", span=a.span)


# --- scalars: coefficients and radii, with the number in front ------------------------------------------------------


def _split_number(e: Expr) -> tuple[float, Expr]:
    """A numeric factor in front and the rest."""
    value = number(e)
    if value is not None:
        return value, ONE
    if e.op == "neg":
        c, rest = _split_number(e.args[0])
        return -c, rest
    if e.op == "mul":
        value = number(e.args[0])
        if value is not None:
            return value, e.args[1]
    return 1.0, e


def _joined(c: float, rest: Expr) -> Expr:
    if rest == ONE:
        return const(c, rest.span)
    if c == 1.0:
        return rest
    return negate(rest) if c == -1.0 else multiply(const(c), rest, REAL, rest.span)


def times(a: Expr, b: Expr) -> Expr:
    """a * b for scalars. Numbers are folded into one in front."""
    c, left = _split_number(a)
    d, right = _split_number(b)
    if left == ONE or right == ONE:
        return _joined(c * d, right if left == ONE else left)
    return _joined(c * d, multiply(left, right, REAL, a.span))


def ratio(a: Expr, b: Expr) -> Expr:
    """a / b for scalars. Numbers are folded into one in front."""
    c, left = _split_number(a)
    d, right = _split_number(b)
    if not d:
        return make("div", REAL, (a, b), span=a.span)
    if right == ONE:
        return _joined(c / d, left)
    return _joined(c / d, divide(left, right, REAL, a.span)) if left != right else const(c / d, a.span)


def plus(a: Expr, b: Expr) -> Expr:
    """a + b for scalars. Multiples of the same expression are added up."""
    c, left = _split_number(a)
    d, right = _split_number(b)
    if left == right:
        return _joined(c + d, left)
    if c == 0.0 or d == 0.0:
        return b if c == 0.0 else a
    return add((a, b), REAL, a.span)
