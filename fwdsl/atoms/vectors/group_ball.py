"""The group ball {x : sum_g w_g |x_g|_2 <= r} of disjoint groups: support function r max_g |v_g|_2 / w_g.

Projection: the lengths of the groups on {a >= 0 : sum w a <= r}, which is max(a - theta w, 0). The LMO puts all in the group of largest |c_g| / w_g.
"""

from __future__ import annotations

from dataclasses import field, replace
from typing import Any

import numpy as np

from ...light_dataclass import light_dataclass
from ..base import Array, Face
from ..conic import Conic, within_form
from ..groups import Partition, groups_kernel, partition, project_weighted, smallest
from .common import Ball, checked_radius, face


@light_dataclass
class GroupBall(Ball):
    """`group_ball(r, groups, weights)`; groups as `groups.partition` takes them, or a `Partition`."""

    size: int
    r: float
    groups: Any
    weights: Any = None
    parts: Partition = field(init=False)

    pair = (None, "group_ball")
    polyhedral = False
    prox_kernel = staticmethod(groups_kernel)

    def __post_init__(self) -> None:
        object.__setattr__(self, "r", checked_radius(self.r))
        groups = self.groups
        parts = groups if isinstance(groups, Partition) else partition(groups, self.weights, self.size)
        object.__setattr__(self, "parts", parts)

    def norm(self, x: Array) -> float:
        return self.parts.norm(x)

    def dual_norm(self, x: Array) -> float:
        return self.parts.dual(x)

    def of_radius(self, r: float) -> GroupBall:
        """The same groups, which are not looked at again."""
        return replace(self, r=r, groups=self.parts)

    def radius(self) -> float:
        """r over the least weight: all in one group."""
        return self.r / smallest(self.parts.weights) if self.size else 0.0

    def groups_of(self) -> Partition:
        return self.parts

    def describe(self) -> str:
        return f"group_ball({self.r:g}, {self.parts.describe()})"

    def prox(self, v: Array, t: float) -> Array:
        if self.norm(v) <= self.r:
            return v.copy()
        return self.parts.shrink(v, project_weighted(self.parts.norms(v), self.parts.weights, self.r))

    def lmo(self, c: Array) -> Array:
        """-r c_g / (w_g |c_g|) for the first group of largest |c_g| / w_g; its first entry where c = 0."""
        if not self.size:
            return np.zeros(0)
        norms = self.parts.norms(c)
        lengths = np.zeros(self.parts.count)
        g = int(np.argmax(norms / self.parts.weights))
        lengths[g] = self.r / self.parts.weights[g]
        if norms[g] == 0.0:
            c = np.zeros(self.size)
            c[int(self.parts.order[0]) if self.parts.listed else 0] = 1.0
        return -self.parts.shrink(c, lengths)

    def face(self, x: Array) -> Face | None:
        """Everything moves inside; the boundary is curved."""
        return face(np.arange(self.size)) if self.interior(x) else None

    def conic(self) -> Conic:
        return within_form(self.parts.lengths(1.0), self.parts.weights, self.r)

    def kernel_args(self) -> tuple[object, ...]:
        return 0.0, self.r, self.parts.weights, self.parts.start, self.parts.order
