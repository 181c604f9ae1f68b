"""c |x|_1 on the solid simplex of sum r, where it is the linear c sum x: the prox is the projection of v - t c; g*(v) = r max(0, max_i v_i - c)."""

from __future__ import annotations

from .norm1 import Norm1OnPositive
from .threshold import threshold_kernel


class Norm1SolidSimplex(Norm1OnPositive):
    """`c * norm1` on `solid_simplex(r)`."""

    pair = ("norm1", "solid_simplex")
    polyhedral = True
    prox_kernel = staticmethod(threshold_kernel)
