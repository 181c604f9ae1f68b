"""A program of rows that is crossed with data, and how large its weights are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from .sources import Array

HEAD = "data X: matrix[n, p], y: {target}[n]\nparam c: positive\n"


@dataclass(frozen=True)
class Family:
    """A program of rows: `scale` gives the parameter c as a share of the largest useful one, or c itself."""

    body: str
    target: str
    sources: str
    weights: tuple[float, ...]
    scale: Callable[[Any, Array], float] = lambda X, y: 1.0


def gradient(X: Any, y: Array) -> float:
    """The largest useful weight of norm1 beside a mean of losses of slope 1 at zero."""
    return float(np.abs(X.T @ y).max()) / y.size


def group(X: Any, y: Array) -> float:
    return gradient(X, y) * 2.0


def half(X: Any, y: Array) -> float:
    return 0.5 * gradient(X, y)


def mean_row(X: Any, y: Array) -> float:
    """The mean squared length of a row: beside a mean of losses, a ridge of this size is strong."""
    return float((X.multiply(X) if sp.issparse(X) else X * X).sum()) / y.size


def length(X: Any, y: Array) -> float:
    """The 1-norm of a ridge fit: a ball of this radius binds."""
    A = X.toarray() if sp.issparse(X) else X
    small = A.shape[0] < A.shape[1]
    G = A @ A.T if small else A.T @ A
    G = G + 0.1 * np.trace(G) / len(G) * np.eye(len(G))
    w = A.T @ np.linalg.solve(G, y) if small else np.linalg.solve(G, A.T @ y)
    return float(np.abs(w).sum())


W, WB = "var w: vector[p]\n", "var w: vector[p], b: real\n"
