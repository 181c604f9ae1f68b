"""`--html` on `run`, `race`, `path`, `grid` and `plan`: one page that shows it all and loads nothing."""

from __future__ import annotations

import json
import re
from hashlib import sha256
from pathlib import Path

import pytest

from fwdsl.cli import main
from fwdsl.results.fingerprint import of_array

PROGRAM = """\
problem small

# Least squares with a <penalty> & a bound.
data A: matrix[4, 2] = [[1, 0], [0, 1], [1, 1], [2, 1]], b: vector[4] = [1, 0.5, 0.5, 2]
param r: positive = 1, mu: nonnegative = 0.1
var x: vector[2]
let fit = mean(squared(A @ x, b))
minimize fit + mu * norm1(x)
subject to cap: norm1(x) <= r
"""

COMMANDS = {
    "run": ("run", "fit.fw", "--set", "mu=0.2", "--tol", "1e-7"),
    "race": ("race", "fit.fw", "--methods", "apg,pdhg,lowrank", "--tol", "1e-2"),
    "path": ("path", "fit.fw", "--set", "mu=0.1,0.2,0.4"),
    "grid": ("grid", "fit.fw", "--set", "mu=0.1,0.2", "--set", "r=1,2"),
    "folds": ("path", "fit.fw", "--set", "mu=0.1,0.4", "--folds", "2"),
    "plan": ("plan", "fit.fw"),
    "analyzed plan": ("plan", "fit.fw", "--analyze"),
}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("fit.fw").write_text(PROGRAM)
    return tmp_path


def page_of(*argv: str) -> str:
    assert main([*argv, "--html", "page.html"]) == 0
    return Path("page.html").read_text(encoding="utf-8")


def text_of(page: str) -> str:
    import html

    return html.unescape(re.sub(r"<[^>]*>", "", re.sub(r"<style>.*?</style>", "", page, flags=re.DOTALL)))


@pytest.mark.parametrize("argv", COMMANDS.values(), ids=COMMANDS)
def test_a_page_has_program_record_and_command_and_loads_nothing(argv: tuple[str, ...]):
    page = page_of(*argv)
    text = text_of(page)
    assert page.startswith("<!doctype html>") and page.endswith("</html>\n") and page.count("<h1>") == 1
    assert not re.search(r"https?:|<script|<link|<img|@import|url\(|src=|<penalty>", page)
    assert PROGRAM.strip() in text
    assert f"fwdsl {' '.join(argv)} --html page.html" in text
    for words in ("numpy", "fwdsl", "Methods", "Record", "seed", sha256_of_b()):
        assert words in text, words


def sha256_of_b() -> str:
    import numpy as np

    found = of_array(np.array([1, 0.5, 0.5, 2]))
    assert len(found) == sha256().digest_size * 2
    return found


def test_the_page_of_a_run_says_what_the_answer_rests_on(capsys: pytest.CaptureFixture[str]):
    text = text_of(page_of(*COMMANDS["run"], "--json"))
    form = json.loads(capsys.readouterr().out)
    assert form["status"] == "optimal" and f"{form['objective']:.10g}" in text
    assert form["certificate"]["statement"] in text and "cap" in text and "fit" in text
    assert all(m["reasons"][0] in text for m in form["plan"]["methods"] if m["reasons"])


def test_pages_of_several_solves_have_their_tables(capsys: pytest.CaptureFixture[str]):
    race = text_of(page_of(*COMMANDS["race"]))
    assert "pdhg" in race and "x is no `matrix` variable" in race and "certified relative gap" in race
    path = page_of(*COMMANDS["path"])
    assert path.count('class="chart"') == 2 and "0.4" in text_of(path)
    assert "At the first point, mu = 0.1:" in text_of(path) and "those of the first point" in text_of(path)
    folds = text_of(page_of(*COMMANDS["folds"]))
    assert "mean loss by 2 folds" in folds and "one standard error" in folds and "fit to all samples" in folds


def test_a_plan_without_data_and_one_that_has_run():
    Path("open.fw").write_text(
        "data A: matrix[n, p], b: vector[n]\nvar x: vector[p]\nminimize mean(squared(A @ x, b))\n"
    )
    assert "With data bound" in text_of(page_of("plan", "open.fw"))
    analyzed = text_of(page_of(*COMMANDS["analyzed plan"]))
    assert "predicted" in analyzed and "optimal" in analyzed


def test_endings_other_than_optimal_have_a_page(capsys: pytest.CaptureFixture[str]):
    assert main(["run", "fit.fw", "--max-iter", "0", "--method", "pdhg", "--html", "page.html"]) == 4
    assert "tolerance not reached" in Path("page.html").read_text()
    Path("none.fw").write_text("var x: vector[2]\nminimize sum(x)\nsubject to\n    sum(x) == 1\n    x >= 2\n")
    assert main(["run", "none.fw", "--html", "page.html"]) == 3
    assert "no point meets the constraints" in Path("page.html").read_text()


@pytest.mark.parametrize("argv", COMMANDS.values(), ids=COMMANDS)
def test_a_page_that_cannot_be_written_is_refused_before_solving(
    argv: tuple[str, ...], capsys: pytest.CaptureFixture[str]
):
    for name, said in (
        ("no/page.html", "there is no folder `no`"),
        (".", "it is a folder"),
        ("fit.fw", "would overwrite"),
    ):
        assert main([*argv, "--html", name]) == 1
        out, err = capsys.readouterr()
        assert out == "" and said in err
    assert Path("fit.fw").read_text() == PROGRAM and [p.name for p in Path().iterdir()] == ["fit.fw"]


def test_a_page_is_written_whole_or_not_at_all(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    Path("page.html").write_text("before")

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.replace", fail)
    assert main(["run", "fit.fw", "--html", "page.html"]) == 1
    out, err = capsys.readouterr()
    assert "optimal" in out and "`page.html` cannot be written: no space left on device" in err
    assert Path("page.html").read_text() == "before" and sorted(p.name for p in Path().iterdir()) == [
        "fit.fw",
        "page.html",
    ]


def test_warnings_are_on_the_page_and_the_answer_is_saved_beside_it():
    Path("fit.fw").write_text(PROGRAM.replace("var x", "data unused: vector[3] = [1, 2, 3]\nvar x"))
    page = text_of(page_of("run", "fit.fw", "--out", "fit.npz"))
    assert "warning[FW" in page and "`unused`" in page and Path("fit.npz").exists()
