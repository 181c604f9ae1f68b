r"""Block methods, for many vectors at once and for warm starts.

Subspace iteration: Q = orth(A V), A'Q = V' S W' (a Rayleigh-Ritz step on the left), two block products an iteration. Self-correcting
and the cheapest step when the operator changes a little at a time.

LOBPCG: Rayleigh-Ritz on span[X, W, P], W the residuals and P the last steps, one block product an iteration (Knyazev 2001); the bases are kept
orthonormal, P by coordinates inside the space (Duersch, Shao, Yang, Gu 2018), which makes it stable without restarts.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..atoms.base import Array
from .operators import CountedOperator
from .orthogonal import complete


def subspace_step(op: CountedOperator, V: Array) -> tuple[Array, Array, Array]:
    """(U, s, V): one Rayleigh-Ritz step from the columns of V; V'A'U = diag(s) exactly, and A'U = V diag(s)."""
    Q, _ = np.linalg.qr(op.matmat(V))
    Z = op.rmatmat(Q)
    V, s, W = np.linalg.svd(Z, full_matrices=False)
    return Q @ W.T, s, V


def subspace_iteration(
    op: CountedOperator, V: Array, k: int, tol: float, limit: int
) -> tuple[Array, Array, Array, Array]:
    """(U, s, V, residuals) of all columns of V; ends when |A v - s u| <= tol * s_1 for the first k, or after `limit` products.

    The residuals belong to the vectors returned.
    """
    U, s, V = subspace_step(op, V)
    while True:
        AV = op.matmat(V)
        residuals = np.linalg.norm(AV - U * s, axis=0)
        if np.all(residuals[:k] <= tol * s[0]) or op.products >= limit:
            return U, s, V, residuals
        Q, _ = np.linalg.qr(AV)
        V, s, W = np.linalg.svd(op.rmatmat(Q), full_matrices=False)
        U = Q @ W.T


def lobpcg(
    apply: Callable[[Array], Array], X: Array, k: int, tol: float, iterations: int
) -> tuple[Array, Array, Array, Array]:
    """(values, X, S X, residuals): Ritz pairs of the symmetric operator S from the columns of X, largest first.

    Ends when the residuals of the first k are at most tol times the largest |value|, or after so many iterations. X may lose columns that
    depend on the others.
    """
    X = complete(X)
    AX = apply(X)
    P, AP = X[:, :0], X[:, :0]
    for iteration in range(iterations + 1):
        values, C = np.linalg.eigh(0.5 * (X.T @ AX + AX.T @ X))
        values, C = values[::-1], C[:, ::-1]
        X, AX = X @ C, AX @ C
        R = AX - X * values
        residuals = np.linalg.norm(R, axis=0)
        wanted = tol * float(np.abs(values).max(initial=0.0))
        if iteration == iterations or np.all(residuals[:k] <= wanted):
            break
        W = complete(R[:, residuals > 0.1 * wanted], np.hstack([X, P]))
        if X.shape[1] + P.shape[1] + W.shape[1] > X.shape[0]:
            W = W[:, : X.shape[0] - X.shape[1] - P.shape[1]]
        S, AS = np.hstack([X, P, W]), np.hstack([AX, AP, apply(W)] if W.shape[1] else [AX, AP])
        T = S.T @ AS
        _, C = np.linalg.eigh(0.5 * (T + T.T))
        C = C[:, ::-1][:, : X.shape[1]]
        inner = C.copy()
        inner[: X.shape[1]] = 0.0
        D = complete(inner, C)[:, : S.shape[0] - X.shape[1]]
        X, AX, P, AP = S @ C, AS @ C, S @ D, AS @ D
    return values, X, AX, residuals
