"""Directions of the embedding, what they are found from, and how far they stay in the cones."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np

from fwdsl.atoms.base import Array
from fwdsl.backends.interior.cones import Cones, Scalings
from fwdsl.backends.interior.program import Batch
from fwdsl.backends.interior.quasidefinite import FactoredQuasidefinite
from fwdsl.backends.interior.system import System

EXACT = 1e-15
"""The share of their terms that equations may miss for nothing to be corrected."""

LONGEST = 1.0 / 0.99
"""The longest step looked for in cones of three rows: a little is left to the boundary of a whole one."""


class Direction:
    """A direction of the embedding: of z as W dz, of s as W^-T ds; ds and dz themselves are worked out where somebody asks."""

    def __init__(self, scalings: Scalings, v: Array, z: Array, s: Array, tau: float, kappa: float) -> None:
        self.scalings, self.v, self.z, self.s, self.tau, self.kappa = scalings, v, z, s, tau, kappa

    @cached_property
    def dz(self) -> Array:
        """The change of z."""
        return self.scalings.inverse(self.z)

    @cached_property
    def ds(self) -> Array:
        """The change of s."""
        return self.scalings.wt(self.s)

    def reach(self, tau: float, kappa: float) -> float:
        """The largest step that stays in the cones."""
        longest = self.scalings.reach(self, math.inf)
        for value, change in ((tau, self.tau), (kappa, self.kappa)):
            if change < 0.0:
                longest = min(longest, -value / change)
        # those of three rows look for their way from the whole step on, the longest that is taken
        return self.scalings.reach_of_three(self, min(longest, LONGEST)) if self.scalings.threes else longest


class Missed(NamedTuple):
    """The residuals of the equations at a point, those of v and those of the rows, with the terms P v, A v and A'z, and what `measure` says."""

    left: Array
    rows: Array
    Pv: Array
    Av: Array
    Az: Array
    sizes: tuple[float, ...]

    @property
    def largest(self) -> tuple[float, float]:
        """The most that an equation of v misses, and that one of the rows does."""
        return self.sizes[5], self.sizes[7]

    @property
    def is_exact(self) -> bool:
        """True if all that is missed is rounding."""
        _, _, _, _, _, left, Az, rows, Av, _ = self.sizes
        return bool(left <= EXACT * Az and rows <= EXACT * Av)


class Linearised(NamedTuple):
    """The equations at a point: the scalings, the factored system, and what they miss; of the rows as W^-T of it, too."""

    scalings: Scalings
    system: System | FactoredQuasidefinite
    missed: Missed
    right: Array


def scalings_of(batches: Sequence[Batch], s: Array, z: Array) -> Scalings:
    """The scalings at a point of the interior."""
    return scalings_at(Cones.of(batches), s, z)


def scalings_at(cones: Cones, s: Array, z: Array) -> Scalings:
    """The scalings of a program's cones at a point of the interior."""
    if not cones.apart:
        return Scalings(cones, s, z)
    with np.errstate(all="ignore"):
        return Scalings(cones, s, z)
