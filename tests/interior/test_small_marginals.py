"""Transport between distributions with tails: marginals of 1e-14 and less, met beside their own size, and dual points that are exact."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linprog

import fwdsl as fw

BARYCENTRE = """
data C: matrix[n, n], A: matrix[3, n]
var S: matrix[n, n] in nonnegative, T: matrix[n, n] in nonnegative, U: matrix[n, n] in nonnegative, b: vector[n]
minimize sum(C * S) + sum(C * T) + sum(C * U)
subject to
    sum(S, axis=1) == A[0]
    sum(T, axis=1) == A[1]
    sum(U, axis=1) == A[2]
    sum(S, axis=0) == b
    sum(T, axis=0) == b
    sum(U, axis=0) == b
"""


def distribution(n: int, centre: float, width: float) -> np.ndarray:
    found = np.exp(-((np.arange(n) - centre * n) ** 2) / width)
    return found / found.sum()


@pytest.mark.parametrize(("n", "width"), [(20, 8.0), (40, 2.0), (40, 8.0)])
def test_the_barycentre_of_distributions_with_tails(n: int, width: float) -> None:
    C = (np.arange(n)[:, None] - np.arange(n)) ** 2 / n**2
    A = np.array([distribution(n, centre, width) for centre in (0.2, 0.5, 0.75)])
    found = fw.parse(BARYCENTRE).bind(C=C, A=A).solve(tol=1e-6, method="interior")
    # plans one after the other, then b
    rows, columns = np.kron(np.eye(n), np.ones(n)), np.kron(np.ones(n), np.eye(n))
    none, own = np.zeros_like(rows), np.eye(n)
    equations = [
        row
        for k in range(3)
        for row in (
            np.hstack([*(rows if j == k else none for j in range(3)), np.zeros((n, n))]),
            np.hstack([*(columns if j == k else none for j in range(3)), -own]),
        )
    ]
    right = np.concatenate([part for a in A for part in (a, np.zeros(n))])
    cost = np.concatenate([np.tile(C.ravel(), 3), np.zeros(n)])
    expected = linprog(cost, A_eq=np.vstack(equations), b_eq=right, bounds=(0, None), method="highs-ds")
    assert found.status == "optimal"
    assert found.objective == pytest.approx(expected.fun, rel=3e-6)
    # HiGHS misses equations by up to 1e-7
    assert found.dual_bound <= expected.fun * (1 + 1e-6)
