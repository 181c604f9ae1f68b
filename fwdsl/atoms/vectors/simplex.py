"""The simplex {x >= 0 : sum x = r}: support function r max_i v_i, vertices r e_i, diameter r 2^(1/2).

Projection: max(v - theta, 0) at the theta that `threshold` finds.
"""

from __future__ import annotations

import math

import numpy as np

from ..base import Array, Face
from ..conic import Conic, box_form, budget_form
from .common import OfRadius, excess, face, negative_part
from .threshold import SIMPLEX, project_sum, threshold_kernel


class Simplex(OfRadius):
    """`simplex(r)`."""

    pair = (None, "simplex")
    polyhedral = True
    prox_kernel = staticmethod(threshold_kernel)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.size and self.r > 0.0:
            raise ValueError("a simplex of no entries and positive sum is empty")

    def radius(self) -> float:
        return self.r

    def diameter(self) -> float:
        """r 2^(1/2); a point where there is one entry."""
        return self.r * math.sqrt(2.0) if self.size > 1 else 0.0

    def violation(self, x: Array, sizes: Array | None = None) -> float:
        """x >= 0, and sum x = r from either side."""
        sizes = np.abs(x) if sizes is None else sizes
        off = excess(abs(float(x.sum()) - self.r), 0.0, float(sizes.sum()) + self.r)
        return max(negative_part(x, sizes), off)

    def prox(self, v: Array, t: float) -> Array:
        return project_sum(v, self.r)

    def conjugate(self, v: Array) -> float:
        return self.r * float(v.max()) if self.r > 0.0 else 0.0

    def lmo(self, c: Array) -> Array:
        """r e_i with the first i of least c_i."""
        x = np.zeros(self.size)
        x[list(self.vertex_id(c))] = self.r
        return x

    def vertex_id(self, c: Array) -> tuple[int, ...]:
        return (int(np.argmin(c)),) if self.size else ()

    def face(self, x: Array) -> Face:
        """The support moves, keeping its sum."""
        free = np.flatnonzero(x)
        return face(free, normals=np.ones((1, free.size)))

    def conic(self) -> Conic:
        return box_form(np.zeros(self.size), np.full(self.size, math.inf)) + budget_form(self.size, self.r, kind="zero")

    def kernel_args(self) -> tuple[object, ...]:
        return 0.0, self.r, SIMPLEX
