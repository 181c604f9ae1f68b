"""`fwdsl path`: one parameter, several values, each solve from the answer before."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fwdsl.cli import main
from fwdsl.cli.exits import CommandStop
from fwdsl.cli.sweep import split_sets

PROGRAM = """\
data A: matrix[3, 2] = [[1, 0], [0, 1], [1, 1]], b: vector[3] = [1, 0.5, 0.5]
param r: positive = 1, mu: nonnegative = 0
var x: vector[2]
minimize sum(squared(A @ x, b)) + mu * norm1(x)
subject to norm1(x) <= r
"""


@pytest.fixture(autouse=True)
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("fit.fw").write_text(PROGRAM)


def test_the_table(capsys: pytest.CaptureFixture[str]):
    assert main(["path", "fit.fw", "--set", "r=0.1,0.2,2", "--threads", "1"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["r", "objective", "relative", "gap", "support", "passes", "seconds", "status"]
    assert [line.split()[0] for line in lines[1:]] == ["0.1", "0.2", "2"]
    assert {line.split()[-1] for line in lines[1:]} == {"optimal"}
    assert [line.split()[3] for line in lines[1:]] == ["1", "1", "2"]


def test_the_json_form_and_warm_starts(capsys: pytest.CaptureFixture[str]):
    argv = ["path", "fit.fw", "--set", "r=logspace(0.1,1,3)", "--set", "mu=0.01", "--json", "--tol", "1e-8"]
    assert main(argv) == 0
    form: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert (form["status"], form["parameter"]) == ("optimal", "r")
    assert [p["value"] for p in form["points"]] == pytest.approx([0.1, np.sqrt(0.1), 1.0])
    objectives = [p["objective"] for p in form["points"]]
    assert objectives == sorted(objectives, reverse=True)
    assert form["points"][0]["start"] == "zero"
    assert all(p["start"].startswith("a solution by") for p in form["points"][1:])
    assert all(p["relative_gap"] <= 1e-8 and p["plan"] is None for p in form["points"])
    assert form["points"][0]["support"] == {"x": 1}


def test_a_path_is_what_its_points_are(capsys: pytest.CaptureFixture[str]):
    assert main(["path", "fit.fw", "--set", "r=2,0.5", "--json", "--tol", "1e-9"]) == 0
    points = json.loads(capsys.readouterr().out)["points"]
    for point in points:
        assert main(["run", "fit.fw", "--set", f"r={point['value']}", "--json", "--tol", "1e-9"]) == 0
        alone = json.loads(capsys.readouterr().out)
        assert point["objective"] == pytest.approx(alone["objective"], abs=1e-8)


def test_a_limit_ends_one_solve_and_not_the_path(capsys: pytest.CaptureFixture[str]):
    argv = ["path", "fit.fw", "--set", "r=0.1,0.5", "--method", "pdhg", "--tol", "1e-300", "--max-iter", "2", "--json"]
    assert main(argv) == 4
    form = json.loads(capsys.readouterr().out)
    assert form["status"] == "tolerance_not_reached" and len(form["points"]) == 2


def test_a_value_out_of_its_domain_is_found_before_any_solve(capsys: pytest.CaptureFixture[str]):
    assert main(["path", "fit.fw", "--set", "r=1,2,-3", "--json"]) == 1
    form = json.loads(capsys.readouterr().out)
    assert form["status"] == "rejected" and form["diagnostics"][0]["code"] == "FW4511"


def test_the_plot(capsys: pytest.CaptureFixture[str]):
    pytest.importorskip("matplotlib")
    assert main(["path", "fit.fw", "--set", "r=0.1,0.5,5", "--plot", "path.svg"]) == 0
    assert Path("path.svg").read_text().count("<path") > 3
    assert main(["path", "fit.fw", "--set", "r=0.1,0.5", "--plot", "path"]) == 1
    assert "error[FW0014]" in capsys.readouterr().err


def test_the_values():
    assert split_sets(["mu=1", "r=1, 2e-1,1_000"], "path") == ({"r": (1.0, 0.2, 1000.0)}, ["mu=1"])
    values, rest = split_sets(["r = logspace(1, 100, 3)"], "path")
    assert rest == [] and values["r"] == pytest.approx((1, 10, 100))
    assert split_sets(["r=linspace(5,1,5)"], "path")[0] == {"r": (5.0, 4.0, 3.0, 2.0, 1.0)}
    assert split_sets(["r=1,2", "mu=3,4"], "grid")[0] == {"r": (1.0, 2.0), "mu": (3.0, 4.0)}


@pytest.mark.parametrize(
    ("sets", "code"),
    [
        ([], "FW0026"),
        (["r=1"], "FW0026"),
        (["r=1,2", "mu=1,2"], "FW0026"),
        (["r=1,x"], "FW0111"),
        (["r=1,,2"], "FW0111"),
        (["r=geomspace(1,2,3)"], "FW0027"),
        (["r=logspace(1,2)"], "FW0027"),
        (["r=logspace(0,2,3)"], "FW0027"),
        (["r=logspace(1,2,1)"], "FW0027"),
        (["r=linspace(1,2,2.5)"], "FW0027"),
        (["2r=1,2"], "FW0101"),
    ],
)
def test_values_that_are_none(sets: list[str], code: str):
    with pytest.raises(CommandStop) as stop:
        split_sets(sets, "path")
    (found,) = stop.value.diagnostics
    assert found.code == code
    if code in ("FW0026", "FW0027") and len(sets) < 2:
        assert f"`--set {'r' if sets else 'NAME'}=0.1,1,10`" in found.hint


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("1,,.5", "between two commas"),
        (",1", "before the first comma"),
        ("1, ", "behind the last comma"),
        ("logspace(1,,3)", "between two commas"),
    ],
)
def test_an_empty_value_is_told_with_its_place(text: str, where: str):
    with pytest.raises(CommandStop) as stop:
        split_sets([f"mu={text}"], "path")
    (found,) = stop.value.diagnostics
    assert f"`--set mu={text}`" in found.message and f"value {where} is empty" in found.message


def test_an_unknown_parameter(capsys: pytest.CaptureFixture[str]):
    assert main(["path", "fit.fw", "--set", "mv=1,2"]) == 1
    assert "error[FW4500]" in capsys.readouterr().err
