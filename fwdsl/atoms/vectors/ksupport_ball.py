"""The k-support ball: the hull of the vectors with at most k nonzeros and Euclidean norm at most r (Argyriou, Foygel and Srebro 2012).

Support function r times the Euclidean norm of the k largest |v_i|; the LMO is those entries, normalised. Its gauge, times r, is the k-support norm,
|x|^2 = min of sum x_i^2 / u_i over 0 <= u <= 1, sum u <= k. Projection: with the multiplier lam >= 0 of |x|^2 <= r^2 and the scale alpha of u,
x_i = v_i u_i / (u_i + lam), u_i = clip(alpha |v_i| - lam, 0, 1): entries with alpha |v_i| >= 1 + lam shrink by 1 + lam, those below lam vanish, those
between are soft-thresholded at lam / alpha. sum u = k gives alpha for each lam, and |x| = r, which falls with lam, gives lam. A vector of at most
k nonzeros is scaled only.

In a ball far smaller than v lam is huge, and 1 + lam and alpha |v_i| - lam lose their digits. There mu = 1 / lam and d, how far the threshold
lam / alpha lies below the k-th largest entry b, are the unknowns: with D_i = |v_i| - b, u_i = clip((D_i + d) / ((b - d) mu), 0, 1), and x = mu y with
y_i = |v_i| u_i / (1 + mu u_i) = max(0, min((D_i + d) / mu, |v_i| / (1 + mu))).
"""

from __future__ import annotations

import bisect
import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..base import Array, Face
from ..conic import Cone, Conic, entries, joined
from .common import Ball, checked_radius, face, largest, norm2

FAR = 0.25
"""A radius over the largest entry below which lam is above 1, whatever v and k are: mu = 1 leaves a norm of at least a half."""
LEAST = 1e-290
"""The least mu: the direction of x no longer changes there, and (D_i + d) / mu stays finite."""


