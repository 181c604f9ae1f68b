"""Functions of whole vectors: their proxes at random sizes and in all units, and programs with them beside cvxpy."""

from __future__ import annotations

from typing import Any

import cvxpy as cp
import numpy as np
import pytest

import fwdsl as fw
from fwdsl.atoms.vectors import build
from fwdsl.oracle.translate import to_cvxpy
from fwdsl.testing.functions import compiled_prox

SUBLINEAR: dict[str, dict[str, Any]] = {
    "max": {},
    "sum_largest": {"k": 3},
    "norm_p": {"p": 3.0},
    "geo_mean": {},
    "weighted geo_mean": {"weights": True},
    "joint_kl_div": {},
}


def points(size: int) -> list[np.ndarray]:
    """Vectors with ties, zeros and entries of very different sizes."""
    rng = np.random.default_rng(size)
    v = rng.normal(size=size)
    return [v, np.round(v), np.full(size, 1.5), np.zeros(size), -np.abs(v), v * 10.0 ** rng.integers(-6, 6, size)]


@pytest.mark.parametrize("name", SUBLINEAR)
@pytest.mark.parametrize("size", [4, 10, 57])
@pytest.mark.parametrize("unit", [1e-9, 1e9])
def test_proxes_have_no_unit(name: str, size: int, unit: float) -> None:
    """f(s x) = s f(x) makes the prox of s v at s t that of v at t, times s."""
    size += size % 2
    options = SUBLINEAR[name]
    if "weights" in options:
        options = {"weights": np.random.default_rng(size).permutation(np.arange(size) // 2 + 0.0)}
    g: Any = build((name.split()[-1], 0.7, options), None, size)
    for v in points(size):
        x = g.prox(v, 0.3)
        large = float(np.abs(v).max()) + 1.0
        np.testing.assert_allclose(g.prox(unit * v, unit * 0.3) / unit, x, atol=1e-11 * large)
        if g.compiled:
            np.testing.assert_allclose(compiled_prox(g, unit * v, unit * 0.3) / unit, x, atol=1e-11 * large)


@pytest.mark.parametrize("p", [1.0, 1.05, 1.5, 2.0, 3.0, 10.0, 60.0])
@pytest.mark.parametrize("size", [1, 2, 30])
def test_p_norms_meet_fenchels_equality(p: float, size: int) -> None:
    g: Any = build(("norm_p", 0.7, {"p": p}), None, size)
    for v in points(size):
        x = g.prox(v, 0.4)
        u = g.dual_project((v - x) / 0.4)
        scale = 1.0 + float(np.abs(v).max())
        np.testing.assert_allclose(u, (v - x) / 0.4, atol=1e-10 * scale)
        assert g.value(x) == pytest.approx(float(u @ x), abs=1e-9 * scale * scale)


@pytest.mark.parametrize(
    "weights",
    [
        None,
        np.full(4, 3.0),
        np.array([1.0, 2.0, 3.0, 0.5]),
        np.array([1.0, 0.0, 3.0, 0.0]),
        np.array([0.0, 1e-3, 0, 0]),
    ],
)
@pytest.mark.parametrize("unit", [1e-6, 1.0, 1e6])
def test_geometric_means_meet_fenchels_equality(weights: Any, unit: float) -> None:
    rng = np.random.default_rng(3)
    g: Any = build(("geo_mean", 0.7, {"weights": weights}), None, 4)
    for t in (0.01, 1.0, 50.0):
        for v in (*rng.normal(size=(20, 4)), -np.abs(rng.normal(size=4)), np.zeros(4)):
            x = g.prox(unit * v, unit * t)
            slope = (unit * v - x) / (unit * t)
            u = g.dual_project(slope)
            size = 1.0 + float(np.abs(v).max()) / t
            np.testing.assert_allclose(u, slope, atol=1e-11 * size)
            assert g.conjugate(u) == 0.0 and g.violation(x) == 0.0
            assert g.value(x) == pytest.approx(float(u @ x), abs=1e-11 * unit * size * (1.0 + t))


def test_weights_of_a_geometric_mean_are_shares() -> None:
    x = np.array([2.0, 8.0, 1.0])
    of = {name: build(("geo_mean", 1.0, {"weights": w}), None, 3) for name, w in (("none", None), ("even", [5, 5, 5]))}
    assert of["none"].value(x) == pytest.approx(-(16.0 ** (1 / 3))) == of["even"].value(x)
    some = build(("geo_mean", 1.0, {"weights": np.array([2.0, 1.0, 0.0])}), None, 3)
    assert some.value(x) == pytest.approx(-((4.0 * 8.0) ** (1 / 3)))
    for bad in ([1.0, -1.0, 1.0], [0.0, 0.0, 0.0], [1.0, np.inf, 1.0], [1.0, 1.0]):
        with pytest.raises(ValueError, match="weights"):
            build(("geo_mean", 1.0, {"weights": np.array(bad)}), None, 3)


def test_the_first_and_all_of_the_largest() -> None:
    v = np.array([3.0, -3.0, 1.0, 0.2, 3.0])
    one, largest = build(("sum_largest", 0.7, {"k": 1}), None, 5), build(("max", 0.7), None, 5)
    every = build(("sum_largest", 0.7, {"k": 5}), None, 5)
    assert one is not None and largest is not None and every is not None
    np.testing.assert_allclose(one.prox(v, 0.6), largest.prox(v, 0.6), atol=1e-14)
    assert one.value(v) == largest.value(v) and every.value(v) == pytest.approx(0.7 * v.sum())
    np.testing.assert_allclose(every.prox(v, 0.6), v - 0.42)
    with pytest.raises(ValueError, match="from 1 to all 5"):
        build(("sum_largest", 0.7, {"k": 6}), None, 5)


# --- programs ----------------------------------------------------------------------------------------------------------

HEAD = (
    "data A: matrix[m, n], b: vector[m], Y: matrix[m, n], w: vector[m] in nonnegative\n"
    "data v: vector[n-1] in nonnegative, q: vector[n] in nonnegative\n"
)
PROGRAMS = {
    "minimax": "var x: vector[n]\nminimize max(A @ x - b) + 0.1 * norm2(x)",
    "shares": "var x: vector[n] in simplex(1)\nminimize max(A @ x) - min(A @ x)",
    "several": "var x: vector[n], t: real\nminimize max(x[0], x[1], t, -0.2) + sum_squares(A @ x - b) + sum_squares(t - 1)",
    "shortfall": "var x: vector[n] in simplex(1)\nminimize sum_largest(-(A @ x), 3) / 3 - sum_smallest(x, 2)",
    "soft_maximum": "var x: vector[n]\nminimize log_sum_exp(A @ x - b) + 0.1 * sum_squares(x)",
    "rows": "var X: matrix[m, n]\nminimize sum(squared(X, Y)) + sum(w * max(X, axis=1)) + mean(sum_largest(X, 2, axis=0))",
    "rows_of_sums": "var X: matrix[n, 2]\nminimize mean(w * log_sum_exp(A @ X, axis=1)) + 0.1 * sum_squares(X) + sum(norm2(X, axis=0))",
    "entries": "var x: vector[n]\nminimize sum(max(A @ x - b, b, 0)) + sum_squares(x) - sum(min(x, 0.1))",
    "p_norm": "var x: vector[n]\nminimize norm_p(A @ x - b, 3) + 0.5 * norm_p(x, 1.5)",
    "p_ball": "var x: vector[n] in lp_ball(3, 0.4)\nminimize sum(squared(A @ x, b))",
    "mean": "var x: vector[n] in nonnegative\nmaximize geo_mean(x + 0.1) - norm2(A @ x - b)",
    "weighted_mean": "var x: vector[n] in nonnegative, t: real\nmaximize 2 * geo_mean(x + 0.1, q) - norm2(A @ x - b) + t"
    "\nsubject to geo_mean(A.T @ A @ x + 2, weights=q[::-1]) >= 3 * t",
    "entropies": "var x: vector[m], y: vector[m]\nminimize sum(kl_div(x, y)) + sum(w * rel_entr(y, x + 1)) + sum_squares(x - w) "
    "+ sum_squares(y - 2 * w)",
    "steps": "var x: vector[m]\nminimize sum(squared(x, b)) + 0.4 * tv(x)",
    "weighted_steps": "var x: vector[n]\nminimize sum(squared(A @ x, b)) + tv(x, v)",
    "pixels": "var X: matrix[m, n]\nminimize sum(squared(X, Y)) + 0.3 * tv(X, Y * Y)",
    "pixels_by_axis": "var X: matrix[m, n]\nminimize sum(squared(X, Y)) + 0.3 * tv(X, isotropic=false)",
    "bounds": "var x: vector[n], t: real\nminimize t + sum_squares(x - 1)\nsubject to max(A @ x - b) <= t, log_sum_exp(x) <= 2, "
    "sum_largest(x, 2) <= 0.5 * t + 1, norm_p(x, 3) <= t, min(x) >= -1, geo_mean(x + 1.5) >= 1, tv(x) <= 1",
}


def drawn(m: int = 11, n: int = 5, unit: float = 1.0) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(8)
    A, b, Y = (
        np.round(rng.normal(size=(m, n)), 2),
        np.round(rng.normal(size=m), 1),
        np.round(rng.normal(size=(m, n)), 1),
    )
    return {
        "A": A,
        "b": unit * b,
        "Y": unit * Y,
        "w": rng.random(m),
        "v": rng.random(n - 1),
        "q": np.arange(n) % 3 + 0.5 * (np.arange(n) % 2),
    }


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_are_certified_and_cvxpys(name: str) -> None:
    problem = fw.parse(HEAD + PROGRAMS[name] + "\n").bind(**drawn())
    solution = problem.solve()
    assert solution.status == "optimal"
    other, _ = to_cvxpy(problem.instance)
    other.solve(solver="CLARABEL")
    assert solution.objective == pytest.approx(other.value, rel=3e-6, abs=1e-6)


@pytest.mark.parametrize("name", ["minimax", "shortfall", "rows", "p_norm", "steps", "pixels_by_axis"])
@pytest.mark.parametrize("unit", [1e-9, 1e9])
def test_programs_are_certified_in_all_units(name: str, unit: float) -> None:
    text = PROGRAMS[name].replace("squared(X, Y)", "absolute(X, Y)").replace("squared(x, b)", "absolute(x, b)")
    whole = [fw.parse(HEAD + text + "\n").bind(**drawn(unit=u)).solve() for u in (1.0, unit)]
    assert [s.status for s in whole] == ["optimal", "optimal"]
    scale = 1.0 if name == "shortfall" else unit
    assert whole[1].objective / scale == pytest.approx(whole[0].objective, rel=1e-5)


def test_total_variation_is_cvxpys() -> None:
    data = drawn()
    X = cp.Variable((11, 5))
    expected = cp.Problem(cp.Minimize(cp.sum_squares(X - data["Y"]) + 0.3 * cp.tv(X))).solve(solver="CLARABEL")
    text = "data Y: matrix[m, n]\nvar X: matrix[m, n]\nminimize sum(squared(X, Y)) + 0.3 * tv(X)\n"
    assert fw.parse(text).bind(Y=data["Y"]).solve().objective == pytest.approx(expected, rel=1e-6)


def test_lines_know_total_variation() -> None:
    text = "data y: vector[n]\nvar x: vector[n]\nminimize sum(squared(x, y)) + 2 * tv(x)\n"
    y = drawn()["b"]
    assert fw.parse(text).bind(y=y).solve(method="lines").status == "optimal"
    written = text.replace("tv(x)", "norm1(x[1:] - x[:-1])")
    assert fw.parse(written).bind(y=y).solve().objective == fw.parse(text).bind(y=y).solve().objective


def test_what_has_no_least_value_is_unbounded() -> None:
    assert fw.parse("var x: vector[3]\nminimize max(x)\n").solve().status == "unbounded"
    assert fw.parse("var x: vector[3]\nmaximize geo_mean(x)\n").solve().status == "unbounded"
    assert fw.parse("var x: vector[3]\nminimize log_sum_exp(x)\n").solve().status != "optimal"
