"""Limits, callbacks, interruption, warm starts, saved states."""

from __future__ import annotations

import json
import signal
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fwdsl as fw
from fwdsl.errors import DataError
from fwdsl.model.options import Options
from fwdsl.plan import make_plan
from fwdsl.solve import solve
from fwdsl.solve.state import load_state, save_state
from tests.problems import random_problem


def bound(seed: int = 3, loss: str = "logistic", set_: str = "l1_ball(1.5)"):  # type: ignore[no-untyped-def]
    problem = random_problem(seed, loss, "", set_, "dense", intercept=False)
    return fw.parse(problem.text).bind(**problem.data)


def run(problem, options: Options, **more):  # type: ignore[no-untyped-def]
    plan, found = make_plan(problem.canonical, options)
    assert plan is not None, found
    return solve(problem.canonical, plan, options, **more)


def test_an_iteration_limit_is_a_status_with_the_best_point() -> None:
    solution = bound().solve(max_iter=2, tol=1e-12)
    assert solution.status == "tolerance_not_reached"
    assert solution.iterations == 2
    assert "2 iterations" in solution.reason
    assert np.isfinite(solution.dual_bound)
    assert solution.dual_bound <= solution.objective


def test_a_time_limit_of_zero_still_returns_a_certificate() -> None:
    solution = bound().solve(time=0.0, tol=1e-12)
    assert solution.status == "tolerance_not_reached"
    assert np.all(np.isfinite(solution["x"]))


def test_a_callback_sees_progress_and_may_stop() -> None:
    seen = []

    def callback(progress):  # type: ignore[no-untyped-def]
        seen.append(progress)
        return False

    solution = bound().solve(callback=callback, tol=1e-12)
    assert solution.status == "interrupted"
    assert seen and seen[0].method == solution.method


def test_an_exception_in_a_callback_is_the_callers() -> None:
    def callback(_):  # type: ignore[no-untyped-def]
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        bound().solve(callback=callback)


def test_ctrl_c_returns_the_best_point_and_leaves_the_handler_as_it_was() -> None:
    before = signal.getsignal(signal.SIGINT)

    def callback(_):  # type: ignore[no-untyped-def]
        signal.raise_signal(signal.SIGINT)

    solution = bound().solve(callback=callback, tol=1e-13)
    assert solution.status == "interrupted"
    assert np.all(np.isfinite(solution["x"]))
    assert signal.getsignal(signal.SIGINT) is before


def test_a_warm_start_says_what_it_started_from_and_needs_fewer_iterations() -> None:
    problem = bound()
    cold = problem.solve(tol=1e-9)
    warm = problem.solve(tol=1e-9, start=cold)
    assert warm.iterations < cold.iterations
    assert f"a solution by {cold.method}" in warm.start
    assert "zero" in cold.start
    again = problem.solve(tol=1e-9, start={"x": cold["x"]})
    assert "x" in again.start
    assert again.status == "optimal"


@pytest.mark.parametrize("method", ["apg", "frank_wolfe", "pdhg"])
def test_a_resumed_state_gives_the_same_iterates(method: str, tmp_path: Path) -> None:
    problem = bound()
    whole = run(problem, Options(method=method, max_iter=30, tol=1e-15, threads=1))
    half = run(problem, Options(method=method, max_iter=4, tol=1e-15, threads=1))
    save_state(tmp_path / "s.npz", problem.canonical, half.state)
    resumed = run(
        problem,
        Options(method=method, max_iter=30, tol=1e-15, threads=1),
        resume=load_state(tmp_path / "s.npz", problem.canonical),
    )
    assert resumed.iterations == whole.iterations
    for name in ("x",):
        assert np.array_equal(getattr(whole.state.state, name), getattr(resumed.state.state, name))
    assert "iteration 4" in resumed.start


def test_a_state_of_another_problem_is_refused(tmp_path: Path) -> None:
    one, other = bound(3), bound(4)
    save_state(tmp_path / "s.npz", one.canonical, one.solve(max_iter=3, tol=1e-15).state)
    with pytest.raises(DataError) as caught:
        load_state(tmp_path / "s.npz", other.canonical)
    assert caught.value.code == "FW0202"
    assert "`A`" in str(caught.value)


def test_a_file_that_is_no_state_is_refused(tmp_path: Path) -> None:
    (tmp_path / "s.npz").write_bytes(b"nothing")
    with pytest.raises(DataError) as caught:
        load_state(tmp_path / "s.npz", bound().canonical)
    assert caught.value.code == "FW0201"
    with pytest.raises(DataError):
        load_state(tmp_path / "absent.npz", bound().canonical)


def test_a_state_of_another_version_is_refused(tmp_path: Path) -> None:
    problem = bound()
    save_state(tmp_path / "s.npz", problem.canonical, problem.solve(max_iter=3, tol=1e-15).state)
    with np.load(tmp_path / "s.npz") as file:
        kept = {name: file[name] for name in file.files}
    record = {**json.loads(str(kept["record"])), "v": 2}
    np.savez(tmp_path / "s.npz", **{**kept, "record": np.array(json.dumps(record))})
    with pytest.raises(DataError, match="another version") as caught:
        load_state(tmp_path / "s.npz", problem.canonical)
    assert caught.value.code == "FW0201"


@pytest.mark.parametrize(
    ("start", "words"),
    [
        ({"x": np.ones(99)}, "(99,)"),
        ({"z": 1.0}, "no variable `z`"),
        ({"x": "text"}, "shape"),
        ({"x": [[1.0], [2.0, 3.0]]}, "is no array"),
        ([1.0, 2.0], "`start` is a list"),
    ],
)
def test_a_start_that_does_not_fit_is_refused(start: Any, words: str) -> None:
    with pytest.raises(DataError) as caught:
        bound().solve(start=start)
    assert caught.value.code == "FW0203"
    assert words in str(caught.value)


def test_a_start_need_not_be_feasible_but_must_be_finite() -> None:
    problem = bound()
    p = problem.instance.dims["p"]
    assert problem.solve(start={"x": np.full(p, 1e6)}).status == "optimal"
    with pytest.raises(DataError):
        problem.solve(start={"x": np.full(p, np.nan)})
