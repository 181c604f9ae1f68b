"""Names in place of the integers that count samples in a program: new data have other numbers of samples."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from typing import Any, TypeVar

from ..bind.features import FittedMaps
from ..features import Fitted
from ..model import ConstraintDecl, DataDecl, Dim, Expr, Model, SetRef, Term, Type, once_per_model

P = TypeVar("P")


@once_per_model
def with_row_names(model: Model, new: frozenset[str]) -> tuple[Model, dict[str, int]]:
    """The model with a name for each integer that is the first dimension of data given anew, and the integers by name.

    Integers that are dimensions of variables stay: those do not change. A program built from arrays has nothing but integers.
    """
    fixed = {d for v in model.variables for d in _dims(v.type)}
    rows = {d.type.shape[0] for d in model.data if d.name in new and d.type.shape and not d.type.is_entries}
    sizes = sorted(d for d in rows - fixed if isinstance(d, int))
    taken = {str(d) for d in model.dims} | {str(d) for data in model.data for d in _dims(data.type)}
    free = (name for name in ("n", *(f"n{i}" for i in range(1, len(sizes) + len(taken) + 2))) if name not in taken)
    names = dict(zip(sizes, free, strict=False))
    if not names:
        return model, {}
    changed = _rewriter(names)
    renamed = replace(
        model,
        data=changed(model.data),
        terms=changed(model.terms),
        lets=changed(model.lets),
        constraints=changed(model.constraints),
    )
    return renamed, {name: size for size, name in names.items()}


def data_without_rows(model: Model) -> tuple[str, ...]:
    """The data that have no row for each sample: none of their dimensions is one that a loss counts. Without a loss all data may be rows."""
    counted = {d for t in model.terms if t.kind == "loss" for d in t.argument.type.array_shape[:1]}
    plain = [d for d in model.data if not d.type.is_entries and not d.type.is_index]
    return tuple(d.name for d in plain if counted and not counted & _dims(d.type))


class FeaturesByCount:
    """The feature maps of a fit, for expressions whose numbers of samples have names."""

    def __init__(self, statistics: FittedMaps, sizes: Mapping[str, int]) -> None:
        self._statistics = statistics
        self._back = _rewriter(sizes)

    def fitted(self, expr: Expr) -> Fitted:
        """The map of an expression with op "features", with its statistics."""
        return self._statistics.fitted(self._back(expr))

    def columns(self, expr: Expr) -> int:
        """The number of columns of an expression's data: its features."""
        return self._statistics.columns(self._back(expr))


def _rewriter(names: Mapping[Any, Dim]) -> Callable[[P], P]:
    """A function that replaces dimensions in all types of a part of a model."""

    def change(part: Any) -> Any:
        if isinstance(part, Type):
            shape = tuple(names.get(d, d) for d in part.shape)
            return replace(part, shape=shape, element=change(part.element))
        if isinstance(part, tuple):
            return tuple(change(item) for item in part)
        if isinstance(part, ConstraintDecl | DataDecl | Expr | SetRef | Term):
            return replace(part, **{f.name: change(getattr(part, f.name)) for f in fields(part) if f.name != "value"})
        return part

    return change


def _dims(type_: Type) -> set[Dim]:
    own = set(type_.shape) | ({type_.classes} if type_.classes is not None else set())
    return own | (_dims(type_.element) if type_.element is not None else set())
