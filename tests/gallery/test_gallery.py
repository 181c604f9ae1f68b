"""The gallery: each example and each paper has a script with a picture, and the scripts run."""

from __future__ import annotations

import ast
import runpy
from pathlib import Path

import pytest

pytest.importorskip("matplotlib", reason="the gallery draws with matplotlib")

ROOT = Path(__file__).resolve().parents[2]
GALLERY = ROOT / "docs" / "gallery"
SCRIPTS = sorted(GALLERY.rglob("plot_*.py"))
QUICK = [path for path in SCRIPTS if path.stem in ("plot_lasso", "plot_max_cut")]


def run(path: Path, monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """Run a script in its own folder, and give the axes that it drew on."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    monkeypatch.chdir(path.parent)
    plt.close("all")
    try:
        runpy.run_path(str(path))
        figures = [plt.figure(number) for number in plt.get_fignums()]
        for figure in figures:
            figure.canvas.draw()  # what only drawing finds
        return [axes for figure in figures for axes in figure.axes if axes.has_data()]
    finally:
        plt.close("all")


def described(path: Path) -> tuple[str, str]:
    """The title of a script, and the text below it."""
    title, line, text = (ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or "\n\n").split("\n", 2)
    assert set(line) == {"="} and len(line) == len(title)
    return title, text.strip()


def test_each_example_has_its_picture() -> None:
    scripts = {path.stem.removeprefix("plot_"): path for path in SCRIPTS if path.parent.name != "papers"}
    assert sorted(scripts) == sorted(path.stem for path in (ROOT / "examples").glob("*.fw"))
    for name, path in scripts.items():
        assert f'fw.load("../../../examples/{name}.fw")' in path.read_text(encoding="utf-8"), name


def test_each_paper_has_its_picture() -> None:
    scripts = {path.stem.removeprefix("plot_paper_"): path for path in (GALLERY / "papers").glob("plot_*.py")}
    assert sorted(scripts) == sorted(path.stem for path in (ROOT / "docs" / "papers").glob("*.md"))
    for name, path in scripts.items():
        assert f"</papers/{name}>" in described(path)[1], name


def test_no_two_scripts_have_one_name() -> None:
    # Sphinx-gallery makes addresses of the names alone
    assert len({path.name for path in SCRIPTS}) == len(SCRIPTS)


def test_each_script_says_what_it_shows() -> None:
    titles = []
    for path in SCRIPTS:
        title, text = described(path)
        assert text.endswith(".") and len(text.split()) > 10, path
        titles.append(title)
    assert len(set(titles)) == len(titles) > 40


def test_each_folder_has_a_heading() -> None:
    for folder in {GALLERY, *(path.parent for path in SCRIPTS)}:
        assert (folder / "GALLERY_HEADER.rst").is_file()


@pytest.mark.parametrize("path", QUICK, ids=lambda path: path.stem)
def test_a_quick_script_draws(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert run(path, monkeypatch)


@pytest.mark.slow
@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_a_script_draws(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert run(path, monkeypatch)


def test_a_script_that_fails_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import matplotlib.pyplot as plt

    empty = tmp_path / "plot_empty.py"
    empty.write_text("import matplotlib.pyplot as plt\nplt.subplots()\nplt.show()\n")
    assert run(empty, monkeypatch) == []
    broken = tmp_path / "plot_broken.py"
    broken.write_text("import matplotlib.pyplot as plt\nplt.subplots()\n1 / 0\n")
    with pytest.raises(ZeroDivisionError):
        run(broken, monkeypatch)
    assert plt.get_fignums() == []
