"""Maps along an axis: differences of neighbours, sums of the entries so far, convolutions, sums over an axis.

An array of any shape is `(before, n, after)` around the axis of n entries, flat in C order.
"""

from __future__ import annotations

from math import comb
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..atoms.base import Array
from ..light_dataclass import light_dataclass
from .maps import LinearMap, NonnegativeMap, placed

if TYPE_CHECKING:
    from scipy.sparse import csr_array


@light_dataclass
class Differences(LinearMap):
    """x -> the differences of this order of neighbours along the axis: sum_j c_j x_{i+j}, c being binomial coefficients with alternating signs."""

    n: int
    order: int = 1
    before: int = 1
    after: int = 1
    sizes: bool = False  # of the coefficients in place of themselves

    @property
    def shape(self) -> tuple[int, int]:
        return self.before * (self.n - self.order) * self.after, self.before * self.n * self.after

    @property
    def entries(self) -> int:
        return (self.order + 1) * self.rows

    @property
    def coefficients(self) -> list[float]:
        """c_0, ..., c_order: (-1)^(order - j) times order over j."""
        k = self.order
        return [float(comb(k, j)) * (-1.0 if (k - j) % 2 and not self.sizes else 1.0) for j in range(k + 1)]

    def _along(self, x: Any) -> Any:
        return x.reshape(self.before, -1, self.after)

    def apply(self, x: Array) -> Array:
        if not self.sizes:
            return np.asarray(np.diff(self._along(x), self.order, axis=1)).reshape(-1)
        X, rows = self._along(x), self.n - self.order
        return np.asarray(sum(c * X[:, j : j + rows] for j, c in enumerate(self.coefficients))).reshape(-1)

    def adjoint(self, y: Array) -> Array:
        Y, rows = self._along(y), self.n - self.order
        out = np.zeros((self.before, self.n, self.after))
        if self.sizes:
            for j, c in enumerate(self.coefficients):
                out[:, j : j + rows] += c * Y
            return out.reshape(-1)
        for _ in range(self.order):  # D' y = (-y_0, y_0 - y_1, ..., y_last), order after order
            out = np.zeros((self.before, Y.shape[1] + 1, self.after))
            out[:, 1:] = Y
            out[:, :-1] -= Y
            Y = out
        return out.reshape(-1)

    def absolute(self) -> LinearMap:
        return Differences(self.n, self.order, self.before, self.after, True)

    def sparse(self) -> csr_array:
        rows = np.arange(self.rows)
        first = self._first()
        columns = np.concatenate([first + j * self.after for j in range(self.order + 1)])
        values = np.repeat(self.coefficients, self.rows)
        return placed(np.tile(rows, self.order + 1), columns, values, self.shape)

    def _first(self) -> NDArray[np.intp]:
        """The first entry that each difference is of."""
        return np.asarray(self._along(np.arange(self.columns))[:, : self.n - self.order]).reshape(-1)

    def pairs(self) -> tuple[NDArray[np.intp], NDArray[np.intp]] | None:
        """The two entries of each difference, of the first order alone."""
        first = self._first()
        return (first, first + self.after) if self.order == 1 and not self.sizes else None

    def describe(self, x: str) -> str:
        order = f", {self.order}" if self.order > 1 else ""
        return f"diff({x}{order}{', axis=1' if self.before > 1 else ''})"


