"""The data matrix A of a product A X, in any storage: its products with thin matrices in float64."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..atoms.base import Array

NUMBERS_PER_BLOCK = 1 << 20
"""Numbers of other types that are turned into float64 at a time."""


class DataMatrix:
    r"""S (A - 1 m') with S = diag(s), by its products; s and m are left out where they are None.

    A (n, d) is a dense array of float64 or float32, perhaps mapped, or a SciPy sparse matrix; it is never copied: dense ones that are not
    float64 are turned into it block by block. With s the roots of weights, least squares of S A is weighted least squares of A; with m the weighted
    mean of the rows it is the problem of which a free number for each column has been minimised out.
    """

    def __init__(self, A: Any, s: Array | None = None, m: Array | None = None) -> None:
        self.A, self.s, self.m = A, s, m
        self.shape: tuple[int, int] = A.shape
        self._blocked = isinstance(A, np.ndarray) and A.dtype != np.float64
        self._rows = max(1, NUMBERS_PER_BLOCK // max(1, A.shape[1]))

    def matvec(self, X: Array) -> Array:
        """S (A - 1 m') X, for a vector or vectors in columns."""
        if self._blocked:
            Y = np.empty((self.shape[0], *X.shape[1:]))
            for a in range(0, self.shape[0], self._rows):
                part = slice(a, a + self._rows)
                Y[part] = self.A[part].astype(np.float64) @ X
        else:
            Y = np.asarray(self.A @ X)
        if self.m is not None:
            Y = Y - self.m @ X
        return Y if self.s is None else Y * _column(self.s, Y)

    def rmatvec(self, Y: Array) -> Array:
        """(A - 1 m')' S Y, for a vector or vectors in columns."""
        if self.s is not None:
            Y = Y * _column(self.s, Y)
        if self._blocked:
            X = np.zeros((self.shape[1], *Y.shape[1:]))
            for a in range(0, self.shape[0], self._rows):
                part = slice(a, a + self._rows)
                X += self.A[part].astype(np.float64).T @ Y[part]
        else:
            X = np.asarray(self.A.T @ Y)
        if self.m is not None:
            X = X - (np.multiply.outer(self.m, Y.sum(axis=0)) if Y.ndim > 1 else self.m * Y.sum())
        return X

    matmat = matvec
    rmatmat = rmatvec

    def norm(self) -> float:
        """|A|_F, of A alone."""
        if not isinstance(self.A, np.ndarray):
            return float(np.linalg.norm(self.A.data))
        squares = 0.0
        for a in range(0, self.shape[0], self._rows):
            squares += float(np.linalg.norm(self.A[a : a + self._rows].astype(np.float64, copy=False))) ** 2
        return float(np.sqrt(squares))


def _column(s: Array, Y: Array) -> Array:
    return s[:, None] if Y.ndim > 1 else s
