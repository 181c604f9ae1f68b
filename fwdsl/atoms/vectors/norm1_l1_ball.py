"""c |x|_1 on |x|_1 <= r: the prox is the soft threshold at the larger of t c and the threshold of the ball; g*(v) = r max(|v|_inf - c, 0)."""

from __future__ import annotations

from .common import OnOwnBall
from .norm1 import Norm1On
from .threshold import threshold_kernel


class Norm1L1Ball(OnOwnBall, Norm1On):
    """`c * norm1` on `l1_ball(r)`."""

    pair = ("norm1", "l1_ball")
    polyhedral = True
    prox_kernel = staticmethod(threshold_kernel)
