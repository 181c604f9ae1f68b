"""c log sum_i exp(x_i): conjugate sum_i v_i log(v_i / c) on {v >= 0 : sum v = c} (0 log 0 = 0), inf elsewhere, and no infimum.

Prox: x = v - t c p with p = softmax(x), so that log p_i = x_i - nu and t c p_i = omega(v_i - nu + log(t c)), the Wright omega function; nu solves
sum_i p_i = 1. As a term of the objective it is the softmax loss of the class 0 and its first entry, which is smooth.
"""

from __future__ import annotations

import math

import numpy as np

from ..base import Array
from ..conic import Conic, log_sum_exp_form
from ..elementary import omega
from .support import Support, has_sum
from .threshold import project_sum


def log_sum_exp(x: Array) -> float:
    """log sum_i exp(x_i), -inf for no entries."""
    if not x.size:
        return -math.inf
    peak = float(x.max())
    return peak if math.isinf(peak) else peak + math.log(float(np.exp(x - peak).sum()))


class LogSumExp(Support):
    """`c * log_sum_exp`. Its conjugate has the domain of that of max, and is no constant there."""

    pair = ("log_sum_exp", None)
    polyhedral = False
    compiled = False
    prox_kernel = None  # type: ignore[assignment]

    def support(self, x: Array) -> float:
        """The value for c = 1; 0 for no entries."""
        return log_sum_exp(x) if x.size else 0.0

    def slope_at(self, x: Array) -> Array:
        """c exp(x_i) / sum_j exp(x_j)."""
        shares = np.exp(x - x.max(initial=-math.inf))
        return np.asarray(self.c * shares / shares.sum())

    def project(self, v: Array, r: float) -> Array:
        return project_sum(v, r)

    def inside(self, v: Array) -> bool:
        return not v.size or (bool(v.min() >= 0.0) and has_sum(v, self.c))

    def conjugate(self, v: Array) -> float:
        """sum v log(v / c) over the positive entries."""
        if not self.inside(v):
            return math.inf
        live = v[v > 0.0]
        return float((live * np.log(live / self.c)).sum())

    def conjugate_size(self, v: Array) -> float:
        """The size with the sum of v added: an entry that is c but for rounding has nothing but rounding for its logarithm."""
        return abs(self.conjugate(v)) + float(np.abs(v).sum())

    def prox(self, v: Array, t: float) -> Array:
        """Newton for nu, on a convex and falling sum from the left: monotone."""
        r = t * self.c
        if not v.size or r == 0.0:
            return v.copy()
        below = v - v.max()
        nu = -r
        for _ in range(100):
            taken = omega(below - nu + math.log(r))
            change = (float(taken.sum()) - r) / float((taken / (1.0 + taken)).sum())
            nu += change
            if change <= 4e-16 * (abs(nu) + r):
                break
        return v - omega(below - nu + math.log(r))

    def growth(self, d: Array) -> float:
        """c times the largest entry."""
        return self.c * float(d.max())

    @property
    def has_faces(self) -> bool:
        """False: it is curved."""
        return False

    def conic(self) -> Conic:
        return log_sum_exp_form(self.size, self.c)
