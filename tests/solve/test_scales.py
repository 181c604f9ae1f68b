"""Columns, radii and data of very different size, and what proves that there is no answer."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import fwdsl as fw

ROWS, COLUMNS = 20, 4


def _data(scale: float) -> dict[str, Any]:
    """A regression with outliers, its signs with slips, and one column that is `scale` times as large as the others."""
    rng = np.random.default_rng(2)
    A = rng.standard_normal((ROWS, COLUMNS))
    y = A @ [1.0, -2.0, 0.0, 0.5] + 0.1 * rng.standard_normal(ROWS)
    s = np.sign(y)
    s[:3] *= -1.0
    return {"A": A * [scale, 1.0, 1.0, 1.0], "y": y, "s": s}


@pytest.mark.parametrize(
    ("scale", "set_"),
    [(1e-8, ""), (1e-4, ""), (1e4, ""), (1e8, ""), *((s, " in nonnegative") for s in (1e-4, 1e4, 1e8))],
)
@pytest.mark.parametrize(
    "loss", ["squared", "huber", "logistic", "squared_hinge", "squared_epsilon_insensitive", "smooth_hinge"]
)
def test_smooth_losses_with_a_column_out_of_scale(loss: str, scale: float, set_: str) -> None:
    target = "s: signs[n]" if loss in ("logistic", "squared_hinge", "smooth_hinge") else "y: vector[n]"
    text = f"data A: matrix[n, p], {target}\nvar x: vector[p]{set_}\nminimize mean({loss}(A @ x, {target[0]}))\n"
    data = _data(scale)
    bound = fw.parse(text).bind(A=data["A"], **{target[0]: data[target[0]]})
    solution = bound.solve(threads=1, max_iter=400)
    assert solution.status == "optimal", solution.reason
    # the same problem in a better unit
    unit = fw.parse(text).bind(A=data["A"] / [scale, 1.0, 1.0, 1.0], **{target[0]: data[target[0]]}).solve(threads=1)
    assert solution.objective == pytest.approx(unit.objective, rel=1e-5, abs=1e-9)


@pytest.mark.parametrize(
    "text",
    [
        "var X: symmetric[3] in psd\nminimize -trace(X)",
        "var X: symmetric[2] in psd\nminimize trace(X) - 3 * X[0, 1]",
        "var X: symmetric[2]\nminimize -X[0, 1]\nsubject to X + eye(2) in psd",
        "var X: matrix[3, 2]\nminimize norm_nuc(X) - 2 * X[0, 0]",
        "var X: symmetric[2]\nminimize norm_spec(X) - 1.1 * trace(X)",
        "var X: matrix[3, 2]\nminimize norm21(X) - 2 * X[0, 0]",
        "var X: matrix[3, 2]\nminimize norm1_inf(X) - 2 * X[0, 0] - X[0, 1]",
        "var x: vector[3]\nminimize group_norm(x, [[0, 1], [2]]) - 2 * x[0]",
        "var F: family[2] of psd[2]\nminimize -trace(F[0])",
        "var X: matrix[3, 2] in rows(nonnegative)\nminimize -X[0, 0]",
    ],
)
def test_cones_and_norms_of_matrices_are_seen_to_be_unbounded(text: str) -> None:
    solution = fw.parse(text).solve(threads=1, max_iter=2000)
    assert solution.status == "unbounded", solution.reason
    assert solution.reason.endswith("moves along a direction that no constraint stops")


@pytest.mark.parametrize(
    ("objective", "constraints", "status"),
    [
        ("-1e-5 * x[0] + 1e9 * x[1]", "x[1] >= 1", "unbounded"),
        ("-1e-9 * x[0] + 1e9 * x[1]", "x[1] >= 1 and x >= 0", "unbounded"),
        ("-1e-9 * x[0] + 2e-9 * norm1(x) + 1e9 * x[1]", "x[1] >= 1", "optimal"),
        ("1e-9 * x[0] + 1e9 * x[1]", "x[1] >= 1 and x >= 0", "optimal"),
        ("-1e-9 * x[0] + 1e9 * x[1]", "x[1] >= 1 and x <= 1", "optimal"),
    ],
)
def test_a_small_cost_of_what_no_term_has_is_seen_beside_a_large_one(
    objective: str, constraints: str, status: str
) -> None:
    lines = "\n    ".join(constraints.split(" and "))
    text = f"var x: vector[2]\nminimize {objective}\nsubject to\n    {lines}\n"
    solution = fw.parse(text).solve(threads=1, max_iter=400)
    assert solution.status == status, solution.reason


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("var X: symmetric[2] in psd\nminimize trace(X) - 2 * X[0, 1]", 0.0),
        ("var X: matrix[3, 2]\nminimize norm_nuc(X) - X[0, 0]", 0.0),
        ("var X: symmetric[2]\nminimize norm_spec(X) - 0.4 * trace(X)", 0.0),
        ("var x: vector[3]\nminimize group_norm(x, [[0, 1], [2]]) - x[0]", 0.0),
    ],
)
def test_a_direction_along_which_nothing_falls_is_no_proof(text: str, value: float) -> None:
    solution = fw.parse(text).solve(threads=1)
    assert solution.status == "optimal"
    assert solution.objective == pytest.approx(value, abs=1e-6)


def test_multipliers_on_their_way_to_zero_do_not_hide_a_contradiction() -> None:
    # bounds of single entries do not show it: the second row is v'Xv for v = (1, -1)
    text = (
        "var X: symmetric[2] in psd\nminimize X[1, 1]\n"
        "subject to X[0, 1] - X[1, 1] == 1, X[0, 0] + X[1, 1] - 2 * X[0, 1] == -1"
    )
    solution = fw.parse(text).solve(threads=1, max_iter=20_000)
    assert solution.status == "infeasible"
    assert "`X[0, 0] + X[1, 1] - 2 * X[0, 1] == -1` and the set of X cannot hold together" in solution.reason
    # weakly infeasible: multipliers prove it for points up to any size at best, and those of a run that moves slowly for none
    weak = fw.parse(text.replace("== -1", "== 0")).solve(threads=1, max_iter=3000, method="pdhg")
    assert weak.status == "tolerance_not_reached" and weak.infeasibility > 0.0


@pytest.mark.parametrize(
    ("text", "who"),
    [
        (
            "var x: vector[2] in polytope([[0, 0], [1, 0], [0, 1]])\nminimize x[0]\nsubject to x[0] + x[1] >= 1.2",
            "`x in polytope([[0, 0], [1, 0], [0, 1]])` and `x[0] + x[1] >= 1.2` cannot hold together",
        ),
        (
            "var x: vector[2]\nminimize entropy(x)\nsubject to x[0] + x[1] == -1",
            "`x[0] + x[1] == -1` and the domain of `entropy(x)` cannot hold together",
        ),
    ],
)
def test_contradictions_are_told_in_the_words_of_the_program(text: str, who: str) -> None:
    solution = fw.parse(text).solve(threads=1)
    assert solution.status == "infeasible"
    assert solution.reason.startswith(who)


@pytest.mark.parametrize(
    ("phi", "scale"), [("polynomial(X, degree=20, coef0=1)", 1e20), ("linear(X)", 1e160), ("rbf(X, gamma=1)", 1e160)]
)
def test_a_kernel_that_overflows_is_refused(phi: str, scale: float) -> None:
    text = f"data X: matrix[n, p], y: vector[n]\nlet Phi = {phi}\nvar w: vector[dim(Phi)] in l2_ball(1)\nminimize mean(absolute(Phi @ w, y))\n"
    X = np.random.default_rng(0).standard_normal((10, 2))
    with pytest.raises(fw.FwError, match=r"FW5011.*a Gram matrix that is not finite"):
        fw.parse(text).bind(X=scale * X, y=X[:, 0]).solve()


@pytest.mark.parametrize("set_", ["ksupport_ball(2, R)", "group_ball(R, [[0, 1], [2, 3]])", "l1_ball(R)", "simplex(R)"])
@pytest.mark.parametrize("scale", [1e-8, 1e-4, 1e4, 1e8])
def test_certificates_hold_when_checked_again_at_any_scale(set_: str, scale: float) -> None:
    pytest.importorskip("cvxpy")
    from fwdsl.oracle import check_certificate

    data = _data(1.0)
    text = f"data A: matrix[n, p], y: vector[n]\nparam R: positive\nvar x: vector[p] in {set_}\nminimize mean(absolute(A @ x, y))\n"
    for given in (
        {"A": data["A"] * scale, "y": data["y"], "R": 1.0 / scale},
        {"A": data["A"], "y": data["y"] * scale, "R": scale},
    ):
        solution = fw.parse(text).bind(**given).solve(threads=1)
        assert solution.status == "optimal"
        again = check_certificate(solution.instance, solution)
        assert again.agrees, again.text
        assert math.isclose(again.objective, solution.objective, rel_tol=1e-6)


@pytest.mark.parametrize("scale", [1e4, 1e8])
@pytest.mark.parametrize("loss", ["squared", "huber", "logistic"])
def test_a_sparse_penalty_and_a_column_out_of_scale(loss: str, scale: float) -> None:
    """Newton's steps must pass the entries that reach zero on the way."""
    data = _data(scale)
    target = "s: signs[n]" if loss == "logistic" else "y: vector[n]"
    text = (
        f"data A: matrix[n, p], {target}\nvar x: vector[p]\nminimize mean({loss}(A @ x, {target[0]})) + 0.01*norm1(x)\n"
    )
    problem = fw.parse(text).bind(A=data["A"], **{target[0]: data[target[0]]})
    for method in ("apg", "coordinate_descent"):
        solution = problem.solve(threads=1, max_iter=200, method=method)
        assert solution.status == "optimal", solution.reason


