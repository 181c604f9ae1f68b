"""Compiled passes of `pdhg` over sparse rows, where all functions are sums over entries: linear and quadratic programs at size.

An iteration costs three passes over the stored numbers and the vectors, in place of a call of NumPy for each operation. Blocks of rows and
unknowns are cut by their number alone, so the sums do not depend on threads.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from fwdsl.atoms.base import Array, VectorFunction
from fwdsl.backends.kernels.compile import kernel
from fwdsl.backends.pdhg.loops import ascended, descended, gathered, reflected
from fwdsl.backends.problem import PreparedProblem
from fwdsl.backends.sparse_rows import SparseRows, has_short_rows, sparse_map
from fwdsl.canon.form import Canonical

LONGEST = 64
"""The mean entries of a row up to which rows are sparse."""

LEAST = 2_000
"""Unknowns and rows from which on the passes are worth their tables."""

BLOCK = 1 << 14
"""Rows or unknowns that a call of a kernel works on."""

Range = tuple[int, int]
EntryArguments = tuple[float, float, Array, Array]
"""c, ridge, lo and hi of a sum over entries."""


def applies(form: Canonical) -> bool:
    """True if all functions are sums over entries, of sparse rows, and there are enough of them."""
    if form.size + sum(t.map.rows for t in form.terms) < LEAST:
        return False
    functions = [*(t.f for t in form.terms), *(b.g for b in form.blocks)]
    if not all(isinstance(f, VectorFunction) and f.entries() is not None for f in functions):
        return False
    return all(has_short_rows(t, min(LONGEST, form.size // 4)) for t in form.terms)


def _arguments(f: VectorFunction) -> EntryArguments:
    found = f.entries()
    assert found is not None, "`applies` has asked"
    lo, hi = found.bounds(f.size)
    return float(found.c), float(found.ridge), lo.copy(), hi.copy()


def _blocks(start: int, stop: int) -> list[Range]:
    return [(at, min(at + BLOCK, stop)) for at in range(start, stop, BLOCK)]


class Passes:
    """The maps of a problem by rows and by columns, and its functions as kernels take them."""

    def __init__(self, problem: PreparedProblem) -> None:
        canonical = problem.canonical
        self.problem, self.pool, self.q, self.size = problem, problem.pool, problem.q, problem.size
        self.numbers = sum(t.map.nnz for t in canonical.terms)
        maps = [sparse_map(t, canonical.size) for t in canonical.terms]
        self.rows = [SparseRows.of(A) for A in maps]
        self.columns = [SparseRows.of(csr_array(A.T.tocsr())) for A in maps]
        self.offsets = [t.map.offset.copy() for t in canonical.terms]
        self.f = [_arguments(t.f) for t in canonical.terms if isinstance(t.f, VectorFunction)]
        self.g = [(b.slice, _arguments(b.g)) for b in canonical.blocks]

    def _count(self) -> None:
        """Count a product with all stored numbers: the counts are added up, so one of them may take it."""
        for operator in self.problem.operators.values():
            operator.counter.touched += self.numbers
            return
        for m in self.problem.counted:
            m.touched += self.numbers
            return

    def descend(self, x: Array, kty: Array, scale: Array, step: float) -> tuple[Array, float]:
        """x^, and the squared step in its metric; the product with K that follows is counted."""
        self._count()
        out, fn, total = np.empty_like(x), kernel(descended), 0.0
        for at, own in self.g:
            parts = x[at], kty[at], self.q[at], scale[at], step, *own, out[at]
            found = self.pool.run(lambda b, parts=parts: fn(*parts, *b), _blocks(0, at.stop - at.start))  # type: ignore[misc]
            total += sum(found)
        return out, total

    def ascend(
        self, k: int, x_hat: Array, kx: Array, y: Array, scale: Array, step: float
    ) -> tuple[Array, Array, float, float]:
        """K x^ and y^ of term k, the squared step in its metric, and <y^ - y, K x^ - K x>."""
        kx_hat, y_hat, fn = np.empty_like(kx), np.empty_like(y), kernel(ascended)
        blocks = _blocks(0, y.size)
        found = np.zeros((len(blocks), 2))
        parts = *self.rows[k].arrays, x_hat, kx, self.offsets[k], y, scale, step, *self.f[k], kx_hat, y_hat
        self.pool.run(lambda i: fn(*parts, found[i], *blocks[i]), range(len(blocks)))
        square, cross = (float(v) for v in found.sum(axis=0))
        return kx_hat, y_hat, square, cross

    def adjoint(self, ys: list[Array]) -> Array:
        """K'y of all terms."""
        self._count()
        out, fn = np.zeros(self.size), kernel(gathered)
        for T, y in zip(self.columns, ys, strict=True):
            self.pool.run(lambda b, T=T, y=y: fn(*T.arrays, y, out, *b), _blocks(0, self.size))  # type: ignore[misc]
        return out

    def reflect(self, share: float, hat: Array, now: Array, anchor: Array) -> Array:
        """share (2 hat - now) + (1 - share) anchor."""
        out, fn = np.empty_like(hat), kernel(reflected)
        self.pool.run(lambda b: fn(share, hat, now, anchor, out, *b), _blocks(0, hat.size))
        return out
