"""Newton's method on a Euclidean ball: at the optimum against cvxpy, by its optimality conditions, in all units, resumed, and what it refuses."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fwdsl as fw
from fwdsl.backends.smooth.ball_method import system_of
from fwdsl.errors import PlanError
from fwdsl.oracle import solve_oracle
from tests.problems import LAYOUTS, SMOOTH, random_problem
from tests.runs import resumed, started, stepped
from tests.solve.test_conformance import check, hash_of

pytest.importorskip("cvxpy")

METHOD = "ball_newton"
BALLS = ("l2_ball(0.3)", "l2_ball(1)", "l2_ball(80)")


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("loss", SMOOTH)
@pytest.mark.parametrize("ball", BALLS)
def test_every_loss_on_every_ball(loss: str, ball: str, intercept: bool) -> None:
    check(random_problem(hash_of(loss, ball), loss, "", ball, "dense", intercept=intercept), METHOD)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("penalty", ["", "sum_squares", "affine"])
@pytest.mark.parametrize("loss", ["squared", "logistic"])
def test_every_layout_with_every_ridge(loss: str, penalty: str, layout: str) -> None:
    check(random_problem(hash_of(loss, penalty), loss, penalty, "l2_ball(0.7)", layout, intercept=True), METHOD)


TEXT = "data A: matrix[n, d], y: signs[n]\nvar x: vector[d] in l2_ball({r}), c: real\nminimize mean({loss}(A @ x + c, y))\n"


def data(n: int, d: int, seed: int = 0) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((n, d))
    return {"A": A, "y": np.where(A[:, 0] + 0.5 * rng.standard_normal(n) + 0.3 > 0.0, 1.0, -1.0)}


@pytest.mark.parametrize("shape", [(60, 8), (20, 50)])
@pytest.mark.parametrize("r", [0.2, 1.0])
def test_the_conditions_of_the_optimum(shape: tuple[int, int], r: float) -> None:
    """The slope is -m x with m >= 0, and 0 along the intercept, on the boundary; systems over the unknowns and over the rows."""
    known = data(*shape)
    s = fw.parse(TEXT.format(r=r, loss="logistic")).bind(**known).solve(method=METHOD, tol=1e-11)
    A, y, x = known["A"], known["y"], s["x"]
    slopes = -y / (1.0 + np.exp(y * (A @ x + s["c"]))) / y.size
    g = A.T @ slopes
    m = -(g @ x) / (x @ x)
    assert s.status == "optimal" and m > 0.0 and np.linalg.norm(x) == pytest.approx(r, rel=1e-9)
    np.testing.assert_allclose(g, -m * x, rtol=0, atol=1e-6 * np.linalg.norm(g))
    assert abs(slopes.sum()) <= 1e-6


@pytest.mark.parametrize("loss", ["logistic", "squared_hinge", "smooth_hinge"])
@pytest.mark.parametrize("r", [0.5, 30.0, 1e4])
def test_samples_that_can_be_told_apart(loss: str, r: float) -> None:
    """Wide data: on large balls curvatures vanish long before the boundary."""
    problem = fw.parse(TEXT.format(r=r, loss=loss)).bind(**data(25, 60))
    s = problem.solve(method=METHOD)
    assert s.status == "optimal"
    if r < 1.0:
        assert s.objective == pytest.approx(solve_oracle(problem.instance).value, rel=1e-5)


def test_columns_in_other_units() -> None:
    """Columns of sizes between 1e-3 and 1e3 make first-order methods take thousands of steps."""
    known = data(80, 12)
    known["A"] *= 10.0 ** np.linspace(-3.0, 3.0, 12)
    problem = fw.parse(TEXT.format(r=2.0, loss="logistic")).bind(**known)
    s = problem.solve(method=METHOD, max_iter=40)
    assert s.status == "optimal" and problem.plan().method == METHOD


@pytest.mark.parametrize("unit", [1e-9, 1e9])
def test_units(unit: float) -> None:
    """x in another unit: data over it, and the radius times it."""
    known = data(40, 10)
    s = fw.parse(TEXT.format(r=0.5, loss="logistic")).bind(**known).solve(method=METHOD, tol=1e-8)
    scaled = fw.parse(TEXT.format(r=0.5 * unit, loss="logistic")).bind(A=known["A"] / unit, y=known["y"])
    other = scaled.solve(method=METHOD, tol=1e-8)
    assert other.status == "optimal" and other.objective == pytest.approx(s.objective, rel=1e-7)
    np.testing.assert_allclose(other["x"] / unit, s["x"], rtol=0, atol=1e-4)


def test_a_constraint_and_a_second_variable() -> None:
    """`norm2(x) <= r` is the ball; a second matrix's variable may be free or have a ridge."""
    rng = np.random.default_rng(3)
    A, B, b = rng.standard_normal((30, 6)), rng.standard_normal((30, 3)), rng.standard_normal(30)
    text = "data A: matrix[n, d], B: matrix[n, k], b: vector[n]\nvar x: vector[d], u: vector[k]\n"
    text += "minimize sum(huber(A @ x + B @ u, b, delta=0.5)){}\nsubject to norm2(x) <= 0.2\n"
    for ridge in ("", " + 0.3 * sum_squares(u)"):
        problem = fw.parse(text.format(ridge)).bind(A=A, B=B, b=b)
        s = problem.solve(method=METHOD, tol=1e-8)
        assert s.status == "optimal" and s.objective == pytest.approx(solve_oracle(problem.instance).value, rel=1e-6)


