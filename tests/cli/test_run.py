"""`fwdsl run`: exit codes, text, JSON, files, interruption."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

import fwdsl.solve
from fwdsl.cli import main
from fwdsl.results.status import Status

MIX = """\
data A: matrix[3, 2] = [[1, 0], [0, 1], [1, 1]], b: vector[3] = [1, 0, 0.5]
param r: positive = 1
var x: vector[2]
let fit = mean(squared(A @ x, b))
minimize fit
subject to budget: x in simplex(r)
"""
EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
posix = pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
NEVER = ["--tol", "1e-300", "--method", "pdhg"]


@pytest.fixture
def program(tmp_path: Path) -> Any:
    """Writes a program to a file and gives its name."""

    def write(text: str, name: str = "fit.fw") -> str:
        (tmp_path / name).write_text(text)
        return str(tmp_path / name)

    return write


def run_json(capsys: pytest.CaptureFixture[str], *argv: str) -> tuple[int, dict[str, Any]]:
    code = main(["run", *argv, "--json"])
    out, _ = capsys.readouterr()
    return code, json.loads(out)


def test_an_answer_with_its_certificate(capsys: pytest.CaptureFixture[str], program: Any):
    code, form = run_json(capsys, program(MIX))
    assert (code, form["status"], form["certificate"]["kind"]) == (0, "optimal", "exact")
    # The minimum over (t, 1 - t) of ((t-1)^2 + (1-t)^2 + 1/4) / 3 is at t = 1.
    assert form["objective"] == pytest.approx(1 / 12, rel=1e-6)
    assert form["variables"]["x"] == pytest.approx([1, 0], abs=1e-3)
    assert form["dual_bound"] <= form["objective"] + 1e-9
    assert form["relative_gap"] <= 1e-6 and form["infeasibility"] <= 1e-7
    assert form["terms"]["fit"] == pytest.approx(1 / 12, rel=1e-6)
    assert list(form["dual"]) == ["budget"]
    assert form["diagnostics"] == [] and form["plan"]


def test_the_text_on_a_pipe(capsys: pytest.CaptureFixture[str], program: Any):
    assert main(["run", program(MIX)]) == 0
    out, err = capsys.readouterr()
    names = [line.split("  ")[0] for line in out.splitlines()]
    assert names[:7] == ["status", "objective", "dual bound", "gap", "known by", "method", "time"]
    assert "\x1b" not in out + err
    assert main(["run", program(MIX), "--quiet"]) == 0
    out, err = capsys.readouterr()
    assert out.startswith("optimal: objective 0.0833333") and out.count("\n") == 1
    assert err == ""


def test_the_command_line_wins_over_the_program(capsys: pytest.CaptureFixture[str], program: Any):
    name = program(MIX + "solve tol = 1e-3, max_iter = 7\n")
    _, form = run_json(capsys, name, "--set", "r=2", "--tol", "1e-9", "--max-iter", "100_000")
    assert sum(form["variables"]["x"]) == pytest.approx(2)
    assert form["relative_gap"] <= 1e-9


def test_a_limit_is_a_status(capsys: pytest.CaptureFixture[str], program: Any):
    code, form = run_json(capsys, program(MIX), "--method", "pdhg", "--max-iter", "3", "--tol", "1e-12")
    assert (code, form["status"]) == (4, "tolerance_not_reached")
    assert form["iterations"] <= 3 and form["reason"]
    assert form["dual_bound"] <= 1 / 12 + 1e-9 <= form["objective"] + 2e-9


@pytest.mark.parametrize(
    ("status", "expected"),
    [("optimal", 0), ("infeasible", 3), ("unbounded", 3), ("tolerance_not_reached", 4), ("interrupted", 130)],
)
def test_each_status_has_its_exit_code(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, program: Any, status: Status, expected: int
):
    solve = fwdsl.solve.solve

    def pretend(*args: Any, **options: Any) -> Any:
        return replace(solve(*args, **options), status=status, reason="so it is")

    monkeypatch.setattr(fwdsl.solve, "solve", pretend)
    code, form = run_json(capsys, program(MIX))
    assert (code, form["status"], form["reason"]) == (expected, status, "so it is")
    assert form["variables"]["x"] and form["certificate"]
    assert main(["run", program(MIX)]) == expected
    assert capsys.readouterr().out.startswith("status ")


def test_an_error_in_the_text_exits_2(capsys: pytest.CaptureFixture[str], program: Any):
    name = program("var x: vector[2]\nminimize norm7(x)\nsubject to x = 1\n")
    assert main(["run", name]) == 2
    out, err = capsys.readouterr()
    assert out == "" and f" --> {name}:3:" in err
    code, form = run_json(capsys, name)
    assert (code, form["status"]) == (2, "rejected")
    assert {d["severity"] for d in form["diagnostics"]} == {"error"}
    assert form["diagnostics"][0]["span"]["file"] == name


def test_an_error_that_needs_data_exits_1(capsys: pytest.CaptureFixture[str], program: Any):
    text = 'data A: matrix[n, 2] from npy("absent.npy")\nvar x: vector[2]\nminimize sum(squared(A @ x, 0))\n'
    assert main(["run", program(text)]) == 1
    assert "absent.npy" in capsys.readouterr().err
    assert main(["run", program(MIX), "--set", "rho=1"]) == 1
    assert "rho" in capsys.readouterr().err


def test_a_literal_that_does_not_fit_exits_2(capsys: pytest.CaptureFixture[str], program: Any):
    assert main(["run", program(MIX.replace("param r: positive = 1", "param r: positive = -1"))]) == 2
    assert capsys.readouterr().err.startswith("error[FW")


BOX = """\
data hi: vector[2] = [1, 2]
param q: real = 0, lo: real = q
var x: vector[2]
minimize sum_squares(x)
subject to x >= lo, x <= hi
"""


@pytest.mark.parametrize(
    ("text", "argv"),
    [
        (BOX.replace("q: real = 0", "q: real = 3"), []),
        (BOX.replace("lo: real = q", "lo: real = 3"), ["--set", "q=1"]),
        (BOX, ["--set", "lo=3"]),
        (BOX, ["--set", "q=3", "--strict"]),
        (BOX.replace("[2]", "[k]").replace("= q", "= 3 * k"), []),
        ("data A: matrix[n, 2]\n" + BOX.replace("= q", "= 5 * n"), ["--data", "A=A.npy"]),
    ],
)
def test_bounds_that_leave_no_room_are_infeasible_whoever_gave_them(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    program: Any,
    text: str,
    argv: list[str],
):
    np.save(tmp_path / "A.npy", np.ones((3, 2)))
    monkeypatch.chdir(tmp_path)
    assert main(["run", program(text), *argv]) == 3
    out, err = capsys.readouterr()
    proof = "`x >= lo` and `x <= hi` cannot hold together: `x[0]` would have to be at least"
    assert f"warning[FW5010]: {proof}" in err
    assert f"infeasible: no point meets the constraints ({proof}" in out


def test_a_method_with_its_options(capsys: pytest.CaptureFixture[str], program: Any):
    code, form = run_json(capsys, program(MIX), "--method", "frank_wolfe(step=line_search)")
    assert (code, form["method"], form["plan"]["options"]) == (0, "frank_wolfe", {"step": "line_search"})
    code, form = run_json(capsys, program(MIX), "--method", "frank_wolfe(step=3)")
    assert (code, form["diagnostics"][0]["code"]) == (1, "FW5004")


def test_the_planner_chooses_among_the_methods_named(capsys, program):  # type: ignore[no-untyped-def]
    code, form = run_json(capsys, program(MIX), "--method", "frank_wolfe, pdhg")
    assert code == 0 and form["method"] in ("frank_wolfe", "pdhg")
    code, form = run_json(capsys, program(MIX), "--method", "frank_wolfe, adam")
    assert code == 1 and form["diagnostics"][0]["code"] == "FW5002"


def test_strict_makes_warnings_errors(capsys: pytest.CaptureFixture[str], program: Any):
    name = program("param unused: real = 1\n" + MIX)
    assert main(["run", name]) == 0
    assert capsys.readouterr().err.startswith("warning[FW")
    assert main(["run", name, "--strict"]) == 2
    assert capsys.readouterr().err.startswith("error[FW")
    assert main(["run", name, "--quiet"]) == 0
    assert capsys.readouterr().err == ""


def test_the_solution_is_saved(capsys: pytest.CaptureFixture[str], program: Any, tmp_path: Path):
    file = tmp_path / "fit.npz"
    assert main(["run", program(MIX), "--out", str(file)]) == 0
    assert capsys.readouterr().out.splitlines()[-1].split() == ["saved", str(file)]
    with np.load(file, allow_pickle=False) as saved:
        assert sorted(saved.files) == ["dual:budget", "dual:fit", "record", "x"]
        assert saved["x"] == pytest.approx([1, 0], abs=1e-3)
        record = json.loads(str(saved["record"]))
    assert (record["program"], record["status"]) == (MIX, "optimal")
    assert set(record["fingerprints"]) >= {"program", "A", "b"} and record["parameters"] == {"r": 1.0}
    assert record["options"]["tol"] == 1e-6 and record["versions"]["numpy"] == np.__version__


def test_the_stream_is_an_object_a_line(capsys: pytest.CaptureFixture[str], program: Any):
    assert main(["run", program("param unused: real = 1\n" + MIX), "--json-stream"]) == 0
    out, err = capsys.readouterr()
    events = [json.loads(line) for line in out.splitlines()]
    kinds = [event["type"] for event in events]
    assert err == "" and {event["v"] for event in events} == {1}
    assert kinds[:2] == ["diagnostic", "plan"] and kinds[-1] == "solution"
    assert set(kinds[2:-1]) == {"progress"} and events[2]["phase"] == "starting"
    assert events[-1]["status"] == "optimal"


@posix
def test_ctrl_c_gives_the_best_point(program: Any, root: Path):
    command = [sys.executable, "-m", "fwdsl", "run", program(MIX), "--json-stream", *NEVER]
    with subprocess.Popen(command, cwd=root, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None and process.stderr is not None
        for line in process.stdout:
            event = json.loads(line)
            if event["type"] == "progress" and event["phase"] not in ("starting", "compiling"):
                process.send_signal(signal.SIGINT)
                break
        last = json.loads(process.stdout.readlines()[-1])
        assert process.stderr.read() == ""
    assert process.returncode == 130
    assert (last["type"], last["status"]) == ("solution", "interrupted")
    assert last["variables"]["x"] is not None and last["objective"] >= last["dual_bound"] - 1e-9


@posix
def test_termination_saves_the_state(program: Any, root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    name, state = program(MIX), tmp_path / "state.npz"
    command = [sys.executable, "-m", "fwdsl", "run", name, "--json-stream", "--checkpoint", str(state), *NEVER]
    with subprocess.Popen(command, cwd=root, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None and process.stderr is not None
        for line in process.stdout:
            event = json.loads(line)
            if event["type"] == "progress" and event["phase"] not in ("starting", "compiling"):
                process.send_signal(signal.SIGTERM)
                break
        last = json.loads(process.stdout.readlines()[-1])
        assert process.stderr.read() == ""
    assert process.returncode == 143
    assert (last["type"], last["status"]) == ("solution", "interrupted")
    code, rest = run_json(
        capsys, name, "--resume", str(state), "--max-iter", str(last["iterations"] + 1), "--tol", "1e-16"
    )
    assert code in (0, 4) and rest["iterations"] >= last["iterations"]


def test_the_first_checkpoint_comes_early(program: Any, monkeypatch: pytest.MonkeyPatch):
    from fwdsl.cli import checkpoint
    from fwdsl.cli.output import Output

    now, saved = [0.0], []
    monkeypatch.setattr(checkpoint, "save_state", lambda *_: saved.append(now[0]))
    checkpoints = checkpoint.Checkpoints("state.npz", cast(Any, None), Output(), lambda: now[0])
    for second in range(140):
        now[0] = float(second)
        checkpoints.after_step(SimpleNamespace(iteration=second))
    assert saved == [5.0, 65.0, 125.0]


def test_progress_is_live_on_a_terminal(program: Any, root: Path):
    pty = pytest.importorskip("pty")
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "fwdsl", "run", program(MIX)]
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "100"}
    with subprocess.Popen(command, cwd=root, stdin=theirs, stdout=theirs, stderr=theirs, env=environment) as process:
        os.close(theirs)
        shown = b""
        try:
            while chunk := os.read(ours, 4096):
                shown += chunk
        except OSError:  # Linux says so where others give nothing: the other end is closed
            pass
    os.close(ours)
    assert process.returncode == 0
    assert b"iterations" in shown and b"gap " in shown and b"status" in shown


def test_a_run_that_was_stopped_goes_on(capsys: pytest.CaptureFixture[str], program: Any, tmp_path: Path):
    name, state = program(MIX), str(tmp_path / "state.npz")
    pdhg = ["--method", "pdhg", "--tol", "1e-9"]
    _, whole = run_json(capsys, name, *pdhg)
    assert whole["iterations"] > 20
    code, half = run_json(capsys, name, *pdhg, "--max-iter", "10", "--checkpoint", state)
    assert (code, half["iterations"]) == (4, 10)
    code, rest = run_json(capsys, name, "--tol", "1e-9", "--resume", state)
    assert (code, rest["method"], rest["iterations"]) == (0, "pdhg", whole["iterations"])
    assert rest["variables"] == whole["variables"]


def test_a_state_keeps_the_options_of_its_method(capsys: pytest.CaptureFixture[str], program: Any, tmp_path: Path):
    name, state = program(MIX), str(tmp_path / "state.npz")
    run = ["run", name, "--tol", "1e-9", "--max-iter", "10"]
    assert main([*run, "--method", "pdhg(restart=false)", "--checkpoint", state]) == 4
    capsys.readouterr()
    assert main([*run, "--method", "pdhg(restart=true)", "--resume", state]) == 1
    text = capsys.readouterr().err
    assert "is the state of `pdhg(restart=false)`, and `pdhg(restart=true)` is asked for" in " ".join(text.split())
    for same in ([], ["--method", "pdhg(restart=false)"]):
        code, more = run_json(capsys, name, "--tol", "1e-9", "--max-iter", "20", *same, "--resume", state)
        assert (code, more["iterations"], more["plan"]["options"]) == (4, 20, {"restart": False})


def test_a_state_belongs_to_a_problem_and_a_method(capsys: pytest.CaptureFixture[str], program: Any, tmp_path: Path):
    name, state = program(MIX), str(tmp_path / "state.npz")
    assert main(["run", name, "--method", "pdhg", "--checkpoint", state, "--json-stream"]) == 0
    assert '"type": "checkpoint"' in capsys.readouterr().out
    for argv, code in (
        (["--resume", state, "--method", "apg"], "FW0019"),
        (["--resume", state, "--method", "pdhg(restart=false)"], "FW0019"),
        (["--resume", state, "--set", "r=2"], "FW0202"),
        (["--resume", name], "FW0201"),
    ):
        assert main(["run", name, *argv]) == 1
        assert capsys.readouterr().err.startswith(f"error[{code}]: ")


@pytest.mark.parametrize("example", sorted(path.stem for path in EXAMPLES.glob("*.fw")))
def test_the_examples_are_solved(capsys: pytest.CaptureFixture[str], example: str):
    code, form = run_json(capsys, str(EXAMPLES / f"{example}.fw"))
    assert (code, form["status"]) == (0, "optimal")
    assert form["certificate"]["kind"] in ("exact", "rigorous", "probabilistic", "conditional")
    assert form["relative_gap"] <= (1e-3 if example == "completion" else 1e-6)


def test_plots_need_a_suffix_that_says_what_they_are(capsys: pytest.CaptureFixture[str], program: Any, tmp_path: Path):
    pytest.importorskip("matplotlib")
    assert main(["run", program(MIX), "--plot", str(tmp_path / "gap"), "--quiet"]) == 1
    assert capsys.readouterr().err.startswith("error[FW0014]: ")
    assert main(["run", program(MIX), "--plot", str(tmp_path / "gap.svg"), "--quiet"]) == 0
    assert "<svg" in (tmp_path / "gap.svg").read_text()


def test_names_that_the_file_format_wants_for_itself(program: Any, tmp_path: Path):
    file = tmp_path / "fit.npz"
    name = program("var file: real, record: real\nminimize sum_squares(file - 1) + sum_squares(record - 2)\n")
    assert main(["run", name, "--out", str(file), "--quiet"]) == 0
    with np.load(file, allow_pickle=False) as saved:
        assert (saved["file"], saved["var:record"]) == (pytest.approx(1, abs=1e-3), pytest.approx(2, abs=1e-3))
        assert json.loads(str(saved["record"]))["status"] == "optimal"


def test_a_solution_is_no_state_to_go_on_from(root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    program, saved = str(root / "examples" / "portfolio.fw"), str(tmp_path / "answer.npz")
    assert main(["run", program, "--out", saved]) == 0
    capsys.readouterr()
    assert main(["run", program, "--resume", saved]) == 1
    assert "holds a solution and no state" in capsys.readouterr().err
