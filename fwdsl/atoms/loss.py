"""Losses of one prediction: their kernels, their references, their facts. `vector_loss.py` has those of a row of predictions."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from ..sums import Rows, leaves_of_vectors, pieces, sum_of_numbers
from ..words import LOSSES, LossWord
from .arrays import Array
from .base import VectorFunction, record_of, require
from .conic import Conic
from .loss_loops import LOOPS, loop, loops_of, value_gradient_on_set

INSIDE = 1e-12
"""The distance from an open end of its domain at which a conjugate is taken, as a share of the largest multiplier."""

FORMULAS = ("tangent", "prox", "conjugate")
"""The formulas of a loss for one sample, beside `curvature` of a smooth one."""


class Loss(ABC):
    """A scalar loss l(z; b), convex in z. Subclasses are never instantiated with state: parameters come as the array p.

    A loss of ours names itself and has its record in `fwdsl.words`. A loss from outside carries its record: `word = loss_word(...)`.
    """

    name: ClassVar[str]
    #: What the language knows of it: its target, its parameters with their defaults and domains.
    word: ClassVar[LossWord]

    #: sup of l'' over z; None where l is not differentiable, inf where l' is only locally Lipschitz.
    smoothness: ClassVar[float | None]
    #: inf of l'' over z (0 where not strongly convex).
    strong_convexity: ClassVar[float] = 0.0
    #: l is piecewise linear; l is piecewise quadratic (so l'' is piecewise constant).
    piecewise_linear: ClassVar[bool] = False
    piecewise_quadratic: ClassVar[bool] = False
    #: l is quadratic: l'' is constant.
    quadratic: ClassVar[bool] = False

    #: dual_kink(p) -> e where l*(u; b) = s u^2 / 2 + b u + e |u| on its domain, with s = 1 / smoothness, or 0 where l is not smooth; None where
    #: l* has another form
    dual_kink: ClassVar[Callable[..., float] | None] = None

    #: with_cost(b, c) -> the targets b' with l(z; b) + c z = l(z; b'), NaN where there is none; None of losses that make nothing of costs.
    with_cost: ClassVar[Callable[..., Array] | None] = None

    #: Nanoseconds that value and slope at a sample take, as measured (`benchmarks/costs.py`): 1 for arithmetic, more for exponentials.
    nanoseconds: ClassVar[float] = 1.0

    #: It is finite on a part of the line only, which `domain_naive` gives; `value_naive` is inf elsewhere.
    has_domain: ClassVar[bool] = False

    #: It has formulas that can be compiled. A loss from outside may have references only, which its loops then call.
    compiled: ClassVar[bool] = True

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if (word := cls.__dict__.get("word")) is not None:
            _bring_in(cls, word)
        require(cls, ("name", "smoothness", *(FORMULAS if cls.compiled else ())))
        if word is None:
            cls.word = record_of(cls, cls.name, LOSSES)
        needed = "curvature" if cls.compiled else "curvature_naive"
        if cls.smoothness is not None and getattr(cls, needed) is None:
            raise TypeError(f"the atom {cls.__name__} is smooth and lacks {needed}: give `{needed}(z, b, p)`, l''")
        for name, made in loops_of(cls, LOOPS) if cls.compiled else _loops_of_references(cls):
            setattr(cls, f"{name}_loop", staticmethod(made))
        if cls.compiled and cls.has_domain and "tangent" in cls.__dict__:
            cls.value_gradient_loop = staticmethod(loop(value_gradient_on_set, cls.tangent))

    # --- formulas: numbers of one sample, p the parameters; compiled, so written with `math` ------------------------
    #: tangent(z, b, p) -> l(z; b), l'(z; b) (a subgradient where not differentiable)
    tangent: ClassVar[Callable[..., tuple[float, float]]]
    #: curvature(z, b, p) -> l''(z; b), a generalised second derivative; smooth losses only
    curvature: ClassVar[Callable[..., float] | None] = None
    #: prox(v, t, b, p) -> argmin_z t l(z; b) + (z - v)^2 / 2 for t >= 0
    prox: ClassVar[Callable[..., float]]
    #: conjugate(u, b, w, p) -> (w l)*(u; b) = w l*(u / w; b) for a weight w > 0, inf outside the domain
    conjugate: ClassVar[Callable[..., float]]

    # --- kernels: the loops of `loss_loops` around the formulas, or the loss's own ----------------------------------
    value_gradient_loop: ClassVar[Callable[..., float]]
    curvature_loop: ClassVar[Callable[..., None] | None] = None
    prox_loop: ClassVar[Callable[..., None]]
    conjugate_loop: ClassVar[Callable[..., float]]

    # --- references: entrywise in NumPy, unweighted -----------------------------------------------------------------
    @staticmethod
    @abstractmethod
    def value_naive(z: Array, b: Array, p: Array) -> Array:
        """l(z_j; b_j) for each j."""

    @staticmethod
    @abstractmethod
    def gradient_naive(z: Array, b: Array, p: Array) -> Array:
        """l'(z_j; b_j), or one subgradient."""

    @staticmethod
    @abstractmethod
    def conjugate_naive(u: Array, b: Array, p: Array) -> Array:
        """l*(u_j; b_j) = sup_z u_j z - l(z; b_j), inf outside the domain."""

    @staticmethod
    @abstractmethod
    def prox_naive(v: Array, t: Array, b: Array, p: Array) -> Array:
        """argmin_z t_j l(z; b_j) + (z - v_j)^2 / 2."""

    @staticmethod
    @abstractmethod
    def dual_bounds_naive(b: Array, p: Array) -> tuple[Array, Array]:
        """The closure of the domain of l*(.; b_j), an interval: its ends, each possibly infinite."""

    @staticmethod
    def domain_naive(b: Array, p: Array) -> tuple[Array, Array]:
        """The closure of the domain of l(.; b_j) where it has one: the nonnegative numbers, unless the loss says otherwise."""
        return np.zeros_like(b), np.full_like(b, np.inf)

    @staticmethod
    def size_naive(b: Array, p: Array) -> Array:
        """The size of a loss that is infinite at 0, by its target: 0 where that tells none, as for a logarithm, whose unit shifts it."""
        return np.zeros_like(b)

    @staticmethod
    def ends_open(p: Array) -> tuple[bool, bool]:
        """True where the conjugate is infinite at the lower, and at the upper end of its domain, if that is finite."""
        return False, False

    @classmethod
    def infimum_naive(cls, b: Array, p: Array) -> Array:
        """inf_z l(z; b_j), which is -l*(0; b_j)."""
        return 0.0 - cls.conjugate_naive(np.zeros_like(b), b, p)

    @staticmethod
    def target_naive(z: Array) -> Array:
        """The predictions z on the scale of the targets: z itself for most losses."""
        return z

    #: curvature_naive(z, b, p) -> l''(z_j; b_j) for each j: what a smooth loss without formulas gives
    curvature_naive: ClassVar[Callable[..., Array] | None] = None
    #: conic(b, w, p) -> the conic form of sum_j w_j l(z_j; b_j); None where no cone has it
    conic: ClassVar[Callable[..., Conic | None] | None] = None
    #: cvxpy(z, b, p) -> l(z_j; b_j) as an expression of cvxpy, for `fwdsl verify`; z is one, b an array. None where `fwdsl.oracle` has it, or nobody
    cvxpy: ClassVar[Callable[..., Any] | None] = None


