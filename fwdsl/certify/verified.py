"""The findings of the verifier: a point, a dual bound, and the gap between the two."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ..atoms.base import Array
from ..atoms.vectors.common import norm2
from ..light_dataclass import light_dataclass
from ..sums import tree_dot
from .certificate import FLOOR, CertificateKind, relative


@light_dataclass
class Point:
    """A point x: P(x) with constraints ignored, the sizes of the objective's terms there, and what it violates.

    `adrift` are the sizes of the linear terms of variables far out, which no constant holds; `size` is without them.

    `violations` has an array a term: of an entrywise set what each row misses it by, of another set the distance to it, of a loss nothing.
    `distances` are those of the blocks to their own sets. `infeasibility` is the largest violation relative to its terms, `outside` that of the
    blocks' own sets alone. `sums` are |K_i| |x| of the variables that are not far out, an array a term, empty where there are none or they were
    left out. `lengths` are |x_B|_2. `rounding` is what rounding may make of P where the argument of a term is all but cancelled. `ends` are those
    of the leaves by which predictions are added up (`fwdsl.sums`), an array a term.
    """

    value: float
    size: float
    infeasibility: float
    outside: float = 0.0
    violations: tuple[Array, ...] = ()
    distances: tuple[float, ...] = ()
    sums: tuple[Array, ...] = ()
    adrift: float = 0.0
    lengths: tuple[float, ...] = ()
    rounding: float = 0.0
    #: |K_i| |x| of the variables far out, an array a term, empty where there are none.
    far_sums: Sequence[Array] = ()
    ends: tuple[NDArray[np.int64], ...] = ()

    def dot(self, k: int, a: Array, b: Array) -> float:
        """<a, b> for vectors of the size of the predictions of term k."""
        whole = not self.ends or a.size != self.ends[k][-1]
        return float(a @ b) if whole else tree_dot(a, b, list(pairwise([0, *self.ends[k].tolist()])))


@light_dataclass
class DualBound:
    """A dual point y: D(y), the cost M of what it misses its equalities by, how it is known, and the sizes of its terms.

    `value - miss` is a lower bound of the optimal value, on the condition that `statement` tells. `normals` are |v_B|_2, the multipliers of the
    blocks' own sets. `local` is true of a bound that no other point may take: what rounding costs by a variable was measured where it is 0.
    `met` is true where y is in the domains of all conjugates and v too, but for rounding.
    """

    value: float
    miss: float
    kind: CertificateKind
    statement: str
    radius: float | None = None
    y: tuple[Array, ...] = ()
    size: float = 0.0
    normals: tuple[float, ...] = ()
    local: bool = False
    met: bool = False
    #: |y|' |K| |x|, where it was added up with the bound.
    pairs: float | None = None
    #: The share of `size` and of |y|' |K| |x| that counts in S, or what tells it: products with the data, asked for where the share would decide S.
    weight: float | Callable[[], float] = 1.0
    #: -(q + K'y), kept where there are constraints, whose multipliers are of it: it costs a pass over the data.
    slopes: tuple[Array, ...] = ()

    @cached_property
    def share(self) -> float:
        """The weight as a number."""
        return self.weight() if callable(self.weight) else self.weight

    @property
    def proven(self) -> float:
        """The lower bound of the optimal value, with the cost of missed equalities taken off."""
        return self.value - self.miss


@light_dataclass
class Verified:
    """The findings of the verifier, in the sense of minimisation: a point, a bound, the sizes of the objective's terms at zero, data passes."""

    point: Point
    bound: DualBound
    at_zero: float
    passes: float

    @property
    def primal(self) -> float:
        return self.point.value

    @property
    def dual(self) -> float:
        """The lower bound of the optimal value."""
        return self.bound.proven

    @property
    def infeasibility(self) -> float:
        """The largest violation of a constraint relative to its terms."""
        return self.point.infeasibility

    @property
    def kind(self) -> CertificateKind:
        return self.bound.kind

    @property
    def y(self) -> tuple[Array, ...]:
        """The dual point that the bound was proven with."""
        return self.bound.y

    @cached_property
    def hidden(self) -> float:
        """V, what infeasibility may hide: multiplier times violation, over all constraints."""
        pairs = [
            (k, y, v) for k, (y, v) in enumerate(zip(self.bound.y, self.point.violations, strict=False)) if v.any()
        ]
        terms = sum(
            self.point.dot(k, np.abs(y), v) if v.size == y.size else norm2(y) * float(v[0]) for k, y, v in pairs
        )
        blocks = zip(self.bound.normals, self.point.distances, strict=False)
        return terms + sum(normal * distance for normal, distance in blocks if distance > 0.0)

    @cached_property
    def scale(self) -> float:
        """S: the sizes of the objective's terms at zero and at x, of the dual's (with what functions below bounds are at zero), and |y|' |K| |x|.

        Multipliers far larger than the costs they balance count for less (`weight`).
        The linear terms at x and the last ones are without variables far out. Along a ray they outgrow all else, and would call any gap small.
        """
        sizes = self.bound.size + self._pairs()
        # at another point than the bound's own, its terms may be far larger
        small = FLOOR * sizes > max(abs(self.primal), abs(self.bound.value))
        return self.at_zero + self.point.size + (self.bound.share if small else 1.0) * sizes

    def _pairs(self) -> float:
        """|y|' |K| |x| of the variables that are not far out."""
        if self.bound.pairs is not None:
            return self.bound.pairs
        pairs = zip(self.bound.y, self.point.sums, strict=False)
        return sum(self.point.dot(k, np.abs(y), sums) for k, (y, sums) in enumerate(pairs) if sums.size)

    @cached_property
    def gap(self) -> float:
        """|P - D| + V + M; inf without a bound."""
        if not (math.isfinite(self.bound.value) and math.isfinite(self.primal)):
            return math.inf
        return abs(self.primal - self.bound.value) + self.hidden + self.bound.miss

    @cached_property
    def relative_gap(self) -> float:
        """The gap over max(|P|, |D|, 1e-6 S); 0 where it is no more than the rounding of P."""
        return relative(self.gap, self.primal, self.bound.value, self.scale, self.point.rounding)

    def contradicts(self) -> bool:
        """True if the bound lies above the value of a feasible point by more than 1e-9 of the scale, which is a bug somewhere."""
        return self._contradicts

    @cached_property
    def _contradicts(self) -> bool:
        if self.infeasibility > 1e-12 or not math.isfinite(self.gap):
            return False
        over = self.bound.value - self.primal - self.hidden - self.bound.miss
        if not over > 0.0:
            # the sizes of all terms, which take a product with the data, are then of no matter
            return False
        # rounding of P and D goes with all that was added up, and with <v_B, x_B> where the multipliers of a set are known up to rounding
        pairs = sum(v * x for v, x in zip(self.bound.normals, self.point.lengths, strict=False))
        # far out, what a point misses a constraint by may be lost in its terms
        far = zip(self.bound.y, self.point.far_sums, strict=False)
        pairs += sum(self.point.dot(k, np.abs(y), sums) for k, (y, sums) in enumerate(far) if sums.size)
        whole = self.at_zero + self.point.size + self.bound.size + self._pairs() + self.point.adrift + pairs
        return relative(over, self.primal, self.bound.value, whole) > 1e-9


NO_BOUND = DualBound(-math.inf, 0.0, "none", "no dual point was found")
