"""Functions of a matrix by name: norms, sets, and the pairs of both whose joint prox is exact.

A matrix function is a vector function of the flat matrix (C order). Most are a vector function seen through something that keeps its prox: all
entries, the rows or columns, the singular values, the eigenvalues. The records of the words say which; others are a file, and a line here.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from ...words import CONVEX, SETS
from ..base import VectorFunction
from ..vectors import build as build_vector
from ..vectors import class_of
from ..vectors.common import ConvexSet, Joint
from .birkhoff import Birkhoff
from .common import DUAL_NORMS, Shape, dual_norm
from .eigenvalues import MAKERS
from .flat import FroBall, NormFro, NormFroFroBall, NormFroNonnegative
from .l1_inf_ball import L1InfBall, Norm1InfL1InfBall
from .l21_ball import Norm21L21Ball, l21_ball
from .largest_row import LargestRow, MaxRowNorm1, MaxRowNorm2, largest_row
from .lines import Lines, LinesSet
from .spectral import Eigen, EigenSet, Singular, SingularSet, Spectral

__all__ = [
    "DUAL_NORMS",
    "Eigen",
    "EigenSet",
    "Lines",
    "LinesSet",
    "Shape",
    "Singular",
    "SingularSet",
    "Spectral",
    "build_matrix",
    "dual_norm",
    "maker",
]

NormSpec = tuple[str, float] | tuple[str, float, Mapping[str, Any]]
SetSpec = tuple[str, Mapping[str, Any]]
Maker = Callable[[NormSpec | None, SetSpec | None, Shape], VectorFunction | None]

#: Sets that are of nothing simpler, made as f(shape, **arguments), and norms on them, made as cls(c, set).
_OWN_SETS: dict[str, Callable[..., ConvexSet]] = {
    "l21_ball": l21_ball,
    "l1_inf_ball": L1InfBall,
    "birkhoff": Birkhoff,
}
#: Norms that are made of nothing simpler.
_OWN_NORMS: dict[str | None, type[LargestRow]] = {str(cls.pair[0]): cls for cls in (MaxRowNorm1, MaxRowNorm2)}
_OWN_JOINTS: dict[tuple[str | None, str | None], type[Joint]] = {
    cls.pair: cls for cls in (Norm21L21Ball, Norm1InfL1InfBall)
}

#: The Frobenius norm, which is the Euclidean one of all entries, has names of its own, alone and in pairs.
_FRO, _FRO_BALL = "norm_fro", "fro_ball"
_FROBENIUS: dict[tuple[str | None, str | None], type[Joint]] = {
    cls.pair: cls for cls in (NormFroFroBall, NormFroNonnegative)
}


def build_matrix(norm: NormSpec | None, set: SetSpec | None, shape: Shape) -> VectorFunction | None:
    """c * norm on a set, of flat matrices of this shape: `build_matrix(("norm_nuc", 0.1), ("psd", {}), (d, d))`.

    Sets made of a vector set take it as their argument `set`: `("rows", {"set": ("l2_ball", {"r": 1.0})})`. None where no joint prox is known for
    this pair. Raises `KeyError` for a name that no matrix function has, and `ValueError` for bad arguments or a shape that is not square where
    it must be.
    """
    if norm is not None and "matrix" not in CONVEX[norm[0]].of:
        raise KeyError(norm[0])
    if set is not None and SETS[set[0]].of == "vector":
        raise KeyError(set[0])
    if set is not None and SETS[set[0]].stands_for:
        outer, inner = SETS[set[0]].stands_for
        set = (outer, {"set": (inner, {"r": 1.0})})
    within = set[1]["set"][0] if set is not None and SETS[set[0]].inner else None
    if within is not None and SETS[within].of not in ("vector", "entrywise"):
        raise KeyError(within)
    made = maker(None if norm is None else norm[0], None if set is None else set[0], within)
    return None if made is None else made(norm, set, shape)


@cache
def maker(norm: str | None, set: str | None, within: str | None = None) -> Maker | None:
    """The constructor of c * norm on a set, from names; `within` is the set that this set is made of. None where no joint prox is known."""
    if norm in MAKERS:
        # a function of positive definite matrices is in psd as it is
        return MAKERS[norm] if set is None or CONVEX[norm].domain == set else None
    return _own(norm, set) or _of_entries(norm, set, within) or _of_lines(norm, set, within) or _of_spectrum(norm, set)


def _own(norm: str | None, on: str | None) -> Maker | None:
    """A constructor of a function that is made of no simpler one."""
    if on is None and norm in _OWN_NORMS:
        return lambda norm, _, shape: largest_row(_OWN_NORMS[norm[0] if norm else ""], _coefficient(norm), shape)
    if on not in _OWN_SETS:
        return None
    if norm is None:
        return lambda _, set, shape: _OWN_SETS[on](shape, **_arguments(set))
    joint = _OWN_JOINTS.get((norm, on))
    if joint is None:
        return None
    return lambda norm, set, shape: joint(_coefficient(norm), _OWN_SETS[on](shape, **_arguments(set)))


def _of_entries(norm: str | None, on: str | None, within: str | None) -> Maker | None:
    """A constructor of a function of all entries as one vector."""
    if norm is not None and norm != _FRO and "vector" not in CONVEX[norm].of:
        return None
    if on is None:
        if norm == _FRO:
            return lambda norm, _, shape: NormFro(math.prod(shape), _coefficient(norm))
        if class_of(norm, None) is None:
            return None
        return lambda norm, _, shape: build_vector(norm, None, math.prod(shape))
    name = within if SETS[on].inner == "entries" else on if SETS[on].of == "entrywise" or on == _FRO_BALL else None
    if name is None:
        return None

    def inside(set: SetSpec | None, shape: Shape) -> ConvexSet:
        assert set is not None
        if on == _FRO_BALL:
            return FroBall(math.prod(shape), **set[1])
        made = build_vector(None, set[1]["set"] if within else set, math.prod(shape))
        assert isinstance(made, ConvexSet)
        return made

    if norm is None:
        return lambda _, set, shape: inside(set, shape)
    vector_pair = "norm2" if norm == _FRO else norm, SETS[name].spectrum if name == _FRO_BALL else name
    joint: Any = _FROBENIUS.get((norm, name)) or class_of(*vector_pair)
    if joint is None or not issubclass(joint, Joint):
        return None
    if norm != _FRO and on != _FRO_BALL:
        # it knows of which set of ours one from outside is a copy
        return lambda norm, set, shape: build_vector(norm, _arguments(set)["set"] if within else set, math.prod(shape))
    return lambda norm, set, shape: joint(_coefficient(norm), inside(set, shape))


def _of_lines(norm: str | None, on: str | None, within: str | None) -> Maker | None:
    """The same for every row, or for every column."""
    lines = SETS[on].inner if on is not None else ""
    inner = None
    if norm is not None:
        inner = CONVEX[norm].rows
        # what adds up over entries adds up over columns too
        if not inner or (lines == "columns" and inner != norm):
            return None
    if on is not None and lines not in ("rows", "columns"):
        if not (SETS[on].bounds and SETS[on].permutable):
            return None
        within = on
    if class_of(inner, within) is None:
        return None
    axis = 1 if lines == "columns" else 0
    frame = LinesSet if norm is None else Lines

    def make(norm: NormSpec | None, set: SetSpec | None, shape: Shape) -> VectorFunction | None:
        spec = None if inner is None else (inner, _coefficient(norm))
        found = build_vector(spec, None if set is None else set[1]["set"] if lines else set, shape[1 - axis])
        return None if found is None else frame(shape, axis, found)

    return make


def _of_spectrum(norm: str | None, on: str | None) -> Maker | None:
    """A constructor of a function of the eigenvalues, for sets of symmetric matrices, or of the singular values."""
    inner = None if norm is None else CONVEX[norm].spectrum
    within = None if on is None else SETS[on].spectrum
    if inner == "" or within == "" or class_of(inner, within) is None:
        return None
    symmetric = on is not None and SETS[on].of == "symmetric"
    frame: type[Spectral] = (
        (EigenSet if norm is None else Eigen) if symmetric else (SingularSet if norm is None else Singular)
    )

    def make(norm: NormSpec | None, set: SetSpec | None, shape: Shape) -> VectorFunction | None:
        if symmetric and shape[0] != shape[1]:
            raise ValueError(f"{on} is a set of symmetric matrices, not of {shape[0]} x {shape[1]}")
        spec = None if inner is None else (inner, _coefficient(norm))
        found = build_vector(spec, None if within is None else (within, _arguments(set)), min(shape))
        return None if found is None else frame(shape, (None if norm is None else norm[0], on), found)

    return make


def _coefficient(norm: NormSpec | None) -> float:
    assert norm is not None
    return norm[1]


def _arguments(set: SetSpec | None) -> Mapping[str, Any]:
    assert set is not None
    return set[1]
