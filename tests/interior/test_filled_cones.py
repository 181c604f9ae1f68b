"""Condensed systems beside cones of matrices: those of the whole program, and the same answers."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp

import fwdsl as fw
from fwdsl.atoms.base import Array
from fwdsl.backends.interior.cones import KINDS, SecondOrder
from fwdsl.backends.interior.directions import scalings_of
from fwdsl.backends.interior.filled_cones import FilledCones
from fwdsl.backends.interior.program import Batch
from fwdsl.backends.interior.sizes import size_of
from fwdsl.backends.interior.system import Systems

BATCHES = (
    Batch("zero", 0, 1, 2),
    Batch("nonnegative", 2, 1, 7),
    Batch("second_order", 9, 2, 3),
    Batch("semidefinite", 15, 1, 6),
    Batch("semidefinite", 21, 2, 3),
    Batch("semidefinite", 27, 1, 10),
    Batch("exponential", 37, 1, 3),
)


def rows_of(rng: np.random.Generator, n: int) -> Array:
    """Equations and bounds, a cone of lengths of all unknowns, one of entries of its own and two of a few, and one of most of a range."""
    A = np.zeros((BATCHES[-1].stop, n))
    A[:2] = rng.standard_normal((2, n))
    A[2 + np.arange(7), np.arange(7)] = 1.0
    A[9:15] = rng.standard_normal((6, n))
    A[15 + np.arange(6), [11, 3, 8, 0, 5, 2]] = rng.uniform(0.5, 2.0, 6)
    A[21:27, [1, 9]] = rng.standard_normal((6, 2))
    A[27:37, 4:] = rng.standard_normal((10, n - 4))
    A[27:37, 6] = 0.0
    A[37:, :3] = rng.standard_normal((3, 3))
    return A


def point(rng: np.random.Generator) -> tuple[Array, Array]:
    """s and z in the interior of all cones."""
    found: list[Array] = []
    for _ in range(2):
        v = np.zeros(BATCHES[-1].stop)
        for batch in BATCHES[1:]:
            unit = KINDS[batch.kind].unit(batch)
            v[batch.start : batch.stop] = unit * rng.uniform(0.9, 1.1) + 0.02 * rng.standard_normal(unit.size)
        found.append(v)
    return found[0], found[1]


@pytest.mark.parametrize("curved", [False, True])
def test_a_system_has_the_answers_of_the_whole_one(curved: bool) -> None:
    """[P, B'; B, -1] of B = W^-T A, with 0 in place of 1 for equations."""
    rng, n = np.random.default_rng(7), 12
    A = rows_of(rng, n)
    root = rng.standard_normal((n, n)) if curved else np.zeros((n, n))
    P = root @ root.T
    scalings = scalings_of(BATCHES, *point(rng))
    systems = Systems(P, sp.csr_array(A), BATCHES, "condensed", lambda: None, lambda: None)
    assert isinstance(systems.filled, FilledCones)
    system = systems.at(BATCHES, scalings)
    p, r = rng.standard_normal(n), rng.standard_normal(A.shape[0])
    v, u = system(p, r)
    B = np.column_stack([scalings.inverse_t(column) for column in A.T])
    assert P @ v + B.T @ u == pytest.approx(p, rel=1e-8, abs=1e-8)
    assert B @ v - np.where(np.arange(r.size) < 2, 0.0, u) == pytest.approx(r, rel=1e-8, abs=1e-8)
    for found, expected in zip(system.products(p, r), (B @ p, B.T @ r), strict=True):
        assert found == pytest.approx(expected, rel=1e-9, abs=1e-9)
    for found, expected in zip(systems.known(p, r), (A @ p, A.T @ r), strict=True):
        assert found == pytest.approx(expected, rel=1e-12, abs=1e-12)


def test_unknowns_of_one_entry_have_their_squares_without_a_product() -> None:
    """Two cones of matrices, one with an unknown that all its rows see, and a long cone of few numbers: the squares are those of B = W^-T A."""
    batches = (Batch("second_order", 0, 1, 15), Batch("semidefinite", 15, 2, 6))
    rng, n = np.random.default_rng(11), 20
    A = np.zeros((27, n))
    A[0, 19], A[np.arange(1, 15), np.arange(14)] = 1.0, rng.uniform(0.5, 2.0, 14)
    A[14, 15] = 0.7
    A[15 + np.arange(6), [3, 1, 8, 0, 12, 2]] = rng.uniform(0.5, 2.0, 6)
    A[15 + np.arange(6), 5] = rng.standard_normal(6)
    A[21:] = rng.standard_normal((6, n))
    s, z = (np.concatenate([KINDS[k.kind].unit(k) for k in batches]) + 0.05 * rng.standard_normal(27) for _ in range(2))
    scalings = scalings_of(batches, s, z)
    systems = Systems(np.eye(n), sp.csr_array(A), batches, "condensed", lambda: None, lambda: None)
    assert isinstance(systems.filled, FilledCones)
    matrix = np.zeros((n, n), order="F")
    for part in systems.filled.filled:
        part.add(matrix, scalings, lambda: None)
    for of in systems.filled.long:
        scaling = scalings[of.batch]
        assert isinstance(scaling, SecondOrder)
        of.add_squares(matrix, scaling, lambda: None)
    B = np.column_stack([scalings.inverse_t(column) for column in A.T])
    np.testing.assert_allclose(np.tril(matrix), np.tril(B.T @ B), rtol=1e-9, atol=1e-9 * np.abs(B).max() ** 2)
    assert sorted(type(part).__name__ for part in systems.filled.filled) == ["_Matrix", "_Rows"]
    assert len(systems.filled.long) == 1


def test_a_singular_system_is_left_to_one_that_keeps_multipliers() -> None:
    """The second unknown sees what the first one does, but for less than squares tell."""
    batches = (Batch("semidefinite", 0, 2, 6),)
    rng, n = np.random.default_rng(12), 8
    A = rng.standard_normal((12, n))
    A[:, 1] = A[:, 0]
    A *= 1e9
    unit = KINDS["semidefinite"].unit(batches[0])
    scalings = scalings_of(batches, unit, unit)
    systems = Systems(-1e6 * np.eye(n), sp.csr_array(A), batches, "condensed", lambda: None, lambda: None)
    p, r = rng.standard_normal(n), rng.standard_normal(12)
    v, u = systems.at(batches, scalings)(p, r)
    assert systems.filled is None
    assert A @ v - u == pytest.approx(r, rel=1e-6, abs=1e-6)


def test_a_matrix_inequality_is_solved_by_it() -> None:
    """Lyapunov's, as cvxpy has it."""
    n = 14
    A = np.random.default_rng(3).standard_normal((n, n)) - 2.0 * np.sqrt(n) * np.eye(n)
    text = (
        "data A: matrix[n, n]\nvar P: symmetric[n] in psd\nminimize trace(P)\n"
        "subject to -(A.T @ P + P @ A) - eye(n) in psd\n"
    )
    problem = fw.parse(text).bind(A=A)
    assert size_of(problem.canonical).kind == "condensed"
    found = problem.solve(method="interior", tol=1e-8)
    P = cp.Variable((n, n), symmetric=True)
    stated = cp.Problem(cp.Minimize(cp.trace(P)), [P >> 0, -(A.T @ P + P @ A) - np.eye(n) >> 0])
    assert found.status == "optimal"
    assert found.objective == pytest.approx(stated.solve(solver=cp.CLARABEL), rel=1e-6)
