"""c |x|_1 on |x|_inf <= r, entry by entry: the prox is the soft threshold, cut at +- r; g*(v) = r sum_i max(|v_i| - c, 0)."""

from __future__ import annotations

import numpy as np

from ..base import Array, Face
from .common import face, norm1, soft
from .linf_ball import LinfBall, clip_kernel
from .norm1 import Norm1OnSigned


class Norm1LinfBall(Norm1OnSigned):
    """`c * norm1` on `linf_ball(r)`."""

    on: LinfBall

    pair = ("norm1", "linf_ball")
    polyhedral = True
    prox_kernel = staticmethod(clip_kernel)

    def prox(self, v: Array, t: float) -> Array:
        """The soft threshold, cut."""
        return np.clip(soft(v, t * self.c), -self.on.r, self.on.r)

    def conjugate(self, v: Array) -> float:
        """r sum_i max(|v_i| - c, 0)."""
        return self.on.r * norm1(soft(v, self.c))

    def face(self, x: Array) -> Face:
        """The nonzero entries strictly between the bounds move, with slope c sign(x)."""
        free = np.flatnonzero((np.abs(x) < self.on.r) & (x != 0.0))
        return face(free, self.c * np.sign(x[free]))

    def kernel_args(self) -> tuple[object, ...]:
        return self.c, self.on.r
