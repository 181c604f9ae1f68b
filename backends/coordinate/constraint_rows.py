"""The few linear constraints lo <= E x <= hi of a sparse regression: their rows, written down, and points that meet them.

A row is divided by its length, each entry taken over the length of the data's column: multipliers then have the unit of a penalty on a column of
length 1, whatever the units of the data and of the constraints.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from fwdsl.atoms.base import Array, VectorFunction
from fwdsl.atoms.entries import Budget
from fwdsl.atoms.vectors.box import Box
from fwdsl.atoms.vectors.common import ConvexSet, Joint
from fwdsl.atoms.vectors.ridge import Ridged
from fwdsl.backends.coordinate.coordinates import Coordinates, Indices
from fwdsl.backends.functions import without_ridge
from fwdsl.backends.problem import PreparedProblem
from fwdsl.canon.form import Canonical, once_per_form
from fwdsl.canon.parts import SumTerm
from fwdsl.light_dataclass import light_dataclass

MOST_ROWS = 32
"""Rows up to which constraints are few: the systems of their multipliers then cost nothing beside a model."""

MOST_NUMBERS = 1 << 24
"""Numbers of all rows, with their zeros, up to which they are written down."""

EPS = float(np.finfo(np.float64).eps)

ROUNDING = 16.0 * EPS
"""The share of the sizes of its terms by which a row that is met may miss its ends."""

DEPENDENT = 1e-10
"""The distance of a row from the span of others, over its length, up to which it follows from them."""

FIRST = 10
"""Coordinates beside two for each row that are first looked at for a point that meets the rows."""

ROUNDS, EXCHANGES, REFINED = 50, 20, 2
"""Times that more coordinates are looked at; exchanges of bounds beside two for each coordinate; and corrections of what rounding leaves of rows."""


def is_constraint(term: SumTerm) -> bool:
    """True if a term is the indicator of intervals of affine functions."""
    return term.is_indicator and isinstance(term.f, VectorFunction) and term.f.entries() is not None


def total_of(g: VectorFunction) -> Budget | None:
    """The bound of the sum of nonnegative entries that the function of a block has, with a norm of entries or without; None where it has none."""
    g = without_ridge(g)
    on = g.on if isinstance(g, Joint) else g if isinstance(g, ConvexSet) else None
    found = None if on is None or g.groups_of() is not None else on.budget()
    return None if found is None or found.signed else found


@once_per_form
def without_constraints(canonical: Canonical) -> Canonical:
    """The form of the losses alone, each simplex its nonnegative entries: of these a norm is a linear cost."""
    blocks, q = list(canonical.blocks), canonical.q.copy()
    for i, block in enumerate(blocks):
        if total_of(block.g) is not None:
            box: VectorFunction = Box(block.size, np.zeros(block.size), np.full(block.size, np.inf))
            box = Ridged(box, 0.5 * block.g.curvature) if block.g.curvature > 0.0 else box
            blocks[i] = replace(block, g=box)
            q[block.slice] += without_ridge(block.g).slope
    terms = tuple(t for t in canonical.terms if not is_constraint(t))
    return replace(canonical, blocks=tuple(blocks), terms=terms, q=q)


def count(canonical: Canonical) -> int:
    """The number of rows of all constraints."""
    rows = sum(t.map.rows for t in canonical.terms if is_constraint(t))
    return rows + sum(total_of(b.g) is not None for b in canonical.blocks)


@light_dataclass
class Rows:
    """lo <= E x <= hi: the rows that say something. `place` has the term and the row there of each, None of the sum of a simplex; `size` is what
    each was divided by."""

    E: Array
    lo: Array
    hi: Array
    size: Array
    place: list[tuple[int, int] | None]

    @staticmethod
    def of(problem: PreparedProblem, length: Array) -> Rows:
        """The rows of a problem, beside columns of these lengths."""
        rows: list[Array] = []
        ends: list[tuple[float, float, float]] = []
        place: list[tuple[int, int] | None] = []
        for k, term in enumerate(problem.terms):
            if not is_constraint(term):
                continue
            assert isinstance(term.f, VectorFunction)
            found = term.f.entries()
            assert found is not None
            lo, hi = found.bounds(term.map.rows)
            for i, unit in enumerate(np.eye(term.map.rows)):
                term.map.adjoint(unit, row := np.zeros(problem.size))
                scale = float(np.linalg.norm(row / length))
                if scale > 0.0 and (lo[i] > -np.inf or hi[i] < np.inf):
                    rows.append(row / scale)
                    ends.append((lo[i] - term.map.offset[i], hi[i] - term.map.offset[i], scale))
                    place.append((k, i))
        for block in problem.canonical.blocks:
            total = total_of(block.g)
            if total is not None:
                row = np.zeros(problem.size)
                row[block.slice] = 1.0
                scale = float(np.linalg.norm(row / length))
                rows.append(row / scale)
                ends.append((total.r if total.exact else -np.inf, total.r, scale))
                place.append(None)
        lo, hi, size = np.array(ends).reshape(-1, 3).T
        return Rows(np.array(rows).reshape(-1, problem.size), lo / size, hi / size, size, place)

    def independent(self, length: Array) -> Rows:
        """The rows without equations that follow from others: multipliers of these would have no bound."""
        even = self.E / length
        left = np.ones(len(self.size), dtype=np.bool_)
        for i in np.flatnonzero(self.lo == self.hi):
            before = left & (self.lo == self.hi)
            before[i:] = False
            if before.any():
                part = np.linalg.lstsq(even[before].T, even[i], rcond=None)[0]
                left[i] = float(np.linalg.norm(even[i] - part @ even[before])) > DEPENDENT
        place = [at for at, stays in zip(self.place, left, strict=True) if stays]
        return Rows(self.E[left], self.lo[left], self.hi[left], self.size[left], place)

    def tilt(self, nu: Array) -> Array:
        """E'nu."""
        return np.asarray(nu @ self.E)

    def support(self, nu: Array) -> float:
        """sup <nu, v> over lo <= v <= hi, for multipliers that point to no infinite end."""
        above, below = nu > 0.0, nu < 0.0
        return float(nu[above] @ self.hi[above]) + float(nu[below] @ self.lo[below])

    def signed(self, nu: Array) -> Array:
        """The nearest multipliers that point to no infinite end."""
        nu = np.where(np.isinf(self.hi), np.minimum(nu, 0.0), nu)
        return np.where(np.isinf(self.lo), np.maximum(nu, 0.0), nu)

    def missed(self, x: Array) -> Array:
        """E x less the nearest point between the ends; 0 where that is rounding."""
        at = self.E @ x
        miss = at - np.clip(at, self.lo, self.hi)
        if not miss.any():
            return miss
        ends = np.where(miss > 0.0, self.hi, np.where(miss < 0.0, self.lo, 0.0))
        return np.where(np.abs(miss) > ROUNDING * (np.abs(self.E) @ np.abs(x) + np.abs(ends)), miss, 0.0)

    def written(self, problem: PreparedProblem, nu: Array) -> dict[int, Array]:
        """The multipliers of the constraints as they are in the form, by the number of the term."""
        found = {k: np.zeros(t.map.rows) for k, t in enumerate(problem.terms) if is_constraint(t)}
        for place, value in zip(self.place, nu / self.size, strict=True):
            if place is not None:
                found[place[0]][place[1]] = value
        return found

    def read(self, ys: list[Array]) -> Array:
        """The multipliers of the rows, from a dual point of the form."""
        return self.signed(self.size * np.array([0.0 if at is None else ys[at[0]][at[1]] for at in self.place]))


