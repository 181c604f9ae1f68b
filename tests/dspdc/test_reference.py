"""DSPDC against its formulas written out, iteration by iteration, and its step sizes against the paper's identities."""

from __future__ import annotations

import copy
import math
from typing import Any

import numpy as np
import pytest

from fwdsl.backends.dspdc.links import largest_row, links_of
from fwdsl.backends.dspdc.steps import steps_of
from tests.dspdc.problems import (
    Naive,
    family_problem,
    metrics_problem,
    several_problem,
    stepped,
    vector_problem,
)

# --- step sizes -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("m", "q"), [(1, 1), (1, 40), (30, 7), (1000, 1), (1000, 40)])
def test_the_steps_solve_the_equations_of_theorem_1(m: int, q: int) -> None:
    n, p, mu, gamma, scale = 1000, 40, 0.01, 0.7, 3.0
    s = steps_of(n, p, m, q, mu, gamma, scale, 1)
    assert s.tau * s.sigma == pytest.approx(n * m * q / (4 * p * scale), rel=1e-12)
    assert p / (2 * q * mu * s.tau) + p / q == pytest.approx(n**2 / (2 * m * gamma * s.sigma) + n / m, rel=1e-12)
    bottom = math.sqrt(scale / (mu * gamma * n)) * n * p / (m * q) + max(n / m, p / q)
    assert s.theta == pytest.approx(p / q - p / q / bottom, rel=1e-12)
    second = steps_of(n, p, m, q, mu, gamma, scale, 2)
    assert (second.tau, second.sigma) == (s.tau, s.sigma)
    assert second.theta == pytest.approx(p / q - p / q / (2 * bottom), rel=1e-12)


def test_the_steps_for_equal_shares_are_those_of_17() -> None:
    n, p, m, q, mu, gamma, scale = 1000, 40, 100, 4, 0.01, 0.7, 3.0
    s = steps_of(n, p, m, q, mu, gamma, scale, 1)
    assert s.tau == pytest.approx(m / 2 * math.sqrt(gamma / (n * mu * scale)), rel=1e-12)
    assert s.sigma == pytest.approx(m / 2 * math.sqrt(n * mu / (scale * gamma)), rel=1e-12)


def test_no_digits_are_lost_where_shares_differ_widely() -> None:
    n, p, m, q, mu, gamma, scale = 10**6, 1000, 1, 1000, 1.0, 1.0, 1e-5
    s = steps_of(n, p, m, q, mu, gamma, scale, 1)
    # to first order S - a is c / (2 a)
    c = 4 * (n / m) ** 2 * scale / (n * mu * gamma)
    assert s.sigma == pytest.approx(n**2 / gamma / (c / (2 * (n - 1))), rel=1e-10)
    assert s.tau * s.sigma == pytest.approx(n * m * q / (4 * p * scale), rel=1e-12)


# --- iterates -----------------------------------------------------------------------------------------------------------


