"""The translation of typed affine expressions to linear maps and offsets."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import reduce
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..atoms.base import Array
from ..bind.instance import Instance
from ..bind.values import is_sparse
from ..features.factor import GramFactor
from ..light_dataclass import light_dataclass
from ..model import Expr, sizes_of, slice_key
from .combined_maps import Adjoint, Joined, Places, added, compose, scaled
from .data_maps import Matrix
from .maps import Column, Diagonal, Identity, LinearMap, Row, Select, as_sparse
from .matrix_maps import Gathered, LeftMultiply, Quad, RightMultiply, Symmetrise, Take, Tile, transpose
from .neighbour_maps import Convolution, Cumulative, Differences, SumsAlong
from .parts import Block, Stacked

LARGEST_FILLED = 50_000_000
"""Numbers up to which a sparse constant that is added to an expression may be filled up."""

ASYMMETRY = 1e-12
"""The share of the largest entry by which a matrix may differ from its transpose, by the rounding of a symmetric formula."""

FEW = 16
"""Maps of a variable in a sum that are added one after the other."""


class _OfExpression(Exception):
    def __init__(self, what: str, expr: Expr) -> None:
        super().__init__(what)
        self.what = what
        self.expr = expr


class Unsupported(_OfExpression):
    """The expression `expr` would take more memory than this version spends."""


class Asymmetric(_OfExpression):
    """The matrices of the expression `expr` have to be symmetric, and `what` says which is not."""


class NotFinite(_OfExpression):
    """The constant expression `expr` has no finite value with the numbers bound."""


@light_dataclass
class AffineExpression:
    """sum over variables of maps[v] x_v + offset; all of it flat in C order, `shape` being the expression's own."""

    maps: dict[str, LinearMap]
    offset: Array
    shape: tuple[int, ...]

    def mapped(self, outer: LinearMap, shape: tuple[int, ...]) -> AffineExpression:
        """outer applied to this expression."""
        # most expressions have no offset, and data are not touched to find that A 0 = 0
        offset = outer.apply(self.offset) if self.offset.any() else np.zeros(outer.rows)
        return AffineExpression({v: compose(outer, m) for v, m in self.maps.items()}, offset, shape)

    def scaled(self, c: float) -> AffineExpression:
        return AffineExpression({v: scaled(m, c) for v, m in self.maps.items()}, c * self.offset, self.shape)


