"""Coordinate descent under a few linear constraints: at the optimum against cvxpy for every loss, by its optimality conditions, its models against
plain transcriptions, degenerate rows, units, limits, resumed, and what it refuses."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import fwdsl as fw
from fwdsl.backends.coordinate import costs
from fwdsl.backends.coordinate.constrained_model import UnderRows
from fwdsl.backends.coordinate.coordinates import Coordinates
from fwdsl.backends.kernels.pool import Stopped
from fwdsl.certify.verify import verify
from fwdsl.errors import PlanError
from fwdsl.oracle import solve_oracle
from tests.problems import LAYOUTS, OPTIONS, SIGNED, SMOOTH, laid_out, matrix
from tests.runs import resumed, started, stepped

pytest.importorskip("cvxpy")

METHOD = "constrained_descent"
CONSTRAINTS = (
    "sum(w) == 0",
    "sum(w) == 1, w[0] == w[1]",
    "A @ w == d",
    "w[0] + w[1] <= 0.1, w[2] >= w[3]",
    "-0.1 <= sum(w) <= 0.05, A @ w == d",
    "w[0] - w[1] >= 0.2, w[2] + w[0] <= 9",
)
PENALTIES = ("0.08 * norm1(w)", "0.05 * norm1(w) + 0.03 * sum_squares(w)", "0.04 * sum_squares(w)")
SETS = ("", " in nonnegative", " in box(-0.4, 0.7)", " in simplex(1)", " in solid_simplex(1.5)")


def problem(
    loss: str = "squared",
    constraint: str = "sum(w) == 0",
    penalty: str = PENALTIES[0],
    on: str = "",
    intercept: bool = False,
    layout: str = "dense",
    seed: int = 0,
    n: int = 30,
    p: int = 12,
) -> fw.Problem:
    """A regression whose constraints hold at a point of the set."""
    rng = np.random.default_rng(seed)
    X = matrix(rng, n, p, 0.6 if "cs" in layout else 1.0)
    truth = np.where(rng.random(p) < 0.5, rng.standard_normal(p), 0.0)
    if on:
        truth = np.zeros(p)
        truth[:4] = 0.25
    z = X @ truth + 0.4 * rng.standard_normal(n)
    if loss in SIGNED:
        y = np.where(z > np.median(z), 1.0, -1.0)
    elif loss == "poisson":
        y = rng.poisson(np.exp(np.clip(0.3 * z, -2.0, 2.0))) + 1.0
    else:
        y = z
    A = rng.standard_normal((2, p))
    text = f"data X: matrix[n, p], y: {'signs[n]' if loss in SIGNED else 'vector[n]'}, A: matrix[m, p], d: vector[m]\n"
    text += f"var w: vector[p]{on}" + (", b: real" if intercept else "") + "\n"
    options = f", {OPTIONS[loss]}" if loss in OPTIONS else ""
    text += f"minimize mean({loss}(X @ w{' + b' * intercept}, y{options})) + {penalty}\nsubject to {constraint}\n"
    return fw.parse(text).bind(X=laid_out(X, layout), y=y, A=A, d=A @ truth)


def check(problem: fw.Problem, tol: float = 1e-8) -> fw.Solution:
    """Certified, and as good as cvxpy's answer."""
    s = problem.solve(method=METHOD, tol=tol)
    assert s.status == "optimal", s.reason
    assert s.certificate.relative_gap <= tol and s.certificate.infeasibility <= 1e-12
    oracle = solve_oracle(problem.instance)
    off = abs(s.objective - oracle.value) / max(1.0, abs(oracle.value))
    # the certificate decides where the oracle is far from its own optimum
    assert off <= 1e-6 or oracle.residual >= 0.1 * off
    return s


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("constraint", CONSTRAINTS)
@pytest.mark.parametrize("loss", SMOOTH)
def test_every_loss_under_every_constraint(loss: str, constraint: str, intercept: bool) -> None:
    check(problem(loss, constraint, intercept=intercept))


