"""Limits of time: every method asked for a short while ends in it, on every kind of problem, and what it has found is kept."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import fields
from typing import Any

import numpy as np
import pytest

import fwdsl as fw
from fwdsl.backends.dual import repair
from fwdsl.backends.kernels import Operator, Pool, kernel_seconds
from fwdsl.backends.kernels.pool import Stopped
from fwdsl.backends.problem import PreparedProblem
from fwdsl.backends.registry import METHODS
from fwdsl.model.options import Options
from fwdsl.plan import make_plan
from fwdsl.solve import Control, solve
from fwdsl.spectral.bounds import largest_singular_bound
from fwdsl.spectral.top import top_singular
from tests.corpus import CorpusProgram, corpus
from tests.problems import random_problem

ASKED = 0.3
WATCHDOG = 5.0
"""Seconds after the limit at which a run is taken for one that never ends, on a machine however slow; kernels have theirs besides."""

CORPUS = corpus()
SAMPLE = CORPUS[5::29]

AT_ONCE = """
data A: matrix[3, 1] = [[-0.08039937824510862], [0.42379105297090075], [-0.03943571145431186]]
data y: labels[3, 2] = [0, 1, 0]
var W: matrix[1, 2]
minimize 0.1 * mean(multiclass_hinge(A @ W, y))
"""


def watched(run: Callable[[], Any], seconds: float) -> Any:
    """The result of `run`; fails where that takes longer, and leaves it behind."""
    found: list[Any] = []
    thread = threading.Thread(target=lambda: found.append(run()), daemon=True)
    began = time.perf_counter() - kernel_seconds()
    thread.start()
    while thread.is_alive() and time.perf_counter() - kernel_seconds() - began <= seconds:
        thread.join(0.05)
    assert found, "it did not end" if thread.is_alive() else "it raised"
    return found[0]


def ask_all(program: CorpusProgram, tol: float) -> int:
    """Run all methods that take a program for a short while; how many they are."""
    canonical = fw.parse(program.text).bind(**program.data).canonical
    count = 0
    for name in METHODS:
        options = Options(method=name, tol=tol, time=ASKED, threads=1)
        plan, _ = make_plan(canonical, options)
        if plan is None:
            continue
        count += 1
        found = watched(lambda plan=plan, options=options: solve(canonical, plan, options), ASKED + WATCHDOG)
        assert found.status != "interrupted", name
        assert all(np.all(np.isfinite(np.asarray(v))) for v in found.variables.values()), name
    return count


@pytest.mark.parametrize("program", SAMPLE, ids=[p.name for p in SAMPLE])
def test_methods_end_when_their_time_is_over(program: CorpusProgram) -> None:
    assert ask_all(program, 1e-7) >= 1


@pytest.mark.slow
@pytest.mark.parametrize("program", CORPUS, ids=[p.name for p in CORPUS])
def test_all_methods_end_when_their_time_is_over(program: CorpusProgram) -> None:
    assert ask_all(program, 1e-13) >= 1


def test_large_steps_that_converge_at_once_use_up_their_budget() -> None:
    problem = fw.parse(AT_ONCE).bind()
    found = watched(lambda: problem.solve(method="pdhg", threads=1), 10 * WATCHDOG)
    assert found.status == "optimal" and found.objective == pytest.approx(0.0, abs=1e-12)


# --- steps that are given up ------------------------------------------------------------------------------------------


def bound(loss: str, set_: str, regulariser: str = "", seed: int = 13, intercept: bool = False) -> Any:
    problem = random_problem(seed, loss, regulariser, set_, "dense", intercept=intercept)
    return fw.parse(problem.text).bind(**problem.data)


def entries() -> Any:
    rng = np.random.default_rng(0)
    rows, columns = np.nonzero(rng.random((30, 25)) < 0.6)
    text = "data M: entries[n, p]\nvar X: matrix[n, p]\nminimize sum(huber(X[M], M, delta=0.5)) + 0.8 * norm_nuc(X)\n"
    return fw.parse(text).bind(M=(rows, columns, rng.standard_normal(rows.size)), n=30, p=25)


def product() -> Any:
    rng = np.random.default_rng(1)
    text = "data A: matrix[n, d], B: matrix[n, c]\nvar X: matrix[d, c] in nuclear_ball(2)\nminimize sum(squared(A @ X, B))\n"
    return fw.parse(text).bind(A=rng.standard_normal((60, 30)), B=rng.standard_normal((60, 25)))


def filled() -> Any:
    rng = np.random.default_rng(2)
    text = "data A: matrix[n, d], b: vector[n]\nvar x: vector[d] in simplex(1)\nminimize mean(squared(A @ x, b))\n"
    return fw.parse(text).bind(A=rng.standard_normal((250, 220)), b=rng.standard_normal(250))


CASES: dict[str, tuple[str, Callable[[], Any], dict[str, Any]]] = {
    "apg": ("apg", lambda: bound("huber", "", "norm1"), {}),
    "apg in a ball": ("apg", lambda: bound("logistic", "l2_ball(1.2)"), {}),
    "pdhg": ("pdhg", lambda: bound("absolute", "", "norm1"), {}),
    "pdbfw": ("pdbfw", lambda: bound("logistic", "l1_ball(1.5)", "sum_squares"), {}),
    "interior": ("interior", lambda: bound("absolute", "", "norm1"), {}),
    "interior, filled": ("interior", filled, {}),
    "frank_wolfe": ("frank_wolfe", lambda: bound("logistic", "l1_ball(1.5)"), {"step": "line_search"}),
    "pairwise": ("pairwise_frank_wolfe", lambda: bound("logistic", "l1_ball(1.5)"), {"step": "adaptive"}),
    "block": ("block_frank_wolfe", lambda: bound("logistic", "box(-0.4, 0.9)"), {}),
    "l2svm_dual": ("l2svm_dual", lambda: bound("squared_hinge", "", "sum_squares"), {}),
    "lowrank, entries": ("lowrank", entries, {}),
    "lowrank, a product": ("lowrank", product, {}),
    "factored_fw": ("factored_fw", entries, {}),
    "block_fw": ("block_fw", product, {}),
}
STEPS = 230
"""Beyond the first large steps of `pdhg`."""


def planned(problem: Any, name: str, own: dict[str, Any], **options: Any) -> tuple[Any, Options]:
    chosen = Options(method=name, method_options=own, tol=1e-300, threads=1, **options)
    plan, found = make_plan(problem.canonical, chosen)
    assert plan is not None, found
    return plan, chosen


def assert_same(one: Any, other: Any) -> None:
    for f in fields(one):
        np.testing.assert_equal(getattr(one, f.name), getattr(other, f.name), err_msg=f.name)


def test_a_step_that_overflows_loses_no_answer() -> None:
    """Steps beyond the limits of rounding, which no tolerance can ask for, may end in numbers that are none."""
    problem = filled()
    plan, options = planned(problem, "interior", {}, max_iter=60)
    found = solve(problem.canonical, plan, options)
    assert found.relative_gap <= 1e-12
    assert found.objective == pytest.approx(problem.solve(tol=1e-9, threads=1).objective, rel=1e-8)


class Interrupting:
    """Stops the run at the k-th time that the clock is looked at, and counts."""

    def __init__(self, control: Control, at: int) -> None:
        self.control, self.at, self.count = control, at, 0

    def __call__(self, pool: Pool) -> None:
        self.count += 1
        if self.count == self.at:
            self.control.stop = True
        if pool.must_stop():
            raise Stopped


@pytest.mark.parametrize("case", CASES)
def test_a_step_that_is_given_up_is_taken_again(case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    name, make, own = CASES[case]
    problem = make()
    plan, options = planned(problem, name, own, max_iter=STEPS if name == "pdhg" else 25)
    counting = Interrupting(Control(), -1)
    with monkeypatch.context() as patch:
        patch.setattr(Pool, "look", lambda pool: counting(pool))
        whole = solve(problem.canonical, plan, options)
    given_up = 0
    for at in np.unique(np.linspace(1, max(1, counting.count), 9).astype(int)):
        control = Control()
        look = Interrupting(control, int(at))
        with monkeypatch.context() as patch:
            patch.setattr(Pool, "look", lambda pool, look=look: look(pool))
            stopped = solve(problem.canonical, plan, options, control=control)
        assert all(np.all(np.isfinite(np.asarray(v))) for v in stopped.variables.values())
        if look.count < at:
            continue
        # a gap of exactly 0 is optimal all the same
        assert stopped.status in ("interrupted", "optimal")
        given_up += 1
        if stopped.state is not None:
            resumed = solve(problem.canonical, plan, options, resume=stopped.state)
            assert resumed.iterations == whole.iterations
            assert_same(whole.state.state, resumed.state.state)
    assert given_up >= 1 or name == "block_frank_wolfe"


@pytest.mark.parametrize(
    ("name", "loss", "own"),
    [
        ("pdhg", "absolute", {}),
        ("interior", "absolute", {}),
        ("apg_fixed", "logistic", {"smoothness": "spectral"}),
        ("svrg", "logistic", {"batch": 0.5}),
        ("dspdc", "logistic", {}),
        ("l2svm_dual", "squared_hinge", {}),
    ],
)
def test_a_start_that_is_interrupted_gives_the_point_it_starts_from(
    name: str, loss: str, own: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    problem = bound(loss, "", "sum_squares" if name != "dspdc" else "elastic")
    plan, options = planned(problem, name, own)
    control = Control()
    look = Interrupting(control, 1)
    monkeypatch.setattr(Pool, "look", lambda pool: look(pool))
    stopped = solve(problem.canonical, plan, options, control=control)
    assert look.count == 1
    assert stopped.status == "interrupted" and stopped.state is None and stopped.iterations == 0
    np.testing.assert_array_equal(stopped["x"], np.zeros(problem.instance.dims["p"]))
    assert np.isfinite(stopped.objective)


# --- what looks at the clock -------------------------------------------------------------------------------------------


def test_a_gram_matrix_and_a_repair_end_where_the_run_does() -> None:
    rng = np.random.default_rng(0)
    A = rng.standard_normal((50, 4))
    pool = Pool(1)
    operator = Operator(A, pool)
    np.testing.assert_allclose(operator.gram(None, np.ones(50)), A.T @ A, atol=1e-12)
    pool.must_stop = lambda: True
    with pytest.raises(Stopped):
        operator.gram(None, np.ones(50))
    problem = PreparedProblem(bound("absolute", "", "").canonical, 1)
    problem.must_stop = lambda: True
    ys = [0.3 * np.ones(t.map.rows) for t in problem.terms]
    # what cannot be repaired in time is what it was
    for given, found in zip(ys, repair(problem, ys, np.zeros(problem.size)), strict=True):
        np.testing.assert_array_equal(given, found)


def test_a_bound_of_a_singular_value_that_is_cut_short_holds() -> None:
    A = np.random.default_rng(0).standard_normal((300, 280))
    largest = np.linalg.norm(A, 2)
    looks = 0

    def stop() -> bool:
        nonlocal looks
        looks += 1
        return looks > 30

    cut = largest_singular_bound(A, method="lanczos", rtol=1e-9, stop=stop)
    assert cut.value_upper >= largest and looks < 40
    assert largest_singular_bound(A, method="lanczos", rtol=1e-9).value_upper <= cut.value_upper

    def raising() -> None:
        raise Stopped

    with pytest.raises(Stopped):
        top_singular(A, 1, look=raising)
