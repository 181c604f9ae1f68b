"""c |x|_2 on x >= 0: the prox is that of the norm at the positive part of v, the conjugate the indicator of |max(v, 0)|_2 <= c."""

from __future__ import annotations

import math

import numpy as np

from ..base import Array
from .common import OnOrthant, norm2
from .norm2 import Norm2


def norm2_nonnegative_kernel(v, t, out, c):
    """Kernel: the positive part of v, at its length less t c."""
    peak = 0.0
    for i in range(v.size):
        peak = max(peak, v[i])
    share = 0.0
    if peak > 0.0:
        squares = 0.0
        for i in range(v.size):
            a = max(v[i], 0.0) / peak
            squares += a * a
        size = peak * math.sqrt(squares)
        share = max(size - t * c, 0.0) / size
    for i in range(v.size):
        out[i] = max(v[i], 0.0) * share


class Norm2Nonnegative(OnOrthant):
    """`c * norm2` on `nonnegative`."""

    pair = ("norm2", "nonnegative")
    of = Norm2
    polyhedral = False
    normal_sees_x = True
    prox_kernel = staticmethod(norm2_nonnegative_kernel)

    def normal_part(self, x: Array, rest: Array) -> Array:
        """`rest` less c x / |x|; nothing at 0, where the norm has a subgradient in every direction."""
        length = norm2(x)
        return rest - self.c * x / length if length > 0.0 else np.zeros_like(rest)
