"""The state of a run of GSFW, in the notation of Algorithm 1 of Lu and Freund 2018."""

from __future__ import annotations

from dataclasses import field

import numpy as np

from fwdsl.atoms.base import Array
from fwdsl.backends.baselines.common import BaselineState
from fwdsl.light_dataclass import light_state


def _none() -> Array:
    return np.zeros(0)


@light_state
class GSFWState(BaselineState):
    """The state of a run of `gsfw`; x is the mean of the responses (beta-bar)."""

    setting: str = ""  # the rule and batch that all this is for
    k: int = 0  # iterations (the paper's i)
    at: int = 0  # iterations made of a step that was broken off
    s: Array = field(default_factory=_none)  # the predictions
    y: Array = field(default_factory=_none)  # the dual variable f'(s)
    kty: Array = field(default_factory=_none)  # K'y, the substitute gradient less q
    y_sum: Array = field(default_factory=_none)  # the sum of gamma y, row i's up to stamp[i]
    kty_sum: Array = field(default_factory=_none)  # the sum of gamma K'y
    stamp: Array = field(default_factory=_none)  # the sum of all gammas at the last update of y_sum[i]
    total: float = 0.0  # the sum of all gammas
    tau: float = 0.0  # sigma - 1
    most: float = 0.0  # the tau of the theory
    inverse: float = 0.0  # 1 / alpha of the last iteration
    share: float = 0.0  # 1 / (N sigma) of the last iteration
    refreshed: float = 0.0  # the epochs when K'y was last computed afresh