@pytest.mark.parametrize("on", SETS)
@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize("loss", ["squared", "logistic"])
def test_every_penalty_on_every_set(loss: str, penalty: str, on: str) -> None:
    check(problem(loss, "w[0] + w[1] == 0.4, w[2] <= 3 * w[3] + 0.1", penalty, on))


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("loss", ["squared", "huber"])
def test_every_layout(loss: str, layout: str) -> None:
    check(problem(loss, "A @ w == d", layout=layout, intercept=True))


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("shape", [(25, 80), (120, 30)])
def test_several_steps(shape: tuple[int, int], seed: int) -> None:
    n, p = shape
    check(problem("squared" if seed % 2 else "logistic", "A @ w == d", "0.02 * norm1(w)", seed=seed, n=n, p=p))


def test_the_conditions_of_the_optimum() -> None:
    """X'(Xw - y) / n + nu 1 = -c sign(w) on the support, no larger off it, and the sum 0 to rounding."""
    bound = problem("squared", "sum(w) == 0", "0.1 * norm1(w)", n=60, p=20)
    s = bound.solve(method=METHOD, tol=1e-12)
    X, y, w = bound.bound["X"], bound.bound["y"], s["w"]
    slope = 2.0 * X.T @ (X @ w - y) / y.size  # type: ignore[operator, union-attr]
    on = w != 0.0
    nu = float(np.mean(-0.1 * np.sign(w[on]) - slope[on]))
    assert 2 <= on.sum() < 20 and abs(w.sum()) <= 1e-15 * np.abs(w).sum() * 20
    np.testing.assert_allclose(slope[on] + nu, -0.1 * np.sign(w[on]), rtol=0, atol=1e-10)
    assert np.abs(slope + nu).max() <= 0.1 + 1e-10


# --- models -----------------------------------------------------------------------------------------------------------


def coordinates(size: int, c: float, lo: float = -np.inf, hi: float = np.inf) -> Coordinates:
    none, every = np.zeros(size), np.arange(size)
    ends = np.full(size, lo), np.full(size, hi)
    return Coordinates(every, np.arange(size + 1), np.full(size, c), none, *ends, none, none, none)


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("rank", [3, 12])
def test_a_model_under_rows_against_cvxpy(rank: int, seed: int) -> None:
    """Rows that a point of the box meets, equations and inequalities, one of them twice; a singular Gram matrix."""
    import cvxpy as cp

    rng = np.random.default_rng(seed)
    p = 10
    root = rng.standard_normal((rank, p))
    G, s = root.T @ root, root.T @ rng.standard_normal(rank)
    E = rng.standard_normal((4, p))
    E[3] = -2.0 * E[0]
    x = np.where(rng.random(p) < 0.5, rng.uniform(-0.5, 0.5, p), 0.0)
    at = E @ x
    lo, hi = at.copy(), at.copy()
    hi[1], lo[2], hi[2] = at[1] + 1.0, -np.inf, at[2] + 0.1
    g = coordinates(p, 0.3, -0.5, 0.5)
    model = UnderRows(G, s, x, g, (E, lo, hi), np.zeros(4), lambda: None)
    u = model.solve(1e-13).u
    v = cp.Variable(p)
    value = s @ v + 0.5 * cp.sum_squares(root @ (v - x)) + 0.3 * cp.norm1(v)
    rows = [E[[0, 3]] @ v == at[[0, 3]], E[1] @ v >= at[1], E[1] @ v <= hi[1], E[2] @ v <= hi[2], cp.abs(v) <= 0.5]
    best = cp.Problem(cp.Minimize(value), rows).solve(solver="CLARABEL")
    ours = s @ u + 0.5 * np.sum(np.square(root @ (u - x))) + 0.3 * np.abs(u).sum()
    assert ours == pytest.approx(best, abs=1e-6)
    miss = E @ u - np.clip(E @ u, lo, hi)
    assert np.abs(miss).max() <= 1e-13 and np.all(np.abs(u) <= 0.5)
    # a slope that the multipliers balance: as the subdifferential has it
    tilted = s + G @ (u - x) + model.multipliers @ E
    inside = np.abs(u) < 0.5
    free = inside & (u != 0.0)
    np.testing.assert_allclose(tilted[free], -0.3 * np.sign(u[free]), rtol=0, atol=1e-7)
    assert np.all(np.abs(tilted[inside]) <= 0.3 + 1e-7)


