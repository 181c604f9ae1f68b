"""Runs of Newton's method: against a plain transcription, resumed, on threads, stopped, in other units; what it refuses and what the planner does."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import fwdsl as fw
from fwdsl.backends.costs import is_by_gradients
from fwdsl.backends.dual import dual_value
from fwdsl.backends.kernels.pool import Stopped
from fwdsl.backends.problem import PreparedProblem
from fwdsl.backends.registry import METHODS
from fwdsl.backends.smooth.costs import NS_PER_WRITTEN, choose, estimate, finishing_seconds
from fwdsl.backends.smooth.systems import Dual, Primal, conjugate_gradients
from fwdsl.errors import PlanError
from tests.problems import laid_out
from tests.runs import resumed, started, stepped

METHOD = "newton"
SYSTEMS: tuple[dict[str, Any], ...] = ({"system": "primal"}, {"system": "dual"}, {"system": "cg"})
LOGISTIC = "data A: matrix[n, d], y: signs[n]\nvar x: vector[d], c: real\nminimize sum(logistic(A @ x + c, y)) + 0.35 * sum_squares(x)\n"
RIDGE = "data A: matrix[n, d], y: vector[n]\nvar x: vector[d]\nminimize 0.5 * sum_squares(A @ x - y) + 0.35 * sum_squares(x)\n"
CLASSES = "data A: matrix[n, d], y: labels[n, k]\nvar W: matrix[d, k]\nminimize mean(softmax(A @ W, y)) + 0.01 * sum_squares(W)\n"


def data(n: int = 60, d: int = 25, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    A = np.where(rng.random((n, d)) < 0.5, rng.standard_normal((n, d)), 0.0)
    return A, A @ rng.standard_normal(d) + rng.standard_normal(n)


def logistic(layout: str = "dense", d: int = 25) -> fw.Problem:
    A, b = data(d=d)
    return fw.parse(LOGISTIC).bind(A=laid_out(A, layout), y=np.where(b > 0.0, 1.0, -1.0))


def ridge(layout: str = "dense", d: int = 25) -> fw.Problem:
    A, b = data(d=d)
    return fw.parse(RIDGE).bind(A=laid_out(A, layout), y=b)


def classes(layout: str = "dense") -> fw.Problem:
    A, b = data()
    return fw.parse(CLASSES).bind(A=laid_out(A, layout), y=np.digitize(b, [-1.0, 0.0, 1.5]), k=4)


@pytest.mark.parametrize("d", [25, 90])
@pytest.mark.parametrize("system", [SYSTEMS[0], SYSTEMS[1]])
def test_steps_are_the_plain_ones(system: dict[str, Any], d: int) -> None:
    """x <- x - t H^-1 grad with H = [A 1]' diag(q (1 - q)) [A 1] + R: t is 1 where that leaves a tenth of the slope, else one that leaves a
    hundredth."""
    A, b = data(d=d)
    y = np.where(b > 0.0, 1.0, -1.0)
    K, R = np.column_stack([A, np.ones(60)]), np.append(np.full(d, 0.7), 0.0)
    x = np.zeros(d + 1)
    run = started(logistic(d=d), METHOD, **system)
    for _ in range(3):
        q = 1.0 / (1.0 + np.exp(y * (K @ x)))
        grad = K.T @ (-y * q) + R * x
        step = -np.linalg.solve(K.T @ ((q * (1.0 - q))[:, None] * K) + np.diag(R), grad)

        def left(t: float, x: np.ndarray = x, step: np.ndarray = step, slope: float = float(grad @ step)) -> float:
            ahead = x + t * step
            return abs((K.T @ (-y / (1.0 + np.exp(y * (K @ ahead)))) + R * ahead) @ step / slope)

        run.step()
        t = float((run.state.x - x) @ step / (step @ step))
        np.testing.assert_allclose(run.state.x, x + t * step, rtol=0, atol=1e-9)
        assert left(t) <= 0.01 + 1e-6 or t == pytest.approx(1.0)
        assert left(t) <= 0.1 + 1e-6 and (t == pytest.approx(1.0) or left(1.0) > 0.1 - 1e-6)
        x = run.state.x


@pytest.mark.parametrize("layout", ["dense", "fortran", "csr", "csc"])
def test_systems_are_solved(layout: str) -> None:
    A, _ = data(d=90)
    problem = PreparedProblem(logistic(layout, d=90).canonical, 1)
    rng = np.random.default_rng(2)
    h, R = rng.random(60), np.append(np.full(90, 0.7), 0.0)
    h[3:6] = 0.0
    K = np.column_stack([A, np.ones(60)])
    x, y = rng.standard_normal(91), rng.standard_normal(60)
    g = K.T @ y + R * x
    H = K.T @ (h[:, None] * K) + np.diag(R)
    for system in (Primal(problem, R), Dual(problem, R)):
        solve = system.factored([h])
        assert solve is not None
        np.testing.assert_allclose(H @ solve(g, x, K @ x, y), -g, rtol=0, atol=1e-9)
    d, r, p = conjugate_gradients(lambda v: H @ v, g, lambda r: r / np.diag(H), lambda r: float(r @ r), 1e-4, 20)
    np.testing.assert_allclose(g - H @ d, r, rtol=0, atol=1e-9)
    # a run that goes on is the whole one
    whole, _, _ = conjugate_gradients(lambda v: H @ v, g, lambda r: r / np.diag(H), lambda r: 1.0, 0.0, 12)
    half, r, p = conjugate_gradients(lambda v: H @ v, g, lambda r: r / np.diag(H), lambda r: 1.0, 0.0, 5)
    rest, _, _ = conjugate_gradients(lambda v: H @ v, r, lambda r: r / np.diag(H), lambda r: 1.0, 0.0, 7, p)
    np.testing.assert_allclose(half + rest, whole, rtol=0, atol=1e-9)


@pytest.mark.parametrize("layout", ["dense", "csr"])
def test_a_gram_matrix_is_brought_up_to_date_by_the_samples_that_change(layout: str) -> None:
    A, _ = data()
    system = Primal(PreparedProblem(ridge(layout).canonical, 1), np.full(25, 0.35))
    before = (np.random.default_rng(4).random(60) < 0.6) * 2.0
    after = before.copy()
    after[:7] = 2.0 - after[:7]
    found = system.updated(system.gram([before]), [before], [after], 2.0)
    assert found is not None
    np.testing.assert_allclose(found, A.T @ (after[:, None] * A), rtol=0, atol=1e-10)
    assert system.updated(found, [after], [2.0 - after], 2.0) is None


def test_steps_on_quadratic_pieces_have_the_gram_matrix_of_their_curvatures() -> None:
    A, b = data()
    text = "data A: matrix[n, d], y: signs[n]\nvar x: vector[d]\nminimize sum(squared_hinge(A @ x, y)) + 0.35 * sum_squares(x)\n"
    run = started(fw.parse(text).bind(A=A, y=np.where(b > 0.0, 1.0, -1.0)), METHOD, system="primal")
    seen = []
    for _ in range(4):
        run.step()
        seen.append(run.state.hs[0])
        np.testing.assert_allclose(run.state.gram, A.T @ (seen[-1][:, None] * A), rtol=0, atol=1e-9)
    assert any(not np.array_equal(one, other) for one, other in pairwise(seen))


def test_conjugate_gradients_tell_what_their_step_is_made_of() -> None:
    K, _ = data()
    applied, Kd = [], np.zeros(60)

    def product(p: np.ndarray) -> np.ndarray:
        applied.append(K @ p)
        return np.asarray(K.T @ applied[-1] + p)

    def moved(length: float) -> None:
        nonlocal Kd
        Kd = Kd + length * applied[-1]

    d, _, _ = conjugate_gradients(product, np.ones(25), lambda r: r, lambda r: float(r @ r), 1e-6, 30, None, moved)
    assert len(applied) > 3
    np.testing.assert_allclose(Kd, K @ d, rtol=0, atol=1e-12)


@pytest.mark.parametrize("intercept", ["", " + c"])
def test_the_gram_matrix_of_several_losses_is_their_sum(intercept: str) -> None:
    """The losses take all coordinates or some of them."""
    (A, b), (B, e) = data(), data(n=30, seed=1)
    text = (
        "data A: matrix[n, d], b: vector[n], B: matrix[m, d], e: vector[m]\nvar x: vector[d], c: real\n"
        f"minimize sum(squared(A @ x{intercept}, b)) + 2 * sum(squared(B @ x + c, e)) + 0.1 * sum_squares(x)\n"
    )
    problem = PreparedProblem(fw.parse(text).bind(A=A, b=b, B=B, e=e).canonical, 1)
    rng = np.random.default_rng(3)
    weights = [rng.random(60), rng.random(30)]
    first, second = np.column_stack([A, np.full(60, float(bool(intercept)))]), np.column_stack([B, np.ones(30)])
    H = first.T @ (weights[0][:, None] * first) + second.T @ (weights[1][:, None] * second)
    every = np.arange(26)
    for free in (every, every[:25], every[3:9], every[25:]):
        np.testing.assert_allclose(problem.gram(free, weights), H[np.ix_(free, free)], rtol=0, atol=1e-12)


@pytest.mark.parametrize("layout", ["dense", "fortran", "float32", "csr"])
@pytest.mark.parametrize("system", SYSTEMS)
@pytest.mark.parametrize("problem", [ridge, logistic])
def test_a_resumed_run_is_the_unbroken_one(problem: Any, system: dict[str, Any], layout: str, tmp_path: Path) -> None:
    whole = stepped(problem(layout), METHOD, 4, **system)
    half = resumed(stepped(problem(layout), METHOD, 2, **system), tmp_path, system)
    for _ in range(2):
        half.step()
    for name, value in vars(whole.state).items():
        other = getattr(half.state, name)
        if isinstance(value, list):
            assert all(np.array_equal(a, b) for a, b in zip(value, other, strict=True)), name
        else:
            assert np.array_equal(value, other), name


@pytest.mark.parametrize("layout", ["dense", "csr"])
@pytest.mark.parametrize("problem", [ridge, logistic, classes])
def test_threads_change_nothing(problem: Any, layout: str) -> None:
    one, two = (stepped(problem(layout), METHOD, 3, threads=k).state for k in (1, 2))
    assert np.array_equal(one.x, two.x) and one.best_bound == two.best_bound


@pytest.mark.parametrize("problem", [ridge, logistic, classes])
def test_a_step_that_is_stopped_leaves_the_state_as_it_was(problem: Any) -> None:
    for system in ({}, {"system": "cg"}):
        run = stepped(problem(), METHOD, 1, **system)
        before = {name: np.copy(value) for name, value in vars(run.state).items()}
        run.problem.must_stop = lambda: True
        with pytest.raises(Stopped):
            run.step()
        assert all(np.array_equal(before[name], value) for name, value in vars(run.state).items())
        run.problem.must_stop = lambda: False
        run.step()
        assert run.state.iteration == 2


def long(units: np.ndarray | float = 1.0, layout: str = "dense") -> fw.Problem:
    """Many samples of many features: a Hessian costs more than some passes over the data."""
    A, b = data(n=3000, d=60, seed=1)
    return fw.parse(LOGISTIC).bind(A=laid_out(A * units, layout), y=np.where(b > 0.0, 1.0, -1.0))


@pytest.mark.parametrize("layout", ["dense", "fortran", "float32"])
def test_a_hessian_in_single_precision_loses_nothing(layout: str) -> None:
    """The residual of its solution is known in double precision, is next to nothing, and is nothing for the intercept."""
    run = started(long(layout=layout), METHOD)
    for _ in range(4):
        state = run.state
        run.step()
        assert run.state.single
        run._is_far = lambda state, decrement: False
        d, r, (dz,) = run._made_good(state, run._of_factor(state))
        z = np.append(run.problem.adjoint([run.state.hs[0] * dz])[:60] + 0.7 * d[:60], run.state.hs[0] @ dz)
        np.testing.assert_allclose(state.grad + z, r, rtol=0, atol=1e-12 * float(np.abs(z).max()))
        assert run._measure(r) <= 1e-6 * -float(state.grad @ d)
        assert abs(r[60]) <= 1e-13 * float(run.state.hs[0] @ np.abs(dz))


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(("low", "high"), [(-10.0, 10.0), (-30.0, 0.0), (0.0, 30.0)])
def test_units_beyond_single_precision_are_no_matter(low: float, high: float) -> None:
    """The Hessian is formed in double precision where squares leave the range of single precision."""
    problem = long(np.logspace(low, high, 60))
    run = started(problem, METHOD, threads=2)
    before = run.report().objective
    with np.errstate(all="ignore"):
        run.step()
    assert run.report().objective < before and run.state.single is (high < 20.0)
    assert high > 20.0 or problem.solve(method=METHOD, tol=1e-9).status == "optimal"


def test_a_hessian_that_is_nearly_right_is_used_again(tmp_path: Path) -> None:
    """x <- x - H^-1 grad with the H of an earlier step, once what there is to gain has fallen to CHORD of what that step gained."""
    run = started(long(), METHOD)
    kept, steps = 0, 0
    while run.report().objective - run.report().bound > 1e-9:
        grad, hs, x, steps = run.state.grad, run.state.hs, run.state.x, steps + 1
        half = resumed(run, tmp_path, {})
        run.step()
        half.step()
        assert np.array_equal(half.state.x, run.state.x) and half.state.best_bound == run.state.best_bound
        if run.state.hs is not hs:
            continue
        kept += 1
        H = run.problem.gram(np.arange(61), hs) + np.diag(np.append(np.full(60, 0.7), 0.0))
        d = -np.linalg.solve(H, grad)
        moved = run.state.x - x
        np.testing.assert_allclose(moved, d * float(moved @ d / (d @ d)), rtol=0, atol=1e-6 * float(np.abs(d).max()))
    assert 0 < kept < steps <= 6


@pytest.mark.parametrize("problem", [logistic(), classes()], ids=["rows", "classes"])
def test_the_end_has_no_gradient_until_somebody_goes_on(problem: Any) -> None:
    run, plain = started(problem, METHOD), started(problem, METHOD)
    run.problem.tol = 1e-6
    while not run.state.late:
        assert run.state.iteration < 20
        run.step()
        plain.step()
    s = run.state
    assert s.value - s.best_bound <= 0.5e-6 * abs(s.value)
    _, ys = run.candidate()
    assert dual_value(run.problem, ys, run.problem.adjoint(ys)) >= s.best_bound - 1e-9 * abs(s.value)
    np.testing.assert_array_equal(s.x, plain.state.x)
    run.step()
    plain.step()
    np.testing.assert_allclose(run.state.x, plain.state.x, rtol=0, atol=1e-12)


def test_a_guess_of_a_dual_point_is_mended() -> None:
    """The candidate meets the equality of the intercept that f'(z) misses, and is in the domain of the conjugate."""
    run = started(long(), METHOD)
    for _ in range(4):
        run.step()
        run.state.dual, run.state.guessed = run.state.ys, True
        _, (y,) = run.candidate()
        assert abs(y.sum()) <= 1e-13 * np.abs(y).sum() < abs(run.state.ys[0].sum())
        assert np.isfinite(run.problem.conjugates([y]))


