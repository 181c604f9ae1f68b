"""c max_i x_i, the support function of the simplex: conjugate the indicator of {v >= 0 : sum v = c}, and no infimum.

Prox by Moreau, v less its projection on the simplex of sum t c: entries are cut at the theta with sum_i max(v_i - theta, 0) = t c.
"""

from __future__ import annotations

import math

import numpy as np

from ..base import Array, Face
from ..conic import Conic, max_form
from .support import Support, face_of_ties, has_sum
from .threshold import TOP, project_sum, sorted_theta, threshold_kernel


class Max(Support):
    """`c * max`."""

    pair = ("max", None)
    polyhedral = True
    prox_kernel = staticmethod(threshold_kernel)

    def support(self, x: Array) -> float:
        """The largest entry; 0 for no entries."""
        return float(x.max()) if x.size else 0.0

    def project(self, v: Array, r: float) -> Array:
        return project_sum(v, r)

    def inside(self, v: Array) -> bool:
        return not v.size or (bool(v.min() >= 0.0) and has_sum(v, self.c))

    def prox(self, v: Array, t: float) -> Array:
        """Entries cut at one level: those at the top are one number, to the last bit."""
        r = t * self.c
        if not v.size or r == 0.0:
            return v.copy()
        top = float(v.max())
        return np.minimum(v, top + sorted_theta(v, r))

    def face(self, x: Array) -> Face | None:
        """The entries at the top move as one; None where these are too many to say so."""
        top = np.flatnonzero(x == x.max()) if x.size else np.zeros(0, dtype=np.intp)
        return face_of_ties(top, np.zeros(x.size), self.c)

    def conic(self) -> Conic:
        return max_form(self.size, self.c)

    def kernel_args(self) -> tuple[object, ...]:
        return self.c, math.inf, TOP
