"""Classification: logistic with l1, on its ball and with l2, linear machines, Crammer-Singer, softmax."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial
from typing import Any

import numpy as np
from generators import rcv1_like

import fwdsl as fw

from .cases import (
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
    packed,
    signed,
)
from .convex import convex

Data = Callable[[], tuple[Matrix, Array]]
ROUNDS = 100_000
"""Iterations that peers are allowed: tolerances are to stop them."""


def real(name: str, rows: int | None = None) -> tuple[Matrix, Array]:
    """A file's rows and signs."""
    X, y = signed(name, rows)
    return packed(X), y


@cache
def text(n: int, d: int) -> tuple[Matrix, Array]:
    """Text-like sparse rows and signs."""
    A, b = rcv1_like(n, d)
    return narrow(A), b


def several(name: str, rows: int | None = None) -> tuple[Matrix, Array]:
    """A file's rows and classes from 0."""
    X, labels = classes(name, rows)
    return packed(X), np.unique(labels, return_inverse=True)[1].astype(float)


@cache
def clouds(n: int, d: int, k: int) -> tuple[Matrix, Array]:
    """k Gaussian classes that overlap."""
    rng = np.random.default_rng(0)
    labels = rng.integers(0, k, n)
    labels[:k] = np.arange(k)
    return (rng.standard_normal((k, d))[labels] * 0.7 + rng.standard_normal((n, d))) / np.sqrt(d), labels.astype(float)


# --- logistic -----------------------------------------------------------------------------------------------------------------


def _logistic(X: Matrix, y: Array, w: Array) -> float:
    return float(np.logaddexp(0.0, -y * (X @ w)).mean())


L1 = (
    "data X: matrix[n, p], y: signs[n]\nparam mu: nonnegative\nvar w: vector[p]\n"
    "minimize mean(logistic(X @ w, y)) + mu * norm1(w)\n"
)
BALL = (
    "data X: matrix[n, p], y: signs[n]\nparam r: positive\nvar w: vector[p]\n"
    "minimize mean(logistic(X @ w, y))\nsubject to norm1(w) <= r\n"
)


def l1_logistic(data: Data, share: float, ball: bool) -> Instance:
    """The mean logistic loss + mu |w|_1, mu a share of the largest useful one.

    `ball`: on the ball whose multiplier is mu; the peers solve the penalised problem, which is what the value is of.
    """
    X, y = data()
    mu = share * float(np.abs(X.T @ y).max()) / y.size / 2
    columns, rows = by_columns(X), by_rows(X)

    def celer(tol: float) -> Point:
        from celer import LogisticRegression

        return (np.ravel(LogisticRegression(C=1 / (mu * y.size), tol=tol, max_iter=1_000).fit(columns, y).coef_),)

    def skglm(tol: float) -> Point:
        from skglm import SparseLogisticRegression

        model = SparseLogisticRegression(alpha=mu, tol=tol, max_iter=1_000, fit_intercept=False)
        return (np.ravel(model.fit(columns, y).coef_),)

    def sklearn(solver: str, tol: float) -> Point:
        from sklearn.linear_model import LogisticRegression

        options = {"l1_ratio": 1.0, "C": 1 / (mu * y.size), "fit_intercept": False, "random_state": 0}
        model = LogisticRegression(
            solver=solver, tol=tol, max_iter=ROUNDS if solver == "liblinear" else 2_000, **options
        )
        return (np.ravel(model.fit(rows, y).coef_),)

    def state(cp: Any) -> Any:
        w = cp.Variable(X.shape[1])
        return cp.sum(cp.logistic(-cp.multiply(y, X @ w))) / y.size + mu * cp.norm1(w), [], [w]

    values: dict[str, Any] = {"X": X, "y": y}
    if ball:
        values["r"] = float(np.abs(fw.parse(L1).bind(**values, mu=mu).solve(tol=1e-9, threads=1)["w"]).sum())
    else:
        values["mu"] = mu
    solvers = [Peer(solver, "sklearn", partial(sklearn, solver)) for solver in ("liblinear", "saga")]
    return Instance(
        BALL if ball else L1,
        values,
        ["w"],
        lambda w: _logistic(X, y, w) + mu * float(np.abs(w).sum()),
        [
            Peer("celer", "celer", celer),
            Peer("skglm", "skglm", skglm),
            *solvers,
            *convex(state, numbers(X), ("CLARABEL",)),
        ],
    )


