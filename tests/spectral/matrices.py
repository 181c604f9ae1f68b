"""Matrices whose singular values are known, for the tests of bounds and estimates."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float64]


def with_singular_values(m: int, n: int, values: list[float], seed: int = 0) -> Matrix:
    """U diag(values, 0, ...) V' with random orthonormal U and V."""
    rng = np.random.default_rng(seed)
    k = len(values)
    U, _ = np.linalg.qr(rng.standard_normal((m, k)))
    V, _ = np.linalg.qr(rng.standard_normal((n, k)))
    return np.asarray((U * np.array(values)) @ V.T)


def _gaussian(m: int, n: int) -> Matrix:
    return np.random.default_rng(1).standard_normal((m, n))


MATRICES: dict[str, Matrix] = {
    "tall": _gaussian(70, 50),
    "wide": _gaussian(50, 90),
    "one row": _gaussian(1, 40),
    "one column": _gaussian(40, 1),
    "one number": np.array([[-2.0]]),
    "zero": np.zeros((45, 40)),
    "identity": np.eye(60),
    "rank two": with_singular_values(60, 50, [3.0, 1.0]),
    "largest ten times": with_singular_values(80, 60, [2.0] * 10 + [1.0] * 20),
    "clustered": with_singular_values(80, 60, [1.0 - 1e-9 * i for i in range(8)] + list(np.linspace(0.99, 0.0, 40))),
    "slowly falling": with_singular_values(60, 60, [1.0 - 1e-7 * i * i for i in range(60)]),
    "quickly falling": with_singular_values(60, 70, [10.0**-i for i in range(20)]),
    "integers": np.random.default_rng(2).integers(-3, 4, (50, 45)).astype(np.float64),
}
