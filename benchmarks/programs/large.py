"""Six programs at the sizes at which people meet them, beside the open solvers that are made for such sizes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from .signals import trend
from .written import Stated, Written, generator, program


@program("large")
def trend_filter_100000() -> Written:
    """A piecewise linear trend in 100,000 points."""
    return replace(trend(100_000), solvers=("CLARABEL",))


@program("large")
def picture_512() -> Written:
    """A noisy picture of 512 x 512, isotropic total variation."""
    rng = generator(701)
    at = np.arange(512)
    Y = (
        (np.hypot(at[:, None] - 256, at - 256) < 150)
        + 0.5 * (at[:, None] > 300)
        + 0.1 * rng.standard_normal((512, 512))
    )

    def state(cp: Any) -> Stated:
        X = cp.Variable((512, 512))
        return cp.Minimize(0.5 * cp.sum_squares(X - Y) + 0.2 * cp.tv(X)), []

    text = """
data Y: matrix[n, m]
var X: matrix[n, m]
minimize 1/2 * sum_squares(X - Y) + 0.2 * tv(X)
"""
    return Written(text, {"Y": Y}, state, ("CLARABEL", "SCS"))


@program("large")
def control_of_10000_states() -> Written:
    """Ten states and three bounded inputs over 1,000 steps."""
    rng = generator(702)
    A = rng.standard_normal((10, 10))
    A *= 0.99 / np.abs(np.linalg.eigvals(A)).max()
    B, start, T = rng.standard_normal((10, 3)), 5.0 * rng.standard_normal(10), 1000

    def state(cp: Any) -> Stated:
        x, u = cp.Variable((T + 1, 10)), cp.Variable((T, 3))
        return cp.Minimize(cp.sum_squares(x) + 0.1 * cp.sum_squares(u)), [
            x[1:] == x[:-1] @ A.T + u @ B.T,
            x[0] == start,
            cp.abs(u) <= 0.3,
        ]

    text = """
data A: matrix[n, n], B: matrix[n, m], start: vector[n]
var x: matrix[T + 1, n], u: matrix[T, m] in linf_ball(0.3)
minimize sum_squares(x) + 0.1 * sum_squares(u)
subject to x[1:] == x[:-1] @ A.T + u @ B.T, x[0] == start
"""
    return Written(text, {"A": A, "B": B, "start": start, "T": T}, state, ("CLARABEL", "OSQP"))


@program("large")
def linear_program_20000_x_50000() -> Written:
    """A feasible and bounded linear program of 20,000 equations in 50,000 unknowns, five numbers a column."""
    rng = generator(703)
    m, n = 20_000, 50_000
    rows = np.concatenate([np.arange(n)[None] % m, rng.integers(0, m, (4, n))]).T.reshape(-1)
    A = sp.csr_array((rng.uniform(0.5, 1.5, 5 * n), (rows, np.repeat(np.arange(n), 5))), shape=(m, n))
    x = rng.uniform(0.0, 1.0, n) * (rng.random(n) < 0.4)
    b, c = A @ x, A.T @ rng.standard_normal(m) + rng.uniform(0.0, 1.0, n) * (x == 0.0)

    def state(cp: Any) -> Stated:
        z = cp.Variable(n)
        return cp.Minimize(c @ z), [A @ z == b, z >= 0]

    text = """
data A: matrix[m, n], b: vector[m], c: vector[n]
var x: vector[n]
minimize dot(c, x)
subject to A @ x == b, x >= 0
"""
    return Written(text, {"A": A, "b": b, "c": c}, state, ("HIGHS", "CLARABEL"))


@program("large")
def portfolio_of_5000() -> Written:
    """The best return of 5,000 assets within a risk under a model of 100 factors."""
    rng = generator(704)
    F, d, mu = rng.standard_normal((100, 5000)) / 20.0, rng.uniform(0.1, 0.5, 5000), rng.uniform(0.0, 0.2, 5000)

    def state(cp: Any) -> Stated:
        w = cp.Variable(5000)
        risk = cp.norm2(cp.hstack([F @ w, cp.multiply(d, w)]))
        return cp.Maximize(mu @ w), [cp.sum(w) == 1, w >= 0, risk <= 0.04]

    text = """
data F: matrix[k, n], d: vector[n], mu: vector[n]
var w: vector[n] in simplex(1)
maximize dot(mu, w)
subject to norm2(hstack(F @ w, d * w)) <= 0.04
"""
    return Written(text, {"F": F, "d": d, "mu": mu}, state, ("CLARABEL", "SCS"))


@program("large")
def inverse_covariance_500() -> Written:
    """The graph between 500 variables from 1,000 samples, the diagonal free."""
    rng = generator(705)
    X = rng.standard_normal((1000, 500))
    X[:, 1:] += 0.4 * X[:, :-1]
    S = np.cov(X, rowvar=False)
    lam = 0.1
    off = lam * (1.0 - np.eye(500))

    def state(cp: Any) -> Stated:
        P = cp.Variable((500, 500), symmetric=True)
        return cp.Minimize(cp.trace(S @ P) - cp.log_det(P) + cp.sum(cp.multiply(off, cp.abs(P)))), []

    def by_scikit_learn() -> float:
        from sklearn.covariance import graphical_lasso

        _, P = graphical_lasso(S, lam, max_iter=1000)
        return float((S * P).sum() - np.linalg.slogdet(P)[1] + (off * np.abs(P)).sum())

    text = """
data S: psd[d], off: matrix[d, d] in nonnegative
var P: psd[d]
minimize trace(S @ P) - log_det(P) + norm1(off * P)
"""
    return Written(text, {"S": S, "off": off}, state, (), {"scikit-learn": by_scikit_learn})
