"""Numbers of constant expressions: data, parameters and dimensions put in, sparse data kept sparse."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ..model import Dim, Expr, evaluate_dim

Value = Any
"""A float, a dense array or a `scipy.sparse.csr_array`."""

Slots = Mapping[str, Any]


def evaluate(expr: Expr, dims: Mapping[str, int], values: Slots) -> Value:
    """The value of a constant expression: a float, a dense array or a `csr_array`.

    Data named alone come back as they are; arithmetic is in float64, float32 data included. What would fill a sparse
    matrix of data with numbers (`X + 1`) is a `ValueError` that names it, as are a division by zero, a slice out of
    range, and an operation that has no constant value of its own. A name without a value is a `KeyError`.
    """
    operation = _OPERATIONS.get(expr.op)
    if operation is None:
        raise ValueError(f"`{expr.op}` has no value of its own")
    with np.errstate(all="ignore"):
        return operation(expr, dims, values)


# --- leaves --------------------------------------------------------------------------------------------------------


def _const(expr: Expr, dims: Mapping[str, int], values: Slots) -> Value:
    value: Any = expr.value
    return float(value)


def _literal(expr: Expr, dims: Mapping[str, int], values: Slots) -> Value:
    return np.array(expr.value, dtype=np.float64)


def _dim(expr: Expr, dims: Mapping[str, int], values: Slots) -> Value:
    return float(evaluate_dim(expr.name, dims))


def _named(expr: Expr, dims: Mapping[str, int], values: Slots) -> Value:
    return values[expr.name]


def _eye(expr: Expr, dims: Mapping[str, int], values: Slots) -> Value:
    from scipy.sparse import csr_array, eye_array

    return csr_array(eye_array(_shape(expr, dims)[0], format="csr"))


def _ones(expr: Expr, dims: Mapping[str, int], values: Slots) -> Value:
    return np.ones(_shape(expr, dims))


def _zeros(expr: Expr, dims: Mapping[str, int], values: Slots) -> Value:
    return np.zeros(_shape(expr, dims))


# --- arithmetic ----------------------------------------------------------------------------------------------------


def _add(expr: Expr, dims: Mapping[str, int], values: Slots) -> Value:
    total = evaluate(expr.args[0], dims, values)
    for i, arg in enumerate(expr.args[1:], start=1):
        other = evaluate(arg, dims, values)
        if is_sparse(total) and np.ndim(other) < 2:
            total = _spread(total, other, expr.args[:i])
        elif is_sparse(other) and np.ndim(total) < 2:
            total = _spread(other, total, (arg,))
        else:
            total = _plus(total, other)
    return total


def _spread(matrix: Any, other: Any, sources: Sequence[Expr]) -> Value:
    """A sparse matrix plus a scalar or a row, which meets every entry of it; refused for the user's data."""
    if not np.any(other):
        return _double(matrix)
    name = next((e.name for s in sources for e in s.walk() if e.op == "data" and len(e.type.array_shape) == 2), "")
    if name:
        raise ValueError(f"`{name}` is sparse, and adding a number to every entry would make it dense")
    return np.add(matrix.toarray(), other, dtype=np.float64)


def _plus(a: Any, b: Any) -> Value:
    if is_sparse(a) or is_sparse(b):
        total = _double(a) + _double(b)
        return _csr(total) if is_sparse(total) else np.asarray(total)
    return float(a) + float(b) if not np.ndim(a) and not np.ndim(b) else np.add(a, b, dtype=np.float64)


def _neg(expr: Expr, dims: Mapping[str, int], values: Slots) -> Value:
    value = evaluate(expr.args[0], dims, values)
    return -value


def _mul(expr: Expr, dims: Mapping[str, int], values: Slots) -> Value:
    a, b = (evaluate(arg, dims, values) for arg in expr.args)
    return _times(a, b)


def _times(a: Any, b: Any) -> Value:
    if not np.ndim(a) and not np.ndim(b):
        return float(a) * float(b)
    if is_sparse(b) and not is_sparse(a):
        a, b = b, a
    if is_sparse(a):
        return _csr(_double(a) * float(b)) if not np.ndim(b) else _csr(_double(a).multiply(_double(b)))
    return np.multiply(a, b, dtype=np.float64)


def _div(expr: Expr, dims: Mapping[str, int], values: Slots) -> Value:
    a, b = (evaluate(arg, dims, values) for arg in expr.args)
    if is_sparse(b) or not np.all(b):
        raise ValueError("division by zero")
    if not np.ndim(a) and not np.ndim(b):
        return float(a) / float(b)
    if is_sparse(a):
        return _csr(_double(a) * (1.0 / float(b)) if not np.ndim(b) else _double(a).multiply(1.0 / _double(b)))
    return np.divide(a, b, dtype=np.float64)


def _matmul(expr: Expr, dims: Mapping[str, int], values: Slots) -> Value:
    return _product(*(_double(evaluate(arg, dims, values)) for arg in expr.args))


def _product(a: Any, b: Any) -> Value:
    if is_sparse(a) and is_sparse(b):
        return _csr(a @ b)
    result = b.T @ a if is_sparse(b) and np.ndim(a) == 1 else a @ b
    return float(result) if not np.ndim(result) else np.asarray(result)


