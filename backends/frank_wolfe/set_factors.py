"""The factors of a product of sets (variables, blocks of a family, lines of rows(...) and columns(...)), and the losses of each."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from fwdsl.atoms.base import Array, VectorFunction
from fwdsl.atoms.family import Repeated
from fwdsl.atoms.loss import LossFunction
from fwdsl.atoms.matrices import Lines
from fwdsl.atoms.vector_loss import VectorLossFunction
from fwdsl.atoms.vectors.ridge import Ridged
from fwdsl.backends.functions import FastLoss, FastRows
from fwdsl.backends.kernels.operators import Operator
from fwdsl.backends.maps import CountedMap, KernelMatrix
from fwdsl.backends.problem import PreparedProblem
from fwdsl.bind.data_operator import DataOperator
from fwdsl.canon.combined_maps import Scaled
from fwdsl.canon.maps import Identity, LinearMap
from fwdsl.canon.matrix_maps import Gathered, LeftMultiply
from fwdsl.light_dataclass import light_dataclass

Index = NDArray[np.intp]


class MapProducts(Protocol):
    """The products that a step needs, with a term's map or with a part of it."""

    def apply(self, x: Array, /) -> Array:
        """K_I x."""

    def adjoint(self, y: Array, /) -> Array:
        """K_I' y."""


@light_dataclass
class View:
    """The part of a term that depends on a factor: `rows` of the predictions (None: all), the map from the factor to them, and their loss."""

    term: int
    rows: Index | None
    map: MapProducts
    loss: FastLoss | FastRows


@light_dataclass
class SetFactor:
    """A factor: its places in x, its set, the curvature of its ridge, and the terms that depend on it."""

    places: Index
    g: VectorFunction
    mu: float
    views: tuple[View, ...]


def set_factors(problem: PreparedProblem) -> list[SetFactor]:
    """The factors of the problem's set, finest first come in the order of x."""
    found, views_of = [], _Views(problem)
    for block in problem.canonical.blocks:
        parts = [(i, m) for i, t in enumerate(problem.terms) for b, m in t.map.parts if b.name == block.name]
        for g, local in factors(block.g, np.arange(block.size)):
            views = tuple(views_of.view(i, m, local) for i, m in parts)
            found.append(SetFactor(local + block.start, g, block.g.curvature, views))
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


