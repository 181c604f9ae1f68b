"""Linear maps, kept as the user wrote them, and the plain ones of vectors.

Each map has a reference `apply` and `adjoint` in NumPy/SciPy, which the verifier uses; `backends.problem` puts kernels in the place of
the data. Vectors are flat float64 arrays. Maps by data are in `data_maps.py`, those of matrix variables in `matrix_maps.py`, sums and
products of maps in `combined_maps.py`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..atoms.base import Array, MatrixLike
from ..light_dataclass import light_dataclass
from ..readers.row_blocks import unchecked
from ..sums import Rows, tree_dot

if TYPE_CHECKING:
    from scipy.sparse import csr_array


KEPT = 100_000
"""Numbers of a map up to which the matrix that it is written down as is kept."""


SORTED = 2_000
"""Entries of a matrix up to which to sort them takes less time than SciPy's constructor, whatever their places."""

SHORT = 1 << 16
"""Rows and columns up to which places are sorted as numbers of 16 bits, which NumPy does in linear time."""


def as_sparse(A: MatrixLike) -> csr_array:
    """A in double precision."""
    from scipy.sparse import csr_array

    if isinstance(A, np.ndarray) and A.ndim == 2:
        rows, columns = A.shape
        if A.all():
            data = np.array(A, dtype=np.float64, order="C").reshape(-1)
            return by_rows(data, np.tile(np.arange(columns), rows), columns * np.arange(rows + 1), (rows, columns))
        row, column = A.nonzero()
        return by_rows(np.asarray(A[row, column], dtype=np.float64), column, row_ends(row, rows), (rows, columns))
    return csr_array(A, dtype=np.float64)


def by_rows(data: Array, indices: Any, indptr: Any, shape: tuple[int, int], copy: bool = True) -> csr_array:
    """The sparse matrix of these arrays by rows, which nobody looks at (`unchecked`).

    Places are copied unless told not to: SciPy sorts them where they are, and another matrix with them would have its numbers elsewhere.
    """
    from scipy.sparse import csr_array

    kind = np.int32 if max(data.size, *shape) < 1 << 31 else np.int64
    indices, indptr = (np.array(a, dtype=kind) if copy else np.asarray(a, dtype=kind) for a in (indices, indptr))
    return unchecked(csr_array, shape, data, indices, indptr)


def of_one_each(columns: Any, values: Any, width: int) -> csr_array:
    """The sparse matrix whose rows have one entry each, in these columns."""
    count = np.size(columns)
    data = np.empty(count)
    data[:] = values
    return by_rows(data, columns, np.arange(count + 1), (count, width))


def placed(rows: Any, columns: Any, values: Any, shape: tuple[int, int]) -> csr_array:
    """The sparse matrix with these values at these places; those of one place are added up."""
    from scipy.sparse import csr_array

    rows, columns = np.asarray(rows).reshape(-1), np.asarray(columns).reshape(-1)
    data = np.asarray(values, dtype=np.float64)
    data = data if data.shape == rows.shape else np.broadcast_to(data, rows.shape)
    if rows.size <= SORTED or max(shape) <= SHORT:
        order = row_by_row(rows, columns, shape)
        row, column = rows[order], columns[order]
        if not ((row[1:] == row[:-1]) & (column[1:] == column[:-1])).any():
            return by_rows(data[order], column, row_ends(rows, shape[0]), shape)
    return csr_array((data, (rows, columns)), shape)


def row_ends(rows: Any, count: int) -> Any:
    """The places between which the entries of each of `count` rows stand, once they are sorted by rows; `rows` are their rows."""
    ends = np.zeros(count + 1, dtype=np.intp)
    np.bincount(rows, minlength=count).cumsum(out=ends[1:])
    return ends


def row_by_row(rows: Any, columns: Any, shape: tuple[int, int]) -> Any:
    """The order of entries by rows, and within these by columns."""
    if max(shape) <= SHORT:
        return np.lexsort((columns.astype(np.uint16), rows.astype(np.uint16)))
    return np.argsort(rows.astype(np.int64) * shape[1] + columns, kind="stable")


def _images(product: Callable[[Array], Array], n: int, size: int) -> csr_array:
    """The products with the n unit vectors as rows, `size` numbers each, of which zeros are not kept."""
    from scipy.sparse import csr_array, vstack

    rows = []
    for i in range(n):
        e = np.zeros(n)
        e[i] = 1.0
        rows.append(as_sparse(product(e)[None, :]))
    return as_sparse(vstack(rows, format="csr")) if rows else csr_array((n, size))


