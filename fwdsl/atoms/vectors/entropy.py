"""c sum_i x_i log x_i on x >= 0 (0 log 0 = 0): conjugate c sum_i exp(v_i / c - 1), finite everywhere, infimum -c d / e.

Prox: with tau = t c, x + tau log x = v - tau, so x = tau omega(v / tau - 1 - log tau) with the Wright omega function, omega + log omega = x, by
the iteration of Fritsch, Shafer and Crowley (1973).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ..base import Array, VectorFunction
from ..conic import Conic, ConicRow, ConicTriple, by_entries
from ..elementary import omega, wright
from .common import checked_coefficient, largest_share, scale_into
from .nonnegative import Nonnegative

EXPONENT = 700.0
"""exp of more is close to the largest number."""


def entropy_kernel(v, t, out, c):
    """Kernel: the prox of c times the entropy."""
    tau = t * c
    if tau == 0.0:
        for i in range(v.size):
            out[i] = max(v[i], 0.0)
        return
    log_tau = math.log(tau)
    for i in range(v.size):
        out[i] = tau * wright(v[i] / tau - 1.0 - log_tau)


def negentropy(x: Array) -> float:
    """sum x log x over the positive entries."""
    positive = x[x > 0.0]
    return float((positive * np.log(positive)).sum())


@dataclass(frozen=True)
class Entropy(VectorFunction):
    """`c * entropy`, whose domain is x >= 0."""

    size: int
    c: float

    pair = ("entropy", None)
    polyhedral = False
    entrywise = True
    permutable = True
    prox_kernel = staticmethod(entropy_kernel)

    def __post_init__(self) -> None:
        object.__setattr__(self, "c", checked_coefficient(self.c))

    def radius(self) -> float:
        return math.inf if self.size else 0.0

    def describe(self) -> str:
        return f"{self.c:g} * entropy"

    def value(self, x: Array) -> float:
        """c sum x log x, negative entries ignored."""
        return self.c * negentropy(x)

    def set_beneath(self) -> VectorFunction:
        return Nonnegative(self.size)

    def violation(self, x: Array, sizes: Array | None = None) -> float:
        return largest_share(-x, self.own_sizes(x) if sizes is None else sizes)

    def prox(self, v: Array, t: float) -> Array:
        """tau omega(v / tau - 1 - log tau)."""
        tau = t * self.c
        if tau == 0.0:
            return np.maximum(v, 0.0)
        return tau * omega(v / tau - 1.0 - math.log(tau))

    def conjugate(self, v: Array) -> float:
        """c sum exp(v / c - 1); inf where an exponential is beyond the range of numbers, v > 700 c."""
        if not self._inside(v):
            return math.inf
        return self.c * float(np.exp(v / self.c - 1.0).sum())

    def _inside(self, v: Array) -> bool:
        return bool(v.max(initial=0.0) <= EXPONENT * self.c)

    def dual_scale(self, v: Array) -> float:
        """1, or what keeps the exponentials within the range of numbers."""
        return 1.0 if self._inside(v) else scale_into(self._inside, v, EXPONENT * self.c / float(v.max()))

    def dual_project(self, v: Array) -> Array:
        """v, cut where its exponential would overflow."""
        return np.minimum(v, EXPONENT * self.c)

    @property
    def slope(self) -> float:
        return self.c

    def coercive(self) -> tuple[float, str] | None:
        """None: it is negative between 0 and 1."""
        return None

    def kernel_args(self) -> tuple[object, ...]:
        return (self.c,)

    def conic(self) -> Conic:
        """x exp(-u / x) <= 1 at the price c u."""
        rows = (ConicRow(0.0, (-1.0,), 0.0), ConicRow(1.0, (0.0,), 0.0), ConicRow(0.0, (0.0,), 1.0))
        return by_entries(self.size, (), ((0.0, self.c),), triples=(ConicTriple(rows),))
