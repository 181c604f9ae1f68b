"""c |x|_1 on the solid simplex of sum r, where it is the linear c sum x: the prox is the projection of v - t c; g*(v) = r max(0, max_i v_i - c)."""

from __future__ import annotations

import numpy as np

from ..base import Array, Face
from .common import face
from .norm1 import Norm1OnPositive
from .solid_simplex import SolidSimplex
from .threshold import SOLID, threshold_kernel


class Norm1SolidSimplex(Norm1OnPositive):
    """`c * norm1` on `solid_simplex(r)`."""

    on: SolidSimplex

    pair = ("norm1", "solid_simplex")
    polyhedral = True
    prox_kernel = staticmethod(threshold_kernel)

    def prox(self, v: Array, t: float) -> Array:
        """The projection of v - t c."""
        return self.on.prox(v - t * self.c, t)

    def conjugate(self, v: Array) -> float:
        """r max(0, max_i v_i - c)."""
        return self.on.r * max(float(v.max(initial=0.0)) - self.c, 0.0)

    def face(self, x: Array) -> Face:
        """The support moves, with slope c; keeping its sum where that is r."""
        inner = self.on.face(x)
        return face(inner.free, np.full(inner.free.size, self.c), inner.normals)

    def kernel_args(self) -> tuple[object, ...]:
        return self.c, self.on.r, SOLID
