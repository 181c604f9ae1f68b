"""Support functions c max <w, x> over w in a bounded set W: convex, sublinear, and no norms, since W need not hold 0.

The conjugate is the indicator of c W. Prox by Moreau: v - P(v), P the projection on t c W (Rockafellar 1970, theorem 13.2).
"""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from ..base import Array, Face, VectorFunction
from .common import MOST_NORMALS, checked_coefficient, face

EPS = float(np.finfo(np.float64).eps)


def has_sum(v: Array, total: float) -> bool:
    """True if the entries of v have this sum to rounding: (8 + n) eps times the sizes of its terms."""
    return abs(float(v.sum()) - total) <= (8 + v.size) * EPS * (float(np.abs(v).sum()) + abs(total))


def face_of_ties(tied: NDArray[np.intp], slope: Array, total: float) -> Face | None:
    """The face on which all entries move, those that are tied as one with a slope of `total` in all; None where that takes too many normals."""
    count, size = max(0, tied.size - 1), slope.size
    if count * size > MOST_NORMALS:
        return None
    normals = np.zeros((count, size))
    if tied.size:
        normals[:, tied[0]] = 1.0
        normals[np.arange(count), tied[1:]] = -1.0
        slope[tied] = total / tied.size
    return face(np.arange(size), slope, normals)


@dataclass(frozen=True, eq=False, repr=False)
class Support(VectorFunction):
    """c times the support function of a bounded set."""

    size: int
    c: float

    permutable: ClassVar[bool] = True  # type: ignore[misc]

    def __post_init__(self) -> None:
        object.__setattr__(self, "c", checked_coefficient(self.c))

    @abstractmethod
    def support(self, x: Array) -> float:
        """max <w, x> over w in W."""

    @abstractmethod
    def project(self, v: Array, r: float) -> Array:
        """The projection of v on r W."""

    @abstractmethod
    def inside(self, v: Array) -> bool:
        """True if v is in c W, an equation being met to rounding."""

    def room(self, y: Array) -> Array:
        """The room that the entries of y have to move in, times the size of W: squares of y's unit, 0 at an end."""
        return np.maximum(y, 0.0) * self.c

    @property
    def slope(self) -> float:
        return self.c

    def value(self, x: Array) -> float:
        return self.c * self.support(x)

    def violation(self, x: Array, sizes: Array | None = None) -> float:
        """0: there is no set."""
        return 0.0

    def radius(self) -> float:
        return math.inf if self.size else 0.0

    def describe(self) -> str:
        return f"{self.c:g} * {self.pair[0]}"

    def coercive(self) -> tuple[float, str] | None:
        """None: it falls without end where all entries do."""
        return None

    def prox(self, v: Array, t: float) -> Array:
        """v less its projection on t c W."""
        return v - self.project(v, t * self.c)

    def conjugate(self, v: Array) -> float:
        return 0.0 if self.inside(v) else math.inf

    def dual_scale(self, v: Array) -> float:
        """1 inside, else 0: no share of v is in a set without the origin."""
        return 1.0 if self.inside(v) else 0.0

    def dual_project(self, v: Array) -> Array:
        """The projection on c W; v itself where it is inside."""
        return v.copy() if self.inside(v) else self.project(v, self.c)
