"""Kernel machines with a Gaussian kernel against libsvm: hinge, squared hinge, regression, one class."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
import scipy.sparse as sp

from .cases import Array, Case, Instance, Matrix, Peer, Point, classes, signed

Data = Callable[[], tuple[Matrix, Array]]
CACHE = 256
"""Megabytes of rows that libsvm keeps, as many as our default."""
BLOCK = 1_000


def gram(X: Array, gamma: float, rows: slice = slice(None)) -> Array:
    """Some rows of the Gram matrix exp(-gamma |x - x'|^2)."""
    lengths = (X * X).sum(axis=1)
    return np.exp(-gamma * np.maximum(lengths[rows, None] + lengths - 2.0 * X[rows] @ X.T, 0.0))


def predicted(X: Array, gamma: float, c: Array) -> Array:
    """K c, some rows at a time."""
    return np.concatenate([gram(X, gamma, slice(i, i + BLOCK)) @ c for i in range(0, len(X), BLOCK)])


def dense(X: Matrix) -> Array:
    """What libsvm is given, and we are."""
    return np.ascontiguousarray(X.toarray() if sp.issparse(X) else X)


def _spread(model: object, n: int) -> Array:
    """libsvm's coefficients, one a sample."""
    c = np.zeros(n)
    c[model.support_] = np.ravel(model.dual_coef_)  # type: ignore[attr-defined]
    return c


HEAD = "param gamma: positive\nlet Phi = rbf(X, gamma=gamma)\n"


def machine(data: Data, C: float, gamma: float, squared: bool) -> Instance:
    """|w|^2 / 2 + C times the sum of hinges, with a free intercept; or of squared hinges, likewise."""
    matrix, y = data()
    X, n = dense(matrix), y.size

    def value(c: Array, b: float) -> float:
        f = predicted(X, gamma, c)
        short = np.maximum(1.0 - y * (f + b), 0.0)
        return float(c @ f / 2 + C * (short**2 if squared else short).sum())

    def libsvm(tol: float) -> Point:
        from sklearn.svm import SVC

        if squared:  # a hinge that may not be short, on K + I / (2C)
            K = gram(X, gamma) + np.eye(n) / (2 * C)
            model = SVC(C=1e12, kernel="precomputed", tol=tol, cache_size=CACHE).fit(K, y)
        else:
            model = SVC(C=C, gamma=gamma, tol=tol, cache_size=CACHE).fit(X, y)
        return _spread(model, n), float(model.intercept_[0])

    loss = "squared_hinge" if squared else "hinge"
    return Instance(
        f"data X: matrix[n, p], y: signs[n]\nparam C: positive\n{HEAD}var w: vector[dim(Phi)], b: real\n"
        f"minimize 1/2 * sum_squares(w) + C * sum({loss}(Phi @ w + b, y))\n",
        {"X": X, "y": y, "C": C, "gamma": gamma},
        ["w", "b"],
        value,
        [Peer("libsvm on K + I/(2C)" if squared else "libsvm", "sklearn", libsvm)],
    )


def regression(data: Data, C: float, gamma: float, eps: float) -> Instance:
    """|w|^2 / 2 + C times the sum of epsilon-insensitive losses, with a free intercept; targets of variance 1."""
    matrix, b = data()
    X, n = dense(matrix), b.size
    y = (b - b.mean()) / b.std()

    def value(c: Array, level: float) -> float:
        f = predicted(X, gamma, c)
        return float(c @ f / 2 + C * np.maximum(np.abs(f + level - y) - eps, 0.0).sum())

    def libsvm(tol: float) -> Point:
        from sklearn.svm import SVR

        model = SVR(C=C, gamma=gamma, epsilon=eps, tol=tol, cache_size=CACHE).fit(X, y)
        return _spread(model, n), float(model.intercept_[0])

    return Instance(
        f"data X: matrix[n, p], y: vector[n]\nparam C: positive\n{HEAD}var w: vector[dim(Phi)], b: real\n"
        f"minimize 1/2 * sum_squares(w) + C * sum(epsilon_insensitive(Phi @ w + b, y, eps={eps}))\n",
        {"X": X, "y": y, "C": C, "gamma": gamma},
        ["w", "b"],
        value,
        [Peer("libsvm", "sklearn", libsvm)],
    )


def one_class(data: Data, nu: float, gamma: float) -> Instance:
    """|w|^2 / 2 - rho + 1/nu times the mean of max(0, rho - <w, x>)."""
    X = dense(data()[0])
    n = len(X)

    def value(c: Array, rho: float) -> float:
        f = predicted(X, gamma, c)
        return float(c @ f / 2 - rho + np.maximum(rho - f, 0.0).mean() / nu)

    def libsvm(tol: float) -> Point:
        from sklearn.svm import OneClassSVM

        model = OneClassSVM(nu=nu, gamma=gamma, tol=tol, cache_size=CACHE).fit(X)
        # its coefficients sum to nu n, ours to 1
        return _spread(model, n) / (nu * n), float(-model.intercept_[0]) / (nu * n)

    return Instance(
        f"data X: matrix[n, p]\nparam nu: positive\n{HEAD}var w: vector[dim(Phi)], rho: real\n"
        "minimize 1/2 * sum_squares(w) - rho + 1/nu * mean(hinge(Phi @ w - rho + 1, ones(n)))\n",
        {"X": X, "nu": nu, "gamma": gamma},
        ["w", "rho"],
        value,
        [Peer("libsvm", "sklearn", libsvm)],
    )


def ring(n: int, noise: float) -> tuple[Matrix, Array]:
    """Points of a disc and of a ring around it, which overlap."""
    rng = np.random.default_rng(0)
    y = np.where(rng.random(n) < 0.5, 1.0, -1.0)
    turn, radius = rng.uniform(0.0, 2 * np.pi, n), 1.0 + 0.5 * y + noise * rng.standard_normal(n)
    return np.column_stack([radius * np.cos(turn), radius * np.sin(turn)]), y


def waves(n: int, d: int) -> tuple[Matrix, Array]:
    """Waves along two of d coordinates, and noise."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-1.0, 1.0, (n, d))
    return X, np.sin(3 * X[:, 0]) + np.cos(5 * X[:, 1]) + 0.3 * rng.standard_normal(n)


def cases() -> Iterator[Case]:
    """All of this file."""
    binary: tuple[tuple[str, str, Data, float], ...] = (
        ("splice, 1,000 rows", "small", partial(signed, "splice", 1_000), 0.02),
        ("usps, 1,000 rows", "small", partial(signed, "usps", 1_000), 0.01),
        ("a1a", "small", partial(signed, "a1a"), 0.05),
        ("ring, 1,000 rows", "small", partial(ring, 1_000, 0.4), 1.0),
        ("usps, 3,000 rows", "medium", partial(signed, "usps", 3_000), 0.01),
        ("mnist.t, 5,000 rows", "medium", partial(signed, "mnist.t", 5_000), 0.02),
        ("usps", "large", partial(signed, "usps"), 0.01),
        ("letter.scale, 15,000 rows", "large", partial(signed, "letter.scale", 15_000), 1.0),
    )
    for name, size, data, gamma in binary:
        for C in (1.0, 10.0):
            yield Case("kernel hinge", f"{name}, C = {C:g}", size, partial(machine, data, C, gamma, False))
        if size != "large":
            yield Case("kernel squared hinge", f"{name}, C = 1", size, partial(machine, data, 1.0, gamma, True))
        yield Case("one class", f"{name}, nu = 0.1", size, partial(one_class, data, 0.1, gamma))
    numeric: tuple[tuple[str, str, Data, float], ...] = (
        ("housing_scale", "small", partial(classes, "housing_scale"), 0.1),
        ("abalone", "small", partial(classes, "abalone"), 0.5),
        ("waves, 1,000 rows", "small", partial(waves, 1_000, 5), 0.5),
        ("usps, 3,000 rows", "medium", partial(classes, "usps", 3_000), 0.01),
    )
    for name, size, data, gamma in numeric:
        yield Case("support vector regression", f"{name}, C = 1", size, partial(regression, data, 1.0, gamma, 0.1))
