"""Evaluates constant expressions of data, parameters and dimensions. Sparse data stay sparse."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from ..light_dataclass import value_dataclass
from ..model import Expr, evaluate_dim, sizes_of
from ..readers.row_blocks import is_on_disk
from ..words import CONSTANTS
from .data_operator import DataOperator
from .values import (
    Entries,
    Value,
    as_csr,
    as_float64,
    combine,
    divide,
    dot,
    inner,
    is_formula,
    is_sparse,
    matmul,
    plus,
    quad,
    take,
    times,
    total,
)

if TYPE_CHECKING:
    from ..atoms.base import MatrixLike

Slots = Mapping[str, Any]


class FeatureValues(Protocol):
    """The feature maps of a program, each fitted and computed once (`fwdsl.bind.features.Features`)."""

    def value(self, expr: Expr) -> Any:
        """The features that a map makes of its data."""


@value_dataclass
class Environment:
    """The values of the names in an expression."""

    dims: Mapping[str, int]
    values: Slots
    features: FeatureValues | None = None


def evaluate(expr: Expr, dims: Mapping[str, int], values: Slots, features: FeatureValues | None = None) -> Value:
    """The value of a constant expression: a float, a dense array or a `csr_array`.

    Data named alone come back as they are, observed entries as their values; arithmetic is in float64, float32 data
    included. Feature maps are taken from `features`, and keep the precision of their data: sparse data
    centred are a `RankOneUpdated`, an implicit map is its `GramOperator`. What would fill a sparse matrix of data with
    numbers (`X + 1`) is a `ValueError` that names it, as are a division by zero, a slice out of range, and an operation
    that has no constant value of its own. A name without a value is a `KeyError`.
    """
    environment = Environment(dims, values, features)
    if expr.op in _LEAVES:
        return _LEAVES[expr.op](expr, environment)
    with np.errstate(all="ignore"):
        return _value(expr, environment)


def _value(expr: Expr, env: Environment) -> Value:
    if expr.op in _OF_VALUES:
        return _OF_VALUES[expr.op](*(_value(arg, env) for arg in expr.args))
    if expr.op not in _OPERATIONS:
        raise ValueError(f"`{expr.op}` has no value of its own")
    return _OPERATIONS[expr.op](expr, env)


# --- leaves --------------------------------------------------------------------------------------------------------


def _const(expr: Expr, env: Environment) -> Value:
    value: MatrixLike = expr.value
    return float(value)


def _literal(expr: Expr, env: Environment) -> Value:
    return np.array(expr.value, dtype=np.float64)


def _dim(expr: Expr, env: Environment) -> Value:
    return float(evaluate_dim(expr.name, env.dims))


def _named(expr: Expr, env: Environment) -> Value:
    value = env.values[expr.name]
    return value.values if isinstance(value, Entries) else value


def _features(expr: Expr, env: Environment) -> Value:
    if env.features is None:
        raise ValueError(f"the feature map `{expr.name}` has no value where none are at hand")
    return env.features.value(expr)


def _eye(expr: Expr, env: Environment) -> Value:
    from scipy.sparse import csr_array, eye_array

    return csr_array(eye_array(sizes_of(expr.type, env.dims)[0], format="csr"))


# --- arithmetic ----------------------------------------------------------------------------------------------------


def _add(expr: Expr, env: Environment) -> Value:
    value = _value(expr.args[0], env)
    for i, arg in enumerate(expr.args[1:], start=1):
        other = _value(arg, env)
        if np.ndim(value) == np.ndim(other) == 2 and np.shape(value) != np.shape(other):
            value, other = (_dense(v) if 1 in np.shape(v) else v for v in (value, other))
        if is_sparse(value) and (np.ndim(other) < 2 or 1 in np.shape(other)):
            value = _spread(value, other, expr.args[:i])
        elif is_sparse(other) and (np.ndim(value) < 2 or 1 in np.shape(value)):
            value = _spread(other, value, (arg,))
        else:
            value = plus(value, other)
    return value


def _spread(matrix: Any, other: Any, sources: Sequence[Expr]) -> Value:
    """A sparse matrix plus a scalar or a row, which fills the matrix; refused for the user's data."""
    if not np.any(other):
        return as_float64(matrix)
    name = next((e.name for s in sources for e in s.walk() if e.op == "data" and len(e.type.array_shape) == 2), "")
    if name:
        raise ValueError(f"`{name}` is sparse, and adding a number to every entry would make it dense")
    return np.add(matrix.toarray(), other, dtype=np.float64)


def _root(value: Any) -> Value:
    if float(value) < 0.0:
        raise ValueError("the root of a negative number")
    return math.sqrt(float(value))


def _function(expr: Expr, env: Environment) -> Value:
    """A function of each entry of a constant."""
    word = CONSTANTS[expr.name]
    x, *options = (_dense(_value(arg, env)) for arg in expr.args)
    with np.errstate(all="ignore"):
        found = np.asarray(word.value(np, x, *options), dtype=np.float64)
    if not np.all(np.isfinite(found)):
        raise ValueError(f"`{word.call}` is of {word.domain}, and its argument has another value")
    return float(found) if not found.ndim else found


# --- structure -----------------------------------------------------------------------------------------------------