def test_more_columns_than_rows_and_a_small_penalty() -> None:
    """Newton's full steps cross zero in many entries at once here; stopped at the first one, they took thousands of iterations."""
    rng = np.random.default_rng(5)
    A = rng.standard_normal((40, 100)) + 3.0 * rng.standard_normal((40, 1))
    y = A @ np.where(rng.random(100) < 0.2, rng.standard_normal(100), 0.0) + 0.1 * rng.standard_normal(40)
    text = "data A: matrix[n, p], y: vector[n]\nvar x: vector[p]\nminimize mean(squared(A @ x, y)) + 0.001*norm1(x)\n"
    solution = fw.parse(text).bind(A=A, y=y).solve(threads=1, method="apg", max_iter=1500)
    assert solution.status == "optimal", solution.reason


FREE = "var x: vector[p]\nminimize mean(hinge(A @ x, s))\n"
SPARSE = "var x: vector[p]\nparam m: positive\nminimize mean(hinge(A @ x, s)) + m*norm1(x)\n"
BALL = "param R: positive\nvar x: vector[p] in l1_ball(R)\nminimize mean(hinge(A @ x, s))\n"


@pytest.mark.parametrize(
    ("text", "options", "scale"),
    [(FREE, {}, 1e-8), (SPARSE, {"m": 0.01}, 1e-8), (SPARSE, {"m": 0.01}, 1e8), (BALL, {"R": 1.0}, 1e-8)],
)
def test_all_columns_in_another_unit(text: str, options: dict[str, float], scale: float) -> None:
    """The unit of A must not matter to the primal-dual method: its first weight is that of the data."""
    data = _data(1.0)
    units = {"m": scale, "R": 1.0 / scale}
    problem = fw.parse(f"data A: matrix[n, p], s: signs[n]\n{text}")
    given = {name: value * units[name] for name, value in options.items()}
    solution = problem.bind(A=scale * data["A"], s=data["s"], **given).solve(threads=1, method="pdhg", max_iter=300)
    assert solution.status == "optimal", solution.reason
    unit = problem.bind(A=data["A"], s=data["s"], **options).solve(threads=1, method="pdhg")
    assert solution.objective == pytest.approx(unit.objective, rel=1e-5)


