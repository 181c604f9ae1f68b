"""c sum_g w_g |x_g|_2 + s |x|_1 over disjoint groups: the penalty of a sparse group lasso (Simon et al. 2013).

The prox is the soft threshold at t s, of which each group is then shrunk by t c w_g. The conjugate is the indicator of the v whose groups, each
entry drawn s nearer to 0, are at most c w_g long. One group makes it of `norm2`, the rows of a matrix of `norm21`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...words import CONVEX
from ..base import Array, VectorFunction
from ..conic import Conic, norm1_form
from ..family import Repeated
from ..groups import Partition, even, groups_kernel, smallest
from .common import Norm, checked_coefficient, norm1, scale_into, soft

NEWTON_STEPS = 100
"""Most steps to the scale of a group: they go down to it, each closer than the one before, and a handful is enough."""


def sparse_groups_kernel(v, t, out, c, s, r, weights, start, order):
    """Kernel: the soft threshold at t s, its groups at lengths max(|v_g| - t c w_g, 0)."""
    near = np.empty(v.size)
    for i in range(v.size):
        near[i] = max(v[i] - t * s, 0.0) + min(v[i] + t * s, 0.0)
    groups_kernel(near, t, out, c, r, weights, start, order)


@dataclass(frozen=True, eq=False, repr=False)
class SparseLengths(Norm):
    """`c * of + s * norm1`, `of` naming a sum of Euclidean norms of groups, such as `group_norm`."""

    s: float
    parts: Partition
    of: str

    polyhedral = False
    dual_name = "l2"
    prox_kernel = staticmethod(sparse_groups_kernel)

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "s", checked_coefficient(self.s))

    @property
    def pair(self) -> tuple[str | None, str | None]:  # type: ignore[override]
        """The name of the norm of groups; no other norm has one that is the sum of two."""
        return self.of, None

    @property
    def permutable(self) -> bool:  # type: ignore[override]
        return self.parts.count <= 1

    @property
    def sizes_beside(self) -> float:
        return self.s

    def groups_of(self) -> Partition:
        return self.parts

    def describe(self) -> str:
        of_groups = f"({self.parts.describe()})" if CONVEX[self.of].grouped else ""
        return f"{self.c:g} * {self.of}{of_groups} + {self.s:g} * norm1"

    def norm(self, x: Array) -> float:
        return self.parts.norm(x) + self.s / self.c * norm1(x)

    def value(self, x: Array) -> float:
        return self.c * self.parts.norm(x) + self.s * norm1(x)

    def prox(self, v: Array, t: float) -> Array:
        """The soft threshold at t s, the lengths of its groups shrunk by t c w_g."""
        near = soft(v, t * self.s)
        return self.parts.shrink(near, np.maximum(self.parts.norms(near) - t * self.c * self.parts.weights, 0.0))

    def _holds(self, v: Array) -> bool:
        """True if v is in the domain of the conjugate."""
        return bool(np.all(self.parts.norms(soft(v, self.s)) <= self.c * self.parts.weights))

    def conjugate(self, v: Array) -> float:
        return 0.0 if self._holds(v) else np.inf

    def _scales(self, v: Array) -> Array:
        """The a > 0 of each group at which the entries of a v_g, drawn s nearer to 0, are c w_g long; inf where v_g is 0.

        That length is convex in a and increases: Newton's steps from above go down to it.
        """
        sizes = np.abs(self.parts.gather(v))
        most, lengths = self.c * self.parts.weights, self.parts.norms(v)
        counts = np.diff(self.parts.start)
        live = lengths > 0.0
        a = np.full(live.size, np.inf)
        a[live] = (most + self.s * np.sqrt(counts))[live] / lengths[live]
        for _ in range(NEWTON_STEPS if live.any() else 0):
            at = np.where(live, a, 0.0)
            near = np.maximum(np.repeat(at, counts) * sizes - self.s, 0.0)
            squares, slopes = (np.add.reduceat(part, self.parts.start[:-1]) for part in (near * near, near * sizes))
            now = np.sqrt(squares)
            change = np.divide((now - most) * now, slopes, out=np.zeros_like(now), where=live & (slopes > 0.0))
            lower = at - change
            if not np.any(live & (lower < at)):
                break
            a = np.where(live & (lower > 0.0), np.minimum(lower, at), a)
        return a

    def dual_norm(self, v: Array) -> float:
        """The least b at which v / b is where the conjugate is 0, times c."""
        peak = float(np.abs(v).max(initial=0.0))
        if peak == 0.0:
            return 0.0
        return self.c * peak / float(self._scales(v / peak).min())

    def dual_scale(self, v: Array) -> float:
        """The least of 1 and the groups' scales."""
        if self._holds(v):
            return 1.0
        return scale_into(self._holds, v, min(1.0, float(self._scales(v).min())))

    def dual_project(self, v: Array) -> Array:
        """The rest that the prox for t = 1 takes away from v."""
        if self._holds(v):
            return v.copy()
        u = v - self.prox(v, 1.0)
        return u * scale_into(self._holds, u, 1.0)

    def coercive(self) -> tuple[float, str]:
        """s and c times the least weight together, for norm2, which both norms exceed."""
        return (self.s + self.c * smallest(self.parts.weights) if self.parts.count else self.s), "l2"

    @property
    def has_faces(self) -> bool:
        """False: the norm of a group is curved wherever it is not 0."""
        return False

    def conic(self) -> Conic:
        return self.parts.lengths(self.c) + norm1_form(self.size, self.s)

    def kernel_args(self) -> tuple[object, ...]:
        return self.c, self.s, np.inf, self.parts.weights, self.parts.start, self.parts.order


def with_norm1(g: VectorFunction, s: float, rows: int) -> VectorFunction:
    """g + s * norm1, for a g that is a sum of Euclidean norms: of groups, or of so many rows of equal length."""
    if isinstance(g, Repeated):
        return Repeated(with_norm1(g.inner, s, rows), g.count)
    return SparseLengths(g.size, g.slope, s, g.groups_of() or even(rows, g.size // max(1, rows)), str(g.pair[0]))
