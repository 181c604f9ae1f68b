"""c sum_i lambda_i x_(i) on x >= 0: the prox is that of the norm at the positive part of v, the conjugate the indicator of its dual ball."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ..base import Array, Face
from .common import OnOrthant, face
from .sorted_l1 import SortedL1, face_of_ties, sorted_l1_kernel


def sorted_l1_nonnegative_kernel(v, t, out, c, r, lambdas):
    """Kernel: the prox of the norm at the positive part of v."""
    part = np.empty(v.size)
    for i in range(v.size):
        part[i] = max(v[i], 0.0)
    sorted_l1_kernel(part, t, out, c, r, lambdas)


@dataclass(frozen=True)
class SortedL1Nonnegative(OnOrthant):
    """`c * sorted_l1(lambdas)` on `nonnegative`."""

    lambdas: Any

    pair = ("sorted_l1", "nonnegative")
    vectorised = False
    of = SortedL1
    polyhedral = True
    normal_sees_x = True
    prox_kernel = staticmethod(sorted_l1_nonnegative_kernel)

    @cached_property
    def norm(self) -> SortedL1:
        return SortedL1(self.size, self.c, self.lambdas)

    def normal_part(self, x: Array, rest: Array) -> Array:
        """`rest` less its part in the dual ball: what no subgradient of the norm at 0 has. No more is known of a subgradient at other points."""
        return rest - self.norm.dual_project(np.maximum(rest, 0.0))

    def face(self, x: Array) -> Face | None:
        """The support moves, tied sizes as one."""
        found = face_of_ties(x, self.norm.lambdas)
        if found is None:
            return None
        held = x[found.free] > 0.0
        return face(found.free[held], self.c * found.slope[held], found.normals[:, held])

    def kernel_args(self) -> tuple[object, ...]:
        return self.norm.kernel_args()
