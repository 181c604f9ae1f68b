"""Linear maps on kernels, with their work counted, and some columns of them."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from fwdsl.atoms.base import Array
from fwdsl.backends.kernels.arrays import SIZES, SQUARES
from fwdsl.backends.kernels.operators import Operator
from fwdsl.canon.combined_maps import Add, Compose, Joined, Scaled
from fwdsl.canon.data_maps import Matrix
from fwdsl.canon.maps import LinearMap, MapOfOne, NonnegativeMap, by_rows
from fwdsl.canon.parts import Block
from fwdsl.light_dataclass import light_dataclass
from fwdsl.readers.row_blocks import NotInMemory
from fwdsl.sums import Rows, sum_over, tree_dot

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from fwdsl.backends.kernels.on_device import DeviceDense, DeviceSparse


FEW = 8
"""Columns up to which a map is applied to unit vectors, and not written down."""

MOST_WRITTEN = 4_000_000
"""Numbers up to which a map is written down and kept."""

PRODUCT = 4.0
"""Numbers of a product with a vector that take as long as a multiplication of a sparse Gram matrix."""

MOSTLY = 0.25
"""The share of numbers other than zero from which on columns are kept as a dense matrix."""


class KernelMatrix(MapOfOne):
    """A matrix of the instance on kernels; one `Operator` serves every term that uses the same data."""

    def __init__(self, source: Matrix, operator: Operator) -> None:
        self.source = self.inner = source
        self.operator = operator
        self.transposed = source.transposed

    def apply(self, x: Array) -> Array:
        """A x, by the columns of its support alone where x is sparse and that is cheaper."""
        x = np.ascontiguousarray(x)
        if self.transposed:
            return self.operator.rmatvec(x)
        support = np.flatnonzero(x)
        if not support.size:
            return np.zeros(self.operator.shape[0])
        if 2 * support.size < x.size:
            return self.operator.matvec_columns(x, support)
        return self.operator.matvec(x)

    @property
    def leaves(self) -> tuple[Rows, ...] | None:
        return None if self.transposed else self.operator.leaves

    def absolute(self) -> LinearMap:
        return self._sizes(self.source.absolute(), SIZES)

    def squared(self) -> LinearMap:
        return self._sizes(self.source.squared(), SQUARES)

    def _sizes(self, on_host: LinearMap, of: int) -> LinearMap:
        return SizesElsewhere(on_host, self, of) if self.operator.storage.elsewhere else on_host

    def adjoint(self, y: Array) -> Array:
        y = np.ascontiguousarray(y)
        return self.operator.matvec(y) if self.transposed else self.operator.rmatvec(y)


class SizesElsewhere(NonnegativeMap):
    """x -> |A| x, or the same of squares, of a matrix that a device has."""

    def __init__(self, on_host: LinearMap, source: KernelMatrix, of: int) -> None:
        self.on_host, self.storage, self.transposed, self.of = on_host, source.operator.storage, source.transposed, of

    @property
    def shape(self) -> tuple[int, int]:
        return self.on_host.shape

    @property
    def leaves(self) -> tuple[Rows, ...] | None:
        return self.on_host.leaves

    def apply(self, x: Array) -> Array:
        out, storage = np.empty(self.rows), cast("DeviceDense | DeviceSparse", self.storage)
        return out if storage.sizes(x, self.transposed, self.of, out) else self.on_host.apply(x)

    def adjoint(self, y: Array) -> Array:
        out, storage = np.empty(self.columns), cast("DeviceDense | DeviceSparse", self.storage)
        return out if storage.sizes(y, not self.transposed, self.of, out) else self.on_host.adjoint(y)

    def describe(self, x: str) -> str:
        return self.on_host.describe(x)


class CountedMap(MapOfOne):
    """A map of matrix variables, by BLAS or SciPy, with the numbers it touches counted."""

    def __init__(self, inner: LinearMap) -> None:
        self.inner = inner
        self.touched = 0

    def apply(self, x: Array) -> Array:
        self.touched += self.inner.nnz
        return self.inner.apply(x)

    def adjoint(self, y: Array) -> Array:
        self.touched += self.inner.nnz
        return self.inner.adjoint(y)

    def adjoint_over(self, y: Array, leaves: tuple[Rows, ...]) -> Array:
        self.touched += self.inner.nnz
        return self.inner.adjoint_over(y, leaves)


class ByProducts(CountedMap):
    """Data that are known by their products alone."""

    def squared(self) -> LinearMap:
        """Only the norm of the whole is known: each row is taken to have it."""
        return _Evenly(self.inner.absolute())

    def sparse(self) -> csr_array:
        """None of its entries are known."""
        raise NotInMemory


class _Evenly(NonnegativeMap):
    """x -> |A|^2 sum(x) in each entry, for x >= 0: where |A| y is |A|_2 |y|_2, these are its squares at x = y^2."""

    def __init__(self, absolute: LinearMap) -> None:
        self.inner = absolute

    @property
    def shape(self) -> tuple[int, int]:
        return self.inner.shape

    def apply(self, x: Array) -> Array:
        return self.inner.apply(np.sqrt(x)) ** 2

    def adjoint(self, y: Array) -> Array:
        return self.inner.adjoint(np.sqrt(y)) ** 2

    def describe(self, x: str) -> str:
        return self.inner.describe(x)


def is_by_columns(m: LinearMap) -> bool:
    """True if a map stores its columns."""
    inner = m.inner if isinstance(m, Scaled) else m
    return isinstance(inner, KernelMatrix) and not inner.transposed


@light_dataclass
class MapColumns:
    """Some columns of one map: of a matrix by reference, or formed where the map is another (an intercept, a product), sparsely for slices."""

    at: NDArray[np.intp]
    local: NDArray[np.intp]
    factor: float
    operator: Operator | None
    dense: Array | csr_array | None
    leaves: tuple[Rows, ...]

    @cached_property
    def _at(self) -> slice | None:
        """The places as a range, where they are one."""
        at = self.at
        return slice(at[0], at[-1] + 1) if at.size and at[-1] - at[0] + 1 == at.size else None

    def places(self, other: MapColumns) -> tuple[Any, ...]:
        """The places of the products of these columns with others in a matrix of all."""
        own, others = self._at, other._at
        return np.ix_(self.at, other.at) if own is None or others is None else (own, others)

    @cached_property
    def _support(self) -> NDArray[np.intp] | None:
        """The columns of the operator, None for all of them."""
        assert self.operator is not None
        return None if np.array_equal(self.local, np.arange(self.operator.shape[1])) else self.local

    def gram(self, w: Array, single: bool = False) -> Array:
        """C' diag(w) C, an array of its own; see `Operator.gram` for `single`."""
        if self.operator is not None:
            # the weights are scaled, not the result: so the Gram matrix of a node of rows is the value of that node
            return self.operator.gram(self._support, w if self.factor == 1.0 else self.factor**2 * w, single)
        C = self.dense
        assert C is not None
        if isinstance(C, np.ndarray) and C.shape[1] == 1:
            # an intercept
            column = C[:, 0]
            return np.array([[tree_dot(column, w * column, self.leaves)]])
        found = sum_over(self.leaves, w.size, lambda at: _gram(C[at], w[at]))
        return np.zeros((self.at.size, self.at.size)) if found is None else np.asarray(found)

    def adjoint(self, y: Array) -> Array:
        if self.operator is not None:
            found = self.operator.rmatvec(y if self.factor == 1.0 else self.factor * y)
            return found if self._support is None else found[self.local]
        C = self.dense
        assert C is not None
        found = sum_over(self.leaves, y.size, lambda at: np.asarray(C[at].T @ y[at]))
        return np.zeros(self.at.size) if found is None else np.asarray(found)

    def rows(self, at: NDArray[np.intp]) -> Array:
        if self.operator is None:
            assert self.dense is not None
            found = self.dense[at]
            return found if isinstance(found, np.ndarray) else np.asarray(found.toarray())
        found = np.empty((at.size, self.local.size))
        # the products with the unit vectors of the lesser side
        if self.local.size <= at.size:
            unit = np.zeros(self.operator.shape[1])
            for c, j in enumerate(self.local):
                unit[j] = self.factor
                found[:, c] = self.operator.matvec_columns(unit, self.local[c : c + 1])[at]
                unit[j] = 0.0
            return found
        unit = np.zeros(self.operator.shape[0])
        for r, i in enumerate(at):
            unit[i] = self.factor
            found[r] = self.operator.rmatvec_rows(unit, at[r : r + 1])[self.local]
            unit[i] = 0.0
        return found

    def column(self, c: int) -> Array:
        if isinstance(self.dense, np.ndarray):
            return np.ascontiguousarray(self.dense[:, c])
        if self.dense is not None:
            return np.asarray(self.dense[:, [c]].toarray()).reshape(-1)
        assert self.operator is not None
        unit = np.zeros(self.operator.shape[1])
        unit[self.local[c]] = self.factor
        return self.operator.matvec(unit)

    def cross(self, other: MapColumns, w: Array) -> Array:
        """C' diag(w) D for the columns D of another map."""
        if self.dense is not None and other.dense is not None:
            C, D = self.dense, other.dense
            found = sum_over(self.leaves, w.size, lambda at: _cross(C[at], w[at], D[at]))
            return np.zeros((self.at.size, other.at.size)) if found is None else np.asarray(found)
        if other.at.size > self.at.size:
            return other.cross(self, w).T
        if other.at.size == 1:
            return self.adjoint(w * other.column(0))[:, None]
        columns = [self.adjoint(w * other.column(c)) for c in range(other.at.size)]
        return np.stack(columns, axis=1) if columns else np.zeros((self.at.size, 0))


