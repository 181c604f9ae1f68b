"""Linear maps of matrix variables, which are kept as flat vectors in C order."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..atoms.base import Array, MatrixLike
from ..bind import row_chunks
from ..light_dataclass import light_dataclass
from ..readers.held_rows import is_held
from ..readers.row_blocks import DenseRows, NotInMemory, is_on_disk
from ..sums import Rows, by_samples, sum_over, tree_sum
from .data_maps import AbsoluteMatrix, Matrix, entries_of, held, is_written, leaves_of, parts_by_leaves, stored
from .maps import LinearMap, NonnegativeMap, as_sparse, bracket, of_one_each, placed

if TYPE_CHECKING:
    from scipy.sparse import csr_array


FEW = 8
"""The rows of X for each one that is not zero, from which on gathering the columns of A that meet these costs less than a whole product."""

SAMPLE = 256
"""About so many rows of X are looked at before all are: that costs a share of a product where X has few columns."""


LOOKED_AT = 64
"""Rows of A from which on a look at X costs little beside the product."""


def _is_sparse(X: Array) -> bool:
    """True if few rows of X have a number that is not 0."""
    return bool(FEW * int(np.count_nonzero(X.any(axis=1))) <= X.shape[0])


def _few_rows(rows: int, X: Array) -> NDArray[np.intp] | None:
    """The rows of X that have a number that is not 0, where these are few and a dense matrix of so many rows meets only their columns sooner."""
    if rows < LOOKED_AT or not (_is_sparse(X[:: 1 + X.shape[0] // SAMPLE]) and _is_sparse(X)):
        return None
    return np.flatnonzero(X.any(axis=1))


def product(A: Any, X: Array) -> Array:
    """A @ X in float64 for a dense (float32 or float64, memory map) or sparse A and a dense matrix X."""
    few = _few_rows(A.shape[0], X) if isinstance(A, np.ndarray) else None
    if few is not None:
        A, X = A[:, few], X[few]
    if A.dtype == np.float64:
        if isinstance(A, np.ndarray) and A.flags.f_contiguous and row_chunks.pays_turned(A.shape[0], *X.shape):
            return np.ascontiguousarray((X.T @ A.T).T)
        return np.asarray(A @ X, dtype=np.float64)
    if hasattr(A, "nnz"):
        return np.asarray(A.astype(np.float64) @ X)
    # float32 data go through blocks of rows, so that no whole copy is made and sums are in float64
    out = np.empty((A.shape[0], X.shape[1]))
    step = max(1, 2**21 // max(1, A.shape[1]))
    for i in range(0, A.shape[0], step):
        out[i : i + step] = np.asarray(A[i : i + step], dtype=np.float64) @ X
    return out


def _kron(left: MatrixLike, right: MatrixLike) -> csr_array:
    """The Kronecker product, in double precision."""
    left, right = as_sparse(left), as_sparse(right)
    rows, columns = (
        inner + size * outer[:, None]
        for outer, inner, size in zip(_places(left), _places(right), right.shape, strict=True)
    )
    shape = left.shape[0] * right.shape[0], left.shape[1] * right.shape[1]
    return placed(rows, columns, (left.data[:, None] * right.data).reshape(-1), shape)


def _kron_after(left: MatrixLike, right: MatrixLike, inner: csr_array) -> csr_array:
    """The product of the Kronecker product with a sparse matrix: of columns that meet rows without entries nothing is written down."""
    from scipy.sparse import csc_array

    met = np.flatnonzero(np.diff(inner.indptr))
    if FEW * met.size > inner.shape[0]:
        return (_kron(left, right) @ inner).tocsr()
    left, right = csc_array(as_sparse(left)), csc_array(as_sparse(right))
    one, other = np.divmod(met, right.shape[1])
    # each entry of a column of the left matrix meets all of a column of the right one
    each, repeats = np.diff(right.indptr)[other], np.diff(left.indptr)[one]
    counts = each * repeats
    column = np.repeat(np.arange(met.size), counts)
    of_left, of_right = np.divmod(np.arange(column.size) - np.repeat(np.cumsum(counts) - counts, counts), each[column])
    of_left += left.indptr[one][column]
    of_right += right.indptr[other][column]
    rows = left.indices[of_left].astype(np.int64) * right.shape[0] + right.indices[of_right]
    shape = left.shape[0] * right.shape[0], met.size
    found = placed(rows, column, left.data[of_left] * right.data[of_right], shape) @ inner[met]
    return found.tocsr()


def _places(A: csr_array) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The rows and the columns of the entries of a sparse matrix."""
    return np.repeat(np.arange(A.shape[0]), np.diff(A.indptr)), A.indices.astype(np.int64)


