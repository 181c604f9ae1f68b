"""A run that was stopped at any step goes on to the same answer, bit for bit."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fwdsl as fw
from fwdsl.model.options import Options
from fwdsl.results.solution import Solution
from fwdsl.solve import solve
from fwdsl.solve.state import load_state, save_state

RNG = np.random.default_rng(1)
A = RNG.standard_normal((60, 20))
B = A[:, :3].sum(axis=1) + 0.3 * RNG.standard_normal(60)
DATA = {"A": A, "b": B, "s": np.sign(B), "c": np.arange(60) % 3, "R": A @ RNG.standard_normal((20, 3))}
TYPES = {"A": "matrix[n, p]", "b": "vector[n]", "s": "signs[n]", "c": "labels[n, k]", "R": "matrix[n, k]"}
CASES = {
    "lasso": ("apg", "mean(squared(A @ x, b)) + 0.05*norm1(x)", "", 1e-10),
    "ball": ("frank_wolfe", "mean(logistic(A @ x, s))", "x in l1_ball(2)", 1e-3),
    "hinge": ("pdhg", "mean(hinge(A @ x, s)) + 0.05*norm1(x)", "", 1e-8),
    "Newton steps on rows": ("apg", "mean(softmax(A @ W, c)) + 0.01*norm1(W)", "", 1e-6),
    # directions are tried at set iterations, which a resumed run must keep to
    "infeasible": ("pdhg", "norm1(x)", "x[0] - x[1] >= 1; x[1] - x[0] >= 1", 1e-8),
    "factors": ("lowrank", "sum(squared(A @ W, R)) + 0.3*norm_nuc(W)", "", 1e-8),
}


def problem(name: str) -> fw.Problem:
    _, objective, constraints, _ = CASES[name]
    used = [n for n in DATA if n in f"{objective} {constraints}".replace("(", " ").replace(")", " ").replace(",", " ")]
    data = [n for n in used if any(f"{n}{end}" in objective for end in (" @", ")", ","))]
    lines = [f"data {n}: {TYPES[n]}" for n in data]
    lines.append("var W: matrix[p, k]" if "W" in objective else "var x: vector[p]")
    lines.append(f"minimize {objective}")
    lines += [f"subject to {c.strip()}" for c in constraints.split(";") if c]
    given: dict[str, Any] = {n: DATA[n] for n in data}
    return fw.parse("\n".join(lines)).bind(**given, **({} if "A" in data else {"p": 20}))


def same(one: Solution, other: Solution) -> bool:
    alike = all(np.array_equal(np.asarray(one[v]), np.asarray(other[v])) for v in one.variables)
    numbers = [(s.status, s.iterations, s.objective, s.dual_bound, s.certificate.statement) for s in (one, other)]
    work = [(s.passes, s.verify_passes) for s in (one, other)]
    # passes of the parts are added up: the same but for rounding
    return alike and repr(numbers[0]) == repr(numbers[1]) and work[0] == pytest.approx(work[1], rel=1e-12)


@pytest.mark.parametrize("name", CASES)
def test_from_every_step_the_answer_is_that_of_the_whole_run(name: str, tmp_path: Path):
    method, _, _, tol = CASES[name]
    canonical, plan = problem(name).canonical, problem(name).plan(method=method, tol=tol)
    options = Options(method=method, tol=tol, threads=1)
    saved: list[Path] = []

    def keep(state: Any) -> None:
        if state.iteration < 5 or state.iteration % 29 == 0:
            saved.append(tmp_path / f"{state.iteration}.npz")
            save_state(saved[-1], canonical, state)

    whole = solve(canonical, plan, options, on_state=keep)
    assert whole.status == ("infeasible" if name == "infeasible" else "optimal") and len(saved) >= 4
    for file in saved[:12]:
        assert same(whole, solve(canonical, plan, options, resume=load_state(file, canonical))), file.name


def test_what_a_limit_had_verified_is_no_part_of_the_run_that_goes_on():
    method, _, _, tol = CASES["hinge"]
    bound = problem("hinge")
    plan = bound.plan(method=method, tol=tol)
    whole = solve(bound.canonical, plan, Options(method=method, tol=tol, threads=1))
    for limit in (7, 60, 133):
        half = solve(bound.canonical, plan, Options(method=method, tol=tol, threads=1, max_iter=limit))
        rest = solve(bound.canonical, plan, Options(method=method, tol=tol, threads=1), resume=half.state)
        assert same(whole, rest)


RUN = """\
import os, signal, sys
import fwdsl.cli.checkpoint as checkpoint
import fwdsl.solve.state as state
from fwdsl.cli import main

checkpoint.FIRST_AFTER = checkpoint.SECONDS_BETWEEN = 0.0
when, count, replace = sys.argv[1], 0, os.replace

def replaced(part, target):
    global count
    count += os.path.basename(target) == "s.npz"  # kernels that are compiled are put into place too
    if when == "before" and count == 9:
        os.kill(os.getpid(), signal.SIGKILL)
    replace(part, target)
    if when == "after" and count == 9:
        os.kill(os.getpid(), signal.SIGKILL)

state.os.replace = replaced
sys.exit(main(sys.argv[2:]))
"""


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
@pytest.mark.parametrize(("when", "steps"), [("before", 8), ("after", 9)])
def test_a_run_that_is_killed_goes_on(when: str, steps: int, tmp_path: Path):
    np.savez(tmp_path / "d.npz", A=A, b=B)
    (tmp_path / "p.fw").write_text(
        'data A: matrix[n, p], b: vector[n] from npz("d.npz")\nvar x: vector[p]\n'
        "minimize mean(squared(A @ x, b)) + 0.01*norm1(x)\nsolve method=pdhg, tol=1e-6, threads=1\n"
    )
    killed = [sys.executable, "-c", RUN, when, "run", "p.fw", "--checkpoint", "s.npz"]
    found = subprocess.run(killed, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    assert found.returncode == -signal.SIGKILL
    bound = fw.load(tmp_path / "p.fw")
    state = load_state(tmp_path / "s.npz", bound.canonical)
    assert state.iteration == steps
    options = Options(method="pdhg", tol=1e-6, threads=1)
    plan = bound.plan(method="pdhg", tol=1e-6)
    assert same(solve(bound.canonical, plan, options), solve(bound.canonical, plan, options, resume=state))
    # what the kill left of a save is written over by the next
    save_state(tmp_path / "s.npz", bound.canonical, state)
    assert sorted(f.name for f in tmp_path.iterdir()) == ["d.npz", "p.fw", "s.npz"]