def no_kink(p: Array) -> float:
    """0: the conjugate is smooth inside its domain."""
    return 0.0


def first_parameter(p: Array) -> float:
    """The half-width of a tube."""
    return float(p[0])


def _bring_in(cls: type[Loss], word: LossWord) -> None:
    """Take the name of a loss from outside from its record, and see whether it has formulas to compile."""
    if not isinstance(word, LossWord) or word.target == "labels":
        raise TypeError(f"`word` of {cls.__name__} must be a `loss_word` of real or signed targets")
    if cls.__dict__.get("name", word.name) != word.name:
        raise TypeError(f"{cls.__name__} calls itself `{cls.name}`, and its record says `{word.name}`")
    cls.name = word.name
    missing = [name for name in FORMULAS if not hasattr(cls, name)]
    cls.compiled = len(missing) < len(FORMULAS)
    if cls.compiled and missing:
        raise TypeError(f"{cls.__name__} has formulas and lacks {', '.join(missing)}: give all or none")


def is_plain(kernel: Callable[..., Any]) -> bool:
    """True if a kernel is a reference under another name, which cannot be compiled."""
    return getattr(kernel, "plain", False)


def _loops_of_references(cls: type[Loss]) -> Iterator[tuple[str, Callable[..., Any]]]:
    """Plain functions that call the references, with the signatures of the loops."""

    def value_gradient(z: Array, b: Array, w: Array, p: Array, out: Array) -> float:
        out[:] = w * cls.gradient_naive(z, b, p)
        return float(w @ cls.value_naive(z, b, p))

    def prox(v: Array, t: float, b: Array, w: Array, p: Array, out: Array) -> None:
        out[:] = cls.prox_naive(v, t * w, b, p)

    def conjugate(y: Array, b: Array, w: Array, p: Array) -> float:
        return LossFunction(cls, b, w, p).conjugate(y)

    def curvature(z: Array, b: Array, w: Array, p: Array, out: Array) -> None:
        assert cls.curvature_naive is not None
        out[:] = w * cls.curvature_naive(z, b, p)

    made: list[Callable[..., Any]] = [value_gradient, prox, conjugate]
    made += [] if cls.curvature_naive is None else [curvature]
    for kernel in made:
        kernel.plain = True  # type: ignore[attr-defined]
        yield kernel.__name__, kernel