def test_limits_are_statuses() -> None:
    few = logistic().solve(method=METHOD, max_iter=1, tol=1e-12)
    assert few.status == "tolerance_not_reached" and few.iterations == 1
    none = logistic().solve(method=METHOD, time=0.0, tol=1e-12)
    assert none.status == "tolerance_not_reached" and none.iterations == 0
    stopped = logistic().solve(method=METHOD, tol=1e-12, callback=lambda progress: False)
    assert stopped.status == "interrupted"


def test_a_warm_start_takes_fewer_steps() -> None:
    first = logistic().solve(method=METHOD, tol=1e-9)
    warm = logistic().solve(method=METHOD, tol=1e-9, start=first)
    assert warm.status == "optimal" and warm.iterations < first.iterations


@pytest.mark.parametrize("system", [{}, {"system": "cg"}])
@pytest.mark.parametrize("unit", [1e-6, 1e6])
def test_units_of_a_variable_change_no_step(unit: float, system: dict[str, Any]) -> None:
    """Units of powers of two change no digit; others change rounding."""
    A, b = data()
    text = "data A: matrix[n, d], y: vector[n]\nparam r: positive\nvar x: vector[d], c: real\n"
    text += "minimize sum(huber(A @ x + c, y)) + r * sum_squares(x)\n"
    plain = fw.parse(text).bind(A=A, y=b, r=0.2).solve(method=METHOD, tol=1e-9, **system)
    other = fw.parse(text).bind(A=unit * A, y=b, r=0.2 * unit**2).solve(method=METHOD, tol=1e-9, **system)
    assert plain.status == other.status == "optimal" and plain.iterations == other.iterations
    np.testing.assert_allclose(unit * other["x"], plain["x"], rtol=0, atol=1e-6)


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("mean(absolute(A @ x, b))", "not differentiable"),
        ("mean(squared(A @ x, b)) + norm1(x)", "x has norm1"),
        ("mean(squared(A @ x, b)) + norm2(A @ x)", "not smooth"),
        ("sum_squares(x)", "no loss"),
    ],
)
def test_what_it_refuses(body: str, reason: str) -> None:
    A, b = data(9, 9)
    given = {name: value for name, value in (("A", A), ("b", b)) if name in body}
    head = "".join(f"data {name}: {'matrix[n, n]' if name == 'A' else 'vector[n]'}\n" for name in given)
    text = f"{head}var x: vector[{'n' if given else 3}]\nminimize {body}\n"
    with pytest.raises(PlanError, match=reason):
        fw.parse(text).bind(**given).solve(method=METHOD)


