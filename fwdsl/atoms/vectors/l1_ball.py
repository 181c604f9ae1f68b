"""The l1 ball {x : |x|_1 <= r}: support function r |v|_inf, vertices +- r e_i, diameter 2 r.

Projection: v inside, else the soft threshold at the theta that `threshold` finds.
"""

from __future__ import annotations

import numpy as np

from ..base import Array, Face
from ..conic import Conic, norm1_form, within_form
from .common import Ball, OfRadius, face, largest, norm1
from .threshold import L1, project_l1, threshold_kernel


class L1Ball(Ball, OfRadius):
    """`l1_ball(r)`."""

    pair = (None, "l1_ball")
    polyhedral = True
    prox_kernel = staticmethod(threshold_kernel)
    norm = staticmethod(norm1)
    dual_norm = staticmethod(largest)

    def prox(self, v: Array, t: float) -> Array:
        return project_l1(v, self.r)

    def lmo(self, c: Array) -> Array:
        """-r sign(c_i) e_i with the first i of largest |c_i|."""
        x = np.zeros(self.size)
        if self.size:
            i, sign = self.vertex_id(c)
            x[i] = sign * self.r
        return x

    def vertex_id(self, c: Array) -> tuple[int, ...]:
        """(i, sign)."""
        if not self.size:
            return ()
        i = int(np.argmax(np.abs(c)))
        return i, (-1 if c[i] >= 0.0 else 1)

    def face(self, x: Array) -> Face:
        """Everything moves inside; on the boundary the support, keeping sum sign(x_i) x_i."""
        if self.interior(x):
            return face(np.arange(self.size))
        free = np.flatnonzero(x)
        return face(free, normals=np.sign(x[free])[None, :])

    def conic(self) -> Conic:
        return within_form(norm1_form(self.size, 1.0), np.ones(self.size), self.r)

    def kernel_args(self) -> tuple[object, ...]:
        return 0.0, self.r, L1
