"""c |x|_2^2 / t for t > 0 of vectors (t, x), 0 at 0.

| what | formula |
| --- | --- |
| conjugate | the indicator of {(a, y): a + \\|y\\|^2 / (4 c) <= 0} |
| projection on that set | (s - m, v / (1 + m / (2 c))) of (s, v) outside, with the root m of s - m + \\|v\\|^2 / (4 c (1 + m / (2 c))^2) = 0 |
| prox | by Moreau's identity, at (s, v) with the step k: (k m, v h / (1 + h)), h = m / (2 c), m being that of (s, v) / k |

Source: Combettes, Mueller, "Perspective functions: proximal calculus and applications in high-dimensional statistics", 2018, example 2.5.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ..base import Array, VectorFunction
from ..conic import Cone, Conic, entries, joined
from .box import Box
from .common import checked_coefficient, excess, norm2, scale_into

STEPS = 100
"""Steps of Newton's method at most; from 0 it rises to the root, as what it is of is convex, and takes fewer than ten as a rule."""


@dataclass(frozen=True, eq=False, repr=False)
class QuadOverLin(VectorFunction):
    """`c * quad_over_lin` of (t, x)."""

    size: int
    c: float

    pair = ("quad_over_lin", None)
    polyhedral = False
    compiled = False
    prox_kernel = None  # type: ignore[assignment]

    def __post_init__(self) -> None:
        object.__setattr__(self, "c", checked_coefficient(self.c))

    @property
    def slope(self) -> float:
        return self.c

    @property
    def has_faces(self) -> bool:
        """False: it is curved wherever it is not 0."""
        return False

    def radius(self) -> float:
        return math.inf

    def coercive(self) -> None:
        return None

    def describe(self) -> str:
        return f"{self.c:g} * quad_over_lin"

    def value(self, x: Array) -> float:
        length = norm2(x[1:])
        if length == 0.0:
            return 0.0
        t = float(x[0])
        return self.c * length * (length / t) if t > 0.0 else math.inf

    def violation(self, x: Array, sizes: Array | None = None) -> float:
        """t >= 0, relative to its size."""
        return excess(-float(x[0]), 0.0, float(np.abs(x[0]) if sizes is None else sizes[0]))

    def set_beneath(self) -> VectorFunction:
        """t >= 0."""
        lo = np.full(self.size, -math.inf)
        lo[0] = 0.0
        return Box(self.size, lo, np.full(self.size, math.inf))

    def _multiplier(self, s: float, length: float) -> float:
        """The root m > 0 of s - m + length^2 / (4 c (1 + m / (2 c))^2), which is positive at 0."""
        square = length * (length / (4.0 * self.c))
        m = 0.0
        for _ in range(STEPS):
            share = 1.0 + m / (2.0 * self.c)
            rest = square / share / share
            found = m + (s - m + rest) / (1.0 + rest / (share * self.c))
            if not found > m * (1.0 + 2e-16):
                break
            m = found
        return m

    def prox(self, v: Array, t: float) -> Array:
        if t <= 0.0:
            return np.concatenate([[max(float(v[0]), 0.0)], v[1:]])
        s, length = float(v[0]) / t, norm2(v[1:]) / t
        if s + length * (length / (4.0 * self.c)) <= 0.0:
            return np.zeros_like(v)
        m = self._multiplier(s, length)
        h = m / (2.0 * self.c)
        return np.concatenate([[t * m], v[1:] * (h / (1.0 + h))])

    def _inside(self, v: Array) -> bool:
        length = norm2(v[1:])
        return float(v[0]) + length * (length / (4.0 * self.c)) <= 0.0

    def conjugate(self, v: Array) -> float:
        return 0.0 if self._inside(v) else math.inf

    def dual_scale(self, v: Array) -> float:
        """min(1, -4 c a / |y|^2) of (a, y), 0 for a > 0."""
        if self._inside(v):
            return 1.0
        a, length = float(v[0]), norm2(v[1:])
        return (
            0.0 if a >= 0.0 else scale_into(lambda u: self._inside(u), v, min(1.0, -4.0 * self.c * a / length / length))
        )

    def dual_project(self, v: Array) -> Array:
        if self._inside(v):
            return v.copy()
        m = self._multiplier(float(v[0]), norm2(v[1:]))
        y = v[1:] / (1.0 + m / (2.0 * self.c))
        length = norm2(y)
        return np.concatenate([[min(float(v[0]) - m, -length * (length / (4.0 * self.c)))], y])

    def conic(self) -> Conic:
        """c u with |(2 x, t - u)| <= t + u, which says |x|^2 <= t u."""
        n = self.size - 1
        x = [entries(1 + np.arange(n), 1 + np.arange(n), 2.0)] if n else []
        return Conic(
            self.size,
            1,
            extra_slope=self.c,
            of_z=joined([entries([0, n + 1], 0, 1.0), *x]),
            of_u=entries([0, n + 1], 0, [1.0, -1.0]),
            offset=np.zeros(n + 2),
            cones=(Cone("second_order", n + 2),),
        )
