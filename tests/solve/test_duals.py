"""Multipliers against finite differences of the optimal value."""

from __future__ import annotations

import numpy as np
import pytest

import fwdsl as fw

RNG = np.random.default_rng(0)
A = RNG.standard_normal((20, 6))
B = A @ RNG.standard_normal(6) * 2 + RNG.standard_normal(20)
FIT = "sum(squared(A @ x, b))"
STEP = 1e-4


def problem(constraint: str, objective: str, extra: str, domain: str):  # type: ignore[no-untyped-def]
    text = (
        f"data A: matrix[n, d], b: vector[n]\nparam r: {domain}\nvar x: vector[d]\nminimize {objective}\n"
        f"subject to\n    c: {constraint}\n    {extra}\n"
    )
    return fw.parse(text).bind(A=A, b=B)


@pytest.mark.parametrize(
    ("constraint", "r", "objective", "extra"),
    [
        ("norm1(x) <= r", 2.0, FIT, ""),
        ("2 * norm1(x) <= r", 2.0, FIT, ""),
        ("norm1(2 * x) <= r", 2.0, FIT, ""),
        ("norm1(x) / 3 <= r", 1.0, FIT, ""),
        ("r >= norm2(x)", 2.0, FIT, ""),
        ("sum_squares(x) <= r", 2.0, FIT, ""),
        ("3 * sum_squares(x) <= r", 2.0, FIT, ""),
        ("norm_inf(x) <= r", 0.5, FIT, ""),
        ("x in l1_ball(r)", 2.0, FIT, ""),
        ("norm1(x - 1) <= r", 2.0, FIT, ""),
        ("sum_squares(x - 1) <= r", 2.0, FIT, ""),
        ("x in simplex(r)", 2.0, FIT, ""),
        ("x in solid_simplex(r)", 2.0, FIT, ""),
        ("sum(x) == r", 2.0, FIT, ""),
        ("sum(x) == r", 2.0, FIT, "x >= 0"),
        ("sum(x) <= r", 0.5, FIT, "x >= 0"),
        ("sum(x) >= r", 2.0, FIT, ""),
        ("norm1(x) <= r", 2.0, FIT, "norm1(x) <= 3"),
        ("norm1(x) <= r", 3.0, FIT, "norm1(x) <= 2"),
        ("x in simplex(r)", 2.0, FIT + " + 500 * norm1(x)", ""),
        ("norm_inf(x) <= r", 0.5, FIT + " + 3 * norm_inf(x)", ""),
        ("norm2(x) <= r", 0.5, FIT + " + 3 * norm2(x)", ""),
        ("norm1(x) <= r", 0.5, FIT + " + 3 * sum_squares(2 * x) + 2 * norm1(x)", ""),
        ("norm_inf(x) <= r", 0.4, FIT, "norm1(x) <= 1"),
        ("group_norm(x, [[0, 1], [2, 3, 4, 5]], weights=[1, 2]) <= r", 1.0, FIT, ""),
        ("2 * group_norm(x, [[0, 1, 2], [2, 3, 4, 5]]) <= r", 1.0, FIT, ""),
        ("group_norm(x, [[0, 1], [2, 3, 4, 5]], weights=[0, 1]) <= r", 1.0, FIT, ""),
        ("x in group_ball(r, [[0, 1], [2, 3, 4, 5]])", 1.0, FIT + " + 2 * norm1(x)", ""),
        ("group_norm(x - 1, [[0, 1], [2, 3, 4, 5]]) <= r", 1.0, FIT, ""),
        ("x in ksupport_ball(2, r)", 1.0, FIT, ""),
        ("x in ksupport_ball(2, r)", 1.0, FIT, "x in nonnegative"),
    ],
)
def test_a_multiplier_is_the_derivative_in_the_right_hand_side(
    constraint: str, r: float, objective: str, extra: str
) -> None:
    domain = "positive" if "norm" in constraint or "in" in constraint or "squares" in constraint else "real"
    bound = problem(constraint, objective, extra, domain)
    low, mid, high = (bound.bind(r=r + k * STEP).solve(tol=1e-11, threads=1) for k in (-1, 0, 1))
    difference = (high.objective - low.objective) / (2 * STEP)
    assert mid.dual["c"] == pytest.approx(difference, rel=1e-3, abs=1e-3)


@pytest.mark.parametrize(
    "constraint",
    ["x >= r", "x <= r", "2 * x - 0.1 <= r", "-x <= r", "x / 2 + 0.1 >= r", "0.5 - x >= r", "r >= -3 * x + 0.3"],
)
def test_bounds_have_a_multiplier_an_entry(constraint: str) -> None:
    bound = problem(constraint, FIT, "", "real")
    low, mid, high = (bound.bind(r=0.3 + k * STEP).solve(tol=1e-11, threads=1) for k in (-1, 0, 1))
    assert len(bound.bind(r=0.3).canonical.terms) == 1
    assert mid.dual["c"].shape == (6,)
    assert mid.dual["c"].sum() == pytest.approx((high.objective - low.objective) / (2 * STEP), rel=1e-3)


def test_a_maximised_problem_reports_in_its_own_sense() -> None:
    text = "param r: positive\nvar x: vector[2]\nmaximize x[0] + 2 * x[1]\nsubject to c: norm1(x) <= r\n"
    assert fw.parse(text).bind(r=3.0).solve().dual["c"] == pytest.approx(2.0)


