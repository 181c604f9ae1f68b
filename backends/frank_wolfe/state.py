"""The state of a run of the family: a point with its predictions, its gradient and its certificate, all at the same x."""

from __future__ import annotations

import math
from dataclasses import field

import numpy as np

from fwdsl.atoms.base import Array
from fwdsl.backends.method import State
from fwdsl.light_dataclass import light_state


@light_state
class FWState(State):
    """The state of a run of the family."""

    x: Array  # the iterate
    z: list[Array] = field(default_factory=list)  # K x + b
    ys: list[Array] = field(default_factory=list)  # y = f'(z)
    kty: Array = field(default_factory=lambda: np.zeros(0))  # K'y
    value: float = math.inf  # P(x)
    best_value: float = math.inf  # the least P so far
    best_x: Array = field(default_factory=lambda: np.zeros(0))  # its point
    best_bound: float = -math.inf  # the best bound so far
    best_ys: list[Array] = field(default_factory=list)  # its dual point
    gradients: int = 0  # full gradients
    vertices: int = 0  # calls of the linear minimisation oracle
    curvature: float = 0.0  # the estimate M of the step rule `adaptive`, 0 before the first
    shift: int = 0  # the steps of the open loop that a start counts as

    def keep_point(self, value: float) -> None:
        """P at x, and whether that is the best point: the open loop does not descend. Steps make a new x and leave this one alone."""
        self.value = value
        if value < self.best_value or not self.best_x.size:
            self.best_value, self.best_x = value, self.x
