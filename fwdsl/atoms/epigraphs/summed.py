"""The sum of functions of consecutive parts of a vector, f(z) = f_1(z_1) + ... + f_m(z_m): all that an epigraph asks of what it is of."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate, pairwise

import numpy as np

from ...words import CONVEX
from ..arrays import Array
from ..base import VectorFunction
from ..conic import Conic, joined
from ..loss import LossFunction
from ..vector_loss import VectorLossFunction

Inner = VectorFunction | LossFunction | VectorLossFunction


@dataclass(frozen=True, eq=False, repr=False)
class Summed:
    """f(z) = f_1(z_1) + ... + f_m(z_m)."""

    parts: tuple[Inner, ...]

    @property
    def size(self) -> int:
        return sum(f.size for f in self.parts)

    def _cut(self, z: Array) -> Iterator[tuple[Inner, Array]]:
        """Each function with its part of z."""
        ends = pairwise(accumulate((f.size for f in self.parts), initial=0))
        return ((f, z[a:b]) for f, (a, b) in zip(self.parts, ends, strict=True))

    def _each(self, found: list[Array]) -> Array:
        return found[0] if len(found) == 1 else np.concatenate([np.zeros(0), *found])

    def value(self, z: Array) -> float:
        """f(z), inf outside the domain."""
        with np.errstate(all="ignore"):
            total = math.fsum(_value(f, part) for f, part in self._cut(z))
        return math.inf if math.isnan(total) else total

    def terms(self, z: Array, sizes: Array) -> float | None:
        """The sum of the sizes of the terms of <g, z'> - (<g, z> - f(z)), which bounds f(z') from below, for z' of these sizes, g being a slope at z.

        None where no slope is known.
        """
        own = [_terms(f, part, size) for (f, part), (_, size) in zip(self._cut(z), self._cut(sizes), strict=True)]
        known = [v for v in own if v is not None and math.isfinite(v)]
        return sum(known) if len(known) == len(own) else None

    def prox(self, v: Array, t: float) -> Array:
        """argmin_z t f(z) + |z - v|^2 / 2, part by part; for t = 0 the projection on the domain."""
        return self._each([f.prox(part, t) if t > 0.0 else _onto_domain(f, part) for f, part in self._cut(v)])

    def conjugate(self, y: Array) -> float:
        """f*(y), the sum of those of the parts."""
        with np.errstate(all="ignore"):
            total = sum(f.conjugate(part) for f, part in self._cut(y))
        return math.inf if math.isnan(total) else float(total)

    def conjugate_size(self, y: Array) -> float:
        """The sizes of the terms of f*(y)."""
        each = (f.conjugate_size(p) if isinstance(f, VectorFunction) else abs(f.conjugate(p)) for f, p in self._cut(y))
        return float(sum(each))

    def into_dual(self, y: Array) -> Array:
        """The point of the closure of the domain of f* that is nearest to y."""
        return self._each(
            [f.dual_project(p) if isinstance(f, VectorFunction) else f.into_domain(p) for f, p in self._cut(y)]
        )

    def into_recession(self, d: Array) -> tuple[Array, float]:
        """d with those parts at 0 in which f grows faster than any multiple of it, and the growth of f along it: sup <u, d> over the domain of f*."""
        found = [_recession(f, part) for f, part in self._cut(d)]
        return self._each([part for part, _ in found]), float(sum(growth for _, growth in found))

    @property
    def is_norm(self) -> bool:
        """True if it is positively homogeneous and sees sizes alone."""
        return all(isinstance(f, VectorFunction) and _is_norm(f) for f in self.parts)

    @property
    def is_curved_cone(self) -> bool:
        """True if a part is positively homogeneous, its conjugate so the indicator of a set, and that set is no polyhedron."""
        return any(isinstance(f, VectorFunction) and _is_even(f) and not f.polyhedral for f in self.parts)

    @property
    def flatness(self) -> float:
        """The power of the flattest part."""
        return max((f.flatness for f in self.parts if isinstance(f, VectorFunction)), default=2.0)

    @property
    def certificate(self) -> str:
        rigorous = any(isinstance(f, VectorFunction) and f.certificate == "rigorous" for f in self.parts)
        return "rigorous" if rigorous else "exact"

    def rounding(self, y: Array) -> float:
        """A bound on the distance of y from its projection where it is in the domain of f*, by decompositions."""
        return max((f.rounding(part) for f, part in self._cut(y) if isinstance(f, VectorFunction)), default=0.0)

    def describe(self) -> str:
        return " + ".join(f.describe() if isinstance(f, VectorFunction) else f.name for f in self.parts)

    def conic(self) -> Conic | None:
        """The forms of the parts side by side; None where one has none."""
        forms = [f.conic() for f in self.parts]
        known = [form for form in forms if form is not None]
        return None if len(known) < len(forms) else _side_by_side(known)


def _value(f: Inner, z: Array) -> float:
    if not isinstance(f, VectorFunction):
        return f.value(z)
    return f.value(z) if f.violation(z) == 0.0 else math.inf


def _onto_domain(f: Inner, v: Array) -> Array:
    on = f.set_beneath() if isinstance(f, VectorFunction) else None
    return v.copy() if on is None else on.prox(v, 0.0)


def _terms(f: Inner, z: Array, sizes: Array) -> float | None:
    with np.errstate(all="ignore"):
        g = f.slope_at(z) if isinstance(f, VectorFunction) else f.gradient(z)
        if g is not None:
            return float(np.abs(g) @ np.abs(sizes)) + abs(float(g @ z) - f.value(z))
    assert isinstance(f, VectorFunction)
    # a norm of matrices may be less where all signs are gone
    return max(f.value(sizes), f.value(z)) if _is_norm(f) else None


def _is_norm(f: VectorFunction) -> bool:
    name, on = f.pair
    return name is not None and on is None and CONVEX[name].is_norm and f.curvature == 0.0


def _is_even(f: VectorFunction) -> bool:
    name, _ = f.pair
    return name is not None and CONVEX[name].grows_evenly and f.curvature == 0.0


def _recession(f: Inner, d: Array) -> tuple[Array, float]:
    """The part of d along which f grows no faster than a multiple of it, and how fast."""
    if isinstance(f, LossFunction):
        lo, hi = f.dual_bounds()
        end = np.where(d > 0.0, hi, lo)
        kept = np.where(np.isfinite(end), d, 0.0)
        return kept, float((np.where(np.isfinite(end), end, 0.0) * kept).sum())
    if isinstance(f, VectorFunction) and _is_norm(f):
        return d.copy(), f.value(d)
    return np.zeros_like(d), 0.0


def _side_by_side(forms: list[Conic]) -> Conic:
    """The sum of functions of consecutive parts of z."""
    if len(forms) == 1:
        return forms[0]

    def full(name: str, size: str) -> Array:
        return np.concatenate(
            [np.broadcast_to(np.asarray(getattr(f, name), float), (getattr(f, size),)) for f in forms]
        )

    starts = list(accumulate((f.size for f in forms), initial=0))
    extras = list(accumulate((f.extra for f in forms), initial=0))
    rows = list(accumulate((f.offset.size for f in forms), initial=0))
    return Conic(
        starts[-1],
        extras[-1],
        full("curvature", "size"),
        full("slope", "size"),
        full("extra_curvature", "extra"),
        full("extra_slope", "extra"),
        sum(f.constant for f in forms),
        joined([f.of_z.shifted(r, c) for f, r, c in zip(forms, rows, starts, strict=False)]),
        joined([f.of_u.shifted(r, c) for f, r, c in zip(forms, rows, extras, strict=False)]),
        np.concatenate([f.offset for f in forms]),
        tuple(cone for f in forms for cone in f.cones),
    )
