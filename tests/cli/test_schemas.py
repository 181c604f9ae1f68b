"""The JSON that commands write is as `docs/output.schema.json` describes it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fwdsl.cli import main
from fwdsl.cli.app import COMMANDS

jsonschema = pytest.importorskip("jsonschema", reason="schemas are checked by jsonschema")

ROOT = Path(__file__).parents[2]
DOCUMENT = json.loads((ROOT / "docs" / "output.schema.json").read_text())
LASSO, RATINGS = (str(ROOT / "examples" / name) for name in ("lasso.fw", "elastic_net.fw"))
WITHOUT_JSON = ("explain", "fmt", "completion", "repl", "lsp")

PROGRAMS = {
    "bad.fw": "var x: real\nminimize norm(x)\n",
    "empty.fw": "var x: vector[3]\nminimize sum_squares(x)\nsubject to sum(x) == -1, x >= 0\n",
    "unbounded.fw": "var x: vector[3]\nminimize sum(x)\n",
    "open.fw": "data X: matrix[n, p], y: vector[n]\nparam mu: positive\nvar w: vector[p]\nminimize sum(squared(X @ w, y)) + mu * norm1(w)\n",
}
"""Programs that are rejected, have no answer, or need data."""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name, text in PROGRAMS.items():
        Path(name).write_text(text)
    return tmp_path


def validator(name: str) -> Any:
    """The validator of a definition, whose alternatives have no keys beside those named."""
    definition = DOCUMENT["$defs"][name]
    alternatives = [
        {**_resolved(part), "unevaluatedProperties": False} for part in definition.get("anyOf", [definition])
    ]
    return jsonschema.Draft202012Validator({**DOCUMENT, "anyOf": alternatives})


def _resolved(part: Mapping[str, Any]) -> Mapping[str, Any]:
    found: Mapping[str, Any] = DOCUMENT["$defs"][part["$ref"].rsplit("/", 1)[1]] if "$ref" in part else part
    return found


def said(capsys: pytest.CaptureFixture[str], *argv: str) -> str:
    main(list(argv))
    return capsys.readouterr().out


def test_the_schema_is_one_and_every_command_has_its_part() -> None:
    jsonschema.Draft202012Validator.check_schema(DOCUMENT)
    parts = {"plan": "plan_output"}
    assert {parts.get(name, name) for name in COMMANDS if name not in WITHOUT_JSON} <= DOCUMENT["$defs"].keys()


CALLS: list[tuple[str, list[str]]] = [
    ("run", ["run", LASSO]),
    ("run", ["run", LASSO, "--method", "pdhg", "--max-iter", "2"]),
    *(("run", ["run", name]) for name in (*PROGRAMS, "absent.fw")),
    ("check", ["check", LASSO]),
    ("check", ["check", LASSO, "bad.fw"]),
    ("plan_output", ["plan", LASSO]),
    ("plan_output", ["plan", "open.fw"]),
    ("plan_output", ["plan", LASSO, "--analyze"]),
    ("plan_output", ["plan", "bad.fw"]),
    ("verify", ["verify", LASSO]),
    ("path", ["path", LASSO, "--set", "mu=1,0.1"]),
    ("path", ["path", LASSO, "--set", "mu=1,0.1", "--folds", "3"]),
    ("grid", ["grid", RATINGS, "--set", "mu=1,0.1", "--set", "nu=1,2"]),
    ("grid", ["grid", RATINGS, "--set", "mu=1,0.1", "--set", "nu=1,2", "--folds", "2"]),
    ("race", ["race", LASSO, "--methods", "apg,lowrank", "--tol", "1e-3"]),
    ("eval", ["eval", LASSO, "--solution", "lasso.npz"]),
    ("eval", ["eval", LASSO, "--solution", "lasso.npz", "--predict"]),
    ("info", ["info", LASSO]),
    ("info", ["info", "open.fw"]),
    ("mock", ["mock", "open.fw", "--dims", "n=20,p=3", "--out", "made"]),
    ("warm", ["warm", LASSO, "bad.fw"]),
    ("new", ["new", str(ROOT / "examples" / "data" / "synthetic.csv")]),
    ("doctor", ["doctor"]),
    ("export", ["export", "lasso.npz", "--onnx", "lasso.onnx"]),
]


@pytest.mark.parametrize(("name", "argv"), CALLS, ids=[" ".join(Path(word).name for word in argv) for _, argv in CALLS])
def test_what_a_command_writes_is_described(name: str, argv: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    if name == "export":
        pytest.importorskip("onnx", reason="models are written by onnx")
    if name in ("eval", "export"):
        said(capsys, "run", LASSO, "--out", "lasso.npz")
    validator(name).validate(json.loads(said(capsys, *argv, "--json")))


@pytest.mark.parametrize(
    "argv", [[LASSO], ["bad.fw"], ["empty.fw"], [LASSO, "--method", "pdhg", "--checkpoint", "state.npz"]]
)
def test_lines_of_the_stream_are_described(argv: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    lines = [json.loads(line) for line in said(capsys, "run", *argv, "--json-stream").splitlines()]
    assert lines[-1]["type"] == "solution"
    for line in lines:
        validator("event").validate(line)


def test_the_record_of_an_answer_is_described(capsys: pytest.CaptureFixture[str]) -> None:
    said(capsys, "run", LASSO, "--out", "lasso.npz")
    with np.load("lasso.npz") as file:
        validator("record").validate(json.loads(str(file["record"])))


def test_what_is_not_described_is_found(capsys: pytest.CaptureFixture[str]) -> None:
    told = json.loads(said(capsys, "info", LASSO, "--json"))
    with pytest.raises(jsonschema.ValidationError):
        validator("info").validate({**told, "another": 1})
    with pytest.raises(jsonschema.ValidationError):
        validator("info").validate({key: value for key, value in told.items() if key != "data"})