class LinearMap(ABC):
    """x -> K x from R^columns to R^rows."""

    @property
    @abstractmethod
    def shape(self) -> tuple[int, int]:
        """(rows, columns)."""

    @property
    def rows(self) -> int:
        return self.shape[0]

    @property
    def columns(self) -> int:
        return self.shape[1]

    @abstractmethod
    def apply(self, x: Array) -> Array:
        """K x."""

    @abstractmethod
    def adjoint(self, y: Array) -> Array:
        """K' y."""

    @property
    def leaves(self) -> tuple[Rows, ...] | None:
        """The leaves (`fwdsl.sums`) that data of this map cut K x into, as ranges of its entries; None where no rows of data have entries there."""
        return None

    def adjoint_over(self, y: Array, leaves: tuple[Rows, ...]) -> Array:
        """K' y, its sums taken over these leaves where the map has none of its own."""
        return self.adjoint(y)

    def partial(self, y: Array, leaves: tuple[Rows, ...]) -> Any:
        """The sums over rows that K' y is made of: a value of a node (`fwdsl.sums`), which its holder gives."""
        return self.adjoint_over(y, leaves)

    def finished(self, sums: Any) -> Array:
        """K' y from these sums over all rows: what is done to them once. `finished(partial(y, leaves))` is `adjoint_over(y, leaves)`."""
        return np.asarray(sums)

    def part(self, start: int, stop: int, leaves: tuple[Rows, ...]) -> LinearMap:
        """The map to the entries start..stop-1 of K x, whose leaves are given, counted from `start`: what a holder of some rows has of it.

        A `TypeError` for a map whose entries are not those of rows of data.
        """
        raise TypeError(f"{type(self).__name__} is no map to rows of data, which could be shared")

    @abstractmethod
    def absolute(self) -> LinearMap:
        """A map whose entries bound those of |K| from above: what the rounding rule of certificates measures with."""

    def squared(self) -> LinearMap:
        """A map whose entries are about those of K squared, which scaling measures with; `absolute` where they are 0 or 1."""
        return self.absolute()

    def sparse(self) -> csr_array:
        """K with its entries written down; by products with unit vectors where a map knows no better."""
        if self.columns <= self.rows:
            return as_sparse(_images(self.apply, self.columns, self.rows).T)
        return _images(self.adjoint, self.rows, self.columns)

    def sparse_after(self, inner: csr_array) -> csr_array:
        """K times a sparse matrix."""
        return (self.sparse() @ inner).tocsr()

    def written(self) -> csr_array:
        """`sparse`, made once where it has few numbers: nobody may change it, so its arrays are read-only then."""
        found: csr_array | None = vars(self).get("_written")
        if found is None:
            found = self.sparse()
            if found.nnz > KEPT:
                return found
            # views: the arrays themselves may be the user's
            data, indices, indptr = (a.view() for a in (found.data, found.indices, found.indptr))
            for a in (data, indices, indptr):
                a.flags.writeable = False
            found = vars(self)["_written"] = by_rows(data, indices, indptr, found.shape, copy=False)
        return found

    @abstractmethod
    def describe(self, x: str) -> str:
        """The map in the language's words, for an argument written `x`."""

    @property
    def nnz(self) -> int:
        """Stored numbers that one application touches."""
        return 0

    @property
    def repeats(self) -> int:
        """The products that a stored number has in one application: the columns, or rows, of a matrix variable."""
        return 1

    @property
    def entries(self) -> int:
        """About how many entries it has, written down; of a symmetric matrix an entry and its mirror are one."""
        return max(self.nnz * self.repeats, self.rows)


def largest_leaves(maps: Iterable[LinearMap]) -> tuple[Rows, ...] | None:
    """The leaves of the map with the most stored numbers of those that have leaves: one sum over rows has one tree."""
    found = [(m.nnz, leaves) for m in maps if (leaves := m.leaves) is not None]
    return max(found, key=lambda pair: pair[0])[1] if found else None


class NonnegativeMap(LinearMap):
    """A map without negative entries, which is its own absolute value."""

    def absolute(self) -> LinearMap:
        return self


class MapOfOne(LinearMap):
    """A map that is as the one that it is made of, but for what it says itself."""

    inner: LinearMap

    @property
    def shape(self) -> tuple[int, int]:
        return self.inner.shape

    @property
    def nnz(self) -> int:
        return self.inner.nnz

    @property
    def entries(self) -> int:
        return self.inner.entries

    @property
    def leaves(self) -> tuple[Rows, ...] | None:
        return self.inner.leaves

    def absolute(self) -> LinearMap:
        return self.inner.absolute()

    def squared(self) -> LinearMap:
        return self.inner.squared()

    def sparse(self) -> csr_array:
        return self.inner.sparse()

    def describe(self, x: str) -> str:
        return self.inner.describe(x)


