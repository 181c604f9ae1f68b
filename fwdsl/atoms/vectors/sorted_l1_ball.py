"""The ball {x : sum_i lambda_i |x|_(i) <= r} of the sorted l1 norm: support function r max_k (|v|_(1) + ... + |v|_(k)) / (lambda_1 + ... + lambda_k).

Its vertices have k entries of one size, r / (lambda_1 + ... + lambda_k). Projection: v inside, else the prox of theta times the norm, at the theta at
which the norm is r; it falls in theta, convex and piecewise linear.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...light_dataclass import light_dataclass
from ..base import Array, Face
from .common import Ball, checked_radius, face
from .sorted_l1 import face_of_ties, falling, shrunk, sorted_dual_norm, sorted_l1_kernel, sorted_norm, sorted_sizes


@light_dataclass
class SortedL1Ball(Ball):
    """`sorted_l1_ball(r, lambdas)`."""

    size: int
    r: float
    lambdas: Any

    pair = (None, "sorted_l1_ball")
    vectorised = False
    polyhedral = True
    prox_kernel = staticmethod(sorted_l1_kernel)

    def __post_init__(self) -> None:
        object.__setattr__(self, "r", checked_radius(self.r))
        object.__setattr__(self, "lambdas", falling(self.lambdas, self.size))

    def norm(self, x: Array) -> float:
        return sorted_norm(x, self.lambdas)

    def dual_norm(self, x: Array) -> float:
        return sorted_dual_norm(x, self.lambdas)

    def describe(self) -> str:
        return f"sorted_l1_ball({self.r:g}, lambdas)"

    def radius(self) -> float:
        """The length of the longest vertex."""
        lengths = np.sqrt(np.arange(1.0, self.size + 1)) / np.cumsum(self.lambdas)
        return self.r * float(lengths.max(initial=0.0))

    def enclosing_box(self) -> tuple[Array, Array]:
        """All in one entry, at most r / lambda_1."""
        most = np.full(self.size, self.r / float(self.lambdas[0]) if self.size else 0.0)
        return -most, most

    def prox(self, v: Array, t: float) -> Array:
        """The point of the path of proxes at which the norm is r, by Newton's steps along it."""
        if self.norm(v) <= self.r:
            return v.copy()
        theta, x = 0.0, v
        while True:
            _, sizes = sorted_sizes(x)
            pools = np.flatnonzero(np.diff(sizes[sizes > 0.0], prepend=math.inf))
            counts = np.diff(np.append(pools, np.count_nonzero(sizes)))
            fall = (
                float((np.add.reduceat(self.lambdas[: counts.sum()], pools) ** 2 / counts).sum()) if pools.size else 0.0
            )
            step = (self.norm(x) - self.r) / fall if fall else 0.0
            if not theta + step > theta:
                break
            theta += step
            x = shrunk(v, theta * self.lambdas)
        size = self.norm(x)
        return x * (self.r / size) if size > 0.0 else x

    def lmo(self, c: Array) -> Array:
        """-r sign(c_i) / (lambda_1 + ... + lambda_k) at the k largest |c_i|, with the first k of largest mean; ties: the lowest indices."""
        x = np.zeros(self.size)
        if self.size:
            order, sizes = sorted_sizes(c)
            sums = np.cumsum(self.lambdas)
            k = int(np.argmax(np.cumsum(sizes) / sums)) + 1
            x[order[:k]] = -np.where(c[order[:k]] >= 0.0, 1.0, -1.0) * (self.r / sums[k - 1])
        return x

    def face(self, x: Array) -> Face | None:
        """Everything moves inside; on the boundary the support, tied sizes as one, keeping the norm."""
        if self.interior(x):
            return face(np.arange(self.size))
        found = face_of_ties(x, self.lambdas)
        return None if found is None else face(found.free, normals=np.vstack([found.normals, found.slope]))

    def kernel_args(self) -> tuple[object, ...]:
        return 0.0, self.r, self.lambdas