class _Views:
    """Makes the views of a problem's factors."""

    def __init__(self, problem: PreparedProblem) -> None:
        self.problem = problem
        self.copies: dict[LeftMultiply, object] = {}

    def view(self, i: int, m: LinearMap, local: Index) -> View:
        """The view of some columns of a term's map."""
        loss = self.problem.functions[i]
        assert isinstance(loss, FastLoss | FastRows), "requires() asks for smooth losses"
        rows, part = self._restricted(m, local)
        f = loss.f
        if rows is not None and isinstance(f, LossFunction):
            return View(i, rows, part, FastLoss(LossFunction(f.loss, f.b[rows], f.w[rows], f.p), self.problem.pool))
        if rows is not None and isinstance(f, VectorLossFunction):
            samples = _samples(rows, f.k)
            if samples is not None:
                of = VectorLossFunction(f.loss, f.y[samples], f.w[samples], f.k)
                return View(i, rows, part, FastRows(of, self.problem.pool))
        return View(i, None, part if rows is None else self._of_all_rows(m, local), loss)

    def _restricted(self, m: LinearMap, local: Index) -> tuple[Index | None, MapProducts]:
        """The rows that can differ from 0 where only these columns do (None: all), and the map from those columns to those rows."""
        if local.size < m.columns:
            if isinstance(m, Identity):
                return local, Identity(local.size)
            if isinstance(m, Scaled):
                rows, inner = self._restricted(m.inner, local)
                return rows, _Times(inner, m.c)
            if isinstance(m, CountedMap) and isinstance(m.inner, Gathered):
                t = int(local[0]) // m.inner.width
                if local.size == m.inner.width and int(local[-1]) == int(local[0]) + local.size - 1:
                    return m.inner.samples[t], _Share(m.inner.parts[t], m)
            if isinstance(m, CountedMap) and isinstance(m.inner, LeftMultiply) and m.inner.k > 1:
                k, d = m.inner.k, m.inner.columns // m.inner.k
                if local.size == d and bool(np.all(np.diff(local) == k)):
                    column = LeftMultiply(m.inner.A, 1, m.inner.transposed, m.inner.name)
                    return np.arange(m.rows // k) * k + int(local[0]), _Share(column, m)
                row = _row(local, k)
                if row is not None and hasattr(m.inner.A, "indptr"):
                    samples, numbers = self._column(m.inner, row)
                    if 2 * samples.size <= m.rows // k:
                        return _predictions(samples, k), _Share(LeftMultiply(numbers, k, False, m.inner.name), m)
        return None, self._of_all_rows(m, local)

    def _of_all_rows(self, m: LinearMap, local: Index) -> MapProducts:
        """The map from some columns."""
        if local.size == m.columns:
            return m
        if isinstance(m, Scaled):
            return _Times(self._of_all_rows(m.inner, local), m.c)
        if isinstance(m, KernelMatrix) and not m.transposed:
            return _Columns(m.operator.columns(local))
        if isinstance(m, CountedMap) and isinstance(m.inner, LeftMultiply):
            left, k = m.inner, m.inner.k
            row = _row(local, k)
            if row is not None and not isinstance(left.A, DataOperator):
                return _Share(LeftMultiply(self._by_columns(left)[:, [row]], k, False, left.name), m)
        return _Padded(m, local)

    def _by_columns(self, left: LeftMultiply) -> Any:
        """The A of X -> A X, sparse ones by columns: one copy for all factors."""
        A = left.A.T if left.transposed else left.A
        if not hasattr(A, "indptr"):
            return A
        if left not in self.copies:
            A = A.tocsc()
            if not A.has_canonical_format:
                A = A.copy()
                A.sum_duplicates()
            self.copies[left] = A
        return self.copies[left]

    def _column(self, left: LeftMultiply, j: int) -> tuple[Index, Array]:
        """The rows of a sparse A that column j has numbers in, and these as a matrix of one column."""
        A = self._by_columns(left)
        at = slice(int(A.indptr[j]), int(A.indptr[j + 1]))
        return A.indices[at].astype(np.intp), A.data[at].astype(np.float64)[:, None]


def _samples(rows: Index, k: int) -> Index | None:
    """The samples whose k predictions these are, None where they are parts of some."""
    if rows.size % k:
        return None
    samples = rows[::k] // k
    return samples if np.array_equal(rows, _predictions(samples, k)) else None


def _predictions(samples: Index, k: int) -> Index:
    """The places of k predictions each."""
    return np.asarray((samples[:, None] * k + np.arange(k)).reshape(-1), dtype=np.intp)


def _row(local: Index, k: int) -> int | None:
    """The row of a matrix of k columns that these places are, None where they are another set."""
    first = int(local[0])
    return first // k if local.size == k and first % k == 0 and int(local[-1]) == first + k - 1 else None


class _Times:
    """A part times a number."""

    def __init__(self, inner: MapProducts, c: float) -> None:
        self.inner, self.c = inner, c

    def apply(self, x: Array) -> Array:
        return self.c * self.inner.apply(x)

    def adjoint(self, y: Array) -> Array:
        return self.c * self.inner.adjoint(y)


class _Columns:
    """Some columns of data, on kernels."""

    def __init__(self, operator: Operator) -> None:
        self.operator = operator

    def apply(self, x: Array) -> Array:
        return self.operator.matvec(x)

    def adjoint(self, y: Array) -> Array:
        return self.operator.rmatvec(y)


class _Share:
    """A part of a map of matrix variables; the numbers it touches are counted there."""

    def __init__(self, inner: LinearMap, whole: CountedMap) -> None:
        self.inner, self.whole = inner, whole

    def apply(self, x: Array) -> Array:
        self.whole.touched += self.inner.nnz
        return self.inner.apply(x)

    def adjoint(self, y: Array) -> Array:
        """K_I' y."""
        self.whole.touched += self.inner.nnz
        return self.inner.adjoint(y)


class _Padded:
    """Some columns of a map that is known as a whole: each product takes one with all of it."""

    def __init__(self, inner: LinearMap, local: Index) -> None:
        self.inner, self.local = inner, local

    def apply(self, x: Array) -> Array:
        full = np.zeros(self.inner.columns)
        full[self.local] = x
        return self.inner.apply(full)

    def adjoint(self, y: Array) -> Array:
        """The entries of K'y."""
        return np.ascontiguousarray(self.inner.adjoint(y)[self.local])
