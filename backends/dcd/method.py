"""Dual coordinate descent for linear machines, for the planner: what it applies to and what it costs. `dcd` has the steps."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fwdsl.atoms.base import Array
from fwdsl.backends.dcd import costs
from fwdsl.backends.dcd.machine import reasons, value_reasons
from fwdsl.backends.method import Estimate, Method, State
from fwdsl.canon.arrange import Arrangement
from fwdsl.canon.form import Canonical
from fwdsl.light_dataclass import light_state


@light_state
class DCDState(State):
    """The state of a run of `dcd`."""

    v: Array  # the dual point, signs turned
    x: Array  # (c A'v - q) / mu
    b: Array  # the intercept, one number
    index: NDArray[
        np.int64
    ]  # those of the entries of this sweep that stay, as far as it went, and the others in their order
    places: NDArray[np.int64]  # of `loops.sweeps`: entries of this sweep, those that stay, visited, sweeps so far
    levels: Array  # of `loops.sweeps`: violations
    work: float  # numbers touched so far, and `costs.VISIT` for each entry visited
    check_at: float  # the work at which bounds are next computed
    trail: Array  # work and gap at each certificate since the last round of the interior point, a row each
    interior_at: int  # the sweep from which on the interior point is tried, -1 where it is not
    rounds: int  # of the interior point so far
    value: float  # P at the last certificate
    bound: float  # D there
    best_x: Array  # the point of it, as the canonical form has it
    best_v: Array  # the dual point of it
    centre: Array  # of an intercept's penalty: now, the last one, the distance found there, ends of the search
    aim: float  # the violation at which bounds are next computed, if it comes sooner

    @property
    def sweeps(self) -> int:
        """The sweeps so far."""
        return int(self.places[3])

    @property
    def within(self) -> bool:
        """True if a sweep has begun and is to go on."""
        return bool(self.places[2] > 0)

    def counts(self) -> dict[str, int]:
        """Sweeps, and rounds of the interior point."""
        return {"sweeps": self.sweeps, "rounds": self.rounds}


class DCD(Method):
    """Dual coordinate descent and the interior point; no options."""

    name = "dcd"
    title = "dual coordinate descent with shrinking, an interior point on the samples near their corners"
    source = "Hsieh et al. 2008; Mehrotra 1992; Ferris, Munson 2002"
    most_iterations = 1_000_000
    runs_in = "fwdsl.backends.dcd.dcd"

    @classmethod
    def requires(cls, arrangement: Arrangement) -> tuple[str, ...]:
        """One loss with a dual as above of one vector with a ridge, and at most an intercept beside."""
        return reasons(arrangement)

    @classmethod
    def requires_values(cls, canonical: Canonical) -> tuple[str, ...]:
        """Rows of one data matrix."""
        return value_reasons(canonical)

    @classmethod
    def estimate(cls, canonical: Canonical, tol: float) -> Estimate:
        """Sweeps by the conditioning, and a round of the interior point where it comes before their end."""
        return costs.estimate(canonical, tol)