def test_a_system_that_cannot_be_formed_is_refused() -> None:
    with pytest.raises(PlanError, match="no dual system"):
        fw.parse("data A: matrix[n, d], y: vector[n]\nvar x: vector[d]\nminimize sum_squares(A @ x - y)\n").bind(
            A=np.eye(4), y=np.ones(4)
        ).solve(method=METHOD, system="dual")
    with pytest.raises(PlanError, match="no primal system"):
        classes().solve(method=METHOD, system="primal")


@pytest.mark.parametrize("problem", [ridge, logistic, classes])
def test_the_planner_takes_it(problem: Any) -> None:
    assert problem().plan().method == METHOD
    s = problem("csr").solve(tol=1e-9)
    assert s.method == METHOD and s.status == "optimal" and s.iterations <= 12


def test_columns_that_repeat_and_rows_that_say_nothing() -> None:
    A, b = data(d=90)
    A[:, 3], A[:, 4], A[7] = A[:, 2], 0.0, 0.0
    for text in (RIDGE, RIDGE.replace("0.35 * sum", "1e-9 * sum")):
        for system in ({}, *SYSTEMS):
            s = fw.parse(text).bind(A=sp.csr_array(A), y=b).solve(method=METHOD, tol=1e-8, **system)
            assert s.status == "optimal" and abs(s["x"][4]) <= 1e-12


