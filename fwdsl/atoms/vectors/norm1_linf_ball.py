"""c |x|_1 on |x|_inf <= r, entry by entry: the prox is the soft threshold, cut at +- r; g*(v) = r sum_i max(|v_i| - c, 0)."""

from __future__ import annotations

from .linf_ball import clip_kernel
from .norm1 import Norm1OnSigned


class Norm1LinfBall(Norm1OnSigned):
    """`c * norm1` on `linf_ball(r)`."""

    pair = ("norm1", "linf_ball")
    polyhedral = True
    prox_kernel = staticmethod(clip_kernel)
