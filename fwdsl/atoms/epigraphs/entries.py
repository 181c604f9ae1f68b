"""Epigraphs entry by entry: w_i l(z_i; b_i) <= t_i for a loss of each prediction."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ..arrays import Array
from ..conic import Conic, Index
from ..loss import LossFunction
from .epigraph import OPEN, EpigraphSet, epigraph_form
from .roots import multipliers
from .rows import placed_forms


@dataclass(frozen=True, eq=False, repr=False)
class EntryEpigraphs(EpigraphSet):
    """w_i l(z_i; b_i) <= t_i of vectors (t_1, ..., t_n, z_1, ..., z_n). `unit` has a number of the size of each t_i."""

    f: LossFunction
    unit: Array

    compiled = False

    @property
    def count(self) -> int:
        return self.f.size

    @property
    def size(self) -> int:  # type: ignore[override]
        return 2 * self.f.size

    @property
    def bounds_number(self) -> int:  # type: ignore[override]
        return self.f.size

    def describe(self) -> str:
        return f"epigraph of {self.f.name} for each of {self.count} entries"

    def _values(self, z: Array) -> Array:
        with np.errstate(all="ignore"):
            found = self.f.w * self.f.loss.value_naive(z, self.f.b, self.f.p)
        return np.where(np.isnan(found), np.inf, found)

    def _moved(self, z: Array, gains: Array) -> Array:
        return self.f.loss.prox_naive(z, gains * self.f.w, self.f.b, self.f.p)

    def _projected(self, x: Array) -> tuple[Array, Array, Array]:
        """The bounds and arguments of the nearest point, and the multipliers."""
        n = self.count
        s, z = x[:n], x[n:]
        over = self._values(z) - s
        far = (over > 0.0) & np.isfinite(s) & np.isfinite(z)
        if not far.any():
            return s.copy(), z.copy(), np.zeros(n)
        start = np.where(np.isinf(over), self._values(self._moved(z, np.zeros(n))) - s, over)
        size = np.maximum(np.abs(s), np.abs(z))

        def excess(gains: Array) -> Array:
            return np.where(far, self._values(self._moved(z, gains)) - s - gains, -gains)

        gains = np.where(far, multipliers(excess, np.where(far, start, 0.0), size), 0.0)
        return s + gains, np.where(far, self._moved(z, gains), z), gains

    def prox(self, v: Array, t: float) -> Array:
        return np.concatenate(self._projected(v)[:2])

    def violation(self, x: Array, sizes: Array | None = None) -> float:
        """The largest miss of <g, z> - t <= <g, z'> - t' over the sizes of its terms, as of one epigraph."""
        own = np.abs(x) if sizes is None else sizes
        n = self.count
        t, z, gains = self._projected(x)
        live = gains > 0.0
        if not live.any():
            return 0.0
        gap = (x[n:] - z)[live]
        g = gap / gains[live]
        missed = gains[live] + g * gap
        right = np.abs(g * z[live] - t[live])
        return float((missed / (np.abs(g) * own[n:][live] + own[:n][live] + right)).max())

    def conjugate(self, v: Array) -> float:
        """The sum of s w l*(y / (s w)) at the pairs (-s, y)."""
        s, y = -v[: self.count], v[self.count :]
        live = s > 0.0
        if np.any((s < 0.0) | (~live & (y != 0.0))):
            return math.inf
        if not live.any():
            return 0.0
        with np.errstate(all="ignore"):
            found = LossFunction(self.f.loss, self.f.b[live], s[live] * self.f.w[live], self.f.p).conjugate(y[live])
        return math.inf if math.isnan(found) else float(found)

    def dual_project(self, v: Array) -> Array:
        """(-s, y) with y in s times the domain [lo, hi] of (w l)*, the nearest s being that of one end, or -a where that is enough."""
        if math.isfinite(self.conjugate(v)):
            return v.copy()
        a, y = v[: self.count], v[self.count :]
        lo, hi = self.f.dual_bounds()
        least = OPEN * np.maximum(np.abs(a), np.abs(y))
        with np.errstate(all="ignore"):
            end = np.where(y > 0.0, hi, lo)
            fits = (-a > 0.0) & (y >= -a * lo) & (y <= -a * hi)
            # the point of the ray (-1, end) that is nearest to (a, y)
            along = np.where(np.isfinite(end), (y * end - a) / (1.0 + end * end), -a)
        s = np.where(fits, -a, np.maximum(np.where(np.isnan(along), -a, along), least))
        s = np.maximum(s, 0.0)
        with np.errstate(invalid="ignore"):
            inside = np.clip(y, np.where(np.isfinite(lo), s * lo, lo), np.where(np.isfinite(hi), s * hi, hi))
        return np.concatenate([-s, np.where(s > 0.0, inside, 0.0)])

    def into_recession(self, d: Array) -> Array:
        t, z = d[: self.count], d[self.count :]
        lo, hi = self.f.dual_bounds()
        end = np.where(z > 0.0, hi, lo)
        z = np.where(np.isfinite(end), z, 0.0)
        return np.concatenate([np.maximum(t, np.where(np.isfinite(end), end, 0.0) * z), z])

    def conic(self) -> Conic | None:
        """The forms of the entries, each with a bound of its own; entries of one target, weight and unit have one form, which is made once."""
        f, n = self.f, self.count
        whole = f.conic()
        if whole is None:
            return None
        # a unit is asked for by squares alone
        bends = np.any(np.asarray(whole.curvature) > 0.0) or np.any(np.asarray(whole.extra_curvature) > 0.0)
        told = np.column_stack([f.b, f.w, self.unit if bends else np.ones(n)])
        _, first, of = np.unique(told, axis=0, return_index=True, return_inverse=True)
        order = np.argsort(of.reshape(-1), kind="stable")
        alike = np.split(order, np.cumsum(np.bincount(of.reshape(-1), minlength=first.size))[:-1])
        forms: list[tuple[Conic | None, Index]] = []
        for i, own in zip(first, alike, strict=True):
            form = f.part(slice(int(i), int(i) + 1)).conic()
            assert form is not None
            one = epigraph_form(form, float(self.unit[i]))
            many = one if own.size == 1 else one.repeated(np.arange(2 * own.size).reshape(-1, 2), 2 * own.size)
            forms.append((many, np.column_stack([own, n + own]).reshape(-1)))
        return placed_forms(forms, 2 * n)
