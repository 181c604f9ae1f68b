"""`fwdsl check`, `fwdsl fmt`, `fwdsl plan` without solving."""

from __future__ import annotations

import gc
import io
import json
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from fwdsl.cli import main

GOOD = "fw 1\n\nvar x: vector[3]\n\nminimize sum_squares(x - 1)\n"
BAD = "var x: vector[3]\nminimise norm7(x)\nsubject to x = 1\n"
UGLY = "var x:vector[3] # three\nminimize sum_squares( x-1 )\n"
UNBOUND = "fw 1\n\ndata A: matrix[n, 3]\nvar x: vector[3]\n\nminimize mean(squared(A @ x, 1))\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name, text in (("good", GOOD), ("bad", BAD), ("ugly", UGLY), ("unbound", UNBOUND)):
        (tmp_path / f"{name}.fw").write_text(text)
    return tmp_path


def standard_input(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(text.encode())))


@pytest.mark.usefixtures("folder")
def test_check_tells_each_file(capsys: pytest.CaptureFixture[str]):
    assert main(["check", "good.fw"]) == 0
    assert capsys.readouterr().out == "good.fw: ok\n"
    assert main(["check", "good.fw", "bad.fw", "absent.fw"]) == 2
    out, err = capsys.readouterr()
    assert out == "good.fw: ok\n"
    assert " --> bad.fw:2:1" in err and " --> bad.fw:3:" in err and "FW0010" in err


@pytest.mark.usefixtures("folder")
def test_check_as_json(capsys: pytest.CaptureFixture[str]):
    assert main(["check", "good.fw", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"status": "ok", "diagnostics": []}
    assert main(["check", "bad.fw", "--json"]) == 2
    form = json.loads(capsys.readouterr().out)
    assert form["status"] == "rejected"
    first = form["diagnostics"][0]
    assert set(first) >= {"code", "severity", "message", "span", "hint"}
    assert first["span"] == {"file": "bad.fw", "line": 2, "column": 1, "end_line": 2, "end_column": 9}
    assert main(["check", "good.fw", "bad.fw", "--json"]) == 2
    assert json.loads(capsys.readouterr().out)["files"] == {"good.fw": "ok", "bad.fw": "rejected"}


@pytest.mark.usefixtures("folder")
def test_check_reads_data_only_where_they_are_bound(capsys: pytest.CaptureFixture[str], folder: Path):
    assert main(["check", "unbound.fw"]) == 0
    (folder / "A.csv").write_text("a,b,c\n1,2,3\n4,x,6\n")
    assert main(["check", "unbound.fw", "--data", "A=A.csv"]) == 1
    err = capsys.readouterr().err
    assert "A.csv" in err and "row 3" in err and "column 2" in err


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("command", ["check", "plan"])
def test_parameters_and_dimensions_need_no_data(capsys: pytest.CaptureFixture[str], folder: Path, command: str):
    text = "data A: matrix[n, d]\nparam mu: positive\nvar x: vector[d], z: vector[k]\n"
    (folder / "given.fw").write_text(text + "minimize sum_squares(A @ x - 1) + mu * norm1(x) + sum_squares(z - 1)\n")
    assert main([command, "given.fw", "--set", "mu=2", "--dim", "k=3"]) == 0
    capsys.readouterr()
    assert main([command, "given.fw", "--set", "mu=-2", "--set", "nu=1", "--dim", "q=3"]) == 1
    err = capsys.readouterr().err
    assert "3 errors" in err and "`mu` is -2" in err and "`nu`" in err and "`q`" in err


FOREIGN = "import cvxpy as cp\ndata A: matrix[n, 3]\nx = cp.Variable(3)\nminimize cp.sum_squares(A @ x) + norm(x, 1) + norm7(x)\n"
MENDED = "data A: matrix[n, 3]\nvar x: vector[3]\nminimize sum_squares(A @ x) + norm1(x) + norm7(x)\n"


def test_check_writes_the_fixes_that_keep_the_meaning(capsys: pytest.CaptureFixture[str], folder: Path):
    path = folder / "foreign.fw"
    path.write_text(FOREIGN)
    assert main(["check", "--fix", "foreign.fw", "good.fw"]) == 2
    out, err = capsys.readouterr()
    assert path.read_text() == MENDED and (folder / "good.fw").read_text() == GOOD
    assert out == "foreign.fw: 4 fixes written\ngood.fw: ok\n"
    assert "there is no function `norm7`" in err  # a guess is left to the user


def test_check_fixes_as_json(capsys: pytest.CaptureFixture[str], folder: Path):
    (folder / "foreign.fw").write_text(FOREIGN.replace(" + norm7(x)", ""))
    assert main(["check", "--fix", "--json", "foreign.fw"]) == 0
    assert json.loads(capsys.readouterr().out)["status"] == "ok"


def test_check_fixes_standard_input(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch):
    standard_input(monkeypatch, FOREIGN)
    assert main(["check", "--fix", "-"]) == 2
    out, err = capsys.readouterr()
    assert out == MENDED and "norm7" in err


def test_check_fixes_nothing_that_is_no_text(capsys: pytest.CaptureFixture[str], folder: Path):
    (folder / "bytes.fw").write_bytes(b"minimize \xff cp.sum(x)\n")
    assert main(["check", "--fix", "bytes.fw"]) == 2
    assert "FW1032" in capsys.readouterr().err
    assert (folder / "bytes.fw").read_bytes() == b"minimize \xff cp.sum(x)\n"


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("norm", "norm1(x)"),
        ("LassoCV", "norm1(w)"),
        ("Bin", "integer"),
        ("abstol", "gap"),
        ("np.linalg.norm", "norm1(x)"),
        ("cvxpy.sum_largest", "k largest entries"),
        ("cp.cvar", "beta"),
        ("sklearn.linear_model.Lasso", "norm1(w)"),
        ("cross_entropy", "softmax(prediction, target)"),
    ],
)
def test_explain_tells_a_name_from_elsewhere(name: str, says: str, capsys: pytest.CaptureFixture[str]):
    assert main(["explain", name]) == 0
    assert says in capsys.readouterr().out


