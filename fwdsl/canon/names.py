"""Which norms and sets have a prox together, told from names: what the arrangement asks the registries of atoms."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from ..atoms.base import VectorFunction
from ..atoms.matrices import MATRIX_NORMS, MATRIX_SETS, build_matrix
from ..atoms.vectors import NORMS, SETS, build
from ..model import SetRef, Type

#: Sets of vectors that are written with other sets under a map: bounds of one, or a simplex of weights of ours.
MAPPED_SETS = frozenset({"affine", "halfspace", "polytope"})

#: All that are written with other sets.
REWRITTEN_SETS = MAPPED_SETS | {"birkhoff"}

#: Sets in the order in which g prefers them: compact ones bound the dual and have an LMO; entrywise ones come last.
_FIRST = ("simplex", "rows(simplex)", "spectrahedron")
_LAST = ("psd", "permutahedron", "linf_ball", "box", "nonnegative")

_DUMMY: dict[str, Any] = {
    "r": 1.0,
    "lo": 0.0,
    "hi": 1.0,
    "k": 1,
    "c": np.arange(3.0),
    "groups": [[0], [1], [2]],
    "weights": np.ones(3),
}


def key_of(ref: SetRef) -> str:
    """A set with what it is made of, without its numbers: `l1_ball`, `rows(simplex)`."""
    return f"{ref.name}({key_of(ref.inner)})" if ref.inner is not None else ref.name


def innermost(ref: SetRef) -> SetRef:
    """The set that a set is made of: of `rows(polytope(V))` the polytope, of any other itself."""
    return ref if ref.inner is None else innermost(ref.inner)


def is_rewritten(ref: SetRef) -> bool:
    """Whether a set is written with other sets under a map, alone or for each row, each column or all entries."""
    return innermost(ref).name in REWRITTEN_SETS


def rank(key: str) -> tuple[int, str]:
    """The order in which g prefers sets."""
    if key in _FIRST:
        return 0, key
    return (_LAST.index(key) + 2 if key in _LAST else 1), key


def kind_of(type_: Type) -> str:
    """ "vector" (scalars too), "matrix" or "family"."""
    if type_.kind == "family":
        return "family"
    return "vector" if len(type_.array_shape) < 2 else "matrix"


#: Norms and sets that are the same for a matrix and its transpose; a box is, once its bounds are made so.
_TRANSPOSABLE_NORMS = frozenset({"norm1", "norm_inf", "norm_fro", "norm_nuc", "norm_spec", "entropy"})
_TRANSPOSABLE_SETS = frozenset(
    {
        *("l1_ball", "linf_ball", "box", "nonnegative", "fro_ball", "nuclear_ball", "spectral_ball"),
        *("psd", "spectrahedron", "solid_spectrahedron"),
        *(f"vec({s})" for s in ("simplex", "solid_simplex", "nonnegative", "l1_ball", "l2_ball", "linf_ball")),
        *("vec(ksupport_ball)", "vec(permutahedron)"),
    }
)


def in_block(norm: str | None, key: str | None, type_: Type) -> bool:
    """Whether g of a variable of this type may be this pair: there is a joint prox, and for a symmetric variable it keeps the symmetry.

    The block of a symmetric variable holds a whole matrix, of which every map takes the symmetric part. That is the same problem only where
    g is no smaller elsewhere among the matrices with this part, as it is where it does not tell a matrix from its transpose.
    """
    own = type_.element if type_.kind == "family" and type_.element is not None else type_
    if own.kind in ("symmetric", "psd"):
        fits = norm is None or norm in _TRANSPOSABLE_NORMS
        if not (fits and (key is None or key in _TRANSPOSABLE_SETS)):
            return False
    return has_prox(norm, key, type_)


def has_prox(norm: str | None, key: str | None, type_: Type) -> bool:
    """Whether a joint prox of this pair is registered for expressions of this type."""
    kind = kind_of(type_)
    if kind == "family":
        assert type_.element is not None
        return has_prox(norm, key, type_.element)
    return _has_prox(norm, key, kind)


@cache
def _has_prox(norm: str | None, key: str | None, kind: str) -> bool:
    try:
        made = _dummy(norm, key, kind)
    except (KeyError, ValueError, TypeError, AssertionError):
        return False
    return made is not None and made.proximable


def _dummy(norm: str | None, key: str | None, kind: str) -> VectorFunction | None:
    on = None if key is None else _dummy_set(key, 3)
    extra = ({"groups": _DUMMY["groups"]},) if norm == "group_norm" else ()
    spec: Any = None if norm is None else (norm, 1.0, *extra)
    if kind == "vector":
        if (norm is not None and norm not in NORMS) or (on is not None and on[0] not in SETS):
            return None
        return build(spec, on, 3)
    if (norm is not None and norm not in MATRIX_NORMS) or (on is not None and on[0] not in MATRIX_SETS):
        return None
    return build_matrix(spec, on, (3, 3))


def _dummy_set(key: str, size: int) -> tuple[str, dict[str, Any]]:
    if "(" in key:
        outer, inner = key[:-1].split("(", 1)
        return outer, {"set": _dummy_set(inner, 9 if outer == "vec" else size)}
    wanted = {
        "box": ("lo", "hi"),
        "nonnegative": (),
        "psd": (),
        "simplex_product": (),
        "ksupport_ball": ("k", "r"),
        "group_ball": ("r", "groups"),
        "permutahedron": ("c",),
    }.get(key, ("r",))
    sized = {"c": np.arange(float(size)), "groups": [[i] for i in range(size)]}
    return key, {name: sized.get(name, _DUMMY.get(name)) for name in wanted}
