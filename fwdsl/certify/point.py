"""P(x) of a canonical problem and what x violates, recomputed in float64 with the atoms' NumPy references, never with the kernels."""

from __future__ import annotations

import math
from collections.abc import Sequence, Set
from typing import Any

import numpy as np

from ..atoms.base import Array, VectorFunction
from ..atoms.loss import LossFunction
from ..atoms.vectors.common import largest, norm2
from ..canon.form import Canonical
from ..canon.maps import Identity
from ..canon.matrix_maps import Symmetrise
from ..canon.parts import SumTerm
from ..readers.row_blocks import is_on_disk
from .verified import Point

LEAST_SHARE = 1e-6
"""The share of |K| X that a row of K x is taken to have for its size."""

EPS = float(np.finfo(np.float64).eps)

ROUNDING = 8.0 * EPS
"""The rounding of a sum, relative to the sizes of its terms."""

FAR = 1e-12
"""The share of the terms of a row that its constant must have to tell how large they may be."""

LARGEST_SUMS = 100_000_000
"""Stored numbers up to which |K| |x| is added up for S; beyond, S is without it, which makes the gap only larger."""

NOTHING = np.zeros(0)


def evaluate_point(canonical: Canonical, x: Array) -> Point:
    """P(x) and what x violates, each violation relative to |K| |x| + |b| and the bound (of rows with bounds of their own see `sizes_of_rows`)."""
    value = canonical.constant + float(canonical.q @ x)
    worst = outside = rounding = 0.0
    violations: list[Array] = []
    sums: list[Array] = []
    sizes = _Sizes(canonical, x)
    summed = canonical.nnz <= LARGEST_SUMS
    far = _far(sizes) if summed else frozenset()
    adrift, size = _linear_sizes(canonical, x, far)
    for k, term in enumerate(canonical.terms):
        z = term.map.apply(x)
        sums.append(sizes.of(k, far) if summed else NOTHING)
        missed = NOTHING
        asks = term.f if isinstance(term.f, VectorFunction) else term.domain
        if asks is not None and asks.violation(z) != 0.0:
            # of an indicator its set, of the entropy or a logarithm its domain
            relative_miss, missed = _violation(term, asks, z, x, sizes.of(k))
            worst = _worse(worst, relative_miss)
        violations.append(missed)
        if not term.is_indicator:
            part = term.value(z)
            if _ends_in_rounding(term, z, sizes, k):
                part = math.inf
            left, noise = _left(term, z, part, sums[-1])
            value, size, rounding = value + part, size + abs(part) + left, rounding + noise
    distances = []
    for block in canonical.blocks:
        xb = x[block.slice]
        part = block.g.value(xb)
        value, size = value + part, size + abs(part)
        own = block.g.violation(xb)
        outside = _worse(outside, own)
        distances.append(distance(block.g, xb) if own > 0.0 else 0.0)
    lengths = tuple(norm2(x[b.slice]) for b in canonical.blocks)
    worst = _worse(worst, outside)
    ends = tuple(np.array([stop for _, stop in t.map.leaves] or [0]) for t in canonical.terms)
    return Point(
        value,
        size,
        worst,
        outside,
        tuple(violations),
        tuple(distances),
        tuple(sums),
        adrift,
        lengths,
        rounding,
        _far_sums(sizes, far),
        ends,
    )


def _ends_in_rounding(term: SumTerm, z: Array, sizes: _Sizes, k: int) -> bool:
    """True if z is a sum whose rounding hides whether it is in the domain of f_k, at whose open end f_k is infinite: log_det of a singular matrix."""
    f = term.f
    if term.is_indicator or not isinstance(f, VectorFunction) or f.set_beneath() is None:
        return False
    (_, m), *others = term.map.parts or ((None, None),)
    if not others and isinstance(m, Identity | Symmetrise) and not term.map.offset.any():
        return False  # a variable as it is, which is no sum
    return f.ends_within(z, ROUNDING * norm2(sizes.of(k) + np.abs(term.map.offset)))


def _left(term: SumTerm, z: Array, part: float, sums: Array) -> tuple[float, float]:
    """The size of a term and the rounding in its value `part`, where its argument z is nothing but what cancellation left of |K| |x|.

    Of a smooth f the size is |f'(z)|' |K| |x|. Of another the rounding is what f(z) gains as z moves away from 0 by its own.

    Where the optimum is 0 only in balance, no other size tells such an objective from a gap: those of the dual are 0 too.
    """
    if not sums.size or largest(z) > LEAST_SHARE * largest(sums):
        return 0.0, 0.0
    if isinstance(term.f, LossFunction) and math.isfinite(term.f.lipschitz):
        return term.dot(np.abs(term.f.gradient(z)), sums), 0.0
    rounded = term.value(z + np.copysign(ROUNDING * sums, z))
    return 0.0, max(rounded - part, 0.0) if math.isfinite(rounded) else 0.0


def _worse(a: float, b: float) -> float:
    """The larger one, inf where one is not a number."""
    return math.inf if math.isnan(a) or math.isnan(b) else max(a, b)


def distance(f: VectorFunction, z: Array) -> float:
    """|z - its projection on the domain of f|_2."""
    return norm2(z - f.prox(z, 0.0))


