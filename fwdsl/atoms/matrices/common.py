"""Shared by functions of a matrix: its shape, the norms that `coercive` names, and how well LAPACK knows a spectrum.

A matrix is a flat vector in C order with a shape (n, d). LAPACK computes the exact singular values (eigenvalues) of a matrix that differs
from the given one by at most p eps |A|_2, with p growing modestly in the dimensions; by Weyl's inequality each value is then off
by no more than that. `backward_error` takes p = 10 + max(n, d) and the Frobenius norm, which is larger.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from ..base import Array
from ..vectors.common import largest, norm1, norm2

Shape = tuple[int, int]

EPS = float(np.finfo(np.float64).eps)


def matrix(x: Array, shape: Shape) -> Array:
    """x as a matrix, without a copy."""
    return x.reshape(shape)


def backward_error(x: Array, shape: Shape) -> float:
    """A bound on the error of a computed singular value or eigenvalue of x: (10 + max(n, d)) eps |x|_2."""
    return (10 + max(shape)) * EPS * norm2(x)


def singular_values(x: Array, shape: Shape) -> Array:
    """The singular values of x in decreasing order, by LAPACK; all are NaN if x is not finite, where LAPACK would raise."""
    if not x.size:
        return np.zeros(min(shape))
    if not np.isfinite(x).all():
        return np.full(min(shape), np.nan)
    return np.asarray(np.linalg.svd(matrix(x, shape), compute_uv=False), dtype=np.float64)


def _rows(norm: Callable[[Array], Array]) -> Callable[[Array, Shape], float]:
    return lambda v, shape: float(norm(matrix(v, shape)).max(initial=0.0)) if v.size else 0.0


def _spectral(v: Array, shape: Shape) -> float:
    return float(singular_values(v, shape).max(initial=0.0)) + backward_error(v, shape)


def _nuclear(v: Array, shape: Shape) -> float:
    return float(singular_values(v, shape).sum()) + min(shape) * backward_error(v, shape)


_DUAL_NORMS: dict[str, Callable[[Array, Shape], float]] = {
    "linf": lambda v, shape: largest(v),
    "l1": lambda v, shape: norm1(v),
    "l2": lambda v, shape: norm2(v),
    "l2inf": _rows(lambda a: np.sqrt(np.square(a).sum(axis=1))),
    "l1inf": _rows(lambda a: np.abs(a).sum(axis=1)),
    "spectral": _spectral,
    "nuclear": _nuclear,
}

DUAL_NORMS: tuple[str, ...] = tuple(_DUAL_NORMS)
"""The names that `coercive` may give: "linf", "l2", "l1" (of all entries), "l2inf" and "l1inf" (the largest l2 or l1 norm of a row, dual to norm21
and norm1_inf), "spectral" and "nuclear" (rounded up by their backward error, dual to norm_nuc and norm_spec)."""


def dual_norm(name: str, v: Array, shape: tuple[int, ...]) -> float:
    """The dual norm that `VectorFunction.coercive` names, of v with this shape; a vector's shape is (d,). Raises `KeyError` for an unknown name."""
    rows, columns = (shape[0], math.prod(shape[1:])) if len(shape) > 1 else (1, math.prod(shape))
    return _DUAL_NORMS[name](v, (rows, columns))
