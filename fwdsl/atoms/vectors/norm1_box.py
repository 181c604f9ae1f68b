"""c |x|_1 on lo <= x <= hi, entry by entry: the prox is the soft threshold, cut (in one dimension the constrained minimiser of a convex
function is the unconstrained one, cut), the conjugate the largest of v x - c |x| over lo, hi and the point nearest to 0."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..base import Array
from .box import Box, box_kernel
from .common import scale_into
from .norm1 import Norm1OnSigned


class Norm1Box(Norm1OnSigned):
    """`c * norm1` on `box(lo, hi)`."""

    on: Box

    pair = ("norm1", "box")
    polyhedral = True
    prox_kernel = staticmethod(box_kernel)

    def conjugate(self, v: Array) -> float:
        """The sum of the suprema of v_i x_i - c |x_i|."""
        if not self._inside(v):
            return math.inf
        total = np.full(self.size, -math.inf)
        for x in (self.on.lo, self.on.hi, np.clip(0.0, self.on.lo, self.on.hi)):
            finite = np.isfinite(x)
            total[finite] = np.maximum(total[finite], v[finite] * x[finite] - self.c * np.abs(x[finite]))
        return float(total.sum())

    def _steep(self, v: Array) -> Any:
        """The entries at which the supremum is infinite."""
        return ((v > self.c) & np.isinf(self.on.hi)) | ((v < -self.c) & np.isinf(self.on.lo))

    def _inside(self, v: Array) -> bool:
        return not np.any(self._steep(v))

    def dual_scale(self, v: Array) -> float:
        """min(1, c / the largest |v_i| along an unbounded direction)."""
        steep = self._steep(v)
        return scale_into(self._inside, v, self.c / float(np.abs(v[steep]).max())) if np.any(steep) else 1.0

    def dual_project(self, v: Array) -> Array:
        """v, cut at +- c in the unbounded directions."""
        return np.where(self._steep(v), np.copysign(self.c, v), v)
