"""Factors of symmetric definite matrices and solutions by triangles, for systems that a method makes itself.

Large ones are LAPACK's by SciPy. NumPy has no solver for triangles, but its solver of any system leaves a triangle as it is: small systems are
solved by that, and need no `scipy.linalg`, which takes a fifth of a second to import.
"""

from __future__ import annotations

from functools import cache
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from fwdsl.atoms.base import Array
from fwdsl.backends.kernels.pool import serial_blas
from fwdsl.light_dataclass import light_dataclass

N = TypeVar("N", bound=np.generic)
Indices = NDArray[np.intp]

DAMPING = 1e-14
"""A hair that is added to a diagonal of ones, where columns repeat: each step is made good by the next one."""

SMALL = 16
"""The order up to which a system is small: a solution then takes some 30 microseconds."""


@cache
def _lapack() -> Any:
    """SciPy's LAPACK."""
    from scipy.linalg import lapack

    # it came with a BLAS of its own, which is held to one thread where others are
    with serial_blas():
        return lapack


def cholesky(matrix: Array) -> Array | None:
    """L with L L' the symmetric matrix, which may be overwritten; None where it is not definite to rounding.

    What is above the diagonal of L is not told.
    """
    if matrix.shape[0] <= SMALL:
        try:
            return np.asarray(np.linalg.cholesky(matrix), dtype=np.float64)
        except np.linalg.LinAlgError:
            return None
    # of a symmetric matrix the transpose is the matrix by columns, as LAPACK has it
    factor, info = _lapack().dpotrf(matrix.T, lower=True, clean=False, overwrite_a=True)
    return np.asarray(factor) if info == 0 else None


def by_cholesky(L: Array, right: Array) -> Array:
    """x with L L' x = right, for one right-hand side or for several as columns; L is that of `cholesky`."""
    if L.shape[0] <= SMALL:
        # turned round, a lower triangle is an upper one
        half = np.linalg.solve(L[::-1, ::-1], right[::-1])[::-1]
        return np.asarray(np.linalg.solve(L.T, half))
    found, _ = _lapack().dpotrs(L, right, lower=True)
    return np.asarray(found)


def by_triangle(T: Array, right: Array, transposed: bool = False) -> Array:
    """x with T x = right, or T'x = right, for an upper triangle without zeros on its diagonal, and zeros below it."""
    if T.shape[0] <= SMALL:
        if transposed:
            return np.asarray(np.linalg.solve(T.T[::-1, ::-1], right[::-1])[::-1])
        return np.asarray(np.linalg.solve(T, right))
    # the transpose is by columns, as LAPACK has it
    found, _ = _lapack().dtrtrs(T.T, right, lower=1, trans=int(not transposed))
    return np.asarray(found)


def inverse_of_lower(L: Array) -> Array:
    """The inverse of a lower triangle without zeros on its diagonal; what is above the diagonal is not looked at."""
    if L.shape[0] <= SMALL:
        return np.asarray(np.tril(np.linalg.inv(np.tril(L))))
    found, _ = _lapack().dtrtri(L, lower=1)
    return np.tril(np.asarray(found))


def block_of(matrix: NDArray[N], rows: Indices, columns: Indices | None = None) -> NDArray[N]:
    """A copy of the block of a matrix in some rows, and in some columns: those of the same numbers unless others are given.

    `matrix[np.ix_(rows, columns)]` takes three to five times as long.
    """
    return matrix.take(rows, axis=0).take(rows if columns is None else columns, axis=1)


@light_dataclass
class Cholesky:
    """A symmetric positive definite matrix, factored."""

    factor: Array
    scale: Array

    @staticmethod
    def of(matrix: Array) -> Cholesky | None:
        """The factor of a matrix, which is overwritten; None where it is not definite to rounding."""
        diagonal = np.einsum("ii->i", matrix)
        if not np.isfinite(diagonal).all():
            return None
        largest = max(float(diagonal.max(initial=0.0)), 1e-300)
        scale = 1.0 / np.sqrt(np.where(diagonal > 1e-300, diagonal, largest))
        matrix *= scale[:, None]
        matrix *= scale
        diagonal += DAMPING
        factor = cholesky(matrix)
        return None if factor is None else Cholesky(factor, scale)

    def solve(self, right: Array) -> Array:
        """The solution for one right-hand side, or for several as columns."""
        scale = self.scale if right.ndim == 1 else self.scale[:, None]
        return np.asarray(scale * by_cholesky(self.factor, scale * right))

    def inverse_root(self) -> Array:
        """T, a lower triangle, with T'T the inverse."""
        return np.asarray(inverse_of_lower(self.factor) * self.scale)
