"""The predictions of programs with singular values, eigenvalues and cones of matrices, and what is fitted to them apart."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import fwdsl as fw
from fwdsl.backends import costs
from fwdsl.backends.interior.sizes import CONGRUENCE, DENSE_PRODUCT, OF_A_MATRIX, OF_AN_ORDER, size_of
from fwdsl.backends.registry import METHODS
from fwdsl.plan.constants import CONSTANTS
from fwdsl.plan.fitted import features, key_of

TASKS = "data X: matrix[n, p], Y: matrix[n, k]\nvar W: matrix[p, k]{on}\nminimize sum(squared(X @ W, Y)){norm}\n"
SPLIT = "data M: matrix[n, m]\nvar L: matrix[n, m], S: matrix[n, m]\nminimize norm_nuc(L) + norm1(S)\nsubject to L + S == M\n"
CUT = "data C: symmetric[n]\nvar X: psd[n]\nminimize trace(C @ X)\nsubject to diag(X) == 1\n"


def tasks(n: int, p: int, k: int, on: str = "", norm: str = " + 3 * norm_nuc(W)") -> Any:
    rng = np.random.default_rng(n)
    text = TASKS.format(on=on, norm=norm)
    return fw.parse(text).bind(X=rng.standard_normal((n, p)), Y=rng.standard_normal((n, k)))


def cut(n: int) -> Any:
    C = np.random.default_rng(n).standard_normal((n, n))
    return fw.parse(CUT).bind(C=C + C.T)


@pytest.mark.parametrize("method", ["apg", "pdhg"])
def test_first_order_steps_on_singular_values_do_not_hang_on_the_size(method: str) -> None:
    small, large = (
        METHODS[method].estimate(tasks(*size).canonical, 1e-6).passes for size in ((20, 5, 4), (90, 40, 30))
    )
    assert small == large <= 150.0


@pytest.mark.parametrize(("on", "norm"), [("", " + 3 * norm_nuc(W)"), (" in nuclear_ball(2)", "")])
def test_the_passes_of_singular_values_are_about_those_that_are_taken(on: str, norm: str) -> None:
    problem = tasks(100, 15, 8, on, norm)
    for method in ("apg", "pdhg"):
        solution = problem.solve(method=method, threads=1)
        assert solution.status == "optimal"
        assert (
            solution.passes / 6.0 <= METHODS[method].estimate(problem.canonical, 1e-6).passes <= 6.0 * solution.passes
        )


def test_sums_of_entries_beside_singular_values_take_no_more_steps_where_they_are_larger() -> None:
    """Beside a product with data the steps grow with the system."""
    few, many = (
        METHODS["pdhg"].estimate(
            fw.parse(SPLIT).bind(M=np.random.default_rng(0).standard_normal(shape)).canonical, 1e-6
        )
        for shape in ((6, 5), (40, 30))
    )
    assert few.passes == many.passes


def test_an_iteration_decomposes_each_matrix_of_a_family() -> None:
    text = "data D: tensor[n, d, d], y: vector[n], task: index[n] of T\nvar X: family[T] of psd[d]\nminimize mean(squared(inner(D, X[task]), y))"
    D = np.random.default_rng(0).standard_normal((12, 3, 3))
    two, four = (
        costs.decompositions(fw.parse(text).bind(D=D, y=np.ones(12), task=np.arange(12) % k).canonical) for k in (2, 4)
    )
    assert two > 0.0
    assert four == pytest.approx(2.0 * two)


def test_lengths_decompose_nothing() -> None:
    assert costs.decompositions(tasks(20, 5, 4, norm=" + norm_fro(W)").canonical) == 0.0
    assert "norm_fro" not in costs.SPECTRAL


def test_a_step_of_the_interior_point_turns_each_cone_of_matrices() -> None:
    """Beside the factorisation: a term for each order, and one for the square of each order, n (n + 1) of it."""
    assert size_of(cut(6).canonical).turns == pytest.approx(OF_AN_ORDER + OF_A_MATRIX * 6 * 7)
    text = (
        "data C: symmetric[n]\nvar X: psd[n], Y: psd[n]\nminimize trace(C @ X) + trace(Y)\nsubject to diag(X + Y) == 1"
    )
    assert size_of(fw.parse(text).bind(C=np.eye(6)).canonical).turns == pytest.approx(
        OF_AN_ORDER + 2 * OF_A_MATRIX * 6 * 7
    )


def test_scalings_of_large_cones_are_written_out_where_all_rows_are_dense() -> None:
    """Each of the numbers of one is formed, and multiplied with a row of all unknowns."""
    size = size_of(tasks(60, 15, 8).canonical)
    assert size.kind == "condensed"
    rows = (15 + 8) * (15 + 8 + 1) // 2
    assert size.seconds >= rows**2 * (CONGRUENCE + DENSE_PRODUCT * size.unknowns)


@pytest.mark.parametrize("method", ["apg", "pdhg", "interior"])
def test_what_is_fitted_to_programs_of_matrices_serves_no_others(method: str) -> None:
    vectors = fw.parse(
        "data X: matrix[n, p], y: vector[n]\nvar w: vector[p]\nminimize sum(squared(X @ w, y)) + norm1(w)"
    )
    known = features(vectors.bind(X=np.ones((5, 3)), y=np.ones(5)).canonical)
    assert key_of(method, features(tasks(20, 5, 4).canonical)) == f"{method} of matrices"
    assert f"{method} of matrices" in CONSTANTS
    assert "of matrices" not in key_of(method, known)


def test_a_trace_norm_beside_squares_is_given_to_gradients_and_metrics_of_tasks_to_the_interior_point() -> None:
    """There a step of the interior point costs the cube of the rows of a cone, and here a gradient decomposes four small matrices a few times."""
    assert tasks(60, 12, 8).plan().method == "apg"
    rng = np.random.default_rng(4)
    U = rng.standard_normal((80, 4))
    text = (
        "data U: matrix[n, d], D: tensor[n, d, d], y: signs[n], task: index[n] of T\n"
        "var M: psd[d], Own: family[T] of psd[d], r: real\n"
        "minimize mean(smooth_hinge(r - quad(U, M) - inner(D, Own[task]), y)) + 0.01 * sum_squares(M) + 0.05 * sum_squares(Own)\n"
    )
    y = np.where((U[:, :2] ** 2).sum(axis=1) < 1.4, 1.0, -1.0)
    problem = fw.parse(text).bind(U=U, D=U[:, :, None] * U[:, None, :], y=y, task=np.arange(80) % 3)
    assert problem.plan().method == "interior"
