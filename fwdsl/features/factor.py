"""Pivoted Cholesky factorisation of a Gram matrix, given by its rows and its diagonal."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from .base import Array

_PANEL = 64  # rows computed at a time
_FEW = 8  # the rank over which the whole matrix is factored at once, as a share of its rows, one in so many
_WHOLE = 6_000  # rows up to which it is: LAPACK hears no Ctrl-C, and takes two seconds
_EPS = float(np.finfo(np.float64).eps)


@dataclass(frozen=True, eq=False)
class GramFactor:
    """L (n, r) with K = L L' up to rounding.

    `error` bounds |K - L L'|_2 by the trace of the remainder, which is positive semidefinite, plus the rounding.
    `pivots` are the r samples whose features span those of all: L[pivots] is lower triangular.
    """

    L: Array
    pivots: Array
    error: float

    @property
    def rank(self) -> int:
        return int(self.L.shape[1])

    def coefficients(self, w: Array) -> Array:
        """Expansion coefficients a (n, ...) with K a = L w and a'K a = |w|^2, for w (r, ...): nonzero at the pivots only."""
        from scipy.linalg import solve_triangular

        out = np.zeros((self.L.shape[0], *np.shape(w)[1:]))
        out[self.pivots] = solve_triangular(self.L[self.pivots], w, lower=True, trans="T")
        return out

    def coordinates(self, a: Array) -> Array:
        """L'a, the inverse of `coefficients`."""
        return np.asarray(self.L.T @ a)


def pivoted_cholesky(
    rows: Callable[[Array], Array], diagonal: Array, max_bytes: int, whole: Callable[[], Array] | None = None
) -> GramFactor | None:
    """Factorise the positive semidefinite K until only rounding remains of its diagonal; None beyond `max_bytes`.

    `rows(indices)` returns rows of K. Pivots are taken in panels of the largest remaining diagonal entries. A candidate that
    depends on the earlier ones of its panel waits for a later panel. `whole()` returns K: where the rank turns out to be no small
    part of its rows, and these are few, LAPACK begins anew with all of it, whose blocks are faster.
    """
    n = diagonal.size
    left = np.array(diagonal, dtype=np.float64)
    most = int(min(n, max_bytes // (8 * n)))
    allowed = n * _EPS * float(left.max(initial=0.0))
    L = np.empty((n, min(most, _PANEL)), order="F")
    pivots = np.empty(most, dtype=np.int64)
    r = 0
    few = n // _FEW if whole is not None and n <= min(_WHOLE, most) else n
    while left.max(initial=0.0) > allowed:
        if r > few and whole is not None:
            return _of_whole(whole(), allowed)
        panel = np.argsort(-left, kind="stable")[:_PANEL]
        panel = panel[left[panel] > max(allowed, 0.01 * left[panel[0]])]
        first = r
        rest = rows(panel).T - L[:, :r] @ L[panel, :r].T
        for _ in range(panel.size):
            j = int(np.argmax(left[panel]))
            pivot = int(panel[j])
            if left[pivot] <= max(allowed, 0.5 * left.max()):
                break
            column = rest[:, j] - L[:, first:r] @ L[pivot, first:r]
            if column[pivot] <= allowed:
                # A diagonal computed afresh has less rounding than an updated one, so it decides when to stop.
                left[pivot] = max(float(column[pivot]), 0.0)
                continue
            if r == most:
                return None
            if r == L.shape[1]:
                grown = np.empty((n, min(most, 2 * r)), order="F")
                grown[:, :r] = L
                L = grown
            column /= np.sqrt(column[pivot])
            column[pivots[:r]] = 0.0
            L[:, r] = column
            pivots[r] = pivot
            r += 1
            left -= np.square(column)
            left[pivots[:r]] = 0.0
    return _factor(np.ascontiguousarray(L[:, :r]), pivots[:r].copy(), diagonal, left)


def _factor(L: Array, pivots: Array, diagonal: Array, left: Array) -> GramFactor:
    """The factor of a matrix with this diagonal, of which `left` is left."""
    rounding = 4.0 * (pivots.size + 1) * _EPS * float(np.sum(diagonal))
    return GramFactor(L, pivots, float(np.sum(np.maximum(left, 0.0))) + rounding)


def _of_whole(K: Array, allowed: float) -> GramFactor:
    """The factor of a matrix at hand, by LAPACK; K is overwritten."""
    from scipy.linalg.lapack import dpstrf

    diagonal = K.diagonal().copy()
    # of the transpose, which is the same matrix, nothing is copied
    lower, order, r, _ = dpstrf(K.T, tol=allowed, lower=1, overwrite_a=1)
    order = order.astype(np.int64) - 1
    L = np.empty((order.size, r))
    L[order] = np.tril(lower[:, :r])
    return _factor(L, order[:r].copy(), diagonal, diagonal - np.einsum("ij,ij->i", L, L))
