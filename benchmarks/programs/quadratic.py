"""Quadratic programs: portfolios, least squares with constraints, control over time."""

from __future__ import annotations

from typing import Any

import numpy as np

from .written import Stated, Written, generator, program


@program("quadratic")
def markowitz() -> Written:
    """Return against variance of 60 assets, long only."""
    rng = generator(101)
    R = rng.standard_normal((240, 60)) @ np.diag(rng.uniform(0.5, 2.0, 60))
    S, mu = np.cov(R, rowvar=False), rng.uniform(0.0, 0.3, 60)

    def state(cp: Any) -> Stated:
        w = cp.Variable(60)
        return cp.Maximize(mu @ w - cp.quad_form(w, S)), [cp.sum(w) == 1, w >= 0]

    text = """
data S: psd[n], mu: vector[n]
var w: vector[n]
maximize dot(mu, w) - quad_form(w, S)
subject to sum(w) == 1, w >= 0
"""
    return Written(text, {"S": S, "mu": mu}, state)


@program("quadratic")
def factor_portfolio() -> Written:
    """A portfolio of 1,000 assets under a model of 30 factors."""
    rng = generator(102)
    F, d, mu = rng.standard_normal((30, 1000)) / 10.0, rng.uniform(0.1, 0.5, 1000), rng.uniform(0.0, 0.2, 1000)

    def state(cp: Any) -> Stated:
        w = cp.Variable(1000)
        risk = cp.sum_squares(F @ w) + cp.sum_squares(cp.multiply(d, w))
        return cp.Maximize(mu @ w - 5 * risk), [cp.sum(w) == 1, w >= 0]

    text = """
data F: matrix[k, n], d: vector[n], mu: vector[n]
var w: vector[n]
maximize dot(mu, w) - 5 * (sum_squares(F @ w) + sum_squares(d * w))
subject to sum(w) == 1, w >= 0
"""
    return Written(text, {"F": F, "d": d, "mu": mu}, state)


@program("quadratic")
def turnover_portfolio() -> Written:
    """Risk, return and what trading costs, from what is held."""
    rng = generator(103)
    F, d, mu = rng.standard_normal((10, 80)) / 5.0, rng.uniform(0.1, 0.3, 80), rng.uniform(0.0, 0.3, 80)
    held = rng.dirichlet(np.full(80, 0.3))

    def state(cp: Any) -> Stated:
        w = cp.Variable(80)
        risk = cp.sum_squares(F @ w) + cp.sum_squares(cp.multiply(d, w))
        return cp.Maximize(mu @ w - 2 * risk - 0.05 * cp.norm1(w - held)), [cp.sum(w) == 1, w >= -0.05, w <= 0.2]

    text = """
data F: matrix[k, n], d: vector[n], mu: vector[n], held: vector[n]
var w: vector[n] in box(-0.05, 0.2)
maximize dot(mu, w) - 2 * sum_squares(F @ w) - 2 * sum_squares(d * w) - 0.05 * norm1(w - held)
subject to sum(w) == 1
"""
    return Written(text, {"F": F, "d": d, "mu": mu, "held": held}, state)


@program("quadratic")
def machine_in_the_dual() -> Written:
    """A support vector machine with an intercept, in its dual, with a Gaussian kernel of 150 samples."""
    rng = generator(104)
    X = rng.standard_normal((150, 2))
    y = np.where(X[:, 0] ** 2 + X[:, 1] > 0.5, 1.0, -1.0)
    K = np.exp(-((X[:, None] - X[None]) ** 2).sum(2)) + 1e-8 * np.eye(150)
    Q = K * np.outer(y, y)
    Q = (Q + Q.T) / 2

    def state(cp: Any) -> Stated:
        a = cp.Variable(150)
        return cp.Maximize(cp.sum(a) - cp.quad_form(a, Q, assume_PSD=True) / 2), [a >= 0, a <= 1, y @ a == 0]

    text = """
data Q: psd[n], y: vector[n]
var a: vector[n] in box(0, 1)
maximize sum(a) - quad_form(a, Q) / 2
subject to dot(y, a) == 0
"""
    return Written(text, {"Q": Q, "y": y}, state)


