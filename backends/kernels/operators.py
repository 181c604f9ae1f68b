"""A matrix as the methods see it: products, columns, Gram matrices, on threads, with the work counted."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from fwdsl.backends.kernels.blocks import Block
from fwdsl.backends.kernels.pool import Pool
from fwdsl.backends.kernels.storage import Array, Dense, GramPlan, Sparse, Support, readonly, stored
from fwdsl.light_dataclass import light_state
from fwdsl.readers.held_rows import is_held
from fwdsl.readers.row_blocks import is_on_disk

if TYPE_CHECKING:
    from fwdsl.atoms.base import MatrixLike


@light_state
class Counter:
    """Work done: products with A, with A', and stored numbers touched (a data pass is `nnz` of them)."""

    matvecs: int = 0
    rmatvecs: int = 0
    touched: int = 0


class Operator:
    """A of shape (n, d): a NumPy array in C or F order (memory maps too) or a SciPy sparse matrix or array, float32 or float64.

    Data is viewed, not copied, except that 64-bit indices are narrowed where they fit and that A'y of a matrix by rows makes a transposed copy and
    keeps it: at once on several threads, after some products on one; so does the first A x of one by columns. Results do not depend on the number of
    threads, bit for bit.
    Vectors are contiguous float64. `leaves` are those of the rows (`fwdsl.sums`) where A is a part of the data, which does not tell them.
    """

    def __init__(self, A: MatrixLike, threads: int | Pool = 1, leaves: tuple[Block, ...] | None = None) -> None:
        self._take(storage_of(A, leaves), threads if isinstance(threads, Pool) else Pool(threads), Counter())

    @classmethod
    def of_storage(cls, storage: Dense | Sparse, pool: Pool) -> Operator:
        """The operator of a matrix that is laid out already."""
        operator = object.__new__(cls)
        operator._take(storage, pool, Counter())
        return operator

    def again(self, pool: Pool) -> Operator:
        """The same matrix on another pool, its work counted afresh; a transposed copy that was made serves on."""
        return Operator.of_storage(self.storage, pool)

    def _take(self, storage: Dense | Sparse, pool: Pool, counter: Counter) -> None:
        self.storage = storage
        self.pool = pool
        self.counter = counter
        #: How a Gram matrix is taken (`storage.gram_plan`): the holder of a part of the rows answers as the whole would.
        self.gram_plan: Callable[[Support | None], GramPlan] = storage.gram_plan
        self.shape = storage.shape
        self.nnz = storage.nnz

    @property
    def blocks(self) -> tuple[Block, ...]:
        return self.storage.blocks

    @property
    def leaves(self) -> tuple[Block, ...]:
        """The leaves of its rows, by which sums over them are taken (`fwdsl.sums`)."""
        return self.storage.leaves

    def part(self, start: int, stop: int) -> Operator:
        """The rows of the leaves start..stop-1 as an operator of its own, its work counted afresh.

        Where these leaves are those of one node, its A'y and Gram matrices are the values of that node: `finish` has those of the whole from them.
        """
        operator = object.__new__(Operator)
        operator._take(self.storage.part(start, stop), self.pool, Counter())
        operator.gram_plan = self.gram_plan
        return operator

    @property
    def passes(self) -> float:
        return self.counter.touched / self.nnz if self.nnz else 0.0

    def matvec(self, x: Array, out: Array | None = None) -> Array:
        """A x, shape (n,)."""
        x, out = self._vectors(x, out, self.shape[1], self.shape[0])
        self.storage.matvec(x, out, self.pool)
        self.counter.matvecs += 1
        self.counter.touched += self.nnz
        return out

    def matvec_block(self, x: Array, out: Array, start: int, stop: int) -> None:
        """out[start:stop] = A[start:stop] x, for a driver that fuses the product with work on those rows; not counted."""
        self.storage.matvec_block(readonly(x), out, start, stop)

    def rmatvec(self, y: Array, out: Array | None = None) -> Array:
        """A'y, shape (d,)."""
        y, out = self._vectors(y, out, self.shape[0], self.shape[1])
        self.storage.rmatvec(y, out, self.pool)
        self.counter.rmatvecs += 1
        self.counter.touched += self.nnz
        return out

    def matvec_columns(self, x: Array, support: Support, out: Array | None = None) -> Array:
        """A x for x of shape (d,) that is zero outside `support` (increasing), touching those columns only where that is cheaper."""
        x, out = self._vectors(x, out, self.shape[1], self.shape[0])
        if not self.storage.prefers_columns(support):
            return self.matvec(x, out)
        self.storage.matvec_columns(x, readonly(support), out, self.pool)
        self.counter.matvecs += 1
        self.counter.touched += self.storage.cost_of_columns(support)
        return out

    def rmatvec_rows(self, y: Array, rows: Support, out: Array | None = None) -> Array:
        """A'y for y of shape (n,) that is zero outside `rows` (increasing), touching those rows only where that is cheaper."""
        y, out = self._vectors(y, out, self.shape[0], self.shape[1])
        if not self.storage.prefers_rows(rows):
            return self.rmatvec(y, out)
        self.storage.rmatvec_rows(y, readonly(rows), out, self.pool)
        self.counter.rmatvecs += 1
        self.counter.touched += self.storage.cost_of_rows(rows)
        return out

    def columns(self, support: Support) -> Operator:
        """A[:, support] as an operator of its own, copied; its work counts here."""
        part = self.storage.columns(support)
        self.counter.touched += part.nnz
        operator = object.__new__(Operator)
        operator._take(part, self.pool, self.counter)
        return operator

    def gram(self, support: Support | None, d: Array, single: bool = False) -> Array:
        """A[:, support]' diag(d) A[:, support], dense and symmetric, shape (k, k); None for all columns. With `single` and d >= 0 the products of
        dense data are taken in single precision, in half the time."""
        self.counter.touched += self.nnz if support is None else self.storage.cost_of_columns(support)
        plan = self.gram_plan(support)
        if single and isinstance(self.storage, Dense):
            return self.storage.gram(support, readonly(d), self.pool, plan, single)
        return self.storage.gram(support, readonly(d), self.pool, plan)

    @staticmethod
    def _vectors(v: Array, out: Array | None, size: int, length: int) -> tuple[Array, Array]:
        if v.shape != (size,):
            raise ValueError(f"a vector of {size} numbers is needed, not of shape {v.shape}")
        out = np.empty(length) if out is None else out
        return readonly(np.ascontiguousarray(v, dtype=np.float64)), out


def storage_of(A: MatrixLike, leaves: tuple[Block, ...] | None) -> Dense | Sparse:
    """The storage of a matrix in memory, of one that stays on its disk, or of one that workers hold."""
    if not is_on_disk(A):
        return stored(A, leaves)
    if is_held(A):
        from fwdsl.backends.kernels.held import held

        return held(A, leaves)  # type: ignore[arg-type]
    from fwdsl.backends.kernels.streamed import streamed

    return streamed(A, leaves)
