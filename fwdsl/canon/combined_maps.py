"""Maps made of maps: scaled, composed, added, adjoint. Products stay factored."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..atoms.base import Array
from ..light_dataclass import light_dataclass
from ..sums import Rows
from .data_maps import Matrix
from .maps import Identity, LinearMap, MapOfOne, bracket, by_rows, largest_leaves, placed

if TYPE_CHECKING:
    from scipy.sparse import csr_array


@light_dataclass
class Scaled(MapOfOne):
    """x -> c K x."""

    inner: LinearMap
    c: float

    @property
    def repeats(self) -> int:
        return self.inner.repeats

    def apply(self, x: Array) -> Array:
        return self.c * self.inner.apply(x)

    def adjoint(self, y: Array) -> Array:
        return self.c * self.inner.adjoint(y)

    def adjoint_over(self, y: Array, leaves: tuple[Rows, ...]) -> Array:
        return self.c * self.inner.adjoint_over(y, leaves)

    def partial(self, y: Array, leaves: tuple[Rows, ...]) -> Any:
        return self.inner.partial(y, leaves)

    def finished(self, sums: Any) -> Array:
        return self.c * self.inner.finished(sums)

    def part(self, start: int, stop: int, leaves: tuple[Rows, ...]) -> LinearMap:
        return Scaled(self.inner.part(start, stop, leaves), self.c)

    def absolute(self) -> LinearMap:
        return Scaled(self.inner.absolute(), abs(self.c))

    def squared(self) -> LinearMap:
        return Scaled(self.inner.squared(), self.c * self.c)

    def sparse(self) -> csr_array:
        inner = self.inner.sparse()
        return by_rows(self.c * inner.data, inner.indices, inner.indptr, inner.shape)

    def describe(self, x: str) -> str:
        inner = self.inner.describe(x)
        return f"-{bracket(inner)}" if self.c == -1.0 else f"{self.c:g} * {bracket(inner)}"


def unscaled(m: LinearMap) -> tuple[float, LinearMap]:
    """(c, K) of a map c K, with 1 for c where nothing scales it."""
    if not isinstance(m, Scaled):
        return 1.0, m
    c, inner = unscaled(m.inner)
    return m.c * c, inner


@light_dataclass
class Compose(LinearMap):
    """x -> K (L x): never multiplied out."""

    outer: LinearMap
    inner: LinearMap

    @property
    def shape(self) -> tuple[int, int]:
        return self.outer.rows, self.inner.columns

    @property
    def nnz(self) -> int:
        return self.outer.nnz + self.inner.nnz

    @property
    def entries(self) -> int:
        """The entries of K times those of a row of L."""
        of_a_row = self.inner.entries / max(1, self.inner.rows)
        return min(int(self.outer.entries * of_a_row), self.rows * self.columns)

    def apply(self, x: Array) -> Array:
        return self.outer.apply(self.inner.apply(x))

    def adjoint(self, y: Array) -> Array:
        return self.inner.adjoint(self.outer.adjoint(y))

    @property
    def leaves(self) -> tuple[Rows, ...] | None:
        return self.outer.leaves

    def adjoint_over(self, y: Array, leaves: tuple[Rows, ...]) -> Array:
        return self.inner.adjoint(self.outer.adjoint_over(y, leaves))

    def partial(self, y: Array, leaves: tuple[Rows, ...]) -> Any:
        return self.outer.partial(y, leaves)

    def finished(self, sums: Any) -> Array:
        return self.inner.adjoint(self.outer.finished(sums))

    def part(self, start: int, stop: int, leaves: tuple[Rows, ...]) -> LinearMap:
        return Compose(self.outer.part(start, stop, leaves), self.inner)

    def absolute(self) -> LinearMap:
        """|K| |L|, which bounds |K L|."""
        return Compose(self.outer.absolute(), self.inner.absolute())

    def squared(self) -> LinearMap:
        """The sum of the squared maps of both: an estimate."""
        return Compose(self.outer.squared(), self.inner.squared())

    def sparse(self) -> csr_array:
        return self.outer.sparse_after(self.inner.sparse())

    def describe(self, x: str) -> str:
        return self.outer.describe(self.inner.describe(x))


@light_dataclass
class Add(LinearMap):
    """x -> K x + L x, for two ways in which one variable enters an expression."""

    left: LinearMap
    right: LinearMap

    @property
    def shape(self) -> tuple[int, int]:
        return self.left.shape

    @property
    def nnz(self) -> int:
        return self.left.nnz + self.right.nnz

    @property
    def entries(self) -> int:
        return self.left.entries + self.right.entries

    def apply(self, x: Array) -> Array:
        return self.left.apply(x) + self.right.apply(x)

    def adjoint(self, y: Array) -> Array:
        return self.left.adjoint(y) + self.right.adjoint(y)

    @property
    def leaves(self) -> tuple[Rows, ...] | None:
        return largest_leaves((self.left, self.right))

    def adjoint_over(self, y: Array, leaves: tuple[Rows, ...]) -> Array:
        return self.left.adjoint_over(y, leaves) + self.right.adjoint_over(y, leaves)

    def partial(self, y: Array, leaves: tuple[Rows, ...]) -> Any:
        return self.left.partial(y, leaves), self.right.partial(y, leaves)

    def finished(self, sums: Any) -> Array:
        return self.left.finished(sums[0]) + self.right.finished(sums[1])

    def part(self, start: int, stop: int, leaves: tuple[Rows, ...]) -> LinearMap:
        return Add(self.left.part(start, stop, leaves), self.right.part(start, stop, leaves))

    def absolute(self) -> LinearMap:
        return Add(self.left.absolute(), self.right.absolute())

    def squared(self) -> LinearMap:
        return Add(self.left.squared(), self.right.squared())

    def sparse(self) -> csr_array:
        return self.left.sparse() + self.right.sparse()

    def describe(self, x: str) -> str:
        return f"{self.left.describe(x)} + {self.right.describe(x)}"


@light_dataclass
class Adjoint(LinearMap):
    """y -> K' y."""

    inner: LinearMap

    @property
    def shape(self) -> tuple[int, int]:
        return self.inner.columns, self.inner.rows

    @property
    def nnz(self) -> int:
        return self.inner.nnz

    @property
    def entries(self) -> int:
        return self.inner.entries

    def apply(self, x: Array) -> Array:
        return self.inner.adjoint(x)

    def adjoint(self, y: Array) -> Array:
        return self.inner.apply(y)

    def absolute(self) -> LinearMap:
        return Adjoint(self.inner.absolute())

    def sparse(self) -> csr_array:
        return self.inner.sparse().T.tocsr()

    def describe(self, x: str) -> str:
        """The words for its one use: a vector on the diagonal of a matrix."""
        return f"diag({x})"


