"""Signals at random moments: SIGINT, SIGTERM, SIGHUP, and a reader that goes away.

`python -m tests.attack.signals` sends 100, in the first three seconds of commands that would take longer, or are short. Nothing is lost: no
traceback, the right exit code, the best point that was told of, files whole or absent, a checkpoint that goes on to the same bits.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from functools import cache
from pathlib import Path

import numpy as np

from fwdsl.cli.exits import BUG, INTERRUPTED

from .harness import KNOWN, ROOT, command, rng_of, script

COUNT = 100
LATEST = 3.0
"""Seconds after which the signal comes at the latest."""
_GRACE = 20.0
"""Seconds that a command may take to end, on a machine that does other things too."""
_ITERATIONS = 6000

_PROGRAM = """\
fw 1

data X: matrix[n, p], y: signs[n] from npz("data.npz")
param mu: nonnegative = 0.01
var w: vector[p]

minimize mean(hinge(X @ w, y)) + mu * norm1(w)
"""
_LONG = ["--method", "pdhg", "--tol", "1e-15", "--max-iter", str(_ITERATIONS)]
#: What is run, each with the files that it may leave.
COMMANDS: dict[str, tuple[list[str], set[str]]] = {
    "run": (["run", "program.fw", *_LONG], set()),
    "run --json": (["run", "program.fw", *_LONG, "--json"], set()),
    "run --json-stream": (["run", "program.fw", *_LONG, "--json-stream"], set()),
    "run --out": (["run", "program.fw", *_LONG, "--out", "out.npz"], {"out.npz"}),
    "run --out, short": (["run", "program.fw", "--out", "out.npz"], {"out.npz"}),
    "run --checkpoint": (["run", "program.fw", *_LONG, "--json", "--checkpoint", "state.npz"], {"state.npz"}),
    "plan": (["plan", "program.fw"], set()),
    "plan --analyze": (["plan", "program.fw", *_LONG, "--analyze"], set()),
    "race": (
        ["race", "program.fw", "--methods", "pdhg,subgradient", "--tol", "1e-15", "--time", "30", "--json"],
        set(),
    ),
    "path": (["path", "program.fw", *_LONG, "--set", "mu=logspace(-1,-3,9)"], set()),
    "verify": (["verify", "program.fw"], set()),
    "check": (["check", *["program.fw"] * 300], set()),
    "fmt": (["fmt", *[f"f{i}.fw" for i in range(300)]], {f"f{i}.fw" for i in range(300)}),
    "explain": (["explain"], set()),
}
_SIGNALS = ("SIGINT", "SIGINT", "SIGTERM", "SIGTERM", "SIGHUP", "SIGPIPE")
_UNFORMATTED = _PROGRAM.replace(" + ", "+")


@cache
def _prepared() -> dict[str, bytes]:
    """The files that each command finds; the kernels that they need are compiled."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((1000, 100))
    np.savez("data.npz", X=X, y=np.sign(X[:, :10].sum(axis=1) + rng.standard_normal(1000)))
    Path("program.fw").write_text(_PROGRAM, "utf-8")
    for method in ("pdhg", "subgradient"):
        command("run", "program.fw", "--method", method, "--max-iter", "50")
    return {"data.npz": Path("data.npz").read_bytes(), "program.fw": _PROGRAM.encode()}


@cache
def _whole() -> object:
    """The variables after all iterations."""
    ended = command("run", "program.fw", *_LONG, "--json")
    assert ended.code in (0, 4), ended
    return ended.answer["variables"]


def case(number: int) -> list[str]:
    rng = rng_of("signals", number)
    files = _prepared()
    name = list(COMMANDS)[number % len(COMMANDS)]
    sent = rng.choice(_SIGNALS)
    after = rng.uniform(0.0, LATEST) if rng.random() < 0.7 else rng.uniform(0.0, 0.6)
    folder = Path("there")
    folder.mkdir()
    try:
        for file, content in files.items():
            (folder / file).write_bytes(content)
        if name == "fmt":
            for file in COMMANDS[name][1]:
                (folder / file).write_text(_UNFORMATTED, "utf-8")
        code, out, err = _struck(COMMANDS[name][0], folder, sent, after)
        found = _wrong_end(sent, name, code, out, err) + _wrong_files(name, folder, files)
    finally:
        shutil.rmtree(folder)
    return [f"{name}: {sent} after {after:.2f} s, exit {code}: {seen}" for seen in found]


