"""The programs that are not over rows, each with its data: signals, matrices, portfolios, linear and semidefinite programs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import scipy.sparse as sp
from generators import completion, simplex_ls, trace_norm

from .sources import Array


def _steps(n: int, noise: float = 0.3) -> Array:
    rng = np.random.default_rng(n)
    return np.repeat(rng.standard_normal(max(2, n // 50)), 50)[:n] + noise * rng.standard_normal(n)


def signal(n: int, penalty: str, weight: float) -> tuple[str, Mapping[str, Any]]:
    text = (
        f"data y: vector[n]\nparam c: positive\nvar x: vector[n]\nminimize 1/2 * sum_squares(x - y) + c * {penalty}\n"
    )
    return text, {"y": _steps(n), "c": weight}


def isotonic(n: int) -> tuple[str, Mapping[str, Any]]:
    y = np.linspace(0.0, 3.0, n) + _steps(n)
    text = "data y: vector[n]\nvar x: vector[n]\nminimize sum_squares(x - y)\nsubject to x[1:] >= x[:-1]\n"
    return text, {"y": y}


def trace(n: int, d: int, k: int, weight: float, ball: bool) -> tuple[str, Mapping[str, Any]]:
    A, B, radius = trace_norm(n, d, k, rank=4, noise=1.0)
    declared = "var W: matrix[p, k] in nuclear_ball(c)\n" if ball else "var W: matrix[p, k]\n"
    penalty = "" if ball else " + c * norm_nuc(W)"
    text = f"data X: matrix[n, p], Y: matrix[n, k]\nparam c: positive\n{declared}minimize 1/2 * sum(squared(X @ W, Y)){penalty}\n"
    return text, {"X": A, "Y": B, "c": weight * (radius if ball else float(np.linalg.norm(A.T @ B, 2)))}


def completed(n: int, p: int, observed: float, weight: float) -> tuple[str, Mapping[str, Any]]:
    rows, columns, values, _ = completion(n, p, rank=3, observed=observed)
    observations = sp.csr_array((values, (rows, columns)), shape=(n, p))
    top = float(np.linalg.norm(observations.toarray(), 2))
    text = (
        "data M: entries[n, p]\nparam c: positive\nvar B: matrix[n, p]\n"
        "minimize 1/2 * sum(squared(B[M], M)) + c * norm_nuc(B)\n"
    )
    return text, {"M": (rows, columns, values), "c": weight * top}


def portfolio(d: int, weight: float) -> tuple[str, Mapping[str, Any]]:
    rng = np.random.default_rng(d)
    F = rng.standard_normal((max(3, d // 10), d))
    text = (
        "data F: matrix[k, d], r: vector[d]\nparam c: positive\nvar x: vector[d] in simplex(1)\n"
        "minimize c * sum_squares(F @ x) - dot(r, x)\n"
    )
    return text, {"F": F, "r": rng.standard_normal(d), "c": weight}


def linear(m: int, n: int) -> tuple[str, Mapping[str, Any]]:
    rng = np.random.default_rng(m)
    A = rng.standard_normal((m, n))
    text = "data A: matrix[m, n], b: vector[m], q: vector[n]\nvar x: vector[n] in nonnegative\nminimize dot(q, x)\nsubject to A @ x >= b\n"
    return text, {"A": A, "b": A @ rng.random(n) - rng.random(m), "q": A.T @ rng.random(m)}


def psd(n: int, d: int) -> tuple[str, Mapping[str, Any]]:
    rng = np.random.default_rng(n)
    X, L = rng.standard_normal((n, d)), rng.standard_normal((d, 2))
    text = "data X: matrix[n, d], y: vector[n]\nvar S: symmetric[d] in psd\nminimize mean(squared(quad(X, S), y)) + 0.01 * trace(S)\n"
    return text, {"X": X, "y": ((X @ L) ** 2).sum(axis=1) + 0.1 * rng.standard_normal(n)}


def mixture(n: int, d: int) -> tuple[str, Mapping[str, Any]]:
    A, b = simplex_ls(n, d)
    return "data A: matrix[n, d], b: vector[n]\nvar w: vector[d] in simplex(1)\nminimize mean(squared(A @ w, b))\n", {
        "A": A,
        "b": b,
    }
