"""Rows that a process left behind: removed by a later one of the same host, and by no other."""

import gc
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import fwdsl as fw
from fwdsl.bind import bindings
from fwdsl.readers import owned
from fwdsl.readers.decoded import PART, PREFIX, Decoded, kept_folders
from fwdsl.readers.in_blocks import piled

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="locks of this kind are of POSIX")

OWNER = """
import sys
from fwdsl.readers.decoded import Decoded
from fwdsl.readers.in_blocks import piled
import numpy as np
if sys.argv[1] == "whole":
    rows = piled(iter([np.ones((10, 3))]), "X", 0)
else:
    Decoded("begun", (), 0).create("rows")
print("there", flush=True)
sys.stdin.read()
"""


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("FWDSL_CACHE_DIR", str(tmp_path / "cache"))
    # other tests of this process may own folders still
    monkeypatch.setattr(owned, "_held", {})
    return tmp_path / "cache"


def owner(how):
    run = [sys.executable, "-c", OWNER, how]
    process = subprocess.Popen(run, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "there\n"
    return process


@pytest.mark.parametrize(("how", "prefix"), [("whole", PREFIX), ("begun", PART)])
def test_rows_of_a_killed_process_are_removed_by_a_later_one(how, prefix):
    process = owner(how)
    ((folder, _),) = kept_folders()
    assert folder.name.startswith(prefix)
    Decoded("other", (), 0)
    assert folder.exists()
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert folder.exists()
    Decoded("other", (), 0)
    assert not folder.exists()


def test_those_of_other_hosts_and_of_nobody_stay():
    process = owner("whole")
    process.kill()
    process.communicate()
    ((folder, _),) = kept_folders()
    (folder / owned.OWNER).write_text("another")
    Decoded("other", (), 0)
    assert folder.exists()
    (folder / owned.OWNER).unlink()
    Decoded("other", (), 0)
    assert folder.exists()


def test_rows_that_others_may_use_are_nobodys(cache):
    made = Decoded("rows", (), 0)
    array = made.array("X", np.float64)
    array.extend(np.ones(3))
    made.keep({"X": np.ones(3)}, {})
    assert not (made.folder / owned.OWNER).exists() and not owned._held
    assert Decoded("rows", (), 0).kept() is not None


def test_rows_go_with_their_matrix(cache):
    rows, _ = piled(iter([np.ones((10, 3))]), "X", 0)
    Decoded("other", (), 0)
    assert kept_folders() and owned._held and np.array_equal(rows.rows(0, 10), np.ones((10, 3)))
    del rows
    assert not kept_folders() and not owned._held
    begun = Decoded("begun", (), 0)
    begun.create("rows").close()
    begun.drop()
    assert not kept_folders() and not owned._held


def test_rows_that_are_decoded_in_each_run_are_of_that_run(tmp_path, monkeypatch):
    """The second run of two at the same time took the first one's files away."""
    monkeypatch.setattr(bindings, "SHARE", 10**12)
    rng = np.random.default_rng(0)
    lines = [f"{i},{a!r},{b!r}" for i, (a, b) in enumerate(rng.standard_normal((50, 2)).tolist())]
    (tmp_path / "X.csv").write_text("\n".join([",a,b", *lines, ""]))  # a column without a name is told in each run
    (tmp_path / "p.fw").write_text(
        'fw 1\ndata X: matrix[n, p] from csv("X.csv"), y: vector[n]\nparam mu: positive = 0.1\nvar w: vector[p]\n'
        'minimize mean(squared(X @ w, y)) + mu * norm1(w)\nsolve memory = "8GB"\n'
    )
    one, other = (fw.load(tmp_path / "p.fw").bind(y=rng.standard_normal(50)) for _ in range(2))
    first, second = one.solve(method="apg"), other.solve(method="apg")
    assert len(kept_folders()) == 2 and first.instance.values["X"].files != second.instance.values["X"].files
    assert one.bind(mu=0.2).solve(method="apg").status == other.bind(mu=0.2).solve(method="apg").status == "optimal"
    del one, first
    gc.collect()
    assert len(kept_folders()) == 1
    del other, second
    gc.collect()
    assert not kept_folders()


@pytest.mark.slow
@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL])
def test_a_run_that_is_ended_while_it_decodes(how, tmp_path, cache):
    rng = np.random.default_rng(0)
    with open(tmp_path / "X.csv", "w") as file:
        file.write(",".join(f"c{i}" for i in range(40)) + "\n")
        lines = [",".join(map(str, row)) + "\n" for row in rng.standard_normal((1000, 40))]
        for _ in range(200):
            file.writelines(lines)
    np.save(tmp_path / "y.npy", rng.standard_normal(200_000))
    (tmp_path / "p.fw").write_text(
        'fw 1\ndata X: matrix[n, p] from csv("X.csv"), y: vector[n] from npy("y.npy")\nvar w: vector[p]\n'
        "minimize mean(squared(X @ w, y)) + 0.1 * norm1(w)\n"
    )
    run = [sys.executable, "-m", "fwdsl", "run", "p.fw", "--memory", "400MB"]
    began = subprocess.Popen(run, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    while not list(cache.glob(f"{PART}*/*.raw")):
        assert began.poll() is None
    began.send_signal(how)
    out, err = began.communicate(timeout=60)
    if how == signal.SIGTERM:
        assert began.returncode == 143 and out == "" and err.count("\n") == 1 and "interrupted" in err
        assert not list(cache.glob("*rows-*"))
    else:
        assert began.returncode == -signal.SIGKILL and list(cache.glob(f"{PART}*"))
    whole = subprocess.run(run, cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert whole.returncode == 0, whole.stderr
    assert [folder.name.startswith(PREFIX) for folder in cache.glob("*rows-*")] == [True]
    assert [folder.name.startswith(PREFIX) for folder in map(Path, cache.glob(".part*"))] == []
    assert os.path.exists(next(cache.glob(f"{PREFIX}*")) / "rows.json")