def compare(problem: Any, m: int, q: int, steps: int = 2, theorem: int = 1, seed: int = 3, **options: Any) -> None:
    """The iterates of some steps against the formulas; no certificate may restart the run."""
    run = stepped(problem, 0, seed=seed, m=m, q=q, theorem=theorem, **options)
    start, of = run.state, run.of
    begun = copy.deepcopy(start)
    assert (of.m, of.q) == (m, q)
    for _ in range(steps):
        of.step(start, run.steps(), seed)
        start.iteration += 1
    x, y = Naive(problem).run(begun, steps, of.iterations(), m, q, theorem, seed)
    assert np.abs(x - begun.x).max() > 1e-3
    np.testing.assert_allclose(start.x, x, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(start.y, y, rtol=1e-10, atol=1e-10)


@pytest.fixture(autouse=True)
def short_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """A dozen iterations a step or so: enough to extrapolate, too few to converge."""
    monkeypatch.setattr("fwdsl.backends.dspdc.coordinates.WORK", 1000)
    monkeypatch.setattr("fwdsl.backends.dspdc.blocks.WORK", 2e5)


@pytest.mark.parametrize(("m", "q"), [(1, 1), (1, 5), (12, 1), (3, 2), (12, 5)])
@pytest.mark.parametrize("form", ["A @ x", "U @ (V @ x)"])
def test_smooth_hinge_with_every_sample(form: str, m: int, q: int) -> None:
    compare(vector_problem("smooth_hinge", "dense", form), m, q)


@pytest.mark.parametrize("loss", ["squared", "logistic"])
@pytest.mark.parametrize("theorem", [1, 2])
def test_other_losses_and_theorem_2(loss: str, theorem: int) -> None:
    compare(vector_problem(loss, "dense", "U @ (V @ x)"), 3, 2, theorem=theorem)


@pytest.mark.parametrize("layout", ["fortran", "csr", "csc"])
def test_other_layouts(layout: str) -> None:
    for form, m, q in [("A @ x", 2, 3), ("A @ x", 12, 2), ("U @ (V @ x)", 2, 3)]:
        compare(vector_problem("smooth_hinge", layout, form), m, q)


@pytest.mark.parametrize("form", ["W.T @ x", "(U @ V) @ x", "-(U @ V @ x)", "x @ W"])
def test_transposed_and_written_otherwise(form: str) -> None:
    compare(vector_problem("smooth_hinge", "dense", form), 2, 3)


@pytest.mark.parametrize(("m", "q"), [(1, 1), (2, 3), (14, 1), (14, 3)])
def test_matrix_risk(m: int, q: int) -> None:
    compare(family_problem(), m, q)


@pytest.mark.parametrize("loss", ["smooth_hinge", "squared", "logistic"])
def test_variables_of_several_kinds(loss: str) -> None:
    compare(several_problem(loss), 3, 2)
    compare(several_problem(loss), 14, 1)


@pytest.mark.parametrize(("m", "q"), [(2, 4), (4, 2), (20, 1)])
def test_metric_learning(m: int, q: int) -> None:
    compare(metrics_problem(), m, q)


def test_metric_learning_is_algorithm_3_with_outer_products() -> None:
    """(36) to (40), with W by its recursion (38) and the misprints of the paper put right."""
    problem, m, q, seed = metrics_problem(), 4, 2, 5
    run = stepped(problem, 0, seed=seed, m=m, q=q)
    state, of = run.state, run.of
    begun = copy.deepcopy(state)
    values = problem.instance.values
    far, near, task = values["Far"], values["Near"], np.asarray(values["task"])
    n, d = far.shape
    T = 3
    naive = Naive(problem)
    steps = steps_of(n, T + 1, m, q, naive.mu, naive.gamma, state.scale, 1)
    Z = np.einsum("ia,ib->iab", far, far) - np.einsum("ia,ib->iab", near, near)
    Cs = [np.einsum("ia,ib->ab", near[task == t], near[task == t]) for t in range(T)]
    C = np.array([sum(Cs), *Cs])
    # g_0 = lam0 / 2 |X - I|^2 + <C_0, X> / n
    lam = np.array([0.1, 0.2, 0.2, 0.2])
    linear = C / n - np.array([0.1, 0, 0, 0])[:, None, None] * np.eye(d)
    X, y = begun.x.reshape(T + 1, d, d).copy(), n * begun.y
    bar = X.copy()
    W = np.array([np.einsum("i,iab->ab", y * (task == t), Z) for t in range(T)])
    B = np.zeros_like(W)
    for rows, columns in naive.samples(seed, 0, of.iterations(), m, q):
        new = y.copy()
        for i in rows:
            new[i] = naive.prox_dual(i, float(np.sum(Z[i] * (bar[1 + task[i]] + bar[0]))), y[i], steps.sigma)
        change = np.array([np.einsum("i,iab->ab", (new - y) * (task == t), Z) for t in range(T)])
        W = W + n / m * change + (m - n) / m * B
        y, B = new, change
        whole, old = np.array([W.sum(axis=0), *W]), X.copy()
        for j in columns:
            v = (old[j] / steps.tau - whole[j] / n - linear[j]) / (lam[j] + 1.0 / steps.tau)
            eigenvalues, Q = np.linalg.eigh(0.5 * (v + v.T))
            X[j] = (Q * np.maximum(eigenvalues, 0.0)) @ Q.T
        bar = old + (steps.theta + 1.0) * (X - old)
    of.step(state, run.steps(), seed)
    np.testing.assert_allclose(state.x, X.reshape(-1), rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(state.y, y / n, rtol=1e-10, atol=1e-10)


def test_the_longest_row_of_differences_of_squares() -> None:
    problem = metrics_problem()
    values = problem.instance.values
    links = [link for block, m in problem.canonical.terms[0].map.parts for link in links_of(block, m) or []]
    Z = np.einsum("ia,ib->iab", values["Far"], values["Far"]) - np.einsum("ia,ib->iab", values["Near"], values["Near"])
    assert largest_row(links, 20) == pytest.approx(2.0 * np.square(Z).sum(axis=(1, 2)).max(), rel=1e-12)


@pytest.mark.parametrize(
    "problem",
    [
        vector_problem(form="A @ x"),
        vector_problem(form="U @ (V @ x)", layout="csr"),
        vector_problem(form="U @ (V @ x)"),
        family_problem(),
    ],
)
@pytest.mark.parametrize(("m", "q"), [(2, 3), (12, 1)])
def test_the_estimate_of_lambda(problem: Any, m: int, q: int) -> None:
    run = stepped(problem, 0, m=m, q=q, Lambda=1.0)
    state = run.state
    (term,) = problem.canonical.terms
    K = np.concatenate([np.stack([a.apply(e) for e in np.eye(b.size)], axis=1) for b, a in term.map.parts], axis=1)
    if problem.canonical.blocks[0].name == "F":
        # the paper's rows are the matrices D_i, which need not be symmetric
        K = problem.instance.values["D"].reshape(len(K), -1)
    assert state.scale == pytest.approx(m * q * np.square(K).sum(axis=1).max() / run.of.p, rel=1e-12)
    watched = stepped(problem, 0, m=m, q=q).state
    assert 0.0 < watched.scale <= 0.1 * state.scale * (1.0 + 1e-12)
