"""c sum_g w_g |x_g|_2 on the ball of the same norm: the prox shrinks by the larger of t c and the projection's theta; g*(v) = r max(|v|_* - c, 0)."""

from __future__ import annotations

import numpy as np

from ..base import Array, Face
from ..conic import Conic
from .common import OnOwnBall
from .group_ball import GroupBall
from .groups import Partition, groups_kernel, project_weighted, smallest


class GroupNormGroupBall(OnOwnBall):
    """`c * group_norm` on the `group_ball` of the same groups and weights."""

    on: GroupBall

    pair = ("group_norm", "group_ball")
    polyhedral = False
    prox_kernel = staticmethod(groups_kernel)

    def norm_form(self) -> Conic:
        return self.on.parts.lengths(self.c)

    def groups_of(self) -> Partition:
        """The groups of norm and ball."""
        return self.on.parts

    def value(self, x: Array) -> float:
        """c sum_g w_g |x_g|."""
        return self.c * self.on.norm(x)

    def prox(self, v: Array, t: float) -> Array:
        """The lengths shrunk by t c w_g, projected."""
        parts = self.on.parts
        lengths = np.maximum(parts.norms(v) - t * self.c * parts.weights, 0.0)
        return parts.shrink(v, project_weighted(lengths, parts.weights, self.on.r))

    def conjugate(self, v: Array) -> float:
        """r max(max_g |v_g| / w_g - c, 0)."""
        return self.on.r * max(self.on.parts.dual(v) - self.c, 0.0)

    def coercive(self) -> tuple[float, str]:
        """c times the least weight, for norm2."""
        return (self.c * smallest(self.on.parts.weights) if self.on.parts.count else self.c), "l2"

    def face(self, x: Array) -> Face | None:
        """None: curved."""
        return None

    def kernel_args(self) -> tuple[object, ...]:
        """c, r, and the groups."""
        return self.c, *self.on.kernel_args()[1:]
