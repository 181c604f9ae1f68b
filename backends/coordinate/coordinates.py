"""The nonsmooth part of a problem coordinate by coordinate: c_j |x_j| + ridge_j x_j^2 / 2 + q_j x_j on lo_j <= x_j <= hi_j."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fwdsl.atoms.base import Array
from fwdsl.backends.coordinate import loops
from fwdsl.backends.kernels.compile import kernel
from fwdsl.backends.problem import PreparedProblem


@dataclass(frozen=True, eq=False)
class Coordinates:
    """The numbers above, one of each a coordinate of x."""

    c: Array
    ridge: Array
    lo: Array
    hi: Array
    q: Array

    @staticmethod
    def of(problem: PreparedProblem) -> Coordinates:
        """Those of a problem whose blocks are all sums over entries."""
        c, ridge = np.zeros(problem.size), np.zeros(problem.size)
        lo, hi = np.empty(problem.size), np.empty(problem.size)
        for block, g in zip(problem.canonical.blocks, problem.g, strict=True):
            entries = g.entries
            assert entries is not None
            c[block.slice], ridge[block.slice] = entries.c, 2.0 * entries.ridge
            lo[block.slice], hi[block.slice] = entries.lo, entries.hi
        return Coordinates(c, ridge, lo, hi, problem.q)

    def at(self, work: NDArray[np.intp]) -> Coordinates:
        """Those of some coordinates."""
        return Coordinates(self.c[work], self.ridge[work], self.lo[work], self.hi[work], self.q[work])

    def penalty(self, x: Array) -> float:
        """sum_j c_j |x_j| + ridge_j x_j^2 / 2 + q_j x_j."""
        return float(self.c @ np.abs(x) + 0.5 * (self.ridge @ np.square(x)) + self.q @ x)

    def survey(self, x: Array, kty: Array, length: Array) -> tuple[Array, float]:
        """The violations of optimality at x over the columns' lengths, and the largest share of the dual point that meets the penalties."""
        misses = np.empty(x.size)
        share = kernel(loops.survey)(x, kty, self.c, self.ridge, self.lo, self.hi, self.q, length, misses)
        return misses, float(share)

    def conjugate(self, kty: Array, share: float) -> float:
        """g* at -(q + share kty), the suprema left out that are infinite."""
        return float(kernel(loops.conjugate)(kty, share, self.c, self.ridge, self.lo, self.hi, self.q))
