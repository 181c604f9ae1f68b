"""`prob.grid` and `fwdsl grid`: several parameters, each solve from the nearest answer."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fwdsl as fw
from fwdsl.cli import main

RNG = np.random.default_rng(3)
X = RNG.normal(size=(40, 5))
Y = X @ [1.0, -2, 0, 0, 0.5] + 0.1 * RNG.normal(size=40)
TEXT = """
data X: matrix[n, p], y: vector[n]
param mu: nonnegative, nu: nonnegative = 1
var w: vector[p]
minimize mean(squared(X @ w, y)) + mu * norm1(w) + nu * sum_squares(w)
"""
PROGRAM = """\
data A: matrix[3, 2] = [[1, 0], [0, 1], [1, 1]], b: vector[3] = [1, 0.5, 0.5]
param r: positive = 1, mu: nonnegative = 0
var x: vector[2]
minimize sum(squared(A @ x, b)) + mu * norm1(x)
subject to norm1(x) <= r
"""


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("fit.fw").write_text(PROGRAM)


def test_a_grid_has_every_combination_and_its_answers_are_those_of_solve():
    problem = fw.parse(TEXT).bind(X=X, y=Y)
    grid = problem.grid({"mu": [1, 0.1], "nu": np.array([0.1, 0.01, 0.001])}, tol=1e-9, threads=1)
    assert grid.parameters == ("mu", "nu") and len(grid) == 6
    assert grid.points == tuple((mu, nu) for mu in (1.0, 0.1) for nu in (0.1, 0.01, 0.001))
    for (mu, nu), solution in zip(grid.points, grid, strict=True):
        alone = problem.bind(mu=mu, nu=nu).solve(tol=1e-9, threads=1)
        assert solution.objective == pytest.approx(alone.objective, rel=1e-7)
    assert len(repr(grid).splitlines()) == 7 and repr(grid).split()[:2] == ["mu", "nu"]


def test_each_solve_starts_from_the_nearest_answer():
    grid = fw.parse(TEXT).bind(X=X, y=Y).grid({"mu": [1, 0.1], "nu": [1, 0.1, 0.01]}, threads=1)
    assert grid[0].start == "zero"
    # (0.1, 1) is further from (1, 0.01), the answer before it, than from (1, 1)
    assert grid[3].start == f"a solution by {grid[0].method} with objective {grid[0].objective:.6g}"
    assert grid[2].start == f"a solution by {grid[1].method} with objective {grid[1].objective:.6g}"


def test_the_table_the_plot_and_the_file(program: None, capsys: pytest.CaptureFixture[str]):
    pytest.importorskip("matplotlib")
    argv = ["grid", "fit.fw", "--set", "r=0.1,2", "--set", "mu=0,0.1,1", "--threads", "1"]
    assert main([*argv, "--plot", "grid.svg", "--out", "grid.npz"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split()[:3] == ["r", "mu", "objective"]
    assert [line.split()[:2] for line in lines[1:]] == [[r, mu] for r in ("0.1", "2") for mu in ("0", "0.1", "1")]
    assert "<svg" in Path("grid.svg").read_text()
    with np.load("grid.npz") as file:
        assert file["x"].shape == (6, 2) and file["at:mu"].tolist() == [0, 0.1, 1, 0, 0.1, 1]
        assert file["points:objective"] == pytest.approx([float(line.split()[2]) for line in lines[1:]], rel=1e-6)
        assert set(file["points:status"]) == {"optimal"}


def test_the_json_form(program: None, capsys: pytest.CaptureFixture[str]):
    assert main(["grid", "fit.fw", "--set", "r=0.1,2", "--set", "mu=0,1", "--json"]) == 0
    form: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert (form["status"], form["parameters"]) == ("optimal", ["r", "mu"])
    assert [p["values"] for p in form["points"]] == [{"r": r, "mu": mu} for r in (0.1, 2.0) for mu in (0.0, 1.0)]
    assert all(p["plan"] is None and p["support"].keys() == {"x"} for p in form["points"])


@pytest.mark.parametrize(
    ("sets", "code", "words"),
    [
        (["r=1"], "FW0026", "no parameter is given several values"),
        (["r=1,2", "r=3,4"], "FW0026", "twice"),
        (["r=linspace(1,2,101)", "mu=linspace(1,2,100)"], "FW0026", "10,100 points"),
        (["r=1,2", "mu=1,a"], "FW0111", ""),
        (["r=1,2", "A=1,2"], "FW4503", "which is data"),
        (["r=1,2", "nu=1,2"], "FW4500", ""),
        (["r=1,2", "mu=1,-2"], "FW4511", ""),
    ],
)
def test_what_is_no_grid(program: None, capsys: pytest.CaptureFixture[str], sets: list[str], code: str, words: str):
    argv = ["grid", "fit.fw", *(part for text in sets for part in ("--set", text)), "--json"]
    assert main(argv) == 1
    found = json.loads(capsys.readouterr().out)["diagnostics"][0]
    assert found["code"] == code and words in found["message"]


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({}, "grid is given no parameter"),
        ([1, 2], "grid is given no parameter"),
        ({"X": [1, 2]}, "no parameter of the program"),
        ({"muu": [1, 2]}, "no parameter of the program"),
        ({"mu": []}, "no list of numbers"),
        ({"mu": [1, 2], "nu": 3}, "no list of numbers"),
    ],
)
def test_what_is_no_grid_in_python(values: Any, words: str):
    with pytest.raises(fw.BuildError) as error:
        fw.parse(TEXT).bind(X=X, y=Y).grid(values)
    assert error.value.code == "FW0313" and words in error.value.first.message


def test_an_interrupted_grid_keeps_what_it_has():
    seen: list[int] = []

    def callback(progress: Any) -> bool:
        seen.append(progress.iteration)
        return seen.count(0) < 3

    grid = fw.parse(TEXT).bind(X=X, y=Y).grid({"mu": [1, 0.1], "nu": [1, 0.1]}, callback=callback, method="apg")
    assert len(grid) == len(grid.points) == 3 and grid[2].status == "interrupted"