def _gram(C: Array | csr_array, w: Array) -> Array:
    """C' diag(w) C."""
    return _cross(C, w, C)


def _cross(C: Array | csr_array, w: Array, D: Array | csr_array) -> Array:
    """C' diag(w) D."""
    if isinstance(D, np.ndarray):
        weighted: Any = w[:, None] * D
    else:
        # SciPy's product with a column takes four times as long
        weighted = by_rows(D.data * np.repeat(w, np.diff(D.indptr)), D.indices, D.indptr, D.shape)
    found = C.T @ weighted
    return np.asarray(found) if isinstance(found, np.ndarray) else np.asarray(found.toarray())


def _count(m: LinearMap, products: int) -> None:
    """Count so many products with a map."""
    if isinstance(m, CountedMap):
        m.touched += products * m.nnz
    elif isinstance(m, KernelMatrix):
        m.operator.counter.touched += products * m.nnz
    elif isinstance(m, Compose):
        _count(m.outer, products)
        _count(m.inner, products)
    elif isinstance(m, Add):
        _count(m.left, products)
        _count(m.right, products)
    elif isinstance(m, Joined):
        for part in m.parts:
            _count(part, products)
    elif isinstance(m, Scaled):
        _count(m.inner, products)


def written(m: LinearMap) -> csr_array | None:
    """K with its entries written down; None where these are many, or cannot be read."""
    if m.entries > MOST_WRITTEN:
        return None
    try:
        return m.written()
    except NotInMemory:
        return None


