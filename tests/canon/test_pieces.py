"""The larger of two, sizes and weighed squares: the loss that they are is solved for, with the multipliers of what is written."""

from __future__ import annotations

import numpy as np
import pytest

import fwdsl as fw
from fwdsl.canon import Rewritten
from fwdsl.oracle import solve_oracle

RNG = np.random.default_rng(6)
N, P = 25, 4
X = RNG.standard_normal((N, P))
T = X[:, 0] + RNG.standard_normal(N)
S = RNG.random(N)
S[3] = 0.0
DATA = {"X": X, "t": T, "y": np.where(T > 0.0, 1.0, -1.0), "s": S, "c": 0.05}
HEAD = (
    "data X: matrix[n, p], t: vector[n], y: signs[n], s: vector[n] in nonnegative\nparam c: positive\n"
    "var w: vector[p], b: real\nminimize 0 * (sum(X) + sum(t) + sum(y) + sum(s)) + "
)

#: each beside the loss that it is
PROGRAMS = {
    "hinge": (
        "mean(max(0, 1 - y * (X @ w + b))) + c * sum_squares(w)",
        "mean(hinge(X @ w + b, y)) + c * sum_squares(w)",
    ),
    "zero last": ("sum(max(1 - y * (X @ w), 0)) + sum_squares(w)", "sum(hinge(X @ w, y)) + sum_squares(w)"),
    "sizes of residuals": (
        "mean(max(X @ w - t, t - X @ w)) + c * norm1(w)",
        "mean(absolute(X @ w, t)) + c * norm1(w)",
    ),
    "a quantile": (
        "mean(max(0.3 * (t - X @ w - b), -0.7 * (t - X @ w - b))) + c * sum_squares(w)",
        "mean(quantile(X @ w + b, t, 0.3)) + c * sum_squares(w)",
    ),
    "twice a quantile": (
        "sum(max(2 * (X @ w - t), t - X @ w)) + sum_squares(w)",
        "3 * sum(quantile(X @ w, t, 1/3)) + sum_squares(w)",
    ),
    "a penalty by entries": (
        "mean(squared(X @ w, t)) + c * sum(abs(w))",
        "mean(squared(X @ w, t)) + c * norm1(w)",
    ),
    "its mean": (
        "mean(squared(X @ w, t)) + c * mean(abs(w))",
        "mean(squared(X @ w, t)) + c / 4 * norm1(w)",
    ),
    "roots of weights": (
        "sum_squares(sqrt(s) * (X @ w - t)) + c * norm1(w)",
        "sum(s * squared(X @ w, t)) + c * norm1(w)",
    ),
    "weights of either sign": (
        "sum_squares((t - s) * (2 * (X @ w) - t)) + c * norm1(w)",
        "sum(square(t - s) * squared(2 * (X @ w), t)) + c * norm1(w)",
    ),
    "a diagonal matrix": (
        "sum_squares(diag(s) @ (X @ w - t)) + c * norm1(w)",
        "sum(square(s) * squared(X @ w, t)) + c * norm1(w)",
    ),
    "a diagonal form": (
        "quad_form(X @ w - t, diag(s)) + c * norm1(w)",
        "sum(s * squared(X @ w, t)) + c * norm1(w)",
    ),
}


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("unit", [1.0, 1e-6])
def test_both_are_one_program(name: str, unit: float) -> None:
    """The method is that of the loss, and the certificate is of the program as it is written."""
    given = {**DATA, "X": unit * X}
    if unit != 1.0 and ("1 - y" in PROGRAMS[name][0] or "norm1" not in PROGRAMS[name][0]):
        given = {**DATA, "X": X / unit, "c": DATA["c"] / unit}
    written, loss = (fw.parse(HEAD + p + "\n").bind(**given) for p in PROGRAMS[name])
    assert isinstance(written.canonical, Rewritten)
    a, b = (p.solve(tol=1e-8, threads=1) for p in (written, loss))
    assert a.status == b.status == "optimal"
    assert a.method == b.method
    assert a.objective == pytest.approx(b.objective, rel=1e-6)
    form = written.canonical
    x, ys = form.outer.join(a.variables), a.record["dual_point"]
    inner = form.inward_dual(x, ys)
    assert inner is not None
    _, told = form.outward(form.inward(x, ys), inner)
    assert told is not None
    for own, known in zip(told, ys, strict=True):
        np.testing.assert_allclose(own, known, atol=1e-6 * max(1e-9, float(np.abs(known).max(initial=0.0))))
    again = written.solve(tol=1e-7, threads=1, start=a)
    assert again.status == "optimal" and again.objective == pytest.approx(a.objective, rel=1e-6)


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_optimum_is_cvxpys(name: str) -> None:
    problem = fw.parse(HEAD + PROGRAMS[name][0] + "\n").bind(**DATA)
    assert problem.solve(tol=1e-8, threads=1).objective == pytest.approx(
        solve_oracle(problem.instance).value, rel=1e-5, abs=1e-8
    )


@pytest.mark.parametrize(
    "objective",
    [
        "mean(max(X @ w - t, 2 * t - X @ w)) + c * norm1(w)",
        "mean(max(X @ w - t, 2 * (X @ w - t))) + c * sum_squares(w)",
    ],
)
def test_the_larger_of_others_stays(objective: str) -> None:
    problem = fw.parse(HEAD + objective + "\n").bind(**DATA)
    assert not isinstance(problem.canonical, Rewritten)
    assert problem.solve(tol=1e-7, threads=1).objective == pytest.approx(solve_oracle(problem.instance).value, rel=1e-5)


def test_a_diagonal_form_that_is_not_convex_is_refused() -> None:
    text = HEAD.replace("s: vector[n] in nonnegative", "s: vector[n]")
    with pytest.raises(fw.FwError):
        fw.parse(text + "quad_form(X @ w - t, diag(s)) + c * norm1(w)\n").bind(**{**DATA, "s": -S}).solve(threads=1)


@pytest.mark.parametrize(
    "objective",
    [
        "sum_squares(X @ w - t) + 0.5 * sum(abs(w)) + 0.3 * norm1(w[1:])",
        "mean(squared(X @ w, t)) + 0.5 * mean(abs(w)) + 0.3 * norm2(w[1:])",
        "sum_squares(X @ w - t) + 0.5 * sum(max(w, -w)) + 0.3 * sum_squares(w[1:])",
    ],
)
def test_sizes_beside_slices_stay(objective: str) -> None:
    """The multiplier of a norm that slices share could not be told."""
    problem = fw.parse(HEAD + objective + "\n").bind(**DATA)
    solution = problem.solve(threads=1)
    assert solution.status == "optimal"
    assert solution.objective == pytest.approx(solve_oracle(problem.instance).value, rel=1e-5)


def test_a_multiplier_that_is_small_beside_the_coefficient_keeps_its_digits() -> None:
    text = HEAD + "sum_squares(s * (X @ w - t)) + 0.7 * sum(max(0, 1 - w))\nsubject to w[0] + w[1] <= 3\n"
    solution = fw.parse(text).bind(**{**DATA, "s": 1e-6 * S}).solve(threads=1)
    assert solution.status == "optimal"
