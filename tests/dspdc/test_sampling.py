"""DSPDC on average over its samples, by enumeration; DSPDC at the ends of its options; the raising of Lambda."""

from __future__ import annotations

import copy
import itertools
import math
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import fwdsl as fw
from fwdsl.backends.dspdc.blocks import BlockSampling
from fwdsl.backends.dspdc.coordinates import CoordinateSampling
from fwdsl.oracle import solve_oracle
from tests.dspdc.problems import Naive, family_problem, stepped
from tests.runs import AnyRun

RIDGE = (
    "data A: matrix[n, p], y: vector[n]\nvar x: vector[p]\nminimize mean(squared(A @ x, y)) + 0.1 * sum_squares(x)\n"
)


def ridge_problem(n: int = 4, p: int = 3) -> Any:
    """Squared loss and a ridge alone: both prox are affine, so that means over samples go through them."""
    rng = np.random.default_rng(1)
    return fw.parse(RIDGE).bind(A=rng.standard_normal((n, p)), y=rng.standard_normal(n))


def somewhere(problem: Any, m: int, q: int) -> AnyRun:
    """A run at a random pair."""
    run = stepped(problem, 0, m=m, q=q)
    state, kernels = run.state, run.problem
    rng = np.random.default_rng(6)
    state.x = kernels.prox_g(rng.standard_normal(state.x.size), 0.0)
    state.y = rng.standard_normal(state.y.size) / state.y.size
    run.of.start(state)
    return run


class Chosen:
    """A generator whose draws, or choices, are told."""

    def __init__(self, *answers: Any) -> None:
        self.answers = list(answers)

    def random(self, _shape: Any) -> np.ndarray:
        return np.array([self.answers.pop(0)], dtype=np.float64)

    def choice(self, *_args: Any, **_more: Any) -> np.ndarray:
        return np.array(self.answers.pop(0))


def all_draws(size: int, count: int) -> list[tuple[float, ...]]:
    """Draws from [0, 1), one for each ordered sample of so many out of `size`, all equally likely."""
    steps = [[(k + 0.5) / (size - i) for k in range(size - i)] for i in range(count)]
    return list(itertools.product(*steps))


def expected(problem: Any, state: Any, steps: Any, m: int, q: int) -> tuple[np.ndarray, np.ndarray]:
    """Means of x and n y after an iteration from a state, from the full update of y and the full step of x at it."""
    naive = Naive(problem)
    n, p = naive.n, naive.p
    y = n * state.y
    z = naive.K @ state.x + naive.offset
    full = np.array([naive.prox_dual(i, z[i], y[i], steps.sigma) for i in range(n)])
    response = naive.K.T @ full / n + naive.q
    if naive.places is None:
        ridge = 0.1
        step = (state.x - steps.tau * response) / (1.0 + 2.0 * steps.tau * ridge)
    else:
        step = np.concatenate([v.g.prox((state.x - steps.tau * response)[v.slice], steps.tau) for v in naive.places])
    return state.x + q / p * (step - state.x), y + m / n * (full - y)


