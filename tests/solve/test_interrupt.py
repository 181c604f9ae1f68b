"""Ctrl-C at any moment of a solve: the first one ends it soon, the second one at once, and the best point is returned."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fwdsl as fw
from fwdsl.backends.apg_run import APGRun
from fwdsl.backends.kernels import kernel_seconds
from fwdsl.backends.lowrank.lowrank import LowRankRun
from fwdsl.backends.registry import METHODS
from fwdsl.cli import main
from fwdsl.model.options import Options
from fwdsl.plan import make_plan
from fwdsl.solve import Control, solve
from fwdsl.solve.interrupt import BrokenOff, heard, interruptible
from tests.problems import random_problem
from tests.solve.test_clock import WATCHDOG, bound, entries

METHODS_TRIED = (
    "apg",
    "pdhg",
    "coordinate_descent",
    "frank_wolfe",
    "pdbfw",
    "svrg",
    "sdca",
    "gsfw",
    "sfw",
    "pairwise_frank_wolfe",
)


@contextmanager
def signals(*delays: float, after: threading.Event | None = None) -> Iterator[None]:
    """Send SIGINT, while open, after these delays, each from the one before; from `after`, where that is given."""
    done = threading.Event()

    def send() -> None:
        if after is not None and not after.wait(60.0):
            return
        for delay in delays:
            if done.wait(delay):
                return
            signal.raise_signal(signal.SIGINT)

    thread = threading.Thread(target=send)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


def logistic() -> Any:
    rng = np.random.default_rng(0)
    text = (
        "data A: matrix[n, p], y: signs[n]\nvar x: vector[p] in l1_ball(3)\n"
        "minimize mean(logistic(A @ x, y)) + 1e-6 * sum_squares(x)\n"
    )
    A = rng.standard_normal((600, 40)) * np.logspace(-3, 0, 40)
    return fw.parse(text).bind(A=A, y=np.where(A.sum(axis=1) > 0, 1.0, -1.0))


def interrupted_at(problem: Any, name: str, delay: float) -> Any:
    options = Options(method=name, tol=1e-300, time=60.0, threads=1)
    plan, _ = make_plan(problem.canonical, options)
    if plan is None:
        return None
    before = signal.getsignal(signal.SIGINT)
    control = Control()
    # as the command line has it: the signal may come before the solve or after it
    with interruptible(control), signals(delay):
        began = time.perf_counter() - kernel_seconds()
        found = solve(problem.canonical, plan, options, control=control)
        assert time.perf_counter() - kernel_seconds() - began <= delay + WATCHDOG
    assert signal.getsignal(signal.SIGINT) is before
    return found


def check_interruptions(count: int, seed: int) -> None:
    rng, problem = np.random.default_rng(seed), logistic()
    for _ in range(count):
        name = str(rng.choice(METHODS_TRIED))
        delay = float(10.0 ** rng.uniform(-4.0, -0.5))
        found = interrupted_at(problem, name, delay)
        # a method that rounding stops may have ended before the signal came
        ended = found is not None and found.history[-1].elapsed < delay
        assert found is not None and (found.status in ("interrupted", "optimal") or ended)
        assert np.all(np.isfinite(found["x"])) and np.abs(found["x"]).sum() <= 3.0 * (1.0 + 1e-9)
        assert found.objective <= problem.solve(max_iter=0, threads=1).objective + 1e-12
        assert found.dual_bound <= found.objective + 1e-12 * abs(found.objective)


def test_ctrl_c_at_random_moments_keeps_the_best_point() -> None:
    check_interruptions(10, 0)


@pytest.mark.slow
def test_a_hundred_ctrl_c_at_random_moments() -> None:
    check_interruptions(100, 1)


# --- a second one ----------------------------------------------------------------------------------------------------------


def never_ending(begun: threading.Event) -> Callable[..., None]:
    """A step, or a start, that looks at no clock."""

    def spin(*_: Any) -> None:
        begun.set()
        while True:
            pass

    return spin


def test_a_second_ctrl_c_breaks_off_a_step_and_keeps_the_point(monkeypatch: pytest.MonkeyPatch) -> None:
    problem, begun = bound("huber", "", "norm1"), threading.Event()
    step, spin = APGRun.step, never_ending(begun)

    def stuck(self: APGRun) -> None:
        (spin if self.state.iteration == 3 else step)(self)

    best = problem.solve(method="apg", tol=1e-300, max_iter=3, threads=1)
    monkeypatch.setattr(APGRun, "step", stuck)
    with signals(0.05, 0.05, after=begun):
        found = problem.solve(method="apg", tol=1e-300, threads=1)
    assert found.status == "interrupted" and found.iterations == 3 and found.state is None
    assert found.objective == best.objective and found.dual_bound == pytest.approx(best.dual_bound, rel=1e-9)
    np.testing.assert_array_equal(found["x"], best["x"])


@pytest.mark.parametrize(("cls", "make", "name"), [(APGRun, bound, "x"), (LowRankRun, entries, "X")])
def test_a_second_ctrl_c_breaks_off_a_start(
    cls: Any, make: Callable[..., Any], name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    problem, begun = make("huber", "", "norm1") if cls is APGRun else make(), threading.Event()
    monkeypatch.setattr(cls, "begin", never_ending(begun))
    with signals(0.05, 0.05, after=begun):
        found = problem.solve(method=cls.method.name, threads=1)
    assert found.status == "interrupted" and found.iterations == 0
    assert not np.any(np.asarray(found[name])) and np.isfinite(found.objective)


def test_a_second_ctrl_c_waits_for_a_kernel_that_is_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    """LLVM's callbacks print exceptions and forget them."""
    control = Control()
    monkeypatch.setattr("fwdsl.solve.interrupt.is_compiling", lambda: True)
    with interruptible(control), control.breakable():
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)
    assert control.stop and control.impatient
    monkeypatch.setattr("fwdsl.solve.interrupt.is_compiling", lambda: False)
    control = Control()
    with pytest.raises(BrokenOff), interruptible(control), control.breakable():
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)


