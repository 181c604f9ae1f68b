"""Implicit feature maps `rbf`, `polynomial`, `linear`: only inner products of their features are computed."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ..words import FEATURE_MAPS
from .base import Array, FeatureMap, Fitted
from .factor import GramFactor, pivoted_cholesky
from .matrices import inner, is_sparse, squared_norms

if TYPE_CHECKING:
    from ..atoms.base import MatrixLike

CACHE = 1 << 28
"""The bytes of blocks and rows that an operator keeps."""

_SIDE = 512  # rows and columns of a block
_TILE = 128  # rows of a part of a symmetric block
_KEPT = 1 << 26  # bytes of centred samples
_SHORT = 128  # numbers of a row up to which two more cost less than the four passes over products that they save
_CHUNK = 1 << 22  # numbers of the columns that a combination is taken of at a time


class Kernel(FeatureMap):
    """A positive semidefinite kernel of two rows: a function of their inner product and their squared norms."""

    #: It is a function of x - x' alone.
    of_differences: ClassVar[bool] = False

    def fit(self, X: MatrixLike) -> FittedKernel:
        """Keep the samples, since a function in the map's space is a combination of them."""
        return FittedKernel(self, X)

    def block(self, X: MatrixLike, Y: Any, squares_x: Array, squares_y: Array) -> Array:
        """K(x_i, y_j) for rows of X and Y, dense."""
        return self._of_rows(X, Y, squares_x, squares_y)

    def _of_rows(self, X: MatrixLike, Y: Any, squares_x: Array, squares_y: Array) -> Array:
        return self.of_products(inner(X, Y), squares_x, squares_y)

    def among(self, X: Array, squares: Array, out: Array, look: Callable[[], None] | None = None) -> None:
        """K(x_i, x_j) for the rows of a dense X among each other, into `out`: those of a row with the earlier ones serve both. The diagonal is as
        rounding leaves it. `look` is called now and then."""
        values = self._within(X, squares)
        for part in _parts(X.shape[0], _TILE):
            if look is not None:
                look()
            until = slice(0, part.stop)
            block = values(part, until)
            own = block[:, part.start :]
            own[:] = np.tril(own) + np.tril(own, -1).T
            out[part, until] = block
            out[: part.start, part] = block[:, : part.start].T

    def _within(self, X: Array, squares: Array) -> Callable[[slice, slice], Array]:
        """(rows, others) -> K of these rows of a dense X."""
        return lambda here, there: self.of_products(np.asarray(X[here] @ X[there].T), squares[here], squares[there])

    @abstractmethod
    def dimension(self, inputs: int) -> float:
        """The largest dimension of the span of any samples' features; inf where it has no bound."""

    @abstractmethod
    def of_products(self, products: Array, squares_x: Array, squares_y: Array) -> Array:
        """The kernel from inner products, which it may overwrite."""

    @abstractmethod
    def diagonal(self, squares: Array) -> Array:
        """K(x_i, x_i), computed from the squared norms."""


@dataclass(frozen=True, eq=False)
class FittedKernel(Fitted):
    """An implicit map over its samples, with one expansion coefficient for each."""

    kernel: Kernel
    samples: MatrixLike

    @property
    def inputs(self) -> int:  # type: ignore[override]
        return int(self.samples.shape[1])

    @property
    def columns(self) -> int:  # type: ignore[override]
        return int(self.samples.shape[0])

    def transform(self, X: MatrixLike) -> GramOperator | CrossGram:
        """K(X, samples), computed by block, which maps expansion coefficients to predictions at the rows of X."""
        if X is self.samples:
            return GramOperator(X, self.kernel)
        return CrossGram(X, self.samples, self.kernel, self._centred if isinstance(X, np.ndarray) else self._plain)

    @cached_property
    def _centred(self) -> _Samples:
        """The samples with what of them does not depend on new rows, for dense rows."""
        return _Samples(self.samples, self.kernel, _centre(self.samples, self.kernel), kept=True)

    @cached_property
    def _plain(self) -> _Samples:
        """The same for rows that are not dense."""
        return _Samples(self.samples, self.kernel, None)

    def __getstate__(self) -> dict[str, Any]:
        return {"kernel": self.kernel, "samples": self.samples}


