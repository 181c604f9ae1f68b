"""The declared type of an array that came without one."""

from __future__ import annotations

from collections.abc import Set
from typing import Any

from ..frames import as_array, column_names
from ..grammar import tree
from .convert import number
from .leaves import UseKind


def data_type(value: Any, roles: Set[UseKind]) -> tree.TypeExpr:
    """A type of the array's own size: `matrix[100, 20]`, or `signs[100]`, `labels[100, 3]`, ... where its uses need that."""
    value = as_array(value) if column_names(value) else value
    shape = tuple(int(size) for size in value.shape)
    dims = tuple(number(size) for size in shape)
    if "signs" in roles:
        return tree.TypeExpr(tree.Ident("signs"), dims)
    if "labels" in roles:
        return tree.TypeExpr(tree.Ident("labels"), (*dims[:1], number(_distinct(value))))
    if "index" in roles:
        largest = int(value.max()) if value.size else -1
        return tree.TypeExpr(tree.Ident("index"), dims[:1], number(largest + 1))
    if "psd" in roles and len(shape) == 2:
        return tree.TypeExpr(tree.Ident("psd"), dims[:1])
    kind = {1: "vector", 2: "matrix"}.get(len(shape), "tensor")
    return tree.TypeExpr(tree.Ident(kind), dims)


def _distinct(value: Any) -> int:
    import numpy as np

    return int(np.unique(value).size)
