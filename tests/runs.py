"""Methods run by hand, without the driver."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fwdsl.backends.method import Run
from fwdsl.backends.problem import PreparedProblem
from fwdsl.backends.registry import METHODS
from fwdsl.solve.journal import Journal
from fwdsl.solve.state import Checkpoint, load_state, save_state

AnyRun = Run[Any, Any]


def started(
    problem: Any, name: str, x: Any = None, ys: Any = None, threads: int = 1, seed: int = 0, **options: Any
) -> AnyRun:
    """A run before its first step."""
    kernels = PreparedProblem(problem.canonical, threads, seed)
    return METHODS[name].start(kernels, options, np.zeros(kernels.size) if x is None else x, ys)


def stepped(problem: Any, name: str, steps: int, threads: int = 1, seed: int = 0, **options: Any) -> AnyRun:
    """A run after some steps from zero."""
    run = started(problem, name, threads=threads, seed=seed, **options)
    for _ in range(steps):
        run.step()
    return run


def without_patterns(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the interior-point method take none of its quasidefinite systems."""
    monkeypatch.setattr("fwdsl.backends.interior.run.pattern_of", lambda *_: None)


def resumed(run: AnyRun, folder: Path, options: Mapping[str, Any], threads: int = 1) -> AnyRun:
    """The run that goes on, with these options, from the file that this run is saved to."""
    canonical = run.problem.canonical
    save_state(folder / "s.npz", canonical, Checkpoint(run.method.name, options, run.state, Journal(0)))
    found = load_state(folder / "s.npz", canonical)
    assert type(found.state) is type(run.state) and found.method == run.method.name
    return run.method.resume(PreparedProblem(canonical, threads, run.problem.seed), options, found.state)
