"""The box {x : lo <= x <= hi}, bounds possibly infinite: support function sum_i max(lo_i v_i, hi_i v_i), projection by cutting."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..base import Array, Face
from ..conic import Conic, box_form
from ..entries import EntrySum
from .common import ConvexSet, face, largest_share, norm2


def box_kernel(v, t, out, c, lo, hi):
    """Kernel: the soft threshold of v at t c, cut at lo and hi."""
    threshold = t * c
    for i in range(v.size):
        a = math.copysign(max(abs(v[i]) - threshold, 0.0), v[i])
        out[i] = max(lo[i], min(hi[i], a))


@dataclass(frozen=True, eq=False, repr=False)
class Box(ConvexSet):
    """`box(lo, hi)`; bounds are numbers or vectors, kept as vectors."""

    size: int
    lo: Array
    hi: Array

    pair = (None, "box")
    polyhedral = True
    entrywise = True
    prox_kernel = staticmethod(box_kernel)

    def __post_init__(self) -> None:
        for name in ("lo", "hi"):
            bound = np.asarray(getattr(self, name), dtype=np.float64)
            vector = bound if bound.shape == (self.size,) else np.full(self.size, bound)
            object.__setattr__(self, name, np.ascontiguousarray(vector))
        if not (self.lo <= self.hi).all() or (self.lo == math.inf).any() or (self.hi == -math.inf).any():
            raise ValueError("a box needs lo <= hi, and a number between them, in every entry")

    @property
    def bounded(self) -> bool:
        return bool(np.all(np.isfinite(self.lo)) and np.all(np.isfinite(self.hi)))

    @property
    def permutable(self) -> bool:  # type: ignore[override]
        """True where all entries have the same bounds."""
        return bool(np.all(self.lo == self.lo[:1]) and np.all(self.hi == self.hi[:1]))

    def radius(self) -> float:
        return norm2(np.maximum(np.abs(self.lo), np.abs(self.hi)))

    def diameter(self) -> float:
        return 2.0 * norm2(0.5 * self.hi - 0.5 * self.lo)

    def describe(self) -> str:
        """`box(lo, hi)`, by numbers where each bound is one."""
        lo, hi = (_word(bound, name) for bound, name in ((self.lo, "lo"), (self.hi, "hi")))
        return f"box({lo}, {hi})"

    def violation(self, x: Array, sizes: Array | None = None) -> float:
        """lo <= x and x <= hi, entrywise."""
        if (self.lo <= x).all() and (x <= self.hi).all():
            return 0.0
        sizes = self.own_sizes(x) if sizes is None else sizes
        under = largest_share(self.lo - x, sizes + np.abs(self.lo))
        return max(under, largest_share(x - self.hi, sizes + np.abs(self.hi)))

    def bounds(self) -> tuple[Array, Array]:
        return self.lo, self.hi

    def prox(self, v: Array, t: float) -> Array:
        return np.clip(v, self.lo, self.hi)

    def conjugate(self, v: Array) -> float:
        """sum_i max(lo_i v_i, hi_i v_i)."""
        # an infinite bound counts only where v points to it
        return _along(self.hi, v, v > 0.0) + _along(self.lo, v, v < 0.0)

    def _outside(self, v: Array) -> Any:
        """The entries at which the supremum is infinite."""
        return ((v > 0.0) & np.isinf(self.hi)) | ((v < 0.0) & np.isinf(self.lo))

    def dual_scale(self, v: Array) -> float:
        return 0.0 if np.any(self._outside(v)) else 1.0

    def dual_project(self, v: Array) -> Array:
        """v, zero in the unbounded directions it points along."""
        return np.where(self._outside(v), 0.0, v)

    def lmo(self, c: Array) -> Array | None:
        """lo where c >= 0, else hi; None where a bound is infinite."""
        return np.where(c >= 0.0, self.lo, self.hi) if self.bounded else None

    def vertex_id(self, c: Array) -> tuple[int, ...] | None:
        """The bounds that are taken, one bit each, eight to a number."""
        return tuple(np.packbits(c >= 0.0).tolist()) if self.bounded else None

    def face(self, x: Array) -> Face:
        """The entries strictly between the bounds move."""
        return face(np.flatnonzero((self.lo < x) & (x < self.hi)))

    def entries(self) -> EntrySum:
        return EntrySum(0.0, 0.0, self.lo, self.hi)

    def conic(self) -> Conic:
        return box_form(self.lo, self.hi)

    def kernel_args(self) -> tuple[Any, ...]:
        return 0.0, self.lo, self.hi


def _along(ends: Array, v: Array, at: NDArray[np.bool_]) -> float:
    """The sum of ends_i v_i over some entries; no pass where there are none, or all ends are 0."""
    if not (at.any() and ends.any()):
        return 0.0
    return float(np.multiply(ends, v, out=np.zeros_like(v), where=at).sum())


def _word(bound: Array, name: str) -> str:
    return f"{bound[0]:g}" if bound.size and np.all(bound == bound[0]) else name
