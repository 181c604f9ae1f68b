"""Functions of a matrix by name: norms, sets, and the pairs of both whose joint prox is exact.

A matrix function is a vector function of the flat matrix (C order). Most are a vector function seen through something that keeps its prox: all
entries, the rows or columns, the singular values, the eigenvalues. Adding one of those is a name in a table below; others are a file.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from ..base import VectorFunction
from ..vectors import JOINTS, SETS
from ..vectors import build as build_vector
from ..vectors.common import ConvexSet, Joint
from .birkhoff import Birkhoff
from .common import DUAL_NORMS, Shape, dual_norm
from .flat import FroBall, NormFro, NormFroFroBall, NormFroNonnegative
from .l1_inf_ball import L1InfBall, Norm1InfL1InfBall
from .l21_ball import Norm21L21Ball, l21_ball
from .lines import Lines, LinesSet
from .spectral import Eigen, EigenSet, Singular, SingularSet, Spectral

__all__ = [
    "DUAL_NORMS",
    "EIGENVALUES",
    "ENTRYWISE",
    "MATRIX_NORMS",
    "MATRIX_SETS",
    "OWN_JOINTS",
    "OWN_SETS",
    "ROWS",
    "SINGULAR_SETS",
    "SINGULAR_VALUES",
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
]

NormSpec = tuple[str, float] | tuple[str, float, Mapping[str, Any]]
SetSpec = tuple[str, Mapping[str, Any]]

#: Names that hold for all entries as one vector.
ENTRYWISE = ("norm1", "norm_inf", "entropy", "l1_ball", "linf_ball", "box", "nonnegative")

#: Matrix norms, and the vector norm that each is of the rows, the singular values and, for symmetric matrices, the eigenvalues.
ROWS = {"norm1": "norm1", "entropy": "entropy", "norm21": "norm2", "norm1_inf": "norm_inf"}
SINGULAR_VALUES = {"norm_nuc": "norm1", "norm_fro": "norm2", "norm_spec": "norm_inf"}

#: Matrix sets, and the vector set that each asks of the singular values or the eigenvalues.
SINGULAR_SETS = {"nuclear_ball": "l1_ball", "fro_ball": "l2_ball", "spectral_ball": "linf_ball"}
EIGENVALUES = {"psd": "nonnegative", "spectrahedron": "simplex", "solid_spectrahedron": "solid_simplex"}

#: Sets that are of nothing simpler, made as f(shape, **arguments), and norms on them, made as cls(c, set).
OWN_SETS: dict[str, Callable[..., ConvexSet]] = {
    "l21_ball": l21_ball,
    "l1_inf_ball": L1InfBall,
    "birkhoff": Birkhoff,
}
OWN_JOINTS: dict[tuple[str, str], type[Joint]] = {
    ("norm21", "l21_ball"): Norm21L21Ball,
    ("norm1_inf", "l1_inf_ball"): Norm1InfL1InfBall,
}

#: Pairs with the Frobenius norm under its own name.
_FROBENIUS: dict[tuple[str, str], type[Joint]] = {
    ("norm_fro", "fro_ball"): NormFroFroBall,
    ("norm_fro", "nonnegative"): NormFroNonnegative,
}

#: All names of matrix norms and sets.
MATRIX_NORMS: tuple[str, ...] = (
    "norm1",
    "norm_inf",
    "norm_fro",
    "norm_nuc",
    "norm_spec",
    "norm21",
    "norm1_inf",
    "entropy",
)
MATRIX_SETS: tuple[str, ...] = (
    *(name for name in ENTRYWISE if name in SETS),
    *SINGULAR_SETS,
    "rows",
    "columns",
    "vec",
    "simplex_product",
    *EIGENVALUES,
    *OWN_SETS,
)


def build_matrix(norm: NormSpec | None, set: SetSpec | None, shape: Shape) -> VectorFunction | None:
    """c * norm on a set, of flat matrices of this shape: `build_matrix(("norm_nuc", 0.1), ("psd", {}), (d, d))`.

    Sets made of a vector set take it as their argument `set`: `("rows", {"set": ("l2_ball", {"r": 1.0})})`. None where no joint prox is known for
    this pair. Raises `KeyError` for an unknown name and `ValueError` for bad arguments or a shape that is not square where it must be.
    """
    if norm is not None and norm[0] not in MATRIX_NORMS:
        raise KeyError(norm[0])
    if set is not None and set[0] not in MATRIX_SETS:
        raise KeyError(set[0])
    if set is not None and set[0] == "simplex_product":
        set = ("rows", {"set": ("simplex", {"r": 1.0})})
    for family in (_own, _flat, _lines, _spectrum):
        found = family(norm, set, shape)
        if found is not None:
            return found
    return None


def _own(norm: NormSpec | None, on: SetSpec | None, shape: Shape) -> VectorFunction | None:
    """Of nothing simpler."""
    if on is None or on[0] not in OWN_SETS:
        return None
    inside = OWN_SETS[on[0]](shape, **on[1])
    if norm is None:
        return inside
    joint = OWN_JOINTS.get((norm[0], on[0]))
    return None if joint is None else joint(norm[1], inside)


def _flat(norm: NormSpec | None, on: SetSpec | None, shape: Shape) -> VectorFunction | None:
    """Of all entries as one vector."""
    size = math.prod(shape)
    if norm is not None and norm[0] not in (*ENTRYWISE, "norm_fro"):
        return None
    if on is None:
        if norm is None:
            return build_vector(None, None, size)
        return NormFro(size, norm[1]) if norm[0] == "norm_fro" else build_vector(norm, None, size)
    name, arguments = on[1]["set"] if on[0] == "vec" else on
    if on[0] != "vec" and name not in (*ENTRYWISE, "fro_ball"):
        return None
    inside = FroBall(size, **arguments) if on[0] == "fro_ball" else build_vector(None, (name, arguments), size)
    if norm is None:
        return inside
    assert isinstance(inside, ConvexSet)
    pair = "norm2" if norm[0] == "norm_fro" else norm[0], "l2_ball" if name == "fro_ball" else name
    joint = _FROBENIUS.get((norm[0], name)) or JOINTS.get(pair)
    return None if joint is None else joint(norm[1], inside)


def _lines(norm: NormSpec | None, on: SetSpec | None, shape: Shape) -> VectorFunction | None:
    """The same for every row, or for every column."""
    columns = on is not None and on[0] == "columns"
    inner: NormSpec | None = None
    if norm is not None:
        if norm[0] not in ROWS or (columns and norm[0] not in ("norm1", "entropy")):
            return None
        inner = ROWS[norm[0]], norm[1]
    within: SetSpec | None = None
    if on is not None:
        if on[0] in ("rows", "columns"):
            within = on[1]["set"]
        elif on[0] in ("linf_ball", "nonnegative"):
            within = on
        else:
            return None
    found = build_vector(inner, within, shape[0] if columns else shape[1])
    if found is None:
        return None
    frame = LinesSet if norm is None else Lines
    return frame(shape, 1 if columns else 0, found)


def _spectrum(norm: NormSpec | None, on: SetSpec | None, shape: Shape) -> VectorFunction | None:
    """Of the eigenvalues where the set is one of symmetric matrices, else of the singular values."""
    symmetric = on is not None and on[0] in EIGENVALUES
    if symmetric and shape[0] != shape[1]:
        raise ValueError(f"{on[0]} is a set of symmetric matrices, not of {shape[0]} x {shape[1]}")  # type: ignore[index]
    if norm is not None and norm[0] not in SINGULAR_VALUES:
        return None
    if on is not None and not symmetric and on[0] not in SINGULAR_SETS:
        return None
    inner = None if norm is None else (SINGULAR_VALUES[norm[0]], norm[1])
    within = None if on is None else ((EIGENVALUES if symmetric else SINGULAR_SETS)[on[0]], on[1])
    found = build_vector(inner, within, min(shape))
    if found is None:
        return None
    frame: type[Spectral] = (
        (EigenSet if norm is None else Eigen) if symmetric else (SingularSet if norm is None else Singular)
    )
    return frame(shape, (None if norm is None else norm[0], None if on is None else on[0]), found)
