"""Linear maps, kept as the user wrote them: products stay factored, data stay referenced and sparse.

Each map has a reference `apply` and `adjoint` in NumPy/SciPy, which the verifier uses; `fwdsl.backends.operators` compiles the same tree
to kernels. Vectors are flat float64 arrays.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..atoms.base import Array


class LinearMap(ABC):
    """x -> K x from R^columns to R^rows."""

    rows: int
    columns: int

    @abstractmethod
    def apply(self, x: Array) -> Array:
        """K x."""

    @abstractmethod
    def adjoint(self, y: Array) -> Array:
        """K' y."""

    @abstractmethod
    def absolute(self) -> LinearMap:
        """A map whose entries bound those of |K| from above: what the rounding rule of certificates measures with."""

    def squared(self) -> LinearMap:
        """A map whose entries are about those of K squared, which scaling measures with; `absolute` where they are 0 or 1."""
        return self.absolute()

    @abstractmethod
    def describe(self, x: str) -> str:
        """In the language's words, for an argument written `x`."""

    @property
    def nnz(self) -> int:
        """Stored numbers that one application touches."""
        return 0


@dataclass(frozen=True, eq=False)
class Identity(LinearMap):
    """x -> x."""

    rows: int

    @property
    def columns(self) -> int:  # type: ignore[override]
        """As many as rows."""
        return self.rows

    def apply(self, x: Array) -> Array:
        """x itself."""
        return x

    def adjoint(self, y: Array) -> Array:
        """y itself."""
        return y

    def absolute(self) -> LinearMap:
        """Itself."""
        return self

    def describe(self, x: str) -> str:
        """The argument."""
        return x


@dataclass(frozen=True, eq=False)
class Matrix(LinearMap):
    """x -> A x, or A' x where `transposed`: A a dense array, a memory map or a `scipy.sparse.csr_array`, never copied."""

    A: Any
    transposed: bool = False
    name: str = "A"

    @property
    def rows(self) -> int:  # type: ignore[override]
        """Rows of the map."""
        return int(self.A.shape[1 if self.transposed else 0])

    @property
    def columns(self) -> int:  # type: ignore[override]
        """Columns of the map."""
        return int(self.A.shape[0 if self.transposed else 1])

    @property
    def nnz(self) -> int:
        """Stored numbers of A."""
        return int(self.A.nnz) if hasattr(self.A, "nnz") else int(self.A.size)

    def apply(self, x: Array) -> Array:
        """A x in float64."""
        return _times(self.A.T if self.transposed else self.A, x)

    def adjoint(self, y: Array) -> Array:
        """A' y in float64."""
        return _times(self.A if self.transposed else self.A.T, y)

    def absolute(self) -> LinearMap:
        """|A|, taken by blocks of rows as it is applied."""
        if not _sliceable(self.A):
            return Matrix(abs(self.A), self.transposed, f"|{self.name}|")
        return AbsoluteMatrix(self.A, self.transposed)

    def squared(self) -> LinearMap:
        """A entry by entry squared, taken by blocks of rows."""
        return AbsoluteMatrix(self.A, self.transposed, square=True) if _sliceable(self.A) else self.absolute()

    def describe(self, x: str) -> str:
        """A @ x."""
        return f"{self.name}{'.T' if self.transposed else ''} @ {_bracket(x)}"


