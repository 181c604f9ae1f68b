"""Every program in `examples/`: formatted, without a warning, solved, and in agreement with cvxpy."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fwdsl as fw
from fwdsl.check import compile_text
from fwdsl.cli import main
from fwdsl.oracle import solve_oracle

cp = pytest.importorskip("cvxpy")

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
FILES = sorted(EXAMPLES.glob("*.fw"))
#: Those with more data than cvxpy takes in seconds; they are solved to the tolerance that they ask for.
LARGE = {"completion", "sparse_logistic"}
#: Those that the oracle has no words for, written down in cvxpy below.
BY_HAND = {"multitask_metrics"}
SMALL = [f for f in FILES if f.stem not in LARGE]


def solved(path: Path, **options: Any) -> tuple[Any, fw.Solution]:
    """An example bound to its own data, and its solution; one thread."""
    bound = fw.load(path).bind()
    solution = bound.solve(threads=1, **(options or {"tol": 1e-7}))
    assert solution.status == "optimal", f"{solution.reason} {solution.certificate}"
    return bound, solution


def agree(found: float, expected: float) -> None:
    assert abs(found - expected) <= 1e-6 * max(1.0, abs(expected))


def test_there_are_at_least_twenty() -> None:
    assert len(FILES) >= 20


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.stem)
def test_an_example_says_what_it_is_and_checks_without_a_word(path: Path) -> None:
    assert main(["fmt", "--check", str(path)]) == 0
    text = path.read_text(encoding="utf-8")
    assert f"problem {path.stem}\n" in text
    assert any(line.startswith("# ") for line in text.splitlines())
    model, found = compile_text(text)
    assert model is not None
    assert found == ()


@pytest.mark.parametrize("path", [f for f in SMALL if f.stem not in BY_HAND], ids=lambda p: p.stem)
def test_an_example_agrees_with_cvxpy(path: Path) -> None:
    bound, solution = solved(path)
    oracle = solve_oracle(bound.instance)
    assert oracle.status == "optimal"
    agree(solution.objective, oracle.value)


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(LARGE))
def test_a_large_example_is_solved(name: str) -> None:
    solved(EXAMPLES / f"{name}.fw", time=120)


def test_the_metrics_of_several_tasks_agree_with_cvxpy() -> None:
    bound, solution = solved(EXAMPLES / "multitask_metrics.fw")
    U, y, task = (np.asarray(bound.instance.values[name]) for name in ("U", "similar", "task"))
    d = U.shape[1]
    common = cp.Variable((d, d), PSD=True)
    own = [cp.Variable((d, d), PSD=True) for _ in range(int(task.max()) + 1)]
    radius = cp.Variable()
    lengths = cp.sum(cp.multiply(U @ common, U), axis=1) + sum(
        cp.multiply(task == t, cp.sum(cp.multiply(U @ block, U), axis=1)) for t, block in enumerate(own)
    )
    short = cp.pos(1.0 - cp.multiply(y, radius - lengths))
    fit = cp.sum(cp.huber(short, 1.0)) / (2.0 * y.size)
    penalty = 0.01 * cp.sum_squares(common) + 0.05 * sum(cp.sum_squares(block) for block in own)
    expected = cp.Problem(cp.Minimize(fit + penalty)).solve(solver="CLARABEL")
    agree(solution.objective, expected)


def test_a_program_and_its_dual_have_one_optimal_value() -> None:
    primal, dual = (solved(EXAMPLES / f"{name}.fw")[1] for name in ("svm", "svm_dual"))
    agree(primal.objective, dual.objective)
