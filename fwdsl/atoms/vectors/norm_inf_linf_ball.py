"""c |x|_inf on |x|_inf <= r: the prox is that of the norm, cut at +- r; g*(v) = r max(|v|_1 - c, 0).

For a given largest size s the best x is v cut at +- s; what remains, t c s + sum_i max(|v_i| - s, 0)^2 / 2, is convex in s, so on
s <= r it is least at the smaller of r and the unconstrained s. The same for the conjugate: sup over s <= r of s (|v|_1 - c).
"""

from __future__ import annotations

from ..base import Array
from .common import OnOwnBall
from .linf_ball import LinfBall
from .norm_inf import NormInf
from .threshold import CLIP, threshold_kernel


class NormInfLinfBall(OnOwnBall):
    """`c * norm_inf` on `linf_ball(r)`."""

    on: LinfBall

    pair = ("norm_inf", "linf_ball")
    of = NormInf
    polyhedral = True
    prox_kernel = staticmethod(threshold_kernel)

    def prox(self, v: Array, t: float) -> Array:
        """The prox of the norm, cut."""
        return self.on.prox(self.norm.prox(v, t), t)

    def kernel_args(self) -> tuple[object, ...]:
        return self.c, self.on.r, CLIP
