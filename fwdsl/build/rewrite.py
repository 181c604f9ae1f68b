"""Replacing uses of leaves by names in a tree."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, replace
from typing import TypeVar, cast

from ..grammar import tree
from .leaves import Use

N = TypeVar("N", bound=tree.Node)


def rename(node: N, name_of: Callable[[Use], str]) -> N:
    """The tree with each use of a leaf replaced by `Name(name_of(use))`."""
    return cast(N, _rename(node, name_of))


def _rename(node: tree.Node, name_of: Callable[[Use], str]) -> tree.Node:
    # Expressions nest at most MAX_DEPTH deep, so recursion is safe; sums and products are flat.
    if isinstance(node, Use):
        return tree.Name(name_of(node))
    changes: dict[str, object] = {}
    for f in fields(node):
        value = getattr(node, f.name)
        if isinstance(value, tree.Node):
            changes[f.name] = _rename(value, name_of)
        elif isinstance(value, tuple) and any(isinstance(v, tree.Node) for v in value):
            changes[f.name] = tuple(_rename(v, name_of) if isinstance(v, tree.Node) else v for v in value)
    return replace(node, **changes) if changes else node  # type: ignore[arg-type]
