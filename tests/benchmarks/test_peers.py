"""The comparison with specialised solvers: each case means in NumPy and to its peers what its program says, and competitors are judged as stated."""

from __future__ import annotations

import argparse
import math
import os
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import fwdsl as fw

pytest.importorskip("sklearn")

from benchmarks.peers import __main__ as peers
from benchmarks.peers import classification, kernels, matrices, regression, residuals
from benchmarks.peers.cases import Case, Instance, Peer
from benchmarks.peers.cold import every_case
from benchmarks.peers.page import Row, mean
from benchmarks.peers.workers import Worker
from benchmarks.timing import CALLS, SHORT, Run, in_a_row


def numeric(n: int = 30, d: int = 6) -> tuple[Any, Any]:
    return regression.drawn(n, d, 3)


def two(n: int = 30, d: int = 6) -> tuple[Any, Any]:
    X, b = regression.drawn(n, d, 3)
    return X, np.where(b > 0, 1.0, -1.0)


def three() -> tuple[Any, Any]:
    return classification.clouds(30, 4, 3)


def sparse() -> tuple[Any, Any]:
    X, y = two()
    return sp.csr_array(X * (np.abs(X) > 0.3)), y


TINY: dict[str, Callable[[], Instance]] = {
    "lasso": partial(regression.lasso, numeric, 0.2),
    "sparse lasso": partial(regression.lasso, sparse, 0.2),
    "elastic net": partial(regression.elastic_net, numeric, 0.2),
    "group lasso": partial(regression.group_lasso, numeric, 0.2, 2),
    "multitask": partial(regression.multitask, partial(regression.drawn_tasks, 30, 8, 3, 2), 0.2),
    "sparse huber": partial(regression.sparse_huber, numeric, 0.2),
    "ridge": partial(regression.ridge, numeric, 0.1),
    "quantile": partial(residuals.quantile, numeric, 0.8),
    "nonnegative": partial(residuals.nonnegative, numeric),
    "simplex": partial(residuals.simplex, numeric),
    "l1 logistic": partial(classification.l1_logistic, two, 0.2, False),
    "ball logistic": partial(classification.l1_logistic, two, 0.2, True),
    "l2 logistic": partial(classification.l2_logistic, two, 1.0),
    **{
        f"machine {squared} {intercept}": partial(classification.machine, two, 0.5, squared, intercept)
        for squared in (False, True)
        for intercept in classification.INTERCEPTS
    },
    "Crammer-Singer": partial(classification.crammer_singer, three, 0.5),
    "softmax l1": partial(classification.softmax, three, True, 0.1),
    "softmax l2": partial(classification.softmax, three, False, 1.0),
    "kernel hinge": partial(kernels.machine, partial(kernels.ring, 40, 0.4), 1.0, 1.0, False),
    "kernel squared hinge": partial(kernels.machine, partial(kernels.ring, 40, 0.4), 1.0, 1.0, True),
    "kernel regression": partial(kernels.regression, partial(kernels.waves, 40, 2), 1.0, 0.5, 0.1),
    "one class": partial(kernels.one_class, partial(kernels.ring, 40, 0.4), 0.2, 1.0),
    "trace norm": partial(matrices.trace_norm, partial(matrices.drawn_tasks, 20, 5, 4, 2), 0.1),
    "completion": partial(matrices.completion, partial(matrices.drawn_entries, 12, 10, 0.6), 0.1),
    "total variation": partial(matrices.differences, partial(matrices.steps, 40), 1, 1.0),
    "trend": partial(matrices.differences, partial(matrices.steps, 40), 2, 1.0),
    "isotonic": partial(matrices.isotonic, partial(matrices.steps, 40)),
    "PSD regression": partial(matrices.psd_regression, partial(matrices.drawn_squares, 40, 3)),
}
CONVEX = ("CVXPY Clarabel",)


@pytest.mark.parametrize("name", TINY)
def test_value_is_the_objective_of_the_program(name: str) -> None:
    instance = TINY[name]()
    solution = fw.parse("fw 1\n" + instance.text).bind(**instance.data).solve(tol=1e-9, threads=1)
    value = instance.value(*(solution[variable] for variable in instance.variables))
    if name == "ball logistic":  # the value is of the penalised problem, whose solution is the same
        penalised = TINY["l1 logistic"]()
        other = fw.parse("fw 1\n" + penalised.text).bind(**penalised.data).solve(tol=1e-9, threads=1)
        assert value == pytest.approx(other.objective, rel=1e-6)
    else:
        assert value == pytest.approx(solution.objective, rel=1e-7)


