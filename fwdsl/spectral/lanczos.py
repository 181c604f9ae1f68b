r"""A Lanczos process with full reorthogonalisation and thick restart.

Golub-Kahan: A V = U B, A'U = V B' + f e_l' with B upper triangular (bidiagonal but for the restart's column), from which the largest
singular triplets of B give those of A (Baglama, Reichel 2005). After l steps the best vectors are kept and the process goes on from the residual f.

One start reaches one vector of each eigenspace, so a multiple value would be found once: after convergence the residual, which is
then negligible, is exchanged for a random direction and one more cycle must find nothing larger.
"""

from __future__ import annotations

import numpy as np

from ..atoms.base import Array
from .operators import CountedOperator
from .orthogonal import EPS, direction, fresh, orthogonalise


def golub_kahan(
    op: CountedOperator, k: int, tol: float, basis: int, limit: int, start: Array | None, rng: np.random.Generator
) -> tuple[Array, Array, Array, Array]:
    """(U, s, V, residuals): the k largest triplets, residuals |A'u - s v| at most tol * s_1 unless `limit` products were not enough.

    `basis` < min(m, n) is the number of steps before a restart.
    """
    m, n = op.shape
    V, U, B = np.zeros((basis + 1, n)), np.zeros((basis, m)), np.zeros((basis, basis))
    V[0] = fresh(rng, n, V[:0]) if start is None or not start.any() else start / np.linalg.norm(start)
    size, dropped, confirmed = 0, 0.0, np.zeros(0)
    while True:
        for j in range(size, basis):
            u, B[:j, j] = orthogonalise(op.matmat(V[j]), U[:j])
            U[j], B[j, j] = direction(u, float(np.abs(B).max()), U[:j], rng)
            w, _ = orthogonalise(op.rmatmat(U[j]), V[: j + 1])
            V[j + 1], beta = direction(w, float(np.abs(B).max()), V[: j + 1], rng)
        P, s, Qt = np.linalg.svd(B)
        last_row = beta * np.abs(P[-1])
        residuals = np.hypot(last_row, dropped)
        done = bool(np.all(last_row[:k] <= 0.7 * tol * s[0]))
        settled = confirmed.size > 0 and bool(np.all(s[:k] <= confirmed + max(tol, 4 * EPS) * s[0]))
        if op.products >= limit or (done and settled):
            return U.T @ P[:, :k], s[:k], V[:basis].T @ Qt[:k].T, residuals[:k]
        size = min(basis - 1, k + max(2, (basis - k) // 3))
        last = V[basis].copy()
        V[:size], U[:size] = Qt[:size] @ V[:basis], P[:, :size].T @ U
        B[:] = 0.0
        B[np.arange(size), np.arange(size)] = s[:size]
        if done:
            # the dropped part couples the kept vectors by their residuals, of which only the first k are small
            size, confirmed, dropped = k, s[:k].copy(), max(dropped, float(last_row[:k].max()))
            B[k:, k:] = 0.0
            last = fresh(rng, n, V[:size])
        V[size], _ = orthogonalise(last, V[:size])
        V[size] /= np.linalg.norm(V[size])
