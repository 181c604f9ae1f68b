"""Bounds of the largest singular value or eigenvalue from above, of the kinds in docs/language.md, "What an answer promises".

A Ritz value bounds from below, and a Ritz value plus its residual bounds *some* value, not the largest: neither serves as a bound
from above here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..atoms.base import Array, MatrixLike
from .operators import CountedOperator, as_operator, matrix_of
from .randomized import RandomBound, largest_eigenvalue
from .rigorous import UNIT, singular_by_cholesky, singular_by_svd

RIGOROUS_SIDE = 256
"""Up to this shorter side of a known matrix, a dense proof costs less than a hundred products or so."""


@dataclass(frozen=True)
class SpectralBound:
    """largest value <= value_upper, and why: `kind` is "rigorous" or "probabilistic", `statement` one sentence.

    `lower` is a Ritz value, at most the largest; `failure` the probability that the bound is false (0 where rigorous); `products` how
    many with A or A' it took.
    """

    value_upper: float
    kind: str
    statement: str
    lower: float
    failure: float
    products: int


def largest_singular_bound(
    A: MatrixLike,
    failure: float = 1e-9,
    *,
    rtol: float = 1e-6,
    method: str = "auto",
    warm: Array | None = None,
    seed: int = 0,
    max_steps: int = 3000,
    stop: Callable[[], bool] = lambda: False,
) -> SpectralBound:
    """sigma_max(A) <= value_upper for a 2-d array, a SciPy sparse matrix or a LinearOperator of shape (m, n).

    `method`: "svd" and "cholesky" prove rigorously and need the matrix (dense work of its shorter side cubed); "lanczos" fails with a
    probability of at most `failure` over its random start, takes only products, and aims at a bound within `rtol` of the truth;
    "auto" proves rigorously where the shorter side is at most 256. `warm` (n, q): right vectors near those of the largest values,
    whatever they came from; they save most of the work where the largest values come in clusters. Each certificate should
    have a seed of its own. Once `stop()` is true "lanczos" ends with the bound that it has, inf where that is none.
    """
    op, matrix = as_operator(A), matrix_of(A)
    m, n = op.shape
    if min(m, n) == 0:
        return SpectralBound(0.0, "rigorous", "an empty matrix has norm 0", 0.0, 0.0, 0)
    if method == "auto":
        method = "lanczos" if matrix is None or min(m, n) > RIGOROUS_SIDE else "cholesky"
    if method in ("svd", "cholesky"):
        if matrix is None:
            raise ValueError(f"{method} needs the matrix, not only its products")
        return _by_svd(matrix) if method == "svd" else _by_cholesky(matrix)
    if method != "lanczos":
        raise ValueError(f"no method {method!r}")
    counted = CountedOperator(op)
    shorter = warm
    if warm is not None and m < n:
        shorter = counted.matmat(warm)
    found = largest_eigenvalue(
        counted.gram,
        min(m, n),
        failure=failure,
        rtol=2.0 * rtol,
        warm=shorter,
        seed=seed,
        max_steps=max_steps,
        stop=stop,
    )
    upper, lower = (float(np.sqrt(max(v, 0.0))) for v in (found.upper, found.lower))
    return _probabilistic(found, upper * (1 + 4 * UNIT), lower, failure, counted.products)


def _by_svd(matrix: MatrixLike) -> SpectralBound:
    upper, lower = singular_by_svd(matrix)
    statement = "a full SVD with its backward error measured"
    return SpectralBound(upper, "rigorous", statement, lower, 0.0, min(matrix.shape))


def _by_cholesky(matrix: MatrixLike) -> SpectralBound:
    upper, lower = singular_by_cholesky(matrix)
    statement = "a Cholesky factorisation of s^2 I - A'A that ran to completion, with its rounding errors bounded"
    return SpectralBound(upper, "rigorous", statement, lower, 0.0, min(matrix.shape))


def _probabilistic(found: RandomBound, upper: float, lower: float, failure: float, products: int) -> SpectralBound:
    statement = (
        f"randomly started Lanczos ({found.steps} steps, on the complement of {found.locked} vectors), which fails with a"
        f" probability of at most {failure:g} (Kuczynski and Wozniakowski 1992)"
    )
    return SpectralBound(upper, "probabilistic", statement, lower, failure, products)