@light_dataclass
class Identity(NonnegativeMap):
    """x -> x."""

    size: int

    @property
    def shape(self) -> tuple[int, int]:
        return self.size, self.size

    def apply(self, x: Array) -> Array:
        return x

    def adjoint(self, y: Array) -> Array:
        return y

    def sparse(self) -> csr_array:
        return of_one_each(np.arange(self.rows), 1.0, self.rows)

    def describe(self, x: str) -> str:
        return x


@light_dataclass
class Row(LinearMap):
    """x -> <v, x>, a vector of one number."""

    v: Array
    name: str = "v"

    @property
    def shape(self) -> tuple[int, int]:
        return 1, self.v.size

    def apply(self, x: Array) -> Array:
        return np.array([float(self.v @ x)])

    def adjoint(self, y: Array) -> Array:
        return self.v * float(y[0])

    def absolute(self) -> LinearMap:
        return Row(np.abs(self.v), self.name)

    def squared(self) -> LinearMap:
        return Row(self.v * self.v, self.name)

    def sparse(self) -> csr_array:
        return as_sparse(self.v[None, :])

    def describe(self, x: str) -> str:
        return f"dot({self.name}, {x})"

    @property
    def nnz(self) -> int:
        return self.v.size


@light_dataclass
class Column(LinearMap):
    """s -> s v: a scalar that meets a vector (an intercept: v = ones)."""

    v: Array

    @property
    def shape(self) -> tuple[int, int]:
        return self.v.size, 1

    def apply(self, x: Array) -> Array:
        return self.v * float(x[0])

    def adjoint(self, y: Array) -> Array:
        return np.array([float(self.v @ y)])

    def adjoint_over(self, y: Array, leaves: tuple[Rows, ...]) -> Array:
        return np.array([tree_dot(self.v, y, leaves)])

    def part(self, start: int, stop: int, leaves: tuple[Rows, ...]) -> LinearMap:
        return Column(self.v[start:stop])

    def absolute(self) -> LinearMap:
        return Column(np.abs(self.v))

    def squared(self) -> LinearMap:
        return Column(self.v * self.v)

    def sparse(self) -> csr_array:
        return as_sparse(self.v[:, None])

    def describe(self, x: str) -> str:
        return x if np.all(self.v == 1.0) else f"v * {bracket(x)}"


@light_dataclass
class Diagonal(LinearMap):
    """x -> v * x entrywise."""

    v: Array

    @property
    def shape(self) -> tuple[int, int]:
        return self.v.size, self.v.size

    def apply(self, x: Array) -> Array:
        return self.v * x

    def adjoint(self, y: Array) -> Array:
        return self.v * y

    def absolute(self) -> LinearMap:
        return Diagonal(np.abs(self.v))

    def squared(self) -> LinearMap:
        return Diagonal(self.v * self.v)

    def sparse(self) -> csr_array:
        return of_one_each(np.arange(self.v.size), self.v, self.v.size)

    def describe(self, x: str) -> str:
        return f"diag @ {bracket(x)}"


@light_dataclass
class Select(NonnegativeMap):
    """x -> x[start:stop]."""

    start: int
    stop: int
    length: int

    @property
    def shape(self) -> tuple[int, int]:
        return self.stop - self.start, self.length

    def apply(self, x: Array) -> Array:
        return x[self.start : self.stop]

    def adjoint(self, y: Array) -> Array:
        out = np.zeros(self.columns)
        out[self.start : self.stop] = y
        return out

    def sparse(self) -> csr_array:
        return of_one_each(np.arange(self.start, self.stop), 1.0, self.columns)

    def describe(self, x: str) -> str:
        return f"{bracket(x)}[{self.start}:{self.stop}]"


@light_dataclass
class Place(NonnegativeMap):
    """x -> a longer vector with x from `start` on, and zeros elsewhere."""

    start: int
    width: int
    length: int

    @property
    def shape(self) -> tuple[int, int]:
        return self.length, self.width

    @property
    def entries(self) -> int:
        return self.width

    def apply(self, x: Array) -> Array:
        out = np.zeros(self.rows)
        out[self.start : self.start + self.width] = x
        return out

    def adjoint(self, y: Array) -> Array:
        return y[self.start : self.start + self.width]

    def sparse(self) -> csr_array:
        at = np.arange(self.width)
        return placed(self.start + at, at, 1.0, (self.rows, self.columns))

    def describe(self, x: str) -> str:
        return x


def bracket(text: str) -> str:
    """A part of an expression in words, in brackets where it has several."""
    return f"({text})" if " " in text else text
