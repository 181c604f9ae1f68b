"""The Euclidean ball {x : |x|_2 <= r}: support function r |v|_2, projection v min(1, r / |v|_2), diameter 2 r."""

from __future__ import annotations

import numpy as np

from ..base import Array, Face
from ..conic import Conic, norm2_form, within_form
from .common import Ball, OfRadius, face, norm2
from .norm2 import norm2_kernel, scaled


class L2Ball(Ball, OfRadius):
    """`l2_ball(r)`."""

    pair = (None, "l2_ball")
    polyhedral = False
    prox_kernel = staticmethod(norm2_kernel)
    norm = staticmethod(norm2)
    dual_norm = staticmethod(norm2)

    def prox(self, v: Array, t: float) -> Array:
        size = norm2(v)
        return scaled(v, min(size, self.r), size)

    def lmo(self, c: Array) -> Array:
        """-r c / |c|_2; -r e_0 where c = 0."""
        if not np.any(c):
            c = np.zeros(self.size)
            c[:1] = 1.0
        return -scaled(c, self.r, norm2(c))

    def face(self, x: Array) -> Face | None:
        """Everything moves inside; the boundary is curved."""
        return face(np.arange(self.size)) if self.interior(x) else None

    @property
    def has_faces(self) -> bool:
        """False: the boundary, which binds as a rule, is curved."""
        return False

    def conic(self) -> Conic:
        return within_form(norm2_form(self.size, 1.0), np.ones(1), self.r)

    def kernel_args(self) -> tuple[object, ...]:
        return 0.0, self.r
