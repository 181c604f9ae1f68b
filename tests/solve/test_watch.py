"""Watching a run: certified moments, a clock that stops while the verifier works, and iterates that do not know of it."""

from __future__ import annotations

import math
import sys
from dataclasses import fields

import numpy as np
import pytest

import fwdsl as fw
from fwdsl.backends.frank_wolfe.plain import FrankWolfeRun
from fwdsl.model.options import Options
from fwdsl.plan import make_plan
from fwdsl.solve import attempts, solve, supervisor
from fwdsl.solve.watch import Moment, Watch
from tests.problems import random_problem


def bound(loss: str = "logistic", set_: str = "l1_ball(1.5)"):  # type: ignore[no-untyped-def]
    problem = random_problem(3, loss, "", set_, "csr", intercept=False)
    return fw.parse(problem.text).bind(**problem.data)


def run(problem, watch: Watch | None, **options):  # type: ignore[no-untyped-def]
    chosen = Options(threads=1, **options)
    plan, found = make_plan(problem.canonical, chosen)
    assert plan is not None, found
    return solve(problem.canonical, plan, chosen, watch=watch)


@pytest.mark.parametrize("method", ["apg", "pdhg", "frank_wolfe"])
def test_moments_are_certified_and_only_get_better(method: str) -> None:
    problem, watch = bound(), Watch()
    best = problem.solve(tol=1e-10, threads=1)
    solution = run(problem, watch, method=method, tol=1e-5, max_iter=20_000)
    assert solution.status == "optimal"
    assert len(watch.moments) >= 2
    assert watch.reached == solution.relative_gap <= 1e-5
    for a, b in zip(watch.moments, watch.moments[1:], strict=False):
        assert b.relative_gap <= a.relative_gap
        assert a.seconds <= b.seconds and a.passes <= b.passes and a.iteration <= b.iteration
    for m in watch.moments:
        if math.isfinite(m.relative_gap):
            assert m.dual_bound <= best.objective + 1e-12 and best.dual_bound - 1e-12 <= m.objective


def test_moments_of_a_maximisation_are_in_its_sense() -> None:
    problem, watch = fw.parse("var x: vector[2] in l2_ball(1)\nmaximize x[0] - sum_squares(x)"), Watch()
    run(problem, watch, method="pdhg")
    last = watch.moments[-1]
    assert last.objective == pytest.approx(0.25, abs=1e-5) and last.dual_bound >= 0.25 - 1e-9


@pytest.mark.parametrize("method", ["apg", "pdhg", "frank_wolfe"])
def test_a_watched_run_goes_through_the_same_iterates(method: str) -> None:
    problem = bound()  # logistic: no look finds a gap of exactly nothing
    options = {"method": method, "tol": 1e-300, "max_iter": 10}
    seen = run(problem, Watch(), **options)
    alone = run(problem, None, **options)
    assert seen.iterations == alone.iterations
    for f in fields(alone.state.state):
        np.testing.assert_equal(getattr(seen.state.state, f.name), getattr(alone.state.state, f.name), err_msg=f.name)


class Clock:
    """A clock that only moves when it is told to."""

    now = 0.0

    def perf_counter(self) -> float:
        return self.now


def test_the_verifiers_time_counts_neither_for_the_moments_nor_for_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = 0
    clock, verify, step = Clock(), attempts.verify, FrankWolfeRun.step

    def slow(*args):  # type: ignore[no-untyped-def]
        nonlocal calls
        calls += 1
        clock.now += 100.0
        return verify(*args)

    def timed(self):  # type: ignore[no-untyped-def]
        step(self)
        clock.now += 1.0

    monkeypatch.setattr(supervisor, "time", clock)
    monkeypatch.setattr(supervisor, "kernel_seconds", lambda: 0.0)
    monkeypatch.setattr(attempts, "verify", slow)
    monkeypatch.setattr(FrankWolfeRun, "step", timed)
    monkeypatch.setattr("fwdsl.solve.watch.PATIENCE", math.inf)
    watch = Watch(started=0.0)
    solution = run(bound(), watch, method="frank_wolfe", tol=1e-300, time=10.0)
    assert solution.iterations == 10 and "limit of 10 s" in solution.reason
    assert [m.seconds for m in watch.moments] == [float(m.iteration) for m in watch.moments]
    assert solution.times.verify == 100.0 * calls >= 100.0 * len(watch.moments)
    assert watch.moments[-1].seconds == 10.0


def test_seconds_of_compiling_count_for_no_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, compiled, step = Clock(), [0.0], FrankWolfeRun.step

    def timed(self):  # type: ignore[no-untyped-def]
        # a kernel that is met for the first time
        seconds = 50.0 if self.state.iteration in (1, 3) else 0.0
        step(self)
        compiled[0] += seconds
        clock.now += seconds + 1.0

    monkeypatch.setattr(supervisor, "time", clock)
    monkeypatch.setattr(supervisor, "kernel_seconds", lambda: compiled[0])
    monkeypatch.setattr(sys.modules["fwdsl.solve.solve"], "compile_seconds", lambda: compiled[0])
    monkeypatch.setattr(FrankWolfeRun, "step", timed)
    solution = run(bound(), None, method="frank_wolfe", tol=1e-300, time=10.0)
    assert solution.iterations == 10 and "limit of 10 s" in solution.reason
    assert solution.history[-1].elapsed == 10.0
    assert solution.times.kernels == 100.0


def test_passes_leave_out_the_repair_of_dual_points() -> None:
    # a free variable: every verification repairs the dual point by products with the data
    problem = random_problem(5, "absolute", "", "", "dense", intercept=False)
    task = fw.parse(problem.text).bind(**problem.data)
    options = {"method": "pdhg", "tol": 1e-300, "max_iter": 40}
    alone, watch = run(task, None, **options), Watch()
    seen = run(task, watch, **options)
    assert seen.verify_passes > alone.verify_passes
    assert seen.passes == alone.passes == watch.moments[-1].passes


def moment(seconds: float, gap: float) -> Moment:
    return Moment(seconds, seconds, int(seconds), gap, 0.0, gap)


def test_when_it_looks() -> None:
    watch = Watch(levels=(1e-2, 1e-4))
    assert watch.wants(0.0, math.inf, 0.0)
    watch.see(moment(0.0, math.inf))
    assert not watch.wants(0.0005, 1.0, 0.0)
    assert watch.wants(0.002, 1.0, 0.0)
    watch.see(moment(10.0, 0.5))
    assert not watch.wants(11.0, 0.1, 0.0)
    assert watch.wants(12.1, 0.1, 0.0)
    assert watch.wants(10.3, 1e-3, 0.0), "a level is passed"
    assert not watch.wants(10.1, 1e-3, 0.0), "but it has just looked"
    assert not watch.wants(12.1, 0.1, 27.0), "and the verifier has had its share"
    watch.see(moment(13.0, 1e-3))
    assert not watch.wants(14.0, 1e-3, 0.0), "the level is reached, and the next is not"
    watch.see(moment(20.0, 1e-2))
    assert watch.reached == 1e-3 and watch.moments[-1].seconds == 20.0
