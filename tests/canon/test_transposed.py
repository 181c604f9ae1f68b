"""Coefficients that are written by rows: the transpose is solved for, and points, multipliers and certificates are those of what is written."""

from __future__ import annotations

import numpy as np
import pytest

import fwdsl as fw
from fwdsl.canon import Rewritten
from fwdsl.oracle import solve_oracle

RNG = np.random.default_rng(4)
X = RNG.standard_normal((30, 8))
Y = X[:, :3] + 0.5 * RNG.standard_normal((30, 3))
DATA = {"X": X, "Y": Y, "U": 0.3 + RNG.random((3, 8)), "y": np.argmax(Y, axis=1), "k": 3}
HEAD = "data X: matrix[n, p], Y: matrix[n, k], U: matrix[k, p], y: labels[n, k]\nvar W: matrix[k, p]\n"
USED = " + 0 * (sum(X) + sum(Y) + sum(U))"
FIT = "mean(squared(X @ W.T, Y))"

#: each written by rows and by columns
PROGRAMS = {
    "groups": (f"minimize {FIT} + 0.1 * norm21(W.T)", "minimize mean(squared(X @ W, Y)) + 0.1 * norm21(W)"),
    "the other way round": (
        "minimize mean(squared(W @ X.T, Y.T)) + sum(rownorm2(W.T))",
        "minimize sum(squared(X @ W, Y)) / k + norm21(W)",
    ),
    "a residual": (
        "minimize 0.01 * sum_squares(2 * (W @ X.T) - Y.T / 2) + 0.1 * norm1(-W)",
        "minimize 0.01 * sum_squares(2 * (X @ W) - Y / 2) + 0.1 * norm1(-W)",
    ),
    "sizes": (f"minimize {FIT} + 0.1 * norm1(W)", "minimize mean(squared(X @ W, Y)) + 0.1 * norm1(W)"),
    "few that are far off": (
        "minimize mean(huber(W @ X.T, Y.T, 0.3)) + 0.1 * norm1(W)",
        "minimize sum(huber(X @ W, Y, 0.3)) / k + 0.1 * norm1(W)",
    ),
    "squares": (f"minimize {FIT} + 0.1 * sum_squares(W)", "minimize mean(squared(X @ W, Y)) + 0.1 * sum_squares(W)"),
    "singular values": (f"minimize {FIT} + 0.1 * norm_nuc(W)", "minimize mean(squared(X @ W, Y)) + 0.1 * norm_nuc(W)"),
    "classes": (
        "minimize mean(softmax(X @ W.T, y)) + 0.05 * norm1(W)",
        "minimize mean(softmax(X @ W, y)) + 0.05 * norm1(W)",
    ),
    "classes of a product": (
        "minimize mean(softmax((W @ X.T).T, y)) + 0.05 * norm21(W.T)",
        "minimize mean(softmax(X @ W, y)) + 0.05 * norm21(W)",
    ),
    "a box": (
        f"minimize {FIT}\nsubject to c: W in box(-0.2, 0.3)",
        "minimize mean(squared(X @ W, Y))\nsubject to c: W in box(-0.2, 0.3)",
    ),
    "bounds from data": (
        f"minimize {FIT}\nsubject to c: W <= U",
        "minimize mean(squared(X @ W, Y))\nsubject to c: W <= U.T",
    ),
    "equations": (
        f"minimize {FIT}\nsubject to c: W @ X[0] == Y[0], d: W in nonnegative",
        "minimize mean(squared(X @ W, Y))\nsubject to c: W.T @ X[0] == Y[0], d: W in nonnegative",
    ),
    "predictions that are bounded": (
        f"minimize {FIT} + 0.1 * norm1(W)\nsubject to c: W @ X.T <= 0.7",
        "minimize mean(squared(X @ W, Y)) + 0.1 * norm1(W)\nsubject to c: X @ W <= 0.7",
    ),
    "a ball": (
        f"minimize {FIT}\nsubject to c: norm_fro(W) <= 0.5",
        "minimize mean(squared(X @ W, Y))\nsubject to c: norm_fro(W) <= 0.5",
    ),
}