def test_a_model_that_is_stopped_raises() -> None:
    def stop() -> None:
        raise Stopped

    model = UnderRows(np.eye(3), np.ones(3), np.zeros(3), coordinates(3, 0.1), (np.ones((1, 3)), np.zeros(1), np.zeros(1)),
                      np.zeros(1), stop)  # fmt: skip
    with pytest.raises(Stopped):
        model.solve(1e-9)


# --- rows -------------------------------------------------------------------------------------------------------------


def test_dependent_equations_are_as_good_as_none() -> None:
    bound = problem("logistic", "A @ w == d", intercept=True)
    A, d = bound.bound["A"], bound.bound["d"]
    twice = bound.bind(
        A=np.vstack([A, -3.0 * A[0], A[0] + 1e3 * A[1]]), d=np.append(d, [-3.0 * d[0], d[0] + 1e3 * d[1]])
    )  # type: ignore[index, arg-type]
    s, t = check(bound), check(twice)
    assert t.objective == pytest.approx(s.objective, rel=1e-7)


@pytest.mark.parametrize("on", ["", " in nonnegative", " in box(-1, 1)"])
def test_constraints_that_no_point_meets_are_proven(on: str) -> None:
    bound = problem("squared", "A @ w == d", on=on)
    A = np.abs(np.asarray(bound.bound["A"]))
    wrong = np.array([-1.0, 1.0]) if "non" in on else np.array([1e3, 1.0])
    if not on:
        A, wrong = np.vstack([A, A[0] + A[1]]), np.array([1.0, 1.0, 5.0])
    for method in (METHOD, "auto"):
        assert bound.bind(A=A, d=wrong).solve(method=method).status == "infeasible"


def test_no_point_is_found_for_what_cannot_be() -> None:
    """The state has what is missed, the multipliers of a proof."""
    bound = problem("squared", "A @ w == d")
    A = np.vstack([np.ones(12), np.ones(12)])
    run = started(bound.bind(A=A, d=np.array([1.0, 2.0])), METHOD)
    assert run.state.failure and run.state.missed.any() and run.report().failure
    before = run.state.x.copy()
    run.step()
    assert np.array_equal(before, run.state.x)


def test_coordinates_that_rows_alone_hold_at_zero() -> None:
    """`w[0] == 0` beside a ridge that would leave it somewhere."""
    s = check(problem("squared", "w[0] == 0, w[1] + w[2] == 0", "0.01 * sum_squares(w)"))
    assert s["w"][0] == 0.0


@pytest.mark.parametrize("unit", [1e-9, 1e9])
@pytest.mark.parametrize("loss", ["squared", "logistic"])
def test_units_of_data_and_of_rows(loss: str, unit: float) -> None:
    """w in another unit: data over it, equations with coefficients of any size."""
    one = problem(loss, "A @ w == d", "c * norm1(w)".replace("c", "0.05"))
    s = one.solve(method=METHOD, tol=1e-9)
    other = problem(loss, "A @ w == d", f"{0.05 / unit:g} * norm1(w)")
    data = {k: np.asarray(v) for k, v in one.bound.items()}
    for rows in (1.0, 1e-6, 1e6):
        t = other.bind(X=data["X"] / unit, y=data["y"], A=rows * data["A"], d=rows * unit * data["d"]).solve(
            method=METHOD, tol=1e-9
        )
        assert t.status == "optimal" and t.objective == pytest.approx(s.objective, rel=1e-8)
        np.testing.assert_allclose(np.asarray(t["w"]) / unit, s["w"], rtol=0, atol=1e-5)


def test_columns_in_other_units() -> None:
    rng = np.random.default_rng(4)
    X = rng.standard_normal((50, 15)) * 10.0 ** np.linspace(-4.0, 4.0, 15)
    text = "data X: matrix[n, p], y: vector[n], a: vector[p]\nvar w: vector[p]\n"
    text += "minimize mean(squared(X @ w, y)) + 0.05 * norm1(w)\nsubject to dot(a, w) == 1\n"
    for a in (np.ones(15), 10.0 ** np.linspace(-4.0, 4.0, 15)):
        bound = fw.parse(text).bind(X=X, y=rng.standard_normal(50), a=a)
        assert bound.solve(method=METHOD, tol=1e-9, max_iter=60).status == "optimal"


