"""Atoms: closed convex functions, each with its formulas, its facts and a slow obvious reference.

Two families are enough for everything a program can say about numbers:

* `LossFunction` (`loss.py`): a separable function sum_j w_j l(z_j; b_j) of predictions z, with targets b and nonnegative weights w;
* `VectorFunction`: a norm, a set (its indicator), or a pair of both with a joint prox, of one vector x.

Each atom has *kernels*, undecorated functions over arrays and numbers using `math` only, which `fwdsl.backends.kernels` compiles (those of losses are
the loops of `loss_loops` around formulas for one sample), and *references* in NumPy, named `*_naive` on losses and plain on vector functions,
which are the definition: the verifier uses only those, and the conformance tests compare the two.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..words import CONVEX, SETS, SetWord
from .arrays import Array as Array
from .arrays import MatrixLike as MatrixLike
from .conic import Conic

if TYPE_CHECKING:
    from .entries import Budget, EntrySum
    from .groups import Partition

Y = TypeVar("Y")


def require(cls: type, facts: tuple[str, ...]) -> None:
    """Fail at import where an atom lacks a fact, a kernel or a reference."""
    missing = [name for name in facts if not hasattr(cls, name)]
    names = [
        name for name in dir(cls) if not name.startswith("__")
    ]  # the fields of a light data class are not asked for
    abstract = [name for name in names if getattr(getattr(cls, name, None), "__isabstractmethod__", False)]
    if missing or abstract:
        told = [name for name in (*missing, *abstract) if name in _FACTS or name in abstract]
        lines = "".join(f"\n  {name}: {_FACTS.get(name) or getattr(cls, name).__doc__}" for name in told)
        raise TypeError(f"the atom {cls.__name__} lacks {', '.join([*missing, *abstract])}{lines}")


def _check_kernel(cls: type[VectorFunction]) -> None:
    """Fail at import where a function says that it is compiled, and has no kernel to compile."""
    require(cls, ("prox_kernel",))
    if cls.compiled is True and cls.prox_kernel is None:
        raise TypeError(
            f"{cls.__name__} says that it is compiled, and has no prox_kernel: give one, or `compiled = False`"
        )


_FACTS = {
    "smoothness": "sup of l'' over z; None where l is not differentiable, math.inf where l'' has no bound",
}
"""The meaning of the facts that have no docstring of their own."""


def record_of(cls: type, name: str, records: Mapping[str, Y]) -> Y:
    """The record of an atom's word; an atom without one, or with one of another kind, fails at import."""
    if name not in records:
        raise TypeError(f"the atom {cls.__name__} is of `{name}`, which is no such word of the language")
    return records[name]


def share_of_least(noise: float, sizes: Array) -> float:
    """noise over the least of the sizes that are not 0."""
    return noise / float(sizes[sizes > 0.0].min(initial=math.inf)) if noise > 0.0 else 0.0


@dataclass(frozen=True)
class Face:
    """The smooth manifold on which a vector function g is locally affine plus constant, around a point x.

    `free` are the coordinates that may move, `normals` (k, free.size) the directions they must not move along
    (normals @ d = 0), `slope` the gradient of g along `free` there.
    """

    free: NDArray[np.intp]
    normals: Array
    slope: Array