def _identity(n: int) -> csr_array:
    return of_one_each(np.arange(n), 1.0, n)


@light_dataclass
class Columnwise(NonnegativeMap):
    """X -> M X for X with k columns, M a map with nonnegative entries."""

    one: AbsoluteMatrix
    k: int

    @property
    def shape(self) -> tuple[int, int]:
        n, d = self.one.shape
        return n * self.k, d * self.k

    def apply(self, x: Array) -> Array:
        return self.one.apply(x.reshape(-1, self.k)).reshape(-1)

    def adjoint(self, y: Array) -> Array:
        return self.one.adjoint(y.reshape(-1, self.k)).reshape(-1)

    def describe(self, x: str) -> str:
        return self.one.describe(x)


@light_dataclass
class LeftMultiply(LinearMap):
    """X -> A X for X of shape (d, k), or A' X where `transposed`."""

    A: Any
    k: int
    transposed: bool = False
    name: str = "A"
    given: tuple[Rows, ...] | None = None  # the leaves of the rows of A, where it is a part of the data

    @property
    def _op(self) -> Any:
        return self.A.T if self.transposed else self.A

    @property
    def shape(self) -> tuple[int, int]:
        return int(self._op.shape[0]) * self.k, int(self._op.shape[1]) * self.k

    @property
    def nnz(self) -> int:
        """Stored numbers of A: one application is one pass, whatever k."""
        return stored(self.A)

    @property
    def repeats(self) -> int:
        return self.k

    @cached_property
    def entries(self) -> int:
        return entries_of(self.A, self.k, self.rows)

    @cached_property
    def leaves(self) -> tuple[Rows, ...] | None:
        found = self._leaves
        return None if found is None else tuple((a * self.k, b * self.k) for a, b in found)

    @cached_property
    def _leaves(self) -> tuple[Rows, ...] | None:
        return None if self.transposed else self.given or leaves_of(self.A)

    def part(self, start: int, stop: int, leaves: tuple[Rows, ...]) -> LinearMap:
        if self._leaves is None:
            return super().part(start, stop, leaves)
        rows = held(self.A, start // self.k, stop // self.k)
        return LeftMultiply(rows, self.k, False, self.name, by_samples(leaves, self.k))

    @cached_property
    def _parts(self) -> list[tuple[slice, Any]]:
        """The leaves of A; none where it is taken as a whole."""
        return parts_by_leaves(self.A, self._leaves)

    def apply(self, x: Array) -> Array:
        return self._times(x.reshape(-1, self.k), self.transposed).reshape(-1)

    def adjoint(self, y: Array) -> Array:
        return self._times(y.reshape(-1, self.k), not self.transposed).reshape(-1)

    def _times(self, X: Array, turned: bool) -> Array:
        if not row_chunks.by_chunks(self.A):
            if not self._parts:
                return product(self.A.T if turned else self.A, X)
            if turned:
                return np.asarray(tree_sum(product(part.T, X[at]) for at, part in self._parts))
            return np.concatenate([product(part, X) for _, part in self._parts])
        if turned:
            return row_chunks.turned_times(self.A, X, leaves=self._leaves)
        # a worker looks for zeros by itself
        looks = isinstance(self.A, np.ndarray | DenseRows) and not is_held(self.A)
        few = _few_rows(self.A.shape[0], X) if looks else None
        if few is None:
            return row_chunks.times(self.A, X, leaves=self._leaves)
        return row_chunks.times(self.A, X[few], lambda block: block[:, few], self._leaves)

    def absolute(self) -> LinearMap:
        if is_on_disk(self.A):
            return Columnwise(AbsoluteMatrix(self.A, self.transposed, given=self._leaves), self.k)
        return LeftMultiply(abs(self.A), self.k, self.transposed, f"|{self.name}|", self._leaves)

    def squared(self) -> LinearMap:
        if not is_written(self.A):
            return self.absolute()
        if is_on_disk(self.A):
            return Columnwise(AbsoluteMatrix(self.A, self.transposed, True, self._leaves), self.k)
        return LeftMultiply(abs(self.A) ** 2, self.k, self.transposed, self.name, self._leaves)

    def sparse(self) -> csr_array:
        if is_on_disk(self.A):
            raise NotInMemory
        return _kron(self._op, _identity(self.k)) if is_written(self.A) else super().sparse()

    def sparse_after(self, inner: csr_array) -> csr_array:
        if is_on_disk(self.A):
            raise NotInMemory
        return _kron_after(self._op, _identity(self.k), inner) if is_written(self.A) else super().sparse_after(inner)

    def describe(self, x: str) -> str:
        return f"{self.name}{'.T' if self.transposed else ''} @ {bracket(x)}"


@light_dataclass
class RightMultiply(LinearMap):
    """X -> X B for X of shape (n, d) and B of shape (d, k)."""

    B: MatrixLike
    n: int
    name: str = "B"

    @property
    def shape(self) -> tuple[int, int]:
        return self.n * int(self.B.shape[1]), self.n * int(self.B.shape[0])

    @property
    def nnz(self) -> int:
        return stored(self.B)

    @property
    def repeats(self) -> int:
        return self.n

    @cached_property
    def entries(self) -> int:
        return entries_of(self.B, self.n, self.rows)

    def apply(self, x: Array) -> Array:
        return np.ascontiguousarray(product(self.B.T, x.reshape(self.n, -1).T).T).reshape(-1)

    def adjoint(self, y: Array) -> Array:
        return np.ascontiguousarray(product(self.B, y.reshape(self.n, -1).T).T).reshape(-1)

    def absolute(self) -> LinearMap:
        return RightMultiply(abs(self.B), self.n, f"|{self.name}|")

    def squared(self) -> LinearMap:
        return RightMultiply(abs(self.B) ** 2, self.n, self.name) if is_written(self.B) else self.absolute()

    def sparse(self) -> csr_array:
        return _kron(_identity(self.n), self.B.T) if is_written(self.B) else super().sparse()

    def sparse_after(self, inner: csr_array) -> csr_array:
        return _kron_after(_identity(self.n), self.B.T, inner) if is_written(self.B) else super().sparse_after(inner)

    def describe(self, x: str) -> str:
        return f"{bracket(x)} @ {self.name}"


@light_dataclass
class Take(NonnegativeMap):
    """x -> x[index]: transposes, slices along two axes, a matrix's diagonal, the observed entries of a matrix.

    `once` says that no position occurs twice, so the adjoint needs no adding up.
    """

    index: NDArray[np.intp]
    length: int
    words: str = "entries"
    once: bool = True

    @property
    def shape(self) -> tuple[int, int]:
        return self.index.size, self.length

    def apply(self, x: Array) -> Array:
        return x[self.index]

    def adjoint(self, y: Array) -> Array:
        if self.once:
            out = np.zeros(self.columns)
            out[self.index] = y
            return out
        return np.asarray(np.bincount(self.index, weights=y, minlength=self.columns), dtype=np.float64)

    def sparse(self) -> csr_array:
        return of_one_each(self.index, 1.0, self.columns)

    def describe(self, x: str) -> str:
        """The map in the words it was made with."""
        return f"{x}.T" if self.words == "T" else f"{bracket(x)}[{self.words}]"


def transpose(n: int, d: int) -> Take:
    """X -> X' for X of shape (n, d)."""
    return Take(np.arange(n * d).reshape(n, d).T.reshape(-1), n * d, "T")


@light_dataclass
class Tile(NonnegativeMap):
    """v -> ones(n) v': a vector added to every row of a matrix (an intercept)."""

    n: int
    k: int

    @property
    def shape(self) -> tuple[int, int]:
        return self.n * self.k, self.k

    def apply(self, x: Array) -> Array:
        return np.tile(x, self.n)

    def adjoint(self, y: Array) -> Array:
        return np.asarray(y.reshape(self.n, self.k).sum(axis=0))

    def adjoint_over(self, y: Array, leaves: tuple[Rows, ...]) -> Array:
        if any(stop % self.k for _, stop in leaves):
            return self.adjoint(y)
        found = sum_over(leaves, y.size, lambda at: y[at].reshape(-1, self.k).sum(axis=0))
        return np.zeros(self.k) if found is None else np.asarray(found)

    def part(self, start: int, stop: int, leaves: tuple[Rows, ...]) -> LinearMap:
        return Tile((stop - start) // self.k, self.k)

    def sparse(self) -> csr_array:
        return placed(np.arange(self.rows), np.tile(np.arange(self.k), self.n), 1.0, (self.rows, self.k))

    def describe(self, x: str) -> str:
        """The map in the words of the one that it applies to every row."""
        return x


@light_dataclass
class Symmetrise(NonnegativeMap):
    """X -> (X + X') / 2, for each of `count` blocks: how symmetric variables, kept in full, enter expressions, so that gradients stay symmetric."""

    d: int
    count: int = 1

    @property
    def shape(self) -> tuple[int, int]:
        return self.count * self.d * self.d, self.count * self.d * self.d

    def apply(self, x: Array) -> Array:
        X = x.reshape(self.count, self.d, self.d)
        return np.asarray((0.5 * (X + X.transpose(0, 2, 1))).reshape(-1))

    def adjoint(self, y: Array) -> Array:
        """The symmetric part: the map is its own adjoint."""
        return self.apply(y)

    def sparse(self) -> csr_array:
        at = np.arange(self.rows)
        across = at.reshape(self.count, self.d, self.d).transpose(0, 2, 1).reshape(-1)
        # entries of the diagonal are placed twice, and added up
        return placed(np.tile(at, 2), np.concatenate([at, across]), 0.5, (self.rows, self.rows))

    def describe(self, x: str) -> str:
        return x


@light_dataclass
class Quad(LinearMap):
    """X -> (u_i' X u_i)_i for the rows of U (n, d): never an outer product. Its adjoint is y -> U' diag(y) U."""

    U: Any
    name: str = "U"

    @property
    def shape(self) -> tuple[int, int]:
        return int(self.U.shape[0]), int(self.U.shape[1]) ** 2

    @property
    def nnz(self) -> int:
        return stored(self.U)

    @property
    def entries(self) -> int:
        """Each number of a row beside all numbers of that row."""
        return self.nnz**2 // max(1, self.rows)

    def apply(self, x: Array) -> Array:
        d = int(self.U.shape[1])
        inner = product(self.U, x.reshape(d, d))
        if hasattr(self.U, "nnz"):
            return np.asarray(self.U.multiply(inner).sum(axis=1)).reshape(-1)
        return np.asarray(np.einsum("ij,ij->i", self.U, inner))

    def adjoint(self, y: Array) -> Array:
        if hasattr(self.U, "nnz"):
            return np.asarray((self.U.T @ self.U.multiply(y[:, None])).toarray(), dtype=np.float64).reshape(-1)
        return np.asarray(self.U.T @ (y[:, None] * self.U), dtype=np.float64).reshape(-1)

    def absolute(self) -> LinearMap:
        return Quad(abs(self.U), f"|{self.name}|")

    def sparse(self) -> csr_array:
        """The outer products of the rows with themselves, of which zeros are not kept."""
        if not hasattr(self.U, "nnz"):
            U = np.asarray(self.U, dtype=np.float64)
            return as_sparse((U[:, :, None] * U[:, None, :]).reshape(self.shape))
        U = as_sparse(self.U)
        each = np.diff(U.indptr)
        # each number of a row beside all numbers of that row
        left = np.repeat(np.arange(U.nnz), np.repeat(each, each))
        row = np.repeat(np.arange(each.size), each**2)
        start = np.concatenate([[0], np.cumsum(each.astype(np.intp) ** 2)])[row]
        right = U.indptr[row] + (np.arange(left.size) - start) % each[row]
        columns = U.indices[left].astype(np.intp) * U.shape[1] + U.indices[right]
        return placed(row, columns, U.data[left] * U.data[right], self.shape)

    def describe(self, x: str) -> str:
        return f"quad({self.name}, {x})"


MANY_BLOCKS = 1_000
"""Blocks of a family from which on their data are kept a second time, as one matrix."""


@light_dataclass
class Gathered(LinearMap):
    """A map for each sample's own block of a family: z_i = part(i-th sample, F[task_i]).

    `parts[t]` maps block t to the samples `samples[t]`, in their order; the family is the flat concatenation of T blocks of `width`.
    """

    parts: tuple[LinearMap, ...]
    samples: tuple[NDArray[np.intp], ...]
    width: int
    n: int
    words: str = ""

    @property
    def shape(self) -> tuple[int, int]:
        return self.n, self.width * len(self.parts)

    @cached_property
    def nnz(self) -> int:
        # a family may have a million blocks
        return sum(p.nnz for p in self.parts)

    @cached_property
    def whole(self) -> csr_array | None:
        """All blocks of dense data as one sparse matrix, where they are so many that a call for each would take most of the time."""
        from scipy.sparse import csr_array

        parts = [p.A for p in self.parts if isinstance(p, Matrix) and not p.transposed and isinstance(p.A, np.ndarray)]
        if len(self.parts) < MANY_BLOCKS or len(parts) < len(self.parts):
            return None
        block = np.repeat(np.arange(len(parts)), [at.size for at in self.samples])
        columns = block[:, None] * self.width + np.arange(self.width)
        values = np.concatenate(parts, dtype=np.float64)
        rows = np.repeat(np.concatenate(self.samples), self.width)
        return csr_array((values.reshape(-1), (rows, columns.reshape(-1))), self.shape)

    def apply(self, x: Array) -> Array:
        """Each block to its samples."""
        if self.whole is not None:
            return np.asarray(self.whole @ x)
        out = np.zeros(self.n)
        for t, (part, at) in enumerate(zip(self.parts, self.samples, strict=True)):
            out[at] = part.apply(x[t * self.width : (t + 1) * self.width])
        return out

    def adjoint(self, y: Array) -> Array:
        """Each block from its samples."""
        if self.whole is not None:
            return np.asarray(self.whole.T @ y)
        blocks = [part.adjoint(y[at]) for part, at in zip(self.parts, self.samples, strict=True)]
        return np.concatenate(blocks) if blocks else np.zeros(0)

    def absolute(self) -> LinearMap:
        if self.whole is not None:
            return Matrix(abs(self.whole))
        return Gathered(tuple(p.absolute() for p in self.parts), self.samples, self.width, self.n, self.words)

    def sparse(self) -> csr_array:
        """The maps of the samples below each other, put back in the order of the samples."""
        from scipy.sparse import block_diag, csr_array

        order = np.concatenate(self.samples) if self.samples else np.zeros(0, dtype=np.intp)
        below = block_diag([part.sparse() for part in self.parts], format="csr")
        return csr_array(placed(order, np.arange(order.size), 1.0, (self.n, order.size)) @ below)

    def describe(self, x: str) -> str:
        """The map in the words it was made with."""
        return self.words or x
