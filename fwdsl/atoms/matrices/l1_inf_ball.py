"""The ball of norm1_inf, {X : sum_i max_j |x_ij| <= r} over the rows: support function r times the largest l1 norm of a row.

Projection (Quattoni et al. 2009): every row is cut at a level mu_i(theta) >= 0, at which what is cut off sums to theta, or 0 where the whole
row is less; theta is the least with sum_i mu_i <= r. Each level is convex and decreasing in theta, with slope -1 / (the number of
entries cut), so Newton from the left is monotone. With c * norm1_inf too, theta is at least t c.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from ..base import Array, Face, VectorFunction
from ..conic import Conic, norm_inf_form, within_form
from ..vectors.common import Ball, OnOwnBall, checked_radius, face
from ..vectors.norm_inf import NormInf
from .common import Shape, dual_norm, matrix
from .lines import Lines


def l1_inf_kernel(v, t, out, n, d, c, r):
    """Kernel: the prox of c * norm1_inf on the ball of radius r."""
    level = np.empty(n)
    theta = t * c
    total = 0.0
    for _ in range(200):
        total = 0.0
        slope = 0.0
        for i in range(n):
            peak = 0.0
            whole = 0.0
            for j in range(i * d, (i + 1) * d):
                peak = max(peak, abs(v[j]))
                whole += abs(v[j])
            level[i] = 0.0
            if whole <= theta:
                continue
            # the level is relative to the peak
            low = -theta
            count = 0
            while theta > 0.0:
                mass = 0.0
                above = 0
                for j in range(i * d, (i + 1) * d):
                    a = abs(v[j]) - peak
                    if a > low:
                        mass += a
                        above += 1
                if above == count or above == 0:
                    break
                count = above
                low = max(low, (mass - theta) / above)
            if theta == 0.0:
                for j in range(i * d, (i + 1) * d):
                    if abs(v[j]) == peak:
                        count += 1
            level[i] = max(0.0, peak + low)
            total += level[i]
            slope += 1.0 / count
        if total <= r or slope == 0.0:
            break
        change = (total - r) / slope
        if change <= 4e-16 * theta:
            break
        theta += change
    # the sum of rounded levels is put right
    share = r / total if total > r else 1.0
    for i in range(n):
        cut = level[i] * share
        for j in range(i * d, (i + 1) * d):
            out[j] = max(-cut, min(cut, v[j]))


def cut_rows(a: Array, theta: float, r: float) -> Array:
    """The levels for the least theta at least this with sum at most r: mu_i = max over k of (sum of the k largest - theta) / k, or 0."""
    heads = np.cumsum(-np.sort(-np.abs(a), axis=1), axis=1)
    counts = np.arange(1, a.shape[1] + 1)
    while True:
        means = (heads - theta) / counts
        best = means.argmax(axis=1)
        levels = np.maximum(means.max(axis=1), 0.0)
        over = float(levels.sum()) - r
        if not over > 0.0:
            break
        change = over / float((1.0 / counts[best])[levels > 0.0].sum())
        if theta + change == theta or over <= 4e-16 * r:
            levels = levels * (r / float(levels.sum()))
            break
        theta += change
    found: Array = levels
    return found


@dataclass(frozen=True)
class L1InfBall(Ball):
    """`l1_inf_ball(r)`."""

    shape: Shape
    r: float
    size: int = field(init=False)

    pair = (None, "l1_inf_ball")
    polyhedral = True
    prox_kernel = staticmethod(l1_inf_kernel)

    def __post_init__(self) -> None:
        object.__setattr__(self, "r", checked_radius(self.r))
        object.__setattr__(self, "size", math.prod(self.shape))

    def radius(self) -> float:
        """r d^(1/2): one row, all of whose entries are as large."""
        return self.r * math.sqrt(self.shape[1]) if self.size else 0.0

    def norm(self, x: Array) -> float:
        return float(np.abs(matrix(x, self.shape)).max(axis=1, initial=0.0).sum())

    def dual_norm(self, x: Array) -> float:
        return dual_norm("l1inf", x, self.shape)

    def cut(self, v: Array, theta: float) -> Array:
        """v with its rows cut for the least theta at least this."""
        if not self.size:
            return v.copy()
        a = matrix(v, self.shape)
        levels = cut_rows(a, theta, self.r)[:, None]
        return np.clip(a, -levels, levels).reshape(-1)

    def prox(self, v: Array, t: float) -> Array:
        return self.cut(v, 0.0)

    def lmo(self, c: Array) -> Array:
        """-r sign(c) on the first row of largest l1 norm, with sign(0) = 1, else 0."""
        x = np.zeros(self.shape)
        if self.size:
            a = matrix(c, self.shape)
            i = int(np.abs(a).sum(axis=1).argmax())
            x[i] = np.where(a[i] >= 0.0, -self.r, self.r)
        return x.reshape(-1)

    def vertex_id(self, c: Array) -> tuple[int, ...]:
        """The row, and the signs, eight to a number."""
        if not self.size:
            return ()
        a = matrix(c, self.shape)
        i = int(np.abs(a).sum(axis=1).argmax())
        return i, *np.packbits(a[i] >= 0.0).tolist()

    def face(self, x: Array) -> Face | None:
        """Everything moves inside; on the boundary None, where the entries of largest size would move as one."""
        return face(np.arange(self.size)) if self.interior(x) else None

    def conic(self) -> Conic:
        """t_i >= |x_ij| for each row, and sum t <= r."""
        n, d = self.shape
        places = np.arange(self.size).reshape(self.shape)
        return within_form(norm_inf_form(d, 1.0).repeated(places, self.size), np.ones(n), self.r)

    def kernel_args(self) -> tuple[object, ...]:
        return *self.shape, 0.0, self.r


class Norm1InfL1InfBall(OnOwnBall):
    """`c * norm1_inf` on `l1_inf_ball(r)`: g*(V) = r max(largest row l1 norm - c, 0)."""

    on: L1InfBall

    pair = ("norm1_inf", "l1_inf_ball")
    polyhedral = True
    prox_kernel = staticmethod(l1_inf_kernel)

    @cached_property
    def norm(self) -> VectorFunction:
        n, d = self.on.shape
        return Lines((n, d), 0, NormInf(d, self.c))

    def prox(self, v: Array, t: float) -> Array:
        """The rows cut for theta at least t c."""
        return self.on.cut(v, t * self.c)

    def kernel_args(self) -> tuple[object, ...]:
        return *self.on.shape, self.c, self.on.r
