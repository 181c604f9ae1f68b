"""Races: methods under one clock, every one in the result, whatever became of it."""

from __future__ import annotations

import math
import signal
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fwdsl as fw
from fwdsl.backends.frank_wolfe.plain import FrankWolfeRun
from fwdsl.studies.lanes import RaceLane, lanes, race_options
from fwdsl.studies.race import Race
from fwdsl.studies.race_table import cells, conditions, notes

TEXT = "data A: matrix[n, p], y: vector[n]\nvar x: vector[p] in l1_ball(30)\nminimize mean(squared(A @ x, y))\n"
THREE = ["frank_wolfe(step=line_search)", "apg", "pdhg"]


@pytest.fixture(scope="module")
def problem() -> fw.Problem:
    rng = np.random.default_rng(0)
    A = rng.normal(size=(60, 12))
    return fw.parse(TEXT).bind(A=A, y=A @ rng.normal(size=12) + 0.1 * rng.normal(size=60))


def entering(problem: fw.Problem, methods: list[str] | None) -> tuple[RaceLane, ...]:
    return lanes(problem._session.solved_with(race_options(problem.model)), methods)


@pytest.fixture(scope="module")
def race(problem: fw.Problem) -> Race:
    return problem.race([*THREE, "lowrank"], tol=1e-5, time=20)


def test_every_method_named_is_in_the_result(race: Race) -> None:
    assert {e.name for e in race} == {*THREE, "lowrank"} and len(race) == 4
    assert race.status == "optimal" and not race.interrupted
    assert [race[n].status for n in THREE] == ["optimal"] * 3
    assert race["lowrank"].status == "does not apply" and "matrix" in race["lowrank"].reason
    assert race.entrants[-1].name == "lowrank" and not race["lowrank"].ran
    assert race[THREE[0]].method == "frank_wolfe" and race[THREE[0]].options == {"step": "line_search"}
    with pytest.raises(KeyError):
        race["nobody"]


def test_all_answers_agree_and_are_certified(race: Race) -> None:
    ran = [e for e in race if e.ran]
    for e in ran:
        assert e.solution is not None and e.solution.state is None
        assert e.relative_gap == e.solution.relative_gap <= 1e-5
        assert e.solution.objective == pytest.approx(ran[0].solution.objective, rel=1e-4)  # type: ignore[union-attr]
        assert e.seconds == e.moments[-1].seconds > 0 and e.passes == e.solution.passes
        assert race.distance(e.moments[-1]) <= e.relative_gap + 1e-15
    assert race.contradiction == ""
    assert race.dual_bound == max(e.solution.dual_bound for e in ran)  # type: ignore[union-attr]


def test_order_and_levels(race: Race) -> None:
    assert race.levels == (1e-2, 1e-4, 1e-5)
    times = [e.to(1e-5) for e in race if e.ran]
    assert times == sorted(times)
    for e in race:
        reached = [e.to(level, unit) for unit in ("seconds", "passes") for level in race.levels]  # type: ignore[arg-type]
        assert reached[:3] == sorted(reached[:3]) and reached[3:] == sorted(reached[3:])
        assert all(math.isinf(r) for r in reached) == (not e.ran)
    first = race["apg"]
    assert first.to(1e-4) == next(m.seconds for m in first.moments if m.relative_gap <= 1e-4)


def test_the_table(race: Race) -> None:
    text = repr(race).splitlines()
    assert text[0].split()[:3] == ["method", "status", "gap"] and text[0].endswith("passes to 1e-5")
    assert len({len(line) for line in text[1:4]}) == 1
    assert "lowrank  does not apply: x is no `matrix` variable" in text
    assert text[-1] == conditions(race.options)
    narrow = cells(race.entrants, race.levels, 85)
    assert narrow[0] == ["method", "status", "gap", "passes", "seconds", "s to 1e-5"]
    assert [len(line) for line in narrow] == [6] * 4


def test_the_plain_form(race: Race) -> None:
    form = race.to_json()
    assert (form["status"], form["tol"], form["threads"], form["time"]) == ("optimal", 1e-5, 1, 20.0)
    by_name: dict[str, Any] = {m["name"]: m for m in form["methods"]}
    apg = by_name["apg"]
    assert apg["to"][0]["relative_gap"] == 1e-2 and apg["moments"][-1][-1] == apg["relative_gap"]
    assert by_name["lowrank"]["moments"] == [] and by_name["lowrank"]["objective"] is None


def test_without_names_all_methods_are_entered(problem: fw.Problem) -> None:
    entered = entering(problem, None)
    applies = {c.name: c.applies for c in problem.plan().candidates}
    assert {lane.name: lane.plan is not None for lane in entered} == applies
    assert all(lane.plan is None or lane.plan.method == lane.name for lane in entered)
    assert all(lane.reason for lane in entered if lane.plan is None)


def test_auto_is_the_planners_choice_and_a_name_runs_once(problem: fw.Problem) -> None:
    entered = entering(problem, ["auto", "pdhg", "pdhg"])
    assert [lane.name for lane in entered] == [problem.plan().method, "pdhg"]
    twice = ["pdhg", "gsfw(batch=0.1)", "gsfw( batch = 0.1 )", "gsfw(batch=0.2)", problem.plan().method, "auto"]
    entered = entering(problem, twice)
    assert [lane.name for lane in entered] == ["pdhg", "gsfw(batch=0.1)", "gsfw(batch=0.2)", problem.plan().method]


