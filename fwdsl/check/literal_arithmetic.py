"""The numbers of a constant expression that the program itself gives: literals, and what is made of them by sums, multiples and transposes.

NumPy is not loaded for it: checking is quick, and literals are small.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import add, mul, truediv

from ..model import Dim, Expr
from . import shapes
from .context import Context
from .values import Nested

LARGEST = 200
"""The most entries of an axis of `eye`, `ones`, `zeros` and `diag` that are written out."""


def values_of(ctx: Context, e: Expr) -> Nested | None:
    """The numbers of an expression as nested tuples, data with a literal having those of the literal; None where they are not known."""
    if e.op in ("const", "literal"):
        return e.value  # type: ignore[return-value]
    if e.op == "data":
        entry = ctx.entries.get(e.name)
        return entry.literal if entry is not None and shapes.is_numeric(e.type) else None
    if e.op in ("eye", "ones", "zeros"):
        return _written(ctx, e)
    if e.op not in _OPERATIONS:
        return None
    args = [values_of(ctx, a) for a in e.args]
    known = [a for a in args if a is not None]
    return _OPERATIONS[e.op](*known) if len(known) == len(args) else None


def _written(ctx: Context, e: Expr) -> Nested | None:
    sizes = [_size(ctx, d) for d in e.type.array_shape]
    known = [s for s in sizes if s is not None and s <= LARGEST]
    if len(known) < len(sizes):
        return None
    if e.op == "eye":
        return _diagonal((1.0,) * known[0])
    found: Nested = 1.0 if e.op == "ones" else 0.0
    for size in reversed(known):
        found = (found,) * size
    return found


def _size(ctx: Context, dim: Dim) -> int | None:
    """The size of a dimension, where a literal gives it."""
    if isinstance(dim, int):
        return dim
    return ctx.sizes[dim][0] if dim in ctx.sizes else None


def _diagonal(v: Nested) -> Nested | None:
    """The matrix of a vector, the diagonal of a matrix."""
    if not isinstance(v, tuple) or len(v) > LARGEST:
        return None
    if isinstance(v[0], tuple):
        return tuple(row[i] for i, row in enumerate(v) if isinstance(row, tuple))
    return tuple(tuple(x if i == j else 0.0 for j in range(len(v))) for i, x in enumerate(v))


def _transpose(a: Nested) -> Nested:
    rows = [row for row in a if isinstance(row, tuple)] if isinstance(a, tuple) else []
    return tuple(zip(*rows, strict=True)) if rows else a


def _negative(a: Nested) -> Nested | None:
    return _entrywise(mul, -1.0, a)


def _sum(*terms: Nested) -> Nested | None:
    found: Nested | None = terms[0]
    for term in terms[1:]:
        found = _entrywise(add, found, term) if found is not None else None
    return found


def _entrywise(operation: Callable[[float, float], float], a: Nested, b: Nested) -> Nested | None:
    """An operation on numbers, on arrays of one shape, or on a number and an array; None for rows that a vector is added to, and for 1/0."""
    if isinstance(a, float) and isinstance(b, float):
        return None if operation is truediv and b == 0.0 else operation(a, b)
    left = a if isinstance(a, tuple) else (a,) * len(b) if isinstance(b, tuple) else ()
    right = b if isinstance(b, tuple) else (b,) * len(left)
    if len(left) != len(right) or _depth(a) * _depth(b) not in (0, max(_depth(a), _depth(b)) ** 2):
        return None
    found = [_entrywise(operation, x, y) for x, y in zip(left, right, strict=True)]
    known = tuple(v for v in found if v is not None)
    return known if len(known) == len(found) else None


def _depth(a: Nested) -> int:
    return 1 + _depth(a[0]) if isinstance(a, tuple) else 0


_OPERATIONS: dict[str, Callable[..., Nested | None]] = {
    "add": _sum,
    "neg": _negative,
    "mul": lambda a, b: _entrywise(mul, a, b),
    "div": lambda a, b: _entrywise(truediv, a, b),
    "transpose": _transpose,
    "diag": _diagonal,
}
