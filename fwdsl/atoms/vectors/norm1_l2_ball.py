"""c |x|_1 on |x|_2 <= r: the prox is the soft threshold, projected; g*(v) = r |S(v)|_2, S the soft threshold at c.

The prox of c |x|_1 + (mu / 2) |x|^2 is S(v) / (1 + mu); the multiplier mu >= 0 of the ball gives it length r if S(v) is longer.
"""

from __future__ import annotations

import math

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

    pair = ("norm1", "l2_ball")
    polyhedral = False
    prox_kernel = staticmethod(norm1_l2_kernel)
