r"""The piece on which a prox is affine: the directions in which its result moves with its argument.

Around w, y = prox_{sigma f*}(w) moves by D dw with D = B diag(s) B^+. The columns of B are the directions that take part, and s in (0, 1]
is their share: 1 on flat pieces, where y goes along until it meets an end, less where f has curvature (B is then a choice of
coordinates). By Moreau, a prox of f moves where that of f* does not.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fwdsl.atoms.base import Array
from fwdsl.atoms.vectors.common import Norm
from fwdsl.backends.functions import FastLoss, FastRows, FastVector, prox_conjugate
from fwdsl.light_dataclass import light_dataclass

Index = NDArray[np.intp]

AT_END = 1e-12
"""The distance from an end, relative to the interval, that counts as rounding."""

NEARBY = 1e-7
"""The relative step of the differences that show which entries of a piecewise linear prox move."""


@light_dataclass
class AffinePiece:
    """Directions e_main - value e_pivot, one a column of B, `value` being 0 where they are coordinates, with their shares."""

    main: Index
    share: Array
    pivot: Index
    value: Array
    plain: bool

    @property
    def count(self) -> int:
        return self.main.size

    @property
    def flat(self) -> NDArray[np.bool_]:
        """A mask of the entries with share 1."""
        return np.asarray(self.share == 1.0)

    def part(self, at: NDArray[np.intp]) -> AffinePiece:
        return AffinePiece(self.main[at], self.share[at], self.pivot[at], self.value[at], self.plain)

    def along(self, c: Array, size: int) -> Array:
        """B c, of the given size."""
        out = np.zeros(size)
        out[self.main] = c
        if not self.plain:
            np.subtract.at(out, self.pivot, self.value * c)
        return out

    def adjoint(self, r: Array) -> Array:
        found = r[self.main]
        return found if self.plain else found - self.value * r[self.pivot]

    def gram(self, weight: Array) -> Array:
        out = np.diag(weight[self.main])
        if not self.plain:
            same = self.pivot[:, None] == self.pivot
            out += np.where(same, np.outer(self.value, self.value) * weight[self.pivot], 0.0)
        return out

    def outside(self, r: Array) -> Array:
        """The part of r that is orthogonal to all directions."""
        out = r.copy()
        if self.plain:
            out[self.main] = 0.0
        elif self.count:
            inside = np.asarray(np.linalg.solve(self.gram(np.ones(r.size)), self.adjoint(r)), dtype=np.float64)
            out -= self.along(inside, r.size)
        return out


def coordinates(at: Index, share: Array | None = None) -> AffinePiece:
    """The piece on which the coordinates `at` move, each by itself."""
    return AffinePiece(at, np.ones(at.size) if share is None else share, at, np.zeros(at.size), True)


def beside(at: Index, normal: Array) -> AffinePiece:
    """The piece on which the coordinates `at` move and <normal, .> stays: e_j - (n_j / n_m) e_m with the largest n_m."""
    m = int(np.argmax(np.abs(normal)))
    others = np.delete(np.arange(at.size), m)
    pivot = np.full(others.size, at[m])
    return AffinePiece(at[others], np.ones(others.size), pivot, normal[others] / normal[m], False)


def of_prox(g: FastVector, x: Array, t: Array | float) -> AffinePiece | None:
    """The piece of prox_{t g} that gave x; None where g is curved there, or too little is known."""
    if g.entries is not None:
        e = g.entries
        moves = (x > e.lo) & (x < e.hi)
        if e.c:
            moves &= x != 0.0
        at = np.flatnonzero(moves)
        return coordinates(at, 1.0 / (1.0 + 2.0 * e.ridge * np.broadcast_to(t, x.shape)[at]))
    face = g.f.face(x) if g.f.curvature == 0.0 and isinstance(t, float) else None
    if face is None or face.normals.shape[0] > 1:
        return None
    return beside(face.free, face.normals[0]) if face.normals.any() else coordinates(face.free)


def of_conjugate(f: FastLoss | FastRows | FastVector, w: Array, y: Array, sigma: Array | float) -> AffinePiece | None:
    """The piece of prox_{sigma f*} that gave y from w; None where it is curved, or too little is known."""
    if isinstance(f, FastLoss):
        return _of_loss(f, w, y, sigma)
    if isinstance(f, FastRows):
        return _of_rows(f, y)
    if f.entries is not None:
        return _of_entries(f, w, sigma)
    # the frame of all norms of vectors: where the dual norm is the sum of sizes, y is a projection on its ball
    if isinstance(f.f, Norm) and f.f.dual_name == "l1":
        return _of_largest(f.f.c, w, y)
    return None


def _of_entries(f: FastVector, w: Array, sigma: Array | float) -> AffinePiece:
    """The piece of a sum over entries: those of y are free where f holds its entries; elsewhere they move with the curvature of f, if any."""
    e = f.entries
    assert e is not None
    z = np.empty_like(w)
    f.prox(w / sigma, 1.0 / sigma, z)
    held = (z <= e.lo) | (z >= e.hi)
    if e.c:
        held |= z == 0.0
    if not e.ridge:
        return coordinates(np.flatnonzero(held))
    share = 2.0 * e.ridge / (np.broadcast_to(sigma, w.shape) + 2.0 * e.ridge)
    return coordinates(np.arange(w.size), np.where(held, 1.0, share))


def _of_largest(c: float, w: Array, y: Array) -> AffinePiece | None:
    """The projection on the l1 ball of radius c: entries above the threshold move, the sum of their sizes stays."""
    if float(np.abs(w).sum()) <= c:
        return coordinates(np.arange(w.size))
    # entries above the threshold, not nonzero ones: clipped entries may hold rounding in place of 0
    m = int(np.argmax(np.abs(w)))
    at = np.flatnonzero(np.abs(w) > abs(w[m]) - abs(y[m]) + AT_END * abs(w[m]))
    return beside(at, np.sign(y[at])) if at.size else None


def _of_loss(f: FastLoss, w: Array, y: Array, sigma: Array | float) -> AffinePiece:
    """h / (sigma + h) with the second derivative h at the prox point; for piecewise linear losses 0 or 1, by differences."""
    if f.f.loss.smoothness is not None:
        h = np.empty_like(w)
        f.curvature((w - y) / sigma, h)
        at = np.flatnonzero(h)
        return coordinates(at, h[at] / (np.broadcast_to(sigma, w.shape)[at] + h[at]))
    lo, hi = f.dual_bounds
    step = NEARBY * (np.abs(w) + float(np.abs(w).mean()))
    up, down = np.empty_like(w), np.empty_like(w)
    prox_conjugate(f, w + step, sigma, up)
    prox_conjugate(f, w - step, sigma, down)
    return coordinates(np.flatnonzero((up - down > step) & (y > lo) & (y < hi)))


def _of_rows(f: FastRows, y: Array) -> AffinePiece | None:
    """Directions e_l - e_m within each row."""
    n, k = f.f.shape
    u, own, rows = y.reshape(n, k), f.f.y.astype(np.intp), np.arange(n)
    weight = np.where(f.f.w > 0.0, f.f.w, 1.0)[:, None]
    if not f.f.loss.piecewise_linear:
        return None
    if not f.f.loss.boxed_dual:
        mass = u / weight
        mass[rows, own] += 1.0
        inside = (mass > AT_END) & (f.f.w > 0.0)[:, None]
        pivot = np.argmax(mass, axis=1)
    else:
        inside = (u > AT_END * weight) & (u < weight * (1.0 - AT_END)) & (f.f.w > 0.0)[:, None]
        pivot = own
    inside[rows, pivot] = False
    i, l = np.nonzero(inside)
    return AffinePiece(i * k + l, np.ones(i.size), i * k + pivot[i], np.ones(i.size), False)
