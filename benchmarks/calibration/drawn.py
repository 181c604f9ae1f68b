"""Programs drawn at random: a loss, a penalty, a set, sizes, data and weights, each drawn by itself."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import scipy.sparse as sp

from .family import gradient
from .sources import Array

LOSSES: Mapping[str, tuple[str, str]] = {
    "absolute": ("mean(absolute({z}, y))", "real"),
    "quantile": ("mean(quantile({z}, y, tau=0.8))", "real"),
    "epsilon-insensitive": ("mean(epsilon_insensitive({z}, y, eps=0.3))", "real"),
    "huber": ("mean(huber({z}, y))", "real"),
    "squared": ("mean(squared({z}, y))", "real"),
    "norm2": ("norm2({z} - y)", "real"),
    "norm_inf": ("norm_inf({z} - y)", "real"),
    "hinge": ("mean(hinge({z}, y))", "signs"),
    "squared hinge": ("mean(squared_hinge({z}, y))", "signs"),
    "smooth hinge": ("mean(smooth_hinge({z}, y))", "signs"),
    "logistic": ("mean(logistic({z}, y))", "signs"),
    "poisson": ("mean(poisson({z}, y))", "counts"),
    "poisson_rate": ("mean(poisson_rate({z} + 20, y))", "counts"),
}
"""The text over the predictions z, and the kind of the targets."""

PENALTIES: Mapping[str, tuple[str, float]] = {
    "norm1": (" + c * norm1(w)", 0.3),
    "ridge": (" + c * sum_squares(w)", 0.15),
    "elastic net": (" + c * norm1(w) + c / 5 * sum_squares(w)", 0.1),
    "norm2": (" + c * norm2(w)", 0.08),
    "norm_inf": (" + c * norm_inf(w)", 0.07),
    "groups": (" + c * group_norm(w, groups=g)", 0.08),
    "differences": (" + c * norm1(w[1:] - w[:-1])", 0.07),
    "none": ("", 0.15),
}
"""The text, and how often it is drawn."""

SETS: Mapping[str, tuple[str, float]] = {
    "": ("", 0.6),
    "nonnegative": (" in nonnegative", 0.1),
    "box": (" in box(-1, 1)", 0.08),
    "simplex": (" in simplex(1)", 0.08),
    "l1 ball": (" in l1_ball(2)", 0.07),
    "l2 ball": (" in l2_ball(1)", 0.07),
}

CONSTRAINED: Mapping[str, str] = {
    "residuals within a ball": "norm2(X @ w - y) <= c",
    "correlations within bounds": "norm_inf(X.T @ (X @ w - y)) <= c",
}
"""What norm1 is minimised subject to, in one of ten programs."""

NUMBERS = 1_000_000
"""Numbers of the largest matrix."""

ROWS, UNKNOWNS = (50, 20_000), (5, 2_000)
"""The ranges of the sizes, drawn evenly in their logarithm."""


def _one_of(rng: np.random.Generator, choices: Mapping[str, tuple[str, float]]) -> str:
    shares = np.array([share for _, share in choices.values()])
    return str(rng.choice(list(choices), p=shares / shares.sum()))


def _evenly(rng: np.random.Generator, least: float, most: float) -> float:
    """A number drawn evenly in its logarithm."""
    return float(np.exp(rng.uniform(np.log(least), np.log(most))))


def _matrix(rng: np.random.Generator, n: int, p: int) -> Any:
    """Independent columns, those with common factors, of other sizes, like their neighbours, or sparse ones."""
    kind = rng.integers(5)
    if kind == 4:
        density = min(1.0, max(4.0 / p, _evenly(rng, 0.005, 0.2)))
        return sp.random_array((n, p), density=density, rng=rng, format="csr", data_sampler=rng.standard_normal)
    X = rng.standard_normal((n, p))
    if kind == 1:
        X = 0.7 * X + 0.3 * rng.standard_normal((n, 5)) @ rng.standard_normal((5, p))
    elif kind == 2:
        X = X * np.logspace(0.0, -rng.uniform(0.5, 2.0), p)
    elif kind == 3:
        for j in range(1, p):
            X[:, j] = 0.9 * X[:, j - 1] + 0.44 * X[:, j]
    return X


def drawn(seed: int) -> tuple[str, Mapping[str, Any]]:
    """The program of this seed and its data."""
    rng = np.random.default_rng(seed)
    n, p = int(_evenly(rng, *ROWS)), int(_evenly(rng, *UNKNOWNS))
    while n * p > NUMBERS:
        n, p = int(_evenly(rng, *ROWS)), int(_evenly(rng, *UNKNOWNS))
    X = _matrix(rng, n, p)
    truth = np.where(rng.random(p) < max(2 / p, _evenly(rng, 0.01, 1.0)), rng.standard_normal(p), 0.0)
    z = X @ truth
    z = z / (float(z.std()) or 1.0)
    noise = _evenly(rng, 0.03, 2.0)
    y = z + noise * rng.standard_normal(n)
    if rng.random() < 0.3:
        y[rng.random(n) < 0.05] *= 10.0
    strength = _evenly(rng, 1e-3, 0.5)
    if rng.random() < 0.1:
        return _constrained(rng, X, y, noise, strength)
    loss, penalty, on = str(rng.choice(list(LOSSES))), _one_of(rng, PENALTIES), _one_of(rng, SETS)
    text, kind = LOSSES[loss]
    if penalty == "none" and not on:
        penalty = "norm1"
    if loss == "poisson_rate":
        on, X = "box", X * (15.0 / float(abs(X).sum(axis=1).max()))
    elif loss == "poisson":
        X = X / max(1.0, float(abs(X).max()))
    if kind == "signs":
        y = np.where(y > 0.0, 1.0, -1.0)
    elif kind == "counts":
        y = np.round(np.exp(np.clip(z, -3.0, 3.0)))
    weight = max(1e-9, strength * _largest(loss, X, y))
    return _written(text, kind, penalty, on, rng.random() < 0.5, {"X": X, "y": y, "c": weight})


def _largest(loss: str, X: Any, y: Array) -> float:
    """About the largest useful weight of norm1."""
    if loss == "norm_inf":
        return float(abs(X).mean())
    of_mean = gradient(X, y - y.mean() if loss.startswith("poisson") else y)
    return of_mean * y.size / float(np.linalg.norm(y)) if loss == "norm2" else of_mean


def _written(
    text: str, kind: str, penalty: str, on: str, intercept: bool, data: dict[str, Any]
) -> tuple[str, Mapping[str, Any]]:
    """The program, which declares what it uses."""
    type_of = {"real": "vector[n]", "signs": "signs[n]", "counts": "vector[n] in nonnegative"}[kind]
    head = f"data X: matrix[n, p], y: {type_of}"
    if penalty == "groups":
        head += ", g: index[p] of G"
        data["g"] = np.arange(data["X"].shape[1]) // 5
    head += "\nparam c: positive\n" if penalty != "none" else "\n"
    if penalty == "none":
        del data["c"]
    variable = f"var w: vector[p]{SETS[on][0]}{', b: real' if intercept else ''}\n"
    z = "X @ w + b" if intercept else "X @ w"
    return f"{head}{variable}minimize {text.format(z=z)}{PENALTIES[penalty][0]}\n", data


def _constrained(
    rng: np.random.Generator, X: Any, y: Array, noise: float, strength: float
) -> tuple[str, Mapping[str, Any]]:
    """norm1 subject to a constraint on the residuals."""
    which = str(rng.choice(list(CONSTRAINED)))
    within_a_ball = which == "residuals within a ball"
    bound = 1.2 * noise * np.sqrt(y.size) if within_a_ball else max(strength, 0.02) * float(np.abs(X.T @ y).max())
    text = "data X: matrix[n, p], y: vector[n]\nparam c: positive\nvar w: vector[p]\nminimize norm1(w)\nsubject to "
    return f"{text}{CONSTRAINED[which]}\n", {"X": X, "y": y, "c": float(bound)}