def differences(n: int = 1_200) -> fw.Problem:
    """Differences of neighbours, whose condition number of about n^2 conjugate gradients feel and a guess does not."""
    D = sp.diags_array([np.ones(n), -np.ones(n - 1)], offsets=[0, -1], format="csr")
    text = "data D: matrix[m, n], y: vector[m]\nparam mu: positive\nvar x: vector[n]\n"
    text += "minimize sum(squared(D @ x, y)) + mu * sum_squares(x)\n"
    return fw.parse(text).bind(D=D, y=np.cos(np.arange(n)), mu=1e-9)


def test_conjugate_gradients_that_take_long_give_way_to_a_factor(tmp_path: Path) -> None:
    found = differences().solve(tol=1e-6)
    phases = [step.phase for step in found.history]
    assert found.method == METHOD and found.status == "optimal" and not found.changes
    assert "Newton with conjugate gradients" in phases and phases[-1] == "Newton with a Cholesky factor"
    # asked for, they go on
    cg = differences().solve(tol=1e-6, method=METHOD, system="cg")
    assert {step.phase for step in cg.history[1:]} == {"Newton with conjugate gradients"}
    # a run that goes on has the factor too
    run = resumed(stepped(differences(), METHOD, found.iterations - 1), tmp_path, {})
    run.step()
    assert run.report().phase == "Newton with a Cholesky factor"


