"""Free intercepts of predictions, minimised out by NumPy."""

from __future__ import annotations

import numpy as np

from ..atoms.base import Array
from ..atoms.loss import LossFunction

EPS = float(np.finfo(np.float64).eps)
ROUNDS = 200


def added(z: Array, b: Array) -> Array:
    """z + 1 b', flat in C order, for z with b.size columns."""
    return np.asarray((z.reshape(-1, b.size) + b).reshape(-1))


def best_shift(f: LossFunction, z: Array, columns: int) -> Array:
    """argmin over b in R^columns of f(z + 1 b'), f smooth, by bisection on its derivative, which for squares is in closed form.

    The derivative of each column is 0 at b, to rounding, or b is where it changes its sign between two neighbouring numbers.
    """
    if f.loss.quadratic:
        w = f.w.reshape(-1, columns)
        total = w.sum(axis=0)
        return np.asarray((w * (f.b - z).reshape(-1, columns)).sum(axis=0) / np.where(total > 0.0, total, 1.0))
    low, high = np.full(columns, -1.0), np.full(columns, 1.0)
    for _ in range(60):
        below, above = slopes(f, z, low) > 0.0, slopes(f, z, high) < 0.0
        if not (below.any() or above.any()):
            break
        low, high = np.where(below, 4.0 * low, low), np.where(above, 4.0 * high, high)
    for _ in range(ROUNDS):
        middle = 0.5 * (low + high)
        slope = slopes(f, z, middle)
        low, high = np.where(slope <= 0.0, middle, low), np.where(slope >= 0.0, middle, high)
        if np.all(high - low <= EPS * np.maximum(np.abs(low), np.abs(high))):
            break
    return np.asarray(0.5 * (low + high))


def slopes(f: LossFunction, z: Array, b: Array) -> Array:
    """The derivatives of f(z + 1 b') in b."""
    return np.asarray(f.gradient(added(z, b)).reshape(-1, b.size).sum(axis=0))
