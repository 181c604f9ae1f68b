"""The planner looks at as little as it can, and chooses as if it looked at everything."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

import fwdsl as fw
from fwdsl.backends.interior.method import Interior
from fwdsl.backends.registry import AUTOMATIC, METHODS
from fwdsl.plan.fitted import NAMES, features

HEAD = "data X: matrix[n, p], y: vector[n]\nvar w: vector[p]\n"
BODIES = (
    "minimize 1/2 * mean(squared(X @ w, y)) + 0.1 * norm1(w)\n",
    "minimize mean(absolute(X @ w, y)) + 0.1 * norm1(w)\n",
    "minimize mean(huber(X @ w, y)) + 0.01 * sum_squares(w)\n",
    "minimize log_sum_exp(X @ w - y) + 0.01 * sum_squares(w)\n",
    "minimize mean(squared(X @ w, y))\nsubject to w in simplex(1)\n",
    "minimize mean(squared(X @ w, y)) + norm1(w - 1)\n",
    "minimize sum_squares(w - 1) + 0.3 * norm1(w[1:] - w[:-1])\n",
)
SIZES = ((20, 3), (200, 40), (60, 300))


def bound(body: str, n: int, p: int) -> fw.Problem:
    rng = np.random.default_rng(n)
    return fw.parse(HEAD + body).bind(X=rng.standard_normal((n, p)), y=rng.standard_normal(n))


@pytest.mark.parametrize("body", BODIES)
@pytest.mark.parametrize(("n", "p"), SIZES)
def test_the_choice_is_the_least_predicted_time_of_all(body: str, n: int, p: int) -> None:
    plan = bound(body, n, p).plan()
    chosen = plan.method, plan.why
    able = [c for c in plan.weighed if c.applies and not c.by_name_only]
    assert plan.chosen in able
    if chosen[1] == "the least predicted time":
        timed = [c for c in able if c.estimate is not None]
        assert chosen[0] == min(timed, key=lambda c: c.estimate.seconds if c.estimate else 0.0).name
    else:
        assert METHODS[chosen[0]].may_settle


@pytest.mark.parametrize("body", BODIES)
@pytest.mark.parametrize(("n", "p"), SIZES)
@pytest.mark.parametrize("tol", [1e-1, 1e-3, 1e-9])
def test_no_prediction_is_below_the_least_of_its_method(body: str, n: int, p: int, tol: float) -> None:
    form = bound(body, n, p).canonical
    for name in AUTOMATIC:
        method = METHODS[name]
        told = form.at_hand(method.works_on)
        by_name = any(c.name == name and c.applies for c in bound(body, n, p).plan().weighed)
        if told is not None and by_name:
            estimate = method.estimate(told, tol)
            assert estimate is None or estimate.seconds >= method.least(told) >= method.least_seconds


def test_a_method_that_cannot_be_chosen_is_looked_at_when_somebody_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[object] = []
    monkeypatch.setattr(Interior, "requires_values", classmethod(lambda cls, form: asked.append(form) or ("no",)))
    problem = bound(BODIES[0], 100, 10)
    solution = problem.solve()
    assert solution.status == "optimal" and solution.method == "coordinate_descent"
    assert not asked
    assert {c.name: c.reasons for c in solution.plan.weighed}["interior"] == ("no",)
    assert len(asked) == 1


def test_rows_of_smooth_losses_count_before_their_conic_form_is_written_down(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(5)
    n, p, k = 3000, 4, 10
    text = "data X: matrix[n, p], y: labels[n, k]\nvar W: matrix[p, k]\nminimize mean(softmax(X @ W, y)) + 0.01 * norm1(W)\n"
    problem = fw.parse(text).bind(X=rng.standard_normal((n, p)), y=rng.integers(k, size=n))
    asked: list[object] = []
    monkeypatch.setattr(Interior, "requires_values", classmethod(lambda cls, form: asked.append(form) or ()))
    assert problem.plan().method == "coordinate_descent" and not asked


@pytest.mark.parametrize("loss", ["squared_hinge", "hinge"])
def test_kernel_machines_work_on_rows_of_their_gram_matrix(loss: str) -> None:
    text = (
        "data X: matrix[n, p], y: signs[n]\nlet Phi = rbf(X, gamma=0.5)\nvar w: vector[dim(Phi)], b: real\n"
        f"minimize mean({loss}(Phi @ w + b, y)) + 0.01 * sum_squares(w)\n"
    )
    rng = np.random.default_rng(3)
    X = rng.standard_normal((40, 3))
    problem = fw.parse(text).bind(X=X, y=np.sign(X[:, 0] + 0.3 * rng.standard_normal(40)))
    assert problem.plan().method == "smo"
    by_rows = problem.solve(tol=1e-8)
    assert by_rows.status == "optimal"
    other = problem.solve(tol=1e-8, method="newton" if loss == "squared_hinge" else "pdhg")
    assert by_rows.objective == pytest.approx(other.objective, rel=1e-6)


@pytest.mark.parametrize(("C", "outweighs"), [(1e-6, True), (1e3, False)])
def test_a_ridge_that_outweighs_wide_data_counts_as_the_last_that_was_fitted_to(C: float, outweighs: bool) -> None:
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((30, 1_600)), np.sign(rng.standard_normal(30))
    text = (
        "data X: matrix[n, p], y: signs[n]\nparam C: positive\nvar w: vector[p]\n"
        "minimize sum_squares(w) / 2 + C * sum(squared_hinge(X @ w, y))"
    )
    found = dict(zip(NAMES, features(fw.parse(text).bind(X=X, y=y, C=C).canonical), strict=True))
    loose, of_wide = (found[n] for n in ("squared data over the ridge", "the same, no norms and sets, many unknowns"))
    assert (loose < 0.0) == outweighs
    assert of_wide == (0.0 if outweighs else loose)


def test_the_interior_point_is_ruled_out_before_its_conic_forms_are_written_down(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[object] = []
    monkeypatch.setattr(Interior, "requires_values", classmethod(lambda cls, form: asked.append(form) or ("no",)))
    problem = bound("minimize mean(squared(X @ w, y))\nsubject to w >= 0\n", 400, 600)
    assert problem.plan().method not in ("interior", "pdhg")
    assert not asked


@pytest.mark.parametrize(("of", "is_cone"), [("psd", True), ("nuclear_ball(2)", False), ("spectrahedron(2)", True)])
def test_sets_in_the_cone_of_matrices_are_told_from_others(of: str, is_cone: bool) -> None:
    X, y = np.random.default_rng(0).standard_normal((30, 4)), np.ones(30)
    text = f"data X: matrix[n, p], y: vector[n]\nvar S: symmetric[p] in {of}\nminimize mean(squared(quad(X, S), y))\n"
    found = dict(zip(NAMES, features(fw.parse(text).bind(X=X, y=y).canonical), strict=True))
    assert found["cones of matrices"] == float(is_cone)


def test_a_plan_is_made_once_for_options_that_it_does_not_hang_on() -> None:
    problem = fw.parse(f"{HEAD}param mu: positive = 0.1\n{BODIES[0].replace('0.1', 'mu')}")
    rng = np.random.default_rng(1)
    problem = problem.bind(X=rng.standard_normal((20, 3)), y=rng.standard_normal(20))
    plan = problem.plan(threads=1)
    assert problem.plan(threads=1, time=9.0, max_iter=50, seed=2, gap="absolute") is plan
    for other in ({"tol": 1e-3}, {"threads": 2}, {"method": ("apg", "pdhg")}, {"memory": "8GB"}):
        assert problem.plan(**{"threads": 1, **other}) is not plan
    assert problem.bind(mu=0.2).plan(threads=1) is not plan


@pytest.mark.parametrize(
    "declared", ["matrix[n, n] in birkhoff", "matrix[n, n] in nuclear_ball(2)", "matrix[n, n] in rows(simplex(1))"]
)
def test_a_linear_objective_is_given_to_the_method_that_takes_the_vertex_it_points_to(declared: str) -> None:
    C = np.random.default_rng(3).standard_normal((12, 12))
    text = f"data C: matrix[n, n]\nvar X: {declared}\nminimize sum(C * X)"
    problem = fw.parse(text).bind(C=C)
    solution = problem.solve(threads=1)
    assert problem.plan().method == solution.method == "frank_wolfe"
    assert solution.status == "optimal"
    assert solution.iterations <= 2
    if "birkhoff" in declared:
        assert solution.objective == pytest.approx(C[linear_sum_assignment(C)].sum(), rel=1e-9)
    # with squares beside it the gap falls like 1/k
    bent = fw.parse(f"{text} + sum_squares(X)").bind(C=C)
    assert bent.plan().method != "frank_wolfe"
