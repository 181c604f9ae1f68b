"""Eigenvalues and singular values: designs, covariances, relaxations, bounds on dynamics."""

from __future__ import annotations

from typing import Any

import numpy as np

from .written import Stated, Written, generator, program


def _covariance(d: int, n: int, seed: int) -> np.ndarray:
    X = generator(seed).standard_normal((n, d))
    X[:, 1:] += 0.5 * X[:, :-1]
    return np.cov(X, rowvar=False)


@program("spectra")
def sparse_inverse_covariance() -> Written:
    """The graph between 15 variables from 60 samples."""
    S = _covariance(15, 60, 501)

    def state(cp: Any) -> Stated:
        X = cp.Variable((15, 15), symmetric=True)
        return cp.Minimize(cp.trace(S @ X) - cp.log_det(X) + 0.1 * cp.sum(cp.abs(X))), []

    text = """
data S: psd[d]
var X: psd[d]
minimize trace(S @ X) - log_det(X) + 0.1 * norm1(X)
"""
    return Written(text, {"S": S}, state)


def _vectors(n: int, d: int, seed: int) -> np.ndarray:
    return generator(seed).standard_normal((n, d))


@program("spectra")
def d_optimal_design() -> Written:
    """Shares of 30 experiments with the largest determinant of information."""
    V = _vectors(30, 5, 502)

    def state(cp: Any) -> Stated:
        w = cp.Variable(30, nonneg=True)
        return cp.Maximize(cp.log_det(V.T @ cp.diag(w) @ V)), [cp.sum(w) == 1]

    text = """
data V: matrix[n, d]
var w: vector[n] in simplex(1)
maximize log_det(V.T @ diag(w) @ V)
"""
    return Written(text, {"V": V}, state)


@program("spectra")
def a_optimal_design() -> Written:
    """Shares of 25 experiments with the least mean variance."""
    V = _vectors(25, 4, 503)

    def state(cp: Any) -> Stated:
        w = cp.Variable(25, nonneg=True)
        return cp.Minimize(cp.tr_inv(V.T @ cp.diag(w) @ V)), [cp.sum(w) == 1]

    text = """
data V: matrix[n, d]
var w: vector[n] in simplex(1)
minimize tr_inv(V.T @ diag(w) @ V)
"""
    return Written(text, {"V": V}, state)


@program("spectra")
def e_optimal_design() -> Written:
    """Shares of 30 experiments with the best worst direction."""
    V = _vectors(30, 5, 504)

    def state(cp: Any) -> Stated:
        w = cp.Variable(30, nonneg=True)
        return cp.Maximize(cp.lambda_min(V.T @ cp.diag(w) @ V)), [cp.sum(w) == 1]

    text = """
data V: matrix[n, d]
var w: vector[n] in simplex(1)
maximize lambda_min(V.T @ diag(w) @ V)
"""
    return Written(text, {"V": V}, state)


@program("spectra")
def maximum_cut() -> Written:
    """The semidefinite bound of the largest cut of a graph of 30 nodes."""
    rng = generator(505)
    W = np.triu((rng.random((30, 30)) < 0.3) * rng.uniform(0.5, 1.5, (30, 30)), 1)
    L = np.diag((W + W.T).sum(1)) - W - W.T

    def state(cp: Any) -> Stated:
        X = cp.Variable((30, 30), PSD=True)
        return cp.Maximize(cp.trace(L @ X) / 4), [cp.diag(X) == 1]

    text = """
data L: symmetric[n]
var X: psd[n]
maximize trace(L @ X) / 4
subject to diag(X) == 1
"""
    return Written(text, {"L": L}, state)


@program("spectra")
def nearest_correlation() -> Written:
    """The correlation matrix nearest to a broken one of order 25."""
    rng = generator(506)
    C = np.corrcoef(rng.standard_normal((40, 25)), rowvar=False) + 0.3 * rng.standard_normal((25, 25))
    C = (C + C.T) / 2

    def state(cp: Any) -> Stated:
        X = cp.Variable((25, 25), PSD=True)
        return cp.Minimize(cp.sum_squares(X - C)), [cp.diag(X) == 1]

    text = """
data C: symmetric[n]
var X: psd[n]
minimize sum_squares(X - C)
subject to diag(X) == 1
"""
    return Written(text, {"C": C}, state)


