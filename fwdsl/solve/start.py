"""Starting points that a user gives: values by name, or a solution."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..atoms.low_rank import LowRank
from ..bind.instance import Instance
from ..errors import DataError
from ..grammar.diagnostic import Diagnostic
from ..readers.frames import match
from ..results.solution import Solution

if TYPE_CHECKING:
    from ..atoms.base import Array, MatrixLike


def values_of(start: object) -> Mapping[str, Any]:
    """Values by name; `DataError` FW0203 where `start`, which is no solution, has none."""
    if not isinstance(start, Mapping):
        raise refused([f"`start` is a {type(start).__name__}, where a solution or values by name were expected"])
    return start


def flaw(name: str, value: object, shape: tuple[int, ...]) -> str:
    """The fault of a value for a variable of this shape; empty for an array of finite numbers."""
    try:
        array = np.asarray(value)
    except ValueError:  # rows of different lengths
        return f"the value of `{name}` to start from is no array"
    if array.shape != shape:
        return f"`{name}` has shape {shape}, and the value to start from {array.shape}"
    if array.dtype.kind not in "fiub" or not np.all(np.isfinite(array)):
        return f"the value of `{name}` to start from is not made of finite numbers"
    return ""


def require_fit(values: Mapping[str, Any], shapes: Mapping[str, tuple[int, ...]], known_only: bool) -> None:
    """Raise `DataError` FW0203 for names that are no variables, shapes that do not fit, and numbers that are not finite.

    Unless `known_only`, as of a solution, other names beside that of a variable are left alone.
    """
    wrong = []
    for name, value in values.items():
        if name not in shapes:
            if known_only or not any(n in shapes for n in values):
                names = ", ".join(f"`{n}`" for n in shapes)
                wrong.append(f"there is no variable `{name}`; the program has {names}")
        elif found := flaw(name, value, shapes[name]):
            wrong.append(found)
    if wrong:
        raise refused(wrong)


def origin_of(start: Solution | Mapping[str, Any]) -> str:
    """The origin of a start, in words."""
    if isinstance(start, Solution):
        return f"a solution by {start.method} with objective {start.objective:.6g}"
    return f"given values of {', '.join(start)}"


def dual_point_of(start: Solution | Mapping[str, Any], values: Mapping[str, Any]) -> list[Array] | None:
    """The dual point of a solution whose `values` stand as they did; None else."""
    ys = start.record.get("dual_point") if isinstance(start, Solution) and values is start.variables else None
    return None if ys is None else list(ys)


def refused(messages: Sequence[str]) -> DataError:
    """The error FW0203, with a diagnostic for each message."""
    rule = "a start gives values of the program's variables, in their shapes"
    hint = "start from a solution of the same variables, or leave `start` out"
    return DataError([Diagnostic("FW0203", message, rule=rule, hint=hint) for message in messages])


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
                value = _permuted(value, axis, moves[dim])
        values[name] = value
    return values


def _moves(old: Instance, new: Instance) -> dict[Any, list[int]]:
    """The places, by dimension, of each column in the data of the solution."""
    moves: dict[Any, list[int]] = {}
    for decl in new.model.data:
        now, before = (i.maps.get(f"{decl.name}.columns", ()) for i in (new, old))
        if not decl.type.is_entries and now != before and sorted(now) == sorted(before):
            moves[decl.type.shape[1]] = list(match(now, before).positions)
    return moves


def _permuted(value: MatrixLike, axis: int, positions: list[int]) -> MatrixLike:
    if not isinstance(value, LowRank):
        return value.take(positions, axis=axis)
    return LowRank(value.U[positions], value.V) if axis == 0 else LowRank(value.U, value.V[positions])
