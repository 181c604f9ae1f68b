"""c times the largest norm of a row of a matrix: max_i |x_i|, dual to the sum over rows of the dual norm.

Conjugate: the indicator of sum_i |v_i|_* <= c, a ball of `norm21` for Euclidean rows and of `norm1_inf` for rows by the sum of their sizes. Prox by
Moreau: v less its projection on that ball of radius t c.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass

import numpy as np

from ..base import Array
from ..conic import Cone, Conic, entries, joined
from ..vectors.common import Ball, Norm, scale_into
from .by_rows import norms2
from .common import Shape, matrix
from .l1_inf_ball import L1InfBall
from .l21_ball import l21_ball


@dataclass(frozen=True, eq=False, repr=False)
class LargestRow(Norm):
    """c * max over the rows of a norm."""

    shape: Shape

    permutable = False
    compiled = False
    prox_kernel = None  # type: ignore[assignment]
    #: It is at least c times the largest size, whose dual is the sum of sizes.
    dual_name = "l1"

    @abstractmethod
    def norms(self, a: Array) -> Array:
        """The norm of each row."""

    @abstractmethod
    def ball(self, r: float) -> Ball:
        """The ball of radius r of the dual norm."""

    def norm(self, x: Array) -> float:
        return float(self.norms(matrix(x, self.shape)).max(initial=0.0)) if x.size else 0.0

    def dual_norm(self, x: Array) -> float:
        return self.ball(1.0).norm(x)

    @property
    def has_faces(self) -> bool:
        """False: rows of the largest norm would move as one."""
        return False

    def prox(self, v: Array, t: float) -> Array:
        """v less its projection on the dual ball of radius t c."""
        return v - self.ball(t * self.c).prox(v, 1.0)

    def dual_project(self, v: Array) -> Array:
        """The projection on the dual ball of radius c."""
        if self.dual_norm(v) <= self.c:
            return v.copy()
        u = self.ball(self.c).prox(v, 1.0)
        return u * scale_into(lambda w: self.dual_norm(w) <= self.c, u, 1.0)


class MaxRowNorm2(LargestRow):
    """`c * max_rownorm2`."""

    pair = ("max_rownorm2", None)
    polyhedral = False

    def norms(self, a: Array) -> Array:
        return norms2(a)

    def ball(self, r: float) -> Ball:
        return l21_ball(self.shape, r)

    def conic(self) -> Conic:
        """(t, x_i) in a second-order cone for each row, at the price c t."""
        n, d = self.shape
        if not self.size:
            return Conic(self.size)
        heads = np.arange(n) * (d + 1)
        tails = (heads[:, None] + 1 + np.arange(d)).reshape(-1)
        return Conic(
            self.size,
            1,
            extra_slope=self.c,
            of_z=entries(tails, np.arange(self.size), 1.0),
            of_u=entries(heads, 0, 1.0),
            offset=np.zeros(n * (d + 1)),
            cones=(Cone("second_order", d + 1),) * n,
        )


class MaxRowNorm1(LargestRow):
    """`c * max_rownorm1`."""

    pair = ("max_rownorm1", None)
    polyhedral = True

    def norms(self, a: Array) -> Array:
        return np.asarray(np.abs(a).sum(axis=1))

    def ball(self, r: float) -> Ball:
        return L1InfBall(self.shape, r)

    def conic(self) -> Conic:
        """u >= x, u >= -x and t at least the sum of u over each row, at the price c t."""
        n, size = self.shape[0], self.size
        if not size:
            return Conic(size)
        at = np.arange(size)
        rows = 2 * size + np.repeat(np.arange(n), self.shape[1])
        return Conic(
            size,
            1 + size,
            extra_slope=np.concatenate([[self.c], np.zeros(size)]),
            of_z=joined([entries(at, at, -1.0), entries(size + at, at, 1.0)]),
            of_u=joined(
                [
                    entries(at, 1 + at, 1.0),
                    entries(size + at, 1 + at, 1.0),
                    entries(rows, 1 + at, -1.0),
                    entries(2 * size + np.arange(n), 0, 1.0),
                ]
            ),
            offset=np.zeros(2 * size + n),
            cones=(Cone("nonnegative", 2 * size + n),),
        )


def largest_row(cls: type[LargestRow], c: float, shape: Shape) -> LargestRow:
    """One of these, of matrices of this shape."""
    return cls(math.prod(shape), c, shape)
