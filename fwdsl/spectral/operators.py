"""Linear operators, and those of arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, runtime_checkable

import numpy as np

from ..atoms.base import Array, MatrixLike


@runtime_checkable
class LinearOperator(Protocol):
    """A of shape (m, n) by its products. `matmat` and `rmatmat` of blocks of vectors are used where an operator has them."""

    shape: tuple[int, int]

    def matvec(self, x: Array) -> Array:
        """A x, shape (m,)."""

    def rmatvec(self, y: Array) -> Array:
        """A'y, shape (n,)."""


class DenseOperator:
    """A 2-d array."""

    def __init__(self, A: MatrixLike) -> None:
        self.A = np.asarray(A, dtype=np.float64)
        self.shape: tuple[int, int] = self.A.shape

    def matvec(self, x: Array) -> Array:
        return np.asarray(self.A @ x)

    def rmatvec(self, y: Array) -> Array:
        return np.asarray(self.A.T @ y)

    matmat = matvec
    rmatmat = rmatvec


class SparseOperator:
    """A SciPy sparse matrix or array, kept by rows and by columns at once."""

    def __init__(self, A: Any) -> None:
        self.shape: tuple[int, int] = A.shape
        self._rows, self._columns = (M.tocsr().astype(np.float64) for M in (A, A.T))

    def matvec(self, x: Array) -> Array:
        return np.asarray(self._rows @ x)

    def rmatvec(self, y: Array) -> Array:
        return np.asarray(self._columns @ y)

    matmat = matvec
    rmatmat = rmatvec


def nothing() -> None:
    """Do nothing: the look of those who have no limit of time."""


class CountedOperator:
    """An operator with its products counted, a block of k vectors as k, and blocks made of vectors where it has none.

    `look` is called before each, and may raise.
    """

    def __init__(self, op: LinearOperator, look: Callable[[], None] = nothing) -> None:
        self.op = op
        self.look = look
        self.shape = op.shape
        self.products = 0

    def matmat(self, X: Array) -> Array:
        """A X, for a vector or for vectors as columns."""
        return self._apply(X, self.op.matvec, getattr(self.op, "matmat", None))

    def rmatmat(self, Y: Array) -> Array:
        """A'Y, for a vector or for vectors as columns."""
        return self._apply(Y, self.op.rmatvec, getattr(self.op, "rmatmat", None))

    def gram(self, X: Array) -> Array:
        """A'A X where A is tall, A A'X where it is wide: on the shorter side."""
        if self.shape[0] >= self.shape[1]:
            return self.rmatmat(self.matmat(X))
        return self.matmat(self.rmatmat(X))

    def _apply(self, X: Array, one: Callable[[Array], Array], many: Callable[[Array], Array] | None) -> Array:
        self.look()
        self.products += 1 if X.ndim == 1 else X.shape[1]
        if X.ndim == 1:
            return one(X)
        if many is not None:
            return many(X)
        return np.stack([one(np.ascontiguousarray(x)) for x in X.T], axis=1)


def as_operator(A: MatrixLike) -> LinearOperator:
    """A as an operator: a 2-d array, a SciPy sparse matrix, or an operator already."""
    if isinstance(A, np.ndarray):
        return DenseOperator(A)
    if hasattr(A, "tocsr"):
        return SparseOperator(A)
    if not isinstance(A, LinearOperator):
        raise TypeError(f"{type(A).__name__} has no shape, matvec and rmatvec")
    return A


def matrix_of(A: MatrixLike) -> Any | None:
    """The matrix itself, dense or sparse in float64, or None where only its products are known."""
    if isinstance(A, DenseOperator):
        A = A.A
    if isinstance(A, np.ndarray) or hasattr(A, "tocsr"):
        return A.astype(np.float64, copy=False)
    return None


def materialise(op: CountedOperator) -> Array:
    """A as a dense array, by its products with the unit vectors of its shorter side."""
    m, n = op.shape
    return op.matmat(np.eye(n)) if n <= m else op.rmatmat(np.eye(m)).T
