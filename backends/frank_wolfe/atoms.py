"""The active set: x as a convex combination of vertices, kept as arrays.

An atom is the nonzeros of a point of the set, and its name is made of them: `vertex_id` names the question to an oracle, and two answers may be one
vertex (ties in a permutahedron). Dropped atoms have weight 0 and stay until they are the most, so that a vertex that comes back costs nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from fwdsl.atoms.base import Array
from fwdsl.backends.frank_wolfe import loops
from fwdsl.backends.frank_wolfe.state import FWState
from fwdsl.backends.kernels.compile import kernel
from fwdsl.light_dataclass import light_dataclass, light_state

Places = NDArray[np.int64]

FEWEST = 16
"""Dropped atoms that are not worth moving the others for."""


@light_dataclass
class Atom:
    """A point of the set by its nonzeros."""

    places: Places
    numbers: Array

    @property
    def name(self) -> bytes:
        """A key that no other atom has."""
        return self.places.tobytes() + self.numbers.tobytes()

    def dense(self, size: int) -> Array:
        """The atom as a dense vector of `size` entries."""
        x = np.zeros(size)
        x[self.places] = self.numbers
        return x


def atom_of(x: Array) -> Atom:
    """The nonzeros of a point."""
    places = np.flatnonzero(x).astype(np.int64, copy=False)
    return Atom(places, x[places])


@light_state
class ActiveState(FWState):
    """The state of a run over an active set: `count` atoms in the first places of the arrays, which have room for more."""

    count: int = 0  # atoms
    dropped: int = 0  # those of weight 0
    drops: int = 0  # steps that ended at weight 0
    phi: float = 0.0  # the progress that the lazy variants hope for
    weights: Array = field(default_factory=lambda: np.zeros(8))  # of the atoms
    starts: Places = field(default_factory=lambda: np.zeros(9, dtype=np.int64))  # atom i is at starts[i]:starts[i + 1]
    places: Places = field(default_factory=lambda: np.zeros(8, dtype=np.int64))  # the places of its nonzeros
    numbers: Array = field(default_factory=lambda: np.zeros(8))  # and these

    def __post_init__(self) -> None:
        # name -> place, made from the arrays where it is missing: no field, as it is not saved
        self._index: dict[bytes, int] | None = None

    @property
    def live(self) -> int:
        return self.count - self.dropped

    def atom(self, i: int) -> Atom:
        """Atom i, as views of the arrays of all."""
        at = slice(int(self.starts[i]), int(self.starts[i + 1]))
        return Atom(self.places[at], self.numbers[at])

    def atoms(self) -> Iterator[tuple[float, Atom]]:
        return ((float(self.weights[i]), self.atom(i)) for i in range(self.count) if self.weights[i] > 0.0)

    # --- changes ------------------------------------------------------------------------------------------------------

    def place_of(self, atom: Atom) -> int:
        """The atom's place, a new one with weight 0 where it is not in the set."""
        if self._index is None or len(self._index) != self.count:
            self._index = {self.atom(i).name: i for i in range(self.count)}
        found = self._index.setdefault(atom.name, self.count)
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
        self.weights[: self.count] *= share

    def tidy(self) -> None:
        """Forget dropped atoms where they are the most, and put the sum of the weights right."""
        if self.dropped > max(FEWEST, self.live):
            run = kernel(loops.compact)
            self.count = int(run(self.starts, self.places, self.numbers, self.weights, self.count))
            self.dropped = 0
            self._index = None
        self.weights[: self.count] /= float(self.weights[: self.count].sum())

    # --- looks --------------------------------------------------------------------------------------------------------

    def extremes(self, c: Array) -> tuple[int, int, float, float]:
        """(i, j, <c, v_i>, <c, v_j>) for the live atoms of largest and least inner product."""
        run = kernel(loops.extremes)
        i, j, most, least = run(self.starts, self.places, self.numbers, self.weights, self.count, c)
        return int(i), int(j), float(most), float(least)

    def combined(self) -> Array:
        out = np.empty(self.x.size)
        kernel(loops.combine)(self.starts, self.places, self.numbers, self.weights, self.count, out)
        return out


N = TypeVar("N", np.float64, np.int64)


def _longer(array: NDArray[N], least: int) -> NDArray[N]:
    """A copy with room for twice as many."""
    out = np.zeros(max(2 * array.size, least), dtype=array.dtype)
    out[: array.size] = array
    return out
