"""DSPDC as a method: seeds, threads, interruptions, programs, what it refuses."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fwdsl as fw
from fwdsl.backends.dspdc import DSPDCState
from fwdsl.errors import FwError
from fwdsl.model.options import Options
from fwdsl.plan import make_plan
from fwdsl.solve import solve
from fwdsl.solve.state import load_state, save_state
from tests.dspdc.problems import METRICS, metrics_problem, stepped, vector_problem

FACTORS = vector_problem("smooth_hinge", "dense", "U @ (V @ x)")
METRIC = metrics_problem()
SIZES = {"m": 3, "q": 2}


@pytest.mark.parametrize("problem", [FACTORS, METRIC])
def test_a_seed_fixes_the_run_for_any_number_of_threads(problem: Any) -> None:
    one = stepped(problem, 3, threads=1, seed=4, **SIZES).state
    two = stepped(problem, 3, threads=2, seed=4, **SIZES).state
    np.testing.assert_array_equal(one.x, two.x)
    np.testing.assert_array_equal(one.y, two.y)
    other = stepped(problem, 3, seed=5, **SIZES).state
    assert not np.array_equal(one.x, other.x)


@pytest.mark.parametrize("problem", [FACTORS, METRIC])
def test_a_resumed_run_is_the_unbroken_one(problem: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fwdsl.backends.dspdc.coordinates.WORK", 1000)

    def run(steps: int, **more: Any) -> Any:
        options = Options(method="dspdc", method_options=SIZES, max_iter=steps, tol=1e-15, threads=1, seed=3)
        plan, found = make_plan(problem.canonical, options)
        assert plan is not None, found
        return solve(problem.canonical, plan, options, **more)

    whole, half = run(9), run(4)
    save_state(tmp_path / "s.npz", problem.canonical, half.state)
    resumed = run(9, resume=load_state(tmp_path / "s.npz", problem.canonical))
    one, other = whole.state.state, resumed.state.state
    assert type(other) is DSPDCState
    assert resumed.iterations == whole.iterations == 9
    for name in ("x", "y", "u", "v", "bar"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
    assert (one.scale, one.best_gap) == (other.scale, other.best_gap)


def test_it_runs_from_a_program_and_from_python_with_its_options() -> None:
    values = dict(METRIC.instance.values)
    given = {n: values[n] for n in ("Far", "Near", "task")}
    told = (
        fw.parse(f"{METRICS}solve method = dspdc(m=4, q=2, Lambda=0.5, theorem=2), tol = 1e-4, seed = 1")
        .bind(**given)
        .solve(threads=1)
    )
    python = (
        fw.parse(METRICS)
        .bind(**given)
        .solve(method="dspdc", m=4, q=2, Lambda=0.5, theorem=2, tol=1e-4, seed=1, threads=1)
    )
    assert told.method == python.method == "dspdc"
    assert told.status == "optimal"
    assert told.objective == python.objective
    assert told.state.state.decompositions == python.state.state.decompositions > 0
    assert told.state.state.checks > 0
    assert told.state.state.raised == 0


def test_a_warm_start_serves() -> None:
    for problem in (FACTORS, METRIC):
        cold = problem.solve(tol=1e-9)
        warm = problem.solve(method="dspdc", tol=1e-6, start=cold)
        assert warm.status == "optimal" and warm.iterations <= 1


def test_the_planner_does_not_choose_it() -> None:
    plan = FACTORS.plan()
    assert plan.method != "dspdc"
    assert "full gradients" in plan.render()


def test_rows_of_zeros_alone() -> None:
    text = "data A: matrix[n, p], y: signs[n]\nvar x: vector[p]\nminimize mean(smooth_hinge(A @ x, y)) + 0.05 * sum_squares(x)\n"
    problem = fw.parse(text).bind(A=np.zeros((6, 3)), y=np.array([1.0, -1.0] * 3))
    for options in ({}, {"Lambda": 1.0}, {"m": 1, "q": 1}):
        solution = problem.solve(method="dspdc", tol=1e-8, time=60, **options)
        assert solution.status == "optimal", solution.reason
        assert solution.objective == pytest.approx(0.5)


def test_samples_that_weigh_nothing() -> None:
    text = (
        "data A: matrix[n, p], y: signs[n], w: vector[n] in nonnegative\nvar x: vector[p]\n"
        "minimize mean(w * smooth_hinge(A @ x, y)) + 0.05 * sum_squares(x)\n"
    )
    rng = np.random.default_rng(0)
    values = {"A": rng.standard_normal((8, 3)), "y": np.array([1.0, -1.0, 1.0, 1.0] * 2)}
    for w in (np.zeros(8), np.arange(8) % 2.0):
        problem = fw.parse(text).bind(**values, w=w)
        solution = problem.solve(method="dspdc", tol=1e-8, time=60)
        assert solution.status == "optimal", solution.reason
        assert solution.objective == pytest.approx(problem.solve(tol=1e-9).objective, abs=1e-8)


# --- refusals --------------------------------------------------------------------------------------------------------


def refused(text: str, options: str, **values: Any) -> FwError:
    program = f"{text}\nsolve method = dspdc{options}"
    with pytest.raises(FwError) as caught:
        fw.parse(program).bind(**values).solve()
    return caught.value


RNG = np.random.default_rng(1)
PLAIN = {"A": RNG.standard_normal((6, 3)), "y": np.where(RNG.random(6) < 0.5, -1.0, 1.0)}
HEAD = "data A: matrix[n, p], y: signs[n]\nvar x: vector[p]{}\nminimize "


@pytest.mark.parametrize(
    ("set_", "objective", "reason"),
    [
        ("", "mean(hinge(A @ x, y)) + sum_squares(x)", "is not smooth"),
        ("", "mean(logistic(A @ x, y)) + 0.1 * norm1(x)", "it needs a `sum_squares(x)`"),
        (" in l1_ball(1)", "mean(logistic(A @ x, y)) + sum_squares(x)", "no sum over coordinates"),
        ("", "mean(logistic(A @ x, y)) + 0.1 * norm2(x) + sum_squares(x)", "no sum over coordinates"),
        ("", "mean(logistic(A @ x, y)) + mean(squared(A @ x, y)) + sum_squares(x)", "2 losses"),
        ("", "mean(logistic(A @ x, y)) + norm1(x[1:] - x[:-1]) + sum_squares(x)", "also `norm1"),
        ("", "mean(logistic(A @ (A.T @ (A @ x)), y)) + sum_squares(x)", "or of a product of two"),
        ("", "mean(logistic(A @ x, y)) + 0 * sum_squares(x)", "sum_squares"),
    ],
)
def test_what_it_does_not_cover_is_refused_with_the_reason(set_: str, objective: str, reason: str) -> None:
    error = refused(HEAD.format(set_) + objective, "", **PLAIN)
    assert error.code == "FW5003"
    assert reason in str(error)


def test_a_variable_without_a_ridge_among_others_is_named() -> None:
    text = (
        "data A: matrix[n, p], U: matrix[n, d], y: signs[n]\nvar x: vector[p], X: psd[d], radius: real\n"
        "minimize mean(logistic(A @ x + quad(U, X) - radius, y)) + sum_squares(x) + sum_squares(X)"
    )
    error = refused(text, "", **PLAIN, U=RNG.standard_normal((6, 2)))
    assert error.code == "FW5003"
    assert "it needs a `sum_squares(radius)`" in str(error)


def test_predictions_that_are_no_links_are_named() -> None:
    text = (
        "data A: matrix[n, p], B: matrix[p, k], y: signs[n]\nvar x: vector[k], z: vector[p]\n"
        "minimize mean(logistic(A @ (B @ x) + A @ z, y)) + sum_squares(x) + sum_squares(z)"
    )
    error = refused(text, "", **PLAIN, B=RNG.standard_normal((3, 4)))
    assert error.code == "FW5003"
    assert "the predictions see x" in str(error)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ("(m=7)", "there are 6 rows"),
        ("(q=4)", "x has 3 coordinates"),
        ("(m=-1)", "`m`"),
        ("(Lambda=-2)", "`Lambda`"),
        ('(m="all")', "`m`"),
        ("(m=0)", "`m`"),
        ("(q=1.5)", "`q`"),
        ("(Lambda=0)", "`Lambda`"),
        ("(theorem=3)", "`theorem`"),
    ],
)
def test_options_outside_their_domain_are_refused(options: str, words: str) -> None:
    error = refused(HEAD.format("") + "mean(logistic(A @ x, y)) + sum_squares(x)", options, **PLAIN)
    assert error.code == "FW5004"
    assert words in str(error)


def test_options_may_be_numbers_of_numpy() -> None:
    assert (
        FACTORS.solve(method="dspdc", m=np.int64(3), q=np.int32(2), Lambda=np.float32(1.0), tol=1e-4).status
        == "optimal"
    )
    with pytest.raises(FwError) as caught:
        FACTORS.solve(method="dspdc", m=np.int64(13))
    assert "`m` is 13, and there are 12 rows" in str(caught.value)


def test_more_blocks_than_there_are() -> None:
    values = METRIC.instance.values
    error = refused(METRICS, "(q=5)", **{n: values[n] for n in ("Far", "Near", "task")})
    assert error.code == "FW5004"
    assert "Common, Own have 4 blocks" in str(error)


def test_features_without_a_coordinate_are_refused() -> None:
    text = "data A: matrix[n, p], y: signs[n]\nlet Phi = linear(A)\nvar x: vector[dim(Phi)]\n"
    error = refused(
        text + "minimize mean(logistic(Phi @ x, y)) + sum_squares(x)", "", A=np.zeros((4, 2)), y=[1, 1, -1, -1]
    )
    assert error.code == "FW5003" and "nothing to draw" in str(error)
