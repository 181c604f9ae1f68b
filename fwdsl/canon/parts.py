"""The parts of a canonical form: its blocks, which are the variables, and the terms of its sum, functions of affine maps of them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import field, replace
from functools import cached_property
from typing import Any

import numpy as np

from ..atoms.base import Array, VectorFunction
from ..atoms.loss import LossFunction
from ..atoms.vector_loss import VectorLossFunction
from ..features.factor import GramFactor
from ..grammar.source import Span
from ..grammar.tree import NOWHERE
from ..light_dataclass import light_dataclass
from ..sums import Rows, leaves_of_vectors, tree_dot
from .maps import LinearMap, largest_leaves


@light_dataclass
class Block:
    """One variable's place in x and its proximable part. `in_sum` names what could not stay in g and went into the sum.

    An `auxiliary` block is ours (the weights of a polytope's vertices) and is not reported. A variable over an implicit feature map is kept
    in coordinates of the span of the samples' features: `basis` leads to its expansion coefficients and back.
    """

    name: str
    start: int
    stop: int
    shape: tuple[int, ...]
    g: VectorFunction
    text: str = ""
    in_sum: tuple[str, ...] = ()
    auxiliary: bool = False
    basis: GramFactor | None = None
    symmetric: bool = False

    def decoded(self, x: Array) -> Any:
        """The variable as the user sees it: in its shape, over an implicit feature map its expansion coefficients, scalars as floats."""
        if not self.shape:
            return float(x[self.start])
        value = x[self.slice].reshape(self.shape)
        return self.basis.coefficients(value) if self.basis is not None else value.copy()

    def encoded(self, value: object) -> Array:
        """The flat numbers of a value that the user gives."""
        array = np.asarray(value, dtype=np.float64)
        return (self.basis.coordinates(array) if self.basis is not None else array).reshape(-1)

    @property
    def user_shape(self) -> tuple[int, ...]:
        """The shape of the variable as the user sees it."""
        return (self.basis.L.shape[0], *self.shape[1:]) if self.basis is not None else self.shape

    @property
    def size(self) -> int:
        return self.stop - self.start

    @property
    def slice(self) -> slice:
        return slice(self.start, self.stop)


@light_dataclass
class Stacked:
    """x -> sum over blocks of K_B x_B + offset: an affine map of the whole x. `shape` is that of the expression, flat in C order here."""

    parts: tuple[tuple[Block, LinearMap], ...]
    offset: Array
    shape: tuple[int, ...] = ()

    @property
    def rows(self) -> int:
        return self.offset.size

    @property
    def nnz(self) -> int:
        """Stored numbers that one application touches."""
        return sum(m.nnz for _, m in self.parts)

    def linear(self, x: Array) -> Array:
        """K x without the offset, by the reference."""
        return sum(self._images(x), np.zeros(self.rows))

    def apply(self, x: Array) -> Array:
        """K x + offset, by the reference."""
        images = self._images(x)
        return sum(images, next(images, 0.0)) + self.offset

    def _images(self, x: Array) -> Iterator[Array]:
        return (m.apply(x[block.slice]) for block, m in self.parts)

    def adjoint(self, y: Array, out: Array) -> None:
        """Add K' y to `out` (of the length of x), by the reference."""
        leaves = self.leaves
        for block, m in self.parts:
            out[block.slice] += m.adjoint_over(y, leaves)

    def dot(self, y: Array, z: Array) -> float:
        """<y, z> for vectors of the size of K x, taken over its leaves."""
        return tree_dot(y, z, self.leaves)

    def partial(self, y: Array) -> tuple[Any, ...]:
        """The sums over rows that K' y is made of: a value of a node (`fwdsl.sums`), which the holder of its rows gives."""
        return tuple(m.partial(y, self.leaves) for _, m in self.parts)

    def finished(self, sums: tuple[Any, ...], out: Array) -> None:
        """Add K' y to `out`, from these sums over all rows, to the bits of `adjoint`."""
        for (block, m), own in zip(self.parts, sums, strict=True):
            out[block.slice] += m.finished(own)

    def part(self, start: int, stop: int) -> Stacked:
        """The map to the entries of the leaves start..stop-1: what a holder of some rows has of it."""
        first, last = self.leaves[start][0], self.leaves[stop - 1][1]
        leaves = tuple((a - first, b - first) for a, b in self.leaves[start:stop])
        parts = tuple((block, m.part(first, last, leaves)) for block, m in self.parts)
        found = Stacked(parts, self.offset[first:last], (last - first, *self.shape[1:]) if self.shape else ())
        found.leaves = leaves
        return found

    @cached_property
    def leaves(self) -> tuple[Rows, ...]:
        """The leaves (`fwdsl.sums`) of its entries, by which sums over them are taken: those of the data with the most stored numbers."""
        found = largest_leaves(m for _, m in self.parts)
        return leaves_of_vectors(self.rows) if found is None else found

    def describe(self) -> str:
        words = [m.describe(block.name) for block, m in self.parts]
        if np.any(self.offset):
            words.append("const")
        return " + ".join(words) if words else "0"


@light_dataclass
class Shift:
    """The shift of a right-hand side that a constraint's multiplier is the derivative in, where that is not f's own argument.

    A change s of this `shape` changes f's argument by -map(s): the right-hand sides of an `affine` set, a shift of vectors in a polytope.
    """

    map: LinearMap
    shape: tuple[int, ...]


@light_dataclass
class SumTerm:
    """f_i(K_i x + b_i): `origin` is the index of the objective's term, or of the constraint when `is_constraint`.

    `turned` has the signs that went from the predictions as they are written into the labels: multipliers of these are turned * y.
    `unit` is what K x + b as it is written is divided by: its multipliers are y / unit. `costs` are the multipliers of the linear
    costs that the term took from q, or left there: those of the argument as it is written are less by them.
    """

    f: LossFunction | VectorLossFunction | VectorFunction
    map: Stacked
    text: str
    origin: int
    is_constraint: bool = False
    name: str = ""
    span: Span = field(default=NOWHERE, compare=False)
    side: Shift | None = None
    turned: Array | None = None
    unit: float = 1.0
    costs: Array | None = None

    def part(self, start: int, stop: int) -> SumTerm:
        """A loss of the predictions of the leaves start..stop-1: what a holder of some rows has of it.

        Where these are the leaves of one node (`fwdsl.sums.subtrees`), its value, its conjugate, K'y and inner products are the values of that node,
        and `finish` has those of the whole from them.
        """
        assert not isinstance(self.f, VectorFunction), "a norm or a set has no rows of its own"
        at = slice(self.map.leaves[start][0], self.map.leaves[stop - 1][1])
        turned, costs = (None if each is None else each[at] for each in (self.turned, self.costs))
        return replace(self, f=self.f.part(at), map=self.map.part(start, stop), turned=turned, costs=costs)

    def as_written(self, y: Array) -> Array:
        """The multiplier of the argument as it is written, from that of the term."""
        y = y if self.turned is None else self.turned * y
        y = y if self.unit == 1.0 else y / self.unit
        return y if self.costs is None else y - self.costs

    def of_written(self, y: Array) -> Array:
        """The multiplier of the term, from that of its argument as it is written."""
        y = y if self.costs is None else y + self.costs
        y = y if self.turned is None else self.turned * y
        return y if self.unit == 1.0 else y * self.unit

    def value(self, z: Array) -> float:
        """f_i(z), by the reference; of z at the nearest point of the closure of the domain, as what is outside is counted as a violation."""
        if isinstance(self.f, VectorFunction):
            return self.f.value(z)
        return self.f.value(self.f.into_set(z) if isinstance(self.f, LossFunction) else z, self.map.leaves)

    def conjugate(self, y: Array) -> float:
        """f_i*(y), by the reference."""
        return self.f.conjugate(y) if isinstance(self.f, VectorFunction) else self.f.conjugate(y, self.map.leaves)

    def infimum(self) -> float:
        """A lower bound of f_i, by the reference."""
        return self.f.infimum() if isinstance(self.f, VectorFunction) else self.f.infimum(self.map.leaves)

    def dot(self, y: Array, z: Array) -> float:
        """<y, z> for vectors of the size of K x."""
        return self.map.dot(y, z)

    @property
    def is_smooth(self) -> bool:
        return isinstance(self.f, LossFunction | VectorLossFunction) and self.f.loss.smoothness is not None

    @property
    def is_indicator(self) -> bool:
        return isinstance(self.f, VectorFunction) and self.f.pair[0] is None

    @property
    def curvature(self) -> float:
        """The largest second derivative of a loss, for guesses: 1 where it is not differentiable, 0 where there is no largest."""
        assert isinstance(self.f, LossFunction | VectorLossFunction)
        found = self.f.loss.smoothness or 1.0
        return found if math.isfinite(found) else 0.0

    @cached_property
    def domain(self) -> VectorFunction | None:
        """The set that K_i x + b_i must be in for f_i to be finite: of an indicator its own, of the entropy the nonnegative numbers; else None.

        Of a loss it is the closure of its domain: that of the logarithm has 0, where it is infinite.
        """
        if isinstance(self.f, VectorFunction):
            return self.f.set_beneath()
        return self.f.on if isinstance(self.f, LossFunction) else None