@pytest.mark.parametrize("choice", ["interiorr", "[apg, interiorr]"])
def test_check_tells_a_method_that_is_none(choice: str, capsys: pytest.CaptureFixture[str], folder: Path):
    (folder / "named.fw").write_text(GOOD + f"\nsolve method = {choice}\n")
    assert main(["check", "named.fw"]) == 2
    err = capsys.readouterr().err
    assert "FW5002" in err and "named.fw:7:16" in err and "did you mean `interior`?" in err
    (folder / "named.fw").write_text(GOOD + "\nsolve method = interior\n")
    assert main(["check", "named.fw"]) == 0


@pytest.mark.parametrize(
    ("method", "says"),
    [
        ('coordinate_descent(inner="foo")', 'not `"foo"`'),
        ("coordinate_descent(iner=auto)", "did you mean `inner`?"),
        ("pivoting(inner=auto)", "it has no options"),
        ("lowrank(rank=0)", "a whole number at least 1"),
    ],
)
def test_check_and_run_tell_an_option_that_the_method_cannot_have(
    method: str, says: str, capsys: pytest.CaptureFixture[str], folder: Path
):
    (folder / "named.fw").write_text(GOOD + f"\nsolve method = {method}\n")
    assert main(["check", "named.fw"]) == 2
    err = capsys.readouterr().err
    assert "FW5004" in err and f"named.fw:7:{17 + method.index('(')}" in err and says in err


def test_check_of_standard_input(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch):
    standard_input(monkeypatch, BAD)
    assert main(["check", "-"]) == 2
    assert " --> <stdin>:2:1" in capsys.readouterr().err


@pytest.mark.usefixtures("folder")
def test_plan_without_data(capsys: pytest.CaptureFixture[str]):
    assert main(["plan", "unbound.fw"]) == 0
    assert "canonical form" in capsys.readouterr().out
    assert main(["plan", "unbound.fw", "--json"]) == 0
    form = json.loads(capsys.readouterr().out)
    assert (form["status"], form["plan"]["with_data"]) == ("ok", False)


def test_plan_finds_the_files_of_a_pattern_and_of_a_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    (tmp_path / "rows").mkdir()
    for k in (0, 1):
        rows = "".join(f"{i},{i * i % 7},{i % 3 + k},{i % 5}\n" for i in range(30))
        (tmp_path / "rows" / f"{k}.csv").write_text("a,b,c,y\n" + rows)
    program = tmp_path / "several.fw"
    text = 'data X: matrix[n, p], y: vector[n] from csv("{}", target="y")\nvar w: vector[p]\nminimize sum_squares(X @ w - y)\n'
    for path in ("rows/*.csv", "rows"):
        program.write_text(text.format(path))
        assert main(["plan", str(program)]) == 0
        out, err = capsys.readouterr()
        assert "60 rows" in out and not err
    (tmp_path / "empty").mkdir()
    for path, why in (("rows/*.tsv", "no file matches"), ("empty", "a folder without a file of")):
        program.write_text(text.format(path))
        assert main(["plan", str(program)]) == 0
        out, err = capsys.readouterr()
        assert out.startswith("canonical form") and err.count("warning[FW4002]") == 1 and why in err


def test_plan_says_that_a_source_is_not_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    program = tmp_path / "absent.fw"
    program.write_text(
        'data X: matrix[n, p], y: vector[n] from libsvm("train.svm")\nvar w: vector[p]\nminimize sum_squares(X @ w - y)\n'
    )
    (tmp_path / "train.svm.gz").write_bytes(b"")
    assert main(["plan", str(program)]) == 0
    out, err = capsys.readouterr()
    assert out.startswith("canonical form") and err.count("warning[FW4001]") == 1
    assert "train.svm` does not exist" in err and "train.svm.gz`?" in err and f"{program}:1:41" in err
    assert main(["plan", str(program), "--strict"]) == 1
    assert "error[FW4001]" in capsys.readouterr().err
    assert main(["plan", str(program), "--json"]) == 0
    assert [d["code"] for d in json.loads(capsys.readouterr().out)["diagnostics"]] == ["FW4001"]


