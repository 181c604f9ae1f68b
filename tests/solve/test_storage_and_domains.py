"""The order of data in memory changes no more than rounding; points lie in the domain of the entropy."""

from __future__ import annotations

from typing import Literal

import numpy as np
import pytest

import fwdsl as fw

RNG = np.random.default_rng(8)
A = RNG.standard_normal((30, 7))
B = A @ RNG.standard_normal(7) + 0.1 * RNG.standard_normal(30)
OBJECTIVES = {
    "apg": "mean(squared(A @ x, b)) + 0.1*norm1(x)",
    "pdhg": "mean(absolute(A @ x, b)) + 0.1*norm2(x)",
}


@pytest.mark.parametrize("method", OBJECTIVES)
def test_data_by_columns_have_the_answer_of_data_by_rows(method: str):
    text = f"data A: matrix[n, p], b: vector[n]\nvar x: vector[p]\nminimize {OBJECTIVES[method]}"
    by_rows, by_columns, copied = (
        fw.parse(text).bind(A=data, b=B).solve(method=method, tol=1e-8, threads=1)
        for data in (A, np.asfortranarray(A), np.ascontiguousarray(np.asfortranarray(A)))
    )
    assert by_rows.status == by_columns.status == "optimal"
    for one, other in ((by_rows, by_columns), (by_columns, by_rows)):
        # each is certified to 1e-8 of its objective, which is far above 1e-6 of any size in the program
        assert one.dual_bound <= other.objective + 1e-7 * abs(other.objective)
    assert np.array_equal(by_rows["x"], copied["x"])


@pytest.mark.parametrize("set_", ["box(-1, 1)", "l2_ball(2)", "linf_ball(1)"])
@pytest.mark.parametrize("size", [1.0, 10.0, 40.0])
def test_points_lie_in_the_domain_of_an_entropy_that_no_block_keeps(set_: str, size: float):
    q = size * np.random.default_rng(4).standard_normal(6)
    text = f"data q: vector[n]\nvar x: vector[n] in {set_}\nminimize entropy(x) + dot(q, x)"
    solution = fw.parse(text).bind(q=q).solve(tol=1e-6, threads=1)
    assert solution.status == "optimal"
    assert solution["x"].min() >= -1e-12


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("term", ["norm1(w)", "sum_squares(w)"])
def test_dense_data_may_change_in_place_between_solves(order: Literal["C", "F"], term: str):
    rng = np.random.default_rng(3)
    A = np.asarray(rng.normal(size=(200, 20)), order=order)
    y = 2.0 * A[:, 0] + rng.normal(size=200)
    program = fw.parse(f"""
data X: matrix[n, p], y: vector[n]
param mu: nonnegative
var w: vector[p]
minimize 1/2 * mean(squared(X @ w, y)) + mu * {term}
""")
    problem = program.bind(X=A, y=y, mu=0.01)
    problem.solve(threads=1)
    A[:, 1] += 3.0 * A[:, 0]
    for mu in (0.01, 0.02):
        again, alone = (p.solve(threads=1) for p in (problem.bind(mu=mu), program.bind(X=A, y=y, mu=mu)))
        np.testing.assert_allclose(again["w"], alone["w"], rtol=1e-6, atol=1e-6)
        assert again.iterations == alone.iterations
