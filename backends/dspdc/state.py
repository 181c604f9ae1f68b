"""The state of a run of DSPDC, of either form."""

from __future__ import annotations

from dataclasses import field

import numpy as np

from fwdsl.atoms.base import Array
from fwdsl.backends.baselines.common import BaselineState
from fwdsl.light_dataclass import light_state


@light_state
class DSPDCState(BaselineState):
    """The state of a run of `dspdc`: x and y with the kept products."""

    y: Array = field(default_factory=lambda: np.zeros(0))  # the dual point
    u: Array = field(default_factory=lambda: np.zeros(0))  # U'y, K'y
    v: Array = field(default_factory=lambda: np.zeros(0))  # V x, K x
    bar: Array = field(default_factory=lambda: np.zeros(0))  # v extrapolated, x extrapolated
    scale: float = 0.0  # Lambda
    most: float = 0.0  # its largest value
    best_gap: float = np.inf  # the least gap at one pair
    halved: float = np.inf  # the last gap that was half of the one before
    waited: float = 0.0  # theory promises a contraction by exp(-waited) since then
    raised: int = 0  # how often Lambda was raised
    decompositions: int = 0  # eigendecompositions of the updates
    checks: int = 0  # decompositions for the certificates

    def counts(self) -> dict[str, int]:
        return {"decompositions": self.decompositions, "decompositions_of_bounds": self.checks}
