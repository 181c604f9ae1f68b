"""Losses of a row of predictions: what they must have, and a weighted sum of one over samples.

A `VectorLoss` is a function l(z; y) of one row z of k predictions and a class y in 0..k-1. The vocabulary is that of `Loss`:
formulas for one row, and references per sample in NumPy, which are the definition.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from ..sums import Rows, by_samples, leaves_of_vectors, tree_sum
from ..words import LOSSES, LossWord
from .base import Array, record_of, require
from .conic import Conic
from .loss import FORMULAS
from .loss_loops import ROW_LOOPS, loops_of

Codes = NDArray[np.int64]

EPS = float(np.finfo(np.float64).eps)


def sums_to_zero(u: Array) -> NDArray[np.bool_]:
    """A mask of the rows of u that sum to zero up to rounding: to at most (8 + k) eps times the sum of the sizes."""
    found: NDArray[np.bool_] = np.abs(u.sum(axis=1)) <= (8 + u.shape[1]) * EPS * np.abs(u).sum(axis=1)
    return found


class VectorLoss(ABC):
    """A loss l(z; y) of one row z of predictions, convex in z. Subclasses are never instantiated."""

    name: ClassVar[str]
    #: What the language knows of it.
    word: ClassVar[LossWord]

    #: A Lipschitz constant of the gradient in the Euclidean norm, for one sample; None where l is not differentiable.
    smoothness: ClassVar[float | None]
    strong_convexity: ClassVar[float] = 0.0
    piecewise_linear: ClassVar[bool] = False
    piecewise_quadratic: ClassVar[bool] = False
    #: with_cost(y, c) -> the codes y' with l(z; y) + <c, z> = l(z; y'), of rows c of a matrix, -1 where there is none; None of losses that make
    #: nothing of costs.
    with_cost: ClassVar[Callable[..., Codes] | None] = None
    #: The domain of l*(.; y) is 0 <= u_l <= 1 for each l != y, with u_y minus their sum; else it is u + e_y in the simplex.
    boxed_dual: ClassVar[bool] = False
    #: The rows of the conic form for each prediction, at least.
    conic_rows: ClassVar[int] = 1

    @classmethod
    def largest_slope(cls, k: int) -> float:
        """The largest Euclidean size of a subgradient for k classes, that of the farthest point of the domain of l*."""
        return math.sqrt(k * (k - 1.0)) if cls.boxed_dual else math.sqrt(2.0)

    def __init_subclass__(cls, **options: object) -> None:
        super().__init_subclass__(**options)
        require(cls, ("name", "smoothness", *FORMULAS))
        cls.word = record_of(cls, cls.name, LOSSES)
        if cls.smoothness is not None and (cls.curvature is None or cls.bent is None):
            raise TypeError(f"the atom {cls.__name__} is smooth and lacks curvature or bent")
        for name, loop in loops_of(cls, ROW_LOOPS, "row_"):
            setattr(cls, f"{name}_loop", staticmethod(loop))

    # --- formulas: z, v, u, h, out are vectors of one sample's k numbers; compiled ----------------------------------
    #: tangent(z, y, w, out) -> w l(z; y); out = w grad l(z; y) (a subgradient where not differentiable)
    tangent: ClassVar[Callable[..., float]]
    #: curvature(z, w, out): what `bent` asks of the second derivatives at z; smooth losses only
    curvature: ClassVar[Callable[..., None] | None] = None
    #: bent(h, v, out): out = w (Hessian of l at z) v, h being what `curvature` gave
    bent: ClassVar[Callable[..., None] | None] = None
    #: prox(v, t, y, out): out = argmin_z t l(z; y) + |z - v|^2 / 2 for t >= 0
    prox: ClassVar[Callable[..., None]]
    #: conjugate(u, y, w) -> (w l)*(u), inf outside the domain, an equality being met by the rule of `sums_to_zero`
    conjugate: ClassVar[Callable[..., float]]

    # --- kernels: the loops of `loss_loops` around the formulas -----------------------------------------------------
    value_gradient_loop: ClassVar[Callable[..., float]]
    curvature_loop: ClassVar[Callable[..., None]]
    bent_loop: ClassVar[Callable[..., None]]
    prox_loop: ClassVar[Callable[..., None]]
    conjugate_loop: ClassVar[Callable[..., float]]

    #: split_hessian(h) -> (a, b), of the size of h: the weighted Hessian of row i is diag(a_i) - b_i b_i'; None where it has another form
    split_hessian: ClassVar[Callable[..., tuple[Array, Array]] | None] = None

    #: conic(y, w, k) -> the conic form of sum_i w_i l(z_i; y_i) for k classes; None where no cone has it
    conic: ClassVar[Callable[..., Conic] | None] = None

    # --- references: by rows in NumPy, unweighted ---------------------------------------------------------------------
    @staticmethod
    @abstractmethod
    def value_naive(z: Array, y: Codes) -> Array:
        """l(z_i; y_i) for each row i."""

    @staticmethod
    @abstractmethod
    def gradient_naive(z: Array, y: Codes) -> Array:
        """The gradient of l at each row, or one subgradient, (n, k)."""

    @staticmethod
    @abstractmethod
    def conjugate_naive(u: Array, y: Codes) -> Array:
        """l*(u_i; y_i) = sup_z <u_i, z> - l(z; y_i) for each row, inf outside the domain."""

    @staticmethod
    @abstractmethod
    def prox_naive(v: Array, t: Array, y: Codes) -> Array:
        """argmin_z t_i l(z; y_i) + |z - v_i|^2 / 2 for each row, t > 0."""

    @staticmethod
    @abstractmethod
    def into_domain_naive(u: Array, y: Codes) -> Array:
        """A point of the domain of l*(.; y_i) close to u_i for each row: u_i itself, to rounding, where it is inside."""

    @classmethod
    def infimum_naive(cls, y: Codes, k: int) -> Array:
        """inf_z l(z; y_i) for each row, which is -l*(0; y_i)."""
        of_class: Array = 0.0 - cls.conjugate_naive(np.zeros((k, k)), np.arange(k))
        return of_class[y]


@dataclass(frozen=True, eq=False, repr=False)
class VectorLossFunction:
    """z -> sum_i w_i l(z_i; y_i) for the rows z_i of a matrix (n, k), given and returned flat in C order.

    `y` are class codes in 0..k-1, `w` nonnegative weights (any outer coefficient and 1/n included). Raises `ValueError` where a code is out of range.
    """

    loss: type[VectorLoss]
    y: Codes
    w: Array
    k: int

    def __post_init__(self) -> None:
        if self.y.size and not (int(self.y.min()) >= 0 and int(self.y.max()) < self.k):
            raise ValueError(f"class codes must be at least 0 and less than {self.k}")

    @property
    def shape(self) -> tuple[int, int]:
        """(n, k)."""
        return self.y.size, self.k

    @property
    def size(self) -> int:
        """The number of predictions, n k."""
        return self.y.size * self.k

    @property
    def name(self) -> str:
        return self.loss.name

    def part(self, at: slice) -> VectorLossFunction:
        """The sum over the samples of some of the predictions, all k of each."""
        samples = slice(at.start // self.k, at.stop // self.k)
        return VectorLossFunction(self.loss, self.y[samples], self.w[samples], self.k)

    def value(self, z: Array, leaves: tuple[Rows, ...] | None = None) -> float:
        """The weighted sum, by the reference, over these leaves of the predictions (`fwdsl.sums`)."""
        Z = z.reshape(self.shape)
        return self._sum(lambda at: (self.w[at] * self.loss.value_naive(Z[at], self.y[at])).sum(), leaves)

    def _sum(self, fn: Callable[[slice], float], leaves: tuple[Rows, ...] | None) -> float:
        samples = leaves_of_vectors(self.y.size) if leaves is None else by_samples(leaves, self.k)
        found = tree_sum(fn(slice(*leaf)) for leaf in samples)
        return 0.0 if found is None else float(found)

    def gradient(self, z: Array) -> Array:
        """The gradient, flat, by the reference."""
        return (self.w[:, None] * self.loss.gradient_naive(z.reshape(self.shape), self.y)).reshape(-1)

    def conjugate(self, y: Array, leaves: tuple[Rows, ...] | None = None) -> float:
        """sum_i w_i l*(y_i / w_i), by the reference, over these leaves; inf where y is outside the domain (w_i = 0 asks y_i = 0)."""
        u = y.reshape(self.shape)

        def of(at: slice) -> float:
            live = self.w[at] > 0.0
            if np.any(u[at][~live]):
                return math.inf
            w = self.w[at][live]
            return float((w * self.loss.conjugate_naive(u[at][live] / w[:, None], self.y[at][live])).sum())

        return self._sum(of, leaves)

    def prox(self, v: Array, t: float) -> Array:
        """argmin_z t f(z) + |z - v|^2 / 2, flat, by the reference."""
        out = v.reshape(self.shape).copy()
        live = self.w > 0.0
        out[live] = self.loss.prox_naive(out[live], t * self.w[live], self.y[live])
        return out.reshape(-1)

    def into_domain(self, y: Array) -> Array:
        """A point of the domain of the conjugate close to y: what rounding, or more, put outside comes back inside."""
        u = y.reshape(self.shape)
        out = np.zeros_like(u)
        live = self.w > 0.0
        w = self.w[live][:, None]
        out[live] = w * self.loss.into_domain_naive(u[live] / w, self.y[live])
        return out.reshape(-1)

    def conic(self) -> Conic | None:
        """The conic form of the weighted sum; None where the loss has none."""
        return None if self.loss.conic is None else self.loss.conic(self.y, self.w, self.k)

    def growth(self, d: Array) -> tuple[float, float]:
        """The slope of the sum far out along d, the support function of the domain of its conjugate, and the size of its terms.

        Of a row it is max_l d_l - d_y, or where the domain is a box the sum of max(0, d_l - d_y) over l.
        """
        rows = d.reshape(self.shape)
        over = rows - rows[np.arange(self.y.size), self.y][:, None]
        of_rows = np.maximum(over, 0.0).sum(axis=1) if self.loss.boxed_dual else over.max(axis=1, initial=0.0)
        sizes = np.abs(rows).max(axis=1, initial=0.0) * (2.0 * (self.k if self.loss.boxed_dual else 1))
        return float(self.w @ of_rows), float(self.w @ sizes)

    def infimum(self, leaves: tuple[Rows, ...] | None = None) -> float:
        """The sum of the infima, over these leaves."""
        return self._sum(lambda at: (self.w[at] * self.loss.infimum_naive(self.y[at], self.k)).sum(), leaves)

    @property
    def lipschitz(self) -> float:
        """A Lipschitz constant of the gradient in z: max_i w_i times that of one sample; inf where there is none."""
        beta = self.loss.smoothness
        return math.inf if beta is None else beta * float(self.w.max(initial=0.0))
