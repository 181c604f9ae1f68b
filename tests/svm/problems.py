"""Small support vector machines as programs, and the same problems for cvxpy."""

from __future__ import annotations

from typing import Any

import numpy as np

import fwdsl as fw
from tests.problems import laid_out, matrix

LOSSES = ("multiclass_hinge", "weston_watkins")

#: In the language: the loss with C and weights, the squares, and what is declared for an intercept.
BINARY = "data X: matrix[n, d], y: signs[n], v: vector[n] in nonnegative\nparam C: positive = 0.7\nvar w: vector[d]"
SQUARES = "1/2 * sum_squares(w)"


def binary_data(seed: int = 0, layout: str = "dense", n: int = 40, d: int = 6) -> dict[str, Any]:
    """X with a row of zeros, y, and weights with one zero."""
    rng = np.random.default_rng(seed)
    X = matrix(rng, n, d, 0.7)
    X[3] = 0.0
    y = np.where(X @ rng.standard_normal(d) + rng.standard_normal(n) > 0.4, 1.0, -1.0)
    v = rng.random(n)
    v[5] = 0.0
    return {"X": laid_out(X, layout), "y": y, "v": v}


def binary(intercept: str = "free", weighted: bool = False, solve: str = "", **data: Any) -> fw.Problem:
    """The squared-hinge machine: `intercept` "none", "free", "squared" or "scaled" (b times 2, in an offset)."""
    inside = {"none": "X @ w", "free": "X @ w + b", "squared": "X @ w + b", "scaled": "3 * (X @ w) + 2*b - 0.5"}[
        intercept
    ]
    loss = f"{'v * ' if weighted else ''}squared_hinge({inside}, y)"
    declared = "" if intercept == "none" else ", b: real"
    more = " + 0.3 * sum_squares(b)" if intercept == "squared" else ""
    text = f"{BINARY}{declared}\nminimize C * sum({loss}) + {SQUARES}{more}\n{solve}\n"
    given = binary_data(**data)
    if not weighted:
        text = text.replace(", v: vector[n] in nonnegative", "")
        del given["v"]
    return fw.parse(text).bind(**given)


def classes_data(seed: int = 0, layout: str = "dense", n: int = 30, d: int = 5, k: int = 4) -> dict[str, Any]:
    """X with a row of zeros, labels of k kinds, and weights with one zero."""
    rng = np.random.default_rng(seed)
    X = matrix(rng, n, d, 0.8)
    X[2] = 0.0
    kind = np.argmax(X @ rng.standard_normal((d, k)) + 0.7 * rng.standard_normal((n, k)), axis=1)
    kind[:k] = np.arange(k)
    v = rng.random(n)
    v[4] = 0.0
    return {"X": laid_out(X, layout), "y": kind, "v": v}


def classes(
    loss: str,
    intercept: bool = False,
    weighted: bool = False,
    C: float = 0.3,
    extra: str = "",
    solve: str = "",
    **data: Any,
) -> fw.Problem:
    """The machine for several classes, perhaps with an intercept a class, which has squares too; `extra` joins the objective."""
    declared = ", b: vector[k]" if intercept else ""
    inside = "2 * (X @ W) + b - 0.25" if intercept else "X @ W"
    more = " + 0.4 * sum_squares(b)" if intercept else ""
    text = (
        f"data X: matrix[n, d], y: labels[n, k], v: vector[n] in nonnegative\nparam C: positive = {C}\nvar W: matrix[d, k]{declared}\n"
        f"minimize C * sum({'v * ' if weighted else ''}{loss}({inside}, y)) + 1/2 * sum_squares(W){more}{extra}\n{solve}\n"
    )
    given = classes_data(**data)
    if not weighted:
        text = text.replace(", v: vector[n] in nonnegative", "")
        del given["v"]
    return fw.parse(text).bind(**given)


def kernels_of(problem: fw.Problem, threads: int = 1, seed: int = 0) -> Any:
    """The canonical problem on kernels."""
    from fwdsl.backends.problem import PreparedProblem

    return PreparedProblem(problem.canonical, threads, seed)
