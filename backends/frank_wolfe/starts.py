"""A start as a convex combination of vertices, so that a warm start keeps as much as it can.

Sets that bound the sum of entries, or of their sizes, have their vertices read off, rows(...), columns(...) and families of them line by line;
in any other set the start is an atom itself, which loses its weight to vertices. The combination for a product of sets pairs those of the
factors as their weights run out: at most as many atoms as the factors have together.
"""

from __future__ import annotations

import numpy as np

from fwdsl.atoms.base import Array, VectorFunction
from fwdsl.backends.frank_wolfe.atoms import Atom, Places, atom_of
from fwdsl.backends.frank_wolfe.set_factors import factors
from fwdsl.backends.problem import PreparedProblem

Combination = list[tuple[float, Atom]]

MOST_LINES = 1_000
"""Factors beyond which a start is one atom: their combination would have too many."""

LEAST_WEIGHT = 1e-15


def combination(problem: PreparedProblem, x: Array) -> Combination:
    """Atoms with weights that sum to 1 and combine to x, a point of the set."""
    parts = [p for b in problem.canonical.blocks for p in factors(b.g, np.arange(b.start, b.stop))]
    if len(parts) > MOST_LINES:
        return [(1.0, atom_of(x))]
    return _product([[(w, _at(a, places)) for w, a in _vertices(g, x[places])] for g, places in parts])


def _at(atom: Atom, places: Places) -> Atom:
    return Atom(places[atom.places], atom.numbers)


def _vertices(g: VectorFunction, x: Array) -> Combination:
    found = g.budget()
    if found is None or not found.r > 0.0:
        return [(1.0, atom_of(x))]
    return _of_sizes(found.r, x) if found.signed else _of_simplex(found.r, x, solid=not found.exact)


def _unit(i: int, number: float) -> Atom:
    return Atom(np.array([i], dtype=np.int64), np.array([number]))


def _of_sizes(r: float, x: Array) -> Combination:
    found = [(abs(float(x[i])) / r, _unit(int(i), float(np.copysign(r, x[i])))) for i in np.flatnonzero(x)]
    rest = 1.0 - sum(w for w, _ in found)
    if rest > LEAST_WEIGHT:
        # the origin is half of a vertex and half of its opposite
        found += [(0.5 * rest, _unit(0, r)), (0.5 * rest, _unit(0, -r))]
    return found


def _of_simplex(r: float, x: Array, solid: bool) -> Combination:
    found = [(float(x[i]) / r, _unit(int(i), r)) for i in np.flatnonzero(x > 0.0)]
    rest = 1.0 - sum(w for w, _ in found)
    if solid and rest > LEAST_WEIGHT:
        found.append((rest, Atom(np.zeros(0, dtype=np.int64), np.zeros(0))))
    return found


def _product(parts: list[Combination]) -> Combination:
    if len(parts) == 1:
        return parts[0]
    at, left = [0] * len(parts), [p[0][0] for p in parts]
    found: Combination = []
    while True:
        weight = min(left)
        atoms = [p[i][1] for p, i in zip(parts, at, strict=True)]
        places = np.concatenate([a.places for a in atoms])
        order = np.argsort(places, kind="stable")
        if weight > 0.0:
            found.append((weight, Atom(places[order], np.concatenate([a.numbers for a in atoms])[order])))
        for k, p in enumerate(parts):
            left[k] -= weight
            if left[k] <= LEAST_WEIGHT:
                if at[k] + 1 == len(p):
                    return found
                at[k] += 1
                left[k] = p[at[k]][0]
