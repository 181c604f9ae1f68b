"""Commands end without having done what they were asked: bugs, interruptions, closed pipes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest

from fwdsl.cli import app, main
from fwdsl.cli.exits import USAGE
from fwdsl.cli.output import Output
from fwdsl.errors import DataError
from fwdsl.grammar.diagnostic import Diagnostic


def ending(monkeypatch: pytest.MonkeyPatch, error: BaseException, program: bytes | None = None) -> None:
    """Make every command end with `error`."""

    def command(argv: list[str], output: Output) -> int:
        if "--json" in argv:
            output.configure(mode="json")
        output.program = program
        raise error

    monkeypatch.setattr(app, "_command", command)


@pytest.fixture
def reports(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder for reports of bugs."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def test_a_bug_writes_a_report(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], reports: Path):
    ending(monkeypatch, ZeroDivisionError("by zero"), "minimize 変\n".encode() + b"\xff")
    assert main(["run", "fit.fw"]) == 70
    out, err = capsys.readouterr()
    (report,) = reports.glob("fwdsl-bug-*.txt")
    text = report.read_text(encoding="utf-8")
    assert out == "" and "error[FW9001]: an error in fwdsl itself: ZeroDivisionError" in err and str(report) in err
    assert "Traceback" not in err
    assert "command: fwdsl run fit.fw" in text and "ZeroDivisionError: by zero" in text and "minimize 変\n\\xff" in text
    assert "numpy " in text and "python " in text


def test_a_bug_in_json(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], reports: Path):
    ending(monkeypatch, RecursionError())
    assert main(["run", "fit.fw", "--json"]) == 70
    out, err = capsys.readouterr()
    form = json.loads(out)
    assert err == ""
    assert (form["status"], form["diagnostics"][0]["code"]) == ("rejected", "FW9001")
    assert form["diagnostics"][0]["place"]["file"] == str(next(reports.iterdir()))


def test_an_interruption_before_any_point(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    ending(monkeypatch, KeyboardInterrupt())
    assert main(["run", "fit.fw"]) == 130
    assert capsys.readouterr().err == "interrupted: there is no result\n"
    assert main(["run", "fit.fw", "--json"]) == 130
    assert json.loads(capsys.readouterr().out)["status"] == "interrupted"


def test_what_an_import_makes_of_an_interruption_is_one(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    def command(argv: list[str], output: Output) -> int:
        try:
            signal.raise_signal(signal.SIGINT)
        except KeyboardInterrupt:
            raise ImportError("PyCapsule_Import could not import module") from None
        return 0

    monkeypatch.setattr(app, "_command", command)
    before = signal.getsignal(signal.SIGINT)
    assert main(["run", "fit.fw"]) == 130
    assert capsys.readouterr().err == "interrupted: there is no result\n"
    assert signal.getsignal(signal.SIGINT) is before


INTERRUPTED_IMPORT = """\
import builtins, signal, sys
from fwdsl.cli import main

name, left, load = sys.argv.pop(1), int(sys.argv.pop(1)), builtins.__import__

def interrupted(*args, **kwargs):
    global left
    left -= 1
    if left == 0:
        signal.raise_signal(signal.Signals[name])
    return load(*args, **kwargs)

