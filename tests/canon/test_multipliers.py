"""Multipliers of sets that are rewritten, and of sets beside a norm: their shapes, and finite differences."""

from __future__ import annotations

import numpy as np
import pytest

import fwdsl as fw

RNG = np.random.default_rng(12)
STEP = 1e-4
C = RNG.standard_normal((4, 3))
DATA = {
    "C": C,
    "Z": RNG.standard_normal((4, 3)),
    "S": RNG.standard_normal((3, 3)),
    "V3": RNG.standard_normal((6, 3)),
    "V4": RNG.standard_normal((6, 4)),
    "H3": RNG.standard_normal((2, 3)),
    "H4": RNG.standard_normal((2, 4)),
    "h": RNG.standard_normal(2),
    "a": RNG.standard_normal(3),
}
TYPES = {
    "C": "matrix[n, d]",
    "Z": "matrix[n, d]",
    "S": "matrix[d, d]",
    "V3": "matrix[m, d]",
    "V4": "matrix[m, n]",
    "H3": "matrix[e, d]",
    "H4": "matrix[e, n]",
    "h": "vector[e]",
    "a": "vector[d]",
}


def bound(text: str) -> fw.Problem:
    tokens = set("".join(c if c.isalnum() else " " for c in text).split())
    used = [n for n in DATA if n in tokens]
    head = "data " + ", ".join(f"{n}: {TYPES[n]}" for n in used) + "\nparam t: real\n"
    return fw.parse(head + text).bind(t=0.0, **{n: DATA[n] for n in used})


def change(program: fw.Problem) -> tuple[fw.Solution, float]:
    """The solution at t = 0, and the slope of the optimal value in t."""
    low, mid, high = (program.bind(t=k * STEP).solve(tol=1e-11, threads=1) for k in (-1, 0, 1))
    return mid, (high.objective - low.objective) / (2 * STEP)


@pytest.mark.parametrize(
    "set_",
    [
        "rows(polytope(V3))",
        "columns(polytope(V4))",
        "rows(group_ball(0.5, [[0, 1], [1, 2]]))",
        "columns(group_ball(0.5, [[0, 1, 2], [2, 3]]))",
        "vec(group_ball(0.5, [[0, 1, 2, 3, 4, 5, 6, 7], [7, 8, 9, 10, 11]]))",
        "rows(l2_ball(0.5))",
    ],
)
def test_a_set_of_lines_moved_along_a_direction(set_: str) -> None:
    mid, slope = change(bound(f"var X: matrix[n, d]\nminimize sum_squares(X - C)\nsubject to c: X - t * Z in {set_}\n"))
    assert mid.dual["c"].shape == (4, 3)
    assert (mid.dual["c"] * DATA["Z"]).sum() == pytest.approx(slope, rel=1e-3, abs=1e-3)


def test_a_birkhoff_polytope_has_the_multipliers_of_rows_and_columns_together() -> None:
    mid, slope = change(
        bound("var X: matrix[d, d]\nminimize sum_squares(X - S)\nsubject to c: X - t * S in birkhoff\n")
    )
    assert mid.dual["c"].shape == (3, 3)
    assert (mid.dual["c"] * DATA["S"]).sum() == pytest.approx(slope, rel=1e-3, abs=1e-3)
    # as a set of the variable, of which the block keeps the rows, it is the same
    own = bound("var X: matrix[d, d] in birkhoff\nminimize sum_squares(X - S) + 0 * t\n").solve(tol=1e-11)
    gradient = 2.0 * (own["X"] - DATA["S"])
    assert next(iter(own.dual.values())) == pytest.approx(gradient, abs=1e-4)


@pytest.mark.parametrize(
    ("set_", "shape"),
    [
        ("rows(affine(H3, (1 + t) * h))", (4, 2)),
        ("columns(affine(H4, (1 + t) * h))", (2, 3)),
        ("rows(halfspace(a, t - 1))", (4,)),
    ],
)
def test_right_hand_sides_have_a_multiplier_for_each_line(set_: str, shape: tuple[int, ...]) -> None:
    mid, slope = change(bound(f"var X: matrix[n, d]\nminimize sum_squares(X - C)\nsubject to c: X in {set_}\n"))
    dual = mid.dual["c"]
    assert dual.shape == shape
    along = dual.sum() if "half" in set_ else (dual @ DATA["h"] if "rows" in set_ else DATA["h"] @ dual).sum()
    assert along == pytest.approx(slope, rel=1e-3, abs=1e-3)


def test_the_blocks_of_a_family_have_a_multiplier_each() -> None:
    fit = "minimize sum_squares(F[0] - a) + sum_squares(F[1] + a)"
    for set_, shape, along in (
        ("affine(H3, (1 + t) * h)", (2, 2), lambda y: (y @ DATA["h"]).sum()),
        ("halfspace(a, t - 1)", (2,), np.sum),
        ("box(-0.2, t + 0.1)", (2, 3), lambda y: y[y < 0.0].sum()),
    ):
        mid, slope = change(bound(f"var F: family[2] of vector[d]\n{fit}\nsubject to c: F in {set_}\n"))
        assert mid.dual["c"].shape == shape
        assert along(mid.dual["c"]) == pytest.approx(slope, rel=1e-3, abs=1e-3)


@pytest.mark.parametrize(
    ("variable", "objective", "set_", "at"),
    [
        ("vector[d]", "sum_squares(x - a) + 0.3 * entropy(x)", "simplex(r)", 1),
        ("symmetric[d]", "sum_squares(x - S) + 0.3 * norm_nuc(x)", "solid_spectrahedron(r)", 0.3),
        ("matrix[n, d]", "sum_squares(x - C) + 0.3 * norm_nuc(x)", "nuclear_ball(r)", 0.5),
        ("matrix[n, d]", "sum_squares(x - C) + 0.3 * norm_spec(x)", "spectral_ball(r)", 0.2),
        ("matrix[n, d]", "sum_squares(x - C) + 0.3 * norm21(x)", "l21_ball(r)", 0.5),
        ("matrix[n, d]", "sum_squares(x - C) + 0.3 * norm1_inf(x)", "l1_inf_ball(r)", 0.5),
        ("matrix[n, d]", "sum_squares(x - C) + 0.3 * norm_fro(x)", "fro_ball(r)", 0.5),
    ],
)
def test_a_radius_beside_a_norm(variable: str, objective: str, set_: str, at: float) -> None:
    text = f"param r: positive\nvar x: {variable} in {set_}\nminimize {objective} + 0 * t\n"
    program = bound(text)
    low, mid, high = (program.bind(r=at + k * STEP).solve(tol=1e-11, threads=1) for k in (-1, 0, 1))
    slope = (high.objective - low.objective) / (2 * STEP)
    assert next(iter(mid.dual.values())) == pytest.approx(slope, rel=1e-3, abs=1e-3)


def test_a_norm_is_taken_out_of_the_multiplier_of_each_row() -> None:
    fit = bound("var X: matrix[n, d] in rows(l1_ball(0.5))\nminimize sum_squares(X - C) + 0.3 * norm1(X) + 0 * t\n")
    solution = fit.solve(tol=1e-11)
    normal = -next(iter(solution.dual.values()))
    X = solution["X"]
    # normal to an l1 ball: the largest entry in size wherever x is not 0, with its sign
    for x, v in zip(X, normal, strict=True):
        assert x @ v == pytest.approx(0.5 * np.abs(v).max(), abs=1e-6)
    assert np.all(np.abs(2.0 * (X - DATA["C"]) + normal) <= 0.3 + 1e-6)
