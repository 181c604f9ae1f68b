"""Observed entries in the hands of workers, as the methods on factors see them.

Workers hold the places, targets and weights of the entries of some rows. Predictions and slopes are vectors over the entries that stay with them
(`fwdsl.backends.row_vectors`): a question sends the rows of U that a worker's entries are in and the whole of V, and brings back rows of G V, which
nobody else has a part of, and values of nodes of G'U.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from fwdsl.atoms.base import Array
from fwdsl.atoms.loss import LossFunction
from fwdsl.backends.held_terms import HeldSum
from fwdsl.backends.kernels.pool import Pool
from fwdsl.backends.lowrank.observed import Gathers, ObservedEntries
from fwdsl.backends.lowrank.smooth import EntryLoss, Smooth
from fwdsl.backends.row_vectors import Evaluator, Expression, Link, RowVector
from fwdsl.bind.observed_places import Places
from fwdsl.bind.values import HeldEntries
from fwdsl.canon.factored import StoredLoss
from fwdsl.light_dataclass import light_dataclass
from fwdsl.readers.held_rows import OfRows
from fwdsl.sums import Rows, finish


@light_dataclass
class LossOfEntries:
    """A loss of observed entries in their order by rows: what their holders are given. `leaves` are those of the entries."""

    f: LossFunction | StoredLoss
    leaves: tuple[Rows, ...]

    def part(self, start: int, stop: int) -> LossOfEntries:
        """The loss of the entries of the leaves start..stop-1; targets in a file stay there."""
        first, last = self.leaves[start][0], self.leaves[stop - 1][1]
        leaves = tuple((a - first, b - first) for a, b in self.leaves[start:stop])
        at = slice(first, last)
        return LossOfEntries(self.f.cut(at) if isinstance(self.f, StoredLoss) else self.f.part(at), leaves)

    def evaluator(self, entries: ObservedEntries, pool: Pool) -> EntriesEvaluator:
        """The evaluator of a holder of these entries. Raises `ChangedFile`."""
        f = self.f.part(slice(0, self.f.size)) if isinstance(self.f, StoredLoss) else self.f
        return EntriesEvaluator(EntryLoss(f, pool, self.leaves), entries)


class EntriesEvaluator(Evaluator):
    """The holder's side of vectors over the entries of some rows: predictions are entries of U V'."""

    def __init__(self, f: EntryLoss, entries: ObservedEntries) -> None:
        super().__init__(f, entries.size)
        self.entries = entries
        self._latest: tuple[Array, Gathers] | None = None

    def _predict(self, U: Array, V: Array) -> Array:
        return self.entries.predict(U, V)

    def _left_of(self, y: Array, V: Array) -> Array:
        return self._operator(y).matvec(V)

    def _right_of(self, y: Array, U: Array) -> Array:
        return self._operator(y).rmatvec(U)

    def _operator(self, y: Array) -> Gathers:
        """The sparse matrix of the numbers y, which is asked for many times in a row."""
        if self._latest is None or self._latest[0] is not y:
            self._latest = y, self.entries.operator(y)
        return self._latest[1]


class HeldEntryLoss(HeldSum, EntryLoss):
    """A loss of observed entries whose predictions stay with their holders."""

    @classmethod
    def of(cls, f: LossFunction | StoredLoss, link: Link, pool: Pool, leaves: tuple[Rows, ...]) -> HeldEntryLoss:
        """The loss on this link; one whose targets stay in a file has no part here."""
        made: HeldEntryLoss = object.__new__(cls)
        if isinstance(f, LossFunction):
            vars(made).update(vars(EntryLoss(f, pool, leaves)))
        vars(made).update(pool=pool, leaves=leaves, link=link)
        return made


class HeldObserved:
    """The places of observed entries that workers hold, as an `ObservedEntries`; vectors over the entries stay with them."""

    def __init__(self, places: Places, link: Link, pool: Pool) -> None:
        self.places, self.link, self.pool = places, link, pool
        self.shape, self.size, self.touched = places.shape, places.size, 0.0
        self.leaves = places.entry_leaves

    @cached_property
    def norm_squared(self) -> float:
        """|K|^2."""
        return float(self.places.most_frequent())

    def zeros(self) -> Any:
        """A vector over the entries."""
        return self.link.vector("zeros")

    def vector(self, z: Any) -> Any:
        """A vector over the entries that a run had: of this link, or numbers."""
        own = isinstance(z, RowVector) and z.expression.link is self.link
        return z if own else RowVector(self.link.of_numbers(np.asarray(z)))

    def predict(self, U: Array, V: Array) -> Any:
        """(<U_i, V_j>) over the entries, worked out where they are needed."""
        self.touched += 1
        return self.link.vector("predict", OfRows(_kept(U)), _kept(V))

    def predict_path(self, U: Array, V: Array, DU: Array, DV: Array) -> tuple[Any, Any]:
        """(z1, z2) with <U_i + t DU_i, V_j + t DV_j> = <U_i, V_j> + t z1 + t^2 z2."""
        return self.predict(np.hstack([U, DU]), np.hstack([DV, V])), self.predict(DU, DV)

    def slopes(self, f: Smooth, z: Any, U: Array, V: Array) -> tuple[float, Any, Array, Array]:
        """(f(z), y = f'(z), G V, G'U), for one round trip."""
        self.pool.look()
        self.touched += 2
        value, y, (left, right) = self.link.slope_and(
            self._expression(z), ("left", _kept(V)), ("right", OfRows(_kept(U)))
        )
        return value, RowVector(y), _rows(left), np.asarray(finish(right))

    def left(self, y: Any, V: Array) -> Array:
        """G V."""
        self.touched += 1
        return HeldGathers(self.shape, RowVector(self._expression(y)), self.pool).matvec(V)

    def right(self, y: Any, U: Array) -> Array:
        """G'U."""
        self.touched += 1
        return HeldGathers(self.shape, RowVector(self._expression(y)), self.pool).rmatvec(U)

    def operator(self, y: Any) -> HeldGathers:
        """The sparse matrix of the numbers y. Its products are asked for many times: numbers that are in no memory go into a file first."""
        numbers = RowVector(self._expression(y))
        if self.link.is_stored:
            numbers.become(self.link.grounded(numbers))
        return HeldGathers(self.shape, numbers, self.pool)

    def _expression(self, z: Any) -> Expression:
        found = self.link.given(z)
        assert isinstance(found, Expression)
        return found


