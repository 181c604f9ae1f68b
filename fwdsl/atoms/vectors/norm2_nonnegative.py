"""c |x|_2 on x >= 0: the prox is that of the norm at the positive part of v, the conjugate the indicator of |max(v, 0)|_2 <= c.

Entries with v_i <= 0 are best at 0, where they add nothing to the norm; without them the prox of the norm is nonnegative by itself.
"""

from __future__ import annotations

import math

import numpy as np

from ..base import Array
from .common import Joint, norm2, scale_into
from .norm2 import Norm2, scaled


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


class Norm2Nonnegative(Joint):
    """`c * norm2` on `nonnegative`."""

    pair = ("norm2", "nonnegative")
    of = Norm2
    polyhedral = False
    normal_sees_x = True
    prox_kernel = staticmethod(norm2_nonnegative_kernel)

    def prox(self, v: Array, t: float) -> Array:
        """The positive part, shrunk."""
        u = np.maximum(v, 0.0)
        size = norm2(u)
        return scaled(u, max(size - t * self.c, 0.0), size)

    def _inside(self, v: Array) -> bool:
        return norm2(np.maximum(v, 0.0)) <= self.c

    def conjugate(self, v: Array) -> float:
        """0 where |max(v, 0)|_2 <= c, else inf."""
        return 0.0 if self._inside(v) else math.inf

    def dual_scale(self, v: Array) -> float:
        """min(1, c / |max(v, 0)|_2)."""
        return 1.0 if self._inside(v) else scale_into(self._inside, v, self.c / norm2(np.maximum(v, 0.0)))

    def dual_project(self, v: Array) -> Array:
        """The positive part shortened to c, the rest as it is."""
        return np.where(v > 0.0, self.dual_scale(v) * v, v)

    def normal_part(self, x: Array, rest: Array) -> Array:
        """`rest` less c x / |x|; nothing at 0, where the norm has a subgradient in every direction."""
        length = norm2(x)
        return rest - self.c * x / length if length > 0.0 else np.zeros_like(rest)

    def kernel_args(self) -> tuple[object, ...]:
        return (self.c,)
