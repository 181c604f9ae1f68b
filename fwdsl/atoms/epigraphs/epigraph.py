"""The epigraph {(t, z): f(z) <= t} of a function with a prox.

| what | formula |
| --- | --- |
| projection of (s, v) | itself where f(v) <= s; else (s + l, prox of l f at v), with the root l of f(prox(v, l)) = s + l |
| support function | at (-s, y): s f*(y / s) for s > 0, at 0 the recession of f* |
| conic form | that of f, with the row t >= its linear part; a quadratic part in a second-order cone |

A sublevel set f(z) <= r is the epigraph with a constant t.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ..arrays import Array
from ..base import VectorFunction
from ..conic import Cone, Conic, Index, MatrixEntries, entries, joined
from .roots import EPS, multipliers
from .summed import Summed

OPEN = 1e-11
"""The share of a vector's size that a multiplier has at least: at 0 the support function of most epigraphs is infinite, and near it what is
nearest is rounding."""


class EpigraphSet(VectorFunction):
    """A set of (t, z) with functions of z bounded by t, whatever their form. It has no end in the direction of t."""

    polyhedral = False
    #: The number of bounds t.
    bounds_number: int = 1

    @property
    def pair(self) -> tuple[None, str]:  # type: ignore[override]
        return None, "epigraph"

    @property
    def has_faces(self) -> bool:
        """False: what is curved has none, and what is flat moves bound and argument together."""
        return False

    def radius(self) -> float:
        return math.inf

    def value(self, x: Array) -> float:
        return 0.0

    def drawn_in(self, x: Array, distance: float) -> Array:
        """The point with its bounds lowered by the distance."""
        out = x.copy()
        out[: self.bounds_number] -= distance
        return out

    def coercive(self) -> None:
        return None

    def dual_scale(self, v: Array) -> float:
        """1 in the domain of the support function, which is a cone, else 0."""
        return 1.0 if math.isfinite(self.conjugate(v)) else 0.0


@dataclass(frozen=True, eq=False, repr=False)
class Epigraph(EpigraphSet):
    """f(z) <= t of vectors (t, z). `unit` is a number of the size of t, for the conic form of squares."""

    f: Summed
    unit: float = 1.0

    compiled = False

    @property
    def size(self) -> int:  # type: ignore[override]
        return 1 + self.f.size

    @property
    def certificate(self) -> str:  # type: ignore[override]
        return self.f.certificate

    def describe(self) -> str:
        return f"epigraph of {self.f.describe()}"

    def _projected(self, x: Array) -> tuple[Array, float]:
        """The nearest point of the set and the multiplier l, by which its bound is larger."""
        s, v = float(x[0]), x[1:]
        over = self.f.value(v) - s
        if over <= 0.0 or not (math.isfinite(s) and np.all(np.isfinite(v))):
            return x.copy(), 0.0
        size = max(abs(s), float(np.abs(v).max(initial=0.0)))
        if math.isinf(over):
            nearest = self.f.prox(v, 0.0)
            over = self.f.value(nearest) - s
            if over <= 0.0:
                # the bound is wide enough where the domain begins
                return np.concatenate([[s], nearest]), 0.0

        def excess(at: Array) -> Array:
            l = float(at[0])
            z = self.f.prox(v, l)
            return np.array([self.f.value(z) - s - l])

        found = float(multipliers(excess, np.array([over]), np.array([size]))[0])
        z = self.f.prox(v, found)
        return np.concatenate([[s + found], z]), found

    def prox(self, v: Array, t: float) -> Array:
        return self._projected(v)[0]

    def violation(self, x: Array, sizes: Array | None = None) -> float:
        """The miss f(z) - t over the sizes of the terms of the inequality f(z) + <g, z' - z> <= t' that a slope g of f at z gives.

        Where none is known, the miss of <g, z> - t <= <g, z'> - t' with the nearest point (t', z') and the slope g = (z - z') / l there.
        """
        own = np.abs(x) if sizes is None else sizes
        over = self.f.value(x[1:]) - float(x[0])
        if over <= 0.0:
            return 0.0
        terms = self.f.terms(x[1:], own[1:]) if math.isfinite(over) else None
        if terms is not None:
            return over / (terms + abs(float(own[0])))
        nearest, gain = self._projected(x)
        far = x[1:] - nearest[1:]
        # of points out of the domain the slope is that of the domain's boundary, in which t does not count
        g, price = (far / gain, 1.0) if gain > 0.0 else (far, 0.0)
        missed = price * gain + float(g @ far)
        right = abs(float(g @ nearest[1:]) - price * float(nearest[0]))
        terms = float(np.abs(g) @ own[1:]) + price * float(own[0]) + right
        return missed / terms if missed > 0.0 else 0.0

    def conjugate(self, v: Array) -> float:
        s, y = -float(v[0]), v[1:]
        if not s > 0.0:
            return 0.0 if s == 0.0 and not y.any() else math.inf
        with np.errstate(all="ignore"):
            found = s * self.f.conjugate(y / s)
        return math.inf if math.isnan(found) else found

    def conjugate_size(self, v: Array) -> float:
        s = -float(v[0])
        return s * self.f.conjugate_size(v[1:] / s) if s > 0.0 else 0.0

    def dual_project(self, v: Array) -> Array:
        """(-s, s u) with the u of the domain of f* nearest to y / s, and the s >= 0 that makes it nearest to (a, y): the root of
        s + a = <y - s u, u>."""
        if math.isfinite(self.conjugate(v)):
            return v.copy()
        if self.f.is_norm:
            # what the projection on the cone leaves, but for rounding
            return self._inside(v - self.prox(v, 1.0))
        a, y = float(v[0]), v[1:]
        size = float(np.abs(v).max(initial=0.0))
        if not 0.0 < size < math.inf:
            return np.zeros_like(v)
        least = OPEN * size

        def slope(s: Array) -> Array:
            u = self.f.into_dual(y / float(s[0]))
            return np.array([float((y - float(s[0]) * u) @ u) - float(s[0]) - a])

        start = slope(np.array([least]))
        s = least
        if start[0] > 0.0:
            s += float(multipliers(lambda more: slope(least + more), start, np.array([size]))[0])
        return self._inside(np.concatenate([[-s], s * self.f.into_dual(y / s)]))

    def _inside(self, v: Array) -> Array:
        """v with s raised by the few ulps that rounding keeps it out of the domain by."""
        step = EPS
        while not math.isfinite(self.conjugate(v)) and step < 1.0:
            v[0] -= step * max(-float(v[0]), float(np.abs(v).max()) * EPS)
            step *= 2.0
        return v if step < 1.0 else np.zeros_like(v)

    def rounding(self, v: Array) -> float:
        """The rounding of f, and of a cone that is curved that of its formulas, as of second-order cones."""
        found = self.f.rounding(v[1:])
        return max(found, EPS * float(np.abs(v).max(initial=0.0))) if self.f.is_curved_cone else found

    def blur(self, v: Array) -> float:
        """The rounding of a part e beside 1 that adds e^p to the bound: what e^(p - 1) has."""
        noise, sizes = self.rounding(v), np.abs(v)
        size = float(sizes.max(initial=0.0))
        if not (noise > 0.0 and size > 0.0):
            return 0.0
        share = float(sizes[sizes > 0.0].min()) / size
        with np.errstate(over="ignore", divide="ignore"):
            return float(noise / size * np.power(share, 1.0 - self.f.flatness))

    def into_recession(self, d: Array) -> Array:
        """The directions along which f grows no faster than t."""
        kept, growth = self.f.into_recession(d[1:])
        return np.concatenate([[max(float(d[0]), growth)], kept])

    def conic(self) -> Conic | None:
        form = self.f.conic()
        return None if form is None else epigraph_form(form, self.unit)


def epigraph_form(form: Conic, unit: float) -> Conic:
    """t >= the function of a conic form, of (t, z). Squares p'p / 2 <= w are |(p sqrt(k), w - k / 2)| <= w + k / 2, with k of the size of w."""
    curvature = np.broadcast_to(np.asarray(form.curvature, float), (form.size,))
    slope = np.broadcast_to(np.asarray(form.slope, float), (form.size,))
    extra_curvature = np.broadcast_to(np.asarray(form.extra_curvature, float), (form.extra,))
    extra_slope = np.broadcast_to(np.asarray(form.extra_slope, float), (form.extra,))
    rows = form.offset.size
    bent, extra_bent = np.flatnonzero(curvature > 0.0), np.flatnonzero(extra_curvature > 0.0)
    number = bent.size + extra_bent.size
    along, extra_along = np.flatnonzero(slope), np.flatnonzero(extra_slope)
    if not number and extra_along.size == 1:
        k = int(extra_along[0])
        if extra_slope[k] > 0.0 and form.rises_with(k):
            return _at_bound(form, k, along, slope, float(extra_slope[k]))
    # w = t - <c, z> - <e, u> - constant
    heads = [rows] if not number else [rows, rows + 1 + number]
    of_z = [form.of_z.shifted(0, 1)]
    of_u = [form.of_u]
    for head in heads:
        of_z += [entries(head, 0, 1.0), *([entries(head, 1 + along, -slope[along])] if along.size else [])]
        of_u += [entries(head, extra_along, -extra_slope[extra_along])] if extra_along.size else []
    offset = np.full(len(heads), -form.constant)
    cones = (*form.cones, Cone("nonnegative", 1))
    if number:
        root = math.sqrt(unit)
        place = rows + 1 + np.arange(number)
        if bent.size:
            of_z.append(entries(place[: bent.size], 1 + bent, root * np.sqrt(curvature[bent])))
        if extra_bent.size:
            of_u.append(entries(place[bent.size :], extra_bent, root * np.sqrt(extra_curvature[extra_bent])))
        offset = np.concatenate([[unit / 2.0 - form.constant], np.zeros(number), [-unit / 2.0 - form.constant]])
        cones = (*form.cones, Cone("second_order", number + 2))
    return Conic(
        1 + form.size,
        form.extra,
        of_z=joined(of_z),
        of_u=joined(of_u) if form.extra else form.of_u,
        offset=np.concatenate([form.offset, offset]),
        cones=cones,
    )


def _at_bound(form: Conic, k: int, along: Index, slope: Array, price: float) -> Conic:
    """The epigraph of a linear form in which u_k alone has a price, with u_k at (t - <c, z> - constant) / price, the most that t allows."""
    own = form.of_u.column == k
    rows, values = form.of_u.row[own], form.of_u.value[own] / price
    of_z = [form.of_z.shifted(0, 1), entries(rows, 0, values)]
    if along.size:
        of_z.append(
            entries(
                np.repeat(rows, along.size), np.tile(1 + along, rows.size), np.outer(values, -slope[along]).reshape(-1)
            )
        )
    offset = form.offset.copy()
    np.add.at(offset, rows, -form.constant * values)
    row, column, value = (part[~own] for part in form.of_u)
    others = MatrixEntries(row, column - (column > k), value)
    return Conic(1 + form.size, form.extra - 1, of_z=joined(of_z), of_u=others, offset=offset, cones=form.cones)
