"""Signals and images: trends, total variation, deconvolution, control with few or small inputs."""

from __future__ import annotations

from typing import Any

import numpy as np

from .written import Stated, Written, generator, program


def trend(n: int) -> Written:
    """A piecewise linear trend in n points."""
    rng = generator(201)
    slopes = np.repeat(rng.standard_normal(10), -(-n // 10))[:n]
    y = np.cumsum(slopes) * 20.0 / n + 0.3 * rng.standard_normal(n)

    def state(cp: Any) -> Stated:
        x = cp.Variable(n)
        return cp.Minimize(0.5 * cp.sum_squares(x - y) + 50 * cp.norm1(cp.diff(x, 2))), []

    text = """
data y: vector[n]
var x: vector[n]
minimize 1/2 * sum_squares(x - y) + 50 * norm1(diff(x, 2))
"""
    return Written(text, {"y": y}, state)


@program("signals")
def trend_filter_500() -> Written:
    """A piecewise linear trend in 500 points."""
    return trend(500)


@program("signals")
def trend_filter_2000() -> Written:
    """A piecewise linear trend in 2,000 points."""
    return trend(2000)


@program("signals")
def total_variation_of_a_line() -> Written:
    """Steps in 500 noisy points."""
    rng = generator(202)
    y = np.repeat(rng.standard_normal(10), 50) + 0.3 * rng.standard_normal(500)

    def state(cp: Any) -> Stated:
        x = cp.Variable(500)
        return cp.Minimize(0.5 * cp.sum_squares(x - y) + cp.tv(x)), []

    text = """
data y: vector[n]
var x: vector[n]
minimize 1/2 * sum_squares(x - y) + tv(x)
"""
    return Written(text, {"y": y}, state)


def _picture(n: int, seed: int) -> np.ndarray:
    rng = generator(seed)
    picture = np.zeros((n, n))
    picture[n // 4 : n // 2, n // 4 : 3 * n // 4] = 1.0
    picture[n // 2 :, n // 2 :] += 0.5
    return picture + 0.1 * rng.standard_normal((n, n))


@program("signals")
def total_variation_of_a_picture() -> Written:
    """A noisy picture of 32 x 32, isotropic total variation."""
    Y = _picture(32, 203)

    def state(cp: Any) -> Stated:
        X = cp.Variable((32, 32))
        return cp.Minimize(0.5 * cp.sum_squares(X - Y) + 0.2 * cp.tv(X)), []

    text = """
data Y: matrix[n, m]
var X: matrix[n, m]
minimize 1/2 * sum_squares(X - Y) + 0.2 * tv(X)
"""
    return Written(text, {"Y": Y}, state)


@program("signals")
def differences_of_a_picture() -> Written:
    """A noisy picture of 32 x 32, the sizes of differences along rows and columns."""
    Y = _picture(32, 204)

    def state(cp: Any) -> Stated:
        X = cp.Variable((32, 32))
        both = cp.norm1(cp.vec(X[1:] - X[:-1], order="C")) + cp.norm1(cp.vec(X[:, 1:] - X[:, :-1], order="C"))
        return cp.Minimize(0.5 * cp.sum_squares(X - Y) + 0.2 * both), []

    text = """
data Y: matrix[n, m]
var X: matrix[n, m]
minimize 1/2 * sum_squares(X - Y) + 0.2 * norm1(X[1:] - X[:-1]) + 0.2 * norm1(X[:, 1:] - X[:, :-1])
"""
    return Written(text, {"Y": Y}, state)


@program("signals")
def inpainting() -> Written:
    """A picture of 24 x 24 of which a third is missing, isotropic total variation."""
    Y = _picture(24, 205)
    seen = (generator(206).random((24, 24)) < 0.67).astype(float)

    def state(cp: Any) -> Stated:
        X = cp.Variable((24, 24))
        return cp.Minimize(cp.tv(X)), [cp.multiply(seen, X) == seen * Y]

    text = """
data Y: matrix[n, m], seen: matrix[n, m]
var X: matrix[n, m]
minimize tv(X)
subject to seen * X == seen * Y
"""
    return Written(text, {"Y": Y, "seen": seen}, state)


@program("signals")
def deconvolution() -> Written:
    """Spikes behind a blur of 15 points."""
    rng = generator(207)
    k = np.exp(-0.5 * ((np.arange(15) - 7.0) / 2.0) ** 2)
    truth = np.maximum(rng.standard_normal(200), 0.0) * (rng.random(200) < 0.1)
    y = np.convolve(k, truth) + 0.05 * rng.standard_normal(214)

    def state(cp: Any) -> Stated:
        x = cp.Variable(200, nonneg=True)
        return cp.Minimize(cp.sum_squares(cp.conv(k, x) - y) + 0.1 * cp.sum(x)), []

    text = """
data k: vector[q], y: vector[n + q - 1]
var x: vector[n] in nonnegative
minimize sum_squares(conv(k, x) - y) + 0.1 * sum(x)
"""
    return Written(text, {"k": k, "y": y}, state)


@program("signals")
def fused_lasso() -> Written:
    """Regression on 120 ordered features whose effects come in steps, most of them zero."""
    rng = generator(208)
    X = rng.standard_normal((80, 120))
    w = np.repeat(rng.standard_normal(12) * (rng.random(12) < 0.4), 10)
    y = X @ w + 0.5 * rng.standard_normal(80)

    def state(cp: Any) -> Stated:
        v = cp.Variable(120)
        return cp.Minimize(0.5 * cp.sum_squares(X @ v - y) + 2 * cp.norm1(v) + 5 * cp.norm1(cp.diff(v))), []

    text = """
data X: matrix[n, p], y: vector[n]
var w: vector[p]
minimize 1/2 * sum_squares(X @ w - y) + 2 * norm1(w) + 5 * norm1(diff(w))
"""
    return Written(text, {"X": X, "y": y}, state)


@program("signals")
def smoothing_norms() -> Written:
    """Noise removed with Euclidean norms that are not squared."""
    rng = generator(209)
    y = np.sin(np.linspace(0.0, 6.0, 300)) + 0.1 * rng.standard_normal(300)

    def state(cp: Any) -> Stated:
        x = cp.Variable(300)
        return cp.Minimize(cp.norm2(x - y) + 10 * cp.norm2(cp.diff(x, 2))), []

    text = """
data y: vector[n]
var x: vector[n]
minimize norm2(x - y) + 10 * norm2(diff(x, 2))
"""
    return Written(text, {"y": y}, state)


@program("signals")
def seasons_and_trend() -> Written:
    """Ten years of months: a trend of few kinks beside seasons that repeat and add up to 0."""
    rng = generator(210)
    months = np.arange(120)
    y = np.abs(months - 50.0) / 20.0 + np.cos(months * np.pi / 6.0) + 0.2 * rng.standard_normal(120)
    S = np.tile(np.eye(12), (10, 1))

    def state(cp: Any) -> Stated:
        x, s = cp.Variable(120), cp.Variable(12)
        return cp.Minimize(cp.sum_squares(x + S @ s - y) + 5 * cp.norm1(cp.diff(x, 2))), [cp.sum(s) == 0]

    text = """
data y: vector[n], S: matrix[n, 12]
var x: vector[n], s: vector[12]
minimize sum_squares(x + S @ s - y) + 5 * norm1(diff(x, 2))
subject to sum(s) == 0
"""
    return Written(text, {"y": y, "S": S}, state)


@program("signals")
def robust_smoothing() -> Written:
    """Kalman smoothing of 150 steps where a tenth of the measurements is wrong."""
    rng = generator(211)
    T = 150
    A, C = np.array([[1.0, 0.1], [0.0, 0.95]]), np.array([1.0, 0.0])
    x = np.zeros((T, 2))
    for t in range(1, T):
        x[t] = A @ x[t - 1] + [0.0, 0.3] * rng.standard_normal(2)
    y = x @ C + 0.1 * rng.standard_normal(T) + 5.0 * (rng.random(T) < 0.1) * rng.standard_normal(T)

    def state(cp: Any) -> Stated:
        s = cp.Variable((T, 2))
        moves = s[1:] - s[:-1] @ A.T
        return cp.Minimize(10 * cp.sum_squares(moves) + cp.sum(cp.huber(s @ C - y, 0.3))), []

    text = """
data A: matrix[2, 2], C: vector[2], y: vector[T]
var s: matrix[T, 2]
minimize 10 * sum_squares(s[1:] - s[:-1] @ A.T) + 2 * sum(huber(s @ C, y, delta=0.3))
"""
    return Written(text, {"A": A, "C": C, "y": y}, state)


@program("signals")
def minimum_fuel() -> Written:
    """Move a system of 10 states over 200 steps to a target with the least sum of input sizes."""
    rng = generator(212)
    n, T = 10, 200
    A = np.diag(np.full(n, 0.95)) + 0.1 * rng.standard_normal((n, n)) / np.sqrt(n)
    b, target = rng.standard_normal(n), 10.0 * rng.standard_normal(n)

    def state(cp: Any) -> Stated:
        x, u = cp.Variable((T + 1, n)), cp.Variable(T)
        moves = x[1:] == x[:-1] @ A.T + cp.reshape(u, (T, 1), order="C") @ b[None]
        fuel = cp.sum(cp.maximum(cp.abs(u), 2 * cp.abs(u) - 1))
        return cp.Minimize(fuel), [moves, x[0] == 0, x[T] == target]

    text = """
data A: matrix[n, n], b: vector[n], target: vector[n]
var x: matrix[T + 1, n], u: vector[T], f: vector[T]
minimize sum(f)
subject to x[1:] == x[:-1] @ A.T + outer(u, b), x[0] == zeros(n), x[T] == target,
           f >= u, f >= -u, f >= 2 * u - 1, f >= -2 * u - 1
"""
    return Written(text, {"A": A, "b": b, "target": target, "T": T}, state)


@program("signals")
def rocket_landing() -> Written:
    """Land a rocket in 40 steps with bounded thrust and the least fuel."""
    T, h, g, most = 40, 0.5, 0.3, 1.2
    start, speed = np.array([10.0, 5.0, 20.0]), np.array([-1.0, 0.5, -1.5])
    down = np.array([0.0, 0.0, -g])

    def state(cp: Any) -> Stated:
        p, v, f = cp.Variable((T + 1, 3)), cp.Variable((T + 1, 3)), cp.Variable((T, 3))
        return cp.Minimize(cp.sum(cp.norm2(f, axis=1))), [
            v[1:] == v[:-1] + h * (f + np.tile(down, (T, 1))),
            p[1:] == p[:-1] + h / 2 * (v[1:] + v[:-1]),
            p[0] == start,
            v[0] == speed,
            p[T] == 0,
            v[T] == 0,
            cp.norm2(f, axis=1) <= most,
            p[:, 2] >= 0,
        ]

    text = """
data down: vector[3], start: vector[3], speed: vector[3]
param h: positive = 0.5
var p: matrix[T + 1, 3], v: matrix[T + 1, 3], f: matrix[T, 3]
minimize sum(rownorm2(f))
subject to v[1:] == v[:-1] + h * (f + down), p[1:] == p[:-1] + h/2 * (v[1:] + v[:-1]),
           p[0] == start, v[0] == speed, p[T] == zeros(3), v[T] == zeros(3), rownorm2(f) <= 1.2, p[:, 2] >= 0
"""
    return Written(text, {"down": down, "start": start, "speed": speed, "T": T}, state)


@program("signals")
def smallest_peak_input() -> Written:
    """Reach a place at rest in 80 steps with the smallest largest input."""
    T = 80
    A, b, end = np.array([[1.0, 0.1], [0.0, 0.98]]), np.array([0.005, 0.1]), np.array([2.0, 0.0])

    def state(cp: Any) -> Stated:
        x, u = cp.Variable((T + 1, 2)), cp.Variable(T)
        moves = x[1:] == x[:-1] @ A.T + cp.reshape(u, (T, 1), order="C") @ b[None]
        return cp.Minimize(cp.norm_inf(u)), [moves, x[0] == 0, x[T] == end]

    text = """
data A: matrix[2, 2], b: vector[2], end: vector[2]
var x: matrix[T + 1, 2], u: vector[T]
minimize norm_inf(u)
subject to x[1:] == x[:-1] @ A.T + outer(u, b), x[0] == zeros(2), x[T] == end
"""
    return Written(text, {"A": A, "b": b, "end": end, "T": T}, state)


@program("signals")
def storage_arbitrage() -> Written:
    """Charge and discharge a battery over 96 quarters of an hour against prices."""
    rng = generator(213)
    T = 96
    price = 3.0 + np.sin(np.arange(T) / 8.0) + 0.3 * rng.standard_normal(T)

    def state(cp: Any) -> Stated:
        charge, give, level = cp.Variable(T, nonneg=True), cp.Variable(T, nonneg=True), cp.Variable(T + 1, nonneg=True)
        return cp.Minimize(price @ (charge - give) + 0.01 * cp.sum_squares(charge - give)), [
            level[1:] == level[:-1] + 0.95 * charge - give / 0.95,
            level[0] == 0,
            level <= 5,
            charge <= 1,
            give <= 1,
        ]

    text = """
data price: vector[T]
var charge: vector[T] in box(0, 1), give: vector[T] in box(0, 1), level: vector[T + 1] in box(0, 5)
minimize dot(price, charge - give) + 0.01 * sum_squares(charge - give)
subject to level[1:] == level[:-1] + 0.95 * charge - give / 0.95, level[0] == 0
"""
    return Written(text, {"price": price}, state)


@program("signals")
def outliers_apart() -> Written:
    """A smooth line with outliers of their own variable."""
    rng = generator(214)
    y = np.sin(np.linspace(0.0, 8.0, 250)) + 0.05 * rng.standard_normal(250) + 3.0 * (rng.random(250) < 0.05)

    def state(cp: Any) -> Stated:
        x, o = cp.Variable(250), cp.Variable(250)
        return cp.Minimize(cp.sum_squares(x + o - y) + 50 * cp.sum_squares(cp.diff(x, 2)) + 0.5 * cp.norm1(o)), []

    text = """
data y: vector[n]
var x: vector[n], o: vector[n]
minimize sum_squares(x + o - y) + 50 * sum_squares(diff(x, 2)) + 0.5 * norm1(o)
"""
    return Written(text, {"y": y}, state)
