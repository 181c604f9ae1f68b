"""Groups that overlap or have no weight. Their norms and balls are those of disjoint groups, of the entries taken group after group.

An entry stands once for each group of positive weight that it is in, and not at all where it is in none.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..atoms.groups import members
from ..bind.instance import Instance
from ..light_dataclass import light_dataclass
from ..model import Expr, Model, once_per_model
from .matrix_maps import Take
from .pairs import innermost

Given = tuple[tuple[str, Expr], ...]


def overlapping(args: Given) -> bool:
    """True if the literal groups among the arguments of a norm or set share positions: it then has no prox of its own."""
    groups = dict(args).get("groups")
    if groups is None or groups.op != "list" or not isinstance(groups.value, tuple):
        return False
    positions = [p for group in groups.value for p in group]
    return len(set(positions)) < len(positions)


def same_groups(a: Given, b: Given) -> bool:
    """True if two norms or balls are of the same groups with the same weights, in the same words."""
    left, right = dict(a), dict(b)
    return left.get("groups") == right.get("groups") and left.get("weights") == right.get("weights")


def weightless(instance: Instance) -> frozenset[tuple[str, int]]:
    """The terms and constraints that have a group of weight 0: it is not penalised or bounded, so the rest has no prox of the whole."""
    return frozenset((kind, i) for kind, i, weights in _of_groups(instance.model) if _has_zero(instance, weights))


@once_per_model
def _of_groups(model: Model) -> list[tuple[str, int, Expr | None]]:
    """The terms and constraints of groups, with the weights of these."""
    applied = [("term", i, term.options) for i, term in enumerate(model.terms)]
    applied += [("constraint", i, innermost(c.set).args) for i, c in enumerate(model.constraints) if c.set is not None]
    applied += [("constraint", i, t.options) for i, c in enumerate(model.constraints) for t in c.terms]
    named = [(kind, i, dict(args)) for kind, i, args in applied]
    return [(kind, i, args.get("weights")) for kind, i, args in named if "groups" in args]


def _has_zero(instance: Instance, weights: Expr | None) -> bool:
    if weights is None:
        return False
    try:
        return not np.all(instance.evaluate(weights))
    except (ValueError, ZeroDivisionError, OverflowError):
        # what has no value is told of where it is used
        return False


@light_dataclass
class Regrouped:
    """Disjoint groups as the atoms take them, of `length` entries a line, and the map that takes these from `count` lines."""

    args: dict[str, Any]
    take: Take
    length: int


def regrouped(args: Mapping[str, Any], count: int, length: int) -> Regrouped | None:
    """The groups with weight of `count` lines of `length` entries each; None where there is none left.

    `args` are those of a group norm or ball: `groups`, `weights` or none, and what else there is, which is kept.
    """
    parts = members(args["groups"])
    weights = np.asarray(args.get("weights", np.ones(len(parts))), dtype=np.float64).reshape(-1)
    kept = [(part, w) for part, w in zip(parts, weights, strict=False) if part.size and w != 0.0]
    if not kept:
        return None
    positions = np.concatenate([part for part, _ in kept]).astype(np.intp)
    ends = np.cumsum([part.size for part, _ in kept])
    disjoint = [list(range(end - part.size, end)) for end, (part, _) in zip(ends, kept, strict=True)]
    index = (np.arange(count)[:, None] * length + positions).reshape(-1)
    once = np.unique(positions).size == positions.size
    take = Take(index, count * length, "groups", once=once)
    others = {name: value for name, value in args.items() if name not in ("groups", "weights")}
    return Regrouped({**others, "groups": disjoint, "weights": np.array([w for _, w in kept])}, take, positions.size)
