"""Coordinate descent on a matrix with the softmax loss, whose Hessian ties the classes together."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fwdsl as fw
from fwdsl.atoms.losses.softmax import Softmax
from fwdsl.backends.coordinate.classes import ClassColumns
from fwdsl.backends.kernels.pool import Stopped
from fwdsl.oracle import solve_oracle
from tests.problems import LAYOUTS, laid_out
from tests.runs import resumed, started, stepped

pytest.importorskip("cvxpy")

METHOD = "coordinate_descent"
TEXT = "data X: matrix[n, p], y: labels[n, k]\nvar W: matrix[p, k]\nminimize mean(softmax(X @ W, y))"
PARTS = (
    " + 0.02 * norm1(W)\n",
    " + 0.05 * norm21(W)\n",
    " + 0.02 * norm1(W) + 0.1 * sum_squares(W)\n",
    " + 0.1 * sum_squares(W)\n",
    " + 0.01 * norm1(W)\nsubject to W in box(-0.3, 0.5)\n",
    " + 0.05 * sum_squares(W)\nsubject to W in nonnegative\n",
    "\nsubject to norm1(W) <= 2\n",
    "\nsubject to norm21(W) <= 1\n",
    " + 0.1 * sum_squares(W)\nsubject to norm1(W) <= 1.5\n",
)


def problem(part: str = PARTS[0], layout: str = "dense", n: int = 60, p: int = 9, k: int = 4) -> fw.Problem:
    rng = np.random.default_rng(3)
    X = np.where(rng.random((n, p)) < 0.7, rng.standard_normal((n, p)), 0.0)
    y = np.argmax(X[:, :k] + 0.7 * rng.standard_normal((n, k)), axis=1)
    return fw.parse(TEXT + part).bind(X=laid_out(X, layout), y=y)


@pytest.mark.parametrize("part", PARTS)
def test_every_penalty_and_set(part: str) -> None:
    bound = problem(part)
    best = solve_oracle(bound.instance).value
    s = bound.solve(method=METHOD, tol=1e-8)
    assert s.status == "optimal" and s.objective == pytest.approx(best, rel=1e-6)
    run = started(bound, METHOD)
    for _ in range(4):
        run.step()
        report = run.report()
        assert report.bound <= best * (1.0 + 1e-6) and report.objective >= best * (1.0 - 1e-6)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_layout(layout: str) -> None:
    s = problem(layout=layout).solve(method=METHOD, tol=1e-8)
    # float32 data are other data
    other = problem(layout=layout).solve(method="apg", tol=1e-9)
    assert s.status == "optimal" and s.objective == pytest.approx(other.objective, rel=1e-6)


@pytest.mark.parametrize("scale", [2.0**-30, 2.0**30])
def test_units_change_nothing(scale: float) -> None:
    """Powers of two, by which nothing is rounded: the runs are the same on every machine."""
    rng = np.random.default_rng(3)
    X = rng.standard_normal((60, 9))
    y = np.argmax(X[:, :4] + 0.7 * rng.standard_normal((60, 4)), axis=1)
    text = TEXT + " + c * norm1(W)\n"
    model = fw.parse(text.replace("\nvar", "\nparam c: positive\nvar"))
    one = model.bind(X=X, y=y, c=0.02).solve(method=METHOD)
    other = model.bind(X=scale * X, y=y, c=0.02 * scale).solve(method=METHOD)
    assert one.status == other.status == "optimal" and one.iterations == other.iterations
    assert other.objective == pytest.approx(one.objective, rel=1e-9)


def test_weights_of_samples() -> None:
    rng = np.random.default_rng(4)
    X, v = rng.standard_normal((50, 6)), rng.choice([0.0, 0.5, 3.0], 50)
    y = np.argmax(X[:, :3] + rng.standard_normal((50, 3)), axis=1)
    text = "data X: matrix[n, p], y: labels[n, k], v: vector[n] in nonnegative\nvar W: matrix[p, k]\n"
    text += "minimize sum(v * softmax(X @ W, y)) + norm1(W)\n"
    bound = fw.parse(text).bind(X=X, y=y, v=v)
    s = bound.solve(method=METHOD, tol=1e-8)
    assert s.status == "optimal" and s.objective == pytest.approx(solve_oracle(bound.instance).value, rel=1e-6)


@pytest.mark.parametrize("layout", ["dense", "csr", "float32"])
@pytest.mark.parametrize("p", [9, 20])
@pytest.mark.parametrize("alike", [False, True])
def test_the_gram_matrix_is_that_of_all_columns(layout: str, p: int, alike: bool) -> None:
    """G = K_W' H K_W with the columns of X -> X W and the Hessian written out; where pairs of columns serve all classes, where these are many, and
    where all classes are bent alike."""
    run = started(problem(layout=layout, p=p), METHOD)
    columns, (term,) = run.columns, run.problem.terms
    assert isinstance(columns, ClassColumns)
    n, k = term.f.shape
    rng = np.random.default_rng(0)
    z = np.zeros((n, k)) if alike else rng.standard_normal((n, k))
    shares = np.exp(z) / np.exp(z).sum(axis=1, keepdims=True)
    h = term.f.w[:, None] * shares
    whole = np.zeros((n * k, n * k))
    for i in range(n):
        whole[i * k : (i + 1) * k, i * k : (i + 1) * k] = term.f.w[i] * (
            np.diag(shares[i]) - np.outer(shares[i], shares[i])
        )
    K = np.column_stack([term.map.parts[0][1].apply(e).copy() for e in np.eye(columns.problem.size)])
    work = np.sort(rng.choice(columns.problem.size, 17, replace=False))
    np.testing.assert_allclose(columns.gram(work, h.reshape(-1)), (K.T @ whole @ K)[np.ix_(work, work)], atol=1e-13)
    d = rng.standard_normal(work.size)
    np.testing.assert_allclose(columns.times(work, d), K[:, work] @ d, atol=1e-12)
    np.testing.assert_allclose(columns.dots(work, h.reshape(-1)), K[:, work].T @ h.reshape(-1), atol=1e-12)


@pytest.mark.parametrize("unit", [1e-25, 1.0, 1e25])
@pytest.mark.parametrize("sure", [1.0, 40.0])
def test_single_precision_only_where_it_knows_the_matrix(unit: float, sure: float) -> None:
    """Numbers beyond its range, and samples that are told apart for sure, are left to double precision."""
    rng = np.random.default_rng(2)
    X = unit * rng.standard_normal((60, 9))
    columns = started(fw.parse(TEXT + PARTS[0]).bind(X=X, y=np.arange(60) % 4), METHOD).columns
    assert isinstance(columns, ClassColumns)
    z = sure * (np.arange(60)[:, None] % 4 == np.arange(4)) + rng.standard_normal((60, 4))
    h = (np.exp(z) / np.exp(z).sum(axis=1, keepdims=True)).reshape(-1)
    work = np.arange(0, 36, 2)
    rough, fine = columns.gram(work, h, single=True), columns.gram(work, h)
    if unit == sure == 1.0:
        size = float(np.abs(fine).max())
        assert 0.0 < np.abs(rough - fine).max() <= 1e-4 * size
        assert np.linalg.eigvalsh(rough)[0] >= np.linalg.eigvalsh(fine)[0] - 1e-6 * size
    else:
        np.testing.assert_array_equal(rough, fine)


def test_the_parts_of_the_hessian_make_what_it_does() -> None:
    rng = np.random.default_rng(1)
    z, w = rng.standard_normal((20, 5)), rng.random(20)
    w[:3] = 0.0
    h, out, v = np.empty_like(z), np.empty_like(z), rng.standard_normal(z.shape)
    Softmax.curvature_loop(z, np.zeros(20, dtype=np.int64), w, h)
    Softmax.bent_loop(h, v, out)
    a, b = Softmax.split_hessian(h)
    np.testing.assert_allclose(a * v - b * (b * v).sum(axis=1, keepdims=True), out, atol=1e-14)


def test_a_resumed_run_is_the_unbroken_one(tmp_path: Path) -> None:
    whole = stepped(problem(), METHOD, 4)
    half = resumed(stepped(problem(), METHOD, 2), tmp_path, {})
    for _ in range(2):
        half.step()
    for name, value in vars(whole.state).items():
        assert np.array_equal(value, getattr(half.state, name)), name


def test_threads_change_nothing() -> None:
    one, two = (stepped(problem(n=3000), METHOD, 3, threads=k).state for k in (1, 2))
    assert np.array_equal(one.x, two.x) and one.best_bound == two.best_bound


def test_a_step_that_is_stopped_leaves_the_state_as_it_was() -> None:
    run = stepped(problem(), METHOD, 1)
    before = {name: np.copy(value) for name, value in vars(run.state).items()}
    run.problem.must_stop = lambda: True
    with pytest.raises(Stopped):
        run.step()
    assert all(np.array_equal(before[name], value) for name, value in vars(run.state).items())


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("mean(multiclass_hinge(X @ W, y)) + norm1(W)", "not smooth"),
        ("mean(softmax(X @ W, y)) + norm_fro(W)", "sum over entries or groups"),
        ("mean(softmax(X @ W + Z @ U, y)) + norm1(W) + norm1(U)", "matrix variable and of another one"),
    ],
)
def test_what_it_refuses(body: str, reason: str) -> None:
    rng = np.random.default_rng(0)
    data: dict[str, Any] = {"X": rng.standard_normal((12, 3)), "y": rng.integers(0, 3, 12)}
    text = "data X: matrix[n, p], y: labels[n, k]\nvar W: matrix[p, k]\nminimize "
    if "Z" in body:
        text = text.replace("X: matrix[n, p]", "X: matrix[n, p], Z: matrix[n, q]").replace(
            "W: matrix[p, k]", "W: matrix[p, k], U: matrix[q, k]"
        )
        data["Z"] = rng.standard_normal((12, 2))
    with pytest.raises(fw.PlanError, match=reason):
        fw.parse(text + body + "\n").bind(**data).solve(method=METHOD)


def test_more_entries_than_fit_into_a_matrix_are_refused() -> None:
    with pytest.raises(fw.PlanError, match="ties 3,200 entries together"):
        problem(n=20, p=800).solve(method=METHOD)


def test_the_planner_takes_it_for_sparse_classes() -> None:
    assert problem(n=2000, p=50).plan().method == METHOD
