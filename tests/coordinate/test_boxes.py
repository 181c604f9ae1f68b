"""Coordinate descent on boxes, ended by an active set: perfect fits, columns that depend on each other, all units, norms on one side of 0."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import lsq_linear, nnls

import fwdsl as fw
from fwdsl.backends.coordinate import costs, model
from fwdsl.oracle import solve_oracle
from tests.problems import LAYOUTS, laid_out
from tests.runs import resumed, stepped

METHOD = "coordinate_descent"
NNLS = "data A: matrix[n, d], b: vector[n]\nvar x: vector[d] in nonnegative\nminimize sum(squared(A @ x, b))\n"
BOX = "data A: matrix[n, d], b: vector[n]\nvar x: vector[d] in {}{}\nminimize mean(squared(A @ x{}, b)){}\n"


def blur(n: int, d: int) -> np.ndarray:
    """Columns that hardly differ from their neighbours."""
    return np.asarray(np.exp(-np.square((np.linspace(0, 1, n)[:, None] - np.linspace(0, 1, d)) / 0.06)))


def check(A: np.ndarray, b: np.ndarray, layout: str = "dense", **options: object) -> fw.Solution:
    found = fw.parse(NNLS).bind(A=laid_out(A, layout), b=b).solve(method=METHOD, max_iter=200, **options)
    assert found.status == "optimal", (found.relative_gap, found.reason)
    least = nnls(A, b, maxiter=10_000)[1] ** 2
    assert found.objective <= least * (1.0 + 2e-6) + 2e-6 * found.certificate.scale
    return found


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("shape", [(40, 160), (40, 40), (15, 300)])
def test_perfect_fits(shape: tuple[int, int], layout: str) -> None:
    rng = np.random.default_rng(shape)
    A = np.where(rng.random(shape) < 0.6, rng.standard_normal(shape), 0.0)
    found = check(A, A @ np.maximum(rng.standard_normal(shape[1]), 0.0), layout)
    assert found.iterations <= 30
    check(A, A[:, 3], layout)


@pytest.mark.parametrize("shape", [(1, 1), (1, 9), (9, 1), (2, 3)])
def test_the_least_sizes(shape: tuple[int, int]) -> None:
    rng = np.random.default_rng(shape)
    for _ in range(5):
        check(rng.standard_normal(shape), rng.standard_normal(shape[0]))


@pytest.mark.parametrize("seed", range(4))
def test_columns_that_depend_on_each_other(seed: int) -> None:
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((30, 50))
    low = np.abs(rng.standard_normal((60, 5))) @ np.abs(rng.standard_normal((5, 100)))
    for B in (np.hstack([A, A]), np.hstack([A, 0.0 * A, -A]), low):
        weights = np.maximum(rng.standard_normal(B.shape[1]), 0.0)
        for b in (B @ weights, B @ weights + rng.standard_normal(len(B))):
            check(B, b)


@pytest.mark.parametrize("unit", [1e-9, 1e9])
def test_units_and_columns_of_all_sizes(unit: float) -> None:
    rng = np.random.default_rng(8)
    A = rng.standard_normal((20, 60))
    for b in (rng.standard_normal(20), A @ np.maximum(rng.standard_normal(60), 0.0)):
        check(unit * A, b)
        check(A * 10.0 ** rng.uniform(-9.0, 9.0, 60), b)


def test_a_solution_at_zero() -> None:
    rng = np.random.default_rng(3)
    found = check(np.abs(rng.standard_normal((20, 50))), -rng.random(20))
    assert not found["x"].any()


def test_smooth_columns_end_in_few_steps() -> None:
    rng = np.random.default_rng(5)
    for shape in ((60, 120), (60, 60)):
        A = blur(*shape)
        check(A, A @ (np.arange(shape[1]) % 29 == 0) + 1e-3 * rng.standard_normal(shape[0]))


@pytest.mark.parametrize(
    ("set_", "lo", "hi"), [("box(-0.2, 0.4)", -0.2, 0.4), ("box(0, 1)", 0.0, 1.0), ("box(-inf, 0.1)", -np.inf, 0.1)]
)
@pytest.mark.parametrize("intercept", [False, True])
def test_boxes_and_intercepts(set_: str, lo: float, hi: float, intercept: bool) -> None:
    rng = np.random.default_rng(6)
    A = rng.standard_normal((25, 80))
    b = A @ np.clip(rng.standard_normal(80), lo, hi) + (3.0 if intercept else 0.0)
    text = BOX.format(set_, ", c: real" if intercept else "", " + c" if intercept else "", "")
    found = fw.parse(text).bind(A=A, b=b).solve(method=METHOD, max_iter=200)
    assert found.status == "optimal", found.reason
    B = np.hstack([A, np.ones((25, 1))]) if intercept else A
    ends = np.append(np.full(80, lo), -np.inf)[: B.shape[1]], np.append(np.full(80, hi), np.inf)[: B.shape[1]]
    least = 2.0 * lsq_linear(B, b, ends, method="bvls").cost / 25.0
    assert found.objective == pytest.approx(least, abs=2e-6 * found.certificate.scale)


@pytest.mark.parametrize("penalty", [" + {} * norm1(x)", " + {} * norm1(x) + 0.01 * sum_squares(x)", " + {} * sum(x)"])
@pytest.mark.parametrize("weight", [1.0, 0.03, 1e-4])
def test_norms_are_linear_on_one_side_of_zero(penalty: str, weight: float) -> None:
    pytest.importorskip("cvxpy")
    rng = np.random.default_rng(7)
    A = np.abs(rng.standard_normal((30, 70)))
    b = A @ (rng.random(70) * (rng.random(70) < 0.2)) + 0.1 * rng.standard_normal(30)
    for set_ in ("nonnegative", "box(-inf, 0)"):
        sign = 1.0 if set_ == "nonnegative" else -1.0
        cost = penalty.format(sign * weight if "sum(x)" in penalty else weight)
        bound = fw.parse(BOX.format(set_, "", "", cost)).bind(A=A, b=sign * b)
        found = bound.solve(method=METHOD, max_iter=200)
        assert found.status == "optimal", found.reason
        best = solve_oracle(bound.instance)
        assert found.objective == pytest.approx(best.value, rel=1e-5, abs=10.0 * best.residual)


def test_the_active_set_finds_what_epochs_find(monkeypatch: pytest.MonkeyPatch) -> None:
    """From the first epoch on, and never: the same values, on data of both shapes."""
    rng = np.random.default_rng(9)
    for shape in ((60, 30), (30, 60)):
        A, b = rng.standard_normal(shape), rng.standard_normal(shape[0])
        values = []
        for patience in (0, 1_000_000):
            monkeypatch.setattr(model, "PATIENCE", patience)
            monkeypatch.setattr(model, "BEYOND", 1e9)
            values.append(check(A, b, inner="gram", tol=1e-9).objective)
        assert values[0] == pytest.approx(values[1], rel=1e-7)


def test_columns_at_an_end_make_room_in_the_working_set(monkeypatch: pytest.MonkeyPatch) -> None:
    """No working set has more columns than a Gram matrix may have, and the part that is kept is that of the columns that stay."""
    monkeypatch.setattr(costs, "MOST_GRAM", 60)
    monkeypatch.setattr(model, "PATIENCE", 0)
    rng = np.random.default_rng(10)
    A = rng.standard_normal((25, 400))
    b = A @ np.maximum(rng.standard_normal(400), 0.0)
    problem = fw.parse(NNLS).bind(A=A, b=b)
    found = problem.solve(method=METHOD, max_iter=200)
    assert found.status == "optimal", found.reason
    for steps in range(1, found.iterations + 1):
        state = stepped(problem, METHOD, steps).state
        if len(state.gram):
            assert len(state.gram) <= 60
            # the objective of the sum of squares has twice the products of the columns
            np.testing.assert_allclose(state.gram, 2.0 * A[:, state.work].T @ A[:, state.work], atol=1e-9)


def test_a_resumed_run_is_the_unbroken_one(tmp_path: Path) -> None:
    rng = np.random.default_rng(11)
    A = rng.standard_normal((20, 90))
    problem = fw.parse(NNLS).bind(A=A, b=rng.standard_normal(20))
    whole, half = stepped(problem, METHOD, 4), resumed(stepped(problem, METHOD, 2), tmp_path, {})
    half.step()
    half.step()
    for name in ("x", "z", "gram", "work", "value", "best_bound", "dual"):
        assert np.array_equal(getattr(whole.state, name), getattr(half.state, name)), name


def test_what_is_on_a_box() -> None:
    rng = np.random.default_rng(12)
    A, b = rng.standard_normal((6, 9)), rng.standard_normal(6)

    def is_on_box(set_: str, penalty: str = "", loss: str = "squared") -> bool:
        text = BOX.format(set_, "", "", penalty).replace("squared", loss)
        return costs.is_on_box(fw.parse(text).bind(A=A, b=b).canonical)

    assert is_on_box("nonnegative") and is_on_box("box(-1, 1)") and is_on_box("box(-inf, 0)", " + norm1(x)")
    assert not is_on_box("box(-1, 1)", " + norm1(x)") and not is_on_box("nonnegative", loss="huber")


def test_a_weak_norm_is_planned_by_the_active_set() -> None:
    """Nothing is left to sweep for: the prediction is at most four times that without a norm."""
    rng = np.random.default_rng(13)
    A, b = np.abs(rng.standard_normal((40, 120))), rng.random(40)
    weak = fw.parse(BOX.format("nonnegative", "", "", " + 1e-5 * norm1(x)")).bind(A=A, b=b).canonical
    plain = fw.parse(BOX.format("nonnegative", "", "", "")).bind(A=A, b=b).canonical
    assert costs.estimate(weak, 1e-6).passes <= 4.0 * costs.estimate(plain, 1e-6).passes