def _transposed(value: Any) -> Value:
    if isinstance(value, DataOperator) or is_on_disk(value):
        return value.T
    if is_formula(value):
        return value.T.tocsr_rows()
    return as_csr(value.T) if is_sparse(value) else np.asarray(value).T


def _slice(expr: Expr, env: Environment) -> Value:
    items: Any = expr.value
    return take(_value(expr.args[0], env), items, env.dims)


def _take(expr: Expr, env: Environment) -> Value:
    value, at, axis = _value(expr.args[0], env), np.asarray(_value(expr.args[1], env), dtype=np.intp), expr.axis
    if is_formula(value):
        value = value.toarray()
    if not is_sparse(value):
        return np.take(value, at, axis=axis)
    return as_csr(value[at] if axis == 0 else value[:, at])


def _dense(value: Any) -> Any:
    """The value as an array of float64."""
    return np.asarray(value.toarray() if hasattr(value, "toarray") else value, dtype=np.float64)


def _stacked(expr: Expr, env: Environment) -> Value:
    parts = [_value(arg, env) for arg in expr.args]
    if len(expr.type.array_shape) == 1:
        return np.concatenate([_dense(part).reshape(-1) for part in parts])
    if any(is_sparse(part) for part in parts):
        from scipy.sparse import csr_array, hstack, vstack

        rows = [as_csr(part if np.ndim(part) == 2 else _dense(part)[None, :]) for part in parts]
        return csr_array((vstack if expr.op == "vstack" else hstack)(rows, format="csr"))
    rows = [np.atleast_2d(_dense(part)) for part in parts]
    return np.concatenate(rows, axis=0 if expr.op == "vstack" else 1)


def _diff(expr: Expr, env: Environment) -> Value:
    return np.diff(_dense(_value(expr.args[0], env)), expr.order, axis=expr.axis)


def _sum_axis(expr: Expr, env: Environment) -> Value:
    value = _value(expr.args[0], env)
    if is_formula(value):
        value = value.toarray()
    return np.asarray(value.sum(axis=expr.axis, dtype=np.float64)).reshape(sizes_of(expr.type, env.dims))


def _kronecker(a: Any, b: Any) -> Value:
    if not (is_sparse(a) or is_sparse(b)):
        return np.kron(_dense(a), _dense(b))
    from scipy.sparse import csr_array, kron

    return csr_array(kron(as_csr(a), as_csr(b), format="csr"))


def _diagonal(value: Any) -> Value:
    if np.ndim(value) == 2:
        return np.asarray(value.diagonal())
    from scipy.sparse import csr_array, diags_array

    return csr_array(diags_array(as_float64(value), format="csr"))


def _trace(value: Any) -> Value:
    return float(np.sum(value.diagonal(), dtype=np.float64))


def _mean(value: Any) -> Value:
    return total(value) / math.prod(np.shape(value))


def _gather(expr: Expr, env: Environment) -> Value:
    family = _value(expr.args[0], env)
    return family[_value(expr.args[1], env) if len(expr.args) > 1 else expr.value]


def _observe(expr: Expr, env: Environment) -> Value:
    matrix = _value(expr.args[0], env)
    at: Entries = env.values[expr.args[1].name]
    return _observed_sparse(matrix, at) if is_sparse(matrix) or is_formula(matrix) else matrix[at.rows, at.columns]


def _observed_sparse(matrix: Any, at: Entries) -> Value:
    if is_formula(matrix):
        return _observed_sparse(matrix.A, at) - matrix.u[at.rows] * matrix.v[at.columns]
    return np.asarray(matrix[at.rows, at.columns]).reshape(-1)


_LEAVES: Mapping[str, Callable[[Expr, Environment], Value]] = {
    "const": _const,
    "literal": _literal,
    "dim": _dim,
    "data": _named,
    "param": _named,
}
"""The operations that compute nothing: they read a value."""

_OPERATIONS: Mapping[str, Callable[[Expr, Environment], Value]] = {
    **_LEAVES,
    "add": _add,
    "slice": _slice,
    "list": lambda expr, env: np.array(expr.value, dtype=np.intp),
    "take": _take,
    "hstack": _stacked,
    "vstack": _stacked,
    "reshape": lambda expr, env: _dense(_value(expr.args[0], env)).reshape(sizes_of(expr.type, env.dims)),
    "diff": _diff,
    "cumsum": lambda expr, env: np.cumsum(_dense(_value(expr.args[0], env)), axis=expr.axis),
    "sum_axis": _sum_axis,
    "eye": _eye,
    "ones": lambda expr, env: np.ones(sizes_of(expr.type, env.dims)),
    "zeros": lambda expr, env: np.zeros(sizes_of(expr.type, env.dims)),
    "features": _features,
    "function": _function,
    "gather": _gather,
    "observe": _observe,
}

_OF_VALUES: Mapping[str, Callable[..., Value]] = {
    "neg": operator.neg,
    "mul": times,
    "div": divide,
    "matmul": matmul,
    "transpose": _transposed,
    "diag": _diagonal,
    "trace": _trace,
    "sum": total,
    "mean": _mean,
    "dot": dot,
    "inner": inner,
    "combine": combine,
    "quad": quad,
    "outer": lambda a, b: np.outer(_dense(a), _dense(b)),
    "kron": _kronecker,
    "conv": lambda k, x: np.convolve(_dense(k), _dense(x)),
    "sqrt": _root,
}
"""The operations that need no more than the values of their arguments."""