@program("quadratic")
def least_squares_with_equations() -> Written:
    """200 measurements of 50 unknowns that keep 10 equations."""
    rng = generator(105)
    A, b, C, d = (
        rng.standard_normal((200, 50)),
        rng.standard_normal(200),
        rng.standard_normal((10, 50)),
        rng.standard_normal(10),
    )

    def state(cp: Any) -> Stated:
        x = cp.Variable(50)
        return cp.Minimize(cp.sum_squares(A @ x - b)), [C @ x == d]

    text = """
data A: matrix[m, n], b: vector[m], C: matrix[k, n], d: vector[k]
var x: vector[n]
minimize sum_squares(A @ x - b)
subject to C @ x == d
"""
    return Written(text, {"A": A, "b": b, "C": C, "d": d}, state)


@program("quadratic")
def nonnegative_least_squares() -> Written:
    """300 measurements of 100 nonnegative unknowns."""
    rng = generator(106)
    A = rng.uniform(0.0, 1.0, (300, 100))
    b = A @ np.maximum(rng.standard_normal(100), 0.0) + 0.1 * rng.standard_normal(300)

    def state(cp: Any) -> Stated:
        x = cp.Variable(100)
        return cp.Minimize(cp.sum_squares(A @ x - b)), [x >= 0]

    text = """
data A: matrix[m, n], b: vector[m]
var x: vector[n]
minimize sum_squares(A @ x - b)
subject to x >= 0
"""
    return Written(text, {"A": A, "b": b}, state)


@program("quadratic")
def polyhedral_projection() -> Written:
    """The nearest point of a polyhedron of 100 inequalities in 40 dimensions."""
    rng = generator(107)
    A = rng.standard_normal((100, 40))
    b, y = A @ rng.standard_normal(40) + rng.uniform(0.0, 1.0, 100), 3.0 * rng.standard_normal(40)

    def state(cp: Any) -> Stated:
        x = cp.Variable(40)
        return cp.Minimize(cp.sum_squares(x - y)), [A @ x <= b]

    text = """
data A: matrix[m, n], b: vector[m], y: vector[n]
var x: vector[n]
minimize sum_squares(x - y)
subject to A @ x <= b
"""
    return Written(text, {"A": A, "b": b, "y": y}, state)


@program("quadratic")
def convex_regression() -> Written:
    """A convex sequence nearest to 120 noisy points."""
    rng = generator(108)
    t = np.linspace(-1.0, 1.0, 120)
    y = t**2 + 0.1 * rng.standard_normal(120)

    def state(cp: Any) -> Stated:
        x = cp.Variable(120)
        return cp.Minimize(cp.sum_squares(x - y)), [cp.diff(x, 2) >= 0]

    text = """
data y: vector[n]
var x: vector[n]
minimize sum_squares(x - y)
subject to diff(x, 2) >= 0
"""
    return Written(text, {"y": y}, state)


@program("quadratic")
def smoothing_spline() -> Written:
    """A smooth line through 400 points: the squares of second differences."""
    rng = generator(109)
    y = np.cumsum(rng.standard_normal(400)) / 10.0

    def state(cp: Any) -> Stated:
        x = cp.Variable(400)
        return cp.Minimize(cp.sum_squares(x - y) + 100 * cp.sum_squares(cp.diff(x, 2))), []

    text = """
data y: vector[n]
var x: vector[n]
minimize sum_squares(x - y) + 100 * sum_squares(diff(x, 2))
"""
    return Written(text, {"y": y}, state)