builtins.__import__ = interrupted
sys.exit(main())
"""


@pytest.mark.parametrize("number", [1, 7, 40, 150, 400])
@pytest.mark.parametrize("json_mode", [False, True])
def test_an_interruption_within_an_import(root: Path, number: int, json_mode: bool):
    command = ["run", "examples/portfolio.fw", *(["--json"] if json_mode else [])]
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED_IMPORT, "SIGINT", str(number), *command],
        cwd=root,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 130
    if json_mode:
        assert done.stderr == "" and json.loads(done.stdout)["status"] == "interrupted"
    else:
        assert (done.stdout, done.stderr) == ("", "interrupted: there is no result\n")


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
@pytest.mark.parametrize("number", [1, 40, 400])
@pytest.mark.parametrize("json_mode", [False, True])
def test_termination_before_the_data_are_read(root: Path, tmp_path: Path, number: int, json_mode: bool):
    state = str(tmp_path / "s.npz")
    command = ["run", "examples/portfolio.fw", "--checkpoint", state, *(["--json"] if json_mode else [])]
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED_IMPORT, "SIGTERM", str(number), *command],
        cwd=root,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 143
    if json_mode:
        assert done.stderr == "" and json.loads(done.stdout)["status"] == "interrupted"
    else:
        assert (done.stdout, done.stderr) == ("", "interrupted: there is no result\n")


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
@pytest.mark.parametrize("ignored", [False, True])
def test_termination_before_there_is_a_state(
    ignored: bool, root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    from fwdsl.cli.commands import run
    from fwdsl.solve.interrupt import Control

    def compiling(*given: object) -> None:
        control = next(g for g in given if isinstance(g, Control))
        signal.raise_signal(signal.SIGTERM)
        assert control.stop
        raise KeyboardInterrupt

    monkeypatch.setattr(run, "solve", compiling)
    before = signal.signal(signal.SIGINT, signal.SIG_IGN) if ignored else None
    try:
        program = str(root / "examples" / "portfolio.fw")
        assert main(["run", program, "--checkpoint", str(tmp_path / "s.npz")]) == 143
    finally:
        if ignored:
            signal.signal(signal.SIGINT, before)
    assert capsys.readouterr().err == "interrupted: there is no result\n"
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
@pytest.mark.parametrize("option", ["--checkpoint=s.npz", "--workers=2", "--folds=3"])
def test_termination_where_something_is_to_be_ended(
    option: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    from fwdsl.cli import app

    monkeypatch.setattr(app, "run", lambda words, interrupted: signal.raise_signal(signal.SIGTERM))
    assert main(["run", "p.fw", option]) == 143
    assert capsys.readouterr().err == "interrupted: there is no result\n"


def test_memory_that_ran_out_is_no_bug(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    ending(monkeypatch, MemoryError())
    assert main(["run", "fit.fw"]) == 1
    assert capsys.readouterr().err.startswith("error[FW6001]: ")


def test_an_error_of_the_python_interface(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    ending(monkeypatch, DataError([Diagnostic("FW4001", "there is no file `X.npy`")]))
    assert main(["run", "fit.fw"]) == 1
    assert capsys.readouterr().err == "error[FW4001]: there is no file `X.npy`\n"


def test_a_reader_that_went_away_is_no_error_to_tell(root: Path):
    # The reading end is closed before the first byte is written.
    read, write = os.pipe()
    os.close(read)
    try:
        done = subprocess.run(
            [sys.executable, "-m", "fwdsl", "explain"], cwd=root, stdout=write, stderr=subprocess.PIPE, check=False
        )
    finally:
        os.close(write)
    assert (done.returncode, done.stderr) == (1, b"")


def shell(root: Path, command: str) -> subprocess.CompletedProcess[str]:
    """`fwdsl COMMAND`, with redirections as a shell does them."""
    script = f"{sys.executable} -m fwdsl {command}"
    return subprocess.run(["sh", "-c", script], cwd=root, capture_output=True, text=True, check=False)


@pytest.mark.skipif(os.name != "posix", reason="redirections of a POSIX shell")
@pytest.mark.parametrize(
    ("command", "code", "said"),
    [
        ("check examples/portfolio.fw >&-", 0, ""),
        ("check absent.fw 2>&-", 1, ""),
        ("check - <&-", 1, "error[FW0012]: standard input cannot be read: it is closed\n"),
    ],
)
def test_closed_streams(root: Path, command: str, code: int, said: str):
    done = shell(root, command)
    assert (done.returncode, done.stdout, done.stderr) == (code, "", said)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
@pytest.mark.parametrize("command", ["explain", "check examples/portfolio.fw", "check absent.fw --json"])
def test_a_full_disk_is_no_bug(root: Path, command: str):
    done = shell(root, f"{command} > /dev/full")
    assert (done.returncode, done.stderr) == (
        1,
        "error[FW0013]: standard output cannot be written: no space left on device\n",
    )


def test_names_that_the_terminal_cannot_write(root: Path, tmp_path: Path):
    (tmp_path / "a.fw").write_text("var 変: real\nminimize sum_squares(変 - 1)\n", encoding="utf-8")
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    command = [sys.executable, "-m", "fwdsl", "run", str(tmp_path / "a.fw")]
    text = subprocess.run(command, cwd=root, env=environment, capture_output=True, check=True).stdout.decode("ascii")
    assert "\\u5909 " in text
    form = subprocess.run([*command, "--json"], cwd=root, env=environment, capture_output=True, check=True).stdout
    assert list(json.loads(form.decode("ascii"))["variables"]) == ["変"]


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP"])
def test_a_signal_while_a_file_is_written_leaves_it_whole(root: Path, tmp_path: Path, name: str):
    script = f"""
