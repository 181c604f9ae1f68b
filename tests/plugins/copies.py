"""Words of ours under other names: what is known of them is said by their records, so that nothing is asked of their names."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fwdsl.atoms.losses import LOSSES
from fwdsl.atoms.losses.squared import Squared
from fwdsl.atoms.vectors.box import box_kernel
from fwdsl.atoms.vectors.l1_ball import L1Ball
from fwdsl.atoms.vectors.linf_ball import LinfBall
from fwdsl.atoms.vectors.simplex import Simplex
from fwdsl.extend import Array, Loss, Parameter, VectorSet, loss_word, no_kink, set_word

RADIUS = Parameter("r", "positive")


@dataclass(frozen=True, eq=False)
class Sizes(VectorSet):
    """`l1_ball`."""

    size: int
    r: float

    word = set_word("sizes", "sum |x_i| <= r.", RADIUS, total="sizes")
    compiled = True
    prox_kernel = staticmethod(L1Ball.prox_kernel)

    @property
    def _ours(self) -> L1Ball:
        return L1Ball(self.size, self.r)

    def radius(self) -> float:
        return self._ours.radius()

    def violation(self, x: Array, sizes: Array | None = None) -> float:
        return self._ours.violation(x, sizes)

    def prox(self, v: Array, t: float) -> Array:
        return self._ours.prox(v, t)

    def conjugate(self, v: Array) -> float:
        return self._ours.conjugate(v)

    def lmo(self, c: Array) -> Array:
        return self._ours.lmo(c)

    def vertex_id(self, c: Array) -> tuple[int, ...]:
        return self._ours.vertex_id(c)

    def face(self, x: Array):  # type: ignore[no-untyped-def]
        return self._ours.face(x)

    def conic(self):  # type: ignore[no-untyped-def]
        return self._ours.conic()

    def kernel_args(self) -> tuple[object, ...]:
        return self._ours.kernel_args()


@dataclass(frozen=True, eq=False)
class Shares(Sizes):
    """`simplex`."""

    size: int
    r: float

    word = set_word("shares", "x >= 0 and sum(x) = r.", RADIUS, total="equal")
    prox_kernel = staticmethod(Simplex.prox_kernel)

    @property
    def _ours(self) -> Simplex:  # type: ignore[override]
        return Simplex(self.size, self.r)


@dataclass(frozen=True, eq=False)
class Between(VectorSet):
    """`box`, which says no more than the ends that its record names."""

    size: int
    low: Array
    high: Array

    word = set_word(
        "between", "low <= x <= high.", Parameter("low", shape="bound"), Parameter("high", shape="bound"),
        ends=("low", "high"),
    )  # fmt: skip
    compiled = True
    prox_kernel = staticmethod(box_kernel)

    def radius(self) -> float:
        return float(np.linalg.norm(np.maximum(*map(np.abs, self.bounds()))))

    def violation(self, x: Array, sizes: Array | None = None) -> float:
        lo, hi = self.bounds()
        sizes = np.abs(x) if sizes is None else sizes
        over = np.maximum(np.maximum(lo - x, x - hi), 0.0)
        return float((over / (sizes + np.maximum(np.abs(lo), np.abs(hi)))).max(initial=0.0))

    def prox(self, v: Array, t: float) -> Array:
        return np.clip(v, *self.bounds())

    def conjugate(self, v: Array) -> float:
        lo, hi = self.bounds()
        return float(np.maximum(lo * v, hi * v).sum())

    def lmo(self, c: Array) -> Array:
        lo, hi = self.bounds()
        return np.where(c >= 0.0, lo, hi)

    def kernel_args(self) -> tuple[object, ...]:
        return 0.0, *self.bounds()


@dataclass(frozen=True, eq=False)
class Budget(Sizes):
    """`l1_ball`, of matrices too."""

    size: int
    r: float

    word = set_word("budget", "sum |x_i| <= r.", RADIUS, total="sizes", of="entrywise")


@dataclass(frozen=True, eq=False)
class Cube(Sizes):
    """`linf_ball`."""

    size: int
    r: float

    word = set_word("cube", "|x_i| <= r.", RADIUS, ends=("-r", "r"))
    prox_kernel = staticmethod(LinfBall.prox_kernel)

    @property
    def _ours(self) -> LinfBall:  # type: ignore[override]
        return LinfBall(self.size, self.r)


class Quadratic(Loss):
    """`squared`."""

    word = loss_word("quadratic", "(z - b)^2.", square=True)
    smoothness = Squared.smoothness
    strong_convexity = Squared.strong_convexity
    piecewise_quadratic = quadratic = True
    dual_kink = staticmethod(no_kink)
    tangent = staticmethod(Squared.tangent)
    prox, conjugate = staticmethod(Squared.prox), staticmethod(Squared.conjugate)
    curvature, conic = staticmethod(Squared.curvature), staticmethod(Squared.conic)
    value_naive, gradient_naive = staticmethod(Squared.value_naive), staticmethod(Squared.gradient_naive)
    prox_naive, conjugate_naive = staticmethod(Squared.prox_naive), staticmethod(Squared.conjugate_naive)
    curvature_naive = staticmethod(lambda z, b, p: np.full(z.size, 2.0))
    dual_bounds_naive = staticmethod(Squared.dual_bounds_naive)


def copy_of(ours: str, name: str) -> type[Loss]:
    """A loss of ours with all its facts, formulas and kernels, under another name."""
    cls = LOSSES[ours]
    body = {k: v for k, v in vars(cls).items() if not k.startswith("_") and k not in ("name", "word")}
    word = loss_word(name, cls.word.formula, *cls.word.options, target=cls.word.target, residual=cls.word.residual)
    return type(name.title(), (Loss,), {"word": word, **body})


Bend, Distance, Tube, Clipped = (
    copy_of("hinge", "bend"),
    copy_of("absolute", "distance"),
    copy_of("epsilon_insensitive", "tube"),
    copy_of("huber", "clipped"),
)