class VectorFunction(ABC):
    """A closed convex function g of one vector: c * norm, the indicator of a set, or a pair with a joint prox.

    Instances carry their parameters (checked: radii positive, lo <= hi) and the size they apply to. All methods are
    references in NumPy and must be exact to rounding; `kernel` names the compiled prox.
    """

    #: The names a program uses, e.g. ("norm1", None), (None, "l1_ball"), ("norm1", "nonnegative").
    pair: ClassVar[tuple[str | None, str | None]]
    #: The record that a set from outside carries; those of ours are in `fwdsl.words`.
    word: ClassVar[SetWord]

    size: int

    # --- facts ------------------------------------------------------------------------------------------------------
    #: g is piecewise linear with a polyhedral domain.
    polyhedral: ClassVar[bool]
    #: The domain of g is a product of intervals, one an entry.
    entrywise: bool = False
    #: The second derivative of g along its faces (2 c for g + c |x|^2).
    curvature: float = 0.0
    #: `prox` exists; where not, the set is to be written as an intersection or a lifted equality.
    proximable: bool = True
    #: The prox is `prox_kernel`; where not (it needs LAPACK, or loops over inner sets), `prox` itself is what to call.
    compiled: bool = True
    #: `prox` goes through all entries at once, as NumPy does: where few calls are made, none is worth compiling the kernel for.
    vectorised: bool = True
    #: How `conjugate` is known: "exact" to rounding, or "rigorous" by a dense decomposition, rounded up by its backward error.
    certificate: str = "exact"
    #: `normal_part` depends on x.
    normal_sees_x: ClassVar[bool] = False
    #: The number of bounds t that its vectors begin with, of an epigraph f(z) <= t; 0 of others.
    bounds_number: int = 0
    #: It is the same for every order of its entries.
    permutable: bool = False
    #: The power of e by which a part e beside 1 adds to it, or to its dual, where that is a length: 2 of the Euclidean one.
    flatness: float = 2.0

    def __init_subclass__(cls, **options: object) -> None:
        super().__init_subclass__(**options)
        if (word := cls.__dict__.get("word")) is not None:
            cls.pair = None, word.name
            if cls.__dict__.get("polyhedral", word.polyhedral) != word.polyhedral:
                raise TypeError(f"{cls.__name__} and its record differ on whether it is polyhedral")
            cls.polyhedral = word.polyhedral
            _check_kernel(cls)
            return
        # the frames that several functions share name no pair
        own = cls.__dict__.get("pair")
        if not isinstance(own, tuple):
            return
        require(cls, ("polyhedral",))
        _check_kernel(cls)
        norm, set_ = own
        if norm is not None:
            record_of(cls, norm, CONVEX)
        if set_ is not None:
            word = record_of(cls, set_, SETS)
            if norm is None and word.polyhedral != cls.polyhedral:
                raise TypeError(
                    f"the atom {cls.__name__} and the record of `{set_}` differ on whether it is polyhedral"
                )

    @abstractmethod
    def radius(self) -> float:
        """sup of |x|_2 over the domain of g; inf where it is unbounded."""

    @abstractmethod
    def describe(self) -> str:
        """The function in the language's words: `0.1 * norm1`, `l1_ball(5)`, `0.1 * norm1 on nonnegative`."""

    # --- functions --------------------------------------------------------------------------------------------------
    @abstractmethod
    def value(self, x: Array) -> float:
        """The value of the norm part (0 for a pure set); feasibility is `violation`'s business."""

    @abstractmethod
    def violation(self, x: Array, sizes: Array | None = None) -> float:
        """The amount by which x misses the set: the largest violation of a defining inequality over the sum of the sizes of its terms; 0.0 where
        there is no set or x is inside.

        `sizes` are those of the terms that the entries of x are sums of; by default `own_sizes(x)`.
        """

    def slope_at(self, x: Array) -> Array | None:
        """A g with f(x') >= f(x) + <g, x' - x> for all x'; None where none is told."""
        return None

    @property
    def slope(self) -> float:
        """The slope of the function, in its units: the coefficient of a norm or an entropy, 0 for a set."""
        return 0.0

    def own_sizes(self, x: Array) -> Array:
        """The sizes of the entries of x itself: |x|, or where each entry has bounds of its own the largest of all, as they have one unit.

        (Relative to its own size an entry that tends to zero from outside would never come nearer to its bound.)
        """
        size = np.abs(x)
        return np.full(x.size, size.max(initial=0.0)) if self.entrywise else size

    @abstractmethod
    def prox(self, v: Array, t: float) -> Array:
        """argmin_x t g(x) + |x - v|^2 / 2 (for a pure set the Euclidean projection, whatever t)."""

    @abstractmethod
    def conjugate(self, v: Array) -> float:
        """g*(v) = sup_x <v, x> - g(x) (for a set the support function), inf outside its domain."""

    def conjugate_size(self, v: Array) -> float:
        """The size of the terms of g*(v), where that is finite: what its rounding goes with."""
        return abs(self.conjugate(v))

    def conjugate_with_ridge(self, v: Array, c: float) -> float:
        """(g + c |x|^2)*(v), c > 0: <v, x> - g(x) - c |x|^2 at the one maximiser, x = prox of g / (2 c) at v / (2 c)."""
        center = v / (2.0 * c)
        if not np.all(np.isfinite(center)):
            # of a run that overflowed; no prox is asked for the point, and the bound that comes of it says nothing
            return math.inf
        x = self.prox(center, 1.0 / (2.0 * c))
        return float((v * x).sum()) - (self.value(x) + c * float(np.square(x).sum()))

    def infimum(self) -> float:
        """inf of g, which is -g*(0)."""
        return -self.conjugate(np.zeros(self.size))

    def rounding(self, v: Array) -> float:
        """A bound on the distance from v to `dual_project(v)` where v is in the domain: 0 for formulas, more for decompositions."""
        return 0.0

    def blur(self, v: Array) -> float:
        """The share that rounding has of the least part of v, where the set is a curved cone; 0 where formulas tell what is inside.

        e beside 1 adds e^2 / 2 to a length, which is lost: a vector with such a part may seem to be in a cone, or its polar, and be outside.
        """
        return share_of_least(self.rounding(v), np.abs(v))

    def dual_scale(self, v: Array) -> float:
        """The largest s in [0, 1] with s v in the domain of g* (1 where v itself is, exactly as `conjugate` judges, and where g is bounded).

        0 where no share of v is in it, as where the domain does not hold 0: `dual_project` then leads there.
        """
        return 1.0

    def dual_project(self, v: Array) -> Array:
        """The Euclidean projection of v on the domain of g* (v itself where it is everything, as where g is bounded)."""
        return v.copy()

    def normal_part(self, x: Array, rest: Array) -> Array:
        """The normal of the set in `rest`, which is the sum of a subgradient of the norm at x and a normal of the set at x.

        It is all of `rest` where there is no norm.
        """
        return rest

    @abstractmethod
    def coercive(self) -> tuple[float, str] | None:
        """(c, dual norm): g(x) >= c |x|_p for all x, with the norm's dual "linf" (p = 1), "l2" or "l1" (p = inf); None if not.
        From it comes the implied bound |x*|_p <= (P(x0) - infima of the other terms) / c."""

    @property
    def has_faces(self) -> bool:
        """True if `face` finds a face at optima as a rule, on which Newton steps finish."""
        return True

    def face(self, x: Array) -> Face | None:
        """The face of g at x (exact zeros and active bounds identify it), None where g is curved there (norm2, l2_ball on its boundary), or
        where other than coordinates would move (norm_inf, whose entries of largest size would move as one)."""
        return None

    def set_beneath(self) -> VectorFunction | None:
        """The indicator of the domain, beneath a ridge and a norm; None where the domain is everything, or is not told apart from g."""
        norm, on = self.pair
        return self if norm is None and on is not None else None

    def ends_within(self, x: Array, distance: float) -> bool:
        """True if the value may be infinite within this distance of x, at the end of an open domain."""
        return False

    def entries(self) -> EntrySum | None:
        """The same as a sum over entries, of sizes, squares and bounds; None where it is no such sum."""
        return None

    def budget(self) -> Budget | None:
        """The same as a bound of the sum of its entries, or of their sizes; None where it says anything else."""
        return None

    def groups_of(self) -> Partition | None:
        """The groups of entries, with their weights, of whose lengths it is a function; None where it is of entries."""
        return None

    def enclosing_box(self) -> tuple[Array, Array]:
        """Bounds of each entry of the points of the domain."""
        found, r = self.entries(), self.radius()
        return (np.full(self.size, -r), np.full(self.size, r)) if found is None else found.bounds(self.size)

    def into_recession(self, d: Array) -> Array:
        """The nearest direction in which the domain has no end; zero where there is none, or none is known."""
        found = self.entries()
        return np.zeros_like(d) if found is None else found.into_recession(d)

    def drawn_in(self, x: Array, distance: float) -> Array:
        """x moved by this distance to where the edge of the set is, to tell whether x is inside by more; x itself where that is not known."""
        return x

    def growth(self, d: Array) -> float:
        """g^inf(d), for a direction d other than 0 in which the domain has no end, where g is no norm; inf where it is not known."""
        return math.inf

    def sinks(self, d: Array) -> bool:
        """True if g(x + s d) falls without bound as s grows, for each x inside of the domain, though g^inf(d) is 0 and so slower than any line.

        d lies in the recession cone of the domain without any rounding. False where that is not known.
        """
        return False

    def for_symmetric(self) -> VectorFunction:
        """The same function where it is asked of symmetric matrices alone."""
        return self

    def in_units(self, s: float) -> tuple[VectorFunction, float] | None:
        """(f, e) with f(z) + e = g(s z) for all z, where g bends at points of a size of its own, as a logarithm does; None where it does not."""
        return None

    def conic(self) -> Conic | None:
        """The form that an interior-point method solves with; None where there is none."""
        return None

    def conic_limit(self) -> str:
        """The size of a conic form that is too large to write down, beside the limit; "" where there is none of any size."""
        return ""

    def lmo(self, c: Array) -> Array | None:
        """argmin over the set of <c, x>, a vertex (ties: the lowest index); None where the set is unbounded or absent."""
        return None

    def vertex_id(self, c: Array) -> tuple[int, ...] | None:
        """A hashable name of the vertex that `lmo(c)` returns, None where vertices are not countable."""
        return None

    # --- kernels ----------------------------------------------------------------------------------------------------
    #: prox_kernel(u, s, out, *kernel_args()): the prox at v for t, compiled, with (share, s) = prox_change(t) and u = share * v;
    #: out may not alias u.
    prox_kernel: ClassVar[Callable[..., None]]

    def kernel_args(self) -> tuple[Any, ...]:
        """Floats and float64 arrays that follow (v, t, out) in the kernel's signature."""
        return ()

    def prox_change(self, t: float) -> tuple[float, float]:
        """(share, s): what to multiply v by and which step to take when calling `prox_kernel`; (1, t) but for ridges."""
        return 1.0, t
