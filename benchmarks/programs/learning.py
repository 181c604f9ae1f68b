"""Models fitted to samples, small enough for every solver."""

from __future__ import annotations

from typing import Any

import numpy as np

from .written import Stated, Written, generator, program


def _samples(n: int, p: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.random.Generator]:
    """Features, a target by a tenth of them, and the generator that made them."""
    rng = generator(seed)
    X = rng.standard_normal((n, p))
    return X, X @ (rng.standard_normal(p) * (rng.random(p) < 0.3)) + 0.5 * rng.standard_normal(n), rng


@program("learning")
def lasso() -> Written:
    """200 samples of 100 features."""
    X, y, _ = _samples(200, 100, 601)

    def state(cp: Any) -> Stated:
        w = cp.Variable(100)
        return cp.Minimize(0.5 * cp.sum_squares(X @ w - y) + 10 * cp.norm1(w)), []

    text = """
data X: matrix[n, p], y: vector[n]
var w: vector[p]
minimize 1/2 * sum_squares(X @ w - y) + 10 * norm1(w)
"""
    return Written(text, {"X": X, "y": y}, state)


@program("learning")
def elastic_net_with_intercept() -> Written:
    """150 samples of 60 features, an intercept that is not penalised."""
    X, y, _ = _samples(150, 60, 602)

    def state(cp: Any) -> Stated:
        w, b = cp.Variable(60), cp.Variable()
        return cp.Minimize(cp.sum_squares(X @ w + b - y) / 150 + 0.1 * cp.norm1(w) + 0.05 * cp.sum_squares(w)), []

    text = """
data X: matrix[n, p], y: vector[n]
var w: vector[p], b: real
minimize mean(squared(X @ w + b, y)) + 0.1 * norm1(w) + 0.05 * sum_squares(w)
"""
    return Written(text, {"X": X, "y": y}, state)


@program("learning")
def group_lasso() -> Written:
    """200 samples, 60 features in 12 groups."""
    X, y, _ = _samples(200, 60, 603)
    groups = np.repeat(np.arange(12), 5)

    def state(cp: Any) -> Stated:
        w = cp.Variable(60)
        norms = cp.sum(cp.norm2(cp.reshape(w, (12, 5), order="C"), axis=1))
        return cp.Minimize(0.5 * cp.sum_squares(X @ w - y) + 10 * norms), []

    text = """
data X: matrix[n, p], y: vector[n], groups: index[p] of G
var w: vector[p]
minimize 1/2 * sum_squares(X @ w - y) + 10 * group_norm(w, groups)
"""
    return Written(text, {"X": X, "y": y, "groups": groups}, state)


@program("learning")
def sparse_logistic() -> Written:
    """150 samples of 80 features on an l1 ball."""
    X, z, _ = _samples(150, 80, 604)
    y = np.where(z > 0, 1.0, -1.0)

    def state(cp: Any) -> Stated:
        w = cp.Variable(80)
        return cp.Minimize(cp.sum(cp.logistic(-cp.multiply(y, X @ w))) / 150), [cp.norm1(w) <= 3]

    text = """
data X: matrix[n, p], y: signs[n]
var w: vector[p]
minimize mean(logistic(X @ w, y))
subject to norm1(w) <= 3
"""
    return Written(text, {"X": X, "y": y}, state)


@program("learning")
def linear_machine() -> Written:
    """A support vector machine of 300 samples and 20 features with an intercept."""
    X, z, _ = _samples(300, 20, 605)
    y = np.where(z > 0, 1.0, -1.0)

    def state(cp: Any) -> Stated:
        w, b = cp.Variable(20), cp.Variable()
        return cp.Minimize(0.5 * cp.sum_squares(w) + cp.sum(cp.pos(1 - cp.multiply(y, X @ w + b)))), []

    text = """
data X: matrix[n, p], y: signs[n]
var w: vector[p], b: real
minimize 1/2 * sum_squares(w) + sum(hinge(X @ w + b, y))
"""
    return Written(text, {"X": X, "y": y}, state)


