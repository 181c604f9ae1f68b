"""P(x) of a canonical problem and what x violates, recomputed in float64 with the atoms' NumPy references, never with the kernels."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..atoms.base import Array, VectorFunction
from ..atoms.loss import LossFunction
from ..atoms.vectors.common import largest, norm2
from ..canon.form import Canonical
from ..canon.maps import Identity
from ..canon.matrix_maps import Symmetrise
from ..canon.parts import SumTerm
from ..readers.row_blocks import is_on_disk
from .verified import Point

Mask = NDArray[np.bool_]
"""Entries of x."""

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
    without = _far(sizes) if summed else None
    adrift, size = _linear_sizes(canonical, x, without)
    for k, term in enumerate(canonical.terms):
        z = term.map.apply(x)
        sums.append(sizes.of(k, without) if summed else NOTHING)
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
        _far_sums(sizes, without),
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

    def of(self, k: int, without: Mask | None = None) -> Array:
        """The sums of the sizes in the rows of term k, without those of some entries of x; no array where there are no others."""
        own = self._of(k, None if without is None else ~without)
        if own is None:
            return NOTHING if without is not None else np.zeros(self.canonical.terms[k].map.rows)
        return own

    def of_far(self, k: int, far: Mask) -> Array:
        """The sums of the sizes of these entries alone; no array where the term has none of them."""
        own = self._of(k, far)
        return NOTHING if own is None else own

    def _of(self, k: int, kept: Mask | None) -> Array | None:
        """The sums of the sizes of the entries that are kept, None for all of them; None where no variable has any."""
        found: Array | None = None
        for i, (block, m) in enumerate(self.canonical.terms[k].map.parts):
            own = None if kept is None else kept[block.slice]
            if own is None or own.all():
                part = self.part(k, i)
            elif own.any():
                part = m.absolute().apply(np.where(own, self._size[block.slice], 0.0))
            else:
                continue
            found = part if found is None else found + part
        return found


def _far_sums(sizes: _Sizes, far: Mask | None) -> Sequence[Array]:
    """|K_i| |x| of the entries far out, an array a term; of data in memory they may wait, as those are there later too."""
    if far is None:
        return tuple(NOTHING for _ in sizes.canonical.terms)
    late = _FarSums(sizes, far)
    return tuple(late) if any(map(is_on_disk, sizes.canonical.instance.values.values())) else late


class _FarSums(Sequence[Array]):
    """The same, added up where somebody asks, which only a bound above the objective makes anybody do."""

    def __init__(self, sizes: _Sizes, far: Mask) -> None:
        self._sizes, self._far = sizes, far

    def __len__(self) -> int:
        return len(self._sizes.canonical.terms)

    def __getitem__(self, k: Any) -> Any:
        return self._sizes.of_far(range(len(self))[k], self._far)

    def __reduce__(self) -> tuple[type, tuple[tuple[Array, ...]]]:
        return tuple, (tuple(self),)


def _far(sizes: _Sizes) -> Mask | None:
    """The entries of x so far out that every constant is rounding beside them: those of variables that no set bounds, and of which no row that sees
    them has a constant; and of a variable that such rows hold in part, entries 1e12 times as large as all that are held. None where there are
    none."""
    canonical, x = sizes.canonical, sizes.x
    loose = {b.name: b for b in canonical.blocks if x[b.slice].any() and not math.isfinite(b.g.radius())}
    held: dict[str, Mask] = {}
    for k, term in enumerate(canonical.terms):
        if not loose or not term.map.offset.any():
            continue
        constants = np.abs(term.map.offset)
        for i, (block, m) in enumerate(term.map.parts):
            if block.name not in loose:
                continue
            own = sizes.part(k, i)
            rows = (constants >= FAR * own) & (own > 0.0)
            if not rows.any():
                continue
            if not _is_spread(x[block.slice]):
                del loose[block.name]
                continue
            seen = m.absolute().adjoint(rows.astype(np.float64)) > 0.0
            held[block.name] = seen | held.get(block.name, False)
    far = np.zeros(x.size, dtype=np.bool_)
    for name, block in loose.items():
        own = np.abs(x[block.slice])
        far[block.slice] = own > largest(own[held[name]]) / FAR if name in held else True
    return far if far.any() else None


def _is_spread(xb: Array) -> bool:
    """True if some entries are 1e12 times as large as others that are not 0."""
    size = np.abs(xb)
    live = size[size > 0.0]
    return live.size > 0 and float(live.min()) < FAR * float(size.max())


def _linear_sizes(canonical: Canonical, x: Array, far: Mask | None) -> tuple[float, float]:
    """The sizes of the linear terms of entries far out, and of those of the others with the constant."""
    if not canonical.q.any():
        return 0.0, abs(canonical.constant)
    q, size = np.abs(canonical.q), np.abs(x)
    adrift = 0.0 if far is None else float(q[far] @ size[far])
    near = q @ size if far is None else q[~far] @ size[~far]
    return adrift, abs(canonical.constant) + float(near)


def sizes_of_terms(term: SumTerm, size: Array) -> Array:
    """|K| size: the sizes of the terms whose sums are K x, for the sizes of the unknowns."""
    parts = (m.absolute().apply(size[block.slice]) for block, m in term.map.parts)
    return sum(parts, np.zeros(term.map.rows))


def _violation(term: SumTerm, f: VectorFunction, z: Array, x: Array, sums: Array) -> tuple[float, Array]:
    """The violation of K x + b in a set relative to its terms, |K| |x| being `sums`, and by itself: row by row in an entrywise set, else the
    distance."""
    if f.entrywise:
        relative = f.violation(z, sums + np.abs(term.map.offset))
        if not relative <= ROUNDING:
            # rows of small terms may yet be excused, which takes another product with the data
            relative = f.violation(z, sizes_of_rows(term, sums, x))
        return relative, np.abs(z - f.prox(z, 0.0))
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
