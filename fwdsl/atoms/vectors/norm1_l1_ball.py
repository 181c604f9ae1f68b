"""c |x|_1 on |x|_1 <= r: the prox is the soft threshold at the larger of t c and the threshold of the ball; g*(v) = r max(|v|_inf - c, 0)."""

from __future__ import annotations

import numpy as np

from ..base import Array, Face
from .common import OnOwnBall, face, largest
from .l1_ball import L1Ball
from .norm1 import Norm1
from .threshold import L1, soft_project_l1, threshold_kernel


class Norm1L1Ball(OnOwnBall):
    """`c * norm1` on `l1_ball(r)`."""

    on: L1Ball

    pair = ("norm1", "l1_ball")
    of = Norm1
    polyhedral = True
    prox_kernel = staticmethod(threshold_kernel)

    def prox(self, v: Array, t: float) -> Array:
        """The soft threshold, projected."""
        return soft_project_l1(v, t * self.c, self.on.r)

    def conjugate(self, v: Array) -> float:
        """r max(|v|_inf - c, 0)."""
        return self.on.r * max(largest(v) - self.c, 0.0)

    def face(self, x: Array) -> Face:
        """The support moves, with slope c sign(x); on the boundary keeping the norm."""
        free = np.flatnonzero(x)
        sign = np.sign(x[free])
        return face(free, self.c * sign, None if self.on.interior(x) else sign[None, :])

    def kernel_args(self) -> tuple[object, ...]:
        return self.c, self.on.r, L1