def test_nothing_is_tried_beside_it_on_a_quadratic() -> None:
    ridged, logit = ridge("csr").canonical, logistic("csr").canonical
    method = fw.backends.registry.METHODS[METHOD]
    assert method.is_unrivalled(ridged) and not method.is_unrivalled(logit)


@pytest.mark.parametrize("intercept", [False, True])
def test_squared_hinges_are_planned_by_what_their_methods_do(intercept: bool) -> None:
    """`apg` ends in the Newton steps that `newton` takes from the start: its prediction has them too, and is not the lesser one."""
    rng = np.random.default_rng(3)
    A = (rng.random((4_000, 80)) < 0.2).astype(float)
    b = A @ rng.standard_normal(80) + 0.1 * rng.standard_normal(4_000)
    text = "data A: matrix[n, d], y: signs[n]\nvar x: vector[d], c: real\n"
    text += f"minimize 0.1 * sum(squared_hinge(A @ x{' + c' if intercept else ''}, y)) + 0.5 * sum_squares(x) + 0.5 * sum_squares(c)\n"
    problem = fw.parse(text).bind(A=sp.csr_array(A), y=np.where(b > np.median(b), 1.0, -1.0))
    s = problem.solve(tol=1e-6)
    costs = {c.name: c.estimate.seconds for c in s.plan.candidates if c.estimate is not None}
    assert costs["newton"] < costs["apg"] and s.method != "apg" and s.status == "optimal"