# --- runs -------------------------------------------------------------------------------------------------------------


def test_no_bound_lies_above_the_optimum_and_every_point_meets_the_rows() -> None:
    for seed, loss in enumerate(SMOOTH):
        bound = problem(loss, "A @ w == d, w[0] <= w[1]", "0.03 * norm1(w)", seed=seed, n=20, p=60)
        best = solve_oracle(bound.instance).value
        run = started(bound, METHOD)
        values = []
        for _ in range(5):
            report = run.report()
            slack = 1e-5 * max(1.0, abs(best))
            assert report.bound <= best + slack and report.objective >= best - slack
            assert not run.all_rows.missed(run.state.x).any()
            values.append(report.objective)
            run.step()
        assert all(b <= a + 1e-12 * abs(a) for a, b in pairwise(values))


def test_its_dual_point_is_that_of_the_form() -> None:
    bound = problem("squared", "A @ w == d, w[0] <= w[1]", n=60)
    run = stepped(bound, METHOD, 3)
    x, ys = run.candidate()
    assert ys is not None and [y.size for y in ys] == [t.map.rows for t in bound.canonical.terms]
    assert verify(bound.canonical, x, ys).relative_gap <= 1e-9


def test_a_start_outside_of_the_rows_is_moved_onto_them() -> None:
    bound = problem("squared", "sum(w) == 1, w[0] + w[1] >= 2")
    run = started(bound, METHOD, x=np.full(12, 3.0))
    assert run.state.x.sum() == pytest.approx(1.0) and run.state.x[:2].sum() >= 2.0 - 1e-12


def test_a_warm_start_takes_the_multipliers_along() -> None:
    bound = problem("squared", "A @ w == d", "0.02 * norm1(w)", n=25, p=80)
    s = bound.solve(method=METHOD, tol=1e-9)
    again = bound.solve(method=METHOD, tol=1e-9, start=s)
    assert again.status == "optimal" and again.iterations <= 1


def test_a_resumed_run_goes_on_as_an_unbroken_one(tmp_path: Path) -> None:
    bound = problem("logistic", "A @ w == d", "0.01 * norm1(w)", n=25, p=80)
    whole = stepped(bound, METHOD, 3)
    again = resumed(stepped(bound, METHOD, 1), tmp_path, {})
    for _ in range(2):
        again.step()
    assert np.array_equal(again.state.x, whole.state.x) and np.array_equal(again.state.nu, whole.state.nu)


def test_a_run_that_is_stopped_within_a_step_keeps_the_state_of_before() -> None:
    bound = problem("logistic", "A @ w == d", "0.01 * norm1(w)", n=25, p=80)
    run = stepped(bound, METHOD, 1)
    before, nu = run.state.x.copy(), run.state.nu.copy()
    run.problem.must_stop = lambda: True
    with pytest.raises(Stopped):
        run.step()
    assert np.array_equal(run.state.x, before) and np.array_equal(run.state.nu, nu)
    run.problem.must_stop = lambda: False
    run.step()
    assert run.state.iteration == 2


def test_a_limit_of_iterations_gives_the_best_point() -> None:
    bound = problem("logistic", "A @ w == d", "0.01 * norm1(w)", n=25, p=80)
    s = bound.solve(method=METHOD, max_iter=1, tol=1e-12)
    assert s.status == "tolerance_not_reached" and s.certificate.infeasibility <= 1e-12


def test_working_sets_beyond_a_gram_matrix_are_left_to_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(costs, "MOST_COLUMNS", 8)
    bound = problem("logistic", "A @ w == d", "0.01 * norm1(w)", n=25, p=80)
    s = bound.solve(method=METHOD)
    assert s.status == "tolerance_not_reached" and "8 columns" in s.reason
    assert bound.solve().status == "optimal"


# --- the verifier -----------------------------------------------------------------------------------------------------