def l2_logistic(data: Data, C: float) -> Instance:
    """|w|^2 / 2 + C times the sum of logistic losses."""
    X, y = data()
    rows = by_rows(X)

    def sklearn(solver: str, tol: float) -> Point:
        from sklearn.linear_model import LogisticRegression

        model = LogisticRegression(C=C, solver=solver, tol=tol, max_iter=10_000, fit_intercept=False, random_state=0)
        return (np.ravel(model.fit(rows, y).coef_),)

    def state(cp: Any) -> Any:
        w = cp.Variable(X.shape[1])
        return cp.sum_squares(w) / 2 + C * cp.sum(cp.logistic(-cp.multiply(y, X @ w))), [], [w]

    solvers = ["lbfgs", "liblinear", "newton-cg", *(["newton-cholesky"] if X.shape[1] <= 2_000 else []), "saga"]
    return Instance(
        "data X: matrix[n, p], y: signs[n]\nparam C: positive\nvar w: vector[p]\n"
        "minimize 1/2 * sum_squares(w) + C * sum(logistic(X @ w, y))\n",
        {"X": X, "y": y, "C": C},
        ["w"],
        lambda w: float(w @ w / 2) + C * y.size * _logistic(X, y, w),
        [*(Peer(s, "sklearn", partial(sklearn, s)) for s in solvers), *convex(state, numbers(X), ("CLARABEL",))],
    )


# --- linear machines --------------------------------------------------------------------------------------------------------------

INTERCEPTS = ("none", "penalised", "free")


def machine(data: Data, C: float, squared: bool, intercept: str) -> Instance:
    """|w|^2 / 2 + C times the sum of hinges or squared hinges; an intercept is missing, penalised like w, or free."""
    X, y = data()
    rows = by_rows(X)
    loss = "squared_hinge" if squared else "hinge"

    def hinges(z: Array) -> float:
        short = np.maximum(1.0 - y * z, 0.0)
        return float(((short**2) if squared else short).sum())

    def value(w: Array, b: float = 0.0) -> float:
        own = b * b / 2 if intercept == "penalised" else 0.0
        return float(w @ w / 2) + own + C * hinges(X @ w + b)

    def liblinear(dual: bool, tol: float) -> Point:
        from sklearn.svm import LinearSVC

        with_b = intercept == "penalised"
        model = LinearSVC(C=C, loss=loss, dual=dual, tol=tol, max_iter=10_000_000, fit_intercept=with_b, random_state=0)
        model.fit(rows, y)
        return (np.ravel(model.coef_), float(np.ravel(model.intercept_)[0])) if with_b else (np.ravel(model.coef_),)

    def libsvm(tol: float) -> Point:
        from sklearn.svm import SVC

        model = SVC(C=C, kernel="linear", tol=tol, cache_size=256).fit(rows, y)
        w = model.coef_
        return np.ravel(w if isinstance(w, np.ndarray) else w.toarray()), float(model.intercept_[0])

    def state(cp: Any) -> Any:
        w, b = cp.Variable(X.shape[1]), cp.Variable()
        short = cp.pos(1 - cp.multiply(y, X @ w + (b if intercept != "none" else 0)))
        own = cp.sum_squares(b) / 2 if intercept == "penalised" else 0
        total = cp.sum_squares(w) / 2 + own + C * (cp.sum_squares(short) if squared else cp.sum(short))
        return total, [], [w] if intercept == "none" else [w, b]

    peers: list[Peer] = []
    if intercept != "free":
        peers += [Peer("liblinear dual", "sklearn", partial(liblinear, True))]
        peers += [Peer("liblinear primal", "sklearn", partial(liblinear, False))] if squared else []
    elif not squared:
        peers += [Peer("libsvm", "sklearn", libsvm)]
    with_b = "" if intercept == "none" else " + b"
    own = " + 1/2 * sum_squares(b)" if intercept == "penalised" else ""
    return Instance(
        f"data X: matrix[n, p], y: signs[n]\nparam C: positive\nvar w: vector[p]{', b: real' if with_b else ''}\n"
        f"minimize 1/2 * sum_squares(w){own} + C * sum({loss}(X @ w{with_b}, y))\n",
        {"X": X, "y": y, "C": C},
        ["w", "b"] if with_b else ["w"],
        value,
        [*peers, *convex(state, numbers(X))],
    )


# --- several classes ----------------------------------------------------------------------------------------------------------------


def crammer_singer(data: Data, C: float) -> Instance:
    """|W|^2 / 2 + C times the sum of Crammer and Singer's losses."""
    X, y = data()
    rows, at = by_rows(X), y.astype(int)
    k = int(at.max()) + 1

    def value(W: Array) -> float:
        Z = np.asarray(X @ W)
        own = Z[np.arange(at.size), at]
        margins = Z + 1.0
        margins[np.arange(at.size), at] -= 1.0
        return float((W * W).sum() / 2 + C * (margins.max(axis=1) - own).sum())

    def liblinear(tol: float) -> Point:
        from sklearn.svm import LinearSVC

        model = LinearSVC(
            C=C, multi_class="crammer_singer", tol=tol, max_iter=1_000_000, fit_intercept=False, random_state=0
        )
        return (np.asarray(model.fit(rows, y).coef_).T,)

    def state(cp: Any) -> Any:
        W = cp.Variable((X.shape[1], k))
        marks = np.eye(k)[at]
        Z = X @ W
        return (
            cp.sum_squares(W) / 2 + C * (cp.sum(cp.max(Z + 1 - marks, axis=1)) - cp.sum(cp.multiply(marks, Z))),
            [],
            [W],
        )

    return Instance(
        "data X: matrix[n, p], y: labels[n, k]\nparam C: positive\nvar W: matrix[p, k]\n"
        "minimize 1/2 * sum_squares(W) + C * sum(multiclass_hinge(X @ W, y))\n",
        {"X": X, "y": y, "C": C},
        ["W"],
        value,
        [Peer("liblinear", "sklearn", liblinear), *convex(state, numbers(X) * k, ("CLARABEL",))],
    )


