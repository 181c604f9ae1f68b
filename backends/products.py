"""Recognising predictions of a matrix variable that are the rows of one data matrix times it: c A X."""

from __future__ import annotations

from typing import NamedTuple

from fwdsl.backends.maps import CountedMap
from fwdsl.canon.combined_maps import Scaled
from fwdsl.canon.data_maps import is_written
from fwdsl.canon.maps import LinearMap
from fwdsl.canon.matrix_maps import LeftMultiply


class DataProduct(NamedTuple):
    """c A X: the factor, X -> A X with the rows of A stored, and that map as the problem counts its work."""

    c: float
    left: LeftMultiply
    counted: LinearMap


def product_of(m: LinearMap) -> DataProduct | None:
    """The parts of a map that is such a product; None for any other."""
    if isinstance(m, Scaled):
        inner = product_of(m.inner)
        return inner._replace(c=m.c * inner.c) if inner is not None else None
    inside = m.inner if isinstance(m, CountedMap) else m
    if isinstance(inside, LeftMultiply) and not inside.transposed:
        stored = is_written(inside.A)
        return DataProduct(1.0, inside, m) if stored else None
    return None