@pytest.mark.parametrize(
    "text",
    [
        "minimize sum_squares(x - y) + 100 * sum_squares(diff(x, 2))",
        "minimize sum(huber(x, y, delta=0.3)) + 100 * sum_squares(diff(x, 2))",
    ],
    ids=["squares", "huber"],
)
def test_systems_of_maps_with_short_rows_are_factored(text: str) -> None:
    """Differences have no data, and conjugate gradients feel their condition."""
    problem = fw.parse("data y: vector[n]\nvar x: vector[n]\n" + text).bind(y=np.cos(0.1 * np.arange(200.0) ** 1.5))
    found = problem.solve(tol=1e-8, method=METHOD)
    assert found.status == "optimal"
    assert {step.phase for step in found.history[1:]} == {"Newton with a Cholesky factor"}
    cg = problem.solve(tol=1e-8, method=METHOD, system="cg")
    np.testing.assert_allclose(found.objective, cg.objective, rtol=1e-6)


SMOOTHING = """
data A: matrix[2, 2], C: vector[2], y: vector[n]
var s: matrix[n, 2]
minimize 10 * sum_squares(s[1:] - s[:-1] @ A.T) + sum(huber(s @ C, y, delta=0.3))
"""


def test_predicted_passes_have_those_of_maps_that_are_written_down() -> None:
    """Turns go by what is counted of the predicted passes: a run that counted many times as many was left for another method halfway."""
    y = np.cumsum(np.random.default_rng(3).standard_normal(120))
    problem = fw.parse(SMOOTHING).bind(A=np.array([[1.0, 0.2], [0.0, 0.95]]), C=np.array([1.0, 0.5]), y=y)
    solution = problem.solve(method=METHOD, system="primal", threads=1)
    predicted = estimate(problem.canonical, 1e-6).passes
    assert solution.status == "optimal"
    assert predicted >= 0.5 * solution.passes


SQUARED_HINGE = (
    "data A: matrix[n, d], y: signs[n]\nparam C: positive\nvar x: vector[d]\n"
    "minimize 1/2 * sum_squares(x) + C * sum(squared_hinge(A @ x, y))\n"
)


@pytest.mark.parametrize(("C", "kind"), [(1.0, "cg"), (10.0, "cg"), (100.0, "dual"), (1000.0, "dual")])
def test_steps_of_pieces_on_wide_data_are_predicted_by_the_ridge_and_the_system(C: float, kind: str) -> None:
    """A factor finds the pieces in a few steps. Conjugate gradients take the more the weaker the ridge is: 4, 9, 30 and 91 here."""
    rng = np.random.default_rng(0)
    A = rng.standard_normal((500, 1000)) / 32.0
    problem = fw.parse(SQUARED_HINGE).bind(A=A, y=np.where(A @ rng.standard_normal(1000) > 0.0, 1.0, -1.0), C=C)
    assert choose(problem.canonical).kind == kind
    solution = problem.solve(method=METHOD, threads=1)
    assert solution.status == "optimal"
    assert 0.4 * solution.passes <= estimate(problem.canonical, 1e-6).passes <= 4.0 * solution.passes
    assert abs(solution.objective - problem.solve(method="dcd", threads=1).objective) <= 3e-6 * solution.objective


@pytest.mark.parametrize(("ridge", "as_they_are"), [(" + 0.1 * sum_squares(w)", 0), ("", 2)])
def test_only_many_equalities_are_left_to_the_next_steps(ridge: str, as_they_are: int) -> None:
    """A ridge leaves the dual point the equality of the intercept alone, which a repair meets at once."""
    rng = np.random.default_rng(5)
    text = "data X: matrix[n, p], y: signs[n]\nvar w: vector[p], b: real\nminimize mean(logistic(X @ w + b, y))"
    X, y = rng.normal(size=(300, 80)), rng.choice([-1.0, 1.0], 300)
    problem = fw.parse(text + ridge).bind(X=X, y=y)
    assert METHODS["newton"].outruns_repairs(problem.canonical) == as_they_are
    assert problem.solve(method="newton", tol=1e-6).status == "optimal"