def softmax(data: Data, l1: bool, weight: float) -> Instance:
    """The mean softmax loss with mu |W|_1, or with mu/2 |W|^2."""
    X, y = data()
    rows, at = by_rows(X), y.astype(int)
    n, k = at.size, int(at.max()) + 1
    largest = float(np.abs(X.T @ (1.0 / k - np.eye(k)[at])).max()) / n
    mu = weight * largest if l1 else weight / n

    def value(W: Array) -> float:
        Z = np.asarray(X @ W)
        top = Z.max(axis=1)
        loss = (top + np.log(np.exp(Z - top[:, None]).sum(axis=1)) - Z[np.arange(n), at]).mean()
        return float(loss + mu * (np.abs(W).sum() if l1 else (W * W).sum() / 2))

    def sklearn(solver: str, tol: float) -> Point:
        from sklearn.linear_model import LogisticRegression

        kind = {"l1_ratio": 1.0} if l1 else {}
        model = LogisticRegression(
            C=1 / (mu * n), solver=solver, tol=tol, max_iter=10_000, fit_intercept=False, random_state=0, **kind
        )
        return (np.asarray(model.fit(rows, y).coef_).T,)

    def state(cp: Any) -> Any:
        W = cp.Variable((X.shape[1], k))
        Z = X @ W
        loss = (cp.sum(cp.log_sum_exp(Z, axis=1)) - cp.sum(cp.multiply(np.eye(k)[at], Z))) / n
        return loss + mu * (cp.sum(cp.abs(W)) if l1 else cp.sum_squares(W) / 2), [], [W]

    solvers: Sequence[str] = ("saga",) if l1 else ("lbfgs", "newton-cg", "newton-cholesky", "saga")
    if X.shape[1] * k > 3_000:
        solvers = [solver for solver in solvers if solver != "newton-cholesky"]
    penalty = "mu * norm1(W)" if l1 else "mu/2 * sum_squares(W)"
    return Instance(
        "data X: matrix[n, p], y: labels[n, k]\nparam mu: nonnegative\nvar W: matrix[p, k]\n"
        f"minimize mean(softmax(X @ W, y)) + {penalty}\n",
        {"X": X, "y": y, "mu": mu},
        ["W"],
        value,
        [*(Peer(s, "sklearn", partial(sklearn, s)) for s in solvers), *convex(state, numbers(X) * k, ("CLARABEL",))],
    )


def cases() -> Iterator[Case]:
    """All of this file."""
    files: dict[str, tuple[str, Data]] = {
        "a1a": ("small", partial(real, "a1a")),
        "basehock": ("small", partial(real, "basehock")),
        "text 2,000 x 5,000": ("small", partial(text, 2_000, 5_000)),
        "mushrooms": ("medium", partial(real, "mushrooms")),
        "a9a": ("medium", partial(real, "a9a")),
        "w8a": ("large", partial(real, "w8a")),
        "text 20,000 x 50,000": ("large", partial(text, 20_000, 50_000)),
    }
    for name, (size, data) in files.items():
        for group, ball in (("l1 logistic", False), ("logistic on the l1 ball", True)):
            yield Case(group, f"{name}, 0.05 of the largest", size, partial(l1_logistic, data, 0.05, ball))
        yield Case("l2 logistic", f"{name}, C = 1", size, partial(l2_logistic, data, 1.0))
        for loss, squared in (("hinge", False), ("squared hinge", True)):
            for intercept in INTERCEPTS if not squared else ("none", "penalised"):
                group = f"linear machine, {loss}, {'no' if intercept == 'none' else intercept} intercept"
                yield Case(group, f"{name}, C = 0.1", size, partial(machine, data, 0.1, squared, intercept))
    many: dict[str, tuple[str, Data]] = {
        "dna.scale": ("small", partial(several, "dna.scale")),
        "clouds 2,000 x 50, 5 classes": ("small", partial(clouds, 2_000, 50, 5)),
        "usps": ("medium", partial(several, "usps")),
        "letter.scale": ("medium", partial(several, "letter.scale")),
    }
    for name, (size, data) in many.items():
        yield Case("Crammer-Singer", f"{name}, C = 0.1", size, partial(crammer_singer, data, 0.1))
        yield Case("softmax with l1", f"{name}, 0.05 of the largest", size, partial(softmax, data, True, 0.05))
        yield Case("softmax with l2", f"{name}, C = 1", size, partial(softmax, data, False, 1.0))
