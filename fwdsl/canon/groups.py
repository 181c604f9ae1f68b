"""Overlapping groups: their ball is the ball of disjoint ones, of a vector in which an entry stands once for each group it is in."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..model import Expr
from .form import Stacked
from .maps import compose
from .matrix_maps import Take


def overlapping(args: tuple[tuple[str, Expr], ...]) -> bool:
    """Whether the literal groups among the arguments of a norm or set share positions: it then has no prox of its own."""
    groups = dict(args).get("groups")
    if groups is None or groups.op != "list" or not isinstance(groups.value, tuple):
        return False
    positions = [p for group in groups.value for p in group]
    return len(set(positions)) < len(positions)


def repeated(spec: tuple[str, dict[str, Any]], stacked: Stacked) -> tuple[tuple[str, dict[str, Any]], Stacked]:
    """A set of overlapping groups as one of disjoint groups, with the map that repeats the entries."""
    name, args = spec
    positions = np.concatenate([np.asarray(group, dtype=np.intp) for group in args["groups"]])
    ends = np.cumsum([len(group) for group in args["groups"]])
    disjoint = [list(range(end - len(group), end)) for end, group in zip(ends, args["groups"], strict=True)]
    take = Take(positions, stacked.rows, "groups", once=False)
    parts = tuple((block, compose(take, m)) for block, m in stacked.parts)
    return (name, {**args, "groups": disjoint}), Stacked(parts, take.apply(stacked.offset), (positions.size,))
