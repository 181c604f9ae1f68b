"""Programs with functions of entries against cvxpy, in several units, and their certificates where there is no optimum."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import fwdsl as fw
from fwdsl.oracle import solve_oracle

TYPES = {
    "A": "matrix[m, n]",
    "R": "matrix[m, n] in nonnegative",
    "b": "vector[m]",
    "w": "vector[m] in nonnegative",
    "y": "vector[m] in nonnegative",
    "k": "vector[m] in nonnegative",
    "c": "vector[n] in nonnegative",
}

PROGRAMS = {
    "analytic centre": "minimize -sum(log(b - A @ x))",
    "water filling": "maximize sum(log(c + x))\nsubject to x in simplex(1)",
    "weights in a product": "maximize w @ log(R @ x)\nsubject to x in simplex(1)",
    "weights in front": "maximize sum(w * log(R @ x))\nsubject to x in simplex(1)",
    "weights in dot": "maximize dot(w, log1p(R @ x))\nsubject to x in simplex(2)",
    "exponentials": "minimize sum(exp(A @ x + b)) + 0.1 * sum_squares(x)",
    "sizes": "minimize sum(abs(A @ x - b)) + 0.1 * norm1(x)",
    "positive parts": "minimize sum(pos(1 - A @ x)) + sum_squares(x)",
    "squares": "minimize sum(square(A @ x - b)) + mean(exp(x))",
    "huber without a target": "minimize sum(huber(A @ x - b, delta=0.3))",
    "logistic without a target": "minimize sum(logistic(A @ x - b)) + 0.1 * sum_squares(x)",
    "barriers": "minimize dot(c, x) - 0.1 * sum(log(1 - x)) - 0.1 * sum(log(1 + x))",
    "power 1.5": "minimize sum(abs_power(A @ x - b, 1.5))",
    "power 4": "minimize sum(power(A @ x - b, 4))",
    "power -2": "minimize sum(power(x, -2))\nsubject to R @ x <= 1",
    "power 0.3": "maximize sum(power(x, 0.3))\nsubject to R @ x <= 1, x >= 0",
    "power 2.5": "minimize sum(power(x, 2.5))\nsubject to R @ x == R @ c",
    "inverses": "minimize sum(inv_pos(R @ x)) + dot(c, x)\nsubject to x >= 0",
    "roots": "maximize sum(sqrt(R @ x))\nsubject to x in simplex(2)",
    "divergence from data": "minimize sum(kl_div(R @ x, y)) + 0.01 * sum(x)\nsubject to x >= 0",
    "divergence of data": "minimize sum(kl_div(y, R @ x))\nsubject to x >= 0",
    "counts": "minimize sum(poisson_rate(R @ x, k))\nsubject to x >= 0",
    "relative entropy": "minimize sum(rel_entr(x, c))\nsubject to sum(x) == 1",
    "relative entropy of data": "minimize sum(rel_entr(c, x))\nsubject to sum(x) == 1",
    "gamma regression": "minimize mean(gamma_loss(A @ x, y)) + 0.1 * norm1(x)",
    "tweedie regression": "minimize mean(tweedie_loss(A @ x, k, power=1.3)) + 0.1 * sum_squares(x)",
}


def drawn(seed: int) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    m, n = int(rng.integers(6, 20)), int(rng.integers(2, 5))
    w = rng.uniform(0.1, 1.0, m)
    w[0] = 0.0
    return {
        "A": rng.normal(size=(m, n)),
        "R": rng.uniform(0.5, 1.6, (m, n)),
        "b": rng.uniform(0.5, 2.0, m),
        "w": w,
        "y": rng.exponential(1.0, m) + 0.05,
        "k": rng.poisson(2.0, m).astype(float),
        "c": rng.uniform(0.1, 1.0, n),
    }


def bound(text: str, data: dict[str, Any], variable: str = "x: vector[n]") -> Any:
    used = [name for name in TYPES if re.search(rf"\b{name}\b", text)]
    if not any("n]" in TYPES[name] for name in used):
        used.append("c")
    declared = ", ".join(f"{name}: {TYPES[name]}" for name in used)
    return fw.parse(f"data {declared}\nvar {variable}\n{text}\n").bind(**{name: data[name] for name in used})


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_optimum_is_that_of_cvxpy(name: str) -> None:
    for seed in (1, 2):
        problem = bound(PROGRAMS[name], drawn(seed))
        solution, other = problem.solve(), solve_oracle(problem.instance)
        assert solution.status == "optimal", solution.reason
        assert other.status == "optimal"
        assert solution.objective == pytest.approx(other.value, rel=2e-5, abs=2e-5)


@pytest.mark.parametrize("method", ["pdhg", "interior"])
@pytest.mark.parametrize(
    "name", ["analytic centre", "power -2", "power 1.5", "roots", "divergence of data", "relative entropy"]
)
def test_two_methods_agree(name: str, method: str) -> None:
    problem = bound(PROGRAMS[name], drawn(3))
    solution = problem.solve(method=method)
    assert solution.status == "optimal", solution.reason
    assert solution.objective == pytest.approx(problem.solve().objective, rel=2e-5, abs=2e-5)


@pytest.mark.parametrize("unit", [1e-9, 1e-4, 1e4, 1e9])
def test_no_unit_matters(unit: float) -> None:
    data = drawn(4)
    for text, scale, shift in (
        ("minimize -sum(log(b - A @ x))", 1.0, True),
        ("minimize sum(abs_power(A @ x - b, 1.5))", unit**1.5, False),
    ):
        one = bound(text, data).solve(method="pdhg")
        other = bound(text, {**data, "b": unit * data["b"]}).solve(method="pdhg")
        assert one.status == other.status == "optimal"
        expected = scale * one.objective - (data["b"].size * np.log(unit) if shift else 0.0)
        assert other.objective == pytest.approx(expected, rel=1e-5)


def test_entries_of_a_matrix_have_weights_and_a_mean() -> None:
    rng = np.random.default_rng(5)
    W, T = rng.uniform(0.0, 1.0, (5, 3)), rng.normal(size=(5, 3))
    head = "data W: matrix[m, n] in nonnegative, T: matrix[m, n]\nvar X: matrix[m, n]\n"
    for text in ("minimize sum(W * square(X - T)) + mean(exp(X))", "minimize dot(W, exp(X - T)) - mean(log(X))"):
        problem = fw.parse(head + text).bind(W=W, T=T)
        solution = problem.solve()
        assert solution.status == "optimal"
        assert solution.objective == pytest.approx(solve_oracle(problem.instance).value, rel=1e-5, abs=1e-5)
        (value,) = [solution[name] for name in ("X",)]
        terms = np.exp(value).mean() if "mean(exp" in text else -np.log(value).mean()
        rest = (W * (value - T) ** 2).sum() if "square" in text else (W * np.exp(value - T)).sum()
        assert solution.objective == pytest.approx(terms + rest, rel=1e-9)


def test_a_number_needs_no_sum() -> None:
    solution = fw.parse("var t: real, s: real\nminimize t - log(t) + exp(s) - 2 * s + kl_div(s, 1)\n").solve()
    assert solution.status == "optimal"
    assert solution["t"] == pytest.approx(1.0, abs=1e-3)


@pytest.mark.parametrize(
    ("text", "status"),
    [
        ("minimize -sum(log(x))", "unbounded"),
        ("maximize sum(sqrt(R @ x))\nsubject to x >= 0", "unbounded"),
        ("minimize log_sum_exp(R @ x)", "unbounded"),
        ("minimize log_sum_exp(R @ x) - 0.1 * x[0]\nsubject to x <= 3", "unbounded"),
        ("minimize log_sum_exp(R @ x)\nsubject to sum(x) == 1", "optimal"),
        ("maximize sum(log(R @ x)) - exp(x[0])\nsubject to x >= 0", "unbounded"),
        ("minimize -sum(log(x))\nsubject to sum(x) <= -1", "infeasible"),
        ("minimize sum(inv_pos(x - 5))\nsubject to x in box(0, 2)", "infeasible"),
        ("minimize sum(power(R @ x, 1.5))\nsubject to x <= -1", "infeasible"),
    ],
)
def test_what_has_no_optimum_is_proved(text: str, status: str) -> None:
    assert bound(text, drawn(6)).solve().status == status


def test_a_constant_slope_stops_a_logarithm() -> None:
    """However slowly the linear term rises, the sum has an optimum."""
    solution = fw.parse("var t: real\nminimize 1e-6 * t - log(t)\n").solve()
    assert solution.status == "optimal"
    assert solution.objective == pytest.approx(1.0 - 6.0 * np.log(10.0), rel=1e-5)


def test_a_logarithm_of_what_weighs_nothing_may_be_of_anything() -> None:
    text = "data w: vector[n] in nonnegative\nvar x: vector[n]\nminimize sum_squares(x) - sum(w * log(x))\n"
    solution = fw.parse(text).bind(w=np.array([0.0, 2.0])).solve()
    assert solution.status == "optimal"
    assert solution["x"] == pytest.approx([0.0, 1.0], abs=1e-3)