@dataclass(frozen=True, eq=False, repr=False)
class LossFunction:
    """z -> sum_j w_j l(z_j; b_j): a loss with its targets b, weights w (any outer coefficient and 1/n included) and parameters."""

    loss: type[Loss]
    b: Array
    w: Array
    p: Array

    @property
    def size(self) -> int:
        """The number of predictions."""
        return self.b.size

    @property
    def name(self) -> str:
        return self.loss.name

    def part(self, at: slice) -> LossFunction:
        """The sum over some of the samples."""
        return LossFunction(self.loss, self.b[at], self.w[at], self.p)

    def value(self, z: Array, leaves: tuple[Rows, ...] | None = None) -> float:
        """The weighted sum, by the reference, over these leaves of the samples (`fwdsl.sums`)."""
        return self._sum(lambda at: self._value(z[at], self.b[at], self.w[at]), leaves)

    def _value(self, z: Array, b: Array, w: Array) -> float:
        values = self.loss.value_naive(z, b, self.p)
        # what has no weight is 0 even where its value is infinite
        return float(w @ (values if self._weighs_all else np.where(w > 0.0, values, 0.0)))

    def size_at(self, z: Array) -> float:
        """The size of the sum, for what is measured beside it: where a loss is infinite at a prediction, its own measure of size counts."""
        value = abs(self.value(z))
        if math.isfinite(value) or not self.loss.has_domain:
            return value
        each = np.abs(self.loss.value_naive(z, self.b, self.p))
        found = np.where(np.isfinite(each), each, self.loss.size_naive(self.b, self.p))
        return float(self.w @ np.where(self.w > 0.0, found, 0.0))

    def _sum(self, fn: Callable[[slice], float], leaves: tuple[Rows, ...] | None) -> float:
        leaves = leaves_of_vectors(self.size) if leaves is None else leaves
        if len(leaves) == 1 and self.size <= _BLOCK:
            return fn(slice(0, self.size))
        return sum_of_numbers(
            [sum_of_numbers([fn(slice(*at)) for at in of_leaf]) for of_leaf in pieces(leaves, _BLOCK)]
        )

    @cached_property
    def on(self) -> VectorFunction | None:
        """The closure of the set of predictions with a finite value; None where that is every vector. What has no weight may be anywhere."""
        if not self.loss.has_domain:
            return None
        from .vectors.box import Box  # sets are not loaded for losses that are finite everywhere
        from .vectors.nonnegative import Nonnegative

        lo, hi = self.loss.domain_naive(self.b, self.p)
        if self._weighs_all and not lo.any() and np.all(hi == np.inf):
            return Nonnegative(self.size)
        live = self.w > 0.0
        return Box(self.size, np.where(live, lo, -np.inf), np.where(live, hi, np.inf))

    def into_set(self, z: Array) -> Array:
        """z with each entry at the nearest point of the closure of the domain."""
        return z if self.on is None else self.on.prox(z, 0.0)

    @property
    def ends_open(self) -> tuple[bool, bool]:
        """True where the conjugate is infinite at a finite lower, and upper, end of its domain."""
        return self.loss.ends_open(self.p)

    def gradient(self, z: Array) -> Array:
        """(w_j l'(z_j)), by the reference."""
        return self.w * self.loss.gradient_naive(z, self.b, self.p)

    def conjugate(self, y: Array, leaves: tuple[Rows, ...] | None = None) -> float:
        """sum_j w_j l*(y_j / w_j), by the reference, over these leaves of the samples; inf where y is outside the domain."""
        return self._sum(lambda at: self._conjugate(y[at], self.b[at], self.w[at]), leaves)

    def _conjugate(self, y: Array, b: Array, w: Array) -> float:
        free = self._is_dual_free
        ends = None if free else self.loss.dual_bounds_naive(b, self.p)
        if ends is not None:
            lo, hi = self._weighted(w, *ends)
            if (y < lo).any() or (y > hi).any():
                return math.inf
        if not self._weighs_all:
            live = w > 0
            y, w, b = y[live], w[live], b[live]
            ends = None if ends is None else (ends[0][live], ends[1][live])
        u = y / w
        if ends is not None:
            # y is in the domain, and so is y / w but for rounding
            u = np.minimum(np.maximum(u, ends[0]), ends[1])
        return float(w @ self.loss.conjugate_naive(u, b, self.p))

    @cached_property
    def _weighs_all(self) -> bool:
        """True if no weight is 0."""
        return bool((self.w > 0).all())

    @property
    def _is_dual_free(self) -> bool:
        """True if the conjugate is finite everywhere, as that of a strongly convex loss is where all samples weigh."""
        return self.loss.strong_convexity > 0.0 and self._weighs_all

    def _ends(self, w: Array, b: Array) -> tuple[Array, Array]:
        """The ends of the domain of the conjugate for some samples: those of the loss times the weights, 0 where nothing weighs."""
        return self._weighted(w, *self.loss.dual_bounds_naive(b, self.p))

    def _weighted(self, w: Array, lo: Array, hi: Array) -> tuple[Array, Array]:
        if self._weighs_all:
            return w * lo, w * hi
        with np.errstate(invalid="ignore"):
            return np.where(w > 0, w * lo, 0.0), np.where(w > 0, w * hi, 0.0)

    def prox(self, v: Array, t: float) -> Array:
        """argmin_z t f(z) + |z - v|^2 / 2, by the reference."""
        return self.loss.prox_naive(v, t * self.w, self.b, self.p)

    def dual_bounds(self) -> tuple[Array, Array]:
        """The box which is the closure of the domain of the conjugate."""
        return self._ends(self.w, self.b)

    def into_domain(self, y: Array) -> Array:
        """y with each entry at the nearest point of the domain of the conjugate."""
        if self._is_dual_free:
            return y.copy()
        out = np.empty(self.size)
        inner = INSIDE * float(np.abs(y).max(initial=0.0))
        below, above = (inner * is_open for is_open in self.ends_open)
        for at in _blocks(self.size):
            lo, hi = self._ends(self.w[at], self.b[at])
            live = self.w[at] > 0.0 if inner and (below or above) else True
            np.clip(y[at], lo + below * live, hi - above * live, out=out[at])
        return out

    def infimum(self, leaves: tuple[Rows, ...] | None = None) -> float:
        """The sum of the infima, over these leaves of the samples; -inf where one is."""
        return self._sum(lambda at: float(self.w[at] @ self.loss.infimum_naive(self.b[at], self.p)), leaves)

    def conic(self) -> Conic | None:
        """The conic form of the weighted sum; None where the loss has none."""
        return None if self.loss.conic is None else self.loss.conic(self.b, self.w, self.p)

    @property
    def lipschitz(self) -> float:
        """A Lipschitz constant of the gradient in z: max_j w_j sup l''; inf where there is none."""
        beta = self.loss.smoothness
        return math.inf if beta is None else beta * float(self.w.max(initial=0.0))


def _blocks(size: int) -> Iterator[slice]:
    """Samples that are looked at together: the references have many temporary vectors, of a block each."""
    return (slice(start, start + _BLOCK) for start in range(0, size, _BLOCK))


_BLOCK = 1 << 16