def _sqrt(expr: Expr, dims: Mapping[str, int], values: Slots) -> Value:
    value = float(evaluate(expr.args[0], dims, values))
    if value < 0.0:
        raise ValueError("the root of a negative number")
    return math.sqrt(value)


def _dot(expr: Expr, dims: Mapping[str, int], values: Slots) -> Value:
    a, b = (_double(evaluate(arg, dims, values)) for arg in expr.args)
    if np.ndim(a) == 1 and np.ndim(b) == 1:
        return float(a @ b)
    return float(np.sum(_times(a, b)))


# --- structure -----------------------------------------------------------------------------------------------------


def _transpose(expr: Expr, dims: Mapping[str, int], values: Slots) -> Value:
    value = evaluate(expr.args[0], dims, values)
    return _csr(value.T) if is_sparse(value) else np.asarray(value).T


def _slice(expr: Expr, dims: Mapping[str, int], values: Slots) -> Value:
    value = evaluate(expr.args[0], dims, values)
    items: Any = expr.value
    for axis, item in enumerate(items):
        _check_range(item, value.shape[axis], dims)
    if not is_sparse(value):
        index = tuple(slice(*(_end(e, dims) for e in i)) if isinstance(i, tuple) else i for i in items)
        result = value[index]
        return float(result) if not np.ndim(result) else result
    # Two axes are kept while slicing: SciPy's releases differ on what one row of a sparse array is.
    kept = tuple(_ends(i, value.shape[axis], dims) for axis, i in enumerate(items))
    part = value[kept]
    single = [isinstance(i, int) for i in items] + [False] * (2 - len(items))
    if not any(single):
        return _csr(part)
    line = part.toarray().reshape(-1)
    return float(line[0]) if all(single) else line


def _ends(item: Any, size: int, dims: Mapping[str, int]) -> slice:
    if isinstance(item, tuple):
        return slice(*(_end(e, dims) for e in item))
    at = item % size
    return slice(at, at + 1)


def _check_range(item: Any, size: int, dims: Mapping[str, int]) -> None:
    if isinstance(item, tuple):
        start, stop = (_end(e, dims) for e in item)
        low = 0 if start is None else start + size * (start < 0)
        high = size if stop is None else stop + size * (stop < 0)
        if 0 <= low < high <= size:
            return
        raise ValueError(f"a slice `{'' if start is None else start}:{'' if stop is None else stop}` of {size} entries")
    if not -size <= item < size:
        raise ValueError(f"position {item} of {size} entries")


def _end(end: Dim | None, dims: Mapping[str, int]) -> int | None:
    return None if end is None else evaluate_dim(end, dims)


def _diag(expr: Expr, dims: Mapping[str, int], values: Slots) -> Value:
    value = evaluate(expr.args[0], dims, values)
    if np.ndim(value) == 2:
        return np.asarray(value.diagonal())
    from scipy.sparse import csr_array, diags_array

    return csr_array(diags_array(_double(value), format="csr"))


def _trace(expr: Expr, dims: Mapping[str, int], values: Slots) -> Value:
    value = evaluate(expr.args[0], dims, values)
    return float(np.sum(value.diagonal(), dtype=np.float64))


def _sum(expr: Expr, dims: Mapping[str, int], values: Slots) -> Value:
    value = evaluate(expr.args[0], dims, values)
    return float(np.sum(value.data if is_sparse(value) else value, dtype=np.float64))


def _mean(expr: Expr, dims: Mapping[str, int], values: Slots) -> Value:
    value = evaluate(expr.args[0], dims, values)
    count = value.shape[0] * value.shape[1] if is_sparse(value) else np.size(value)
    return float(np.sum(value.data if is_sparse(value) else value, dtype=np.float64)) / count


# --- helpers -------------------------------------------------------------------------------------------------------


def is_sparse(value: object) -> bool:
    """Whether it is a SciPy sparse matrix or array, told without importing SciPy."""
    return hasattr(value, "tocsr") and hasattr(value, "nnz")


def _double(value: Any) -> Any:
    return value.astype(np.float64, copy=False) if is_sparse(value) else np.asarray(value, dtype=np.float64)


def _csr(value: Any) -> Value:
    from scipy.sparse import csr_array

    return csr_array(value)


def _shape(expr: Expr, dims: Mapping[str, int]) -> tuple[int, ...]:
    return tuple(evaluate_dim(d, dims) for d in expr.type.array_shape)


_OPERATIONS: Mapping[str, Callable[[Expr, Mapping[str, int], Slots], Value]] = {
    "const": _const,
    "literal": _literal,
    "dim": _dim,
    "data": _named,
    "param": _named,
    "add": _add,
    "neg": _neg,
    "mul": _mul,
    "div": _div,
    "matmul": _matmul,
    "transpose": _transpose,
    "slice": _slice,
    "eye": _eye,
    "ones": _ones,
    "zeros": _zeros,
    "diag": _diag,
    "trace": _trace,
    "sum": _sum,
    "mean": _mean,
    "dot": _dot,
    "sqrt": _sqrt,
}
