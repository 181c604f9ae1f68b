"""Losses whose predictions stay with the workers that hold the rows of their data (`fwdsl.backends.row_vectors`)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fwdsl.atoms.base import Array
from fwdsl.atoms.loss import LossFunction
from fwdsl.atoms.vector_loss import VectorLossFunction
from fwdsl.backends.functions import FastLoss, FastRows
from fwdsl.backends.maps import CountedMap, KernelMatrix
from fwdsl.backends.row_vectors import Expression, Link, RowVector, TermEvaluator
from fwdsl.canon.combined_maps import Add, Compose, Scaled, unscaled
from fwdsl.canon.data_maps import Matrix
from fwdsl.canon.maps import LinearMap
from fwdsl.canon.matrix_maps import LeftMultiply
from fwdsl.canon.parts import Block, Stacked, SumTerm
from fwdsl.readers.held_rows import Elsewhere, Held
from fwdsl.sums import finish


class HeldMap(Stacked):
    """x -> K x + b for rows in the hands of workers: images are vectors of rows."""

    link: Link

    def image(self, x: Array) -> RowVector:
        """K x, to be worked out where it is needed."""
        for block, m in self.parts:
            _count(m, x[block.slice])
        return self.link.vector("image", x.copy())

    def adjoint(self, y: Any, out: Array) -> None:
        if not isinstance(y, RowVector):
            super().adjoint(y, out)
            return
        for _, m in self.parts:
            _count(m, None)
        self.finished(self.link.adjoint(y), out)

    def dot(self, y: Any, z: Any) -> float:
        if isinstance(y, RowVector) or isinstance(z, RowVector):
            a, b = self.link.given(y), self.link.given(z)
            if a is not None and b is not None:
                return self.link.number("dot", a, b)
        return super().dot(np.asarray(y), np.asarray(z))

    def gram(self, free: NDArray[np.intp], w: Any, single: bool) -> Array | None:
        """K_I' diag(w) K_I; None where the weights are here, and where a holder has no whole node of the level that it takes."""
        if not isinstance(w, RowVector):
            return None
        plan = None
        for block, m in self.parts:
            inner = unscaled(m)[1]
            if isinstance(inner, KernelMatrix):
                local = free[(free >= block.start) & (free < block.stop)] - block.start
                every = np.array_equal(local, np.arange(inner.operator.shape[1]))
                plan = inner.operator.gram_plan(None if every else local)
                operator = inner.operator
                operator.counter.touched += operator.nnz if every else operator.storage.cost_of_columns(local)
            elif inner.nnz:
                return None
        if plan is None or not self.link.holders.aligned(plan.level):
            return None
        return np.asarray(finish(self.link.ask(("gram", free, w.expression, single, plan))[0]))


def _count(m: LinearMap, x: Array | None) -> None:
    """Count the work of a product with x, or with the transpose, as who takes it alone does."""
    if isinstance(m, CountedMap):
        m.touched += m.inner.nnz
    elif isinstance(m, KernelMatrix):
        storage, touched = m.operator.storage, m.operator.nnz
        if x is not None:
            support = np.flatnonzero(x)
            if 2 * support.size < x.size and storage.prefers_columns(support):
                touched = storage.cost_of_columns(support)
        m.operator.counter.touched += touched
    elif isinstance(m, Scaled):
        _count(m.inner, x)
    elif isinstance(m, Compose):
        # what the inner map is applied to makes a dense vector, as a rule
        _count(m.outer, None)
        _count(m.inner, x)
    elif isinstance(m, Add):
        _count(m.left, x)
        _count(m.right, x)


