"""Shared by the losses of a row of predictions: the domains of their conjugates, and the place of each sample's class."""

from __future__ import annotations

import math

import numpy as np

from ..base import Array
from ..vector_loss import EPS, Codes, sums_to_zero


def slack(u):
    """The share of their terms' sizes that sums of a row may miss by rounding. Part of kernels."""
    return (8 + u.size) * 2.220446049250313e-16


def others_of(u, y, most):
    """The sum of u_l, l != y; inf where u does not sum to zero, or one is not between 0 and `most`. Part of kernels."""
    others = 0.0
    for l in range(u.size):
        if l != y:
            if u[l] < 0.0 or u[l] > most:
                return math.inf
            others += u[l]
    return others if abs(u[y] + others) <= slack(u) * (others + abs(u[y])) else math.inf


def own(z: Array, y: Codes) -> Array:
    """(z_{i, y_i}) for each row i."""
    found: Array = z[np.arange(y.size), y]
    return found


def hot(y: Codes, k: int) -> Array:
    """The rows e_{y_i}."""
    e = np.zeros((y.size, k))
    e[np.arange(y.size), y] = 1.0
    return e


def thresholds(a: Array, total: Array) -> Array:
    """The theta of each row with sum_l max(a_l - theta, 0) = total > 0, by sorting; relative to the row's largest entry."""
    below = -np.sort(a.max(axis=1, keepdims=True) - a, axis=1)
    means = (np.cumsum(below, axis=1) - total[:, None]) / np.arange(1, a.shape[1] + 1)
    # the means rise while entries above them are added, and fall after
    found: Array = means.max(axis=1)
    return found


def close(u: Array, y: Codes) -> Array:
    """u with the entry of each row's class such that the row sums to zero."""
    out = u.copy()
    rows = np.arange(y.size)
    out[rows, y] = 0.0
    out[rows, y] = -out.sum(axis=1)
    return out


def into_simplex(u: Array, y: Codes) -> Array:
    """The projection of u on {p - e_y : p in the simplex}, by rows."""
    p = u + hot(y, u.shape[1])
    peak = p.max(axis=1, keepdims=True)
    p = np.maximum((p - peak) - thresholds(p, np.ones(y.size))[:, None], 0.0)
    return close(p / p.sum(axis=1, keepdims=True), y)


def in_simplex(u: Array, y: Codes) -> Array:
    """A mask of the rows that are p - e_y with p in the simplex, up to rounding of sums."""
    rows = np.arange(y.size)
    others = u.copy()
    others[rows, y] = 0.0
    inside: Array = (others >= 0.0).all(axis=1) & sums_to_zero(u) & (others.sum(axis=1) <= 1.0 + (8 + u.shape[1]) * EPS)
    return inside
