"""Workers that are started here for one problem."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import distributed
import psutil
import pytest

import fwdsl as fw
from fwdsl.cluster import local as started
from fwdsl.cluster.connect import connect
from fwdsl.errors import RunError

SCRIPT = """
import numpy as np
import fwdsl as fw
print("once")
X = np.random.default_rng(0).standard_normal((3000, 60))
text = "data X: matrix[n, p], y: vector[n]\\nvar w: vector[p]\\nminimize mean(squared(X @ w, y)) + 0.1 * norm1(w)\\n"
found = fw.parse(text).bind(X=X, y=X[:, 0]).solve(client="2", method="apg")
print(found.status)
"""


def begun(folder, text):
    """A script that runs."""
    (folder / "script.py").write_text(text)
    env = {**os.environ, "PYTHONPATH": str(Path(fw.__file__).parents[1])}
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen([sys.executable, "script.py"], cwd=folder, env=env, **pipes)


@pytest.mark.slow
def test_workers_do_not_import_the_script_that_starts_them(tmp_path):
    script = begun(tmp_path, SCRIPT)
    out, err = script.communicate(timeout=120)
    assert (script.returncode, out.split()) == (0, ["once", "optimal"]), err
    assert "Traceback" not in err


@pytest.mark.slow
def test_workers_end_with_a_script_that_is_killed_and_not_by_ctrl_c(tmp_path):
    text = (
        "from fwdsl.cluster.connect import connect\nheld = connect(2)\n"
        "while True:\n    print(len(held.workers()), flush=True)\n    input()\n"
    )
    script = begun(tmp_path, text)
    assert script.stdout.readline() == "2\n"
    children = psutil.Process(script.pid).children(recursive=True)
    assert len(children) >= 3
    for child in children:
        child.send_signal(signal.SIGINT)
    script.stdin.write("\n")
    script.stdin.flush()
    assert script.stdout.readline() == "2\n"
    assert all(child.is_running() and child.status() != psutil.STATUS_ZOMBIE for child in children)
    script.kill()
    script.communicate()
    gone, left = psutil.wait_procs(children, timeout=30)
    assert len(gone) == len(children) and not left


@pytest.mark.slow
@pytest.mark.parametrize("told", [(), (sys.path,), (sys.path, {"n_workers": 1})])
def test_workers_whose_driver_ends_as_they_begin_say_nothing(told):
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    between = subprocess.Popen([sys.executable, "-c", started.BEGIN], text=True, **pipes)
    between.stdout.close()  # what it tells is read by nobody
    between.stdin.write("".join(f"{json.dumps(line, default=str)}\n" for line in told))
    between.stdin.close()
    assert between.stderr.read() == ""
    assert between.wait(60) == 0


@pytest.mark.slow
def test_digits_are_a_number_of_workers():
    with connect("1") as cluster:
        assert len(cluster.shares) == 1


@pytest.mark.parametrize("count", [0, -1, "0"])
def test_no_workers_are_too_few(count):
    with pytest.raises(RunError, match="one worker or more") as error:
        connect(count)
    assert error.value.code == "FW0241"


def test_more_workers_than_fit_into_memory_are_refused():
    with pytest.raises(RunError, match=r"1,000,000 workers take .* of memory") as error:
        connect(1_000_000)
    assert error.value.code == "FW0241"


@pytest.mark.parametrize(
    ("address", "why"),
    [
        ("http://127.0.0.1:80", "unknown address scheme"),
        ("tcp://", "missing port"),
        ("tcp://127.0.0.1", "missing port"),
        ("tcp://127.0.0.1:x", "invalid literal"),
    ],
)
def test_what_is_no_address_is_told_at_once(address, why, tmp_path, monkeypatch):
    made = []
    monkeypatch.setattr(distributed.Client, "__init__", lambda *_, **__: made.append(1))
    file = tmp_path / "scheduler.json"
    file.write_text(json.dumps({"address": address}))
    for workers in (address, file):
        with pytest.raises(RunError, match=why) as error:
            connect(workers)
        assert error.value.code == "FW0241"
    assert not made


@pytest.mark.parametrize(
    ("begin", "why"),
    [
        ("pass", "ended as it began"),
        ('print(\'{"error": "no more processes"}\')', "no more processes"),
        ("print('what')", "cannot be started"),
    ],
)
def test_workers_that_cannot_be_started_are_told(begin, why, monkeypatch):
    monkeypatch.setattr(started, "BEGIN", begin)
    with pytest.raises(RunError, match=why) as error:
        connect(2)
    assert error.value.code == "FW0241" and "fewer workers" in error.value.diagnostics[0].hint
