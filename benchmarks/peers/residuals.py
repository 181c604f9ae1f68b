"""Losses of residuals without parameters of smoothness: quantiles, and least squares over w >= 0 and over the simplex."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
from generators import simplex_ls

from .cases import EXACT, Array, Case, Instance, Matrix, Peer, Point, classes, numbers
from .convex import convex
from .regression import Data, drawn, real


def quantile(data: Data, tau: float) -> Instance:
    """The mean quantile loss + mu |w|_1, with a free intercept."""
    X, b = data()
    mu = 1e-3

    def sklearn(solver: str, tol: float) -> Point:
        from sklearn.linear_model import QuantileRegressor

        model = QuantileRegressor(quantile=tau, alpha=mu, solver=solver).fit(X, b)
        return np.ravel(model.coef_), float(model.intercept_)

    def state(cp: Any) -> Any:
        w, c = cp.Variable(X.shape[1]), cp.Variable()
        r = b - X @ w - c
        return cp.sum(tau * cp.pos(r) + (1 - tau) * cp.neg(r)) / b.size + mu * cp.norm1(w), [], [w, c]

    def value(w: Array, c: float) -> float:
        r = b - X @ w - c
        return float(np.maximum(tau * r, (tau - 1) * r).mean() + mu * np.abs(w).sum())

    ours = ("highs", "highs-ipm")
    return Instance(
        "data X: matrix[n, p], y: vector[n]\nparam mu: nonnegative\nvar w: vector[p], c: real\n"
        f"minimize mean(quantile(X @ w + c, y, tau={tau})) + mu * norm1(w)\n",
        {"X": X, "y": b, "mu": mu},
        ["w", "c"],
        value,
        [
            *(Peer(f"QuantileRegressor {s}", "sklearn", partial(sklearn, s), EXACT) for s in ours),
            *convex(state, numbers(X), ("CLARABEL", "HIGHS")),
        ],
    )


def nonnegative(data: Data) -> Instance:
    """|X w - b|^2 over w >= 0."""
    X, b = data()

    def scipy(tol: float) -> Point:
        from scipy.optimize import nnls

        return (nnls(X, b)[0],)

    def sklearn(tol: float) -> Point:
        from sklearn.linear_model import LinearRegression

        return (np.ravel(LinearRegression(positive=True, fit_intercept=False).fit(X, b).coef_),)

    def state(cp: Any) -> Any:
        w = cp.Variable(X.shape[1])
        return cp.sum_squares(X @ w - b), [w >= 0], [w]

    return Instance(
        "data X: matrix[n, p], y: vector[n]\nvar w: vector[p] in nonnegative\nminimize sum(squared(X @ w, y))\n",
        {"X": X, "y": b},
        ["w"],
        lambda w: float(((X @ np.maximum(w, 0.0) - b) ** 2).sum()),
        [
            Peer("nnls", "scipy", scipy, EXACT),
            Peer("LinearRegression", "sklearn", sklearn, EXACT),
            *convex(state, numbers(X)),
        ],
    )


def simplex(data: Data) -> Instance:
    """The mean of squares over w >= 0 with sum 1."""
    X, b = data()

    def state(cp: Any) -> Any:
        w = cp.Variable(X.shape[1])
        return cp.sum_squares(X @ w - b) / b.size, [w >= 0, cp.sum(w) == 1], [w]

    def value(w: Array) -> float:
        inside = np.maximum(w, 0.0)
        return float(((X @ (inside / inside.sum()) - b) ** 2).mean())

    return Instance(
        "data X: matrix[n, p], y: vector[n]\nvar w: vector[p] in simplex(1)\nminimize mean(squared(X @ w, y))\n",
        {"X": X, "y": b},
        ["w"],
        value,
        convex(state, numbers(X)),
    )


def faces(name: str, rows: int) -> tuple[Matrix, Array]:
    """A sample to be written as a mix of others: pixels by samples."""
    X = np.ascontiguousarray(classes(name, rows + 1)[0].toarray().T)
    return np.ascontiguousarray(X[:, 1:]), np.ascontiguousarray(X[:, 0])


def cases() -> Iterator[Case]:
    """All of this file."""
    for name, size, data in (
        ("housing_scale", "small", partial(real, "housing_scale")),
        ("abalone", "small", partial(real, "abalone")),
        ("Gaussian 2,000 x 50", "small", partial(drawn, 2_000, 50, 10)),
        ("Gaussian 10,000 x 100", "medium", partial(drawn, 10_000, 100, 10)),
    ):
        yield Case("quantile", f"{name}, tau 0.8", size, partial(quantile, data, 0.8))
    mixes: tuple[tuple[str, str, Data], ...] = (
        ("usps, 1 sample by 500", "small", partial(faces, "usps", 500)),
        ("mnist.t, 1 sample by 3,000", "medium", partial(faces, "mnist.t", 3_000)),
        ("Gaussian 5,000 x 256", "small", partial(simplex_ls, 5_000, 256)),
        ("Gaussian 100,000 x 256", "large", partial(simplex_ls, 100_000, 256)),
    )
    for name, size, data in mixes:
        yield Case("nonnegative least squares", name, size, partial(nonnegative, data))
        yield Case("simplex least squares", name, size, partial(simplex, data))
