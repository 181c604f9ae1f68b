r"""Newton steps on the face of a machine's multipliers: those between their bounds, the others as they are.

A row i with free entries F_i, |F_i| >= 2, moves along e_l - e_r for l in F_i other than its reference r, its sum being 0. With the gradient Q and the
kernel K_ij = c^2 <x_i, x_j> / mu + t^2 / nu of `multiclass`, phi has along the moves (i, l) the slopes and the Hessian

    g_il = Q_il - Q_ir,    M_(il),(jm) = K_ij <e_l - e_r(i), e_m - e_r(j)>.

A step goes to the minimum of phi on the face, or to the first bound on the way, where that entry (with a reference its row) leaves the face and the
rest goes on. On the face of the optimum one step is exact, where sweeps over the rows converge by a factor that the condition of M decides.

Free are for Crammer and Singer's loss the p_l > 0, with p_l = -a_l for l != y and p_y = C - a_y; for that of Weston and Watkins the a_l between
-C and 0, with the reference y, which nothing bounds.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fwdsl.atoms.base import Array
from fwdsl.backends.factors import block_of, cholesky, inverse_of_lower
from fwdsl.backends.svm.multiclass import MulticlassMachine
from fwdsl.light_dataclass import light_dataclass

Indices = NDArray[np.intp]

NOTHING = 1e-12
"""The share of C that an entry at its bound may be away from it by rounding."""

DAMPING = 1e-7
"""The share of the largest diagonal entry of M that is added to its diagonal: moves that depend on each other have no minimum."""

NS_PER_PRODUCT = 0.05
"""Nanoseconds of a multiplication of the kernel's products and of the factor."""

NS_PER_PAIR, FEW = 3.0, 5.0
"""Nanoseconds of going on from a bound, for a pair of moves, and how many bounds there are at least."""

MOST = 3_000
"""The largest order of M."""


@light_dataclass
class Face:
    """The moves of the free entries: sample, class and reference of each, and the rows that have any."""

    row: Indices
    label: Indices
    reference: Indices

    @staticmethod
    def of(m: MulticlassMachine, a: Array) -> Face:
        """The face of multipliers a."""
        samples = np.arange(m.n)
        if m.weston:
            free = (a < -NOTHING * m.C[:, None]) & (a > (NOTHING - 1.0) * m.C[:, None])
            free[samples, m.y] = False
            row, label = np.nonzero(free)
            return Face(row, label, m.y[row])
        p = -a
        p[samples, m.y] += m.C
        free = p > NOTHING * m.C[:, None]
        live = np.flatnonzero(np.count_nonzero(free, axis=1) > 1)
        reference = p[live].argmax(axis=1)
        free = free[live]
        free[np.arange(live.size), reference] = False
        at, label = np.nonzero(free)
        return Face(live[at], label, reference[at])

    @staticmethod
    def least_seconds(m: MulticlassMachine, a: Array) -> float:
        """Predicted seconds that a step takes at least, from how many multipliers are not 0, without the face itself; inf where M is too large."""
        nonzero = int(np.count_nonzero(a))
        own = a[np.arange(m.n), m.y]
        # a row at one of its bounds has two of them
        live = own > 0.0
        order = nonzero - 2 * int(np.count_nonzero(live)) + int(np.count_nonzero(live & (own < (1.0 - NOTHING) * m.C)))
        if m.weston:
            order = int(np.count_nonzero((a < 0.0) & (a > -m.C[:, None])))
        return 1e-9 * NS_PER_PRODUCT * float(order) ** 3 if order <= MOST else math.inf

    def seconds(self, m: MulticlassMachine) -> float:
        """The predicted seconds of a step."""
        rows = float(np.unique(self.row).size)
        order = float(self.row.size)
        return 1e-9 * NS_PER_PRODUCT * (rows * rows * m.mean_row + order**3) + self.bounds(m) * self.a_bound

    def bounds(self, m: MulticlassMachine) -> float:
        """The bounds that are gone on from: a few, and those of all moves beyond the rank of M, which is that of the data for all classes but one."""
        rank = (min(m.q.shape[0], m.n) + (m.inverse_nu > 0.0)) * (m.k - 1)
        return FEW + max(0.0, float(self.row.size - rank))

    @property
    def a_bound(self) -> float:
        """The predicted seconds of going on from a bound."""
        return 1e-4 + 1e-9 * NS_PER_PAIR * float(self.row.size) ** 2