class AffineReader:
    """Reads affine expressions of one instance over its blocks."""

    def __init__(self, instance: Instance, blocks: dict[str, Block]) -> None:
        self.instance = instance
        self.blocks = blocks
        #: What stands for each implicit feature map: its factor L (n, r), with the Gram matrix K = L L'.
        self.factors: dict[int, GramFactor] = {}

    # --- constants --------------------------------------------------------------------------------------------------

    def constant(self, expr: Expr) -> Any:
        """The value of a constant expression: a float, a dense array, or a sparse matrix; `NotFinite` where it has none."""
        try:
            return self.instance.evaluate(expr)
        except (ValueError, ZeroDivisionError, OverflowError) as error:
            raise NotFinite(str(error), expr) from error

    def scalar(self, expr: Expr) -> float:
        """The value of a constant scalar expression, finite or an infinite bound as written."""
        value = float(self.constant(expr))
        if math.isnan(value) or (math.isinf(value) and not _written_infinite(expr)):
            raise NotFinite(f"a number that is {value}", expr)
        return value

    def vector(self, expr: Expr, size: int) -> Array:
        """The value of a constant expression as a flat vector of the given length; a scalar meets every entry."""
        value = self.constant(expr)
        if hasattr(value, "nnz"):
            value = value.toarray()
        value = np.asarray(value, dtype=np.float64)
        return np.full(size, float(value)) if value.ndim == 0 else np.ascontiguousarray(value).reshape(-1)

    # --- expressions ------------------------------------------------------------------------------------------------

    def stacked(self, expr: Expr) -> Stacked:
        """The map of an expression over all blocks."""
        affine = self.read(expr)
        parts = tuple(
            (self.blocks[v], m) for v, m in sorted(affine.maps.items(), key=lambda p: self.blocks[p[0]].start)
        )
        return Stacked(parts, affine.offset, affine.shape)

    def read(self, expr: Expr) -> AffineExpression:
        """The affine form of an expression; `Unsupported` where a sparse matrix would be filled up beyond `LARGEST_FILLED`."""
        if expr.is_constant:
            value = self.constant(expr)
            if hasattr(value, "nnz"):
                if math.prod(value.shape) > LARGEST_FILLED:
                    what = (
                        f"a sparse matrix of {math.prod(value.shape):,} places added to an expression in the variables"
                    )
                    raise Unsupported(what, expr)
                value = value.toarray()
            offset = np.asarray(value, dtype=np.float64)
            return AffineExpression({}, np.ascontiguousarray(offset).reshape(-1), offset.shape)
        return _READERS[expr.op](self, expr)

    def shape(self, expr: Expr) -> tuple[int, ...]:
        """The numbers of an expression's shape."""
        return sizes_of(expr.type, self.instance.dims)

    def _var(self, expr: Expr) -> AffineExpression:
        block = self.blocks[expr.name]
        m: LinearMap = Identity(block.size)
        if expr.type.is_symmetric:
            m = Symmetrise(block.shape[0])
        elif expr.type.block.is_symmetric:
            m = Symmetrise(block.shape[1], block.shape[0])
        return AffineExpression({expr.name: m}, np.zeros(block.size), block.shape)

    def _add(self, expr: Expr) -> AffineExpression:
        shape = self.shape(expr)
        return _sum([_broadcast(self.read(a), shape) for a in expr.args], shape)

    def _neg(self, expr: Expr) -> AffineExpression:
        return self.read(expr.args[0]).scaled(-1.0)

    def _mul(self, expr: Expr) -> AffineExpression:
        left, right = expr.args
        constant, inner = (left, self.read(right)) if left.is_constant else (right, self.read(left))
        return self._times(self.constant(constant), inner, self.shape(expr))

    def _div(self, expr: Expr) -> AffineExpression:
        value = self.constant(expr.args[1])
        divisor = value.toarray() if hasattr(value, "nnz") else np.asarray(value, dtype=np.float64)
        with np.errstate(all="ignore"):
            inverse = 1.0 / divisor
        if not np.all(np.isfinite(inverse)):
            raise NotFinite("a division by zero, or by a number too small", expr.args[1])
        return self._times(inverse, self.read(expr.args[0]), self.shape(expr))

    def _times(self, value: Any, inner: AffineExpression, shape: tuple[int, ...]) -> AffineExpression:
        if np.ndim(value) == 0:
            return inner.scaled(float(value))
        flat = np.asarray(value.toarray() if hasattr(value, "nnz") else value, dtype=np.float64).reshape(-1)
        return inner.mapped(Diagonal(flat) if inner.shape else Column(flat), shape)

    def _matmul(self, expr: Expr) -> AffineExpression:
        left, right = expr.args
        if left.is_constant:
            return self._apply(left, self.read(right), transposed=False)
        return self._apply_right(self.read(left), right)

    def _apply(self, matrix: Expr, inner: AffineExpression, transposed: bool) -> AffineExpression:
        """matrix @ inner (matrix' @ inner where transposed), a constant product kept factored."""
        if matrix.op == "transpose":
            return self._apply(matrix.args[0], inner, not transposed)
        if matrix.op == "neg":
            return self._apply(matrix.args[0], inner, transposed).scaled(-1.0)
        if matrix.op == "matmul" and all(len(a.type.array_shape) == 2 for a in matrix.args):
            first, last = matrix.args if transposed else reversed(matrix.args)
            return self._apply(last, self._apply(first, inner, transposed), transposed)
        if matrix.op == "mul":
            for factor, rest in (matrix.args, matrix.args[::-1]):
                if not factor.type.array_shape:
                    return self._apply(rest, inner, transposed).scaled(self.scalar(factor))
        if matrix.op == "eye":
            return inner
        if matrix.op == "diag" and len(matrix.args[0].type.array_shape) == 1 and len(inner.shape) == 1:
            return inner.mapped(Diagonal(np.asarray(self.constant(matrix.args[0]), dtype=np.float64)), inner.shape)
        value, name = self.constant(matrix), matrix.name or "A"
        if id(value) in self.factors:
            # Phi @ W in the coordinates of the span of the samples' features
            value = self.factors[id(value)].L
        if np.ndim(value) == 1:
            v = np.asarray(value, dtype=np.float64)
            if len(inner.shape) == 1:
                return inner.mapped(Row(v, matrix.name or "v"), ())
            return inner.mapped(LeftMultiply(v[None, :], inner.shape[1], False, name), inner.shape[1:])
        rows = value.shape[1 if transposed else 0]
        if len(inner.shape) == 1:
            return inner.mapped(Matrix(value, transposed, name), (rows,))
        return inner.mapped(LeftMultiply(value, inner.shape[1], transposed, name), (rows, inner.shape[1]))

    def _apply_right(self, inner: AffineExpression, matrix: Expr) -> AffineExpression:
        """inner @ matrix."""
        if len(inner.shape) == 1:
            return self._apply(matrix, inner, transposed=True)
        if matrix.op == "eye":
            return inner
        if matrix.op == "neg":
            return self._apply_right(inner, matrix.args[0]).scaled(-1.0)
        if matrix.op == "matmul" and all(len(a.type.array_shape) == 2 for a in matrix.args):
            return self._apply_right(self._apply_right(inner, matrix.args[0]), matrix.args[1])
        value, n, name = self.constant(matrix), inner.shape[0], matrix.name or "B"
        if np.ndim(value) == 1:
            column = np.asarray(value, dtype=np.float64)[:, None]
            return inner.mapped(RightMultiply(column, n, name), (n,))
        return inner.mapped(RightMultiply(value, n, name), (n, value.shape[1]))

    def _transpose(self, expr: Expr) -> AffineExpression:
        inner = self.read(expr.args[0])
        if len(inner.shape) < 2:
            return inner
        return inner.mapped(transpose(*inner.shape), inner.shape[::-1])

    def _slice(self, expr: Expr) -> AffineExpression:
        inner = self.read(expr.args[0])
        items = expr.value if isinstance(expr.value, tuple) else (expr.value,)
        key = slice_key(items, self.instance.dims)
        size = inner.offset.size
        if len(inner.shape) == 1 and isinstance(key[0], slice) and key[0].step in (None, 1):
            start, stop, _ = key[0].indices(size)
            return inner.mapped(Select(start, stop, size), (stop - start,))
        index = np.arange(size).reshape(inner.shape)[key]
        if len(inner.shape) == 1 and not np.ndim(index):
            return inner.mapped(Select(int(index), int(index) + 1, size), ())
        words = ", ".join(str(k) if isinstance(k, int) else _slice_words(k) for k in key)
        flat = np.ascontiguousarray(index).reshape(-1)
        return inner.mapped(Take(flat, size, words), np.shape(index))

    def _take(self, expr: Expr) -> AffineExpression:
        """x[J]: entries, or rows or columns, at positions that may come twice."""
        inner, axis = self.read(expr.args[0]), expr.axis
        at = np.asarray(self.constant(expr.args[1]), dtype=np.intp)
        index = np.take(np.arange(inner.offset.size).reshape(inner.shape), at, axis=axis)
        once = np.unique(at % max(1, inner.shape[axis])).size == at.size
        name = expr.args[1].name or "positions"
        words = ", ".join([":"] * axis + [name])
        flat = np.ascontiguousarray(index).reshape(-1)
        return inner.mapped(Take(flat, inner.offset.size, words, once), index.shape)

    def _stack(self, expr: Expr) -> AffineExpression:
        """Expressions beside each other, or the numbers of all of them one after the other: the entries of each at its places."""
        parts = [self.read(a) for a in expr.args]
        size = sum(part.offset.size for part in parts)
        shape = self.shape(expr) if len(expr.type.array_shape) > 1 else (size,)
        index, start = np.arange(size).reshape(shape), 0
        places: list[Places] = []
        for part in parts:
            if len(shape) == 1 or expr.op == "vstack":
                places.append(_together(start, start := start + part.offset.size))
            else:
                own = index[:, start : (start := start + part.shape[1])]
                places.append(np.ascontiguousarray(own).reshape(-1) if shape[0] > 1 else _ends(own.reshape(-1)))
        offset = np.zeros(size)
        joined: dict[str, list[tuple[LinearMap, Places]]] = {}
        for part, at in zip(parts, places, strict=True):
            offset[at] = part.offset
            for v, m in part.maps.items():
                joined.setdefault(v, []).append((m, at))
        maps: dict[str, LinearMap] = {
            v: Joined(tuple(m for m, _ in own), tuple(at for _, at in own), size) for v, own in joined.items()
        }
        return AffineExpression(maps, offset, shape)

    def _reshape(self, expr: Expr) -> AffineExpression:
        inner = self.read(expr.args[0])
        return AffineExpression(inner.maps, inner.offset, self.shape(expr))

    def _outer(self, expr: Expr) -> AffineExpression:
        a, b = expr.args
        shape = self.shape(expr)
        if a.is_constant:
            column = self.vector(a, shape[0])[:, None]
            return self.read(b).mapped(LeftMultiply(column, shape[1], False, a.name or "a"), shape)
        row = self.vector(b, shape[1])[None, :]
        return self.read(a).mapped(RightMultiply(row, shape[0], b.name or "b"), shape)

    def _kron(self, expr: Expr) -> AffineExpression:
        """The outer product of the entries of both, with the axes in the order of the Kronecker product."""
        a, b = expr.args
        known, other = (a, b) if a.is_constant else (b, a)
        inner, value = self.read(other), self.constant(known)
        column = as_sparse(value).reshape((-1, 1)).tocsr() if is_sparse(value) else np.reshape(value, (-1, 1))
        name = known.name or "A"
        both: LinearMap = (
            LeftMultiply(column, inner.offset.size, False, name)
            if known is a
            else RightMultiply(column.T, inner.offset.size, name)
        )
        shape = self.shape(expr)
        if len(shape) == 1:
            return inner.mapped(both, shape)
        m, n, p, q = *self.shape(a), *self.shape(b)
        places = np.arange(math.prod(shape)).reshape(m, n, p, q).transpose(0, 2, 1, 3)
        return inner.mapped(compose(Take(places.reshape(-1), places.size, "kron"), both), shape)

    def _conv(self, expr: Expr) -> AffineExpression:
        k, x = expr.args if expr.args[0].is_constant else expr.args[::-1]
        inner = self.read(x)
        kernel = self.vector(k, math.prod(self.shape(k)))
        return inner.mapped(Convolution(kernel, inner.offset.size), self.shape(expr))

    def _diff(self, expr: Expr) -> AffineExpression:
        inner = self.read(expr.args[0])
        before, n, after = around(inner.shape, expr.axis)
        return inner.mapped(Differences(n, expr.order, before, after), self.shape(expr))

    def _cumsum(self, expr: Expr) -> AffineExpression:
        inner = self.read(expr.args[0])
        before, n, after = around(inner.shape, expr.axis)
        return inner.mapped(Cumulative(n, before, after), inner.shape)

    def _sum_axis(self, expr: Expr) -> AffineExpression:
        inner = self.read(expr.args[0])
        before, n, after = around(inner.shape, expr.axis)
        return inner.mapped(SumsAlong(n, before, after), self.shape(expr))

    def _sum(self, expr: Expr) -> AffineExpression:
        inner = self.read(expr.args[0])
        return inner if not inner.shape else inner.mapped(Row(np.ones(inner.offset.size), "ones"), ())

    def _mean(self, expr: Expr) -> AffineExpression:
        n = max(1, self.read(expr.args[0]).offset.size)
        return self._sum(expr).scaled(1.0 / n)

    def _dot(self, expr: Expr) -> AffineExpression:
        a, b = expr.args
        constant, inner = (a, self.read(b)) if a.is_constant else (b, self.read(a))
        return inner.mapped(Row(self.vector(constant, inner.offset.size), constant.name or "v"), ())

    def _trace(self, expr: Expr) -> AffineExpression:
        inner = self.read(expr.args[0])
        return inner.mapped(Row(np.eye(inner.shape[0]).reshape(-1), "eye"), ())

    def _diag(self, expr: Expr) -> AffineExpression:
        inner = self.read(expr.args[0])
        d = inner.shape[0]
        places = np.arange(d) * (d + 1)
        if len(inner.shape) == 2:
            return inner.mapped(Take(places, d * d, "diagonal"), (d,))
        return inner.mapped(Adjoint(Take(places, d * d, "diagonal")), (d, d))

    def _inner(self, expr: Expr) -> AffineExpression:
        left, right = expr.args
        if not left.is_constant:
            inner = self.read(left)
            column = self.vector(right, inner.offset.size // max(1, inner.shape[0]))[:, None]
            return inner.mapped(RightMultiply(column, inner.shape[0], right.name or "D"), inner.shape[:1])
        data = self.constant(left)
        n = data.shape[0]
        flat = data if data.ndim == 2 else data.reshape(n, -1)
        if right.op == "gather":
            return self._gathered(right, n, lambda at: Matrix(flat[at], False, left.name or "D"))
        return self.read(right).mapped(Matrix(flat, False, left.name or "D"), (n,))

    def _combine(self, expr: Expr) -> AffineExpression:
        x, matrices = expr.args
        M = np.asarray(self.constant(matrices), dtype=np.float64)
        if expr.value == "symmetric":
            gaps = np.abs(M - M.transpose(0, 2, 1)).reshape(M.shape[0], -1).max(axis=1, initial=0.0)
            if np.any(gaps > ASYMMETRY * np.abs(M).max(initial=0.0)):
                raise Asymmetric(f"`{matrices.name or 'M'}[{int(gaps.argmax())}]` is not symmetric", matrices)
            M = 0.5 * (M + M.transpose(0, 2, 1))
        flat = Matrix(M.reshape(M.shape[0], -1), True, matrices.name or "M")
        return self.read(x).mapped(flat, M.shape[1:])

    def _quad(self, expr: Expr) -> AffineExpression:
        left, right = expr.args
        data = self.constant(left)
        if right.op == "gather":
            return self._gathered(right, data.shape[0], lambda at: Quad(data[at], left.name or "U"))
        return self.read(right).mapped(Quad(data, left.name or "U"), (data.shape[0],))

    def _gathered(self, expr: Expr, n: int, part: Callable[[Any], LinearMap]) -> AffineExpression:
        """Sample i with the block F[task_i] of a family: one map a block, over its own samples."""
        family, task = expr.args
        inner = self.read(family)
        codes = np.asarray(self.constant(task), dtype=np.intp)
        # one sort, however many blocks there are
        order = np.argsort(codes, kind="stable")
        ends = np.searchsorted(codes[order], np.arange(inner.shape[0] + 1)).tolist()
        samples = tuple(order[start:end] for start, end in pairwise(ends))
        width = inner.offset.size // max(1, inner.shape[0])
        parts = tuple(part(at) for at in samples)
        return inner.mapped(Gathered(parts, samples, width, n), (n,))

    def _gather(self, expr: Expr) -> AffineExpression:
        """F[task] by itself, or one block F[0]."""
        inner = self.read(expr.args[0])
        index = np.arange(inner.offset.size).reshape(inner.shape)
        codes: Any = np.asarray(self.constant(expr.args[1]), dtype=np.intp) if len(expr.args) > 1 else expr.value
        chosen = index[codes]
        return inner.mapped(Take(chosen.reshape(-1), index.size, "task", once=False), chosen.shape)

    def _observe(self, expr: Expr) -> AffineExpression:
        inner = self.read(expr.args[0])
        entries = self.instance.values[expr.args[1].name]
        flat = entries.rows.astype(np.intp) * inner.shape[1] + entries.columns
        return inner.mapped(Take(flat, inner.offset.size, expr.args[1].name or "M", once=False), (flat.size,))


def _written_infinite(expr: Expr) -> bool:
    """`inf` or `-inf`, as in `box(-inf, 1)`."""
    return expr.op == "const" or (expr.op == "neg" and expr.args[0].op == "const")


def _slice_words(s: slice) -> str:
    start = "" if s.start is None else str(s.start)
    stop = "" if s.stop is None else str(s.stop)
    return f"{start}:{stop}" if s.step in (None, 1) else f"{start}:{stop}:{s.step}"


def _together(start: int, stop: int) -> slice:
    return slice(start, stop)


def _ends(places: NDArray[np.intp]) -> slice:
    """Places that follow each other."""
    return slice(int(places[0]), int(places[-1]) + 1) if places.size else slice(0, 0)


def around(shape: tuple[int, ...], axis: int) -> tuple[int, int, int]:
    """The sizes of the axes before one, its own, and those behind it."""
    return math.prod(shape[:axis]), shape[axis], math.prod(shape[axis + 1 :])


def _broadcast(a: AffineExpression, shape: tuple[int, ...]) -> AffineExpression:
    """A scalar meets every entry, a vector or a single row every row of a matrix, a single column every column."""
    if a.shape == shape:
        return a
    if not a.shape:
        return a.mapped(Column(np.ones(math.prod(shape))), shape)
    if len(a.shape) == 2 and a.shape[1] != shape[1]:
        if a.shape[0] != shape[0]:
            return a.mapped(Column(np.ones(math.prod(shape))), shape)
        return a.mapped(RightMultiply(np.ones((1, shape[1])), shape[0], "ones"), shape)
    return a.mapped(Tile(shape[0], shape[1]), shape)


def _sum(parts: list[AffineExpression], shape: tuple[int, ...]) -> AffineExpression:
    found: dict[str, list[LinearMap]] = {}
    for part in parts:
        for v, m in part.maps.items():
            found.setdefault(v, []).append(m)
    maps = {v: _added(ms) for v, ms in found.items()}
    offset = reduce(np.add, [p.offset for p in parts])
    return AffineExpression(maps, np.asarray(offset, dtype=np.float64), shape)


def _added(maps: list[LinearMap]) -> LinearMap:
    """The sum of maps: one after the other where they are few, else of halves, so that it is as deep as the logarithm of their number."""
    if len(maps) <= FEW:
        return reduce(added, maps)
    half = len(maps) // 2
    return added(_added(maps[:half]), _added(maps[half:]))


class KeptReader(AffineReader):
    """A reader whose blocks stay: it reads each expression once."""

    def __init__(self, instance: Instance, blocks: dict[str, Block]) -> None:
        super().__init__(instance, blocks)
        self._known: dict[int, tuple[Expr, Stacked]] = {}

    def stacked(self, expr: Expr) -> Stacked:
        if id(expr) not in self._known:
            self._known[id(expr)] = expr, super().stacked(expr)
        return self._known[id(expr)][1]


_READERS: dict[str, Callable[[AffineReader, Expr], AffineExpression]] = {
    "var": AffineReader._var,
    "add": AffineReader._add,
    "neg": AffineReader._neg,
    "mul": AffineReader._mul,
    "div": AffineReader._div,
    "matmul": AffineReader._matmul,
    "transpose": AffineReader._transpose,
    "slice": AffineReader._slice,
    "take": AffineReader._take,
    "hstack": AffineReader._stack,
    "vstack": AffineReader._stack,
    "reshape": AffineReader._reshape,
    "outer": AffineReader._outer,
    "kron": AffineReader._kron,
    "conv": AffineReader._conv,
    "diff": AffineReader._diff,
    "cumsum": AffineReader._cumsum,
    "sum_axis": AffineReader._sum_axis,
    "sum": AffineReader._sum,
    "mean": AffineReader._mean,
    "dot": AffineReader._dot,
    "trace": AffineReader._trace,
    "diag": AffineReader._diag,
    "inner": AffineReader._inner,
    "quad": AffineReader._quad,
    "combine": AffineReader._combine,
    "gather": AffineReader._gather,
    "observe": AffineReader._observe,
}