@program("learning")
def robust_regression() -> Written:
    """Huber's loss of 300 samples, a tenth of them wrong."""
    X, y, rng = _samples(300, 20, 606)
    y = y + 20.0 * (rng.random(300) < 0.1)

    def state(cp: Any) -> Stated:
        w, b = cp.Variable(20), cp.Variable()
        return cp.Minimize(cp.sum(cp.huber(X @ w + b - y, 1.0)) / 2), []

    text = """
data X: matrix[n, p], y: vector[n]
var w: vector[p], b: real
minimize sum(huber(X @ w + b, y))
"""
    return Written(text, {"X": X, "y": y}, state)


@program("learning")
def support_vector_regression() -> Written:
    """200 samples, errors below 0.2 cost nothing."""
    X, y, _ = _samples(200, 15, 607)

    def state(cp: Any) -> Stated:
        w = cp.Variable(15)
        return cp.Minimize(0.5 * cp.sum_squares(w) + cp.sum(cp.pos(cp.abs(X @ w - y) - 0.2))), []

    text = """
data X: matrix[n, p], y: vector[n]
var w: vector[p]
minimize 1/2 * sum_squares(w) + sum(epsilon_insensitive(X @ w, y, eps=0.2))
"""
    return Written(text, {"X": X, "y": y}, state)


@program("learning")
def many_tasks() -> Written:
    """Four targets of 100 samples that share their features."""
    X, _, rng = _samples(100, 40, 608)
    Y = X @ (rng.standard_normal((40, 4)) * (rng.random((40, 1)) < 0.2)) + 0.3 * rng.standard_normal((100, 4))

    def state(cp: Any) -> Stated:
        W = cp.Variable((40, 4))
        return cp.Minimize(0.5 * cp.sum_squares(X @ W - Y) + 8 * cp.sum(cp.norm2(W, axis=1))), []

    text = """
data X: matrix[n, p], Y: matrix[n, k]
var W: matrix[p, k]
minimize 1/2 * sum_squares(X @ W - Y) + 8 * norm21(W)
"""
    return Written(text, {"X": X, "Y": Y}, state)


@program("learning")
def crammer_singer() -> Written:
    """A multiclass machine of 80 samples and three classes."""
    X, _, rng = _samples(80, 10, 609)
    y = np.argmax(X @ rng.standard_normal((10, 3)), axis=1)
    onehot = np.eye(3)[y]

    def state(cp: Any) -> Stated:
        W = cp.Variable((10, 3))
        Z = X @ W
        worst = cp.max(Z + (1 - onehot), axis=1) - cp.sum(cp.multiply(onehot, Z), axis=1)
        return cp.Minimize(0.1 * cp.sum(worst) + 0.5 * cp.sum_squares(W)), []

    text = """
data X: matrix[n, p], y: labels[n, k]
var W: matrix[p, k]
minimize 0.1 * sum(multiclass_hinge(X @ W, y)) + 1/2 * sum_squares(W)
"""
    return Written(text, {"X": X, "y": y}, state)


@program("learning")
def sorted_penalties() -> Written:
    """SLOPE with 40 features: the largest effect pays most."""
    X, y, _ = _samples(120, 40, 610)
    lambdas = np.linspace(12.0, 4.0, 40)
    falls = np.append(-np.diff(lambdas), lambdas[-1])

    def state(cp: Any) -> Stated:
        w = cp.Variable(40)
        norm = sum(f * cp.sum_largest(cp.abs(w), k + 1) for k, f in enumerate(falls))
        return cp.Minimize(0.5 * cp.sum_squares(X @ w - y) + norm), []

    text = """
data X: matrix[n, p], y: vector[n], lambdas: vector[p] in nonnegative
var w: vector[p]
minimize 1/2 * sum_squares(X @ w - y) + sorted_l1(w, lambdas)
"""
    return Written(text, {"X": X, "y": y, "lambdas": lambdas}, state)


@program("learning")
def trace_norm_regression() -> Written:
    """Eight targets of 80 samples with effects of low rank."""
    X, _, rng = _samples(80, 12, 611)
    Y = X @ rng.standard_normal((12, 2)) @ rng.standard_normal((2, 8)) + 0.5 * rng.standard_normal((80, 8))

    def state(cp: Any) -> Stated:
        W = cp.Variable((12, 8))
        return cp.Minimize(0.5 * cp.sum_squares(X @ W - Y) + 10 * cp.normNuc(W)), []

    text = """
data X: matrix[n, p], Y: matrix[n, k]
var W: matrix[p, k]
minimize 1/2 * sum_squares(X @ W - Y) + 10 * norm_nuc(W)
"""
    return Written(text, {"X": X, "Y": Y}, state)


