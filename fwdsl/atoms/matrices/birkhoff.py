"""The Birkhoff polytope of doubly stochastic matrices, the hull of the permutation matrices: the LMO is a linear assignment, of cost O(d^3).

Its projection has no closed form: it is rows(simplex(1)) and columns(simplex(1)) at once, each of which has.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ..base import Array, Face
from ..conic import Conic, transport_form
from ..vectors.common import ConvexSet, face, largest_share, negative_part
from .common import Shape, matrix


@dataclass(frozen=True)
class Birkhoff(ConvexSet):
    """`birkhoff`, of square matrices."""

    shape: Shape
    size: int = field(init=False)

    pair = (None, "birkhoff")
    polyhedral = True
    proximable = False
    compiled = False
    prox_kernel = None  # type: ignore[assignment]

    def __post_init__(self) -> None:
        if self.shape[0] != self.shape[1]:
            raise ValueError(f"birkhoff is a set of square matrices, not of {self.shape[0]} x {self.shape[1]}")
        object.__setattr__(self, "size", math.prod(self.shape))

    def radius(self) -> float:
        """d^(1/2), the length of a permutation matrix."""
        return math.sqrt(self.shape[0])

    def diameter(self) -> float:
        """(2 d)^(1/2), between permutations that agree nowhere."""
        return math.sqrt(2.0 * self.shape[0]) if self.shape[0] > 1 else 0.0

    def _sums(self, x: Array) -> Array:
        a = matrix(x, self.shape)
        return np.concatenate([a.sum(axis=1), a.sum(axis=0)])

    def violation(self, x: Array, sizes: Array | None = None) -> float:
        """X >= 0, and every row and column sums to 1."""
        sizes = np.abs(x) if sizes is None else sizes
        return max(negative_part(x, sizes), largest_share(np.abs(self._sums(x) - 1.0), self._sums(sizes) + 1.0))

    def prox(self, v: Array, t: float) -> Array:
        """Raises `TypeError`: see `proximable`."""
        raise TypeError("birkhoff has no projection in closed form; it is rows(simplex(1)) and columns(simplex(1))")

    def _assignment(self, c: Array) -> NDArray[np.intp]:
        """The column of each row in the cheapest permutation."""
        from scipy.optimize import linear_sum_assignment

        found: NDArray[np.intp] = linear_sum_assignment(matrix(c, self.shape))[1]
        return found

    def conjugate(self, v: Array) -> float:
        """The value of the dearest permutation."""
        return math.fsum(matrix(v, self.shape)[np.arange(self.shape[0]), self._assignment(-v)])

    def lmo(self, c: Array) -> Array:
        """The cheapest permutation matrix."""
        x = np.zeros(self.shape)
        x[np.arange(self.shape[0]), self._assignment(c)] = 1.0
        return x.reshape(-1)

    def vertex_id(self, c: Array) -> tuple[int, ...]:
        return tuple(self._assignment(c).tolist())

    def conic(self) -> Conic:
        """X >= 0 with rows and columns that sum to 1."""
        ones = np.ones(self.shape[0])
        return transport_form(ones, ones)

    def face(self, x: Array) -> Face:
        """The support moves, keeping the sums of rows and columns."""
        free = np.flatnonzero(x)
        d = self.shape[0]
        lines = np.arange(d)[:, None]
        return face(
            free, normals=np.concatenate([free // max(d, 1) == lines, free % max(d, 1) == lines]).astype(np.float64)
        )
