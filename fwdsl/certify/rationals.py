"""Products of maps with few vectors, in rational numbers: whether terms that cancel in floating point do so exactly."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

import numpy as np

from ..atoms.base import Array
from ..canon.form import Canonical

LARGEST_COUNT = 20_000
"""Products up to which a sum is taken in rational numbers: some 30 ms."""

LARGEST_WHOLE = 1_000_000
"""The largest multiplier that is tried as a whole number."""

NEARLY_WHOLE = 1e-6
"""The distance from a whole number of a multiplier that is meant to be one."""


def exact_adjoint(canonical: Canonical, y: Iterable[Array]) -> Array | None:
    """K'y with no rounding but the last, from the entries of the maps as the references have them; None where there are too many."""
    sums = _ExactSums(canonical.size)
    for term, yi in zip(canonical.terms, y, strict=True):
        for j in np.flatnonzero(yi).tolist():
            row = np.zeros(canonical.size)
            term.map.adjoint(_unit(yi.size, j), row)
            if not sums.add(float(yi[j]), row):
                return None
    return sums.rounded()


def exact_products(canonical: Canonical, d: Array) -> list[Array] | None:
    """K_i d of each term likewise."""
    found = []
    for term in canonical.terms:
        sums = _ExactSums(term.map.rows)
        for block, m in term.map.parts:
            for j in np.flatnonzero(d[block.slice]).tolist():
                if not sums.add(float(d[block.slice][j]), m.apply(_unit(block.size, j))):
                    return None
        found.append(sums.rounded())
    return found


def in_whole_numbers(y: list[Array]) -> list[Array] | None:
    """y over its least entry that is not 0, where that makes small whole numbers of all: what rounding left of a ray that is one of them."""
    sizes = [np.abs(yi[yi != 0.0]) for yi in y]
    least = min((float(s.min()) for s in sizes if s.size), default=0.0)
    if least == 0.0 or max(float(s.max()) for s in sizes if s.size) > LARGEST_WHOLE * least:
        return None
    whole = [np.round(yi / least) for yi in y]
    near = all(np.all(np.abs(yi / least - wi) <= NEARLY_WHOLE) for yi, wi in zip(y, whole, strict=True))
    return whole if near else None


def _unit(size: int, j: int) -> Array:
    e = np.zeros(size)
    e[j] = 1.0
    return e


class _ExactSums:
    """Sums of weighted vectors, an entry a rational number."""

    def __init__(self, size: int) -> None:
        self._size, self._count = size, 0
        self._sums: dict[int, Fraction] = {}

    def add(self, weight: float, vector: Array) -> bool:
        """Add weight times the vector; False where that would be too many products."""
        at = np.flatnonzero(vector)
        self._count += 1 + at.size
        if self._count > LARGEST_COUNT:
            return False
        factor = Fraction(weight)
        for i in at.tolist():
            self._sums[i] = self._sums.get(i, Fraction(0)) + factor * Fraction(float(vector[i]))
        return True

    def rounded(self) -> Array:
        """The sums as floating-point numbers; one that is not 0 stays so."""
        out = np.zeros(self._size)
        for i, value in self._sums.items():
            out[i] = float(value) or np.copysign(np.nextafter(0.0, 1.0), value.numerator) if value else 0.0
        return out
