"""Data for which a step rule could break, for every method on a problem that it covers: a finite answer, and no bound above what others reach."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import fwdsl as fw
from fwdsl.backends.registry import METHODS

N, D, K = 24, 5, 3
SIGNS = "data A: matrix[n, d], s: signs[n]\n"
CLASSES = "data A: matrix[n, d], y: labels[n, k]\nvar W: matrix[d, k]"
OUTPUTS = "data A: matrix[n, d], B: matrix[n, e]\nvar W: matrix[d, e] in nuclear_ball(1)\n"

PROGRAMS = {
    "ball": SIGNS + "var x: vector[d] in l1_ball(2)\nminimize mean(smooth_hinge(A @ x, s)) + 0.05 * sum_squares(x)",
    "plain ball": SIGNS + "var x: vector[d] in l1_ball(2)\nminimize mean(logistic(A @ x, s))",
    "ridge": SIGNS + "var x: vector[d]\nminimize mean(logistic(A @ x, s)) + 0.05 * sum_squares(x)",
    "penalty": SIGNS + "var x: vector[d]\nminimize mean(huber(A @ x, s, delta=0.7)) + 0.05 * norm1(x)",
    "box": SIGNS + "var x: vector[d] in box(-0.5, 0.2)\nminimize mean(squared(A @ x, s)) + 0.05 * sum_squares(x)",
    "intercept": SIGNS
    + "var x: vector[d], b: real\nminimize mean(squared_hinge(A @ x + b, s)) + 0.05 * sum_squares(x)",
    "linear": SIGNS + "var x: vector[d], b: real\nminimize mean(hinge(A @ x + b, s)) + 0.05 * sum_squares(x)",
    "kernel": SIGNS
    + "let Phi = rbf(A, gamma=0.5)\nvar w: vector[dim(Phi)]\nminimize mean(hinge(Phi @ w, s)) + 0.05 * sum_squares(w)",
    "round": SIGNS + "var x: vector[d] in l2_ball(0.7), b: real\nminimize mean(logistic(A @ x + b, s))",
    "equation": SIGNS
    + "var x: vector[d]\nminimize mean(huber(A @ x, s, delta=0.7)) + 0.05 * norm1(x)\nsubject to sum(x) == 0.1",
    "machine": CLASSES + "\nminimize mean(multiclass_hinge(A @ W, y)) + 0.05 * sum_squares(W)",
    "classes": CLASSES + " in l1_ball(2)\nminimize mean(multiclass_hinge(A @ W, y))",
    "outputs": OUTPUTS + "minimize mean(squared(A @ W, B))",
    "covariance": "data A: matrix[n, d]\nvar X: symmetric[d]\n"
    "minimize trace(A.T @ A @ X) / n - log_det(X) + 0.1 * norm1(X)",
    "sizes": SIGNS + "var x: vector[d] in box(-2, 2)\nminimize mean(absolute(A @ x, s)) + 0.1 * norm1(x)",
    "rows": "data A: matrix[n, d]\nvar X: matrix[n, d]\nminimize sum_squares(X - A) + 0.1 * norm1(X[1:] - 0.001 * X[:-1])",
    "steps": "data A: matrix[n, d], B: matrix[n, k]\nvar W: matrix[d, k]\n"
    "minimize mean(huber(A @ W, B)) + 0.1 * norm1(W[:, 1:] - W[:, :-1])",
}

COVERED = {
    "proximal_newton": "covariance",
    "bcfw": "machine",
    "matrix_fw": "machine",
    "l2svm_dual": "intercept",
    "coordinate_descent": "penalty",
    "newton": "ridge",
    "ball_newton": "round",
    "constrained_descent": "equation",
    "pivoting": "box",
    "dspdc": "ridge",
    "dcd": "linear",
    "lines": "steps",
    "dual_gradient": "rows",
    "highs": "sizes",
    "smo": "kernel",
    "gsfw": "plain ball",
    **dict.fromkeys(("mirror_descent", "mirror_prox", "sublinear"), "classes"),
    **dict.fromkeys(("lowrank", "factored_fw", "block_fw"), "outputs"),
}


def _at(A: Any, where: Any, value: Any) -> Any:
    A = A.copy()
    A[where] = value
    return A


DATA: dict[str, Callable[[Any], Any]] = {
    "rows of zeros": lambda A: _at(A, slice(2, 9), 0.0),
    "constant columns": lambda A: _at(A, (slice(None), [1, 2]), [1.0, 0.0]),
    "zeros": lambda A: 0.0 * A,
    "one row again and again": lambda A: np.tile(A[:1], (N, 1)),
    "large": lambda A: 1e8 * A,
    "small": lambda A: 1e-8 * A,
    "out of range": lambda A: 1e150 * A,
    "one column": lambda A: A[:, :1],
    "nothing stored": lambda A: sp.csr_matrix(A.shape),
}


@cache
def _problem(program: str, data: str) -> fw.Problem:
    rng = np.random.default_rng(3)
    A = rng.standard_normal((N, D))
    s = np.where(A @ rng.standard_normal(D) + 0.3 * rng.standard_normal(N) > 0.0, 1.0, -1.0)
    s[:2] = 1.0, -1.0
    values = {"A": DATA[data](A), "s": s, "y": np.arange(N) % K, "B": rng.standard_normal((N, 4))}
    text = PROGRAMS[program]
    return fw.parse(text).bind(**{n: v for n, v in values.items() if f"{n}: " in text})


@cache
def _best(program: str, data: str) -> float:
    """The least value that the general methods find; zero is a feasible point of all."""
    problem = _problem(program, data)
    ran = [problem.solve(method=m, max_iter=400, threads=1) for m in ("apg", "pdhg") if _applies(problem, m)]
    return min(s.objective for s in ran if s.infeasibility <= 1e-9)


def _applies(problem: fw.Problem, method: str) -> bool:
    return next(c for c in problem.plan().candidates if c.name == method).applies


@pytest.mark.parametrize("data", DATA)
@pytest.mark.parametrize("method", METHODS)
def test_no_data_break_a_method(method: str, data: str) -> None:
    program = COVERED.get(method, "ball")
    problem = _problem(program, data)
    if method == "sublinear" and data in ("zeros", "nothing stored"):
        with pytest.raises(fw.PlanError, match="all zero"):
            problem.solve(method=method)
        return
    s = problem.solve(method=method, max_iter=20, threads=1)
    assert math.isfinite(s.objective) and not math.isnan(s.dual_bound)
    assert all(np.isfinite(np.asarray(value)).all() for value in s.variables.values())
    assert s.infeasibility <= 1e-7
    room = 1e-9 * max(abs(s.objective), 1.0)
    assert s.dual_bound <= min(s.objective, _best(program, data)) + room
    if data in ("zeros", "nothing stored", "small") and program != "machine":
        assert s.status == "optimal" or s.relative_gap < 0.1
