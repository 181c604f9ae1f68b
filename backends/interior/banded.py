"""Factors of sparse symmetric systems whose entries lie near the diagonal once the unknowns are in order.

Chains, differences of neighbours and smoothing splines have such systems: their factor has no more numbers than their band, and it is filled
without looking at indices, by LAPACK or, where the band is so narrow that its calls for each column take longer, by loops of our own. An
indefinite system is quasidefinite: L D L' factors it without pivoting, unless the factor's numbers grow so far that digits are lost. Then LAPACK
chooses pivots.

Source: order of the unknowns: reverse Cuthill, McKee 1969; factors: Anderson et al., LAPACK Users' Guide 1999 (`dpbtrf`, `dgbtrf`); Vanderbei,
"Symmetric quasidefinite matrices", 1995.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dgbtrf, dgbtrs, dpbtrf, dpbtrs
from scipy.sparse import csr_array

from fwdsl.atoms.base import Array
from fwdsl.backends.interior.blocked import BLOCK, Solve
from fwdsl.backends.interior.loops import band_factor, band_solve
from fwdsl.backends.interior.quasidefinite import advance
from fwdsl.backends.kernels.compile import kernel
from fwdsl.light_dataclass import light_dataclass

Index = NDArray[np.intp]

WIDEST = 64
"""Diagonals below the main one up to which a band is worth its zeros."""

NARROW = 24
"""Diagonals below the main one up to which our own loops are faster than LAPACK's."""

RAISED, DIGITS = 1e-9, 1e-6
"""The shift of equations in a factor without pivots, whose numbers grow less then, and the share of a right-hand side that its answer may miss."""

PRODUCTS = 1 << 20
"""Products of entries of rows up to which their places in a band are kept."""


@light_dataclass
class Band:
    """An order of the unknowns, and how many diagonals below the main one it needs."""

    place: Index  # of each unknown in the order
    width: int

    @classmethod
    def of(cls, matrix: csr_array, equations: int = 0) -> Band | None:
        """The order of a symmetric pattern by reverse Cuthill-McKee; None where the band is wide, or its factor long without a look at the clock.

        The last unknowns are multipliers of equations. None goes before all unknowns of its equation: its number of D would be the shift alone.
        """
        from scipy.sparse.csgraph import reverse_cuthill_mckee

        order = reverse_cuthill_mckee(matrix, symmetric_mode=True)
        place = np.empty(order.size, dtype=np.intp)
        place[order] = np.arange(order.size)
        if equations:
            own = matrix[-equations:, :-equations].tocoo()
            key = place.astype(np.float64)
            advance(key, order.size - equations + own.coords[0], own.coords[1], 0.5)
            place[np.argsort(key, kind="stable")] = np.arange(order.size)
        rows, columns = matrix.tocoo().coords
        width = int(np.abs(place[rows] - place[columns]).max(initial=0))
        return cls(place, width) if width <= WIDEST and order.size * width**2 <= BLOCK else None

    def factored(self, matrix: csr_array, equal: csr_array | None = None, shift: float = 0.0) -> Solve | None:
        """The solver of a system of a symmetric matrix, definite unless it is bordered by equations: [matrix, equal'; equal, -shift].

        None where an entry lies outside the band. Raises `LinAlgError` where the system is singular.
        """
        n = matrix.shape[0]
        entries = matrix.tocoo()
        rows, columns, data = entries.coords[0], entries.coords[1], entries.data
        if equal is not None:
            own = equal.tocoo()
            below = n + own.coords[0]
            rows, columns = (
                np.concatenate([rows, below, own.coords[1]]),
                np.concatenate([columns, own.coords[1], below]),
            )
            data = np.concatenate([data, own.data, own.data])
        rows, columns = self.place[rows], self.place[columns]
        down = rows - columns
        if down.max(initial=0) > self.width:
            return None
        lower = down >= 0
        band = np.zeros((self.place.size, self.width + 1))
        band[columns[lower], down[lower]] = data[lower]
        if equal is None:
            return self.of_columns(band)
        multipliers = self.place[n:]
        band[multipliers, 0] = -max(shift, RAISED)
        right = np.concatenate([matrix.sum(axis=0) + equal.sum(axis=0), equal.sum(axis=1)])
        solve = self._without_pivots(band)
        if solve is not None:
            found = solve(right)
            v, u = found[:n], found[n:]
            missed = np.concatenate([matrix @ v + equal.T @ u, equal @ v]) - right
            if np.abs(missed).max(initial=0.0) <= DIGITS * np.abs(right).max(initial=0.0):
                return solve
        return self._with_pivots(
            np.concatenate([rows, multipliers]),
            np.concatenate([columns, multipliers]),
            np.concatenate([data, np.full(multipliers.size, -shift)]),
        )

    def of_columns(self, band: Array) -> Solve:
        """The solver of a definite system from its band, in order and by columns, which is overwritten. Raises `LinAlgError`."""
        if self.width <= NARROW:
            failed = kernel(band_factor)(band, True) >= 0
        else:
            factor, failed = dpbtrf(band.T, lower=1, overwrite_ab=1)
        if failed:
            raise np.linalg.LinAlgError("the system is singular")

        def solve(right: Array) -> Array:
            found = self._ordered(right)
            if self.width <= NARROW:
                kernel(band_solve)(band, found)
            else:
                found, _ = dpbtrs(factor, found, lower=1, overwrite_b=1)
            return np.asarray(found[self.place])

        return solve

    def _without_pivots(self, band: Array) -> Solve | None:
        """The solver of an indefinite system from its band, which is overwritten; None where a number of D is 0."""
        if kernel(band_factor)(band, False) >= 0:
            return None

        def solve(right: Array) -> Array:
            found = self._ordered(right)
            kernel(band_solve)(band, found)
            return np.asarray(found[self.place])

        return solve

    def _with_pivots(self, rows: Index, columns: Index, data: Array) -> Solve:
        """The solver of any system, from its entries in order."""
        w = self.width
        # pivoting fills w further diagonals above
        band = np.zeros((3 * w + 1, self.place.size), order="F")
        band[2 * w + rows - columns, columns] = data
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


