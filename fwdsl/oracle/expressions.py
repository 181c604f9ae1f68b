"""Expressions as NumPy and SciPy values where constant, else as cvxpy expressions."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from ..bind.data_operator import DataOperator
from ..bind.features import implicit_maps
from ..bind.instance import Instance
from ..bind.values import Entries
from ..model import Expr, evaluate_dim, sizes_of, slice_key
from ..readers.row_blocks import is_on_disk
from ..words import CONSTANTS
from .blocks import FamilyExpression, blocks_of, flat, gathered
from .refusals import cannot

Translated = Any
"""A NumPy or SciPy value, or an expression of cvxpy, which has no types."""


class ExpressionTranslator:
    """Translates the expressions of one instance; `variables` are cvxpy's, by name."""

    def __init__(self, cp: Any, instance: Instance, variables: Mapping[str, Any]) -> None:
        self.cp = cp
        self.instance = instance
        self.dims = instance.dims
        self.variables = variables
        self._implicit = implicit_maps(instance.model)

    def number(self, e: Expr) -> float:
        return float(self.expr(e))

    def expr(self, e: Expr) -> Translated:
        """A NumPy or SciPy value where constant, else a cvxpy expression."""
        operation = getattr(self, f"_op_{e.op}", None)
        if operation is None:
            raise cannot(f"`{e.name or e.op}`")
        return operation(e)

    def coordinates(self, name: str, value: Translated) -> Translated:
        """The value of a variable as this translation has it: of one over an implicit feature map, from expansion coefficients."""
        phi = self._implicit.get(name)
        return value if phi is None else self.expr(phi) @ value

    def _args(self, e: Expr) -> list[Translated]:
        return [self.expr(a) for a in e.args]

    def _shape(self, e: Expr) -> tuple[int, ...]:
        return sizes_of(e.type, self.dims)

    def _op_const(self, e: Expr) -> Translated:
        value: Any = e.value
        return float(value)

    def _op_literal(self, e: Expr) -> Translated:
        return np.array(e.value, dtype=np.float64)

    def _op_dim(self, e: Expr) -> Translated:
        return float(evaluate_dim(e.name, self.dims))

    def _op_data(self, e: Expr) -> Translated:
        value = self.instance.values[e.name]
        if isinstance(value, Entries):
            return np.asarray(value.values, dtype=np.float64)
        if isinstance(value, DataOperator):
            raise cannot(f"the operator `{e.name}`")
        if is_on_disk(value):
            raise cannot(f"`{e.name}`, which is read by ranges of its rows under `--memory`")
        return value if _is_sparse(value) else np.asarray(value, dtype=np.float64)

    def _op_features(self, e: Expr) -> Translated:
        """Explicit features, dense unless they are sparse; of an implicit map the root of its Gram matrix, whose rows have its inner
        products: the variable is then in other coordinates, with the same norm and the same predictions.
        """
        value = self.instance.evaluate(e)
        if e.type.kind != "features":
            formed = value.toarray() if hasattr(value, "matvec") else value
            return formed if _is_sparse(formed) else np.asarray(formed, dtype=np.float64)
        weights, vectors = np.linalg.eigh(value.toarray())
        return (vectors * np.sqrt(np.maximum(weights, 0.0))) @ vectors.T

    def _op_observe(self, e: Expr) -> Translated:
        at: Entries = self.instance.values[e.args[1].name]
        matrix = self.expr(e.args[0])
        return (matrix if e.args[0].variables else dense(matrix))[at.rows, at.columns]

    def _op_param(self, e: Expr) -> Translated:
        return self.instance.values[e.name]

    def _op_var(self, e: Expr) -> Translated:
        return self.variables[e.name]

    def _op_add(self, e: Expr) -> Translated:
        shape = self._shape(e)
        total: Translated = 0.0
        for arg in e.args:
            part = self.expr(arg)
            if isinstance(part, FamilyExpression):
                total = part + total
                continue
            if len(shape) == 2 and len(arg.type.array_shape) == 1:  # a row, added to every row
                part = np.ones((shape[0], 1)) @ _row(self.cp, part, shape[1])
            elif (
                len(shape) == 2 and arg.type.array_shape and np.shape(part) != shape
            ):  # one row, or one column, or both
                part = dense(part) if not arg.variables else part
                part = np.ones((shape[0], 1)) @ part if part.shape[0] != shape[0] else part
                part = part @ np.ones((1, shape[1])) if part.shape[1] != shape[1] else part
            total = total + (dense(part) if not arg.variables else part)
        return total

    def _op_neg(self, e: Expr) -> Translated:
        return -self.expr(e.args[0])

    def _op_mul(self, e: Expr) -> Translated:
        a, b = self._args(e)
        if not np.ndim(a) or not np.ndim(b) or isinstance(a, FamilyExpression) or isinstance(b, FamilyExpression):
            return a * b
        if e.is_constant:
            return dense(a) * dense(b)
        return self.cp.multiply(a, b)

    def _op_div(self, e: Expr) -> Translated:
        a, b = self._args(e)
        if e.is_constant:
            return dense(a) / dense(b)
        return a / b if not np.ndim(b) or isinstance(a, FamilyExpression) else self.cp.multiply(a, 1.0 / dense(b))

    def _op_matmul(self, e: Expr) -> Translated:
        a, b = self._args(e)
        return a @ b

    def _op_transpose(self, e: Expr) -> Translated:
        return self.expr(e.args[0]).T

    def _op_slice(self, e: Expr) -> Translated:
        items: Any = e.value
        value = self.expr(e.args[0])
        return (dense(value) if not e.variables else value)[slice_key(items, self.dims)]

    def _op_list(self, e: Expr) -> Translated:
        return np.array(e.value, dtype=np.int64)

    def _op_take(self, e: Expr) -> Translated:
        value = self.expr(e.args[0])
        at = np.asarray(self.expr(e.args[1]), dtype=np.int64)
        value = value if e.variables else dense(value)
        return value[at] if e.axis == 0 else value[:, at]

    def _op_hstack(self, e: Expr) -> Translated:
        parts = self._args(e)
        if len(e.type.array_shape) == 1:
            parts = [flat(self.cp, part) if e.variables else dense(part).reshape(-1) for part in parts]
        return self.cp.hstack(parts) if e.variables else np.hstack([dense(p) for p in parts])

    def _op_vstack(self, e: Expr) -> Translated:
        parts = self._args(e)
        return self.cp.vstack(parts) if e.variables else np.vstack([dense(p) for p in parts])

    def _op_reshape(self, e: Expr) -> Translated:
        value = self.expr(e.args[0])
        if not e.variables:
            return dense(value).reshape(self._shape(e))
        return self.cp.reshape(value, self._shape(e), order="C")

    def _op_outer(self, e: Expr) -> Translated:
        a, b = self._args(e)
        if not e.variables:
            return np.outer(dense(a), dense(b))
        m, n = self._shape(e)
        return _column(self.cp, a, m) @ _row(self.cp, b, n)

    def _op_kron(self, e: Expr) -> Translated:
        a, b = self._args(e)
        if not e.variables:
            return np.kron(dense(a), dense(b))
        parts = [part if arg.variables else dense(part) for arg, part in zip(e.args, (a, b), strict=True)]
        if len(self._shape(e)) == 2:
            return self.cp.kron(*parts)
        columns = [_column(self.cp, part, part.shape[0]) for part in parts]
        return self.cp.vec(self.cp.kron(*columns), order="C")

    def _op_conv(self, e: Expr) -> Translated:
        k, x = self._args(e) if e.args[0].is_constant else self._args(e)[::-1]
        return self.cp.convolve(dense(k), x) if e.variables else np.convolve(dense(k), dense(x))

    def _op_diff(self, e: Expr) -> Translated:
        order, axis = e.order, e.axis
        value = self.expr(e.args[0])
        return self.cp.diff(value, order, axis=axis) if e.variables else np.diff(dense(value), order, axis=axis)

    def _op_cumsum(self, e: Expr) -> Translated:
        value = self.expr(e.args[0])
        return self.cp.cumsum(value, axis=e.axis) if e.variables else np.cumsum(dense(value), axis=e.axis)

    def _op_sum_axis(self, e: Expr) -> Translated:
        value = self.expr(e.args[0])
        return self.cp.sum(value, axis=e.axis) if e.variables else dense(value).sum(axis=e.axis)

    def _op_inner(self, e: Expr) -> Translated:
        if e.args[0].variables:
            tensor, x = self._args(e)
            parts = (
                tensor.blocks if isinstance(tensor, FamilyExpression) else [tensor[i] for i in range(tensor.shape[0])]
            )
            return self.cp.hstack([self.cp.sum(self.cp.multiply(dense(x), part)) for part in parts])
        tensor = dense(self.expr(e.args[0]))
        rows = np.asarray(tensor).reshape(np.shape(tensor)[0], -1)
        if _per_sample(e.args[1]):
            family, codes = self._gathered(e.args[1])
            return gathered(codes, lambda t, at: rows[at] @ flat(self.cp, family[t]))
        x = self.expr(e.args[1])
        return rows @ (flat(self.cp, x) if e.variables else np.asarray(x).reshape(-1))

    def _op_combine(self, e: Expr) -> Translated:
        tensor = np.asarray(self.expr(e.args[1]))
        x = self.expr(e.args[0])
        return sum(x[i] * tensor[i] for i in range(tensor.shape[0]))

    def _op_quad(self, e: Expr) -> Translated:
        rows = dense(self.expr(e.args[0]))
        if _per_sample(e.args[1]):
            family, codes = self._gathered(e.args[1])
            return gathered(codes, lambda t, at: self._quad(rows[at], family[t]))
        return self._quad(rows, self.expr(e.args[1]))

    def _quad(self, rows: Translated, x: Translated) -> Translated:
        return self.cp.sum(self.cp.multiply(rows @ x, rows), axis=1)

    def _gathered(self, e: Expr) -> tuple[Translated, Translated]:
        """The family of `F[task]` and the block of each sample."""
        return self.expr(e.args[0]), np.asarray(self.expr(e.args[1]), dtype=np.int64)

    def _op_gather(self, e: Expr) -> Translated:
        if len(e.args) == 1:
            return self.expr(e.args[0])[e.value]
        family, codes = self._gathered(e)
        chosen = [family[int(t)] for t in codes]
        return self.cp.vstack(chosen) if len(self._shape(e)) == 2 else FamilyExpression(self.cp, chosen)

    def _op_eye(self, e: Expr) -> Translated:
        return np.eye(self._shape(e)[0])

    def _op_ones(self, e: Expr) -> Translated:
        return np.ones(self._shape(e))

    def _op_zeros(self, e: Expr) -> Translated:
        return np.zeros(self._shape(e))

    def _op_diag(self, e: Expr) -> Translated:
        value = self.expr(e.args[0])
        return self.cp.diag(value) if e.variables else np.diag(dense(value))

    def _op_trace(self, e: Expr) -> Translated:
        value = self.expr(e.args[0])
        return self.cp.trace(value) if e.variables else float(np.trace(dense(value)))

    def _op_sum(self, e: Expr) -> Translated:
        value = self.expr(e.args[0])
        return self._total(value) if e.variables else float(np.sum(dense(value)))

    def _total(self, value: Translated) -> Translated:
        return sum(self.cp.sum(b) for b in blocks_of(value))

    def _op_mean(self, e: Expr) -> Translated:
        count = math.prod(self._shape(e.args[0]))
        value = self.expr(e.args[0])
        return self._total(value) / count if e.variables else float(np.sum(dense(value))) / count

    def _op_dot(self, e: Expr) -> Translated:
        a, b = self._args(e)
        if isinstance(a, FamilyExpression) or isinstance(b, FamilyExpression):
            return self._total(a * b)
        return self.cp.sum(self.cp.multiply(a, b)) if e.variables else float(np.sum(dense(a) * dense(b)))

    def _op_function(self, e: Expr) -> Translated:
        x, *options = (dense(a) for a in self._args(e))
        return np.asarray(CONSTANTS[e.name].value(np, x, *options), dtype=np.float64)[()]

    def _op_sqrt(self, e: Expr) -> Translated:
        return math.sqrt(self.number(e.args[0]))


def _per_sample(e: Expr) -> bool:
    """True if it is `F[task]` of a variable family: a block for each sample."""
    return e.op == "gather" and len(e.args) > 1 and bool(e.variables)


def _is_sparse(value: object) -> bool:
    return hasattr(value, "tocsr")


def dense(value: Translated) -> Translated:
    """A constant as an array: the oracle is for small instances."""
    return value.toarray() if _is_sparse(value) else np.asarray(value)


def _column(cp: Any, value: Any, size: int) -> Translated:
    return _row(cp, value, size).T


def _row(cp: Any, value: Any, size: int) -> Translated:
    return (
        cp.reshape(value, (1, size), order="C") if hasattr(value, "is_affine") else np.asarray(value).reshape(1, size)
    )