def test_a_third_ctrl_c_is_as_usual(monkeypatch: pytest.MonkeyPatch) -> None:
    begun = threading.Event()
    monkeypatch.setattr(APGRun, "step", never_ending(begun))
    monkeypatch.setattr(APGRun, "candidate", never_ending(begun))
    with signals(0.05, 0.05, 0.05, after=begun), pytest.raises(KeyboardInterrupt):
        bound("huber", "", "norm1").solve(method="apg", threads=1)


def test_the_command_line_gives_the_point_after_two(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    problem, begun = random_problem(13, "huber", "norm1", "", "dense", intercept=False), threading.Event()
    (tmp_path / "fit.fw").write_text(problem.text)
    arrays = []
    for name, value in problem.data.items():
        np.save(tmp_path / f"{name}.npy", value)
        arrays += ["--data", f"{name}={tmp_path / name}.npy"]
    monkeypatch.setattr(APGRun, "step", never_ending(begun))
    state = tmp_path / "state.npz"
    with signals(0.05, 0.05, after=begun):
        code = main(["run", str(tmp_path / "fit.fw"), *arrays, "--method", "apg", "--checkpoint", str(state)])
    out, err = capsys.readouterr()
    assert code == 130 and "objective" in out and "interrupted" in out
    assert "before solving" not in out + err and "Traceback" not in err
    # of half a step there is no state to go on from
    assert not state.exists()


def test_methods_are_known() -> None:
    assert set(METHODS_TRIED) <= set(METHODS)


def meet_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let Ctrl-C come in every solve once its run has ended."""
    # the package's function has the name of its module
    ends = import_module("fwdsl.solve.solve")
    solution_of = ends.solution_of

    def met(*given: Any) -> Any:
        signal.raise_signal(signal.SIGINT)
        return solution_of(*given)

    monkeypatch.setattr(ends, "solution_of", met)


def test_a_ctrl_c_as_the_run_ends_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """A loop of solves ends by the status; the answer and its certificate are those of the whole run."""
    problem = logistic()
    whole = problem.solve(threads=1)
    meet_the_end(monkeypatch)
    found = problem.solve(threads=1)
    assert whole.status == "optimal" and found.status == "interrupted"
    assert found.reason == "as it ended: the tolerance is certified"
    assert found.objective == whole.objective and found.dual_bound == whole.dual_bound
    limited = problem.solve(max_iter=1, method="apg", threads=1)
    assert (limited.status, limited.reason) == ("interrupted", "as it ended: the limit of 1 iterations")


def test_a_proof_that_there_is_no_solution_stays_one(monkeypatch: pytest.MonkeyPatch) -> None:
    meet_the_end(monkeypatch)
    text = "data A: matrix[n, p]\nvar x: vector[p]\nminimize norm1(x)\nsubject to norm1(A @ x) <= 1, sum(x) == 90\n"
    before = heard()
    found = fw.parse(text).bind(A=np.eye(4)).solve(threads=1)
    assert found.status == "infeasible" and heard() == before + 1
