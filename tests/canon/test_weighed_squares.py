"""Sums of squares of scaled residuals of matrices are losses with weights: the same optimum, method, and certificate of the program as written."""

from __future__ import annotations

import numpy as np
import pytest

import fwdsl as fw
from fwdsl.oracle import check_certificate, solve_oracle

N, D, K = 30, 8, 3
HEAD = (
    "data X: matrix[n, d], Y: matrix[n, k], Q: matrix[n, k] in nonnegative, q: vector[n] in nonnegative\n"
    "var W: matrix[d, k]\nminimize "
)


@pytest.mark.parametrize(
    ("known", "other"),
    [
        ("sum(Q * squared(X @ W, Y))", "sum_squares(sqrt(Q) * (X @ W - Y))"),
        ("sum(Q * squared(X @ W, Y))", "sum_squares((X @ W - Y) * sqrt(Q))"),
        ("sum(q * squared(X @ W, Y))", "sum_squares(diag(sqrt(q)) @ (X @ W - Y))"),
    ],
)
@pytest.mark.parametrize("beside", ["2 * norm21(W)", "norm1(W) + sum_squares(W)"])
def test_squares_of_scaled_matrices(known: str, other: str, beside: str) -> None:
    rng = np.random.default_rng(7)
    values = {
        "X": rng.standard_normal((N, D)),
        "Y": rng.standard_normal((N, K)),
        "Q": rng.random((N, K)),
        "q": rng.random(N),
    }
    here, there = (fw.parse(f"{HEAD}{words} + {beside}").bind(**values) for words in (known, other))
    plain, found = (problem.solve(tol=1e-8) for problem in (here, there))
    assert plain.status == found.status == "optimal" and plain.method == found.method
    assert found.objective == pytest.approx(plain.objective, rel=1e-7)
    assert found.objective == pytest.approx(solve_oracle(there.instance).value, rel=1e-5)
    again = check_certificate(there.instance, found)
    assert again.agrees, again.text
