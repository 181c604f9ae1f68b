"""c sum_i x_i log(x_i / y_i) - x_i + y_i over the pairs of entries (x_1, y_1, x_2, y_2, ...), x and y >= 0: the relative entropy of both.

| what | formula |
| --- | --- |
| conjugate | the indicator of {(u, w): w <= c (1 - exp(u / c))}, pair by pair |
| prox | x = a - s log r, y = b + s (r - 1) with s = t c, at the r > max(0, 1 - b / s) with x = r y > 0; (0, 0) where there is none |

Between these ends r y - x rises in r. Source: Combettes, Mueller, "Perspective functions: proximal calculus", 2018; here by halving for log r.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ..base import Array, VectorFunction
from ..conic import NO_ENTRIES, Cone, Conic, entries, joined
from .common import checked_coefficient, largest_share, scale_into
from .nonnegative import Nonnegative

HALVES = 120

NEXT_TO_0 = 1e-16
"""The share of x that stands for a negative y: a value of the sum that is finite, and no better than those nearby."""


@dataclass(frozen=True, eq=False, repr=False)
class JointKlDiv(VectorFunction):
    """`c * joint_kl_div`."""

    size: int
    c: float

    pair = ("joint_kl_div", None)
    polyhedral = False
    entrywise = True
    compiled = False
    prox_kernel = None  # type: ignore[assignment]

    def __post_init__(self) -> None:
        object.__setattr__(self, "c", checked_coefficient(self.c))
        if self.size % 2:
            raise ValueError(f"`joint_kl_div` is of pairs, and {self.size} entries make none")

    @property
    def slope(self) -> float:
        return self.c

    @property
    def has_faces(self) -> bool:
        """False: it is curved."""
        return False

    def radius(self) -> float:
        return math.inf if self.size else 0.0

    def coercive(self) -> tuple[float, str] | None:
        """None: it is 0 wherever x = y."""
        return None

    def describe(self) -> str:
        return f"{self.c:g} * joint_kl_div"

    def set_beneath(self) -> VectorFunction:
        return Nonnegative(self.size)

    def violation(self, x: Array, sizes: Array | None = None) -> float:
        return largest_share(-x, self.own_sizes(x) if sizes is None else sizes)

    def value(self, x: Array) -> float:
        """c times the sum, inf where an x stands beside a y of 0. Negative numbers, which `violation` tells of, count as 0 and as next to it."""
        p, q = np.maximum(x[::2], 0.0), x[1::2]
        q = np.where(q < 0.0, NEXT_TO_0 * p, q)
        live = p > 0.0
        with np.errstate(divide="ignore", over="ignore"):
            logs = p[live] * np.log(p[live] / q[live])
        return self.c * float(logs.sum() - p.sum() + q.sum())

    def prox(self, v: Array, t: float) -> Array:
        """Halving for s = log r, pair by pair."""
        k = t * self.c
        if k == 0.0 or not self.size:
            return np.maximum(v, 0.0)
        a, b = v[::2] / k, v[1::2] / k
        least = np.maximum(0.0, 1.0 - b)
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            none = (least > 0.0) & (a <= np.log(least))
            low = np.where(least > 0.0, np.log(least), np.minimum(0.0, a - np.abs(b) - 1.0) - 1.0)
            high = np.log(2.0 + np.abs(b) + np.sqrt(np.abs(a)))
            for _ in range(HALVES):
                middle = 0.5 * (low + high)
                r = np.exp(middle)
                over = r * (b + r - 1.0) + middle > a
                low, high = np.where(over, low, middle), np.where(over, middle, high)
            s = 0.5 * (low + high)
            r = np.exp(s)
            x, y = np.maximum(a - s, 0.0), np.maximum(b + (r - 1.0), 0.0)
            # the smaller of both from the larger, which has its digits
            x, y = np.where(r < 1.0, r * y, x), np.where(r < 1.0, y, x / r)
        out = np.empty_like(v)
        out[::2], out[1::2] = np.where(none, 0.0, k * x), np.where(none, 0.0, k * y)
        return out

    def _room(self, v: Array) -> Array:
        """The room of w, pair by pair: w may grow by so much."""
        with np.errstate(over="ignore"):
            return np.asarray(-self.c * np.expm1(v[::2] / self.c) - v[1::2])

    def _inside(self, v: Array) -> bool:
        return bool(np.all(self._room(v) >= 0.0))

    def conjugate(self, v: Array) -> float:
        return 0.0 if self._inside(v) else math.inf

    def dual_scale(self, v: Array) -> float:
        """Halving: the domain is convex and holds 0 on its boundary."""
        if self._inside(v):
            return 1.0
        low, high = 0.0, 1.0
        for _ in range(HALVES):
            middle = 0.5 * (low + high)
            low, high = (middle, high) if self._inside(middle * v) else (low, middle)
        return scale_into(lambda u: self._inside(u), v, low)

    def dual_project(self, v: Array) -> Array:
        """The part of v that the prox for t = 1 takes away, lowered by what rounding left of it outside."""
        if self._inside(v):
            return v.copy()
        u = v - self.prox(v, 1.0)
        u[1::2] += np.minimum(self._room(u), 0.0)
        step = float(np.finfo(np.float64).eps)
        while not self._inside(u) and step < 1.0:
            u[1::2] -= step * (np.abs(u[1::2]) + self.c * np.exp(np.minimum(u[::2] / self.c, 700.0)))
            step *= 2.0
        return u

    def conic(self) -> Conic:
        """The least c (q - x + y) with x exp(-q / x) <= y."""
        n = self.size // 2
        at = np.arange(n)
        return Conic(
            self.size,
            n,
            slope=np.tile([-self.c, self.c], n),
            extra_slope=self.c,
            of_z=joined([entries(3 * at + 1, 2 * at, 1.0), entries(3 * at + 2, 2 * at + 1, 1.0)]) if n else NO_ENTRIES,
            of_u=entries(3 * at, at, -1.0) if n else NO_ENTRIES,
            offset=np.zeros(3 * n),
            cones=(Cone("exponential", 3 * n),) if n else (),
        )