@pytest.mark.parametrize(("m", "q"), [(1, 1), (2, 2), (4, 1), (1, 3)])
def test_coordinates_are_unbiased(m: int, q: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Over all samples, ybar is the full update of y on average: so is the step of x, which is affine in it."""
    problem = ridge_problem()
    run = somewhere(problem, m, q)
    state, of, steps = run.state, run.of, run.steps()
    monkeypatch.setattr(CoordinateSampling, "iterations", lambda self: 1)
    rows = all_draws(4, m) if m < 4 else [()]
    columns = all_draws(3, q) if q < 3 else [()]
    xs, ys = [], []
    for draws in itertools.product(rows, columns):
        after = copy.deepcopy(state)
        rng = Chosen(*(d for d in draws if d))
        monkeypatch.setattr("fwdsl.backends.dspdc.coordinates.draws", lambda *_, rng=rng: rng)
        of.step(after, steps, 0)
        xs.append(after.x)
        ys.append(4 * after.y)
    assert len(xs) == math.perm(4, m % 4) * math.perm(3, q % 3)
    assert np.ptp(xs, axis=0).max() > 1e-6
    x, y = expected(problem, state, steps, m, q)
    np.testing.assert_allclose(np.mean(xs, axis=0), x, rtol=0, atol=1e-12)
    np.testing.assert_allclose(np.mean(ys, axis=0), y, rtol=0, atol=1e-12)


@pytest.mark.parametrize(("m", "q"), [(1, 1), (2, 1), (1, 2), (4, 1)])
def test_blocks_are_unbiased(m: int, q: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(3)
    text = (
        "data D: tensor[n, d, d], A: matrix[n, k], y: vector[n]\nvar X: symmetric[d], w: vector[k]\n"
        "minimize mean(squared(inner(D, X) + A @ w, y)) + 0.1 * sum_squares(X) + 0.2 * sum_squares(w)\n"
    )
    values = {"D": rng.standard_normal((4, 2, 2)), "A": rng.standard_normal((4, 3)), "y": rng.standard_normal(4)}
    problem = fw.parse(text).bind(**values)
    run = somewhere(problem, m, q)
    state, of, steps = run.state, run.of, run.steps()
    monkeypatch.setattr(BlockSampling, "iterations", lambda self: 1)
    xs, ys = [], []
    for rows in itertools.combinations(range(4), m):
        for blocks in itertools.combinations(range(2), q):
            after = copy.deepcopy(state)
            chosen = Chosen(rows, blocks)
            monkeypatch.setattr("fwdsl.backends.dspdc.blocks.draws", lambda *_, rng=chosen: rng)
            of.step(after, steps, 0)
            xs.append(after.x)
            ys.append(4 * after.y)
    assert np.ptp(xs, axis=0).max() > 1e-6
    x, y = expected(problem, state, steps, m, q)
    np.testing.assert_allclose(np.mean(xs, axis=0), x, rtol=0, atol=1e-12)
    np.testing.assert_allclose(np.mean(ys, axis=0), y, rtol=0, atol=1e-12)


# --- the target: every pair of sizes --------------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["A @ x", "U @ (V @ x)"])
@pytest.mark.parametrize("loss", ["smooth_hinge", "squared", "logistic"])
def test_every_pair_of_sizes_is_within_1e8_of_the_oracle(loss: str, form: str) -> None:
    rng = np.random.default_rng(5)
    n, p, r = 5, 3, 2
    score = rng.standard_normal(n)
    values = {"A": rng.standard_normal((n, p)), "U": rng.standard_normal((n, r)), "V": rng.standard_normal((r, p))}
    values["y"] = score if loss == "squared" else np.where(score > 0, 1.0, -1.0)
    text = (
        f"data A: matrix[n, p], U: matrix[n, r], V: matrix[r, p], y: {'vector' if loss == 'squared' else 'signs'}[n]\nvar x: vector[p]\n"
        f"minimize mean({loss}({form}, y)) + 0.1 * sum_squares(x) + 0.05 * norm1(x)\n"
    )
    problem = fw.parse(text).bind(**values)
    oracle = pytest.importorskip("cvxpy") and solve_oracle(problem.instance).value
    # the oracle is good to some 1e-9; a certified pair on both sides of it says how far at most
    exact = problem.solve(tol=1e-11)
    assert abs(exact.objective - oracle) <= 1e-8
    for m, q in itertools.product(range(1, n + 1), range(1, p + 1)):
        solution = problem.solve(method="dspdc", tol=5e-9, time=60, threads=1, m=m, q=q)
        assert solution.status == "optimal", (m, q, solution.reason)
        assert abs(solution.objective - oracle) <= 1e-8, (m, q)
        assert solution.dual_bound <= exact.objective + 1e-12, (m, q)


# --- the ends ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [{}, {"m": 1, "q": 1}, {"Lambda": 1.0}])
@pytest.mark.parametrize("form", ["A @ x", "U @ (V @ x)"])
def test_sparse_data_without_an_entry(form: str, options: dict[str, Any]) -> None:
    """Nothing is touched: certificates must come all the same."""
    text = (
        "data A: matrix[n, p], U: matrix[n, r], V: matrix[r, p], y: vector[n], a: vector[p]\nvar x: vector[p]\n"
        f"minimize mean(squared({form}, y)) + 0.5 * sum_squares(x) + dot(a, x)\n"
    )
    y, a = np.array([1.0, -2.0, 3.0]), np.array([1.0, -1.0])
    values = {"A": sp.csr_array((3, 2)), "U": sp.csr_array((3, 1)), "V": sp.csr_array((1, 2)), "y": y, "a": a}
    solution = fw.parse(text).bind(**values).solve(method="dspdc", tol=1e-9, max_iter=500, **options)
    assert solution.status == "optimal", solution.reason
    # x = -a
    assert solution.objective == pytest.approx(np.mean(y**2) - 0.5 * a @ a, abs=1e-8)


@pytest.mark.parametrize("n", [1, 2])
def test_one_row_one_coordinate_and_one_block(n: int) -> None:
    rng = np.random.default_rng(0)
    A, D, y = rng.standard_normal((n, 1)), rng.standard_normal((n, 2, 2)), rng.standard_normal(n)
    for problem in (
        fw.parse(RIDGE).bind(A=A, y=y),
        fw.parse(
            "data D: tensor[n, d, d], y: vector[n]\nvar X: psd[d]\nminimize mean(squared(inner(D, X), y)) + 0.1 * sum_squares(X)\n"
        ).bind(D=D, y=y),
    ):
        solution = problem.solve(method="dspdc", tol=1e-8, time=60)
        assert solution.status == "optimal", solution.reason
        assert solution.objective == pytest.approx(problem.solve(tol=1e-10).objective, abs=1e-8)


@pytest.mark.parametrize(("scale", "ridge"), [(1e-6, 1e-6), (1e3, 1e2), (1e6, 1e8)])
def test_raw_scales(scale: float, ridge: float) -> None:
    rng = np.random.default_rng(4)
    A = scale * rng.standard_normal((10, 3))
    A[2], A[:, 1] = 0.0, scale
    problem = fw.parse(RIDGE.replace("0.1", f"{ridge:g}")).bind(A=A, y=rng.standard_normal(10))
    exact = problem.solve(tol=1e-11).objective
    solution = problem.solve(method="dspdc", tol=1e-8, time=60, m=2, q=2)
    assert solution.status == "optimal", solution.reason
    assert solution.objective == pytest.approx(exact, rel=2e-8)
    assert solution.dual_bound <= exact * (1.0 + 1e-10)


# --- Lambda -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("problem", [ridge_problem(30, 6), family_problem()])
def test_lambda_is_not_raised_beyond_what_is_always_enough(problem: Any) -> None:
    """|K_I^J|_2^2 is at most m times the longest row squared: a gap that is slow for another reason must not shorten steps."""
    run = stepped(problem, 0, m=2, q=2)
    state, of = run.state, run.of
    assert state.most == pytest.approx(2 * of.largest_row(), rel=1e-12)
    seen = []
    for _ in range(40):
        # neither falls nor is noise
        state.waited = 1e3
        run._watch(state, state.best_gap, 0.0)
        seen.append(state.scale)
    assert seen[-1] == state.most
    assert max(seen) == state.most
    raised = state.raised
    run._watch(state, 1e6 * state.best_gap, 0.0)
    assert (state.scale, state.raised) == (state.most, raised)
    # numbers that are none are never right
    run._watch(state, math.inf, 0.0)
    assert (state.scale, state.raised) == (4.0 * state.most, raised + 1)


def test_the_plan_tells_its_own_iterations() -> None:
    plan = ridge_problem(300, 6).plan(method="dspdc").render()
    assert "iterations of 3 rows and 3 of 6 coordinates" in plan
    assert "iterations of 2 rows and 1 of 3 blocks" in family_problem().plan(method="dspdc").render()
