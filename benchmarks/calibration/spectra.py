"""Programs of matrices: cones of matrices, singular values and eigenvalues, beside losses, equations and other sums."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

import numpy as np

from .sources import Array

Program = tuple[str, Mapping[str, Any]]


def _symmetric(rng: np.random.Generator, n: int) -> Array:
    M = rng.standard_normal((n, n))
    return (M + M.T) / 2.0


def _graph(rng: np.random.Generator, n: int, share: float) -> Array:
    edges = np.triu(rng.random((n, n)) < share, 1)
    return np.asarray(edges | edges.T, dtype=float)


def _low_rank(rng: np.random.Generator, n: int, m: int) -> Array:
    return np.asarray(rng.standard_normal((n, 2)) @ rng.standard_normal((2, m)))


def unit_diagonal(rng: np.random.Generator, n: int) -> Program:
    """A linear cost of a positive semidefinite matrix with ones on its diagonal."""
    text = "data C: symmetric[n]\nvar X: psd[n]\nminimize trace(C @ X)\nsubject to diag(X) == 1\n"
    return text, {"C": _symmetric(rng, n)}


def correlations(rng: np.random.Generator, n: int) -> Program:
    """The nearest correlation matrix."""
    text = "data C: symmetric[n]\nvar X: psd[n]\nminimize sum_squares(X - C)\nsubject to diag(X) == 1\n"
    return text, {"C": np.eye(n) + 0.6 * _symmetric(rng, n)}


def stable_sets(rng: np.random.Generator, n: int) -> Program:
    """A positive semidefinite matrix of trace one with zeros at the edges of a graph."""
    text = "data E: symmetric[n]\nvar X: psd[n]\nmaximize sum(X)\nsubject to trace(X) == 1, E * X == zeros(n, n)\n"
    return text, {"E": _graph(rng, n, 0.35)}


def given_entries(rng: np.random.Generator, n: int, m: int) -> Program:
    """The least trace norm of a matrix with given entries."""
    text = "data M: matrix[n, m], seen: matrix[n, m]\nvar X: matrix[n, m]\nminimize norm_nuc(X)\nsubject to seen * X == seen * M\n"
    return text, {"M": _low_rank(rng, n, m), "seen": (rng.random((n, m)) < 0.5).astype(float)}


def split(rng: np.random.Generator, n: int, m: int) -> Program:
    """A matrix as the sum of one of low rank and a sparse one."""
    M = _low_rank(rng, n, m)
    M += 4.0 * (rng.random(M.shape) < 0.07) * rng.standard_normal(M.shape)
    text = "data M: matrix[n, m]\nvar L: matrix[n, m], S: matrix[n, m]\nminimize norm_nuc(L) + 0.25 * norm1(S)\nsubject to L + S == M\n"
    return text, {"M": M}


def residuals(rng: np.random.Generator, n: int, m: int) -> Program:
    """A matrix of low rank beside absolute residuals."""
    text = "data M: matrix[n, m]\nvar L: matrix[n, m]\nminimize norm1(L - M) + 2 * norm_nuc(L)\n"
    return text, {"M": _low_rank(rng, n, m) + 0.3 * rng.standard_normal((n, m))}


def largest_eigenvalue(rng: np.random.Generator, n: int, k: int) -> Program:
    """Shares of matrices whose sum has the smallest largest eigenvalue."""
    names = [f"M{i}" for i in range(k)]
    text = f"data {', '.join(f'{name}: symmetric[n]' for name in names)}\nvar x: vector[{k}] in simplex(1)\n"
    text += f"minimize lambda_max({' + '.join(f'x[{i}] * {name}' for i, name in enumerate(names))})\n"
    return text, {name: _symmetric(rng, n) for name in names}


def mixing(rng: np.random.Generator, n: int) -> Program:
    """The chain on a graph that mixes fastest."""
    near = _graph(rng, n, 0.35) + np.eye(n) + np.eye(n, k=1) + np.eye(n, k=-1)
    text = (
        "data absent: symmetric[n]\nvar P: symmetric[n]\nminimize norm_spec(P - ones(n, n) / n)\n"
        "subject to P @ ones(n) == 1, P in nonnegative, sum(absent * P) == 0\n"
    )
    return text, {"absent": (near == 0.0).astype(float)}


def design(rng: np.random.Generator, n: int, d: int) -> Program:
    """Shares of experiments with the largest determinant of information."""
    text = "data V: matrix[n, d]\nvar w: vector[n] in simplex(1)\nmaximize log_det(V.T @ diag(w) @ V)\n"
    return text, {"V": rng.standard_normal((n, d))}


def decay(rng: np.random.Generator, n: int) -> Program:
    """The smallest Lyapunov matrix of a stable system."""
    A = rng.standard_normal((n, n))
    A -= (float(np.linalg.eigvals(A).real.max()) + 0.5) * np.eye(n)
    text = "data A: matrix[n, n]\nvar P: psd[n]\nminimize trace(P)\nsubject to -(A.T @ P + P @ A) - eye(n) in psd\n"
    return text, {"A": A}


def distances(rng: np.random.Generator, n: int) -> Program:
    """Places from noisy distances: their Gram matrix."""
    P = rng.standard_normal((n, 2))
    D = ((P[:, None] - P[None]) ** 2).sum(axis=2) + 0.1 * np.abs(_symmetric(rng, n))
    text = (
        "data D: symmetric[n]\nvar G: psd[n]\n"
        "minimize norm1(outer(diag(G), ones(n)) + outer(ones(n), diag(G)) - 2 * G - D) + trace(G)\n"
    )
    return text, {"D": D}


def tasks(rng: np.random.Generator, n: int, d: int, k: int) -> Program:
    """Least squares of several tasks with a trace norm."""
    X = rng.standard_normal((n, d))
    Y = X @ _low_rank(rng, d, k) + rng.standard_normal((n, k))
    text = "data X: matrix[n, p], Y: matrix[n, k]\nparam c: positive\nvar W: matrix[p, k]\nminimize 1/2 * sum(squared(X @ W, Y)) + c * norm_nuc(W)\n"
    return text, {"X": X, "Y": Y, "c": 0.1 * float(np.linalg.norm(X.T @ Y, 2))}


def metric(rng: np.random.Generator, n: int, d: int) -> Program:
    """A metric that tells pairs that are alike."""
    U = rng.standard_normal((n, d))
    near = (U[:, :2] ** 2).sum(axis=1) < 1.4
    text = (
        "data U: matrix[n, d], y: signs[n]\nvar M: psd[d], r: real\n"
        "minimize mean(smooth_hinge(r - quad(U, M), y)) + 0.02 * sum_squares(M)\n"
    )
    return text, {"U": U, "y": np.where(near, 1.0, -1.0)}


def metrics(rng: np.random.Generator, n: int, d: int, k: int) -> Program:
    """A metric for each of several tasks, and what they share."""
    U = rng.standard_normal((n, d))
    near = (U[:, :2] ** 2).sum(axis=1) < 1.4
    text = (
        "data U: matrix[n, d], D: tensor[n, d, d], y: signs[n], task: index[n] of T\n"
        "var M: psd[d], Own: family[T] of psd[d], r: real\n"
        "minimize mean(smooth_hinge(r - quad(U, M) - inner(D, Own[task]), y)) + 0.01 * sum_squares(M) + 0.05 * sum_squares(Own)\n"
    )
    D = U[:, :, None] * U[:, None, :]
    return text, {"U": U, "D": D, "y": np.where(near, 1.0, -1.0), "task": np.arange(n) % k}


SIZES: Mapping[str, tuple[Callable[..., Program], tuple[tuple[int, ...], ...]]] = {
    "unit diagonal": (unit_diagonal, ((8,), (20,), (45,))),
    "correlations": (correlations, ((10,), (35,), (60,))),
    "stable sets": (stable_sets, ((8,), (12,), (20,))),
    "given entries": (given_entries, ((12, 10), (25, 20), (60, 15))),
    "low rank and sparse": (split, ((8, 6), (14, 12), (30, 10))),
    "low rank beside absolute residuals": (residuals, ((8, 6), (15, 10), (20, 18))),
    "largest eigenvalue": (largest_eigenvalue, ((6, 8), (15, 3), (30, 6))),
    "mixing": (mixing, ((7,), (10,), (16,))),
    "determinant": (design, ((20, 3), (60, 6), (200, 8))),
    "Lyapunov": (decay, ((4,), (10,), (15,))),
    "distances": (distances, ((8,), (12,), (20,))),
    "tasks of low rank": (tasks, ((30, 6, 5), (100, 15, 8), (300, 25, 10))),
    "metric": (metric, ((100, 3), (300, 8), (1000, 12))),
    "metrics of tasks": (metrics, ((60, 3, 3), (200, 5, 4), (400, 4, 8))),
}
"""The programs, and their sizes."""


def spectra() -> Iterator[tuple[str, str, Callable[[], Program]]]:
    """Each program's name, its size in words, and its maker: the first size of each, then the second. So small and large ones are held out."""
    for rank in range(max(len(sizes) for _, sizes in SIZES.values())):
        for name, (make, sizes) in SIZES.items():
            for size in sizes[rank : rank + 1]:
                yield name, " x ".join(map(str, size)), partial(_made, make, size)


def _made(make: Callable[..., Program], size: tuple[int, ...]) -> Program:
    return make(np.random.default_rng([17, *size]), *size)
