"""Shared by several vector functions: the frames of a norm, a set and a pair, and the care that scaling into a domain takes."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ...words import CONVEX, SETS, SetWord
from ..base import Array, Face, VectorFunction
from ..conic import Conic
from ..entries import Budget, EntrySum

INSIDE = 1.0 - 1e-12
"""A point whose norm is below this share of the radius is in the interior, for telling faces."""


MOST_NORMALS = 2_000_000
"""The most numbers of the normals of a face: with more, Newton's steps on it would cost more than the steps that they save."""


def largest(x: Array) -> float:
    """max_i |x_i|, 0 for no entries."""
    return float(np.abs(x).max(initial=0.0))


def norm1(x: Array) -> float:
    """sum_i |x_i|."""
    return float(np.abs(x).sum())


def norm2(x: Array) -> float:
    """(sum_i x_i^2)^(1/2), scaled against overflow and underflow. Sums without BLAS, whose order may depend on addresses."""
    peak = largest(x)
    if peak == 0.0 or not math.isfinite(peak):
        return peak
    return peak * math.sqrt(float(np.square(x / peak).sum()))


def soft(v: Array, threshold: float) -> Array:
    """Entrywise sign(v) max(|v| - threshold, 0): the prox of threshold * norm1."""
    return np.copysign(np.maximum(np.abs(v) - threshold, 0.0), v)


def nonincreasing(y: Array) -> Array:
    """The nonincreasing vector closest to y, by pooling adjacent violators."""
    blocks: list[tuple[float, int]] = []
    for e in y:
        mean, count = float(e), 1
        while blocks and blocks[-1][0] <= mean:
            before, size = blocks.pop()
            mean += (before - mean) * size / (size + count)
            count += size
        blocks.append((mean, count))
    return np.concatenate([np.full(count, mean) for mean, count in blocks])


def falling_order(v):
    """Kernel: the positions of the entries of v from the largest one down, equal ones as they stand, by merging.

    NumPy's sorts take a second to compile, this one a tenth of it.
    """
    n = v.size
    order = np.empty(n, np.int64)
    other = np.empty(n, np.int64)
    for i in range(n):
        order[i] = i
    width = 1
    while width < n:
        middle = width
        for start in range(0, n, 2 * width):
            a, b = start, middle
            end = middle + width if middle + width < n else n
            for k in range(start, end):
                if b >= end or (a < middle and v[order[a]] >= v[order[b]]):
                    other[k] = order[a]
                    a += 1
                else:
                    other[k] = order[b]
                    b += 1
            middle += 2 * width
        order, other = other, order
        width *= 2
    return order


def largest_share(over: Array, sizes: Array) -> float:
    """The largest of over / sizes, entry by entry; 0 where nothing is over."""
    miss = np.maximum(over, 0.0)
    return float(np.divide(miss, sizes, out=np.zeros(miss.shape), where=miss > 0.0).max(initial=0.0))


def excess(left: float, right: float, size: float | None = None) -> float:
    """The amount by which left <= right is missed, over the sum of the sizes of its terms: that of the left side is `size`, or |left|."""
    over = left - right
    return over / ((abs(left) if size is None else size) + abs(right)) if over > 0.0 else 0.0


def negative_part(x: Array, sizes: Array) -> float:
    """The amount by which x >= 0 is missed, over the largest of the sizes: the entries of one vector have one unit."""
    return excess(-float(x.min(initial=0.0)), 0.0, largest(sizes))


def scale_into(inside: Callable[[Array], bool], v: Array, s: float) -> float:
    """s, made smaller by the few ulps that inside(s v) may take for rounding."""
    step = float(np.finfo(np.float64).eps)
    while s > 0.0 and not inside(s * v):
        s = s * (1.0 - step) if step < 1.0 else 0.0
        step *= 2.0
    return s


def face(free: NDArray[np.intp], slope: Array | None = None, normals: Array | None = None) -> Face:
    """A face without slope or normals where they are not given."""
    k = free.size
    return Face(free, np.zeros((0, k)) if normals is None else normals, np.zeros(k) if slope is None else slope)


def checked_radius(r: float) -> float:
    """r as a float, nonnegative and finite (zero: the set is a point)."""
    if not (r >= 0.0 and math.isfinite(r)):
        raise ValueError(f"a radius must be nonnegative and finite, not {r}")
    return float(r)


def checked_coefficient(c: float) -> float:
    """c as a float, positive and finite."""
    if not (c > 0.0 and math.isfinite(c)):
        raise ValueError(f"the coefficient of a norm must be positive and finite, not {c}")
    return float(c)


