"""polytope(V) for methods that only need its oracle.

The canonical form writes a point of it as x = V'w with weights w in the simplex, and the equality is the indicator of a term. Here V'w
stands in x's place in every term, so that only w is left, over a simplex for each line, and its vertices name those of the polytope. A
start is taken by its weights, which a solution has.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from fwdsl.atoms.base import Array
from fwdsl.atoms.loss import LossFunction
from fwdsl.atoms.losses.squared import Squared
from fwdsl.canon.arrange import Arrangement, SumPlan
from fwdsl.canon.combined_maps import Adjoint, Compose, Scaled
from fwdsl.canon.maps import Identity, LinearMap
from fwdsl.canon.parts import Block, Stacked, SumTerm
from fwdsl.light_dataclass import light_dataclass


def lifted(arrangement: Arrangement) -> dict[str, SumPlan]:
    """The `x in polytope(V)`, by variables that have nothing else to be confined by; also of the lines of x."""
    free = {b.name for b in arrangement.blocks if b.set is None and b.norm is None}
    plans = [s for s in arrangement.sums if s.is_constraint and s.origin in arrangement.lifted]
    alone = {s.bare: s for s in plans if s.bare in free}
    return {x: s for x, s in alone.items() if x is not None and sum(t.bare == x for t in plans) == 1}


@light_dataclass
class Hull:
    """Term `term` says that the `lines` of x, all entries in some order, are those of V'w; so x = points(w)."""

    term: int
    x: Block
    weights: Block
    lines: LinearMap
    points: LinearMap

    def squares(self) -> SumTerm:
        """The ridge of x as a loss of V'w."""
        n = self.x.size
        f = LossFunction(Squared, np.zeros(n), np.full(n, 0.5 * self.x.g.curvature), np.zeros(0))
        return SumTerm(f, Stacked(((self.weights, self.points),), np.zeros(n)), self.x.text, -1)


def hulls(terms: Sequence[SumTerm]) -> list[Hull]:
    """The hulls among some terms, whose maps stay as they are."""
    found = []
    for i, term in enumerate(terms):
        if term.is_indicator and len(term.map.parts) == 2 and term.map.parts[1][0].auxiliary:
            (x, lines), (weights, minus) = term.map.parts
            points: LinearMap = Scaled(minus, -1.0)
            if not isinstance(lines, Identity):
                points = Compose(Adjoint(lines), points)
            found.append(Hull(i, x, weights, lines, points))
    return found


def without(term: SumTerm, of: Sequence[Hull]) -> SumTerm:
    """A term of the weights instead of the points."""
    by_name = {h.x.name: h for h in of}
    parts = []
    for block, m in term.map.parts:
        h = by_name.get(block.name)
        parts.append((block, m) if h is None else (h.weights, Compose(m, h.points)))
    return replace(term, map=replace(term.map, parts=tuple(parts)))


def slopes_without(q: Array, of: Sequence[Hull]) -> Array:
    """A linear term of the weights instead of the points."""
    q = q.copy()
    for h in of:
        q[h.weights.slice] += h.points.adjoint(q[h.x.slice])
        q[h.x.slice] = 0.0
    return q


def completed(of: Sequence[Hull], x: Array) -> Array:
    """The points of the weights beside them."""
    x = x.copy()
    for h in of:
        x[h.x.slice] = h.points.apply(x[h.weights.slice])
    return x
