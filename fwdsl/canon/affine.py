"""From typed affine expressions to linear maps and offsets."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..atoms.base import Array
from ..bind.evaluate import evaluate
from ..instance import Instance
from ..model import Expr, evaluate_dim
from .form import Block, Stacked
from .maps import Add, Column, Diagonal, Identity, LinearMap, Matrix, Row, Select, compose, scaled


class Unsupported(Exception):
    """An expression that the language accepts and this version cannot yet canonicalise; `expr` is it."""

    def __init__(self, what: str, expr: Expr) -> None:
        super().__init__(what)
        self.what = what
        self.expr = expr


@dataclass(frozen=True)
class Affine:
    """sum over variables of maps[v] x_v + offset, with `scalar` telling a number from a vector of one entry."""

    maps: dict[str, LinearMap]
    offset: Array
    scalar: bool

    def mapped(self, outer: LinearMap, scalar: bool) -> Affine:
        """outer applied to it."""
        # most expressions have no offset, and data are not touched to find that A 0 = 0
        offset = outer.apply(self.offset) if self.offset.any() else np.zeros(outer.rows)
        return Affine({v: compose(outer, m) for v, m in self.maps.items()}, offset, scalar)


class AffineReader:
    """Reads affine expressions of one instance over its blocks."""

    def __init__(self, instance: Instance, blocks: dict[str, Block]) -> None:
        self.instance = instance
        self.blocks = blocks

    def constant(self, expr: Expr) -> Any:
        """The value of a constant expression: a float, a dense array, or a sparse matrix."""
        return evaluate(expr, self.instance.dims, self.instance.values)

    def scalar(self, expr: Expr) -> float:
        """The value of a constant scalar expression."""
        return float(self.constant(expr))

    def vector(self, expr: Expr, size: int) -> Array:
        """The value of a constant expression as a vector of the given length; a scalar meets every entry."""
        value = np.asarray(self.constant(expr), dtype=np.float64)
        return np.full(size, float(value)) if value.ndim == 0 else np.ascontiguousarray(value.reshape(-1))

    def stacked(self, expr: Expr) -> Stacked:
        """The map of a vector or scalar expression over all blocks."""
        affine = self.read(expr)
        parts = tuple(
            (self.blocks[v], m) for v, m in sorted(affine.maps.items(), key=lambda p: self.blocks[p[0]].start)
        )
        return Stacked(parts, affine.offset)

    def read(self, expr: Expr) -> Affine:
        """The affine form of an expression; `Unsupported` where this version has no map for it."""
        if expr.is_constant:
            value = self.constant(expr)
            if hasattr(value, "nnz") or np.ndim(value) > 1:
                raise Unsupported("a matrix added to an expression in the variables", expr)
            offset = np.asarray(value, dtype=np.float64)
            return Affine({}, offset.reshape(-1), offset.ndim == 0)
        if len(expr.type.array_shape) > 1:
            raise Unsupported("matrix expressions in the variables", expr)
        reader = _READERS.get(expr.op)
        if reader is None:
            raise Unsupported(f"`{expr.op}` of a variable", expr)
        return reader(self, expr)

    def _var(self, expr: Expr) -> Affine:
        block = self.blocks[expr.name]
        return Affine({expr.name: Identity(block.size)}, np.zeros(block.size), not block.shape)

    def _add(self, expr: Expr) -> Affine:
        parts = [self.read(a) for a in expr.args]
        shape = expr.type.array_shape
        if not shape:
            return _sum(parts, scalar=True)
        size = evaluate_dim(shape[0], self.instance.dims)
        return _sum([_spread(p, size) for p in parts], scalar=False)

    def _neg(self, expr: Expr) -> Affine:
        return self._scale(self.read(expr.args[0]), -1.0)

    def _scale(self, a: Affine, c: float) -> Affine:
        return Affine({v: scaled(m, c) for v, m in a.maps.items()}, c * a.offset, a.scalar)

    def _mul(self, expr: Expr) -> Affine:
        left, right = expr.args
        if not left.is_constant:
            left, right = right, left
        value = self.constant(left)
        inner = self.read(right)
        if np.ndim(value) == 0:
            return self._scale(inner, float(value))
        v = np.asarray(value, dtype=np.float64)
        return inner.mapped(Column(v), False) if inner.scalar else inner.mapped(Diagonal(v), False)

    def _div(self, expr: Expr) -> Affine:
        value = self.constant(expr.args[1])
        inner = self.read(expr.args[0])
        if np.ndim(value) == 0:
            return self._scale(inner, 1.0 / float(value))
        v = 1.0 / np.asarray(value, dtype=np.float64)
        return inner.mapped(Column(v), False) if inner.scalar else inner.mapped(Diagonal(v), False)

    def _matmul(self, expr: Expr) -> Affine:
        left, right = expr.args
        if left.is_constant:
            return self._apply(left, self.read(right), transposed=False)
        if right.is_constant:
            return self._apply(right, self.read(left), transposed=True)
        raise Unsupported("a product of two expressions in the variables", expr)

    def _apply(self, matrix: Expr, inner: Affine, transposed: bool) -> Affine:
        """matrix @ inner (inner @ matrix where transposed), a constant product kept factored."""
        if matrix.op == "transpose":
            return self._apply(matrix.args[0], inner, not transposed)
        if matrix.op == "neg":
            return self._scale(self._apply(matrix.args[0], inner, transposed), -1.0)
        if matrix.op == "matmul" and all(len(a.type.array_shape) == 2 for a in matrix.args):
            first, last = matrix.args if transposed else reversed(matrix.args)
            return self._apply(last, self._apply(first, inner, transposed), transposed)
        if matrix.op == "mul":
            for factor, rest in (matrix.args, matrix.args[::-1]):
                if not factor.type.array_shape:
                    return self._scale(self._apply(rest, inner, transposed), self.scalar(factor))
        if matrix.op == "eye":
            return inner
        if matrix.op == "diag" and len(matrix.args[0].type.array_shape) == 1:
            return inner.mapped(Diagonal(np.asarray(self.constant(matrix.args[0]), dtype=np.float64)), False)
        value = self.constant(matrix)
        if np.ndim(value) == 1:
            return inner.mapped(Row(np.asarray(value, dtype=np.float64), matrix.name or "v"), True)
        return inner.mapped(Matrix(value, transposed, matrix.name or "A"), False)

    def _transpose(self, expr: Expr) -> Affine:
        return self.read(expr.args[0])

    def _slice(self, expr: Expr) -> Affine:
        inner = self.read(expr.args[0])
        size = inner.offset.size
        items = expr.value if isinstance(expr.value, tuple) else (expr.value,)
        if len(items) != 1:
            raise Unsupported("slices along two axes", expr)
        item = items[0]
        if isinstance(item, int):
            index = item + size if item < 0 else item
            return inner.mapped(Select(index, index + 1, size), True)
        start, stop, _ = slice(*item).indices(size)
        return inner.mapped(Select(start, max(start, stop), size), False)

    def _sum(self, expr: Expr) -> Affine:
        inner = self.read(expr.args[0])
        return inner if inner.scalar else inner.mapped(Row(np.ones(inner.offset.size), "ones"), True)

    def _mean(self, expr: Expr) -> Affine:
        inner = self.read(expr.args[0])
        n = max(1, inner.offset.size)
        return inner if inner.scalar else inner.mapped(scaled(Row(np.ones(inner.offset.size), "ones"), 1.0 / n), True)

    def _dot(self, expr: Expr) -> Affine:
        a, b = expr.args
        constant, inner = (a, self.read(b)) if a.is_constant else (b, self.read(a))
        v = self.vector(constant, inner.offset.size)
        return inner.mapped(Row(v, constant.name or "v"), True)


def _spread(a: Affine, size: int) -> Affine:
    """A scalar meets every entry of a vector."""
    return a.mapped(Column(np.ones(size)), False) if a.scalar else a


def _sum(parts: list[Affine], scalar: bool) -> Affine:
    maps: dict[str, LinearMap] = {}
    for part in parts:
        for v, m in part.maps.items():
            maps[v] = Add(maps[v], m) if v in maps else m
    offset = np.sum([p.offset for p in parts], axis=0)
    return Affine(maps, np.asarray(offset, dtype=np.float64), scalar)


_READERS: dict[str, Callable[[AffineReader, Expr], Affine]] = {
    "var": AffineReader._var,
    "add": AffineReader._add,
    "neg": AffineReader._neg,
    "mul": AffineReader._mul,
    "div": AffineReader._div,
    "matmul": AffineReader._matmul,
    "transpose": AffineReader._transpose,
    "slice": AffineReader._slice,
    "sum": AffineReader._sum,
    "mean": AffineReader._mean,
    "dot": AffineReader._dot,
}