class _Sizes:
    """|K_i| |x| of each term and each variable that enters it. They take as long as K x, so each is taken where somebody asks, and once."""

    def __init__(self, canonical: Canonical, x: Array) -> None:
        self.canonical, self.x, self._size = canonical, x, np.abs(x)
        self._parts: dict[tuple[int, int], Array] = {}

    def part(self, k: int, i: int) -> Array:
        """The sizes that the i-th variable of term k has in its rows."""
        if (k, i) not in self._parts:
            block, m = self.canonical.terms[k].map.parts[i]
            self._parts[k, i] = m.absolute().apply(self._size[block.slice])
        return self._parts[k, i]

    def of(self, k: int, without: Set[str] = frozenset()) -> Array:
        """The sums of the sizes in the rows of term k, without those of some variables; no array where there are no others."""
        parts = self.canonical.terms[k].map.parts
        kept = [i for i, (block, _) in enumerate(parts) if block.name not in without]
        if not kept:
            return NOTHING if without else np.zeros(self.canonical.terms[k].map.rows)
        return sum((self.part(k, i) for i in kept[1:]), self.part(k, kept[0]))

    def of_far(self, k: int, far: Set[str]) -> Array:
        """The sums of the sizes of these variables alone; no array where the term has none of them."""
        parts = self.canonical.terms[k].map.parts
        own = [self.part(k, i) for i, (block, _) in enumerate(parts) if block.name in far]
        return sum(own[1:], own[0]) if own else NOTHING


def _far_sums(sizes: _Sizes, far: Set[str]) -> Sequence[Array]:
    """|K_i| |x| of the variables far out, an array a term; of data in memory they may wait, as those are there later too."""
    late = _FarSums(sizes, far)
    if not far:
        return tuple(NOTHING for _ in sizes.canonical.terms)
    return tuple(late) if any(map(is_on_disk, sizes.canonical.instance.values.values())) else late


class _FarSums(Sequence[Array]):
    """The same, added up where somebody asks, which only a bound above the objective makes anybody do."""

    def __init__(self, sizes: _Sizes, far: Set[str]) -> None:
        self._sizes, self._far = sizes, far

    def __len__(self) -> int:
        return len(self._sizes.canonical.terms)

    def __getitem__(self, k: Any) -> Any:
        return self._sizes.of_far(range(len(self))[k], self._far)

    def __reduce__(self) -> tuple[type, tuple[tuple[Array, ...]]]:
        return tuple, (tuple(self),)


def _far(sizes: _Sizes) -> frozenset[str]:
    """The variables at a point far out, beside which every constant is rounding: no set bounds them, and no row that sees them has a constant."""
    canonical, x = sizes.canonical, sizes.x
    found = {b.name for b in canonical.blocks if x[b.slice].any() and not math.isfinite(b.g.radius())}
    for k, term in enumerate(canonical.terms):
        if not found or not term.map.offset.any():
            continue
        constants = np.abs(term.map.offset)
        for i, (block, _) in enumerate(term.map.parts):
            if block.name in found:
                own = sizes.part(k, i)
                if np.any((constants >= FAR * own) & (own > 0.0)):
                    found.discard(block.name)
    return frozenset(found)


def _linear_sizes(canonical: Canonical, x: Array, far: Set[str]) -> tuple[float, float]:
    """The sizes of the linear terms of variables far out, and of those of the others with the constant."""
    own = {b.name: float(np.abs(canonical.q[b.slice]) @ np.abs(x[b.slice])) for b in canonical.blocks}
    adrift = sum(own[name] for name in far)
    return adrift, abs(canonical.constant) + sum(own[name] for name in own if name not in far)


def sizes_of_terms(term: SumTerm, size: Array) -> Array:
    """|K| size: the sizes of the terms whose sums are K x, for the sizes of the unknowns."""
    parts = (m.absolute().apply(size[block.slice]) for block, m in term.map.parts)
    return sum(parts, np.zeros(term.map.rows))


def _violation(term: SumTerm, f: VectorFunction, z: Array, x: Array, sums: Array) -> tuple[float, Array]:
    """The violation of K x + b in a set relative to its terms, |K| |x| being `sums`, and by itself: row by row in an entrywise set, else the
    distance."""
    if f.entrywise:
        return f.violation(z, sizes_of_rows(term, sums, x)), np.abs(z - f.prox(z, 0.0))
    return f.violation(z, sums + np.abs(term.map.offset)), np.array([distance(f, z)])


def sizes_of_rows(term: SumTerm, own: Array, x: Array) -> Array:
    """The sizes of the terms of each row of K x + b: |K| |x| + |b|, but at least LEAST_SHARE of |K| X, X being the largest entry of each variable.

    A row whose entries of x all tend to zero would stay infeasible beside its own terms for ever; a row of small terms is not to be excused by
    entries that it does not see.
    """
    peaks = np.zeros_like(x)
    for block, _ in term.map.parts:
        peaks[block.slice] = largest(x[block.slice])
    return np.asarray(np.maximum(own + np.abs(term.map.offset), LEAST_SHARE * sizes_of_terms(term, peaks)))
