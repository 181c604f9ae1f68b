"""The start of pivoting, a point near the minimum on a set, and the least that its bound may lack."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from fwdsl.atoms.base import Array

POWERS, MOST, SETTLED = 10, 60, 6
"""Products with H for its largest eigenvalue; projected gradient steps; steps without another sign that end them."""

MARGIN = 1.1
"""The factor by which the estimate of the largest eigenvalue is raised."""


def approached(
    H: Array, x: Array, grad: Array, nu: float, project: Callable[[Array], Array], look: Callable[[], None]
) -> tuple[Array, float]:
    """A point after some accelerated projected gradient steps on d'Hd / 2 + <grad, d>, d from x, and its multiplier of the sum of sizes.

    A product with H costs a hundredth of a factor of it or less, and from a point far from the minimum pivots take dozens of factors. The steps are
    those of Beck and Teboulle 2009, restarted as O'Donoghue and Candes 2015. Where they lead nowhere, (x, nu) is as it was.
    """
    start, c = x, H @ x - grad
    v, size = grad, 0.0
    for _ in range(POWERS):
        length = float(np.linalg.norm(v))
        if not 0.0 < length < math.inf:
            return start, nu
        v = H @ (v / length)
        size = float(np.linalg.norm(v))
    if not 0.0 < size < math.inf:
        return start, nu
    old, t, same = x, 1.0, 0
    for _ in range(MOST):
        look()
        after = 0.5 * (1.0 + math.sqrt(1.0 + 4.0 * t * t))
        y = x + ((t - 1.0) / after) * (x - old)
        new = project(y - (H @ y - c) / (MARGIN * size))
        restart = float((y - new) @ (new - x)) > 0.0
        same = same + 1 if np.array_equal(np.sign(new), np.sign(x)) else 0
        x, old, t = new, new if restart else x, 1.0 if restart else after
        if same == SETTLED:
            break
    total = float(np.abs(x).sum())
    found = -float(x @ (H @ x - c)) / total if total > 0.0 else math.nan
    return (x, found) if math.isfinite(found) else (start, nu)


def lacks(lo: Array, hi: Array, ridge: Array, x: Array, v: Array) -> float:
    """The loss of the bound, at points as large as x, by the entries of v that point where an interval has no end."""
    outside = np.where(np.isinf(hi), np.maximum(v, 0.0), 0.0) - np.where(np.isinf(lo), np.minimum(v, 0.0), 0.0)
    return float(np.where(ridge > 0.0, 0.0, outside).sum()) * float(np.abs(x).max(initial=0.0))
