"""Constraints as terms of the sum: indicators of sets under maps, for the constraints that no block keeps."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import accumulate

import numpy as np

from ..atoms.base import Array, MatrixLike, VectorFunction
from ..atoms.epigraphs import epigraph_of
from ..atoms.epigraphs.cones import SecondOrderCones
from ..atoms.epigraphs.entries import EntryEpigraphs
from ..atoms.epigraphs.rows import RowEpigraphs
from ..atoms.epigraphs.summed import Inner, Summed
from ..atoms.family import Repeated
from ..atoms.inner import OfInner
from ..atoms.loss import LossFunction
from ..atoms.vector_loss import VectorLossFunction
from ..light_dataclass import light_dataclass
from ..model import ConstraintDecl, SetRef
from ..words import BOX, SETS, SIMPLEX
from .affine import AffineReader
from .combined_maps import added, compose, scaled
from .data_maps import Matrix
from .emptiness import check_equations, check_halfspace
from .groups import overlapping, regrouped
from .lines import SetLines, lines_of
from .maps import Identity, LinearMap, Place, Row
from .matrix_maps import RightMultiply, Take
from .pairs import build, innermost
from .parts import Block, Shift, Stacked
from .sets import SetReader


@light_dataclass
class Indicator:
    """0 where map(x) is in a set, else inf; `side` tells what its multiplier is of."""

    f: VectorFunction
    map: Stacked
    side: Shift | None = None


def mapped(stacked: Stacked, outer: LinearMap, offset: Array | float = 0.0) -> Stacked:
    """outer applied to an affine map, plus an offset."""
    parts = tuple((b, compose(outer, m)) for b, m in stacked.parts)
    return Stacked(parts, outer.apply(stacked.offset) + offset, (outer.rows,))


def bounds(lo: float, m: int) -> VectorFunction:
    """The indicator of [lo, 0]^m."""
    return build(None, (BOX, {"lo": np.full(m, lo), "hi": np.zeros(m)}), m)


def joined(parts: Sequence[Stacked]) -> Stacked:
    """The numbers of several affine maps, one map after the other."""
    ends = list(accumulate((p.rows for p in parts), initial=0))
    maps: dict[str, tuple[Block, LinearMap]] = {}
    for part, start in zip(parts, ends, strict=False):
        for block, m in part.parts:
            placed = compose(Place(start, part.rows, ends[-1]), m)
            known = maps.get(block.name)
            maps[block.name] = block, placed if known is None else added(known[1], placed)
    ordered = sorted(maps.values(), key=lambda p: p[0].start)
    return Stacked(tuple(ordered), np.concatenate([p.offset for p in parts]), (ends[-1],))


def epigraph(parts: Sequence[tuple[Inner, Stacked]], limit: Stacked) -> tuple[VectorFunction, Stacked]:
    """The set of convex functions that add up to at most an affine bound, or of a function of each entry that is at most a bound of its own."""
    if not parts:
        return bounds(-math.inf, limit.rows), mapped(limit, scaled(Identity(limit.rows), -1.0))
    whole, inner = joined([limit, *(part for _, part in parts)]), [g for g, _ in parts]
    with np.errstate(all="ignore"):
        if limit.shape:
            (own,) = inner
            if not isinstance(own, LossFunction):
                return _row_epigraphs(own, limit), whole
            values = own.w * own.loss.value_naive(parts[0][1].offset, own.b, own.p)
            return EntryEpigraphs(own, _units(limit.offset, values)), whole
        values = np.array([Summed(tuple(inner)).value(whole.offset[1:])])
    return epigraph_of(inner, float(_units(limit.offset, values)[0])), whole


def _row_epigraphs(f: Inner, limit: Stacked) -> VectorFunction:
    """The set of rows of which a function is at most a bound of its own, f being its sum over the rows."""
    n = limit.rows
    if isinstance(f, OfInner):
        return RowEpigraphs((epigraph_of([f.inner]),) * n)
    assert isinstance(f, VectorLossFunction)
    return RowEpigraphs(tuple(epigraph_of([f.part(slice(i * f.k, (i + 1) * f.k))]) for i in range(n)))


def rows_epigraph(c: float, rows: Stacked, limit: Stacked) -> tuple[VectorFunction, Stacked]:
    """The set of rows whose Euclidean norms, times c, are at most bounds of their own."""
    if c == 0.0:
        return epigraph((), limit)
    count = limit.rows
    return SecondOrderCones(count, rows.rows // max(1, count), c), joined([limit, rows])


def _units(bound: Array, values: Array) -> Array:
    """A number of the size of each bound: its constant, or the value of the function at constants; 1 where there are none."""
    values = np.where(np.isfinite(values), np.abs(values), 0.0)
    found = np.maximum(np.abs(bound), values)
    return np.where(found > 0.0, found, 1.0)


class IndicatorReader:
    """Makes the indicators of one instance's constraints; with `empty` also of those that no point meets, which raise `Empty` without."""

    def __init__(self, reader: AffineReader, sets: SetReader, empty: bool = False) -> None:
        self.reader = reader
        self.sets = sets
        self.empty = empty

    def read(self, constraint: ConstraintDecl, key: str, stacked: Stacked, apart: bool) -> Indicator | None:
        """The indicator of a constraint, `key` being its set's or a part of it; None where it says nothing.

        `apart` tells that groups of no weight are among those of a ball.
        """
        ref = constraint.set
        if ref is None:
            return Indicator(bounds(-math.inf if constraint.relation == "le" else 0.0, stacked.rows), stacked)
        type_, shape = constraint.argument.type, stacked.shape
        own = innermost(ref)
        lines = lines_of(ref, type_.is_family, shape)
        word = SETS[own.name]
        if word.written_as in ("equations", "inequality"):
            return self._equations(constraint, own, lines, stacked)
        if word.written_as == "hull":
            return self._hull(constraint, own, lines, stacked)
        if word.grouped and (apart or overlapping(own.args)):
            return self._groups(own, lines, stacked)
        if word.given_bounds and self.empty:
            return self._bounds_apart(own, lines, stacked)
        inner = shape[1:] if type_.is_family else shape
        spec = self.sets.set_spec(key, [constraint], math.prod(inner))
        return Indicator(self.sets.function(None, spec, type_, shape, [ref.span]), stacked)

    def weights_of_vertices(self, constraint: ConstraintDecl, start: int) -> Block:
        """The block of weights of a polytope's vertices: for each vector that is to be in it, a point of the simplex."""
        ref, argument = constraint.set, constraint.argument
        assert ref is not None
        lines = lines_of(ref, argument.type.is_family, self.reader.shape(argument))
        count = int(self.reader.constant(dict(innermost(ref).args)["V"]).shape[0])
        g = build(None, (SIMPLEX, {"r": 1.0}), count)
        shape: tuple[int, ...] = (count,)
        if lines.count != 1:
            shape = (lines.count, count)
            g = build(None, ("rows", {"set": (SIMPLEX, {"r": 1.0})}), shape)
        return Block(f"weights of {constraint.name}", start, start + g.size, shape, g, g.describe(), auxiliary=True)

    def _equations(self, constraint: ConstraintDecl, own: SetRef, lines: SetLines, stacked: Stacked) -> Indicator:
        """A x = b, or a'x <= b, for each line."""
        args = dict(own.args)
        A: MatrixLike
        equations = SETS[own.name].written_as == "equations"
        if equations:
            lo, A, name = 0.0, self.reader.constant(args["A"]), args["A"].name or "A"
            b = self.reader.vector(args["b"], A.shape[0])
            if not self.empty:
                check_equations(A, b, constraint.text, own.span)
        else:
            lo, A, name = -math.inf, self.reader.vector(args["a"], lines.length)[None, :], args["a"].name or "a"
            b = self.reader.vector(args["b"], 1)
            if not self.empty:
                check_halfspace(A[0], float(b[0]), constraint.text, own.span)
        outer: LinearMap
        if lines.count != 1:
            outer = RightMultiply(A.T, lines.count, name)
        elif equations:
            outer = Matrix(A, False, name)
        else:
            outer = Row(A[0], name)
        if lines.take is not None:
            outer = compose(outer, lines.take)
        width = int(A.shape[0])
        told, shape = lines.user_shape(width)
        if equations and width == 1:
            shape = (*shape, 1) if lines.frame != "columns" else (*shape[:-1], 1, shape[-1])
        side = Shift(told or Identity(lines.count * width), shape)
        return Indicator(bounds(lo, outer.rows), mapped(stacked, outer, -np.tile(b, lines.count)), side)

    def _bounds_apart(self, own: SetRef, lines: SetLines, stacked: Stacked) -> Indicator:
        """A box as its lower bounds, then its upper ones, which need not leave room for a point."""
        ends = (np.broadcast_to(np.reshape(x, -1), lines.length) for x in self.sets.bounds(own))
        low, high = (np.tile(end, lines.count) for end in ends)
        n, most = stacked.rows, float(np.finfo(np.float64).max)
        lo = np.concatenate([np.minimum(low, most), np.full(n, -math.inf)])
        hi = np.concatenate([np.full(n, math.inf), np.maximum(high, -most)])
        place = np.arange(n) if lines.take is None else lines.take.index
        outer = Take(np.tile(place, 2), n, "bounds", once=False)
        return Indicator(build(None, (BOX, {"lo": lo, "hi": hi}), 2 * n), mapped(stacked, outer))

    def _hull(self, constraint: ConstraintDecl, own: SetRef, lines: SetLines, stacked: Stacked) -> Indicator:
        """Each line is V'w with its own weights w."""
        V = self.reader.constant(dict(own.args)["V"])
        weights = self.reader.blocks[f"weights of {constraint.name}"]
        to_points: LinearMap = Matrix(V, True, "V") if lines.count == 1 else RightMultiply(V, lines.count, "V")
        to_lines: LinearMap = lines.take or Identity(stacked.rows)
        by_lines = mapped(stacked, to_lines)
        parts = (*by_lines.parts, (weights, scaled(to_points, -1.0)))
        side = Shift(to_lines, lines.shape)
        return Indicator(bounds(0.0, stacked.rows), Stacked(parts, by_lines.offset, by_lines.shape), side)

    def _groups(self, own: SetRef, lines: SetLines, stacked: Stacked) -> Indicator | None:
        """The ball of the groups that have weight, of entries that stand once for each of theirs."""
        found = regrouped(self.sets.own_args(own), lines.count, lines.length)
        if found is None:
            return None
        ball = build(None, (own.name, found.args), found.length)
        outer: LinearMap = found.take if lines.take is None else compose(found.take, lines.take)
        f = ball if lines.count == 1 else Repeated(ball, lines.count)
        return Indicator(f, mapped(stacked, outer), Shift(outer, lines.shape))