@dataclass(frozen=True, eq=False)
class AbsoluteMatrix(LinearMap):
    """x -> |A| x, or |A|' x where `transposed`, with squared entries where `square`: a block of rows at a time, so that A is never copied."""

    A: Any
    transposed: bool = False
    square: bool = False

    @property
    def rows(self) -> int:  # type: ignore[override]
        """Rows of the map."""
        return int(self.A.shape[1 if self.transposed else 0])

    @property
    def columns(self) -> int:  # type: ignore[override]
        """Columns of the map."""
        return int(self.A.shape[0 if self.transposed else 1])

    def apply(self, x: Array) -> Array:
        """|A| x."""
        return self._gather(x) if self.transposed else self._by_rows(x)

    def adjoint(self, y: Array) -> Array:
        """|A|' y."""
        return self._by_rows(y) if self.transposed else self._gather(y)

    def _blocks(self) -> Iterator[tuple[slice, Any]]:
        n = int(self.A.shape[0])
        stored = int(self.A.nnz) if hasattr(self.A, "nnz") else int(self.A.size)
        step = max(1, 2**20 * n // max(1, stored))
        for i in range(0, n, step):
            at = slice(i, i + step)
            block = abs(self.A[at].astype(np.float64))
            yield at, block * block if self.square else block

    def _by_rows(self, x: Array) -> Array:
        out = np.empty(self.A.shape[0])
        for at, block in self._blocks():
            out[at] = block @ x
        return out

    def _gather(self, y: Array) -> Array:
        out = np.zeros(self.A.shape[1])
        for at, block in self._blocks():
            out += block.T @ y[at]
        return out

    def absolute(self) -> LinearMap:
        """Itself."""
        return self

    def describe(self, x: str) -> str:
        """abs(A) @ x."""
        return f"abs(A) @ {x}"


def _sliceable(A: Any) -> bool:
    """Whether blocks of rows can be taken: data, and not a sparse matrix less its means."""
    return isinstance(A, np.ndarray) or hasattr(A, "indptr")


def _times(A: Any, x: Array) -> Array:
    """A @ x accumulated in float64; float32 data go through blocks of rows (or columns) so that no whole copy is made."""
    if A.dtype == np.float64:
        return np.asarray(A @ x, dtype=np.float64)
    if hasattr(A, "nnz"):
        return np.asarray(A.astype(np.float64) @ x)
    step = max(1, 2**21 // max(1, min(A.shape)))
    if A.flags.c_contiguous:
        parts = [np.asarray(A[i : i + step], dtype=np.float64) @ x for i in range(0, A.shape[0], step)]
        return np.concatenate(parts) if parts else np.zeros(0)
    total = np.zeros(A.shape[0])
    for j in range(0, A.shape[1], step):
        total += np.asarray(A[:, j : j + step], dtype=np.float64) @ x[j : j + step]
    return total


@dataclass(frozen=True, eq=False)
class Row(LinearMap):
    """x -> <v, x>, a vector of one number."""

    v: Array
    name: str = "v"
    rows = 1

    @property
    def columns(self) -> int:  # type: ignore[override]
        """The length of v."""
        return self.v.size

    def apply(self, x: Array) -> Array:
        """<v, x>."""
        return np.array([float(self.v @ x)])

    def adjoint(self, y: Array) -> Array:
        """y v."""
        return self.v * float(y[0])

    def absolute(self) -> LinearMap:
        """|v|."""
        return Row(np.abs(self.v), self.name)

    def squared(self) -> LinearMap:
        """v squared."""
        return Row(self.v * self.v, self.name)

    def describe(self, x: str) -> str:
        """dot(v, x)."""
        return f"dot({self.name}, {x})"

    @property
    def nnz(self) -> int:
        """The length of v."""
        return self.v.size


@dataclass(frozen=True, eq=False)
class Column(LinearMap):
    """s -> s v: a scalar that meets a vector (an intercept: v = ones)."""

    v: Array
    columns = 1

    @property
    def rows(self) -> int:  # type: ignore[override]
        """The length of v."""
        return self.v.size

    def apply(self, x: Array) -> Array:
        """x v."""
        return self.v * float(x[0])

    def adjoint(self, y: Array) -> Array:
        """<v, y>."""
        return np.array([float(self.v @ y)])

    def absolute(self) -> LinearMap:
        """|v|."""
        return Column(np.abs(self.v))

    def squared(self) -> LinearMap:
        """v squared."""
        return Column(self.v * self.v)

    def describe(self, x: str) -> str:
        """ones * x."""
        return x if np.all(self.v == 1.0) else f"v * {_bracket(x)}"


@dataclass(frozen=True, eq=False)
class Diagonal(LinearMap):
    """x -> v * x entrywise."""

    v: Array

    @property
    def rows(self) -> int:  # type: ignore[override]
        """The length of v."""
        return self.v.size

    @property
    def columns(self) -> int:  # type: ignore[override]
        """The length of v."""
        return self.v.size

    def apply(self, x: Array) -> Array:
        """v * x."""
        return self.v * x

    def adjoint(self, y: Array) -> Array:
        """v * y."""
        return self.v * y

    def absolute(self) -> LinearMap:
        """|v|."""
        return Diagonal(np.abs(self.v))

    def squared(self) -> LinearMap:
        """v squared."""
        return Diagonal(self.v * self.v)

    def describe(self, x: str) -> str:
        """v * x."""
        return f"diag @ {_bracket(x)}"


@dataclass(frozen=True, eq=False)
class Select(LinearMap):
    """x -> x[start:stop]."""

    start: int
    stop: int
    columns: int

    @property
    def rows(self) -> int:  # type: ignore[override]
        """How many entries are kept."""
        return self.stop - self.start

    def apply(self, x: Array) -> Array:
        """The slice (a view)."""
        return x[self.start : self.stop]

    def adjoint(self, y: Array) -> Array:
        """y at its place among zeros."""
        out = np.zeros(self.columns)
        out[self.start : self.stop] = y
        return out

    def absolute(self) -> LinearMap:
        """Itself."""
        return self

    def describe(self, x: str) -> str:
        """x[start:stop]."""
        return f"{_bracket(x)}[{self.start}:{self.stop}]"


@dataclass(frozen=True, eq=False)
class Scaled(LinearMap):
    """x -> c K x."""

    inner: LinearMap
    c: float

    @property
    def rows(self) -> int:  # type: ignore[override]
        """Rows of K."""
        return self.inner.rows

    @property
    def columns(self) -> int:  # type: ignore[override]
        """Columns of K."""
        return self.inner.columns

    @property
    def nnz(self) -> int:
        """Those of K."""
        return self.inner.nnz

    def apply(self, x: Array) -> Array:
        """c K x."""
        return self.c * self.inner.apply(x)

    def adjoint(self, y: Array) -> Array:
        """c K' y."""
        return self.c * self.inner.adjoint(y)

    def absolute(self) -> LinearMap:
        """|c| |K|."""
        return Scaled(self.inner.absolute(), abs(self.c))

    def squared(self) -> LinearMap:
        """c^2 K^2."""
        return Scaled(self.inner.squared(), self.c * self.c)

    def describe(self, x: str) -> str:
        """c * K x."""
        inner = self.inner.describe(x)
        return f"-{_bracket(inner)}" if self.c == -1.0 else f"{self.c:g} * {_bracket(inner)}"


@dataclass(frozen=True, eq=False)
class Compose(LinearMap):
    """x -> K (L x): never multiplied out."""

    outer: LinearMap
    inner: LinearMap

    @property
    def rows(self) -> int:  # type: ignore[override]
        """Rows of K."""
        return self.outer.rows

    @property
    def columns(self) -> int:  # type: ignore[override]
        """Columns of L."""
        return self.inner.columns

    @property
    def nnz(self) -> int:
        """Those of both."""
        return self.outer.nnz + self.inner.nnz

    def apply(self, x: Array) -> Array:
        """K (L x)."""
        return self.outer.apply(self.inner.apply(x))

    def adjoint(self, y: Array) -> Array:
        """L' (K' y)."""
        return self.inner.adjoint(self.outer.adjoint(y))

    def absolute(self) -> LinearMap:
        """|K| |L|, which bounds |K L|."""
        return Compose(self.outer.absolute(), self.inner.absolute())

    def squared(self) -> LinearMap:
        """Of both: an estimate."""
        return Compose(self.outer.squared(), self.inner.squared())

    def describe(self, x: str) -> str:
        """K (L x)."""
        return self.outer.describe(self.inner.describe(x))


@dataclass(frozen=True, eq=False)
class Add(LinearMap):
    """x -> K x + L x, for two ways in which one variable enters an expression."""

    left: LinearMap
    right: LinearMap

    @property
    def rows(self) -> int:  # type: ignore[override]
        """Rows of both."""
        return self.left.rows

    @property
    def columns(self) -> int:  # type: ignore[override]
        """Columns of both."""
        return self.left.columns

    @property
    def nnz(self) -> int:
        """Those of both."""
        return self.left.nnz + self.right.nnz

    def apply(self, x: Array) -> Array:
        """K x + L x."""
        return self.left.apply(x) + self.right.apply(x)

    def adjoint(self, y: Array) -> Array:
        """K' y + L' y."""
        return self.left.adjoint(y) + self.right.adjoint(y)

    def absolute(self) -> LinearMap:
        """|K| + |L|."""
        return Add(self.left.absolute(), self.right.absolute())

    def squared(self) -> LinearMap:
        """Of both."""
        return Add(self.left.squared(), self.right.squared())

    def describe(self, x: str) -> str:
        """K x + L x."""
        return f"{self.left.describe(x)} + {self.right.describe(x)}"


@dataclass(frozen=True, eq=False)
class Adjoint(LinearMap):
    """y -> K' y."""

    inner: LinearMap

    @property
    def rows(self) -> int:  # type: ignore[override]
        """Columns of K."""
        return self.inner.columns

    @property
    def columns(self) -> int:  # type: ignore[override]
        """Rows of K."""
        return self.inner.rows

    @property
    def nnz(self) -> int:
        """Those of K."""
        return self.inner.nnz

    def apply(self, x: Array) -> Array:
        """K' x."""
        return self.inner.adjoint(x)

    def adjoint(self, y: Array) -> Array:
        """K y."""
        return self.inner.apply(y)

    def absolute(self) -> LinearMap:
        """|K|'."""
        return Adjoint(self.inner.absolute())

    def describe(self, x: str) -> str:
        """In words for what it is used for: a vector on the diagonal of a matrix."""
        return f"diag({x})"


def _bracket(text: str) -> str:
    return f"({text})" if " " in text else text


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
