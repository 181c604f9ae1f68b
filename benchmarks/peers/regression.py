"""Losses of residuals with penalties: lasso, elastic net, groups, tasks, sparse huber, ridge."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache, partial
from typing import Any

import numpy as np
from generators import rcv1_like

from .cases import (
    EXACT,
    Array,
    Case,
    Instance,
    Matrix,
    Peer,
    Point,
    by_columns,
    by_rows,
    classes,
    narrow,
    numbers,
    one_hot,
    packed,
)
from .convex import convex

Data = Callable[[], tuple[Matrix, Array]]
ROUNDS = 100_000
"""Iterations that peers are allowed: tolerances are to stop them."""


# --- data -----------------------------------------------------------------------------------------------------------------


def real(name: str, rows: int | None = None) -> tuple[Matrix, Array]:
    """A file's rows, and its targets less their mean and of variance 1."""
    X, b = classes(name, rows)
    return packed(X), (b - b.mean()) / b.std()


@cache
def drawn(n: int, d: int, support: int) -> tuple[Matrix, Array]:
    """Gaussian rows with ten common factors, and a sparse truth with noise."""
    rng = np.random.default_rng(0)
    X = np.sqrt(0.7) * rng.standard_normal((n, d)) + np.sqrt(0.03) * rng.standard_normal((n, 10)) @ rng.standard_normal(
        (10, d)
    )
    truth = np.zeros(d)
    truth[rng.choice(d, support, replace=False)] = rng.standard_normal(support)
    return X, X @ truth + rng.standard_normal(n)


@cache
def text(n: int, d: int) -> tuple[Matrix, Array]:
    """Text-like sparse rows; the labels are the targets."""
    A, b = rcv1_like(n, d)
    return narrow(A), b


def tasks(name: str) -> tuple[Matrix, Array]:
    """A file's rows and an indicator of each class, less its mean."""
    X, labels = classes(name)
    Y = one_hot(labels)
    return packed(X), Y - Y.mean(axis=0)


def drawn_tasks(n: int, d: int, k: int, rows: int) -> tuple[Matrix, Array]:
    """Gaussian features, of which some matter to all tasks."""
    rng = np.random.default_rng(1)
    X = rng.standard_normal((n, d))
    truth = np.zeros((d, k))
    truth[rng.choice(d, rows, replace=False)] = rng.standard_normal((rows, k))
    return X, X @ truth + rng.standard_normal((n, k))


# --- squared loss with penalties --------------------------------------------------------------------------------------------


def lasso(data: Data, share: float) -> Instance:
    """1/(2n) |X w - b|^2 + mu |w|_1, mu a share of the largest useful one."""
    X, b = data()
    mu = share * float(np.abs(X.T @ b).max()) / b.size
    columns = by_columns(X)

    def fit(module: str, tol: float) -> Point:
        if module == "celer":
            from celer import Lasso
        elif module == "skglm":
            from skglm import Lasso
        else:
            from sklearn.linear_model import Lasso
        limit = ROUNDS if module == "sklearn" else 1_000
        return (np.ravel(Lasso(alpha=mu, tol=tol, max_iter=limit, fit_intercept=False).fit(columns, b).coef_),)

    def state(cp: Any) -> Any:
        w = cp.Variable(X.shape[1])
        return cp.sum_squares(X @ w - b) / (2 * b.size) + mu * cp.norm1(w), [], [w]

    return Instance(
        "data X: matrix[n, p], y: vector[n]\nparam mu: nonnegative\nvar w: vector[p]\n"
        "minimize 1/2 * mean(squared(X @ w, y)) + mu * norm1(w)\n",
        {"X": X, "y": b, "mu": mu},
        ["w"],
        lambda w: float(((X @ w - b) ** 2).sum() / (2 * b.size) + mu * np.abs(w).sum()),
        [*_three(fit), *convex(state, numbers(X))],
    )


def elastic_net(data: Data, share: float) -> Instance:
    """1/(2n) |X w - b|^2 + alpha (r |w|_1 + (1 - r)/2 |w|^2) with r = 0.9."""
    X, b = data()
    r = 0.9
    alpha = share * float(np.abs(X.T @ b).max()) / b.size / r
    columns = by_columns(X)

    def fit(module: str, tol: float) -> Point:
        if module == "celer":
            from celer import ElasticNet
        elif module == "skglm":
            from skglm import ElasticNet
        else:
            from sklearn.linear_model import ElasticNet
        limit = ROUNDS if module == "sklearn" else 1_000
        model = ElasticNet(alpha=alpha, l1_ratio=r, tol=tol, max_iter=limit, fit_intercept=False)
        return (np.ravel(model.fit(columns, b).coef_),)

    def state(cp: Any) -> Any:
        w = cp.Variable(X.shape[1])
        penalty = alpha * r * cp.norm1(w) + alpha * (1 - r) / 2 * cp.sum_squares(w)
        return cp.sum_squares(X @ w - b) / (2 * b.size) + penalty, [], [w]

    def value(w: Array) -> float:
        return float(((X @ w - b) ** 2).sum() / (2 * b.size) + alpha * (r * np.abs(w).sum() + (1 - r) / 2 * w @ w))

    return Instance(
        "data X: matrix[n, p], y: vector[n]\nparam mu: nonnegative, nu: nonnegative\nvar w: vector[p]\n"
        "minimize 1/2 * mean(squared(X @ w, y)) + mu * norm1(w) + nu/2 * sum_squares(w)\n",
        {"X": X, "y": b, "mu": alpha * r, "nu": alpha * (1 - r)},
        ["w"],
        value,
        [*_three(fit), *convex(state, numbers(X))],
    )