Places = slice | NDArray[np.intp]
"""Some entries of a vector, in their order: those that follow each other as a slice."""


@light_dataclass
class Joined(LinearMap):
    """x -> the entries of K_1 x, K_2 x, ... each at its places of a vector of `size`, which is 0 elsewhere: expressions beside each other.

    The places of several maps are different ones, and each map's own rise.
    """

    parts: tuple[LinearMap, ...]
    places: tuple[Places, ...]
    size: int

    @property
    def shape(self) -> tuple[int, int]:
        return self.size, self.parts[0].columns

    @property
    def nnz(self) -> int:
        return sum(part.nnz for part in self.parts)

    @property
    def entries(self) -> int:
        return sum(part.entries for part in self.parts)

    def apply(self, x: Array) -> Array:
        out = np.zeros(self.size)
        for part, at in zip(self.parts, self.places, strict=True):
            out[at] = part.apply(x)
        return out

    def adjoint(self, y: Array) -> Array:
        found = np.zeros(self.columns)
        for part, at in zip(self.parts, self.places, strict=True):
            found += part.adjoint(y[at])
        return found

    def of(self, parts: Iterable[LinearMap]) -> Joined:
        """The map with other parts at the same places."""
        return Joined(tuple(parts), self.places, self.size)

    def absolute(self) -> LinearMap:
        return self.of(part.absolute() for part in self.parts)

    def squared(self) -> LinearMap:
        return self.of(part.squared() for part in self.parts)

    def rows_of(self, at: Places) -> NDArray[np.intp]:
        """The numbers of these places."""
        return np.arange(self.size)[at] if isinstance(at, slice) else at

    def sparse(self) -> csr_array:
        rows, columns, values = [], [], []
        for part, at in zip(self.parts, self.places, strict=True):
            written = part.sparse().tocoo()
            rows.append(self.rows_of(at)[written.coords[0]])
            columns.append(written.coords[1])
            values.append(written.data)
        return placed(np.concatenate(rows), np.concatenate(columns), np.concatenate(values), self.shape)

    def describe(self, x: str) -> str:
        return f"hstack({', '.join(part.describe(x) for part in self.parts)})"


def added(left: LinearMap, right: LinearMap) -> LinearMap:
    """K + L; multiples of one matrix, or of the identity, are one multiple."""
    (c, K), (d, L) = unscaled(left), unscaled(right)
    same = isinstance(K, Identity) and isinstance(L, Identity)
    if isinstance(K, Matrix) and isinstance(L, Matrix):
        same = K.A is L.A and K.transposed == L.transposed
    return scaled(K, c + d) if same and c + d != 0.0 else Add(left, right)


def scaled(inner: LinearMap, c: float) -> LinearMap:
    """c K with nested factors and unit factors folded away."""
    if c == 1.0:
        return inner
    if isinstance(inner, Scaled):
        return scaled(inner.inner, c * inner.c)
    return Scaled(inner, c)


def compose(outer: LinearMap, inner: LinearMap) -> LinearMap:
    """K L with identities and scalar factors folded away."""
    if isinstance(inner, Identity):
        return outer
    if isinstance(outer, Identity):
        return inner
    if isinstance(inner, Scaled):
        return scaled(compose(outer, inner.inner), inner.c)
    if isinstance(outer, Scaled):
        return scaled(compose(outer.inner, inner), outer.c)
    return Compose(outer, inner)
