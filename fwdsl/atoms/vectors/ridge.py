"""g(x) + c |x|_2^2 for a vector function g: the joint prox that a squared norm always has.

t (g + c |x|^2) + |x - v|^2 / 2 is, up to a constant, (1 + 2 t c) times (t / (1 + 2 t c)) g + |x - v / (1 + 2 t c)|^2 / 2.
The sup of <v, x> - g(x) - c |x|^2 is attained at the one x = prox of g / (2 c) at v / (2 c), so the conjugate is finite everywhere.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import field, replace

import numpy as np

from ...light_dataclass import light_dataclass
from ..base import Array, Face, VectorFunction
from ..conic import Conic
from ..entries import EntrySum
from ..inner import OfInner


@light_dataclass
class Ridged(OfInner):
    """`inner + c * sum_squares`, c > 0."""

    inner: VectorFunction
    c: float
    size: int = field(init=False)

    polyhedral = False

    def __post_init__(self) -> None:
        if not (self.c > 0.0 and math.isfinite(self.c)):
            raise ValueError(f"the coefficient of sum_squares must be positive and finite, not {self.c}")
        object.__setattr__(self, "size", self.inner.size)

    @property
    def curvature(self) -> float:  # type: ignore[override]
        return 2.0 * self.c + self.inner.curvature

    @property
    def permutable(self) -> bool:  # type: ignore[override]
        return self.inner.permutable

    @property
    def compiled(self) -> bool:  # type: ignore[override]
        return self.inner.compiled

    def radius(self) -> float:
        return self.inner.radius()

    def describe(self) -> str:
        """`c * sum_squares`, after the inner function if that is anything."""
        square = f"{self.c:g} * sum_squares"
        norm, on = self.pair
        if on is None:
            return square if norm is None else f"{self.inner.describe()} + {square}"
        return f"{square} + {self.inner.describe()}" if norm is not None else f"{square} on {self.inner.describe()}"

    def value(self, x: Array) -> float:
        return self.inner.value(x) + self.c * float(np.square(x).sum())

    def violation(self, x: Array, sizes: Array | None = None) -> float:
        return self.inner.violation(x, sizes)

    def rounding(self, v: Array) -> float:
        return self.inner.rounding(v)

    def blur(self, v: Array) -> float:
        return self.inner.blur(v)

    def prox(self, v: Array, t: float) -> Array:
        """The inner prox at v / (1 + 2 t c), for t / (1 + 2 t c)."""
        grow = 1.0 + 2.0 * t * self.c
        return self.inner.prox(v / grow, t / grow)

    def prox_change(self, t: float) -> tuple[float, float]:
        grow = 1.0 + 2.0 * t * self.c
        share, step = self.inner.prox_change(t / grow)
        return share / grow, step

    def conjugate(self, v: Array) -> float:
        """<v, x> - g(x) - c |x|^2 at the maximiser."""
        return self.inner.conjugate_with_ridge(v, self.c)

    def normal_part(self, x: Array, rest: Array) -> Array:
        """The inner function's, of `rest` less the gradient 2 c x."""
        return self.inner.normal_part(x, rest - 2.0 * self.c * x)

    def coercive(self) -> tuple[float, str] | None:
        return self.inner.coercive()

    @property
    def has_faces(self) -> bool:
        return self.inner.has_faces

    def face(self, x: Array) -> Face | None:
        """The inner face, its slope steeper by 2 c x; `curvature` is the rest."""
        inner = self.inner.face(x)
        return None if inner is None else Face(inner.free, inner.normals, inner.slope + 2.0 * self.c * x[inner.free])

    def set_beneath(self) -> VectorFunction | None:
        return self.inner.set_beneath()

    def like(self, inner: VectorFunction) -> VectorFunction:
        return Ridged(inner, self.c)

    def entries(self) -> EntrySum | None:
        """The inner function's, with the square."""
        inner = self.inner.entries()
        return None if inner is None else replace(inner, ridge=inner.ridge + self.c)

    def lmo(self, c: Array) -> Array | None:
        return self.inner.lmo(c)

    def vertex_id(self, c: Array) -> tuple[int, ...] | None:
        return self.inner.vertex_id(c)

    @property
    def prox_kernel(self) -> Callable[..., None]:  # type: ignore[override]
        """The inner function's; its arguments change as `prox_change` says."""
        return self.inner.prox_kernel

    def conic(self) -> Conic | None:
        inner = self.inner.conic()
        return None if inner is None else replace(inner, curvature=np.add(inner.curvature, 2.0 * self.c))

    def conic_limit(self) -> str:
        return self.inner.conic_limit()

    def kernel_args(self) -> tuple[object, ...]:
        return self.inner.kernel_args()
