"""Numbers of constant expressions: data, parameters and dimensions put in, sparse data kept sparse."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..data_operator import DataOperator
from ..model import Dim, Expr, evaluate_dim
from .entries import Entries

if TYPE_CHECKING:
    from .features import Features

Value = Any
"""A float, a dense array, a `scipy.sparse.csr_array`, or what a feature map made: see `evaluate`."""

Slots = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Names:
    """What the names of an expression stand for."""

    dims: Mapping[str, int]
    values: Slots
    features: Features | None = None


def evaluate(expr: Expr, dims: Mapping[str, int], values: Slots, features: Features | None = None) -> Value:
    """The value of a constant expression: a float, a dense array or a `csr_array`.

    Data named alone come back as they are, observed entries as their values; arithmetic is in float64, float32 data
    included. Feature maps are taken from `features` where it is given, and keep the precision of their data: sparse data
    centred are a `RankOneUpdated`, an implicit map is its `GramOperator`. What would fill a sparse matrix of data with
    numbers (`X + 1`) is a `ValueError` that names it, as are a division by zero, a slice out of range, and an operation
    that has no constant value of its own. A name without a value is a `KeyError`.
    """
    with np.errstate(all="ignore"):
        return _value(expr, Names(dims, values, features))


def _value(expr: Expr, env: Names) -> Value:
    operation = _OPERATIONS.get(expr.op)
    if operation is None:
        raise ValueError(f"`{expr.op}` has no value of its own")
    return operation(expr, env)


# --- leaves --------------------------------------------------------------------------------------------------------


def _const(expr: Expr, env: Names) -> Value:
    value: Any = expr.value
    return float(value)


def _literal(expr: Expr, env: Names) -> Value:
    return np.array(expr.value, dtype=np.float64)


def _dim(expr: Expr, env: Names) -> Value:
    return float(evaluate_dim(expr.name, env.dims))


def _named(expr: Expr, env: Names) -> Value:
    value = env.values[expr.name]
    return value.values if isinstance(value, Entries) else value


def _features(expr: Expr, env: Names) -> Value:
    from .features import Features

    known = env.features if env.features is not None else Features(env.dims, env.values)
    return known.value(expr)


def _eye(expr: Expr, env: Names) -> Value:
    from scipy.sparse import csr_array, eye_array

    return csr_array(eye_array(_shape(expr, env.dims)[0], format="csr"))


def _ones(expr: Expr, env: Names) -> Value:
    return np.ones(_shape(expr, env.dims))


def _zeros(expr: Expr, env: Names) -> Value:
    return np.zeros(_shape(expr, env.dims))


# --- arithmetic ----------------------------------------------------------------------------------------------------


def _add(expr: Expr, env: Names) -> Value:
    total = _value(expr.args[0], env)
    for i, arg in enumerate(expr.args[1:], start=1):
        other = _value(arg, env)
        if is_formed(total) or is_formed(other):
            total = _plus_formed(total, other)
        elif is_sparse(total) and np.ndim(other) < 2:
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


def _plus_formed(a: Any, b: Any) -> Value:
    """A sum with a matrix that is kept as a sum already: numbers and rows that meet every entry are one more rank-one term."""
    from ..features.rank_one import RankOneUpdated

    if not is_formed(a):
        a, b = b, a
    if is_formed(b):
        return RankOneUpdated(_plus_formed(a, b.A), b.u, b.v)
    if is_sparse(b):
        inner = _plus_formed(a.A, b) if is_formed(a.A) else _plus(a.A, b)
        return RankOneUpdated(inner, a.u, a.v)
    if np.ndim(b) == 2:
        return a.toarray() + b
    row = np.broadcast_to(np.asarray(b, dtype=np.float64), a.shape[1:])
    return RankOneUpdated(a, np.full(a.shape[0], -1.0), row) if np.any(row) else a


def _neg(expr: Expr, env: Names) -> Value:
    value = _value(expr.args[0], env)
    return -value


def _mul(expr: Expr, env: Names) -> Value:
    a, b = (_value(arg, env) for arg in expr.args)
    return _times(a, b)


def _times(a: Any, b: Any) -> Value:
    if not np.ndim(a) and not np.ndim(b):
        return float(a) * float(b)
    if isinstance(a, DataOperator) or isinstance(b, DataOperator):
        return a * b if not np.ndim(a) or not np.ndim(b) else np.multiply(np.asarray(a), np.asarray(b))
    if is_sparse(b) and not is_sparse(a):
        a, b = b, a
    if is_formed(a) or is_formed(b):
        return _times_formed(a, b)
    if is_sparse(a):
        return _csr(_double(a) * float(b)) if not np.ndim(b) else _csr(_double(a).multiply(_double(b)))
    return np.multiply(a, b, dtype=np.float64)


def _times_formed(a: Any, b: Any) -> Value:
    if not is_formed(a):
        a, b = b, a
    if not np.ndim(b):
        return a.astype(np.float64, copy=False) * float(b)
    if is_formed(b):
        raise ValueError("two sparse matrices that are centred have no entrywise product that is sparse")
    if not is_sparse(b):
        return np.multiply(a.toarray(), b, dtype=np.float64)
    own = _times(a.A, b)
    from scipy.sparse import diags_array

    return _csr(own - diags_array(a.u) @ _double(b) @ diags_array(a.v))


def _div(expr: Expr, env: Names) -> Value:
    a, b = (_value(arg, env) for arg in expr.args)
    if is_sparse(b) or (not is_formed(b) and not np.all(b)):
        raise ValueError("division by zero")
    if is_formed(b):
        b = b.toarray()
        if not np.all(b):
            raise ValueError("division by zero")
    if not np.ndim(a) and not np.ndim(b):
        return float(a) / float(b)
    if is_formed(a):
        return a.astype(np.float64, copy=False) / float(b) if not np.ndim(b) else a.toarray() / b
    if is_sparse(a):
        return _csr(_double(a) * (1.0 / float(b)) if not np.ndim(b) else _double(a).multiply(1.0 / _double(b)))
    return np.divide(a, b, dtype=np.float64)


def _matmul(expr: Expr, env: Names) -> Value:
    return _product(*(_double(_value(arg, env)) for arg in expr.args))


def _product(a: Any, b: Any) -> Value:
    if is_formed(b) and np.ndim(a) == 2 and not is_formed(a):
        product = b.T @ a.T
        return product.T.tocsr_rows() if is_formed(product) else product.T
    if is_formed(a) or is_formed(b):
        return a @ b
    if is_sparse(a) and is_sparse(b):
        return _csr(a @ b)
    result = b.T @ a if is_sparse(b) and np.ndim(a) == 1 else a @ b
    return float(result) if not np.ndim(result) else np.asarray(result)


def _sqrt(expr: Expr, env: Names) -> Value:
    value = float(_value(expr.args[0], env))
    if value < 0.0:
        raise ValueError("the root of a negative number")
    return math.sqrt(value)


def _dot(expr: Expr, env: Names) -> Value:
    a, b = (_double(_value(arg, env)) for arg in expr.args)
    if np.ndim(a) == 1 and np.ndim(b) == 1:
        return float(a @ b)
    return float(np.sum(_times(a, b)))


def _inner(expr: Expr, env: Names) -> Value:
    """All axes of D but the first against X; a family's block of each sample against that sample's row."""
    a, b = (_double(_value(arg, env)) for arg in expr.args)
    if is_formed(a) or is_sparse(a):
        return np.asarray(_product(a, b) if np.ndim(b) == 1 else _times(a, b).sum(axis=1)).reshape(-1)
    if np.ndim(a) == np.ndim(b):
        return (
            np.asarray(_times(b, a).sum(axis=1)).reshape(-1)
            if is_sparse(b)
            else (a * b).reshape(len(a), -1).sum(axis=1)
        )
    flat = b.toarray() if is_sparse(b) or is_formed(b) else b
    return np.asarray(a.reshape(len(a), -1) @ np.reshape(flat, -1))


def _quad(expr: Expr, env: Names) -> Value:
    """u_i' X u_i for each row, with the row's own X where there is one for each."""
    U, X = (_double(_value(arg, env)) for arg in expr.args)
    if np.ndim(X) == 3:
        rows = U.toarray() if is_sparse(U) or is_formed(U) else U
        return np.asarray(np.einsum("ij,ijk,ik->i", rows, X, rows))
    if is_formed(U):
        U = U.toarray()
    product = _product(U, X)
    if is_sparse(U):
        return np.asarray(U.multiply(product).sum(axis=1)).reshape(-1)
    return np.asarray(np.einsum("ij,ij->i", U, product.toarray() if is_sparse(product) else product))


# --- structure -----------------------------------------------------------------------------------------------------


def _transpose(expr: Expr, env: Names) -> Value:
    value = _value(expr.args[0], env)
    if isinstance(value, DataOperator):
        return value.T
    if is_formed(value):
        return value.T.tocsr_rows()
    return _csr(value.T) if is_sparse(value) else np.asarray(value).T


def _slice(expr: Expr, env: Names) -> Value:
    value = _value(expr.args[0], env)
    items: Any = expr.value
    for axis, item in enumerate(items):
        _check_range(item, value.shape[axis], env.dims)
    if not is_sparse(value) and not is_formed(value):
        index = tuple(slice(*(_end(e, env.dims) for e in i)) if isinstance(i, tuple) else i for i in items)
        result = value[index]
        return float(result) if not np.ndim(result) else result
    # Two axes are kept while slicing: SciPy's releases differ on what one row of a sparse array is.
    kept = tuple(_ends(i, value.shape[axis], env.dims) for axis, i in enumerate(items))
    part = value[kept if len(kept) > 1 else (*kept, slice(None))]
    single = [isinstance(i, int) for i in items] + [False] * (2 - len(items))
    if not any(single):
        return part if is_formed(part) else _csr(part)
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


def _diag(expr: Expr, env: Names) -> Value:
    value = _value(expr.args[0], env)
    if np.ndim(value) == 2:
        return np.asarray(value.diagonal())
    from scipy.sparse import csr_array, diags_array

    return csr_array(diags_array(_double(value), format="csr"))


def _trace(expr: Expr, env: Names) -> Value:
    value = _value(expr.args[0], env)
    return float(np.sum(value.diagonal(), dtype=np.float64))


def _sum(expr: Expr, env: Names) -> Value:
    return _total(_value(expr.args[0], env))


def _mean(expr: Expr, env: Names) -> Value:
    value = _value(expr.args[0], env)
    return _total(value) / math.prod(np.shape(value))


def _total(value: Any) -> float:
    if is_formed(value):
        return float(value.sum())
    return float(np.sum(value.data if is_sparse(value) else value, dtype=np.float64))


def _gather(expr: Expr, env: Names) -> Value:
    family = _value(expr.args[0], env)
    return family[_value(expr.args[1], env) if len(expr.args) > 1 else expr.value]


def _observe(expr: Expr, env: Names) -> Value:
    matrix = _value(expr.args[0], env)
    at: Entries = env.values[expr.args[1].name]
    if is_formed(matrix):
        return _observed_sparse(matrix.A, at) - matrix.u[at.rows] * matrix.v[at.columns]
    return _observed_sparse(matrix, at) if is_sparse(matrix) else matrix[at.rows, at.columns]


def _observed_sparse(matrix: Any, at: Entries) -> Value:
    if is_formed(matrix):
        return _observed_sparse(matrix.A, at) - matrix.u[at.rows] * matrix.v[at.columns]
    return np.asarray(matrix[at.rows, at.columns]).reshape(-1)


# --- helpers -------------------------------------------------------------------------------------------------------


def is_sparse(value: object) -> bool:
    """Whether it is a SciPy sparse matrix or array, told without importing SciPy."""
    return hasattr(value, "tocsr") and hasattr(value, "nnz")


def is_formed(value: object) -> bool:
    """Whether it is a matrix that is kept as a formula: `RankOneUpdated`, or the Gram matrix of an implicit feature map."""
    return hasattr(value, "matvec") and hasattr(value, "toarray")


def _double(value: Any) -> Any:
    if is_formed(value) or isinstance(value, DataOperator):
        return value
    return value.astype(np.float64, copy=False) if is_sparse(value) else np.asarray(value, dtype=np.float64)


def _csr(value: Any) -> Value:
    from scipy.sparse import csr_array

    return csr_array(value)


def _shape(expr: Expr, dims: Mapping[str, int]) -> tuple[int, ...]:
    return tuple(evaluate_dim(d, dims) for d in expr.type.array_shape)


_OPERATIONS: Mapping[str, Callable[[Expr, Names], Value]] = {
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
    "inner": _inner,
    "quad": _quad,
    "sqrt": _sqrt,
    "features": _features,
    "gather": _gather,
    "observe": _observe,
}
