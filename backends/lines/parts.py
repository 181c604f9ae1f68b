"""A problem without the terms that lines take up, and where the rest is a sum over entries."""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from functools import cached_property
from weakref import WeakKeyDictionary

import numpy as np

from fwdsl.atoms.base import Array
from fwdsl.atoms.entries import EntrySum
from fwdsl.atoms.loss import LossFunction
from fwdsl.backends.functions import FastLoss, FastVector
from fwdsl.backends.lines.function import Along, uniform
from fwdsl.backends.problem import PreparedProblem
from fwdsl.canon.chains import Places, picked
from fwdsl.canon.form import Canonical
from fwdsl.canon.parts import SumTerm
from fwdsl.light_dataclass import light_dataclass


def others(form: Canonical) -> list[SumTerm]:
    """The terms that are not of differences: smooth losses."""
    taken = {s.term for c in form.chains[0] for s in c.steps}
    return [t for k, t in enumerate(form.terms) if k not in taken]


def without_lines(problem: PreparedProblem) -> PreparedProblem:
    """The problem whose blocks keep the functions of their lines, with the other terms alone; maps, kernels and their counts are shared."""
    canonical = problem.canonical
    taken = {s.term for c in canonical.chains[0] for s in c.steps}
    kept = [k for k in range(len(canonical.terms)) if k not in taken]
    blocks = list(canonical.blocks)
    for chain in canonical.chains[0]:
        blocks[chain.block] = replace(blocks[chain.block], g=Along(blocks[chain.block].g, chain))
    own = dict(zip(canonical.blocks, blocks, strict=True))

    def on_own_blocks(term: SumTerm) -> SumTerm:
        return replace(term, map=replace(term.map, parts=tuple((own[b], m) for b, m in term.map.parts)))

    found = copy(problem)
    found.canonical = replace(
        canonical, blocks=tuple(blocks), terms=tuple(on_own_blocks(canonical.terms[k]) for k in kept), factored=None
    )
    found.terms = [on_own_blocks(problem.terms[k]) for k in kept]
    found.functions = [problem.functions[k] for k in kept]
    found.g = [FastVector(b.g) for b in blocks]
    return found


@light_dataclass
class Multiples:
    """x -> c x_i, row by row; `at` is None where the rows are the entries."""

    at: Places | None
    c: Array | float
    size: int

    @staticmethod
    def of(at: Places, c: Array, size: int) -> Multiples:
        whole = at.size == size and bool(np.array_equal(at, np.arange(size)))
        one = uniform(c)
        return Multiples(None if whole else at, c if one is None else one, size)

    def add_to(self, out: Array, rows: Array) -> None:
        """Add c^2 rows to `out`, entry by entry."""
        rows = self.squares(rows)
        out += rows if self.at is None else np.bincount(self.at, rows, self.size)

    def squares(self, rows: Array) -> Array:
        """c^2 rows; the rows themselves where c is 1."""
        return rows * (self.c * self.c) if np.ndim(self.c) or self.c != 1.0 else rows

    def met(self, sums: Array) -> Array:
        """The y with K'y = sums, of rows that are the entries."""
        return sums / self.c if np.ndim(self.c) or self.c != 1.0 else sums

    def rows(self, x: Array) -> Array:
        own = x if self.at is None else x[self.at]
        return np.asarray(self.c * own) if np.ndim(self.c) or self.c != 1.0 else own


def of_entries(terms: list[SumTerm]) -> list[Multiples] | None:
    """The entries that each term is a loss of, row by row; None where one is of something else."""
    found = []
    for term in terms:
        if not isinstance(term.f, LossFunction) or term.f.loss.smoothness is None or len(term.map.parts) != 1:
            return None
        one = picked(term.map.parts[0][1])
        if one is None:
            return None
        found.append(Multiples.of(*one, term.map.parts[0][0].size))
    return found


def is_of_entries(form: Canonical) -> bool:
    """True if the losses are sums over the entries of the one variable, and quadratic models of them have a prox along its lines."""
    return _alone(form) is not None


def is_one_prox(form: Canonical) -> bool:
    """True if all losses are squares of entries, so that one prox is the answer."""
    return is_of_entries(form) and all(isinstance(t.f, LossFunction) and t.f.loss.quadratic for t in others(form))


_KNOWN: WeakKeyDictionary[Canonical, list[Multiples] | None] = WeakKeyDictionary()
"""The parts found of a form, as long as it lives: the planner and the run ask the same."""


def _alone(form: Canonical) -> list[Multiples] | None:
    if form not in _KNOWN:
        _KNOWN[form] = _looked_at(form)
    return _KNOWN[form]


