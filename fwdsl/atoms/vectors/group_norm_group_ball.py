"""c sum_g w_g |x_g|_2 on the ball of the same norm: the prox shrinks by the larger of t c and the projection's theta; g*(v) = r max(|v|_* - c, 0)."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from ..base import Array
from ..groups import Partition, groups_kernel, project_weighted
from .common import OnOwnBall
from .group_ball import GroupBall
from .group_norm import GroupNorm


class GroupNormGroupBall(OnOwnBall):
    """`c * group_norm` on the `group_ball` of the same groups and weights."""

    on: GroupBall

    pair = ("group_norm", "group_ball")
    polyhedral = False
    prox_kernel = staticmethod(groups_kernel)

    @cached_property
    def norm(self) -> GroupNorm:
        return GroupNorm(self.size, self.c, self.on.parts)

    def groups_of(self) -> Partition:
        return self.on.parts

    def prox(self, v: Array, t: float) -> Array:
        """The lengths shrunk by t c w_g, projected."""
        parts = self.on.parts
        lengths = np.maximum(parts.norms(v) - t * self.c * parts.weights, 0.0)
        return parts.shrink(v, project_weighted(lengths, parts.weights, self.on.r))
