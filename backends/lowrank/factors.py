"""A matrix X = U V' by its factors, stacked as W = [U; V]: |X|_* <= |W|_F^2 / 2, with equality where they are balanced."""

from __future__ import annotations

import numpy as np

from ...atoms.base import Array


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