def _plant(states: int, inputs: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A stable linear system and where it starts."""
    rng = generator(seed)
    A = rng.standard_normal((states, states))
    A *= 0.98 / np.abs(np.linalg.eigvals(A)).max()
    return A, rng.standard_normal((states, inputs)), rng.standard_normal(states)


@program("quadratic")
def optimal_control() -> Written:
    """Eight states and three bounded inputs over 50 steps, to the origin at the least squares."""
    A, B, start = _plant(8, 3, 110)
    T = 50

    def state(cp: Any) -> Stated:
        x, u = cp.Variable((T + 1, 8)), cp.Variable((T, 3))
        return cp.Minimize(cp.sum_squares(x) + 0.1 * cp.sum_squares(u)), [
            x[1:] == x[:-1] @ A.T + u @ B.T,
            x[0] == start,
            cp.abs(u) <= 0.5,
        ]

    text = """
data A: matrix[n, n], B: matrix[n, m], start: vector[n]
var x: matrix[T + 1, n], u: matrix[T, m] in linf_ball(0.5)
minimize sum_squares(x) + 0.1 * sum_squares(u)
subject to x[1:] == x[:-1] @ A.T + u @ B.T, x[0] == start
"""
    return Written(text, {"A": A, "B": B, "start": start, "T": T}, state)


@program("quadratic")
def reach_a_target() -> Written:
    """A cart of 60 steps that ends at a place and at rest, at the least energy."""
    T = 60
    A, b = np.array([[1.0, 0.1], [0.0, 1.0]]), np.array([0.005, 0.1])
    end = np.array([1.0, 0.0])

    def state(cp: Any) -> Stated:
        x, u = cp.Variable((T + 1, 2)), cp.Variable(T)
        moves = x[1:] == x[:-1] @ A.T + cp.reshape(u, (T, 1), order="C") @ b[None]
        return cp.Minimize(cp.sum_squares(u)), [moves, x[0] == 0, x[T] == end, cp.abs(u) <= 1]

    text = """
data A: matrix[2, 2], b: vector[2], end: vector[2]
var x: matrix[T + 1, 2], u: vector[T] in linf_ball(1)
minimize sum_squares(u)
subject to x[1:] == x[:-1] @ A.T + outer(u, b), x[0] == zeros(2), x[T] == end
"""
    return Written(text, {"A": A, "b": b, "end": end, "T": T}, state)


@program("quadratic")
def simplex_least_squares() -> Written:
    """Mixtures of 40 spectra that explain 200 measurements."""
    rng = generator(111)
    A = rng.uniform(0.0, 1.0, (200, 40))
    b = A @ rng.dirichlet(np.full(40, 0.2)) + 0.05 * rng.standard_normal(200)

    def state(cp: Any) -> Stated:
        x = cp.Variable(40)
        return cp.Minimize(cp.sum_squares(A @ x - b)), [x >= 0, cp.sum(x) == 1]

    text = """
data A: matrix[m, n], b: vector[m]
var x: vector[n] in simplex(1)
minimize sum_squares(A @ x - b)
"""
    return Written(text, {"A": A, "b": b}, state)


@program("quadratic")
def monotone_and_bounded_curve() -> Written:
    """A rising curve between 0 and 1 through 300 weighted points."""
    rng = generator(112)
    t = np.sort(rng.uniform(0.0, 1.0, 300))
    y, w = t**2 + 0.2 * rng.standard_normal(300), rng.uniform(0.5, 2.0, 300)

    def state(cp: Any) -> Stated:
        x = cp.Variable(300)
        return cp.Minimize(cp.sum(cp.multiply(w, cp.square(x - y)))), [cp.diff(x) >= 0, x >= 0, x <= 1]

    text = """
data y: vector[n], w: vector[n] in nonnegative
var x: vector[n] in box(0, 1)
minimize sum(w * squared(x, y))
subject to diff(x) >= 0
"""
    return Written(text, {"y": y, "w": w}, state)


@program("quadratic")
def blending_ratios() -> Written:
    """Three recipes from 12 ingredients whose shares lie in bands, near a wish."""
    rng = generator(113)
    Q, wish = rng.uniform(0.0, 1.0, (4, 12)), rng.dirichlet(np.full(12, 1.0), 3)
    target = rng.uniform(0.4, 0.6, (3, 4))

    def state(cp: Any) -> Stated:
        X = cp.Variable((3, 12), nonneg=True)
        return cp.Minimize(cp.sum_squares(X - wish) + 10 * cp.sum_squares(X @ Q.T - target)), [
            cp.sum(X, axis=1) == 1,
            cp.sum(X, axis=0) <= 0.5,
        ]

    text = """
data Q: matrix[q, n], wish: matrix[k, n], target: matrix[k, q]
var X: matrix[k, n] in rows(simplex(1))
minimize sum_squares(X - wish) + 10 * sum_squares(X @ Q.T - target)
subject to sum(X, axis=0) <= 0.5
"""
    return Written(text, {"Q": Q, "wish": wish, "target": target}, state)


@program("quadratic")
def sparse_inverse_design() -> Written:
    """Weights of 25 sensors between 0 and 1 whose field is near a target, with few of them on."""
    rng = generator(114)
    G, field = rng.standard_normal((80, 25)) / 5.0, rng.standard_normal(80) / 5.0

    def state(cp: Any) -> Stated:
        x = cp.Variable(25)
        return cp.Minimize(cp.sum_squares(G @ x - field) + 0.1 * cp.sum(x)), [x >= 0, x <= 1]

    text = """
data G: matrix[m, n], field: vector[m]
var x: vector[n]
minimize sum_squares(G @ x - field) + 0.1 * sum(x)
subject to 0 <= x <= 1
"""
    return Written(text, {"G": G, "field": field}, state)
