"""The canonical functions on kernels: the same values as the references in `fwdsl.atoms`, fast and on threads."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fwdsl.atoms.base import Array, VectorFunction
from fwdsl.atoms.entries import EntrySum
from fwdsl.atoms.loss import LossFunction
from fwdsl.atoms.vector_loss import VectorLossFunction
from fwdsl.atoms.vectors.ridge import Ridged
from fwdsl.backends.kernels.compile import kernel
from fwdsl.backends.kernels.pool import Pool
from fwdsl.sums import Rows, by_samples, leaves_of_vectors, pieces, sum_of_numbers, sum_of_pieces, tree_dot

if TYPE_CHECKING:
    from fwdsl.atoms.matrices.lines import Lines

SAMPLES_PER_BLOCK = 16_384
"""Samples a kernel call works on: their predictions, targets, weights and results stay in cache."""


class _ByBlocks(ABC):
    """A weighted loss, evaluated on fixed blocks of samples; sums are taken over the leaves of the predictions (`fwdsl.sums`)."""

    f: LossFunction | VectorLossFunction

    #: Each entry may have a step of its own.
    is_entrywise: bool

    def __init__(
        self, f: LossFunction | VectorLossFunction, pool: Pool, block: int, leaves: tuple[Rows, ...] | None
    ) -> None:
        self.f = f
        self.pool = pool
        n = f.w.size
        self.blocks = list(pairwise([*range(0, n, block), n]))
        leaves = leaves_of_vectors(n) if leaves is None else leaves
        self.leaves = leaves
        self._of_leaves = [len(of_leaf) for of_leaf in pieces(leaves, block)]
        # as many pieces at a time as have the samples of a block
        self._works: list[list[Rows]] = []
        for piece in (p for of_leaf in pieces(leaves, block) for p in of_leaf):
            if self._works and piece[1] - self._works[-1][0][0] <= block:
                self._works[-1].append(piece)
            else:
                self._works.append([piece])

    def dot(self, a: Array, b: Array) -> float:
        """<a, b> for vectors of the size of the predictions."""
        return tree_dot(a, b, self.leaves)

    def _samples(self, v: Array) -> Array:
        """A vector of the size of the predictions, a sample an entry or a row."""
        return v

    @abstractmethod
    def _data(self, a: int, b: int, w: Array) -> tuple[NDArray[Any], ...]:
        """The arguments of kernels for the samples a..b-1 beside their predictions, with these weights."""

    def _run(self, fn: Any, v: Array, *outs: Array, step: tuple[float, ...] = (), w: Array | None = None) -> None:
        """Run a kernel of the loss on all blocks."""
        compiled, weights = kernel(fn), self.f.w if w is None else w
        first, *others = [self._samples(u) for u in (v, *outs)]

        def run(block: tuple[int, int]) -> Any:
            a, b = block
            return compiled(first[a:b], *step, *self._data(a, b, weights), *(u[a:b] for u in others))

        self.pool.run(run, self.blocks)

    def _sum(self, fn: Any, v: Array, *outs: Array) -> float:
        """The sum of the results of a kernel of the loss."""
        compiled, weights = kernel(fn), self.f.w
        first, *others = [self._samples(u) for u in (v, *outs)]

        def run(block: Rows) -> float:
            a, b = block
            return float(compiled(first[a:b], *self._data(a, b, weights), *(u[a:b] for u in others)))

        return self._added(run)

    def _added(self, run: Callable[[Rows], float]) -> float:
        """The tree sum of what the pieces of all leaves give."""
        if self._of_leaves == [1]:
            # one piece in all, as of small data
            return run(self._works[0][0])
        values = [v for part in self.pool.run(lambda work: [run(p) for p in work], self._works) for v in part]
        if len(values) == len(self._of_leaves):
            # a piece a leaf
            return sum_of_numbers(values)
        found = iter(values)
        total = sum_of_pieces([next(found) for _ in range(count)] for count in self._of_leaves)
        return 0.0 if total is None else float(total)

    def value(self, z: Array) -> float:
        """The sum alone. Slopes besides cost little; a loop without them would have to be compiled."""
        compiled, z = kernel(self.f.loss.value_gradient_loop), self._samples(z)

        def run(block: tuple[int, int]) -> float:
            a, b = block
            return float(compiled(z[a:b], *self._data(a, b, self.f.w), np.empty_like(z[a:b])))

        return self._added(run)

    def value_gradient(self, z: Array, out: Array) -> float:
        return self._sum(self.f.loss.value_gradient_loop, z, out)

    def conjugate(self, y: Array) -> float:
        return self._sum(self.f.loss.conjugate_loop, y)

    def curvature(self, z: Array, out: Array) -> None:
        """Write what `bent` asks of a generalised Hessian at z into `out`: of a loss of single predictions its diagonal."""
        self._run(self.f.loss.curvature_loop, z, out)

    def prox(self, v: Array, t: float | Array, out: Array) -> None:
        """argmin_z sum_j t_j f_j(z_j) + |z - v|^2 / 2, into `out`; t is one step, or one an entry where `is_entrywise`."""
        step, w = (t, self.f.w) if isinstance(t, float) else (1.0, self.f.w * t)
        self._run(self.f.loss.prox_loop, v, out, step=(step,), w=w)


class FastLoss(_ByBlocks):
    """A loss of single predictions."""

    f: LossFunction
    is_entrywise = True

    def __init__(self, f: LossFunction, pool: Pool, leaves: tuple[Rows, ...] | None = None) -> None:
        super().__init__(f, pool, SAMPLES_PER_BLOCK, leaves)

    def _data(self, a: int, b: int, w: Array) -> tuple[NDArray[Any], ...]:
        return self.f.b[a:b], w[a:b], self.f.p

    def bent(self, h: Array, v: Array) -> Array:
        """The generalised Hessian times v, h being what `curvature` gave."""
        return h * v

    @cached_property
    def dual_bounds(self) -> tuple[Array, Array]:
        return self.f.dual_bounds()

    def into_domain(self, y: Array) -> None:
        """Move y, in place, into the domain of f*, which rounding may have left by an ulp."""
        np.clip(y, *self.dual_bounds, out=y)


class FastRows(_ByBlocks):
    """A loss of rows of predictions."""

    f: VectorLossFunction
    is_entrywise = False

    def __init__(self, f: VectorLossFunction, pool: Pool, leaves: tuple[Rows, ...] | None = None) -> None:
        samples = None if leaves is None else by_samples(leaves, f.k)
        super().__init__(f, pool, max(1, SAMPLES_PER_BLOCK // max(1, f.k)), samples)

    def _samples(self, v: Array) -> Array:
        return v.reshape(-1, self.f.k)

    def _data(self, a: int, b: int, w: Array) -> tuple[NDArray[Any], ...]:
        return self.f.y[a:b], w[a:b]

    def bent(self, h: Array, v: Array) -> Array:
        """The Hessian times v, h being what `curvature` gave."""
        compiled, out = kernel(self.f.loss.bent_loop), np.empty_like(v)
        of, rows, into = self._samples(h), self._samples(v), self._samples(out)
        self.pool.run(lambda part: compiled(of[slice(*part)], rows[slice(*part)], into[slice(*part)]), self.blocks)
        return out

    def into_domain(self, y: Array) -> None:
        """Move y, in place, into the domain of f*, which rounding may have left."""
        if not math.isfinite(self.conjugate(y)):
            y[:] = self.f.into_domain(y)


class FastVector:
    """A norm, a set or a pair, with its prox compiled."""

    def __init__(self, f: VectorFunction) -> None:
        self.f = f
        self.args = f.kernel_args() if f.compiled else ()

    @cached_property
    def entries(self) -> EntrySum | None:
        return self.f.entries()

    @property
    def is_entrywise(self) -> bool:
        """True if each entry may have a step of its own."""
        return self.entries is not None

    def prox(self, v: Array, t: float | Array, out: Array) -> None:
        """argmin_x t g(x) + |x - v|^2 / 2, into `out`; for sums over entries t may be one step an entry."""
        if not isinstance(t, float):
            assert self.entries is not None
            out[:] = self.entries.prox(v, t)
            return
        if self.f.compiled:
            share, step = self.f.prox_change(t)
            kernel(self.f.prox_kernel)(v if share == 1.0 else share * v, step, out, *self.args)
        elif self.lines is not None:
            self._prox_of_lines(self.lines, v, t, out)
        else:
            out[:] = self.f.prox(v, t)

    def prox_seldom(self, v: Array, t: float, out: Array) -> None:
        """The same for a method that makes few calls: nothing is compiled for them where NumPy goes through all entries at once."""
        if without_ridge(self.f).vectorised:
            out[:] = self.f.prox(v, t)
        else:
            self.prox(v, t, out)

    @cached_property
    def lines(self) -> Lines | None:
        """The function as one of lines, where only one line has a kernel."""
        from fwdsl.atoms.matrices.lines import Lines

        found = without_ridge(self.f)
        return found if isinstance(found, Lines) and found.inner.compiled else None

    def _prox_of_lines(self, found: Lines, v: Array, t: float, out: Array) -> None:
        """The compiled prox of one line, line by line. A ridge over all lines is one of each."""
        line = Ridged(found.inner, self.f.c) if isinstance(self.f, Ridged) else found.inner
        share, step = line.prox_change(t)
        compiled, args = kernel(line.prox_kernel), line.kernel_args()
        ins = np.ascontiguousarray(found.lines(share * v))
        outs = np.empty_like(ins)
        for one, into in zip(ins, outs, strict=True):
            compiled(one, step, into, *args)
        out[:] = found.flat(outs)

    def into_domain(self, y: Array) -> None:
        """Move y, in place, into the domain of g*, which rounding may have left by an ulp."""
        if not math.isfinite(self.f.conjugate(y)):
            y[:] = self.f.dual_project(y)
            y *= self.f.dual_scale(y)

    def value(self, x: Array) -> float:
        return self.f.value(x)

    def conjugate(self, v: Array) -> float:
        """g*(v); with a ridge at the one maximiser, which the compiled prox finds."""
        if not (isinstance(self.f, Ridged) and self.f.compiled):
            return self.f.conjugate(v)
        g, c = self.f.inner, self.f.c
        center = v / (2.0 * c)
        if not np.isfinite(center).all():
            return math.inf
        share, step = g.prox_change(0.5 / c)
        if share != 1.0:
            center *= share
        x = np.empty_like(v)
        kernel(g.prox_kernel)(center, step, x, *self.args)
        return float(v @ x) - (g.value(x) + c * float(x @ x))


def without_ridge(g: VectorFunction) -> VectorFunction:
    """The norm, the set or the pair, its `sum_squares` left out."""
    return g.inner if isinstance(g, Ridged) else g


def prox_conjugate(f: FastLoss | FastRows | FastVector, v: Array, sigma: float | Array, out: Array) -> None:
    """argmin_y sigma f*(y) + |y - v|^2 / 2 = v - sigma prox_{f / sigma}(v / sigma) (Moreau), into `out`; v may be changed."""
    np.divide(v, sigma, out=v)
    f.prox(v, 1.0 / sigma, out)
    np.subtract(v, out, out=out)
    np.multiply(out, sigma, out=out)
    f.into_domain(out)


def dual_interval(f: LossFunction | VectorLossFunction | VectorFunction) -> tuple[Array, Array] | None:
    """The domain of f* where it is a box; None where it is another set."""
    if isinstance(f, LossFunction):
        return f.dual_bounds()
    if isinstance(f, VectorLossFunction):
        return None
    if math.isfinite(f.radius()):
        return np.full(f.size, -math.inf), np.full(f.size, math.inf)
    found = f.entries()
    return None if found is None else found.slopes(f.size)
