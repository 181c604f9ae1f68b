"""Large proximal steps of the general method: their pieces, their systems, and what they save."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import fwdsl as fw
from fwdsl.atoms.vectors.norm_inf import NormInf
from fwdsl.backends.functions import FastVector, prox_conjugate
from fwdsl.backends.pdhg.entries import entries, reached, readable
from fwdsl.backends.pdhg.method import FIRST_LEAP
from fwdsl.backends.pdhg.pdhg import PDHGRun
from fwdsl.backends.pdhg.pieces import AffinePiece, of_conjugate, of_prox
from fwdsl.backends.pdhg.proximal import INNER, Centre, Proximal
from fwdsl.backends.problem import PreparedProblem
from fwdsl.canon.build import as_written
from fwdsl.canon.combined_maps import Compose
from fwdsl.canon.data_maps import Matrix
from fwdsl.canon.matrix_maps import Quad

RNG = np.random.default_rng(3)
A = RNG.standard_normal((30, 6))
LABELS = RNG.integers(0, 3, 30)


def problem(text: str, **data: Any) -> PreparedProblem:
    canonical, diagnostics = as_written(fw.parse(text).bind(**data).instance)
    assert canonical is not None, diagnostics
    return PreparedProblem(canonical, 1)


def head(more: str, kind: str = "vector[n]") -> str:
    return f"data A: matrix[n, p], y: {kind}\nvar x: vector[p]{more}\n"


def jacobian(piece: AffinePiece, size: int) -> np.ndarray:
    """D = B diag(s) B^+."""
    B = np.stack([piece.along(e, size) for e in np.eye(piece.count)], axis=1) if piece.count else np.zeros((size, 0))
    return np.asarray(B @ np.diag(piece.share) @ np.linalg.pinv(B))


def differences(prox: Any, v: np.ndarray) -> np.ndarray:
    h = 1e-7
    return np.stack([(prox(v + h * e) - prox(v - h * e)) / (2 * h) for e in np.eye(v.size)], axis=1)


@pytest.mark.parametrize(
    "objective",
    [
        "mean(quantile(A @ x, y, tau=0.3))",
        "mean(epsilon_insensitive(A @ x, y, eps=0.4))",
        "mean(huber(A @ x, y))",
        "mean(squared(A @ x, y))",
        "norm1(A @ x - y)",
        "norm_inf(A @ x - y)",
    ],
)
def test_the_piece_of_a_dual_prox_has_its_jacobian(objective: str) -> None:
    pr = problem(head("") + f"minimize {objective}\n", A=A, y=A @ np.ones(6) + RNG.standard_normal(30))
    f = pr.functions[0]
    moved = 0
    for seed in range(5):
        w = np.random.default_rng(seed).standard_normal(30) * (0.3 if "norm" in objective else 0.05)
        sigma = 0.05

        def prox(v: np.ndarray) -> np.ndarray:
            out = np.empty_like(v)
            prox_conjugate(f, v.copy(), 0.05, out)
            return out

        piece = of_conjugate(f, w, prox(w), sigma)
        assert piece is not None
        moved += piece.count
        np.testing.assert_allclose(jacobian(piece, 30), differences(prox, w), atol=2e-5)
    assert moved > 0


@pytest.mark.parametrize("loss", ["multiclass_hinge", "weston_watkins"])
def test_the_piece_of_rows_has_their_jacobian(loss: str) -> None:
    text = f"data A: matrix[n, p], y: labels[n, k]\nvar W: matrix[p, k]\nminimize sum({loss}(A @ W, y))\n"
    pr = problem(text, A=A, y=LABELS)
    f = pr.functions[0]
    w = RNG.standard_normal(90)

    def prox(v: np.ndarray) -> np.ndarray:
        out = np.empty_like(v)
        prox_conjugate(f, v.copy(), 0.7, out)
        return out

    piece = of_conjugate(f, w, prox(w), 0.7)
    assert piece is not None and piece.count > 5
    span = jacobian(piece, 90)
    found = differences(prox, w)
    # the projection is oblique for Weston and Watkins: the result moves within the directions, and every one of them
    np.testing.assert_allclose(span @ found, found, atol=1e-6)
    assert np.linalg.matrix_rank(found, tol=1e-5) == piece.count


@pytest.mark.parametrize("where", ["", " in nonnegative", " in box(-0.3, 0.2)", " in simplex(1)", " in l1_ball(0.5)"])
@pytest.mark.parametrize("penalty", ["", " + 0.4 * norm1(x)", " + 0.3 * sum_squares(x)"])
def test_the_piece_of_a_primal_prox_has_its_jacobian(where: str, penalty: str) -> None:
    pr = problem(head(where) + f"minimize mean(absolute(A @ x, y)){penalty}\n", A=A, y=A[:, 0])
    g = pr.g[0]
    for seed in range(5):
        v = np.random.default_rng(seed).standard_normal(6)

        def prox(u: np.ndarray) -> np.ndarray:
            out = np.empty_like(u)
            g.prox(u, 0.5, out)
            return out

        piece = of_prox(g, prox(v), 0.5)
        if piece is None:
            assert "sum_squares" in penalty and g.entries is None
            continue
        np.testing.assert_allclose(jacobian(piece, 6), differences(prox, v), atol=1e-6)


def test_a_projection_that_nothing_exceeds_is_the_identity() -> None:
    w = np.array([0.2, -0.1, 0.0])
    piece = of_conjugate(FastVector(NormInf(3, 1.0)), w, w, 1.0)
    assert piece is not None
    np.testing.assert_array_equal(jacobian(piece, 3), np.eye(3))


MAPS = [
    "norm1(A @ x - y)",
    "norm1(A[:, 1:4] @ x[1:4] - y)",
    "norm1(x[1:] - x[:-1])",
    "norm1(diag(c) @ x - c)",
    "norm1(3 * x[2:5])",
    "norm1(A @ (diag(c) @ x) - y)",
    "norm1(A.T @ (A @ x))",
    "norm1(x)\nsubject to dot(c, x) <= 1",
]


@pytest.mark.parametrize("form", [np.asarray, np.asfortranarray, sp.csr_array, sp.csc_array])
@pytest.mark.parametrize("term", MAPS)
def test_entries_are_those_of_the_map(term: str, form: Any) -> None:
    text = "data A: matrix[n, p], y: vector[n], c: vector[p]\nvar x: vector[p]\nminimize sum_squares(x) + "
    pr = problem(text + term + "\n", A=form(A), y=A[:, 0], c=np.arange(6.0))
    rows, columns = np.array([0, 2]), np.array([1, 3, 4])
    for t in pr.terms:
        for b, m in t.map.parts:
            full = np.stack([m.apply(e).copy() for e in np.eye(b.size)], axis=1)
            at = rows[rows < m.rows]
            np.testing.assert_allclose(entries(m, at, columns), full[np.ix_(at, columns)], atol=1e-14)
            live = reached(m, columns)
            if live is not None:
                assert set(np.flatnonzero(full[:, columns].any(axis=1))) <= set(live)


def test_entries_of_a_product_with_a_matrix_variable() -> None:
    text = "data A: matrix[n, p], y: labels[n, k]\nvar W: matrix[p, k], b: vector[k]\n"
    pr = problem(text + "minimize mean(multiclass_hinge(A @ W + b, y)) + norm1(W)\n", A=A, y=LABELS)
    rows, columns = np.arange(0, 90, 7), np.arange(3)
    for b, m in pr.terms[0].map.parts:
        full = np.stack([m.apply(e).copy() for e in np.eye(b.size)], axis=1)
        np.testing.assert_allclose(entries(m, rows, columns), full[np.ix_(rows, columns)])
        assert readable(m)


def test_a_proximal_step_minimises_its_function() -> None:
    pr = problem(head("\nvar b: real") + "minimize mean(absolute(A @ x + b, y)) + 0.1 * norm1(x)\n", A=A, y=A[:, 0] - 1)
    x, ys = np.zeros(7), [np.zeros(30)]
    centre = Centre(x, ys, np.zeros(7), pr.linear(x))
    step = Proximal(pr, [0.2] * 2, [0.2], 1e-2, centre)
    found = step.solve(np.inf)
    assert found.converged and found.steps > 0
    t = found.trial
    # the optimality conditions of the three proxes and of x together
    residual = pr.q + 1e-2 / 0.2 * t.x + pr.adjoint(t.ys) + t.s
    assert np.linalg.norm(residual) <= INNER * 1e-2 * np.linalg.norm(t.x) / 0.2 + 1e-12
    y = np.empty(30)
    prox_conjugate(pr.functions[0], 20.0 * (pr.linear(t.x)[0] + pr.terms[0].map.offset), 20.0, y)
    np.testing.assert_allclose(t.ys[0], y, atol=1e-12)


PROGRAMS = {
    "quantile": "var w: vector[p], b: real\nminimize mean(quantile(A @ w + b, y, tau=0.9))\nsubject to\n"
    "    -1 <= w <= 1\n    w[1:] >= w[:-1]\n",
    "chebyshev": "var w: vector[p], b: real\nminimize norm_inf(A @ w + b - y)\n",
    "deviations": "var w: vector[p], b: real\nminimize mean(absolute(A @ w + b, y)) + 0.02 * norm1(w)\n",
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_large_steps_save_most_iterations(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    X = rng.standard_normal((200, 12)) + rng.standard_normal((200, 1))
    data = {"A": X, "y": X @ np.linspace(-0.5, 1.5, 12) + rng.exponential(2.0, 200)}
    text = "data A: matrix[n, p], y: vector[n]\n" + PROGRAMS[name]
    with_them = fw.parse(text).bind(**data).solve(tol=1e-7, method="pdhg", threads=1)
    monkeypatch.setattr(PDHGRun, "_leap", lambda self: False)
    without = fw.parse(text).bind(**data).solve(tol=1e-7, method="pdhg", threads=1)
    assert with_them.status == without.status == "optimal"
    assert with_them.objective == pytest.approx(without.objective, rel=2e-7)
    assert with_them.iterations <= max(FIRST_LEAP + 10, without.iterations // 2), (
        with_them.iterations,
        without.iterations,
    )


def test_maps_that_need_products_with_data_take_no_large_steps() -> None:
    assert not readable(Quad(A))
    assert not readable(Compose(Matrix(A.T), Quad(A)))


def test_large_steps_do_not_depend_on_the_number_of_threads() -> None:
    rng = np.random.default_rng(2)
    X = rng.standard_normal((200, 12))
    data = {"A": X, "y": X @ rng.standard_normal(12) + rng.standard_normal(200)}
    bound = fw.parse("data A: matrix[n, p], y: vector[n]\n" + PROGRAMS["quantile"]).bind(**data)
    one, two = (bound.solve(tol=1e-7, method="pdhg", threads=k) for k in (1, 2))
    assert one.iterations == two.iterations >= FIRST_LEAP
    np.testing.assert_array_equal(one["w"], two["w"])
