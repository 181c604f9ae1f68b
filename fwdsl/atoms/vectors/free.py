"""No norm and no set: g = 0 on the whole space, g* the indicator of the origin."""

from __future__ import annotations

import math

import numpy as np

from ...light_dataclass import light_dataclass
from ..base import Array, Face
from ..conic import Conic
from ..entries import EntrySum
from .common import ConvexSet, face


def free_kernel(v, t, out):
    """Kernel: out = v."""
    for i in range(v.size):
        out[i] = v[i]


@light_dataclass
class Free(ConvexSet):
    """The function that is 0 everywhere: a variable in no set and under no norm."""

    size: int

    pair = (None, None)
    polyhedral = True
    entrywise = True
    permutable = True
    prox_kernel = staticmethod(free_kernel)

    def radius(self) -> float:
        return math.inf if self.size else 0.0

    def describe(self) -> str:
        return "free"

    def violation(self, x: Array, sizes: Array | None = None) -> float:
        return 0.0

    def prox(self, v: Array, t: float) -> Array:
        return v.copy()

    def conjugate(self, v: Array) -> float:
        return math.inf if v.any() else 0.0

    def dual_scale(self, v: Array) -> float:
        return 0.0 if v.any() else 1.0

    def dual_project(self, v: Array) -> Array:
        return np.zeros_like(v)

    def face(self, x: Array) -> Face:
        return face(np.arange(self.size))

    def entries(self) -> EntrySum:
        return EntrySum(0.0, 0.0, -math.inf, math.inf)

    def conic(self) -> Conic:
        return Conic(self.size)
