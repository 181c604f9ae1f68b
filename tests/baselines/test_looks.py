"""Steps that are broken off: the iterates do not depend on when a method asks whether to stop, and it asks often."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fwdsl.backends.baselines import common, scgs
from fwdsl.backends.problem import PreparedProblem
from fwdsl.model.options import Options
from fwdsl.plan import make_plan
from fwdsl.solve import Control, solve, supervisor
from tests.baselines.common import bound, data, matrix_data, matrix_text, text
from tests.runs import resumed, started, stepped

RIDGE = " + 0.05 * sum_squares(x)"
VECTOR = bound(text("logistic", "l1_ball(0.5)", RIDGE), data("logistic", "csr", n=40))
MATRIX = bound(matrix_text("softmax", "nuclear_ball(1)", " + 0.05 * sum_squares(X)"), matrix_data("softmax", n=20))
CLASSES = bound(matrix_text("multiclass_hinge", "l1_ball(1)"), matrix_data("multiclass_hinge", "csr", n=20))

CASES = [
    *((name, VECTOR) for name in ("svrg", "sdca", "spdc", "sfw", "svrf", "scgs", "storc", "scgm", "subgradient")),
    *((name, MATRIX) for name in ("svrg", "svrf", "scgs", "storc", "subgradient")),
    ("subgradient", CLASSES),
]
BATCHED = ("svrg", "spdc", "subgradient")

PATTERNS: dict[str, Callable[[int], bool]] = {
    "at every look": lambda _: True,
    "now and then": lambda k: k % 7 in (2, 3),
}


@pytest.fixture(autouse=True)
def _short_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """A few epochs a step, as the comparison takes every look."""
    monkeypatch.setattr(common, "LEAST_WORK", 400)


class Looks:
    """Says when to stop, by the number of the look."""

    def __init__(self, stops: Callable[[int], bool]) -> None:
        self.stops, self.count = stops, 0

    def __call__(self) -> bool:
        self.count += 1
        return self.stops(self.count)


def assert_same(one: Any, other: Any) -> None:
    for f in fields(one):
        np.testing.assert_equal(getattr(one, f.name), getattr(other, f.name), err_msg=f.name)


@pytest.mark.parametrize("stops", PATTERNS.values(), ids=PATTERNS)
@pytest.mark.parametrize(
    ("name", "problem", "options"),
    [
        pytest.param(n, p, {"batch": b} if b else {}, id=f"{n}-{p.canonical.terms[0].f.name}-{b}")
        for n, p in CASES
        for b in ((1, 3) if n in BATCHED else (None,))
    ],
)
def test_iterates_are_the_same_wherever_a_step_is_broken_off(
    name: str,
    problem: Any,
    options: dict[str, Any],
    stops: Callable[[int], bool],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    whole = stepped(problem, name, 3, seed=2, **options).state
    monkeypatch.setattr(common, "LOOK", 150)
    run, looks, steps = started(problem, name, seed=2, **options), Looks(stops), 0
    while run.state.iteration < 3:
        if steps < 8:
            # as another process finds it
            run = resumed(run, tmp_path, options)
        # a start that must stop is given up
        run.problem.must_stop = looks
        run.step()
        steps += 1
    assert looks.count > 3
    assert steps > 3
    assert_same(whole, run.state)


def test_how_much_a_loop_does_between_two_looks() -> None:
    # by rows, by the prox, by the draws of batches
    assert common.between_looks(1e6, 1, 10) == 2
    assert common.between_looks(1e9, 1, 10) == 1
    assert common.between_looks(10.0, 1, 100_000) == 4
    assert common.between_looks(1.0, 2, 5) <= 500


def planned(problem: Any, name: str, **options: Any) -> tuple[Any, Options]:
    chosen = Options(method=name, tol=1e-15, threads=1, **options)
    plan, found = make_plan(problem.canonical, chosen)
    assert plan is not None, found
    return plan, chosen


@pytest.mark.parametrize("name", ["svrg", "subgradient"])
def test_an_interruption_ends_a_step_at_its_next_prox(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    plan, options = planned(MATRIX, name, max_iter=2)
    whole = solve(MATRIX.canonical, plan, options)
    control, calls, prox = Control(), [0], PreparedProblem.prox_g

    def counted(self: PreparedProblem, v: Any, t: float) -> Any:
        if t > 0.0:  # a step's; that of a start only moves it into the set
            calls[0] += 1
            control.stop = calls[0] == 5
        return prox(self, v, t)

    with monkeypatch.context() as patch:
        patch.setattr(PreparedProblem, "prox_g", counted)
        stopped = solve(MATRIX.canonical, plan, options, control=control)
    assert stopped.status == "interrupted" and stopped.iterations == 0
    assert calls[0] == 5
    resumed = solve(MATRIX.canonical, plan, options, resume=stopped.state)
    assert resumed.iterations == 2
    assert_same(whole.state.state, resumed.state.state)
    assert (resumed.objective, resumed.dual_bound) == (whole.objective, whole.dual_bound)


class Clock:
    """A clock that only moves when it is told to."""

    now = 0.0

    def perf_counter(self) -> float:
        return self.now


@pytest.mark.parametrize("name", ["scgs", "storc"])
def test_a_limit_of_time_ends_an_inner_problem(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    clock, vertex, slopes = Clock(), PreparedProblem.vertex, []

    def slow(problem: PreparedProblem, c: Any) -> Any:
        clock.now += 1.0
        slopes.append(c)
        return vertex(problem, c)

    monkeypatch.setattr(supervisor, "time", clock)
    monkeypatch.setattr(supervisor, "kernel_seconds", lambda: 0.0)
    monkeypatch.setattr(PreparedProblem, "vertex", slow)
    # an inner problem that would take all the turns it may
    inner = scgs.conditional_gradient
    monkeypatch.setattr(
        scgs, "conditional_gradient", lambda p, s, u, beta, eta, d: inner(p, s, u, beta, 1e-12 * eta, d)
    )
    plan, options = planned(MATRIX, name, time=20.0)
    stopped = solve(MATRIX.canonical, plan, options)
    assert "limit of 20 s" in stopped.reason
    assert len(slopes) == 20