def bound(program: str, by_rows: bool = True) -> fw.Problem:
    head = HEAD if by_rows else HEAD.replace("var W: matrix[k, p]", "var W: matrix[p, k]")
    objective, _, rest = program.partition("\n")
    return fw.parse(head + objective + USED + "\n" + rest).bind(**DATA)


@pytest.mark.parametrize("name", PROGRAMS)
def test_both_ways_have_one_answer(name: str) -> None:
    """The same method, and the multipliers of what was turned turned back."""
    rows, columns = (bound(p, by_rows) for p, by_rows in zip(PROGRAMS[name], (True, False), strict=True))
    assert isinstance(rows.canonical, Rewritten)
    a, b = (p.solve(tol=1e-9, threads=1) for p in (rows, columns))
    assert a.status == "optimal"
    assert name == "singular values" or a.method == b.method  # what is kept as factors has no way back
    assert a.objective == pytest.approx(solve_oracle(columns.instance).value, rel=1e-5, abs=1e-7)
    np.testing.assert_allclose(a["W"], np.asarray(b["W"]).T, atol=1e-4)
    for key, own in a.dual.items():
        other = np.asarray(b.dual[key])
        own = np.asarray(own)
        np.testing.assert_allclose(own, other.T if own.shape != other.shape else other, atol=2e-3)


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_solution_is_a_start(name: str) -> None:
    problem = bound(PROGRAMS[name][0])
    solution = problem.solve(tol=1e-8, threads=1)
    again = problem.solve(tol=1e-7, threads=1, start=solution)
    assert again.status == "optimal" and again.iterations <= solution.iterations
    assert again.objective == pytest.approx(solution.objective, rel=1e-6)
    form = problem.canonical
    assert isinstance(form, Rewritten)
    x, ys = form.outer.join(solution.variables), solution.record["dual_point"]
    inner = form.inward_dual(x, ys)
    assert inner is not None
    point, told = form.outward(form.inward(x, ys), inner)
    assert told is not None
    np.testing.assert_allclose(point, x, atol=1e-12)
    for own, known in zip(told, ys, strict=True):
        np.testing.assert_allclose(own, known, atol=1e-5)


def test_the_plan_says_so() -> None:
    assert "W: the program sees its transpose, which is solved for" in bound(PROGRAMS["groups"][0]).plan().render()


@pytest.mark.parametrize(
    "program",
    [
        "minimize mean(squared(X @ W.T, Y)) + 0.1 * norm21(W)",
        "minimize mean(squared(X @ W.T, Y))\nsubject to W in rows(simplex(1))",
        "minimize sum_squares(W - U) + 0.1 * norm21(W)",
        "minimize sum_squares(U @ W.T) + sum_squares(W @ X.T - Y.T) + 0.1 * norm21(W)",
    ],
)
def test_functions_of_rows_stay(program: str) -> None:
    """Their prox is worth more than the product."""
    problem = bound(program)
    assert not isinstance(problem.canonical, Rewritten)
    assert problem.solve(threads=1).status == "optimal"


@pytest.mark.parametrize(
    "program",
    [
        "minimize sum(squared(X @ W.T, Y)) + 3 * norm21(W.T)\nsubject to W in nonnegative",
        "minimize sum(squared(X @ W.T, Y)) + 3 * norm21(W.T)\nsubject to norm_fro(W.T) <= 0.3",
        "minimize sum(squared(X @ W.T, Y)) + 3 * norm21(W.T)\nsubject to norm_nuc(W) <= 0.3",
    ],
)
def test_a_norm_of_the_transpose_beside_a_set_stays(program: str) -> None:
    """The multiplier could not be told apart into what each of them holds."""
    problem = bound(program)
    solution = problem.solve(threads=1)
    assert solution.status == "optimal"
    assert solution.objective == pytest.approx(solve_oracle(problem.instance).value, rel=1e-5)
