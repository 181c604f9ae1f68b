"""Notebooks as a front end runs them: a kernel of its own, cells, and what they leave."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

nbclient = pytest.importorskip("nbclient", reason="nbclient is not installed")
nbformat = pytest.importorskip("nbformat", reason="nbformat is not installed")
pytest.importorskip("ipykernel", reason="ipykernel is not installed")

EMPTY = {"text/html": "", "text/plain": ""}

ROOT = Path(__file__).resolve().parents[2]

BEGIN = """\
%load_ext fwdsl
import os, signal
import numpy as np
import fwdsl as fw
rng = np.random.default_rng(0)
X = rng.normal(size=(40, 4))
y = X @ [1.0, -2.0, 0.0, 0.0] + 0.1 * rng.normal(size=40)"""

LASSO = """\
%%fw --set mu=.1 -o sol
param mu: nonnegative
data X: matrix[n, p], y: vector[n]
var w: vector[p]
minimize mean(squared(X @ w, y)) + mu * norm1(w)"""

#: Data that interrupt the kernel in the middle of a solve, as its button does.
INTERRUPTING = """\
calls = 0
A, b = rng.normal(size=(60, 40)), rng.normal(size=60)
def product(x):
    global calls
    calls += 1
    if calls == 200:
        os.kill(os.getpid(), signal.SIGINT)
    return A @ x
M = fw.operator(shape=A.shape, matvec=product, rmatvec=lambda v: A.T @ v)"""


def at_home(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let kernels be of this interpreter and this checkout, whatever the user has installed or configured."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setenv("IPYTHONDIR", str(folder / "ipython"))
    monkeypatch.setenv("JUPYTER_PREFER_ENV_PATH", "1")
    for name in ("DATA", "CONFIG", "RUNTIME"):
        monkeypatch.setenv(f"JUPYTER_{name}_DIR", str(folder / name.lower()))


def executed(cells: Sequence[str], folder: Path, monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The outputs of each cell."""
    at_home(folder, monkeypatch)
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    client = nbclient.NotebookClient(
        notebook, timeout=300, allow_errors=True, kernel_name="python3", resources={"metadata": {"path": str(folder)}}
    )
    client.execute()
    nbformat.validate(notebook)
    return [cell.outputs for cell in notebook.cells]


