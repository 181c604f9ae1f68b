"""What a user supplies for a program, unchecked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from ..readers.sources import SourceSpec

T = TypeVar("T")


@dataclass(frozen=True)
class Bindings:
    """Values and sources that replace what a program declares.

    data: Python values by the name of a datum, parameter or dimension; sources: the names and the source of each `--data`;
    params: `--set`; dims: `--dim`; labels: by the name of a datum, the label values of an earlier fit in order of code.
    New data may have no other labels, and need not have all of them.
    """

    data: Mapping[str, object] = field(default_factory=dict)
    sources: tuple[tuple[tuple[str, ...], SourceSpec], ...] = ()
    params: Mapping[str, object] = field(default_factory=dict)
    dims: Mapping[str, int] = field(default_factory=dict)
    labels: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)

    def merge(self, other: Bindings) -> Bindings:
        """Both; a name that both have gets the value of `other`."""
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
    """The bindings of Python's `bind(X=..., delta=3.0)`: a name is that of a datum, a parameter or a dimension."""
    return Bindings(data=dict(values))


def _without(values: Mapping[str, T], names: set[str]) -> dict[str, T]:
    return {name: value for name, value in values.items() if name not in names}
