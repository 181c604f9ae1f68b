"""The data that programs over rows are crossed with: drawn ones and files of `../shared/data`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache, partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from data_sets import read_libsvm
from generators import rcv1_like, sparse_rows
from numpy.typing import NDArray

Array = NDArray[np.float64]
Data = tuple[Any, Array]


@cache
def _file(name: str, rows: int) -> Data:
    X, labels = read_libsvm(name)
    kept = np.sort(np.random.default_rng(0).permutation(labels.size)[:rows])
    X = sp.csr_array(X[kept])
    X = X / X.max() if X.max() > 100 else X
    return (np.ascontiguousarray(X.toarray()) if X.nnz >= 0.25 * X.shape[0] * X.shape[1] else X), labels[kept]


@cache
def _drawn(n: int, d: int, decay: float, correlation: float) -> Data:
    """Gaussian rows with ten common factors, columns that shrink to `decay`, and a sparse truth."""
    rng = np.random.default_rng(n + d)
    X = np.sqrt(1 - correlation) * rng.standard_normal((n, d))
    X += np.sqrt(correlation / 10) * rng.standard_normal((n, 10)) @ rng.standard_normal((10, d))
    X *= np.logspace(0.0, np.log10(decay), d)
    truth = np.zeros(d)
    truth[rng.choice(d, max(2, d // 10), replace=False)] = rng.standard_normal(max(2, d // 10))
    return X, X @ truth + 0.5 * rng.standard_normal(n)


@cache
def _sparse(kind: str, n: int, d: int) -> Data:
    return rcv1_like(n, d) if kind == "text" else sparse_rows(n, d, 20)


SOURCES: Mapping[str, Callable[[], Data]] = {
    "tall": partial(_drawn, 3000, 60, 1.0, 0.3),
    "wide": partial(_drawn, 250, 2000, 1.0, 0.3),
    "stiff": partial(_drawn, 1000, 300, 1e-3, 0.5),
    "small": partial(_drawn, 100, 10, 1.0, 0.0),
    "square": partial(_drawn, 600, 250, 1.0, 0.0),
    "long": partial(_drawn, 20000, 20, 0.1, 0.3),
    "text": partial(_sparse, "text", 3000, 6000),
    "sparse": partial(_sparse, "rows", 2000, 1000),
    "abalone": partial(_file, "abalone", 5000),
    "housing_scale": partial(_file, "housing_scale", 5000),
    "a1a": partial(_file, "a1a", 5000),
    "splice": partial(_file, "splice", 5000),
    "w8a": partial(_file, "w8a", 8000),
    "australian": partial(_file, "australian", 5000),
    "west_breast": partial(_file, "west_breast", 5000),
    "usps": partial(_file, "usps", 1500),
    "dna.scale": partial(_file, "dna.scale", 2000),
}


def target(b: Array) -> Array:
    return np.asarray((b - b.mean()) / b.std())


def signs(b: Array) -> Array:
    return np.where(b > np.median(b) if np.unique(b).size > 2 else b == b.max(), 1.0, -1.0)


def classes(b: Array) -> Array:
    """Whole numbers from 0: the classes, or fifths of the targets."""
    values = np.unique(b)
    if values.size > 26:
        return np.searchsorted(np.quantile(b, [0.2, 0.4, 0.6, 0.8]), b).astype(float)
    return np.searchsorted(values, b).astype(float)
