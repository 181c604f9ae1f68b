"""c |x|_2 on |x|_2 <= r: both see the length alone, so the prox is v at the length min(max(|v|_2 - t c, 0), r); g*(v) = r max(|v|_2 - c, 0)."""

from __future__ import annotations

from ..base import Array
from .common import OnOwnBall, norm2
from .l2_ball import L2Ball
from .norm2 import Norm2, norm2_kernel, scaled


class Norm2L2Ball(OnOwnBall):
    """`c * norm2` on `l2_ball(r)`."""

    on: L2Ball

    pair = ("norm2", "l2_ball")
    of = Norm2
    polyhedral = False
    prox_kernel = staticmethod(norm2_kernel)

    def prox(self, v: Array, t: float) -> Array:
        """v at the length min(max(|v|_2 - t c, 0), r)."""
        size = norm2(v)
        return scaled(v, min(max(size - t * self.c, 0.0), self.on.r), size)
