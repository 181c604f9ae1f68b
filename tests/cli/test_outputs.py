"""`--out`, `--checkpoint`, `--plot` and the others write regular files or new ones, and none that is read."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import fwdsl as fw
from fwdsl.cli import main
from fwdsl.files.target import target_of, write_atomically

PROGRAM = """\
data A: matrix[n, p] from npy("A.npy"), b: vector[n] from npy("b.npy")
param r: positive = 1
var x: vector[p]
let fit = mean(squared(A @ x, b))
minimize fit
subject to norm1(x) <= r
"""
posix = pytest.mark.skipif(os.name != "posix", reason="devices and links of POSIX")
plots = pytest.mark.skipif(importlib.util.find_spec("matplotlib") is None, reason="matplotlib is not installed")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    Path("fit.fw").write_text(PROGRAM)
    np.save("A.npy", rng.standard_normal((20, 3)))
    np.save("b.npy", rng.standard_normal(20))
    np.save("c.npy", rng.standard_normal(20))
    return tmp_path


def contents(folder: Path) -> dict[str, bytes]:
    return {p.name: p.read_bytes() for p in sorted(folder.iterdir()) if p.is_file()}


def refused(capsys: pytest.CaptureFixture[str], *argv: str) -> str:
    """The diagnostics of a command that has solved and written nothing."""
    before = contents(Path())
    assert main(argv) == 1
    out, err = capsys.readouterr()
    assert out == "" and contents(Path()) == before
    return err


@posix
@pytest.mark.parametrize("option", ["--out", "--checkpoint", "--plot"])
def test_a_device_or_a_pipe_is_not_replaced(option: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    os.mkfifo("pipe.npz")
    Path("null.npz").symlink_to("/dev/null")
    for name, kind in (("/dev/null", "a device"), ("null.npz", "a device"), ("pipe.npz", "a pipe")):
        said = refused(capsys, "run", "fit.fw", option, name)
        assert said.startswith(f"error[FW0013]: `{name}` cannot be written: it is {kind}, not a file")
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode) and stat.S_ISFIFO(os.stat("pipe.npz").st_mode)


@posix
def test_whatever_writes_replaces_files_only(tmp_path: Path):
    os.mkfifo("pipe")
    for name in ("pipe", "/dev/null", str(tmp_path)):
        with pytest.raises(OSError, match="it is a"):
            target_of(name)
        with pytest.raises(OSError, match="it is a"):
            write_atomically(name, lambda stream: None)
    assert stat.S_ISFIFO(os.stat("pipe").st_mode)
    assert target_of(tmp_path / "new") == tmp_path.resolve() / "new"


INPUTS = {
    "the program": ("fit.fw", "the program"),
    "its data": ("A.npy", "the data of `A`"),
    "data that are given": ("c.npy", "the data of `b`"),
    "data that are replaced": ("b.npy", "the data of `b`"),
}


@pytest.mark.parametrize("option", ["--checkpoint", "--plot", "--out"])
@pytest.mark.parametrize("name", INPUTS)
def test_no_input_is_written_over(option: str, name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    file, what = INPUTS[name]
    names = [file, str(tmp_path / file)]
    if os.name == "posix":
        Path("link.npz").symlink_to(file)
        Path("hard.npz").hardlink_to(file)
        names += ["link.npz", "hard.npz"]
    for written in names:
        said = refused(capsys, "run", "fit.fw", "--data", "b=c.npy", option, written)
        if option == "--out" and not written.endswith(".npz"):
            assert said.startswith(f"error[FW0028]: `{written}` does not end in `.npz`")
        elif option == "--plot":
            assert said.startswith(("error[FW0014]", "error[FW0018]"))
        else:
            assert said.startswith(f"error[FW0029]: `{option} {written}` would overwrite {what}\n")


@plots
@pytest.mark.parametrize(
    "command", [("run",), ("race", "--time", "1"), ("path", "--set", "r=1,2")], ids=lambda argv: argv[0]
)
def test_no_plot_is_drawn_over_an_input(command: tuple[str, ...], capsys: pytest.CaptureFixture[str]):
    np.save("c.npy", np.load("b.npy"))
    Path("c.npy").rename("c.png")
    argv = (command[0], "fit.fw", *command[1:], "--data", "b=npy:c.png", "--plot", "c.png")
    assert "FW0029" in refused(capsys, *argv)


def test_a_suffix_is_refused_before_anything_is_solved(capsys: pytest.CaptureFixture[str]):
    for name in ("fit.csv", "fit", "fit.npy"):
        said = refused(capsys, "run", "fit.fw", "--out", name)
        assert said.startswith("error[FW0028]") and "write `--out fit.npz`" in said
    assert main(["run", "fit.fw", "--out", "fit.NPZ", "--quiet"]) == 0


@pytest.mark.parametrize("option", ["--out", "--html", "--plot", "--checkpoint"])
def test_an_empty_path_is_told_as_such(option: str, capsys: pytest.CaptureFixture[str]):
    assert refused(capsys, "run", "fit.fw", option, "").startswith(f"error[FW0003]: `{option}` has an empty path")
    with pytest.raises(OSError, match="its path is empty"):
        write_atomically("", lambda stream: None)


def test_outputs_are_files_of_their_own(capsys: pytest.CaptureFixture[str]):
    said = refused(capsys, "run", "fit.fw", "--out", "a.npz", "--checkpoint", "./a.npz")
    assert said.startswith("error[FW0029]: `--out a.npz` would overwrite what `--checkpoint` writes")


def test_a_state_may_take_the_place_of_the_one_that_was_resumed(capsys: pytest.CaptureFixture[str]):
    limits = ("--method", "pdhg", "--max-iter", "2", "--quiet", "--tol", "1e-14")
    assert main(["run", "fit.fw", *limits, "--checkpoint", "s.npz"]) == 4
    assert main(["run", "fit.fw", *limits, "--checkpoint", "s.npz", "--resume", "s.npz"]) == 4
    capsys.readouterr()
    said = refused(capsys, "run", "fit.fw", *limits, "--out", "s.npz", "--resume", "s.npz")
    assert "would overwrite the state to go on from" in said


def test_values_are_not_written_over_the_solution(capsys: pytest.CaptureFixture[str]):
    assert main(["run", "fit.fw", "--out", "fit.npz", "--quiet"]) == 0
    capsys.readouterr()
    said = refused(capsys, "eval", "fit.fw", "--solution", "fit.npz", "--out", "fit.npz")
    assert "would overwrite the solution" in said
    assert "FW0029" in refused(
        capsys, "eval", "fit.fw", "--solution", "fit.npz", "--data", "b=npy:fit.npz", "--out", "fit.npz"
    )


def test_mocked_data_are_not_written_over_the_programs_own(capsys: pytest.CaptureFixture[str]):
    said = refused(capsys, "mock", "fit.fw", "--dims", "n=9,p=2", "--out", ".")
    assert "would overwrite the data of `A`" in said


@posix
@pytest.mark.parametrize("command", ["run fit.fw --json", "fmt fit.fw", "check fit.fw", "run fit.fw --quiet"])
@pytest.mark.parametrize("into", ["fit.fw", "A.npy"])
def test_standard_output_does_not_go_into_an_input(command: str, into: str, root: Path, tmp_path: Path):
    before = contents(tmp_path)
    script = f"{sys.executable} -m fwdsl {command} >> {into}"
    environment = {**os.environ, "PYTHONPATH": str(root)}
    done = subprocess.run(
        ["sh", "-c", script], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    if into == "A.npy" and not command.startswith("run"):
        return  # these read no data
    assert contents(tmp_path) == before
    assert done.returncode == 1
    if "--json" not in command:
        what = "the program" if into == "fit.fw" else "the data of `A`"
        assert done.stderr.startswith(f"error[FW0029]: standard output would overwrite {what}\n")


@posix
def test_an_answer_is_not_put_where_standard_output_goes(root: Path, tmp_path: Path):
    script = f"{sys.executable} -m fwdsl run fit.fw --out out.npz > out.npz"
    environment = {**os.environ, "PYTHONPATH": str(root)}
    done = subprocess.run(
        ["sh", "-c", script], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert "`--out out.npz` would overwrite the file that standard output goes into" in done.stderr


@plots
def test_a_plot_is_written_whole_or_not_at_all(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    from matplotlib.figure import Figure

    def full(self: Figure, stream: object, **_: object) -> None:
        stream.write(b"half")  # type: ignore[attr-defined]
        raise OSError(28, "No space left on device")

    Path("gap.png").write_bytes(b"before")
    monkeypatch.setattr(Figure, "savefig", full)
    assert main(["run", "fit.fw", "--quiet", "--plot", "gap.png"]) == 1
    assert "`gap.png` cannot be written: no space left on device" in capsys.readouterr().err
    assert Path("gap.png").read_bytes() == b"before"
    assert not list(Path().glob(".fwdsl-*"))


@pytest.mark.parametrize(("option", "name"), [("--out", "fit.npz"), ("--html", "fit.html")])
def test_what_a_full_disk_does_not_take_is_kept_elsewhere(
    option: str, name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    from fwdsl.files import target

    write = target._write
    here = Path.cwd()

    def full(path: Path, writer: object) -> None:
        if path.parent == here:
            raise OSError(28, "No space left on device")
        write(path, writer)  # type: ignore[arg-type]

    monkeypatch.setattr(target, "_write", full)
    assert main(["run", "fit.fw", option, name]) == 1
    printed = capsys.readouterr()
    found = re.search(r"`([^`]*)` was written in its place", " ".join(printed.err.split()))
    assert "no space left on device" in printed.err and "objective" in printed.out and found is not None
    spare = Path(found.group(1))
    assert spare.name == name and spare.stat().st_size > 0
    if option == "--out":
        assert fw.load_solution(spare).status == "optimal"
    shutil.rmtree(spare.parent)


@pytest.mark.parametrize("name", ["a" * 300 + ".npz", "b/" * 2000 + "c.npz"])
def test_a_name_that_no_file_can_have(name: str, capsys: pytest.CaptureFixture[str]):
    assert "FW0013" in refused(capsys, "run", "fit.fw", "--out", name)


@pytest.mark.parametrize(
    "argv",
    [
        ("run", "fit.fw", "--html"),
        ("run", "fit.fw", "--plot"),
        ("run", "fit.fw", "--checkpoint"),
        ("race", "fit.fw", "--html"),
        ("path", "fit.fw", "--set", "r=1,2", "--html"),
    ],
)
def test_standard_output_and_no_name_are_no_files(argv: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    assert "stands for standard output" in refused(capsys, *argv, "-")
    assert "has an empty path" in refused(capsys, *argv, "")