@program("learning")
def quantile_with_lasso() -> Written:
    """The median of 150 samples by 40 features."""
    X, y, _ = _samples(150, 40, 612)

    def state(cp: Any) -> Stated:
        w = cp.Variable(40)
        return cp.Minimize(0.5 * cp.norm1(X @ w - y) + 3 * cp.norm1(w)), []

    text = """
data X: matrix[n, p], y: vector[n]
var w: vector[p]
minimize sum(quantile(X @ w, y)) + 3 * norm1(w)
"""
    return Written(text, {"X": X, "y": y}, state)


@program("learning")
def metric_from_differences() -> Written:
    """A metric of order 6 under which 200 pairs have given squared distances."""
    _, _, rng = _samples(10, 10, 613)
    D = rng.standard_normal((200, 6))
    B = rng.standard_normal((6, 3))
    y = np.einsum("ij,jk,ik->i", D, B @ B.T, D) + 0.5 * rng.standard_normal(200)
    flat = (D[:, :, None] * D[:, None, :]).reshape(200, 36)

    def state(cp: Any) -> Stated:
        M = cp.Variable((6, 6), PSD=True)
        return cp.Minimize(cp.sum_squares(flat @ cp.vec(M, order="C") - y)), []

    text = """
data D: matrix[n, d], y: vector[n]
var M: psd[d]
minimize sum(squared(quad(D, M), y))
"""
    return Written(text, {"D": D, "y": y}, state)


@program("learning")
def additive_and_monotone() -> Written:
    """Effects of 25 ordered levels that rise, with a ridge on their steps."""
    rng = generator(614)
    level = rng.integers(0, 25, 300)
    X = np.eye(25)[level]
    y = np.sqrt(level) + 0.5 * rng.standard_normal(300)

    def state(cp: Any) -> Stated:
        w = cp.Variable(25)
        return cp.Minimize(cp.sum_squares(X @ w - y) + 5 * cp.sum_squares(cp.diff(w))), [cp.diff(w) >= 0]

    text = """
data X: matrix[n, p], y: vector[n]
var w: vector[p]
minimize sum_squares(X @ w - y) + 5 * sum_squares(diff(w))
subject to diff(w) >= 0
"""
    return Written(text, {"X": X, "y": y}, state)


@program("learning")
def gamma_regression() -> Written:
    """Positive costs of 200 samples with a logarithmic link."""
    X, z, rng = _samples(200, 8, 615)
    y = rng.gamma(2.0, np.exp(z / 4.0) / 2.0)

    def state(cp: Any) -> Stated:
        w, b = cp.Variable(8), cp.Variable()
        s = X @ w + b
        return cp.Minimize(cp.sum(cp.multiply(y, cp.exp(-s)) + s) + 0.1 * cp.sum_squares(w)), []

    text = """
data X: matrix[n, p], y: vector[n] in nonnegative
var w: vector[p], b: real
minimize sum(gamma_loss(X @ w + b, y)) + 0.1 * sum_squares(w)
"""
    return Written(text, {"X": X, "y": y}, state)


@program("learning")
def constrained_scores() -> Written:
    """Logistic scores whose mean is the same in two groups of people."""
    X, z, rng = _samples(200, 10, 616)
    y, group = np.where(z > 0, 1.0, -1.0), rng.random(200) < 0.4
    apart = X[group].mean(axis=0) - X[~group].mean(axis=0)

    def state(cp: Any) -> Stated:
        w = cp.Variable(10)
        return cp.Minimize(cp.sum(cp.logistic(-cp.multiply(y, X @ w))) + 0.5 * cp.sum_squares(w)), [
            cp.abs(apart @ w) <= 0.01
        ]

    text = """
data X: matrix[n, p], y: signs[n], apart: vector[p]
var w: vector[p]
minimize sum(logistic(X @ w, y)) + 1/2 * sum_squares(w)
subject to dot(apart, w) <= 0.01, dot(apart, w) >= -0.01
"""
    return Written(text, {"X": X, "y": y, "apart": apart}, state)
