"""c sum_i lambda_i |x|_(i), |x|_(1) >= |x|_(2) >= ... and lambda_1 >= lambda_2 >= ... >= 0: the sorted l1 norm of SLOPE (Bogdan et al. 2015).

Equal lambdas make it norm1, one lambda and zeros norm_inf, lambdas that fall by equal steps OSCAR. Prox: with |v| sorted downwards, the positive part
of the nonincreasing fit to |v| - t c lambda, by pooling adjacent violators; entries of a pool have one size. The conjugate is the indicator of
{v : |v|_(1) + ... + |v|_(k) <= c (lambda_1 + ... + lambda_k) for all k}.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arrays import ROUNDING
from ..base import Array, Face
from .common import MOST_NORMALS, Norm, face, falling_order, nonincreasing, scale_into


def sorted_l1_kernel(v, t, out, c, r, lambdas):
    """Kernel: the nonincreasing fit to |v| - theta lambda, its positive part, theta the least number from t c on at which the norm is at most r.

    The norm falls in theta, convex and piecewise linear, since pools only ever merge: Newton's steps from below go up to it. Means of |v| are kept
    relative to the first of a pool, where v is large.
    """
    n = v.size
    size = np.empty(n)
    for i in range(n):
        size[i] = abs(v[i])
    order = falling_order(size)
    for i in range(n):
        size[i] = abs(v[order[i]])
    first = np.empty(n, np.int64)
    mean_v = np.empty(n)
    mean_l = np.empty(n)
    theta = t * c
    count = 0
    norm = 0.0
    for _ in range(n + 100):
        count = 0
        for i in range(n):
            first[count] = i
            mean_v[count] = 0.0
            mean_l[count] = lambdas[i]
            count += 1
            while count > 1:
                a, b = first[count - 2], first[count - 1]
                step = size[b] - size[a]
                # the levels of two pools, less |v| at the first of the first
                if mean_v[count - 2] - theta * mean_l[count - 2] > step + mean_v[count - 1] - theta * mean_l[count - 1]:
                    break
                share = (i + 1 - b) / (i + 1 - a)
                mean_v[count - 2] += share * (step + mean_v[count - 1] - mean_v[count - 2])
                mean_l[count - 2] += share * (mean_l[count - 1] - mean_l[count - 2])
                count -= 1
        norm = 0.0
        fall = 0.0
        for g in range(count):
            end = first[g + 1] if g + 1 < count else n
            level = (size[first[g]] - theta * mean_l[g]) + mean_v[g]
            if level > 0.0:
                norm += level * mean_l[g] * (end - first[g])
                fall += mean_l[g] * mean_l[g] * (end - first[g])
        if not norm > r or not fall > 0.0:
            break
        further = theta + (norm - r) / fall
        if not further > theta:
            break
        theta = further
    # the sum of rounded terms is put right
    share = r / norm if norm > 0.0 and (norm > r or theta > t * c) else 1.0
    for g in range(count):
        end = first[g + 1] if g + 1 < count else n
        level = max((size[first[g]] - theta * mean_l[g]) + mean_v[g], 0.0) * share
        for i in range(first[g], end):
            out[order[i]] = math.copysign(level, v[order[i]])


def falling(lambdas: Any, size: int) -> Array:
    """The lambdas as numbers that do not rise, one for each entry; `ValueError` for what is no norm."""
    given = np.asarray(lambdas, dtype=np.float64).reshape(-1)
    if given.size != size:
        raise ValueError(f"the sorted l1 norm has a lambda for each entry: {size} of them, not {given.size}")
    if not np.all(np.isfinite(given)):
        raise ValueError("the lambdas of a sorted l1 norm must be finite")
    if given.min(initial=0.0) < 0.0:
        raise ValueError("the lambdas of a sorted l1 norm must not be negative")
    if size and given.max() == 0.0:
        raise ValueError("the first lambda of a sorted l1 norm must be positive: of zeros alone it is no norm")
    if (at := rise(given)) is not None:
        raise ValueError(f"the lambdas of a sorted l1 norm must not rise: entry {at} is larger than the one before")
    return np.ascontiguousarray(np.minimum.accumulate(given)) if size else given


def rise(lambdas: Array) -> int | None:
    """The first position at which the numbers rise by more than rounding; None where they nowhere do."""
    at = np.flatnonzero(np.diff(lambdas) > ROUNDING * np.abs(lambdas).max(initial=0.0))
    return int(at[0]) + 1 if at.size else None


def sorted_sizes(x: Array) -> tuple[NDArray[np.intp], Array]:
    """The order of |x| downwards, ties by position, and |x| in it."""
    order = np.argsort(-np.abs(x), kind="stable")
    return order, np.abs(x)[order]


def sorted_norm(x: Array, lambdas: Array) -> float:
    """sum_i lambda_i |x|_(i)."""
    return float((lambdas * sorted_sizes(x)[1]).sum())


def sorted_dual_norm(v: Array, lambdas: Array) -> float:
    """max_k (|v|_(1) + ... + |v|_(k)) / (lambda_1 + ... + lambda_k)."""
    return float((np.cumsum(sorted_sizes(v)[1]) / np.cumsum(lambdas)).max(initial=0.0))


def shrunk(v: Array, lambdas: Array) -> Array:
    """argmin_x sum_i lambda_i |x|_(i) + |x - v|^2 / 2."""
    if not v.size:
        return v.copy()
    order, sizes = sorted_sizes(v)
    x = np.empty_like(v)
    x[order] = np.maximum(nonincreasing(sizes - lambdas), 0.0)
    return np.copysign(x, v)


def face_of_ties(x: Array, lambdas: Array) -> Face | None:
    """The manifold around x of points with its zeros, its signs, and its ties among sizes; along it the norm is linear.

    Sizes of one pool move as one, but where their lambdas are equal. None where the normals that say so are too many.
    """
    order, sizes = sorted_sizes(x)
    live = int(np.count_nonzero(sizes))
    if live < x.size and lambdas[live] == 0.0:
        # zeros that the norm does not see
        live = x.size
    starts = np.flatnonzero(np.diff(sizes[:live], prepend=math.inf))
    ends = np.append(starts[1:], live)[: starts.size]
    tied = [(a, b) for a, b in zip(starts, ends, strict=True) if b - a > 1 and lambdas[a] > lambdas[b - 1] and sizes[a]]
    rows = sum(b - a - 1 for a, b in tied)
    if rows * live > MOST_NORMALS:
        return None
    slopes = lambdas[:live].copy()
    normals = np.zeros((rows, live))
    signs = np.sign(x[order[:live]])
    row = 0
    for a, b in tied:
        slopes[a:b] = lambdas[a:b].mean()
        for i in range(a + 1, b):
            normals[row, a], normals[row, i] = signs[a], -signs[i]
            row += 1
    free = np.argsort(order[:live], kind="stable")
    return face(order[:live][free], (slopes * signs)[free], normals[:, free])


@dataclass(frozen=True, eq=False, repr=False)
class SortedL1(Norm):
    """`c * sorted_l1(lambdas)`."""

    lambdas: Any

    pair = ("sorted_l1", None)
    vectorised = False
    polyhedral = True
    dual_name = "linf"
    prox_kernel = staticmethod(sorted_l1_kernel)

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "lambdas", falling(self.lambdas, self.size))

    def norm(self, x: Array) -> float:
        return sorted_norm(x, self.lambdas)

    def dual_norm(self, x: Array) -> float:
        return sorted_dual_norm(x, self.lambdas)

    def describe(self) -> str:
        return f"{self.c:g} * sorted_l1(lambdas)"

    def prox(self, v: Array, t: float) -> Array:
        """Sizes less t c lambda, pooled where they would change their order, and cut at 0."""
        return shrunk(v, t * self.c * self.lambdas)

    def dual_project(self, v: Array) -> Array:
        """The rest that the prox for t = 1 takes away from v."""
        if self.dual_norm(v) <= self.c:
            return v.copy()
        u = v - self.prox(v, 1.0)
        return u * scale_into(lambda w: self.dual_norm(w) <= self.c, u, 1.0)

    def coercive(self) -> tuple[float, str]:
        """c times the mean lambda, for norm1: both lambdas and sizes fall (Chebyshev's inequality of sums)."""
        return (self.c * float(self.lambdas.mean()) if self.size else self.c), self.dual_name

    def face(self, x: Array) -> Face | None:
        """The support moves, tied sizes as one."""
        found = face_of_ties(x, self.lambdas)
        return None if found is None else face(found.free, self.c * found.slope, found.normals)

    def kernel_args(self) -> tuple[object, ...]:
        return self.c, math.inf, self.lambdas
