"""A run that hangs or dies is seen, and the command line says what Python says."""

from __future__ import annotations

import numpy as np
import pytest

from tests.attack import runner
from tests.attack.runner import Worker, solve_by_command, solve_here

TEXT = "data A: matrix[n, p], y: vector[n]\nvar x: vector[p]\nminimize mean(squared(A @ x, y)) + 0.1 * norm1(x)\n"


def data() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(0)
    A = rng.standard_normal((9, 3))
    return {"A": A, "y": A[:, 0] + 0.1 * rng.standard_normal(9)}


def test_python_a_worker_and_the_command_line_end_alike() -> None:
    with Worker() as worker:
        outcomes = [
            worker.solve(TEXT, data(), 20.0),
            solve_here(TEXT, data(), 20.0),
            solve_by_command(TEXT, data(), 20.0, 1e-6),
        ]
    for outcome in outcomes:
        assert outcome is not None
        assert outcome.status == "optimal", outcome.reason
        assert outcome.objective == outcomes[0].objective


def test_a_program_that_is_not_accepted_is_told_with_its_code() -> None:
    for outcome in (solve_here("var x: real\n", {}, 1.0), solve_by_command("var x: real\n", {}, 1.0, 1e-6)):
        assert outcome is not None
        assert outcome.status == "rejected"
        assert outcome.code.startswith("FW")


def test_an_exception_is_a_traceback_and_a_dead_process_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    assert solve_here(TEXT, data(), 20.0, callback=lambda _: 1 / 0).status == "traceback"
    with Worker() as worker:
        worker.solve("var x: real\n", {}, 1.0)
        worker._process.kill()
        worker._process.join()
        # a new one takes its place
        assert worker.solve(TEXT, data(), 20.0).status == "optimal"
        monkeypatch.setattr(runner, "PATIENCE", -20.0)
        assert worker.solve(TEXT, data(), 20.0).status == "hang"
