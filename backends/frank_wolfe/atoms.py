"""The active set: x as a convex combination of vertices, kept as arrays.

An atom is the nonzeros of a point of the set, and its name what it holds: `vertex_id` names what an oracle was asked, and two answers may be the same
vertex (ties in a permutahedron). Dropped atoms have weight 0 and stay until they are the most, so that a vertex that comes back costs nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import ClassVar, TypeVar

import numpy as np
from numpy.typing import NDArray

from ...atoms.base import Array
from ..kernels.compile import kernel
from . import loops
from .state import FWState

Places = NDArray[np.int64]

FEWEST = 16
"""Dropped atoms that are not worth moving the others for."""


@dataclass(frozen=True, eq=False)
class Atom:
    """A point of the set by its nonzeros."""

    places: Places
    numbers: Array

    @property
    def name(self) -> bytes:
        """What tells it from others."""
        return self.places.tobytes() + self.numbers.tobytes()

    def dense(self, size: int) -> Array:
        """The point."""
        x = np.zeros(size)
        x[self.places] = self.numbers
        return x


def atom_of(x: Array) -> Atom:
    """The nonzeros of a point."""
    places = np.flatnonzero(x).astype(np.int64, copy=False)
    return Atom(places, x[places])


@dataclass
class ActiveState(FWState):
    """`count` atoms in the first places of the arrays, which have room for more; `dropped` of them have weight 0.

    `phi` is the progress that the lazy variants hope for. `drops` counts steps that ended at weight 0.
    """

    #: Name -> place, made from the arrays where it is missing: no part of what is saved.
    index: ClassVar[dict[bytes, int] | None] = None

    count: int = 0
    dropped: int = 0
    drops: int = 0
    phi: float = 0.0
    weights: Array = field(default_factory=lambda: np.zeros(8))
    starts: Places = field(default_factory=lambda: np.zeros(9, dtype=np.int64))
    places: Places = field(default_factory=lambda: np.zeros(8, dtype=np.int64))
    numbers: Array = field(default_factory=lambda: np.zeros(8))

    @property
    def live(self) -> int:
        """Atoms with a weight."""
        return self.count - self.dropped

    def atom(self, i: int) -> Atom:
        """Atom i: views."""
        at = slice(int(self.starts[i]), int(self.starts[i + 1]))
        return Atom(self.places[at], self.numbers[at])

    def atoms(self) -> Iterator[tuple[float, Atom]]:
        """The live atoms with their weights."""
        return ((float(self.weights[i]), self.atom(i)) for i in range(self.count) if self.weights[i] > 0.0)

    # --- changes ------------------------------------------------------------------------------------------------------

    def place_of(self, atom: Atom) -> int:
        """The atom's place, a new one with weight 0 where it is not in the set."""
        if self.index is None or len(self.index) != self.count:
            self.index = {self.atom(i).name: i for i in range(self.count)}  # type: ignore[misc]
        found = self.index.setdefault(atom.name, self.count)
        if found == self.count:
            self._append(atom)
        return found

    def _append(self, atom: Atom) -> None:
        used = int(self.starts[self.count])
        until = used + atom.places.size
        if self.count == self.weights.size:
            self.weights = _longer(self.weights, self.count + 1)
            self.starts = _longer(self.starts, self.count + 2)
        if until > self.places.size:
            self.places, self.numbers = _longer(self.places, until), _longer(self.numbers, until)
        self.places[used:until], self.numbers[used:until] = atom.places, atom.numbers
        self.starts[self.count + 1] = until
        self.weights[self.count] = 0.0
        self.count += 1
        self.dropped += 1

    def weigh(self, i: int, weight: float) -> None:
        """Atom i gets this weight; nothing, or less, drops it."""
        weight = max(weight, 0.0)
        self.dropped += int(weight == 0.0) - int(self.weights[i] == 0.0)
        self.weights[i] = weight

    def alone(self, i: int) -> None:
        """All weight to atom i."""
        self.weights[: self.count] = 0.0
        self.weights[i] = 1.0
        self.dropped = self.count - 1

    def scale(self, share: float) -> None:
        """All weights times a positive share."""
        self.weights[: self.count] *= share

    def tidy(self) -> None:
        """Forget dropped atoms where they are the most, and put the sum of the weights right."""
        if self.dropped > max(FEWEST, self.live):
            run = kernel(loops.compact)
            self.count = int(run(self.starts, self.places, self.numbers, self.weights, self.count))
            self.dropped = 0
            self.index = None  # type: ignore[misc]
        self.weights[: self.count] /= float(self.weights[: self.count].sum())

    # --- looks --------------------------------------------------------------------------------------------------------

    def extremes(self, c: Array) -> tuple[int, int, float, float]:
        """(i, j, <c, v_i>, <c, v_j>) for the live atoms of largest and least inner product."""
        run = kernel(loops.extremes)
        i, j, most, least = run(self.starts, self.places, self.numbers, self.weights, self.count, c)
        return int(i), int(j), float(most), float(least)

    def combined(self) -> Array:
        """The combination of the atoms."""
        out = np.empty(self.x.size)
        kernel(loops.combine)(self.starts, self.places, self.numbers, self.weights, self.count, out)
        return out


N = TypeVar("N", np.float64, np.int64)


def _longer(array: NDArray[N], least: int) -> NDArray[N]:
    """A copy with room for twice as many."""
    out = np.zeros(max(2 * array.size, least), dtype=array.dtype)
    out[: array.size] = array
    return out
