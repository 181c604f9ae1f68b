"""Blurs of pictures by matrices of few diagonals: what their systems are predicted to cost, and the method that is chosen."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import fwdsl as fw
from fwdsl.backends.interior.sizes import size_of
from fwdsl.canon.build import canonicalise
from fwdsl.canon.form import Canonical
from fwdsl.oracle import solve_oracle

TEXT = "data Y: matrix[n, n], K: matrix[n, n]\nvar X: matrix[n, n] in box(0, 1)\nminimize "


def picture(n: int, diagonals: int = 1) -> dict[str, Any]:
    rng = np.random.default_rng(4)
    Y = np.zeros((n, n))
    Y[n // 4 : n // 2, n // 3 : 2 * n // 3] = 1.0
    K = sum(np.diag(np.full(n - abs(o), 0.5 ** (1 + abs(o))), o) for o in range(-diagonals, diagonals + 1))
    return {"Y": Y + 0.05 * rng.standard_normal((n, n)), "K": np.asarray(K)}


def posed(objective: str, n: int, dense: bool = False) -> Any:
    values = picture(n)
    if dense:
        values["K"] = np.random.default_rng(5).standard_normal((n, n)) / n
    return fw.parse(TEXT + objective).bind(**values)


@pytest.mark.parametrize(
    "objective",
    ["sum_squares(K @ X @ K - Y) + 0.05 * tv(X)", "sum_squares(K @ X - Y) + 0.05 * tv(X)"],
)
def test_a_blur_by_few_diagonals_hardly_fills_the_factor(objective: str) -> None:
    near, _ = canonicalise(posed(objective, 40).instance)
    far, _ = canonicalise(posed(objective, 40, dense=True).instance)
    assert isinstance(near, Canonical) and isinstance(far, Canonical)
    assert 20.0 * min(size_of(near).seconds, size_of(near).quick) < min(size_of(far).seconds, size_of(far).quick)


def test_a_blurred_picture_is_restored_by_the_interior_point() -> None:
    problem = posed("sum_squares(K @ X @ K - Y) + 0.05 * tv(X)", 16)
    assert problem.plan().method == "interior"
    found = problem.solve(tol=1e-7)
    assert found.status == "optimal"
    assert found.objective == pytest.approx(solve_oracle(problem.instance).value, rel=1e-5)
