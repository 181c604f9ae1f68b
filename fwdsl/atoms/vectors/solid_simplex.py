"""The solid simplex {x >= 0 : sum x <= r}: support function r max(0, max_i v_i), vertices 0 and r e_i.

Projection: max(v - theta, 0) at the least theta >= 0 with sum at most r.
"""

from __future__ import annotations

import math

import numpy as np

from ..base import Array, Face
from ..conic import Conic, box_form, budget_form
from .common import INSIDE, OfRadius, excess, face, negative_part
from .threshold import SOLID, project_l1, threshold_kernel


class SolidSimplex(OfRadius):
    """`solid_simplex(r)`."""

    pair = (None, "solid_simplex")
    polyhedral = True
    prox_kernel = staticmethod(threshold_kernel)

    def radius(self) -> float:
        return self.r if self.size else 0.0

    def diameter(self) -> float:
        """r 2^(1/2), between two vertices r e_i; r where there is one entry."""
        return self.radius() * (math.sqrt(2.0) if self.size > 1 else 1.0)

    def violation(self, x: Array, sizes: Array | None = None) -> float:
        """x >= 0, and sum x <= r."""
        sizes = np.abs(x) if sizes is None else sizes
        return max(negative_part(x, sizes), excess(float(x.sum()), self.r, float(sizes.sum())))

    def prox(self, v: Array, t: float) -> Array:
        return project_l1(np.maximum(v, 0.0), self.r)

    def conjugate(self, v: Array) -> float:
        return self.r * float(v.max(initial=0.0))

    def lmo(self, c: Array) -> Array:
        """r e_i with the first i of least c_i where that is negative, else 0."""
        x = np.zeros(self.size)
        x[list(self.vertex_id(c))] = self.r
        return x

    def vertex_id(self, c: Array) -> tuple[int, ...]:
        return (int(np.argmin(c)),) if c.min(initial=0.0) < 0.0 else ()

    def face(self, x: Array) -> Face:
        """The support moves, keeping its sum where that is r."""
        free = np.flatnonzero(x)
        return face(free, normals=None if float(x.sum()) < self.r * INSIDE else np.ones((1, free.size)))

    def conic(self) -> Conic:
        return box_form(np.zeros(self.size), np.full(self.size, math.inf)) + budget_form(self.size, self.r)

    def kernel_args(self) -> tuple[object, ...]:
        return 0.0, self.r, SOLID
