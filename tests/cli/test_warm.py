"""`fwdsl warm` compiles ahead what programs use."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from fwdsl import words
from fwdsl.cli import main
from fwdsl.session import Raising, Session
from fwdsl.studies.every_word import DIMS, programs
from fwdsl.studies.warm import mocked

WITH_DATA = """\
data A: matrix[3, 2] = [[1, 0], [0, 1], [1, 1]], b: vector[3] = [1, 0.5, 0.5]
var x: vector[2]
minimize mean(squared(A @ x, b))
subject to x in simplex(1)
solve method = apg
"""
WITHOUT_DATA = """\
data X: matrix[n, p], y: vector[n]
param mu: positive
var w: vector[p]
minimize mean(squared(X @ w, y)) + mu * norm1(w)
"""
GROUPED = """\
data X: matrix[n, p], y: vector[n]
var w: vector[p]
minimize mean(squared(X @ w, y)) + group_norm(w, [[0, 1], [2, 3]])
"""
LATER = """
import sys
from fwdsl.cli import main
from fwdsl.backends.kernels import compiled_signatures
assert main(["run", "with.fw", "--quiet"]) == 0
print([compiled_signatures(), [m for m in ("scipy.linalg", "numba.np.arraymath") if m in sys.modules]])
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name, text in {"with.fw": WITH_DATA, "without.fw": WITHOUT_DATA, "grouped.fw": GROUPED}.items():
        Path(name).write_text(text)
    return tmp_path


def told(capsys: pytest.CaptureFixture[str], *argv: str) -> tuple[int, dict[str, Any]]:
    code = main([*argv, "--json"])
    return code, json.loads(capsys.readouterr().out)


def python(*args: str, cache: Path) -> str:
    root = Path(words.__file__).parents[2]
    env = os.environ | {"FWDSL_CACHE_DIR": str(cache), "PYTHONPATH": str(root)}
    return subprocess.run([sys.executable, *args], env=env, capture_output=True, text=True, check=True).stdout


def test_what_is_warm_compiles_nothing_later_and_loads_no_compiler_for_it(tmp_path: Path) -> None:
    warmed = json.loads(python("-m", "fwdsl", "warm", "with.fw", "--json", cache=tmp_path / "kept"))
    (program,) = warmed["programs"].values()
    assert warmed["status"] == "ok" and program["methods"] == ["apg"]
    assert any(signature.startswith("squared.value_gradient(") for signature in program["compiled"])
    assert len([*Path(warmed["folder"]).glob("*.kernel")]) == len(program["compiled"])
    assert python("-c", LATER, cache=tmp_path / "kept").splitlines()[-1] == "[[], []]"


def test_without_data_each_method_that_may_be_chosen_runs_on_random_ones(capsys: pytest.CaptureFixture[str]) -> None:
    code, form = told(capsys, "warm", "without.fw", "--dim", "p=5")
    assert code == 0 and {"apg", "pdhg"} <= set(form["programs"]["without.fw"]["methods"])


def test_matrices_without_a_source_are_dense_single_and_sparse() -> None:
    session = Session(WITHOUT_DATA, "<text>", Path(), Raising())
    matrices = [one.bind().values["X"] for one in mocked(session)]
    assert [getattr(X, "format", X.dtype.name) for X in matrices] == ["float64", "float32", "csr"]


def test_matrices_of_a_sparse_source_are_sparse() -> None:
    text = WITHOUT_DATA.replace("y: vector[n]", 'y: vector[n] from libsvm("a.svm")')
    (session,) = mocked(Session(text, "<text>", Path(), Raising()))
    assert session.bind().values["X"].format == "csr"


def test_a_program_that_cannot_be_warmed_does_not_keep_others_from_it(capsys: pytest.CaptureFixture[str]) -> None:
    Path("bad.fw").write_text("var x: vector[n]\nminimize norm(x)\n")
    assert main(["warm", "bad.fw", "grouped.fw", "with.fw"]) == 2
    printed = capsys.readouterr()
    assert re.fullmatch(r"with\.fw: .*, for apg\n", printed.out)
    assert "FW2050" in printed.err and "FW4523" not in printed.out
    assert "grouped.fw: random data of its types do not fit it; bind its data by `--data NAME=PATH`" in printed.err


def test_no_program_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["warm"]) == 1
    assert "FW0005" in capsys.readouterr().err


def test_every_word_has_a_program_that_is_accepted() -> None:
    named: set[str] = set()
    for text in programs():
        assert mocked(Session(text, "<text>", Path(), Raising()), DIMS)
        named |= set(re.findall(r"\w+", text))
    assert sorted({*words.LOSSES, *words.CONVEX, *words.SETS} - named) == []
