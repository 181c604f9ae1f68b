"""Programs whose constraints the values contradict, in every command that binds values: an answer, not a rejection."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from fwdsl.cli import main

SUM = """\
param r: real = 1
var x: vector[3] in nonnegative
let fit = sum_squares(x - 1)
minimize fit
subject to
    s: sum(x) == r
"""
PROOF = "`sum(x) == r` cannot hold with `x in nonnegative`: the sum of nonnegative numbers is at least 0, not -1"
GIVEN = ["--set", "r=-1"]


@pytest.fixture
def program(tmp_path: Path) -> str:
    (tmp_path / "sum.fw").write_text(SUM)
    return str(tmp_path / "sum.fw")


def run_json(capsys: pytest.CaptureFixture[str], *argv: str) -> tuple[int, dict[str, Any]]:
    code = main([*argv, "--json"])
    return code, json.loads(capsys.readouterr().out)


@pytest.mark.parametrize("more", [[], ["--strict"], ["--method", "frank_wolfe"]])
def test_run(capsys: pytest.CaptureFixture[str], program: str, more: list[str]) -> None:
    code, form = run_json(capsys, "run", program, *GIVEN, *more)
    assert (code, form["status"], form["certificate"]["kind"]) == (3, "infeasible", "exact")
    assert form["certificate"]["statement"] == form["reason"] == PROOF
    assert form["dual_bound"] is None and form["variables"] == {"x": [0.0, 0.0, 0.0]}
    (told,) = form["diagnostics"]
    assert (told["code"], told["severity"], told["message"], told["span"]["line"]) == ("FW5010", "warning", PROOF, 6)


def test_the_stream_ends_with_the_answer(capsys: pytest.CaptureFixture[str], program: str) -> None:
    assert main(["run", program, *GIVEN, "--json-stream"]) == 3
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [line["code"] for line in lines if line["type"] == "diagnostic"] == ["FW5010"]
    assert (lines[-1]["type"], lines[-1]["status"]) == ("solution", "infeasible")


def test_quiet_is_one_line(capsys: pytest.CaptureFixture[str], program: str) -> None:
    assert main(["run", program, *GIVEN, "--quiet"]) == 3
    out, err = capsys.readouterr()
    assert (out, err) == ("infeasible: objective 3, relative gap unknown\n", "")


def test_what_is_saved_can_be_read(capsys: pytest.CaptureFixture[str], program: str, tmp_path: Path) -> None:
    saved, state = str(tmp_path / "s.npz"), tmp_path / "s.state"
    assert main(["run", program, *GIVEN, "--out", saved, "--checkpoint", str(state)]) == 3
    assert not state.exists(), "no method ran, so there is nothing to go on from"
    capsys.readouterr()
    code, form = run_json(capsys, "eval", program, "--solution", saved)
    assert (code, form["values"]["fit"]) == (0, 3.0)


def test_check_and_plan_have_nothing_against_it(capsys: pytest.CaptureFixture[str], program: str) -> None:
    assert main(["check", program]) == 0
    capsys.readouterr()
    code, form = run_json(capsys, "plan", program, *GIVEN)
    assert (code, form["status"]) == (0, "ok")
    assert f"no point meets the constraints: {PROOF}" in form["plan"]["facts"]
    code, form = run_json(capsys, "plan", program, *GIVEN, "--analyze")
    assert (code, form["status"]) == (3, "infeasible")


def test_path_goes_on(capsys: pytest.CaptureFixture[str], program: str) -> None:
    code, form = run_json(capsys, "path", program, "--set", "r=1,-1,3")
    assert (code, form["status"]) == (3, "infeasible")
    assert [p["status"] for p in form["points"]] == ["optimal", "infeasible", "optimal"]
    assert [d["code"] for d in form["diagnostics"]] == ["FW5010"]


def test_race_tells_the_reason(capsys: pytest.CaptureFixture[str], program: str) -> None:
    code, form = run_json(capsys, "race", program, *GIVEN, "--methods", "apg,frank_wolfe", "--time", "1")
    assert (code, form["status"]) == (3, "infeasible")
    assert {(m["status"], m["reason"]) for m in form["methods"]} == {("infeasible", PROOF)}


def test_verify_agrees(capsys: pytest.CaptureFixture[str], program: str, tmp_path: Path) -> None:
    pytest.importorskip("cvxpy")
    code, form = run_json(capsys, "verify", program, *GIVEN)
    assert (code, form["agrees"]) == (3, True)


def test_a_slip_in_the_text_alone_is_refused_by_check_and_run(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file = tmp_path / "slip.fw"
    file.write_text("var x: vector[2] in box(1, 0)\nminimize sum(x)\n")
    for command in ("check", "run"):
        assert main([command, str(file)]) == 2
        assert "error[FW2066]: no number lies between 1 and 0" in capsys.readouterr().err