def test_no_bound_lies_above_the_optimum() -> None:
    for seed, loss in enumerate(SMOOTH):
        problem = random_problem(seed, loss, "", "l2_ball(0.5)", intercept=False)
        bound = fw.parse(problem.text).bind(**problem.data)
        best = solve_oracle(bound.instance).value
        run = started(bound, METHOD)
        for _ in range(4):
            report = run.report()
            assert report.bound <= best + 1e-5 * max(1.0, abs(best)) and report.objective >= best - 1e-5 * max(
                1.0, abs(best)
            )
            run.step()


def test_a_resumed_run_goes_on_as_an_unbroken_one(tmp_path: Path) -> None:
    problem = fw.parse(TEXT.format(r=0.5, loss="logistic")).bind(**data(60, 8))
    whole = stepped(problem, METHOD, 3)
    again = resumed(stepped(problem, METHOD, 1), tmp_path, {})
    for _ in range(2):
        again.step()
    assert np.array_equal(again.state.x, whole.state.x) and again.state.multiplier == whole.state.multiplier


def test_a_start_outside_of_the_ball_is_moved_into_it() -> None:
    problem = fw.parse(TEXT.format(r=0.5, loss="logistic")).bind(**data(60, 8))
    run = started(problem, METHOD, x=np.full(9, 2.0))
    assert np.linalg.norm(run.state.x[:8]) == pytest.approx(0.5) and run.state.x[8] == 2.0


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("var x: vector[d]\nminimize mean(logistic(A @ x, y))", "no variable is in a Euclidean ball"),
        ("var x: vector[d] in l1_ball(1)\nminimize mean(logistic(A @ x, y))", "no Euclidean ball"),
        ("var x: vector[d] in l2_ball(1)\nminimize mean(hinge(A @ x, y))", "not differentiable"),
        ("var x: vector[d] in l2_ball(1)\nminimize mean(logistic(A @ x, y)) + norm1(x)", "x has norm1"),
        ("var x: vector[d] in l2_ball(1)\nminimize sum(x)", "no loss"),
    ],
)
def test_what_it_refuses(text: str, why: str) -> None:
    program = fw.parse("data A: matrix[n, d], y: signs[n]\n" + text + "\n")
    with pytest.raises(PlanError, match=why):
        program.bind(**data(10, 3)).solve(method=METHOD)


SQUARES = "data A: matrix[n, d], y: vector[n]\nvar x: vector[d] in l2_ball(100), c: real\nminimize sum(squared(A @ x + c, y))\n"


@pytest.mark.parametrize("what", ["repeated columns", "zero columns", "small columns", "nothing but zeros", "square"])
def test_a_ball_that_does_not_bind(what: str) -> None:
    """The multiplier is 0, and what K'K lacks is no reason to stop at a bound that misses by the slope times the radius."""
    rng = np.random.default_rng(3)
    A = rng.standard_normal((16 if what == "square" else 40, 15))
    if what == "repeated columns":
        A[:, 7:] = A[:, :8]
    elif what == "zero columns":
        A[:, ::3] = 0.0
    elif what == "small columns":
        A *= np.logspace(-4, 4, 15)
    elif what == "nothing but zeros":
        A[:] = 0.0
    y = A @ rng.standard_normal(15) / np.abs(A).max(initial=1.0) + 0.1 * rng.standard_normal(len(A)) + 1.0
    problem = fw.parse(SQUARES).bind(A=A, y=y)
    s = problem.solve(method=METHOD, tol=1e-8)
    assert s.status == "optimal" and s.objective == pytest.approx(solve_oracle(problem.instance).value, rel=1e-6)


def test_as_many_rows_as_unknowns_are_solved_by_the_unknowns() -> None:
    """The system over the rows divides by the multiplier, which is next to nothing where the ball does not bind."""
    assert system_of(fw.parse(SQUARES).bind(A=np.eye(20), y=np.ones(20)).canonical) == "primal"
    assert system_of(fw.parse(SQUARES).bind(A=np.eye(20, 300), y=np.ones(20)).canonical) == "dual"
