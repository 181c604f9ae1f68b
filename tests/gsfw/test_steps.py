"""Steps of GSFW that are broken off, how long they are, and states of another rule or batch."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fwdsl.backends.baselines import common
from fwdsl.backends.gsfw import GSFW, gsfw
from fwdsl.backends.gsfw.oracle import Oracle
from fwdsl.model.options import Options
from fwdsl.plan import make_plan
from fwdsl.solve import Control, solve
from tests.baselines.common import bound, data, matrix_data, matrix_text, text
from tests.runs import AnyRun, resumed, started

RIDGE = " + 0.05 * sum_squares(x)"
VECTOR = bound(text("logistic", "l1_ball(0.5)", RIDGE), data("logistic", "csr", n=40))
MATRIX = bound(matrix_text("softmax", "nuclear_ball(1)", " + 0.05 * sum_squares(X)"), matrix_data("softmax", n=20))
RULES = ("open", "theory", "adaptive")


@pytest.fixture(autouse=True)
def short_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """A step is an epoch, however small the data."""
    monkeypatch.setattr(common, "LEAST_WORK", 1)


def begun(problem: Any, **options: Any) -> AnyRun:
    return started(problem, "gsfw", seed=2, **options)


def same(one: Any, other: Any) -> None:
    for name, value in vars(one).items():
        assert np.array_equal(value, getattr(other, name)), name


@pytest.mark.parametrize("stops", [lambda _: True, lambda k: k % 5 in (2, 3)], ids=["every look", "now and then"])
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("problem", [VECTOR, MATRIX], ids=["vector", "matrix"])
def test_iterates_are_the_same_wherever_a_step_is_broken_off(
    problem: Any, rule: str, stops: Callable[[int], bool], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = begun(problem, rule=rule, batch=2)
    for _ in range(3):
        whole.step()
    # each look is after an iteration or two
    monkeypatch.setattr(common, "LOOK", 15_000)
    run = begun(problem, rule=rule, batch=2)
    looks = [0]

    def look() -> bool:
        looks[0] += 1
        return stops(looks[0])

    steps = 0
    while run.state.iteration < 3:
        # as another process finds it
        run = resumed(run, tmp_path, {"rule": rule, "batch": 2})
        run.problem.must_stop = look
        run.step()
        steps += 1
    assert looks[0] > 6 and steps > 6
    same(whole.state, run.state)


@pytest.mark.parametrize("rule", RULES)
def test_an_interruption_ends_a_step_at_its_next_iteration(rule: str, monkeypatch: pytest.MonkeyPatch) -> None:
    options = Options(method="gsfw", method_options={"rule": rule, "batch": 1}, max_iter=2, tol=1e-15, threads=1)
    plan, found = make_plan(MATRIX.canonical, options)
    assert plan is not None, found
    whole = solve(MATRIX.canonical, plan, options)
    control, calls, respond = Control(), [0], Oracle.__call__

    def counted(self: Oracle, c: Any) -> Any:
        calls[0] += 1
        if calls[0] >= 7:
            control.stop = True
        return respond(self, c)

    with monkeypatch.context() as patch:
        patch.setattr(Oracle, "__call__", counted)
        stopped = solve(MATRIX.canonical, plan, options, control=control)
    assert stopped.status == "interrupted" and stopped.iterations == 0
    assert 0 < stopped.state.state.at < 20
    # those of the trials of one iteration of the adaptive rule at most
    assert calls[0] <= 12
    resumed = solve(MATRIX.canonical, plan, options, resume=stopped.state)
    assert resumed.iterations == 2
    same(whole.state.state, resumed.state.state)


def test_steps_are_shorter_where_the_oracle_is_dear(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gsfw, "most_calls", lambda _: 3)
    monkeypatch.setattr(gsfw, "MOST_NUMBERS", 11 * (VECTOR.canonical.size + 1))
    for problem, count in ((MATRIX, 3), (VECTOR, 11)):
        run = begun(problem, batch=1)
        state = run.state
        for k in (1, 2):
            run.step()
            assert (state.iteration, state.k, state.at) == (k, k * count, 0)
    # the paper's i goes on over steps
    run = begun(VECTOR, batch=1, rule="open")
    run.step()
    run.step()
    assert run.state.total == pytest.approx(sum(2.0 * 40 + i for i in range(22)))


@pytest.mark.parametrize("then", [*({"rule": r} for r in RULES), {"batch": 3}, {"rule": "theory", "sigma": 30.0}])
@pytest.mark.parametrize("first", [*({"rule": r} for r in RULES), {"batch": 2, "rule": "open"}])
def test_a_state_of_another_rule_or_batch_is_a_start(first: dict[str, Any], then: dict[str, Any]) -> None:
    best = VECTOR.solve(tol=1e-10).objective
    run = begun(VECTOR, **first)
    for _ in range(5):
        run.step()
    state = run.state
    reached, bound_then = state.best_value, state.best_bound
    other = GSFW.resume(run.problem, then, state)
    for _ in range(60):
        other.step()
    assert state.best_bound <= best + 1e-12 <= state.best_value + 2e-12
    assert state.best_value <= reached and state.best_bound >= bound_then
    assert state.best_value - best <= 1e-4
    # what the rule keeps is its own
    assert (state.y_sum.size > 0) == (then.get("rule") == "open")
    if "sigma" in then:
        assert state.tau == 29.0


def test_what_it_would_cost() -> None:
    ridge, none = VECTOR.canonical, bound(text("logistic", "l1_ball(0.5)"), data("logistic", "csr", n=40)).canonical
    assert GSFW.estimate(none, 1e-4).passes == pytest.approx(10.0 * GSFW.estimate(none, 1e-3).passes)
    linear = GSFW.estimate(ridge, 1e-8).passes
    assert linear == pytest.approx(2.0 * GSFW.estimate(ridge, 1e-4).passes)
    assert linear < 0.01 * GSFW.estimate(none, 1e-4).passes
