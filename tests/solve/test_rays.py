"""Multipliers that are tried as proofs that no point meets the constraints, and directions that are not tried at all."""

from __future__ import annotations

import numpy as np
import pytest

import fwdsl as fw
from fwdsl.backends.problem import PreparedProblem
from fwdsl.backends.rays import dual_rays, is_bounded_below

TEXT = "data A: matrix[m, n], b: vector[m]\nvar x: vector[n]\nminimize norm1(x)\nsubject to norm2(A @ x - b) <= 0.4\n"


def tried(A: np.ndarray, text: str = TEXT) -> int:
    """The number of multipliers that are tried from a direction along which all of them move."""
    rng = np.random.default_rng(1)
    kernels = PreparedProblem(fw.parse(text).bind(A=A, b=rng.standard_normal(A.shape[0])).canonical, 1, 0)
    direction = [rng.standard_normal(t.map.rows) for t in kernels.canonical.terms]
    return len(list(dual_rays(kernels, direction, None, lambda: False)))


def test_none_are_tried_where_0_alone_meets_their_equalities() -> None:
    A = np.random.default_rng(0).standard_normal((6, 15))
    assert tried(A) == 0
    # the same row twice, more rows than unknowns, and unknowns that a set holds
    assert tried(np.concatenate([A, A[:1]])) > 0
    assert tried(A.T.copy()) > 0
    assert tried(A, TEXT.replace("vector[n]\nminimize", "vector[n] in nonnegative\nminimize")) > 0


@pytest.mark.parametrize("extra", [0.0, 1.0])
def test_rows_that_see_nothing_are_left_out_where_they_are_met(extra: float) -> None:
    A = np.random.default_rng(0).standard_normal((6, 15))
    A[3] = 0.0
    text = TEXT.replace("norm2(A @ x - b) <= 0.4", f"abs(A @ x) <= 2, A @ x <= {1.0 - 2.0 * extra}")
    text = text.replace("abs(A @ x) <= 2, ", "").replace(", b: vector[m]", "")
    kernels = PreparedProblem(fw.parse(text).bind(A=A).canonical, 1, 0)
    direction = [np.ones(t.map.rows) for t in kernels.canonical.terms]
    assert bool(list(dual_rays(kernels, direction, None, lambda: False))) == (extra > 0.0)


def test_no_ray_is_looked_for_where_the_objective_is_bounded_below(monkeypatch: pytest.MonkeyPatch) -> None:
    """The search takes steps along the constraints, which cost more than the run did."""
    rng = np.random.default_rng(0)
    y = np.maximum(np.sin(np.arange(400) / 20.0), 0.0) + 0.1 * rng.standard_normal(400)
    text = "data y: vector[n]\nvar x: vector[n] in nonnegative\nminimize sum_squares(x - y) + 1000 * sum_squares(diff(x, 2))"

    def refused(*_: object) -> None:
        raise AssertionError("a ray was looked for")

    monkeypatch.setattr("fwdsl.solve.no_solution.primal_rays", refused)
    fw.parse(text).bind(y=y).solve(method="apg", max_iter=100, tol=1e-12)


@pytest.mark.parametrize(
    ("text", "bounded"),
    [
        ("var x: vector[n]\nminimize sum_squares(x - y)", True),
        ("var x: vector[n] in nonnegative\nminimize norm1(x - y) + entropy(x)", True),
        ("var x: vector[n]\nminimize sum(logistic(x, s))", True),
        ("var x: vector[n]\nminimize sum(x)", False),
        ("var x: vector[n]\nminimize -sum(log(x))", False),
        ("var x: vector[n]\nminimize sum_squares(x - y) + dot(y, x)", False),
    ],
)
def test_what_is_known_to_be_bounded_below(text: str, bounded: bool) -> None:
    known = {"y": np.ones(3), "s": np.array([1.0, -1.0, 1.0])}
    bound = fw.parse("data y: vector[n], s: signs[n]\n" + text).bind(**known)
    assert is_bounded_below(PreparedProblem(bound.canonical.dense, 1)) is bounded