def met(rows: Rows, x: Array, g: Coordinates, length: Array, problem: PreparedProblem) -> tuple[Array, Array]:
    """A point near x, within the bounds of the coordinates, that meets the rows, and what it misses of them: not 0 where no point meets them.

    Least squares of the rows over a few coordinates with their bounds, to which those are added along which the rows come nearer: few coordinates
    move, and where none is left what is missed proves that there is no such point.
    """
    x = np.clip(x, g.lo, g.hi)
    miss = rows.missed(x)
    chosen, tries = x != 0.0, 2 * len(rows.size) + FIRST
    for _ in range(ROUNDS):
        if not miss.any():
            break
        problem.look()
        slope = (miss @ rows.E) / length
        is_down = ((slope < 0.0) & (x < g.hi)) | ((slope > 0.0) & (x > g.lo))
        is_down &= ~chosen & (np.abs(slope) > ROUNDING * (np.abs(miss) @ np.abs(rows.E)) / length)
        new = np.flatnonzero(is_down)
        new = new[np.argsort(-np.abs(slope[new]), kind="stable")[:tries]]
        chosen[new] = True
        before, at = float(np.abs(miss).max()), np.flatnonzero(chosen)
        x[at] = _nearer(rows, x, g, length, at)
        miss = rows.missed(x)
        if not new.size and not float(np.abs(miss).max()) < 0.5 * before:
            break
        tries *= 2
    return x, miss


def _nearer(rows: Rows, x: Array, g: Coordinates, length: Array, at: Indices) -> Array:
    """The coordinates `at` where the rows are met best: least squares of E x - v over them and lo <= v <= hi, by an active set from x. Steps are the
    shortest ones, so that columns may depend on each other."""
    own = length[at]
    B = np.concatenate([rows.E[:, at] / own, -np.eye(len(rows.size))], axis=1)
    rest = rows.E @ x - rows.E[:, at] @ x[at]
    lo, hi = (np.concatenate([end[at] * own, ends]) for end, ends in ((g.lo, rows.lo), (g.hi, rows.hi)))
    u = np.concatenate([x[at] * own, np.clip(rows.E @ x, rows.lo, rows.hi)])
    free, refined = (lo < u) & (u < hi), 0
    for _ in range(EXCHANGES + 2 * u.size):
        r = rest + B @ u
        d = np.zeros(u.size)
        d[free] = np.linalg.lstsq(B[:, free], -r, rcond=None)[0]
        with np.errstate(divide="ignore", invalid="ignore"):
            room = np.where(d > 0.0, (hi - u) / d, np.where(d < 0.0, (lo - u) / d, np.inf))
        t = min(1.0, float(room.min(initial=1.0)))
        end = room <= t
        u = np.where(end, np.where(d > 0.0, hi, lo), np.clip(u + t * d, lo, hi))
        free &= ~end
        if t == 1.0 and not end.any():
            slope = B.T @ (rest + B @ u)
            noise = ROUNDING * (np.abs(B.T) @ (np.abs(rest) + np.abs(B) @ np.abs(u)))
            down = np.where(free, 0.0, np.where(u <= lo, -slope, slope))
            down[(lo == hi) | (down <= noise)] = 0.0
            if not down.any():
                if refined == REFINED:
                    break
                refined += 1
                continue
            free[int(np.argmax(down))] = True
    found = u[: at.size]
    found[np.abs(found) <= ROUNDING * np.abs(found).max(initial=0.0)] = 0.0
    return np.asarray(np.clip(found / own, g.lo[at], g.hi[at]))