def ksupport_kernel(v, t, out, k, r):
    """Kernel: the projection. Sorted once; for each multiplier the breakpoints of sum u are walked in order, at O(1) a step."""
    n = v.size
    peak = 0.0
    for i in range(n):
        out[i] = v[i]
        peak = max(peak, abs(v[i]))
    if peak == 0.0:
        return
    if r == 0.0:
        for i in range(n):
            out[i] = 0.0
        return
    a = np.empty(n)
    for i in range(n):
        a[i] = -abs(v[i]) / peak
    a.sort()
    sums = np.zeros(n + 1)
    squares = np.zeros(n + 1)
    m = 0
    for i in range(n):
        a[i] = -a[i]
        sums[i + 1] = sums[i] + a[i]
        squares[i + 1] = squares[i] + a[i] * a[i]
        if a[i] > 0.0:
            m += 1
    radius = r / peak
    if m <= k:
        if squares[m] > radius * radius:
            share = radius / math.sqrt(squares[m])
            for i in range(n):
                out[i] = v[i] * share
        return
    if radius < FAR:
        # sums of a - a[k - 1] from the k-th outwards: each is of one sign, and nothing cancels
        base = a[k - 1]
        for i in range(k - 1, -1, -1):
            sums[i] = (a[i] - base) + (sums[i + 1] if i < k - 1 else 0.0)
        sums[k] = 0.0
        for i in range(k, m):
            sums[i + 1] = (a[i] - base) + sums[i]
        mu = max(radius / math.sqrt(squares[k]), LEAST)
        lo = 0.0
        hi = math.inf
        d = 0.0
        top = 0
        for _ in range(100):
            # the first `top` have u = 1, those up to `live` are between
            top = 0
            live = k
            while True:
                enter = base - a[live] if live < m else math.inf
                cap = (base - (a[top] - base) / mu) * (mu / (1.0 + mu)) if top < k else math.inf
                event = min(enter, cap)
                if (
                    event == math.inf
                    or sums[top] + sums[live] + (live - top) * event >= (k - top) * (base - event) * mu
                ):
                    break
                if enter <= cap:
                    live += 1
                else:
                    top += 1
            part = (k - top) * mu
            weight = live - top + part
            grow = 1.0 + mu
            d = (part * base - (sums[top] + sums[live])) / weight if top < k else base * mu / grow
            norm = squares[top] / (grow * grow) + (k - top) * (base - d) * (base - d)
            slope = -2.0 * squares[top] / (grow * grow * grow)
            if top < k:
                slope -= 2.0 * (k - top) * (k - top) * (base - d) * (base - d) / weight
            norm = math.sqrt(norm)
            miss = radius - mu * norm
            if miss > 0.0:
                lo = mu
            else:
                hi = mu
            change = miss / (norm + mu * slope / (2.0 * norm))
            if mu == LEAST or abs(change) <= 4e-16 * mu:
                break
            mu += change
            if not (lo < mu < hi):
                mu = 0.5 * (lo + hi) if hi < math.inf else 2.0 * lo
                if mu in (lo, hi):
                    break
        grow = 1.0 + mu
        high = 0.0
        mass = 0.0
        for i in range(m):
            e = max(0.0, min((a[i] - base + d) / mu, a[i] / grow))
            if i < top:
                high += e * e
            else:
                mass += e
        norm = math.sqrt(high + mass * mass / (k - top)) if top < k else math.sqrt(high)
        for i in range(n):
            e = abs(v[i]) / peak
            out[i] = math.copysign(r * (max(0.0, min((e - base + d) / mu, e / grow)) / norm), v[i])
        return
    lo = 0.0
    hi = math.inf
    lam = 0.0
    alpha = 1.0
    top = 0
    for step in range(300):
        # the first `top` have u = 1, those up to `live` are between
        top = 0
        live = 0
        while True:
            enter = lam / a[live] if live < m else math.inf
            cap = (1.0 + lam) / a[top] if top < m else math.inf
            event = min(enter, cap)
            if top + event * (sums[live] - sums[top]) - lam * (live - top) >= k or event == math.inf:
                break
            if enter <= cap:
                live += 1
            else:
                top += 1
        mass = sums[live] - sums[top]
        between = live - top
        grow = 1.0 + lam
        norm = squares[top] / (grow * grow)
        slope = -2.0 * squares[top] / (grow * grow * grow)
        alpha = (1.0 + lam) / a[top - 1] if top > 0 else 1.0
        if between > 0 and mass > 0.0:
            alpha = (k - top + lam * between) / mass
            norm += mass / alpha - between * lam / (alpha * alpha)
            slope += 2.0 * between * between * lam / (mass * alpha * alpha * alpha) - 2.0 * between / (alpha * alpha)
        miss = norm - radius * radius
        if step == 0 and miss <= 0.0:
            return
        if miss > 0.0:
            lo = lam
        else:
            hi = lam
        change = -miss / slope
        if abs(change) <= 4e-16 * lam:
            break
        lam += change
        if not (lo < lam < hi):
            lam = 0.5 * (lo + hi) if hi < math.inf else 2.0 * lo + 1.0
            if lam in (lo, hi):
                break
    grow = 1.0 + lam
    cut = lam / alpha
    # the norm by these u, put right where rounding left it too large
    high = 0.0
    mass = 0.0
    for i in range(m):
        e = max(0.0, min(a[i] - cut, a[i] / grow))
        if i < top:
            high += e * e
        else:
            mass += e
    norm = math.sqrt(high + mass * mass / (k - top)) if top < k else math.sqrt(high)
    share = min(1.0, radius / norm) if norm > 0.0 else 1.0
    # by the same rounded quotients as the norm, which a ball far smaller than v needs
    for i in range(n):
        e = abs(v[i]) / peak
        out[i] = math.copysign(share * peak * max(0.0, min(e - cut, e / grow)), v[i])


def ksupport_norm(x: Array, k: int) -> float:
    """The k-support norm: the first entries as they are, the others by their sum, at the split that sorting shows."""
    if x.size <= k:
        return norm2(x)
    peak = largest(x)
    if peak == 0.0:
        return 0.0
    a = np.sort(np.abs(x) / peak)[::-1]
    tails = np.cumsum(a[::-1])[::-1]
    # of the splits with l = 0..k-1 the right one has the larger entries above the tail's mean, and gives the largest norm
    squares = np.concatenate([[0.0], np.cumsum(np.square(a))])
    splits = (l for l in range(k) if _split(a, tails, k, l))
    # of numbers that are not finite there is none
    best = max((float(squares[k - l - 1] + tails[k - l - 1] ** 2 / (l + 1)) for l in splits), default=math.nan)
    return peak * math.sqrt(best)


def _split(a: Array, tails: Array, k: int, l: int) -> bool:
    """True if a_(k-l-1) > mean >= a_(k-l), entries counted from 1, a_(0) = inf, mean = (sum from k-l on) / (l + 1), but for rounding."""
    mean = tails[k - l - 1] / (l + 1)
    above = l == k - 1 or a[k - l - 2] >= mean * (1.0 - 1e-14)
    return bool(above and mean * (1.0 + 1e-14) >= a[k - l - 1])