def test_a_notebook_solves_shows_and_rejects(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    begun, solved, rejected, raised = executed(
        [
            BEGIN,
            LASSO,
            "%%fw\nvar x: vector[k]\nminimize norm(x)",
            "def go():\n    return fw.parse('var x: real\\nminimize norm(x)').solve()\ngo()",
        ],
        tmp_path,
        monkeypatch,
    )
    assert begun == []
    said, result = solved
    assert said.text == "bound from the notebook: X, y\n" and result.output_type == "execute_result"
    assert result.data["text/plain"].startswith("<Solution optimal") and "known by" in result.data["text/html"]
    shown, error = rejected
    assert "^^^^" in shown.data["text/html"] and "^^^^" in shown.data["text/plain"]
    assert error.traceback == ["RejectedError: 1 error, shown above"]
    (error,) = raised
    assert error.traceback[0].startswith("RejectedError at line 2: return fw.parse(") and "^^^^" in "".join(
        error.traceback
    )
    assert "Traceback" not in "".join(error.traceback)


@pytest.mark.slow
def test_an_interrupted_cell_gives_the_best_point(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    solve = (
        "%%fw --data A=M --tol 1e-13 --method apg(newton=false)\ndata A: matrix[n, p], b: vector[n]\nvar x: vector[p]\n"
    )
    outputs = executed(
        [
            BEGIN,
            "from fwdsl.notebook import progress\nprogress.SECONDS_BEFORE = 0",
            INTERRUPTING,
            solve + "minimize mean(squared(A @ x, b)) + 0.001 * norm1(x)",
            "print(_.status, np.isfinite(_.objective), calls < 500)",
            "calls = 0\nfw.parse('data A: matrix[n, p], b: vector[n]\\nvar x: vector[p]\\nminimize mean(squared(A @ x, b)) + 0.001 * norm1(x)')"
            ".bind(A=M, b=b).solve(tol=1e-13, method='apg', newton=False).status",
            "fw.parse('var x: vector[2]\\nminimize norm1(x - 1)').race(['pdhg'], tol=0.1)",
        ],
        tmp_path,
        monkeypatch,
    )
    # the line of progress has gone, and the result stands in its place
    assert [o.output_type for o in outputs[3]] == ["stream", "execute_result"]
    assert "interrupted" in outputs[3][1].data["text/plain"]
    assert outputs[4][0].text == "interrupted True True\n"
    # in other cells it is empty at the end
    assert [dict(o.data) for o in outputs[5]] == [EMPTY, {"text/plain": "'interrupted'"}]
    assert "text/html" in outputs[6][-1].data


@pytest.mark.slow
def test_everything_is_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    pytest.importorskip("matplotlib")
    cells = {
        "problem = fw.parse('''param mu: nonnegative = 0.1\ndata X: matrix[n, p], y: vector[n]\nvar w: vector[p]\n"
        "minimize mean(squared(X @ w, y)) + mu * norm1(w)''').bind(X=X, y=y)\nproblem": "text/html",
        "problem.plan()": "text/html",
        "problem.solve()": "text/html",
        "problem.path(mu=[0.1, 1.0])": "text/html",
        "problem.grid({'mu': [0.1, 1.0]})": "text/html",
        "problem.path(mu=[0.1, 1.0], folds=3)": "text/html",
        "problem.race(['pdhg', 'apg'], tol=0.1)": "text/html",
        "problem.solve().to_frame()": "text/html",
        "problem.solve().to_frame(history=True)": "text/html",
        "problem.solve().plot()": "image/png",
        "problem.path(mu=[0.1, 1.0]).plot()": "image/png",
        "try:\n    problem.bind(Z=1).solve()\nexcept fw.FwError as error:\n    display(error)": "text/html",
    }
    outputs = executed([BEGIN, *cells], tmp_path, monkeypatch)
    for (cell, kind), found in zip(cells.items(), outputs[1:], strict=True):
        assert found and found[-1].output_type != "error", (cell, found)
        assert kind in found[-1].data and "text/plain" in found[-1].data, cell


@pytest.mark.slow
@pytest.mark.parametrize("path", sorted((ROOT / "examples" / "notebooks").glob("*.ipynb")), ids=lambda path: path.stem)
def test_examples_run(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    pytest.importorskip("matplotlib")
    at_home(tmp_path, monkeypatch)
    notebook = nbformat.read(path, 4)
    nbformat.validate(notebook)
    assert all(not cell.outputs for cell in notebook.cells if cell.cell_type == "code"), "outputs are not committed"
    client = nbclient.NotebookClient(
        notebook, timeout=300, kernel_name="python3", resources={"metadata": {"path": str(path.parent)}}
    )
    client.execute()  # raises where a cell does that is not tagged `raises-exception`
    assert any(
        "text/html" in o.get("data", {}) for cell in notebook.cells if cell.cell_type == "code" for o in cell.outputs
    )


@pytest.mark.slow
def test_marimo_shows_the_same():
    marimo = pytest.importorskip("marimo", reason="marimo is not installed")
    import fwdsl as fw

    problem = fw.parse("param mu: nonnegative = 0.1\nvar w: vector[3]\nminimize sum_squares(w - 1) + mu * norm1(w)")
    for value in (
        problem,
        problem.plan(),
        problem.solve(),
        problem.path(mu=[0.1, 1.0]),
        problem.race(["pdhg"], tol=0.1),
    ):
        assert value._repr_html_() in marimo.as_html(value).text
