"""Exponential and power cones, many of one kind at once: the scaling W with W z = W^-T s of two secants of the barriers (`barriers`).

A corrected step aims at s = -mu f*'(z), with the third derivatives of the dual barrier f* for what a straight step misses.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from fwdsl.atoms.base import Array
from fwdsl.backends.interior import barriers
from fwdsl.backends.interior.cone_loops import INVERSE, INVERSE_T, W_T, W, turn
from fwdsl.backends.interior.program import Batch
from fwdsl.backends.kernels.compile import kernel

MIDDLE = (-1.051383945322714, 0.556409619469370, 1.258967884768947)
"""The point of the exponential cone with s = -f*'(s)."""

CENTRAL = 1e6
"""The largest mu <f'(s), f*'(z)> / 3 of a point in the neighbourhood of the central path (Dahl, Andersen 2022)."""


class Nonsymmetric:
    """Cones of three rows at a point (s, z) of their interiors. Vectors are the batch's rows."""

    symmetric = False

    def __init__(self, batch: Batch, s: Array, z: Array, own: Array | None = None, back: Array | None = None) -> None:
        """`own` and `back` are where the numbers of W and W^-T are to be, cone after cone."""
        self.place = slice(batch.start, batch.stop)
        self.power, self.s, self.z = _power(batch), s, z
        own_W, own_V = (np.empty((batch.number, 3, 3)) if a is None else a.reshape(-1, 3, 3) for a in (own, back))
        self.scaled = barriers.scaling(self.power, s, z, own_W, own_V)
        self.own, self.back, _ = self.scaled

    @staticmethod
    def unit(batch: Batch) -> Array:
        """s = z with s = -f*'(s) in each cone."""
        if not batch.powers:
            return np.tile(MIDDLE, batch.number)
        a = np.array(batch.powers)
        return np.stack([np.sqrt(1.0 + a), np.sqrt(2.0 - a), np.zeros_like(a)], axis=1).reshape(-1)

    @staticmethod
    def degree(batch: Batch) -> int:
        return 3 * batch.number

    @staticmethod
    def inside(batch: Batch, s: Array, z: Array) -> bool:
        """True if s is in the interior of the cones and z in that of the dual ones."""
        return barriers.longest_within(_power(batch), s, s, z, z, 0.0) == 0.0

    @staticmethod
    def central(batch: Batch, s: Array, z: Array, mu: float) -> bool:
        """True if the point is in the neighbourhood of the central path."""
        return barriers.farthest(_power(batch), s, z, mu) <= CENTRAL

    def w(self, v: Array) -> Array:
        return self._turned(W, v)

    def wt(self, v: Array) -> Array:
        return self._turned(W_T, v)

    def inverse(self, v: Array) -> Array:
        return self._turned(INVERSE, v)

    def inverse_t(self, v: Array) -> Array:
        return self._turned(INVERSE_T, v)

    def _turned(self, way: int, v: Array) -> Array:
        out, nothing = np.empty(v.size), np.empty(0)
        own, back = self.own.reshape(-1), self.back.reshape(-1)
        kernel(turn, reorder=True)(0, 0, 0, nothing, own, back, way, v, out)
        return out

    def root(self) -> Array:
        return self.back

    def rows(self, A: Array) -> Array:
        """W^-T A, of the batch's rows of a matrix without zeros."""
        found: Array = (self.back @ A.reshape(*self.back.shape[:2], -1)).reshape(A.shape)
        return found

    def aim(self, ds: Array, dz: Array, mu: float) -> Array:
        """s + mu f*'(z) - f*^(3)(z)[dz, H^-1 ds] / 2 after a straight step ds, dz of the points as they are."""
        return barriers.aim(self.power, self.s, self.z, self.scaled, ds, dz, mu)

    def reach(self, ds: Array, dz: Array, longest: float) -> float:
        """The largest t up to `longest` with s + t ds in the cones and z + t dz in the dual ones, of directions of the points as they are."""
        return max(0.0, barriers.longest_within(self.power, self.s, ds, self.z, dz, longest))


@lru_cache(maxsize=64)
def _power(batch: Batch) -> Array:
    return np.array(batch.powers) if batch.powers else np.zeros(batch.number)
