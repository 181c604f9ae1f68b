"""Common problems, each in the texts that different people write for it.

The first text of a problem is the plain one, which the others are compared with. All texts of a problem have the same optimal value, but for
the factor beside them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

Arrays = dict[str, Any]


@dataclass(frozen=True)
class Text:
    """A program, and what its optimal value is to be divided by to be that of the plain text: `factor`, times n where it is `per_sample`.

    `why` says why a text is not brought to the plain one, where it is not.
    """

    program: str
    factor: float = 1.0
    per_sample: bool = False
    why: str = ""

    def factor_at(self, n: int) -> float:
        """The factor with n samples."""
        return self.factor * (n if self.per_sample else 1)


@dataclass(frozen=True)
class Equivalent:
    """`make(n, d)` gives the data that the texts name."""

    title: str
    make: Callable[[int, int], Arrays]
    texts: Mapping[str, Text]


def _regression(n: int, d: int) -> Arrays:
    """A sparse truth under noise; `Z` has a column of ones before `X`."""
    rng = np.random.default_rng(n + d)
    X = rng.standard_normal((n, d))
    w = np.where(rng.random(d) < 0.2, rng.standard_normal(d), 0.0)
    y = X @ w + 0.7 + rng.standard_normal(n)
    return {"X": X, "y": y, "Z": np.column_stack([np.ones(n), X]), "e": np.ones(d), "P": X.T @ X, "r": X.T @ y}


def _signs(n: int, d: int) -> Arrays:
    given = _regression(n, d)
    y = np.where(given["y"] > 0.0, 1.0, -1.0)
    return {"X": given["X"], "y": y, "Z": given["Z"], "v": y.copy(), "u": (y > 0.0).astype(float)}


def _returns(n: int, d: int) -> Arrays:
    """Returns of d assets over n days, about a common mean, and their covariance."""
    rng = np.random.default_rng(n * d)
    R = 0.05 + rng.standard_normal((n, 3)) @ rng.standard_normal((3, d)) + rng.standard_normal((n, d))
    return {"R": R, "b": 0.1 * rng.standard_normal(n), "e": np.ones(d), "S": R.T @ R / n}


def _signal(n: int, d: int) -> Arrays:
    rng = np.random.default_rng(n)
    levels = np.repeat(rng.standard_normal(20), -(-n // 20))[:n]
    D = np.zeros((n - 1, n))
    D[np.arange(n - 1), np.arange(n - 1)], D[np.arange(n - 1), np.arange(1, n)] = -1.0, 1.0
    return {"y": levels + 0.3 * rng.standard_normal(n), "D": sp.csr_array(D)}


REGRESSION = "data X: matrix[n, p], y: vector[n]\nparam mu: positive = 0.1\n"
WITH_ONES = "data Z: matrix[n, q], y: vector[n]\nparam mu: positive = 0.1\n"
W = "var w: vector[p]\n"
SIGNS = "data X: matrix[n, p], y: signs[n]\nparam mu: positive = 0.02\n"
SIGNS_ONES = "data Z: matrix[n, q], y: signs[n]\nparam mu: positive = 0.02\n"
ZEROS_AND_ONES = "data X: matrix[n, p], u: vector[n]\nparam mu: positive = 0.02\n"
VALUES = "data X: matrix[n, p], v: vector[n]\nparam mu: positive = 0.02\n"
MIX = "data R: matrix[n, p], b: vector[n]\n"

LASSO = {
    "plain": Text(REGRESSION + W + "minimize 1/2 * mean(squared(X @ w, y)) + mu * norm1(w)"),
    "sum, weight outside": Text(REGRESSION + W + "minimize 1/(2 * n) * sum(squared(X @ w, y)) + mu * norm1(w)"),
    "sum_squares": Text(REGRESSION + W + "minimize 1/(2 * n) * sum_squares(X @ w - y) + mu * norm1(w)"),
    "sum_squares, divided": Text(REGRESSION + W + "minimize sum_squares(y - X @ w) / (2 * n) + norm1(mu * w)"),
    "times n": Text(REGRESSION + W + "minimize 1/2 * sum(squared(X @ w, y)) + n * mu * norm1(w)", per_sample=True),
    "maximize": Text(REGRESSION + W + "maximize -1/2 * mean(squared(X @ w, y)) - mu * norm1(w)", -1.0),
    "sums of entries": Text(REGRESSION + W + "minimize 1/(2 * n) * sum(square(y - X @ w)) + mu * sum(abs(w))"),
    "target zero": Text(REGRESSION + W + "minimize 1/2 * mean(squared(X @ w - y, zeros(n))) + mu * norm1(w)"),
    "scaled rows": Text(REGRESSION + W + "minimize 1/2 * mean(squared(X @ (2 * w), y)) + mu * norm1(2 * w)"),
    "epigraph": Text(
        REGRESSION
        + W
        + "var t: vector[p]\nminimize 1/2 * mean(squared(X @ w, y)) + mu * sum(t)\nsubject to -t <= w <= t"
    ),
    "two parts": Text(
        REGRESSION
        + "var u: vector[p] in nonnegative, v: vector[p] in nonnegative\n"
        + "minimize 1/2 * mean(squared(X @ (u - v), y)) + mu * sum(u + v)"
    ),
    "quad_form": Text(
        "data P: psd[p], r: vector[p], X: matrix[n, p], y: vector[n]\nparam mu: positive = 0.1\n"
        + W
        + "minimize 1/(2 * n) * (quad_form(w, P) - 2 * dot(r, w) + dot(y, y)) + mu * norm1(w)"
    ),
    "residual named": Text(
        REGRESSION
        + W
        + "var s: vector[n]\nminimize 1/2 * mean(squared(s, zeros(n))) + mu * norm1(w)\nsubject to s == X @ w - y"
    ),
}

LASSO_INTERCEPT = {
    "plain": Text(REGRESSION + W + "var b: real\nminimize 1/2 * mean(squared(X @ w + b, y)) + mu * norm1(w)"),
    "column of ones": Text(WITH_ONES + "var w: vector[q]\nminimize 1/2 * mean(squared(Z @ w, y)) + mu * norm1(w[1:])"),
    "column of ones, two slices": Text(
        WITH_ONES + "var w: vector[q]\nminimize 1/2 * mean(squared(Z @ w, y)) + mu * (norm1(w[1:5]) + norm1(w[5:]))"
    ),
}

LASSO_BALL = {
    "plain": Text(REGRESSION + W + "minimize 1/2 * mean(squared(X @ w, y))\nsubject to norm1(w) <= 3"),
    "set": Text(REGRESSION + "var w: vector[p] in l1_ball(3)\nminimize 1/2 * mean(squared(X @ w, y))"),
    "scaled": Text(REGRESSION + W + "minimize 1/2 * mean(squared(X @ w, y))\nsubject to 2 * norm1(w) - 6 <= 0"),
    "norm of a multiple": Text(REGRESSION + W + "minimize 1/2 * mean(squared(X @ w, y))\nsubject to norm1(2 * w) <= 6"),
    "epigraph": Text(
        REGRESSION
        + W
        + "var t: vector[p]\nminimize 1/2 * mean(squared(X @ w, y))\nsubject to -t <= w <= t, sum(t) <= 3"
    ),
}

RIDGE = {
    "plain": Text(REGRESSION + W + "minimize mean(squared(X @ w, y)) + mu * sum_squares(w)"),
    "quad_form": Text(REGRESSION + W + "minimize mean(squared(X @ w, y)) + mu * quad_form(w, eye(p))"),
    "squared": Text(REGRESSION + W + "minimize mean(squared(X @ w, y)) + mu * sum(squared(w, zeros(p)))"),
    "norm of a multiple": Text(REGRESSION + W + "minimize mean(squared(X @ w, y)) + mu/4 * sum_squares(2 * w)"),
    "two slices": Text(
        REGRESSION + W + "minimize mean(squared(X @ w, y)) + mu * sum_squares(w[0:9]) + mu * sum_squares(w[9:])"
    ),
}

RIDGE_INTERCEPT = {
    "plain": Text(REGRESSION + W + "var b: real\nminimize mean(squared(X @ w + b, y)) + mu * sum_squares(w)"),
    "column of ones": Text(WITH_ONES + "var w: vector[q]\nminimize mean(squared(Z @ w, y)) + mu * sum_squares(w[1:])"),
}

ELASTIC_NET = {
    "plain": Text(REGRESSION + W + "minimize 1/2 * mean(squared(X @ w, y)) + mu * norm1(w) + mu/2 * sum_squares(w)"),
    "quad_form": Text(
        REGRESSION + W + "minimize 1/2 * mean(squared(X @ w, y)) + mu * norm1(w) + mu/2 * quad_form(w, eye(p))"
    ),
    "squared": Text(
        REGRESSION + W + "minimize 1/2 * mean(squared(X @ w, y)) + mu * norm1(w) + mu/2 * sum(squared(w, zeros(p)))"
    ),
}

LOGISTIC = {
    "plain": Text(SIGNS + W + "var b: real\nminimize mean(logistic(X @ w + b, y)) + mu * norm1(w)"),
    "column of ones": Text(SIGNS_ONES + "var w: vector[q]\nminimize mean(logistic(Z @ w, y)) + mu * norm1(w[1:])"),
    "weights": Text(SIGNS + W + "var b: real\nminimize sum(1/n * logistic(X @ w + b, y)) + mu * norm1(w)"),
    "margins": Text(VALUES + W + "var b: real\nminimize mean(logistic(v * (X @ w + b), ones(n))) + mu * norm1(w)"),
    "zeros and ones": Text(
        ZEROS_AND_ONES + W + "var b: real\nminimize (sum(logistic(X @ w + b)) - dot(u, X @ w + b)) / n + mu * norm1(w)"
    ),
}

LOGISTIC_RIDGE = {
    "plain": Text(SIGNS + W + "var b: real\nminimize mean(logistic(X @ w + b, y)) + mu * sum_squares(w)"),
    "column of ones": Text(
        SIGNS_ONES + "var w: vector[q]\nminimize mean(logistic(Z @ w, y)) + mu * sum_squares(w[1:])"
    ),
    "margins": Text(
        VALUES + W + "var b: real\nminimize mean(logistic(v * (X @ w + b), ones(n))) + mu * sum_squares(w)"
    ),
    "zeros and ones": Text(
        ZEROS_AND_ONES
        + W
        + "var b: real\nminimize (sum(logistic(X @ w + b)) - dot(u, X @ w + b)) / n + mu * sum_squares(w)"
    ),
}

NONNEGATIVE = {
    "plain": Text(REGRESSION + "var w: vector[p] in nonnegative\nminimize sum(squared(X @ w, y))"),
    "inequality": Text(REGRESSION + W + "minimize sum(squared(X @ w, y))\nsubject to w >= 0"),
    "turned": Text(REGRESSION + W + "minimize sum_squares(X @ w - y)\nsubject to 0 >= -w"),
    "box": Text(REGRESSION + "var w: vector[p] in box(0, inf)\nminimize sum(squared(X @ w, y))"),
    "slices": Text(REGRESSION + W + "minimize sum(squared(X @ w, y))\nsubject to w[0:7] >= 0, w[7:] >= 0"),
    "eye": Text(REGRESSION + W + "minimize sum(squared(X @ w, y))\nsubject to eye(p) @ w >= 0"),
}

BOX = {
    "plain": Text(REGRESSION + W + "minimize sum(squared(X @ w, y))\nsubject to 0.1 <= w <= 0.5"),
    "set": Text(REGRESSION + "var w: vector[p] in box(0.1, 0.5)\nminimize sum(squared(X @ w, y))"),
    "two": Text(REGRESSION + W + "minimize sum(squared(X @ w, y))\nsubject to w >= 0.1, w <= 0.5"),
    "shifted norm": Text(REGRESSION + W + "minimize sum(squared(X @ w, y))\nsubject to norm_inf(w - 0.3) <= 0.2"),
    "shifted ball": Text(REGRESSION + W + "minimize sum(squared(X @ w, y))\nsubject to 0.3 - w in linf_ball(0.2)"),
    "shifted box": Text(REGRESSION + W + "minimize sum(squared(X @ w, y))\nsubject to -0.2 <= w - 0.3 <= 0.2"),
    "multiple": Text(REGRESSION + W + "minimize sum(squared(X @ w, y))\nsubject to 1 <= 10 * w <= 5"),
    "slices": Text(
        REGRESSION + W + "minimize sum(squared(X @ w, y))\nsubject to 0.1 <= w[0:7] <= 0.5, 0.1 <= w[7:] <= 0.5"
    ),
}

SIMPLEX = {
    "plain": Text(MIX + "var x: vector[p] in simplex(1)\nminimize 1/n * sum(squared(R @ x, b))"),
    "sum": Text(MIX + "var x: vector[p] in nonnegative\nminimize 1/n * sum(squared(R @ x, b))\nsubject to sum(x) == 1"),
    "turned": Text(MIX + "var x: vector[p]\nminimize 1/n * sum(squared(R @ x, b))\nsubject to 1 == sum(x), 0 <= x"),
    "dot": Text(
        MIX + "var x: vector[p]\nminimize 1/n * sum(squared(R @ x, b))\nsubject to x >= 0, dot(ones(p), x) == 1"
    ),
    "dot of data": Text(
        MIX
        + "data e: vector[p]\nvar x: vector[p]\nminimize 1/n * sum(squared(R @ x, b))\nsubject to x >= 0, dot(e, x) == 1",
        why="that all entries of e are 1 shows in the data alone, and programs are recognised by their text",
    ),
    "product": Text(
        MIX + "var x: vector[p]\nminimize 1/n * sum(squared(R @ x, b))\nsubject to x >= 0, ones(p) @ x == 1"
    ),
    "multiple": Text(
        MIX + "var x: vector[p]\nminimize 1/n * sum(squared(R @ x, b))\nsubject to x >= 0, 2 * sum(x) - 1 == 1"
    ),
    "mean": Text(MIX + "var x: vector[p]\nminimize 1/n * sum(squared(R @ x, b))\nsubject to x >= 0, p * mean(x) == 1"),
    "norm": Text(
        MIX + "var x: vector[p]\nminimize 1/n * sum(squared(R @ x, b))\nsubject to x >= 0, sum(x) == 1, norm1(x) <= 1"
    ),
    "box too": Text(
        MIX + "var x: vector[p]\nminimize 1/n * sum(squared(R @ x, b))\nsubject to 0 <= x <= 1, sum(x) == 1"
    ),
}

PORTFOLIO = {
    "plain": Text("data R: matrix[n, p]\nvar x: vector[p] in simplex(1)\nminimize 1/n * sum_squares(R @ x)"),
    "quad_form": Text("data S: psd[p]\nvar x: vector[p] in simplex(1)\nminimize quad_form(x, S)"),
    "quad_form, sum": Text(
        "data S: psd[p]\nvar x: vector[p]\nminimize quad_form(x, S)\nsubject to 1 == sum(x), x >= 0"
    ),
}

HINGE = {
    "plain": Text(SIGNS + W + "minimize mean(hinge(X @ w, y)) + mu/2 * sum_squares(w)"),
    "C": Text(SIGNS + W + "minimize 1/2 * sum_squares(w) + 1/(n * mu) * sum(hinge(X @ w, y))", 50.0),
    "margins": Text(VALUES + W + "minimize mean(hinge(v * (X @ w), ones(n))) + mu/2 * sum_squares(w)"),
    "max": Text(SIGNS + W + "minimize mean(max(0, 1 - y * (X @ w))) + mu/2 * sum_squares(w)"),
    "quad_form": Text(SIGNS + W + "minimize mean(hinge(X @ w, y)) + mu/2 * quad_form(w, eye(p))"),
    "slack": Text(
        VALUES
        + W
        + "var s: vector[n] in nonnegative\nminimize mu/2 * sum_squares(w) + 1/n * sum(s)\nsubject to v * (X @ w) >= 1 - s"
    ),
    "slack, mean": Text(
        VALUES
        + W
        + "var s: vector[n]\nminimize mu/2 * sum_squares(w) + mean(s)\nsubject to s >= 0, s >= 1 - v * (X @ w)"
    ),
    "dual": Text(
        VALUES + "var a: vector[n]\nmaximize sum(a) - 1/(2 * mu) * sum_squares(X.T @ (v * a))\nsubject to 0 <= a <= 1/n"
    ),
    "dual, minimised": Text(
        VALUES
        + "var a: vector[n] in box(0, 1)\nminimize 1/(2 * mu * n * n) * sum_squares(X.T @ (v * a)) - 1/n * sum(a)",
        -1.0,
    ),
}

HINGE_INTERCEPT = {
    "plain": Text(SIGNS + W + "var b: real\nminimize mean(hinge(X @ w + b, y)) + mu/2 * sum_squares(w)"),
    "column of ones": Text(SIGNS_ONES + "var w: vector[q]\nminimize mean(hinge(Z @ w, y)) + mu/2 * sum_squares(w[1:])"),
    "slack": Text(
        VALUES
        + W
        + "var b: real, s: vector[n] in nonnegative\nminimize mu/2 * sum_squares(w) + 1/n * sum(s)\n"
        + "subject to v * (X @ w + b) >= 1 - s"
    ),
    "dual": Text(
        VALUES
        + "var a: vector[n]\nmaximize sum(a) - 1/(2 * mu) * sum_squares(X.T @ (v * a))\n"
        + "subject to 0 <= a <= 1/n, dot(v, a) == 0"
    ),
}

SQUARED_HINGE = {
    "plain": Text(SIGNS + W + "minimize mean(squared_hinge(X @ w, y)) + mu/2 * sum_squares(w)"),
    "margins": Text(VALUES + W + "minimize mean(squared_hinge(v * (X @ w), ones(n))) + mu/2 * sum_squares(w)"),
    "slack": Text(
        VALUES
        + W
        + "var s: vector[n]\nminimize mu/2 * sum_squares(w) + 1/n * sum_squares(s)\nsubject to v * (X @ w) >= 1 - s"
    ),
    "slack, nonnegative": Text(
        VALUES
        + W
        + "var s: vector[n] in nonnegative\nminimize mu/2 * sum_squares(w) + 1/n * sum_squares(s)\n"
        + "subject to v * (X @ w) + s >= 1"
    ),
    "dual": Text(
        VALUES
        + "var a: vector[n] in nonnegative\n"
        + "maximize sum(a) - 1/(2 * mu) * sum_squares(X.T @ (v * a)) - n/4 * sum_squares(a)"
    ),
}

QUANTILE = {
    "plain": Text(REGRESSION + W + "var b: real\nminimize mean(quantile(X @ w + b, y, tau=0.3))"),
    "column of ones": Text(WITH_ONES + "var w: vector[q]\nminimize mean(quantile(Z @ w, y, tau=0.3))"),
    "max": Text(REGRESSION + W + "var b: real\nminimize mean(max(0.3 * (y - X @ w - b), -0.7 * (y - X @ w - b)))"),
    "residuals": Text(
        REGRESSION
        + W
        + "var b: real, u: vector[n] in nonnegative, v: vector[n] in nonnegative\n"
        + "minimize 0.3/n * sum(u) + 0.7/n * sum(v)\nsubject to y - X @ w - b == u - v"
    ),
    "epigraph": Text(
        REGRESSION
        + W
        + "var b: real, t: vector[n]\nminimize mean(t)\n"
        + "subject to t >= 0.3 * (y - X @ w - b), t >= 0.7 * (X @ w + b - y)"
    ),
    "absolute": Text(
        REGRESSION + W + "var b: real\nminimize mean(1/2 * absolute(X @ w + b, y)) - 0.2 * mean(y - X @ w - b)"
    ),
}

ABSOLUTE = {
    "plain": Text(REGRESSION + W + "minimize mean(absolute(X @ w, y)) + mu * sum_squares(w)"),
    "norm1": Text(REGRESSION + W + "minimize 1/n * norm1(X @ w - y) + mu * sum_squares(w)"),
    "quantile": Text(REGRESSION + W + "minimize 2 * mean(quantile(X @ w, y, tau=0.5)) + mu * sum_squares(w)"),
    "epigraph": Text(
        REGRESSION
        + W
        + "var t: vector[n]\nminimize mean(t) + mu * sum_squares(w)\nsubject to -t <= X @ w - y, X @ w - y <= t"
    ),
    "residuals": Text(
        REGRESSION + W + "var s: vector[n]\nminimize 1/n * norm1(s) + mu * sum_squares(w)\nsubject to s == y - X @ w"
    ),
}

HUBER = {
    "plain": Text(REGRESSION + W + "minimize mean(huber(X @ w, y, delta=0.5)) + mu * sum_squares(w)"),
    "split": Text(
        REGRESSION
        + W
        + "var o: vector[n]\nminimize 1/(2 * n) * sum_squares(X @ w + o - y) + 0.5/n * norm1(o) + mu * sum_squares(w)"
    ),
    "shifted": Text(REGRESSION + W + "minimize mean(huber(X @ w - y, zeros(n), delta=0.5)) + mu * sum_squares(w)"),
}

TOTAL_VARIATION = {
    "plain": Text("data y: vector[n]\nvar x: vector[n]\nminimize 1/2 * sum(squared(x, y)) + norm1(x[1:] - x[:-1])"),
    "matrix": Text(
        "data y: vector[n], D: matrix[k, n]\nvar x: vector[n]\nminimize 1/2 * sum_squares(x - y) + norm1(D @ x)"
    ),
    "epigraph": Text(
        "data y: vector[n], D: matrix[k, n]\nvar x: vector[n], t: vector[k]\n"
        "minimize 1/2 * sum_squares(x - y) + sum(t)\nsubject to -t <= D @ x, D @ x <= t"
    ),
    "turned": Text(
        "data y: vector[n]\nvar x: vector[n]\nminimize 1/2 * sum_squares(y - x) + 1/2 * norm1(2 * x[:-1] - 2 * x[1:])"
    ),
}

GROUPS = "[[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11], [12, 13, 14, 15], [16, 17, 18, 19]]"
SMALL = "data X: matrix[n, 20], y: vector[n]\nparam mu: positive = 0.1\nvar w: vector[20]\n"
GROUP_LASSO = {
    "plain": Text(SMALL + f"minimize 1/2 * mean(squared(X @ w, y)) + mu * group_norm(w, {GROUPS})"),
    "slices": Text(
        SMALL
        + "minimize 1/2 * mean(squared(X @ w, y)) + mu * (norm2(w[0:4]) + norm2(w[4:8]) + norm2(w[8:12])"
        + " + norm2(w[12:16]) + norm2(w[16:]))"
    ),
    "slices to the end": Text(
        SMALL
        + "minimize 1/2 * mean(squared(X @ w, y)) + mu * (norm2(w[0:4]) + norm2(w[4:8]) + norm2(w[8:12])"
        + " + norm2(w[12:16]) + norm2(w[16:20]))"
    ),
}

TASKS = "data X: matrix[n, p], Y: matrix[n, k]\nparam mu: positive = 0.1\n"
MULTITASK = {
    "plain": Text(TASKS + "var W: matrix[p, k]\nminimize 1/(2 * n) * sum_squares(X @ W - Y) + mu * norm21(W)"),
    "by rows": Text(TASKS + "var W: matrix[k, p]\nminimize 1/(2 * n) * sum_squares(X @ W.T - Y) + mu * norm21(W.T)"),
    "samples in columns": Text(
        TASKS + "var W: matrix[k, p]\nminimize 1/(2 * n) * sum_squares(W @ X.T - Y.T) + mu * norm21(W.T)"
    ),
    "lengths of rows": Text(
        TASKS + "var W: matrix[p, k]\nminimize 1/2 * mean(squared(X @ W, Y)) + mu * sum(rownorm2(W))"
    ),
}

CHEBYSHEV = {
    "plain": Text(REGRESSION + W + "minimize norm_inf(X @ w - y)"),
    "epigraph": Text(REGRESSION + W + "var t: real\nminimize t\nsubject to -t <= X @ w - y, X @ w - y <= t"),
    "chain": Text(REGRESSION + W + "var t: nonnegative\nminimize t\nsubject to -t <= X @ w - y <= t"),
    "maximize": Text(REGRESSION + W + "maximize -1 * norm_inf(y - X @ w)", -1.0),
}


def _tasks(n: int, d: int) -> Arrays:
    """Five tasks that see the same features."""
    given, rng = _regression(n, d), np.random.default_rng(n)
    return {"X": given["X"], "Y": given["y"][:, None] + rng.standard_normal((n, 5))}


def _small(n: int, d: int) -> Arrays:
    return _regression(n, 20)


PROBLEMS: Mapping[str, Equivalent] = {
    "lasso": Equivalent("lasso", _regression, LASSO),
    "lasso_intercept": Equivalent("lasso with an intercept", _regression, LASSO_INTERCEPT),
    "lasso_ball": Equivalent("least squares on an l1 ball", _regression, LASSO_BALL),
    "ridge": Equivalent("ridge", _regression, RIDGE),
    "ridge_intercept": Equivalent("ridge with an intercept", _regression, RIDGE_INTERCEPT),
    "elastic_net": Equivalent("elastic net", _regression, ELASTIC_NET),
    "logistic": Equivalent("sparse logistic with an intercept", _signs, LOGISTIC),
    "logistic_ridge": Equivalent("logistic with a ridge and an intercept", _signs, LOGISTIC_RIDGE),
    "nonnegative": Equivalent("nonnegative least squares", _regression, NONNEGATIVE),
    "box": Equivalent("least squares in a box", _regression, BOX),
    "simplex": Equivalent("simplex least squares", _returns, SIMPLEX),
    "portfolio": Equivalent("portfolio of least variance", _returns, PORTFOLIO),
    "hinge": Equivalent("SVM", _signs, HINGE),
    "hinge_intercept": Equivalent("SVM with an intercept", _signs, HINGE_INTERCEPT),
    "squared_hinge": Equivalent("SVM, squared hinge", _signs, SQUARED_HINGE),
    "quantile": Equivalent("quantile regression", _regression, QUANTILE),
    "absolute": Equivalent("least absolute deviations with a ridge", _regression, ABSOLUTE),
    "huber": Equivalent("Huber regression", _regression, HUBER),
    "total_variation": Equivalent("total variation", _signal, TOTAL_VARIATION),
    "group_lasso": Equivalent("group lasso", _small, GROUP_LASSO),
    "multitask": Equivalent("multitask lasso", _tasks, MULTITASK),
    "chebyshev": Equivalent("Chebyshev fit", _regression, CHEBYSHEV),
}
