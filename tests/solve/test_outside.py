"""Programs whose objective blows up where there is no point: infeasible ones are proven by their constraints alone, and those that only touch the
objective's domain end without a proof."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import fwdsl as fw
from fwdsl.backends.rays import dual_rays
from tests.runs import started

DATA = "data A: matrix[3, 2], b: vector[3]\nvar x: vector[2]\n"
CURVED = "\nsubject to\n    geo_mean(x) >= 1\n    sum(square(x)) <= x[0]\n    entropy(x) <= -0.1\n"
VALUES: dict[str, Any] = {
    "A": np.array([[1.2, -0.39], [0.31, -2.45], [-0.62, 1.22]]),
    "b": np.array([-1.41, 0.21, 1.21]),
}


@pytest.mark.parametrize("method", ["auto", "interior"])
@pytest.mark.parametrize(
    ("text", "values"),
    [
        (DATA + "minimize max(A @ x - b)" + CURVED, VALUES),
        (DATA + "minimize max(A @ x - b) + 10 * sum(poisson(A @ x, abs(b)))" + CURVED, VALUES),
        ("var x: vector[5]\nminimize sum(exp(x))\nsubject to\n    norm1(x - 1) <= 0.5\n    log_sum_exp(x) <= 0\n", {}),
    ],
)
def test_constraints_that_contradict_each_other_are_proven_whatever_the_objective(
    text: str, values: dict[str, Any], method: str
) -> None:
    solution = (
        fw.parse(text)
        .bind(**values)
        .solve(method=method, max_iter=None if method == "auto" else 40, time=60, threads=1)
    )
    assert solution.status == "infeasible", solution.reason
    assert "cannot hold together" in solution.reason


def test_polished_multipliers_leave_terms_without_a_domain_at_zero() -> None:
    """The slopes of a largest entry are in a simplex, without 0: moved into it they would contradict nothing."""
    run = started(fw.parse(DATA + "minimize max(A @ x - b)" + CURVED).bind(**VALUES), "interior")
    found = run.feasibility()
    assert found is not None
    rays = list(dual_rays(run.problem, found[1], None, lambda: False))
    assert rays
    for ray in rays:
        assert not ray[0].any()
        assert all(y.any() for y in ray[1:])


@pytest.mark.parametrize(
    "text",
    [
        "var x: real\nminimize -log(x)\nsubject to x <= 0\n",
        "var x: real\nminimize -log(x) + square(x)\nsubject to x <= 0\n",
        "var x: real\nminimize -log1p(x)\nsubject to x <= -1\n",
        "var x: vector[3]\nminimize sum(inv_pos(x))\nsubject to x <= 0\n",
        "var x: real\nminimize power(x, -1)\nsubject to x <= 0\n",
        "var x: vector[2]\nminimize -sum(log(x)) + sum(x)\nsubject to x[0] == 0\n",
        "var X: symmetric[2]\nminimize -log_det(X)\nsubject to X[0, 0] <= 0\n",
        "var X: symmetric[2]\nminimize tr_inv(X)\nsubject to X[0, 0] <= 0\n",
    ],
)
def test_constraints_that_only_touch_the_domain_end_soon_and_prove_nothing(text: str) -> None:
    solution = fw.parse(text).solve(time=120, threads=1)
    assert solution.status == "tolerance_not_reached"
    assert "no further progress" in solution.reason or "limits of rounding" in solution.reason
    assert solution.iterations < 10_000