import signal
from fwdsl.files.target import write_atomically

def write(stream):
    stream.write(b"one ")
    signal.raise_signal(signal.{name})
    stream.write(b"two")

write_atomically({str(tmp_path / "file")!r}, write)
print("not reached")
"""
    done = subprocess.run([sys.executable, "-c", script], cwd=root, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (-signal.Signals[name], "", "")
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
    assert (tmp_path / "file").read_bytes() == b"one two"


def test_an_interruption_before_anything_is_imported(root: Path) -> None:
    code = (
        "import sys\n"
        "class Early:\n"
        "    def find_spec(self, name, *_):\n"
        "        if name == 'fwdsl.cli.signals':\n"
        "            raise KeyboardInterrupt\n"
        "sys.meta_path.insert(0, Early())\n"
        "from fwdsl.cli import main\n"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "interrupted: there is no result\n")


WRITES_MEANWHILE = """
import os, sys
from fwdsl.cli.app import run
from fwdsl.session import Session

plan = Session.plan

def planned(session):
    found = plan(session)
    with open("X.npy", "r+b") as file:
        {write}
    return found

Session.plan = planned
sys.exit(run(["run", "lasso.fw", "--threads", "1", *{options}]))
"""
"""A run during which its data are written to, after they were read for the first time."""


def meanwhile(root: Path, write: str, *options: str) -> subprocess.CompletedProcess[str]:
    """The run, on a matrix of 4 MB that is mapped from its file."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((5000, 100))
    np.save(root / "X.npy", X)
    np.save(root / "y.npy", X[:, 0])
    (root / "lasso.fw").write_text(
        'data X: matrix[n, p] from npy("X.npy"), y: vector[n] from npy("y.npy")\nvar w: vector[p]\n'
        "minimize 1/2 * mean(squared(X @ w, y)) + 0.1 * norm1(w)\n"
    )
    script = WRITES_MEANWHILE.format(write=write, options=repr(options))
    return subprocess.run([sys.executable, "-c", script], cwd=root, capture_output=True, text=True, check=False)


@pytest.mark.skipif(not hasattr(signal, "SIGBUS"), reason="this system has no SIGBUS")
@pytest.mark.parametrize("options", [(), ("--json",)])
def test_a_mapped_file_that_is_cut_short_ends_the_run_where_its_rows_are_read(tmp_path, options):
    done = meanwhile(tmp_path, "file.truncate(1000)", *options)
    assert done.returncode == USAGE, done.stderr
    if options:
        (told,) = json.loads(done.stdout)["diagnostics"]
        assert told["code"] == "FW4090"
    else:
        assert "FW4090" in done.stderr and "`X.npy` was cut short" in done.stderr and "Traceback" not in done.stderr


def test_a_mapped_file_that_is_written_to_gives_no_answer(tmp_path):
    done = meanwhile(tmp_path, "file.seek(200); file.write(bytes(8)); file.flush(); os.utime(file.fileno(), ns=(1, 1))")
    assert done.returncode == USAGE
    assert "FW4090" in done.stderr and "`X.npy` was written to" in done.stderr and "objective" not in done.stdout
