"""c sum_g w_g |x_g|_2 over disjoint groups; prox x_g = v_g max(1 - t c w_g / |v_g|_2, 0), conjugate the indicator of max_g |v_g|_2 / w_g <= c."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..base import Array
from ..conic import Conic
from ..groups import Partition, groups_kernel, partition, smallest
from .common import Norm, scale_into


@dataclass(frozen=True, eq=False, repr=False)
class GroupNorm(Norm):
    """`c * group_norm(groups, weights)`; groups as `groups.partition` takes them, or a `Partition`."""

    groups: Any
    weights: Any = None
    parts: Partition = field(init=False)

    pair = ("group_norm", None)
    polyhedral = False
    dual_name = "l2"
    prox_kernel = staticmethod(groups_kernel)

    def __post_init__(self) -> None:
        super().__post_init__()
        groups = self.groups
        parts = groups if isinstance(groups, Partition) else partition(groups, self.weights, self.size)
        object.__setattr__(self, "parts", parts)

    def norm(self, x: Array) -> float:
        return self.parts.norm(x)

    def dual_norm(self, x: Array) -> float:
        return self.parts.dual(x)

    def groups_of(self) -> Partition:
        return self.parts

    def describe(self) -> str:
        return f"{self.c:g} * group_norm({self.parts.describe()})"

    def prox(self, v: Array, t: float) -> Array:
        return self.parts.shrink(v, np.maximum(self.parts.norms(v) - t * self.c * self.parts.weights, 0.0))

    def dual_project(self, v: Array) -> Array:
        """Each group cut to the length c w_g."""
        if self.parts.dual(v) <= self.c:
            return v.copy()
        norms, most = self.parts.norms(v), self.c * self.parts.weights
        share = np.divide(most, norms, out=np.ones_like(norms), where=norms > most)
        u = v * self.parts.spread(share)
        return u * scale_into(lambda w: self.parts.dual(w) <= self.c, u, 1.0)

    def coercive(self) -> tuple[float, str]:
        """c times the least weight, for norm2, which the sum of the groups' norms exceeds."""
        return (self.c * smallest(self.parts.weights), "l2") if self.parts.count else (self.c, "l2")

    @property
    def has_faces(self) -> bool:
        """False: the norm of a group is curved wherever it is not 0."""
        return False

    def conic(self) -> Conic:
        return self.parts.lengths(self.c)

    def kernel_args(self) -> tuple[object, ...]:
        return self.c, math.inf, self.parts.weights, self.parts.start, self.parts.order