@program("spectra")
def fastest_mixing_chain() -> Written:
    """The symmetric chain on a graph of 12 nodes that mixes fastest."""
    rng = generator(507)
    G = rng.random((12, 12)) < 0.4
    G = G | G.T | np.eye(12, dtype=bool) | np.eye(12, k=1, dtype=bool) | np.eye(12, k=-1, dtype=bool)
    absent = (~G).astype(float)

    def state(cp: Any) -> Stated:
        P = cp.Variable((12, 12), symmetric=True)
        return cp.Minimize(cp.sigma_max(P - np.ones((12, 12)) / 12)), [
            cp.sum(P, axis=1) == 1,
            P >= 0,
            cp.multiply(absent, P) == 0,
        ]

    text = """
data absent: symmetric[n]
var P: symmetric[n]
minimize norm_spec(P - ones(n, n) / n)
subject to P @ ones(n) == 1, P in nonnegative, sum(absent * P) == 0
"""
    return Written(text, {"absent": absent}, state)


@program("spectra")
def lyapunov() -> Written:
    """The smallest Lyapunov matrix of a stable system of order 8."""
    rng = generator(508)
    A = rng.standard_normal((8, 8))
    A -= (np.linalg.eigvals(A).real.max() + 0.3) * np.eye(8)

    def state(cp: Any) -> Stated:
        P = cp.Variable((8, 8), symmetric=True)
        return cp.Minimize(cp.trace(P)), [-(A.T @ P + P @ A) - np.eye(8) >> 0, P >> 0]

    text = """
data A: matrix[n, n]
var P: psd[n]
minimize trace(P)
subject to -(A.T @ P + P @ A) - eye(n) in psd
"""
    return Written(text, {"A": A}, state)


@program("spectra")
def theta_of_a_graph() -> Written:
    """Lovasz's theta of a graph of 15 nodes."""
    rng = generator(509)
    E = np.triu(rng.random((15, 15)) < 0.3, 1)
    edges = (E | E.T).astype(float)

    def state(cp: Any) -> Stated:
        X = cp.Variable((15, 15), PSD=True)
        return cp.Maximize(cp.sum(X)), [cp.trace(X) == 1, cp.multiply(edges, X) == 0]

    text = """
data edges: symmetric[n]
var X: psd[n]
maximize sum(X)
subject to trace(X) == 1, edges * X == zeros(n, n)
"""
    return Written(text, {"edges": edges}, state)


@program("spectra")
def linear_matrix_inequality() -> Written:
    """The least linear cost under an affine matrix inequality of order 10 in six unknowns."""
    rng = generator(510)
    M = rng.standard_normal((7, 10, 10))
    M = M + M.transpose(0, 2, 1)
    M[0] = M[0] @ M[0].T / 10 + 5 * np.eye(10)
    c = np.array([np.trace(m @ (np.eye(10) + 0.1 * M[1])) for m in M[1:]])

    def state(cp: Any) -> Stated:
        x = cp.Variable(6)
        return cp.Minimize(c @ x), [M[0] + sum(x[i] * M[i + 1] for i in range(6)) >> 0]

    text = (
        f"data {', '.join(f'M{i}: symmetric[n]' for i in range(7))}, c: vector[6]\n"
        "var x: vector[6]\n"
        "minimize dot(c, x)\n"
        f"subject to M0 + {' + '.join(f'x[{i}] * M{i + 1}' for i in range(6))} in psd\n"
    )
    return Written(text, {f"M{i}": M[i] for i in range(7)} | {"c": c}, state)


@program("spectra")
def smallest_largest_eigenvalue() -> Written:
    """Weights on the simplex of five symmetric matrices of order 20 whose sum has the smallest largest eigenvalue."""
    rng = generator(511)
    M = rng.standard_normal((5, 20, 20))
    M = M + M.transpose(0, 2, 1)

    def state(cp: Any) -> Stated:
        x = cp.Variable(5, nonneg=True)
        return cp.Minimize(cp.lambda_max(sum(x[i] * M[i] for i in range(5)))), [cp.sum(x) == 1]

    text = (
        f"data {', '.join(f'M{i}: symmetric[n]' for i in range(5))}\n"
        "var x: vector[5] in simplex(1)\n"
        f"minimize lambda_max({' + '.join(f'x[{i}] * M{i}' for i in range(5))})\n"
    )
    return Written(text, {f"M{i}": M[i] for i in range(5)}, state)


