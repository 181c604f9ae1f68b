"""Programs with convex functions below affine bounds: each method's answer, its certificate and its multipliers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import fwdsl as fw
from fwdsl.oracle.recheck import check_certificate
from fwdsl.oracle.solve import solve_oracle

pytest.importorskip("cvxpy")

RNG = np.random.default_rng(0)
M, N = 12, 5
ROOT = RNG.normal(size=(N, N))
DATA: dict[str, Any] = {
    "A": RNG.normal(size=(M, N)),
    "b": RNG.normal(size=M),
    "c": RNG.normal(size=N),
    "P": ROOT @ ROOT.T,
    "Q": ROOT[:, :2] @ ROOT[:, :2].T,
    "y": np.sign(RNG.normal(size=M)),
    "Y": RNG.normal(size=(M, 3)),
    "u": RNG.uniform(0.5, 1.0, size=M),
    "g": np.array([0, 0, 1, 1, 2]),
    "L": np.array([3.0, 2.0, 1.0, 1.0, 0.0]),
}
TYPES = {
    "A": "matrix[m, n]",
    "b": "vector[m]",
    "c": "vector[n]",
    "P": "psd[n]",
    "Q": "psd[n]",
    "y": "signs[m]",
    "Y": "matrix[m, k]",
    "u": "vector[m] in nonnegative",
    "g": "index[n] of G",
    "L": "vector[n] in nonnegative",
}
VARIABLES = {"x": "vector[n]", "t": "real", "W": "matrix[m, k]", "v": "vector[m]"}

FIT = "t + 0.1 * sum_squares(x)"
NEAR = "0.5 * sum_squares(W - Y)"
PROGRAMS = {
    "a second-order cone": (FIT, "norm2(A @ x - b) <= t"),
    "turned round": (FIT, "t >= norm2(A @ x - b) + 3"),
    "moved to the left": (FIT, "norm2(A @ x - b) - t <= 0"),
    "norm1": (FIT, "norm1(A @ x - b) <= t"),
    "norm_inf": (FIT, "norm_inf(A @ x - b) <= 2 * t - 1"),
    "group_norm": ("t + sum_squares(A @ x - b)", "2 * group_norm(x, g) <= t + 1"),
    "sorted_l1": ("t + sum_squares(A @ x - b)", "sorted_l1(x, L) <= t + 1"),
    "several terms": ("t + sum_squares(A @ x - b)", "norm2(x) + 0.5 * norm1(x) <= t + 0.3"),
    "squares": ("t - dot(c, x)", "sum_squares(x) + 1 <= t"),
    "a quadratic": ("dot(c, x)", "quad_form(x, P) + dot(c, x) <= 2"),
    "a quadratic of low rank": ("t", "quad_form(x, Q) <= t + dot(c, x), x in box(-1, 1)"),
    "quad_over_lin": ("quad_over_lin(A @ x - b, t) + 2 * t", "quad_over_lin(x, dot(c, x) + 3) <= 1, t <= 2"),
    "norm_fro": (NEAR, "norm_fro(W) <= dot(u, v), v <= 0.3"),
    "norm_nuc": (NEAR, "norm_nuc(W) <= 1 + t, t <= 2"),
    "norm_spec": (NEAR, "norm_spec(W) <= 1 + t, t <= 0.2"),
    "norm21": (NEAR, "norm21(W) <= 1 + t, t <= 2"),
    "max_rownorm2": (NEAR, "2 * max(norm2(W, axis=1)) <= 1 + t, t <= 2"),
    "max_rownorm1": (NEAR, "max(norm1(W, axis=0)) + norm_fro(W) <= 1 + t, t <= 2"),
    "largest loss": (NEAR, "max(huber(W[:, 0], u)) <= 0.4 + t, t <= 2"),
    "norm1_inf": (NEAR, "norm1_inf(W) <= 1 + t, t <= 2"),
    "rows": (f"{NEAR} + sum(v)", "rownorm2(W) <= v"),
    "rows with constant bounds": (NEAR, "rownorm2(W) <= u"),
    "rows with one bound": (NEAR, "2 * rownorm2(W) <= 1"),
    "weighted rows": (NEAR, "u * rownorm2(W) <= 0.5"),
    "the sum of rows": (f"{NEAR} + 0.1 * sum(rownorm2(W)) + mean(u * rownorm2(W))", "W in box(-9, 9)"),
    "huber": ("dot(c, x)", "sum(huber(A @ x, b)) <= 20"),
    "logistic": ("norm1(x) + 5 * t", "mean(logistic(A @ x, y)) <= t"),
    "absolute": ("sum_squares(x)", "sum(u * absolute(A @ x, b)) <= 7"),
    "a loss and a norm": ("sum_squares(x) - c @ x", "sum(squared(A @ x, b)) + norm1(x) <= 15 - t, t >= 0"),
    "entries": ("sum(v) + sum_squares(x)", "squared(A @ x, b) <= v"),
    "entries and a constant": ("sum(v) + sum_squares(x)", "2 * huber(A @ x, b) <= v - 1"),
    "entries of one bound": ("c @ x", "absolute(A @ x, b) <= 3"),
    "entropy": ("sum_squares(x - c)", "entropy(x) <= -1"),
    "exponentials": ("sum_squares(x - c)", "sum(exp(x)) <= 2 + t, t <= 0.5"),
    "a logarithm of each entry": ("sum_squares(x - c)", "log(x) >= -0.5"),
    "a sum of logarithms": ("sum_squares(x - c)", "sum(log(x)) >= t, t >= -0.5"),
    "log_sum_exp": ("sum_squares(x - c)", "log_sum_exp(A @ x) <= t + 1, t <= 0.9"),
    "sum_largest": ("sum_squares(x - c)", "sum_largest(x, 2) <= t, t <= 0"),
    "norm_p": ("sum_squares(x - c)", "norm_p(x, 3) <= t, t <= 0.5"),
    "geo_mean": ("sum_squares(x - c) - t", "geo_mean(x) >= t, x <= 1"),
    "the largest of each row": ("sum_squares(W - Y)", "max(W, axis=1) <= v, sum(v) <= 1"),
    "log_sum_exp of each row": ("sum_squares(W - Y)", "log_sum_exp(W, axis=1) <= v, sum(v) <= 9"),
}


#: Those whose projections take a root over proxes that take roots themselves.
SLOW = {"exponentials", "log_sum_exp", "log_sum_exp of each row", "norm_p", "geo_mean"}
#: Those that `pdhg` takes some seconds for.
LONG = {"the largest of each row", "a logarithm of each entry", "sorted_l1"}


def program(objective: str, constraints: str, sense: str = "minimize") -> fw.Problem:
    words = "".join(c if c.isalnum() else " " for c in f"{objective} {constraints}").split()
    data = [n for n in TYPES if n in words]
    lines = [f"data {n}: {TYPES[n]}" for n in data] + [f"var {n}: {t}" for n, t in VARIABLES.items() if n in words]
    text = "\n".join([*lines, f"{sense} {objective}", f"subject to {constraints}"])
    known = " ".join(TYPES[n] for n in data)
    dims = {"m": M, "n": N, "k": 3}
    own = {d for t in VARIABLES if t in words for d in dims if f"[{d}" in VARIABLES[t] or f"{d}]" in VARIABLES[t]}
    sizes = {d: dims[d] for d in own if f"[{d}" not in known and f"{d}]" not in known}
    return fw.parse(text).bind(**{n: DATA[n] for n in data}, **sizes)


def instance(problem: fw.Problem) -> Any:
    return problem._session.bind()


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_answer_is_that_of_cvxpy(name: str) -> None:
    problem = program(*PROGRAMS[name])
    expected = solve_oracle(instance(problem)).value
    found = problem.solve()
    assert found.status == "optimal"
    assert found.objective == pytest.approx(expected, rel=2e-5, abs=2e-6)
    assert check_certificate(instance(problem), found).agrees


@pytest.mark.parametrize(
    "name",
    [pytest.param(n, marks=[pytest.mark.slow] if n in LONG else []) for n in PROGRAMS if n not in SLOW],
)
def test_pdhg_agrees(name: str) -> None:
    problem = program(*PROGRAMS[name])
    found = problem.solve(method="pdhg")
    assert found.status == "optimal"
    assert found.objective == pytest.approx(problem.solve().objective, rel=1e-5, abs=1e-6)


@pytest.mark.parametrize(
    ("objective", "constraint"),
    [
        ("sum_squares(A @ x - b)", "norm2(x) <= 0.3 + SHIFT + dot(c, x) / 10"),
        ("sum_squares(A @ x - b)", "0.3 + SHIFT + dot(c, x) / 10 >= norm2(x)"),
        ("dot(c, x)", "quad_form(x, P) + dot(c, x) <= 2 + SHIFT"),
        ("norm1(x)", "sum(squared(A @ x, b)) - 8 <= SHIFT"),
        ("sum_squares(A @ x - b)", "norm2(x) + norm1(x) <= 0.5 + SHIFT"),
    ],
)
@pytest.mark.parametrize("sense", ["minimize", "maximize"])
def test_the_multiplier_is_the_derivative_in_the_bound(objective: str, constraint: str, sense: str) -> None:
    objective = objective if sense == "minimize" else f"-({objective})"
    values = []
    for shift in (-1e-3, 0.0, 1e-3):
        solved = program(objective, f"bound: {constraint.replace('SHIFT', f'{shift}')}", sense).solve(tol=1e-9)
        values.append(solved)
    slope = (values[2].objective - values[0].objective) / 2e-3
    assert values[1].dual["bound"] == pytest.approx(slope, rel=2e-3, abs=1e-4)


def test_multipliers_of_rows_have_one_for_each() -> None:
    found = program(NEAR, "bound: rownorm2(W) <= u").solve(tol=1e-9)
    lengths = np.linalg.norm(DATA["Y"], axis=1)
    # each row is projected on its ball, and its multiplier is the distance
    np.testing.assert_allclose(found.dual["bound"], -np.maximum(lengths - DATA["u"], 0.0), atol=1e-4)


@pytest.mark.parametrize(
    "constraints",
    [
        "norm2(x) <= t, t <= -1",
        "norm1(x) <= dot(c, x) - 1, x in box(-0.01, 0.01)",
        "norm2(A @ x - b) <= t, t <= 0.1",
        "rownorm2(W) <= v, sum(v) <= -1",
        "sum_squares(x) <= t, t <= -0.5",
        "sum(huber(A @ x, b)) <= 0.1",
        "mean(logistic(A @ x, y)) <= -0.1",
        "quad_form(x, P) + dot(c, x) <= -1e3",
    ],
)
def test_contradictions_have_a_proof(constraints: str) -> None:
    found = program("sum(W) + sum(v)" if "W" in constraints else "norm1(x)", constraints).solve()
    assert found.status == "infeasible"


@pytest.mark.parametrize(
    ("objective", "constraints"),
    [
        ("-t", "norm2(x) <= t"),
        ("dot(c, x)", "norm2(x) <= t"),
        ("-sum(v)", "rownorm2(W) <= v"),
        ("-x[0]", "norm1(x) <= t"),
    ],
)
def test_ways_out_have_a_proof(objective: str, constraints: str) -> None:
    assert program(objective, constraints).solve().status == "unbounded"


@pytest.mark.parametrize("name", ["a second-order cone", "a quadratic", "several terms", "huber", "rows"])
@pytest.mark.parametrize("unit", [1e-6, 1e6])
def test_other_units_have_the_same_answer(name: str, unit: float) -> None:
    objective, constraints = PROGRAMS[name]
    plain = program(objective, constraints).solve()
    scaled = program(f"{unit} * ({objective})", constraints).solve()
    assert scaled.status == "optimal"
    assert scaled.objective == pytest.approx(unit * plain.objective, rel=1e-5)


def test_weights_of_zero_leave_a_bound_alone() -> None:
    text = "param a: nonnegative\nvar x: vector[2]\nminimize sum_squares(x - 1)\nsubject to bound: a * norm2(x) <= 1 - x[0]"
    assert fw.parse(text).bind(a=0.0).solve()["x"] == pytest.approx([1.0, 1.0], abs=1e-5)
    assert fw.parse(text).bind(a=1.0).solve()["x"][0] < 0.6


def test_a_family_adds_up_below_a_bound() -> None:
    text = "var F: family[2] of vector[3]\nvar t: real\nminimize sum_squares(F - 1) + t\nsubject to norm2(F) <= t"
    found = fw.parse(text).solve()
    assert found.status == "optimal"
    assert np.linalg.norm(found["F"], axis=1).sum() == pytest.approx(found["t"], abs=1e-5)


def test_definitions_are_put_in_place_of_their_variables() -> None:
    text = (
        "data A: matrix[m, n], b: vector[m]\nvar x: vector[n], r: vector[m], t: real\n"
        "minimize t + 0.1 * norm1(x)\nsubject to r == A @ x - b, norm2(r) <= t"
    )
    found = fw.parse(text).bind(A=DATA["A"], b=DATA["b"]).solve()
    plain = program("t + 0.1 * norm1(x)", "norm2(A @ x - b) <= t").solve()
    assert found.objective == pytest.approx(plain.objective, rel=1e-5)
    np.testing.assert_allclose(found["r"], DATA["A"] @ found["x"] - DATA["b"], atol=1e-5)


def test_saved_answers_are_read_again(tmp_path: Any) -> None:
    found = program(*PROGRAMS["several terms"]).solve()
    found.save(tmp_path / "answer.npz")
    assert fw.load_solution(tmp_path / "answer.npz").objective == found.objective


@pytest.mark.parametrize(
    "function",
    ["norm2(A @ x - b)", "norm1(A @ x - b)", "norm_inf(A @ x - b)", "sum_squares(A @ x - b)", "norm_p(A @ x - b, 3)"],
)
@pytest.mark.parametrize("unit", [1.0, 1e-6, 1e6])
def test_an_optimum_of_zero_below_a_bound_is_certified_as_in_the_objective(function: str, unit: float) -> None:
    A = np.array([[1.0, -2.0, 0.3], [0.5, 1.0, -1.0]])
    data = "data A: matrix[2, 3], b: vector[2]\nvar x: vector[3], t: real\n"
    values = {"A": A, "b": unit * np.array([1.0, 0.7])}
    for text in (f"minimize 2 * {function}", f"minimize 2 * t\nsubject to {function} <= t"):
        found = fw.parse(data + text).bind(**values).solve(threads=1, time=20.0)
        assert found.status == "optimal", (text, found.certificate)
        assert abs(found.objective) <= 1e-6 * found.certificate.scale
