"""The nonnegative orthant {x : x >= 0}: support function the indicator of v <= 0, projection the positive part."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ..base import Array, Face
from ..conic import Conic, box_form
from ..entries import EntrySum
from .common import ConvexSet, face, largest_share


def positive_kernel(v, t, out, c):
    """Kernel: max(v - t c, 0)."""
    threshold = t * c
    for i in range(v.size):
        out[i] = max(v[i] - threshold, 0.0)


@dataclass(frozen=True)
class Nonnegative(ConvexSet):
    """`nonnegative`."""

    size: int

    pair = (None, "nonnegative")
    polyhedral = True
    entrywise = True
    prox_kernel = staticmethod(positive_kernel)

    def radius(self) -> float:
        return math.inf if self.size else 0.0

    def violation(self, x: Array, sizes: Array | None = None) -> float:
        return largest_share(-x, self.own_sizes(x) if sizes is None else sizes)

    def bounds(self) -> tuple[Array, Array]:
        return np.zeros(self.size), np.full(self.size, math.inf)

    def prox(self, v: Array, t: float) -> Array:
        return np.maximum(v, 0.0)

    def conjugate(self, v: Array) -> float:
        return math.inf if np.any(v > 0.0) else 0.0

    def dual_scale(self, v: Array) -> float:
        return 0.0 if np.any(v > 0.0) else 1.0

    def dual_project(self, v: Array) -> Array:
        return np.minimum(v, 0.0)

    def face(self, x: Array) -> Face:
        return face(np.flatnonzero(x > 0.0))

    def drawn_in(self, x: Array, distance: float) -> Array:
        return x - distance

    def entries(self) -> EntrySum:
        return EntrySum(0.0, 0.0, 0.0, math.inf)

    def conic(self) -> Conic:
        return box_form(np.zeros(self.size), np.full(self.size, math.inf))

    def kernel_args(self) -> tuple[object, ...]:
        return (0.0,)