def _struck(words: list[str], folder: Path, sent: str, after: float) -> tuple[int | None, str, str]:
    """Exit code and words of a command that a signal has met; no code where it went on and on."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1"}
    with (folder / "err.log").open("w+") as err, (folder / "out.log").open("w+") as out:
        piped = sent == "SIGPIPE"
        process = subprocess.Popen(
            [sys.executable, "-m", "fwdsl", *words],
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE if piped else out,
            stderr=err,
            start_new_session=True,
        )
        try:
            time.sleep(after)
            if process.stdout is not None:
                process.stdout.close()
            else:
                process.send_signal(signal.Signals[sent])
            code = process.wait(_GRACE if not piped else 120)
        except subprocess.TimeoutExpired:
            process.kill()
            code = None
            process.wait()
        out.seek(0)
        err.seek(0)
        return code, out.read(), err.read()


def _allowed(sent: str, name: str) -> set[int]:
    """The exit codes with which a command may end that the signal has met."""
    match sent:
        case "SIGINT":
            return {INTERRUPTED, -signal.SIGINT}
        case "SIGTERM":
            return {143} if name == "run --checkpoint" else {143, -signal.SIGTERM}
        case "SIGHUP":
            return {129, -signal.SIGHUP}
    return {1}


def _wrong_end(sent: str, name: str, code: int | None, out: str, err: str) -> list[str]:
    if code is None:
        return [f"still running {_GRACE:.0f} s later\n{err[-500:]}"]
    found = []
    # the interpreter itself may be met before it has come to fwdsl
    ours = str(ROOT / "fwdsl") in err
    if ("Traceback" in err and (ours or sent != "SIGINT")) or "Exception ignored" in err:
        found.append(f"a traceback\n{err[-3000:]}")
    elif code == BUG or "error[FW9" in err:
        found.append(f"a bug\n{out[-1000:]}{err[-2000:]}")
    early = "Traceback" in err and not ours  # killed while the interpreter started: its codes are not ours
    if code not in {*_allowed(sent, name), *KNOWN} and not early:
        before = name == "run --checkpoint" and sent == "SIGTERM" and code == -signal.SIGTERM and not out and not err
        if not before:
            found.append(f"another exit code\n{out[-500:]}{err[-1000:]}")
    if code == INTERRUPTED and sent == "SIGINT":
        found += _lost_point(name, out)
    return found


def _lost_point(name: str, out: str) -> list[str]:
    """An interrupted run whose point is not told, though there was one."""
    if name == "run --json-stream":
        events = [json.loads(line) for line in out.splitlines()]
        known = any(e["type"] == "progress" and e.get("iteration", 0) > 0 for e in events)
        if not events or events[-1]["type"] != "solution":
            return [f"the stream does not end with the solution\n{out[-500:]}"]
        if known and "variables" not in events[-1]:
            return [f"the point is lost\n{out[-500:]}"]
    elif name in ("run --json", "race") and json.loads(out)["status"] != "interrupted":
        return [f"interrupted, but not told so\n{out[:500]}"]
    return []


def _wrong_files(name: str, folder: Path, files: dict[str, bytes]) -> list[str]:
    found = []
    allowed = {"err.log", "out.log", *files, *COMMANDS[name][1]}
    left = sorted({path.name for path in folder.iterdir()} - allowed)
    if left:
        found.append(f"left behind: {left}")
    found += [f"{file} is changed" for file, content in files.items() if (folder / file).read_bytes() != content]
    if name == "fmt":
        contents = {(folder / file).read_text("utf-8") for file in COMMANDS[name][1]}
        if not contents <= {_UNFORMATTED, _PROGRAM}:
            found.append(f"a program is neither formatted nor as it was: {contents}")
    if (folder / "out.npz").exists():
        with np.load(folder / "out.npz") as saved:
            if not {"w", "record"} <= set(saved.files) or saved["w"].shape != (100,):
                found.append(f"out.npz holds {saved.files}")
    if (folder / "state.npz").exists():
        ended = command("run", "program.fw", "--resume", folder / "state.npz", *_LONG, "--json")
        if ended.answer.get("variables") != _whole():
            found.append(
                f"the checkpoint does not go on to the same point: exit {ended.code}\n{ended.err[:500]}{ended.out[:500]}"
            )
    return found


if __name__ == "__main__":
    script("signals", case, COUNT)
