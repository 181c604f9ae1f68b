"""Intercepts and other columns beside a matrix of data: minimised out of dense columns, coordinates of their own beside others."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fwdsl as fw
from fwdsl.backends.coordinate.columns import Columns
from fwdsl.oracle import solve_oracle
from tests.problems import LAYOUTS, laid_out
from tests.runs import resumed, started, stepped

pytest.importorskip("cvxpy")

METHOD = "coordinate_descent"
INNER: tuple[dict[str, Any], ...] = ({}, {"inner": "residual"}, {"inner": "gram"})
WORDS = {
    "W": "W: matrix[p, k]", "v": "v: vector[k]", "u": "u: vector[k]", "V": "V: matrix[q, k]",
    "z": "z: vector[n]", "Z": "Z: matrix[n, q]", "h": "h: vector[n] in nonnegative",
}  # fmt: skip
PENALTIES = (
    " + 0.3 * norm21(W)",
    " + 0.1 * norm1(W)",
    " + 0.2 * norm21(W) + 0.1 * norm1(W)",
    " + 0.2 * norm21(W) + 0.1 * sum_squares(W)",
    " + 0.1 * sum_squares(W)\nsubject to W in box(-0.2, 0.4)",
    "\nsubject to norm21(W) <= 1",
    "\nsubject to norm1(W) <= 1.5",
)


def tasks(
    fit: str = "mean(squared(X @ W + v, Y))", penalty: str = PENALTIES[0], layout: str = "dense",
    shape: tuple[int, int, int] = (40, 15, 3), mean: float = 1.0, unit: float = 1.0,
) -> fw.Problem:  # fmt: skip
    """Tasks with intercepts, with a constant column among those of the data."""
    rng = np.random.default_rng(3)
    n, p, k = shape
    X = np.where(rng.random((n, p)) < 0.7, rng.standard_normal((n, p)) + mean, 0.0)
    X[:, -1] = 3.0
    Y = (
        X[:, :4] @ rng.standard_normal((min(p, 4), k))
        + 0.3 * rng.standard_normal((n, k))
        + 5.0 * rng.standard_normal(k)
    )
    known = {"z": rng.standard_normal(n), "Z": rng.standard_normal((n, 2)), "h": rng.random(n)}
    words = re.findall(r"\w+", fit)
    used = [name for name in known if name in words]
    unknown = [WORDS[name] for name in "WvuV" if name in words]
    head = f"data X: matrix[n, p], Y: matrix[n, k]{''.join(', ' + WORDS[name] for name in used)}\nvar {', '.join(unknown)}\n"
    data = {name: known[name] for name in used}
    return fw.parse(f"{head}minimize {fit}{penalty}\n").bind(X=laid_out(X, layout), Y=unit * Y, **data)


def is_solved(problem: fw.Problem, **options: Any) -> None:
    """The answers at two tolerances are those of another solver, and bounds on the way are below them."""
    best = solve_oracle(problem.instance).value
    for tol in (1e-6, 1e-9):
        s = problem.solve(method=METHOD, tol=tol, **options)
        assert s.status == "optimal" and s.objective == pytest.approx(best, rel=2e-6, abs=1e-12)
    run = started(problem, METHOD, **options)
    for _ in range(3):
        run.step()
        near = 2e-6 * abs(best) + 1e-12
        assert run.report().bound <= best + near and run.report().objective >= best - near


@pytest.mark.parametrize("inner", INNER)
@pytest.mark.parametrize("layout", ["dense", "csr"])
@pytest.mark.parametrize("penalty", PENALTIES)
def test_penalties_beside_intercepts(penalty: str, layout: str, inner: dict[str, Any]) -> None:
    is_solved(tasks(penalty=penalty, layout=layout), **inner)


@pytest.mark.parametrize("layout", ["dense", "csr"])
@pytest.mark.parametrize(
    "fit",
    [
        "0.02 * sum_squares(X @ W + outer(ones(n), v) - Y)",
        "mean(squared(2 * (X @ W) - v, Y))",
        "mean(h * squared(X @ W + v, Y))",
        "mean(squared(X @ W + outer(z, v) + u, Y))",
        "mean(squared(X @ W + Z @ V, Y))",
        "norm_fro(X @ W + v - Y)",
    ],
)
def test_fits_with_columns_beside_the_data(fit: str, layout: str) -> None:
    is_solved(tasks(fit, layout=layout))


@pytest.mark.parametrize("layout", ["dense", "csr"])
@pytest.mark.parametrize(
    "penalty",
    [
        PENALTIES[0] + " + 0.02 * sum(v)",
        PENALTIES[0] + " + 0.1 * sum_squares(v)",
        PENALTIES[1] + "\nsubject to v in box(-1, 1)",
    ],
)
def test_intercepts_that_are_not_free_stay_coordinates(penalty: str, layout: str) -> None:
    problem = tasks(penalty=penalty, layout=layout)
    assert started(problem, METHOD).gone_at.size == 0
    is_solved(problem)


@pytest.mark.parametrize("inner", INNER)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_layouts_with_more_columns_than_rows(layout: str, inner: dict[str, Any]) -> None:
    s = tasks(layout=layout, shape=(20, 60, 3)).solve(method=METHOD, tol=1e-8, **inner)
    dense = tasks(shape=(20, 60, 3)).solve(method="apg", tol=1e-9)
    assert s.status == "optimal" and s.objective == pytest.approx(dense.objective, rel=1e-6)


@pytest.mark.parametrize("shape", [(30, 8, 1), (30, 1, 4), (1, 5, 3), (12, 70, 6)])
def test_shapes(shape: tuple[int, int, int]) -> None:
    is_solved(tasks(shape=shape))


@pytest.mark.parametrize("unit", [1e-9, 1e9])
@pytest.mark.parametrize("layout", ["dense", "csr"])
def test_units_of_the_targets(unit: float, layout: str) -> None:
    one = tasks().solve(method=METHOD, tol=1e-9)
    s = tasks(penalty=f" + {0.3 * unit!r} * norm21(W)", layout=layout, unit=unit).solve(method=METHOD, tol=1e-9)
    assert s.status == "optimal" and s.objective == pytest.approx(unit**2 * one.objective, rel=1e-7)
    np.testing.assert_allclose(s["v"], unit * one["v"], rtol=1e-3)


def test_a_program_by_the_transpose_is_the_same() -> None:
    problem = tasks()
    text = "data X: matrix[n, p], Y: matrix[n, k]\nvar W: matrix[k, p], v: vector[k]\nminimize mean(squared(X @ W.T + v, Y)) + 0.3 * norm21(W.T)\n"
    turned = fw.parse(text).bind(X=problem.instance.values["X"], Y=problem.instance.values["Y"])
    assert turned.plan().method == problem.plan().method == METHOD
    assert turned.solve(tol=1e-9).objective == pytest.approx(problem.solve(tol=1e-9).objective, rel=1e-8)


@pytest.mark.parametrize("inner", INNER)
@pytest.mark.parametrize("penalty", PENALTIES[:2])
def test_a_start_on_a_constant_column_leaves_it(penalty: str, inner: dict[str, Any]) -> None:
    problem = tasks(penalty=penalty)
    W = np.zeros((15, 3))
    W[-1] = 2.0
    s = problem.solve(method=METHOD, tol=1e-8, start={"W": W, "v": np.zeros(3)}, **inner)
    assert s.status == "optimal" and not s["W"][-1].any()


@pytest.mark.parametrize("mean", [30.0, 1e5])
@pytest.mark.parametrize("inner", INNER)
def test_columns_far_from_zero_take_as_many_steps_as_others(mean: float, inner: dict[str, Any]) -> None:
    """Intercepts of dense data are minimised out: where they were coordinates a mean of 5 took 20 times as many steps."""
    rng = np.random.default_rng(4)
    X, Y = rng.standard_normal((30, 80)), rng.standard_normal((30, 4))
    text = "data X: matrix[n, p], Y: matrix[n, k]\nvar W: matrix[p, k], v: vector[k]\nminimize mean(squared(X @ W + v, Y)) + 0.15 * norm21(W)\n"
    near, far = (fw.parse(text).bind(X=X + m, Y=Y).solve(method=METHOD, tol=1e-6, **inner) for m in (0.0, mean))
    assert far.status == "optimal" and far.objective == pytest.approx(near.objective, rel=1e-5)
    assert far.iterations <= 2 * near.iterations + 5


def test_the_predicted_cost_is_that_of_centred_data() -> None:
    """The largest useful weight of a norm is that beside intercepts at their best, so that means make a norm no weaker."""
    rng = np.random.default_rng(7)
    X, Y = rng.standard_normal((100, 800)), rng.standard_normal((100, 4))
    text = "data X: matrix[n, p], Y: matrix[n, k]\nvar W: matrix[p, k], v: vector[k]\nminimize mean(squared(X @ W + v, Y)) + 0.2 * norm21(W)\n"
    seconds = []
    for mean in (0.0, 10.0):
        plan = fw.parse(text).bind(X=X + mean, Y=Y + mean).plan()
        assert plan.method == METHOD
        seconds += [c.estimate.seconds for c in plan.candidates if c.name == METHOD and c.estimate is not None]
    assert seconds[1] == pytest.approx(seconds[0], rel=0.05)


@pytest.mark.parametrize("by_rows", [True, False])
def test_columns_without_their_parts_along_others(by_rows: bool) -> None:
    """a - E'(E D E')^-1 E D a by dense linear algebra; their Gram matrix, at once and as it grows."""
    problem = tasks("mean(h * squared(X @ W + outer(z, v) + u, Y))", layout="dense" if by_rows else "fortran")
    X, z, h = (np.asarray(problem.instance.values[name], dtype=float) for name in ("X", "z", "h"))
    columns = started(problem, METHOD).columns
    assert isinstance(columns, Columns) and columns.gone_at.size == 6 and columns.extra_at.size == 0
    E = np.array([z, np.ones(40)])
    left = X - E.T @ np.linalg.solve((E * h) @ E.T, (E * h) @ X)
    stored, at = columns.stored(np.arange(15))
    np.testing.assert_allclose(stored[0][at].T[:, :-1], left[:, :-1], atol=1e-12)
    # what is constant is in the space of E
    assert not stored[0][at][-1].any()
    work = np.arange(45) + columns.start
    even, none = np.ones(120) * np.repeat(h, 3), np.zeros((0, 0))
    gram = (left.T * h) @ left
    whole = columns.whole(work, np.arange(15), h)
    first = columns.gram(work[:12], even, none)
    grown = columns.gram(work, even, first)
    np.testing.assert_allclose(whole, gram, atol=1e-11 * gram.max())
    np.testing.assert_allclose(grown, gram, atol=1e-11 * gram.max())


def test_columns_that_depend_on_each_other_stay_coordinates() -> None:
    problem = tasks("mean(squared(X @ W + outer(ones(n), v) + u, Y))")
    assert started(problem, METHOD).gone_at.size == 0
    s = problem.solve(method=METHOD, tol=1e-8)
    assert s.status == "optimal" and s.objective == pytest.approx(tasks().solve(tol=1e-9).objective, rel=1e-6)


def test_a_number_for_all_tasks_is_refused() -> None:
    text = "data X: matrix[n, p], Y: matrix[n, k]\nvar W: matrix[p, k], b: real\nminimize mean(squared(X @ W + b, Y)) + 0.3 * norm21(W)\n"
    values = tasks().instance.values
    problem = fw.parse(text).bind(X=values["X"], Y=values["Y"])
    with pytest.raises(fw.PlanError, match="b has no columns, one for each column of predictions"):
        problem.solve(method=METHOD)
    assert problem.solve().status == "optimal"


@pytest.mark.parametrize("inner", INNER)
@pytest.mark.parametrize("layout", ["dense", "csr"])
def test_a_resumed_run_is_the_unbroken_one(layout: str, inner: dict[str, Any], tmp_path: Path) -> None:
    def problem() -> fw.Problem:
        return tasks(penalty=" + 0.05 * norm21(W)", layout=layout, shape=(20, 90, 3))

    whole = stepped(problem(), METHOD, 4, **inner)
    half = resumed(stepped(problem(), METHOD, 2, **inner), tmp_path, inner)
    for _ in range(2):
        half.step()
    for name, value in vars(whole.state).items():
        assert np.array_equal(value, getattr(half.state, name)), name


@pytest.mark.parametrize("penalty", ["norm21(W)", "norm1(W)"])
def test_losses_of_rows_with_intercepts_are_for_others(penalty: str) -> None:
    rng = np.random.default_rng(5)
    X = rng.standard_normal((60, 8)) + 2.0
    y = np.argmax(X[:, :3] + 0.5 * rng.standard_normal((60, 3)) + [0.0, 1.0, 2.0], axis=1)
    text = f"data X: matrix[n, p], y: labels[n, k]\nvar W: matrix[p, k], v: vector[k]\nminimize mean(softmax(X @ W + v, y)) + 0.02 * {penalty}\n"
    problem = fw.parse(text).bind(X=X, y=y, k=3)
    s = problem.solve(tol=1e-8)
    assert s.status == "optimal" and s.objective == pytest.approx(solve_oracle(problem.instance).value, rel=1e-6)
    with pytest.raises(fw.PlanError, match="matrix variable and of another one"):
        problem.solve(method=METHOD)


@pytest.mark.parametrize("inner", INNER)
@pytest.mark.parametrize("mean", [0.0, 50.0])
@pytest.mark.parametrize("penalty", ["0.1 * norm1(x)", "0.05 * sum_squares(x)", "0.1 * group_norm(x, g)"])
def test_vectors_with_an_intercept_minimised_out(penalty: str, mean: float, inner: dict[str, Any]) -> None:
    rng = np.random.default_rng(6)
    A, b = rng.standard_normal((30, 20)) + mean, rng.standard_normal(30) + 4.0
    groups = ", g: index[d] of m" if "g)" in penalty else ""
    text = f"data A: matrix[n, d], b: vector[n]{groups}\nvar x: vector[d], t: real\nminimize mean(squared(A @ x + t, b)) + {penalty}\n"
    problem = fw.parse(text).bind(A=A, b=b, **({"g": np.arange(20) // 4} if groups else {}))
    assert started(problem, METHOD).gone_at.size == 1
    is_solved(problem, **inner)
