"""A solution as text, as JSON and as a file."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import IO

import numpy as np
import pytest

from fwdsl.certify.certificate import Certificate
from fwdsl.cli.progress import Throttle, progress_line
from fwdsl.cli.report import one_line, solution_text
from fwdsl.files.target import write_atomically
from fwdsl.results.json_form import dumps, solution_json
from fwdsl.results.solution import Progress, Solution, Times, analysis

SOLUTION = Solution(
    status="optimal",
    certificate=Certificate("exact", 0.25, 0.2499999, 1e-7, 4e-7, 0.0, 1.0, "the dual of an l1 ball"),
    variables={"beta": np.array([0.0, 1.5, 0.0, 2.0, 0.0, 0.0, 0.0]), "b": np.float64(0.5), "record": np.ones(2)},
    dual={"c1": np.float64(0.125)},
    terms={"fit": 0.25},
    method="apg",
    iterations=12,
    passes=25.5,
    verify_passes=2.0,
    reason="",
    times=Times(0.1, 0.2, 0.05, 1.0, 0.25),
    record={"program": "minimize 1"},
)


def rows(solution: Solution) -> dict[str, str]:
    return dict(line.split("  ", 1) for line in solution_text(solution).splitlines())


def test_the_text_has_a_fact_a_line():
    told = {name: value.strip() for name, value in rows(SOLUTION).items()}
    assert told == {
        "status": "optimal",
        "objective": "0.25",
        "dual bound": "0.2499999",
        "gap": "1e-07 (relative 4e-07)",
        "known by": "exact: the dual of an l1 ball",
        "method": "apg: 12 iterations, 25.5 data passes and 2 to verify",
        "time": "1.35 s: compile 0.10 s, load 0.20 s, plan 0.05 s, solve 1.00 s (verify 0.25 s)",
        "term fit": "0.25",
        "beta": "2 of 7 entries are not zero",
        "b": "0.5",
        "record": "[1, 1]",
    }


def test_seconds_of_compiling_kernels_are_told_where_there_are_any():
    solution = replace(SOLUTION, times=replace(SOLUTION.times, kernels=0.75))
    assert rows(solution)["time"].strip().endswith("solve 1.00 s (compiling kernels 0.75 s, verify 0.25 s)")
    assert solution_json(solution)["time"]["kernels"] == 0.75
    plan = SimpleNamespace(chosen=SimpleNamespace(estimate=None))
    assert analysis(plan.chosen.estimate, solution)["seconds"] == {"predicted": None, "actual": 0.25}


def test_there_is_no_negative_zero():
    assert rows(replace(SOLUTION, variables={"x": [-0.0, 1.0]}))["x"].strip() == "[0, 1]"


@pytest.mark.parametrize(
    ("status", "words"),
    [
        ("tolerance_not_reached", "tolerance not reached (the limit of 10 iterations)"),
        ("infeasible", "infeasible: no point meets the constraints (the limit of 10 iterations)"),
        ("interrupted", "interrupted (the limit of 10 iterations)"),
    ],
)
def test_other_statuses_say_why(status: str, words: str):
    solution = replace(SOLUTION, status=status, reason="the limit of 10 iterations")
    assert rows(solution)["status"].strip() == words
    assert one_line(solution).startswith(f"{status}: ")


def test_an_unknown_gap_is_said_to_be_unknown():
    certificate = replace(SOLUTION.certificate, kind="none", dual_bound=-math.inf, gap=math.inf, relative_gap=math.inf)
    assert rows(replace(SOLUTION, certificate=certificate))["gap"].strip() == "unknown (relative unknown)"


def test_json_is_what_the_language_promises():
    form = json.loads(dumps(solution_json(SOLUTION)))
    promised = (
        "status certificate infeasibility objective dual_bound gap relative_gap method iterations passes time variables "
        "plan"
    )
    assert set(promised.split()) <= set(form)
    assert set(form["time"]) >= {"compile", "load", "solve"}
    assert form["variables"]["beta"] == [0.0, 1.5, 0.0, 2.0, 0.0, 0.0, 0.0]
    assert form["variables"]["b"] == 0.5


def test_json_leaves_out_the_values_of_large_variables():
    large = replace(SOLUTION, variables={"W": np.zeros((101, 100)), "x": np.zeros(10_000)})
    variables = solution_json(large)["variables"]
    assert variables["W"] == {"shape": [101, 100], "values": None}
    assert len(variables["x"]) == 10_000


def test_json_has_null_for_what_is_not_finite():
    text = dumps(
        {"a": math.inf, "b": [math.nan, np.float64("-inf"), np.array([1.0, np.nan])], "c": np.int64(3), "d": True}
    )
    assert json.loads(text) == {"a": None, "b": [None, None, [1.0, None]], "c": 3, "d": True}


def test_a_failing_save_leaves_what_was_there(tmp_path: Path):
    file = tmp_path / "fit.npz"
    file.write_bytes(b"before")

    def write(stream: IO[bytes]) -> None:
        stream.write(b"half")
        raise OSError("no space left")

    with pytest.raises(OSError, match="no space"):
        write_atomically(str(file), write)
    assert file.read_bytes() == b"before"
    assert [path.name for path in tmp_path.iterdir()] == ["fit.npz"]


def test_a_rewritten_file_keeps_its_mode_and_its_links(tmp_path: Path):
    file, link = tmp_path / "a.fw", tmp_path / "b.fw"
    file.write_bytes(b"before")
    file.chmod(0o640)
    link.symlink_to(file)
    write_atomically(str(link), lambda stream: stream.write(b"after") and None)
    assert (file.read_bytes(), link.is_symlink(), file.stat().st_mode & 0o777) == (b"after", True, 0o640)


def test_progress_is_shown_at_once_and_then_ten_times_a_second():
    now = [0.0]
    due = Throttle(lambda: now[0])
    shown = []
    for tick in range(30):
        now[0] = tick * 0.01
        if due("solve"):
            shown.append(tick)
    assert shown[0] == 0
    assert 2 <= len(shown) <= 4
    assert due("verify")


def test_a_line_of_progress():
    progress = Progress("Newton", "apg", 12, 25.0, 1.25, 0.5, 0.4, 0.2)
    assert progress_line(progress, 1e-6) == (
        "gap 2.0e-01 of 1e-06  objective 0.5  1.2 s  12 iterations  25 passes  apg: Newton"
    )
    assert "gap unknown" in progress_line(replace(progress, relative_gap=math.inf), 1e-6)
