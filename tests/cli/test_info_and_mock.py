"""`fwdsl info` tells what a program takes and gives; `fwdsl mock` makes data that it accepts."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fwdsl.bind.values import Entries
from fwdsl.cli import main

WHOLE = """\
problem everything
data X: matrix[n, p] in nonnegative, y: signs[n] from libsvm("a.svm", features=20)
data c: labels[n, k], task: index[n] of T
data P: psd[p], Q: symmetric[p], D: tensor[n, p, p], s: positive, a: count
data M: entries[r, q], S: entries[r, q] of signs, L: signs[n, k], h: vector[2] = [1, 2]
param mu: nonnegative = 10/n, delta: positive
let Phi = fourier(X, features=30, gamma=0.5)
var B: matrix[r, q], w: vector[p], W: matrix[p, k], u: vector[m], g: vector[dim(Phi)], F: family[T] of psd[p]
let fit = mean(logistic(X @ w, y))
minimize fit + mu * norm1(w) + sum(squared(B[M], M)) + sum_squares(u) + (s + a) * sum(softmax(X @ W, c))
       + mean(hinge(B[S], S)) + quad_form(w, P) + mean(logistic(Phi @ g, y)) + norm2(Q @ w) + dot(h, h)
       + sum(squared(inner(D, F[task]) - X @ w, 0)) + mean(logistic(X @ W, L))
