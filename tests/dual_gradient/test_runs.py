"""Accelerated gradient on the dual: optima beside cvxpy, its steps, units, threads, resumed, stopped; what it refuses and costs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import fwdsl as fw
from fwdsl.backends.dual_gradient import run as runs
from fwdsl.backends.dual_gradient.parts import parts_of
from fwdsl.backends.problem import PreparedProblem
from fwdsl.backends.registry import METHODS
from tests.dual_gradient.programs import PROGRAMS, picture
from tests.runs import resumed, started, stepped

METHOD = "dual_gradient"
TV = "data Y: matrix[n, m]\nparam c: nonnegative\nvar X: matrix[n, m]\nminimize 1/2 * sum_squares(X - Y) + c * tv(X)"


def bound(name: str) -> fw.Problem:
    program = PROGRAMS[name]()
    return fw.parse(program.text).bind(**program.data)


@pytest.mark.parametrize("name", PROGRAMS)
def test_it_certifies_the_optimum(name: str) -> None:
    import cvxpy as cp

    solution = bound(name).solve(method=METHOD, tol=1e-8)
    assert solution.status == "optimal" and solution.certificate.kind == "exact"
    assert solution.dual_bound <= solution.objective + 1e-12 * abs(solution.objective)
    other = cp.Problem(*PROGRAMS[name]().value(cp))
    other.solve(solver="CLARABEL", tol_gap_abs=1e-10, tol_gap_rel=1e-10, tol_feas=1e-10)
    assert solution.objective == pytest.approx(other.value, rel=1e-7)


def matrix_of(name: str) -> tuple[np.ndarray, Any, Any]:
    """K as a dense matrix, and the parts."""
    form = bound(name).canonical.dense
    found = parts_of(form)
    assert not isinstance(found, str)
    entries, rows = found
    first, column, entry = rows.K.arrays
    return sp.csr_array((entry, column, first), (rows.offset.size, form.size)).toarray(), entries, rows


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_steps_are_short_enough_for_every_program(name: str) -> None:
    """|S^(1/2) K diag(a)^(-1/2)| <= 1, and no step is needlessly small."""
    K, entries, rows = matrix_of(name)
    sigma = np.repeat(rows.step, np.diff(rows.group))
    norm = np.linalg.norm(np.sqrt(sigma)[:, None] * K / np.sqrt(entries.curvature), 2)
    assert 0.2 < norm <= 1.0 + 1e-12


@pytest.mark.parametrize("name", PROGRAMS)
def test_iterates_are_those_of_the_formulas(name: str) -> None:
    K, e, rows = matrix_of(name)
    run = METHODS[METHOD].start(PreparedProblem(bound(name).canonical.dense, 1), {}, np.zeros(e.slope.size))
    sigma = np.repeat(rows.step, np.diff(rows.group))
    y = ahead = np.zeros(rows.offset.size)
    for k in range(6):
        u = -(e.slope + K.T @ ahead)
        x = np.clip(np.sign(u) * np.maximum(np.abs(u) - e.weight, 0.0) / e.curvature, e.lo, e.hi)
        z = ahead + sigma * (K @ x + rows.offset)
        lengths = np.sqrt(np.add.reduceat(z * z, rows.group[:-1]))
        share = np.minimum(1.0, rows.radius / np.maximum(lengths, 1e-300))
        new = np.repeat(share, np.diff(rows.group)) * z
        ahead, y = new + k / (k + 4.0) * (new - y), new
        run.step()
        np.testing.assert_allclose(run.state.y, y, rtol=0, atol=1e-12 * max(1.0, float(np.abs(y).max())))


@pytest.mark.parametrize("unit", [1e-9, 1e9])
def test_units_do_not_count(unit: float) -> None:
    problem = fw.parse(TV)
    one = problem.bind(Y=picture(), c=0.3).solve(method=METHOD)
    other = problem.bind(Y=unit * picture(), c=unit * 0.3).solve(method=METHOD)
    assert other.status == "optimal"
    np.testing.assert_allclose(other["X"] / unit, one["X"], rtol=0, atol=1e-3)
    assert other.objective / unit**2 == pytest.approx(one.objective, rel=2e-6)


def test_threads_and_blocks_do_not_change_a_bit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runs, "BLOCK", 16)
    one, two = (stepped(bound("isotropic"), METHOD, 40, threads=threads) for threads in (1, 2))
    assert np.array_equal(one.state.y, two.state.y) and one.state.bound == two.state.bound
    assert one.state.restarts == two.state.restarts


@pytest.mark.parametrize("name", ["isotropic", "two variables and groups"])
def test_a_resumed_run_is_the_unbroken_one(name: str, tmp_path: Path) -> None:
    whole = stepped(bound(name), METHOD, 60)
    half = resumed(stepped(bound(name), METHOD, 30), tmp_path, {})
    for _ in range(30):
        half.step()
    for key, value in vars(whole.state).items():
        assert np.array_equal(value, getattr(half.state, key)), key


def test_momentum_that_leads_downhill_is_dropped() -> None:
    run = stepped(bound("isotropic"), METHOD, 400)
    assert run.state.restarts > 0
    assert run.state.objective - run.state.bound <= 1e-6 * run.state.objective


def test_a_start_is_taken_and_brought_into_the_balls() -> None:
    problem = bound("isotropic")
    run = stepped(problem, METHOD, 300)
    x, ys = run.candidate()
    again = started(problem, METHOD, x, ys)
    np.testing.assert_allclose(again.state.y, run.state.y, rtol=0, atol=1e-14)
    longer = started(problem, METHOD, x, [100.0 * y for y in ys])
    lengths = np.sqrt(np.add.reduceat(np.square(longer.state.y), longer.rows.group[:-1]))
    assert np.all(lengths <= longer.rows.radius * (1.0 + 1e-12))


def test_a_limit_leaves_a_certified_point() -> None:
    solution = bound("isotropic").solve(method=METHOD, max_iter=3, tol=1e-12)
    assert solution.status == "tolerance_not_reached"
    assert np.isfinite(solution.gap) and solution.dual_bound <= solution.objective


DENSE = "data A: matrix[n, n], y: vector[n]\nvar x: vector[n]\nminimize sum_squares(x - y) + norm1(A @ x)"


@pytest.mark.parametrize(
    ("text", "data", "why"),
    [
        (DENSE, {"A": np.ones((40, 40)), "y": np.ones(40)}, "rows of more than 16 entries"),
        ("var x: vector[5]\nminimize sum_squares(x[1:] - 1) + norm1(diff(x))", {}, "no square"),
        ("var x: vector[5] in simplex(1)\nminimize sum_squares(x - 1) + norm1(diff(x))", {}, "no sum over entries"),
        ("var x: vector[5]\nminimize sum(huber(x - 1)) + norm1(diff(x))", {}, "neither quadratic"),
        ("var x: vector[5]\nminimize sum_squares(x - 1) + norm_inf(diff(x))", {}, "no sum of lengths of rows"),
        (
            "var x: vector[5]\nminimize sum_squares(x - 1)\nsubject to norm1(diff(x)) <= 1",
            {},
            "no sum of lengths of rows",
        ),
    ],
)
def test_it_says_what_it_does_not_take(text: str, data: dict[str, Any], why: str) -> None:
    plan = fw.parse(text).bind(**data).plan()
    (found,) = (c for c in plan.candidates if c.name == METHOD)
    assert any(why in reason for reason in found.reasons), found.reasons


def test_its_predicted_iterations_follow_the_weight() -> None:
    """A flat answer takes many: the multipliers have far to go."""
    forms = [fw.parse(TV).bind(Y=picture(40, 40), c=c).canonical.dense for c in (0.01, 0.3, 10.0)]
    passes = [METHODS[METHOD].estimate(form, 1e-6).passes for form in forms]
    assert passes == sorted(passes) and passes[-1] > 10.0 * passes[0]


def test_a_large_picture_is_given_to_it() -> None:
    assert fw.parse(TV).bind(Y=np.tile(picture(16, 16), (12, 12)), c=0.2).plan().method == METHOD
