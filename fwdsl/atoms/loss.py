"""Losses of one prediction: their kernels, their references, their facts. `vector_loss.py` has those of a row of predictions."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from ..words import LOSSES, LossWord
from .base import Array, LossFunction, record_of, require
from .conic import Conic

KERNELS = ("value", "value_gradient", "prox", "conjugate")
"""The kernels of a loss, beside `curvature` of a smooth one."""


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

    #: Nanoseconds that value and slope at a sample take, as measured (`benchmarks/costs.py`): 1 for arithmetic, more for exponentials.
    nanoseconds: ClassVar[float] = 1.0

    #: It has kernels that can be compiled. A loss from outside may have references only, which then are its kernels.
    compiled: ClassVar[bool] = True

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if (word := cls.__dict__.get("word")) is not None:
            _bring_in(cls, word)
        require(cls, ("name", "smoothness", *KERNELS))
        if word is None:
            cls.word = record_of(cls, cls.name, LOSSES)
        if cls.smoothness is not None and cls.curvature is None:
            more = "" if word is None else ": give `curvature_naive(z, b, p)`, l'' for each j"
            raise TypeError(f"the atom {cls.__name__} is smooth and lacks curvature{more}")

    # --- kernels: z, b, w, out are float64 vectors of one block of samples, p the parameters ------------------------
    #: value(z, b, w, p) -> sum_j w_j l(z_j; b_j)
    value: ClassVar[Callable[..., float]]
    #: value_gradient(z, b, w, p, out) -> the same sum; out_j = w_j l'(z_j; b_j) (a subgradient where not differentiable)
    value_gradient: ClassVar[Callable[..., float]]
    #: curvature(z, b, w, p, out): out_j = w_j l''(z_j; b_j), a generalised second derivative; smooth losses only
    curvature: ClassVar[Callable[..., None] | None] = None
    #: prox(v, t, b, w, p, out): out_j = argmin_z t w_j l(z; b_j) + (z - v_j)^2 / 2
    prox: ClassVar[Callable[..., None]]
    #: conjugate(y, b, w, p) -> sum_j (w_j l)*(y_j) = sum_j w_j l*(y_j / w_j), inf outside the domain; w_j = 0 asks y_j = 0
    conjugate: ClassVar[Callable[..., float]]

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

    @classmethod
    def infimum_naive(cls, b: Array, p: Array) -> Array:
        """inf_z l(z; b_j), which is -l*(0; b_j)."""
        return 0.0 - cls.conjugate_naive(np.zeros_like(b), b, p)

    #: curvature_naive(z, b, p) -> l''(z_j; b_j) for each j: what a smooth loss without kernels gives
    curvature_naive: ClassVar[Callable[..., Array] | None] = None
    #: conic(b, w, p) -> the conic form of sum_j w_j l(z_j; b_j); None where no cone has it
    conic: ClassVar[Callable[..., Conic] | None] = None
    #: cvxpy(z, b, p) -> l(z_j; b_j) as an expression of cvxpy, for `fwdsl verify`; z is one, b an array. None where `fwdsl.oracle` has it, or nobody
    cvxpy: ClassVar[Callable[..., Any] | None] = None


def no_kink(p: Array) -> float:
    """0: the conjugate is smooth inside its domain."""
    return 0.0


def first_parameter(p: Array) -> float:
    """The half-width of a tube."""
    return float(p[0])


def _bring_in(cls: type[Loss], word: LossWord) -> None:
    """Take the name of a loss from outside from its record; make kernels of its references where it has none."""
    if not isinstance(word, LossWord) or word.target == "labels":
        raise TypeError(f"`word` of {cls.__name__} must be a `loss_word` of real or signed targets")
    if cls.__dict__.get("name", word.name) != word.name:
        raise TypeError(f"{cls.__name__} calls itself `{cls.name}`, and its record says `{word.name}`")
    cls.name = word.name
    kernels = {name: getattr(cls, name, None) for name in (*KERNELS, "curvature")}
    given = [name for name, kernel in kernels.items() if kernel is not None and not is_plain(kernel)]
    cls.compiled = bool(given)
    if not given:
        for kernel in _references_as_kernels(cls):
            setattr(cls, kernel.__name__, staticmethod(kernel))
    elif missing := [name for name in KERNELS if name not in given]:
        raise TypeError(f"{cls.__name__} has the kernel {given[0]} and lacks {', '.join(missing)}: give all or none")


def is_plain(kernel: Callable[..., Any]) -> bool:
    """True if a kernel is a reference under another name, which cannot be compiled."""
    return getattr(kernel, "plain", False)


def _references_as_kernels(cls: type[Loss]) -> list[Callable[..., Any]]:
    """Plain functions that call the references, with the signatures of kernels."""

    def value(z: Array, b: Array, w: Array, p: Array) -> float:
        return float(w @ cls.value_naive(z, b, p))

    def value_gradient(z: Array, b: Array, w: Array, p: Array, out: Array) -> float:
        out[:] = w * cls.gradient_naive(z, b, p)
        return value(z, b, w, p)

    def prox(v: Array, t: float, b: Array, w: Array, p: Array, out: Array) -> None:
        out[:] = cls.prox_naive(v, t * w, b, p)

    def conjugate(y: Array, b: Array, w: Array, p: Array) -> float:
        return LossFunction(cls, b, w, p).conjugate(y)

    def curvature(z: Array, b: Array, w: Array, p: Array, out: Array) -> None:
        assert cls.curvature_naive is not None
        out[:] = w * cls.curvature_naive(z, b, p)

    made: list[Callable[..., Any]] = [value, value_gradient, prox, conjugate]
    made += [curvature] if cls.curvature_naive is not None else []
    for kernel in made:
        kernel.plain = True  # type: ignore[attr-defined]
    return made
