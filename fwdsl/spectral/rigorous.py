r"""Bounds from a dense decomposition whose rounding errors are bounded, with u = 2^-53 and gamma_k = k u / (1 - k u).

Cholesky. Where the floating-point factorisation of a symmetric M of order n runs to completion, in whatever order its sums are taken,

    lambda_min(M) >= -gamma_{n+1} / (1 - gamma_{n+1}) tr(M)                                                  (Demmel 1989; Rump 2006).

With M = fl(s^2 I - fl(A'A)) and |fl(A'A) - A'A| <= gamma_m |A|'|A|, it proves lambda_max(A'A) <= s^2 + delta, where

    delta = gamma_{n+1} / (1 - gamma_{n+1}) tr(M) + u max |M_ii| + gamma_m |A|_F^2.

SVD. For A = U S V' + E as computed, |A|_2 <= s_1 |U|_2 |V|_2 + |E|_F with |U|_2^2 <= 1 + |U'U - I|_F: the backward error is measured, not assumed.

Numbers are scaled by a power of two first, so that nothing overflows; numbers that underflow are then below 1e-290, which is added.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..atoms.base import Array, MatrixLike

UNIT = 2.0**-53
_UNDERFLOW = 1e-290


def gamma(k: int) -> float:
    """k u / (1 - k u), rounded up."""
    return 1.01 * k * UNIT


def scaled(A: MatrixLike) -> tuple[Any, float]:
    """(A / c, c) with c a power of two that makes the largest |number| less than 2; c = 0 for a zero matrix. Not finite: ValueError."""
    numbers = A if isinstance(A, np.ndarray) else A.data
    largest = float(np.abs(numbers).max(initial=0.0))
    if not np.isfinite(largest):
        raise ValueError("the matrix has entries that are not finite")
    c = float(np.ldexp(0.5, np.frexp(largest)[1])) if largest > 0.0 else 0.0
    return (A / c, c) if c > 0.0 else (A, 0.0)


def cholesky_runs(M: Array) -> bool:
    """True if the floating-point Cholesky factorisation of M runs to completion."""
    try:
        factor = np.linalg.cholesky(M)
    except np.linalg.LinAlgError:
        return False
    return bool(np.all(np.isfinite(np.diag(factor))))


def eigenvalue_by_cholesky(S: Array, s: float, error: float = 0.0) -> float | None:
    """An upper bound of lambda_max(S + E), |E|_2 <= error, close to s; None where the factorisation of s I - S fails."""
    n = S.shape[0]
    M = -0.5 * S - 0.5 * S.T
    M[np.diag_indices(n)] += s
    if not cholesky_runs(M):
        return None
    diagonal = np.diag(M)
    g = gamma(n + 1)
    # halves and their sum are rounded where S is not exactly symmetric
    delta = g / (1 - g) * float(diagonal.sum()) + 2 * UNIT * float(np.abs(diagonal).max() + np.linalg.norm(S))
    return (
        (s + 1.01 * (delta + error) + _UNDERFLOW) * (1 + 4 * UNIT) if s > 0 else s + 1.01 * (delta + error) + _UNDERFLOW
    )


def gram(A: MatrixLike) -> tuple[Array, float]:
    """(G, error): the Gram matrix on the shorter side as computed, dense, and a bound of its error in the 2-norm."""
    if A.shape[0] < A.shape[1]:
        A = A.T
    G = A.T @ A
    dense = np.asarray(G if isinstance(G, np.ndarray) else G.toarray())
    squares = float(np.sum((A if isinstance(A, np.ndarray) else A.data) ** 2))
    return dense, gamma(A.shape[0] + 2) * 1.01 * squares + _UNDERFLOW


def singular_by_cholesky(A: MatrixLike, estimate: float | None = None) -> tuple[float, float]:
    """(an upper bound of sigma_max(A), the estimate) for a matrix, dense or sparse, from an estimate that may be anything.

    None is estimated by the largest eigenvalue of the Gram matrix. Tried at s just above the estimate, then further up; |A|_F, which always is a
    bound, where nothing succeeds.
    """
    A, c = scaled(A)
    if c == 0.0:
        return 0.0, 0.0
    G, error = gram(A)
    trace, n = float(np.trace(G)), G.shape[0]
    largest = trace + n * error
    if estimate is None:
        estimate = c * float(np.sqrt(max(np.linalg.eigvalsh(G)[-1], 0.0)))
    s = max((estimate / c) ** 2, trace / n)
    step = max(4.0 * gamma(n + 1) * n, 4.0 * error / s, 1e-12)
    while s * (1.0 + step) < largest:
        bound = eigenvalue_by_cholesky(G, s * (1.0 + step), error)
        if bound is not None:
            largest = min(largest, bound)
            break
        step *= 8.0
    return c * float(np.sqrt(largest)) * (1 + 8 * UNIT), estimate


def singular_by_svd(A: MatrixLike) -> tuple[float, float]:
    """(an upper bound of sigma_max(A), the largest computed singular value) by a full SVD and its measured backward error."""
    A, c = scaled(A if isinstance(A, np.ndarray) else A.toarray())
    if c == 0.0:
        return 0.0, 0.0
    m, n = A.shape
    U, s, Vt = np.linalg.svd(A, full_matrices=False)
    US = U * s
    products = float(np.linalg.norm(US) * np.linalg.norm(Vt) + np.linalg.norm(A))
    miss = float(np.linalg.norm(US @ Vt - A)) + 1.01 * gamma(s.size + 4) * products
    skew = 1.0
    for basis, length in ((U, m), (Vt.T, n)):
        off = float(np.linalg.norm(basis.T @ basis - np.eye(s.size)))
        skew *= 1.0 + off + 1.01 * gamma(length + 2) * float(np.sum(basis**2))
    bound = float(s[0]) * np.sqrt(skew) + 1.01 * miss + _UNDERFLOW
    return c * float(bound) * (1 + 8 * UNIT), c * float(s[0])