def _looked_at(form: Canonical) -> list[Multiples] | None:
    chains, _ = form.chains
    if len(form.blocks) != 1 or len(chains) != 1:
        return None
    terms = others(form)
    found = of_entries(terms)
    if found is None:
        return None
    weights = np.zeros(form.size)
    for entries, t in zip(found, terms, strict=True):
        assert isinstance(t.f, LossFunction)
        entries.add_to(weights, t.f.w)
    g = form.blocks[0].g.entries()
    if g is not None and g.c == 0.0:
        # a cost of what no loss sees has no quadratic model
        return found if g.ridge > 0.0 or not form.q[weights == 0.0].any() else None
    # a threshold for all entries asks for one weight of all
    quadratic = all(isinstance(t.f, LossFunction) and t.f.loss.quadratic for t in terms)
    return found if quadratic and uniform(weights) else None


@light_dataclass
class Separable:
    """F as a sum over the entries of the one block."""

    problem: PreparedProblem
    at: list[Multiples]
    quadratic: bool

    @staticmethod
    def of(form: Canonical, problem: PreparedProblem) -> Separable | None:
        """The separable parts of a form; None where it has none, or its models have no prox along the lines."""
        found = _alone(form)
        return None if found is None else Separable(problem, found, is_one_prox(form))

    @cached_property
    def along(self) -> Along:
        g = self.problem.canonical.blocks[0].g
        assert isinstance(g, Along)
        return g

    @cached_property
    def bounds(self) -> EntrySum | None:
        """g as a sum over entries without a threshold; None where its prox is asked for."""
        g = self.along.g.entries()
        return g if g is not None and g.c == 0.0 else None

    @property
    def _are_entries(self) -> bool:
        """True if there is one loss, and its rows are the entries."""
        return len(self.at) == 1 and self.at[0].at is None

    def bends(self, z: list[Array]) -> Array:
        """The second derivatives of F, an entry each."""
        return self._gathered(self.problem.curvatures(z))

    @cached_property
    def most(self) -> Array:
        """The largest second derivatives; where a loss has none, 0."""
        bounds = []
        for f in self.problem.functions:
            assert isinstance(f, FastLoss)
            most = f.f.loss.smoothness or 0.0
            bounds.append(f.f.w * (most if np.isfinite(most) else 0.0))
        return self._gathered(bounds)

    def _gathered(self, rows: list[Array]) -> Array:
        if self._are_entries:
            return self.at[0].squares(rows[0])
        out = np.zeros(self.problem.size)
        for entries, h in zip(self.at, rows, strict=True):
            entries.add_to(out, h)
        return out

    def model(self, x: Array, slope: Array, bends: Array) -> tuple[Array, Array]:
        """(x+, u): the minimiser of <slope, x> + sum_i bends_i (x - x_i)^2 / 2 with g and the lines, and the multipliers of the lines."""
        g = self.bounds
        if g is None:
            bend = float(bends[0])
            v, u = self.along.smoothed(x - slope / bend, 1.0 / bend)
            return self.along.g.prox(v, 1.0 / bend), bend * u
        weights = bends + 2.0 * g.ridge if g.ridge else bends
        live = weights > 0.0
        aim = bends * x - slope
        v = aim / weights if live.all() else np.divide(aim, weights, out=np.zeros_like(x), where=live)
        new, u = self.along.smoothed(v, 1.0, weights)
        return (new if g.is_unbounded else np.clip(new, g.lo, g.hi)), u

    def met(self, miss: Array, ys: list[Array]) -> tuple[list[Array], float]:
        """The multipliers of the losses, moved so that K'y grows by `miss`, each by its share of the weights, and the scale at which they are in the
        domains of f*."""
        shares = [f.f.w for f in self.problem.functions if isinstance(f, FastLoss)]
        total = self._gathered(shares)
        live = total > 0.0
        if self._are_entries and live.all():
            # the one loss takes all of it
            moves = [self.at[0].met(miss)]
        else:
            move = miss / total if live.all() else np.divide(miss, total, out=np.zeros_like(miss), where=live)
            moves = [w * entries.rows(move) for w, entries in zip(shares, self.at, strict=True)]
        out, scale = [], 1.0
        for f, y, own in zip(self.problem.functions, ys, moves, strict=True):
            shifted = y + own
            if not self.quadratic:
                assert isinstance(f, FastLoss)
                lo, hi = f.dual_bounds
                ends = np.where(shifted > 0.0, hi, lo)
                scale = min(
                    scale,
                    float(np.divide(ends, shifted, out=np.ones_like(shifted), where=shifted != 0.0).min(initial=1.0)),
                )
            out.append(shifted)
        return out, scale
