"""The factors of a product of sets, and what the losses see of each: variables, the blocks of a family, the lines of rows(...) and columns(...)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...atoms.base import Array, LossFunction, VectorFunction
from ...atoms.family import Repeated
from ...atoms.matrices import Lines
from ...atoms.vectors.ridge import Ridged
from ...canon.combined_maps import Scaled
from ...canon.maps import LinearMap
from ...canon.matrix_maps import Gathered, LeftMultiply
from ..functions import FastLoss, FastRows
from ..kernels.operators import Operator
from ..problem import Counted, KernelMatrix, Problem

Index = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class View:
    """What one term sees of a piece: `rows` of its predictions (None: all), by a map of the piece alone, and the loss of those rows."""

    term: int
    rows: Index | None
    map: LinearMap
    loss: FastLoss | FastRows


@dataclass(frozen=True, eq=False)
class Piece:
    """A factor: its places in x, its set, the curvature of its ridge, and what sees it."""

    places: Index
    g: VectorFunction
    mu: float
    views: tuple[View, ...]


def pieces(problem: Problem) -> list[Piece]:
    """The factors of the problem's set, finest first come in the order of x."""
    found = []
    for block in problem.canonical.blocks:
        parts = [(i, m) for i, t in enumerate(problem.terms) for b, m in t.map.parts if b.name == block.name]
        for g, local in factors(block.g, np.arange(block.size)):
            views = tuple(_view(problem, i, m, local) for i, m in parts)
            found.append(Piece(local + block.start, g, block.g.curvature, views))
    return found


def factors(g: VectorFunction, places: Index) -> Iterator[tuple[VectorFunction, Index]]:
    """The set of these places as a product, its ridge left out."""
    if isinstance(g, Ridged):
        yield from factors(g.inner, places)
    elif isinstance(g, Repeated):
        for part in places.reshape(g.count, -1):
            yield from factors(g.inner, part)
    elif isinstance(g, Lines):
        for line in g.lines(places):  # type: ignore[arg-type]
            yield from factors(g.inner, line)
    else:
        yield g, np.ascontiguousarray(places)


def _view(problem: Problem, i: int, m: LinearMap, local: Index) -> View:
    loss = problem.functions[i]
    assert isinstance(loss, FastLoss | FastRows), "requires() asks for smooth losses"
    rows, part = _restricted(m, local) if isinstance(loss, FastLoss) else (None, _of_all_rows(m, local))
    if rows is None:
        return View(i, None, part, loss)
    f = loss.f
    assert isinstance(f, LossFunction)
    return View(i, rows, part, FastLoss(LossFunction(f.loss, f.b[rows], f.w[rows], f.p), problem.pool))


def _restricted(m: LinearMap, local: Index) -> tuple[Index | None, LinearMap]:
    """The rows that can differ from 0 where only these columns do (None: all), and the map from those columns to those rows."""
    if local.size < m.columns:
        if isinstance(m, Scaled):
            rows, inner = _restricted(m.inner, local)
            return rows, Scaled(inner, m.c)
        if isinstance(m, Counted) and isinstance(m.inner, Gathered):
            t = int(local[0]) // m.inner.width
            if local.size == m.inner.width and int(local[-1]) == int(local[0]) + local.size - 1:
                return m.inner.samples[t], _Share(m.inner.parts[t], m)
        if isinstance(m, Counted) and isinstance(m.inner, LeftMultiply) and m.inner.k > 1:
            k, d = m.inner.k, m.inner.columns // m.inner.k
            if local.size == d and bool(np.all(np.diff(local) == k)):
                column = LeftMultiply(m.inner.A, 1, m.inner.transposed, m.inner.name)
                return np.arange(m.rows // k) * k + int(local[0]), _Share(column, m)
    return None, _of_all_rows(m, local)


def _of_all_rows(m: LinearMap, local: Index) -> LinearMap:
    """The map from some columns."""
    if local.size == m.columns:
        return m
    if isinstance(m, Scaled):
        return Scaled(_of_all_rows(m.inner, local), m.c)
    if isinstance(m, KernelMatrix) and not m.transposed:
        return _Columns(m.operator.columns(local))
    if isinstance(m, Counted) and isinstance(m.inner, LeftMultiply):
        left, k = m.inner, m.inner.k
        if local.size == k and int(local[0]) % k == 0 and int(local[-1]) == int(local[0]) + k - 1:
            row = [int(local[0]) // k]
            return _Share(LeftMultiply(_columns_of(left.A, row, left.transposed), k, False, left.name), m)
    return _Padded(m, local)


def _columns_of(A: Any, columns: list[int], transposed: bool) -> Any:
    """Some columns of A, or of its transpose."""
    return A[columns, :].T if transposed else A[:, columns]


class _Part(LinearMap):
    """A map that only the methods see."""

    def absolute(self) -> LinearMap:
        """Not asked for."""
        raise NotImplementedError

    def describe(self, x: str) -> str:
        """As a part."""
        return f"part of {x}"


class _Columns(_Part):
    """Some columns of data, on kernels."""

    def __init__(self, operator: Operator) -> None:
        self.operator = operator
        self.rows, self.columns = operator.shape

    def apply(self, x: Array) -> Array:
        """A_I x."""
        return self.operator.matvec(x)

    def adjoint(self, y: Array) -> Array:
        """A_I' y."""
        return self.operator.rmatvec(y)


class _Share(_Part):
    """A part of a map of matrix variables; the numbers it touches are counted there."""

    def __init__(self, inner: LinearMap, whole: Counted) -> None:
        self.inner, self.whole = inner, whole
        self.rows, self.columns = inner.rows, inner.columns

    def apply(self, x: Array) -> Array:
        """K_I x."""
        self.whole.touched += self.inner.nnz
        return self.inner.apply(x)

    def adjoint(self, y: Array) -> Array:
        """K_I' y."""
        self.whole.touched += self.inner.nnz
        return self.inner.adjoint(y)


class _Padded(_Part):
    """Some columns of a map that is known as a whole: each product takes one with all of it."""

    def __init__(self, inner: LinearMap, local: Index) -> None:
        self.inner, self.local = inner, local
        self.rows, self.columns = inner.rows, local.size

    def apply(self, x: Array) -> Array:
        """K x, x among zeros."""
        full = np.zeros(self.inner.columns)
        full[self.local] = x
        return self.inner.apply(full)

    def adjoint(self, y: Array) -> Array:
        """The entries of K'y."""
        return np.ascontiguousarray(self.inner.adjoint(y)[self.local])