@pytest.mark.parametrize("set_", ["nuclear_ball", "spectral_ball", "fro_ball", "l21_ball", "l1_inf_ball"])
def test_balls_of_matrices(set_: str) -> None:
    Y = RNG.standard_normal((20, 2))
    text = "data A: matrix[n, d], Y: matrix[n, k]\nparam r: positive\nvar W: matrix[d, k]\n"
    text += f"minimize sum(squared(A @ W, Y))\nsubject to c: W in {set_}(r)\n"
    bound = fw.parse(text).bind(A=A, Y=Y)
    low, mid, high = (bound.bind(r=0.3 + k * STEP).solve(tol=1e-10, threads=1) for k in (-1, 0, 1))
    assert mid.dual["c"] == pytest.approx((high.objective - low.objective) / (2 * STEP), rel=1e-3)


@pytest.mark.parametrize(
    ("penalty", "set_", "other"),
    [
        ("norm_nuc", "fro_ball", ""),
        ("norm_nuc", "spectral_ball", ""),
        ("norm_nuc", "nuclear_ball", ""),
        ("norm_fro", "fro_ball", ""),
        ("norm1", "fro_ball", ""),
        ("norm1_inf", "l1_inf_ball", ""),
        ("norm_nuc", "nuclear_ball", "nuclear_ball(1)"),
        ("norm21", "linf_ball", ""),
    ],
)
def test_balls_of_matrices_beside_a_norm(penalty: str, set_: str, other: str) -> None:
    Y = RNG.standard_normal((20, 2))
    text = "data A: matrix[n, d], Y: matrix[n, k]\nparam r: positive\nvar W: matrix[d, k]\n"
    text += f"minimize sum(squared(A @ W, Y)) + 2 * {penalty}(W)\nsubject to\n    c: W in {set_}(r)\n"
    text += f"    other: W in {other}\n" if other else ""
    bound = fw.parse(text).bind(A=A, Y=Y)
    low, mid, high = (bound.bind(r=0.1 + k * STEP).solve(tol=1e-10, threads=1) for k in (-1, 0, 1))
    assert mid.dual["c"] == pytest.approx((high.objective - low.objective) / (2 * STEP), rel=1e-3)
    assert mid.dual.get("other", 0.0) == 0.0


def test_a_trace_and_an_entrywise_bound() -> None:
    C = A[:6, :6] + A[:6, :6].T
    text = "data C: symmetric[d]\nparam r: positive\nvar X: symmetric[d] in spectrahedron(r)\nminimize sum_squares(X - C)\n"
    bound = fw.parse(text).bind(C=C)
    low, mid, high = (bound.bind(r=2.0 + k * STEP).solve(tol=1e-10, threads=1) for k in (-1, 0, 1))
    assert next(iter(mid.dual.values())) == pytest.approx((high.objective - low.objective) / (2 * STEP), rel=1e-3)
    text = "data A: matrix[n, d], Y: matrix[n, k]\nvar W: matrix[d, k]\nminimize sum(squared(A @ W, Y))\nsubject to c: W <= 0.1\n"
    solution = fw.parse(text).bind(A=A, Y=RNG.standard_normal((20, 2))).solve(tol=1e-8, threads=1)
    assert solution.dual["c"].shape == (6, 2)
    assert np.all(solution.dual["c"] <= 1e-9)


@pytest.mark.parametrize(
    ("sets", "total"),
    [
        (("x in l1_ball(1)", "norm1(x) <= 1", "norm1(x) <= 2"), -4.0),
        (("norm1(x) <= 2", "2 * norm1(x) <= 2", "x in l1_ball(1)"), -4.0),
        (("x in simplex(1)", "x in simplex(1)"), -4.0),
        (("norm_inf(x) <= 1", "x in linf_ball(1)"), -4.0),
        (("x <= 1", "x <= 1"), -4.0),
        (("x <= 1", "x in box(0, 1)", "norm_inf(x) <= 1"), -4.0),
        (("2 * x <= 2", "x <= 1"), -4.0),
    ],
)
def test_constraints_that_say_the_same_share_one_multiplier(sets: tuple[str, ...], total: float) -> None:
    """(x_0 - 3)^2 + (x_1 - 1)^2 over |x|_1 <= 1 has x = (1, 0), over x <= 1 x = (1, 1), and the derivative -4 in the radius, or in both bounds."""
    text = "var x: vector[2]\nminimize sum_squares(x[0] - 3) + sum_squares(x[1] - 1)\nsubject to\n"
    text += "".join(f"    c{i}: {s}\n" for i, s in enumerate(sets))
    s = fw.parse(text).solve(tol=1e-9)
    factors = [2.0 if of.startswith("2 *") else 1.0 for of in sets]
    found = [float(np.sum(s.dual[f"c{i}"])) * factor for i, factor in enumerate(factors)]
    assert sum(value != 0.0 for value in found) == 1
    assert sum(found) == pytest.approx(total, rel=1e-6)


@pytest.mark.parametrize(
    "ball", ["sum_squares(x) <= r", "norm2(x) <= r", "norm1(x) <= r", "norm_inf(x) <= r", "x in l2_ball(r)"]
)
def test_a_bound_that_does_not_bind_has_no_multiplier(ball: str) -> None:
    """The solution is 0 but for rounding, far inside, and the norm in the objective takes all of the slope that there is."""
    for bounds in ("x >= 0", "x >= 0\n    x in nonnegative", ""):
        text = "data A: matrix[n, d], b: vector[n]\nparam r: positive\nvar x: vector[d]\nminimize sum_squares(A @ x - b) + 30 * norm1(x)\n"
        text += f"subject to\n    k: {ball}\n    {bounds}\n"
        s = (
            fw.parse(text)
            .bind(A=np.array([[1.0, 2.0], [3.0, 1.0]]), b=np.array([-5.0, 1.0]), r=2.0)
            .solve(tol=1e-10, threads=1)
        )
        assert s.status == "optimal" and np.abs(s["x"]).max() <= 1e-6
        assert abs(s.dual["k"]) <= 1e-6
