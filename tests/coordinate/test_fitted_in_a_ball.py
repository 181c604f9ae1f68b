"""Balls that are larger than what fits the data exactly: the optimum is 0, inside, and the multiplier goes to 0."""

from __future__ import annotations

import numpy as np
import pytest

import fwdsl as fw
from fwdsl.backends.coordinate.multiplier import _most
from tests.runs import stepped

TEXT = (
    "data A: matrix[n, d], b: vector[n]\nparam r: positive\nvar x: vector[d] in l1_ball(r)\n"
    "minimize mean(squared(A @ x, b))\n"
)


def wide(seed: int, n: int, d: int, share: float, unit: float = 1.0) -> fw.Problem:
    """`share` is that of the radius which a fit with few entries takes."""
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((n, d)) + rng.standard_normal((n, 1))
    x = np.where(rng.random(d) < 0.1, rng.standard_normal(d), 0.0)
    return fw.parse(TEXT).bind(A=A, b=unit * (A @ x), r=unit * float(np.abs(x).sum()) / share)


@pytest.mark.parametrize("share", [0.97, 0.8, 0.3])
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("inner", ["residual", "gram"])
def test_data_that_are_fitted_inside_a_ball(seed: int, share: float, inner: str) -> None:
    problem = wide(seed, 60, 400, share)
    found = problem.solve(method="coordinate_descent", inner=inner, max_iter=100)
    assert found.status == "optimal", (found.relative_gap, found.reason)
    assert found.objective <= 2e-6 * found.certificate.scale


def test_the_multiplier_is_bounded_at_any_point_inside() -> None:
    """By the true one, that of the optimum on a smaller ball."""
    problem = wide(1, 40, 120, 3.0)
    run = stepped(problem, "coordinate_descent", 3, inner="residual")
    found = problem.solve(method="coordinate_descent", tol=1e-10)
    assert found.status == "optimal"
    A, b = np.asarray(problem.instance.values["A"]), np.asarray(problem.instance.values["b"])
    true = float(np.abs(A.T @ (A @ found["x"] - b)).max()) / b.size

    class At:
        """A point inside as a model has it."""

        u = 0.5 * found["x"]

        def square(self) -> float:
            return 0.5 * float(np.square(A @ self.u - b).mean())

    excess = float(np.abs(At.u).sum()) - run.g.radius
    assert _most(At(), run.g, np.arange(At.u.size), excess) >= true * (1.0 - 1e-6)
