"""`fwdsl verify`: a solution against its certificate and against cvxpy."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fwdsl.cli import main

pytest.importorskip("cvxpy")

PROGRAM = """\
data A: matrix[3, 2] = [[1, 0], [0, 1], [1, 1]], b: vector[3] = [1, 0, 0.5]
param r: positive = 1
var x: vector[2]
minimize mean(squared(A @ x, b)) + norm1(A @ x)
subject to budget: x in simplex(r)
"""


@pytest.fixture
def saved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A program beside its saved solution, in the current folder."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "fit.fw").write_text(PROGRAM)
    assert main(["run", "fit.fw", "--out", "fit.npz", "--quiet"]) == 0
    return tmp_path / "fit.npz"


def changed(file: Path, change: Callable[[dict[str, Any], dict[str, Any]], None]) -> None:
    """Save the solution again after a change of its arrays and record."""
    with np.load(file, allow_pickle=False) as old:
        arrays = {name: old[name] for name in old.files}
    record = json.loads(str(arrays.pop("record")))
    change(arrays, record)
    np.savez(file, record=np.array(json.dumps(record)), **arrays)


@pytest.mark.usefixtures("saved")
def test_a_fresh_and_a_saved_solution_agree(capsys: pytest.CaptureFixture[str]):
    for argv in (["fit.fw"], ["fit.fw", "--solution", "fit.npz"]):
        capsys.readouterr()
        assert main(["verify", *argv]) == 0
        out = capsys.readouterr().out
        assert "certificate: agrees" in out and "cvxpy: agrees" in out


FAMILY = """\
data U: matrix[6, 2] = [[1, 0], [0, 1], [1, 1], [2, 1], [1, -1], [0, 2]], y: vector[6] = [1, 0, 0.5, 2, -1, 1],
     t: index[6] of 3 = [0, 1, 2, 0, 1, 1]
