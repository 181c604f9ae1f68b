"""What a user supplies for a program, before anybody looked at it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from ..readers.sources import SourceSpec

T = TypeVar("T")


@dataclass(frozen=True)
class Bindings:
    """Values and sources that win over what a program declares.

    data: Python values by name (of data, and from Python also of parameters and dimensions); sources: the names that
    each `--data` serves and its source; params: `--set`; dims: `--dim`; labels: the label values that an earlier fit knows,
    in order of code, by name of the data: new data must keep to them, and need not show all.
    """

    data: Mapping[str, object] = field(default_factory=dict)
    sources: tuple[tuple[tuple[str, ...], SourceSpec], ...] = ()
    params: Mapping[str, object] = field(default_factory=dict)
    dims: Mapping[str, int] = field(default_factory=dict)
    labels: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)

    def merge(self, other: Bindings) -> Bindings:
        """Both, `other` winning name by name."""
        served = {name for names, _ in other.sources for name in names}
        again = served | set(other.data) | set(other.params) | set(other.dims)
        return Bindings(
            {**_without(self.data, again), **other.data},
            self.sources + other.sources,
            {**_without(self.params, again), **other.params},
            {**_without(self.dims, again), **other.dims},
            {**self.labels, **other.labels},
        )


def bind_python(**values: object) -> Bindings:
    """The bindings of Python's `bind(X=..., delta=3.0)`: a name may be data, a parameter, or a dimension."""
    return Bindings(data=dict(values))


def _without(values: Mapping[str, T], names: set[str]) -> dict[str, T]:
    return {name: value for name, value in values.items() if name not in names}