@pytest.mark.parametrize("C", [10.0, 1e3, 1e5])
def test_newton_steps_do_not_go_back_and_forth_between_pieces_of_a_loss(C: float) -> None:
    rng = np.random.default_rng(340)
    A, y = rng.standard_normal((14, 8)), np.where(rng.random(14) < 0.5, -1.0, 1.0)
    A[:, 5] = 1.0
    text = (
        "data A: matrix[n, d], y: signs[n], q: vector[d]\nparam C: positive\nvar w: vector[d], b: real\n"
        "minimize C * sum(squared_hinge(A @ w + b, y)) + 0.001 * sum_squares(w) + 0.001 * sum_squares(b) + dot(q, w)"
    )
    problem = fw.parse(text).bind(A=A, y=y, q=rng.standard_normal(8), C=C)
    solution = problem.solve(tol=1e-8, method="apg", max_iter=100)
    assert solution.status == "optimal"


@pytest.mark.parametrize("unit", [1.0, 1024.0, 10.0, 1e3, 1e-3, 1e-6])
@pytest.mark.parametrize("method", ["auto", "interior", "pdhg"])
def test_a_ray_is_proven_in_decimal_units_too(unit: float, method: str) -> None:
    """All feasible points are multiples of the ray (1, -unit), which the equality meets to rounding alone: nothing of them is left to judge it by."""
    A, E, q = np.array([[-2.0, 1.0 / unit]]), np.array([[-1.0, -1.0 / unit]]), np.array([-3.0, -2.0 / unit])
    text = "data A: matrix[m, n], E: matrix[k, n], q: vector[n]\nvar x: vector[n]\nminimize dot(q, x)\nsubject to\n    A @ x <= -2\n    E @ x == 0\n"
    assert fw.parse(text).bind(A=A, E=E, q=q).solve(method=method, time=20.0).status == "unbounded"