def _three(fit: Callable[[str, float], Point]) -> list[Peer]:
    names = {"sklearn": "scikit-learn", "celer": "celer", "skglm": "skglm"}
    return [Peer(name, module, partial(fit, module)) for module, name in names.items()]


def group_lasso(data: Data, share: float, size: int) -> Instance:
    """1/(2n) |X w - b|^2 + mu times the lengths of groups of `size` columns that follow each other."""
    X, b = data()
    full = X.shape[1] // size * size
    X = X[:, :full]
    group = np.arange(full) // size

    def lengths(w: Array) -> Array:
        return np.asarray(np.sqrt(np.bincount(group, w**2)))

    mu = share * float(lengths(np.asarray(X.T @ b)).max()) / b.size
    columns = by_columns(X)

    def celer(tol: float) -> Point:
        from celer import GroupLasso

        model = GroupLasso(groups=size, alpha=mu, tol=tol, max_iter=1_000, fit_intercept=False)
        return (np.ravel(model.fit(columns, b).coef_),)

    def skglm(tol: float) -> Point:
        from skglm import GroupLasso

        model = GroupLasso(groups=size, alpha=mu, tol=tol, max_iter=1_000, fit_intercept=False)
        return (np.ravel(model.fit(columns, b).coef_),)

    def state(cp: Any) -> Any:
        w = cp.Variable(full)
        penalty = cp.sum(cp.norm(cp.reshape(w, (full // size, size), order="C"), 2, axis=1))
        return cp.sum_squares(X @ w - b) / (2 * b.size) + mu * penalty, [], [w]

    return Instance(
        "data X: matrix[n, p], y: vector[n], g: index[p] of G\nparam mu: nonnegative\nvar w: vector[p]\n"
        "minimize 1/2 * mean(squared(X @ w, y)) + mu * group_norm(w, g)\n",
        {"X": X, "y": b, "g": group, "mu": mu},
        ["w"],
        lambda w: float(((X @ w - b) ** 2).sum() / (2 * b.size) + mu * lengths(w).sum()),
        [
            Peer("celer", "celer", celer),
            Peer("skglm", "skglm", skglm),
            *convex(state, numbers(X), ("CLARABEL", "SCS")),
        ],
    )


def multitask(data: Data, share: float) -> Instance:
    """1/(2n) |X W - Y|^2 + mu times the lengths of the rows of W."""
    X, Y = data()
    n = Y.shape[0]
    mu = share * float(np.linalg.norm(X.T @ Y, axis=1).max()) / n
    dense = np.asfortranarray(X if isinstance(X, np.ndarray) else X.toarray())  # the peers take no other

    def fit(module: str, tol: float) -> Point:
        if module == "celer":
            from celer import MultiTaskLasso
        elif module == "skglm":
            from skglm import MultiTaskLasso
        else:
            from sklearn.linear_model import MultiTaskLasso
        limit = ROUNDS if module == "sklearn" else 1_000
        model = MultiTaskLasso(alpha=mu, tol=tol, max_iter=limit, fit_intercept=False)
        return (np.asarray(model.fit(dense, np.asfortranarray(Y)).coef_).T,)

    def state(cp: Any) -> Any:
        W = cp.Variable((X.shape[1], Y.shape[1]))
        return cp.sum_squares(X @ W - Y) / (2 * n) + mu * cp.sum(cp.norm(W, 2, axis=1)), [], [W]

    return Instance(
        "data X: matrix[n, p], Y: matrix[n, k]\nparam mu: nonnegative\nvar W: matrix[p, k]\n"
        "minimize 1/2 * 1/n * sum(squared(X @ W, Y)) + mu * norm21(W)\n",
        {"X": X, "Y": Y, "mu": mu},
        ["W"],
        lambda W: float(((X @ W - Y) ** 2).sum() / (2 * n) + mu * np.linalg.norm(W, axis=1).sum()),
        [*_three(fit), *convex(state, numbers(X) * Y.shape[1], ("CLARABEL", "SCS"))],
    )


# --- other losses --------------------------------------------------------------------------------------------------------


def sparse_huber(data: Data, share: float) -> Instance:
    """The mean Huber loss, of delta 0.5, + mu |w|_1."""
    X, b = data()
    delta = 0.5
    mu = share * float(np.abs(X.T @ np.clip(b, -delta, delta)).max()) / b.size
    columns = by_columns(X)

    def skglm(tol: float) -> Point:
        from skglm import GeneralizedLinearEstimator
        from skglm.datafits import Huber
        from skglm.penalties import L1
        from skglm.solvers import AndersonCD

        solver = AndersonCD(tol=tol, max_iter=1_000, fit_intercept=False)
        return (np.ravel(GeneralizedLinearEstimator(Huber(delta), L1(mu), solver).fit(columns, b).coef_),)

    def state(cp: Any) -> Any:
        w = cp.Variable(X.shape[1])
        return cp.sum(cp.huber(X @ w - b, delta)) / (2 * b.size) + mu * cp.norm1(w), [], [w]

    def value(w: Array) -> float:
        r = np.abs(X @ w - b)
        return float(np.where(r <= delta, r**2 / 2, delta * (r - delta / 2)).mean() + mu * np.abs(w).sum())

    return Instance(
        "data X: matrix[n, p], y: vector[n]\nparam mu: nonnegative\nvar w: vector[p]\n"
        f"minimize mean(huber(X @ w, y, delta={delta})) + mu * norm1(w)\n",
        {"X": X, "y": b, "mu": mu},
        ["w"],
        value,
        [Peer("skglm", "skglm", skglm), *convex(state, numbers(X))],
    )


def ridge(data: Data, weight: float) -> Instance:
    """|X w - b|^2 + mu |w|^2, mu a share of the mean squared length of the columns."""
    X, b = data()
    mu = weight * float((X * X if isinstance(X, np.ndarray) else X.multiply(X)).sum()) / X.shape[1]
    rows = by_rows(X)

    def fit(solver: str, tol: float) -> Point:
        from sklearn.linear_model import Ridge

        model = Ridge(alpha=mu, solver=solver, tol=tol or 1e-4, fit_intercept=False, max_iter=ROUNDS, random_state=0)
        return (np.ravel(model.fit(rows, b).coef_),)

    exact = ("cholesky", "svd") if isinstance(X, np.ndarray) else ("cholesky",)
    direct = [Peer(f"Ridge {s}", "sklearn", partial(fit, s), EXACT) for s in exact if min(X.shape) <= 5_000]
    steps = [Peer(f"Ridge {solver}", "sklearn", partial(fit, solver)) for solver in ("lsqr", "sparse_cg", "saga")]
    return Instance(
        "data X: matrix[n, p], y: vector[n]\nparam mu: nonnegative\nvar w: vector[p]\n"
        "minimize sum(squared(X @ w, y)) + mu * sum_squares(w)\n",
        {"X": X, "y": b, "mu": mu},
        ["w"],
        lambda w: float(((X @ w - b) ** 2).sum() + mu * w @ w),
        [*direct, *steps],
    )


def cases() -> Iterator[Case]:
    """All of this file."""
    files: dict[str, tuple[str, Data]] = {
        "west_breast": ("small", partial(real, "west_breast")),
        "basehock": ("small", partial(real, "basehock")),
        "usps": ("medium", partial(real, "usps")),
        "Gaussian 500 x 5,000": ("small", partial(drawn, 500, 5_000, 30)),
        "text 20,000 x 50,000": ("large", partial(text, 20_000, 50_000)),
    }
    shares = {
        "west_breast": 0.1,
        "basehock": 0.05,
        "usps": 0.01,
        "Gaussian 500 x 5,000": 0.05,
        "text 20,000 x 50,000": 0.05,
    }
    for group, make in {"lasso": lasso, "elastic net": elastic_net, "sparse huber": sparse_huber}.items():
        for name, (size, data) in files.items():
            yield Case(group, f"{name}, {shares[name]:g} of the largest", size, partial(make, data, shares[name]))
    for name, size, data, width in (
        ("dna.scale, groups of 3", "small", partial(real, "dna.scale"), 3),
        ("usps, groups of 4", "medium", partial(real, "usps"), 4),
        ("Gaussian 500 x 5,000, groups of 5", "small", partial(drawn, 500, 5_000, 30), 5),
    ):
        yield Case("group lasso", f"{name}, 0.05 of the largest", size, partial(group_lasso, data, 0.05, width))
    for name, size, data in (
        ("dna.scale", "small", partial(tasks, "dna.scale")),
        ("usps", "medium", partial(tasks, "usps")),
        ("Gaussian 300 x 2,000, 20 tasks", "small", partial(drawn_tasks, 300, 2_000, 20, 20)),
    ):
        yield Case("multitask lasso", f"{name}, 0.1 of the largest", size, partial(multitask, data, 0.1))
    for name, size, data in (
        ("abalone", "small", partial(real, "abalone")),
        ("basehock", "small", partial(real, "basehock")),
        ("usps", "medium", partial(real, "usps")),
        ("Gaussian 2,000 x 500", "small", partial(drawn, 2_000, 500, 50)),
        ("text 20,000 x 50,000", "large", partial(text, 20_000, 50_000)),
    ):
        yield Case("ridge", name, size, partial(ridge, data, 0.01))
