"""Factors and triangles: small ones by NumPy and large ones by LAPACK solve the same systems."""

from __future__ import annotations

import subprocess
import sys
from typing import Literal

import numpy as np
import pytest

from fwdsl.backends import factors
from fwdsl.backends.factors import block_of, by_cholesky, by_triangle, cholesky, inverse_of_lower

ORDERS = (1, 5, factors.SMALL, factors.SMALL + 1, 60)


@pytest.mark.parametrize("n", ORDERS)
@pytest.mark.parametrize("columns", [None, 3])
def test_a_definite_system_is_solved(n: int, columns: int | None) -> None:
    rng = np.random.default_rng(n)
    A = rng.standard_normal((n, n))
    H = A @ A.T + np.eye(n)
    right = rng.standard_normal(n if columns is None else (n, columns))
    L = cholesky(H.copy())
    assert L is not None
    np.testing.assert_allclose(H @ by_cholesky(L, right), right, atol=1e-9)


@pytest.mark.parametrize("n", ORDERS)
def test_what_is_not_definite_has_no_factor(n: int) -> None:
    assert cholesky(np.diag(np.r_[np.ones(n - 1), -1.0])) is None


@pytest.mark.parametrize("n", ORDERS)
@pytest.mark.parametrize("transposed", [False, True])
def test_a_triangle_is_solved(n: int, transposed: bool) -> None:
    rng = np.random.default_rng(n)
    T = np.linalg.qr(rng.standard_normal((n + 5, n)), mode="r")
    right = rng.standard_normal(n)
    found = by_triangle(T, right, transposed)
    np.testing.assert_allclose((T.T if transposed else T) @ found, right, atol=1e-9 * float(np.linalg.cond(T)))


@pytest.mark.parametrize("n", ORDERS)
def test_a_lower_triangle_is_inverted(n: int) -> None:
    L = np.eye(n) + 0.1 * np.random.default_rng(n).standard_normal((n, n))
    np.testing.assert_allclose(np.tril(L) @ inverse_of_lower(L.copy(order="F")), np.eye(n), atol=1e-9)


def test_a_small_problem_is_solved_without_scipys_linear_algebra() -> None:
    text = "data R: matrix[3, 2] = [[1, 2], [3, 1], [0, 1]], t: vector[3] = [1, 2, 1]\nvar x: vector[2]\nminimize mean(squared(R @ x, t))\n"
    for more in ("subject to x in simplex(1)\n", "", "subject to x >= 0\n"):
        program = f"import sys, fwdsl as fw; s = fw.parse({text + more!r}).solve(); print(s.status, 'scipy.linalg' in sys.modules)"
        # numba needs it to compile kernels, so the first of two processes does that
        subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
        assert done.stdout.split() == ["optimal", "False"]


@pytest.mark.parametrize("order", ["C", "F"])
def test_a_block_is_a_copy_of_some_rows_and_columns(order: Literal["C", "F"]) -> None:
    matrix = np.array(np.arange(30.0).reshape(5, 6), order=order)
    rows, columns = np.array([4, 0, 0]), np.array([1, 5])
    np.testing.assert_array_equal(block_of(matrix, rows, columns), matrix[np.ix_(rows, columns)])
    found = block_of(matrix, rows)
    np.testing.assert_array_equal(found, matrix[np.ix_(rows, rows)])
    found[:] = -1.0
    assert matrix.min() == 0.0
