"""Products with the Hessian and Gram matrices of all classes by blocks of rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import fwdsl as fw
from fwdsl.backends.problem import PreparedProblem
from fwdsl.backends.smooth.classes import ClassBlocks
from fwdsl.backends.smooth.columns import parts_of_predictions
from fwdsl.backends.smooth.newton import _root_of_parabola
from fwdsl.backends.smooth.rows import ByRows
from tests.problems import laid_out

SOFTMAX = "data A: matrix[n, d], y: labels[n, k]\nvar W: matrix[d, k]{b}\nminimize mean(softmax({z}, y)) + 0.1 * sum_squares(W)\n"
HUBER = "data A: matrix[n, d], Y: matrix[n, k]\nvar W: matrix[d, k], b: vector[k]\nminimize sum(huber(A @ W + 2 * b, Y)) + 0.1 * sum_squares(W)\n"


def prepared(kind: str, layout: str, threads: int = 1, n: int = 3_000, d: int = 7, k: int = 5) -> PreparedProblem:
    rng = np.random.default_rng(0)
    A = laid_out(rng.standard_normal((n, d)), layout)
    if kind == "huber":
        return PreparedProblem(fw.parse(HUBER).bind(A=A, Y=rng.standard_normal((n, k))).canonical, threads)
    with_b = kind == "intercept"
    text = SOFTMAX.format(b=", b: vector[k]" if with_b else "", z="0.5 * (A @ W) + b" if with_b else "A @ W")
    return PreparedProblem(fw.parse(text).bind(A=A, y=np.arange(n) % k, k=k).canonical, threads)


def rows_of(problem: PreparedProblem) -> Any:
    return ByRows.of(problem, parts_of_predictions(problem.canonical))


@pytest.mark.parametrize("kind", ["plain", "intercept", "huber"])
@pytest.mark.parametrize("layout", ["dense", "float32"])
def test_a_product_is_that_of_the_maps(kind: str, layout: str) -> None:
    problem = prepared(kind, layout)
    rng = np.random.default_rng(1)
    x, p = rng.standard_normal(problem.size), rng.standard_normal(problem.size)
    hs = problem.curvatures(problem.forward(x))
    expected = problem.adjoint(problem.bent(hs, problem.linear(p)))
    found = rows_of(problem).bent(hs[0], p)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12 * float(np.abs(expected).max()))


@pytest.mark.parametrize("kind", ["plain", "intercept", "huber"])
def test_gram_matrices_at_once_are_those_one_by_one(kind: str) -> None:
    problem = prepared(kind, "dense")
    parts = parts_of_predictions(problem.canonical)
    assert parts is not None and parts.at_once
    (h,) = problem.curvatures(problem.forward(np.random.default_rng(2).standard_normal(problem.size)))
    ridge = np.full(problem.size, 0.1)
    one, all_ = ClassBlocks(problem, parts, ridge), ClassBlocks(problem, parts, ridge, rows_of(problem))
    for a, b in zip(one._grams(h, parts.k), all_._grams(h, parts.k), strict=True):
        np.testing.assert_allclose(a, b, rtol=0, atol=1e-12 * float(np.abs(a).max()))


def test_threads_change_nothing() -> None:
    found = []
    for threads in (1, 2):
        problem = prepared("intercept", "dense", threads, n=60_000)
        rows = rows_of(problem)
        assert len(rows.sums.leaves) > 1
        (h,) = problem.curvatures(problem.forward(np.linspace(-1.0, 1.0, problem.size)))
        found.append((rows.bent(h, np.linspace(1.0, 2.0, problem.size)), rows.grams(h)))
    assert all(np.array_equal(a, b) for a, b in zip(*found, strict=True))


@pytest.mark.parametrize("layout", ["csr", "fortran"])
def test_other_data_have_no_dense_rows(layout: str) -> None:
    assert rows_of(prepared("plain", layout)) is None


def test_the_root_of_a_parabola() -> None:
    """slope(t) = -2 + t + t^2 has the root 1 and the slope 1 at 0; -3 + 2 t - t^2 / 4 none but where it rises; 1 + t^2 none."""

    def slope(t: float) -> float:
        return -2.0 + t + t * t

    assert _root_of_parabola([(0.0, -2.0), (0.0, -2.0), (3.0, slope(3.0))], 1.0) == pytest.approx(1.0, rel=1e-12)
    assert _root_of_parabola([(t, slope(t)) for t in (0.0, 0.5, 2.0)], 9.0) == pytest.approx(1.0, rel=1e-12)
    bent = [(t, -3.0 + 2.0 * t - 0.25 * t * t) for t in (0.0, 1.0, 3.0)]
    assert _root_of_parabola(bent, 0.0) == pytest.approx(2.0, rel=1e-12)
    assert np.isnan(_root_of_parabola([(t, 1.0 + t * t) for t in (0.0, 1.0, 2.0)], 0.0))
    assert np.isnan(_root_of_parabola([(0.0, -1.0), (1.0, 2.0), (1.0, 2.0)], 0.0))
