"""The shared parts of the papers' pages: figures that are small and always the same, tables, the page."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

import fwdsl as fw

FOLDER = Path(__file__).resolve().parents[2] / "benchmarks" / "papers"
PROGRAM = """\
data A: matrix[3, 2] = [[1, 0], [0, 1], [1, 1]], b: vector[3] = [1, 0.5, 0.5]
param r: positive = 1
var x: vector[2] in simplex(r)
minimize mean(squared(A @ x, b))
"""


@pytest.fixture
def common(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    """The module as scripts import it, its pages written to a folder of the test."""
    monkeypatch.setattr(sys, "path", [str(FOLDER), *sys.path])
    monkeypatch.setattr(sys, "argv", ["benchmarks/papers/demo/run.py"])
    names = ("common", "machine", "report")
    module = importlib.import_module("common")
    monkeypatch.setattr(module, "FOLDER", tmp_path)
    yield module
    for name in names:
        del sys.modules[name]


def test_a_page_of_races(common: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("matplotlib")
    problem = fw.parse(PROGRAM)
    races = {
        f"r = {r}": common.raced(problem.bind(r=r), ["apg", "frank_wolfe", "lowrank"], name=f"r = {r}", max_iter=30)
        for r in (1, 2)
    }
    assert capsys.readouterr().err.splitlines()[:2] == ["  r = 1 apg", "  r = 1 frank_wolfe"]
    page = common.Page("demo", "A demonstration", claim="It is fast.", data="none")
    page.section("Figure 1", "Two radii.")
    page.races("figure1", races)
    page.races("again", races)
    page.races("distances", races, against="distance", units=("passes",))
    page.verdict("It is.")
    text = page.write().read_text()
    assert text.startswith("# A demonstration\n\n**Claim.** It is fast.\n\n**Verdict.** It is.\n\n- command: `python")
    assert "](demo_figure1.svg)" in text and "](demo_distances.svg)" in text
    rows = [line for line in text.splitlines() if line.startswith("| r = 1")]
    assert len(rows) == 6 and "lowrank" not in "".join(rows)
    assert "Certified relative gap, tolerance 1e-06, 10 s each at most, 1 thread, seed 0" in text
    figure = (tmp_path / "demo_figure1.svg").read_text()
    assert figure.count("<path") > 20 and len(figure) < common.LARGEST


def test_the_same_numbers_give_the_same_bytes(common: ModuleType, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    race = common.raced(fw.parse(PROGRAM), ["frank_wolfe"], max_iter=30)
    written = []
    for _ in range(2):
        common.Page("demo", "A demonstration", claim="", data="").races("figure", {"r": race})
        written.append((tmp_path / "demo_figure.svg").read_bytes())
    assert written[0] == written[1]


def test_a_figure_that_is_too_large_is_refused(common: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("matplotlib")
    monkeypatch.setattr(common, "LARGEST", 1000)
    with pytest.raises(ValueError, match="draw fewer points"):
        common.Page("demo", "", claim="", data="").races("figure", {"r": common.raced(fw.parse(PROGRAM), ["apg"])})


def test_a_quick_run_writes_elsewhere(
    common: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["run.py", "--quick"])
    assert common.quick()
    path = common.Page("demo", "A demonstration", claim="", data="").write()
    assert path.is_file() and tmp_path not in path.parents


def test_a_folder_can_be_named(common: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for more in ([], ["--quick"]):
        monkeypatch.setattr(sys, "argv", ["run.py", *more, "--out", str(tmp_path / "there")])
        assert common.Page("demo", "", claim="", data="").write() == tmp_path / "there" / "demo.md"
    monkeypatch.setattr(sys, "argv", ["run.py", "--out"])
    with pytest.raises(SystemExit, match="needs a folder"):
        common.out()


def test_races_of_different_lengths_say_so(common: ModuleType) -> None:
    pytest.importorskip("matplotlib")
    races = {f"{n}": common.raced(fw.parse(PROGRAM), ["frank_wolfe"], max_iter=n, time=5.0 * n) for n in (3, 4)}
    page = common.Page("demo", "", claim="", data="")
    page.races("figure", races)
    text = page.render()
    assert "- 3: certified" in text and "15 s each" in text and "- 4: certified" in text and "20 s each" in text


def test_a_contradiction_is_no_result(common: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fwdsl.studies.race.Race.contradiction", "one says this, the other that")
    with pytest.raises(AssertionError, match="the other that"):
        common.raced(fw.parse(PROGRAM), ["apg"])