def move(
    m: MulticlassMachine, face: Face, a: Array, W: Array, b: Array, most: int, must_stop: Callable[[], bool]
) -> bool:
    """Newton steps on a face, `most` at most, or until they must stop: a, W and b change in place. Returns whether they ended at the minimum of phi
    there."""
    rows, at = np.unique(face.row, return_inverse=True)
    X = _rows(m, rows)
    products = X @ X.T
    K = m.c**2 / m.mu * (products if m.is_dense else products.toarray()) + m.inverse_nu
    label, reference = face.label, face.reference
    M = block_of(K, at)
    alike = (label[:, None] == label).astype(np.int8) + (reference[:, None] == reference)
    alike -= label[:, None] == reference
    alike -= reference[:, None] == label
    M *= alike
    by_classes = W if not m.is_dense else W.T
    Q = m.c * np.asarray(X @ by_classes) + b + m.offset[rows]
    Q[np.arange(rows.size), m.y[rows]] -= 1.0
    slope = Q[at, label] - Q[at, reference]
    before = a[rows]
    new, (lo, hi) = before.copy(), _bounds(m, rows)
    inverse, room_for_pairs = _inverse(M), np.empty_like(M)
    to, of = at * m.k + label, at * m.k + reference
    live, ended = np.ones(label.size, dtype=np.bool_), False
    for _ in range(most):
        if inverse is None or not live.any() or must_stop():
            break
        d = -(inverse @ slope)
        fall = float(slope @ d)
        if not (math.isfinite(fall) and fall < 0.0):
            break
        change = np.bincount(to, d, new.size) - np.bincount(of, d, new.size)
        change = change.reshape(new.shape)
        with np.errstate(divide="ignore", invalid="ignore"):
            room = np.where(change > 0.0, (hi - new) / change, np.where(change < 0.0, (lo - new) / change, np.inf))
        t = min(1.0, max(0.0, float(room.min())))
        new = np.clip(new + t * change, lo, hi)
        slope += t * (M @ d)
        if t == 1.0:
            if ended:
                break
            # what the damping has left, once more
            ended = True
            continue
        ended = False
        hit = room <= t * (1.0 + 1e-12)
        new[hit] = np.where(change > 0.0, hi, lo)[hit]
        gone = live & (hit[at, label] | hit[at, reference])
        live &= ~gone
        inverse = _without(inverse, np.flatnonzero(gone), room_for_pairs)
    if m.weston:
        # the sum of a row is 0 by its own class
        new[np.arange(rows.size), m.y[rows]] = 0.0
        new[np.arange(rows.size), m.y[rows]] = -new.sum(axis=1)
    else:
        _close(m, rows, new)
    step = new - before
    a[rows] = new
    dW = m.c / m.mu * np.asarray(X.T @ step)
    W += dW.T if m.is_dense else dW
    b += m.inverse_nu * step.sum(axis=0)
    return ended


def _inverse(M: Array) -> Array | None:
    """The inverse of M with its damping; None where it is not definite."""
    damped = M.copy()
    diagonal = np.einsum("ii->i", damped)
    diagonal += DAMPING * float(diagonal.max())
    factor = cholesky(damped)
    if factor is None:
        return None
    root = inverse_of_lower(factor)
    return np.asarray(root.T @ root)


def _without(inverse: Array, gone: Indices, room: Array) -> Array | None:
    """The inverse of the matrix without some rows and columns, zeros in their place; None where rounding has the better of it. `room` is written
    over."""
    for j in gone:
        pivot = float(inverse[j, j])
        if not pivot > 0.0:
            return None
        column = inverse[:, j].copy()
        inverse -= np.multiply(column[:, None], column / pivot, out=room)
        inverse[j], inverse[:, j] = 0.0, 0.0
    return inverse


def _bounds(m: MulticlassMachine, rows: Indices) -> tuple[Array, Array]:
    """The least and the largest multipliers of some rows."""
    lo, hi = np.full((rows.size, m.k), -np.inf), np.zeros((rows.size, m.k))
    own = np.arange(rows.size), m.y[rows]
    if m.weston:
        lo[:] = -m.C[rows, None]
        lo[own], hi[own] = -np.inf, np.inf
    else:
        hi[own] = m.C[rows]
    return lo, hi


def _close(m: MulticlassMachine, rows: Indices, a: Array) -> None:
    """Give rows of Crammer and Singer's set the sum 0, and no more than C, in place: by rounding they miss both."""
    own = np.arange(rows.size), m.y[rows]
    a[own] = 0.0
    total = -a.sum(axis=1)
    over = total > m.C[rows]
    a[over] *= (m.C[rows][over] / total[over])[:, None]
    a[own] = np.minimum(-a.sum(axis=1), m.C[rows])


def _rows(m: MulticlassMachine, rows: Indices) -> Any:
    """Some rows of the data, in double precision; sparse where the data are."""
    if m.is_dense:
        return np.asarray(m.rows[0][rows], dtype=np.float64)
    from scipy.sparse import csr_array

    indptr, indices, data = m.rows
    shape = (indptr.size - 1, m.q.shape[0])
    return csr_array((np.asarray(data, dtype=np.float64), indices, indptr), shape=shape)[rows]
