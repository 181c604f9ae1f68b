"""The Wright omega function for the references of softmax and entropy, slow and obvious. The kernels have it written out."""

from __future__ import annotations

import numpy as np

from .base import Array


def omega(x: Array) -> Array:
    """The omega > 0 with omega + log omega = x, by Newton for s = log omega on the convex s + exp(s) - x, monotone from above."""
    s = np.where(x > 1.0, np.log(np.maximum(x, 1.0)), x)
    for _ in range(60):
        e = np.exp(s)
        change = (s + e - x) / (1.0 + e)
        s = s - change
        if np.all(np.abs(change) <= 4e-16 * (1.0 + np.abs(s))):
            break
    return np.exp(s)
