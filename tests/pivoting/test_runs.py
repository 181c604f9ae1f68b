"""Runs of block pivoting: against an enumeration of active sets, resumed, on threads, stopped; what it refuses and what the planner does with it."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

import fwdsl as fw
from fwdsl.backends.active_set import Quadratic
from fwdsl.backends.kernels.pool import Stopped
from fwdsl.backends.pivoting import run as pivoting_run
from fwdsl.backends.pivoting.approach import approached
from fwdsl.backends.pivoting.pivot import bounded, penalised, with_sum
from fwdsl.errors import PlanError
from tests.problems import laid_out
from tests.runs import resumed, started, stepped

METHOD = "pivoting"
SETS = ("nonnegative", "box(-0.2, 0.4)", "simplex(1)", "l1_ball(0.7)")


def problem(set_: str, layout: str = "dense", n: int = 60, d: int = 12) -> fw.Problem:
    rng = np.random.default_rng(0)
    A = np.where(rng.random((n, d)) < 0.6, rng.standard_normal((n, d)), 0.0)
    y = A @ rng.standard_normal(d) + rng.standard_normal(n)
    text = f"data A: matrix[n, d], y: vector[n]\nvar x: vector[d] in {set_}\nminimize sum_squares(A @ x - y)\n"
    return fw.parse(text).bind(A=laid_out(A, layout), y=y)


def quadratic(seed: int, d: int = 5) -> Quadratic:
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((8, d)) + 2.0 * rng.standard_normal((8, 1))
    return Quadratic(A.T @ A, A.T @ rng.standard_normal(8), lambda: None)


def enumerated(Q: Quadratic, lo: np.ndarray, hi: np.ndarray, slope: np.ndarray) -> np.ndarray:
    """The best feasible point among the minima over all faces of the box of x'Hx / 2 - (c - slope)'x."""
    best, value = lo, np.inf
    for places in product((-1, 0, 1), repeat=lo.size):
        at = np.array(places)
        x = np.where(at < 0, lo, np.where(at > 0, hi, 0.0))
        free = at == 0
        if free.any():
            rest = (Q.c - slope)[free] - Q.H[np.ix_(free, ~free)] @ x[~free]
            x[free] = np.linalg.solve(Q.H[np.ix_(free, free)], rest)
        here = 0.5 * x @ Q.H @ x - (Q.c - slope) @ x
        if np.all(x >= lo) and np.all(x <= hi) and here < value:
            best, value = x, here
    return best


@pytest.mark.parametrize("seed", range(8))
def test_pivoting_finds_the_best_face(seed: int) -> None:
    Q = quadratic(seed)
    rng = np.random.default_rng(seed)
    lo, hi = -0.3 * rng.random(5), 0.3 * rng.random(5)
    start = rng.integers(-1, 2, 5).astype(np.int8)
    found = bounded(Q, lo, hi, start, 0.1)
    assert found is not None
    np.testing.assert_allclose(found.x, enumerated(Q, lo, hi, np.full(5, 0.1)), rtol=0, atol=1e-9)


@pytest.mark.parametrize("seed", range(8))
def test_a_penalty_and_the_multiplier_of_a_sum(seed: int) -> None:
    Q, none = quadratic(seed), np.zeros(5, dtype=np.int8)
    nu = 0.3 * float(np.abs(Q.c).max())
    found = penalised(Q, nu, none)
    assert found is not None
    inside, grad = found.x == 0.0, Q.H @ found.x - Q.c
    assert np.all(np.abs(grad[inside]) <= nu * (1.0 + 1e-9))
    np.testing.assert_allclose(grad[~inside], -nu * np.sign(found.x[~inside]), rtol=0, atol=1e-9)
    r = float(np.abs(found.x).sum())
    again = with_sum(Q, r, lambda t, places, most: penalised(Q, t, places, most), 0.0, none, 0.0)
    assert again is not None
    np.testing.assert_allclose(again[0].x, found.x, rtol=0, atol=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_the_approach_saves_factors(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """From a point near the minimum pivots end sooner, at the same minimum; where the approach leads nowhere they begin as they did."""
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((200, 80)) * np.logspace(0.0, 1.5, 80)
    y = A[:, ::9] @ rng.standard_normal(9) + rng.standard_normal(200)
    text = "data A: matrix[n, d], y: vector[n]\nvar x: vector[d] in l1_ball(2)\nminimize mean(squared(A @ x, y))\n"
    factors: list[int] = []
    plain = Quadratic.factored

    def counted(self: Quadratic, free: NDArray[np.intp]) -> object:
        factors.append(free.size)
        return plain(self, free)

    monkeypatch.setattr(Quadratic, "factored", counted)
    found = fw.parse(text).bind(A=A, y=y).solve(method="pivoting", tol=1e-9)
    near = len(factors)
    factors.clear()
    monkeypatch.setattr(pivoting_run, "approached", lambda H, x, grad, nu, project, look: (x, nu))
    other = fw.parse(text).bind(A=A, y=y).solve(method="pivoting", tol=1e-9)
    assert found.status == other.status == "optimal"
    assert found.objective == pytest.approx(other.objective, rel=1e-9)
    assert near < len(factors)


def test_the_approach_is_projected_gradient_on_the_quadratic() -> None:
    rng = np.random.default_rng(3)
    A = rng.standard_normal((30, 6))
    H, c = A.T @ A, A.T @ rng.standard_normal(30)

    def onto(v: np.ndarray) -> np.ndarray:
        return np.clip(v, 0.0, 0.1)

    x, nu = approached(H, np.zeros(6), -c, 0.7, onto, lambda: None)
    z = np.zeros(6)
    for _ in range(5_000):
        z = onto(z - (H @ z - c) / np.linalg.norm(H, 2))
    np.testing.assert_array_equal(np.sign(x), np.sign(z))
    assert nu == pytest.approx(-float(x @ (H @ x - c)) / float(np.abs(x).sum()))
    still = approached(H, np.zeros(6), np.zeros(6), 0.7, onto, lambda: None)
    np.testing.assert_array_equal(still[0], np.zeros(6))
    assert still[1] == 0.7


@pytest.mark.parametrize("layout", ["dense", "fortran", "csr"])
@pytest.mark.parametrize("set_", SETS)
def test_a_resumed_run_is_the_unbroken_one(set_: str, layout: str, tmp_path: Path) -> None:
    whole = stepped(problem(set_, layout), METHOD, 2)
    half = resumed(stepped(problem(set_, layout), METHOD, 1), tmp_path, {})
    half.step()
    for name in ("x", "grad", "places", "nu", "value", "best_bound", "still", "iteration"):
        assert np.array_equal(getattr(whole.state, name), getattr(half.state, name)), name


@pytest.mark.parametrize("set_", SETS)
def test_threads_change_nothing(set_: str) -> None:
    one, two = (stepped(problem(set_), METHOD, 1, threads=k).state for k in (1, 2))
    assert np.array_equal(one.x, two.x) and one.best_bound == two.best_bound


@pytest.mark.parametrize("set_", SETS)
def test_a_step_that_is_stopped_leaves_the_state_as_it_was(set_: str) -> None:
    run = started(problem(set_), METHOD)
    before = {name: np.copy(value) for name, value in vars(run.state).items()}
    run.problem.must_stop = lambda: True
    with pytest.raises(Stopped):
        run.step()
    assert all(np.array_equal(before[name], value) for name, value in vars(run.state).items())
    run.problem.must_stop = lambda: False
    run.step()
    assert run.state.iteration == 1


def test_limits_are_statuses() -> None:
    none = problem("nonnegative").solve(method=METHOD, time=0.0, tol=1e-12)
    assert none.status == "tolerance_not_reached" and none.iterations == 0
    few = problem("nonnegative").solve(method=METHOD, max_iter=0, tol=1e-12)
    assert few.status == "tolerance_not_reached" and few.iterations == 0
    stopped = problem("nonnegative").solve(method=METHOD, callback=lambda progress: False)
    assert stopped.status == "interrupted"


@pytest.mark.parametrize("unit", [1e-7, 1e7])
@pytest.mark.parametrize("set_", ["nonnegative", "simplex({r})", "l1_ball({r})"])
def test_units_change_no_step(set_: str, unit: float) -> None:
    rng = np.random.default_rng(3)
    A, y = rng.standard_normal((40, 9)), rng.standard_normal(40)
    text = "data A: matrix[n, d], y: vector[n]\nvar x: vector[d] in {set_}\nminimize sum_squares(A @ x - y)\n"
    plain = fw.parse(text.format(set_=set_.format(r=0.5))).bind(A=A, y=y).solve(method=METHOD, tol=1e-9)
    other = fw.parse(text.format(set_=set_.format(r=0.5 / unit))).bind(A=unit * A, y=y).solve(method=METHOD, tol=1e-9)
    assert plain.status == other.status == "optimal" and plain.iterations == other.iterations
    np.testing.assert_allclose(unit * other["x"], plain["x"], rtol=0, atol=1e-9)


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("var x: vector[d] in nonnegative\nminimize mean(huber(A @ x, y))", "not quadratic"),
        ("var x: vector[d]\nminimize mean(squared(A @ x, y))", "no variable is in a set"),
        ("var x: vector[d] in l2_ball(1)\nminimize mean(squared(A @ x, y))", "no bounded sum"),
        ("var x: vector[d] in nonnegative\nminimize mean(squared(A @ x, y)) + norm1(x)", "x has norm1"),
        ("var x: vector[d] in simplex(1), b: real\nminimize mean(squared(A @ x + b, y))", "single variable"),
        ("var x: vector[d] in nonnegative\nminimize mean(squared(A[:5, :] @ x, y[:5]))", "fewer rows|columns of data"),
    ],
)
def test_what_it_refuses(body: str, reason: str) -> None:
    rng = np.random.default_rng(0)
    with pytest.raises(PlanError, match=reason):
        fw.parse(f"data A: matrix[n, d], y: vector[n]\n{body}\n").bind(
            A=rng.standard_normal((20, 8)), y=rng.standard_normal(20)
        ).solve(method=METHOD)


@pytest.mark.parametrize("set_", SETS)
def test_the_planner_takes_it_for_tall_data(set_: str) -> None:
    s = problem(set_, n=400).solve(tol=1e-9)
    assert s.method == METHOD and s.status == "optimal" and s.iterations == 1


def test_it_settles_nothing_where_data_are_wide() -> None:
    """The Gram matrix of all columns is then larger than any that working sets need, which the predicted times tell."""
    rng = np.random.default_rng(0)
    text = "data A: matrix[n, d], y: vector[n]\nvar x: vector[d] in nonnegative\nminimize sum_squares(A @ x - y) + sum_squares(x)\n"
    for shape, settled in (((60, 40), True), ((40, 60), False)):
        bound = fw.parse(text).bind(A=rng.standard_normal(shape), y=rng.standard_normal(shape[0]))
        assert ("a few passes over the data" in bound.plan().why) == settled
        assert fw.backends.registry.METHODS[METHOD].is_unrivalled(bound.canonical) == settled
