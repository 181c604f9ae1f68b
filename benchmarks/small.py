"""Latencies of small problems in a warm process, beside scikit-learn's and CVXPY's for the same. `start_up.py` runs it, and reads its JSON."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import count
from statistics import median
from typing import Any

import numpy as np
from timing import interleaved

import fwdsl as fw
from fwdsl.backends.registry import METHODS

ROUNDS = 60
SLOW_ROUNDS = 5

LASSO = """\
data X: matrix[n, p], y: vector[n]
param mu: positive = 0.1
var w: vector[p]
minimize 1/2 * mean(squared(X @ w, y)) + mu * norm1(w)
"""
LOGISTIC = """\
data X: matrix[n, p], y: signs[n]
param mu: positive = 0.05
var w: vector[p]
minimize mean(logistic(X @ w, y)) + mu * norm1(w)
"""


@dataclass(frozen=True)
class Small:
    """A problem of `n` samples and `p` features; `peer` fits scikit-learn, `stated` is the objective in CVXPY."""

    name: str
    text: str
    n: int
    p: int
    mu: float
    peer: Callable[[Any, Any, float], Any]
    stated: Callable[[Any, Any, Any, Any, float], Any]


def _sk_lasso(X: Any, y: Any, mu: float) -> Any:
    from sklearn.linear_model import Lasso

    return Lasso(alpha=mu, fit_intercept=False, tol=1e-6).fit(X, y)


def _sk_logistic(X: Any, y: Any, mu: float) -> Any:
    from sklearn.linear_model import LogisticRegression

    C = 1.0 / (mu * y.size)
    return LogisticRegression(l1_ratio=1.0, C=C, solver="liblinear", fit_intercept=False, tol=1e-6).fit(X, y)


PROBLEMS = (
    Small(
        "lasso",
        LASSO,
        100,
        10,
        0.1,
        _sk_lasso,
        lambda cp, w, X, y, mu: cp.sum_squares(X @ w - y) / (2 * y.size) + mu * cp.norm1(w),
    ),
    Small(
        "logistic regression with `norm1`",
        LOGISTIC,
        1000,
        50,
        0.05,
        _sk_logistic,
        lambda cp, w, X, y, mu: cp.sum(cp.logistic(-cp.multiply(y, X @ w))) / y.size + mu * cp.norm1(w),
    ),
)


def arrays(small: Small) -> tuple[Any, Any]:
    """Gaussian rows, and targets of five features with noise; signs of them for the logistic loss."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((small.n, small.p))
    z = X[:, :5] @ np.array([1.0, -2.0, 0.5, 1.0, -1.0]) + 0.5 * rng.standard_normal(small.n)
    return X, np.sign(z) if small.text is LOGISTIC else z


class Within:
    """The seconds within the methods' own starts and steps."""

    def __init__(self) -> None:
        self.seconds = 0.0
        for method in METHODS.values():
            method.load()
            for name in ("begin", "step"):
                if name in method.run.__dict__:
                    setattr(method.run, name, self._timed(method.run.__dict__[name]))

    def _timed(self, fn: Callable[..., Any]) -> Callable[..., Any]:
        def timed(*args: Any) -> Any:
            began = time.perf_counter()
            try:
                return fn(*args)
            finally:
                self.seconds += time.perf_counter() - began

        return timed


def measured(small: Small, within: Within) -> dict[str, Any]:
    """Medians: from arrays to the certified answer, with another parameter, what of either is the method's own; the peers."""
    X, y = arrays(small)
    program = fw.parse(small.text)
    bound = program.bind(X=X, y=y, mu=small.mu)
    first = bound.solve(threads=1)
    steps: Iterator[int] = count()
    calls = {
        "bound": lambda: program.bind(X=X, y=y, mu=small.mu).solve(threads=1),
        "again": lambda: bound.bind(mu=small.mu * (1.0 + 1e-4 * next(steps))).solve(threads=1),
        "scikit-learn": lambda: small.peer(X, y, small.mu),
    }
    for call in calls.values():
        call()
    around: dict[str, list[float]] = {"bound": [], "again": []}

    def outside(name: str) -> None:
        began, within.seconds = time.perf_counter(), 0.0
        calls[name]()
        if name in around:
            around[name].append(time.perf_counter() - began - within.seconds)

    runs = interleaved({name: lambda name=name: outside(name) for name in calls}, ROUNDS)
    slow = interleaved({"CVXPY": lambda: by_cvxpy(small, X, y)}, SLOW_ROUNDS)
    return {
        "name": f"{small.name}, {small.n:,} x {small.p}",
        "method": first.method,
        "certified": first.relative_gap,
        **{name: run.median for name, run in {**runs, **slow}.items()},
        **{f"{name} around": median(seconds) for name, seconds in around.items()},
    }


def by_cvxpy(small: Small, X: Any, y: Any) -> float:
    import cvxpy as cp

    w = cp.Variable(small.p)
    return float(cp.Problem(cp.Minimize(small.stated(cp, w, X, y, small.mu))).solve())


if __name__ == "__main__":
    within = Within()
    json.dump([measured(small, within) for small in PROBLEMS], sys.stdout)
