"""The pairs of a norm and a set that have a joint prox, from names, as the registries of atoms have them, and the functions that they make."""

from __future__ import annotations

import math
from typing import Any

from ..atoms.base import VectorFunction
from ..atoms.vectors import build as build_vector
from ..atoms.vectors import class_of
from ..model import SetRef, Type
from ..words import CONVEX, SETS, SIMPLEX, SetWord

ROWS_OF_SIMPLEX = f"rows({SIMPLEX})"
COLUMNS_OF_SIMPLEX = f"columns({SIMPLEX})"


def key_of(ref: SetRef) -> str:
    """A set with what it is made of, without its numbers: `l1_ball`, `rows(simplex)`."""
    return f"{ref.name}({key_of(ref.inner)})" if ref.inner is not None else ref.name


def innermost(ref: SetRef) -> SetRef:
    """The set that a set is made of: of `rows(polytope(V))` the polytope, of any other itself."""
    return ref if ref.inner is None else innermost(ref.inner)


def words_of(key: str) -> tuple[SetWord, SetWord]:
    """The records of a set, and of the set that it is made of: of `rows(simplex)` those of `rows` and `simplex`, of any other its own twice."""
    outer, _, inner = key.rstrip(")").partition("(")
    return SETS[outer], SETS[inner or outer]


def is_compact(key: str | None) -> bool:
    """True if a set is bounded. A box counts as such, whose bounds are not known here."""
    return key is not None and words_of(key)[1].compact


def has_given_bounds(key: str) -> bool:
    """True if a set has bounds that may differ from entry to entry."""
    return key in SETS and SETS[key].given_bounds


def rank(key: str) -> tuple[int, str]:
    """The order in which g prefers sets."""
    outer, inner = words_of(key)
    if outer is inner:
        return outer.place, key
    # the rows of a matrix lie together in memory
    return (0 if inner.place == 0 and outer.inner == "rows" else 1), key


def kind_of(type_: Type) -> str:
    """ "vector" (scalars too), "matrix" or "family"."""
    if type_.is_family:
        return "family"
    return "vector" if len(type_.array_shape) < 2 else "matrix"


def in_block(norm: str | None, key: str | None, type_: Type) -> bool:
    """True if g of a variable of this type may be this pair: there is a joint prox, and for a symmetric variable it keeps the symmetry.

    The block of a symmetric variable holds a whole matrix, of which every map takes the symmetric part. That is the same problem only where
    g is no smaller elsewhere among the matrices with this part, as it is where it does not tell a matrix from its transpose.
    """
    if type_.block.is_symmetric:
        fits = norm is None or CONVEX[norm].transposable
        if not (fits and (key is None or _is_transposable(key))):
            return False
    return has_prox(norm, key, type_)


def _is_transposable(key: str) -> bool:
    """True if a set does not tell a matrix from its transpose: a vector set of all entries, where it is the same for every order of them."""
    outer, inner = words_of(key)
    return inner.permutable if outer.inner == "entries" else outer.transposable


def has_prox(norm: str | None, key: str | None, type_: Type) -> bool:
    """True if a joint prox of this pair is registered for expressions of this type."""
    kind = kind_of(type_)
    if kind == "family":
        return has_prox(norm, key, type_.block)
    if norm is not None and kind not in CONVEX[norm].of:
        return False
    if key is None:
        return _is_made(norm, None, None, kind)
    outer, inner = words_of(key)
    if inner.written_as or (outer.of == "vector" if kind == "matrix" else outer.of not in ("vector", "entrywise")):
        return False
    return _is_made(norm, outer.name, inner.name if outer is not inner else None, kind)


def _is_made(norm: str | None, on: str | None, within: str | None, kind: str) -> bool:
    if kind == "vector":
        return class_of(norm, on) is not None
    from ..atoms.matrices import maker  # programs of vectors load none of it

    return maker(norm, on, within) is not None


def build(norm: Any, set_: Any, shape: int | tuple[int, ...]) -> VectorFunction:
    """c * norm on a set, for flat vectors of a size or matrices of a shape; `ValueError` for what does not fit."""
    shape = (shape,) if isinstance(shape, int) else shape
    if len(shape) < 2:
        f = build_vector(norm, set_, math.prod(shape))
    else:
        from ..atoms.matrices import build_matrix  # programs of vectors load none of it

        f = build_matrix(norm, set_, (shape[0], shape[1]))
    assert f is not None, "the arrangement only pairs what the registry holds"
    return f
