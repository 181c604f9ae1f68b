"""Linear programs by HiGHS: certified beside cvxpy, proofs that there is no solution, limits of time and interruptions, what it refuses."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import fwdsl as fw
from fwdsl.backends.highs import run as runs
from fwdsl.backends.highs import tries, worker
from fwdsl.backends.kernels.pool import Stopped
from tests.runs import resumed, started, stepped

METHOD = "highs"
EQUATIONS = "data A: matrix[m, n], b: vector[m], c: vector[n]\nvar x: vector[n]\nminimize dot(c, x)\nsubject to A @ x == b, x >= 0"


def equations(m: int = 12, n: int = 30, seed: int = 0) -> dict[str, Any]:
    """Feasible and bounded."""
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((m, n)) * (rng.random((m, n)) < 0.4)
    x = rng.uniform(0.0, 1.0, n) * (rng.random(n) < 0.4)
    return {"A": A, "b": A @ x, "c": A.T @ rng.standard_normal(m) + rng.uniform(0.0, 1.0, n) * (x == 0.0)}


def transport(k: int = 8) -> dict[str, Any]:
    """Supplies and demands that are equal: each vertex is degenerate, and one equation follows from the others."""
    one, eye = np.ones((1, k)), np.eye(k)
    A = np.vstack([np.kron(eye, one), np.kron(one, eye)])
    cost = np.random.default_rng(1).uniform(0.0, 1.0, k * k)
    return {"A": A, "b": np.ones(2 * k), "c": cost}


def doubled() -> dict[str, Any]:
    """Empty rows, and rows that are multiples of others."""
    found = equations()
    A, b = found["A"], found["b"]
    return {
        "A": np.vstack([A, 0.0 * A[:2], 3.0 * A[:4], -A[4:5]]),
        "b": np.concatenate([b, [0.0, 0.0], 3.0 * b[:4], -b[4:5]]),
        "c": found["c"],
    }


DATA = {
    "random": equations(),
    "another": equations(20, 35, 3),
    "transport": transport(),
    "doubled": doubled(),
    "sparse": {key: sp.csr_array(v) if key == "A" else v for key, v in equations().items()},
}


@pytest.mark.parametrize("solver", ["ipm", "simplex"])
@pytest.mark.parametrize("name", DATA)
def test_it_certifies_the_optimum(name: str, solver: str) -> None:
    import cvxpy as cp

    data = DATA[name]
    s = fw.parse(EQUATIONS).bind(**data).solve(method=METHOD, solver=solver)
    z = cp.Variable(data["c"].size)
    other = cp.Problem(cp.Minimize(data["c"] @ z), [data["A"] @ z == data["b"], z >= 0])
    other.solve(solver="HIGHS")
    assert s.status == "optimal" and s.dual_bound <= s.objective + 1e-9 * max(1.0, abs(s.objective))
    assert s.objective == pytest.approx(other.value, rel=1e-6, abs=1e-7)


TEXTS = [
    "var x: vector[20]\nminimize norm1(B @ x - y)",
    "var x: vector[20]\nminimize norm_inf(B @ x - y) + 0.1 * norm1(x)",
    "var x: vector[20] in box(-1, 2), t: real\nminimize t + 0.01 * sum(x)\nsubject to B @ x - y <= t, B @ x - y >= -t",
    "var x: vector[20] in simplex(1)\nmaximize min(B @ x)",
    "var x: vector[20]\nminimize sum(pos(B @ x - y)) + 0.2 * sum(abs(x))",
]


@pytest.mark.parametrize("text", TEXTS)
def test_functions_with_corners_are_linear_programs(text: str) -> None:
    rng = np.random.default_rng(4)
    head = "data B: matrix[30, 20], y: vector[30]\n" if "y" in text else "data B: matrix[30, 20]\n"
    data = {"B": rng.standard_normal((30, 20)), "y": rng.standard_normal(30)}
    problem = fw.parse(head + text).bind(**{k: v for k, v in data.items() if f"{k}:" in head})
    own, other = problem.solve(method=METHOD), problem.solve(method="interior", tol=1e-8)
    assert own.status == other.status == "optimal"
    assert own.objective == pytest.approx(other.objective, rel=2e-6)


@pytest.mark.parametrize("unit", [1e-9, 1e9])
@pytest.mark.parametrize("of", ["A", "b", "c"])
def test_units_do_not_count(of: str, unit: float) -> None:
    data = dict(DATA["random"])
    before = fw.parse(EQUATIONS).bind(**data).solve(method=METHOD)
    data[of] = unit * data[of]
    after = fw.parse(EQUATIONS).bind(**data).solve(method=METHOD)
    assert after.status == "optimal"
    factor = 1.0 / unit if of == "A" else unit
    assert after.objective == pytest.approx(factor * before.objective, rel=2e-6)


def test_multipliers_are_those_of_the_program() -> None:
    data = DATA["random"]
    s = fw.parse(EQUATIONS).bind(**data).solve(method=METHOD)
    (y,) = [v for v in s.dual.values() if np.size(v) == data["b"].size]
    reduced = [data["c"] + sign * data["A"].T @ np.asarray(y) for sign in (1.0, -1.0)]
    assert max(float(r.min()) for r in reduced) >= -1e-7


INFEASIBLE = (
    "var x: vector[4] in nonnegative\nminimize sum(x)\nsubject to x[0] + x[1] >= 3, x[0] + 2 * x[1] + x[2] <= 2"
)
UNBOUNDED = "var x: vector[4] in nonnegative\nminimize x[1] - 2 * x[0]\nsubject to x[0] - x[1] <= 1, x[2] + x[3] == 1"


@pytest.mark.parametrize(("text", "status"), [(INFEASIBLE, "infeasible"), (UNBOUNDED, "unbounded")])
def test_what_has_no_solution_is_proved(text: str, status: str) -> None:
    assert fw.parse(text).solve(method=METHOD).status == status


class _Slow:
    """A HiGHS that takes until it is let go, or ends by its limit of time."""

    def __init__(self, ends: int | None = None) -> None:
        self.go, self.ends, self.limits = threading.Event(), ends, []
        self.true = worker.linprog

    def __call__(self, *args: Any, options: dict[str, float], **more: Any) -> Any:
        self.limits.append(options["time_limit"])
        if self.ends is not None and len(self.limits) <= self.ends:
            found = self.true(*args, options=options, **more)
            found.status = runs.LIMIT
            return found
        if self.ends is None:
            assert self.go.wait(60.0)
        return self.true(*args, options=options, **more)


def test_a_limit_of_time_ends_it_while_highs_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    slow = _Slow()
    monkeypatch.setattr(worker, "linprog", slow)
    try:
        s = fw.parse(EQUATIONS).bind(**DATA["random"]).solve(method=METHOD, time=0.6)
    finally:
        slow.go.set()
    assert s.status == "tolerance_not_reached" and np.isfinite(s.objective)


def test_a_step_that_was_left_goes_on_with_the_same_try(monkeypatch: pytest.MonkeyPatch) -> None:
    slow = _Slow()
    monkeypatch.setattr(worker, "linprog", slow)
    run = started(fw.parse(EQUATIONS).bind(**DATA["random"]), METHOD)
    run.problem.must_stop = lambda: True
    with pytest.raises(Stopped):
        run.step()
    assert run.state.iteration == 0
    run.problem.must_stop = lambda: False
    slow.go.set()
    run.step()
    assert len(slow.limits) == 1 and run.state.found == runs.SOLVED


def test_a_try_that_runs_out_of_time_gets_more_in_a_process(monkeypatch: pytest.MonkeyPatch) -> None:
    slow = _Slow(ends=1)
    monkeypatch.setattr(worker, "linprog", slow)
    run = started(fw.parse(EQUATIONS).bind(**DATA["random"]), METHOD)
    run.step()
    assert (run.state.found, run.state.seconds) == (runs.LIMIT, 8.0)
    run.step()
    # the process has HiGHS as it is
    assert run.state.found == runs.SOLVED and slow.limits == [2.0]
    report = run.report()
    assert report.infeasibility <= 1e-9 and report.hidden <= 1e-9 * max(1.0, abs(report.objective))


def test_a_process_that_nobody_waits_for_is_killed() -> None:
    data = DATA["random"]
    asked = tries.Asked(data["c"], sp.csr_array(data["A"]), data["b"], data["b"].size, "highs-ds", 60.0)
    begun: Any = tries.begun(asked)
    process, folder = begun.process, begun.folder
    assert folder.exists()
    del begun
    assert process.poll() is not None and not folder.exists()


def test_an_error_of_highs_leaves_the_start(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*args: Any, **more: Any) -> Any:
        raise ValueError("no")

    monkeypatch.setattr(worker, "linprog", broken)
    s = fw.parse(EQUATIONS).bind(**DATA["random"]).solve(method=METHOD)
    assert s.status == "tolerance_not_reached" and np.isfinite(s.objective)


def test_a_resumed_run_has_the_answer(tmp_path: Path) -> None:
    problem = fw.parse(EQUATIONS).bind(**DATA["random"])
    whole = stepped(problem, METHOD, 1)
    again = resumed(whole, tmp_path, {})
    for one, other in zip(whole.candidate()[1], again.candidate()[1], strict=True):
        assert np.array_equal(one, other)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("var x: vector[3]\nminimize sum_squares(x - 1)", "not piecewise linear"),
        ("var x: vector[3]\nminimize norm2(x - 1)", "not of a linear program"),
        ("var x: vector[3]\nminimize sum(x) + 0.5 * sum_squares(x)\nsubject to x >= 0", "quadratic"),
    ],
)
def test_it_takes_linear_programs_alone(text: str, why: str) -> None:
    (found,) = (c for c in fw.parse(text).plan().candidates if c.name == METHOD)
    assert any(why in reason for reason in found.reasons), found.reasons


def test_a_large_transport_is_given_to_it_and_a_small_one_is_not() -> None:
    plans = []
    for k in (8, 120):
        one, eye = np.ones((1, k)), sp.eye_array(k)
        A = sp.vstack([sp.kron(eye, one), sp.kron(one, eye)]).tocsr()
        data = {"A": A, "b": np.ones(2 * k), "c": np.random.default_rng(1).uniform(0.0, 1.0, k * k)}
        plans.append(fw.parse(EQUATIONS).bind(**data).plan().method)
    assert plans == ["interior", METHOD]
