"""The Euclidean norm of predictions by coordinate descent: square root lassos against cvxpy, the formulas, perfect fits, units, resumed runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fwdsl as fw
from fwdsl.backends.coordinate.length import Length
from fwdsl.oracle import solve_oracle
from tests.problems import LAYOUTS, laid_out
from tests.runs import resumed, started, stepped

pytest.importorskip("cvxpy")

METHOD = "coordinate_descent"
INNER: tuple[dict[str, Any], ...] = ({}, {"inner": "residual"}, {"inner": "gram"})
HEAD = (
    "data A: matrix[n, d], b: vector[n], groups: index[d] of m\nparam l: positive\nvar x: vector[d]{on}{c}\nminimize "
)
TEXTS = {
    "plain": ("", "norm2(A @ x - b) + l * norm1(x)"),
    "weighted": ("", "3 * norm2(2 * (A @ x) - b) + l * norm1(x) + 0.1 * sum(x)"),
    "intercept": ("", "norm2(A @ x + c - b) + l * norm1(x)"),
    "elastic": ("", "norm2(A @ x + c - b) + l * norm1(x) + 0.3 * sum_squares(x)"),
    "ridge": ("", "norm2(A @ x - b) + 3 * sum_squares(x)"),
    "groups": ("", "norm2(A @ x - b) + l * group_norm(x, groups)"),
    "nonnegative": (" in nonnegative", "norm2(A @ x - b) + l * norm1(x)"),
    "box": (" in box(-0.3, 0.4)", "norm2(A @ x + c - b)"),
    "ball": (" in l1_ball(1.5)", "norm2(A @ x - b)"),
    "ball with a ridge": (" in l1_ball(1.5)", "norm2(A @ x + c - b) + 0.2 * sum_squares(x)"),
}


def data(n: int = 40, d: int = 60, seed: int = 0) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    A = np.where(rng.random((n, d)) < 0.7, rng.standard_normal((n, d)), 0.0)
    b = A[:, :4] @ np.array([2.0, -1.0, 0.5, 1.0]) + 0.3 * rng.standard_normal(n) + 1.0
    return {"A": A, "b": b, "groups": np.arange(d) // 4, "l": 2.0}


def bound(kind: str, **own: Any) -> fw.Problem:
    on, objective = TEXTS[kind]
    text = HEAD.format(on=on, c=", c: real" if "+ c" in objective else "") + objective + "\n"
    return fw.parse(text).bind(**(data() | own))


@pytest.mark.parametrize("inner", INNER)
@pytest.mark.parametrize("kind", TEXTS)
@pytest.mark.parametrize("shape", [(40, 60), (60, 20)])
def test_every_penalty_and_set(kind: str, shape: tuple[int, int], inner: dict[str, Any]) -> None:
    problem = bound(kind, **data(*shape))
    best = solve_oracle(problem.instance).value
    s = problem.solve(method=METHOD, tol=1e-7, **inner)
    assert s.status == "optimal"
    assert s.objective == pytest.approx(best, rel=2e-6)
    assert s.dual_bound <= best + 1e-6 * abs(best)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_layout(layout: str) -> None:
    known = data()
    best = solve_oracle(bound("intercept").instance).value
    s = bound("intercept", A=laid_out(known["A"], layout)).solve(method=METHOD, tol=1e-7)
    assert s.status == "optimal" and s.objective == pytest.approx(best, rel=2e-6)


@pytest.mark.parametrize("penalty", ["norm21(X)", "norm1(X)"])
def test_a_matrix_of_predictions(penalty: str) -> None:
    rng = np.random.default_rng(2)
    A, W = rng.standard_normal((30, 40)), np.zeros((40, 3))
    W[:4] = 2.0
    text = (
        f"data A: matrix[n, d], B: matrix[n, k]\nvar X: matrix[d, k]\nminimize norm_fro(A @ X - B) + 1.5 * {penalty}\n"
    )
    problem = fw.parse(text).bind(A=A, B=A @ W + rng.standard_normal((30, 3)))
    best = solve_oracle(problem.instance).value
    for inner in INNER:
        s = problem.solve(method=METHOD, tol=1e-7, **inner)
        assert s.status == "optimal" and s.objective == pytest.approx(best, rel=2e-6)


def test_the_planner_chooses_it() -> None:
    rng = np.random.default_rng(1)
    A = rng.standard_normal((100, 300))
    problem = bound("plain", A=A, b=A[:, :3].sum(axis=1) + rng.standard_normal(100), groups=np.arange(300) // 4, l=4.0)
    assert problem.plan().method == METHOD


@pytest.mark.parametrize("unit", [1e-9, 1e9])
def test_units_of_data_do_not_matter(unit: float) -> None:
    known = data()
    s = bound("intercept").solve(method=METHOD, tol=1e-7)
    of_b = bound("intercept", b=unit * known["b"]).solve(method=METHOD, tol=1e-7)
    of_all = bound("intercept", A=unit * known["A"], b=unit * known["b"], l=2.0 * unit).solve(method=METHOD, tol=1e-7)
    for other in (of_b, of_all):
        assert other.status == "optimal" and other.objective == pytest.approx(unit * s.objective, rel=1e-6)


@pytest.mark.parametrize("inner", INNER)
def test_a_perfect_fit_is_certified(inner: dict[str, Any]) -> None:
    """With a weak penalty the optimum fits more unknowns than samples exactly: a basis pursuit. The kink at a residual of 0 is no trap."""
    problem = bound("plain", l=0.05)
    best = solve_oracle(problem.instance).value
    s = problem.solve(method=METHOD, tol=1e-5, **inner)
    assert s.status == "optimal" and s.objective == pytest.approx(best, rel=2e-5)
    assert np.linalg.norm(problem.instance.values["A"] @ s["x"] - problem.instance.values["b"]) <= 1e-4


def test_no_penalty_at_all() -> None:
    """Least squares without its square; and a target of 0, at whose fit the norm has no slope."""
    known = data(60, 20)
    A, b = known["A"], known["b"]
    text = "data A: matrix[n, d], b: vector[n]\nvar x: vector[d]\nminimize norm2(A @ x - b)\n"
    s = fw.parse(text).bind(A=A, b=b).solve(method=METHOD, tol=1e-9)
    least = np.linalg.lstsq(A, b, rcond=None)[0]
    assert s.status == "optimal" and s.objective == pytest.approx(np.linalg.norm(A @ least - b), rel=1e-8)
    s = fw.parse(text).bind(A=A, b=0.0 * b).solve(method=METHOD)
    assert s.status == "optimal" and s.objective == 0.0


def test_the_formulas() -> None:
    """The smoothed norm lies between the norm and c level / 2 beyond it, beneath its parabola; its slope and its Hessian are those of differences."""
    rng = np.random.default_rng(0)
    A, z, d = rng.standard_normal((5, 3)), rng.standard_normal(5), rng.standard_normal(3)
    for level in (0.3, 1e3):
        f = Length(2.0, z)
        f.level = level
        y, h, at = np.empty(5), np.empty(5), np.empty(5)
        value = f.value_gradient(z, y)
        assert f.value(z) == pytest.approx(2.0 * np.linalg.norm(z))
        assert f.value(z) <= value * (1.0 + 1e-12) and value <= f.value(z) + level + 1e-9
        f.curvature(z, h)
        step = 1e-5 * (A @ d)
        ahead, behind = f.value_gradient(z + step, at), f.value_gradient(z - step, np.empty(5))
        assert (ahead - behind) / 2e-5 == pytest.approx(float(y @ (A @ d)), rel=1e-5)
        bent = f.bent(A.T @ A, A.T @ y, z, 0.0)
        assert (at - y) @ (A @ d) / 1e-5 == pytest.approx(d @ bent @ d, rel=1e-3)
        np.testing.assert_allclose(f.bent(A.T @ A, A.T @ y, z, 1.0), h[0] * (A.T @ A), rtol=1e-12)
        for other in rng.standard_normal((20, 5)):
            v = other - z
            assert f.value_gradient(other, at) <= value + y @ v + 0.5 * h[0] * (v @ v) + 1e-12


@pytest.mark.parametrize("inner", INNER)
def test_a_resumed_run_goes_on_as_an_unbroken_one(tmp_path: Path, inner: dict[str, Any]) -> None:
    problem = bound("intercept", l=0.5)
    whole = stepped(problem, METHOD, 5, **inner)
    again = resumed(stepped(problem, METHOD, 2, **inner), tmp_path, inner)
    for _ in range(3):
        again.step()
    assert np.array_equal(again.state.x, whole.state.x) and again.state.best_bound == whole.state.best_bound


def test_no_bound_lies_above_the_optimum() -> None:
    for kind in ("plain", "groups", "nonnegative", "ball"):
        problem = bound(kind)
        best = solve_oracle(problem.instance).value
        for inner in INNER:
            run = started(problem, METHOD, **inner)
            for _ in range(6):
                report = run.report()
                assert report.bound <= best + 1e-6 * abs(best) and report.objective >= best - 1e-6 * abs(best)
                run.step()


@pytest.mark.parametrize("seed", range(8))
def test_the_gradient_is_in_the_domain_of_the_conjugate(seed: int) -> None:
    """The length of a gradient is c but for rounding: beyond c there is no bound, as where x = 0 is best."""
    rng = np.random.default_rng(seed)
    z, out = rng.standard_normal(22), np.empty(22)
    f = Length(0.01, z)
    f.value_gradient(z, out)
    assert np.linalg.norm(out) <= 0.01 and np.linalg.norm(out) == pytest.approx(0.01, rel=1e-12)
    run = started(bound("nonnegative", l=1e4, b=data(seed=seed)["b"]), METHOD)
    assert run.report().bound == pytest.approx(run.report().objective, rel=1e-12)


@pytest.mark.parametrize("loss", ["3 * norm2(2 * (A @ x) - b)", "sum(squared(A @ x, b))"])
@pytest.mark.parametrize("cost", [0.1, 0.3])
def test_a_linear_cost_as_large_as_the_norm(loss: str, cost: float) -> None:
    """Numbers that cost nothing on one side of 0, or a gain: no share of a dual point meets that, and none is told as a bound."""
    rng = np.random.default_rng(0)
    A, x = rng.standard_normal((30, 5)), -np.arange(5.0)
    text = f"data A: matrix[n, d], b: vector[n]\nvar x: vector[d]\nminimize {loss} + 0.1 * norm1(x) + {cost} * sum(x)\n"
    problem = fw.parse(text).bind(A=A, b=A @ x + 0.1 * rng.standard_normal(30))
    best = solve_oracle(problem.instance).value
    s = problem.solve(tol=1e-7)
    assert s.status == "optimal" and s.objective == pytest.approx(best, rel=1e-6)
    run = started(problem, METHOD)
    for _ in range(4):
        run.step()
    assert run.report().objective == pytest.approx(best, rel=1e-6) and run.report().bound <= best + 1e-6 * abs(best)
