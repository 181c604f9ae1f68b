"""Directions of the embedding, what they are found from, and how far they stay in the cones."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from fwdsl.atoms.base import Array
from fwdsl.backends.interior.cones import KINDS, Scalings
from fwdsl.backends.interior.program import Batch
from fwdsl.backends.interior.quasidefinite import FactoredQuasidefinite
from fwdsl.backends.interior.system import System

EXACT = 1e-15
"""The share of their terms that equations may miss for nothing to be corrected."""

LONGEST = 1.0 / 0.99
"""The longest step looked for in cones of three rows: a little is left to the boundary of a whole one."""


class Direction(NamedTuple):
    """A direction of the embedding: of z as W dz, of s as W^-T ds."""

    v: Array
    z: Array
    s: Array
    tau: float
    kappa: float


class Linearised(NamedTuple):
    """The equations at a point: the scalings, the factored system, P v, what the equations of v miss and those of the rows, these scaled; what the
    rows miss as they are, with the terms A'z and A v."""

    scalings: Scalings
    system: System | FactoredQuasidefinite
    Pv: Array
    left: Array
    right: Array
    sizes: tuple[Array, Array, Array]

    @property
    def is_exact(self) -> bool:
        """True if all that is missed is rounding."""
        missed, Az, Av = self.sizes
        return is_rounding(self.left, Az) and is_rounding(missed, Av)


def is_rounding(missed: Array, terms: Array) -> bool:
    """True if what is missed is rounding beside terms of that kind."""
    return float(np.abs(missed).max(initial=0.0)) <= EXACT * float(np.abs(terms).max(initial=0.0))


def scalings_of(batches: Sequence[Batch], s: Array, z: Array) -> Scalings:
    """The scalings at a point of the interior; None of the zero cone."""
    with np.errstate(all="ignore"):
        return [
            KINDS[k.kind](k, s[k.start : k.stop], z[k.start : k.stop]) if k.kind in KINDS else None for k in batches
        ]


def reach_of(scalings: Scalings, d: Direction, tau: float, kappa: float) -> float:
    """The largest step in a direction that stays in the cones."""
    longest = math.inf
    for scaling in scalings:
        # those of three rows look for their way from the whole step on, the longest that is taken
        if scaling is not None and scaling.symmetric:
            longest = scaling.reach(d.s[scaling.place], d.z[scaling.place], longest)
    for value, change in ((tau, d.tau), (kappa, d.kappa)):
        if change < 0.0:
            longest = min(longest, -value / change)
    for scaling in scalings:
        if scaling is not None and not scaling.symmetric:
            longest = scaling.reach(d.s[scaling.place], d.z[scaling.place], min(longest, LONGEST))
    return longest


def inside(batches: Sequence[Batch], s: Array, z: Array) -> bool:
    """True if s is in the interior of the cones and z in that of the dual ones, whatever they have in the rows of the zero cone."""
    return all(KINDS[k.kind].inside(k, s[k.start : k.stop], z[k.start : k.stop]) for k in batches if k.kind in KINDS)


def central(batches: Sequence[Batch], s: Array, z: Array, mu: float) -> bool:
    """True if a point of the interior is in the neighbourhood of the central path at products of mu."""
    return all(
        KINDS[k.kind].central(k, s[k.start : k.stop], z[k.start : k.stop], mu) for k in batches if k.kind in KINDS
    )
