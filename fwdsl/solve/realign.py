"""A solution as a start for data whose columns stand in another order: its values are moved with their columns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..atoms.low_rank import LowRank
from ..bind.instance import Instance
from ..frames import match
from ..results.solution import Solution


def realigned(start: Solution, instance: Instance) -> Mapping[str, Any]:
    """The solution's variables, in the order of the instance's columns where both have names for them. The same mapping where all stand alike."""
    moves = _moves(start.instance, instance) if start.instance is not None else {}
    if not moves:
        return start.variables
    shapes = {v.name: v.type.array_shape for v in instance.model.variables}
    values = dict(start.variables)
    for name, value in values.items():
        for axis, dim in enumerate(shapes.get(name, ())):
            if dim in moves and axis < value.ndim and value.shape[axis] == len(moves[dim]):
                value = _moved(value, axis, moves[dim])
        values[name] = value
    return values


def _moves(old: Instance, new: Instance) -> dict[Any, list[int]]:
    """By dimension, where each column stood in the data that the solution is of."""
    moves: dict[Any, list[int]] = {}
    for decl in new.model.data:
        now, before = (i.maps.get(f"{decl.name}.columns", ()) for i in (new, old))
        if decl.type.kind != "entries" and now != before and sorted(now) == sorted(before):
            moves[decl.type.shape[1]] = list(match(now, before).positions)
    return moves


def _moved(value: Any, axis: int, positions: list[int]) -> Any:
    if not isinstance(value, LowRank):
        return value.take(positions, axis=axis)
    return LowRank(value.U[positions], value.V) if axis == 0 else LowRank(value.U, value.V[positions])