@pytest.mark.parametrize("unit", [1e7, 1e8, 1e10])
@pytest.mark.parametrize("penalty", ["norm1(w)", "norm2(w)", "norm_inf(w)"])
@pytest.mark.parametrize("method", ["auto", "apg", "coordinate_descent"])
def test_a_penalty_that_is_rounding_beside_the_data_has_a_bound(unit: float, penalty: str, method: str):
    """Of K'y there is 1e17 in each sum, and a multiplier of 0.1 in the domain: scaling would leave nothing of y."""
    if method == "coordinate_descent" and penalty != "norm1(w)":
        pytest.skip("the method has no such norm")
    rng = np.random.default_rng(1)
    X = rng.standard_normal((80, 12))
    y = X[:, 0] - X[:, 1] + 0.1 * rng.standard_normal(80)
    text = f"data X: matrix[n, p], y: vector[n]\nvar w: vector[p]\nminimize mean(squared(X @ w, y)) + 0.1 * {penalty}"
    s = fw.parse(text).bind(X=unit * X, y=unit * y).solve(method=method, tol=1e-6, threads=1)
    least = float(np.mean((X @ np.linalg.lstsq(X, y)[0] - y) ** 2)) * unit**2
    assert s.status == "optimal" and s.certificate.kind == "exact"
    assert s.dual_bound <= s.objective * (1.0 + 1e-12)
    assert s.objective == pytest.approx(least, rel=2e-6) and s.dual_bound == pytest.approx(least, rel=2e-6)
