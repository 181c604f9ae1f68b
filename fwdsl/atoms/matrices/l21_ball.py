"""The ball of norm21, {X : sum_i |x_i|_2 <= r} over the rows: the group ball whose groups are the rows.

Support function r times the largest l2 norm of a row.
"""

from __future__ import annotations

from ..groups import even
from ..vectors.group_ball import GroupBall
from ..vectors.group_norm_group_ball import GroupNormGroupBall
from .common import Shape


class L21Ball(GroupBall):
    """`l21_ball(r)`."""

    pair = (None, "l21_ball")

    def describe(self) -> str:
        return f"l21_ball({self.r:g})"


class Norm21L21Ball(GroupNormGroupBall):
    """`c * norm21` on `l21_ball(r)`."""

    pair = ("norm21", "l21_ball")

    def coercive(self) -> tuple[float, str]:
        return self.c, "l2inf"


def l21_ball(shape: Shape, r: float) -> L21Ball:
    """The ball of matrices of this shape."""
    return L21Ball(shape[0] * shape[1], r, even(*shape))
