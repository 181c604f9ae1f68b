"""`fwdsl race`: several methods, one clock, one table."""

from __future__ import annotations

import json
import math
import signal
from pathlib import Path
from typing import Any

import pytest

import fwdsl as fw
from fwdsl.backends.frank_wolfe.plain import FrankWolfeRun
from fwdsl.cli import main
from fwdsl.cli.arguments import methods
from fwdsl.cli.exits import CommandStop
from fwdsl.cli.output import Output
from fwdsl.cli.racing import show_table
from fwdsl.cli.terminal import Style

PROGRAM = """\
data A: matrix[3, 2] = [[1, 0], [0, 1], [1, 1]], b: vector[3] = [1, 0.5, 0.5]
param r: positive = 1
var x: vector[2] in simplex(r)
minimize sum(squared(A @ x, b))
"""


@pytest.fixture(autouse=True)
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("fit.fw").write_text(PROGRAM)


def test_the_table(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["race", "fit.fw", "--methods", "apg,frank_wolfe(step=line_search),lowrank"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert (
        lines[0].split()
        == (
            "method status gap iterations passes seconds s to 1e-2 s to 1e-4 s to 1e-6 passes to 1e-2 passes to 1e-4 passes to 1e-6"
        ).split()
    )
    assert {line.split()[0] for line in lines[1:3]} == {"apg", "frank_wolfe(step=line_search)"}
    assert {line.split()[1] for line in lines[1:3]} == {"optimal"}
    assert lines[3:] == [
        "",
        "lowrank  does not apply: x is no `matrix` variable",
        "",
        "certified relative gap, tolerance 1e-06, 10 s each at most, 1 thread, seed 0; the verifier's time is not counted",
    ]


def test_the_json_form_and_the_options(capsys: pytest.CaptureFixture[str]) -> None:
    argv = ["race", "fit.fw", "--methods", "apg,pdhg", "--json", "--set", "r=2", "--tol", "1e-4", "--time", "5 s"]
    assert main([*argv, "--seed", "3", "--threads", "2"]) == 0
    form: dict[str, Any] = json.loads(capsys.readouterr().out)
    given = {key: form[key] for key in ("status", "tol", "gap", "time", "seed", "threads", "diagnostics")}
    assert given == {
        "status": "optimal",
        "tol": 1e-4,
        "gap": "relative",
        "time": 5.0,
        "seed": 3,
        "threads": 2,
        "diagnostics": [],
    }
    assert main(["run", "fit.fw", "--set", "r=2", "--json"]) == 0
    best = json.loads(capsys.readouterr().out)["objective"]
    for entrant in form["methods"]:
        assert entrant["status"] == "optimal" and entrant["relative_gap"] <= 1e-4
        assert entrant["dual_bound"] - 1e-9 <= best <= entrant["objective"] + 1e-9
        assert [to["relative_gap"] for to in entrant["to"]] == [1e-2, 1e-4]
        assert all(to["seconds"] <= entrant["seconds"] for to in entrant["to"])


def test_a_limit(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["race", "fit.fw", "--methods", "pdhg", "--max-iter", "2", "--tol", "1e-300"]) == 4
    out = capsys.readouterr().out
    assert "not reached" in out and "pdhg  not reached: the limit of 2 iterations" in out


def test_an_interruption_keeps_what_has_finished(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    step = FrankWolfeRun.step

    def interrupted(self: FrankWolfeRun) -> None:
        signal.raise_signal(signal.SIGINT)
        step(self)

    monkeypatch.setattr(FrankWolfeRun, "step", interrupted)
    assert main(["race", "fit.fw", "--methods", "apg,frank_wolfe,pdhg"]) == 130
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[:2] for line in lines[1:3]] == [["apg", "optimal"], ["frank_wolfe", "interrupted"]]


def test_a_failure_is_a_row(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any) -> None:
        raise RuntimeError("no step")

    monkeypatch.setattr(FrankWolfeRun, "step", broken)
    assert main(["race", "fit.fw", "--methods", "frank_wolfe,apg"]) == 0
    assert "frank_wolfe  failed: a bug of fwdsl: RuntimeError: no step" in capsys.readouterr().out


def test_a_contradiction_ends_as_a_bug(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fwdsl.studies.race.Race.contradiction", "`apg` says one thing")
    assert main(["race", "fit.fw", "--methods", "apg"]) == 70
    told = capsys.readouterr()
    assert "error[FW9002]" in told.err and "`apg` says one thing" in told.err and told.out.startswith("method")


def test_the_plot(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("matplotlib")
    assert main(["race", "fit.fw", "--methods", "apg,pdhg", "--plot", "race.svg"]) == 0
    assert Path("race.svg").read_text().count("<path") > 10


@pytest.mark.parametrize(
    ("argv", "exit_code", "code"),
    [
        (["--methods", ""], 1, "FW0004"),
        (["--methods", "apg,"], 1, "FW0004"),
        (["--methods", "apg(step"], 1, "FW0004"),
        (["--methods", "fista"], 1, "FW5002"),
        (["--methods", "apg(newton=7)"], 1, "FW5004"),
        (["--methods", "lowrank"], 1, "FW5003"),
        (["--method", "apg"], 1, "FW0002"),
        (["--time", "soon"], 1, "FW0004"),
        (["--plot", "nowhere/race.svg"], 1, "FW0013"),
        (["--plot", "race"], 1, "FW0014"),
        (["--set", "q=1"], 1, "FW4500"),
    ],
)
def test_what_is_refused(argv: list[str], exit_code: int, code: str, capsys: pytest.CaptureFixture[str]) -> None:
    if code == "FW0014":
        pytest.importorskip("matplotlib")
    assert main(["race", "fit.fw", *argv]) == exit_code
    told = capsys.readouterr()
    assert f"error[{code}]" in told.err and told.out == ""


def test_an_unknown_method_is_suggested(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["race", "fit.fw", "--methods", "apg,frank_wolf", "--json"]) == 1
    form = json.loads(capsys.readouterr().out)
    assert form["status"] == "rejected" and form["diagnostics"][0]["hint"] == "did you mean `frank_wolfe`?"


def test_methods_are_cut_at_commas_outside_of_brackets() -> None:
    check = methods("--methods")
    assert check("apg, frank_wolfe(step=open)") == ["apg", "frank_wolfe(step=open)"]
    assert check("a(b=1, c=2),d") == ["a(b=1, c=2)", "d"]
    with pytest.raises(CommandStop):
        check("a;b")


def test_numbers_that_are_not_finite_are_null(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["race", "fit.fw", "--methods", "apg,lowrank", "--json"]) == 0
    text = capsys.readouterr().out
    assert "NaN" not in text and "Infinity" not in text
    last = json.loads(text)["methods"][-1]
    assert last["seconds"] is None and last["reason"] == "x is no `matrix` variable"
    assert not math.isnan(json.loads(text)["dual_bound"])


@pytest.mark.parametrize("term", ["xterm", "dumb"])
def test_a_table_on_a_terminal_is_never_cut(
    term: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TERM", term)
    race = fw.load("fit.fw").race(["apg", "frank_wolfe(step=line_search)"])
    for width in (20, 60, 200):
        monkeypatch.setattr("fwdsl.cli.racing.style_of", lambda _stream, width=width: Style(True, False, True, width))
        show_table(race, Output())
        lines = capsys.readouterr().out.splitlines()
        assert lines[0].split()[:3] == ["method", "status", "gap"] and "…" not in "".join(lines)
        assert {line.split()[0] for line in lines[2:4]} == {"apg", "frank_wolfe(step=line_search)"}
        assert ("passes to 1e-6" in lines[0]) == (width == 200)
