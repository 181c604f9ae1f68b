"""`fwdsl eval`: a saved solution on new data, by the fit's labels, ids and statistics."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fwdsl.cli import main

PROGRAM = """\
data X: matrix[n, p], y: signs[n] from csv("train.csv", target="label")
param mu: nonnegative = 1/n
var w: vector[p], b: real
let z = X @ w + b
let fit = mean(logistic(z, y))
minimize fit + mu * norm1(w) + mu * sum_squares(b)
"""


def table(n: int, seed: int, only: str = "") -> tuple[np.ndarray, list[str]]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    labels = ["yes" if v > 0 else "no" for v in X @ [2, -1, 0] + 0.5 * rng.normal(size=n)]
    return X, [only] * n if only else labels


def write(name: str, X: np.ndarray, labels: list[str]) -> None:
    rows = [",".join([*map(repr, x.tolist()), label]) for x, label in zip(X, labels, strict=True)]
    Path(name).write_text("\n".join(["a,b,c,label", *rows]) + "\n")


@pytest.fixture(autouse=True)
def fitted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    """A program, its training data, and a solution of it; what `run --json` said."""
    monkeypatch.chdir(tmp_path)
    Path("fit.fw").write_text(PROGRAM)
    write("train.csv", *table(40, 0))
    assert main(["run", "fit.fw", "--out", "fit.npz", "--json", "--threads", "1"]) == 0
    form: dict[str, Any] = json.loads(capsys.readouterr().out)
    return form


def evaluated(capsys: pytest.CaptureFixture[str], *argv: str) -> tuple[int, dict[str, Any]]:
    code = main(["eval", "fit.fw", "--solution", "fit.npz", *argv, "--json"])
    return code, json.loads(capsys.readouterr().out)


def test_on_the_data_of_the_fit(capsys: pytest.CaptureFixture[str], fitted: dict[str, Any]):
    code, form = evaluated(capsys)
    assert (code, form["status"]) == (0, "ok")
    assert form["values"]["objective"] == pytest.approx(fitted["objective"], rel=1e-12)
    assert form["values"]["fit"] == pytest.approx(fitted["terms"]["fit"], rel=1e-12)
    assert len(form["values"]["z"]) == 40
    assert 0.0 <= form["error_rates"]["fit"] <= 0.3
    assert form["origins"] == {"X": "train.csv", "y": "train.csv"} and form["dimensions"]["n"] == 40


def test_on_new_data(capsys: pytest.CaptureFixture[str], fitted: dict[str, Any]):
    X, labels = table(15, 1)
    write("test.csv", X, labels)
    code, form = evaluated(capsys, "--data", "X,y=test.csv")
    z = X @ fitted["variables"]["w"] + fitted["variables"]["b"]
    y = np.where(np.array(labels) == "yes", 1.0, -1.0)
    assert code == 0
    assert form["values"]["z"] == pytest.approx(z)
    assert form["values"]["fit"] == pytest.approx(np.mean(np.log1p(np.exp(-y * z))))
    assert form["error_rates"] == {"fit": pytest.approx(np.mean(np.sign(z) != y))}
    # mu is that of the fit, not 1/15.
    w, b = np.array(fitted["variables"]["w"]), fitted["variables"]["b"]
    assert form["values"]["objective"] - form["values"]["fit"] == pytest.approx((np.abs(w).sum() + b * b) / 40)


def test_data_of_one_label_are_read_by_the_map_of_the_fit(capsys: pytest.CaptureFixture[str], fitted: dict[str, Any]):
    X, _ = table(9, 2)
    for only, sign in (("yes", 1.0), ("no", -1.0)):
        write("one.csv", X, [only] * 9)
        _, form = evaluated(capsys, "fit", "--data", "X,y=one.csv")
        z = X @ fitted["variables"]["w"] + fitted["variables"]["b"]
        assert list(form["values"]) == ["fit"]
        assert form["values"]["fit"] == pytest.approx(np.mean(np.log1p(np.exp(-sign * z))))


def test_only_what_is_needed_is_asked_for(capsys: pytest.CaptureFixture[str]):
    Path("train.csv").unlink()
    X, _ = table(4, 3)
    np.save("X.npy", X)
    code, form = evaluated(capsys, "z", "--data", "X=npy:X.npy")
    assert code == 0 and len(form["values"]["z"]) == 4 and form["error_rates"] == {}
    code, form = evaluated(capsys, "fit", "--data", "X=npy:X.npy")
    assert code == 1 and form["diagnostics"][0]["code"] == "FW4001"


def test_the_text_and_the_file(capsys: pytest.CaptureFixture[str]):
    assert main(["eval", "fit.fw", "fit", "z", "term2", "--solution", "fit.npz", "--out", "values.npz"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split("  ")[0] for line in lines] == ["fit", "z", "term2", "error rate of fit"]
    with np.load("values.npz") as saved:
        assert sorted(saved.files) == ["fit", "term2", "z"] and saved["z"].shape == (40,)


@pytest.mark.parametrize(
    ("argv", "code"),
    [
        (["loss"], "FW0204"),
        (["--data", "X,y=maybe.csv"], "FW4520"),
        (["--data", "X,y=narrow.csv"], "FW4032"),
        (["--data", "Z=train.csv"], "FW4500"),
        (["--solution", "none.npz"], "FW0016"),
        (["--solution", "train.csv"], "FW0016"),
        (["--out", "no/such/values.npz"], "FW0013"),
        (["--solutoin", "fit.npz"], "FW0002"),
    ],
)
def test_what_cannot_be_evaluated(capsys: pytest.CaptureFixture[str], argv: list[str], code: str):
    X, labels = table(5, 4)
    write("maybe.csv", X, ["maybe", *labels[1:]])
    rows = [",".join([*map(repr, x.tolist()), label]) for x, label in zip(X[:, :2], labels, strict=True)]
    Path("narrow.csv").write_text("\n".join(["a,b,label", *rows]) + "\n")
    exit_code, form = evaluated(capsys, *argv)
    assert exit_code == 1 and form["status"] == "rejected"
    assert form["diagnostics"][0]["code"] == code


def test_a_solution_must_be_named_and_belong_to_the_program(capsys: pytest.CaptureFixture[str]):
    assert main(["eval", "fit.fw", "fit"]) == 1
    assert "error[FW0025]" in capsys.readouterr().err
    Path("other.fw").write_text(PROGRAM.replace("norm1(w)", "norm2(w)"))
    assert main(["eval", "other.fw", "--solution", "fit.npz"]) == 1
    assert "error[FW0017]" in capsys.readouterr().err
    # Comments and spaces are no other program.
    Path("other.fw").write_text("# the same\n\n" + PROGRAM.replace("fit + mu", "fit   +   mu"))
    assert main(["eval", "other.fw", "fit", "--solution", "fit.npz"]) == 0


def test_ratings_of_users_that_the_fit_has_not_seen_are_left_out(capsys: pytest.CaptureFixture[str]):
    Path("rate.fw").write_text(
        'data M: entries[n, p] from coo("seen.csv")\nvar B: matrix[n, p]\nlet fit = mean(squared(B[M], M))\n'
        "minimize fit + 0.1 * norm_nuc(B)\n"
    )
    Path("seen.csv").write_text("user,movie,rating\nann,7,4\nbob,9,1\nann,9,2\n")
    Path("test.csv").write_text("user,movie,rating\nann,7,4.5\nzoe,7,1\nbob,11,2\n")
    assert main(["run", "rate.fw", "--out", "rate.npz", "--quiet"]) == 0
    capsys.readouterr()
    # the file has the suffix of the declared one, and so its format
    assert main(["eval", "rate.fw", "fit", "--solution", "rate.npz", "--data", "M=test.csv", "--json"]) == 0
    form = json.loads(capsys.readouterr().out)
    (warning,) = form["diagnostics"]
    assert (warning["code"], warning["severity"]) == ("FW4530", "warning")
    assert warning["message"].startswith("2 of the 3 entries of `M` are left out")
    with np.load("rate.npz") as saved:
        B = saved["B"] if "B" in saved.files else saved["B:U"] @ saved["B:V"].T
    assert form["values"]["fit"] == pytest.approx((B[0, 0] - 4.5) ** 2)
    Path("test.csv").write_text("user,movie,rating\nzoe,7,1\n")
    assert main(["eval", "rate.fw", "fit", "--solution", "rate.npz", "--data", "M=test.csv"]) == 1
    assert "error[FW4519]" in capsys.readouterr().err


def reordered(name: str, X: np.ndarray, labels: list[str], header: str) -> None:
    rows = [f"{label},7,{x[2]!r},{x[0]!r},{x[1]!r}" for x, label in zip(X.tolist(), labels, strict=True)]
    Path(name).write_text("\n".join([header, *rows]) + "\n")


def test_columns_are_those_of_the_fit_by_name(capsys: pytest.CaptureFixture[str], fitted: dict[str, Any]):
    X, labels = table(15, 1)
    write("test.csv", X, labels)
    reordered("other.csv", X, labels, "label,id,c,a,b")
    _, one = evaluated(capsys, "--data", "X,y=test.csv")
    code, other = evaluated(capsys, "--data", "X,y=other.csv")
    assert code == 0 and other["values"] == one["values"]


def test_a_column_of_the_fit_that_is_missing(capsys: pytest.CaptureFixture[str]):
    X, labels = table(15, 1)
    reordered("other.csv", X, labels, "label,id,c,a,B")
    code, form = evaluated(capsys, "--data", "X,y=other.csv")
    (found,) = form["diagnostics"]
    assert (code, found["code"]) == (1, "FW4032")
    assert found["message"] == "`other.csv` has no column `b`, which `X` has in the fit"


def test_a_position_that_the_fit_has_not(capsys: pytest.CaptureFixture[str], tmp_path: Path):
    Path("tasks.fw").write_text(
        "data A: matrix[n, p], y: vector[n], task: index[n] of T\nvar W: family[T] of vector[p]\n"
        "minimize mean(squared(inner(A, W[task]), y)) + sum_squares(W)\n"
    )
    rng = np.random.default_rng(0)
    np.savez("d.npz", A=rng.normal(size=(6, 2)), y=rng.normal(size=6), task=np.arange(6) % 3)
    assert main(["run", "tasks.fw", "--data", "A,y,task=d.npz", "--out", "tasks.npz", "--json"]) == 0
    np.save("task.npy", np.array([0, 1, 2, 0, 1, 9]))
    capsys.readouterr()
    argv = ["--data", "A,y=d.npz", "--data", "task=task.npy", "--json"]
    assert main(["eval", "tasks.fw", "--solution", "tasks.npz", *argv]) == 1
    (found,) = json.loads(capsys.readouterr().out)["diagnostics"]
    assert found["code"] == "FW4515" and "unless `T` is that of an earlier fit" in found["hint"]


def cut_short(arrays: dict[str, Any]) -> None:
    arrays["w"] = arrays["w"][:-1]


def of_words(arrays: dict[str, Any]) -> None:
    arrays["w"] = arrays["w"].astype("U9")


def deep(arrays: dict[str, Any]) -> None:
    arrays["record"] = np.array("[" * 100_000)


def test_predictions_are_a_line_for_each_row_and_need_no_targets(
    capsys: pytest.CaptureFixture[str], fitted: dict[str, Any]
):
    X, labels = table(15, 1)
    write("test.csv", X, labels)
    Path("rows.csv").write_text("\n".join(["c,a,b", *(f"{c!r},{a!r},{b!r}" for a, b, c in X.tolist())]) + "\n")
    z = X @ fitted["variables"]["w"] + fitted["variables"]["b"]
    for data in ("X=rows.csv", "X=test.csv", "X,y=test.csv"):
        for name in ([], ["z"], ["fit"]):
            assert main(["eval", "fit.npz", *name, "--predict", "--data", data]) == 0
            rows = [line.split("\t") for line in capsys.readouterr().out.splitlines()]
            assert [float(score) for score, _ in rows] == pytest.approx(z, rel=1e-8)
            assert [label for _, label in rows] == ["yes" if score > 0 else "no" for score in z]
    code, form = evaluated(capsys, "--predict", "--data", "X=rows.csv")
    assert code == 0 and form["values"]["prediction"] == pytest.approx(z)
    assert form["labels"] == ["yes" if score > 0 else "no" for score in z] and form["error_rates"] == {}
    assert main(["eval", "fit.npz", "--predict", "--data", "X=rows.csv", "--out", "z.npz"]) == 0
    with np.load("z.npz") as saved:
        np.testing.assert_allclose(saved["prediction"], z)
    capsys.readouterr()
    assert main(["eval", "fit.npz", "z", "fit", "--predict", "--data", "X=rows.csv"]) == 1
    assert capsys.readouterr().err.startswith("error[FW0006]")


def test_predictions_of_several_classes_and_of_one_row(capsys: pytest.CaptureFixture[str]):
    text = PROGRAM.replace("signs[n]", "labels[n, k]").replace("w: vector[p], b: real", "w: matrix[p, k], b: vector[k]")
    Path("several.fw").write_text(text.replace("logistic", "softmax"))
    X, _ = table(40, 0)
    write("train.csv", X, [("ant", "bee", "cat")[i % 3] for i in range(40)])
    write("one.csv", X[:1], ["ant"])
    assert main(["run", "several.fw", "--out", "several.npz", "--quiet"]) == 0
    capsys.readouterr()
    assert main(["eval", "several.npz", "--predict", "--data", "X=one.csv"]) == 0
    (line,) = capsys.readouterr().out.splitlines()
    *scores, label = line.split("\t")
    assert label == ("ant", "bee", "cat")[int(np.argmax([float(s) for s in scores]))] and len(scores) == 3


def test_what_is_not_printed_is_told_with_where_it_is_had(capsys: pytest.CaptureFixture[str]):
    assert main(["eval", "fit.fw", "--solution", "fit.npz"]) == 0
    out, err = capsys.readouterr()
    assert "40 of 40 entries are not zero" in out and "`--out FILE.npz`" in err and "`--predict z`" in err
    assert main(["eval", "fit.fw", "--solution", "fit.npz", "--out", "all.npz"]) == 0
    assert capsys.readouterr().err == ""


def without(key: str) -> Callable[[dict[str, Any]], None]:
    def damage(arrays: dict[str, Any]) -> None:
        written = json.loads(str(arrays["record"]))
        del written[key]
        arrays["record"] = np.array(json.dumps(written))

    return damage


@pytest.mark.parametrize("command", ["eval", "verify"])
@pytest.mark.parametrize("damage", [cut_short, of_words, deep, without("fingerprints")])
def test_a_damaged_solution_is_refused(
    damage: Callable[[dict[str, Any]], None], command: str, capsys: pytest.CaptureFixture[str]
):
    with np.load("fit.npz") as file:
        arrays = {name: file[name] for name in file.files}
    damage(arrays)
    np.savez("damaged.npz", **arrays)
    assert main([command, "fit.fw", "--solution", "damaged.npz"]) == 1
    assert capsys.readouterr().err.startswith("error[FW0016]: `damaged.npz` holds no solution of this program")


def test_a_solution_with_flipped_bits_is_refused(capsys: pytest.CaptureFixture[str]):
    raw = bytearray(Path("fit.npz").read_bytes())
    for at in range(60, 300, 7):
        raw[at] ^= 0x55
    Path("damaged.npz").write_bytes(raw)
    assert main(["eval", "fit.fw", "--solution", "damaged.npz"]) == 1
    assert capsys.readouterr().err.startswith("error[FW0016]: ")
