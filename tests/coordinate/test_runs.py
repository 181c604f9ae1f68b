"""Runs of coordinate descent: against a plain transcription, resumed, on threads, stopped; what it refuses and what the planner does with it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import fwdsl as fw
from fwdsl.backends.coordinate import columns as of_columns
from fwdsl.backends.coordinate import descent, loops
from fwdsl.backends.coordinate.model import OnColumns, OnGram, extrapolated, missed
from fwdsl.backends.kernels.compile import kernel
from fwdsl.backends.kernels.pool import Stopped
from fwdsl.errors import PlanError
from tests.problems import laid_out
from tests.runs import resumed, started, stepped

METHOD = "coordinate_descent"
INNER: tuple[dict[str, Any], ...] = ({}, {"inner": "residual"}, {"inner": "gram"})
LASSO = "data A: matrix[n, d], b: vector[n]\nparam l: positive\nvar x: vector[d]\nminimize 0.5 * mean(squared(A @ x, b)) + l * norm1(x)\n"
SPARSE_LOGISTIC = "data A: matrix[n, d], y: signs[n]\nvar x: vector[d], c: real\nminimize mean(logistic(A @ x + c, y)) + 0.02 * norm1(x)\n"


def data(n: int = 60, d: int = 90, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    A = np.where(rng.random((n, d)) < 0.5, rng.standard_normal((n, d)), 0.0)
    return A, A[:, :6] @ rng.standard_normal(6) + 0.2 * rng.standard_normal(n)


def lasso(layout: str = "dense", l: float = 0.02) -> fw.Problem:
    A, b = data()
    return fw.parse(LASSO).bind(A=laid_out(A, layout), b=b, l=l)


def logistic(layout: str = "dense") -> fw.Problem:
    A, b = data()
    return fw.parse(SPARSE_LOGISTIC).bind(A=laid_out(A, layout), y=np.where(b > 0.0, 1.0, -1.0))


def soft(v: float, t: float) -> float:
    return float(np.sign(v) * max(abs(v) - t, 0.0))


@pytest.mark.parametrize("sparse", [False, True])
def test_epochs_over_columns_and_on_the_gram_matrix_are_the_plain_ones(sparse: bool) -> None:
    """x_g <- the minimiser in group g of <q, x> + |r|^2 / 2 + ridge |x|^2 / 2 + c |x_g|, one after the other; with the bound of its curvature."""
    A, b = data(20, 9)
    rng = np.random.default_rng(1)
    q, lo, hi, ridge = 0.1 * rng.standard_normal(9), np.full(9, -0.4), np.full(9, 0.5), np.full(9, 0.3)
    groups = [[0], [1], [2], [3], [4, 5], [6, 7, 8]]
    c, thin = rng.random(6), np.array([0.0, 0.0, 0.0, 0.0, 0.3, 0.0])
    lo[4:], hi[4:] = -np.inf, np.inf
    x, r = np.zeros(9), -b
    for _ in range(3):
        for k, g in enumerate(groups):
            size = np.linalg.norm(A[:, g], 2) ** 2 + 0.3
            u = x[g] - (A[:, g].T @ r + q[g] + 0.3 * x[g]) / size
            u = np.sign(u) * np.maximum(np.abs(u) - thin[k] / size, 0.0)
            share = max(1.0 - c[k] / size / np.linalg.norm(u), 0.0)
            new = np.clip(share * u, lo[g], hi[g])
            r = r + A[:, g] @ (new - x[g])
            x[g] = new
    text = "data A: matrix[n, d], b: vector[n]\nvar x: vector[d] in box(-1, 1)\nminimize sum(squared(A @ x, b))\n"
    columns = started(fw.parse(text).bind(A=sp.csr_array(A) if sparse else A, b=b), METHOD).columns
    start = np.cumsum([0, *map(len, groups)])
    stored, cols = columns.stored(np.arange(9))
    none, tasks = np.zeros((0, 20)), np.zeros(9, dtype=np.intp)
    size = columns.sizes(stored, cols, none, start) + 0.3
    u, rest, trail, first = np.zeros(9), -b, np.empty((3, 9)), np.zeros(1)
    done, _ = columns.residual_epochs(
        stored, cols, tasks, none, rest[None], 1.0, q, start, size, c, thin, ridge, lo, hi, u, 3, 0.0, 0.0, trail, first,
        np.empty(9),
    )  # fmt: skip
    np.testing.assert_allclose(u, x, rtol=0, atol=1e-9)
    np.testing.assert_allclose(rest, r, rtol=0, atol=1e-9)
    assert done == 3 and np.array_equal(trail[-1], u)
    v = np.zeros(9)
    slope = (q - A.T @ b)[None]
    kernel(loops.gram_epochs)(
        A.T @ A + np.diag(ridge), slope, np.arange(9), tasks, start, size, c, thin, lo, hi, v, 3, 0.0, first,
        np.empty(9),
    )  # fmt: skip
    np.testing.assert_allclose(v, x, rtol=0, atol=1e-9)


def test_epochs_over_entries_are_those_over_groups_of_one() -> None:
    """Of several tasks, with bounds, entries without a penalty, and one that stays where it is."""
    rng = np.random.default_rng(3)
    A = rng.standard_normal((12, 4))
    at, tasks, start = np.tile(np.arange(4), 2), np.repeat([0, 1], 4), np.arange(9)
    size = np.square(A).sum(axis=0)[at]
    size[5] = 0.0
    c, lo, hi = rng.random(8), np.full(8, -0.2), np.full(8, 0.3)
    c[2] = 0.0
    slope, found = 3.0 * rng.standard_normal((2, 4)), []
    for entries in (True, False):
        x, rest, first = np.zeros(8), slope.copy(), np.zeros(1)
        if entries:
            told = kernel(loops.entry_epochs)(A.T @ A, rest, at, tasks, size, c, lo, hi, x, 3, 0.0, first)
        else:
            none, own = np.zeros(8), np.empty(8)
            told = kernel(loops.gram_epochs)(
                A.T @ A, rest, at, tasks, start, size, c, none, lo, hi, x, 3, 0.0, first, own
            )
        found.append(np.concatenate([x, rest.reshape(-1), first, np.array(told)]))
    assert found[0][5] == 0.0 and np.any(found[0][:8] != 0.0)
    np.testing.assert_allclose(*found, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("sparse", [False, True])
def test_epochs_over_columns_of_entries_are_those_over_groups_of_one(sparse: bool) -> None:
    """With a column of another map before them, bounds, entries without a penalty, and one that stays where it is."""
    A, b = data(20, 9)
    rng = np.random.default_rng(2)
    text = "data A: matrix[n, d], b: vector[n]\nvar x: vector[d] in box(-1, 1), c: nonnegative\nminimize sum(squared(A @ x + c, b))\n"
    columns = started(fw.parse(text).bind(A=sp.csr_array(A) if sparse else A, b=b), METHOD).columns
    stored, cols = columns.stored(np.arange(9))
    q, ridge, c = 0.1 * rng.standard_normal(10), 0.3 * rng.random(10), rng.random(10)
    lo, hi, start, tasks = np.full(10, -0.4), np.full(10, 0.5), np.arange(11), np.zeros(10, dtype=np.intp)
    c[3], ridge[4] = 0.0, 0.0
    size = columns.sizes(stored, cols, columns.extra, start) + ridge
    size[5] = 0.0
    found = []
    for entries in (True, False):
        x, rest, trail, first = np.zeros(10), -b[None], np.empty((3, 10)), np.zeros(1)
        of_columns = stored, cols, tasks, columns.extra, rest, 0.7, q
        ends = ridge, lo, hi, x, 3, 0.0, 0.0, trail, first, np.empty(10)
        if entries:
            told = columns.residual_entry_epochs(*of_columns, size, c, *ends)
        else:
            told = columns.residual_epochs(*of_columns, start, size, c, np.zeros(10), *ends)
        found.append(np.concatenate([x, rest[0], trail.reshape(-1), first, np.array(told)]))
    assert found[0][5] == 0.0 and np.any(found[0][:10] != 0.0)
    np.testing.assert_allclose(*found, rtol=1e-10, atol=1e-12)


def test_few_sparse_columns_have_the_gram_matrix_of_many(monkeypatch: pytest.MonkeyPatch) -> None:
    run = started(logistic("csr"), METHOD)
    work, h = np.concatenate([[90], [3, 5, 8, 40]]), np.random.default_rng(0).random(60)
    few = run.columns.gram(work, h, np.zeros((0, 0)))
    monkeypatch.setattr(of_columns, "FEW_COLUMNS", 0)
    np.testing.assert_allclose(few, run.columns.gram(work, h, np.zeros((0, 0))), rtol=0, atol=1e-12)
    K = np.column_stack([np.ones(60), data()[0][:, [3, 5, 8, 40]]])
    np.testing.assert_allclose(few, K.T @ (h[:, None] * K), rtol=0, atol=1e-12)


def test_what_a_model_would_find_is_that_of_its_first_epoch_on_orthogonal_columns() -> None:
    """There entries do not see each other's steps."""
    rng = np.random.default_rng(5)
    run = started(lasso(), METHOD)
    g = replace(
        run.g.at(np.arange(8), 0.0), c=rng.random(8), ridge=rng.random(8), lo=np.full(8, -0.3), hi=np.full(8, 0.4)
    )
    bend, x, slope, first = 1.0 + rng.random(8), np.zeros(8), rng.standard_normal(8), np.zeros(1)
    x[:3] = 0.2
    u, rest = x.copy(), (slope + g.ridge * x)[None]
    H = np.diag(bend + g.ridge)
    kernel(loops.entry_epochs)(
        H, rest, np.arange(8), np.zeros(8, dtype=np.intp), np.diag(H).copy(), g.c, g.lo, g.hi, u, 1, 0.0, first
    )
    assert missed(slope, x, g, np.diag(H)) == pytest.approx(float(first[0]), rel=1e-12)


