"""Losses of a vector of predictions that are no sum over samples: methods over samples say so, and the others agree."""

from __future__ import annotations

import numpy as np
import pytest

import fwdsl as fw
from fwdsl.backends.registry import METHODS


@pytest.mark.parametrize("where", ["", " in l1_ball(1)"])
@pytest.mark.parametrize("beside", ["", " + 0.05 * norm1(w)", " + 0.05 * sum_squares(w)"])
def test_every_method_takes_log_sum_exp_or_says_why_not(beside: str, where: str) -> None:
    rng = np.random.default_rng(0)
    text = f"data X: matrix[n, p], y: vector[n]\nvar w: vector[p]{where}\nminimize log_sum_exp(X @ w - y){beside}"
    bound = fw.parse(text).bind(X=rng.standard_normal((30, 9)), y=rng.standard_normal(30))
    best = bound.solve(tol=1e-8, threads=1)
    assert best.status == "optimal"
    candidates = bound.plan().candidates
    assert {c.name for c in candidates} == set(METHODS)
    refused = [c for c in candidates if c.reasons]
    assert {"svrg", "subgradient", "coordinate_descent", "gsfw"} <= {c.name for c in refused}
    for c in candidates:
        if not c.reasons:
            found = bound.solve(tol=1e-4, threads=1, method=c.name, max_iter=200)
            assert found.objective >= best.objective - 1e-6 * abs(best.objective)
