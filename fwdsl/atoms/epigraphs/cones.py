"""Epigraphs of norms with a projection in closed form: second-order cones, row by row, and the cones of norm1 and norm_inf.

| what | projection of (s, v) outside, l being what its bound gains |
| --- | --- |
| c \\|v\\|_2 <= t | l = (c \\|v\\| - s) / (1 + c^2), v at the length max(\\|v\\| - c l, 0) |
| c \\|v\\|_1 <= t | l = max_k (c (a_1 + ... + a_k) - s) / (1 + c^2 k) for the sizes a of entries, the largest first, v less c l in size |
| c \\|v\\|_inf <= t | by Moreau's identity: (s, v) + (t', -y') with the projection (t', y') of (-s, v) on the cone of \\|.\\|_1 / c |

The polar of {c \\|z\\| <= t} is {(-s, y): \\|y\\|_* <= c s}. Source: Parikh, Boyd, "Proximal algorithms", 2014, section 6.3.3.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..arrays import Array
from ..base import VectorFunction
from ..conic import Cone, Conic, entries, joined, norm1_form, norm_inf_form
from ..family import Repeated
from ..vectors.common import norm1, norm2
from .epigraph import EpigraphSet, epigraph_form
from .roots import EPS
from .summed import Inner


def cone_of(f: Inner) -> EpigraphSet | None:
    """The cone of a norm that has a class here; None of other functions."""
    if not isinstance(f, VectorFunction) or isinstance(f, Repeated) or f.curvature:
        return None
    made = _CONES.get(f.pair)
    return None if made is None else made(f.size, f.slope)


def second_order_kernel(v, t, out, count, width, c):
    """Kernel: each row (t_i, y_i) on the cone c |y_i|_2 <= t_i; the t come first, then the rows."""
    for i in range(count):
        s = v[i]
        start = count + i * width
        peak = 0.0
        for j in range(start, start + width):
            peak = max(peak, abs(v[j]))
        size = 0.0
        if peak > 0.0:
            squares = 0.0
            for j in range(start, start + width):
                squares += (v[j] / peak) * (v[j] / peak)
            size = peak * math.sqrt(squares)
        share = 1.0
        bound = s
        if c * size > s:
            gain = (c * size - s) / (1.0 + c * c)
            length = size - c * gain
            if length <= 0.0:
                share = 0.0
                bound = 0.0
            else:
                share = length / size
                bound = s + gain
        out[i] = bound
        for j in range(start, start + width):
            out[j] = share * v[j]


@dataclass(frozen=True, eq=False, repr=False)
class SecondOrderCones(EpigraphSet):
    """c |y_i|_2 <= t_i for the rows y_i of a matrix, of vectors (t_1, ..., t_count, y_1, ..., y_count)."""

    count: int
    width: int
    c: float = 1.0

    prox_kernel = staticmethod(second_order_kernel)

    @property
    def size(self) -> int:  # type: ignore[override]
        return self.count * (1 + self.width)

    @property
    def bounds_number(self) -> int:  # type: ignore[override]
        return self.count

    def kernel_args(self) -> tuple[object, ...]:
        return self.count, self.width, self.c

    def describe(self) -> str:
        what = f"epigraph of {self.c:g} * norm2"
        return what if self.count == 1 else f"{what} for each of {self.count} rows"

    def _cut(self, x: Array) -> tuple[Array, Array]:
        """The bounds and the rows."""
        return x[: self.count], x[self.count :].reshape(self.count, self.width)

    def _lengths(self, rows: Array) -> Array:
        return np.array([norm2(row) for row in rows]) if self.count < 32 else _lengths(rows)

    def prox(self, v: Array, t: float) -> Array:
        s, rows = self._cut(v)
        sizes = self._lengths(rows)
        gains = np.maximum(self.c * sizes - s, 0.0) / (1.0 + self.c * self.c)
        lengths = np.maximum(sizes - self.c * gains, 0.0)
        shares = np.divide(lengths, sizes, out=np.ones(self.count), where=sizes > 0.0)
        bounds = np.where(gains > 0.0, np.where(lengths > 0.0, s + gains, 0.0), s)
        return np.concatenate([bounds, (np.where(gains > 0.0, shares, 1.0)[:, None] * rows).reshape(-1)])

    def violation(self, x: Array, sizes: Array | None = None) -> float:
        """The largest c |y_i| - t_i over the sizes of its terms."""
        (t, rows), (of_t, of_rows) = self._cut(x), self._cut(np.abs(x) if sizes is None else sizes)
        over = np.maximum(self.c * self._lengths(rows) - t, 0.0)
        terms = self.c * self._lengths(of_rows) + np.abs(of_t)
        return float(np.divide(over, terms, out=np.zeros(self.count), where=over > 0.0).max(initial=0.0))

    def conjugate(self, v: Array) -> float:
        """0 where |y_i| <= c s_i of all (-s_i, y_i), else inf."""
        a, rows = self._cut(v)
        return 0.0 if np.all(self._lengths(rows) <= -self.c * a) else math.inf

    def dual_project(self, v: Array) -> Array:
        """The part of v that the projection on the cones leaves over."""
        if math.isfinite(self.conjugate(v)):
            return v.copy()
        found = v - self.prox(v, 1.0)
        a, rows = self._cut(found)
        found[: self.count] = -_covering(self._lengths(rows), self.c, -a)
        return found

    def rounding(self, v: Array) -> float:
        """The rounding of lengths: e beside 1 adds e^2 / 2 to a length, which is lost, so a small multiplier may be outside."""
        return EPS * float(np.abs(v).max(initial=0.0))

    def blur(self, v: Array) -> float:
        """The largest over the cones, which may differ in size."""
        s, rows = self._cut(np.abs(v))
        each = np.column_stack([s, rows])
        least = np.where(each > 0.0, each, np.inf).min(axis=1, initial=np.inf)
        return EPS * float((each.max(axis=1, initial=0.0) / least).max(initial=0.0))

    def into_recession(self, d: Array) -> Array:
        return self.prox(d, 1.0)

    def conic(self) -> Conic:
        place = np.arange(self.count) * (1 + self.width)
        inner = (place[:, None] + 1 + np.arange(self.width)).reshape(-1)
        z = [entries(place, np.arange(self.count), 1.0)] if self.count else []
        z += [entries(inner, self.count + np.arange(inner.size), self.c)] if inner.size else []
        cones = tuple(Cone("second_order", 1 + self.width) for _ in range(self.count))
        return Conic(self.size, of_z=joined(z), offset=np.zeros(self.size), cones=cones)


def _lengths(rows: Array) -> Array:
    """The Euclidean lengths of rows, scaled against overflow and underflow."""
    peak = np.abs(rows).max(axis=1, initial=0.0)
    unit = np.where((peak > 0.0) & np.isfinite(peak), peak, 1.0)
    return np.asarray(unit * np.sqrt(np.square(rows / unit[:, None]).sum(axis=1)))


def _covering(sizes: Array, c: float, s: Array) -> Array:
    """s, raised by the few ulps that c s >= sizes may take."""
    s = np.maximum(s, sizes / c)
    for _ in range(8):
        short = sizes > c * s
        if not short.any():
            break
        s = np.where(short, np.nextafter(s * (1.0 + EPS), np.inf), s)
    return np.asarray(s)


@dataclass(frozen=True, eq=False, repr=False)
class _PolyhedralCone(EpigraphSet):
    """c |z| <= t of vectors (t, z), for a norm that is piecewise linear."""

    dimension: int
    c: float = 1.0

    compiled = False

    @property
    def size(self) -> int:  # type: ignore[override]
        return 1 + self.dimension

    def norm(self, z: Array) -> float:
        raise NotImplementedError

    def dual_norm(self, y: Array) -> float:
        raise NotImplementedError

    def describe(self) -> str:
        return f"epigraph of {self.c:g} * {'norm1' if isinstance(self, Norm1Cone) else 'norm_inf'}"

    def violation(self, x: Array, sizes: Array | None = None) -> float:
        own = np.abs(x) if sizes is None else sizes
        over = self.c * self.norm(x[1:]) - float(x[0])
        return over / (self.c * self.norm(own[1:]) + abs(float(own[0]))) if over > 0.0 else 0.0

    def conjugate(self, v: Array) -> float:
        return 0.0 if self.dual_norm(v[1:]) <= -self.c * float(v[0]) else math.inf

    def dual_project(self, v: Array) -> Array:
        """The part of v that the projection on the cone leaves over."""
        if math.isfinite(self.conjugate(v)):
            return v.copy()
        found = v - self.prox(v, 1.0)
        found[0] = -float(_covering(np.array([self.dual_norm(found[1:])]), self.c, -found[:1])[0])
        return found

    def into_recession(self, d: Array) -> Array:
        return self.prox(d, 1.0)


class Norm1Cone(_PolyhedralCone):
    """c |z|_1 <= t."""

    def norm(self, z: Array) -> float:
        return norm1(z)

    def dual_norm(self, y: Array) -> float:
        return float(np.abs(y).max(initial=0.0))

    def prox(self, v: Array, t: float) -> Array:
        return on_norm1(v, self.c)

    def conic(self) -> Conic:
        return epigraph_form(norm1_form(self.dimension, self.c), 1.0)


class NormInfCone(_PolyhedralCone):
    """c |z|_inf <= t."""

    def norm(self, z: Array) -> float:
        return float(np.abs(z).max(initial=0.0))

    def dual_norm(self, y: Array) -> float:
        return norm1(y)

    def prox(self, v: Array, t: float) -> Array:
        """(s, v) less its projection on the polar cone."""
        s, z = float(v[0]), v[1:]
        if self.c * self.norm(z) <= s:
            return v.copy()
        polar = on_norm1(np.concatenate([[-s], z]), 1.0 / self.c)
        bound = max(s + float(polar[0]), 0.0)
        return np.concatenate([[bound], np.clip(z - polar[1:], -bound / self.c, bound / self.c)])

    def conic(self) -> Conic:
        """t >= c z and t >= -c z, without an unknown of its own."""
        at = np.arange(self.dimension)
        if not at.size:
            return epigraph_form(norm_inf_form(0, self.c), 1.0)
        z = entries(np.arange(2 * at.size), np.tile(1 + at, 2), np.repeat([self.c, -self.c], at.size))
        t = entries(np.arange(2 * at.size), 0, 1.0)
        rows = 2 * at.size
        return Conic(self.size, of_z=joined([z, t]), offset=np.zeros(rows), cones=(Cone("nonnegative", rows),))


def on_norm1(v: Array, c: float) -> Array:
    """The projection on {(t, z): c |z|_1 <= t}."""
    s, z = float(v[0]), v[1:]
    sizes = np.abs(z)
    if c * float(sizes.sum()) <= s:
        return v.copy()
    largest = np.sort(sizes)[::-1]
    gains = (c * np.cumsum(largest) - s) / (1.0 + c * c * np.arange(1, z.size + 1))
    gain = max(float(gains.max(initial=-math.inf)), -s)
    kept = np.copysign(np.maximum(sizes - c * gain, 0.0), z)
    # of the point where the cone begins rounding would leave a bound below 0
    return np.concatenate([[max(s + gain, c * float(np.abs(kept).sum()))], kept])


_CONES: dict[tuple[str | None, str | None], Callable[[int, float], EpigraphSet]] = {
    ("norm2", None): lambda size, c: SecondOrderCones(1, size, c),
    ("norm_fro", None): lambda size, c: SecondOrderCones(1, size, c),
    ("norm1", None): Norm1Cone,
    ("norm_inf", None): NormInfCone,
}
"""The cones by the norms that they are the epigraphs of."""
