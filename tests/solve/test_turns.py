"""Plans that correct themselves: methods take turns where the one that was chosen is far from done."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import fwdsl as fw
from fwdsl.backends.method import Estimate
from fwdsl.backends.registry import METHODS
from fwdsl.cli.report import solution_text
from fwdsl.model.options import Options
from fwdsl.plan import fitted
from fwdsl.results.json_form import solution_json
from fwdsl.results.solution import Progress, Solution
from fwdsl.solve import Control
from fwdsl.solve.journal import Journal
from fwdsl.solve.relay import LEAST, counted
from fwdsl.solve.supervisor import Supervisor

ONE = (1.0, *[0.0] * (len(fitted.NAMES) - 1))

LASSO = "data X: matrix[n, p], y: vector[n]\nvar w: vector[p]\nminimize mean(squared(X @ w, y)) + 0.05 * norm1(w)\n"
SIGNS = "data X: matrix[n, p], s: signs[n]\nvar w: vector[p]\nminimize mean(logistic(X @ w, s)) + 1e-3 * norm1(w)\n"
HINGE = "data X: matrix[n, p], s: signs[n]\nvar w: vector[p], b: real\nminimize mean(hinge(X @ w + b, s)) + 1e-3 * sum_squares(w)\n"
BALL = "data X: matrix[n, p], y: vector[n]\nvar w: vector[p] in l1_ball(20)\nminimize mean(squared(X @ w, y))\n"


@pytest.fixture(autouse=True)
def early(monkeypatch: pytest.MonkeyPatch) -> None:
    """Methods are looked at from their first moments on: the problems here are small."""
    monkeypatch.setattr("fwdsl.solve.relay.FIRST", 1e-3)
    monkeypatch.setattr("fwdsl.solve.relay.START_UP", 1e-4)


def scramble(monkeypatch: pytest.MonkeyPatch, factors: Mapping[str, float]) -> None:
    """Multiply the predictions of methods."""
    by = {name: tuple(math.log10(f) * one for one in ONE) for name, f in factors.items()}
    old = dict(fitted.CONSTANTS)
    zero = tuple(0.0 for _ in ONE)
    new = {}
    for name, shift in by.items():
        passes, seconds, start = old.get(name, (zero, zero, 0.0))
        moved = (tuple(a + b for a, b in zip(theta, shift, strict=True)) for theta in (passes, seconds))
        new[name] = (*moved, start)
    monkeypatch.setattr(fitted, "CONSTANTS", {**old, **new})


def data(n: int = 400, p: int = 150, seed: int = 0) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p)) @ np.diag(np.logspace(0, -1.5, p))
    y = X @ (rng.standard_normal(p) * (rng.random(p) < 0.2)) + 0.3 * rng.standard_normal(n)
    return {"X": X, "y": y, "s": np.where(y > 0, 1.0, -1.0)}


def bound(text: str, **sizes: int) -> fw.Problem:
    return fw.parse(text).bind(**{k: v for k, v in data(**sizes).items() if f" {k}: " in text.splitlines()[0]})


@pytest.fixture
def wrong(monkeypatch: pytest.MonkeyPatch) -> fw.Problem:
    """Least squares on a ball whose plan believes in Frank-Wolfe, whose gap falls like 1/k."""
    monkeypatch.setattr(fitted, "CONSTANTS", {})
    scramble(monkeypatch, dict.fromkeys(("apg", "pdhg"), 100.0))
    monkeypatch.setattr(METHODS["frank_wolfe"], "estimate", classmethod(lambda *_: Estimate(10.0, 1e-3, 1e6, "")))
    problem = bound(BALL + "solve method = [frank_wolfe, apg, pdhg]\n")
    assert problem.plan(tol=1e-9).method == "frank_wolfe"
    return problem


def test_another_method_takes_over_and_the_answer_says_so(wrong: fw.Problem) -> None:
    told: list[Progress] = []
    found = wrong.solve(threads=1, tol=1e-9, callback=told.append)
    assert found.status == "optimal" and found.relative_gap <= 1e-9
    assert found.changes
    assert found.changes[-1].method == found.method != "frank_wolfe"
    assert found.plan.method == found.method
    assert found.plan.why == found.changes[-1].reason
    assert "`frank_wolfe`" in found.plan.why
    assert {c.method for c in found.changes} <= {p.method for p in found.history}
    for before, after in pairwise(found.history):
        assert before.iteration <= after.iteration and before.passes <= after.passes and before.elapsed <= after.elapsed
    assert found.history[-1].iteration == found.iterations
    assert json.loads(json.dumps(solution_json(found)))["changes"][-1]["method"] == found.method
    assert "`frank_wolfe`" in solution_text(found)
    alone = wrong.solve(method="apg", tol=1e-9)
    assert found.objective == pytest.approx(alone.objective, rel=1e-8)


def test_the_same_turns_every_time_and_on_any_number_of_threads(wrong: fw.Problem) -> None:
    first, again, two = (wrong.solve(threads=t, tol=1e-9) for t in (1, 1, 2))
    for other in (again, two):
        assert [(c.method, c.iteration, c.passes) for c in other.changes] == [
            (c.method, c.iteration, c.passes) for c in first.changes
        ]
        assert np.array_equal(first["w"], other["w"])


@pytest.mark.parametrize("options", [{"method": "frank_wolfe"}, {"max_iter": 300}])
def test_a_named_method_and_a_limited_one_stand_alone(wrong: fw.Problem, options: dict[str, Any]) -> None:
    found = wrong.solve(tol=1e-9, time=1.0, **options)
    assert found.method == "frank_wolfe" and not found.changes
    assert {p.method for p in found.history} == {"frank_wolfe"}


def test_the_choice_is_restricted_to_the_methods_named(wrong: fw.Problem) -> None:
    found = wrong.solve(method=("frank_wolfe", "apg"), tol=1e-9)
    assert {p.method for p in found.history} == {"frank_wolfe", "apg"}
    assert found.status == "optimal"


def test_a_stop_in_a_later_turn_ends_the_run(wrong: fw.Problem, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fwdsl.solve.supervisor.PROGRESS_EVERY", 0.0)
    found = wrong.solve(tol=1e-9, callback=lambda p: p.method == "frank_wolfe")
    assert (found.status, found.reason) == ("interrupted", "the callback asked to stop")
    assert found.changes and found.relative_gap < math.inf


@pytest.mark.parametrize("seconds", [1e-4, 0.02])
def test_a_limit_of_time_is_one_of_all_turns(
    wrong: fw.Problem, monkeypatch: pytest.MonkeyPatch, seconds: float
) -> None:
    monkeypatch.setattr("fwdsl.solve.supervisor.Supervisor.is_optimal", lambda over: False)
    found = wrong.solve(time=seconds)
    assert found.status == "tolerance_not_reached"
    assert found.reason == f"the limit of {seconds:g} s"


def test_a_state_after_a_change_goes_on(wrong: fw.Problem) -> None:
    session = wrong._session
    found = wrong.solve(tol=1e-9)
    state = found.state
    assert state.method == found.method
    more = session.solved_with(replace(session.options, method=state.method)).solve(resume=state)
    assert more.status == "optimal"
    assert more.objective == pytest.approx(found.objective, rel=1e-6)


# --- the bound ------------------------------------------------------------------------------------------------------------


def work(solution: Solution, seconds: Mapping[str, float]) -> float:
    """The counted work of a solve: of each part between two changes, at the cost of a pass of its method."""
    first = solution.history[0].method
    marks = [
        (first, 0, 0.0),
        *((c.method, c.iteration, c.passes) for c in solution.changes),
        ("", solution.iterations, solution.passes),
    ]
    return sum(seconds[a[0]] * counted(b[2] - a[2], b[1] - a[1]) for a, b in pairwise(marks))


def test_predictions_up_to_thirty_times_wrong_cost_a_few_times_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """The work of a solve over that of the best method alone; some passes of the first method are free, for nobody knows better at the start."""
    ratios, unchanged = [], []
    rng = np.random.default_rng(0)
    fitted_to = dict(fitted.CONSTANTS)
    for text in (LASSO.replace("0.05", "1e-3"), SIGNS, HINGE, BALL):
        monkeypatch.setattr(fitted, "CONSTANTS", fitted_to)
        problem = bound(text, n=200, p=400)
        able = [c for c in problem.plan().weighed if c.applies and not c.by_name_only and c.estimate is not None]
        seconds = {c.name: c.estimate.seconds / c.estimate.passes for c in able if c.estimate}
        alone = {name: problem.solve(method=name, threads=1, time=2.0) for name in seconds}
        best = min(work(s, seconds) for s in alone.values() if s.status == "optimal")
        for _ in range(4):
            monkeypatch.setattr(fitted, "CONSTANTS", fitted_to)
            scramble(monkeypatch, {name: float(30.0 ** rng.uniform(-1, 1)) for name in seconds})
            wrong = bound(text, n=200, p=400)
            found = wrong.solve(threads=1)
            assert found.status == "optimal"
            free = 1e-3 + LEAST * seconds[found.history[0].method]
            ratios.append((work(found, seconds) - free) / best)
            first = alone[wrong.plan().method]
            unchanged.append(work(first, seconds) / best if first.status == "optimal" else math.inf)
    assert np.median(ratios) <= 2.0
    assert np.mean(np.array(ratios) <= 3.0) >= 0.6
    assert max(ratios) <= 10.0
    assert max(unchanged) > 1.5  # the scrambled predictions do choose worse


def test_the_clock_ends_the_steps_of_a_slow_method_and_nothing_else() -> None:
    """The search for a ray and the verifier are no steps that another method could take over: broken off, they once ended the run as interrupted."""
    problem = SimpleNamespace(passes=0.0)
    task = SimpleNamespace(form=SimpleNamespace(instance=SimpleNamespace(values={})))
    over = Supervisor(task, problem, METHODS["pdhg"], Options(), Journal(0), Control())
    over.until, over.too_slow = 10.0, lambda passes, seconds: True
    assert over.is_slow() and over.must_leave() and over.turn_is_over()
    assert not over.must_stop()
