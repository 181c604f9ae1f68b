"""Sums of Euclidean lengths beside the sizes of all entries: the public checks, corners, and programs that have both norms."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import fwdsl as fw
from fwdsl.atoms.base import VectorFunction
from fwdsl.atoms.family import Repeated
from fwdsl.atoms.matrices import build_matrix
from fwdsl.atoms.vectors import Ridged, build
from fwdsl.atoms.vectors.sparse_lengths import SparseLengths, with_norm1
from fwdsl.testing.functions import FUNCTION_CHECKS, FunctionCase

GROUPS = {"groups": np.array([0, 1, 0, 2, 1, 2, 2]), "weights": np.array([1.0, 2.0, 0.5])}


def of_groups(c: float, s: float) -> VectorFunction:
    return with_norm1(build(("group_norm", c, GROUPS), None, 7), s, 1)


CASES = [
    FunctionCase(of_groups(0.7, 0.4), (7,)),
    FunctionCase(of_groups(0.1, 3.0), (7,)),
    FunctionCase(Ridged(of_groups(0.7, 0.4), 0.3), (7,)),
    FunctionCase(with_norm1(build(("norm2", 0.7), None, 5), 0.2, 1), (5,)),
    FunctionCase(with_norm1(build_matrix(("norm21", 0.7), None, (4, 3)), 0.2, 4), (4, 3)),
    FunctionCase(with_norm1(build_matrix(("norm_fro", 0.7), None, (3, 3)), 0.2, 1), (3, 3)),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.g.describe())
@pytest.mark.parametrize("check", FUNCTION_CHECKS, ids=lambda check: check.__name__)
def test_functions(case: FunctionCase, check: Callable[[FunctionCase], None]) -> None:
    check(case)


@pytest.mark.parametrize("unit", [1e-150, 1e-9, 1.0, 1e9, 1e150])
def test_a_scale_into_the_domain_is_the_largest_in_all_units(unit: float) -> None:
    g = of_groups(0.7 * unit, 0.4 * unit)
    v = unit * np.array([3.0, -1.0, 0.0, 0.2, 5.0, 0.3, -0.1])
    s = g.dual_scale(v)
    assert 0.0 < s < 1.0 and g.conjugate(s * v) == 0.0 and g.conjugate(s * (1.0 + 1e-12) * v) == np.inf
    assert isinstance(g, SparseLengths) and g.dual_norm(v) * s == pytest.approx(g.c, rel=1e-12)


def test_no_entries_and_no_groups() -> None:
    g = with_norm1(build(("group_norm", 1.0, {"groups": []}), None, 0), 0.5, 1)
    nothing = np.empty(0)
    assert g.prox(nothing, 1.0).shape == (0,) and g.value(nothing) == g.conjugate(nothing) == 0.0
    assert g.dual_scale(nothing) == 1.0


def test_the_blocks_of_a_family_have_both_norms() -> None:
    g = with_norm1(Repeated(build(("norm2", 1.0), None, 2), 2), 0.5, 1)
    assert g.value(np.array([3.0, 4.0, 0.0, -1.0])) == pytest.approx(5.0 + 1.0 + 0.5 * 8.0)


# --- programs ----------------------------------------------------------------------------------------------------------

RNG = np.random.default_rng(3)
X = RNG.normal(size=(40, 6))
Z = X @ np.array([1.0, -1.0, 0.0, 0.3, 0.0, 0.0])
DATA = {"X": X, "y": np.where(Z > 0, 1.0, -1.0), "t": Z, "groups": [0, 0, 0, 1, 1, 1], "Y": np.stack([Z, -Z], axis=1)}


def bound(text: str) -> fw.Problem:
    types = {"X": "matrix[n, p]", "y": "signs[n]", "t": "vector[n]", "groups": "index[p] of G", "Y": "matrix[n, k]"}
    used = [name for name in types if name in "".join(c if c.isalnum() else " " for c in text).split()]
    head = "data " + ", ".join(f"{name}: {types[name]}" for name in used) + "\nparam a: nonnegative = 0.05\n"
    return fw.parse(head + text).bind(**{name: DATA[name] for name in used})


PROGRAMS = [
    "var w: vector[p]\nminimize mean(logistic(X @ w, y)) + a * group_norm(w, groups) + 0.02 * norm1(w)\n",
    "var w: vector[p]\nminimize mean(squared(X @ w, t)) + 0.02 * norm1(2 * w) + a * group_norm(w, groups) + 0.01 * norm1(w)\n",
    "var w: vector[p]\nminimize mean(huber(X @ w, t)) + a * norm2(w) + 0.02 * norm1(w) + 0.1 * sum_squares(w)\n",
    "var W: matrix[p, k]\nminimize mean(squared(X @ W, Y)) + a * norm21(W) + 0.02 * norm1(W)\n",
]


@pytest.mark.parametrize("text", PROGRAMS, ids=lambda text: text.split("minimize ")[1].strip())
def test_both_norms_stay_with_the_variable(text: str) -> None:
    problem = bound(text)
    assert "moved into the sum" not in str(problem.plan())
    methods = ["apg", "pdhg"] + ["coordinate_descent"] * ("norm2(" not in text)
    found = [problem.solve(method=m, tol=1e-9) for m in methods]
    assert [s.status for s in found] == ["optimal"] * len(found)
    assert [s.objective for s in found] == pytest.approx([found[0].objective] * len(found), rel=1e-8)


@pytest.mark.parametrize("inner", ["gram", "residual"])
def test_coordinate_descent_leaves_single_entries_of_a_group_at_zero(inner: str) -> None:
    found = bound(PROGRAMS[0]).bind(a=0.02).solve(method="coordinate_descent", inner=inner, tol=1e-10)
    w = found["w"]
    assert w[0] != 0.0 and (w[:3] == 0.0).any() and found.status == "optimal"


@pytest.mark.parametrize("inner", ["gram", "residual"])
def test_newton_steps_land_on_the_kinks_of_entries(inner: str) -> None:
    """Columns far from 0, two of them the same, beside an intercept: steps of coordinates alone would take for ever."""
    rng = np.random.default_rng(5)
    far = rng.normal(size=(49, 12)) - 28.6
    far[:, 1] = far[:, 0]
    t = far[:, 5] + 0.7 * far[:, 8] - 0.8 * far[:, 10] + 0.1 * rng.normal(size=49)
    text = (
        "data X: matrix[n, p], t: vector[n], groups: index[p] of G\nvar w: vector[p], b: real\n"
        "minimize 1/2 * mean(squared(X @ w + b, t)) + 0.02 * group_norm(w, groups) + 0.02 * norm1(w)\n"
    )
    problem = fw.parse(text).bind(X=far, t=t, groups=[3, 7, 3, 4, 4, 2, 0, 3, 6, 6, 6, 3])
    assert problem.solve(method="coordinate_descent", inner=inner, tol=1e-9, max_iter=40).status == "optimal"


def test_norms_without_a_weight_are_not_there() -> None:
    text = PROGRAMS[0].replace("0.02 * norm1", "b * norm1").replace("var w", "param b: nonnegative\nvar w")
    alone = {
        "a": "mean(logistic(X @ w, y)) + 0.05 * group_norm(w, groups)",
        "b": "mean(logistic(X @ w, y)) + 0.05 * norm1(w)",
    }
    for name, other in (("a", "b"), ("b", "a")):
        both = bound(text).bind(**{name: 0.05, other: 0.0}).solve(tol=1e-9)
        assert both.objective == pytest.approx(
            bound(f"var w: vector[p]\nminimize {alone[name]}\n").solve(tol=1e-9).objective, rel=1e-8
        )


def test_overlapping_groups_stay_apart() -> None:
    text = "var w: vector[p]\nminimize mean(squared(X @ w, t)) + a * group_norm(w, [[0, 1, 2], [2, 3], [4, 5]]) + 0.02 * norm1(w)\n"
    assert bound(text).solve().status == "optimal"


def test_multipliers_of_both_norms_add_up_to_the_slope() -> None:
    found = bound(
        "var w: vector[p], v: vector[p]\nminimize mean(squared(X @ w, t)) + a * norm2(v) + 0.02 * norm1(v)\nsubject to c: v == w\n"
    ).solve(tol=1e-10)
    slope = 2.0 * X.T @ (X @ found["w"] - Z) / 40
    assert np.abs(found.dual["c"]) == pytest.approx(np.abs(slope), abs=1e-5)