@dataclass(frozen=True)
class KSupportBall(Ball):
    """`ksupport_ball(k, r)`."""

    size: int
    k: int
    r: float

    pair = (None, "ksupport_ball")
    polyhedral = False
    prox_kernel = staticmethod(ksupport_kernel)

    def __post_init__(self) -> None:
        if not (self.k >= 1 and self.k == int(self.k)):
            raise ValueError(f"the k of a k-support ball must be a whole number, at least 1, not {self.k}")
        object.__setattr__(self, "k", int(self.k))
        object.__setattr__(self, "r", checked_radius(self.r))

    def describe(self) -> str:
        return f"ksupport_ball({self.k}, {self.r:g})"

    def norm(self, x: Array) -> float:
        return ksupport_norm(x, self.k)

    def dual_norm(self, x: Array) -> float:
        return norm2(x[self._top(x)])

    def prox(self, v: Array, t: float) -> Array:
        """Bisection for mu = 1 / lam, d by its breakpoints."""
        if self.norm(v) <= self.r:
            return v.copy()
        peak = largest(v)
        a = np.abs(v) / peak
        radius = self.r / peak
        if np.count_nonzero(a) <= self.k or radius == 0.0:
            return v * (self.r / norm2(v))
        base = np.sort(a)[-self.k]
        above = a - base

        def shrunk(mu: float) -> tuple[Array, float]:
            """x / mu for this 1 / lam, and its k-support norm."""

            def parts(d: float) -> tuple[int, Any]:
                """The number of u that are 1, and the places of those between 0 and 1."""
                full = above + d >= (base - d) * mu
                return int(full.sum()), (above + d > 0.0) & ~full

            def short(d: float) -> bool:
                full, between = parts(d)
                return bool((above[between] + d).sum() < (self.k - full) * (base - d) * mu)

            # where u reaches 0 or 1: sum u = k lies between two of these, and is linear in d there
            breaks = np.concatenate([-above, (base - above / mu) * (mu / (1.0 + mu))])
            breaks = np.sort(breaks[(breaks >= 0.0) & (breaks < base)])
            j = bisect.bisect_left(breaks, True, key=lambda d: not short(d))
            ends = breaks[j - 1] if j else 0.0, breaks[j] if j < breaks.size else base
            d = 0.5 * (ends[0] + ends[1])
            full, between = parts(d)
            part = (self.k - full) * mu
            d = (part * base - above[between].sum()) / (int(between.sum()) + part) if part > 0.0 else d
            y = np.maximum(0.0, np.minimum((above + d) / mu, a / (1.0 + mu)))
            u = np.clip((above + d) / ((base - d) * mu), 0.0, 1.0)
            return y, math.sqrt(float(np.divide(np.square(y), u, out=np.zeros_like(y), where=u > 0.0).sum()))

        # |y| is at most sqrt(k), and mu |y| rises
        lo = hi = max(radius / math.sqrt(self.k), LEAST)
        while hi * shrunk(hi)[1] < radius:
            lo, hi = hi, 2.0 * hi
        for _ in range(100):
            mu = 0.5 * (lo + hi)
            lo, hi = (mu, hi) if mu * shrunk(mu)[1] < radius else (lo, mu)
        x = np.copysign(shrunk(hi)[0], v)
        return x * (self.r / ksupport_norm(x, self.k))

    def _top(self, v: Array) -> Any:
        """The places of the k largest |v_i|, ties to the lowest."""
        return np.argsort(-np.abs(v), kind="stable")[: self.k]

    def lmo(self, c: Array) -> Array:
        """-r c / |c|_2 on the k largest |c_i|, else 0; -r e_0 where c = 0."""
        x = np.zeros(self.size)
        if not self.size:
            return x
        top = self._top(c)
        size = norm2(c[top])
        if size > 0.0:
            x[top] = -(c[top] / size) * self.r
        else:
            x[0] = -self.r
        return x

    def face(self, x: Array) -> Face | None:
        """Everything moves inside; the boundary is curved."""
        return face(np.arange(self.size)) if self.interior(x) else None

    def conic(self) -> Conic:
        """x_i^2 <= p_i s_i with 0 <= p <= r, sum p <= k r and sum s <= r: r u of the norm's definition, and its terms over r.

        A product at least a square is |(2 x, p - s)| <= p + s.
        """
        n = self.size
        at = np.arange(n)
        rows = [entries(at, at, 1.0), entries(n + at, n + at, 1.0), entries(2 * n + at, at, -1.0)]
        rows += [entries(3 * n, at, -1.0), entries(3 * n + 1, n + at, -1.0)] if n else []
        first = 3 * n + 2 + 3 * at
        rows += [entries(first, at, 1.0), entries(first, n + at, 1.0)]
        rows += [entries(first + 2, at, 1.0), entries(first + 2, n + at, -1.0)]
        return Conic(
            n,
            2 * n,
            of_z=entries(first + 1, at, 2.0),
            of_u=joined(rows),
            offset=np.concatenate([np.zeros(2 * n), np.full(n, self.r), [self.k * self.r, self.r], np.zeros(3 * n)]),
            cones=(Cone("nonnegative", 3 * n + 2), *(Cone("second_order", 3),) * n),
        )

    def kernel_args(self) -> tuple[Any, ...]:
        return self.k, self.r
