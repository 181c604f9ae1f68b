"""The references of the commonest functions of a row, for all rows of a matrix at once: the same formulas without a loop over rows."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..base import Array, VectorFunction
from ..vectors.common import INSIDE, Ball, Norm, largest, largest_share, norm1, norm2, scale_into
from ..vectors.max import Max
from ..vectors.simplex import Simplex
from ..vectors.solid_simplex import SolidSimplex
from ..vectors.support import EPS

NARROW = 8
"""Columns up to which whole columns are added: NumPy adds short rows one by one."""


def _largest(a: Array) -> Array:
    """The largest size in each row."""
    if not 0 < a.shape[1] <= NARROW:
        return np.asarray(np.abs(a).max(axis=1, initial=0.0))
    found = np.abs(a[:, 0])
    for column in a.T[1:]:
        np.maximum(found, np.abs(column), out=found)
    return found


def _sums(a: Array) -> Array:
    """The sum of each row."""
    if not 0 < a.shape[1] <= NARROW:
        return np.asarray(a.sum(axis=1))
    found = a[:, 0].copy()
    for column in a.T[1:]:
        found += column
    return found


def norms2(a: Array) -> Array:
    """The Euclidean norm of each row, scaled against overflow."""
    peak = _largest(a)
    return np.asarray(peak * np.sqrt(_sums(np.square(a / np.where(peak > 0.0, peak, 1.0)[:, None]))))


RowNorm = Callable[[Array], Array]

ROW_NORMS: dict[Callable[..., float], RowNorm] = {
    norm1: lambda a: _sums(np.abs(a)),
    norm2: norms2,
    largest: _largest,
}


def project_rows_l1(a: Array, r: float) -> Array:
    """Each row's projection on the l1 ball of radius r > 0, by sorting; rows inside stay."""
    out = a.copy()
    far = _sums(np.abs(a)) > r
    sizes = np.abs(a[far])
    if sizes.size:
        peak = sizes.max(axis=1, keepdims=True)
        below = -np.sort(peak - sizes, axis=1)
        theta = ((np.cumsum(below, axis=1) - r) / np.arange(1, a.shape[1] + 1)).max(axis=1, keepdims=True)
        kept = np.maximum((sizes - peak) - theta, 0.0)
        out[far] = np.copysign(kept * (r / kept.sum(axis=1, keepdims=True)), a[far])
    return out


class RowFunctions(ABC):
    """A function of every row, added up; the methods mean what those of `VectorFunction` do."""

    @abstractmethod
    def value(self, a: Array) -> float:
        """The sum of the norm's values over the rows; sets add nothing."""

    @abstractmethod
    def violation(self, a: Array, sizes: Array) -> float:
        """The largest of a row, the entries of `a` being sums of terms of these sizes."""

    @abstractmethod
    def conjugate(self, a: Array) -> float:
        """The sum of the rows' conjugates."""

    def lmo(self, a: Array) -> Array | None:
        """The rows' vertices; None where they are not written here."""
        return None

    def project(self, a: Array) -> Array | None:
        """The rows' projections on a set; None where they are not written here."""
        return None

    def faces(self, a: Array) -> tuple[NDArray[np.bool_], NDArray[np.bool_]] | None:
        """The entries that are free on the rows' faces, and the rows where these keep their sum; None where that is not all, or not written here."""
        return None


@dataclass(frozen=True)
class Norms(RowFunctions):
    """c times a norm of each row."""

    c: float
    norm: RowNorm
    dual: RowNorm

    def value(self, a: Array) -> float:
        return self.c * float(self.norm(a).sum())

    def violation(self, a: Array, sizes: Array) -> float:
        """0: there is no set."""
        return 0.0

    def _most(self, a: Array) -> float:
        return float(self.dual(a).max(initial=0.0))

    def conjugate(self, a: Array) -> float:
        return 0.0 if self._most(a) <= self.c else math.inf

    def dual_scale(self, a: Array) -> float:
        """min(1, c / the largest dual norm)."""
        most = self._most(a)
        return 1.0 if most <= self.c else scale_into(lambda u: self._most(u) <= self.c, a, self.c / most)

    def dual_project(self, a: Array) -> Array:
        """Each row projected on the ball of the dual norm."""
        if self._most(a) <= self.c:
            return a.copy()
        if self.dual is norms2:
            sizes = norms2(a)
            u = a * np.divide(self.c, sizes, out=np.ones_like(sizes), where=sizes > self.c)[:, None]
        elif self.dual is ROW_NORMS[norm1]:
            u = project_rows_l1(a, self.c)
        else:
            u = np.clip(a, -self.c, self.c)
        return u * scale_into(lambda w: self._most(w) <= self.c, u, 1.0)