class HeldSum:
    """The sums and derivatives of a loss, asked of the workers where its arguments are vectors of rows."""

    link: Link

    def value(self, z: Any) -> float:
        if isinstance(z, RowVector):
            return self.link.number("value", z.expression)
        return float(super().value(z))  # type: ignore[misc]

    def value_gradient(self, z: Any, out: Any) -> float:
        if isinstance(z, RowVector) and isinstance(out, RowVector):
            return self.link.slope(z.expression, out)
        return float(super().value_gradient(*map(np.asarray, (z, out))))  # type: ignore[misc]

    def conjugate(self, y: Any) -> float:
        if isinstance(y, RowVector):
            return self.link.number("conjugate", y.expression)
        return float(super().conjugate(y))  # type: ignore[misc]

    def curvature(self, z: Any, out: Any) -> None:
        if isinstance(z, RowVector) and isinstance(out, RowVector):
            out.become(Expression(self.link, "curvature", (z.expression,)))
            return
        super().curvature(*map(np.asarray, (z, out)))  # type: ignore[misc]

    def bent(self, h: Any, v: Any) -> Any:
        if isinstance(h, RowVector) or isinstance(v, RowVector):
            return self.link.vector("bent", self.link.given(h), self.link.given(v))
        return super().bent(h, v)  # type: ignore[misc]

    def dot(self, a: Any, b: Any) -> float:
        if isinstance(a, RowVector) or isinstance(b, RowVector):
            return self.link.number("dot", self.link.given(a), self.link.given(b))
        return float(super().dot(a, b))  # type: ignore[misc]

    def prox(self, v: Any, t: Any, out: Any) -> None:
        numbers = np.empty(len(v))
        super().prox(np.asarray(v), t, numbers)  # type: ignore[misc]
        out[:] = numbers

    def into_domain(self, y: Any) -> None:
        numbers = np.array(y)
        super().into_domain(numbers)  # type: ignore[misc]
        y[:] = numbers


class HeldLoss(HeldSum, FastLoss):
    """A loss of single predictions."""


class HeldRowLoss(HeldSum, FastRows):
    """A loss of rows of predictions."""


def handed_over(
    original: SumTerm, term: SumTerm, f: Any, own: Callable[[], TermEvaluator]
) -> tuple[SumTerm, Any] | None:
    """A loss and its term with their rows in the hands of those who hold its data; None where it has no such data, or a map that has no parts.

    `original` is the term of the canonical form, `term` and `f` are it on kernels.
    """
    if not isinstance(f, FastLoss | FastRows) or not isinstance(original.f, LossFunction | VectorLossFunction):
        return None
    matrices: dict[int, Held] = {}
    try:
        light = elsewhere(original.map, matrices)
    except TypeError:
        return None
    if len(matrices) != 1:
        return None
    (matrix,) = matrices.values()
    each = original.map.rows // max(1, matrix.shape[0])
    if original.map.leaves != tuple((a * each, b * each) for a, b in matrix.leaves):
        return None
    try:
        holders = matrix.hands.term(replace(original, map=light, side=None, turned=None), each)
    except TypeError:
        return None
    if holders is None:
        return None
    weights = term.f.w if isinstance(term.f, LossFunction) else None
    link = Link(term.map.rows, holders, own, term.map.offset, weights, speculates=True)
    held_map: HeldMap = object.__new__(HeldMap)
    vars(held_map).update(vars(term.map), link=link)
    found: Any = object.__new__(HeldLoss if isinstance(f, FastLoss) else HeldRowLoss)
    vars(found).update(vars(f), link=link)
    return replace(term, map=held_map), found


def elsewhere(stacked: Stacked, found: dict[int, Held]) -> Stacked:
    """The map without its data, whose holders know them by name; these are collected in `found`. Blocks keep their places alone."""

    def leave(A: Any) -> Any:
        found[id(A)] = A
        return Elsewhere(A.hands.key, 0, *A.shape)

    return _with_data(stacked, lambda A: leave(A) if isinstance(A, Held) else A, lambda A: A.leaves, bare=True)


def here(stacked: Stacked, data: Any, leaves: Any) -> Stacked:
    """The map of a holder's part with the holder's data in their place."""
    return _with_data(stacked, lambda A: data if isinstance(A, Elsewhere) else A, lambda _: leaves, bare=False)


def _with_data(stacked: Stacked, data: Callable[[Any], Any], leaves: Callable[[Any], Any], bare: bool) -> Stacked:
    def changed(m: LinearMap) -> LinearMap:
        if isinstance(m, Matrix | LeftMultiply):
            A = data(m.A)
            if A is m.A:
                return m
            if m.transposed:
                raise TypeError("the rows of the data are columns of the map")
            given = leaves(m.A)
            return (
                Matrix(A, False, m.name, given) if isinstance(m, Matrix) else LeftMultiply(A, m.k, False, m.name, given)
            )
        if isinstance(m, Scaled):
            return Scaled(changed(m.inner), m.c)
        if isinstance(m, Compose):
            return Compose(changed(m.outer), m.inner)
        if isinstance(m, Add):
            return Add(changed(m.left), changed(m.right))
        return m

    def place(b: Block) -> Block:
        return Block(b.name, b.start, b.stop, b.shape, None) if bare else b  # type: ignore[arg-type]

    made = Stacked(tuple((place(b), changed(m)) for b, m in stacked.parts), stacked.offset, stacked.shape)
    made.leaves = stacked.leaves
    return made
