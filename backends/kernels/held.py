"""Matrices in the hands of workers as the methods see them: the sums of `storage`, bit for bit, each worker's taken by itself.

A holder has an operator for each node of the tree of leaves that lies within its rows (`fwdsl.sums.subtrees`), and gives the values of its nodes;
they are finished here. What the whole of the data decides is told to it. Where nobody can be asked any more, and where a Gram matrix takes nodes that
no holder has the whole of, the storage of the source does the work here.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fwdsl.backends.kernels.blocks import Block
from fwdsl.backends.kernels.pool import Pool
from fwdsl.backends.kernels.storage import Array, Dense, GramPlan, Sparse, Support, stored
from fwdsl.backends.kernels.streamed import StreamedDense, StreamedSparse, streamed
from fwdsl.readers.held_rows import HeldRows
from fwdsl.readers.row_blocks import is_on_disk
from fwdsl.sums import finish


def _fill(out: Array, parts: list[Array]) -> None:
    at = 0
    for part in parts:
        out[at : at + part.size] = part
        at += part.size


class _Held:
    """The products of a storage, asked of the workers."""

    held: HeldRows

    def matvec(self, x: Array, out: Array, pool: Pool) -> None:
        pool.look()
        found = self.held.hands.rows("matvec", (x,))
        if found is None:
            super().matvec(x, out, pool)  # type: ignore[misc]
        else:
            _fill(out, found)

    def rmatvec(self, y: Array, out: Array, pool: Pool) -> None:
        pool.look()
        found = self.held.hands.nodes("rmatvec", (y,))
        if found is None:
            super().rmatvec(y, out, pool)  # type: ignore[misc]
        else:
            out[:] = finish(found)

    def matvec_columns(self, x: Array, support: Support, out: Array, pool: Pool) -> None:
        pool.look()
        found = self.held.hands.rows("matvec_columns", (x[support], support))
        if found is None:
            super().matvec_columns(x, support, out, pool)  # type: ignore[misc]
        else:
            _fill(out, found)

    def rmatvec_rows(self, y: Array, rows: Support, out: Array, pool: Pool) -> None:
        pool.look()
        found = self.held.hands.nodes("rmatvec_rows", (y,), (rows,))
        if found is None:
            super().rmatvec_rows(y, rows, out, pool)  # type: ignore[misc]
        else:
            total = finish(found)
            out[:] = 0.0 if total is None else total

    def row_squares(self) -> Array:
        found = self.held.hands.rows("row_squares")
        return super().row_squares() if found is None else np.concatenate(found)  # type: ignore[misc]


class HeldDense(_Held, Dense):
    """A dense matrix in the hands of workers, whose source lies in memory."""

    def gram(
        self, support: Support | None, d: Array, pool: Pool, plan: GramPlan | None = None, single: bool = False
    ) -> Array:
        plan = self.gram_plan(support) if plan is None else plan
        found = self.held.hands.nodes("gram", (d,), (support, plan, single), plan.level)
        return super().gram(support, d, pool, plan, single) if found is None else np.asarray(finish(found))


class HeldDenseOnDisk(HeldDense, StreamedDense):
    """The same of a source in files."""


class HeldSparse(_Held, Sparse):
    """A sparse matrix in the hands of workers, whose source lies in memory."""

    def cost_of_columns(self, support: Support) -> int:
        return int(self.held.in_columns()[support].sum())  # type: ignore[union-attr]

    def gram(self, support: Support | None, d: Array, pool: Pool, plan: GramPlan | None = None) -> Array:
        plan = self.gram_plan(support) if plan is None else plan
        found = self.held.hands.nodes("gram", (d,), (support, plan, False), plan.level)
        return super().gram(support, d, pool, plan) if found is None else np.asarray(finish(found))


class HeldSparseOnDisk(HeldSparse, StreamedSparse):
    """The same of a source in files."""


def held(A: HeldRows, leaves: tuple[Block, ...] | None = None) -> Dense | Sparse:
    """The storage of a matrix in the hands of workers."""
    on_disk = is_on_disk(A.source)
    leaves = A.leaves if leaves is None else leaves
    own: Any = streamed(A.source, leaves) if on_disk else stored(A.source, leaves)
    kind: type[Any] = HeldDense if isinstance(own, Dense) else HeldSparse
    if on_disk:
        kind = HeldDenseOnDisk if isinstance(own, Dense) else HeldSparseOnDisk
    found: Dense | Sparse = object.__new__(kind)
    vars(found).update(vars(own), held=A)
    return found
