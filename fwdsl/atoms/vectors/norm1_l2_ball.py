"""c |x|_1 on |x|_2 <= r: the prox is the soft threshold, projected; g*(v) = r |S(v)|_2, S the soft threshold at c.

The prox of c |x|_1 + (mu / 2) |x|^2 is S(v) / (1 + mu); the multiplier mu >= 0 of the ball gives it length r if S(v) is longer.
"""

from __future__ import annotations

import math

import numpy as np

from ..base import Array, Face
from .common import face, norm2, soft
from .l2_ball import L2Ball
from .norm1 import Norm1OnSigned


def norm1_l2_kernel(v, t, out, c, r):
    """Kernel: the soft threshold at t c, at the length min(its own, r)."""
    threshold = t * c
    peak = 0.0
    for i in range(v.size):
        a = max(abs(v[i]) - threshold, 0.0)
        out[i] = math.copysign(a, v[i])
        peak = max(peak, a)
    if peak > 0.0:
        squares = 0.0
        for i in range(v.size):
            squares += (out[i] / peak) * (out[i] / peak)
        size = peak * math.sqrt(squares)
        if size > r:
            for i in range(v.size):
                out[i] *= r / size


class Norm1L2Ball(Norm1OnSigned):
    """`c * norm1` on `l2_ball(r)`."""

    on: L2Ball

    pair = ("norm1", "l2_ball")
    polyhedral = False
    prox_kernel = staticmethod(norm1_l2_kernel)

    def prox(self, v: Array, t: float) -> Array:
        """The soft threshold, projected."""
        return self.on.prox(soft(v, t * self.c), t)

    def conjugate(self, v: Array) -> float:
        """r |S(v)|_2."""
        return self.on.r * norm2(soft(v, self.c))

    def face(self, x: Array) -> Face | None:
        """Inside, the support moves, with slope c sign(x); the boundary is curved."""
        if not self.on.interior(x):
            return None
        free = np.flatnonzero(x)
        return face(free, self.c * np.sign(x[free]))

    def kernel_args(self) -> tuple[object, ...]:
        return self.c, self.on.r
