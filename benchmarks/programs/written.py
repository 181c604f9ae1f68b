"""What a written program is: its text, the arrays that it names, and the same problem as one writes it in CVXPY."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np

Arrays = Mapping[str, Any]
Stated = tuple[Any, list[Any]]
"""What CVXPY is to minimise or maximise, and its constraints."""


@dataclass(frozen=True)
class Written:
    """`text` is a program in the language; `state(cp)` says the same in CVXPY, whose module it is given.

    `solvers` are those of CVXPY that are tried at its size, where not all are. `peers` are others, by name: each gives the value that it finds
    at its own tolerance.
    """

    text: str
    data: Arrays
    state: Callable[[Any], Stated]
    solvers: tuple[str, ...] = ()
    peers: Mapping[str, Callable[[], float]] = field(default_factory=dict)


@dataclass(frozen=True)
class Case:
    """A problem that people write, by its name and kind; `make` gives the program with its data, the same ones every time."""

    name: str
    kind: str
    make: Callable[[], Written]

    @property
    def title(self) -> str:
        """The problem in a sentence."""
        return (self.make.__doc__ or "").strip()


CASES: dict[str, Case] = {}
LARGE: dict[str, Case] = {}
"""The programs of the kind "large", which are run apart."""


def program(kind: str) -> Callable[[Callable[[], Written]], Callable[[], Written]]:
    """Register a function without arguments that makes a program; its name with spaces is that of the case."""

    def register(make: Callable[[], Written]) -> Callable[[], Written]:
        name = make.__name__.replace("_", " ")
        kept = cache(make)
        kept.__doc__ = make.__doc__
        (LARGE if kind == "large" else CASES)[name] = Case(name, kind, kept)
        return make

    return register


def generator(seed: int) -> np.random.Generator:
    """Random numbers that are the same every time."""
    return np.random.default_rng(seed)
