"""Problems reduced for the Frank-Wolfe methods: no indicators, whose sets are one again (`birkhoff`) or are left out (`polytope`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from fwdsl.atoms.base import Array
from fwdsl.atoms.loss import LossFunction
from fwdsl.backends.frank_wolfe.birkhoff import potentials, rounded, whole
from fwdsl.backends.frank_wolfe.polytope import completed, hulls, slopes_without, without
from fwdsl.backends.functions import FastLoss, FastVector
from fwdsl.backends.problem import PreparedProblem


class Reduced(PreparedProblem):
    """A problem without the indicators of columns and of hulls; work is counted where it was. `ridges` are the hulls whose points have one."""

    def __init__(self, problem: PreparedProblem) -> None:
        self.__dict__.update(problem.__dict__)
        canonical = problem.canonical
        self.hulls = hulls(problem.terms)
        self.ridges = [h for h in self.hulls if h.x.g.curvature]
        points = {h.x.name for h in self.hulls}
        halved = {t.map.parts[0][0].name for t in problem.terms if t.is_indicator} - points
        blocks = [b for b in canonical.blocks if b.name not in points]
        blocks = [replace(b, g=whole(b.g)) if b.name in halved else b for b in blocks]
        self.terms = [without(t, self.hulls) for t in problem.terms if not t.is_indicator]
        self.functions = [f for f, t in zip(problem.functions, problem.terms, strict=True) if not t.is_indicator]
        for squares in (h.squares() for h in self.ridges):
            assert isinstance(squares.f, LossFunction)
            self.terms.append(squares)
            self.functions.append(FastLoss(squares.f, problem.pool))
        self.q = slopes_without(problem.q, self.hulls)
        self.has_q = bool(self.q.any())
        self.canonical = replace(canonical, blocks=tuple(blocks), terms=tuple(self.terms), q=self.q)
        self.g = [FastVector(b.g) for b in blocks]

    def prox_g(self, v: Array, t: float, metric: Array | None = None, seldom: bool = False) -> Array:
        """The prox of t g; on the Birkhoff polytope a point near v in its place (`rounded`)."""
        out = np.zeros_like(v)
        for block, g in zip(self.canonical.blocks, self.g, strict=True):
            if g.f.proximable:
                (g.prox_seldom if seldom else g.prox)(v[block.slice], t, out[block.slice])
            else:
                out[block.slice] = rounded(v[block.slice].reshape(block.shape)).reshape(-1)
        return out


def reduced(problem: PreparedProblem) -> PreparedProblem:
    """The problem with its sets whole."""
    return Reduced(problem) if any(t.is_indicator for t in problem.terms) else problem


def extended(problem: PreparedProblem, of: PreparedProblem, x: Array, ys: Sequence[Array]) -> list[Array] | None:
    """The dual point of the canonical form, from the dual point of its reduced problem.

    On a `birkhoff`, Y_ij = -v_j for the potentials v of the cheapest permutation at the gradient C, ridges linear at x. On a hull, Y takes the
    gradient in its points to 0. With u_i = min_j C_ij - v_j the sum of u and v is the least <C, X> over the polytope: the bound is as good as on
    the whole set. None where the losses have no dual point yet.
    """
    if of.terms and not ys:
        return None
    if not isinstance(of, Reduced):
        return list(ys)
    c, duals = problem.q.copy(), iter(ys)
    found = [np.zeros(0) if t.is_indicator else next(duals) for t in problem.terms]
    for term, y in zip(problem.terms, found, strict=True):
        if not term.is_indicator:
            term.map.adjoint(y, c)
    for h, y in zip(of.ridges, duals, strict=True):
        c[h.x.slice] += y
    for h in of.hulls:
        found[h.term] = -h.lines.apply(c[h.x.slice])
    for i, term in enumerate(problem.terms):
        if term.is_indicator and not found[i].size:
            ((block, _),) = term.map.parts
            C = (c[block.slice] + block.g.curvature * x[block.slice]).reshape(block.shape)
            found[i] = np.tile(-potentials(C), (block.shape[0], 1)).reshape(-1)
    return found


def candidate(
    problem: PreparedProblem, of: PreparedProblem, x: Array, ys: Sequence[Array]
) -> tuple[Array, list[Array] | None]:
    """A point and the dual point of the reduced problem as those of the canonical form."""
    return completed(of.hulls, x) if isinstance(of, Reduced) else x, extended(problem, of, x, ys)
