"""Runs along lines: their steps in plain NumPy, resumed, on threads, stopped; what the plan says."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fwdsl as fw
from fwdsl.atoms.vectors.common import nonincreasing
from fwdsl.backends.kernels.pool import Stopped
from tests.lines.programs import LINES, program
from tests.lines.test_prox import naive
from tests.runs import resumed, started, stepped

METHOD = "lines"


def bound(loss: str = "logistic", line: str = "total variation", of: str = "x", layout: str = "dense") -> fw.Problem:
    problem = program(loss, line, of, layout)
    return fw.parse(problem.text).bind(**problem.data)


CASES = [
    ("logistic", "total variation", "x"),
    ("huber", "increasing", "x"),
    ("squared", "fused lasso", "A @ x"),
    ("logistic", "total variation", "A @ x"),
]


def test_steps_on_entries_are_newtons_with_the_prox() -> None:
    """x+ minimises <f'(x), x+> + (x+ - x)' diag(max(f'', damping)) (x+ - x) / 2 + h(x+), and is taken where P falls by it."""
    problem = program("logistic", "total variation")
    run = started(fw.parse(problem.text).bind(**problem.data), METHOD)
    s, x, damping = problem.data["s"], np.zeros(14), 1e-3

    def value(z: np.ndarray) -> float:
        return float(np.logaddexp(0.0, -s * z).sum() + 0.4 * np.abs(np.diff(z)).sum())

    for _ in range(4):
        p = 1.0 / (1.0 + np.exp(s * x))
        slope = -s * p
        bend = np.maximum(p * (1.0 - p), damping * max(0.25, float((p * (1.0 - p)).max())))
        new = naive(x - slope / bend, bend, np.full(13, -0.4), np.full(13, 0.4), 1.0)
        predicted = slope @ (new - x) + 0.4 * (np.abs(np.diff(new)).sum() - np.abs(np.diff(x)).sum())
        length = 1.0
        while value(x + length * (new - x)) - value(x) > 1e-4 * length * predicted:
            length *= 0.5
        damping = max(0.1 * damping, 1e-12) if length == 1.0 else min(1.0, 4.0 * damping)
        x = x + length * (new - x)
        run.step()
        np.testing.assert_allclose(run.state.x, x, rtol=0, atol=1e-7)
        assert run.state.value == pytest.approx(value(x), rel=1e-9)


def test_steps_through_data_are_those_of_the_prox_gradient() -> None:
    problem = program("squared", "fused lasso", "A @ x")
    run = started(fw.parse(problem.text).bind(**problem.data), METHOD)
    A, b = problem.data["A"], problem.data["b"]
    for _ in range(2):
        x, old, t = run.state.x.copy(), run.state.x_old.copy(), run.state.t
        run.step()
        L = run.state.lipschitz
        y = x + (t - 1.0) / (0.5 * (1.0 + np.sqrt(1.0 + 4.0 * t * t))) * (x - old)
        v = naive(y - A.T @ (A @ y - b) / L, np.ones(14), np.full(13, -0.4), np.full(13, 0.4), 1.0 / L)
        np.testing.assert_allclose(run.state.x, np.sign(v) * np.maximum(np.abs(v) - 0.15 / L, 0.0), rtol=0, atol=1e-8)


@pytest.mark.parametrize("case", CASES)
def test_a_resumed_run_is_the_unbroken_one(case: tuple[str, str, str], tmp_path: Path) -> None:
    whole = stepped(bound(*case), METHOD, 6)
    half = resumed(stepped(bound(*case), METHOD, 3), tmp_path, {})
    for _ in range(3):
        half.step()
    for name, value in vars(whole.state).items():
        other = getattr(half.state, name)
        if isinstance(value, list):
            assert all(np.array_equal(a, b) for a, b in zip(value, other, strict=True)), name
        else:
            assert np.array_equal(value, other), name


@pytest.mark.parametrize("case", CASES)
def test_threads_change_nothing(case: tuple[str, str, str]) -> None:
    one, two = (stepped(bound(*case), METHOD, 5, threads=k).state for k in (1, 2))
    assert np.array_equal(one.x, two.x) and one.best_bound == two.best_bound


def test_a_step_that_is_stopped_leaves_the_state_as_it_was() -> None:
    run = stepped(bound("poisson", "total variation", "A @ x"), METHOD, 4)
    run.state.lipschitz *= 1e-6
    before = {name: np.copy(value) for name, value in vars(run.state).items() if isinstance(value, np.ndarray)}
    run.problem.must_stop = lambda: True
    with pytest.raises(Stopped):
        run.step()
    assert all(np.array_equal(before[name], getattr(run.state, name)) for name in before)
    run.problem.must_stop = lambda: False
    run.step()


def test_limits_are_statuses() -> None:
    problem = bound("logistic", "total variation", "A @ x")
    few = problem.solve(method=METHOD, max_iter=2, tol=1e-12)
    assert few.status == "tolerance_not_reached" and few.iterations == 2
    none = problem.solve(method=METHOD, time=0.0, tol=1e-12)
    assert none.status == "tolerance_not_reached" and none.iterations == 0
    stopped = problem.solve(method=METHOD, tol=1e-12, callback=lambda progress: False)
    assert stopped.status == "interrupted"
    assert few.dual_bound <= problem.solve(tol=1e-9).objective <= few.objective


def test_warm_starts_take_fewer_steps() -> None:
    problem = bound("squared", "fused lasso", "A @ x")
    first = problem.solve(method=METHOD, tol=1e-9)
    again = problem.solve(method=METHOD, tol=1e-9, start=first)
    assert again.status == "optimal" and again.iterations < first.iterations


@pytest.mark.parametrize("line", LINES)
def test_the_planner_takes_one_prox_where_it_is_the_answer(line: str) -> None:
    plan = bound("squared", line).plan()
    assert plan.method == METHOD and plan.why.startswith("one prox along the lines is exact: x: ")
    solution: Any = bound("squared", line).solve(tol=1e-9)
    assert solution.status == "optimal" and solution.iterations == 1


def test_nothing_is_tried_beside_one_prox() -> None:
    method = fw.backends.registry.METHODS[METHOD]
    assert method.is_unrivalled(bound("squared", "fused lasso").canonical)
    assert not method.is_unrivalled(bound("logistic", "fused lasso").canonical)
    assert not method.is_unrivalled(bound("squared", "fused lasso", "A @ x").canonical)


def test_the_planner_takes_it_for_losses_through_data() -> None:
    plan = bound("logistic", "fused lasso", "A @ x").plan()
    assert plan.method == METHOD and "total variation along a line, 13 steps" in plan.render()
    from_names = fw.parse(
        "data y: vector[n]\nvar x: vector[n]\nminimize sum(squared(x, y)) + norm1(x[1:] - x[:-1])\n"
    ).plan()
    assert METHOD in {c.name for c in from_names.candidates if c.applies}


@pytest.mark.parametrize("unit", [1e-9, 1e9])
@pytest.mark.parametrize("tail", [" + l * norm1(x[1:] - x[:-1])\n", "\nsubject to x[1:] >= x[:-1]\n"])
def test_long_signals_in_any_unit_are_certified_at_once(tail: str, unit: float) -> None:
    rng = np.random.default_rng(0)
    y = unit * (np.repeat(rng.standard_normal(200), 100) + 0.3 * rng.standard_normal(20_000))
    text = "data y: vector[n]\nparam l: positive\nvar x: vector[n]\nminimize 0.5 * sum(squared(x, y))" + tail
    solution = fw.parse(text).bind(y=y, l=2.0 * unit).solve(tol=1e-9)
    assert solution.status == "optimal" and solution.iterations == 1
    assert solution.certificate.relative_gap <= 1e-12 and solution.certificate.kind == "exact"


@pytest.mark.parametrize("loss", ["huber", "logistic", "poisson"])
def test_long_signals_with_other_losses(loss: str) -> None:
    """The multipliers are feasible as they are: no repair of 20,000 equalities has to."""
    rng = np.random.default_rng(0)
    path = np.repeat(rng.standard_normal(200), 100)
    y = {
        "huber": path + rng.standard_t(2, size=path.size),
        "logistic": np.where(rng.random(path.size) < 1.0 / (1.0 + np.exp(-2.0 * path)), 1.0, -1.0),
        "poisson": rng.poisson(np.exp(path)).astype(float),
    }[loss]
    type_ = "signs" if loss == "logistic" else "vector"
    text = f"data y: {type_}[n]\nvar x: vector[n]\nminimize sum({loss}(x, y)) + 3 * norm1(x[1:] - x[:-1])\n"
    problem = fw.parse(text).bind(y=y)
    assert problem.plan().method == METHOD
    # alone: trials of other methods count as iterations too
    solution = problem.solve(tol=1e-6, method=METHOD)
    assert solution.status == "optimal" and solution.iterations <= 40


@pytest.mark.parametrize(
    ("loss", "scale", "shift"),
    [
        ("sum(squared(x, y))", 1.0, 0.0),
        ("sum(squared(4 * x, y))", 4.0, 0.0),
        ("sum(squared(-0.5 * x, y))", -0.5, 0.0),
        ("sum(squared(x, y)) + sum(squared(x, y))", 1.0, 0.0),
        ("sum(squared(x, y)) + 3 * sum(x)", 1.0, -1.5),
    ],
)
def test_one_prox_of_an_order_is_certified_whatever_its_losses_see(loss: str, scale: float, shift: float) -> None:
    """min |c x - y|^2 + 3 sum(x) over rising x is at the pooled means of (y + shift) / c, and its multipliers leave no gap."""
    y = np.random.default_rng(5).standard_normal(300) + np.linspace(0.0, 1.0, 300)
    text = f"data y: vector[n]\nvar x: vector[n]\nminimize {loss}\nsubject to order: x[1:] >= x[:-1]\n"
    solution = fw.parse(text).bind(y=y).solve(threads=1)
    assert (solution.method, solution.status, solution.certificate.kind) == (METHOD, "optimal", "exact")
    assert solution.gap <= 1e-12
    aim = (y + shift) / scale
    np.testing.assert_allclose(solution["x"], nonincreasing(aim[::-1])[::-1], atol=1e-12)
    losses = loss.count("squared")
    slope = losses * 2.0 * scale * (scale * solution["x"] - y) - 2.0 * shift
    np.testing.assert_allclose(np.abs(solution.dual["order"]), np.abs(np.cumsum(slope)[:-1]), atol=1e-10)


@pytest.mark.parametrize("loss", ["squared_hinge", "logistic"])
@pytest.mark.parametrize("weight", [0.1, 10.0])
def test_a_free_intercept_beside_lines_within_bounds_is_certified(loss: str, weight: float) -> None:
    """The slope of the intercept is rounding at the optimum, which is no reason to move multipliers that are met."""
    rng = np.random.default_rng(1)
    X = rng.standard_normal((200, 50))
    y = np.sign(X[:, :8] @ rng.standard_normal(8) + rng.standard_normal(200))
    text = (
        "data X: matrix[n, p], y: signs[n]\nparam c: positive\nvar w: vector[p], b: real\n"
        f"minimize sum({loss}(X @ w + b, y)) + c * norm1(w[1:] - w[:-1])\nsubject to w >= -0.2, w <= 0.2\n"
    )
    problem = fw.parse(text).bind(X=X, y=y, c=weight)
    found = problem.solve(method=METHOD, max_iter=100)
    assert found.status == "optimal"
    assert found.objective == pytest.approx(problem.solve(method="interior").objective, rel=3e-6)


@pytest.mark.parametrize("seed", [0, 3, 8])
def test_a_large_intercept_beside_bounds_that_hold_is_met_at_x(seed: int) -> None:
    """The slope is more than rounding. Multipliers that add up to 0 along all of w would meet it too, but bounds balance w."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((40, 12))
    y = X @ np.repeat(rng.standard_normal(4), 4)[:12] + 0.3 * rng.standard_normal(40) + 100.0
    text = (
        "data X: matrix[n, p], y: vector[n]\nvar w: vector[p], b: real\n"
        "minimize mean(squared(X @ w + b, y)) + 0.1 * norm1(w[1:] - w[:-1])\nsubject to w >= -1, w <= 1\n"
    )
    problem = fw.parse(text).bind(X=X, y=y)
    found = problem.solve(method=METHOD, max_iter=100)
    assert found.status == "optimal"
    assert found.objective == pytest.approx(problem.solve(method="interior").objective, rel=3e-6)
