"""Derives that an expression is symmetric: that it is its own transpose, as `A.T @ P + P @ A` and `V.T @ diag(w) @ V` are.

An expression is multiplied out to a sum of products of matrices, each times scalars. A transpose turns the order of a product round, and a factor
that is symmetric by its type is its own transpose. Where both sums have the same products the expression is symmetric, whatever the numbers.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ..model import Expr, Type
from . import algebra, shapes

MOST_PRODUCTS = 200
"""Products up to which an expression is multiplied out; one with more is symmetric by its type alone."""

ROUNDING = 1e-12
"""The share of their sizes by which sums of coefficients may differ."""

_Factor = tuple[Expr, bool]
"""A matrix, and whether it is transposed."""
_Product = tuple[tuple[Expr, ...], tuple[_Factor, ...]]
"""Scalars, in an order that is always the same, and matrices."""


_MADE = ("add", "matmul", "mul", "div", "neg", "hstack", "vstack", "outer")
"""Operations that may make a symmetric matrix of others."""


def derived(e: Expr) -> Expr:
    """The expression, with the type of a symmetric matrix where it is one."""
    shape = e.type.array_shape
    if not e.type.is_matrix or len(shape) != 2 or shape[0] != shape[1] or e.op not in _MADE:
        return e
    return replace(e, type=Type("symmetric", shape[:1])) if _is_symmetric(e) else e


def assumed(e: Expr) -> Expr:
    """The expression where a symmetric one is asked for: each `combine` in it is taken as symmetric, which is checked with the numbers."""
    if e.type.is_symmetric or not any(part.op == "combine" for part in e.walk()):
        return e
    found = _with_symmetric_parts(e)
    return found if found.type.is_symmetric else e


def _with_symmetric_parts(e: Expr) -> Expr:
    """The expression with types that follow where each square `combine` is symmetric."""
    shape = e.type.array_shape
    if e.op == "combine" and shape[0] == shape[1]:
        return replace(e, type=Type("symmetric", shape[:1]), value="symmetric")
    if e.is_constant or not shapes.has_two_axes(e.type) or e.op not in _FOLLOWING:
        return e
    args = tuple(_with_symmetric_parts(a) for a in e.args)
    type_ = e.type
    if e.op == "transpose":
        type_ = shapes.transposed(args[0].type) or type_
    elif e.op == "neg":
        type_ = shapes.plain(args[0].type)
    elif e.op in ("mul", "div"):
        type_ = shapes.multiplied(args[0].type, args[1].type) or type_
    elif e.op == "add":
        for k, a in enumerate(args):
            type_ = shapes.plain(a.type) if k == 0 else shapes.added(type_, a.type) or type_
    return derived(replace(e, args=args, type=type_))


_FOLLOWING = ("transpose", "neg", "mul", "div", "add", "matmul")
"""Operations whose type follows from those of their arguments."""


def factors_at_fault(e: Expr) -> tuple[Expr, ...]:
    """The data matrices that are a term of their own, times scalars: each has to be symmetric for the sum to be."""
    found = _multiplied_out(e)
    if found is None:
        return ()
    alone = (factors[0][0] for _, factors in found if len(factors) == 1)
    return tuple(dict.fromkeys(m for m in alone if m.op == "data" and not m.type.is_symmetric))


def _is_symmetric(e: Expr) -> bool:
    return _is_transpose(e, e)


def _is_transpose(a: Expr, b: Expr) -> bool:
    """True if a is the transpose of b by its form."""
    if a.type.array_shape != b.type.array_shape[::-1]:
        return False
    if a.op == b.op and a.op in _ALIKE:
        return True
    if a.op == b.op == "reshape" and 1 in a.type.array_shape:
        return a.args == b.args
    if a.op in _STACKS or b.op in _STACKS:
        return _are_transposed_blocks(_blocks(a), _blocks(b))
    left, right = _multiplied_out(a), _multiplied_out(b)
    if left is None or right is None or len(left) != len(right):
        return False
    for product, (coefficient, size) in left.items():
        turned = right.get(_transposed(product))
        if turned is None or abs(turned[0] - coefficient) > ROUNDING * size:
            return False
    return True


_STACKS = ("hstack", "vstack")

_ALIKE = ("zeros", "ones")
"""Matrices all of whose entries are the same number."""


def _blocks(e: Expr) -> list[list[Expr]]:
    """The rows of blocks of a matrix that is put together; one block where it is not."""
    if e.op == "vstack":
        return [row for a in e.args for row in _blocks(a)]
    if e.op == "hstack":
        parts = [_blocks(a) for a in e.args]
        if len({len(p) for p in parts}) == 1:
            return [[block for row in rows for block in row] for rows in zip(*parts, strict=True)]
    return [[e]]


def _are_transposed_blocks(a: list[list[Expr]], b: list[list[Expr]]) -> bool:
    rows, columns = len(a), len(a[0])
    if (
        rows == columns == 1
        or any(len(row) != columns for row in a)
        or any(len(row) != rows for row in b)
        or len(b) != columns
    ):
        return False
    return all(_is_transpose(a[i][j], b[j][i]) for i in range(rows) for j in range(columns))


def _multiplied_out(e: Expr) -> dict[_Product, tuple[float, float]] | None:
    """The sum of products: of each its coefficient, and the sum of the sizes that make it up; None where it has too many."""
    found: dict[_Product, tuple[float, float]] = {}
    for count, (coefficient, product) in enumerate(_products(e, False)):
        if count >= MOST_PRODUCTS:
            return None
        total, size = found.get(product, (0.0, 0.0))
        found[product] = total + coefficient, size + abs(coefficient)
    return found


def _transposed(product: _Product) -> _Product:
    scalars, factors = product
    return scalars, tuple(_turned(f) for f in reversed(factors))


def _turned(factor: _Factor) -> _Factor:
    matrix, transposed = factor
    if matrix.op == "outer":
        return _outer_turned(matrix), transposed
    if matrix.op in _ALIKE:
        return _alike_turned(matrix), transposed
    return (matrix, False) if matrix.type.is_symmetric else (matrix, not transposed)


def _outer_turned(e: Expr) -> Expr:
    """b a' of a b'."""
    return replace(e, args=e.args[::-1], type=shapes.of_shape(e.type.array_shape[::-1]))


def _alike_turned(e: Expr) -> Expr:
    """The transpose of a matrix of one number."""
    return replace(e, type=shapes.of_shape(e.type.array_shape[::-1]))


def _products(e: Expr, transposed: bool) -> Iterator[tuple[float, _Product]]:
    """The products of a sum, each with its number in front. A number that meets every entry is left out, as it is symmetric."""
    if e.type.is_symmetric or not shapes.has_two_axes(e.type):
        yield 1.0, ((), ((e, transposed and not e.type.is_symmetric),))
    elif e.op == "outer":
        yield 1.0, ((), ((_outer_turned(e) if transposed else e, False),))
    elif e.op in _ALIKE:
        yield 1.0, ((), ((_alike_turned(e) if transposed else e, False),))
    elif e.op == "transpose":
        yield from _products(e.args[0], not transposed)
    elif e.op == "add":
        for a in e.args:
            if not a.type.is_scalar:
                yield from _products(a, transposed)
    elif e.op == "matmul" and all(shapes.has_two_axes(a.type) for a in e.args):
        left, right = e.args[::-1] if transposed else e.args
        for c, (scalars, factors) in _products(left, transposed):
            for d, (others, more) in _products(right, transposed):
                yield c * d, (_ordered((*scalars, *others)), (*factors, *more))
    else:
        scale, rest = algebra.scale_of(e)
        variable = next((a for a in e.args if e.op == "mul" and a.type.is_scalar), None)
        if scale is None and variable is not None:
            scale, rest = variable, next(a for a in e.args if a is not variable)
        if scale is None:
            yield 1.0, ((), ((e, transposed),))
            return
        number = algebra.number(scale)
        for c, (scalars, factors) in _products(rest, transposed):
            yield (
                (c if number is None else c * number),
                (scalars if number is not None else _ordered((*scalars, scale)), factors),
            )


def _ordered(scalars: tuple[Expr, ...]) -> tuple[Expr, ...]:
    return tuple(sorted(scalars, key=hash))
