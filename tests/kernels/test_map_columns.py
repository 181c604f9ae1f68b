"""Columns of the maps of terms, and their Gram matrices, beside the maps written down entry by entry."""

from __future__ import annotations

from contextlib import closing

import numpy as np
import pytest

import fwdsl as fw
from fwdsl.backends.problem import PreparedProblem

RNG = np.random.default_rng(4)
DATA = {"A": RNG.standard_normal((6, 5)), "B": RNG.standard_normal((4, 4)), "c": RNG.standard_normal(4)}
PROGRAMS = {
    "left": "sum_squares(A @ X)",
    "right": "sum_squares(X @ B)",
    "a sum": "sum_squares(X[1:] @ B - X[:-1])",
    "both sides": "sum_squares(A @ X @ B)",
    "of each row": "sum(huber(X @ c, 1))",
    "several variables": "sum_squares(A @ X + Z) + norm1(Z @ B)",
    "differences of a vector": "norm1(diff(u)) + sum_squares(A @ X @ B @ c + u)",
}


@pytest.mark.parametrize("few", [False, True])
@pytest.mark.parametrize("objective", PROGRAMS.values(), ids=PROGRAMS)
def test_columns_and_their_products(objective: str, few: bool) -> None:
    head = "data A: matrix[6, 5], B: matrix[4, 4], c: vector[4]\nvar X: matrix[5, 4], Z: matrix[6, 4], u: vector[6]\n"
    text = f"{head}minimize {objective} + sum_squares(X) + sum_squares(Z) + sum_squares(u)\n"
    form = fw.parse(text).bind(**DATA).canonical
    with closing(PreparedProblem(form, 1)) as problem:
        free = np.sort(RNG.choice(problem.size, 5 if few else problem.size - 7, replace=False))
        whole = [np.stack([problem.linear(e)[k] for e in np.eye(problem.size)], axis=1) for k in range(len(form.terms))]
        weights = [RNG.random(K.shape[0]) for K in whole]
        gram = sum(K[:, free].T @ (w[:, None] * K[:, free]) for K, w in zip(whole, weights, strict=True))
        np.testing.assert_allclose(problem.gram(free, weights), gram, atol=1e-11)
        rows = [np.flatnonzero(RNG.random(K.shape[0]) < 0.6) for K in whole]
        found = problem.columns(free, rows)
        np.testing.assert_allclose(
            found, np.concatenate([K[r][:, free] for K, r in zip(whole, rows, strict=True)]), atol=1e-12
        )
