"""The halfspace {x : <a, x> <= b}: projection v - max(<a, v> - b, 0) a / |a|^2, support function s b at v = s a with s >= 0, inf elsewhere."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ..arrays import ROUNDING
from ..base import Array, Face
from ..conic import Conic, budget_form
from .common import INSIDE, ConvexSet, excess, face


def halfspace_kernel(v, t, out, a, b, squares):
    """Kernel: v moved along a until <a, v> <= b."""
    over = -b
    for i in range(v.size):
        over += a[i] * v[i]
    shift = over / squares if over > 0.0 else 0.0
    for i in range(v.size):
        out[i] = v[i] - shift * a[i]


@dataclass(frozen=True, eq=False, repr=False)
class Halfspace(ConvexSet):
    """`halfspace(a, b)`; a is a vector, or a number that stands for all its entries. With a = 0 it is everything (b >= 0) or refused."""

    size: int
    a: Array
    b: float

    pair = (None, "halfspace")
    polyhedral = True
    prox_kernel = staticmethod(halfspace_kernel)

    def __post_init__(self) -> None:
        a = np.ascontiguousarray(np.broadcast_to(np.asarray(self.a, dtype=np.float64), (self.size,)))
        object.__setattr__(self, "a", a)
        object.__setattr__(self, "b", float(self.b))
        if not (np.all(np.isfinite(a)) and math.isfinite(self.b)):
            raise ValueError("a halfspace needs finite numbers")
        if not np.any(a) and self.b < 0.0:
            raise ValueError(f"a halfspace with a = 0 and b = {self.b:g} is empty")

    @property
    def squares(self) -> float:
        """|a|^2, 1 where a = 0."""
        return float(np.square(self.a).sum()) or 1.0

    def _dot(self, x: Array) -> float:
        return float((self.a * x).sum())

    def radius(self) -> float:
        return math.inf if self.size else 0.0

    def describe(self) -> str:
        return f"halfspace(a, {self.b:g})"

    def violation(self, x: Array, sizes: Array | None = None) -> float:
        """<a, x> <= b, relative to the sum of the sizes of the products and of b."""
        return excess(self._dot(x), self.b, float((np.abs(self.a) * (np.abs(x) if sizes is None else sizes)).sum()))

    def prox(self, v: Array, t: float) -> Array:
        over = self._dot(v) - self.b
        return v - (over / self.squares) * self.a if over > 0.0 else v.copy()

    def _multiple(self, v: Array) -> float | None:
        """The s >= 0 with v = s a but for rounding; None where there is none."""
        s = self._dot(v) / self.squares
        s = s if s > 0.0 else 0.0
        return s if np.all(np.abs(v - s * self.a) <= ROUNDING * (np.abs(v) + s * np.abs(self.a))) else None

    def conjugate(self, v: Array) -> float:
        """s b at v = s a, else inf."""
        s = self._multiple(v)
        return math.inf if s is None else s * self.b

    def dual_scale(self, v: Array) -> float:
        """1 on the ray of a, else 0."""
        return 0.0 if self._multiple(v) is None else 1.0

    def dual_project(self, v: Array) -> Array:
        """max(<a, v>, 0) a / |a|^2."""
        if self._multiple(v) is not None:
            return v.copy()
        return max(self._dot(v) / self.squares, 0.0) * self.a

    def face(self, x: Array) -> Face:
        """Everything moves inside; on the boundary across a."""
        products = self.a * x
        room = self.b - float(products.sum())
        if room > (1.0 - INSIDE) * (abs(self.b) + float(np.abs(products).sum())) or not np.any(self.a):
            return face(np.arange(self.size))
        return face(np.arange(self.size), normals=self.a[None, :].copy())

    def conic(self) -> Conic:
        return budget_form(self.size, self.b, -self.a)

    def kernel_args(self) -> tuple[object, ...]:
        return self.a, self.b, self.squares
