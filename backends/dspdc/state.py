"""The state of a run of DSPDC, of either form."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ...atoms.base import Array
from ..baselines.common import BaselineState


@dataclass
class DSPDCState(BaselineState):
    """x and y with what is kept of their products, u = U'y and v = V x, and `bar`, v extrapolated.

    `scale` is Lambda, `most` what it is raised to at most, `best_gap` the least gap at one pair, `halved` the last that was half of the one
    before, since when theory promises a contraction by exp(-`waited`); `raised` counts how often Lambda was raised. `decompositions` counts
    eigendecompositions of the updates, `checks` those of the certificates.
    """

    y: Array = field(default_factory=lambda: np.zeros(0))
    u: Array = field(default_factory=lambda: np.zeros(0))
    v: Array = field(default_factory=lambda: np.zeros(0))
    bar: Array = field(default_factory=lambda: np.zeros(0))
    scale: float = 0.0
    most: float = 0.0
    best_gap: float = np.inf
    halved: float = np.inf
    waited: float = 0.0
    raised: int = 0
    decompositions: int = 0
    checks: int = 0

    def counts(self) -> dict[str, int]:
        """Eigendecompositions of the updates and of the certificates."""
        return {"decompositions": self.decompositions, "decompositions_of_bounds": self.checks}
