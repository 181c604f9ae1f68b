"""`fwdsl export` and `fw.export_onnx`: the scores of `predict`, from onnxruntime."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fwdsl as fw
from fwdsl.cli import main

onnx = pytest.importorskip("onnx", reason="the extra `onnx` is not installed")
runtime = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")

RNG = np.random.default_rng(4)
X = RNG.normal(size=(60, 4)) * [1, 100, 0.01, 1] + [0, 1e4, 0, -3]
NEW = X[::-7] * 1.01
SCORE = (X - X.mean(axis=0)) / X.std(axis=0) @ [1.0, -2.0, 0.5, 0.0]
WORDS = np.where(SCORE > 0, "yes", "no")
KINDS = np.array(["ant", "bee", "cat"])[np.digitize(SCORE, [-1, 1])]
BINARY = "data X: matrix[n, p], y: signs[n]\nlet S = standardize(X)\nvar w: vector[p], b: real\nlet score = S @ w + b\n"
TEXTS = {
    "regression": (
        "data X: matrix[n, p], y: vector[n]\nvar w: vector[p], b: real\nminimize mean(squared(X @ w + b, y)) + norm1(w)",
        SCORE,
    ),
    "words": (BINARY + "minimize mean(logistic(score, y)) + 0.01 * norm1(w)", WORDS),
    "numbers": (BINARY + "minimize mean(hinge(score, y)) + 0.01 * sum_squares(w)", np.where(SCORE > 0, 7, 3)),
    "halves": (BINARY + "minimize mean(squared_hinge(score, y)) + 0.01 * norm1(w)", np.where(SCORE > 0, 0.5, -0.25)),
    "multiclass": (
        "data X: matrix[n, p], y: labels[n, k]\nlet S = standardize(X)\nvar W: matrix[p, k], b: vector[k]\n"
        "minimize mean(softmax(S @ W + b, y)) + 0.01 * sum_squares(W)",
        KINDS,
    ),
    "several targets": (
        "data X: matrix[n, p], Y: matrix[n, k]\nvar W: matrix[p, k]\nminimize mean(squared(X @ W, Y)) + norm21(W)",
        np.column_stack([SCORE, -SCORE]),
    ),
}


def solved(kind: str) -> fw.Solution:
    text, target = TEXTS[kind]
    return fw.parse(text).bind(**{"X": X, "Y" if target.ndim == 2 else "y": target}).solve(threads=1)


def outputs(path: Path, rows: np.ndarray) -> dict[str, Any]:
    session = runtime.InferenceSession(path, providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(None, {"X": rows}), strict=True))


@pytest.mark.parametrize("kind", TEXTS)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_scores_and_labels(kind: str, dtype: Any, tmp_path: Path) -> None:
    solution, path = solved(kind), tmp_path / "m.onnx"
    fw.export_onnx(solution, path, dtype=dtype)
    expected = solution.predict(X=NEW)
    for rows in (NEW, NEW[:1]):
        found = outputs(path, rows.astype(dtype))
        assert found["scores"].dtype == dtype and found["scores"].shape == expected[: len(rows)].shape
        # single precision rounds the rows themselves, and 1e4 of the second column costs it four digits
        np.testing.assert_allclose(
            found["scores"], expected[: len(rows)], rtol=1e-10, atol=1e-10 if dtype == "float64" else 2e-3
        )
    classes = solution.predictor().classes
    assert ("label" in found) == (classes is not None)
    if classes is not None and dtype == "float64":
        places = expected.argmax(axis=1) if expected.ndim == 2 else (expected > 0).astype(int)
        assert outputs(path, NEW)["label"].tolist() == [classes[i] for i in places]


def test_what_the_file_says_of_itself(tmp_path: Path) -> None:
    pd = pytest.importorskip("pandas")
    text, target = TEXTS["words"]
    solution = fw.parse(text).bind(X=pd.DataFrame(X, columns=list("abcd")), y=target).solve(threads=1)
    rows = fw.export_onnx(solution, tmp_path / "m.onnx", "score")
    assert rows.columns == ("a", "b", "c", "d") and rows.classes == ("no", "yes") and rows.coefficients.shape == (4, 1)
    model = onnx.load(tmp_path / "m.onnx")
    assert {p.key: json.loads(p.value) for p in model.metadata_props} == {
        "columns": list("abcd"),
        "classes": ["no", "yes"],
    }
    assert model.producer_name == "fwdsl"


def test_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    solution = solved("multiclass")
    solution.save("m.npz")
    assert main(["export", "m.npz", "--onnx", "m.onnx"]) == 0
    out = capsys.readouterr().out
    assert out == "m.onnx: 3 scores for each row of `X`, 4 columns, in float64\nclasses ant, bee, cat\n"
    np.testing.assert_allclose(
        outputs(tmp_path / "m.onnx", NEW)["scores"], solution.predict(X=NEW), rtol=1e-9, atol=1e-9
    )
    assert main(["export", "m.npz", "--onnx", "m.onnx", "--dtype", "float32", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["dtype"] == "float32" and told["shape"] == [4, 3] and told["classes"] == ["ant", "bee", "cat"]
    for argv, code in (
        (["m.npz"], "FW0216"),
        ([], "FW0005"),
        (["m.npz", "--onnx", "m.npz"], "FW0029"),
        (["m.npz", "--onnx", "m.txt"], "FW0028"),
        (["m.npz", "--onnx", "no/m.onnx"], "FW0013"),
        (["m.npz", "--onnx", "m.onnx", "--dtype", "float16"], "FW0004"),
        (["m.npz", "--onnx", "m.onnx", "--what", "scores"], "FW0204"),
        (["absent.npz", "--onnx", "m.onnx"], "FW0016"),
    ):
        assert main(["export", *argv]) == 1
        assert f"error[{code}]" in capsys.readouterr().err


def test_a_model_has_the_suffix_of_one(tmp_path: Path) -> None:
    with pytest.raises(fw.RunError) as error:
        fw.export_onnx(solved("multiclass"), tmp_path / "m.txt")
    assert error.value.code == "FW0028" and not any(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("let Phi = rbf(X, gamma=0.1)\nvar w: vector[dim(Phi)]\nminimize mean(squared(Phi @ w, y)) + sum_squares(w)", "is no affine map of its rows"),
        ("let Z = normalize(X)\nvar w: vector[p]\nminimize mean(squared(Z @ w, y)) + sum_squares(w)", "is no affine map of its rows"),
        ("let Z = fourier(X, features=9, gamma=1)\nvar w: vector[9]\nminimize mean(squared(Z @ w, y)) + norm1(w)", "is no affine map of its rows"),
        ("var w: vector[n]\nminimize sum(squared(w, y)) + norm1(w) + 0 * sum(X)", "from no data, not from one matrix"),
        ("data Z: matrix[n, p]\nvar w: vector[p]\nminimize sum(squared(X @ w - Z @ w, y)) + norm1(w)", "from `X`, `Z`, not from one"),
        ("var W: symmetric[p]\nminimize mean(squared(quad(X, W), y)) + sum_squares(W)", "they are no affine map"),
    ],
)  # fmt: skip
def test_scores_that_are_no_affine_map(text: str, words: str, tmp_path: Path) -> None:
    values = {"X": X, "y": SCORE, **({"Z": 2 * X} if "Z:" in text else {})}
    solution = fw.parse(f"data X: matrix[n, p], y: vector[n]\n{text}").bind(**values).solve(threads=1, max_iter=9)
    with pytest.raises(fw.RunError) as error:
        fw.export_onnx(solution, tmp_path / "m.onnx")
    assert error.value.code == "FW0215" and words in str(error.value)
    assert not (tmp_path / "m.onnx").exists()


def test_without_onnx_one_line_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "onnx", None)
    monkeypatch.chdir(tmp_path)
    Path("m.npz").write_bytes(b"")
    assert main(["export", "m.npz", "--onnx", "m.onnx"]) == 1
    err = capsys.readouterr().err
    assert err.startswith("error[FW0214]: onnx is not installed\n") and "pip install 'fwdsl[onnx]'" in err


def test_arguments_that_are_none(tmp_path: Path) -> None:
    solution = solved("words")
    wrong: Any = [(solution, "float16"), (X, "float64")]
    for what, dtype in wrong:
        with pytest.raises(fw.BuildError) as error:
            fw.export_onnx(what, tmp_path / "m.onnx", dtype=dtype)
        assert error.value.code == "FW0309" and not (tmp_path / "m.onnx").exists()
