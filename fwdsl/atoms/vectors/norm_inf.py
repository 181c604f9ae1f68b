"""c |x|_inf; prox by Moreau v - P(v) with P the projection on the l1 ball of radius t c, conjugate the indicator of |v|_1 <= c."""

from __future__ import annotations

import math

from ..base import Array
from ..conic import Conic, norm_inf_form
from .common import Norm, largest, norm1, scale_into
from .threshold import CLIP, project_l1, threshold_kernel


class NormInf(Norm):
    """`c * norm_inf`."""

    pair = ("norm_inf", None)
    polyhedral = True
    dual_name = "l1"
    prox_kernel = staticmethod(threshold_kernel)
    norm = staticmethod(largest)
    dual_norm = staticmethod(norm1)

    def prox(self, v: Array, t: float) -> Array:
        """v less its projection on the l1 ball of radius t c."""
        return v - project_l1(v, t * self.c)

    def dual_project(self, v: Array) -> Array:
        """The projection on the l1 ball of radius c."""
        u = project_l1(v, self.c)
        return u * scale_into(lambda w: norm1(w) <= self.c, u, 1.0)

    @property
    def has_faces(self) -> bool:
        """False: entries of the largest size would move as one."""
        return False

    def conic(self) -> Conic:
        return norm_inf_form(self.size, self.c)

    def kernel_args(self) -> tuple[object, ...]:
        return self.c, math.inf, CLIP