class HeldGathers:
    """A sparse matrix whose numbers stay with the workers, as an operator."""

    def __init__(self, shape: tuple[int, int], y: RowVector, pool: Pool) -> None:
        self.shape, self._y, self._pool = shape, y, pool
        self._link = y.expression.link

    def matvec(self, x: Array) -> Array:
        self._pool.look()
        return _rows(self._link.ask(("left", self._y.expression, _kept(x)))[0])

    def rmatvec(self, y: Array) -> Array:
        self._pool.look()
        return np.asarray(finish(self._link.ask(("right", self._y.expression, OfRows(_kept(y))))[0]))

    matmat = matvec
    rmatmat = rmatvec


def in_hands(
    entries: HeldEntries, f: LossFunction | StoredLoss, pool: Pool
) -> tuple[HeldObserved, HeldEntryLoss] | None:
    """The entries and the loss of their predictions in the hands of workers; None where nobody can be asked."""
    places, _ = entries.by_rows
    term = LossOfEntries(f, places.entry_leaves)
    try:
        holders = entries.hands.term(term, 0)
    except TypeError:  # a loss from outside that cannot be sent
        return None
    if holders is None:
        return None
    weights = f.w if isinstance(f, LossFunction) else None
    link = Link(f.size, holders, lambda: term.evaluator(ObservedEntries.of(places, pool), pool), weights=weights)
    return HeldObserved(places, link, pool), HeldEntryLoss.of(f, link, pool, places.entry_leaves)


def _kept(U: Array) -> Array:
    """A factor of its own, by rows: an expression may be sent again."""
    return np.array(U, dtype=np.float64, order="C")


def _rows(found: Any) -> Array:
    return np.concatenate([rows for _, rows in found])