@light_dataclass
class Cumulative(NonnegativeMap):
    """x -> the sums of the entries up to each one along the axis."""

    n: int
    before: int = 1
    after: int = 1

    @property
    def shape(self) -> tuple[int, int]:
        size = self.before * self.n * self.after
        return size, size

    @property
    def nnz(self) -> int:
        """The numbers of the matrix, which methods that factor it write down."""
        return self.before * self.after * (self.n * (self.n + 1) // 2)

    def apply(self, x: Array) -> Array:
        return np.cumsum(x.reshape(self.before, self.n, self.after), axis=1).reshape(-1)

    def adjoint(self, y: Array) -> Array:
        Y = y.reshape(self.before, self.n, self.after)[:, ::-1]
        return np.ascontiguousarray(np.cumsum(Y, axis=1)[:, ::-1]).reshape(-1)

    def sparse(self) -> csr_array:
        from scipy.sparse import csr_array, eye_array, kron

        below = csr_array(np.tri(self.n))
        found = kron(kron(eye_array(self.before), below), eye_array(self.after), format="csr")
        return csr_array(found)

    def describe(self, x: str) -> str:
        return f"cumsum({x}{', axis=1' if self.before > 1 else ''})"


@light_dataclass
class SumsAlong(NonnegativeMap):
    """X -> the sums over the axis."""

    n: int
    before: int
    after: int

    @property
    def shape(self) -> tuple[int, int]:
        return self.before * self.after, self.before * self.n * self.after

    @property
    def entries(self) -> int:
        return self.columns

    def apply(self, x: Array) -> Array:
        return np.asarray(x.reshape(self.before, self.n, self.after).sum(axis=1)).reshape(-1)

    def adjoint(self, y: Array) -> Array:
        Y = y.reshape(self.before, 1, self.after)
        return np.ascontiguousarray(np.broadcast_to(Y, (self.before, self.n, self.after))).reshape(-1)

    def sparse(self) -> csr_array:
        rows = self.adjoint(np.arange(float(self.rows))).astype(np.intp)
        return placed(rows, np.arange(self.columns), 1.0, self.shape)

    def describe(self, x: str) -> str:
        return f"sum({x}, axis={1 if self.before > 1 or self.after == 1 else 0})"


LONGEST = 1 << 32
"""Products of numbers from which on even the reference goes through Fourier transforms."""

FEW = 256
"""Entries of the shorter vector up to which a convolution goes entry by entry, which is as fast, and exact to rounding of each entry."""


@light_dataclass
class Convolution(LinearMap):
    """x -> sum_j k_j x_{i-j}, all m + n - 1 entries.

    The reference adds up products. `fast` goes through Fourier transforms where both vectors are long: its rounding is that of the largest entries.
    """

    k: Array
    n: int
    fast: bool = False

    @property
    def shape(self) -> tuple[int, int]:
        return self.k.size + self.n - 1, self.n

    @property
    def nnz(self) -> int:
        """The numbers of the matrix, which methods that factor it write down."""
        return self.k.size * self.n

    def apply(self, x: Array) -> Array:
        return convolved(self.k, x, self.fast)

    def adjoint(self, y: Array) -> Array:
        """sum_j k_j y_{i+j}: the convolution with k backwards, without its ends."""
        m = self.k.size
        if by_products(m, y.size, self.fast):
            return np.correlate(y, self.k, mode="valid")
        return convolved(self.k[::-1], y, self.fast)[m - 1 : m - 1 + self.n]

    def absolute(self) -> LinearMap:
        return Convolution(np.abs(self.k), self.n, self.fast)

    def squared(self) -> LinearMap:
        return Convolution(self.k * self.k, self.n, self.fast)

    def sparse(self) -> csr_array:
        at = np.flatnonzero(self.k)
        columns = np.tile(np.arange(self.n), at.size)
        return placed(columns + np.repeat(at, self.n), columns, np.repeat(self.k[at], self.n), self.shape)

    def describe(self, x: str) -> str:
        return f"conv(k, {x})"


def by_products(m: int, n: int, fast: bool) -> bool:
    """True if the convolution of m and n numbers adds up products."""
    return min(m, n) <= FEW or (not fast and m * n <= LONGEST)


def convolved(k: Array, x: Array, fast: bool = False) -> Array:
    """The full convolution of two vectors: by products, or by Fourier transforms where it is to be `fast` and both are long."""
    if by_products(k.size, x.size, fast):
        return np.asarray(np.convolve(k, x))
    size = k.size + x.size - 1
    length = 1 << (size - 1).bit_length()
    return np.asarray(np.fft.irfft(np.fft.rfft(k, length) * np.fft.rfft(x, length), length)[:size])
