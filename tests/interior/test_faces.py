"""Cones of matrices on a face: equations X w = 0 leave no interior."""

from __future__ import annotations

import numpy as np
import pytest

import fwdsl as fw
from fwdsl.backends.interior.faces import Faced, faced
from fwdsl.backends.interior.program import ConicProgram
from fwdsl.backends.problem import PreparedProblem


def _program(problem: fw.Problem) -> ConicProgram:
    return faced(ConicProgram.of(problem.canonical, lambda: None))


def _distances(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Squared distances of points of the plane, with noise, and which are known."""
    rng = np.random.default_rng(5)
    places = rng.normal(size=(n, 2))
    D = ((places[:, None] - places) ** 2).sum(axis=2) + np.abs(0.1 * rng.normal(size=(n, n)))
    known = np.triu(rng.random((n, n)) < 0.6, 1)
    return 0.5 * (D + D.T), (known | known.T).astype(float)


CENTRED = """
data D: symmetric[n], W: symmetric[n]
var G: psd[n]
minimize sum_squares(W * (outer(diag(G), ones(n)) + outer(ones(n), diag(G)) - 2 * G - D)) + 0.1 * trace(G)
subject to G @ ones(n) == 0
"""


@pytest.mark.parametrize("n", [4, 9, 20])
def test_centred_places_from_distances_take_the_interior_point(n: int) -> None:
    D, W = _distances(n)
    solution = fw.parse(CENTRED).bind(D=D, W=W).solve(threads=1)
    assert (solution.status, solution.method) == ("optimal", "interior")
    G = solution.variables["G"]
    assert np.abs(G @ np.ones(n)).max() <= 1e-9 * np.abs(G).max()
    other = fw.parse(CENTRED).bind(D=D, W=W).solve(threads=1, method="pdhg", tol=1e-7)
    assert solution.objective == pytest.approx(other.objective, rel=3e-6)


def test_the_multiplier_of_the_smaller_cone_is_one_of_the_larger_cone() -> None:
    n = 5
    w = np.array([1.0, -2.0, 0.0, 0.5, 3.0])
    problem = fw.parse(
        "data C: symmetric[n], w: vector[n]\nvar X: psd[n]\nminimize trace(C @ X)\nsubject to X @ w == 0"
    ).bind(C=np.eye(n), w=w)
    program = _program(problem)
    assert isinstance(program, Faced)
    (batch,) = (k for k in program.batches if k.kind == "semidefinite")
    assert batch.rows == 10
    prepared = PreparedProblem(problem.canonical, 1)
    z = np.zeros(program.b.size)
    # the identity of order 4
    z[batch.start + np.array([0, 4, 7, 9])] = 1.0
    on_face = np.eye(n) - np.outer(w, w) / (w @ w)
    whole, (i, j) = np.zeros((n, n)), np.triu_indices(n)
    left = -(program.A.T @ z)
    whole[i, j] = whole[j, i] = np.where(i == j, left, 0.5 * left)
    np.testing.assert_allclose(whole, on_face, atol=1e-12)
    # of the cone of X it is B B' + t w w', and the equations take t w w' back
    Z = whole + prepared.adjoint(program.multipliers(np.zeros(program.c.size), z)).reshape(n, n)
    np.testing.assert_allclose(Z - on_face, np.outer(w, w) * (w @ Z @ w) / (w @ w) ** 2, atol=1e-12)
    assert float(w @ Z @ w) > 0.0


W = np.array([1.0, 2.0, -1.0, 0.5])
TWO = np.random.default_rng(3).normal(size=(4, 2))
FIRST = np.eye(4)[:, :1]


@pytest.mark.parametrize(
    ("rows", "order", "across"),
    [
        ("X @ w == 0", 3, W[:, None]),
        ("w @ X == 0", 3, W[:, None]),
        ("X @ B == 0", 2, TWO),
        ("X[0] == 0", 3, FIRST),
        # these leave an interior
        ("(X @ w)[:2] == 0", 4, None),
        ("X @ w == w", 4, None),
    ],
)
def test_which_equations_tell_of_a_face(rows: str, order: int, across: np.ndarray | None) -> None:
    """X = -B (B'C B)_- B' / 2 is the point of least <C, X> + |X|^2 on the face of B."""
    text = f"data w: vector[4], B: matrix[4, 2], C: symmetric[4]\nvar X: psd[4]\nminimize trace(C @ X) + sum_squares(X)\nsubject to {rows}"
    C = np.random.default_rng(4).normal(size=(4, 4))
    problem = fw.parse(text).bind(w=W, B=TWO, C=C + C.T)
    batches = [k for k in _program(problem).batches if k.kind == "semidefinite"]
    assert [k.rows for k in batches] == [order * (order + 1) // 2]
    solution = problem.solve(threads=1, method="interior")
    assert solution.status == "optimal"
    if across is not None:
        basis = np.linalg.svd(across)[0][:, across.shape[1] :]
        values = np.linalg.eigvalsh(basis.T @ (C + C.T) @ basis)
        assert solution.objective == pytest.approx(-0.25 * np.square(np.minimum(values, 0.0)).sum(), rel=3e-6)


def test_an_entry_of_the_diagonal_is_no_equation_of_a_face() -> None:
    """X[0, 0] == 0 says that the whole row is 0, in the cone alone. No multiplier is the best then: how near a bound comes hangs on rounding."""
    C = np.random.default_rng(4).normal(size=(4, 4))
    C += C.T
    text = "data C: symmetric[4]\nvar X: psd[4]\nminimize trace(C @ X) + sum_squares(X)\nsubject to X[0, 0] == 0"
    problem = fw.parse(text).bind(C=C)
    assert [k.rows for k in _program(problem).batches if k.kind == "semidefinite"] == [10]
    solution = problem.solve(threads=1, method="interior", tol=1e-4)
    best = -0.25 * np.square(np.minimum(np.linalg.eigvalsh(C[1:, 1:]), 0.0)).sum()
    assert solution.dual_bound <= best + 1e-9
    assert solution.objective == pytest.approx(best, rel=1e-2)


def test_a_program_without_a_point_on_the_face_is_infeasible() -> None:
    text = "var X: psd[3]\nminimize trace(X)\nsubject to\n    X @ ones(3) == 0\n    sum(X[:2, :2]) + 2 * X[0, 2] + 2 * X[1, 2] + X[2, 2] == 1\n"
    assert fw.parse(text).solve(threads=1, method="interior").status == "infeasible"


def test_a_program_that_falls_along_a_face_is_unbounded() -> None:
    text = "var X: psd[3]\nmaximize trace(X)\nsubject to X @ ones(3) == 0\n"
    assert fw.parse(text).solve(threads=1, method="interior").status == "unbounded"


@pytest.mark.parametrize("seed", range(4))
def test_vectors_whose_zeros_are_alike_have_a_face_without_rounding(seed: int) -> None:
    """Rounding of zeros among the numbers of the smaller cone was levelled as if it were data, and no answer was found."""
    rng = np.random.default_rng(seed)
    a, b = np.array([0.0, 0.0, 1.0, 0.3, 0.0]), np.array([0.0, 0.0, 0.0, 1.0, 0.0])
    C = rng.normal(size=(5, 5))
    C = C + C.T
    problem = fw.parse("""
data C: symmetric[n], a: vector[n], b: vector[n]
var X: psd[n]
minimize sum_squares(X - C)
subject to
    X @ a == 0
    X @ b == 0
""").bind(C=C, a=a, b=b)
    turned = _program(problem)
    assert isinstance(turned, Faced)
    entries = np.abs(turned.A.data[turned.A.data != 0.0])
    assert entries.min() >= 1e-6 * entries.max()
    solution = problem.solve(method="interior", threads=1)
    values = np.linalg.eigvalsh(C[np.ix_([0, 1, 4], [0, 1, 4])])
    best = float((C * C).sum() - np.square(np.maximum(values, 0.0)).sum())
    assert solution.status == "optimal"
    assert solution.objective == pytest.approx(best, rel=1e-6)


CENTRE = "\n    X @ ones(n) == 0"


@pytest.mark.parametrize(
    "constraints",
    [b + c for b in ("trace(X) <= 1", "lambda_max(X) <= 1") for c in ("", CENTRE)] + ["eye(n) - X in psd"],
)
def test_a_matrix_of_zeros_is_certified_whatever_constraint_has_room_there(constraints: str) -> None:
    """A multiplier of 1e-26 of that constraint was a bound beside an optimum of 0, which no relative gap forgives."""
    C = np.random.default_rng(0).normal(size=(6, 6))
    text = f"data C: symmetric[n]\nvar X: psd[n]\nmaximize sum(C * X) - norm1(X)\nsubject to\n    {constraints}"
    solution = fw.parse(text).bind(C=0.1 * (C + C.T)).solve(method="interior", threads=1)
    assert solution.status == "optimal"
    assert solution.objective == solution.dual_bound == 0.0
