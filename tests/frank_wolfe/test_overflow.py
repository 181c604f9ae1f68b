"""Losses that overflow within the set: vertices and steps at which P is not finite, and points beyond which nothing is."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import fwdsl as fw
from fwdsl.backends.frank_wolfe.state import FWState
from fwdsl.backends.frank_wolfe.steps import RULES, Segment, step_length
from fwdsl.backends.problem import PreparedProblem
from tests.frank_wolfe.problems import CORRECTIVE, FAMILY, bound
from tests.runs import started


def counts_bound(set_: str) -> Any:
    """Poisson counts whose means overflow at the set's vertices."""
    A = np.random.default_rng(0).standard_normal((20, 4))
    text = f"data A: matrix[n, p], y: vector[n] in nonnegative\nvar x: vector[p] in {set_}\nminimize mean(poisson(A @ x, y))\n"
    return fw.parse(text).bind(A=A, y=np.arange(20.0))


@pytest.mark.parametrize("lazy", [False, True])
@pytest.mark.parametrize("name", CORRECTIVE)
def test_a_run_does_not_start_where_the_loss_overflows(name: str, lazy: bool) -> None:
    run = started(counts_bound("box(-2000, 2000)"), name, lazy=lazy)
    s = run.state
    assert s.value == pytest.approx(1.0) and not np.any(s.x) and s.live == 1
    for _ in range(30):
        before = s.value
        run.step()
        assert s.value <= before * (1 + 1e-12) if before > 0.0 else s.value <= before * (1 - 1e-12)
    assert s.value < -1.0


@pytest.mark.parametrize("step", ["secant", "line_search"])
@pytest.mark.parametrize("name", FAMILY)
def test_searches_find_their_way_among_exponentials(name: str, step: str) -> None:
    found = counts_bound("box(-200, 200)").solve(method=name, step=step, threads=1, tol=1e-4, max_iter=2000)
    assert found.objective <= -3.3989 and found.dual_bound <= -3.39892


def test_the_open_loop_halves_steps_to_where_the_loss_overflows_and_gives_its_best_point() -> None:
    problem = counts_bound("box(-2000, 2000)")
    run = started(problem, "frank_wolfe")
    s, kernels = run.state, run.problem
    first = s.value
    for _ in range(20):
        run.step()
        assert np.isfinite(s.value)
    assert s.value > first
    x, _ = run.candidate()
    assert kernels.objective(x, kernels.forward(x)) == s.best_value <= first
    found = problem.solve(method="frank_wolfe", max_iter=20, threads=1)
    assert found.status == "tolerance_not_reached" and found.objective == pytest.approx(s.best_value)


@pytest.mark.parametrize("lazy", [False, True])
@pytest.mark.parametrize("name", FAMILY)
def test_a_set_on_which_nothing_is_finite_ends_the_run(name: str, lazy: bool) -> None:
    if lazy and name not in CORRECTIVE:
        return
    options: dict[str, Any] = {"lazy": True} if lazy else {}
    found = counts_bound("box(1500, 2000)").solve(method=name, threads=1, max_iter=500, **options)
    assert found.status == "tolerance_not_reached" and found.reason == "the objective is no longer finite"
    # the infima of the terms are a bound whatever the point
    assert np.all(np.isfinite(found["x"])) and found.dual_bound < found.objective == np.inf


@pytest.mark.parametrize("rule", RULES)
def test_a_slope_that_is_not_finite_moves_nothing_or_little(rule: str) -> None:
    kernels = PreparedProblem(counts_bound("box(-1, 1)").canonical, 1)
    for slope in (np.nan, -np.inf):
        z, d = np.zeros(20), np.ones(20)
        segment = Segment(kernels.functions, [z], [d], [np.full(20, slope)], 1.0, 0.0, 0.0, 1.0)
        gamma, _ = step_length(rule, segment, 0.0, 1.0)
        assert gamma == (1.0 if rule == "open" else 0.0)


def test_infinity_is_no_bound() -> None:
    run = started(bound("squared", "l1_ball(1)"), "frank_wolfe")
    size = run.problem.size
    s = FWState(0, np.zeros(size))
    ys = [np.zeros(30)]
    for conjugates, expected in ((np.inf, -np.inf), (np.nan, -np.inf), (-1.0, -1.0), (np.inf, -1.0)):
        run.keep_bound(s, ys, np.zeros(size), conjugates)
        assert s.best_bound == expected
