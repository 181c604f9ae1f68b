"""Programs and samples for estimators."""

from __future__ import annotations

from typing import Any

import numpy as np

LASSO = """
data X: matrix[n, p], y: vector[n]
param mu: nonnegative = 0.1
var w: vector[p], b: real
let f = X @ w + b
minimize 1/2 * mean(squared(f, y)) + mu * norm1(w)
"""

WEIGHTED = """
data X: matrix[n, p], y: {target}, sample_weight: vector[n] in nonnegative
param mu: nonnegative = 0.01
var {variables}
let f = X @ w + b
minimize mean(sample_weight * {loss}(f, y)) + mu * sum_squares(w)
"""

RIDGE = WEIGHTED.format(target="vector[n]", variables="w: vector[p], b: real", loss="squared")
BINARY = WEIGHTED.format(target="signs[n]", variables="w: vector[p], b: real", loss="logistic")
CLASSES = WEIGHTED.format(target="labels[n, k]", variables="w: matrix[p, k], b: vector[k]", loss="softmax")
HINGE = WEIGHTED.format(target="signs[n]", variables="w: vector[p], b: real", loss="squared_hinge")

GROUPED = """
data X: matrix[n, p], y: signs[n], groups: index[p] of G
param mu: nonnegative = 0.01
var w: vector[p], b: real
minimize mean(logistic(X @ w + b, y)) + mu * group_norm(w, groups)
"""


def samples(n: int = 80, p: int = 6) -> tuple[Any, Any, Any]:
    """X, numbers that depend on its first columns, and noise-free scores."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, p))
    z = X @ np.r_[1.0, -2.0, 0.5, np.zeros(p - 3)] + 0.3
    return X, z + 0.1 * rng.normal(size=n), z