@dataclass(frozen=True)
class Rbf(Kernel):
    """exp(-gamma |x - x'|_2^2)."""

    gamma: float

    word = FEATURE_MAPS["rbf"]
    fitted = FittedKernel
    of_differences = True

    def of_products(self, products: Array, squares_x: Array, squares_y: Array) -> Array:
        """|x - y|^2 = |x|^2 + |y|^2 - 2 x.y, in place."""
        products *= -2.0
        products += squares_x[:, None]
        products += squares_y
        np.maximum(products, 0.0, out=products)
        # points far apart at a large gamma have 0, whatever overflows on the way
        with np.errstate(over="ignore"):
            products *= -self.gamma
        return np.asarray(np.exp(products, out=products))

    def _of_rows(self, X: MatrixLike, Y: Any, squares_x: Array, squares_y: Array) -> Array:
        if not (isinstance(X, np.ndarray) and isinstance(Y, np.ndarray) and self._is_joined(X, squares_x, squares_y)):
            return super()._of_rows(X, Y, squares_x, squares_y)
        return self._of_exponents(self._left(X, squares_x) @ self._right(Y, squares_y).T)

    def _within(self, X: Array, squares: Array) -> Callable[[slice, slice], Array]:
        if not self._is_joined(X, squares, squares):
            return super()._within(X, squares)
        left, right = self._left(X, squares), self._right(X, squares)
        return lambda here, there: self._of_exponents(left[here] @ right[there].T)

    def _is_joined(self, X: Array, squares_x: Array, squares_y: Array) -> bool:
        """True if one product of rows with two numbers more gives the exponents: rows are short, and no number overflows."""
        largest = float(squares_x.max(initial=0.0)) + float(squares_y.max(initial=0.0))
        return X.shape[1] <= _SHORT and math.isfinite(2.0 * self.gamma * largest)

    def _left(self, X: Array, squares: Array) -> Array:
        """(2 gamma x, -gamma |x|^2, 1), whose product with (y, 1, -gamma |y|^2) is -gamma |x - y|^2."""
        out = np.empty((X.shape[0], X.shape[1] + 2))
        np.multiply(X, 2.0 * self.gamma, out=out[:, :-2])
        np.multiply(squares, -self.gamma, out=out[:, -2])
        out[:, -1] = 1.0
        return out

    def _right(self, X: Array, squares: Array) -> Array:
        out = np.empty((X.shape[0], X.shape[1] + 2))
        out[:, :-2], out[:, -2] = X, 1.0
        np.multiply(squares, -self.gamma, out=out[:, -1])
        return out

    @staticmethod
    def _of_exponents(exponents: Array) -> Array:
        np.minimum(exponents, 0.0, out=exponents)
        return np.asarray(np.exp(exponents, out=exponents))

    def dimension(self, inputs: int) -> float:
        return math.inf if inputs else 1.0

    def diagonal(self, squares: Array) -> Array:
        return np.ones(squares.size)


@dataclass(frozen=True)
class Polynomial(Kernel):
    """(x.x' + coef0)^degree."""

    degree: int
    coef0: float

    word = FEATURE_MAPS["polynomial"]
    fitted = FittedKernel

    def of_products(self, products: Array, squares_x: Array, squares_y: Array) -> Array:
        """The power, with coef0 added in place."""
        products += self.coef0
        # a matrix that is not finite is refused where it is made
        with np.errstate(over="ignore"):
            return np.asarray(products**self.degree)

    def dimension(self, inputs: int) -> float:
        """The number of monomials up to the degree."""
        return float(math.comb(inputs + self.degree, self.degree))

    def diagonal(self, squares: Array) -> Array:
        return np.asarray((squares + self.coef0) ** self.degree)


@dataclass(frozen=True)
class Linear(Kernel):
    """x.x'."""

    word = FEATURE_MAPS["linear"]
    fitted = FittedKernel

    def of_products(self, products: Array, squares_x: Array, squares_y: Array) -> Array:
        return products

    def dimension(self, inputs: int) -> float:
        return float(inputs)

    def diagonal(self, squares: Array) -> Array:
        return squares.copy()


class _Samples:
    """The rows of a data matrix with their squared norms. They are centred where the kernel depends on differences only.

    `kept` says that few rows will meet these again and again: the centred rows are then kept where they take at most `_KEPT` bytes.
    """

    def __init__(self, X: MatrixLike, kernel: Kernel, centre: Array | None, kept: bool = False) -> None:
        self.X = X
        self.kernel = kernel
        self.centre = centre
        self._moved: Array | None = None
        if centre is None:
            self.squares = squared_norms(X)
            return
        self.squares = np.concatenate(
            [np.einsum("ij,ij->i", b, b) for b in (self.rows(part) for part in _parts(X.shape[0]))]
        )
        if kept and 8 * X.shape[0] * X.shape[1] <= _KEPT:
            self._moved = np.concatenate([self.rows(part) for part in _parts(X.shape[0])])

    def rows(self, item: slice | Array) -> Any:
        if self._moved is not None:
            return self._moved[item]
        part = self.X[item]
        return part if self.centre is None else np.asarray(part, dtype=np.float64) - self.centre

    def against(self, other: _Samples, here: slice | Array, there: slice | Array) -> Array:
        """A block of kernel values."""
        return self.kernel.block(self.rows(here), other.rows(there), self.squares[here], other.squares[there])


