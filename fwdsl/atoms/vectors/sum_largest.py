"""c times the sum of the k largest entries, the support function of {w : 0 <= w <= 1, sum w = k}: conjugate the indicator of c times that set.

Of k = 1 it is max, of k = n the sum. Prox by Moreau, v less its projection on {0 <= w <= t c, sum w = k t c}, which is min(max(v - theta, 0), t c) at
a theta between two neighbours of the 2 n numbers v_i and v_i - t c, where the sum is linear.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..base import Array, Face
from ..conic import Conic, sum_largest_form
from .common import face
from .support import Support, face_of_ties, has_sum


def capped_kernel(v, t, out, c, k):
    """Kernel: v less the projection on {0 <= w <= t c, sum w = k t c}, by halving over the sorted kinks of the sum."""
    n = v.size
    cap = t * c
    if cap == 0.0 or k >= n:
        for i in range(n):
            out[i] = v[i] - cap
        return
    # relative to the largest entry, so that v - theta has no rounding to speak of
    base = v[0]
    for i in range(n):
        base = max(base, v[i])
    kinks = np.empty(2 * n)
    for i in range(n):
        kinks[2 * i] = v[i] - base
        kinks[2 * i + 1] = (v[i] - base) - cap
    kinks.sort()
    total = k * cap
    low = 0
    high = 2 * n - 1
    while high - low > 1:
        middle = (low + high) // 2
        mass = 0.0
        for i in range(n):
            mass += min(max((v[i] - base) - kinks[middle], 0.0), cap)
        if mass >= total:
            low = middle
        else:
            high = middle
    mass = 0.0
    moving = 0.0
    theta = kinks[low]
    inner = 0.5 * (kinks[low] + kinks[high])
    for i in range(n):
        a = v[i] - base
        mass += min(max(a - theta, 0.0), cap)
        if a > inner and a - cap < inner:
            moving += 1.0
    if moving > 0.0:
        theta = min(kinks[high], theta + (mass - total) / moving)
    for i in range(n):
        a = v[i] - base
        out[i] = v[i] if a <= theta else (v[i] - cap if a - cap >= theta else base + theta)


def capped_theta(below: Array, r: float, k: int) -> float:
    """The theta at which min(max(v - theta, 0), r) has the sum k r, k < n, by halving over its sorted kinks; both relative to the largest of v."""
    kinks = np.sort(np.concatenate([below, below - r]))
    low, high = 0, kinks.size - 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if np.clip(below - kinks[middle], 0.0, r).sum() >= k * r else (low, middle)
    inner = 0.5 * (kinks[low] + kinks[high])
    moving = np.count_nonzero((below > inner) & (below - r < inner))
    theta = kinks[low]
    if moving:
        theta = min(kinks[high], theta + (float(np.clip(below - theta, 0.0, r).sum()) - k * r) / moving)
    return float(theta)


def project_capped(v: Array, r: float, k: int) -> Array:
    """The projection of v on {0 <= w <= r, sum w = k r}."""
    if r == 0.0 or k >= v.size:
        return np.full_like(v, r)
    below = v - v.max()
    w: Array = np.clip(below - capped_theta(below, r, k), 0.0, r)
    return w


@dataclass(frozen=True, eq=False, repr=False)
class SumLargest(Support):
    """`c * sum_largest(k)`."""

    k: int

    pair = ("sum_largest", None)
    polyhedral = True
    prox_kernel = staticmethod(capped_kernel)

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "k", checked_count(self.k, self.size))

    def support(self, x: Array) -> float:
        """The sum of the k largest."""
        if self.k >= x.size:
            return float(x.sum())
        return float(np.partition(x, x.size - self.k)[x.size - self.k :].sum())

    def project(self, v: Array, r: float) -> Array:
        return project_capped(v, r, self.k)

    def inside(self, v: Array) -> bool:
        return not v.size or (bool(v.min() >= 0.0 and v.max() <= self.c) and has_sum(v, self.k * self.c))

    def room(self, y: Array) -> Array:
        return np.maximum(np.minimum(y, self.c - y), 0.0) * self.c

    def describe(self) -> str:
        return f"{self.c:g} * sum_largest({self.k})"

    def prox(self, v: Array, t: float) -> Array:
        """Entries above theta + t c less t c, those between at theta: ties to the last bit."""
        r = t * self.c
        if r == 0.0 or self.k >= v.size:
            return v - r
        top = float(v.max())
        below = v - top
        theta = capped_theta(below, r, self.k)
        return np.where(below <= theta, v, np.where(below - r >= theta, v - r, top + theta))

    def face(self, x: Array) -> Face | None:
        """Entries tied with the k-th largest move as one; those above are added whole."""
        if self.k >= x.size:
            return face(np.arange(x.size), np.full(x.size, self.c))
        least = float(np.partition(x, x.size - self.k)[x.size - self.k])
        above = x > least
        tied = np.flatnonzero(x == least)
        return face_of_ties(tied, np.where(above, self.c, 0.0), self.c * (self.k - int(np.count_nonzero(above))))

    def conic(self) -> Conic:
        return sum_largest_form(self.size, self.c, self.k)

    def kernel_args(self) -> tuple[object, ...]:
        return self.c, float(self.k)


def checked_count(k: float, size: int) -> int:
    """k as a whole number from 1 to the size; `ValueError` for any other."""
    if not (k == int(k) and 1 <= k <= max(1, size)):
        raise ValueError(f"`sum_largest` adds up from 1 to all {size} entries, not {k:g}")
    return int(k)