@dataclass(frozen=True, eq=False, repr=False)
class Norm(VectorFunction):
    """c * a norm. Its conjugate is the indicator of the dual norm's ball of radius c."""

    size: int
    c: float

    #: `Face`s need exact entries; a dual norm decides membership in the domain of the conjugate.
    dual_name: ClassVar[str]

    def __post_init__(self) -> None:
        object.__setattr__(self, "c", checked_coefficient(self.c))

    @abstractmethod
    def norm(self, x: Array) -> float:
        """|x| in this norm."""

    @abstractmethod
    def dual_norm(self, x: Array) -> float:
        """max <x, u> over |u| <= 1, the dual norm."""

    @property
    def permutable(self) -> bool:  # type: ignore[override]
        """Norms of vectors are, but those of groups; norms of matrices have no order of entries."""
        word = CONVEX[str(self.pair[0])]
        return not (word.grouped or word.spectrum)

    @property
    def slope(self) -> float:
        return self.c

    @property
    def sizes_beside(self) -> float:
        """The coefficient of the sizes of entries that are added to a norm of groups; 0 for a norm alone."""
        return 0.0

    def value(self, x: Array) -> float:
        return self.c * self.norm(x)

    def violation(self, x: Array, sizes: Array | None = None) -> float:
        """0: there is no set."""
        return 0.0

    def radius(self) -> float:
        return math.inf if self.size else 0.0

    def describe(self) -> str:
        return f"{self.c:g} * {self.pair[0]}"

    def conjugate(self, v: Array) -> float:
        return 0.0 if self.dual_norm(v) <= self.c else math.inf

    def dual_scale(self, v: Array) -> float:
        """min(1, c / dual norm)."""
        size = self.dual_norm(v)
        return 1.0 if size <= self.c else scale_into(lambda u: self.dual_norm(u) <= self.c, v, self.c / size)

    def coercive(self) -> tuple[float, str]:
        return self.c, self.dual_name


class ConvexSet(VectorFunction):
    """The indicator of a set: value 0 on it. `conjugate` is the support function."""

    def value(self, x: Array) -> float:
        return 0.0

    def describe(self) -> str:
        """`name(r)`, or `name` where there is no radius."""
        return f"{self.pair[1]}({self.scale:g})" if math.isfinite(self.scale) else str(self.pair[1])

    def coercive(self) -> tuple[float, str] | None:
        """None: what a bounded set bounds, `radius` says."""
        return None

    @property
    def record(self) -> SetWord:
        return SETS[str(self.pair[1])]

    @property
    def permutable(self) -> bool:  # type: ignore[override]
        return self.record.permutable

    def budget(self) -> Budget | None:
        """The radius with what the record says that it bounds; None for sets of matrices, whose traces are no such sums."""
        if self.pair[1] is None:
            return None
        word = self.record
        if word.of not in ("vector", "entrywise") or not word.total:
            return None
        return Budget(self.scale, word.total == "sizes", word.total == "equal")

    def enclosing_box(self) -> tuple[Array, Array]:
        """The bounds, or else the radius, and 0 where only nonnegative entries are summed."""
        lo, hi = super().enclosing_box()
        budget = self.budget()
        return (lo, hi) if budget is None or budget.signed else (np.zeros(self.size), hi)

    def bounds(self) -> tuple[Array, Array]:
        """The least and the largest value that an entry may have, where the set says no more of it; infinite where it does."""
        return np.full(self.size, -math.inf), np.full(self.size, math.inf)

    @property
    def scale(self) -> float:
        """The radius; inf where the set has none."""
        return float(getattr(self, "r", math.inf))

    def of_radius(self, r: float) -> ConvexSet:
        """The same set with another radius, r times the set of radius 1."""
        return replace(self, r=r)  # type: ignore[type-var]

    def contains(self, x: Array, tol: float = 0.0) -> bool:
        """True if x misses the set by at most `tol`, as `violation` measures."""
        return self.violation(x) <= tol

    def cvxpy(self, x: Any) -> list[Any] | None:
        """The constraints of cvxpy that say that x is in the set, for `fwdsl verify`; None where `fwdsl.oracle` has them, or nobody."""
        return None

    def vertex_id(self, c: Array) -> tuple[int, ...] | None:
        """The bits of the vertex; None where the set is not polyhedral, and has no list of vertices."""
        vertex = self.lmo(c) if self.polyhedral else None
        return None if vertex is None else tuple((vertex + 0.0).view(np.int64).tolist())

    def diameter(self) -> float:
        """sup of |x - y|_2 over the set, or a bound of it: twice the radius; inf where the set is unbounded."""
        return 2.0 * self.radius()


@dataclass(frozen=True)
class OfRadius(ConvexSet):
    """r times a set, r >= 0."""

    size: int
    r: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "r", checked_radius(self.r))


