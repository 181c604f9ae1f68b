"""Observed entries that stay in files, as the methods on factors see them: each question goes through the files once, a piece at a time.

No vector over the entries is kept: predictions are entries of U V', slopes are made of them and of targets, and a question works out again what it
needs of them (`fwdsl.backends.row_vectors`). Where that would be much, numbers are kept in a file. Sums are
those of `EntriesEvaluator`, bit for bit: pieces of a leaf are nodes of the tree that losses are added up by, and sums over rows and columns go on
from one piece to the next.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from fwdsl.atoms.base import Array, MatrixLike
from fwdsl.backends.functions import SAMPLES_PER_BLOCK
from fwdsl.backends.kernels.compile import kernel
from fwdsl.backends.kernels.pool import Pool
from fwdsl.backends.kernels.storage import readonly
from fwdsl.backends.lowrank.held import HeldEntryLoss, HeldObserved
from fwdsl.backends.lowrank.observed import plain, predict
from fwdsl.backends.lowrank.smooth import EntryLoss
from fwdsl.backends.row_vectors import Definition, Evaluator, Link, Ref, Want
from fwdsl.bind.observed_places import PIECE, Places
from fwdsl.canon.factored import StoredLoss
from fwdsl.readers.held_rows import own_rows
from fwdsl.readers.scratch import Scratch
from fwdsl.sums import Node, Partials, Rows

DEEPEST = 7
"""The longest chain of expressions: each question works all of it out again."""

LEVEL = (PIECE // SAMPLES_PER_BLOCK).bit_length() - 1
"""The level of a piece in the tree of the blocks that a loss is added up by."""


class StreamedEntries:
    """The holder of all entries (`fwdsl.backends.row_vectors.Holders`), which has them in files."""

    def __init__(self, places: Places, f: StoredLoss, pool: Pool) -> None:
        self.places, self.f, self.pool = places, f, pool

    def run(
        self, question: Callable[[Collection[int]], tuple[Sequence[Definition], Sequence[Want], Sequence[int]]]
    ) -> list[tuple[Node, list[Any]]]:
        """The wanted values, as those of one node."""
        defined, wants, _ = question(())
        outs = [self._out(want) for want in wants]
        sums = self.pool.sum(lambda leaf: self._leaf(leaf, defined, wants, outs), self.places.entry_leaves)
        return [((0, 0), [found if out is None else out for out, found in zip(outs, sums, strict=True)])]

    def aligned(self, level: int) -> bool:
        """True: all nodes have one holder."""
        return True

    def _out(self, want: Want) -> Any:
        """The place of numbers that are no sums over rows."""
        if want[0] == "keep":
            return want[2]
        if want[0] == "left":
            return np.zeros((self.places.shape[0], *want[2].shape[1:]))
        return np.empty(self.places.size) if want[0] == "vector" else None

    def _leaf(
        self,
        leaf: Rows,
        defined: Sequence[Definition],
        wants: Sequence[Want],
        outs: Sequence[Any],
    ) -> tuple[Any, ...]:
        """The sums over a leaf; what is no sum is written into `outs`."""
        sums: list[Any] = [Partials() if out is None else None for out in outs]
        for k, want in enumerate(wants):
            if want[0] == "right":
                sums[k] = np.zeros((self.places.shape[1], *want[2].array.shape[1:]))
        for start in range(*leaf, PIECE):
            self.pool.look()
            at = slice(start, min(start + PIECE, leaf[1]))
            piece = Piece(self, at)
            for number, what, args in defined:
                piece.define(number, what, own_rows(args, piece.rows), at)
            for k, want in enumerate(wants):
                args = own_rows(want[1:], piece.rows)
                if want[0] == "left":
                    piece.add_left(args[0], args[1], outs[k])
                elif want[0] == "right":
                    piece.add_right(args[0], args[1], sums[k])
                elif want[0] in ("vector", "keep"):
                    outs[k][at] = piece.want("vector", args[:1])
                else:
                    sums[k].add(piece.want(want[0], args), LEVEL)
        return tuple(found.total() if isinstance(found, Partials) else found for found in sums)


class Piece(Evaluator):
    """The evaluator of expressions for the entries of a piece, of which it reads what it needs."""

    def __init__(self, entries: StreamedEntries, at: slice) -> None:
        self.entries, self.at, self.size = entries, at, at.stop - at.start
        self.known = {}
        first, self.ends = entries.places.ends_of(at.start, at.stop)
        self.rows = slice(first, first + self.ends.size - 1)

    @cached_property
    def f(self) -> EntryLoss:  # type: ignore[override]
        """The loss of the piece, as its one leaf."""
        return EntryLoss(self.entries.f.part(self.at), Pool(1), ((0, self.size),))

    @cached_property
    def columns(self) -> Any:
        """The columns of the entries."""
        return readonly(self.entries.places.columns_of(self.at.start, self.at.stop))

    def _predict(self, U: Array, V: Array) -> Array:
        out = np.empty(self.size)
        kernel(predict, reorder=True)(readonly(self.ends), self.columns, plain(U), plain(V), out)
        return out

    def add_left(self, y: Any, X: Array, out: Any) -> None:
        """Add the products of these entries with X to the rows of `out`."""
        self._add(entries_left, y, X, out[self.rows])

    def add_right(self, y: Any, U: Array, out: Any) -> None:
        """The same of the transpose, with U of the rows of the piece."""
        self._add(entries_right, y, U, out)

    def _add(self, loop: Any, y: Any, X: Array, out: Array) -> None:
        numbers = self.known[y] if isinstance(y, Ref) else y
        ends, X = readonly(self.ends), plain(X)
        kernel(loop)(ends, self.columns, readonly(numbers), X.reshape(len(X), -1), out.reshape(len(out), -1))


def streamed(places: Places, f: StoredLoss, pool: Pool) -> tuple[HeldObserved, HeldEntryLoss]:
    """Entries that stay in files, and the loss of their predictions."""

    def nobody() -> Evaluator:
        raise AssertionError("files can always be asked")

    link = Link(f.size, StreamedEntries(places, f, pool), nobody, deepest=DEEPEST, store=Scratch)
    return HeldObserved(places, link, pool), HeldEntryLoss.of(f, link, pool, places.entry_leaves)


def entries_left(ends: Any, columns: Any, y: Any, X: MatrixLike, out: Any) -> None:
    """out += G X for the sparse matrix G of the numbers y, whose row i has the entries from ends[i] up to ends[i + 1]."""
    k = X.shape[1]
    for i in range(ends.size - 1):
        for e in range(ends[i], ends[i + 1]):
            a = y[e]
            j = columns[e]
            for c in range(k):
                out[i, c] += a * X[j, c]


def entries_right(ends: Any, columns: Any, y: Any, U: MatrixLike, out: Any) -> None:
    """out += G'U for the same matrix."""
    k = U.shape[1]
    for i in range(ends.size - 1):
        for e in range(ends[i], ends[i + 1]):
            a = y[e]
            j = columns[e]
            for c in range(k):
                out[j, c] += a * U[i, c]
