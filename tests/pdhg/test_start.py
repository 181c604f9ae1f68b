"""The first bound of the primal-dual method: by the slopes of the losses at the start."""

from __future__ import annotations

import numpy as np
import pytest

import fwdsl as fw


@pytest.mark.parametrize("loss", ["squared", "absolute", "logistic"])
def test_a_start_that_is_optimal_is_certified_there(loss: str) -> None:
    rng = np.random.default_rng(4)
    X = rng.standard_normal((40, 6))
    y = np.sign(rng.standard_normal(40)) if loss == "logistic" else rng.standard_normal(40)
    kind = "signs[n]" if loss == "logistic" else "vector[n]"
    text = f"data X: matrix[n, p], y: {kind}\nvar w: vector[p]\nminimize sum({loss}(X @ w, y)) + 1000 * norm1(w)"
    solution = fw.parse(text).bind(X=X, y=y).solve(method="pdhg", threads=1)
    assert solution.status == "optimal" and solution.iterations == 0
    assert not np.any(solution["w"])


def test_equalities_of_the_dual_are_not_overlooked() -> None:
    # at w = 0 the slopes make a bound that seems to be the objective, and no dual point
    rng = np.random.default_rng(4)
    X, y = rng.standard_normal((40, 6)), rng.standard_normal(40)
    text = "data X: matrix[n, p], y: vector[n]\nvar w: vector[p]\nminimize sum(absolute(X @ w, y))"
    problem = fw.parse(text).bind(X=X, y=y)
    few = problem.solve(method="pdhg", threads=1, tol=1e-300, max_iter=8)
    assert few.status == "tolerance_not_reached"
    # a repair takes some 20 passes: not one for each of the steps
    assert few.verify_passes < 3 * 40
