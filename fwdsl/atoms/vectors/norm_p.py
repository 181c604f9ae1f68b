"""c (sum_i |x_i|^p)^(1/p), p >= 1; its dual norm is that of q = p / (p - 1). Prox by Moreau: v less its projection on the ball of radius t c of q.

The projection of v on the ball of q and radius r, outside of it, has the sizes u with u + s u^(q - 1) = |v| entry by entry, at the s > 0 at which the
norm of u is r: it falls in s, whose logarithm secants find. Of 1, 2 and inf projections are closed forms. Powers are of numbers
relative to the largest entry.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ..base import Array
from ..conic import Conic, norm_p_form
from .common import Norm, checked_coefficient, largest, norm1, norm2, scale_into
from .threshold import project_l1

MOST_STEPS = 200

LARGEST_LOG = 600.0
"""The largest size of the logarithm of a multiplier that is looked for; its exponential is a number."""


def norm_p(x: Array, p: float) -> float:
    """(sum |x_i|^p)^(1/p), the largest size for p = inf; scaled against overflow and underflow."""
    if p == 1.0:
        return norm1(x)
    if p == 2.0:
        return norm2(x)
    peak = largest(x)
    if peak == 0.0 or math.isinf(p) or not math.isfinite(peak):
        return peak
    return float(peak * float(((np.abs(x) / peak) ** p).sum()) ** (1.0 / p))


def dual_exponent(p: float) -> float:
    """q with 1/p + 1/q = 1."""
    return math.inf if p == 1.0 else 1.0 if math.isinf(p) else p / (p - 1.0)


def checked_exponent(p: float) -> float:
    """p as a float of at least 1; `ValueError` for any other."""
    if not (p >= 1.0 and math.isfinite(p)):
        raise ValueError(f"a p-norm has a finite p of at least 1, not {p:g}")
    return float(p)


def split(a: Array, s: float, q: float) -> Array:
    """The u >= 0 with u + s u^(q - 1) = a entry by entry, a >= 0, 1 < q < inf, by Newton's steps that fall to it from above.

    Of q < 2 the steps are for z = u^(q - 1), of which the equation is convex too.
    """
    power = q - 1.0 if q >= 2.0 else 1.0 / (q - 1.0)
    # z + s z^power = a, or z^power + s z = a
    inner, outer = (1.0, s) if q >= 2.0 else (s, 1.0)
    with np.errstate(all="ignore"):
        z = np.minimum(a / inner, (a / outer) ** (1.0 / power))
        for _ in range(MOST_STEPS):
            tail = outer * z ** (power - 1.0)
            step = (inner * z + tail * z - a) / (inner + power * tail)
            z_new = np.maximum(z - np.where(np.isfinite(step), step, 0.0), 0.0)
            if not np.any(z_new < z * (1.0 - 4e-16)):
                break
            z = z_new
        return np.asarray(z if q >= 2.0 else z**power)


def project_p(v: Array, r: float, q: float) -> Array:
    """The projection of v on the ball of radius r of the q-norm."""
    if norm_p(v, q) <= r:
        return v.copy()
    if r == 0.0:
        return np.zeros_like(v)
    if q == 1.0:
        return project_l1(v, r)
    if q == 2.0:
        return v * (r / norm2(v))
    if math.isinf(q):
        return np.clip(v, -r, r)
    peak = largest(v)
    a, target = np.abs(v) / peak, r / peak

    def beyond(log_s: float) -> float:
        size = norm_p(split(a, math.exp(log_s), q), q)
        return math.log(size / target) if size > 0.0 else -math.inf

    low, high, step = -1.0, 1.0, 1.0
    over, under = beyond(low), beyond(high)
    while under > 0.0 and high < LARGEST_LOG:
        low, over = high, under
        high, step = high + step, 2.0 * step
        under = beyond(high)
    step = 1.0
    while over <= 0.0 and low > -LARGEST_LOG:
        high, under = low, over
        low, step = low - step, 2.0 * step
        over = beyond(low)
    # regula falsi, an end that stays twice counting half (Illinois): a few steps, as the logarithm of the norm falls nearly linearly
    side = 0.0
    for _ in range(MOST_STEPS):
        fall = over - under
        share = over / fall if 0.0 < fall < math.inf else 0.5
        middle = low + min(max(share, 0.0), 1.0) * (high - low)
        if not low < middle < high or high - low <= 4e-16 * (1.0 + abs(high)):
            break
        found = beyond(middle)
        if abs(found) <= 2e-15:
            high = middle
            break
        if found > 0.0:
            low, over, under = middle, found, 0.5 * under if side > 0.0 else under
        else:
            high, under, over = middle, found, 0.5 * over if side < 0.0 else over
        side = found
    return np.copysign(peak * split(a, math.exp(high), q), v)


@dataclass(frozen=True, eq=False, repr=False)
class NormP(Norm):
    """`c * norm_p(p)`."""

    p: float

    pair = ("norm_p", None)
    polyhedral = False
    compiled = False
    prox_kernel = None  # type: ignore[assignment]

    def __post_init__(self) -> None:
        object.__setattr__(self, "c", checked_coefficient(self.c))
        object.__setattr__(self, "p", checked_exponent(self.p))

    @property
    def dual_name(self) -> str:  # type: ignore[override]
        """The dual of the Euclidean norm, which is no larger for p <= 2, or else of the largest size."""
        return "l2" if self.p <= 2.0 else "l1"

    def norm(self, x: Array) -> float:
        return norm_p(x, self.p)

    def dual_norm(self, x: Array) -> float:
        return norm_p(x, dual_exponent(self.p))

    def describe(self) -> str:
        return f"{self.c:g} * norm_p({self.p:g})"

    @property
    def flatness(self) -> float:  # type: ignore[override]
        """The larger one of p and q."""
        return max(self.p, dual_exponent(self.p)) if self.p > 1.0 else 2.0

    @property
    def has_faces(self) -> bool:
        """False: it is curved."""
        return False

    def prox(self, v: Array, t: float) -> Array:
        """v less its projection on the ball of the dual norm."""
        return v - project_p(v, t * self.c, dual_exponent(self.p))

    def dual_project(self, v: Array) -> Array:
        u = project_p(v, self.c, dual_exponent(self.p))
        return u * scale_into(lambda w: self.dual_norm(w) <= self.c, u, 1.0)

    def conic(self) -> Conic:
        return norm_p_form(self.size, self.c, self.p)