@program("spectra")
def euclidean_distances() -> Written:
    """Places in space from noisy distances of 15 points: the Gram matrix, with the trace."""
    rng = generator(512)
    P = rng.standard_normal((15, 3))
    D = ((P[:, None] - P[None]) ** 2).sum(2) + 0.1 * np.abs(rng.standard_normal((15, 15)))
    D = (D + D.T) / 2

    def state(cp: Any) -> Stated:
        G = cp.Variable((15, 15), PSD=True)
        g = cp.reshape(cp.diag(G), (15, 1), order="C")
        fit = g @ np.ones((1, 15)) + np.ones((15, 1)) @ g.T - 2 * G - D
        return cp.Minimize(cp.norm1(cp.vec(fit, order="C")) + cp.trace(G)), []

    text = """
data D: symmetric[n]
var G: psd[n]
minimize norm1(outer(diag(G), ones(n)) + outer(ones(n), diag(G)) - 2 * G - D) + trace(G)
"""
    return Written(text, {"D": D}, state)


@program("spectra")
def smallest_ellipsoid() -> Written:
    """The ellipsoid of least volume around 60 points in 3 dimensions."""
    P = generator(513).standard_normal((60, 3))

    def state(cp: Any) -> Stated:
        A, b = cp.Variable((3, 3), PSD=True), cp.Variable(3)
        rows = P @ A + np.ones((60, 1)) @ cp.reshape(b, (1, 3), order="C")
        return cp.Minimize(-cp.log_det(A)), [cp.norm2(rows, axis=1) <= 1]

    text = """
data P: matrix[n, d]
var A: psd[d], b: vector[d]
minimize -log_det(A)
subject to rownorm2(P @ A + b) <= 1
"""
    return Written(text, {"P": P}, state)


@program("spectra")
def nuclear_norm_completion() -> Written:
    """The matrix of 20 x 15 with the least trace norm that has 150 given entries."""
    rng = generator(514)
    M = rng.standard_normal((20, 2)) @ rng.standard_normal((2, 15))
    seen = (rng.random((20, 15)) < 0.5).astype(float)

    def state(cp: Any) -> Stated:
        X = cp.Variable((20, 15))
        return cp.Minimize(cp.normNuc(X)), [cp.multiply(seen, X) == seen * M]

    text = """
data M: matrix[n, m], seen: matrix[n, m]
var X: matrix[n, m]
minimize norm_nuc(X)
subject to seen * X == seen * M
"""
    return Written(text, {"M": M, "seen": seen}, state)


@program("spectra")
def low_rank_and_sparse() -> Written:
    """A matrix of 25 x 20 as a sum of one of low rank and a sparse one."""
    rng = generator(515)
    M = rng.standard_normal((25, 2)) @ rng.standard_normal((2, 20))
    M += 5.0 * (rng.random(M.shape) < 0.05) * rng.standard_normal(M.shape)

    def state(cp: Any) -> Stated:
        L, S = cp.Variable((25, 20)), cp.Variable((25, 20))
        return cp.Minimize(cp.normNuc(L) + 0.2 * cp.norm1(cp.vec(S, order="C"))), [L + S == M]

    text = """
data M: matrix[n, m]
var L: matrix[n, m], S: matrix[n, m]
minimize norm_nuc(L) + 0.2 * norm1(S)
subject to L + S == M
"""
    return Written(text, {"M": M}, state)


@program("spectra")
def fractional_ridge() -> Written:
    """x' P^-1 x over shares of four covariances: the best mixed prior of a vector."""
    rng = generator(516)
    B = rng.standard_normal((4, 8, 10))
    M = B @ B.transpose(0, 2, 1) / 10
    x0 = rng.standard_normal(8)

    def state(cp: Any) -> Stated:
        s, x = cp.Variable(4, nonneg=True), cp.Variable(8)
        return cp.Minimize(cp.matrix_frac(x, sum(s[i] * M[i] for i in range(4))) + cp.sum_squares(x - x0)), [
            cp.sum(s) == 1
        ]

    text = (
        f"data {', '.join(f'M{i}: psd[n]' for i in range(4))}, x0: vector[n]\n"
        "var s: vector[4] in simplex(1), x: vector[n]\n"
        f"minimize matrix_frac(x, {' + '.join(f's[{i}] * M{i}' for i in range(4))}) + sum_squares(x - x0)\n"
    )
    return Written(text, {f"M{i}": M[i] for i in range(4)} | {"x0": x0}, state)
