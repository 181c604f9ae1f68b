"""The Birkhoff polytope for methods that only need its oracle.

The canonical form writes it as rows(simplex(1)), kept with the block, and the indicator of columns(simplex(1)), a term. Here both are one set
again, the hull of the permutations, and the indicator's multiplier is made from the potentials of an assignment when the verifier asks for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from weakref import WeakKeyDictionary

import numpy as np

from ...atoms.base import Array, VectorFunction
from ...atoms.matrices.birkhoff import Birkhoff
from ...atoms.matrices.lines import Lines
from ...atoms.vectors.ridge import Ridged
from ...canon.arrange import Arrangement, SumPlan
from ..functions import FastVector
from ..problem import Problem

_REDUCED: WeakKeyDictionary[Problem, Problem] = WeakKeyDictionary()


def halves(arrangement: Arrangement) -> list[SumPlan]:
    """The terms that are the columns of a `birkhoff` whose rows stay with a block."""
    kept = {(b.name, i) for b in arrangement.blocks if b.set == "rows(simplex)" for i in b.sets}
    return [
        s for s in arrangement.sums if s.is_constraint and s.atom == "columns(simplex)" and (s.bare, s.origin) in kept
    ]


class Reduced(Problem):
    """A problem without the indicators of columns; work is counted where it was."""

    def __init__(self, problem: Problem) -> None:
        self.__dict__.update(problem.__dict__)
        live = [i for i, t in enumerate(problem.terms) if not t.is_indicator]
        whole = {b.name for t in problem.terms if t.is_indicator for b, _ in t.map.parts}
        canonical = problem.canonical
        blocks = tuple(replace(b, g=_whole(b.g)) if b.name in whole else b for b in canonical.blocks)
        self.canonical = replace(canonical, blocks=blocks, terms=tuple(canonical.terms[i] for i in live))
        self.terms = [problem.terms[i] for i in live]
        self.functions = [problem.functions[i] for i in live]
        self.g = [FastVector(b.g) for b in blocks]

    def prox_g(self, v: Array, t: float) -> Array:
        """The prox of t g; on the Birkhoff polytope a point near v in its place (`rounded`)."""
        out = np.empty_like(v)
        for block, g in zip(self.canonical.blocks, self.g, strict=True):
            if g.f.proximable:
                g.prox(v[block.slice], t, out[block.slice])
            else:
                out[block.slice] = rounded(v[block.slice].reshape(block.shape)).reshape(-1)
        return out


def _whole(g: VectorFunction) -> VectorFunction:
    if isinstance(g, Ridged):
        return Ridged(_whole(g.inner), g.c)
    assert isinstance(g, Lines), "requires() allows no other indicator"
    return Birkhoff(g.shape)


def reduced(problem: Problem) -> Problem:
    """The problem, its Birkhoff polytopes whole."""
    if not any(t.is_indicator for t in problem.terms):
        return problem
    found = _REDUCED.get(problem)
    if found is None:
        found = _REDUCED[problem] = Reduced(problem)
    return found


def rounded(X: Array) -> Array:
    """A doubly stochastic matrix near X (Altschuler, Weed, Rigollet 2017): rows and columns scaled to at most 1, what is missing spread out."""
    X = np.maximum(X, 0.0)
    X = X / np.maximum(X.sum(axis=1, keepdims=True), 1.0)
    X = X / np.maximum(X.sum(axis=0, keepdims=True), 1.0)
    rows, columns = np.maximum(1.0 - X.sum(axis=1), 0.0), np.maximum(1.0 - X.sum(axis=0), 0.0)
    total = float(rows.sum())
    return np.asarray(X + np.outer(rows, columns) / total if total > 0.0 else X)


def extended(problem: Problem, x: Array, ys: Sequence[Array]) -> list[Array] | None:
    """The dual point of the canonical form: Y_ij = -v_j for the potentials v of the cheapest permutation at the gradient C, ridges linear at x.

    With u_i = min_j C_ij - v_j the sum of u and v is the least <C, X> over the polytope: the bound is that of the whole set. None where the losses
    have no dual point yet.
    """
    of = reduced(problem)
    if of.terms and not ys:
        return None
    if of is problem:
        return list(ys)
    c = of.adjoint(ys) + of.q
    found, given = [], iter(ys)
    for term in problem.terms:
        if not term.is_indicator:
            found.append(next(given))
            continue
        ((block, _),) = term.map.parts
        C = (c[block.slice] + block.g.curvature * x[block.slice]).reshape(block.shape)
        found.append(np.tile(-potentials(C), (block.shape[0], 1)).reshape(-1))
    return found


def potentials(C: Array) -> Array:
    """v of the dual of the assignment, max sum u + sum v with u_i + v_j <= C_ij, by Bellman and Ford from a cheapest permutation."""
    from scipy.optimize import linear_sum_assignment

    rows, columns = linear_sum_assignment(C)
    v = np.zeros(C.shape[1])
    tight = 1e-15 * float(np.abs(C).max(initial=0.0))
    for _ in range(C.shape[0]):
        lower = (C + (v[columns] - C[rows, columns])[:, None]).min(axis=0, initial=np.inf)
        if np.all(lower >= v - tight):
            break
        v = np.minimum(v, lower)
    return v
