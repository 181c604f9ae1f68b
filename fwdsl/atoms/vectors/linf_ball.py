"""The cube {x : |x|_inf <= r}: support function r |v|_1, projection v cut at +- r, diameter 2 r d^(1/2)."""

from __future__ import annotations

import math

import numpy as np

from ..base import Array, Face
from ..conic import Conic, box_form
from ..entries import EntrySum
from .common import Ball, OfRadius, face, largest, norm1


def clip_kernel(v, t, out, c, r):
    """Kernel: the soft threshold of v at t c, cut at +- r."""
    threshold = t * c
    for i in range(v.size):
        out[i] = math.copysign(min(max(abs(v[i]) - threshold, 0.0), r), v[i])


class LinfBall(Ball, OfRadius):
    """`linf_ball(r)`."""

    pair = (None, "linf_ball")
    polyhedral = True
    prox_kernel = staticmethod(clip_kernel)
    norm = staticmethod(largest)
    dual_norm = staticmethod(norm1)

    def radius(self) -> float:
        """r d^(1/2), the length of a vertex."""
        return self.r * math.sqrt(self.size)

    def bounds(self) -> tuple[Array, Array]:
        return np.full(self.size, -self.r), np.full(self.size, self.r)

    def prox(self, v: Array, t: float) -> Array:
        return np.clip(v, -self.r, self.r)

    def lmo(self, c: Array) -> Array:
        return np.where(c >= 0.0, -self.r, self.r)

    def vertex_id(self, c: Array) -> tuple[int, ...]:
        return tuple(np.packbits(c >= 0.0).tolist())

    def face(self, x: Array) -> Face:
        """The entries strictly between the bounds move."""
        return face(np.flatnonzero(np.abs(x) < self.r))

    def entries(self) -> EntrySum:
        return EntrySum(0.0, 0.0, -self.r, self.r)

    def conic(self) -> Conic:
        return box_form(np.full(self.size, -self.r), np.full(self.size, self.r))

    def kernel_args(self) -> tuple[object, ...]:
        return 0.0, self.r
