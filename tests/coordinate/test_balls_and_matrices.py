"""Balls by their multipliers, and matrix variables: at the optimum against cvxpy, against plain transcriptions, resumed, stopped."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import fwdsl as fw
from fwdsl.backends.coordinate import loops
from fwdsl.backends.coordinate.model import OnColumns, OnGram
from fwdsl.backends.coordinate.multiplier import _Ends, in_ball
from fwdsl.backends.kernels.compile import kernel
from fwdsl.backends.kernels.pool import Stopped
from fwdsl.oracle import solve_oracle
from tests.problems import LAYOUTS, SIGNED, SMOOTH, laid_out, random_problem
from tests.runs import resumed, started, stepped
from tests.solve.test_conformance import check, hash_of

pytest.importorskip("cvxpy")

METHOD = "coordinate_descent"
INNER: tuple[dict[str, Any], ...] = ({}, {"inner": "residual"}, {"inner": "gram"})
BALLS = ("l1_ball(0.7)", "solid_simplex(0.5)", "l1_ball(80)")


@pytest.mark.parametrize("inner", INNER)
@pytest.mark.parametrize("loss", SMOOTH)
@pytest.mark.parametrize("ball", BALLS)
def test_every_loss_on_every_ball(loss: str, ball: str, inner: dict[str, Any]) -> None:
    check(random_problem(hash_of(loss, ball), loss, "", ball, "dense"), METHOD, **inner)


@pytest.mark.parametrize("inner", INNER)
@pytest.mark.parametrize("penalty", ["norm1", "sum_squares", "elastic"])
@pytest.mark.parametrize("loss", ["squared", "logistic"])
def test_every_penalty_on_a_ball(loss: str, penalty: str, inner: dict[str, Any]) -> None:
    check(random_problem(hash_of(loss, penalty), loss, penalty, "l1_ball(0.7)", "csr", intercept=True), METHOD, **inner)


def test_models_of_losses_with_linear_pieces_are_predicted_to_be_dearer_on_a_ball() -> None:
    rng = np.random.default_rng(0)
    A = sp.random(2_000, 3_000, density=0.01, format="csr", random_state=rng)
    y = np.where(rng.random(2_000) < 0.5, -1.0, 1.0)

    def predicted(loss: str, tail: str) -> float:
        text = f"fw 1\ndata A: matrix[n, d], y: signs[n]\nvar x: vector[d]\nminimize mean({loss}(A @ x, y)){tail}\n"
        plan = fw.parse(text).bind(A=A, y=y).plan()
        estimate = next(c.estimate for c in plan.candidates if c.name == METHOD)
        assert estimate is not None
        return estimate.seconds

    ratios = [
        predicted(loss, "\nsubject to norm1(x) <= 2") / predicted(loss, " + 0.01 * norm1(x)")
        for loss in ("logistic", "smooth_hinge")
    ]
    assert ratios[1] > 1.5 * ratios[0]


def costs_of(n: int, d: int, text: str, loss: str) -> tuple[str, dict[str, float]]:
    """The planned method and the predicted seconds on labels that tell nothing of the data."""
    rng = np.random.default_rng(0)
    A, y = rng.standard_normal((n, d)), rng.choice([-1.0, 1.0], n)
    head = "data A: matrix[n, d], y: signs[n]\nvar x: vector[d], b: real\n"
    plan = fw.parse(f"{head}minimize mean({loss}(A @ x + b, y)){text}\n").bind(A=A, y=y).plan()
    return plan.method, {c.name: c.estimate.seconds for c in plan.candidates if c.estimate is not None}


def test_balls_within_which_a_loss_vanishes_are_predicted_to_be_dear() -> None:
    """Separable samples on an l1 ball of 1e3 or 1e4 take 90 times as long as on one of 3: curvatures and the multiplier vanish."""
    costs = {r: costs_of(25, 200, f"\nsubject to norm1(x) <= {r:g}", "logistic") for r in (3.0, 30.0, 1e3, 1e4)}
    seconds = {r: of[METHOD] for r, (_, of) in costs.items()}
    assert seconds[30.0] <= 2.0 * seconds[3.0] and min(seconds[1e3], seconds[1e4]) >= 20.0 * seconds[3.0]
    assert costs[30.0][0] == METHOD and costs[1e4][0] != METHOD
    # the same ball is none around samples that cannot be told apart, nor for a loss that is 0 from some margin on
    tall = [costs_of(600, 20, f"\nsubject to norm1(x) <= {r:g}", "logistic")[1][METHOD] for r in (3.0, 1e3)]
    flat = [costs_of(25, 200, f"\nsubject to norm1(x) <= {r:g}", "squared_hinge")[1][METHOD] for r in (3.0, 1e3)]
    assert tall[1] <= 2.0 * tall[0] and flat[1] <= 2.0 * flat[0]


@pytest.mark.parametrize("loss", ["smooth_hinge", "squared_hinge"])
def test_a_weak_ridge_alone_makes_losses_with_linear_pieces_dear(loss: str) -> None:
    """0.02 s at 0.1, 0.1 to 0.3 s at 1e-3, more than 1 s at 1e-4: methods that see all columns at once are chosen."""
    found = [costs_of(300, 400, f" + {g:g} * sum_squares(x)", loss) for g in (1e-1, 1e-3, 1e-4)]
    seconds = [of[METHOD] for _, of in found]
    assert seconds[1] >= 4.0 * seconds[0] and seconds[2] >= 2.0 * seconds[1]
    assert {method for method, _ in found} <= {"newton", "dcd"}


GROUPED = (
    "data A: matrix[n, d], y: {kind}, groups: index[d] of m, v: vector[m] in nonnegative\nvar x: vector[d], c: real\n"
)


@pytest.mark.parametrize("inner", INNER)
@pytest.mark.parametrize("more", ["", " + 0.03 * sum_squares(x)", " + 0.02 * group_norm(x, groups, v)"])
@pytest.mark.parametrize("loss", ["squared", "logistic"])
def test_balls_of_groups(loss: str, more: str, inner: dict[str, Any]) -> None:
    rng = np.random.default_rng(5)
    A = rng.standard_normal((40, 24))
    groups = rng.permutation(np.repeat(np.arange(8), 3))
    z = A @ np.where(groups < 3, rng.standard_normal(24), 0.0) + 0.3 * rng.standard_normal(40)
    y = np.where(z > 0, 1.0, -1.0) if loss in SIGNED else z
    text = GROUPED.format(kind="signs[n]" if loss in SIGNED else "vector[n]")
    text += f"minimize mean({loss}(A @ x + c, y)){more}\nsubject to group_norm(x, groups, v) <= 1.2\n"
    problem = fw.parse(text).bind(A=A, y=y, groups=groups, v=rng.uniform(0.5, 1.5, 8))
    s = problem.solve(method=METHOD, tol=1e-8, **inner)
    assert s.status == "optimal" and s.objective == pytest.approx(solve_oracle(problem.instance).value, rel=1e-6)


MATRIX = "data X: matrix[n, p], Y: matrix[n, k]\nvar W: matrix[p, k]\nminimize 1/n * sum(squared(X @ W, Y))"
PARTS = (
    " + 0.3 * norm21(W)\n",
    " + 0.1 * norm1(W)\n",
    " + 0.2 * norm21(W) + 0.1 * sum_squares(W)\n",
    " + 0.1 * sum_squares(W)\nsubject to W in box(-0.2, 0.4)\n",
    "\nsubject to norm21(W) <= 1\n",
    "\nsubject to norm1(W) <= 1.5\n",
    " + 0.1 * norm21(W)\nsubject to norm21(W) <= 1\n",
    " + 0.1 * sum_squares(W)\nsubject to norm21(W) <= 0.7\n",
)


def tasks(part: str, layout: str = "dense", n: int = 40, p: int = 15) -> fw.Problem:
    rng = np.random.default_rng(2)
    X = np.where(rng.random((n, p)) < 0.7, rng.standard_normal((n, p)), 0.0)
    Y = X[:, :4] @ rng.standard_normal((4, 3)) + 0.3 * rng.standard_normal((n, 3))
    return fw.parse(MATRIX + part).bind(X=laid_out(X, layout), Y=Y)


@pytest.mark.parametrize("inner", INNER)
@pytest.mark.parametrize("part", PARTS)
def test_matrices(part: str, inner: dict[str, Any]) -> None:
    problem = tasks(part)
    best = solve_oracle(problem.instance).value
    s = problem.solve(method=METHOD, tol=1e-8, **inner)
    assert s.status == "optimal" and s.objective == pytest.approx(best, rel=1e-6)
    run = started(problem, METHOD, **inner)
    for _ in range(4):
        run.step()
        report = run.report()
        assert report.bound <= best * (1.0 + 1e-6) and report.objective >= best * (1.0 - 1e-6)


@pytest.mark.parametrize("inner", INNER)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_matrices_in_every_layout(layout: str, inner: dict[str, Any]) -> None:
    s = tasks(PARTS[0], layout, 20, 60).solve(method=METHOD, tol=1e-8, **inner)
    dense = tasks(PARTS[0], "dense", 20, 60).solve(method="apg", tol=1e-9)
    assert s.status == "optimal" and s.objective == pytest.approx(dense.objective, rel=1e-6)
    rows = np.flatnonzero(np.abs(s["W"]).sum(axis=1))
    assert 0 < rows.size < 60


def test_linear_costs_on_balls_are_refused() -> None:
    found = random_problem(1, "squared", "affine", "l1_ball(0.7)", "dense")
    with pytest.raises(fw.PlanError, match="linear cost in a ball"):
        fw.parse(found.text).bind(**found.data).solve(method=METHOD)


def test_matrices_of_other_losses_are_refused() -> None:
    rng = np.random.default_rng(0)
    Y = rng.standard_normal((9, 2))
    text = "data X: matrix[n, p], Y: matrix[n, k]\nvar W: matrix[p, k]\nminimize sum(huber(X @ W, Y)) + norm21(W)\n"
    with pytest.raises(fw.PlanError, match="not quadratic"):
        fw.parse(text).bind(X=rng.standard_normal((9, 4)), Y=Y).solve(method=METHOD)


@pytest.mark.parametrize("sparse", [False, True])
def test_epochs_by_rows_are_the_plain_ones(sparse: bool) -> None:
    """W_j <- the minimiser in row j of <Q, W> + |R|^2 / 2 + c |W_j|, one after the other."""
    rng = np.random.default_rng(3)
    A, Y, Q, c = rng.standard_normal((12, 5)), rng.standard_normal((12, 3)), rng.standard_normal((5, 3)), rng.random(5)
    W, R = np.zeros((5, 3)), -Y
    for _ in range(3):
        for j in range(5):
            size = float(A[:, j] @ A[:, j])
            u = W[j] - (A[:, j] @ R + Q[j]) / size
            new = max(1.0 - c[j] / size / float(np.linalg.norm(u)), 0.0) * u
            R = R + np.outer(A[:, j], new - W[j])
            W[j] = new
    problem = fw.parse(MATRIX + PARTS[0]).bind(X=sp.csr_array(A) if sparse else A, Y=Y)
    columns = started(problem, METHOD).columns
    start, free, first, trail = np.arange(0, 16, 3), np.full(15, np.inf), np.zeros(1), np.empty((3, 15))
    stored, cols = columns.stored(np.arange(5))
    none = np.zeros((0, 12))
    size = columns.sizes(stored, cols, none, start)
    u, rest = np.zeros(15), np.ascontiguousarray(-Y.T)
    columns.residual_epochs(
        stored, np.repeat(cols, 3), columns.task_of(15), none, rest, 1.0, Q.ravel(), start, size, c, np.zeros(5), np.zeros(15),
        -free, free, u, 3, 0.0, 0.0, trail, first, np.empty(15),
    )  # fmt: skip
    np.testing.assert_allclose(u.reshape(5, 3), W, rtol=0, atol=1e-9)
    np.testing.assert_allclose(rest.T, R, rtol=0, atol=1e-9)
    v, slope = np.zeros(15), np.ascontiguousarray((Q - A.T @ Y).T)
    places, row = np.divmod(np.arange(15), 3)
    kernel(loops.gram_epochs)(
        A.T @ A, slope, places, row, start, size, c, np.zeros(5), -free, free, v, 3, 0.0, first, np.empty(15)
    )
    np.testing.assert_allclose(v.reshape(5, 3), W, rtol=0, atol=1e-9)


@pytest.mark.parametrize("by_gram", [False, True])
def test_the_multiplier_of_a_model_is_that_of_bisection(by_gram: bool) -> None:
    """The root of h(argmin_u <q, u> + |A u|^2 / 2 + m |u|_1) = r, the minimisers by plain coordinate descent."""
    rng = np.random.default_rng(4)
    A, y = rng.standard_normal((30, 8)), rng.standard_normal(30)
    G, q = A.T @ A, A.T @ y

    def total(m: float) -> float:
        u = np.zeros(8)
        for _ in range(2_000):
            for j in range(8):
                v = u[j] - (q[j] + G[j] @ u) / G[j, j]
                u[j] = np.sign(v) * max(abs(v) - m / G[j, j], 0.0)
        return float(np.abs(u).sum())

    low, high = 0.0, float(np.abs(q).max())
    for _ in range(40):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if total(middle) > 0.4 else (low, middle)
    text = (
        "data A: matrix[n, d], b: vector[n]\nvar x: vector[d] in l1_ball(0.4)\nminimize 1/2 * sum(squared(A @ x, b))\n"
    )
    run = started(fw.parse(text).bind(A=A, b=-y), METHOD)
    g, work, x = run.g, np.arange(8), np.zeros(8)
    at = g.at(work, 0.0)
    model: OnColumns | OnGram = OnGram(G.copy(), q.copy(), x, at, lambda: None)
    if not by_gram:
        model = OnColumns(run.columns, work, x, at, y, np.ones(30), 0.0, lambda: None)
    solved, m, slope = in_ball(model, g, work, 0.3 * float(np.abs(q).max()), 0.0, 0.0, 1e-6)
    assert m == pytest.approx(high, rel=1e-6) and slope < 0.0
    assert float(np.abs(solved.u).sum()) == pytest.approx(0.4, rel=1e-6)


def on_ball(layout: str = "dense") -> fw.Problem:
    found = random_problem(7, "logistic", "", "l1_ball(0.7)", layout)
    return fw.parse(found.text).bind(**found.data)


def of_tasks(layout: str = "dense") -> fw.Problem:
    return tasks(PARTS[0], layout, 20, 60)


@pytest.mark.parametrize("inner", INNER)
@pytest.mark.parametrize("problem", [on_ball, of_tasks])
def test_a_resumed_run_is_the_unbroken_one(problem: Any, inner: dict[str, Any], tmp_path: Path) -> None:
    whole = stepped(problem(), METHOD, 4, **inner)
    half = resumed(stepped(problem(), METHOD, 2, **inner), tmp_path, inner)
    for _ in range(2):
        half.step()
    for name, value in vars(whole.state).items():
        assert np.array_equal(value, getattr(half.state, name)), name


@pytest.mark.parametrize("problem", [on_ball, of_tasks])
def test_a_step_that_is_stopped_leaves_the_state_as_it_was(problem: Any) -> None:
    run = started(problem(), METHOD)
    before = {name: np.copy(value) for name, value in vars(run.state).items()}
    run.problem.must_stop = lambda: True
    with pytest.raises(Stopped):
        run.step()
    assert all(np.array_equal(before[name], value) for name, value in vars(run.state).items())


def test_points_on_the_way_are_in_the_ball() -> None:
    run = started(on_ball(), METHOD, inner="residual")
    values = []
    for _ in range(5):
        x, _ = run.candidate()
        assert run.g.total(x) <= 0.7 * (1.0 + 1e-12)
        values.append(run.state.value)
        run.step()
    assert np.all(np.diff(values) <= 1e-12 * values[0])


def test_a_model_that_is_flat_has_a_mean_of_two_solutions() -> None:
    """The mean of the solutions on both sides is on the ball, and as good, where h jumps over r as the multiplier grows."""
    text = "data A: matrix[n, d], b: vector[n]\nvar x: vector[d] in l1_ball(0.4)\nminimize sum(huber(A @ x, b, delta=0.1))\n"
    rng = np.random.default_rng(0)
    A = rng.standard_normal((20, 6))
    problem = fw.parse(text).bind(A=A, b=100.0 * (A @ rng.standard_normal(6)))
    for inner in INNER:
        s = problem.solve(method=METHOD, tol=1e-8, **inner)
        assert s.status == "optimal" and s.objective == pytest.approx(solve_oracle(problem.instance).value, rel=1e-6)


@pytest.mark.parametrize("inner", ["residual", "gram"])
def test_a_step_that_is_broken_off_anywhere_leaves_its_state(inner: str) -> None:
    """A model works on the slopes of the state, which the next step starts from, and must not write into them."""
    problem = random_problem(3, "logistic", "norm1", "", "csr")
    bound = fw.parse(problem.text).bind(**problem.data)
    whole = stepped(bound, METHOD, 2, inner=inner)
    for last in range(12):
        run, looks = started(bound, METHOD, inner=inner), iter([False] * last)
        run.step()
        before = {name: np.copy(value) for name, value in vars(run.state).items()}
        run.problem.must_stop = lambda looks=looks: next(looks, True)
        try:
            run.step()
        except Stopped:
            assert all(np.array_equal(before[name], value) for name, value in vars(run.state).items())
            run.problem.must_stop = lambda: False
            run.step()
        assert np.array_equal(run.state.x, whole.state.x)


def test_variables_that_the_loss_does_not_see_are_for_others() -> None:
    program = "data A: matrix[4, 1], b: vector[4]\nvar x: vector[1], t: real\nminimize sum(huber(b - A @ x)) + t\n"
    problem = fw.parse(program).bind(A=np.ones((4, 1)), b=np.arange(4.0))
    with pytest.raises(fw.PlanError, match="do not see t"):
        problem.solve(method=METHOD)
    assert problem.solve().status == "unbounded"


def test_a_secant_that_comes_nearer_from_one_side_goes_on() -> None:
    """h(m) = 2 - m beside r = 1: solutions above r that come ten times nearer each time are no reason for a multiplier five times as large."""
    ends, slope = _Ends(1.0), 0.0
    for excess in (1e-1, 1e-2, 1e-3, 1e-4):
        slope = ends.take(1.0 - excess, excess, np.zeros(1), slope)
    assert ends.between(1.0 - excess, excess, slope, 0.0) == pytest.approx(1.0)
    for _ in range(3):
        # one that stays where it was is left by a longer step
        ends.take(1.0 - excess, excess, np.zeros(1), slope)
    assert ends.between(1.0 - excess, excess, slope, 0.0) > 2.0