def test_those_that_do_not_apply_are_told_apart_by_their_options(problem: fw.Problem) -> None:
    race = problem.race(["lowrank(rank=2)", "apg", "lowrank(rank=3)"])
    assert [e.name for e in race if not e.ran] == ["lowrank(rank=2)", "lowrank(rank=3)"]
    assert race["lowrank(rank=3)"].method == "lowrank"


def test_limits_are_the_methods_own(problem: fw.Problem) -> None:
    race = problem.race(["frank_wolfe"], tol=1e-14, max_iter=7)
    (entrant,) = race
    assert race.status == entrant.status == "tolerance_not_reached" and entrant.iterations == 7
    assert notes(race, race.waiting) == ["frank_wolfe  not reached: the limit of 7 iterations"]
    assert math.isfinite(entrant.relative_gap)


def test_options_of_the_program_are_defaults_and_its_method_counts_nothing(problem: fw.Problem) -> None:
    text = TEXT + 'solve tol = 1e-3, seed = 5, method = frank_wolfe(step="open"), max_iter = 3\n'
    task = fw.parse(text).bind(**problem._values)
    race = task.race(["apg"], seed=6)
    o = race.options
    assert (o.tol, o.seed, o.max_iter, o.threads, o.time, o.method) == (1e-3, 6, 3, 1, 10.0, "auto")
    assert race["apg"].iterations <= 3


def test_a_method_that_raises_is_a_row(problem: fw.Problem, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise ValueError("by nothing")

    monkeypatch.setattr(FrankWolfeRun, "step", broken)
    race = problem.race(["frank_wolfe", "apg"])
    assert race["frank_wolfe"].status == "failed" and "ValueError: by nothing" in race["frank_wolfe"].reason
    assert race["apg"].status == race.status == "optimal"


def test_a_method_that_diverges_is_a_row(problem: fw.Problem, monkeypatch: pytest.MonkeyPatch) -> None:
    def away(self: FrankWolfeRun) -> None:
        self.state.iteration += 1
        self.state.x = self.state.x * np.nan

    report = FrankWolfeRun.report
    monkeypatch.setattr(FrankWolfeRun, "step", away)
    monkeypatch.setattr(FrankWolfeRun, "report", lambda run: replace(report(run), objective=float(run.state.x.sum())))
    race = problem.race(["frank_wolfe", "apg"], tol=1e-9)
    assert race["frank_wolfe"].status == "tolerance_not_reached" and "finite" in race["frank_wolfe"].reason
    assert race["apg"].status == "optimal"


def test_a_callback_sees_who_runs_and_ends_the_race(problem: fw.Problem) -> None:
    seen: list[str] = []

    def callback(name: str, _: object) -> bool:
        seen.append(name)
        return name != "frank_wolfe"

    race = problem.race(["apg", "frank_wolfe", "pdhg"], tol=1e-12, time=5, callback=callback)
    assert race.interrupted and race.status == "interrupted"
    assert race["apg"].status == "optimal" and race["frank_wolfe"].status == "interrupted"
    assert "pdhg" not in seen and len(race) == 2
    assert race.waiting == ("pdhg",) and notes(race, race.waiting)[-1] == "interrupted before pdhg ran"


def test_an_error_of_the_callback_is_the_callers(problem: fw.Problem) -> None:
    def callback(*_: object) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        problem.race(["apg"], callback=callback)


def test_ctrl_c_keeps_what_has_finished(problem: fw.Problem) -> None:
    def callback(name: str, _: object) -> None:
        if name == "frank_wolfe":
            signal.raise_signal(signal.SIGINT)

    race = problem.race(["apg", "frank_wolfe", "pdhg"], tol=1e-12, callback=callback)
    assert race.status == "interrupted" and race["apg"].status == "optimal"


def test_a_contradiction_is_found(race: Race) -> None:
    e = race["pdhg"]
    assert e.solution is not None
    c = e.solution.certificate
    wrong = replace(
        e, solution=replace(e.solution, certificate=replace(c, dual_bound=c.objective * 1.01, kind="exact"))
    )
    told = replace(race, entrants=(race["apg"], wrong)).contradiction
    assert "`apg` found a feasible point" in told
    guess = replace(
        e, solution=replace(e.solution, certificate=replace(c, dual_bound=c.objective * 1.01, kind="estimate"))
    )
    assert replace(race, entrants=(race["apg"], guess)).contradiction == ""


@pytest.mark.parametrize(
    ("methods", "code"),
    [
        (["appg"], "FW5002"),
        (["apg", "frank_wolfe(step=3)"], "FW5004"),
        (["apg(nothing=1)"], "FW5004"),
        (["lowrank"], "FW5003"),
        ([], "FW5003"),
        ("apg", "FW0310"),
        (["apg("], "FW0310"),
        ([3], "FW0310"),
    ],
)
def test_what_is_refused(problem: fw.Problem, methods: list[Any], code: str) -> None:
    with pytest.raises(fw.FwError) as error:
        problem.race(methods)
    assert error.value.code == code


def test_the_plot(race: Race, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    race.plot(str(tmp_path / "race.svg"))
    text = (tmp_path / "race.svg").read_text()
    assert text.count("<path") > 20 and len(text) < 150_000
    with pytest.raises(fw.FwError) as error:
        race.plot(str(tmp_path / "race"))
    assert error.value.code == "FW0014"