def columns_of(
    m: LinearMap,
    block: Block,
    free: NDArray[np.intp],
    look: Callable[[], None],
    leaves: tuple[Rows, ...],
    known: Callable[[LinearMap], csr_array | None] = written,
) -> MapColumns:
    """The columns of a block's map for its coordinates among `free`, sums over its rows taken over `leaves`.

    `known` tells the map written down, where it is; `look` may stop the making of columns by products.
    """
    at = np.flatnonzero((free >= block.start) & (free < block.stop))
    local = free[at] - block.start
    factor, inner = (m.c, m.inner) if isinstance(m, Scaled) else (1.0, m)
    if isinstance(inner, KernelMatrix) and not inner.transposed:
        return MapColumns(at, local, factor, inner.operator, None, leaves)
    whole = known(m) if at.size > FEW else None
    if whole is not None:
        C = whole if local.size == whole.shape[1] else whole[:, local]
        # the Gram matrix, which they are for, multiplies each number by those of its row
        each = np.diff(C.indptr).astype(np.float64)
        _count(m, round(PRODUCT * float(each @ each) / max(1.0, float(each.sum()))))
        return MapColumns(at, local, 1.0, None, C.toarray() if C.nnz > MOSTLY * m.rows * at.size else C, leaves)
    dense = np.empty((m.rows, at.size))
    unit = np.zeros(m.columns)
    for c, j in enumerate(local):
        look()
        unit[j] = 1.0
        dense[:, c] = m.apply(unit)
        unit[j] = 0.0
    return MapColumns(at, local, 1.0, None, dense, leaves)
