"""The data matrix A of a product A X, in any storage: its products with thin matrices in float64."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..atoms.base import Array
from .data_maps import AbsoluteMatrix, Matrix, leaves_of
from .matrix_maps import LeftMultiply


class DataMatrix:
    r"""S (A - 1 m') with S = diag(s), by its products; s and m are left out where they are None.

    A (n, d) is a dense array of float64 or float32, perhaps mapped, a SciPy sparse matrix, or rows on a disk or with workers. It is never copied, and
    sums over its rows have the same bits in all of these (`fwdsl.sums`). With s the roots of weights, least squares of S A is weighted least squares
    of A; with m the weighted mean of the rows it is the problem of which a free number for each column has been minimised out.
    """

    def __init__(self, A: Any, s: Array | None = None, m: Array | None = None) -> None:
        self.A, self.s, self.m = A, s, m
        self.shape: tuple[int, int] = A.shape
        self._leaves = leaves_of(A)
        self._maps: dict[int, Matrix | LeftMultiply] = {}

    def matvec(self, X: Array) -> Array:
        """S (A - 1 m') X, for a vector or vectors in columns."""
        Y = self._product(X, turned=False)
        if self.m is not None:
            Y = Y - self.m @ X
        return Y if self.s is None else Y * _column(self.s, Y)

    def rmatvec(self, Y: Array) -> Array:
        """(A - 1 m')' S Y, for a vector or vectors in columns."""
        if self.s is not None:
            Y = Y * _column(self.s, Y)
        X = self._product(Y, turned=True)
        if self.m is not None:
            X = X - (np.multiply.outer(self.m, Y.sum(axis=0)) if Y.ndim > 1 else self.m * Y.sum())
        return X

    matmat = matvec
    rmatmat = rmatvec

    def _product(self, X: Array, turned: bool) -> Array:
        """A X or A'X, by the references."""
        k = X.shape[1] if X.ndim > 1 else 0
        if X.ndim > 1 and not k:
            return np.zeros((self.shape[1 if turned else 0], 0))
        if k not in self._maps:
            self._maps[k] = LeftMultiply(self.A, k, given=self._leaves) if k else Matrix(self.A, given=self._leaves)
        take = self._maps[k].adjoint if turned else self._maps[k].apply
        return np.asarray(take(np.ascontiguousarray(X).reshape(-1))).reshape(-1, *X.shape[1:])

    def norm(self) -> float:
        """|A|_F, of A alone."""
        squares = AbsoluteMatrix(self.A, square=True, given=self._leaves)
        return math.sqrt(float(squares.apply(np.ones(self.shape[1])).sum()))


def _column(s: Array, Y: Array) -> Array:
    return s[:, None] if Y.ndim > 1 else s