def test_extrapolation_finds_the_limit_of_a_linear_recursion() -> None:
    rng = np.random.default_rng(0)
    M = 0.5 * np.diag(rng.random(4))
    limit = np.linalg.solve(np.eye(4) - M, np.ones(4))
    trail = [np.zeros(4)]
    for _ in range(5):
        trail.append(M @ trail[-1] + 1.0)
    ahead = extrapolated(np.array(trail))
    assert ahead is not None
    assert np.linalg.norm(ahead - limit) < 1e-3 * np.linalg.norm(trail[-1] - limit)
    assert extrapolated(np.ones((6, 4))) is None


@pytest.mark.parametrize("problem", [lasso, logistic])
def test_the_working_set_grows_from_the_worst_violations(problem: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(descent, "CHEAP", 0)
    run = started(problem(), METHOD, inner="residual")
    seen = []
    for _ in range(4):
        worst = np.argmax(run.state.misses)
        before = run.state.value
        run.step()
        seen.append(run.state.work.size)
        assert worst in run.state.work and run.state.value <= before
        assert set(np.flatnonzero(run.state.x)) <= set(run.state.work)
    assert seen[0] <= 21 and seen[-1] < 91


@pytest.mark.parametrize("problem", [lasso, logistic])
def test_a_curved_loss_begins_with_as_many_coordinates_as_cost_little(
    problem: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """30 columns of 60 numbers beside the intercept, where a quadratic loss begins with 20."""
    monkeypatch.setattr(descent, "CHEAP", 30 * 60)
    run = started(problem(), METHOD, inner="residual")
    run.step()
    assert run.state.work.size == (31 if problem is logistic else 20)


def test_fewer_coordinates_begin_where_the_worst_have_long_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    """30 columns have 60 numbers, all others one: as many as have 900 by the mean of all would be 44, with up to 1,814."""
    A, b = data()
    signs = np.where(b > 0.0, 1.0, -1.0)
    A[1:, np.argsort(-np.abs(A.T @ signs))[30:]] = 0.0
    monkeypatch.setattr(descent, "CHEAP", 900)
    run = started(fw.parse(SPARSE_LOGISTIC).bind(A=sp.csr_array(A), y=signs), METHOD, inner="residual")
    state = run.state.copied()
    run._enlarge(state)
    assert 20 <= state.work.size - run.columns.extra_at.size < 44


def test_a_model_ends_at_a_share_of_its_first_measure() -> None:
    """By columns and by their Gram matrix, where it is asked for nothing else."""
    A, b = data(40, 12)
    text = "data A: matrix[n, d], b: vector[n]\nvar x: vector[d] in box(-9, 9)\nminimize 1/2 * sum(squared(A @ x, b)) + norm1(x)\n"
    run = started(fw.parse(text).bind(A=A, b=b), METHOD)
    work, x = np.arange(12), np.zeros(12)
    g = run.g.at(work, 0.0)
    for rough in (0.3, 0.03):
        models = (
            OnColumns(run.columns, work, x, g, -b, np.ones(40), rough, lambda: None),
            OnGram(A.T @ A, -A.T @ b, x, g, lambda: None, rough=rough),
        )
        for model in models:
            solved = model.solve(g, 0.0)
            assert 0.0 < solved.last <= rough * solved.first
            assert solved.epochs <= 100


@pytest.mark.parametrize("layout", ["dense", "fortran", "float32", "csr"])
@pytest.mark.parametrize("inner", INNER)
@pytest.mark.parametrize("problem", [lasso, logistic])
def test_a_resumed_run_is_the_unbroken_one(problem: Any, inner: dict[str, Any], layout: str, tmp_path: Path) -> None:
    whole = stepped(problem(layout), METHOD, 5, **inner)
    half = resumed(stepped(problem(layout), METHOD, 2, **inner), tmp_path, inner)
    for _ in range(3):
        half.step()
    for name, value in vars(whole.state).items():
        assert np.array_equal(value, getattr(half.state, name)), name


@pytest.mark.parametrize("layout", ["dense", "csr"])
@pytest.mark.parametrize("problem", [lasso, logistic])
def test_threads_change_nothing(problem: Any, layout: str) -> None:
    one, two = (stepped(problem(layout), METHOD, 4, threads=k).state for k in (1, 2))
    assert np.array_equal(one.x, two.x) and one.best_bound == two.best_bound


@pytest.mark.parametrize("inner", INNER)
@pytest.mark.parametrize("problem", [lasso, logistic])
def test_sparse_data_are_solved_as_dense(problem: Any, inner: dict[str, Any]) -> None:
    dense, sparse = (problem(layout).solve(method=METHOD, tol=1e-10, **inner) for layout in ("dense", "csc"))
    assert dense.status == sparse.status == "optimal"
    np.testing.assert_allclose(dense["x"], sparse["x"], rtol=0, atol=1e-6)


@pytest.mark.parametrize("problem", [lasso, logistic])
def test_a_step_that_is_stopped_leaves_the_state_as_it_was(problem: Any) -> None:
    run = stepped(problem(), METHOD, 1)
    before = {name: np.copy(value) for name, value in vars(run.state).items()}
    run.problem.must_stop = lambda: True
    with pytest.raises(Stopped):
        run.step()
    assert all(np.array_equal(before[name], value) for name, value in vars(run.state).items())
    run.problem.must_stop = lambda: False
    run.step()
    assert run.state.iteration == 2


def test_limits_are_statuses() -> None:
    few = lasso().solve(method=METHOD, max_iter=1, tol=1e-12, inner="residual")
    assert few.status == "tolerance_not_reached" and few.iterations == 1
    none = lasso().solve(method=METHOD, time=0.0, tol=1e-12)
    assert none.status == "tolerance_not_reached" and none.iterations == 0
    stopped = lasso().solve(method=METHOD, tol=1e-12, inner="residual", callback=lambda progress: False)
    assert stopped.status == "interrupted"


def test_warm_starts_take_fewer_steps() -> None:
    first = lasso().solve(method=METHOD, tol=1e-9, inner="residual")
    warm = lasso(l=0.0199).solve(method=METHOD, tol=1e-9, inner="residual", start=first)
    cold = lasso(l=0.0199).solve(method=METHOD, tol=1e-9, inner="residual")
    assert warm.status == "optimal" and warm.iterations < cold.iterations


def test_a_start_of_more_coordinates_than_samples_begins_with_those_at_zero_that_norms_hold_there() -> None:
    rng = np.random.default_rng(2)
    A, b = rng.normal(size=(20, 60)), rng.normal(size=20)
    text = "data A: matrix[m, n], b: vector[m]\nvar x: vector[n] in box(-1, 1), t: real\nminimize mean(squared(A @ x + t, b)) + 0.05 * {}"
    dense = rng.uniform(-1.0, 1.0, 61)
    for norm, kept in (("norm1(x)", 0), ("norm1(x) + sum_squares(x)", 60)):
        problem = fw.parse(text.format(norm)).bind(A=A, b=b)
        at = problem.canonical.blocks[0].slice
        assert np.count_nonzero(started(problem, METHOD, dense, inner="residual").state.x[at]) == kept
        # as many as there are samples are a start like any other
        few = np.where(np.arange(61) < 20, dense, 0.0)
        begun = started(problem, METHOD, few, inner="residual").state.x
        assert np.array_equal(begun[at], few[at])
        # an intercept that is minimised out begins at its best
        assert begun[60] == pytest.approx(float(np.mean(b - A @ few[:60])), rel=1e-9)
        solved = problem.solve(method=METHOD, inner="residual", start={"x": dense[at], "t": 0.0})
        assert solved.status == "optimal"
        assert solved.objective == pytest.approx(problem.solve(method="interior").objective, rel=1e-5)


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("mean(absolute(A @ x, b))", "not smooth"),
        ("mean(squared(A @ x, b)) + norm2(x)", "sum over entries or groups"),
        ("mean(squared(A @ x, b)) + mean(huber(A @ x, b)) + norm1(x)", "one loss"),
        ("mean(squared(A @ x, b)) + norm1(A @ x)", "one loss"),
        ("sum(squared(x, b))", "columns of one data matrix"),
    ],
)
def test_what_it_refuses(body: str, reason: str) -> None:
    A, b = data(9, 9)
    with pytest.raises(PlanError, match=reason):
        fw.parse(f"data A: matrix[n, n], b: vector[n]\nvar x: vector[n]\nminimize {body}\n").bind(A=A, b=b).solve(
            method=METHOD
        )


def test_the_planner_takes_it_for_sparse_regression() -> None:
    assert lasso().plan().method == logistic().plan().method == METHOD
