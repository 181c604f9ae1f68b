"""`cumsum` in constraints becomes a variable, and points, multipliers and certificates are those of the program as it is written."""

from __future__ import annotations

import numpy as np
import pytest

import fwdsl as fw
from fwdsl.oracle import solve_oracle

RNG = np.random.default_rng(8)
DATA = {
    "d": RNG.uniform(1, 3, (7, 3)),
    "c": RNG.uniform(1, 2, (7, 3)),
    "s": np.array([2.0, 3.0, 1.0]),
    "v": RNG.standard_normal(7),
}
HEAD = (
    "data d: matrix[T, k], c: matrix[T, k], s: vector[k], v: vector[T]\n"
    "var P: matrix[T, k] in nonnegative, x: vector[T] in box(-2, 2)\n"
)
USED = " + 0 * (sum(d) + sum(c) + sum(s) + sum(v))\nsubject to\n"
PROGRAMS = {
    "stock": "minimize sum(c * P) + sum_squares(x)" + USED + "left: cumsum(P - d) + s >= 0",
    "in the objective too": "minimize sum(c * P) + 0.1 * sum_squares(cumsum(P - d)) + norm1(x - v)"
    + USED
    + "left: cumsum(P - d) >= -s",
    "two of them": "minimize sum(c * P) + sum_squares(x - v)"
    + USED
    + "left: cumsum(P - d) + s >= 0\nroom: cumsum(P, axis=1) <= 9\nline: cumsum(x) <= 1\nend: cumsum(x)[-1] == 0",
    "a vector and nothing else": "minimize sum_squares(x - v) + sum_squares(P)" + USED + "line: -1 <= cumsum(x) <= 0.5",
    "of itself": "minimize sum_squares(x - v) + sum_squares(P)" + USED + "line: cumsum(cumsum(x)) <= 1",
    "in a ball": "minimize sum_squares(x - v) + sum_squares(P)" + USED + "line: norm2(cumsum(x)) <= 1",
}


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("method", [None, "pdhg"])
def test_answers_are_those_of_cvxpy(name: str, method: str | None) -> None:
    problem = fw.parse(HEAD + PROGRAMS[name]).bind(**DATA)
    solution = problem.solve(tol=1e-6, method=method)
    oracle = solve_oracle(problem.instance)
    assert solution.status == "optimal"
    assert solution.objective == pytest.approx(oracle.value, rel=1e-5, abs=1e-6)
    assert set(solution.variables) == {"P", "x"}
    again = problem.solve(tol=1e-6, method=method, start=solution)
    assert again.status == "optimal" and again.objective == pytest.approx(oracle.value, rel=1e-5, abs=1e-6)


def test_the_plan_says_so_and_multipliers_have_the_shape_of_the_constraint() -> None:
    problem = fw.parse(HEAD + PROGRAMS["stock"]).bind(**DATA)
    assert "`cumsum(P - d)` is a variable" in problem.plan().render()
    solution = problem.solve(tol=1e-8)
    y = np.asarray(solution.dual["left"])
    assert y.shape == (7, 3)
    # the price of P where it is positive is what its stock later on is worth
    worth = np.abs(np.cumsum(y[::-1], axis=0)[::-1])
    made = np.asarray(solution["P"]) > 1e-4
    np.testing.assert_allclose(worth[made], DATA["c"][made], atol=1e-4)


def test_one_entry_is_left_as_it_is() -> None:
    text = "data a: vector[n]\nvar x: vector[n]\nminimize sum_squares(x - a)\nsubject to cumsum(x) <= 1\n"
    solution = fw.parse(text).bind(a=np.array([3.0])).solve(tol=1e-8)
    assert solution["x"][0] == pytest.approx(1.0, abs=1e-5)
