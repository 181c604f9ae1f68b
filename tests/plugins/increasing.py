"""The cone of vectors whose entries do not fall: a set from outside that is not bounded, polyhedral, without parameters."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import isotonic_regression

from fwdsl.extend import Array, VectorSet, set_word

EPS = float(np.finfo(np.float64).eps)


@dataclass(frozen=True)
class Increasing(VectorSet):
    """{x : x_1 <= ... <= x_n}. Its polar cone: vectors of sum 0 with no negative partial sum, which is the domain of the support function."""

    size: int

    word = set_word("increasing", "x_1 <= ... <= x_n.", compact=False, polyhedral=True)

    def radius(self) -> float:
        return np.inf if self.size else 0.0

    def violation(self, x: Array, sizes: Array | None = None) -> float:
        if self.size < 2:
            return 0.0
        sizes = np.abs(x) if sizes is None else sizes
        over, terms = np.maximum(x[:-1] - x[1:], 0.0), sizes[:-1] + sizes[1:]
        return float(np.divide(over, terms, out=np.zeros_like(over), where=over > 0.0).max())

    def prox(self, v: Array, t: float) -> Array:
        return isotonic_regression(v).x if self.size else v.copy()

    def conjugate(self, v: Array) -> float:
        sums = np.cumsum(v)
        allowed = 8.0 * EPS * self.size * float(np.abs(v).sum())
        return 0.0 if np.all(sums >= -allowed) and np.all(np.abs(sums[-1:]) <= allowed) else np.inf

    def dual_scale(self, v: Array) -> float:
        return 1.0 if self.conjugate(v) == 0.0 else 0.0

    def dual_project(self, v: Array) -> Array:
        """v less its projection on the cone; rounding of v is taken out of the partial sums."""
        if self.conjugate(v) == 0.0:
            return v.copy()
        sums = np.cumsum(v - self.prox(v, 1.0))
        sums[sums <= 8.0 * EPS * self.size * float(np.abs(v).sum())] = 0.0
        sums[-1:] = 0.0
        return np.diff(sums, prepend=0.0)
