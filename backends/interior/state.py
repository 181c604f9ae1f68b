"""The state of a run of the interior-point method."""

from __future__ import annotations

import math

from fwdsl.atoms.base import Array
from fwdsl.backends.method import State
from fwdsl.light_dataclass import light_state


@light_state
class InteriorState(State):
    """A point of the embedding, in the scaled program."""

    v: Array  # the unknowns
    z: Array  # the multipliers of the rows
    s: Array  # the slacks of the rows
    tau: float  # what v and z are to be divided by
    kappa: float  # its counterpart: what is left where there is no solution
    of_c: float  # the factor of c in the scaled program
    of_b: float  # that of b
    short: int = 0  # steps in a row that moved nothing
    steps: int = 0  # steps since the factors were chosen
    levelled: int = 0  # how often the factors were chosen anew
    filled: bool = False  # whether quasidefinite systems were given up, which had lost too many digits
    lately: float = 0.0  # the gap `SPAN` steps before the next look at how the run goes
    missed: float = math.inf  # the least that the equations of the rows missed near the solution
