"""c |x|_1 on the simplex of sum r, where it is the constant c r: the prox is the projection, g*(v) = r (max_i v_i - c)."""

from __future__ import annotations

from ..base import Array
from .norm1 import Norm1OnPositive
from .simplex import Simplex
from .threshold import threshold_kernel


class Norm1Simplex(Norm1OnPositive):
    """`c * norm1` on `simplex(r)`."""

    on: Simplex

    pair = ("norm1", "simplex")
    polyhedral = True
    prox_kernel = staticmethod(threshold_kernel)

    def prox(self, v: Array, t: float) -> Array:
        return self.on.prox(v, t)

    def conjugate(self, v: Array) -> float:
        return self.on.conjugate(v) - self.c * self.on.r

    def kernel_args(self) -> tuple[object, ...]:
        return self.on.kernel_args()