class Ball(ConvexSet):
    """The ball of radius r of a norm: its support function is r times the dual norm."""

    r: float

    @abstractmethod
    def norm(self, x: Array) -> float:
        """The norm whose ball this is."""

    @abstractmethod
    def dual_norm(self, x: Array) -> float:
        """max <x, u> over |u| <= 1, the dual norm."""

    def violation(self, x: Array, sizes: Array | None = None) -> float:
        """|x| <= r, relative to |sizes| + r."""
        return excess(self.norm(x), self.r, None if sizes is None else self.norm(sizes))

    def conjugate(self, v: Array) -> float:
        return self.r * self.dual_norm(v)

    def radius(self) -> float:
        """r, where the norm is at least the Euclidean one."""
        return self.r if self.size else 0.0

    def interior(self, x: Array) -> bool:
        """True if x is in the interior, for telling faces."""
        return self.norm(x) < self.r * INSIDE


@dataclass(frozen=True)
class Joint(VectorFunction):
    """c * a norm on a set, with a joint prox. Value and slope are the norm's; feasibility, radius and vertices are the set's."""

    c: float
    on: ConvexSet
    size: int = field(init=False)

    #: The norm, made as of(size, c).
    of: ClassVar[type[VectorFunction]]

    def __post_init__(self) -> None:
        object.__setattr__(self, "c", checked_coefficient(self.c))
        object.__setattr__(self, "size", self.on.size)

    @cached_property
    def norm(self) -> VectorFunction:
        return self.of(self.size, self.c)  # type: ignore[call-arg]

    @property
    def slope(self) -> float:
        return self.c

    def value(self, x: Array) -> float:
        return self.norm.value(x)

    def coercive(self) -> tuple[float, str] | None:
        return self.norm.coercive()

    def set_beneath(self) -> VectorFunction:
        return self.on

    def radius(self) -> float:
        return self.on.radius()

    @property
    def entrywise(self) -> bool:  # type: ignore[override]
        return self.on.entrywise

    def violation(self, x: Array, sizes: Array | None = None) -> float:
        return self.on.violation(x, sizes)

    def describe(self) -> str:
        return f"{self.c:g} * {self.pair[0]} on {self.on.describe()}"

    @property
    def permutable(self) -> bool:  # type: ignore[override]
        """True where norm and set are."""
        word = CONVEX[str(self.pair[0])]
        return not (word.grouped or word.spectrum) and self.on.permutable

    def entries(self) -> EntrySum | None:
        """The bounds of the set with c times the sizes; None where norm or set is no sum over entries."""
        on, norm = self.on.entries(), CONVEX[str(self.pair[0])]
        return replace(on, c=self.c) if on is not None and norm.adds_sizes else None

    def conic(self) -> Conic | None:
        norm, on = self.norm.conic(), self.on.conic()
        return None if norm is None or on is None else norm + on

    def lmo(self, c: Array) -> Array | None:
        """The set's; it does not see the norm."""
        return self.on.lmo(c)

    def vertex_id(self, c: Array) -> tuple[int, ...] | None:
        return self.on.vertex_id(c)

    def kernel_args(self) -> tuple[Any, ...]:
        """The set's, c in the place of the coefficient 0 that they begin with."""
        return self.c, *self.on.kernel_args()[1:]


class OnOwnBall(Joint):
    """c * a norm on its own ball: both have subgradients along one direction, c times a face of the dual ball and any multiple of it."""

    on: Ball

    def conjugate(self, v: Array) -> float:
        """sup over s <= r of s (|v|_* - c), s the norm of x: r max(|v|_* - c, 0)."""
        return self.on.r * max(self.on.dual_norm(v) - self.c, 0.0)

    def normal_part(self, x: Array, rest: Array) -> Array:
        """The part of `rest` by which it is longer than c in the dual norm, the support function of the ball of radius 1."""
        return rest * max(0.0, 1.0 - self.c / max(self.on.of_radius(1.0).conjugate(rest), 1e-300))


class OnOrthant(Joint):
    """c * a norm that sees no signs on x >= 0.

    Entries with v_i <= 0 are best at 0, where they add nothing to the norm; without them prox and conjugate are those of the norm.
    """

    def _gauge(self, v: Array) -> float:
        norm = self.norm
        assert isinstance(norm, Norm)
        return norm.dual_norm(np.maximum(v, 0.0))

    def prox(self, v: Array, t: float) -> Array:
        """The prox of the norm at the positive part."""
        return self.norm.prox(np.maximum(v, 0.0), t)

    def conjugate(self, v: Array) -> float:
        return 0.0 if self._gauge(v) <= self.c else math.inf

    def dual_scale(self, v: Array) -> float:
        """min(1, c / the dual norm of the positive part)."""
        size = self._gauge(v)
        return 1.0 if size <= self.c else scale_into(lambda u: self._gauge(u) <= self.c, v, self.c / size)

    def dual_project(self, v: Array) -> Array:
        """The positive part projected on the ball of the dual norm, the rest as it is."""
        return np.where(v > 0.0, self.norm.dual_project(np.maximum(v, 0.0)), v)
