"""Factors of sparse symmetric systems whose entries lie near the diagonal once the unknowns are in order.

Chains, differences of neighbours and smoothing splines have such systems: their factor has no more numbers than their band, and LAPACK fills it
without looking at indices.

Source: order of the unknowns: reverse Cuthill, McKee 1969; factors: Anderson et al., LAPACK Users' Guide 1999 (`dpbtrf`, `dgbtrf`).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dgbtrf, dgbtrs, dpbtrf, dpbtrs
from scipy.sparse import csr_array

from fwdsl.atoms.base import Array
from fwdsl.backends.interior.blocked import BLOCK, Solve
from fwdsl.frozen import frozen

WIDEST = 64
"""Diagonals below the main one up to which a band is worth its zeros."""


@frozen
class Band:
    """An order of the unknowns, and how many diagonals below the main one it needs."""

    place: NDArray[np.intp]  # of each unknown in the order
    width: int

    @classmethod
    def of(cls, matrix: csr_array) -> Band | None:
        """The order of a symmetric pattern by reverse Cuthill-McKee; None where the band is wide, or its factor long without a look at the clock."""
        from scipy.sparse.csgraph import reverse_cuthill_mckee

        order = reverse_cuthill_mckee(matrix, symmetric_mode=True)
        place = np.empty(order.size, dtype=np.intp)
        place[order] = np.arange(order.size)
        width = _width(matrix, place)
        return cls(place, width) if width <= WIDEST and order.size * width**2 <= BLOCK else None

    def holds(self, matrix: csr_array) -> bool:
        """True if no entry lies outside the band."""
        return _width(matrix, self.place) <= self.width

    def factored(self, matrix: csr_array, definite: bool) -> Solve:
        """The solver of a system whose entries the band holds. Raises `LinAlgError` where it is singular."""
        return self._definite(matrix) if definite else self._indefinite(matrix)

    def _definite(self, matrix: csr_array) -> Solve:
        entries = matrix.tocoo()
        rows, columns = self.place[entries.coords[0]], self.place[entries.coords[1]]
        lower = rows >= columns
        band = np.zeros((self.width + 1, matrix.shape[0]), order="F")
        band[rows[lower] - columns[lower], columns[lower]] = entries.data[lower]
        factor, failed = dpbtrf(band, lower=1, overwrite_ab=1)
        if failed:
            raise np.linalg.LinAlgError("the system is singular")

        def solve(right: Array) -> Array:
            found, _ = dpbtrs(factor, self._ordered(right), lower=1, overwrite_b=1)
            return np.asarray(found[self.place])

        return solve

    def _indefinite(self, matrix: csr_array) -> Solve:
        entries = matrix.tocoo()
        rows, columns = self.place[entries.coords[0]], self.place[entries.coords[1]]
        w = self.width
        # pivoting fills w further diagonals above
        band = np.zeros((3 * w + 1, matrix.shape[0]), order="F")
        band[2 * w + rows - columns, columns] = entries.data
        factor, pivots, failed = dgbtrf(band, w, w, overwrite_ab=1)
        if failed:
            raise np.linalg.LinAlgError("the system is singular")

        def solve(right: Array) -> Array:
            found, _ = dgbtrs(factor, w, w, self._ordered(right), pivots, overwrite_b=1)
            return np.asarray(found[self.place])

        return solve

    def _ordered(self, right: Array) -> Array:
        out = np.empty_like(right)
        out[self.place] = right
        return out


def _width(matrix: csr_array, place: NDArray[np.intp]) -> int:
    """The largest distance of an entry from the diagonal."""
    rows, columns = matrix.tocoo().coords
    return int(np.abs(place[rows] - place[columns]).max(initial=0))
