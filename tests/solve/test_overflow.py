"""Data at the end of the range overflow in squares: that is said in the result, and no warning of NumPy's leaks."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import fwdsl as fw
from fwdsl.backends.registry import METHODS

OF = (
    "",
    " + 0.1 * norm1(x)",
    " + 0.1 * sum_squares(x)",
    "\nsubject to x in simplex(1)",
    "\nsubject to x in ksupport_ball(2, 1)",
)


@pytest.mark.parametrize("loss", ["squared", "huber", "absolute", "logistic", "squared_hinge", "smooth_hinge"])
@pytest.mark.parametrize("of", OF)
def test_no_warning_leaks(loss: str, of: str) -> None:
    problem = bound(loss, of)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            problem.plan().render()
            s = problem.solve(time=1.0, threads=1)
        except fw.errors.FwError as refused:
            assert refused.diagnostics
        else:
            assert s.status in ("optimal", "tolerance_not_reached")
            assert s.record and str(s)


LOSSES = ("squared", "squared_hinge", "hinge")


def ends_with_a_status(method: str, loss: str, of: str) -> None:
    try:
        s = bound(loss, of).solve(time=0.5, threads=1, method=method, max_iter=50)
    except fw.errors.PlanError as refused:
        assert refused.diagnostics
    else:
        assert s.status in ("optimal", "tolerance_not_reached")


@pytest.mark.parametrize("method", METHODS)
def test_every_method_ends_with_a_status(method: str) -> None:
    """By name, whatever the method takes of these: each term with two losses, as most of the time is taken by compiling their kernels."""
    for k, of in enumerate(OF):
        for loss in (LOSSES[k % 3], LOSSES[(k + 1) % 3]):
            ends_with_a_status(method, loss, of)


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
def test_every_method_ends_with_a_status_for_the_third_loss_too(method: str) -> None:
    for k, of in enumerate(OF):
        ends_with_a_status(method, LOSSES[(k + 2) % 3], of)


def bound(loss: str, of: str) -> fw.Problem:
    """A program with entries of 1e300."""
    labels = "hinge" in loss or loss == "logistic"
    kind = "signs" if labels else "vector"
    text = f"data A: matrix[n, p], b: {kind}[n]\nvar x: vector[p]\nminimize mean({loss}(A @ x, b)){of}\n"
    A = np.array([[1.0, 2.0], [1e300, 0.5], [0.3, -1e200]])
    b = np.array([1.0, -1.0, 1.0]) if labels else np.array([1.0, 1e300, -1e290])
    return fw.parse(text).bind(A=A, b=b)


@pytest.mark.parametrize("of", ["\nsubject to sum(x) == 1", "\nsubject to norm2(x) <= 1", " + norm2(x)"])
def test_a_point_is_told_where_all_iterates_overflow(of: str) -> None:
    A, b = np.array([[1e300, 0.0], [0.0, 1e-300]]), np.array([1e300, 1.0])
    text = f"data A: matrix[n, p], b: vector[n]\nvar x: vector[p]\nminimize sum_squares(A @ x - b){of}\n"
    s = fw.parse(text).bind(A=A, b=b).solve(time=3.0, threads=1)
    assert s.status == "tolerance_not_reached"
    assert np.all(np.isfinite(s["x"])) and not np.isnan(s.objective) and not np.isnan(s.infeasibility)
