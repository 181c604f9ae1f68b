"""`solution.save` and `fw.load_solution`: an answer by itself scores new rows, elsewhere and without the data of its fit."""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fwdsl as fw
from fwdsl.cli import main
from fwdsl.results.evaluation import fit_of
from fwdsl.results.loading import load_fit

RNG = np.random.default_rng(5)
X = RNG.normal(size=(50, 3)) * [1, 10, 0.1] + 2
Y = np.where(X[:, 0] - X[:, 1] / 10 > 0, "yes", "no")
NEW = RNG.normal(size=(4, 3))
TEXT = """\
data X: matrix[n, p], y: signs[n], B: matrix[p, q] = [[1, 0], [0, 2], [0, 0]]
param mu: nonnegative = 0.05
let S = standardize(X)
var w: vector[p], v: vector[q], b: real
let score = S @ (w + B @ v) + b
let fit = mean(logistic(score, y))
minimize fit + mu * norm1(w) + mu * sum_squares(v)
subject to cap: norm1(w) <= 3
"""


@pytest.fixture(scope="module")
def solution() -> fw.Solution:
    return fw.parse(TEXT).bind(X=X, y=Y, mu=0.02).solve(threads=1)


@pytest.fixture
def file(solution: fw.Solution, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The saved solution, in the current folder."""
    monkeypatch.chdir(tmp_path)
    solution.save(tmp_path / "m.npz")
    return tmp_path / "m.npz"


def changed(file: Path, change: Callable[[dict[str, Any], dict[str, Any]], None]) -> None:
    """Save the solution again after a change of its arrays and its record, as an editor of the file would."""
    with np.load(file, allow_pickle=False) as old:
        arrays = {name: old[name] for name in old.files}
    record = json.loads(str(arrays.pop("record")))
    change(arrays, record)
    np.savez(file, record=np.array(json.dumps(record, indent=1)), **arrays)


def test_a_loaded_solution_is_the_one_that_was_saved(solution: fw.Solution, file: Path) -> None:
    loaded = fw.load_solution("m.npz")
    assert loaded.certificate == solution.certificate and loaded.times == solution.times
    assert loaded.terms == solution.terms and loaded["b"] == solution["b"] and isinstance(loaded["b"], float)
    assert loaded.dual == pytest.approx(solution.dual) and loaded.start == solution.start
    np.testing.assert_array_equal(loaded["w"], solution["w"])
    assert loaded.instance is None and loaded.plan is None
    assert repr(loaded).endswith(f"variables w, v, b; loaded from `m.npz`, saved by fwdsl {fw.__version__}>")
    assert loaded.analysis()["passes"]["predicted"] is None


def test_it_scores_new_rows(solution: fw.Solution, file: Path) -> None:
    loaded = fw.load_solution(file)
    np.testing.assert_array_equal(loaded.predict(X=NEW), solution.predict(X=NEW))
    assert loaded.evaluate("fit", X=X, y=Y) == solution.evaluate("fit")
    assert loaded.evaluate("objective", X=X, y=Y) == solution.evaluate("objective")
    assert loaded.error_rates(X=X, y=Y) == solution.error_rates()
    assert loaded.predictor().classes == ("no", "yes")
    for ask in (loaded.predict, lambda: loaded.evaluate("fit", X=NEW), loaded.error_rates):
        with pytest.raises(fw.DataError) as error:
            ask()
        assert error.value.code == "FW4501" and "command line `--data" in error.value.hint


def test_another_process_elsewhere_scores_with_it(solution: fw.Solution, file: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    file.rename(elsewhere / "model.npz")
    code = f"import fwdsl as fw\nprint(fw.load_solution('model.npz').predict(X={NEW.tolist()}).tolist())"
    found = subprocess.run(
        [sys.executable, "-c", code], cwd=elsewhere, capture_output=True, text=True, env={**os.environ}, check=True
    )
    assert json.loads(found.stdout) == pytest.approx(solution.predict(X=NEW), rel=1e-12)


def test_paths_in_the_program_do_not_matter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    np.save("X.npy", X)
    np.save("y.npy", X[:, 1])
    Path("fit.fw").write_text(
        'data X: matrix[n, p] from npy("X.npy"), y: vector[n] from npy("y.npy")\nvar w: vector[p]\n'
        "let z = X @ w\nminimize mean(squared(z, y))"
    )
    fw.load("fit.fw").solve(threads=1).save("m.npz")
    np.save("X.npy", np.full_like(X, np.nan))
    loaded = fw.load_solution("m.npz")
    np.testing.assert_allclose(loaded.predict(X=X), X[:, 1], atol=1e-6)
    with pytest.raises(fw.DataError, match="`X` has no value"):
        loaded.evaluate("z")


def test_an_answer_of_the_command_line_and_one_of_python_are_alike(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    np.savez("d.npz", X=X, y=Y)
    Path("fit.fw").write_text(TEXT)
    argv = ["run", "fit.fw", "--data", "X,y=d.npz", "--threads", "1", "--out", "a.npz", "--quiet"]
    assert main(argv) == 0
    fw.load("fit.fw").bind(X=X, y=Y).solve(threads=1).save("b.npz")
    ours, theirs = np.load("b.npz"), np.load("a.npz")
    assert ours.files == theirs.files
    for name in set(ours.files) - {"record"}:
        np.testing.assert_array_equal(ours[name], theirs[name])
    a, b = (json.loads(str(file["record"])) for file in (theirs, ours))
    different = {key for key in a if a[key] != b[key]}
    assert different <= {"time", "origins", "seal", "plan", "warnings"}, different
    assert main(["eval", "fit.fw", "score", "--solution", "b.npz", "--data", "X=d.npz:X"]) == 0


def test_an_answer_by_itself_is_evaluated_on_files(
    solution: fw.Solution, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    rows = [f"{c},{a},{b},{y}" for (a, b, c), y in zip(X.tolist(), Y, strict=True)]
    Path("train.csv").write_text("\n".join(["c,a,b,ill", *rows]) + "\n")
    Path("fit.fw").write_text(TEXT.replace("y: signs[n]", 'y: signs[n] from csv("train.csv", target="ill")'))
    assert main(["run", "fit.fw", "--threads", "1", "--out", "m.npz", "--quiet"]) == 0
    Path("fit.fw").unlink()
    Path("train.csv").rename("other.csv")
    capsys.readouterr()
    # the options of the program's source are those of the file in its place
    assert main(["eval", "m.npz", "fit", "--data", "X,y=other.csv", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["values"]["fit"] == pytest.approx(fw.load_solution("m.npz").terms["fit"])
    for argv, code in ((["score"], "FW4501"), (["scores", "--data", "X,y=other.csv"], "FW0204")):
        assert main(["eval", "m.npz", *argv]) == 1
        assert f"error[{code}]" in capsys.readouterr().err
    assert main(["eval", "m.npz", "score", "--data", "X,y=other.csv", "--out", "m.npz"]) == 1
    assert "error[FW0029]" in capsys.readouterr().err


def test_what_was_loaded_is_saved_again(solution: fw.Solution, file: Path) -> None:
    fw.load_solution(file).save("copy.npz")
    np.testing.assert_array_equal(fw.load_solution("copy.npz").predict(X=NEW), solution.predict(X=NEW))


def test_a_loaded_solution_has_no_history_to_draw(solution: fw.Solution, file: Path) -> None:
    pytest.importorskip("matplotlib")
    solution.plot("gap.svg")
    with pytest.raises(fw.RunError) as error:
        fw.load_solution(file).plot("none.svg")
    assert error.value.code == "FW0217" and "m.npz`" in str(error.value) and not Path("none.svg").exists()


def test_names_that_cannot_be_written(solution: fw.Solution, tmp_path: Path) -> None:
    for name, code in (("m.txt", "FW0028"), ("m", "FW0028"), (str(tmp_path / "no" / "m.npz"), "FW0013")):
        with pytest.raises(fw.RunError) as error:
            solution.save(name)
        assert error.value.code == code


def _coefficient(arrays: dict[str, Any], record: dict[str, Any]) -> None:
    arrays["w"] = arrays["w"] + 1e-9


def _claim(arrays: dict[str, Any], record: dict[str, Any]) -> None:
    record["relative_gap"] = 0.0
    record["objective"] -= 1e-12


def _mean(arrays: dict[str, Any], record: dict[str, Any]) -> None:
    arrays["feature:0.mean"] = arrays["feature:0.mean"] + 1.0


@pytest.mark.parametrize("change", [_coefficient, _claim, _mean])
def test_a_file_that_was_changed_is_refused(file: Path, change: Callable[..., None]) -> None:
    changed(file, change)
    Path("fit.fw").write_text(TEXT)
    for load in (lambda: fw.load_solution(file), lambda: load_fit(str(file), fw.parse(TEXT).model)):
        with pytest.raises(fw.RunError, match="was changed since it was saved") as error:
            load()
        assert error.value.code == "FW0213"
    assert main(["eval", "fit.fw", "score", "--solution", str(file)]) == 1


def _newer(arrays: dict[str, Any], record: dict[str, Any]) -> None:
    record["v"] = 2
    record["versions"]["fwdsl"] = "0.9"


def test_a_record_of_a_newer_version_is_refused(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    changed(file, _newer)
    with pytest.raises(fw.RunError) as error:
        fw.load_solution(file)
    assert error.value.code == "FW0212" and "saved by a newer fwdsl, 0.9: its record has version 2" in str(error.value)
    assert main(["verify", "m.npz"]) == 1
    assert "error[FW0212]" in capsys.readouterr().err


def _without_seal(arrays: dict[str, Any], record: dict[str, Any]) -> None:
    del record["seal"], record["certificate"]["hidden"], record["certificate"]["missed"]


def test_a_file_of_before_there_were_seals(solution: fw.Solution, file: Path) -> None:
    changed(file, _without_seal)
    np.testing.assert_array_equal(fw.load_solution(file).predict(X=NEW), solution.predict(X=NEW))


@pytest.mark.parametrize("key", ["v", "program", "parameters", "maps", "dimensions", "status", "certificate", "time"])
@pytest.mark.parametrize("value", [None, 3.5, "?", [1]])
def test_records_that_say_nonsense(file: Path, key: str, value: object) -> None:
    def break_(arrays: dict[str, Any], record: dict[str, Any]) -> None:
        del record["seal"]
        record[key] = value

    changed(file, break_)
    with pytest.raises(fw.FwError):
        fw.load_solution(file)


def test_files_that_are_no_answers(tmp_path: Path) -> None:
    np.savez(tmp_path / "arrays.npz", X=X)
    (tmp_path / "text.npz").write_text("hello")
    (tmp_path / "empty.npz").write_bytes(b"")
    for name in ("arrays.npz", "text.npz", "empty.npz", "absent.npz", "."):
        with pytest.raises(fw.RunError) as error:
            fw.load_solution(tmp_path / name)
        assert error.value.code == "FW0016"


@pytest.mark.parametrize("kept", [0, 20, 0.5, -5])
def test_a_file_that_is_cut_short_says_so(kept: float, tmp_path: Path, file: Path) -> None:
    whole = file.read_bytes()
    (tmp_path / "part.npz").write_bytes(whole[: int(kept * len(whole)) if 0 < kept < 1 else int(kept)])
    with pytest.raises(fw.RunError, match="cut short"):
        fw.load_solution(tmp_path / "part.npz")


def test_nothing_in_a_file_is_unpickled(tmp_path: Path) -> None:
    class Bomb:
        def __reduce__(self) -> Any:
            return os.mkdir, (str(tmp_path / "unpickled"),)

    np.savez(tmp_path / "m.npz", record=np.array([Bomb()], dtype=object))
    with pytest.raises(fw.RunError):
        fw.load_solution(tmp_path / "m.npz")
    assert not (tmp_path / "unpickled").exists()


def test_a_kernel_and_factors(tmp_path: Path) -> None:
    text = "data X: matrix[n, p], y: signs[n]\nlet Phi = rbf(X, gamma=0.5)\nvar a: vector[dim(Phi)]\nlet z = Phi @ a\n"
    problem = fw.parse(text + "minimize mean(hinge(z, y)) + 0.1 * sum_squares(a)").bind(X=X, y=Y)
    found = problem.solve(threads=1, max_iter=30)
    found.save(tmp_path / "k.npz")
    loaded = fw.load_solution(tmp_path / "k.npz")
    np.testing.assert_allclose(loaded.predict(X=NEW), found.predict(X=NEW), rtol=1e-12)

    text = "data M: entries[n, p]\nvar B: matrix[n, p]\nminimize mean(squared(B[M], M)) + 0.01 * norm_nuc(B)"
    M = (["ann", "bob", "cy", "ann"], ["x", "y", "x", "y"], [1.0, 2.0, 3.0, 0.0])
    found = fw.parse(text).bind(M=M).solve(method="lowrank", tol=1e-6)
    found.save(tmp_path / "f.npz")
    loaded = fw.load_solution(tmp_path / "f.npz")
    assert loaded.predict(M=(["cy"], ["y"])) == pytest.approx(found.predict(M=(["cy"], ["y"])))
    again = pickle.loads(pickle.dumps(loaded))  # noqa: S301
    assert again.predict(M=(["cy"], ["y"])) == loaded.predict(M=(["cy"], ["y"])) and repr(again) == repr(loaded)


def test_a_start_from_a_loaded_solution(solution: fw.Solution, file: Path) -> None:
    warm = fw.parse(TEXT).bind(X=X, y=Y, mu=0.02).solve(threads=1, start=fw.load_solution(file))
    assert warm.iterations <= solution.iterations and warm.start.startswith("a solution by")


def test_a_file_has_no_rows_of_the_fit(solution: fw.Solution, file: Path) -> None:
    with np.load(file) as saved:
        assert {name: saved[name].shape for name in saved.files if name.startswith("data:")} == {"data:B": (3, 2)}
    assert fit_of(solution.instance, solution.variables).values.keys() >= {"X", "y"}