class GramOperator:
    """The n x n matrix K(X, X), computed by block.

    X is dense, memory-mapped, a `csr_array` or a `RankOneUpdated`. A product computes each block on and above the diagonal
    once. The first blocks that fit into `cache` bytes are kept, since products run over all blocks in the same order. Rows
    have a cache of their own, which drops the least recently used.
    """

    ndim = 2
    dtype = np.dtype(np.float64)
    __array_ufunc__ = None

    def __init__(self, X: MatrixLike, kernel: Kernel, cache: int = CACHE) -> None:
        self.kernel = kernel
        self._samples = _Samples(X, kernel, _centre(X, kernel))
        self._diagonal = kernel.diagonal(self._samples.squares)
        self._room = cache // 2
        self._blocks: dict[tuple[int, int], Array] = {}
        self._rows: OrderedDict[int, Array] = OrderedDict()
        self._kept_rows = max(1, (cache - self._room) // (8 * max(1, X.shape[0])))

    @property
    def shape(self) -> tuple[int, int]:
        n = int(self._samples.X.shape[0])
        return n, n

    @property
    def T(self) -> GramOperator:
        return self

    def diag(self) -> Array:
        return self._diagonal.copy()

    @property
    def is_finite(self) -> bool:
        """True if all entries, and the intermediate results of computing them, are finite."""
        # no entry is larger than the largest on the diagonal; |x - y|^2 adds up four terms of at most the largest square
        largest = float(self._samples.squares.max(initial=0.0))
        return bool(np.all(np.isfinite(self._diagonal)) and math.isfinite(4.0 * largest))

    def matvec(self, a: Array) -> Array:
        """K a for a vector (n,) or the columns of a matrix (n, k)."""
        a = np.asarray(a, dtype=np.float64)
        out = np.zeros(a.shape)
        parts = list(_parts(self.shape[0]))
        for i, rows in enumerate(parts):
            for j in range(i, len(parts)):
                columns = parts[j]
                block = self._block(i, j, rows, columns)
                out[rows] += block @ a[columns]
                if j > i:
                    out[columns] += block.T @ a[rows]
        return out

    rmatvec = matvec

    def __matmul__(self, a: Array) -> Array:
        return self.matvec(a)

    def __rmatmul__(self, a: Array) -> Array:
        return self.matvec(a.T).T

    def rows(self, indices: Sequence[int] | Array) -> Array:
        """The rows at the given positions, dense (m, n)."""
        wanted = np.asarray(indices, dtype=np.int64)
        missing = np.array([i for i in dict.fromkeys(wanted.tolist()) if i not in self._rows], dtype=np.int64)
        fresh = dict(zip(missing.tolist(), self._compute(missing), strict=True)) if missing.size else {}
        out = np.empty((wanted.size, self.shape[0]))
        for k, i in enumerate(wanted.tolist()):
            row = fresh[i] if i in fresh else self._rows[i]
            out[k] = row
            self._rows[i] = row
            self._rows.move_to_end(i)
        while len(self._rows) > self._kept_rows:
            self._rows.popitem(last=False)
        return out

    def combine(self, a: Array) -> Array:
        """K a for a vector (n,), from the columns where it is not 0: they are computed by block and not kept, once for two of these columns."""
        S, support = self._samples, np.flatnonzero(a)
        out = np.zeros(a.size)
        step = max(1, _CHUNK // max(1, S.X.shape[1] if is_sparse(S.X) else a.size // 16))
        for few in (support[i : i + step] for i in range(0, support.size, step)):
            there = S.rows(few)
            there = there.toarray() if is_sparse(there) else there
            squares, chosen = S.squares[few], a[few]
            others = np.ones(a.size, dtype=np.bool_)
            others[few] = False
            rest = np.flatnonzero(others)
            for rows in (rest[part] for part in _parts(rest.size)):
                out[rows] += self.kernel.block(S.rows(rows), there, S.squares[rows], squares) @ chosen
            for part in _parts(few.size, _TILE):
                until = slice(0, part.stop)
                block = self.kernel.block(there[part], there[until], squares[part], squares[until])
                own = np.arange(part.start, part.stop)
                block[own - part.start, own] = self._diagonal[few[own]]
                out[few[part]] += block @ chosen[until]
                out[few[: part.start]] += chosen[part] @ block[:, : part.start]
        return out

    @property
    def samples(self) -> Any:
        return self._samples.X

    @property
    def centre(self) -> Array | None:
        """The vector that was subtracted from samples and squared norms, if any."""
        return self._samples.centre

    @property
    def squares(self) -> Array:
        return self._samples.squares

    @property
    def dimension(self) -> float:
        """A bound of the rank of K."""
        return min(float(self.shape[0]), self.kernel.dimension(int(self.samples.shape[1])))

    def cross(self, X: MatrixLike) -> CrossGram:
        """K(X, samples) for new rows."""
        return CrossGram(X, self._samples.X, self.kernel)

    def factor(self, max_bytes: int) -> GramFactor | None:
        """L (n, r) with K = L L' up to rounding, or None where it needs more memory.

        A Cholesky factorisation that pivots on the largest remaining diagonal entry; K itself is formed only where its rank is large.
        """
        return pivoted_cholesky(self._compute, self._diagonal, max_bytes, self.toarray)

    def toarray(self) -> Array:
        out = np.empty(self.shape)
        parts = list(_parts(self.shape[0]))
        for i, rows in enumerate(parts):
            for j in range(i, len(parts)):
                out[rows, parts[j]] = self._block(i, j, rows, parts[j])
                out[parts[j], rows] = out[rows, parts[j]].T
        return out

    def _compute(self, indices: Array) -> Array:
        out = np.empty((indices.size, self.shape[0]))
        for part in _parts(self.shape[0]):
            out[:, part] = self._samples.against(self._samples, indices, part)
        out[np.arange(indices.size), indices] = self._diagonal[indices]
        return out

    def _block(self, i: int, j: int, rows: slice, columns: slice) -> Array:
        found = self._blocks.get((i, j))
        if found is not None:
            return found
        block = self._samples.against(self._samples, rows, columns)
        if i == j:
            block = np.tril(block) + np.tril(block, -1).T
            np.fill_diagonal(block, self._diagonal[rows])
        if block.nbytes <= self._room:
            self._room -= block.nbytes
            self._blocks[i, j] = block
        return block


class CrossGram:
    """The m x n matrix K(X, samples), computed by block at each product."""

    ndim = 2
    dtype = np.dtype(np.float64)
    __array_ufunc__ = None

    def __init__(self, X: MatrixLike, samples: MatrixLike, kernel: Kernel, there: _Samples | None = None) -> None:
        if X.shape[1] != samples.shape[1]:
            raise ValueError(f"{X.shape[1]} columns, and the samples have {samples.shape[1]}")
        if there is None:
            there = _Samples(samples, kernel, None if not isinstance(X, np.ndarray) else _centre(samples, kernel))
        self._here = _Samples(X, kernel, there.centre)
        self._there = there

    @property
    def shape(self) -> tuple[int, int]:
        return int(self._here.X.shape[0]), int(self._there.X.shape[0])

    def matvec(self, a: Array) -> Array:
        """K a for a vector (n,) or the columns of a matrix (n, k): predictions from expansion coefficients."""
        a = np.asarray(a, dtype=np.float64)
        out = np.zeros((self.shape[0], *a.shape[1:]))
        for rows in _parts(self.shape[0]):
            for columns in _parts(self.shape[1]):
                out[rows] += self._here.against(self._there, rows, columns) @ a[columns]
        return out

    def __matmul__(self, a: Array) -> Array:
        return self.matvec(a)

    def toarray(self) -> Array:
        return np.vstack([self._here.against(self._there, rows, slice(None)) for rows in _parts(self.shape[0])])


def _parts(n: int, side: int | None = None) -> Iterator[slice]:
    side = side or _SIDE
    return (slice(start, min(n, start + side)) for start in range(0, n, side))


def _centre(X: MatrixLike, kernel: Kernel) -> Array | None:
    """The mean of dense samples, for a kernel that depends on differences only: they round less from centred samples."""
    if not kernel.of_differences or not isinstance(X, np.ndarray):
        return None
    total = np.zeros(X.shape[1])
    for part in _parts(X.shape[0]):
        total += np.asarray(X[part], dtype=np.float64).sum(axis=0)
    return np.asarray(total / X.shape[0])
