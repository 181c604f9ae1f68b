"""Names for the entries of variables: columns of tables, classes and ids that the data of the fit gave."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..bind.instance import Instance
    from ..model import Dim, Type
    from .evaluation import Fit

Names = tuple[Any, ...]


def axis_names(instance: Instance | Fit | None, variable: str, shape: Sequence[int]) -> tuple[Names | None, ...]:
    """The names of the entries of a variable along each of its axes, None where the data have none for that dimension.

    `instance` is what a solution was found on, or the fit that a file keeps of it.
    """
    declared = next((v for v in instance.model.variables if v.name == variable), None) if instance is not None else None
    if instance is None or declared is None:
        return (None,) * len(shape)
    known = _names_of_dimensions(instance)
    found = (known.get(dim) for dim in declared.type.array_shape)
    return tuple(
        names if names is not None and len(names) == size else None for names, size in zip(found, shape, strict=True)
    )


def _names_of_dimensions(instance: Instance | Fit) -> dict[Dim, Names]:
    """The names of the positions along dimensions; what one datum says first holds."""
    named: dict[Dim, Names] = {}
    for decl in instance.model.data:
        for dim, key in _named_by(decl.type, decl.name):
            if isinstance(dim, str) and key in instance.maps:
                named.setdefault(dim, tuple(instance.maps[key]))
    return named


def _named_by(type_: Type, name: str) -> list[tuple[Dim, str]]:
    """The dimensions of a datum whose positions have names, with the map that holds them."""
    shape = type_.shape
    if type_.is_entries:
        return [(shape[0], f"{name}.rows"), (shape[1], f"{name}.columns")]
    if type_.is_labels:
        return [(shape[1], name)] if len(shape) == 2 else []
    return [(shape[1], f"{name}.columns")] if len(shape) == 2 else []
