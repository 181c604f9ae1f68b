"""Matrix constructs where they are hardest to get right: dual equalities of row losses and norms, symmetry, sizes of one, overlapping groups."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import fwdsl as fw
from fwdsl.oracle import solve_oracle
from fwdsl.oracle.recheck import check_certificate

pytest.importorskip("cvxpy")

RNG = np.random.default_rng(23)
N, D, K = 9, 4, 3
A, B, Y = RNG.standard_normal((N, D)), RNG.standard_normal(N), RNG.standard_normal((N, K))
S = RNG.standard_normal((D, D))
C = S + S.T
LABELS = np.arange(N) % K
FIT = "data A: matrix[n, d], Y: matrix[n, k]\nvar W: matrix[d, k]\nminimize mean(squared(A @ W, Y))"
VECTOR = "data A: matrix[n, 4], b: vector[n]\nvar x: vector[4]"
RESIDUAL = "data A: matrix[n, d], Y: matrix[n, k]\nvar W: matrix[d, k]\nminimize "
SYMMETRIC = "data C: symmetric[d]\nvar X: symmetric[d]"
MATRIX: dict[str, Any] = {"A": A, "Y": Y}


def agrees(text: str, data: dict[str, Any], tol: float = 1e-6) -> fw.Solution:
    """Solved, equal to the oracle, and its certificate holds by other means."""
    bound = fw.parse(text + "\n").bind(**data)
    solution = bound.solve(tol=tol, threads=1, time=20)
    assert solution.status == "optimal", f"{solution.reason} {solution.certificate}"
    oracle = solve_oracle(bound.instance)
    assert solution.objective == pytest.approx(oracle.value, rel=2e-6, abs=1e-7)
    check = check_certificate(bound.instance, solution)
    assert check.agrees, check.text
    return solution


@pytest.mark.parametrize("loss", ["softmax", "multiclass_hinge", "weston_watkins"])
@pytest.mark.parametrize("rest", ["0.1 * sum_squares(W)", "0.05 * norm1(W)", "0.1 * norm_nuc(W)"])
@pytest.mark.parametrize("classes", [2, 3])
def test_free_intercepts_of_row_losses_certify(loss: str, rest: str, classes: int) -> None:
    text = f"data A: matrix[n, d], y: labels[n, k]\nvar W: matrix[d, k], c: vector[k]\nminimize mean({loss}(A @ W + c, y)) + {rest}"
    agrees(text, {"A": A, "y": np.arange(N) % classes})


@pytest.mark.parametrize(
    "objective",
    [
        "norm_nuc(A @ W - Y)",
        "norm_spec(A @ W - Y)",
        "norm21(A @ W - Y)",
        "norm_nuc(A @ W - Y) + 0.1 * sum(W)",
        "norm_spec(A @ W - Y) + 0.05 * sum(W)",
        "norm_nuc(A @ W - Y) + norm_spec(W - 1)",
    ],
)
def test_norms_of_residuals_of_a_free_matrix_certify(objective: str) -> None:
    agrees(RESIDUAL + objective, MATRIX)


@pytest.mark.parametrize("norm", ["norm_nuc", "norm_spec"])
def test_a_diagonal_near_a_matrix(norm: str) -> None:
    agrees(f"data C: matrix[d, d]\nvar x: vector[d]\nminimize {norm}(diag(x) - C)", {"C": C})


@pytest.mark.parametrize(
    ("members", "objective"),
    [
        ("", "sum_squares(X - C) + norm21(X)"),
        ("", "sum_squares(X - C) + norm1_inf(X)"),
        (" in l21_ball(1)", "trace(C @ X)"),
        (" in l1_inf_ball(1)", "trace(C @ X)"),
        (" in rows(simplex(1))", "trace(C @ X)"),
        (" in columns(l2_ball(0.5))", "trace(C @ X)"),
        (" in birkhoff", "sum_squares(X - C)"),
        (" in psd", "sum_squares(X - C) + 0.3 * norm1(X)"),
        (" in psd", "sum_squares(X - C) + norm1(X[0, 1:4])"),
    ],
)
def test_a_symmetric_variable_stays_symmetric(members: str, objective: str) -> None:
    """A function that does not treat a matrix as its transpose must not be asked of the block, which holds a whole matrix."""
    solution = agrees(f"{SYMMETRIC}{members}\nminimize {objective}", {"C": C})
    np.testing.assert_allclose(solution["X"], solution["X"].T, atol=1e-6)


def test_bounds_of_a_symmetric_variable_hold_for_its_transpose() -> None:
    text = "data C: symmetric[d], L: matrix[d, d]\nvar X: symmetric[d] in box(L, 1)\nminimize sum_squares(X - C)"
    lower = np.triu(np.full((D, D), 0.4)) - 0.5
    solution = fw.parse(text + "\n").bind(C=C, L=lower).solve(threads=1)
    np.testing.assert_allclose(solution["X"], np.clip(C, np.maximum(lower, lower.T), 1.0), atol=1e-6)


@pytest.mark.parametrize(
    "members",
    ["spectrahedron(1)", "solid_spectrahedron(1)", "nuclear_ball(1)", "spectral_ball(1)", "l1_ball(1)", "linf_ball(1)"],
)
@pytest.mark.parametrize("matrix", [C, C[:1, :1], np.zeros((3, 3))], ids=["4 x 4", "1 x 1", "zero"])
def test_a_linear_objective_alone(members: str, matrix: np.ndarray) -> None:
    """No term of the sum, so no curvature bounds a step and the dual point is empty."""
    agrees(f"{SYMMETRIC} in {members}\nmaximize trace(C @ X)", {"C": matrix})


@pytest.mark.parametrize("shape", [(6, 1, 3), (6, 4, 1), (1, 4, 3), (1, 1, 1)])
@pytest.mark.parametrize("rest", ["norm_nuc(W)", "norm_spec(W)", "norm21(W)", "norm1_inf(W)", "norm_fro(W)"])
def test_sizes_of_one(shape: tuple[int, int, int], rest: str) -> None:
    n, d, k = shape
    agrees(f"{FIT} + 0.2 * {rest}", {"A": A[:n, :d], "Y": Y[:n, :k]})


@pytest.mark.parametrize(
    "text",
    [
        f"{VECTOR} in group_ball(0.3, [[0, 1, 2], [2, 3]])\nminimize mean(squared(A @ x, b))",
        f"{VECTOR}\nminimize mean(squared(A @ x, b))\nsubject to group_norm(A @ x, [[0, 1, 2, 3], [3, 4, 5, 6, 7, 8]]) <= 1".replace(
            "matrix[n, 4], b: vector[n]", "matrix[9, 4], b: vector[9]"
        ),
    ],
)
def test_the_ball_of_overlapping_groups(text: str) -> None:
    agrees(text, {"A": A, "b": B})


def test_threads_and_warm_starts_give_the_same_matrix() -> None:
    bound = fw.parse(f"{FIT}\nsubject to norm_nuc(W) <= 0.5\n    W[0, :] <= 0\n").bind(**MATRIX)
    one, two = (bound.solve(threads=t) for t in (1, 2))
    np.testing.assert_array_equal(one["W"], two["W"])
    assert bound.solve(threads=1, start=one).iterations < one.iterations


@pytest.mark.parametrize("inner", ["affine(H, h)", "halfspace(a, -1)"])
@pytest.mark.parametrize(("outer", "size"), [("rows", 3), ("columns", 4), ("vec", 12)])
def test_equations_and_halfspaces_of_rows_columns_and_entries(outer: str, size: int, inner: str) -> None:
    text = f"data C: matrix[4, 3], H: matrix[2, {size}], h: vector[2], a: vector[{size}]\n"
    text += f"var X: matrix[4, 3] in {outer}({inner})\nminimize sum_squares(X - C)"
    data = {"H": RNG.standard_normal((2, size)), "h": np.array([0.1, 0.3]), "a": RNG.standard_normal(size)}
    agrees(text, {"C": RNG.standard_normal((4, 3)), **data})


@pytest.mark.parametrize("members", ["group_ball(1, [[0, 1, 2, 3, 4, 5], [6, 7, 8]])", "permutahedron(c)"])
def test_sets_of_all_entries(members: str) -> None:
    text = f"data C: matrix[3, 3], c: vector[9]\nvar X: matrix[3, 3] in vec({members})\nminimize sum_squares(X - C)"
    agrees(text, {"C": S[:3, :3], "c": np.arange(9.0) / 9})