@pytest.mark.parametrize("name", TINY)
def test_peers_minimise_the_same(name: str) -> None:
    instance = TINY[name]()
    kept = [
        peer
        for peer in instance.peers
        if peer.installed and (peer.needs in ("sklearn", "scipy") or peer.name in CONVEX)
    ]
    if not kept:
        pytest.skip("no peer of this case is installed")
    solution = fw.parse("fw 1\n" + instance.text).bind(**instance.data).solve(tol=1e-8, threads=1)
    best = instance.value(*(solution[variable] for variable in instance.variables))
    for peer in kept:
        value = instance.value(*peer.fit(min(1e-8, max(peer.grid))))
        assert value == pytest.approx(best, rel=1e-4, abs=1e-8), peer.name
        assert value >= best - 1e-6 * abs(best), peer.name


def test_cases_have_names_of_their_own() -> None:
    names = [(case.group, case.name) for case in every_case()]
    assert len(set(names)) == len(names)


# --- competitors -------------------------------------------------------------------------------------------------------------


def forever(_: float) -> object:
    while True:
        pass


def test_a_process_that_does_not_answer_is_ended() -> None:
    worker = Worker(forever, lambda result: (0.0, None))
    assert worker.ask(0.0, 0.1).failed == "more than 0.1 s"
    assert not worker.alive and worker.ask(0.0, 1.0).failed == "ended before"


def test_errors_and_crashes_are_answers() -> None:
    def job(argument: float) -> float:
        if argument > 1:
            os._exit(3)
        return 1.0 / argument

    worker = Worker(job, lambda result: (result, "noted"))
    assert "ZeroDivisionError" in worker.ask(0.0, 60.0).failed
    answer = worker.ask(0.5, 60.0)
    assert answer.value == 2.0 and answer.run is not None and answer.run.result == "noted"
    assert worker.ask(2.0, 60.0).failed == "its process died"
    assert not worker.alive


def test_a_turn_is_the_middle_of_short_calls_after_a_first_one() -> None:
    calls: list[float] = []

    def job(argument: float) -> int:
        calls.append(argument)
        return len(calls)

    worker = Worker(job, lambda result: (result, None))
    assert worker.ask(0.0, 60.0).value == 1
    turn = worker.ask(0.0, 60.0, turn=True)
    assert turn.run is not None and turn.run.first > 0.0
    assert 2 < turn.value <= 2 + CALLS
    worker.end()


def test_a_long_call_is_a_turn() -> None:
    first = Run(2.0 * SHORT, 1.0, "found")
    assert in_a_row(lambda: pytest.fail("called again"), first) == replace(first, first=2.0 * SHORT)


@pytest.mark.parametrize(("limit", "tol"), [(0.5, 0.1), (2e-3, 1e-3), (1e-3, 1e-3), (1e-14, None)])
def test_loosest_tolerance(limit: float, tol: float | None) -> None:
    peer = Peer("itself", "scipy", lambda tol: (tol,), grid=(0.1, 0.01, 1e-3))
    worker, row = Worker(peer.fit, lambda point: (point[0], None)), Row("", "", "")
    peers.sweep(peer, worker, limit, 30.0, row)
    worker.end()
    assert row.tolerances.get("itself") == tol
    assert ("itself" in row.failed) is (tol is None)


def test_a_case_is_measured() -> None:
    def make() -> Instance:
        instance = TINY["nonnegative"]()
        kept = [peer for peer in instance.peers if peer.needs != "cvxpy"]
        missing = Peer("none", "no_such_package", lambda tol: ())
        return Instance(instance.text, instance.data, instance.variables, instance.value, [*kept, missing])

    options = argparse.Namespace(cap=30.0, repeats=1, cvxpy="none", methods=False, threads=2, cold=False)
    row = peers.measured(Case("g", "tiny", "small", make), options)
    assert (
        row.certified
        and set(row.times) == {"nnls", "LinearRegression"}
        and row.ratio == row.ours / min(row.times.values())
    )
    assert row.failed == {"none": "not installed"}


@pytest.mark.parametrize(("cvxpy", "names"), [("all", "ab"), ("alone", "a"), ("none", "a")])
def test_cvxpy_beside_another_peer(cvxpy: str, names: str) -> None:
    found = peers.chosen([Peer("a", "sklearn", lambda tol: ()), Peer("b", "cvxpy", lambda tol: ())], cvxpy)
    assert "".join(peer.name for peer in found) == names


def test_cvxpy_alone() -> None:
    only = [Peer("a", "no_such_package", lambda tol: ()), Peer("b", "cvxpy", lambda tol: ())]
    assert [peer.name for peer in peers.chosen(only, "alone")] == ["a", "b"]


def test_geometric_mean_leaves_out_what_is_missing() -> None:
    assert mean([2.0, 8.0, math.nan]) == pytest.approx(4.0)
    assert math.isnan(mean([]))
