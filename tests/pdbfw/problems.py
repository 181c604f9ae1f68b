"""Small problems for pdbfw: each loss on each set, in each layout of the data."""

from __future__ import annotations

from typing import Any

import numpy as np

import fwdsl as fw
from tests.problems import SIGNED, laid_out, matrix

SETS = {
    "l1_ball": "norm1(x) <= 1.5",
    "simplex": "x in simplex(1)",
    "solid_simplex": "x in solid_simplex(1.3)",
    "group_ball": "group_norm(x, groups) <= 1.5",
}


def vector_data(loss: str, layout: str = "dense", seed: int = 0, n: int = 24, p: int = 9) -> dict[str, Any]:
    """A, y and groups of three; one row of A is zero."""
    rng = np.random.default_rng(seed)
    A = matrix(rng, n, p, 0.7)
    A[3] = 0.0
    score = A @ rng.standard_normal(p) + 0.5 * rng.standard_normal(n)
    y = np.where(score > 0, 1.0, -1.0) if loss in SIGNED else score
    return {"A": laid_out(A, layout), "y": y, "groups": np.arange(p) // 3}


def vector_text(loss: str, set_: str, mu: float = 0.3, options: str = "") -> str:
    """(1/n) sum of the loss + (mu / 2) |x|^2 on a set."""
    kind = "signs[n]" if loss in SIGNED else "vector[n]"
    groups = "data groups: index[p] of m\n" if set_ == "group_ball" else ""
    return (
        f"data A: matrix[n, p], y: {kind}\n{groups}var x: vector[p]\n"
        f"minimize mean({loss}(A @ x, y{options})) + {mu / 2} * sum_squares(x)\nsubject to {SETS[set_]}\n"
    )


def vector_problem(
    loss: str, set_: str, layout: str = "dense", mu: float = 0.3, options: str = "", seed: int = 0
) -> fw.Problem:
    """The two together."""
    data = vector_data(loss, layout, seed)
    if set_ != "group_ball":
        del data["groups"]
    return fw.parse(vector_text(loss, set_, mu, options)).bind(**data)


def matrix_text(loss: str, mu: float, radius: float, n: int) -> str:
    """(1/n) sum of the loss over all entries of A X, on a trace-norm ball with a ridge."""
    return (
        "data A: matrix[n, d], B: matrix[n, c]\nvar X: matrix[d, c]\n"
        f"minimize {1 / n!r} * sum({loss}(A @ X, B)) + {mu / 2} * sum_squares(X)\nsubject to norm_nuc(X) <= {radius}\n"
    )


def matrix_data(seed: int = 0, n: int = 14, d: int = 8, c: int = 6, rank: int = 3) -> dict[str, Any]:
    """A, and B = A X + noise for X of low rank."""
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((n, d))
    X = rng.standard_normal((d, rank)) @ rng.standard_normal((rank, c))
    return {"A": A, "B": A @ X + 0.1 * rng.standard_normal((n, c))}


def matrix_problem(loss: str = "squared", mu: float = 0.5, radius: float = 4.0, seed: int = 0) -> fw.Problem:
    """The two together."""
    data = matrix_data(seed)
    return fw.parse(matrix_text(loss, mu, radius, data["A"].shape[0])).bind(**data)
