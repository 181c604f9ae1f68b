"""Solving from Python: options, starts, callbacks, interruption, and what the solution says."""

from __future__ import annotations

import pickle
import signal

import numpy as np
import pytest

import fwdsl as fw

RNG = np.random.default_rng(2)
X = RNG.standard_normal((60, 8))
Y = np.where(X @ RNG.standard_normal(8) + RNG.standard_normal(60) > 0, "yes", "no")


@pytest.fixture
def problem() -> fw.Problem:
    beta = fw.vector(8, name="beta")
    fit = fw.let("fit", fw.mean(fw.logistic(X @ beta, Y)))
    return fw.minimize(fit, (fw.norm1(beta) <= fw.param("delta", 2.0)).named("budget"))


def test_a_solution_in_the_users_words(problem: fw.Problem):
    solution = problem.solve(tol=1e-8, threads=1)
    assert solution.status == "optimal"
    assert solution["beta"].shape == (8,)
    assert np.abs(solution["beta"]).sum() <= 2 + 1e-9
    assert solution.terms["fit"] == pytest.approx(solution.objective)
    assert solution.relative_gap <= 1e-8
    assert solution.plan.method == solution.method
    assert solution.history
    shown = repr(solution)
    for part in ("optimal", f"{solution.objective:.10g}", f"{solution.dual_bound:.10g}", solution.method, "beta"):
        assert part in shown


def test_the_dual_is_a_derivative(problem: fw.Problem):
    # from a finite difference of the optimal value in the right-hand side
    step = 1e-3
    up, down = (problem.bind(delta=2.0 + s).solve(tol=1e-10, threads=1).objective for s in (step, -step))
    dual = problem.solve(tol=1e-10, threads=1).dual["budget"]
    assert dual == pytest.approx((up - down) / (2 * step), rel=1e-3)


def test_text_and_builder_solve_alike(problem: fw.Problem):
    text = problem.to_fw()
    same = fw.parse(text).bind(data1=X, data2=Y).solve(tol=1e-6, threads=1)
    assert same.objective == problem.solve(tol=1e-6, threads=1).objective


@pytest.mark.parametrize("method", ["apg", "frank_wolfe", "pdhg"])
def test_a_warm_start_is_explicit_and_reported(problem: fw.Problem, method: str):
    first = problem.solve(tol=1e-8, threads=1)
    again = problem.solve(start=first, method=method, tol=1e-3, threads=1)
    cold = problem.solve(method=method, tol=1e-3, threads=1)
    assert again.status == cold.status == "optimal"
    assert again.iterations <= cold.iterations
    assert "solution" in again.start
    assert again.start != cold.start


def test_a_limit_is_a_status(problem: fw.Problem):
    stopped = problem.solve(tol=1e-12, max_iter=2, method="frank_wolfe", threads=1)
    assert stopped.status == "tolerance_not_reached"
    assert "2 iterations" in stopped.reason and "2 iterations" in repr(stopped)
    assert stopped.dual_bound <= stopped.objective < np.log(2)


def test_a_callback_sees_progress_and_stops(problem: fw.Problem):
    seen = []

    def callback(progress: object) -> bool:
        seen.append(progress)
        return False

    stopped = problem.solve(tol=1e-12, method="frank_wolfe", callback=callback, threads=1)
    assert stopped.status == "interrupted"
    assert seen[0].method == "frank_wolfe"
    assert stopped["beta"].shape == (8,)
    assert stopped.dual_bound <= stopped.objective


def test_ctrl_c_returns_the_best_point(problem: fw.Problem):
    def interrupt(progress: object) -> None:
        signal.raise_signal(signal.SIGINT)

    before = signal.getsignal(signal.SIGINT)
    stopped = problem.solve(tol=1e-14, method="pdhg", callback=interrupt, threads=1)
    assert stopped.status == "interrupted"
    assert stopped["beta"].shape == (8,)
    assert signal.getsignal(signal.SIGINT) is before


def test_warnings_come_with_the_solution():
    x, unused = fw.vector(8, name="x"), fw.data("unused", fw.vector_type(8), np.ones(8))
    problem = fw.minimize(fw.sum_squares(X.astype(np.float32) @ x - 1) + 0 * fw.dot(unused, x))
    exact, loose = (problem.solve(tol=tol, threads=1).warnings for tol in (1e-8, 1e-4))
    assert sum("float32" in text for text in exact) == 1
    assert not any("float32" in text for text in loose)
    assert any("coefficient" in text for text in loose)


def test_an_option_of_a_method_is_given_with_it(problem: fw.Problem):
    assert problem.solve(method="frank_wolfe", step="line_search", tol=1e-2, threads=1).status == "optimal"
    with pytest.raises(fw.PlanError):
        problem.solve(method="frank_wolfe", stride=3)


def test_a_warm_start_in_a_polytope_keeps_the_weights_of_its_vertices():
    rng = np.random.default_rng(0)
    V, A, b = rng.normal(size=(30, 8)), rng.normal(size=(50, 8)), 3.0 * rng.normal(size=50)
    problem = fw.parse(
        "data V: matrix[v, d], A: matrix[n, d], b: vector[n]\nparam mu: positive = 0.1\nvar x: vector[d] in polytope(V)\n"
        "minimize mean(squared(A @ x, b)) + mu * norm1(x)"
    ).bind(V=V, A=A, b=b)
    first = problem.solve(tol=1e-8)
    (weights,) = first.record["weights"].values()
    np.testing.assert_allclose(V.T @ weights, first["x"], atol=1e-7)
    near = problem.bind(mu=0.1001)
    cold, warm, bare = (
        near.solve(tol=1e-8),
        near.solve(tol=1e-8, start=first),
        near.solve(tol=1e-8, start={"x": first["x"]}),
    )
    assert warm.objective == pytest.approx(cold.objective, rel=1e-7)
    assert problem.solve(tol=1e-8, start=first).iterations < first.iterations / 4
    assert warm.iterations <= bare.iterations


@pytest.mark.parametrize("method", ["auto", "pdhg", "frank_wolfe"])
def test_a_solution_survives_pickling(problem: fw.Problem, method: str):
    solution = problem.solve(method=method, max_iter=20)
    again = pickle.loads(pickle.dumps(solution))  # noqa: S301
    assert repr(again) == repr(solution)
    assert again.plan.to_json() == solution.plan.to_json()
    assert again.plan.render() == solution.plan.render()
    assert again.evaluate("fit") == solution.evaluate("fit")
    warm = fw.minimize(fw.norm1(fw.vector(8, name="beta")))
    assert warm.solve(start=again).start == warm.solve(start=solution).start
