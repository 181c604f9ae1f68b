"""A matrix X = U V' by its factors, stacked as W = [U; V]: |X|_* <= |W|_F^2 / 2, with equality where they are balanced."""

from __future__ import annotations

import numpy as np

from fwdsl.atoms.base import Array


def thin_svd(U: Array, V: Array) -> tuple[Array, Array, Array]:
    """(P, s, Q) with U V' = P diag(s) Q', by QR of the factors and an SVD of the core."""
    P, R = np.linalg.qr(U)
    Q, T = np.linalg.qr(V)
    left, s, right = np.linalg.svd(R @ T.T)
    k = s.size
    return P @ left[:, :k], s, Q @ right[:k].T


def balanced(P: Array, s: Array, Q: Array) -> Array:
    """W = [P; Q] diag(sqrt(s))."""
    return np.vstack([P, Q]) * np.sqrt(s)


def project_decreasing(v: Array, radius: float) -> Array:
    """The projection of v >= 0, decreasing as singular values are, on the l1 ball; NaN where v is not finite. It sorts nothing."""
    total = np.cumsum(v)
    if v.size == 0 or total[-1] <= radius:
        return v.copy()
    # beside the largest, so that a radius far below the values is not lost in their sums
    below = v - v[0]
    thresholds = (np.cumsum(below) - radius) / np.arange(1, v.size + 1)
    kept = np.flatnonzero(below > thresholds)
    return np.asarray(np.maximum(below - thresholds[kept[-1]], 0.0)) if kept.size else np.full(v.size, np.nan)
