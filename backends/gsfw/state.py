"""Where a run of GSFW stands."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ...atoms.base import Array
from ..baselines.common import BaselineState


def _none() -> Array:
    return np.zeros(0)


@dataclass
class GSFWState(BaselineState):
    """`x` is the mean of the responses (beta-bar), `k` the number of iterations (the paper's i).

    s are the predictions, y = f'(s) the dual variable, `kty` = K'y (the substitute gradient less q). `y_sum` and `kty_sum` are the sums of gamma y
    and gamma K'y, row i's up to `stamp[i]`, where all gammas add up to `total`. tau = sigma - 1; `inverse` = 1 / alpha and
    `share` = 1 / (N sigma) of the last iteration. `at` iterations of a step that was broken off are done. `setting` says for which rule and batch
    all this is.
    """

    setting: str = ""
    k: int = 0
    at: int = 0
    s: Array = field(default_factory=_none)
    y: Array = field(default_factory=_none)
    kty: Array = field(default_factory=_none)
    y_sum: Array = field(default_factory=_none)
    kty_sum: Array = field(default_factory=_none)
    stamp: Array = field(default_factory=_none)
    total: float = 0.0
    tau: float = 0.0
    most: float = 0.0
    inverse: float = 0.0
    share: float = 0.0
    refreshed: float = 0.0