subject to budget: norm1(w) <= delta
"""
DIMS = "n=30,p=6,k=3,T=4,r=8,q=5,m=2,len(M)=12"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("whole.fw").write_text(WHOLE)
    return tmp_path


def told(capsys: pytest.CaptureFixture[str], *argv: str) -> tuple[int, dict[str, Any]]:
    code = main([*argv, "--json"])
    return code, json.loads(capsys.readouterr().out)


def test_info_as_json(capsys: pytest.CaptureFixture[str]):
    code, form = told(capsys, "info", "whole.fw")
    assert (code, form["status"], form["name"], form["sense"]) == (0, "ok", "everything", "minimize")
    data = {d["name"]: d for d in form["data"]}
    assert data["X"]["type"] == "matrix[n, p] in nonnegative" and data["X"]["promise"] == "nonnegative"
    assert data["X"]["path"] == "a.svm" and data["X"]["with"] == ["y"] and not data["X"]["needed"]
    assert data["c"]["needed"] and data["h"]["literal"] and not data["h"]["needed"]
    params = {p["name"]: p for p in form["parameters"]}
    assert params["mu"] == {"name": "mu", "domain": "nonnegative", "default": "10/n", "needed": False}
    assert params["delta"]["needed"] and params["delta"]["default"] is None
    dims = {d["name"]: d for d in form["dimensions"]}
    assert dims["n"]["bound_by"][:2] == ["rows of X", "length of y"]
    assert dims["k"]["bound_by"] == ["classes of c", "columns of L"] and dims["k"]["of_variables"] == ["W"]
    assert dims["T"]["bound_by"] == ["the largest index of task"]
    assert dims["m"] == {"name": "m", "bound_by": [], "of_variables": ["u"], "needed": True}
    assert {"name": None, "text": "mu * norm1(w)"} in form["terms"] and form["terms"][0]["name"] == "fit"
    assert {"name": "budget", "text": "norm1(w) <= delta"} in form["constraints"]
    assert form["lets"] == ["Phi", "fit"]


def test_info_as_text(capsys: pytest.CaptureFixture[str]):
    assert main(["info", "whole.fw"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "minimize everything"
    assert [line for line in lines if line and not line.startswith(" ")][1:] == [
        "data",
        "parameters",
        "variables",
        "dimensions",
        "objective",
        "constraints",
    ]
    words = [line.split() for line in lines]
    assert ["y", "signs[n]", "from", 'libsvm("a.svm",', "features=20)"] in words
    assert ["delta", "positive", "needed:", "--set", "delta=VALUE"] in words
    assert ["m", "needed:", "--dim", "m=SIZE"] in words


def test_info_of_a_rejected_program(capsys: pytest.CaptureFixture[str]):
    Path("bad.fw").write_text("var x: vector[n]\nminimize norm(x)\n")
    code, form = told(capsys, "info", "bad.fw")
    assert (code, form["status"]) == (2, "rejected")
    assert main(["info", "bad.fw", "--jsn"]) == 1
    assert "did you mean `--json`?" in capsys.readouterr().err


def test_mocked_data_keep_their_promises(capsys: pytest.CaptureFixture[str]):
    code, form = told(capsys, "mock", "whole.fw", "--dims", DIMS, "--out", "deep/mk", "--seed", "3")
    assert code == 0, form
    arrays = {n: np.load(f) for n, f in form["files"].items() if f.endswith(".npy")}
    assert arrays["X"].shape == (30, 6) and arrays["X"].min() >= 0
    assert set(np.unique(arrays["y"])) == {-1.0, 1.0} and arrays["L"].shape == (30, 3)
    assert set(np.unique(arrays["c"])) == {0, 1, 2}
    assert arrays["task"].max() == 3 and arrays["task"].min() >= 0
    assert np.array_equal(arrays["Q"], arrays["Q"].T) and np.linalg.eigvalsh(arrays["P"]).min() >= -1e-12
    assert arrays["D"].shape == (30, 6, 6)
    assert arrays["s"] > 0 and arrays["a"] == round(float(arrays["a"]))
    table = np.loadtxt(form["files"]["M"], delimiter=",", skiprows=1)
    assert table.shape == (12, 3) and table[:, 0].max() < 8 and table[:, 1].max() < 5
    signs = np.loadtxt(form["files"]["S"], delimiter=",", skiprows=1)
    assert len(signs) == 4 and set(signs[:, 2]) == {-1.0, 1.0}
    assert "h" not in form["files"] and form["dimensions"]["m"] == 2


def test_mocked_lambdas_do_not_rise(capsys: pytest.CaptureFixture[str]):
    data = "data X: matrix[n, p], y: vector[n], l: vector[p] in nonnegative\nvar w: vector[p]\n"
    for name, text in {
        "norm.fw": f"{data}minimize mean(squared(X @ w, y)) + 0.1 * sorted_l1(w, l)\n",
        "ball.fw": f"{data}minimize mean(squared(X @ w, y))\nsubject to w in sorted_l1_ball(1, 2 * l)\n",
    }.items():
        Path(name).write_text(text)
        capsys.readouterr()
        assert main(["mock", name, "--dims", "n=30,p=6", "--out", name[:-3]]) == 0
        command = shlex.split(capsys.readouterr().out)
        assert np.all(np.diff(np.load(f"{name[:-3]}/l.npy")) <= 0.0)
        assert main(command[1:]) == 0


def test_the_command_that_is_printed_binds_the_data(capsys: pytest.CaptureFixture[str]):
    assert main(["mock", "whole.fw", "--dims", DIMS, "--out", "mk"]) == 0
    command = shlex.split(capsys.readouterr().out)
    assert command[:3] == ["fwdsl", "run", "whole.fw"]
    from fwdsl.cli.arguments import Parser, add_bindings, add_file
    from fwdsl.cli.opening import bindings_of, opened
    from fwdsl.cli.output import Output

    parser = Parser("run", "")
    add_file(parser)
    add_bindings(parser)
    given = bindings_of(parser.parse(command[2:]))
    assert given.params == {"delta": 1.0}
    assert given.dims == {"T": 4, "r": 8, "q": 5, "m": 2}
    instance = opened("whole.fw", Output(), given).bind()
    assert {n: instance.dims[n] for n in "npkTrqm"} == {"n": 30, "p": 6, "k": 3, "T": 4, "r": 8, "q": 5, "m": 2}
    assert isinstance(instance.values["M"], Entries) and instance.values["M"].shape == (8, 5)


def test_a_mocked_program_runs(capsys: pytest.CaptureFixture[str]):
    Path("fit.fw").write_text(
        'data X: matrix[n, p], y: signs[n] from libsvm("none.svm")\nvar w: vector[p]\n'
        "minimize mean(logistic(X @ w, y)) + 0.1 * sum_squares(w)\n"
    )
    assert main(["mock", "fit.fw", "--dims", "n=20,p=3", "--out", "mk"]) == 0
    command = shlex.split(capsys.readouterr().out)
    assert main([*command[1:], "--quiet"]) == 0
    assert capsys.readouterr().out.startswith("optimal")


def test_the_seed_decides(capsys: pytest.CaptureFixture[str]):
    Path("v.fw").write_text("data v: vector[n]\nvar x: vector[n]\nminimize sum_squares(x - v)\n")
    seen = []
    for seed in ("0", "0", "1"):
        assert main(["mock", "v.fw", "--dims", "n=4", "--out", "mk", "--seed", seed]) == 0
        seen.append(np.load("mk/v.npy").tolist())
    assert seen[0] == seen[1] != seen[2]
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("argv", "code", "word"),
    [
        (["--dims", "n=30", "--out", "mk"], "FW0020", "`--dims n=1000,p=50,k=5"),
        (["--dims", DIMS + ",kk=3", "--out", "mk"], "FW0021", "did you mean `k`?"),
        (["--dims", DIMS.replace("k=3", "k=31"), "--out", "mk"], "FW0022", "larger"),
        (["--dims", DIMS.replace("n=30", "n=1_000_000_000"), "--out", "mk"], "FW0023", "smaller"),
        (["--dims", DIMS], "FW0024", "`--out DIR`"),
        (["--dims", "n30", "--out", "mk"], "FW0120", "--dims"),
        (["--dims", "n=0", "--out", "mk"], "FW0121", "--dims n=5"),
        (["--dims", DIMS, "--out", "whole.fw"], "FW0013", "folder"),
        (["--dims", DIMS, "--out", "mk", "--seed", "x"], "FW0004", "--seed"),
    ],
)
def test_what_mock_cannot_make(capsys: pytest.CaptureFixture[str], argv: list[str], code: str, word: str):
    exit_code, form = told(capsys, "mock", "whole.fw", *argv)
    assert exit_code == 1 and form["status"] == "rejected"
    found = [d for d in form["diagnostics"] if d["severity"] == "error"]
    assert found[0]["code"] == code and word in found[0]["hint"]


def test_mock_takes_dim_as_other_commands_do(capsys: pytest.CaptureFixture[str]):
    written = []
    for argv in (["--dims", DIMS], [part for size in DIMS.split(",") for part in ("--dim", size)]):
        code, form = told(capsys, "mock", "whole.fw", *argv, "--out", "mk")
        assert code == 0
        written.append(form["dimensions"])
    assert written[0] == written[1]


def test_an_unknown_option_is_told_once(capsys: pytest.CaptureFixture[str]):
    code, form = told(capsys, "mock", "whole.fw", "--size", "n=5", "--size", "p=2", "--out", "mk")
    assert code == 1 and [d["message"] for d in form["diagnostics"]] == ["`fwdsl mock` has no option `--size`"]