def test_multipliers_without_bound_certify_nothing_beside_an_intercept() -> None:
    """Of an equation that is there twice, multipliers t and -t say nothing, however large; a variable without constraints tells nothing of them."""
    bound = problem("smooth_hinge", "A @ w == d", intercept=True)
    A, d = np.asarray(bound.bound["A"]), np.asarray(bound.bound["d"])
    bound = bound.bind(A=np.vstack([A, A[0]]), d=np.append(d, d[0]))
    _, ys = stepped(bound, METHOD, 4).candidate()
    start = started(bound, METHOD).state.x
    assert ys is not None
    at = next(k for k, t in enumerate(bound.canonical.terms) if t.is_indicator)
    plain = verify(bound.canonical, start, ys).relative_gap
    ys[at] = ys[at] + 1e13 * np.array([1.0, 0.0, -1.0])
    assert plain > 0.1 and verify(bound.canonical, start, ys).relative_gap > 0.5 * plain


# --- plans ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("loss", ["squared", "logistic"])
def test_it_is_chosen_where_it_wins(loss: str) -> None:
    assert problem(loss, "sum(w) == 0", n=100, p=400).plan().method == METHOD


def test_weak_penalties_are_predicted_to_be_dearer() -> None:
    def seconds(weight: float) -> float:
        plan = problem("squared", "sum(w) == 0", f"{weight:g} * norm1(w)", n=100, p=400).plan()
        estimate = next(c.estimate for c in plan.candidates if c.name == METHOD)
        assert estimate is not None
        return estimate.seconds

    assert seconds(1e-3) > seconds(0.1) > seconds(0.8)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("var w: vector[p]\nminimize mean(squared(X @ w, y)) + norm1(w)", "no linear equation"),
        ("var w: vector[p]\nminimize mean(absolute(X @ w, y)) + norm1(w)\nsubject to sum(w) == 0", "not smooth"),
        ("var w: vector[p]\nminimize mean(squared(X @ w, y)) + norm2(w)\nsubject to sum(w) == 0", "no sum over entries"),
        ("var w: vector[p]\nminimize mean(squared(X @ w, y))\nsubject to sum(w) == 0, norm2(X @ w) <= 1", "the sum holds"),
        ("var w: vector[p]\nminimize mean(squared(X @ w, y)) + norm1(w)\nsubject to X @ w >= -1", "40 rows, over 32"),
        ("var w: vector[p], u: real\nminimize mean(squared(X @ w, y)) + norm1(w) + u\nsubject to sum(w) + u >= 0, u >= -9",
         "do not see u"),
        ("var W: matrix[p, 2]\nminimize mean(squared(X @ W, 0)) + norm1(W)\nsubject to sum(W) == 1", "matrix variable"),
        ("var w: vector[p]\nminimize norm1(w)\nsubject to sum(w) == 1", "no loss|one loss"),
    ],
)  # fmt: skip
def test_what_it_refuses(text: str, why: str) -> None:
    rng = np.random.default_rng(0)
    program = fw.parse(f"data X: matrix[n, p], y: vector[n]\n{text}\n")
    with pytest.raises(PlanError, match=why):
        program.bind(X=rng.standard_normal((40, 5)), y=rng.standard_normal(40)).solve(method=METHOD)


def test_large_ones_without_penalties_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(costs, "MOST_COLUMNS", 10)
    with pytest.raises(PlanError, match="over 10 unknowns"):
        problem("squared", "sum(w) == 0", "0.1 * sum_squares(w)").solve(method=METHOD)


def test_few_numbers_of_rows_are_told() -> None:
    told = next(c for c in problem("squared", "A @ w == d").plan().candidates if c.name == METHOD)
    assert told.estimate is not None and "under 2 rows" in told.estimate.why


@pytest.mark.parametrize("shape", ["[1, p]", "[p, 1]"])
def test_matrices_of_one_line_are_left_to_others(shape: str) -> None:
    """Their equations have maps of matrices."""
    rng = np.random.default_rng(3)
    product = "X @ W.T" if shape == "[1, p]" else "X @ W"
    text = f"data X: matrix[n, p], Y: matrix[n, 1]\nvar W: matrix{shape}\n"
    text += f"minimize sum_squares({product} - Y) + 0.1 * norm1(W)\nsubject to sum(W) == 0\n"
    solution = fw.parse(text).bind(X=rng.standard_normal((20, 6)), Y=rng.standard_normal((20, 1))).solve(threads=1)
    assert solution.status == "optimal"
    assert abs(np.asarray(solution["W"]).sum()) < 1e-6
