"""The data matrix of a product with a ridge, as products."""

from __future__ import annotations

import numpy as np

from fwdsl.atoms.base import Array
from fwdsl.canon.data_matrix import DataMatrix


class RidgedSamples:
    """[A; root I]: least squares of it has a ridge root^2 |X|_F^2 beside that of A."""

    def __init__(self, A: DataMatrix, root: float) -> None:
        self.A, self.root = A, root
        self.shape: tuple[int, int] = (A.shape[0] + A.shape[1], A.shape[1])

    def matvec(self, X: Array) -> Array:
        return np.concatenate([self.A.matvec(X), self.root * X])

    def rmatvec(self, Y: Array) -> Array:
        n = self.A.shape[0]
        return self.A.rmatvec(Y[:n]) + self.root * Y[n:]

    matmat = matvec
    rmatmat = rmatvec
