"""Programs with squares of entries and lengths of sparse rows, beside the same in cvxpy."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp


@dataclass(frozen=True)
class Program:
    """A text with its data, and the optimal value that cvxpy finds."""

    text: str
    data: Mapping[str, Any]
    value: Callable[[Any], Any]


def picture(n: int = 12, m: int = 9) -> np.ndarray:
    rng = np.random.default_rng(1)
    i, j = np.indices((n, m))
    return (i > n // 2) + 0.5 * (j > m // 3) + 0.2 * rng.standard_normal((n, m))


def _isotropic() -> Program:
    Y = picture()
    text = "data Y: matrix[n, m]\nvar X: matrix[n, m]\nminimize 1/2 * sum_squares(X - Y) + 0.3 * tv(X)"

    def value(cp: Any) -> Any:
        X = cp.Variable(Y.shape)
        return cp.Minimize(0.5 * cp.sum_squares(X - Y) + 0.3 * cp.tv(X)), []

    return Program(text, {"Y": Y}, value)


def _weighted_between_bounds() -> Program:
    Y, rng = picture(), np.random.default_rng(2)
    W = rng.uniform(0.0, 1.0, Y.shape)
    W[3, 4] = 0.0
    text = """
data Y: matrix[n, m], W: matrix[n, m] in nonnegative
var X: matrix[n, m] in box(0.1, 1)
minimize sum_squares(X - Y) + 0.4 * tv(X, weights=W)
"""

    def value(cp: Any) -> Any:
        X = cp.Variable(Y.shape)
        d = cp.vstack([cp.vec(X[1:, :-1] - X[:-1, :-1], "C"), cp.vec(X[:-1, 1:] - X[:-1, :-1], "C")])
        lengths = cp.norm(d, 2, axis=0)
        return cp.Minimize(cp.sum_squares(X - Y) + 0.4 * (W[:-1, :-1].reshape(-1) @ lengths)), [X >= 0.1, X <= 1]

    return Program(text, {"Y": Y, "W": W}, value)


def _anisotropic_and_sparse() -> Program:
    Y = picture()
    text = """
data Y: matrix[n, m]
var X: matrix[n, m]
minimize 1/2 * sum_squares(X - Y) + 0.2 * tv(X, isotropic=false) + 0.1 * norm1(X) + 0.05 * sum_squares(X)
"""

    def value(cp: Any) -> Any:
        X = cp.Variable(Y.shape)
        sizes = cp.sum(cp.abs(X[1:] - X[:-1])) + cp.sum(cp.abs(X[:, 1:] - X[:, :-1]))
        squares = 0.5 * cp.sum_squares(X - Y) + 0.05 * cp.sum_squares(X)
        return cp.Minimize(squares + 0.2 * sizes + 0.1 * cp.sum(cp.abs(X))), []

    return Program(text, {"Y": Y}, value)


def graph(n: int = 30, edges: int = 60) -> sp.csr_array:
    """Differences along the edges of a graph, each edge in units of its own."""
    rng = np.random.default_rng(3)
    i = rng.integers(0, n, edges)
    j = (i + rng.integers(1, n, edges)) % n
    c = 10.0 ** rng.uniform(-1.0, 1.0, edges)
    at = np.arange(edges)
    return sp.csr_array((np.concatenate([c, -c]), (np.concatenate([at, at]), np.concatenate([i, j]))), (edges, n))


def _along_a_graph() -> Program:
    D, rng = graph(), np.random.default_rng(4)
    y, w, b = rng.standard_normal(30), rng.uniform(0.5, 2.0, 30), rng.standard_normal(60)
    text = """
data D: matrix[m, n], y: vector[n], w: vector[n], b: vector[m]
var x: vector[n]
minimize 2 * sum_squares(w * x - y) + 0.3 * norm1(D @ x - b) + sum(x)
"""

    def value(cp: Any) -> Any:
        x = cp.Variable(30)
        squares = 2.0 * cp.sum_squares(cp.multiply(w, x) - y)
        return cp.Minimize(squares + 0.3 * cp.norm1(D @ x - b) + cp.sum(x)), []

    return Program(text, {"D": D, "y": y, "w": w, "b": b}, value)


def _two_variables_and_groups() -> Program:
    rng = np.random.default_rng(5)
    y, z = rng.standard_normal(6), rng.standard_normal(6)
    text = """
data y: vector[6], z: vector[6]
var u: vector[6], v: vector[6] in nonnegative
minimize sum_squares(u - y) + 1/2 * sum_squares(v - z)
  + 0.7 * group_norm(u - v, [[0, 5, 2], [1], [3, 4]], weights=[1, 2, 0.5]) + 0.5 * norm2(diff(u))
"""

    def value(cp: Any) -> Any:
        u, v = cp.Variable(6), cp.Variable(6)
        squares = cp.sum_squares(u - y) + 0.5 * cp.sum_squares(v - z)
        groups = sum(c * cp.norm((u - v)[g]) for c, g in ((1.0, [0, 5, 2]), (2.0, [1]), (0.5, [3, 4])))
        return cp.Minimize(squares + 0.7 * groups + 0.5 * cp.norm(cp.diff(u))), [v >= 0]

    return Program(text, {"y": y, "z": z}, value)


PROGRAMS: Mapping[str, Callable[[], Program]] = {
    "isotropic": _isotropic,
    "weighted between bounds": _weighted_between_bounds,
    "anisotropic and sparse": _anisotropic_and_sparse,
    "along a graph": _along_a_graph,
    "two variables and groups": _two_variables_and_groups,
}
