"""c |x|_1; prox the soft threshold, conjugate the indicator of |v|_inf <= c."""

from __future__ import annotations

import math

import numpy as np

from ..base import Array, Face
from ..conic import Conic, norm1_form
from ..entries import EntrySum
from .common import Joint, Norm, face, largest, norm1, soft


def soft_kernel(v, t, out, c):
    """Kernel: the soft threshold at t c."""
    threshold = t * c
    for i in range(v.size):
        out[i] = math.copysign(max(abs(v[i]) - threshold, 0.0), v[i])


class Norm1(Norm):
    """`c * norm1`."""

    pair = ("norm1", None)
    polyhedral = True
    dual_name = "linf"
    prox_kernel = staticmethod(soft_kernel)
    norm = staticmethod(norm1)
    dual_norm = staticmethod(largest)

    def prox(self, v: Array, t: float) -> Array:
        """sign(v) max(|v| - t c, 0)."""
        return soft(v, t * self.c)

    def dual_project(self, v: Array) -> Array:
        return np.clip(v, -self.c, self.c)

    def face(self, x: Array) -> Face:
        """The support moves, with slope c sign(x)."""
        free = np.flatnonzero(x)
        return face(free, self.c * np.sign(x[free]))

    def entries(self) -> EntrySum:
        return EntrySum(self.c, 0.0, -math.inf, math.inf)

    def conic(self) -> Conic:
        return norm1_form(self.size, self.c)

    def kernel_args(self) -> tuple[object, ...]:
        return (self.c,)


class Norm1On(Joint):
    """c * norm1 on a set that has with x all points between 0 and x, entry by entry, or on one that overrides what follows from that."""

    of = Norm1

    def prox(self, v: Array, t: float) -> Array:
        """The soft threshold, projected."""
        return self.on.prox(self.norm.prox(v, t), t)

    def conjugate(self, v: Array) -> float:
        """The support function of the set at the soft threshold of v at c."""
        return self.on.conjugate(soft(v, self.c))

    def face(self, x: Array) -> Face | None:
        """The nonzero entries move as the set lets them, with slope c sign(x)."""
        found = self.on.face(x)
        if found is None:
            return None
        nonzero = x[found.free] != 0.0
        free = found.free[nonzero]
        return face(free, self.c * np.sign(x[free]), found.normals[:, nonzero])


class Norm1OnPositive(Norm1On):
    """c * norm1 on a set of nonnegative entries, where it is the linear c sum x."""

    def normal_part(self, x: Array, rest: Array) -> Array:
        """`rest` less c in every entry, the gradient of c times the sum."""
        return rest - self.c


class Norm1OnSigned(Norm1On):
    """c * norm1 on a set that is the same for all signs of the entries, or one of each entry."""

    normal_sees_x = True

    def normal_part(self, x: Array, rest: Array) -> Array:
        """`rest` less the subgradient of the norm at x that leaves least of it.

        It has the sign of x where the set leaves no other. Elsewhere a normal of the set points away from 0, and an x that is 0 but for rounding
        must not count: the least of `rest` is what is beyond c.
        """
        lo, hi = self.on.enclosing_box()
        signed = (lo > 0.0) | (hi < 0.0)
        return rest - np.where(signed, self.c * np.sign(x), np.clip(rest, -self.c, self.c))
