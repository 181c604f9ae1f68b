"""Epigraphs row by row: f_i(y_i) <= t_i for the rows y_i of a matrix, by the epigraph of each."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from ..arrays import Array
from ..conic import Cone, Conic, Index, MatrixEntries, joined
from .epigraph import EpigraphSet


@dataclass(frozen=True, eq=False, repr=False)
class RowEpigraphs(EpigraphSet):
    """(t_i, y_i) in a set for each i, of vectors (t_1, ..., t_n, y_1, ..., y_n)."""

    rows: tuple[EpigraphSet, ...]

    compiled = False

    @property
    def size(self) -> int:  # type: ignore[override]
        return sum(g.size for g in self.rows)

    @property
    def bounds_number(self) -> int:  # type: ignore[override]
        return len(self.rows)

    @property
    def certificate(self) -> str:  # type: ignore[override]
        return "rigorous" if any(g.certificate == "rigorous" for g in self.rows) else "exact"

    def describe(self) -> str:
        return f"{self.rows[0].describe()} for each of {len(self.rows)} rows" if self.rows else "epigraph of no rows"

    def _places(self) -> Iterator[tuple[EpigraphSet, Index]]:
        """Each set with the places of its bound and its row."""
        start = len(self.rows)
        for i, g in enumerate(self.rows):
            yield g, np.concatenate([[i], np.arange(start, start + g.size - 1)])
            start += g.size - 1

    def _each(self, x: Array, of: Callable[[EpigraphSet, Array], Array]) -> Array:
        out = np.empty(self.size)
        for g, at in self._places():
            out[at] = of(g, x[at])
        return out

    def prox(self, v: Array, t: float) -> Array:
        return self._each(v, lambda g, own: g.prox(own, t))

    def violation(self, x: Array, sizes: Array | None = None) -> float:
        own = np.abs(x) if sizes is None else sizes
        return max((g.violation(x[at], own[at]) for g, at in self._places()), default=0.0)

    def conjugate(self, v: Array) -> float:
        return float(sum(g.conjugate(v[at]) for g, at in self._places()))

    def conjugate_size(self, v: Array) -> float:
        return float(sum(g.conjugate_size(v[at]) for g, at in self._places()))

    def dual_project(self, v: Array) -> Array:
        return self._each(v, lambda g, own: g.dual_project(own))

    def rounding(self, v: Array) -> float:
        return max((g.rounding(v[at]) for g, at in self._places()), default=0.0)

    def blur(self, v: Array) -> float:
        return max((g.blur(v[at]) for g, at in self._places()), default=0.0)

    def into_recession(self, d: Array) -> Array:
        return self._each(d, lambda g, own: g.into_recession(own))

    def conic(self) -> Conic | None:
        # rows may be many, and of one set
        forms = {id(g): g.conic() for g in {id(g): g for g in self.rows}.values()}
        return placed_forms([(forms[id(g)], at) for g, at in self._places()], self.size)


def placed_forms(forms: list[tuple[Conic | None, Index]], size: int) -> Conic | None:
    """The conic form of sets of some entries each, which are at the places given; None where one has no form."""
    of_z: list[MatrixEntries] = []
    of_u: list[MatrixEntries] = []
    offsets, rows, extra = [np.zeros(0)], 0, 0
    cones: list[Cone] = []
    for form, at in forms:
        if form is None:
            return None
        of_z.append(MatrixEntries(form.of_z.row + rows, at[form.of_z.column], form.of_z.value))
        of_u.append(form.of_u.shifted(rows, extra))
        offsets.append(form.offset)
        cones += form.cones
        rows, extra = rows + form.offset.size, extra + form.extra
    return Conic(size, extra, of_z=joined(of_z), of_u=joined(of_u), offset=np.concatenate(offsets), cones=tuple(cones))
