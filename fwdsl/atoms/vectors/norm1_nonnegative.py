"""c |x|_1 on x >= 0, where it is the linear c sum x: prox max(v - t c, 0), conjugate the indicator of v <= c."""

from __future__ import annotations

import math

import numpy as np

from ..base import Array, Face
from .common import face, scale_into
from .nonnegative import positive_kernel
from .norm1 import Norm1OnPositive


class Norm1Nonnegative(Norm1OnPositive):
    """`c * norm1` on `nonnegative`."""

    pair = ("norm1", "nonnegative")
    polyhedral = True
    prox_kernel = staticmethod(positive_kernel)

    def prox(self, v: Array, t: float) -> Array:
        """max(v - t c, 0)."""
        return np.maximum(v - t * self.c, 0.0)

    def conjugate(self, v: Array) -> float:
        """0 where v <= c, else inf."""
        return 0.0 if v.max(initial=0.0) <= self.c else math.inf

    def dual_scale(self, v: Array) -> float:
        """min(1, c / max v)."""
        top = float(v.max(initial=0.0))
        return 1.0 if top <= self.c else scale_into(lambda u: bool(u.max() <= self.c), v, self.c / top)

    def dual_project(self, v: Array) -> Array:
        """min(v, c)."""
        return np.minimum(v, self.c)

    def face(self, x: Array) -> Face:
        """The support moves, with slope c."""
        free = np.flatnonzero(x)
        return face(free, np.full(free.size, self.c))

    def kernel_args(self) -> tuple[object, ...]:
        return (self.c,)