@dataclass(frozen=True)
class Balls(RowFunctions):
    """A ball of radius r for each row."""

    r: float
    norm: RowNorm
    dual: RowNorm

    def value(self, a: Array) -> float:
        return 0.0

    def violation(self, a: Array, sizes: Array) -> float:
        """|a_i| <= r for every row."""
        return largest_share(self.norm(a) - self.r, self.norm(sizes) + self.r)

    def conjugate(self, a: Array) -> float:
        return self.r * float(self.dual(a).sum())

    def lmo(self, a: Array) -> Array | None:
        """The answers of the balls of a row: -r sign(a_ij) e_j at the first largest entry, -r a_i / |a_i|_2, or -r sign(a_i)."""
        if not a.size:
            return a.copy()
        if self.norm is ROW_NORMS[largest]:
            return np.where(a >= 0.0, -self.r, self.r)
        out = np.zeros(a.shape)
        lines = np.arange(a.shape[0])
        if self.norm is ROW_NORMS[norm1]:
            top = np.abs(a).argmax(axis=1)
            out[lines, top] = np.where(a[lines, top] >= 0.0, -self.r, self.r)
        else:
            sizes = norms2(a)
            live = sizes > 0.0
            out[~live, 0] = -self.r
            out[live] = -(a[live] / sizes[live, None]) * self.r
        return out


@dataclass(frozen=True)
class Tops(RowFunctions):
    """c times the largest entry of each row."""

    c: float

    def value(self, a: Array) -> float:
        return self.c * float(a.max(axis=1).sum())

    def violation(self, a: Array, sizes: Array) -> float:
        """0: there is no set."""
        return 0.0

    def conjugate(self, a: Array) -> float:
        """0 where every row is nonnegative with the sum c, to rounding."""
        off = np.abs(_sums(a) - self.c)
        inside = off <= (8 + a.shape[1]) * EPS * (_sums(np.abs(a)) + self.c)
        return 0.0 if bool(np.all(a >= 0.0)) and bool(np.all(inside)) else math.inf


@dataclass(frozen=True)
class Simplices(RowFunctions):
    """A simplex of sum r for each row, or of sum at most r."""

    r: float
    solid: bool

    def value(self, a: Array) -> float:
        return 0.0

    def violation(self, a: Array, sizes: Array) -> float:
        """Every row nonnegative, with its sum."""
        off = a.sum(axis=1) - self.r
        sums = largest_share(off if self.solid else np.abs(off), sizes.sum(axis=1) + self.r)
        return max(sums, largest_share(-a.min(axis=1, initial=0.0), sizes.max(axis=1, initial=0.0)))

    def conjugate(self, a: Array) -> float:
        """r times the sum of the rows' largest entries, or of those that are positive."""
        if self.r == 0.0:
            return 0.0
        tops = a.max(axis=1)
        return self.r * float((np.maximum(tops, 0.0) if self.solid else tops).sum())

    def project(self, a: Array) -> Array:
        """max(a_i - theta_i, 0) with the sum r, theta_i by sorting; of a solid simplex where that of the positive entries is larger."""
        out = np.maximum(a, 0.0)
        far = _sums(out) > self.r if self.solid else np.ones(a.shape[0], dtype=np.bool_)
        rows = a[far]
        if not rows.size:
            return out
        if self.r == 0.0:
            out[far] = 0.0
            return out
        peak = rows.max(axis=1, keepdims=True)
        below = -np.sort(peak - rows, axis=1)
        theta = ((np.cumsum(below, axis=1) - self.r) / np.arange(1, a.shape[1] + 1)).max(axis=1, keepdims=True)
        kept = np.maximum((rows - peak) - theta, 0.0)
        out[far] = kept * (self.r / kept.sum(axis=1, keepdims=True))
        return out

    def faces(self, a: Array) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """The supports, which keep their sums where these are r."""
        tight = np.ones(a.shape[0], dtype=np.bool_) if not self.solid else ~(_sums(a) < self.r * INSIDE)
        return a != 0.0, tight

    def lmo(self, a: Array) -> Array:
        """r e_j at each row's first least entry; 0 in a solid simplex where that is not negative."""
        out = np.zeros(a.shape)
        lines, least = np.arange(a.shape[0]), a.argmin(axis=1)
        out[lines, least] = np.where(a[lines, least] < 0.0, self.r, 0.0) if self.solid else self.r
        return out


def rows_of(inner: VectorFunction) -> RowFunctions | None:
    """`inner` for all rows at once; None where it is not written so."""
    if isinstance(inner, Norm | Ball):
        norm, dual = ROW_NORMS.get(type(inner).norm), ROW_NORMS.get(type(inner).dual_norm)
        if norm is None or dual is None:
            return None
        return Norms(inner.c, norm, dual) if isinstance(inner, Norm) else Balls(inner.r, norm, dual)
    if isinstance(inner, Simplex | SolidSimplex) and inner.size:
        return Simplices(inner.r, isinstance(inner, SolidSimplex))
    if isinstance(inner, Max) and inner.size:
        return Tops(inner.c)
    return None
