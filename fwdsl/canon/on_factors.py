"""Values of affine expressions in a variable that is kept as factors and never written out."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import reduce
from typing import TYPE_CHECKING, Any

import numpy as np

from ..atoms.low_rank import LowRank
from ..model import Expr
from .affine import AffineReader, Unsupported

if TYPE_CHECKING:
    from ..atoms.base import MatrixLike


def value_on_factors(expr: Expr, reader: AffineReader, values: Mapping[str, Any]) -> Any:
    """The value of an expression: an array, or a `LowRank` for the variable itself; `Unsupported` where it would write that out."""
    if expr.is_constant:
        return reader.constant(expr)
    if expr.op == "var":
        return values[expr.name]
    if expr.op == "observe":
        inner = value_on_factors(expr.args[0], reader, values)
        entries = reader.instance.values[expr.args[1].name]
        if isinstance(inner, LowRank):
            return inner.at(entries.rows, entries.columns)
        return inner[entries.rows, entries.columns]
    operation = _OPERATIONS.get(expr.op)
    if operation is None:
        raise Unsupported(f"`{expr.op}` of a matrix kept as factors", expr)
    try:
        return operation(*(value_on_factors(a, reader, values) for a in expr.args))
    except ValueError as error:
        raise Unsupported("all entries of a matrix kept as factors", expr) from error


def _matmul(left: MatrixLike, right: MatrixLike) -> MatrixLike:
    # a sparse matrix would take the factors for an array
    if isinstance(right, LowRank) and not isinstance(left, LowRank):
        return np.asarray(left @ right.U) @ right.V.T
    return left @ right


def _scaled(X: MatrixLike, c: Any) -> MatrixLike:
    """c X by balanced factors, where X is kept as factors and c is a number."""
    if not isinstance(X, LowRank) or np.ndim(c) != 0:
        return X * c
    root = math.sqrt(abs(float(c)))
    return LowRank(math.copysign(root, float(c)) * X.U, root * X.V)


_OPERATIONS: Mapping[str, Callable[..., Any]] = {
    "add": lambda *parts: reduce(lambda a, b: a + b, parts),
    "neg": lambda a: _scaled(a, -1.0),
    "mul": lambda a, b: _scaled(b, a) if isinstance(b, LowRank) else _scaled(a, b),
    "div": lambda a, b: _scaled(a, 1.0 / b) if isinstance(a, LowRank) else a / b,
    "matmul": _matmul,
    "transpose": lambda a: a.T,
    "sum": np.sum,
    "mean": np.mean,
}