def test_plan_of_a_source_whose_name_no_file_can_have(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    program = tmp_path / "long.fw"
    for path in ("a" * 5000, "b/" * 2500 + "c.csv"):
        program.write_text(f'data y: vector[n] from csv("{path}")\nvar w: vector[n]\nminimize sum_squares(w - y)\n')
        for command in ("plan", "run"):
            assert main([command, str(program)]) == 1
            err = capsys.readouterr().err
            assert err.startswith("error[FW4003]: ") and "too long" in err


@pytest.mark.usefixtures("folder")
def test_plan_with_data_predicts(capsys: pytest.CaptureFixture[str]):
    assert main(["plan", "good.fw", "--json"]) == 0
    plan = json.loads(capsys.readouterr().out)["plan"]
    assert plan["with_data"]
    chosen = next(m for m in plan["methods"] if m["name"] == plan["method"])
    assert chosen["applies"] and chosen["predicted"]["passes"] > 0


@pytest.mark.usefixtures("folder")
def test_plan_beside_what_happened(capsys: pytest.CaptureFixture[str]):
    assert main(["plan", "good.fw", "--analyze", "--json"]) == 0
    analysis = json.loads(capsys.readouterr().out)["analysis"]
    assert analysis["passes"]["predicted"] > 0 and analysis["passes"]["actual"] > 0
    phases = analysis["phases"]
    assert phases and all(p["method"] and p["phase"] for p in phases)
    assert sum(p["passes"] for p in phases) <= analysis["passes"]["actual"]
    assert main(["plan", "good.fw", "--analyze"]) == 0
    out = capsys.readouterr().out
    assert "predicted" in out and "status" in out and f"{phases[0]['method']}: {phases[0]['phase']}" in out


@pytest.mark.usefixtures("folder")
def test_a_method_that_there_is_not_is_the_programs_error(capsys: pytest.CaptureFixture[str]):
    assert main(["plan", "good.fw", "--method", "adam"]) == 1
    assert "FW5" in capsys.readouterr().err


@pytest.mark.usefixtures("folder")
def test_fmt_rewrites_in_place(capsys: pytest.CaptureFixture[str], folder: Path):
    assert main(["fmt", "--check", "good.fw", "ugly.fw"]) == 1
    assert capsys.readouterr().out == "ugly.fw is not formatted\n"
    assert (folder / "ugly.fw").read_text() == UGLY
    assert main(["fmt", "good.fw", "ugly.fw"]) == 0
    assert capsys.readouterr().out == "ugly.fw formatted\n"
    assert (folder / "good.fw").read_text() == GOOD
    text = (folder / "ugly.fw").read_text()
    assert text.startswith("fw 1\n") and "# three" in text and "sum_squares(x - 1)" in text
    assert main(["fmt", "--check", "good.fw", "ugly.fw"]) == 0


@pytest.mark.usefixtures("folder")
def test_fmt_of_a_long_line_leaves_the_collector_as_it_was(folder: Path):
    (folder / "long.fw").write_text(
        "var x:vector[2]\nminimize " + " + ".join(f"{i}.5*sum_squares(x)" for i in range(3_000)) + "\n"
    )
    main(["fmt", "long.fw", "bad.fw"])
    assert gc.isenabled()
    assert main(["fmt", "--check", "long.fw"]) == 0


def test_fmt_leaves_a_program_with_errors_alone(capsys: pytest.CaptureFixture[str], folder: Path):
    assert main(["fmt", "bad.fw", "ugly.fw"]) == 2
    out, err = capsys.readouterr()
    assert (folder / "bad.fw").read_text() == BAD
    assert out == "ugly.fw formatted\n" and "bad.fw:2:1" in err


def test_fmt_of_standard_input(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch):
    standard_input(monkeypatch, UGLY)
    assert main(["fmt", "-"]) == 0
    assert "sum_squares(x - 1)" in capsys.readouterr().out


def test_check_loads_no_numerical_library(root: Path):
    script = (
        "import sys; from fwdsl.cli import main; code = main(['check', 'examples/elastic_net.fw']); "
        "print(sorted({'numpy', 'scipy', 'numba', 'rich'} & set(sys.modules))); sys.exit(code)"
    )
    done = subprocess.run([sys.executable, "-c", script], cwd=root, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.splitlines()[-1]) == (0, "[]")


def test_the_examples_are_formatted_and_accepted(root: Path, capsys: pytest.CaptureFixture[str]):
    names = sorted(str(path) for path in (root / "examples").glob("*.fw"))
    assert len(names) >= 5
    assert main(["fmt", "--check", *names]) == 0
    assert main(["check", "--strict", *names]) == 0
    assert capsys.readouterr().err == ""