var F: family[3] of psd[2], G: family[3] of vector[2] in l1_ball(0.7)
minimize mean(squared(quad(U, F[t]) - inner(U, G[t]), y)) + 0.1 * norm_nuc(F + 2 * F) + 0.2 * norm2(G) + sum_squares(F[0])
subject to F[1] in spectrahedron(1), tie: G[0] == G[2]
"""


@pytest.mark.usefixtures("saved")
def test_families_are_verified_and_a_false_claim_of_theirs_is_found(capsys: pytest.CaptureFixture[str]):
    Path("family.fw").write_text(FAMILY)
    assert main(["run", "family.fw", "--out", "family.npz", "--tol", "1e-8", "--quiet"]) == 0
    assert main(["verify", "family.fw", "--solution", "family.npz"]) == 0
    out = capsys.readouterr().out
    assert "certificate: agrees" in out and "cvxpy: agrees" in out

    def move(arrays: dict[str, Any], record: dict[str, Any]) -> None:
        arrays["F"] = arrays["F"] + 0.2 * np.eye(2)

    changed(Path("family.npz"), move)
    assert main(["verify", "family.fw", "--solution", "family.npz"]) == 1
    assert "certificate: DISAGREES: the objective at the solution" in capsys.readouterr().out


@pytest.mark.parametrize("field", ["objective", "dual_bound"])
def test_a_false_claim_is_found(capsys: pytest.CaptureFixture[str], saved: Path, field: str):
    def claim(arrays: dict[str, Any], record: dict[str, Any]) -> None:
        record[field] += 0.01

    changed(saved, claim)
    assert main(["verify", "fit.fw", "--solution", "fit.npz", "--json"]) == 1
    form = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert not form["agrees"] and not form["recheck"]["agrees"]


def test_another_point_is_found(capsys: pytest.CaptureFixture[str], saved: Path):
    def move(arrays: dict[str, Any], record: dict[str, Any]) -> None:
        arrays["x"] = np.array([0.5, 0.5])

    changed(saved, move)
    assert main(["verify", "fit.fw", "--solution", "fit.npz"]) == 1
    assert "certificate: DISAGREES" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("argv", "code"),
    [
        (["fit.fw", "--solution", "absent.npz"], "FW0016"),
        (["fit.fw", "--solution", "fit.fw"], "FW0016"),
        (["other.fw", "--solution", "fit.npz"], "FW0017"),
        (["fit.fw", "--set", "r=2", "--solution", "fit.npz"], "FW0017"),
    ],
)
def test_a_file_that_does_not_belong_here(capsys: pytest.CaptureFixture[str], saved: Path, argv: list[str], code: str):
    saved.with_name("other.fw").write_text("var z: vector[2]\nminimize sum_squares(z)\n")
    capsys.readouterr()
    assert main(["verify", *argv]) == 1
    assert capsys.readouterr().err.startswith(f"error[{code}]: ")


def _shape(arrays: dict[str, Any], record: dict[str, Any]) -> None:
    arrays["x"] = np.ones(3)


def _words(arrays: dict[str, Any], record: dict[str, Any]) -> None:
    arrays["x"] = np.array(["a", "b"])


def _nan(arrays: dict[str, Any], record: dict[str, Any]) -> None:
    arrays["x"] = np.array([np.nan, 1.0])


def _dual(arrays: dict[str, Any], record: dict[str, Any]) -> None:
    name = next(name for name in arrays if name.startswith("dual:") and arrays[name].size == 3)
    arrays[name] = arrays[name][:2]


def _status(arrays: dict[str, Any], record: dict[str, Any]) -> None:
    record["status"] = "solved"


def _seconds(arrays: dict[str, Any], record: dict[str, Any]) -> None:
    record["time"] = ["solve", 1]


def _no_certificate(arrays: dict[str, Any], record: dict[str, Any]) -> None:
    record["certificate"] = None


def _no_fingerprints(arrays: dict[str, Any], record: dict[str, Any]) -> None:
    record["fingerprints"] = None


@pytest.mark.parametrize(
    "change",
    [_shape, _words, _nan, _dual, _status, _seconds, _no_certificate, _no_fingerprints],
    ids=lambda c: c.__name__,
)
def test_a_saved_answer_that_was_tampered_with_is_none(
    capsys: pytest.CaptureFixture[str], saved: Path, change: Callable[[dict[str, Any], dict[str, Any]], None]
):
    changed(saved, change)
    assert main(["verify", "fit.fw", "--solution", "fit.npz"]) == 1
    assert "error[FW0016]: `fit.npz` holds no solution of this program" in capsys.readouterr().err


@pytest.mark.parametrize("record", ["", "[" * 100_000, "null", "[]", "{}", "1"])
def test_a_saved_answer_without_a_record_is_none(capsys: pytest.CaptureFixture[str], saved: Path, record: str):
    np.savez(saved, x=np.ones(2), record=np.array(record))
    for command in ("verify", "eval"):
        assert main([command, "fit.fw", "--solution", "fit.npz"]) == 1
        assert "error[FW0016]: `fit.npz` holds no solution of this program" in capsys.readouterr().err


@pytest.mark.usefixtures("saved")
def test_an_oracle_that_does_not_answer_in_time(capsys: pytest.CaptureFixture[str]):
    assert main(["verify", "fit.fw", "--oracle-time", "0"]) == 4
    out, err = capsys.readouterr()
    assert "certificate: agrees" in out and "cvxpy: not known: cvxpy did not answer in its time" in out
    assert "asking cvxpy, for at most 0 s" in err
    assert main(["verify", "fit.fw", "--oracle-time", "0", "--json"]) == 4
    form = json.loads(capsys.readouterr().out)
    assert form["agrees"] is None and form["recheck"]["agrees"] is True and form["oracle"]["agrees"] is None


@pytest.mark.usefixtures("saved")
def test_an_interruption_of_the_oracle_keeps_the_rest(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("fwdsl.oracle.solve_oracle", interrupted)
    assert main(["verify", "fit.fw"]) == 130
    out, _ = capsys.readouterr()
    assert "certificate: agrees" in out and "interrupted before cvxpy answered" in out


def test_an_answer_by_itself_is_verified_from_its_program_and_data(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    A = rng.normal(size=(12, 3))
    np.save("A.npy", A)
    np.save("b.npy", A[:, 0])
    header, shuffled = "u,v,w", A[:, [2, 0, 1]]
    np.savetxt("A.csv", A, delimiter=",", header=header, comments="", fmt="%.17g")
    np.savetxt("B.csv", shuffled, delimiter=",", header="w,u,v", comments="", fmt="%.17g")
    Path("fit.fw").write_text(
        "data A: matrix[m, n], b: vector[m]\nparam mu: nonnegative = 1\nvar x: vector[n]\n"
        "minimize mean(squared(A @ x, b)) + mu * norm1(x)"
    )
    given = ["--data", "A=A.csv", "--data", "b=b.npy"]
    assert main(["run", "fit.fw", *given, "--set", "mu=0.1", "--out", "fit.npz", "--quiet"]) == 0
    Path("fit.fw").unlink()
    capsys.readouterr()
    for data in ("A.csv", "B.csv", "A.npy"):
        assert main(["verify", "fit.npz", "--data", f"A={data}", "--data", "b=b.npy"]) == 0
        out = capsys.readouterr().out
        assert "certificate: agrees" in out and "cvxpy: agrees" in out
    for argv, code in (
        (["--data", "A=b.npy", "--data", "b=b.npy"], "FW4505"),
        ([], "FW4501"),
        ([*given, "--set", "mu=0.2"], "FW0017"),
        ([*given, "--solution", "fit.npz"], "FW0007"),
    ):
        assert main(["verify", "fit.npz", *argv]) == 1
        assert f"error[{code}]" in capsys.readouterr().err
    np.save("b.npy", A[:, 1])
    assert main(["verify", "fit.npz", *given]) == 1
    assert "error[FW0017]" in capsys.readouterr().err

    def move(arrays: dict[str, Any], record: dict[str, Any]) -> None:
        arrays["x"] = arrays["x"] * 0.9

    np.save("b.npy", A[:, 0])
    changed(Path("fit.npz"), move)
    assert main(["verify", "fit.npz", *given]) == 1
    assert "certificate: DISAGREES" in capsys.readouterr().out