class BandedNormal:
    """P + A'diag(w)A in a band for weights w that change: where each product of two entries of a row of A goes is found once."""

    def __init__(self, band: Band, P: csr_array, A: csr_array) -> None:
        self.band = band
        pair = _pairs(A)
        place, width = band.place[A.indices], band.width + 1
        lower = place[pair.left] >= place[pair.right]
        left, right = pair.left[lower], pair.right[lower]
        self.row = pair.row[lower]
        self.product = A.data[left] * A.data[right]
        self.at = place[right] * width + place[left] - place[right]
        entries = P.tocoo()
        rows, columns = band.place[entries.coords[0]], band.place[entries.coords[1]]
        below = rows >= columns
        self.shape = band.place.size, width
        self.fixed = np.zeros(band.place.size * width)
        np.add.at(self.fixed, (columns * width + rows - columns)[below], entries.data[below])

    @classmethod
    def of(cls, P: csr_array, A: csr_array) -> BandedNormal | None:
        """None where there is no narrow band, or where there are many products."""
        each = np.diff(A.indptr).astype(np.float64)
        if float(each @ each) > PRODUCTS:
            return None
        # no entries cancel in these
        filled = csr_array((np.ones(A.nnz), A.indices, A.indptr), A.shape)
        band = Band.of(csr_array(abs(P) + filled.T @ filled))
        return cls(band, P, A) if band is not None else None

    def factored(self, weights: Array, shift: float) -> Solve:
        """The solver at weights of the rows, the diagonal being moved by `shift`, and by its own rounding. Raises `LinAlgError`."""
        found = np.bincount(self.at, weights=self.product * weights[self.row], minlength=self.fixed.size)
        matrix = (found + self.fixed).reshape(self.shape)
        matrix[:, 0] += shift + 1e-15 * matrix[:, 0]
        return self.band.of_columns(matrix)


class _Pairs(NamedTuple):
    """Pairs of entries of one row of a matrix."""

    row: NDArray[np.intp]
    left: NDArray[np.intp]
    right: NDArray[np.intp]


def _pairs(A: csr_array) -> _Pairs:
    """All pairs of entries of each row, in either order."""
    each = np.diff(A.indptr).astype(np.intp)
    row = np.repeat(np.arange(each.size), each**2)
    start = np.concatenate([[0], np.cumsum(each**2)])[row]
    at = np.arange(row.size) - start
    first = A.indptr[row].astype(np.intp)
    return _Pairs(row, first + at // each[row], first + at % each[row])
