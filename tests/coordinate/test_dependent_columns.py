"""Groups whose columns depend on each other, more of them than rows: models are flat where weight moves from group to group."""

from __future__ import annotations

import numpy as np
import pytest

import fwdsl as fw

ROWS = (
    "data A: matrix[n, d], Y: matrix[n, k]\nparam f: positive, c: positive\nvar X: matrix[d, k]\n"
    "minimize f * mean(squared(A @ X, Y)) + c * norm21(X)\n"
)
GROUPS = (
    "data A: matrix[n, 6], y: vector[n]\nparam f: positive, c: positive\nvar x: vector[6]\n"
    "minimize f * mean(squared(A @ x, y)) + c * group_norm(x, groups=[[0, 1], [2, 3], [4, 5]])\n"
)


def test_parallel_columns_leave_weight_on_the_longest_alone() -> None:
    """One row: with the longest column a the penalty is least, and x = s y / a where 2 f |s y - y| / k = c / |a|."""
    A = np.array([[-1.0, -1.0, 1.0, -2.0, -1.0]])
    Y = np.array([[3.6505083864921826, -0.9896819490377791, 4.441131099324396]])
    f, c = 8.170013695779996e-10, 1.3149703342086824e-13
    found = fw.parse(ROWS).bind(A=A, Y=Y, f=f, c=c).solve(method="coordinate_descent", max_iter=50)
    assert found.status == "optimal"
    length = float(np.linalg.norm(Y))
    left = c / 2.0 * 3.0 / (2.0 * f)
    expected = f * left**2 / 3.0 + c * (length - left) / 2.0
    assert found.objective == pytest.approx(expected, rel=2e-6)


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("c", [1e-2, 1e-6])
def test_rows_of_a_matrix(seed: int, c: float) -> None:
    rng = np.random.default_rng(seed)
    n, d, k = (int(v) for v in (rng.integers(1, 4), rng.integers(4, 7), rng.integers(2, 5)))
    A = rng.integers(-2, 3, (n, d)).astype(float) if seed % 2 else rng.standard_normal((n, d))
    problem = fw.parse(ROWS).bind(A=A, Y=rng.standard_normal((n, k)), f=1.0, c=c)
    found = problem.solve(method="coordinate_descent", max_iter=50)
    assert found.status == "optimal", (found.relative_gap, found.reason)


@pytest.mark.parametrize("seed", range(6))
def test_groups_of_a_vector(seed: int) -> None:
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((2, 6))
    problem = fw.parse(GROUPS).bind(A=A, y=rng.standard_normal(2), f=1.0, c=1e-5)
    found = problem.solve(method="coordinate_descent", max_iter=50)
    assert found.status == "optimal", (found.relative_gap, found.reason)
