"""Kernels as plain Python: the same numbers as compiled ones, without numba, and solves that end at their limits."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fwdsl.backends.kernels.uncompiled import TURNS, Uncompiled, looking

SCALE = 0.0


def mean_of(x: Any) -> Any:
    total = 0.0
    for i in range(x.size):
        total += x[i]
    return total / x.size


def ratio(x: Any, floor: Any) -> Any:
    return 1.0 / floor, math.log(floor), math.exp(1e4), math.sqrt(x[0]), x[0] / SCALE


def wide(x: Any) -> Any:
    return 0.1 * x[0]


def halves(n: Any) -> Any:
    return 1.0 if n <= 0.0 else 0.5 * halves(n - 1.0)


def test_numbers_divide_and_overflow_as_they_do_compiled() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = Uncompiled(ratio)(np.array([-1.0]), 0.0)
    assert found[:3] == (math.inf, -math.inf, math.inf) and math.isnan(found[3]) and found[4] == -math.inf


def test_literals_are_of_double_precision_beside_data_of_single() -> None:
    x = np.array([0.1], dtype=np.float32)
    assert Uncompiled(wide)(x) == 0.1 * float(x[0])


def test_results_are_numbers_of_python() -> None:
    found = Uncompiled(mean_of)(np.array([1.0, 2.0]))
    assert type(found) is float and found == 1.5
    assert Uncompiled(halves)(3) == 0.125  # it calls itself


def test_lines_and_names_are_those_of_the_file() -> None:
    kernel = Uncompiled(mean_of)
    assert kernel.py_func is mean_of and kernel.run.__name__ == "mean_of"
    assert kernel.run.__code__.co_filename == __file__
    assert kernel.run.__code__.co_firstlineno == mean_of.__code__.co_firstlineno


def test_long_loops_look_at_the_clock() -> None:
    class Over(Exception):
        pass

    asked: list[int] = []

    def hook() -> None:
        asked.append(1)
        if len(asked) == 3:
            raise Over

    with looking(hook), pytest.raises(Over):
        Uncompiled(mean_of)(np.zeros(10 * TURNS))
    assert len(asked) == 3
    assert Uncompiled(mean_of)(np.ones(10 * TURNS)) == 1.0  # nobody looks any more


def run(root: Path, code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    kept = {name: value for name, value in os.environ.items() if name != "FWDSL_JIT"}
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        cwd=root,
        env={**kept, **environment},
        capture_output=True,
        text=True,
        check=False,
    )


WITHOUT = "import sys; sys.modules['numba'] = sys.modules['llvmlite'] = None\n"
COMMAND = "from fwdsl.cli.app import run\nraise SystemExit(run({!r}))"


@pytest.mark.parametrize("name", ["lasso", "svm", "quantile_regression", "fused_lasso", "kernel_svm", "portfolio"])
def test_examples_are_certified_without_numba(name: str, root: Path) -> None:
    argv = ["run", f"examples/{name}.fw", "--json"]
    done = run(root, WITHOUT + COMMAND.format(argv), FWDSL_JIT="0")
    assert done.returncode == 0 and done.stderr == "", done.stderr
    told = json.loads(done.stdout)
    assert told["status"] == "optimal" and told["relative_gap"] <= 1e-6


def test_numba_is_not_loaded_where_it_is_not_wanted(root: Path) -> None:
    code = (
        "import sys\nfrom fwdsl.cli.app import run\nassert run(['run', 'examples/lasso.fw', '--quiet']) == 0\n"
        "assert 'numba' not in sys.modules"
    )
    done = run(root, code, FWDSL_JIT="0")
    assert done.returncode == 0, done.stderr


def test_a_missing_numba_is_told_once(root: Path) -> None:
    done = run(root, WITHOUT + COMMAND.format(["run", "examples/lasso.fw", "--quiet"]))
    assert done.returncode == 0
    assert done.stderr.splitlines() == [
        "kernels run as plain Python, hundreds of times slower: numba is not installed (pip install numba)"
    ]


def test_doctor_and_warm_say_that_nothing_is_compiled(root: Path) -> None:
    told = run(root, COMMAND.format(["doctor"]), FWDSL_JIT="0").stdout
    assert "run as plain Python, not compiled: FWDSL_JIT is 0\n" in told
    told = json.loads(run(root, COMMAND.format(["doctor", "--json"]), FWDSL_JIT="0").stdout)
    assert told["kernels"] == {"uncompiled": "FWDSL_JIT is 0", "folder": None, "files": 0, "bytes": 0}
    warmed = run(root, COMMAND.format(["warm", "examples/lasso.fw"]), FWDSL_JIT="0")
    assert warmed.returncode == 0 and warmed.stdout.startswith("there is nothing to compile")


def test_a_limit_of_time_ends_a_slow_kernel(root: Path) -> None:
    # the start, which takes far longer than any start may, is broken off within a pass over the data: no method asks there
    code = """
import numpy as np, fwdsl as fw
text = "data X: matrix[n, p], s: signs[n]\\nvar b: vector[p]\\nminimize mean(hinge(X @ b, s)) + sum_squares(b)"
rng = np.random.default_rng(0)
X = np.asfortranarray(rng.standard_normal((400_000, 20)))
data = {"X": X, "s": np.sign(X[:, 0] + rng.standard_normal(400_000))}
solution = fw.parse(text).bind(**data).solve(time=0.2, tol=1e-12, method="dcd")
assert solution.status == "tolerance_not_reached", solution.status
assert np.isfinite(solution.objective)
assert solution.state is None, "the start was not broken off"
"""
    done = run(root, code, FWDSL_JIT="0")
    assert done.returncode == 0, done.stderr


def compared(root: Path, *arguments: str) -> set[str]:
    done = subprocess.run(
        [sys.executable, "-m", "tests.kernels.compare", *arguments],
        cwd=root,
        env={name: value for name, value in os.environ.items() if name != "FWDSL_JIT"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return set(done.stdout.split())


def test_kernels_agree_with_themselves_compiled(root: Path) -> None:
    assert len(compared(root)) >= 30


@pytest.mark.slow
def test_kernels_of_every_word_agree_with_themselves_compiled(root: Path) -> None:
    assert len(compared(root, "--all")) >= 80


def test_nothing_starts_a_thread_in_a_browser(root: Path) -> None:
    # `_thread.start_new_thread` fails there; the platform is set after what looks at it for its own sake is loaded
    code = """
import sys, threading, concurrent.futures
import numpy as np, scipy.sparse, scipy.linalg
def refuse(*_, **__):
    raise RuntimeError("can't start new thread")
threading.Thread.start = refuse
sys.platform = "emscripten"
sys.modules["numba"] = sys.modules["resource"] = None
import fwdsl as fw
deep = "(" * 60 + "x" + " + 1)" * 60
assert fw.parse(f"var x: vector[3]\\nminimize sum_squares({deep})").check() == ()
rng = np.random.default_rng(0)
text = "data X: matrix[n, p], y: vector[n]\\nvar b: vector[p]\\nminimize mean(quantile(X @ b, y, tau=0.5)) + 0.1 * norm1(b)"
for method in ("auto", "interior", "pdhg"):
    bound = fw.parse(text).bind(X=rng.standard_normal((60, 8)), y=rng.standard_normal(60))
    assert bound.solve(threads=4, method=method).status == "optimal", method
"""
    done = run(root, code)
    assert done.returncode == 0 and done.stderr == "", done.stderr