@pytest.mark.parametrize(("C", "seed"), [(1.0, 0), (30.0, 1)])
def test_passes_of_conjugate_gradients_in_accelerated_gradients_are_counted(C: float, seed: int) -> None:
    """More than 1,500 free variables have no factor: their Newton steps are in the passes, and no seconds of a Gram matrix are beside them."""
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((300, 1600)) / 40.0
    problem = fw.parse(SQUARED_HINGE).bind(A=A, y=np.where(A @ rng.standard_normal(1600) > 0.0, 1.0, -1.0), C=C)
    assert is_by_gradients(problem.canonical)
    assert finishing_seconds(problem.canonical) == 0.0
    solution = problem.solve(method="apg", threads=1)
    assert solution.status == "optimal"
    assert solution.passes / 5.0 <= METHODS["apg"].estimate(problem.canonical, 1e-6).passes <= 5.0 * solution.passes


def test_maps_that_are_written_down_cost_calls_in_each_newton_step() -> None:
    """Differences are no data: a Gram matrix takes them as sparse matrices, anew with each weight."""
    text = "data y: vector[n]\nvar x: vector[n]\nminimize sum(huber(x, y)) + 5 * sum_squares({map})"
    plain, written = (fw.parse(text.format(map=m)).bind(y=np.ones(60)).canonical for m in ("x", "x[1:] - x[:-1]"))
    steps = [choose(form).step for form in (plain, written)]
    assert steps[1] - steps[0] >= NS_PER_WRITTEN


def hinges(loss: str, n: int, d: int, away: float, intercept: bool = True) -> fw.Problem:
    """A loss of margins beside a weak ridge, whose samples are `away` from where it bends at the origin."""
    rng = np.random.default_rng(0)
    A = rng.standard_normal((n, d))
    y = np.sign(A[:, 0] + 0.3 * rng.standard_normal(n))
    b = "b" if intercept else "0"
    text = (
        "data A: matrix[n, d], y: signs[n], o: vector[n]\nvar w: vector[d]\n"
        + ("var b: real\n" if intercept else "")
        + f"minimize mean({loss}(A @ w + {b} + o, y)) + 1e-5 * sum_squares(w)\n"
    )
    return fw.parse(text).bind(A=A, y=y, o=-away * y * rng.uniform(0.5, 1.5, n))


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("away", [0.0, 3.0])
@pytest.mark.parametrize("loss", ["smooth_hinge", "squared_hinge"])
def test_flat_and_slanted_pieces_beside_a_weak_ridge_hold_nobody_up(loss: str, away: float, intercept: bool) -> None:
    """4 to 70 steps here; up to thousands, with a gap of one, where floors of flat pieces count beside the ridge."""
    problem = hinges(loss, 90, 120, away, intercept)
    solution = problem.solve(method=METHOD, threads=1, max_iter=200)
    assert solution.status == "optimal"
    assert abs(solution.objective - problem.solve(method="dcd", threads=1).objective) <= 3e-6 * solution.objective


@pytest.mark.parametrize(("n", "d"), [(12, 3), (30, 60)])
@pytest.mark.parametrize("away", [0.5, 3.0])
def test_no_step_leads_higher(n: int, d: int, away: float) -> None:
    """A small slope beyond the minimum of samples that bend at few places is no end of a step."""
    run, values = started(hinges("smooth_hinge", n, d, away), METHOD), []
    for _ in range(15):
        values.append(run.state.value)
        run.step()
    assert all(b <= a + 1e-12 * abs(a) for a, b in pairwise(values))


def test_the_first_step_sees_the_samples_that_stand_where_their_loss_begins_to_bend() -> None:
    """At the origin all margins are 0, and every step down leads to where the smooth hinge is curved."""
    run = started(hinges("smooth_hinge", 12, 30, 0.0), METHOD)
    (bent,) = run.problem.curvatures(run.state.zs)
    assert np.all(bent > 0.0)
