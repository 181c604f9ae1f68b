"""Tasks of multi-task metric learning (MT-LMNN, section 5.3 of the paper) out of labelled data."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

NEIGHBOURS = 3
"""Neighbours of a point with its label (l of the paper)."""


def mt_lmnn(
    X: Array, y: NDArray[Any], tasks: int, labels: int, points: int, seed: int = 0
) -> tuple[Array, Array, NDArray[np.int64]]:
    """(A, C, task): rows of A are differences from a point to the nearest of another label, those of C to its nearest ones with its label.

    Each task has `points` random samples of `labels` random classes; a triplet is a point, one of its 3 neighbours and the nearest impostor.
    """
    rng = np.random.default_rng(seed)
    classes = np.unique(y)
    far, near, of = [], [], []
    for t in range(tasks):
        chosen = rng.choice(classes, labels, replace=False)
        at = rng.choice(np.flatnonzero(np.isin(y, chosen)), points, replace=False)
        Z, label = X[at], y[at]
        squares = (Z**2).sum(axis=1)
        distance = squares[:, None] + squares - 2.0 * Z @ Z.T
        np.fill_diagonal(distance, np.inf)
        same = label[:, None] == label
        own, other = np.where(same, distance, np.inf), np.where(same, np.inf, distance)
        impostor = other.argmin(axis=1)
        for k in own.argsort(axis=1)[:, :NEIGHBOURS].T:
            found = np.isfinite(own[np.arange(points), k])
            near.append((Z - Z[k])[found])
            far.append((Z - Z[impostor])[found])
            of.append(np.full(int(found.sum()), t))
    return np.concatenate(far), np.concatenate(near), np.concatenate(of)


def principal(X: Array, d: int) -> Array:
    """The first d principal components, of a total variance of one."""
    centred = X - X.mean(axis=0)
    values, vectors = np.linalg.eigh(centred.T @ centred / len(X))
    Z = centred @ vectors[:, : -d - 1 : -1]
    return np.asarray(Z / np.sqrt(values[: -d - 1 : -1].sum()))
