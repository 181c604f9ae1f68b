"""The map K from a matrix X to predictions: K X by factors of X, and gradients K'y as operators.

A data map has the `shape` of X, `size` (the number of predictions), `touched` (data passes so far), `norm_squared` >= |K|^2, and the two products.
`ObservedEntries` takes entries of X; `DataProducts` multiplies data by X.
"""

from __future__ import annotations

import numpy as np

from fwdsl.atoms.base import Array
from fwdsl.canon.data_matrix import DataMatrix
from fwdsl.spectral.operators import DenseOperator, LinearOperator
from fwdsl.spectral.top import top_singular


class DataProducts:
    """X -> A X, flat in C order. A data pass is A times a matrix of X's shape."""

    def __init__(self, A: DataMatrix, columns: int) -> None:
        self.A = A
        self.shape = (A.shape[1], columns)
        self.size = A.shape[0] * columns
        self.touched = 0.0

    @property
    def norm_squared(self) -> float:
        """sigma_1(A)^2, by Lanczos."""
        return float(top_singular(self.A, 1, 1e-3).s[0]) ** 2

    def zeros(self) -> Array:
        """A vector of predictions."""
        return np.zeros(self.size)

    def vector(self, z: Array) -> Array:
        """A vector of predictions that a run had."""
        return z

    def predict(self, U: Array, V: Array) -> Array:
        """A U V', flat: thin products."""
        self.touched += U.shape[1] / self.shape[1]
        return np.asarray((self.A.matmat(U) @ V.T).reshape(-1))

    def operator(self, y: Array) -> DenseOperator:
        """A'Y, written down: it is as large as X."""
        self.touched += 1.0
        return DenseOperator(self.A.rmatmat(y.reshape(-1, self.shape[1])))


class LowRankUpdate:
    """scale G + F H', by its products: a gradient beside a matrix by its factors."""

    def __init__(self, G: LinearOperator, scale: float, F: Array, H: Array) -> None:
        self.G, self.scale, self.F, self.H = G, scale, F, H
        self.shape: tuple[int, int] = G.shape

    def matvec(self, x: Array) -> Array:
        return np.asarray(self.scale * self.G.matvec(x) + self.F @ (self.H.T @ x))

    def rmatvec(self, y: Array) -> Array:
        return np.asarray(self.scale * self.G.rmatvec(y) + self.H @ (self.F.T @ y))

    matmat = matvec
    rmatmat = rmatvec


def inner(U: Array, V: Array, L: Array, R: Array) -> float:
    """<U V', L R'>, by the factors' Gram matrices."""
    return float(np.vdot(U.T @ L, V.T @ R))
