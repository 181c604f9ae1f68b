"""c |x|_2; prox v max(1 - t c / |v|_2, 0), conjugate the indicator of |v|_2 <= c."""

from __future__ import annotations

import math

import numpy as np

from ..base import Array
from ..conic import Conic, norm2_form
from .common import Norm, norm2, scale_into


def norm2_kernel(v, t, out, c, r):
    """Kernel: v at the length min(max(|v|_2 - t c, 0), r)."""
    peak = 0.0
    for i in range(v.size):
        peak = max(peak, abs(v[i]))
    share = 1.0
    if peak > 0.0:
        squares = 0.0
        for i in range(v.size):
            squares += (v[i] / peak) * (v[i] / peak)
        size = peak * math.sqrt(squares)
        share = min(max(size - t * c, 0.0), r) / size
    for i in range(v.size):
        out[i] = v[i] * share


def scaled(v: Array, length: float, size: float) -> Array:
    """v, whose length is `size`, at another length."""
    return v * (length / size) if size > 0.0 else np.zeros_like(v)


class Norm2(Norm):
    """`c * norm2`."""

    pair = ("norm2", None)
    polyhedral = False
    dual_name = "l2"
    prox_kernel = staticmethod(norm2_kernel)
    norm = staticmethod(norm2)
    dual_norm = staticmethod(norm2)

    def prox(self, v: Array, t: float) -> Array:
        """v max(1 - t c / |v|_2, 0)."""
        size = norm2(v)
        return scaled(v, max(size - t * self.c, 0.0), size)

    def dual_project(self, v: Array) -> Array:
        """v min(1, c / |v|_2)."""
        size = norm2(v)
        if size <= self.c:
            return v.copy()
        return v * scale_into(lambda u: norm2(u) <= self.c, v, self.c / size)

    @property
    def has_faces(self) -> bool:
        """False: curved but at 0."""
        return False

    def conic(self) -> Conic:
        return norm2_form(self.size, self.c)

    def kernel_args(self) -> tuple[object, ...]:
        return self.c, math.inf
